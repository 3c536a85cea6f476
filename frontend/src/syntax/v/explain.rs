//! What inference finds in what V has made of a text, in V's words.
//!
//! V checks types itself, so little is left: the order of values, and functions that are not where they may be. What
//! else inference knows cannot be wrong in a text that V accepts; should it be, the words are those of NESL.

use crate::diagnostic::Diagnostic;
use crate::infer::problem::definition::{DefinitionProblem, SeedingPlace};
use crate::infer::problem::meeting::Conflict;
use crate::infer::problem::names::NameProblem;
use crate::infer::problem::types::Resolved;
use crate::infer::problem::{Finding, Problem};
use crate::syntax::nesl;
use nesl_prim::ScalarType;
use nesl_span::SourceMap;
use std::slice;

/// Words problems.
pub(crate) fn explain(findings: &[Finding], sources: &SourceMap) -> Vec<Diagnostic> {
    let words = |finding| match in_v(finding) {
        Some(diagnostic) => vec![diagnostic],
        None => nesl::explain::explain(slice::from_ref(finding), sources),
    };
    findings.iter().flat_map(words).collect()
}

/// A problem that a text of V can have.
fn in_v(Finding { span, problem, .. }: &Finding) -> Option<Diagnostic> {
    let span = *span;
    Some(match problem {
        Problem::Name(NameProblem::Early { name, value, is_direct, computed }) => {
            let value = value.as_ref().map_or_else(|| "a global".to_owned(), |value| format!("`{value}`"));
            let message = match is_direct {
                true => format!("{value} is used before it has its value"),
                false => format!("`{name}` uses {value}, which has no value before its declaration below"),
            };
            Diagnostic::error("E0212", message, span)
                .saying("used here")
                .also(*computed, "declared here")
                .hint("globals get their values from top to bottom: move the declaration up")
        }
        Problem::Name(NameProblem::Unknown { name, .. }) => {
            Diagnostic::error("E0201", format!("`{name}` is not defined"), span)
        }
        Problem::Definition(DefinitionProblem::Seeding { name, place }) => {
            let subject = match &**name {
                "rand_seed" => "`rand_seed`".to_owned(),
                name => format!("`{name}` calls `rand_seed`, and"),
            };
            let place = match place {
                SeedingPlace::Value | SeedingPlace::Lambda => "cannot be passed to a function",
                SeedingPlace::Each => "cannot be called in an apply-to-each",
            };
            Diagnostic::error("E0210", format!("{subject} {place}"), span)
                .hint("set the seed before: `rand` may be called there")
        }
        Problem::Definition(DefinitionProblem::Compared(_)) => {
            Diagnostic::error("E0223", "functions cannot be compared", span)
        }
        Problem::Meeting(conflict, _) => {
            let (code, message) = match conflict {
                Conflict::Class { given, .. } => ("E0203", format!("this cannot be `{}`", type_text(given))),
                Conflict::Member { wanted, .. } => ("E0203", format!("this cannot be `{}`", type_text(wanted))),
                Conflict::Functions(..) => ("E0221", "one function must stand here, and there are two".to_owned()),
                Conflict::Shape | Conflict::Classes { .. } => ("E0202", "the types here do not fit".to_owned()),
                Conflict::Infinite => ("E0205", "this would be a vector that contains itself".to_owned()),
            };
            Diagnostic::error(code, message, span)
        }
        Problem::Name(_) | Problem::Call(_) | Problem::Definition(_) | Problem::Warning(_) => return None,
    })
}

/// A type as V writes it.
fn type_text(ty: &Resolved) -> String {
    match ty {
        Resolved::Variable(..) | Resolved::Error => "?".to_owned(),
        Resolved::Scalar(ScalarType::Float) => "double".to_owned(),
        Resolved::Scalar(scalar) => scalar.name().to_owned(),
        Resolved::Unit => "void".to_owned(),
        Resolved::Pair(first, rest) => format!("({}, {})", type_text(first), type_text(rest)),
        Resolved::Sequence(element) => format!("{}[*]", type_text(element)),
        Resolved::Record(datatype, _) => datatype.name.to_string(),
        Resolved::Function(parameter, result, _) => format!("{} ({})", type_text(result), type_text(parameter)),
    }
}
