//! Elementwise instructions: the meanings of the table in loops.

use super::{Frame, Helper, helper};
use crate::thunk::conjure;
use nesl_prim::{Element, Failure, ScalarOp, Visitor};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

pub(super) fn map(op: ScalarOp) -> Helper {
    op.visit(Maps)
}

/// An operand: an element for each index, or the same for all.
enum Source<'s, T> {
    Column(&'s [T]),
    Same(T),
}

fn source<'s, T: Element>(frame: &mut Frame<'s>, length: usize) -> Source<'s, T> {
    let (is_column, word) = (frame.word() != 0, frame.word());
    if !is_column {
        return Source::Same(T::from_word(word));
    }
    // SAFETY: native code passes the address of a column of this type, which has as many elements as the instruction says.
    Source::Column(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(word as usize), length) })
}

/// Fills places with the results of a computation on each index; false if one of them fails.
#[inline(always)]
fn fill<R: Element>(places: &mut [MaybeUninit<R>], results: impl Iterator<Item = Result<R, Failure>>) -> bool {
    let mut is_done = true;
    for (place, result) in places.iter_mut().zip(results) {
        is_done &= result.is_ok();
        place.write(result.unwrap_or_default());
    }
    is_done
}

struct Unary<F, A, R>(PhantomData<(F, A, R)>);
struct Binary<F, A, B, R>(PhantomData<(F, A, B, R)>);
struct Ternary<F, A, B, C, R>(PhantomData<(F, A, B, C, R)>);

/// Gives a column of which all places have been written.
fn give<R: Element>(frame: &mut Frame<'_>, places: &[MaybeUninit<R>], is_done: bool) -> Option<()> {
    // SAFETY: [`fill`] has written all.
    frame.give(unsafe { places.assume_init_ref() });
    is_done.then_some(())
}

impl<A: Element, R: Element, F: Fn(A) -> Result<R, Failure> + Copy> Unary<F, A, R> {
    fn run(frame: &mut Frame<'_>) -> Option<()> {
        let f = conjure::<F>();
        let length = frame.size();
        let a = source::<A>(frame, length);
        let places = frame.room(length)?;
        let is_done = match a {
            Source::Column(a) => fill(places, a.iter().map(|&a| f(a))),
            Source::Same(a) => fill(places, std::iter::repeat_with(|| f(a))),
        };
        give::<R>(frame, places, is_done)
    }

    fn helper(_: F) -> Helper {
        helper(Self::run)
    }
}

impl<A: Element, B: Element, R: Element, F: Fn(A, B) -> Result<R, Failure> + Copy> Binary<F, A, B, R> {
    fn run(frame: &mut Frame<'_>) -> Option<()> {
        let f = conjure::<F>();
        let length = frame.size();
        let (a, b) = (source::<A>(frame, length), source::<B>(frame, length));
        let places = frame.room(length)?;
        let is_done = match (a, b) {
            (Source::Column(a), Source::Column(b)) => fill(places, a.iter().zip(b).map(|(&a, &b)| f(a, b))),
            (Source::Column(a), Source::Same(b)) => fill(places, a.iter().map(|&a| f(a, b))),
            (Source::Same(a), Source::Column(b)) => fill(places, b.iter().map(|&b| f(a, b))),
            (Source::Same(a), Source::Same(b)) => fill(places, std::iter::repeat_with(|| f(a, b))),
        };
        give::<R>(frame, places, is_done)
    }

    fn helper(_: F) -> Helper {
        helper(Self::run)
    }
}

impl<A, B, C, R, F> Ternary<F, A, B, C, R>
where
    A: Element,
    B: Element,
    C: Element,
    R: Element,
    F: Fn(A, B, C) -> Result<R, Failure> + Copy,
{
    fn run(frame: &mut Frame<'_>) -> Option<()> {
        let f = conjure::<F>();
        let length = frame.size();
        let (a, b, c) = (source::<A>(frame, length), source::<B>(frame, length), source::<C>(frame, length));
        let places = frame.room(length)?;
        let is_done = match (a, b, c) {
            (Source::Column(a), Source::Column(b), Source::Column(c)) => {
                fill(places, a.iter().zip(b).zip(c).map(|((&a, &b), &c)| f(a, b, c)))
            }
            (a, b, c) => fill(places, (0..length).map(|index| f(a.at(index), b.at(index), c.at(index)))),
        };
        give::<R>(frame, places, is_done)
    }

    fn helper(_: F) -> Helper {
        helper(Self::run)
    }
}

impl<T: Element> Source<'_, T> {
    #[inline(always)]
    fn at(&self, index: usize) -> T {
        match self {
            Source::Column(elements) => elements[index],
            Source::Same(value) => *value,
        }
    }
}

struct Maps;

impl Visitor for Maps {
    type Output = Helper;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync + 'static) -> Helper {
        Unary::helper(move |a: A| Ok::<R, Failure>(f(a)))
    }

    fn binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> R + Copy + Send + Sync + 'static,
    ) -> Helper {
        Binary::helper(move |a: A, b: B| Ok::<R, Failure>(f(a, b)))
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync + 'static,
    ) -> Helper {
        Ternary::helper(move |a: A, b: B, c: C| Ok::<R, Failure>(f(a, b, c)))
    }

    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Helper {
        Unary::helper(f)
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Helper {
        Binary::helper(f)
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Helper {
        Ternary::helper(f)
    }
}
