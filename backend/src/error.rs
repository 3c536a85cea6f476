//! A run-time error: what failed, and where in the source.

use nesl_prim::Failure;
use nesl_span::{SourceMap, Span};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many call sites a [`RuntimeError`] keeps at either end of its chain. Runaway recursion is millions deep.
pub const CALLS_KEPT: usize = 1000;

/// A failure with the places that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuntimeError {
    /// What happened.
    pub failure: Failure,
    /// The source of the instruction that failed.
    pub span: Span,
    /// Where the function that failed was called, where its caller was called, …. Of a longer chain, the
    /// [`CALLS_KEPT`] innermost and as many outermost.
    pub calls: Vec<Span>,
    /// On which element it failed, the first if there are several, where the instruction has elements.
    pub element: Option<usize>,
}

impl RuntimeError {
    /// The nearest place in user code: where it failed, or else the innermost call from user code into the library. The place
    /// of the failure where no user code is involved.
    pub fn user_span(&self, sources: &SourceMap) -> Span {
        let mut places = std::iter::once(self.span).chain(self.calls.iter().copied());
        places.find(|&span| sources.is_user(span)).unwrap_or(self.span)
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl std::error::Error for RuntimeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::Origin;

    #[test]
    fn errors_in_the_library_point_at_the_call_in_user_code() {
        let mut sources = SourceMap::default();
        let library = sources.add("stdlib/sequence.nesl", "function f(a) = a / 0", Origin::Library);
        let user = sources.add("a.nesl", "f(f(1))", Origin::User);
        let at = |file, start| Span::new(file, start, start + 1);
        let error = |span, calls| RuntimeError { failure: Failure::QuotientOverflow, span, calls, element: None };
        let nested = error(at(library, 1), vec![at(library, 2), at(user, 3), at(user, 4)]);
        assert_eq!(nested.user_span(&sources), at(user, 3));
        assert_eq!(error(at(user, 1), vec![at(user, 2)]).user_span(&sources), at(user, 1));
        assert_eq!(error(at(library, 1), vec![]).user_span(&sources), at(library, 1));
    }
}
