//! Why two types cannot be one, where that is not for their shapes.

use super::types::{class_plural, class_singular, describe, function_name};
use crate::diagnostic::Diagnostic;
use crate::infer::problem::meeting::Conflict;
use nesl_span::Span;

/// The message for a conflict that is not about the shape. `subject` says who wants what is not there.
pub(super) fn conflict_report(conflict: &Conflict, subject: &str, span: Span) -> Option<Diagnostic> {
    Some(match conflict {
        Conflict::Shape => return None,
        Conflict::Class { wanted, given } => {
            let message = format!("{subject} needs {}, got {}", class_plural(*wanted), describe(given));
            Diagnostic::error("E0203", message, span)
        }
        Conflict::Member { wanted, given } => {
            let message = format!("{subject} needs {}, but this is {}", describe(wanted), class_singular(*given));
            Diagnostic::error("E0203", message, span)
        }
        Conflict::Classes { wanted, given, parameters } => {
            let message = format!("{subject} needs {}, but this is {}", class_plural(*wanted), class_singular(*given));
            Diagnostic::error("E0203", message, span).hint(int_signature_hint(*parameters))
        }
        Conflict::Functions(one, other) => {
            let (one, other) = (function_name(one), function_name(other));
            let message = format!("these are different functions: {other} and {one}");
            let hint = "which function is called must be known when the program is compiled: choose between \
                        results, as in `if c then sin(x) else cos(x)`";
            Diagnostic::error("E0221", message, span).hint(hint)
        }
        Conflict::Infinite => {
            let message = format!("{subject} would need a type that contains itself");
            let hint = "a value cannot be an element or part of itself, and a function that calls itself cannot wrap \
                        the function it passes on";
            Diagnostic::error("E0205", message, span).hint(hint)
        }
    })
}

/// The message for a conflict where no shape is asked for.
pub(super) fn conflict_or_other(conflict: &Conflict, subject: &str, span: Span) -> Diagnostic {
    let other = || Diagnostic::error("E0202", format!("{subject} needs another type"), span);
    conflict_report(conflict, subject, span).unwrap_or_else(other)
}

/// The hint where a type would have to be number and logical at once: only int is.
fn int_signature_hint(parameters: Option<usize>) -> String {
    let signature = match parameters {
        Some(1) => "int -> int".to_owned(),
        Some(count) => format!("({}) -> int", vec!["int"; count].join(", ")),
        None => "(int, int) -> int".to_owned(),
    };
    format!("only int is both: add a signature such as : {signature}")
}
