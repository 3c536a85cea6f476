//! Random scalars: arithmetic, comparisons, reductions, and what the library finds in sequences.

use super::expression::Generator;
use super::feature::Feature;
use super::tree::Tree;
use super::types::Type;

impl Generator {
    pub(super) fn int(&mut self, fuel: usize) -> Tree {
        let text = match self.random.below(30) {
            _ if self.risks() && self.random.chance(30) => {
                self.note(Feature::WrappingLengths);
                let text = *self.random.pick(&[
                    "#dist(1, @)",
                    "#index(@)",
                    "#[0:@]",
                    "#[@:max_int]",
                    "lshift(1, @)",
                    "hash(1, @)",
                ]);
                return Tree::new(Type::Int, text, vec![self.boundaries(fuel.min(2))]);
            }
            _ if self.risks() => *self.random.pick(&[
                "(@ / @)",
                "rem(@, @)",
                "mod(@, @)",
                "(2 ^ @)",
                "lshift(@, @)",
                "isqrt(@)",
                "rand(@)",
                "#dist(1, min(@, 9))",
            ]),
            0..3 => "(@ + @)",
            3 => "(@ - @)",
            4 => "(@ * @)",
            5 => "(@ / (1 + mod(@, 9)))",
            6 => "rem(@, 5)",
            7 => "mod(@, -3)",
            8 => "max(@, @)",
            9 => "min(@, abs(@))",
            10 => "(-@)",
            11 => "isqrt(mod(@, 1000))",
            12 => "lshift(@, mod(@, 64))",
            13 => "rshift(@, mod(@, 64))",
            14 => "(@ and @)",
            15 => "(@ xor @)",
            16 => "(mod(@, 11) ^ mod(@, 4))",
            17 => "gcd(mod(@, 100), mod(@, 60))",
            18 => {
                self.note(Feature::Rand);
                "rand(1 + mod(@, 50))"
            }
            19 => {
                let texts = [
                    "sum(@)",
                    "product(@)",
                    "max_val(@)",
                    "min_val(@)",
                    "any(@)",
                    "all(@)",
                    "max_index(@)",
                    "min_index(@)",
                    "parity(@)",
                ];
                return self.reduction(Type::Int, &texts, Type::Int, fuel);
            }
            20 => return self.reduction(Type::Int, &["count(@)"], Type::Bool, fuel),
            21 | 22 => {
                let element = self.any_type(2);
                return self.reduction(Type::Int, &["#(@)", "length(@)"], element, fuel);
            }
            23 => return self.reduction(Type::Int, &["min_index(@)", "max_index(@)"], Type::Float, fuel),
            24 => return Tree::new(Type::Int, "btoi(@)", vec![self.expression(&Type::Bool, fuel)]),
            25 => return self.ordered(&Type::Int, fuel),
            26 => {
                self.note(Feature::Text);
                return self.filled(Type::Int, "first(parse_int(@))", &Generator::string_type(), fuel);
            }
            27 => {
                self.note(Feature::Equality);
                let element = self.any_type(1);
                let parts =
                    vec![self.expression(&element, fuel), self.expression(&Type::sequence(element.clone()), fuel)];
                return Tree::new(Type::Int, "find(@, @)", parts);
            }
            28 => return self.filled(Type::Int, "floor(max(-1e6, min(1e6, @)))", &Type::Float, fuel),
            _ => return self.filled(Type::Int, "char_code(@)", &Type::Char, fuel),
        };
        self.filled(Type::Int, text, &Type::Int, fuel)
    }

    /// An element that selection by order finds.
    fn ordered(&mut self, ty: &Type, fuel: usize) -> Tree {
        self.note(Feature::Order);
        let sequence = self.expression(&Type::sequence(ty.clone()), fuel);
        let zero = ty.default_text();
        if self.random.chance(50) {
            return Tree::new(
                ty.clone(),
                &format!("(let s = @ in if #s == 0 then {zero} else median(s))"),
                vec![sequence],
            );
        }
        let rank = self.expression(&Type::Int, fuel.min(1));
        let text = format!("(let s = @ in if #s == 0 then {zero} else kth_smallest(s, mod(@, #s)))");
        Tree::new(ty.clone(), &text, vec![sequence, rank])
    }

    pub(super) fn float(&mut self, fuel: usize) -> Tree {
        let text = match self.random.below(15) {
            0 | 1 => "(@ + @)",
            2 => "(@ - @)",
            3 | 4 => "(@ * @)",
            5 => "(@ / @)",
            6 => "sqrt(abs(@))",
            7 => "max(@, min(@, 1e6))",
            8 => return Tree::new(Type::Float, "float(@)", vec![self.expression(&Type::Int, fuel)]),
            9 => {
                let parts = vec![self.expression(&Type::Float, fuel), self.expression(&Type::Int, fuel)];
                return Tree::new(Type::Float, "(@ ^ mod(@, 4))", parts);
            }
            10 => {
                let texts = ["sum(@)", "product(@)", "max_val(@)", "min_val(@)"];
                return self.reduction(Type::Float, &texts, Type::Float, fuel);
            }
            11 => return self.ordered(&Type::Float, fuel),
            12 => {
                self.note(Feature::Rand);
                "rand(1.0 + abs(float(floor(max(-9.0, min(9.0, @))))))"
            }
            13 => {
                self.note(Feature::Text);
                return self.filled(Type::Float, "first(parse_float(@))", &Generator::string_type(), fuel);
            }
            _ => "(-@)",
        };
        self.filled(Type::Float, text, &Type::Float, fuel)
    }

    pub(super) fn bool(&mut self, fuel: usize) -> Tree {
        let comparison = *self.random.pick(&["(@ == @)", "(@ /= @)", "(@ < @)", "(@ >= @)"]);
        match self.random.below(18) {
            0..4 => self.filled(Type::Bool, comparison, &Type::Int, fuel),
            4 => self.filled(Type::Bool, comparison, &Type::Float, fuel),
            5 => self.filled(Type::Bool, comparison, &Type::Char, fuel),
            6 => self.filled(Type::Bool, "(@ and @)", &Type::Bool, fuel),
            7 => self.filled(Type::Bool, "(@ or @)", &Type::Bool, fuel),
            8 => self.filled(Type::Bool, "(not(@) xor @)", &Type::Bool, fuel),
            9 => self.reduction(Type::Bool, &["any(@)", "all(@)", "parity(@)"], Type::Bool, fuel),
            10 => self.filled(Type::Bool, "oddp(@)", &Type::Int, fuel),
            11..=14 => {
                self.note(Feature::Equality);
                let ty = self.any_type(2);
                // Of two values of their own hardly any two are equal.
                if self.random.chance(50) {
                    let parts = vec![
                        self.expression(&ty, fuel),
                        self.expression(&Type::Bool, fuel.min(2)),
                        self.expression(&ty, fuel.min(2)),
                    ];
                    return Tree::new(Type::Bool, "(let p = @ in p == (if @ then p else @))", parts);
                }
                let text = *self.random.pick(&["(@ == @)", "(@ /= @)", "eql(@, @)"]);
                self.filled(Type::Bool, text, &ty, fuel)
            }
            15 => {
                self.note(Feature::Text);
                self.filled(Type::Bool, "string_eql(@, @)", &Generator::string_type(), fuel)
            }
            16 => self.filled(Type::Bool, "digitp(@)", &Type::Char, fuel),
            _ => self.filled(Type::Bool, "plusp(@)", &Type::Float, fuel),
        }
    }

    pub(super) fn char(&mut self, fuel: usize) -> Tree {
        match self.random.below(6) {
            _ if self.risks() => self.filled(Type::Char, "code_char(@)", &Type::Int, fuel),
            0 => self.filled(Type::Char, "code_char(97 + mod(@, 26))", &Type::Int, fuel),
            1 => self.filled(Type::Char, "max(@, @)", &Type::Char, fuel),
            2 => self.filled(Type::Char, "uppercase(@)", &Type::Char, fuel),
            3 => self.filled(Type::Char, "code_char(mod(@, 256))", &Type::Int, fuel),
            _ => self.filled(Type::Char, "max_val([`a] ++ @)", &Generator::string_type(), fuel),
        }
    }
}
