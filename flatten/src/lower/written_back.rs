//! An element that is written back where it was: what of it is as it was stays, and what of it was replaced is replaced
//! where it lies.
//!
//! ```text
//! m <- [(i, m[i] <- [(j, x)])]                   the row m[i], with x at j, as row i of m
//!   = m whose data has x at starts[i] + j        one element, however long the row is
//! ```
//!
//! Taken literally, that makes a row and puts all rows together anew. But the registers of a value say where it comes
//! from: [`Whereabouts`] notes which were taken from which elements at which index, and which are others with one
//! element replaced. So it does not matter what stands between: names, records of which a field changes, deeper
//! nesting. What was made on the way and is not needed any more is no instruction in the end.
//!
//! A row that is new altogether is written over the one before, if it is as long ([`Lowering::put_row`]).
//!
//! Data in which segments overlap, or in which others lie, is made compact first. Where a loop does this it must not
//! look at all segments in each turn: see [`super::packing`].

use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::Value;
use nesl_frontend::core::{Expr, Variable};
use nesl_frontend::ty::Type;
use nesl_prim::ScalarOp;
use nesl_vcode::{Operand, VectorOp};
use std::collections::HashMap;

/// The registers of a value.
type Registers = Vec<Operand>;

/// What is known of where values lie.
#[derive(Default)]
pub(crate) struct Whereabouts {
    /// By the registers of a scalar or a sequence, the elements that it was taken from, and the index.
    taken: HashMap<Registers, (Registers, Operand)>,
    /// The elements of what was taken first from elements at an index.
    first: HashMap<(Registers, Operand), Value>,
    /// Elements by whatever else was taken from the same place.
    same: HashMap<Registers, Registers>,
    /// Sequences that are others with one element replaced.
    replaced: HashMap<Registers, Replaced>,
}

/// A sequence with a new element.
#[derive(Clone)]
struct Replaced {
    sequence: Value,
    index: Operand,
    element: Value,
    /// Where the first sequence of several such lay.
    root: (Registers, Operand),
}

/// Where an element was, before it was changed: its elements, and its index.
type Origin<'a> = (&'a Value, Operand);

impl Whereabouts {
    /// Notes that an element was taken.
    pub(crate) fn take(&mut self, elements: &Value, index: Operand, element: &Value) {
        if let (Value::Pair(first, rest), Value::Pair(first_part, rest_part)) = (elements, element) {
            self.take(first, index, first_part);
            return self.take(rest, index, rest_part);
        }
        let (registers, from) = (element.operands(), self.canonical(elements.operands()));
        if matches!(registers[..], [] | [Operand::Constant(_)]) {
            return;
        }
        if let Value::Sequence { elements: own, .. } = element {
            let first = self.first.entry((from.clone(), index)).or_insert_with(|| (**own).clone()).clone();
            self.note_same(own, &first);
        }
        self.taken.insert(registers, (from, index));
    }

    /// Notes that elements were taken from the same place as others.
    fn note_same(&mut self, own: &Value, first: &Value) {
        if let (Value::Pair(one, rest), Value::Pair(first_one, first_rest)) = (own, first) {
            self.note_same(one, first_one);
            self.note_same(rest, first_rest);
        }
        let (own, first) = (own.operands(), first.operands());
        if own != first {
            self.same.insert(own, first);
        }
    }

    fn canonical(&self, registers: Registers) -> Registers {
        self.same.get(&registers).cloned().unwrap_or(registers)
    }

    /// Whether a value is the one that lies there.
    fn is_at(&self, origin: Origin<'_>, value: &Value) -> bool {
        let (elements, index) = origin;
        self.taken.get(&value.operands()) == Some(&(self.canonical(elements.operands()), index))
    }

    /// Where a sequence lay, before elements of it were replaced.
    fn root(&self, sequence: &Value) -> Option<&(Registers, Operand)> {
        let registers = sequence.operands();
        self.taken.get(&registers).or_else(|| self.replaced.get(&registers).map(|change| &change.root))
    }

    /// Whether a sequence is the one that lies there, with some elements replaced.
    fn comes_from(&self, (elements, index): Origin<'_>, sequence: &Value) -> bool {
        let change = self.replaced.get(&sequence.operands());
        change.is_some_and(|change| change.root == (self.canonical(elements.operands()), index))
    }

    /// Whether some part of a value lies there, or did before elements of it were replaced.
    fn stays(&self, origin: Origin<'_>, value: &Value) -> bool {
        match (value, origin.0) {
            (Value::Pair(first, rest), Value::Pair(first_from, rest_from)) => {
                self.stays((first_from, origin.1), first) || self.stays((rest_from, origin.1), rest)
            }
            _ => self.is_at(origin, value) || self.comes_from(origin, value),
        }
    }
}

impl Lowering<'_, '_> {
    /// The value of a function's body in place of a call, which remains the place of what happens.
    pub(crate) fn in_place_of_call(
        &mut self,
        type_arguments: Vec<Type>,
        (parameter, body): (&Variable, &Expr),
        argument: Value,
    ) -> Value {
        self.environment.insert(parameter.id, argument);
        let type_arguments = std::mem::replace(&mut self.type_arguments, type_arguments);
        let span_stays = std::mem::replace(&mut self.span_stays, true);
        let value = self.eval(body, Context::Serial);
        (self.span_stays, self.type_arguments) = (span_stays, type_arguments);
        value
    }

    /// A sequence with one element replaced.
    pub(crate) fn replace(&mut self, destination: &Value, index: &Value, element: &Value) -> Value {
        let index = index.operand();
        let (length, elements) = destination.clone().into_sequence();
        let root = self.whereabouts.root(destination).cloned();
        if root.is_none() && element.is_flat() && !self.whereabouts.stays((&elements, index), element) {
            let indices = self.builder.vector(VectorOp::Build, &[index]);
            let element = self.build(std::slice::from_ref(element));
            let indices = self.builder.map(ScalarOp::CheckIndex, &[indices, length]);
            return Value::sequence(length, self.scatter(&elements, indices, &element));
        }
        let position = self.builder.scalar(ScalarOp::CheckIndex, &[index, length]);
        let result = Value::sequence(length, self.put_back(&elements, position, (&elements, index), element));
        if let Some(root) = root {
            let change = Replaced { sequence: destination.clone(), index, element: element.clone(), root };
            self.whereabouts.replaced.insert(result.operands(), change);
        }
        result
    }

    /// Elements with another one at a checked position, where the one that lay at `origin` was before.
    fn put_back(&mut self, elements: &Value, position: Operand, origin: Origin<'_>, element: &Value) -> Value {
        match (elements, element, origin.0) {
            (Value::Pair(first, rest), Value::Pair(first_part, rest_part), Value::Pair(first_from, rest_from)) => {
                let first = self.put_back(first, position, (first_from, origin.1), first_part);
                Value::pair(first, self.put_back(rest, position, (rest_from, origin.1), rest_part))
            }
            _ if self.whereabouts.is_at(origin, element) => elements.clone(),
            (Value::Sequence { .. }, ..) if self.whereabouts.comes_from(origin, element) => {
                self.put_into(elements, position, origin, element)
            }
            (Value::Sequence { elements: inner, .. }, ..) if inner.is_flat() => {
                self.put_row(elements, position, element)
            }
            _ => self.put(elements, position, element),
        }
    }

    /// Elements with another one at a checked position.
    fn put(&mut self, elements: &Value, position: Operand, element: &Value) -> Value {
        let indices = self.builder.vector(VectorOp::Build, &[position]);
        let element = self.build(std::slice::from_ref(element));
        self.scatter(elements, indices, &element)
    }

    /// Rows with another one at a checked position. One that is as long as the one before is written over it:
    ///
    /// ```text
    /// if #row = lengths[i] then the same segments, of data that has the row from starts[i] on
    /// else those of all data and the row behind it, packed
    /// ```
    fn put_row(&mut self, rows: &Value, position: Operand, row: &Value) -> Value {
        let rows = self.packed_segments(rows.clone());
        let (descriptor, data) = rows.clone().into_sequence();
        let (length, elements) = row.clone().into_sequence();
        let (starts, lengths) = (self.starts(descriptor), self.lengths(descriptor));
        let start = self.builder.vector(VectorOp::Extract, &[starts, position]);
        let before = self.builder.vector(VectorOp::Extract, &[lengths, position]);
        let is_as_long = self.builder.scalar(ScalarOp::EqualInt, &[length, before]);
        self.builder.begin_block();
        let places = self.builder.vector(VectorOp::Iota, &[length]);
        let places = self.builder.map(ScalarOp::AddInt, &[places, start]);
        let data = self.scatter(&data, places, &elements);
        let over = self.builder.end_block(Value::segments(descriptor, data).operands());
        self.builder.begin_block();
        let others = self.put(&rows, position, row);
        let others = self.packed_segments(others);
        let anew = self.builder.end_block(others.operands());
        let operands = self.builder.if_(is_as_long, over, anew, &rows.register_types());
        self.packed.insert(operands[0]);
        rows.with(&mut Supply::of(operands))
    }

    /// The same for a sequence that was there before, with an element replaced.
    fn put_into(&mut self, elements: &Value, position: Operand, origin: Origin<'_>, element: &Value) -> Value {
        let Some(change) = self.whereabouts.replaced.get(&element.operands()).cloned() else { return elements.clone() };
        let elements = self.put_back(elements, position, origin, &change.sequence);
        let (descriptor, inner) = self.packed_segments(elements).into_sequence();
        let (length, before) = change.sequence.into_sequence();
        let index = self.builder.scalar(ScalarOp::CheckIndex, &[change.index, length]);
        let starts = self.starts(descriptor);
        let start = self.builder.vector(VectorOp::Extract, &[starts, position]);
        let position = self.builder.scalar(ScalarOp::AddInt, &[start, index]);
        Value::segments(descriptor, self.put_back(&inner, position, (&before, change.index), &change.element))
    }

    /// An element of a sequence, which from now on is known to have been there.
    pub(crate) fn taken(&mut self, sequence: Value, index: Operand) -> Value {
        let (length, elements) = sequence.into_sequence();
        let position = self.builder.scalar(ScalarOp::CheckIndex, &[index, length]);
        let element = self.extract(&elements, position);
        self.whereabouts.take(&elements, index, &element);
        element
    }
}
