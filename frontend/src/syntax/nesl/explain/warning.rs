//! What means something, perhaps not what was intended.

use super::Words;
use super::types::{Names, constraints, show_arrow};
use crate::diagnostic::{Diagnostic, Severity, Tag};
use crate::infer::problem::warning::Warning;
use nesl_span::Span;

fn report(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span) }
}

impl Words<'_> {
    /// What may not be meant.
    pub(super) fn warning(&self, warning: &Warning, span: Span) -> Diagnostic {
        match warning {
            Warning::Promise { variable, class, parameter, result } => {
                let mut names = Names::default();
                let holds = show_arrow(parameter, result, &mut names);
                let message = format!("the signature promises more than holds: `{variable} in {}`", class.name());
                report("W0201", message, span).hint(format!("the type is {holds}{}", constraints(&names)))
            }
            Warning::Shadowing(name) => report("W0202", format!("`{name}` shadows the library's `{name}`"), span)
                .hint("the library itself keeps its own"),
            Warning::Redefinition { name, keeper: None } => {
                let message = format!("redefining `{name}` with a new type; earlier callers keep the old one");
                report("W0203", message, span).tagged(Tag::Redefinition)
            }
            Warning::Redefinition { name, keeper: Some(keeper) } => {
                let message = format!("redefining `{name}` with a new type; `{keeper}` keeps the old one");
                report("W0203", message, span).hint(format!("define `{keeper}` again to have it use the new one"))
            }
            Warning::DefinedTwice(name) => {
                let message = format!("`{name}` is defined twice; what stands above keeps the first definition");
                report("W0203", message, span).tagged(Tag::Redefinition)
            }
            Warning::DatatypeTwice(name) => {
                let message = format!("redefining the datatype `{name}`; what stands above keeps the old one");
                report("W0203", message, span).tagged(Tag::Redefinition)
            }
            Warning::Unused { name, is_whole } => {
                // A part of a tuple or a record cannot be left out.
                let instead = format!("call it `_{name}`");
                report("W0204", format!("`{name}` is never used"), span).tagged(Tag::Unnecessary).hint(if *is_whole {
                    format!("remove it, or {instead}")
                } else {
                    instead
                })
            }
            Warning::ConstantFilter(true) => {
                report("W0205", "this filter keeps every element", span).hint("remove the filter")
            }
            Warning::ConstantFilter(false) => {
                report("W0205", "this filter keeps no element: the body is never evaluated", span)
                    .hint("write [] for no elements")
            }
            Warning::NegatedPower { base, exponent } => {
                let (base, exponent) = (self.quoted(*base), self.quoted(*exponent));
                let message = format!("the sign applies to the power: this is `-({base} ^ {exponent})`");
                report("W0206", message, span)
                    .hint(format!("write that, or `(-{base}) ^ {exponent}` if the sign belongs to the base"))
            }
            Warning::PowerOfPower { base, is_negated, left, right } => {
                let (base, left, right) = (self.quoted(*base), self.quoted(*left), self.quoted(*right));
                let sign = if *is_negated { "-" } else { "" };
                let message = format!("powers are grouped from the right: this is `{base} ^ ({sign}{left} ^ {right})`");
                report("W0206", message, span)
                    .hint(format!("write that, or `({base} ^ {sign}{left}) ^ {right}` if the left one comes first"))
            }
            Warning::Capitals { written, bound_as, bound, hidden } => {
                let message = format!("`{written}` is `{bound_as}` here: capitals make no difference in names");
                report("W0207", message, span)
                    .also(*bound, "this one is meant")
                    .also(*hidden, "which hides this one")
                    .hint("give one of them another name")
            }
        }
    }
}
