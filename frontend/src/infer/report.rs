//! The codes of the checker, and the wording that several places share.
//!
//! | code | meaning |
//! |---|---|
//! | E0201 | unknown name |
//! | E0202 | two types differ |
//! | E0203 | a type is not in the class that a function needs |
//! | E0204 | something is called that is not a function, or a function is used like a sequence |
//! | E0205 | a type would contain itself |
//! | E0206 | a name occurs twice in one pattern or context |
//! | E0207 | unknown type variable or type class |
//! | E0208 | a signature that is not a function type |
//! | E0209 | a function without a body |
//! | E0210 | `rand_seed` inside an apply-to-each |
//! | E0212 | a value used before it is computed |
//! | E0213 | wrong number of arguments |
//! | E0221 | two functions where one must be known |
//! | E0222 | nothing determines which function is called |
//! | E0223 | functions are compared |
//! | E0224 | a datatype that contains itself |
//! | E0225 | an argument by name where there is none |
//! | E0226 | something is taken apart that is not a datatype |
//! | E0227 | wrong number of types for a datatype |
//! | E0228 | a file that cannot be imported |
//! | E0229 | files that import each other |
//! | E0230 | a name that two files define |
//! | E0231 | a local function that uses itself |
//! | W0201 | a signature that promises more than holds |
//! | W0202 | a definition that shadows one of the library |
//! | W0203 | a redefinition with another type |
//! | W0204 | a name that is never used |
//! | W0205 | a filter that is constant |
//! | W0206 | a power that is read otherwise than in NESL 3.1 |
//! | W0207 | a name that differs from another one in capitals alone |

use super::foreign_words::foreign_word;
use super::order::EarlyUse;
use super::show::{class_plural, class_singular};
use super::{Inference, Meaning};
use crate::ast::{BinaryOp, Expr, ExprKind, PatternKind, TopLevelKind};
use crate::diagnostic::{Diagnostic, MOST_DIAGNOSTICS, Severity};
use crate::typed::types::{Failure, Key, Node, TypeId, Types};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::Span;

/// The longest source text that is repeated in a hint.
const QUOTED: usize = 30;

/// The number of single-character edits between two words, counted up to `limit + 1`.
pub fn edit_distance(one: &str, other: &str, limit: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut previous: Vec<usize> = row.clone();
    for (i, letter) in one.iter().enumerate() {
        let before = std::mem::replace(&mut previous, row);
        row = vec![i + 1; other.len() + 1];
        for (j, target) in other.iter().enumerate() {
            let change = previous[j] + usize::from(letter != target);
            row[j + 1] = change.min(previous[j + 1] + 1).min(row[j] + 1);
            // Two neighbours swapped are one mistake.
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *target {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
    }
    row[other.len()]
}

impl Inference<'_> {
    /// The source text of a span if it is short enough to be repeated.
    pub(super) fn quote(&self, span: Span) -> Option<&str> {
        let text = self.sources.text(span).trim();
        (!text.is_empty() && text.len() <= QUOTED && !text.contains('\n')).then_some(text)
    }

    /// Reports an unknown name with the nearest known ones.
    pub(super) fn report_unknown(&mut self, name: &str, span: Span, is_called: bool) {
        // The definition may be in a form that could not be read.
        if self.unreadable {
            return;
        }
        if self.diagnostics.len() > MOST_DIAGNOSTICS {
            // Only counted: looking for near names takes long where nothing is known.
            self.diagnostics.push(Diagnostic::error("E0201", format!("unknown name `{name}`"), span));
            return;
        }
        let limit = (name.chars().count() / 3).min(3);
        let locals = self.locals.iter().filter(|(_, scopes)| !scopes.is_empty()).map(|(known, _)| known);
        let mut near: Vec<(usize, &str)> = (locals.chain(self.text.names()).chain(self.environment.names.keys()))
            .filter(|known| known.chars().any(char::is_alphanumeric))
            .map(|known| (edit_distance(name, known, limit), &**known))
            .filter(|&(distance, known)| distance <= limit && known != name)
            .collect();
        near.sort_unstable();
        near.dedup();
        let best = near.first().map_or(0, |&(distance, _)| distance);
        let near: Vec<String> = near
            .iter()
            .filter(|(distance, _)| *distance == best)
            .take(3)
            .map(|(_, known)| format!("`{known}`"))
            .collect();
        if let Some(report) = self.report_point(name, span) {
            self.diagnostics.push(report);
            return;
        }
        let what = if is_called { "function" } else { "name" };
        let mut report = Diagnostic::error("E0201", format!("unknown {what} `{name}`"), span);
        if self.binding.iter().any(|binding| **binding == *name) {
            report = report.hint("a value cannot use itself: a function that calls itself is defined with `function`");
        } else if name.chars().count() == 1 && self.sources.text(span).starts_with('\'') {
            report = report.hint(format!("a character is written with a backquote: `{name}"));
        } else if let Some(hint) = foreign_word(name) {
            report = report.hint(hint);
        } else if !near.is_empty() {
            report = report.hint(format!("did you mean {}?", near.join(" or ")));
        }
        self.diagnostics.push(report);
    }

    /// What is said of a name with a point where no file has the name before it; and of that name alone.
    fn report_point(&self, name: &str, span: Span) -> Option<Diagnostic> {
        let is_file = |file: &str| {
            let of_file =
                |known: &crate::ast::Symbol| known.strip_prefix(file).is_some_and(|rest| rest.starts_with('.'));
            self.environment.names.keys().any(of_file)
        };
        match name.split_once('.') {
            Some((file, _)) if !is_file(file) => {
                let point =
                    Span::new(span.file, span.start as usize + file.len(), span.start as usize + file.len() + 1);
                let report = Diagnostic::error("E0101", "unexpected character `.`", point);
                Some(
                    report
                        .hint("there are no fields or methods: write `length(v)`, and take tuples apart by a pattern"),
                )
            }
            None if is_file(name) => {
                let report = Diagnostic::error("E0201", format!("`{name}` is a file, not a value"), span);
                Some(report.hint(format!("write `{name}.` and the name of one of its functions or values")))
            }
            _ => None,
        }
    }

    /// The function of an identity, in words.
    fn function_name(&self, identity: TypeId) -> String {
        let Node::Identity(key, ..) = self.types.node(identity) else { return "a function".to_owned() };
        let function = match self.types.key(key) {
            Key::Known(id) | Key::Within(id, _) => self.environment.program.functions.get(id.0),
            Key::Group(form) => {
                return match &self.forms[form].kind {
                    TopLevelKind::Function(function) => format!("`{}`", function.name.symbol),
                    _ => "a function".to_owned(),
                };
            }
        };
        match function {
            Some(function) if function.is_lambda() => format!("the {}", function.name),
            Some(function) => format!("`{}`", function.name),
            None => "one that nothing determines".to_owned(),
        }
    }

    /// A label at an expression of this type; a function value is named.
    pub(super) fn label(&self, ty: TypeId) -> String {
        match self.types.node(ty) {
            Node::Function(_, _, identity) if matches!(self.types.node(identity), Node::Identity(..)) => {
                format!("{}, of type {}", self.function_name(identity), self.types.describe(ty))
            }
            _ => self.types.label(ty),
        }
    }

    /// Reports a value that is used before it is computed.
    pub(super) fn report_early_use(&mut self, early: &EarlyUse) {
        let EarlyUse { name, span, definition, .. } = early;
        let defined = self.forms[*definition].span;
        let value = match &self.forms[*definition].kind {
            TopLevelKind::Assignment { pattern, .. } => match &pattern.kind {
                PatternKind::Variable(value) => format!("`{value}`"),
                _ => "a value".to_owned(),
            },
            _ => "a value".to_owned(),
        };
        let direct = self.text.definitions_of(name).contains(definition);
        let message = match direct {
            true => format!("{value} is used before it is computed"),
            false => format!("`{name}` uses {value}, which is computed later"),
        };
        let report = Diagnostic::error("E0212", message, *span).saying("used here").also(defined, "computed here");
        self.diagnostics.push(report.hint("values are computed from top to bottom: move the definition up"));
    }

    /// The hint for an int and a float that meet.
    pub(super) fn mixing_hint(&self, one: (TypeId, &Expr), other: (TypeId, &Expr)) -> Option<String> {
        let scalar = |ty| match self.types.node(ty) {
            Node::Scalar(scalar) => Some(scalar),
            _ => None,
        };
        let int = match (scalar(one.0)?, scalar(other.0)?) {
            (ScalarType::Int, ScalarType::Float) => one.1,
            (ScalarType::Float, ScalarType::Int) => other.1,
            _ => return None,
        };
        Some(self.float_hint(int))
    }

    /// The hint for an int where a float is needed, or the other way round.
    pub(super) fn conversion_hint(&self, actual: TypeId, wanted: TypeId, expression: &Expr) -> Option<String> {
        match (self.types.node(actual), self.types.node(wanted)) {
            (Node::Scalar(ScalarType::Int), Node::Scalar(ScalarType::Float)) => Some(self.float_hint(expression)),
            (Node::Scalar(ScalarType::Float), Node::Scalar(ScalarType::Int)) => {
                Some("round, floor, ceil or trunc make an int of a float".to_owned())
            }
            (Node::Scalar(ScalarType::Int | ScalarType::Float | ScalarType::Bool), Node::Sequence(element))
                if self.types.node(element) == Node::Scalar(ScalarType::Char) =>
            {
                let value = self.quote(expression.span).unwrap_or("x");
                let bare = value.strip_prefix('(').and_then(|value| value.strip_suffix(')'));
                let is_word = |value: &&str| value.chars().all(char::is_alphanumeric);
                Some(format!("`@` makes text of a value: @{}", bare.filter(is_word).unwrap_or(value)))
            }
            (Node::Sequence(_), Node::Sequence(_)) => self.elements_hint(actual, wanted, expression),
            _ => None,
        }
    }

    /// The hint for an int where a float is needed.
    fn float_hint(&self, int: &Expr) -> String {
        match &int.kind {
            ExprKind::Literal(ScalarValue::Int(value)) => format!("write {value}.0, or float({value})"),
            // The quotient of ints is cut off already.
            ExprKind::Binary { op: BinaryOp::Divide, left, right, .. } => {
                let part = |side: &Expr| match (&side.kind, self.quote(side.span)) {
                    (ExprKind::Literal(ScalarValue::Int(value)), _) => format!("{value}.0"),
                    (_, text) => format!("float({})", text.unwrap_or("…")),
                };
                format!("`/` of ints is an int: write {} / {}", part(left), part(right))
            }
            _ => match self.quote(int.span) {
                Some(text) if text.starts_with('(') && text.ends_with(')') => format!("write float{text}"),
                Some(text) => format!("write float({text})"),
                None => "convert the int with float(…)".to_owned(),
            },
        }
    }

    /// The hint where a type would have to be number and logical at once: only int is.
    pub(super) fn int_signature_hint(&self) -> String {
        let signature = match self.forms.get(self.form).map(|form| &form.kind) {
            Some(TopLevelKind::Function(function)) => match &function.parameter.kind {
                PatternKind::Tuple(parts) => format!("({}) -> int", vec!["int"; parts.len()].join(", ")),
                _ => "int -> int".to_owned(),
            },
            _ => "(int, int) -> int".to_owned(),
        };
        format!("only int is both: add a signature such as : {signature}")
    }

    /// An error about `wanted` and what was found, for failures that are not about the shape. `subject` says who wants.
    pub(super) fn class_report(&self, failure: Failure, subject: &str, span: Span) -> Option<Diagnostic> {
        Some(match failure {
            Failure::Shape => return None,
            Failure::Class(class, ty) => {
                let message = format!("{subject} needs {}, got {}", class_plural(class), self.types.describe(ty));
                Diagnostic::error("E0203", message, span)
            }
            Failure::Member(class, ty) => {
                let wanted = self.types.describe(ty);
                let message = format!("{subject} needs {wanted}, but this is {}", class_singular(class));
                Diagnostic::error("E0203", message, span)
            }
            Failure::Classes(want, have) => {
                let message = format!("{subject} needs {}, but this is {}", class_plural(want), class_singular(have));
                Diagnostic::error("E0203", message, span).hint(self.int_signature_hint())
            }
            Failure::Functions(one, other) => {
                let (one, other) = (self.function_name(one), self.function_name(other));
                let message = format!("these are different functions: {other} and {one}");
                let hint = "which function is called must be known when the program is compiled: choose between \
                            results, as in `if c then sin(x) else cos(x)`";
                Diagnostic::error("E0221", message, span).hint(hint)
            }
            Failure::Infinite => {
                let message = format!("{subject} would need a type that contains itself");
                let hint = "a value cannot be an element or part of itself, and a function that calls itself cannot wrap \
                            the function it passes on";
                Diagnostic::error("E0205", message, span).hint(hint)
            }
        })
    }

    /// Requires that an expression has a type; `subject` says who wants it: "an index", `wanted` in words.
    pub(super) fn require(&mut self, actual: TypeId, wanted: TypeId, expression: &Expr, subject: &str) -> bool {
        let Err(failure) = self.types.unify(actual, wanted) else { return true };
        let mut report = self.class_report(failure, subject, expression.span).unwrap_or_else(|| {
            let (wanted, actual) = (self.types.describe(wanted), self.types.describe(actual));
            Diagnostic::error("E0202", format!("{subject} must be {wanted}, got {actual}"), expression.span)
        });
        if report.hint.is_none() {
            report.hint = self.conversion_hint(actual, wanted, expression);
        }
        self.diagnostics.push(report.saying(self.label(actual)));
        false
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, code: &'static str, message: String, span: Span, hint: Option<&str>) {
        let mut report = Diagnostic::error(code, message, span);
        report.severity = Severity::Warning;
        report.hint = hint.map(str::to_owned);
        self.diagnostics.push(report);
    }

    /// Whether an expression is the bare name of a function.
    pub(super) fn is_function_name(&self, expression: &Expr) -> bool {
        matches!(&expression.kind, ExprKind::Name(name) if matches!(self.meaning(name), Meaning::Function(_)))
    }

    /// Whether nothing is wrong so far with a type.
    pub(super) fn is_sound(&self, ty: TypeId) -> bool {
        self.types.root(ty) != Types::ERROR
    }
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn edit_distance_counts_changes() {
        assert_eq!(edit_distance("sum", "sum", 2), 0);
        assert_eq!(edit_distance("lenght", "length", 2), 1);
        assert_eq!(edit_distance("plusscan", "plus_scan", 2), 1);
        assert!(edit_distance("sum", "permute", 2) > 2);
    }
}
