//! Built-in operations.
//!
//! An operation whose operands do not vary by instance is done once; otherwise scalar operations become elementwise,
//! and sequence operations segmented (see [`super::sequence`]).

use super::structural::order::is_ranked;
use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::value::Value;
use nesl_frontend::core::Intrinsic;
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Operand, VectorOp};

impl Lowering<'_, '_> {
    /// An operation on its evaluated argument, with a result of type `ty`.
    pub(crate) fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        argument: Value,
        argument_type: &Type,
        ty: &Type,
        context: Context,
    ) -> Value {
        match intrinsic {
            Intrinsic::Equal => {
                let (compared, _) = argument_type.pair_parts();
                let (left, right) = argument.into_pair();
                return self.equal(compared, left, right, context);
            }
            Intrinsic::Identity | Intrinsic::ElementIdentity => return self.zero(ty),
            Intrinsic::Hash => {
                let (hashed, _) = argument_type.pair_parts();
                let (value, size) = argument.into_pair();
                return self.hash(hashed, value, &size, context);
            }
            Intrinsic::HasOrdinalNumbers => {
                let element = argument_type.element();
                let is_ordinal = nesl_prim::ScalarValue::Bool(element.is_ordinal());
                return Value::scalar(Operand::Constant(is_ordinal), ScalarType::Bool);
            }
            Intrinsic::OrdinalNumber => return self.ordinal_number(argument_type, argument, context),
            Intrinsic::Rank(_) => {
                let element = argument_type.element();
                if !is_ranked(element) {
                    let numbers = self.order_numbers(element, argument, context);
                    let ints = Type::sequence(Type::INT);
                    return self.intrinsic(intrinsic, numbers, &ints, ty, context);
                }
            }
            Intrinsic::Text => return self.text(argument_type, argument, context),
            Intrinsic::ShortText => return self.short_text(argument_type, argument, context),
            Intrinsic::Scalar(source) => return self.scalar(source, &argument, context),
            Intrinsic::Rand => return self.rand(&argument),
            Intrinsic::RandSeed => {
                self.seed = Some(argument);
                return Value::scalar(Operand::Constant(nesl_prim::ScalarValue::Bool(true)), ScalarType::Bool);
            }
            Intrinsic::WriteObject | Intrinsic::ReadObject => {
                return self.object(intrinsic, argument, argument_type, ty, context);
            }
            Intrinsic::Host(name) => {
                let op = Intrinsic::host_operation(name, argument_type);
                return self.outside(op, argument, ty, context);
            }
            _ => {}
        }
        let argument = match (intrinsic, context) {
            // An index that may be none is looked at where an instance has it.
            (Intrinsic::Elt, Context::Lifted(count)) if self.joined.contains_key(&count) => {
                let (sequence, index) = argument.into_pair();
                Value::pair(sequence, self.lift(index, count))
            }
            _ => argument,
        };
        match context {
            Context::Lifted(count) if !argument.is_invariant() => self.segmented(intrinsic, argument, ty, count),
            _ => {
                // A length is known, and asking for it cannot fail.
                if !matches!(intrinsic, Intrinsic::Length) {
                    self.serial_work(context);
                }
                self.unsegmented(intrinsic, argument, ty)
            }
        }
    }

    fn scalar(&mut self, source: &str, argument: &Value, context: Context) -> Value {
        let mut parts = Vec::new();
        scalar_parts(argument, &mut parts);
        let types: Vec<ScalarType> = parts.iter().map(|part| part.1).collect();
        let op = ScalarOp::named(source, &types);
        let operands: Vec<Operand> = parts.iter().map(|part| part.0).collect();
        self.elementwise(op, &operands, !argument.is_invariant(), context)
    }

    /// A scalar operation on operands of which some are columns if `lifted`.
    pub(crate) fn elementwise(&mut self, op: ScalarOp, operands: &[Operand], lifted: bool, context: Context) -> Value {
        if lifted {
            return Value::column(self.builder.map(op, operands), op.row().result);
        }
        if op.row().fallible {
            if let Context::Lifted(count) = context
                && self.joined.contains_key(&count)
            {
                let mut operands = operands.to_vec();
                operands[0] = self.lift(Value::scalar(operands[0], op.row().operands[0]), count).operand();
                return Value::column(self.builder.map(op, &operands), op.row().result);
            }
            self.serial_work(context);
        }
        Value::scalar(self.builder.scalar(op, operands), op.row().result)
    }

    /// The row that a scalar function means for an argument of this type.
    pub(crate) fn scalar_operation(&self, source: &str, argument: &Type) -> Option<ScalarOp> {
        let mut types = Vec::new();
        let mut rest = argument;
        while let Type::Pair(first, tail) = rest {
            let Type::Scalar(scalar_type) = **first else { return None };
            types.push(scalar_type);
            rest = tail;
        }
        let Type::Scalar(scalar_type) = rest else { return None };
        types.push(*scalar_type);
        ScalarOp::resolve(source, &types)
    }

    /// An operation on sequences that do not vary by instance.
    pub(crate) fn unsegmented(&mut self, intrinsic: Intrinsic, argument: Value, ty: &Type) -> Value {
        match intrinsic {
            Intrinsic::Length => Value::scalar(argument.into_sequence().0, ScalarType::Int),
            Intrinsic::Dist => {
                let (value, count) = argument.into_pair();
                let count = self.builder.scalar(ScalarOp::CheckLength, &[count.operand()]);
                let count = self.builder.scalar(ScalarOp::CheckTotal, &[count]);
                Value::sequence(count, self.lift(value, count))
            }
            Intrinsic::Elt => {
                let (sequence, index) = argument.into_pair();
                self.taken(sequence, index.operand())
            }
            Intrinsic::Iseq => {
                let (start, stride, end) = argument.into_triple();
                let (start, stride) = (start.operand(), stride.operand());
                let length = self.builder.scalar(ScalarOp::RangeLength, &[start, end.operand(), stride]);
                let positions = self.builder.vector(VectorOp::Iota, &[length]);
                Value::sequence(length, self.progression(positions, start, stride))
            }
            Intrinsic::Subseq => {
                let (sequence, start, end) = argument.into_triple();
                let (length, elements) = sequence.into_sequence();
                let operands = [start.operand(), end.operand(), length];
                let kept = self.builder.scalar(ScalarOp::SubsequenceLength, &operands);
                Value::sequence(kept, self.move_by(&elements, VectorOp::Slice, &[start.operand(), kept]))
            }
            Intrinsic::Read => {
                let (sequence, indices) = argument.into_pair();
                let (length, elements) = sequence.into_sequence();
                let (count, indices) = indices.into_sequence();
                let indices = self.builder.map(ScalarOp::CheckIndex, &[indices.operand(), length]);
                Value::sequence(count, self.move_by(&elements, VectorOp::Gather, &[indices]))
            }
            Intrinsic::Write => {
                let (destination, pairs) = argument.into_pair();
                let (length, elements) = destination.into_sequence();
                let (indices, values) = pairs.into_sequence().1.into_pair();
                let indices = self.builder.map(ScalarOp::CheckIndex, &[indices.operand(), length]);
                Value::sequence(length, self.scatter(&elements, indices, &values))
            }
            Intrinsic::CombineByIndex(source) => {
                let (destination, pairs) = argument.into_pair();
                let (length, elements) = destination.into_sequence();
                let (indices, values) = pairs.into_sequence().1.into_pair();
                let indices = self.builder.map(ScalarOp::CheckIndex, &[indices.operand(), length]);
                Value::sequence(length, self.combine_by_index(operator(source, ty), &elements, indices, &values))
            }
            Intrinsic::Permute => {
                let (sequence, indices) = argument.into_pair();
                let (length, elements) = sequence.into_sequence();
                let (count, indices) = indices.into_sequence();
                let length = self.builder.scalar(ScalarOp::CheckLengths, &[length, count]);
                let mut indices = indices.operand();
                // The ranks of as many elements are indices of them.
                if !matches!(self.builder.maker(indices), Some(VectorOp::Rank(_))) {
                    indices = self.builder.map(ScalarOp::CheckIndex, &[indices, length]);
                }
                Value::sequence(length, self.move_by(&elements, VectorOp::Permute, &[indices]))
            }
            Intrinsic::Append => {
                let (first, second) = argument.into_pair();
                let ((length, elements), (more, others)) = (first.into_sequence(), second.into_sequence());
                // Of sequences whose elements nobody asks for there is nothing in memory.
                let sum = self.builder.scalar(ScalarOp::AddInt, &[length, more]);
                let length = self.builder.scalar(ScalarOp::CheckTotal, &[sum]);
                Value::sequence(length, self.concat(&[&elements, &others]))
            }
            Intrinsic::Flatten => {
                let (descriptor, elements) = argument.into_sequence().1.into_sequence();
                let total = self.total(descriptor);
                Value::sequence(total, self.move_by(&elements, VectorOp::Compact, &[descriptor]))
            }
            Intrinsic::Partition => {
                let (sequence, lengths) = argument.into_pair();
                let (length, elements) = sequence.into_sequence();
                let (count, lengths) = lengths.into_sequence();
                let lengths = self.builder.map(ScalarOp::CheckLength, &[lengths.operand()]);
                let sum = self.builder.vector(VectorOp::Reduce(ScalarOp::AddLength), &[lengths]);
                self.builder.scalar(ScalarOp::CheckPartition, &[sum, length]);
                Value::sequence(count, Value::segments(self.packed(lengths), elements))
            }
            Intrinsic::Reduce(source) => {
                let op = operator(source, ty);
                let column = argument.into_sequence().1.operand();
                Value::scalar(self.builder.vector(VectorOp::Reduce(op), &[column]), op.row().result)
            }
            Intrinsic::ReduceIndex(source) => {
                let elements = argument.into_sequence().1;
                let op = VectorOp::ReduceIndex(ScalarOp::named(source, &[elements.scalar_type(); 2]));
                Value::scalar(self.builder.vector(op, &[elements.operand()]), ScalarType::Int)
            }
            Intrinsic::Scan(source) => {
                let (length, elements) = argument.into_sequence();
                let op = operator(source, ty);
                let column = self.builder.vector(VectorOp::Scan(op), &[elements.operand()]);
                Value::sequence(length, Value::column(column, op.row().result))
            }
            Intrinsic::Rank(direction) => {
                let (length, elements) = argument.into_sequence();
                let column = self.builder.vector(VectorOp::Rank(direction), &[elements.operand()]);
                Value::sequence(length, Value::column(column, ScalarType::Int))
            }
            Intrinsic::ParseFloat => {
                let (length, elements) = argument.into_sequence();
                let lengths = self.builder.vector(VectorOp::Build, &[length]);
                let descriptor = self.packed(lengths);
                let column = self.builder.vector(VectorOp::ParseFloat, &[elements.operand(), descriptor]);
                Value::scalar(self.builder.vector(VectorOp::Extract, &[column, int(0)]), ScalarType::Float)
            }
            // The others do not come here: see [`Lowering::intrinsic`].
            other => panic!("{other:?} is not an operation on sequences"),
        }
    }

    /// `start + stride * position` for each position.
    pub(crate) fn progression(&mut self, positions: Operand, start: Operand, stride: Operand) -> Value {
        let steps = self.builder.map(ScalarOp::MultiplyInt, &[positions, stride]);
        Value::column(self.builder.map(ScalarOp::AddInt, &[start, steps]), ScalarType::Int)
    }

    /// The elements with values combined into them at checked indices.
    pub(crate) fn combine_by_index(
        &mut self,
        op: ScalarOp,
        elements: &Value,
        indices: Operand,
        values: &Value,
    ) -> Value {
        let operands = [elements.operand(), indices, values.operand()];
        Value::column(self.builder.vector(VectorOp::CombineByIndex(op), &operands), op.row().result)
    }

    /// The elements with values written over them at checked indices.
    pub(crate) fn scatter(&mut self, elements: &Value, indices: Operand, values: &Value) -> Value {
        self.move_elements(&[elements, values], &mut |lowering, columns| {
            lowering.builder.vector(VectorOp::Scatter, &[columns[0], indices, columns[1]])
        })
    }
}

/// The scalar operator of a reduction or scan whose result is `ty`: a scalar, or a sequence of them.
pub(crate) fn operator(source: &str, ty: &Type) -> ScalarOp {
    match ty {
        Type::Sequence(element) => operator(source, element),
        scalar => ScalarOp::named(source, &[scalar.scalar(); 2]),
    }
}

fn scalar_parts(value: &Value, parts: &mut Vec<(Operand, ScalarType)>) {
    match value {
        Value::Pair(first, rest) => {
            scalar_parts(first, parts);
            scalar_parts(rest, parts);
        }
        scalar => parts.push((scalar.operand(), scalar.scalar_type())),
    }
}
