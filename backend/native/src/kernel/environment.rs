//! What the loops of a group run with, and what is there after them: the values that the function around them has. And
//! what is made for nodes, inputs or yields in the course of the emission, each before something reads it.

use crate::emitter::{Emitter, TRUSTED};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::ops::Index;

/// An input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    Scalar(Value),
    Column(BoundColumn),
    Descriptor(BoundSegments),
}

/// A column from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundColumn {
    pub pointer: Value,
    pub length: Value,
    /// The first element and the stride of a column that the plan knows to be a progression.
    pub progression: Option<[Value; 2]>,
}

/// [`Ints`](crate::Ints) from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundInts {
    pub pointer: Value,
    pub mask: Value,
    pub stride: Value,
}

impl BoundInts {
    /// Those of a column.
    pub fn column(emitter: &mut Emitter<'_>, pointer: Value) -> BoundInts {
        BoundInts { pointer, mask: emitter.int(-1), stride: emitter.int(0) }
    }

    /// Whether there are any, and all are one number.
    pub fn is_one(self, emitter: &mut Emitter<'_>) -> Value {
        let ins = &mut emitter.builder;
        let differ = ins.ins().bor(self.mask, self.stride);
        let is_there = ins.ins().icmp_imm_s(IntCC::NotEqual, self.pointer, 0);
        let are_same = ins.ins().icmp_imm_s(IntCC::Equal, differ, 0);
        ins.ins().band(is_there, are_same)
    }

    /// The one at a position.
    pub fn at(self, emitter: &mut Emitter<'_>, position: Value) -> Value {
        let place = emitter.builder.ins().band(position, self.mask);
        let address = emitter.address(self.pointer, place, 8);
        let builder = &mut emitter.builder;
        let element = builder.ins().load(types::I64, TRUSTED, address, 0);
        let further = builder.ins().imul(position, self.stride);
        builder.ins().iadd(element, further)
    }
}

/// A descriptor from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundSegments {
    /// Where the segments of a view start in the data; the pointer is 0 for a packed descriptor.
    pub starts: BoundInts,
    /// The lengths of the segments.
    pub lengths: BoundInts,
    /// The segment of the first index.
    pub segment: Value,
    /// The index at which it begins, and that at which it ends.
    pub base: Value,
    pub stop: Value,
    /// The end of the segments of which these indices are.
    pub segments: Value,
}

/// Where a yield goes: to a column, or into [`Sums`](crate::Sums).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlet {
    pub pointer: Value,
    /// What a reduction begins with; where in the buffer of sums a filter's first element goes; the length of the
    /// column that is written to at indices; the [`Sums`](crate::Sums) of segments, whose results go to the column.
    pub start: Value,
}

/// What the loops run with.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub inputs: Vec<Bound>,
    /// For each space, where its first element goes in columns.
    pub positions: Vec<Value>,
    /// For each space of a piece, where the room for its elements ends; not looked at otherwise.
    pub limits: Vec<Value>,
    pub outlets: Vec<Outlet>,
    /// Eight bytes that mean nothing; unless all is computed over all indices, then a word for each scan that is read
    /// with what comes before the first index.
    pub aside: Value,
}

impl Environment {
    /// An input that is a column.
    ///
    /// # Panics
    /// If it is something else: plans are made of verified programs.
    pub fn column(&self, input: usize) -> BoundColumn {
        match self.inputs[input] {
            Bound::Column(column) => column,
            other => panic!("input {input} is no column, but {other:?}"),
        }
    }

    /// An input that is a descriptor.
    ///
    /// # Panics
    /// As for a column.
    pub fn segments(&self, input: usize) -> BoundSegments {
        match self.inputs[input] {
            Bound::Descriptor(segments) => segments,
            other => panic!("input {input} is no descriptor, but {other:?}"),
        }
    }
}

/// What is there after the loops.
#[derive(Debug)]
pub(crate) struct Finished {
    /// For each space that is counted the position after its last element.
    pub positions: Vec<Option<Value>>,
    /// For each yield what a reduction ends with, or how many elements are in the buffer of sums.
    pub values: Made<Value>,
    /// For each yield that is the index of an extreme element, that element.
    pub extremes: Made<Value>,
}

/// Something for each of several things, as far as it has been made.
#[derive(Clone, Debug)]
pub(crate) struct Made<T> {
    /// What it is made for.
    of: &'static str,
    all: Vec<Option<T>>,
}

impl<T: Copy> Made<T> {
    /// Nothing yet, for so many.
    pub fn nothing(of: &'static str, count: usize) -> Made<T> {
        Made { of, all: vec![None; count] }
    }

    /// From what there is for each, or is not.
    pub fn from_all(of: &'static str, all: impl IntoIterator<Item = Option<T>>) -> Made<T> {
        Made { of, all: all.into_iter().collect() }
    }

    /// What is there for one of them.
    pub fn get(&self, index: usize) -> Option<T> {
        self.all.get(index).copied().flatten()
    }

    /// Makes it.
    pub fn set(&mut self, index: usize, made: T) {
        self.all[index] = Some(made);
    }

    /// What is there, with what it is for.
    pub fn iter(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        self.all.iter().enumerate().filter_map(|(index, made)| Some((index, (*made)?)))
    }
}

/// # Panics
/// If it has not been made: the analysis of a plan says what is read, and the order of the emission that it is made
/// first.
impl<T> Index<usize> for Made<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        match &self.all[index] {
            Some(made) => made,
            None => panic!("what is made for {} {index} is read before", self.of),
        }
    }
}
