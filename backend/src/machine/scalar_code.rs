//! Functions of scalars alone, as the evaluator runs them.
//!
//! Such a function, and whatever it calls, has no columns: its registers are words of 64 bits, and an engine has no
//! part in it. It becomes blocks (`translate`) of closures, one for each operation, made from the operation's meaning
//! in the table (`operation`), with control between them.

mod only;
mod operation;
mod translate;

use nesl_prim::ScalarType;
use nesl_span::Span;
use nesl_vcode::{FunctionId, Place};
pub(super) use only::{is_scalar_only, results};
pub(super) use operation::Operation;
pub(super) use translate::translate;

/// Where a word comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// The program.
    Constant(u64),
    /// A place in the frame.
    Place(usize),
}

impl Source {
    pub(super) fn word(self, frame: &[u64]) -> u64 {
        match self {
            Source::Constant(word) => word,
            Source::Place(place) => frame[place],
        }
    }
}

/// A call at the end of a block.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: FunctionId,
    /// In the order of the parameters.
    pub(super) arguments: Box<[Source]>,
    /// Where the results go.
    pub(super) results: Box<[usize]>,
    /// The block to go on with.
    pub(super) next: usize,
    pub(super) at: Place,
}

/// What follows a block.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// One block where the word at a place is true, else another.
    Branch { condition: usize, then: usize, otherwise: usize },
    /// A block further down.
    Jump(usize),
    /// A call, then a block further down.
    Call(Call),
    /// A step of a loop: a call that ends the function, whose place the other takes.
    Step { function: FunctionId, arguments: Box<[Source]>, at: Place },
    /// The end of the function.
    Return(Box<[Source]>),
}

/// Operations that run one after another; then moves within the frame, in order.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) operations: Vec<Operation>,
    /// Where each of them is in the source.
    pub(super) places: Vec<Place>,
    pub(super) moves: Vec<(Source, usize)>,
    /// Instructions in it, with that of its end.
    pub(super) instructions: u64,
    pub(super) end: End,
}

/// A function ready for the evaluator.
#[derive(Debug)]
pub(crate) struct Code {
    /// The first one begins.
    pub(super) blocks: Vec<Block>,
    /// Words of a frame.
    pub(super) words: usize,
    /// Where the parameters go.
    pub(super) parameters: Box<[usize]>,
    /// The types of the results.
    pub(super) results: Box<[ScalarType]>,
    /// The source of the function.
    pub(super) span: Span,
}
