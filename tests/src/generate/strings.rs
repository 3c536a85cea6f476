//! Random strings: literals, texts of values, and what the library does with text.

use super::expression::Generator;
use super::feature::Feature;
use super::tree::Tree;
use super::types::Type;

/// Literals: escapes, spaces, newlines, letters of two bytes, numbers.
const LITERALS: [&str; 12] = [
    "\"wombat\"",
    "\"\"",
    "\"a b\"",
    "\"x\"",
    "\"to be\\nor  not\\n\"",
    "\"\\t\\\"q\\\\\"",
    "\"WomBat\"",
    "\"é\"",
    "\"-12\"",
    "\"3.5e2\"",
    "\"1,2;3\"",
    "\" % \"",
];

impl Generator {
    pub(super) fn string_type() -> Type {
        Type::sequence(Type::Char)
    }

    pub(super) fn string_literal(&mut self) -> Tree {
        self.note(Feature::Literal);
        let text = *self.random.pick(&LITERALS);
        Tree::leaf(Generator::string_type(), text)
    }

    /// A string.
    pub(super) fn string(&mut self, fuel: usize) -> Tree {
        let ty = Generator::string_type();
        match self.random.below(9) {
            0 => {
                self.note(Feature::Text);
                let parts = vec![self.expression(&ty, fuel), self.expression(&Type::Int, fuel)];
                Tree::new(ty, "(@ || mod(@, 12))", parts)
            }
            1 => {
                self.note(Feature::Text);
                let text = *self.random.pick(&["{uppercase(c) : c in @}", "{lowercase(c) : c in @}"]);
                self.filled(ty.clone(), text, &ty, fuel)
            }
            2 => {
                self.note(Feature::Text);
                self.filled(ty.clone(), "flatten(wordify(@))", &ty, fuel)
            }
            3..=5 => {
                self.note(Feature::TextOfValue);
                let value = match self.random.chance(10) {
                    true => Type::function(&[Type::Int], &Type::Int),
                    false => self.any_type(2),
                };
                let value = self.expression(&value, fuel);
                match self.random.chance(50) {
                    true => Tree::new(ty, "string(@)", vec![value]),
                    false => Tree::around(ty, "(@", value, ")"),
                }
            }
            6 => self.filled(ty.clone(), "(@ ++ @)", &ty, fuel),
            _ => self.string_literal(),
        }
    }

    /// A value before which something is printed: a string of the program, or a letter that shows the order.
    pub(super) fn printing(&mut self, ty: &Type, fuel: usize) -> Tree {
        self.note(Feature::Print);
        let string = Generator::string_type();
        let text = match self.random.chance(50) {
            true => self.expression(&string, fuel.min(2)),
            false => {
                let letter = self.random.pick::<&str>(&["\"a\"", "\"b \"", "\"c\\n\""]);
                Tree::new(string, letter, Vec::new())
            }
        };
        let value = self.expression(ty, fuel);
        Tree::new(ty.clone(), "(let _ = print_string(@) in @)", vec![text, value])
    }

    /// A sequence of strings.
    pub(super) fn strings(&mut self, fuel: usize) -> Tree {
        self.note(Feature::Text);
        let ty = Type::sequence(Generator::string_type());
        match self.random.below(4) {
            0 => self.filled(ty, "linify(@)", &Generator::string_type(), fuel),
            1 => self.filled(ty, "wordify(@)", &Generator::string_type(), fuel),
            2 => self.filled(ty, "group_by_space(@, @)", &Generator::string_type(), fuel),
            _ => {
                let parts =
                    vec![self.expression(&Generator::string_type(), fuel), self.expression(&Type::Int, fuel.min(2))];
                Tree::new(ty, "justify_text(@, 1 + mod(@, 9))", parts)
            }
        }
    }
}
