//! What inference has found, in NESL's words: message, labels and hint.
//!
//! Problems are data ([`crate::infer::problem`]). The text of a program is read here, where a hint repeats some of it.
//!
//! | code | meaning |
//! |---|---|
//! | E0101 | a point behind what is no file |
//! | E0114 | a type behind an expression |
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
//!
//! ```text
//! names, foreign_words           unknown names, and words of other languages
//! meeting, conflict, argument    two types that should be one, and why they are not; arguments of named functions
//! conversions, operands          hints: what makes one type of another, and what would have fitted an operator
//! calls, definition, warning     the other problems
//! types                          types in messages
//! ```

mod argument;
mod calls;
mod conflict;
mod conversions;
mod definition;
pub(crate) mod foreign_words;
mod meeting;
mod names;
mod operands;
mod types;
mod warning;

use crate::diagnostic::Diagnostic;
use crate::infer::problem::{Finding, Juxtaposition, Problem};
use nesl_span::{SourceMap, Span};

/// The longest source text that is repeated in a hint.
const QUOTED: usize = 30;

/// Words problems; those that are consequences of others are left out.
pub(crate) fn explain(findings: &[Finding], sources: &SourceMap) -> Vec<Diagnostic> {
    let words = Words { sources };
    let statements: Vec<Span> = findings.iter().flat_map(|finding| words.statement_parts(finding)).collect();
    let is_news = |finding: &&Finding| !statements.iter().any(|part| part.contains(finding.span));
    findings.iter().filter(is_news).map(|finding| words.explain(finding)).collect()
}

/// The words for problems in some texts.
struct Words<'s> {
    sources: &'s SourceMap,
}

impl<'s> Words<'s> {
    fn explain(&self, Finding { span, problem, juxtaposition }: &Finding) -> Diagnostic {
        let mut report = match problem {
            Problem::Name(problem) => self.name(problem, *span),
            Problem::Meeting(conflict, meeting) => self.meeting(conflict, meeting, *span),
            Problem::Call(problem) => self.call(problem, *span),
            Problem::Definition(problem) => definition::explain(problem, *span),
            Problem::Warning(warning) => self.warning(warning, *span),
        };
        if let (None, Some(juxtaposition)) = (&report.hint, juxtaposition) {
            report.hint = self.juxtaposition_hint(juxtaposition);
        }
        report
    }

    /// The text of a place.
    fn text(&self, span: Span) -> &'s str {
        self.sources.text(span)
    }

    /// The text of a place if it is short enough to be repeated.
    fn quote(&self, span: Span) -> Option<&'s str> {
        let text = self.text(span).trim();
        (!text.is_empty() && text.len() <= QUOTED && !text.contains('\n')).then_some(text)
    }

    /// The text of a place, or what stands for one that is too long.
    fn quoted(&self, span: Span) -> &'s str {
        self.quote(span).unwrap_or("…")
    }

    /// The hint for `f g(x)`, which calls what `f g` gives.
    fn juxtaposition_hint(&self, Juxtaposition { outer, inner, argument }: &Juxtaposition) -> Option<String> {
        if self.text(*inner).contains('(') {
            return None;
        }
        let outer = self.quote(*outer)?;
        Some(match self.quote(inner.to(*argument)) {
            Some(call) if call.ends_with(')') => format!("an argument stands in parentheses: {outer}({call})"),
            _ => format!("an argument stands in parentheses: {outer}({}(…))", self.quote(*inner)?),
        })
    }
}
