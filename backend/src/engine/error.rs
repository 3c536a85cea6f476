//! A run-time error: what failed, and where in the source.

use nesl_prim::Failure;
use nesl_span::{SourceMap, Span};
use nesl_vcode::{Place, Program};
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
    /// How many conditionals around the instruction that counts through: it is one of all elements, not of those that
    /// take the branches.
    pub conditionals: u32,
    /// The instance that was running, of each apply-to-each whose instances run one after another; the outermost first,
    /// at most [`CALLS_KEPT`].
    pub instances: Vec<Instance>,
}

/// One of the instances of a function that run one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Which one.
    pub index: usize,
    /// Where the function is called, or stands.
    pub place: Span,
}

impl RuntimeError {
    /// A failure at a place, outside all calls and instances that the caller does not know of.
    pub fn at(span: Span, failure: Failure) -> RuntimeError {
        let (calls, instances) = (Vec::new(), Vec::new());
        RuntimeError { failure, span, calls, element: None, conditionals: 0, instances }
    }

    /// The nearest place in user code: where it failed, or else the innermost call from user code into the library. The
    /// place of the failure where no user code is involved.
    pub fn user_span(&self, sources: &SourceMap) -> Span {
        let mut places = std::iter::once(self.span).chain(self.calls.iter().copied());
        places.find(|&span| sources.is_user(span)).unwrap_or(self.span)
    }

    /// The error as it is where the call that made it is one of more: inside `calls` and `instances`.
    pub(crate) fn inside(mut self, calls: Vec<Span>, instances: Vec<Instance>) -> RuntimeError {
        self.calls.extend(calls);
        self.calls = kept_calls(self.calls.into_iter());
        self.instances.splice(..0, instances);
        self.instances.truncate(CALLS_KEPT);
        self
    }
}

/// Where a place is in the source, and what a [`RuntimeError`] keeps of the calls that led there: those that are gone,
/// and `calls`, the innermost first, which may have taken the place of others, too.
pub(crate) fn chain(program: &Program, at: Place, calls: impl DoubleEndedIterator<Item = Place>) -> (Span, Vec<Span>) {
    let own: Vec<Span> = program.chain(at).skip(1).collect();
    (at.span, kept_calls(own.into_iter().chain(self::calls(program, calls))))
}

/// What a [`RuntimeError`] keeps of calls, the innermost first, with those that are gone.
pub(crate) fn calls(program: &Program, calls: impl DoubleEndedIterator<Item = Place>) -> Vec<Span> {
    let all: Vec<Span> = kept_calls(calls).into_iter().flat_map(|call| program.chain(call)).collect();
    kept_calls(all.into_iter())
}

/// What a [`RuntimeError`] keeps of a chain of calls, the innermost first.
pub(crate) fn kept_calls<T>(mut calls: impl DoubleEndedIterator<Item = T>) -> Vec<T> {
    let mut kept: Vec<T> = calls.by_ref().take(CALLS_KEPT).collect();
    let outermost: Vec<T> = calls.rev().take(CALLS_KEPT).collect();
    kept.extend(outermost.into_iter().rev());
    kept
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
    fn the_ends_of_long_chains_are_kept_also_of_chains_of_chains() {
        let at = |place| Span::new(nesl_span::FileId(0), place, place + 1);
        let chain = |places: std::ops::Range<usize>| kept_calls(places.map(at));
        assert_eq!(chain(0..2000), (0..2000).map(at).collect::<Vec<_>>());
        assert_eq!(chain(0..5000), (0..1000).chain(4000..5000).map(at).collect::<Vec<_>>());
        let instance = |index| Instance { index, place: at(index) };
        let (failure, instances) = (Failure::Interrupted, vec![instance(3)]);
        let inner = RuntimeError { calls: chain(0..5000), instances, ..RuntimeError::at(at(0), failure) };
        let error = inner.inside(chain(5000..5500), vec![instance(2)]);
        assert_eq!((error.calls, error.instances), (chain(0..5500), vec![instance(2), instance(3)]));
    }

    #[test]
    fn errors_in_the_library_point_at_the_call_in_user_code() {
        let mut sources = SourceMap::default();
        let library = sources.add("stdlib/sequence.nesl", "function f(a) = a / 0", Origin::Library);
        let user = sources.add("a.nesl", "f(f(1))", Origin::User);
        let at = |file, start| Span::new(file, start, start + 1);
        let error = |span, calls| RuntimeError {
            failure: Failure::QuotientOverflow,
            span,
            calls,
            element: None,
            conditionals: 0,
            instances: Vec::new(),
        };
        let nested = error(at(library, 1), vec![at(library, 2), at(user, 3), at(user, 4)]);
        assert_eq!(nested.user_span(&sources), at(user, 3));
        assert_eq!(error(at(user, 1), vec![at(user, 2)]).user_span(&sources), at(user, 1));
        assert_eq!(error(at(library, 1), vec![]).user_span(&sources), at(library, 1));
    }
}
