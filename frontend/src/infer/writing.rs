//! What inference asks about how a text is written: the tree leaves out what means nothing.
//!
//! Inference knows no notation. The syntax of a text answers ([`crate::syntax::nesl::writing`]).

use nesl_span::{SourceMap, Span};

/// A text as it is written.
pub(crate) trait Writing {
    /// All texts.
    fn sources(&self) -> &SourceMap;

    /// A name as it is spelled where it is bound or mentioned.
    fn spelling(&self, name: &str, place: Span) -> &str;

    /// Whether an argument is one tuple that has parentheses of its own, `f((a, b))`, and not the arguments `f(a, b)`.
    /// The first part of the tuple stands at `first`.
    fn is_tuple_of_its_own(&self, argument: Span, first: Span) -> bool;

    /// What stands at a place, on one line.
    fn on_one_line(&self, place: Span) -> String;

    /// Where the name stands that is at this place; none if what stands there is no name, but stands for one.
    fn name_at(&self, place: Span) -> Option<Span>;
}
