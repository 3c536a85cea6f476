//! Operations on the world outside.
//!
//! Printing is part of the state that effects thread ([`crate::state`]); the end of the program is a failure that may
//! stand anywhere. All else is for serial code.

use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::value::Value;
use nesl_frontend::ty::Type;
use nesl_prim::{HostKind, HostOp, ScalarType, ScalarValue};
use nesl_vcode::{Operand, VectorOp};

impl Lowering<'_, '_> {
    /// An operation on the world outside.
    pub(crate) fn outside(&mut self, op: HostOp, argument: Value, ty: &Type, context: Context) -> Value {
        match (op, context) {
            (HostOp::Print, _) => {
                self.print_text(argument, context);
                return truth();
            }
            (HostOp::Fail, _) => {
                // Of several instances that fail, the first has the word.
                self.serial_work(context);
                let message = match context {
                    Context::Lifted(_) if !argument.is_invariant() => {
                        let (descriptor, characters) = argument.into_sequence();
                        self.extract(&Value::segments(descriptor, characters), int(0))
                    }
                    _ => argument,
                };
                let (_, characters) = message.into_sequence();
                self.builder.host(op, &[characters.operand()]);
                return self.zero(ty);
            }
            (_, Context::Lifted(_)) => {
                self.instances.serial_only(op, self.builder.current_span());
                return self.zero(ty);
            }
            (_, Context::Serial) => {}
        }
        let mut operands = Vec::new();
        outward(argument, &mut operands);
        let results = self.builder.host(op, &operands);
        if op == HostOp::Exit {
            // Nobody sees it.
            return self.zero(ty);
        }
        let parts: Vec<Value> = (op.results().zip(results))
            .map(|(kind, operand)| match kind {
                HostKind::Scalar(scalar) => Value::scalar(operand, scalar),
                HostKind::Column(scalar) => {
                    let length = self.builder.vector(VectorOp::Length, &[operand]);
                    Value::sequence(length, Value::column(operand, scalar))
                }
            })
            .collect();
        parts.into_iter().rev().reduce(|rest, first| Value::pair(first, rest)).unwrap_or_else(truth)
    }
}

/// What an operation without results gives.
fn truth() -> Value {
    Value::scalar(Operand::Constant(ScalarValue::Bool(true)), ScalarType::Bool)
}

/// The operands in an argument of serial code.
fn outward(argument: Value, operands: &mut Vec<Operand>) {
    match argument {
        Value::Pair(first, rest) => {
            outward(*first, operands);
            outward(*rest, operands);
        }
        Value::Sequence { elements, .. } => operands.push(elements.operand()),
        scalar => operands.push(scalar.operand()),
    }
}
