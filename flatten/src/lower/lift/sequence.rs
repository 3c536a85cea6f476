//! Sequence operations in a lifted context: one segment per instance.
//!
//! An operand that does not vary by instance stays as it is where the operation allows: reading at lifted indices from
//! one sequence is a plain gather, and parts of one sequence are views of it. Otherwise it is lifted to views, which
//! moves nothing. Operands are compacted before anything is computed on their elements.

use crate::lower::Lowering;
use crate::lower::lift::intrinsic::operator;
use crate::value::Value;
use nesl_frontend::core::Intrinsic;
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Operand, VectorOp};

impl Lowering<'_, '_> {
    /// An operation on sequences of `count` instances, some part of whose argument varies.
    pub(crate) fn segmented(&mut self, intrinsic: Intrinsic, argument: Value, ty: &Type, count: Operand) -> Value {
        match intrinsic {
            Intrinsic::Length => {
                let (descriptor, _) = argument.into_sequence();
                Value::column(self.lengths(descriptor), ScalarType::Int)
            }
            Intrinsic::Dist => {
                let (value, number) = argument.into_pair();
                let number = self.lift(number, count).operand();
                let lengths = self.builder.map(ScalarOp::CheckLength, &[number]);
                let lengths = self.builder.map(ScalarOp::CheckTotal, &[lengths]);
                let descriptor = self.packed(lengths);
                let total = self.total(descriptor);
                let spread = self.spread(&value, descriptor);
                Value::segments(descriptor, self.lift(spread, total))
            }
            Intrinsic::Elt => self.lifted_elt(argument),
            Intrinsic::Iseq => {
                let (start, stride, end) = argument.into_triple();
                let operands = [start.operand(), end.operand(), stride.operand()];
                let lengths = self.builder.map(ScalarOp::RangeLength, &operands);
                let descriptor = self.packed(lengths);
                let positions = self.builder.vector(VectorOp::SegIota, &[descriptor]);
                let start = self.spread(&start, descriptor).operand();
                let stride = self.spread(&stride, descriptor).operand();
                Value::segments(descriptor, self.progression(positions, start, stride))
            }
            Intrinsic::Subseq => self.lifted_subseq(argument, count),
            Intrinsic::Read => self.lifted_read(argument, count),
            Intrinsic::Write => self.lifted_write(argument, count, |lowering, elements, indices, values| {
                lowering.scatter(elements, indices, values)
            }),
            Intrinsic::CombineByIndex(source) => {
                let op = operator(source, ty);
                self.lifted_write(argument, count, |lowering, elements, indices, values| {
                    lowering.combine_by_index(op, elements, indices, values)
                })
            }
            Intrinsic::Permute => self.lifted_permute(argument, count),
            Intrinsic::Append => {
                let (first, second) = argument.into_pair();
                let (first, elements) = self.lift_compact(first, count);
                let (second, others) = self.lift_compact(second, count);
                let (length, more) = (self.lengths(first), self.lengths(second));
                let sums = self.builder.map(ScalarOp::AddInt, &[length, more]);
                let lengths = self.builder.map(ScalarOp::CheckTotal, &[sums]);
                let appended = self.move_elements(&[&elements, &others], &mut |lowering, columns| {
                    lowering.builder.vector(VectorOp::Append, &[first, columns[0], second, columns[1]])
                });
                Value::segments(self.packed(lengths), appended)
            }
            Intrinsic::Flatten => {
                let (outer, inner) = self.compact(argument).into_sequence();
                let (descriptor, elements) = self.compact(inner).into_sequence();
                let lengths = self.lengths(descriptor);
                // Of parts that are views of one there may be more elements than of what is in memory.
                let sums = self.builder.vector(VectorOp::SegReduce(ScalarOp::AddLength), &[lengths, outer]);
                let lengths = self.builder.map(ScalarOp::CheckTotal, &[sums]);
                Value::segments(self.packed(lengths), elements)
            }
            Intrinsic::Partition => {
                let (sequence, lengths) = argument.into_pair();
                let (whole, elements) = self.lift_compact(sequence, count);
                let (outer, lengths) = self.lift_compact(lengths, count);
                let lengths = self.builder.map(ScalarOp::CheckLength, &[lengths.operand()]);
                let sums = self.builder.vector(VectorOp::SegReduce(ScalarOp::AddLength), &[lengths, outer]);
                let expected = self.lengths(whole);
                self.builder.map(ScalarOp::CheckPartition, &[sums, expected]);
                Value::segments(outer, Value::segments(self.packed(lengths), elements))
            }
            Intrinsic::Reduce(source) => {
                let (descriptor, elements) = argument.into_sequence();
                let op = operator(source, ty);
                let operands = [elements.operand(), descriptor];
                Value::column(self.builder.vector(VectorOp::SegReduce(op), &operands), op.row().result)
            }
            Intrinsic::ReduceIndex(source) => {
                let (descriptor, elements) = argument.into_sequence();
                let op = VectorOp::SegReduceIndex(ScalarOp::named(source, &[elements.scalar_type(); 2]));
                Value::column(self.builder.vector(op, &[elements.operand(), descriptor]), ScalarType::Int)
            }
            Intrinsic::Scan(source) => {
                let (descriptor, elements) = argument.into_sequence();
                let op = operator(source, ty);
                let column = self.builder.vector(VectorOp::SegScan(op), &[elements.operand(), descriptor]);
                let lengths = self.lengths(descriptor);
                Value::segments(self.packed(lengths), Value::column(column, op.row().result))
            }
            Intrinsic::Rank(direction) => {
                let (descriptor, elements) = argument.into_sequence();
                let column = self.builder.vector(VectorOp::SegRank(direction), &[elements.operand(), descriptor]);
                let lengths = self.lengths(descriptor);
                Value::segments(self.packed(lengths), Value::column(column, ScalarType::Int))
            }
            Intrinsic::ParseFloat => {
                let (descriptor, elements) = argument.into_sequence();
                let column = self.builder.vector(VectorOp::ParseFloat, &[elements.operand(), descriptor]);
                Value::column(column, ScalarType::Float)
            }
            // The others do not come here: see [`Lowering::intrinsic`].
            other => panic!("{other:?} is not an operation on sequences"),
        }
    }

    /// Descriptor and elements of a sequence, lifted and compact.
    fn lift_compact(&mut self, sequence: Value, count: Operand) -> (Operand, Value) {
        let lifted = self.lift(sequence, count);
        self.compact(lifted).into_sequence()
    }

    fn lifted_elt(&mut self, argument: Value) -> Value {
        let (sequence, index) = argument.into_pair();
        let invariant = sequence.is_invariant();
        let (extent, elements) = sequence.into_sequence();
        if invariant {
            let index = self.builder.map(ScalarOp::CheckIndex, &[index.operand(), extent]);
            return self.move_by(&elements, VectorOp::Gather, &[index]);
        }
        let lengths = self.lengths(extent);
        let index = self.builder.map(ScalarOp::CheckIndex, &[index.operand(), lengths]);
        let starts = self.starts(extent);
        let index = self.builder.map(ScalarOp::AddInt, &[starts, index]);
        self.move_by(&elements, VectorOp::Gather, &[index])
    }

    /// Parts of sequences are views of their elements.
    fn lifted_subseq(&mut self, argument: Value, count: Operand) -> Value {
        let (sequence, start, end) = argument.into_triple();
        let invariant = sequence.is_invariant();
        let (extent, elements) = sequence.into_sequence();
        let length = if invariant { extent } else { self.lengths(extent) };
        let operands = [start.operand(), end.operand(), length];
        let lengths = self.builder.map(ScalarOp::SubsequenceLength, &operands);
        let starts = if invariant {
            self.lift(start, count).operand()
        } else {
            let starts = self.starts(extent);
            self.builder.map(ScalarOp::AddInt, &[starts, start.operand()])
        };
        Value::segments(self.view(starts, lengths), elements)
    }

    fn lifted_read(&mut self, argument: Value, count: Operand) -> Value {
        let (sequence, indices) = argument.into_pair();
        let (descriptor, indices) = self.lift_compact(indices, count);
        let invariant = sequence.is_invariant();
        let (extent, elements) = sequence.into_sequence();
        let indices = if invariant {
            self.builder.map(ScalarOp::CheckIndex, &[indices.operand(), extent])
        } else {
            self.positions(extent, indices.operand(), descriptor)
        };
        Value::segments(descriptor, self.move_by(&elements, VectorOp::Gather, &[indices]))
    }

    /// Indices into the segments of `target`, checked, as positions in its data. Segment j of `owner` has the indices
    /// into segment j of `target`.
    fn positions(&mut self, target: Operand, indices: Operand, owner: Operand) -> Operand {
        let lengths = self.lengths(target);
        let lengths = self.builder.vector(VectorOp::SegDist, &[lengths, owner]);
        let indices = self.builder.map(ScalarOp::CheckIndex, &[indices, lengths]);
        let starts = self.starts(target);
        let starts = self.builder.vector(VectorOp::SegDist, &[starts, owner]);
        self.builder.map(ScalarOp::AddInt, &[starts, indices])
    }

    /// Values written to the segments of sequences: `write` does it, at positions in the data of all.
    fn lifted_write(
        &mut self,
        argument: Value,
        count: Operand,
        write: impl FnOnce(&mut Self, &Value, Operand, &Value) -> Value,
    ) -> Value {
        let (destination, pairs) = argument.into_pair();
        let (target, elements) = self.lift_compact(destination, count);
        let (owner, pairs) = self.lift_compact(pairs, count);
        let (indices, values) = pairs.into_pair();
        let indices = self.positions(target, indices.operand(), owner);
        Value::segments(target, write(self, &elements, indices, &values))
    }

    fn lifted_permute(&mut self, argument: Value, count: Operand) -> Value {
        let (sequence, indices) = argument.into_pair();
        let (target, elements) = self.lift_compact(sequence, count);
        let (owner, indices) = self.lift_compact(indices, count);
        let (expected, found) = (self.lengths(target), self.lengths(owner));
        self.builder.map(ScalarOp::CheckLengths, &[expected, found]);
        let indices = self.positions(target, indices.operand(), owner);
        Value::segments(target, self.move_by(&elements, VectorOp::Permute, &[indices]))
    }
}
