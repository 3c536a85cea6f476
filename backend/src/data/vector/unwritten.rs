//! Columns that are written in parts: room for all of a column, and for each part of it one owner who may write there.
//!
//! What is written lies in slices of one buffer, one after another where every part is filled: then putting the slices
//! together copies nothing ([`Slice::joined`]).

use super::{Slice, Vector};
use crate::data::buffer::{Buffer, Meter};
use nesl_native::Elements;
use nesl_prim::{Element, Failure, ScalarType};
use std::ops::Range;
use std::sync::Arc;

/// The part of a column that one owner writes, from its front on.
#[derive(Debug)]
struct Part<T> {
    buffer: Arc<Buffer<T>>,
    /// What has not been written yet. Nobody else writes there, and no slice has it.
    rest: Range<usize>,
}

impl<T: Element> Part<T> {
    fn all(meter: &Arc<Meter>, lengths: &[usize]) -> Result<Vec<Part<T>>, Failure> {
        let buffer = Arc::new(meter.unwritten(lengths.iter().sum())?);
        let mut end = buffer.room().first();
        let part = |&length: &usize| {
            let start = end;
            end += length;
            Part { buffer: Arc::clone(&buffer), rest: start..end }
        };
        Ok(lengths.iter().map(part).collect())
    }

    fn write(&mut self, elements: &[T]) -> Option<Slice<T>> {
        let (start, length) = (self.rest.start, elements.len());
        if length > self.rest.len() {
            return None;
        }
        // SAFETY: nobody else reads or writes what is left of this part.
        unsafe { self.buffer.room().write(start, elements) };
        self.rest.start += length;
        Some(Slice { buffer: Arc::clone(&self.buffer), start, length, is_constant: false })
    }
}

/// The part of a column, of elements of any type, that one owner writes.
#[derive(Debug)]
pub struct Unwritten(Parts);

#[derive(Debug)]
enum Parts {
    Int(Part<i64>),
    Float(Part<f64>),
    Bool(Part<bool>),
    Char(Part<u8>),
}

impl Unwritten {
    /// Room for a column in parts of so many elements.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn parts(meter: &Arc<Meter>, ty: ScalarType, lengths: &[usize]) -> Result<Vec<Unwritten>, Failure> {
        fn of<T: Element>(
            meter: &Arc<Meter>,
            lengths: &[usize],
            wrap: impl Fn(Part<T>) -> Parts,
        ) -> Result<Vec<Unwritten>, Failure> {
            Ok(Part::all(meter, lengths)?.into_iter().map(|part| Unwritten(wrap(part))).collect())
        }
        match ty {
            ScalarType::Int => of(meter, lengths, Parts::Int),
            ScalarType::Float => of(meter, lengths, Parts::Float),
            ScalarType::Bool => of(meter, lengths, Parts::Bool),
            ScalarType::Char => of(meter, lengths, Parts::Char),
        }
    }

    /// The next elements of this part; none if there is not so much left of it.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn write(&mut self, elements: Elements<'_>) -> Option<Vector> {
        match (&mut self.0, elements) {
            (Parts::Int(part), Elements::Int(elements)) => part.write(elements).map(Vector::Int),
            (Parts::Float(part), Elements::Float(elements)) => part.write(elements).map(Vector::Float),
            (Parts::Bool(part), Elements::Bool(elements)) => part.write(elements).map(Vector::Bool),
            (Parts::Char(part), Elements::Char(elements)) => part.write(elements).map(Vector::Char),
            (part, _) => panic!("elements of another type than {part:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::vector::VectorElement;

    #[test]
    fn parts_that_are_filled_lie_together() {
        let meter = Meter::new(None);
        let mut parts = Unwritten::parts(&meter, ScalarType::Int, &[3, 0, 2]).expect("there is memory");
        let mut written = Vec::new();
        // In any order, in any pieces.
        for (part, elements) in [(2, &[40i64, 50][..]), (0, &[10]), (1, &[]), (0, &[20, 30])] {
            written.push((part, parts[part].write(Elements::Int(elements)).expect("there is room")));
        }
        assert!(parts.iter_mut().all(|part| part.write(Elements::Int(&[1])).is_none()));
        written.sort_by_key(|&(part, _)| part);
        let slices: Vec<&Slice<i64>> = written.iter().map(|(_, vector)| i64::slice_of(vector)).collect();
        let mut whole = Slice::joined(slices).expect("they lie one after another");
        assert_eq!(whole.elements(), [10, 20, 30, 40, 50]);
        assert!(whole.unique().is_none());
        drop((parts, written));
        assert_eq!(whole.unique().expect("nobody else sees it"), [10, 20, 30, 40, 50]);
    }

    #[test]
    fn what_is_not_written_is_in_no_slice() {
        let meter = Meter::new(None);
        let mut parts = Unwritten::parts(&meter, ScalarType::Char, &[3, 2]).expect("there is memory");
        let first = parts[0].write(Elements::Char(b"ab")).expect("there is room");
        let second = parts[1].write(Elements::Char(b"cd")).expect("there is room");
        assert!(parts[0].write(Elements::Char(b"ef")).is_none());
        assert_eq!((first.elements::<u8>(), second.elements::<u8>()), (&b"ab"[..], &b"cd"[..]));
        assert!(Slice::joined([u8::slice_of(&first), u8::slice_of(&second)]).is_none());
        let mut counters = crate::data::counters::Counters::default();
        meter.report(&mut counters);
        assert_eq!((counters.elements, counters.bytes), (5, 5));
    }
}
