//! Scalar operations as closures on a frame of words.
//!
//! The meaning is the closure of the table, instantiated by a [`Visitor`]; what is added here reads its operands from
//! fixed places and writes its result to one.

use super::Source;
use nesl_prim::{Element, Failure, ScalarOp, Visitor};
use std::fmt;

/// What an operation does to the frame.
type Action = dyn Fn(&mut [u64]) -> Result<(), Box<Failure>> + Send + Sync;

/// An operation with the places of its operands and of its result. Failures are in boxes, so that success is told by
/// one word.
pub(in crate::machine) struct Operation(Box<Action>);

impl Operation {
    /// An operation on operands, of which there are as many as it has, that leaves its result at a place.
    pub fn new(op: ScalarOp, operands: &[Source], result: usize) -> Operation {
        op.visit(Compile { operands, result })
    }

    /// Does it. Where it fails the frame is as before.
    #[inline]
    pub fn apply(&self, frame: &mut [u64]) -> Result<(), Box<Failure>> {
        (self.0)(frame)
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Operation")
    }
}

struct Compile<'a> {
    operands: &'a [Source],
    result: usize,
}

/// A meaning with its operands bound to ways of reading them.
fn operation<R: Element>(
    result: usize,
    compute: impl Fn(&[u64]) -> Result<R, Box<Failure>> + Send + Sync + 'static,
) -> Operation {
    Operation(Box::new(move |frame| {
        frame[result] = compute(frame)?.to_word();
        Ok(())
    }))
}

fn unary<A: Element, R: Element>(
    Compile { operands, result }: Compile<'_>,
    f: impl Fn(A) -> Result<R, Box<Failure>> + Send + Sync + 'static,
) -> Operation {
    let a = operands[0];
    operation(result, move |frame| f(A::from_word(a.word(frame))))
}

/// The usual kinds of operands have closures of their own.
fn binary<A: Element, B: Element, R: Element>(
    Compile { operands, result }: Compile<'_>,
    f: impl Fn(A, B) -> Result<R, Box<Failure>> + Send + Sync + 'static,
) -> Operation {
    match (operands[0], operands[1]) {
        (Source::Place(a), Source::Place(b)) => {
            operation(result, move |frame| f(A::from_word(frame[a]), B::from_word(frame[b])))
        }
        (Source::Place(a), Source::Constant(b)) => {
            let b = B::from_word(b);
            operation(result, move |frame| f(A::from_word(frame[a]), b))
        }
        (Source::Constant(a), b) => {
            let a = A::from_word(a);
            operation(result, move |frame| f(a, B::from_word(b.word(frame))))
        }
    }
}

fn ternary<A: Element, B: Element, C: Element, R: Element>(
    Compile { operands, result }: Compile<'_>,
    f: impl Fn(A, B, C) -> Result<R, Box<Failure>> + Send + Sync + 'static,
) -> Operation {
    let (a, b, c) = (operands[0], operands[1], operands[2]);
    operation(result, move |frame| {
        f(A::from_word(a.word(frame)), B::from_word(b.word(frame)), C::from_word(c.word(frame)))
    })
}

impl Visitor for Compile<'_> {
    type Output = Operation;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync + 'static) -> Operation {
        unary(self, move |a| Ok(f(a)))
    }

    fn binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> R + Copy + Send + Sync + 'static,
    ) -> Operation {
        binary(self, move |a, b| Ok(f(a, b)))
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync + 'static,
    ) -> Operation {
        ternary(self, move |a, b, c| Ok(f(a, b, c)))
    }

    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Operation {
        unary(self, move |a| f(a).map_err(Box::new))
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Operation {
        binary(self, move |a, b| f(a, b).map_err(Box::new))
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Operation {
        ternary(self, move |a, b, c| f(a, b, c).map_err(Box::new))
    }
}
