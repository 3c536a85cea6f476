//! The one error that flattening finds: operations on the world outside, which have an order, in an apply-to-each,
//! whose elements have none.
//!
//! It takes the instances of functions to know it: the same function may be called in serial code, too.

use nesl_frontend::Diagnostic;
use nesl_frontend::ast::Symbol;
use nesl_span::{SourceMap, Span};

/// An operation for serial code in lifted code.
#[derive(Clone, Debug, PartialEq)]
pub struct NotParallel {
    /// Where it stands and what it is called.
    pub(crate) operation: (Span, Symbol),
    /// Where the function around it is called and that function's name, and so on, innermost first.
    pub(crate) calls: Vec<(Span, Symbol)>,
}

impl NotParallel {
    /// One error for each outermost place, in the order of the text.
    pub(crate) fn in_order(mut errors: Vec<NotParallel>) -> Vec<NotParallel> {
        let place = |error: &NotParallel| {
            let (span, _) = error.calls.last().unwrap_or(&error.operation);
            (span.file, span.start)
        };
        errors.sort_by_key(place);
        errors.dedup_by_key(|error| place(error));
        errors
    }

    /// The error at the innermost place in user code.
    pub fn diagnostic(&self, sources: &SourceMap) -> Diagnostic {
        let mut calls = std::iter::once(&self.operation).chain(&self.calls);
        let own = calls.find(|(span, _)| sources.is_user(*span));
        let (span, name) = own.or(self.calls.last()).unwrap_or(&self.operation);
        Diagnostic::error("E0301", format!("`{name}` cannot be called in parallel"), *span)
            .saying("files, streams, processes and the clock are used one after another")
            .hint("`{* e : x in v}` evaluates its elements in order; or do it outside of the apply-to-each")
    }
}
