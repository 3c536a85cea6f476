//! Operations on values of any type, taken apart by their types.
//!
//! Equality of sequences compares lengths, and elements only where the lengths agree:
//!
//! ```text
//! serial:  if #a = #b then all elements equal else f
//! lifted:  flags = lengths equal;  the elements compared flat and combined by segment, no elements where the lengths differ;
//!          both
//! ```

pub(super) mod order;

use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::value::{Structure, Value};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Operand, RegisterType, VectorOp};

const FALSE: Operand = Operand::Constant(ScalarValue::Bool(false));
const TRUE: Operand = Operand::Constant(ScalarValue::Bool(true));

impl Lowering<'_, '_> {
    /// Whether two values of a type are equal, per instance.
    pub(crate) fn equal(&mut self, ty: &Type, left: Value, right: Value, context: Context) -> Value {
        if matches!(ty, Type::Function(_)) {
            return Value::scalar(TRUE, ScalarType::Bool);
        }
        if let Some(payload) = ty.payload() {
            return self.equal(&payload, left, right, context);
        }
        let lifted = !(left.is_invariant() && right.is_invariant());
        match Structure::of(ty) {
            Structure::Nothing => Value::scalar(TRUE, ScalarType::Bool),
            Structure::Scalar(scalar_type) => {
                let op = equality(scalar_type);
                self.elementwise(op, &[left.operand(), right.operand()], lifted, context)
            }
            Structure::Pair(first_type, rest_type) => {
                let ((first, rest), (other_first, other_rest)) = (left.into_pair(), right.into_pair());
                let first = self.equal(&first_type, first, other_first, context);
                let rest = self.equal(&rest_type, rest, other_rest, context);
                let lifted = !(first.is_invariant() && rest.is_invariant());
                self.elementwise(ScalarOp::AndBool, &[first.operand(), rest.operand()], lifted, context)
            }
            Structure::Sequence(element) => match context {
                Context::Lifted(count) if lifted => self.lifted_equal(&element, left, right, count),
                _ => {
                    self.serial_work(context);
                    self.serial_equal(&element, left, right)
                }
            },
        }
    }

    fn serial_equal(&mut self, element: &Type, left: Value, right: Value) -> Value {
        let ((length, elements), (other, others)) = (left.into_sequence(), right.into_sequence());
        let same = self.builder.scalar(ScalarOp::EqualInt, &[length, other]);
        self.builder.begin_block();
        let equal = self.equal(element, elements, others, Context::Lifted(length));
        let equal = self.lift(equal, length).operand();
        let all = self.builder.vector(VectorOp::Reduce(ScalarOp::AndBool), &[equal]);
        let compared = self.builder.end_block(vec![all]);
        self.builder.begin_block();
        let different = self.builder.end_block(vec![FALSE]);
        let results = self.builder.if_(same, compared, different, &[RegisterType::Scalar(ScalarType::Bool)]);
        Value::scalar(results[0], ScalarType::Bool)
    }

    fn lifted_equal(&mut self, element: &Type, left: Value, right: Value, count: Operand) -> Value {
        let (left, right) = (self.lift(left, count), self.lift(right, count));
        let lengths = |lowering: &mut Self, value: &Value| {
            let (descriptor, _) = value.clone().into_sequence();
            lowering.lengths(descriptor)
        };
        let (length, other) = (lengths(self, &left), lengths(self, &right));
        let same = self.builder.map(ScalarOp::EqualInt, &[length, other]);
        let compared = self.builder.map(ScalarOp::select(ScalarType::Int), &[same, length, int(0)]);
        let (descriptor, elements) = self.beginnings(left, compared).into_sequence();
        let (_, others) = self.beginnings(right, compared).into_sequence();
        let total = self.total(descriptor);
        let equal = self.equal(element, elements, others, Context::Lifted(total));
        let equal = self.lift(equal, total).operand();
        let all = self.builder.vector(VectorOp::SegReduce(ScalarOp::AndBool), &[equal, descriptor]);
        Value::column(self.builder.map(ScalarOp::AndBool, &[same, all]), ScalarType::Bool)
    }

    /// The first so many elements of each of some sequences, packed.
    fn beginnings(&mut self, sequences: Value, lengths: Operand) -> Value {
        let (descriptor, elements) = sequences.into_sequence();
        let starts = self.starts(descriptor);
        let view = self.view(starts, lengths);
        self.compact(Value::segments(view, elements))
    }

    /// The zero of a type: 0, 0.0, f, the character 0, the empty sequence, parts likewise.
    pub(crate) fn zero(&mut self, ty: &Type) -> Value {
        match Structure::of(ty) {
            Structure::Scalar(scalar_type) => Value::scalar(Operand::Constant(scalar_type.zero()), scalar_type),
            Structure::Pair(first, rest) => {
                let first = self.zero(&first);
                Value::pair(first, self.zero(&rest))
            }
            Structure::Sequence(element) => {
                let elements = self.empty(&element);
                Value::sequence(int(0), elements)
            }
            Structure::Nothing => Value::Nothing,
        }
    }
}

fn equality(scalar_type: ScalarType) -> ScalarOp {
    match scalar_type {
        ScalarType::Int => ScalarOp::EqualInt,
        ScalarType::Float => ScalarOp::EqualFloat,
        ScalarType::Bool => ScalarOp::EqualBool,
        ScalarType::Char => ScalarOp::EqualChar,
    }
}
