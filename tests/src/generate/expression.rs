//! Random expressions of a type.
//!
//! Expressions are written with parentheses of their own, so that they can stand anywhere. `fuel` bounds their depth; guards
//! keep what they compute small and free of failures.

use super::tree::{Tree, Type};
use crate::random::Random;

/// A function that expressions may call.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// The type of its result.
    pub result: Type,
}

/// Apply-to-eaches within each other, at most.
const DEEPEST: usize = 3;

/// The state of the generator: what is in scope.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Where choices come from.
    pub random: Random,
    /// The functions so far.
    pub functions: Vec<Signature>,
    globals: Vec<(String, Type)>,
    locals: Vec<(String, Type)>,
    names: usize,
    each_depth: usize,
    /// How many more places that may fail are to be made.
    sites: usize,
}

impl Generator {
    /// A generator that makes so many places that may fail, if it comes to it.
    pub fn new(random: Random, sites: usize) -> Generator {
        let (functions, globals, locals) = (Vec::new(), Vec::new(), Vec::new());
        Generator { random, functions, globals, locals, names: 0, each_depth: 0, sites }
    }

    /// Adds a global value.
    pub fn define(&mut self, name: String, ty: Type) {
        self.globals.push((name, ty));
    }

    /// Makes something where just these locals are in scope.
    pub fn inside<T>(&mut self, locals: &[(String, Type)], make: impl FnOnce(&mut Generator) -> T) -> T {
        let outer = std::mem::replace(&mut self.locals, locals.to_vec());
        let made = make(self);
        self.locals = outer;
        made
    }

    /// Makes something with further locals in scope.
    fn with<T>(&mut self, locals: &[(&str, &Type)], make: impl FnOnce(&mut Generator) -> T) -> T {
        let count = self.locals.len();
        self.locals.extend(locals.iter().map(|(name, ty)| ((*name).to_owned(), (*ty).clone())));
        let made = make(self);
        self.locals.truncate(count);
        made
    }

    fn name(&mut self) -> String {
        self.names += 1;
        // Few names, so that they hide each other now and then.
        format!("{}{}", self.random.pick(&["a", "b", "c", "x", "y"]), self.names % 7)
    }

    /// A type of some depth at most.
    pub fn any_type(&mut self, depth: usize) -> Type {
        match self.random.below(if depth == 0 { 8 } else { 16 }) {
            0..4 => Type::Int,
            4 => Type::Float,
            5 | 6 => Type::Bool,
            7 => Type::Char,
            8..14 => Type::sequence(self.any_type(depth - 1)),
            _ => Type::pair(self.any_type(depth - 1), self.any_type(depth - 1)),
        }
    }

    /// An expression of a type.
    pub fn expression(&mut self, ty: &Type, fuel: usize) -> Tree {
        if fuel == 0 || self.random.chance(12) {
            return self.leaf(ty);
        }
        let fuel = fuel - 1;
        match self.random.below(20) {
            0 => {
                let parts =
                    vec![self.expression(&Type::Bool, fuel), self.expression(ty, fuel), self.expression(ty, fuel)];
                Tree::new(ty.clone(), "(if @ then @ else @)", parts)
            }
            1 | 2 => {
                let (name, bound) = (self.name(), self.any_type(2));
                let value = self.expression(&bound, fuel);
                let body = self.with(&[(&name, &bound)], |generator| generator.expression(ty, fuel));
                Tree::new(ty.clone(), &format!("(let {name} = @ in @)"), vec![value, body])
            }
            3 => self.from_pair(ty, fuel),
            4 => self.element(ty, fuel),
            5 | 6 => self.call(ty, fuel),
            _ => match ty {
                Type::Int => self.int(fuel),
                Type::Float => self.float(fuel),
                Type::Bool => self.bool(fuel),
                Type::Char => self.char(fuel),
                Type::Pair(first, second) => {
                    let parts = vec![self.expression(first, fuel), self.expression(second, fuel)];
                    Tree::new(ty.clone(), "(@, @)", parts)
                }
                Type::Sequence(element) => self.sequence(element, fuel),
            },
        }
    }

    /// A variable or a literal.
    fn leaf(&mut self, ty: &Type) -> Tree {
        let in_scope: Vec<String> = {
            let mut visible: Vec<&(String, Type)> = Vec::new();
            for variable in self.locals.iter().rev().chain(&self.globals) {
                if visible.iter().all(|(name, _)| *name != variable.0) {
                    visible.push(variable);
                }
            }
            visible.into_iter().filter(|(_, found)| found == ty).map(|(name, _)| name.clone()).collect()
        };
        if !in_scope.is_empty() && self.random.chance(80) {
            return Tree::leaf(ty.clone(), self.random.pick(&in_scope).clone());
        }
        match ty {
            Type::Int => Tree::leaf(
                Type::Int,
                *self.random.pick(&["0", "1", "2", "3", "7", "(-1)", "(-4)", "100", "max_int", "min_int"]),
            ),
            Type::Float => {
                Tree::leaf(Type::Float, *self.random.pick(&["0.0", "1.0", "0.5", "(-2.25)", "0.1", "1e10", "3.75"]))
            }
            Type::Bool => Tree::leaf(Type::Bool, *self.random.pick(&["t", "f"])),
            Type::Char => Tree::leaf(Type::Char, *self.random.pick(&["`a", "`b", "`z", "space"])),
            Type::Pair(first, second) => {
                let parts = vec![self.leaf(first), self.leaf(second)];
                Tree::new(ty.clone(), "(@, @)", parts)
            }
            Type::Sequence(element) => {
                let count = self.random.below(4);
                if count == 0 {
                    return Tree::leaf(ty.clone(), ty.default_text());
                }
                let parts = (0..count).map(|_| self.leaf(element)).collect();
                Tree::new(ty.clone(), &format!("[{}]", vec!["@"; count].join(", ")), parts)
            }
        }
    }

    /// Whether to make a place that may fail here.
    fn risks(&mut self) -> bool {
        let risks = self.sites > 0 && self.random.chance(25);
        self.sites -= usize::from(risks);
        risks
    }

    fn from_pair(&mut self, ty: &Type, fuel: usize) -> Tree {
        let other = self.any_type(1);
        let (one, two) = ("l".to_owned(), "r".to_owned());
        let (pair, first, second) = match self.random.chance(50) {
            true => (Type::pair(ty.clone(), other.clone()), ty, &other),
            false => (Type::pair(other.clone(), ty.clone()), &other, ty),
        };
        let value = self.expression(&pair, fuel);
        let body = self.with(&[(&one, first), (&two, second)], |generator| generator.expression(ty, fuel.min(1)));
        Tree::new(ty.clone(), "(let (l, r) = @ in @)", vec![value, body])
    }

    fn element(&mut self, ty: &Type, fuel: usize) -> Tree {
        let sequence = self.expression(&Type::sequence(ty.clone()), fuel);
        let index = self.expression(&Type::Int, fuel.min(2));
        if self.risks() {
            return Tree::new(ty.clone(), "(@)[@]", vec![sequence, index]);
        }
        let text = format!("(let s = @ in if #s == 0 then {} else s[mod(@, #s)])", ty.default_text());
        Tree::new(ty.clone(), &text, vec![sequence, index])
    }

    fn call(&mut self, ty: &Type, fuel: usize) -> Tree {
        let fitting: Vec<Signature> =
            self.functions.iter().filter(|signature| signature.result == *ty).cloned().collect();
        // Calls within several apply-to-eaches multiply the work.
        if !fitting.is_empty() && self.each_depth < 2 {
            let Signature { name, parameters, .. } = self.random.pick(&fitting).clone();
            let arguments: Vec<Tree> =
                parameters.iter().map(|parameter| self.expression(parameter, fuel.min(2))).collect();
            let holes = vec!["@"; arguments.len()].join(", ");
            return Tree::new(ty.clone(), &format!("{name}({holes})"), arguments);
        }
        let helper = match ty {
            Type::Sequence(element) => match (&**element, self.random.below(4)) {
                (Type::Sequence(inner), 0) => {
                    let inner = Type::sequence((**inner).clone());
                    // `apart` gives sequences of one element.
                    let argument = self.expression(&inner, fuel);
                    Some(("apart(@)", vec![argument]))
                }
                (Type::Pair(first, second), 0) if **second == Type::Int => {
                    Some(("pairs_of(@)", vec![self.expression(&Type::sequence((**first).clone()), fuel)]))
                }
                (_, 1) => Some(("halves(@)", vec![self.expression(ty, fuel)])),
                (_, 2) => Some(("around(@, @)", vec![self.expression(element, fuel), self.expression(ty, fuel)])),
                _ => None,
            },
            _ => None,
        };
        let (text, arguments) = helper.unwrap_or_else(|| {
            let arguments =
                vec![self.expression(&Type::Bool, fuel), self.expression(ty, fuel), self.expression(ty, fuel)];
            ("pick_of(@, @, @)", arguments)
        });
        Tree::new(ty.clone(), text, arguments)
    }

    fn int(&mut self, fuel: usize) -> Tree {
        let text = match self.random.below(26) {
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
            18 => "rand(1 + mod(@, 50))",
            19 => {
                return self.reduction(
                    Type::Int,
                    &[
                        "sum(@)",
                        "product(@)",
                        "max_val(@)",
                        "min_val(@)",
                        "any(@)",
                        "all(@)",
                        "max_index(@)",
                        "min_index(@)",
                        "parity(@)",
                    ],
                    Type::Int,
                    fuel,
                );
            }
            20 => return self.reduction(Type::Int, &["count(@)"], Type::Bool, fuel),
            21 | 22 => {
                let element = self.any_type(2);
                return self.reduction(Type::Int, &["#(@)"], element, fuel);
            }
            23 => return self.reduction(Type::Int, &["min_index(@)", "max_index(@)"], Type::Float, fuel),
            24 => return Tree::new(Type::Int, "btoi(@)", vec![self.expression(&Type::Bool, fuel)]),
            _ => return Tree::new(Type::Int, "char_code(@)", vec![self.expression(&Type::Char, fuel)]),
        };
        self.filled(Type::Int, text, &Type::Int, fuel)
    }

    fn float(&mut self, fuel: usize) -> Tree {
        let text = match self.random.below(12) {
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
                return self.reduction(
                    Type::Float,
                    &["sum(@)", "product(@)", "max_val(@)", "min_val(@)"],
                    Type::Float,
                    fuel,
                );
            }
            _ => "(-@)",
        };
        self.filled(Type::Float, text, &Type::Float, fuel)
    }

    fn bool(&mut self, fuel: usize) -> Tree {
        let comparison = *self.random.pick(&["(@ == @)", "(@ /= @)", "(@ < @)", "(@ >= @)"]);
        match self.random.below(12) {
            0..4 => self.filled(Type::Bool, comparison, &Type::Int, fuel),
            4 => self.filled(Type::Bool, comparison, &Type::Float, fuel),
            5 => self.filled(Type::Bool, comparison, &Type::Char, fuel),
            6 => self.filled(Type::Bool, "(@ and @)", &Type::Bool, fuel),
            7 => self.filled(Type::Bool, "(@ or @)", &Type::Bool, fuel),
            8 => self.filled(Type::Bool, "(not(@) xor @)", &Type::Bool, fuel),
            9 => self.reduction(Type::Bool, &["any(@)", "all(@)", "parity(@)"], Type::Bool, fuel),
            10 => self.filled(Type::Bool, "oddp(@)", &Type::Int, fuel),
            _ => self.filled(Type::Bool, "plusp(@)", &Type::Float, fuel),
        }
    }

    fn char(&mut self, fuel: usize) -> Tree {
        match self.random.below(3) {
            _ if self.risks() => self.filled(Type::Char, "code_char(@)", &Type::Int, fuel),
            0 => self.filled(Type::Char, "code_char(97 + mod(@, 26))", &Type::Int, fuel),
            1 => self.filled(Type::Char, "max(@, @)", &Type::Char, fuel),
            _ => {
                let text = self.expression(&Type::sequence(Type::Char), fuel);
                Tree::new(Type::Char, "max_val([`a] ++ @)", vec![text])
            }
        }
    }

    /// A text whose holes are all of one type.
    fn filled(&mut self, ty: Type, text: &str, hole: &Type, fuel: usize) -> Tree {
        let count = text.matches('@').count();
        let parts = (0..count).map(|_| self.expression(hole, fuel)).collect();
        Tree::new(ty, text, parts)
    }

    fn reduction(&mut self, ty: Type, texts: &[&str], element: Type, fuel: usize) -> Tree {
        let text = *self.random.pick(texts);
        let argument = self.expression(&Type::sequence(element), fuel);
        Tree::new(ty, text, vec![argument])
    }

    fn sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        let own = |generator: &mut Generator| generator.expression(&ty, fuel);
        let int = |generator: &mut Generator| generator.expression(&Type::Int, fuel.min(2));
        let made = |text: &str, parts: Vec<Tree>| Tree::new(ty.clone(), text, parts);
        if self.risks() {
            return match self.random.below(4) {
                0 => made("take(@, @)", vec![own(self), int(self)]),
                1 => made("subseq(@, 1, @)", vec![own(self), int(self)]),
                2 => {
                    let indices = self.expression(&Type::sequence(Type::Int), fuel.min(2));
                    made("(@ -> @)", vec![own(self), indices])
                }
                _ => {
                    let second = self.expression(&Type::sequence(Type::Int), fuel);
                    made("{x in @; i in @}", vec![own(self), second])
                }
            };
        }
        match self.random.below(26) {
            0..8 if self.each_depth < DEEPEST => self.each(element, fuel),
            8 => made("(@ ++ @)", vec![own(self), own(self)]),
            9 => made("(let s = @ in take(s, mod(@, #s + 1)))", vec![own(self), int(self)]),
            10 => made("(let s = @ in drop(s, 0 - mod(@, #s + 1)))", vec![own(self), int(self)]),
            11 => made("(let s = @; k = mod(@, #s + 1) in subseq(s, k / 2, k))", vec![own(self), int(self)]),
            12 => made("reverse(@)", vec![own(self)]),
            13 => made("rotate(@, @)", vec![own(self), int(self)]),
            14 => made("dist(@, mod(@, 4))", vec![self.expression(element, fuel), int(self)]),
            15 => {
                let nested = self.expression(&Type::sequence(ty.clone()), fuel);
                made("flatten(@)", vec![nested])
            }
            16 => made(self.random.pick::<&str>(&["odd_elts(@)", "even_elts(@)"]), vec![own(self)]),
            17 => {
                let indices = self.expression(&Type::sequence(Type::Int), fuel);
                made("(let s = @ in s -> {mod(i, #s) : i in @ | #s > 0})", vec![own(self), indices])
            }
            18 => made(
                "(let s = @; k = @ in permute(s, {mod(i + mod(k, 9), #s) : i in [0:#s]}))",
                vec![own(self), int(self)],
            ),
            19 => {
                let pairs = self.expression(&Type::sequence(Type::pair(Type::Int, element.clone())), fuel);
                made("(let s = @ in s <- {(mod(i, #s), e) : (i, e) in @ | #s > 0})", vec![own(self), pairs])
            }
            20 => {
                let value = self.expression(element, fuel);
                made("(let s = @ in if #s == 0 then s else rep(s, @, #s / 2))", vec![own(self), value])
            }
            21 => {
                let keep = self.expression(&Type::Bool, fuel);
                made("(let s = @ in pack({(e, oddp(i) or @) : e in s; i in [0:#s]}))", vec![own(self), keep])
            }
            22 => made("(let s = @ in interleave(s, s))", vec![own(self)]),
            _ => self.special_sequence(element, fuel),
        }
    }

    /// Sequences of particular element types.
    fn special_sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        let made = |text: &str, parts: Vec<Tree>| Tree::new(ty.clone(), text, parts);
        match element {
            Type::Int => {
                let texts = ["plus_scan(@)", "max_scan(@)", "min_scan(@)", "or_scan(@)", "xor_scan(@)", "mult_scan(@)"];
                match self.random.below(4) {
                    0 => made("index(mod(@, 6))", vec![self.expression(&Type::Int, fuel)]),
                    1 => made(
                        "[0:mod(@, 9):1 + mod(@, 3)]",
                        vec![self.expression(&Type::Int, fuel), self.expression(&Type::Int, fuel)],
                    ),
                    2 => made(
                        self.random.pick::<&str>(&["enumerate(@)", "pack_index(@)"]),
                        vec![self.expression(&Type::sequence(Type::Bool), fuel)],
                    ),
                    _ => made(self.random.pick::<&str>(&texts), vec![self.expression(&ty, fuel)]),
                }
            }
            Type::Float => made(
                self.random.pick::<&str>(&["plus_scan(@)", "max_scan(@)", "mult_scan(@)"]),
                vec![self.expression(&ty, fuel)],
            ),
            Type::Bool => made(
                self.random.pick::<&str>(&["and_scan(@)", "or_scan(@)", "xor_scan(@)"]),
                vec![self.expression(&ty, fuel)],
            ),
            Type::Char => {
                let text = *self.random.pick(&["\"wombat\"", "\"\"", "\"a b\"", "\"x\""]);
                Tree::leaf(ty, text)
            }
            Type::Sequence(inner) => {
                let flat = self.expression(&Type::sequence((**inner).clone()), fuel);
                match self.random.below(3) {
                    0 => made("bottop(@)", vec![flat]),
                    1 => {
                        let flag = self.expression(&Type::Bool, fuel.min(2));
                        made("(let s = @ in split(s, {evenp(i) and @ : i in [0:#s]}))", vec![flat, flag])
                    }
                    _ => {
                        let cut = self.expression(&Type::Int, fuel.min(2));
                        made("(let s = @; k = mod(@, #s + 1) in partition(s, [k, 0, #s - k]))", vec![flat, cut])
                    }
                }
            }
            Type::Pair(first, second) => {
                let one = self.expression(&Type::sequence((**first).clone()), fuel);
                let name = self.name();
                let value = self.with(&[(&name, first)], |generator| generator.expression(second, fuel));
                made(&format!("(let s = @ in zip(s, {{@ : {name} in s}}))"), vec![one, value])
            }
        }
    }

    /// An apply-to-each.
    fn each(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        let source_type = self.any_type(2);
        let source = self.expression(&Type::sequence(source_type.clone()), fuel);
        self.each_depth += 1;
        let name = self.name();
        let tree = match self.random.below(5) {
            // Two sources of the same length, and the place.
            0 => {
                let body = self
                    .with(&[(&name, &source_type), ("i", &Type::Int)], |generator| generator.expression(element, fuel));
                Tree::new(ty, &format!("(let s = @ in {{@ : {name} in s; i in [0:#s]}})"), vec![source, body])
            }
            // A filter.
            1 => {
                let locals: [(&str, &Type); 1] = [(&name, &source_type)];
                let body = self.with(&locals, |generator| generator.expression(element, fuel));
                let filter = self.with(&locals, |generator| generator.expression(&Type::Bool, fuel.min(3)));
                Tree::new(ty, &format!("{{@ : {name} in @ | @}}"), vec![body, source, filter])
            }
            // Short form: elements that pass.
            2 => {
                let source = self.expression(&ty, fuel);
                let filter = self.with(&[(&name, element)], |generator| generator.expression(&Type::Bool, fuel.min(3)));
                Tree::new(ty, &format!("{{{name} in @ | @}}"), vec![source, filter])
            }
            _ => {
                let body = self.with(&[(&name, &source_type)], |generator| generator.expression(element, fuel));
                Tree::new(ty, &format!("{{@ : {name} in @}}"), vec![body, source])
            }
        };
        self.each_depth -= 1;
        tree
    }
}
