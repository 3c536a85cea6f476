//! Functions, signatures and datatypes as a whole.

use super::types::describe;
use crate::diagnostic::Diagnostic;
use crate::infer::problem::definition::{DefinitionProblem, SeedingPlace};
use nesl_span::Span;

/// What is wrong with a definition.
pub(super) fn explain(problem: &DefinitionProblem, span: Span) -> Diagnostic {
    match problem {
        DefinitionProblem::NotAFunctionType => {
            Diagnostic::error("E0208", "the signature of a function must be a function type", span)
                .hint("write parameter -> result, such as (int, int) -> int")
        }
        DefinitionProblem::NeitherBodyNorType(name) => {
            Diagnostic::error("E0209", format!("the function `{name}` has no body"), span)
                .hint("a function that is defined later is declared with its type: `function name(a) : int -> int;`")
        }
        DefinitionProblem::NotBuiltIn(name) => {
            Diagnostic::error("E0209", format!("there is no built-in function `{name}`"), span)
        }
        DefinitionProblem::NoBody { function, caller, declared } => {
            let message = match caller {
                None => format!("the function `{function}` has no body"),
                Some(caller) => format!("`{caller}` needs the function `{function}`, which has no body"),
            };
            Diagnostic::error("E0209", message, span)
                .also(*declared, "declared here")
                .hint("define the function before it is called")
        }
        DefinitionProblem::LocalRecursion { name, defined } => {
            let hint = format!(
                "define it at the top level by `function {name}(…) = …`, with what it uses from here as parameters"
            );
            Diagnostic::error("E0231", format!("the local function `{name}` uses itself"), span)
                .also(*defined, "defined here")
                .hint(hint)
        }
        DefinitionProblem::Undetermined => {
            Diagnostic::error("E0222", "nothing determines which function this is", span)
                .hint("which function is called must be known when the program is compiled: here is none at all")
        }
        DefinitionProblem::Compared(ty) => {
            let message = format!("functions cannot be compared, and this compares {}", describe(ty));
            Diagnostic::error("E0223", message, span)
                .hint("eql(a, b) takes functions as equal and compares everything else")
        }
        DefinitionProblem::Seeding { name, place } => {
            let subject = match &**name {
                "rand_seed" => "`rand_seed`".to_owned(),
                name => format!("`{name}` calls `rand_seed`, so it"),
            };
            let (place, hint) = match place {
                SeedingPlace::Value => ("be used as a value", "call it by its name"),
                SeedingPlace::Lambda => ("be called inside a lambda", "set the seed outside: `rand` is allowed inside"),
                SeedingPlace::Each => {
                    ("be called inside an apply-to-each", "set the seed before: `rand` is allowed inside")
                }
            };
            Diagnostic::error("E0210", format!("{subject} may not {place}"), span).hint(hint)
        }
        DefinitionProblem::RecursiveDatatype(name) => {
            Diagnostic::error("E0224", format!("the datatype `{name}` would contain itself"), span)
                .saying("recursive types are not permitted")
                .hint("keep the parts in a sequence and refer to them by index")
        }
        DefinitionProblem::TypeArguments { name, wanted, given } => {
            let plural = if *wanted == 1 { "" } else { "s" };
            let message = format!("the datatype `{name}` has {wanted} type parameter{plural}, got {given}");
            Diagnostic::error("E0227", message, span)
        }
        DefinitionProblem::TypeOfExpression => {
            Diagnostic::error("E0114", "a type stands behind a pattern only: this is an expression", span)
                .saying("the type")
                .hint("patterns with a type are bound, as in `((x : int) => x + 1)`; a range is written `[a : b]`")
        }
    }
}
