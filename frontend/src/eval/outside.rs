//! Operations on the world outside: values to plain data, the host's answer to a value.

use super::machine::Machine;
use super::value::Value;
use crate::core::Intrinsic;
use crate::ty::Type;
use nesl_prim::host::HostError;
use nesl_prim::{Constants, Failure, HostOp, HostValue};

impl Machine<'_> {
    /// The operation with this mnemonic on the tuple of its operands.
    pub(super) fn outside(&mut self, mnemonic: &str, operand: &Value, parameter: &Type) -> Result<Value, Failure> {
        let op = Intrinsic::host_operation(mnemonic, parameter);
        let mut operands = Vec::new();
        outward(operand, parameter, &mut operands);
        match op {
            HostOp::Fail => {
                let message = String::from_utf8_lossy(operands[0].as_text()).into_owned();
                Err(Failure::User { message })
            }
            HostOp::Exit => Err(Failure::of_exit(operands[0].as_int())),
            HostOp::Print => {
                self.print(operands[0].as_text().to_vec())?;
                Ok(Value::bool(true))
            }
            _ => {
                let values = match self.host.perform(op, &operands, &|length| 0..length) {
                    Ok(values) => values.into_iter().chain([HostValue::text(Vec::new())]).collect(),
                    Err(HostError::Message(message)) => {
                        let zeros = op.row().results.iter().copied().map(HostValue::zero);
                        zeros.chain([HostValue::text(message.into_bytes())]).collect::<Vec<_>>()
                    }
                    Err(HostError::Failure(failure)) => return Err(failure),
                };
                // The message is the last value; operations that do not report have none.
                let parts = values.into_iter().take(op.results().count()).map(inward);
                let tuple = parts.collect::<Vec<_>>().into_iter().rev().reduce(|rest, first| Value::pair(first, rest));
                Ok(tuple.unwrap_or(Value::bool(true)))
            }
        }
    }

    /// Prints text, at the end of the apply-to-each in progress if there is one.
    pub(super) fn print(&mut self, text: Vec<u8>) -> Result<(), Failure> {
        if let Some(printed) = &mut self.printed {
            printed.extend(text);
            return Ok(());
        }
        match self.host.perform(HostOp::Print, &[HostValue::text(text)], &|length| 0..length) {
            Err(HostError::Failure(failure)) => Err(failure),
            _ => Ok(()),
        }
    }
}

/// The operands in an argument of this type.
fn outward(argument: &Value, ty: &Type, operands: &mut Vec<HostValue>) {
    match (argument, ty) {
        (Value::Pair(first, rest), Type::Pair(first_type, rest_type)) => {
            outward(first, first_type, operands);
            outward(rest, rest_type, operands);
        }
        (Value::Scalar(value), _) => operands.push(HostValue::Scalar(*value)),
        (Value::Sequence(elements), _) => {
            let elements: Vec<_> = elements.iter().map(Value::as_scalar).collect();
            operands.push(HostValue::Column(Constants::from_scalars(ty.element().scalar(), &elements)));
        }
        _ => argument.is_no(&format!("something of type {ty} that goes outside")),
    }
}

fn inward(value: HostValue) -> Value {
    match value {
        HostValue::Scalar(value) => Value::Scalar(value),
        HostValue::Column(column) => Value::sequence((0..column.len()).map(|index| Value::Scalar(column.get(index)))),
    }
}
