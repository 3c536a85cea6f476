//! Names that mean nothing, or mean something too early, or twice.

use super::Words;
use super::foreign_words::foreign_word;
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::infer::problem::names::NameProblem;
use crate::infer::problem::{Finding, Problem};
use crate::ty::Class;
use nesl_span::Span;

/// What stands before a point where other languages have their libraries.
const PREFIXES: [&str; 5] = ["np", "numpy", "math", "plt", "pd"];

impl Words<'_> {
    /// What is wrong with a name.
    pub(super) fn name(&self, problem: &NameProblem, span: Span) -> Diagnostic {
        match problem {
            NameProblem::Unknown { name, is_called, is_own, near, .. } => {
                let what = if *is_called && near.is_some() { "function" } else { "name" };
                let mut report = Diagnostic::error("E0201", format!("unknown {what} `{name}`"), span);
                report.hint = near.as_ref().and_then(|near| self.unknown_hint(name, span, *is_own, near));
                report
            }
            NameProblem::UnknownBeforeRead(name) => Diagnostic::error("E0201", format!("unknown name `{name}`"), span)
                .hint(format!("a function without a name is written `{name} => …`")),
            NameProblem::Point => {
                let library = || PREFIXES.iter().find(|prefix| self.stands_before(prefix, span));
                let hint = library()
                    .and_then(|prefix| foreign_word(prefix))
                    .unwrap_or("there are no fields or methods: write `length(v)`, and take tuples apart by a pattern");
                Diagnostic::error("E0101", "unexpected character `.`", span).hint(hint)
            }
            NameProblem::File(name) => Diagnostic::error("E0201", format!("`{name}` is a file, not a value"), span)
                .hint(format!("write `{name}.` and the name of one of its functions or values")),
            NameProblem::Twice { name, first } => {
                Diagnostic::error("E0206", format!("the name `{name}` occurs twice in one pattern"), span)
                    .saying("again here")
                    .also(*first, "first here")
                    .hint("give each part a name of its own")
            }
            NameProblem::VariableTwice(name) => {
                Diagnostic::error("E0206", format!("the type variable `{name}` is listed twice"), span)
            }
            NameProblem::UnknownClass(name) => {
                let classes = Class::ALL.map(Class::name).join(", ");
                Diagnostic::error("E0207", format!("unknown type class `{name}`"), span)
                    .hint(format!("the classes are {classes}"))
            }
            NameProblem::UnknownType { name, may_be_variable } => {
                let report = Diagnostic::error("E0207", format!("unknown type `{name}`"), span);
                match Class::by_name(name) {
                    Some(class) => report.hint(format!(
                        "`{0}` is a class of types: name a type, as in a -> a :: (a in {0})",
                        class.name()
                    )),
                    None if *may_be_variable => {
                        report.hint(format!("list type variables after the type, as in :: ({name} in any)"))
                    }
                    None => report.hint("datatypes are defined by `datatype name (type, …)`"),
                }
            }
            NameProblem::NoDatatype { name, near } => {
                let function = || format!("a function is defined at the top level: `function {name}(…) = …`");
                let other = || foreign_word(name).map_or_else(function, str::to_owned);
                let near = near.as_ref().map(|near| format!("did you mean the datatype `{near}`?"));
                let message = format!("`{name}` is not a datatype: it cannot be taken apart");
                Diagnostic::error("E0226", message, span).hint(near.unwrap_or_else(other))
            }
            // In a session it is the name of each answer, and nothing else.
            NameProblem::Early { name, is_direct: true, .. } if &**name == "it" => {
                Diagnostic::error("E0212", "there is no answer yet that `it` could be", span)
                    .hint("`it` is the value of the last input that had one")
            }
            NameProblem::Early { name, value, is_direct, computed } => {
                let value = value.as_ref().map_or_else(|| "a value".to_owned(), |value| format!("`{value}`"));
                let message = match is_direct {
                    true => format!("{value} is used before it is computed"),
                    false => format!("`{name}` uses {value}, which is computed later"),
                };
                Diagnostic::error("E0212", message, span)
                    .saying("used here")
                    .also(*computed, "computed here")
                    .hint("values are computed from top to bottom: move the definition up")
            }
        }
    }

    /// Whether the word before a place is this one.
    fn stands_before(&self, word: &str, place: Span) -> bool {
        let before =
            |length: u32| self.text(Span { start: place.start.saturating_sub(length), end: place.start, ..place });
        let length = word.len() as u32;
        let is_longer = before(length + 1).starts_with(|c: char| c.is_alphanumeric() || c == '_');
        before(length).eq_ignore_ascii_case(word) && (place.start == length || !is_longer)
    }

    fn unknown_hint(&self, name: &str, span: Span, is_own: bool, near: &[Symbol]) -> Option<String> {
        if is_own {
            return Some(
                "a value cannot use itself: a function that calls itself is defined with `function`".to_owned(),
            );
        }
        if name.chars().count() == 1 && self.text(span).starts_with('\'') {
            return Some(format!("a character is written with a backquote: `{name}"));
        }
        if let Some(hint) = foreign_word(name) {
            return Some(hint.to_owned());
        }
        let near: Vec<String> = near.iter().map(|known| format!("`{known}`")).collect();
        (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
    }

    /// The parts of a statement of another language, `import name` or `struct point (int, int)`, that are no arguments:
    /// what is wrong with them is no news. What stands in parentheses behind a word may be an argument.
    pub(super) fn statement_parts(&self, finding: &Finding) -> Vec<Span> {
        match &finding.problem {
            Problem::Name(NameProblem::Unknown { name, arguments, .. }) if foreign_word(name).is_some() => {
                let is_argument = |(index, part): &(usize, &Span)| *index == 0 && self.text(**part).starts_with('(');
                let parts = arguments.iter().enumerate().filter(|part| !is_argument(part));
                parts.map(|(_, part)| *part).collect()
            }
            _ => Vec::new(),
        }
    }
}
