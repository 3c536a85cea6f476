//! Values in files: the vectors that a type makes of a value, as `nesl_flatten` makes them.

use super::machine::Machine;
use super::value::Value;
use crate::core::{NO_FIT, NO_FUNCTIONS};
use crate::ty::Type;
use nesl_prim::host::HostError;
use nesl_prim::{Constants, Failure, HostOp, HostValue, ScalarType, ScalarValue};

impl Machine<'_> {
    /// Writes the first part of the operand to the stream that is the second, or reads one of its type.
    pub(super) fn object(&mut self, reads: bool, operand: &Value, parameter: &Type) -> Result<Value, Failure> {
        let (ty, _) = parameter.pair_parts();
        let (value, stream) = operand.as_pair();
        let stream = HostValue::int(stream.as_int());
        if ty.has_functions() {
            let message = Value::string(NO_FUNCTIONS);
            return Ok(if reads { Value::pair(value.clone(), message) } else { message });
        }
        let mut object = Object { machine: self, stream, messages: Vec::new(), fits: true };
        if !reads {
            object.write(ty, std::slice::from_ref(value))?;
            return Ok(Value::sequence(object.messages.into_iter().map(Value::char)));
        }
        let read = object.read(ty, 1)?;
        let Object { mut messages, fits, .. } = object;
        if messages.is_empty() && !fits {
            messages = NO_FIT.as_bytes().to_vec();
        }
        let value = if messages.is_empty() { read[0].clone() } else { value.clone() };
        Ok(Value::pair(value, Value::sequence(messages.into_iter().map(Value::char))))
    }
}

/// An object on its way.
struct Object<'a, 'm> {
    machine: &'a mut Machine<'m>,
    stream: HostValue,
    /// What went wrong, one after another.
    messages: Vec<u8>,
    /// Whether what was read has the lengths that what was read before says.
    fits: bool,
}

impl Object<'_, '_> {
    fn perform(&mut self, op: HostOp, column: Option<Constants>) -> Result<Option<Constants>, Failure> {
        let operands: Vec<HostValue> = [self.stream.clone()].into_iter().chain(column.map(HostValue::Column)).collect();
        match self.machine.host.perform(op, &operands, &|length| 0..length) {
            Ok(mut values) => Ok(match values.pop() {
                Some(HostValue::Column(column)) => Some(column),
                _ => None,
            }),
            Err(HostError::Message(message)) => {
                self.messages.extend(message.into_bytes());
                Ok(None)
            }
            Err(HostError::Failure(failure)) => Err(failure),
        }
    }

    /// Writes the values of instances.
    fn write(&mut self, ty: &Type, values: &[Value]) -> Result<(), Failure> {
        match ty {
            Type::Unit => Ok(()),
            Type::Pair(first_type, rest_type) => {
                let (firsts, rests): (Vec<Value>, Vec<Value>) =
                    values.iter().map(|value| (value.as_pair().0.clone(), value.as_pair().1.clone())).unzip();
                self.write(first_type, &firsts)?;
                self.write(rest_type, &rests)
            }
            Type::Sequence(element) => {
                let lengths = values.iter().map(|value| value.as_sequence().len() as i64).collect();
                self.perform(HostOp::WriteLengths, Some(Constants::Int(lengths)))?;
                let elements: Vec<Value> =
                    values.iter().flat_map(|value| value.as_sequence().iter().cloned()).collect();
                self.write(element, &elements)
            }
            Type::Scalar(scalar) => {
                let scalars: Vec<ScalarValue> = values.iter().map(Value::as_scalar).collect();
                let column = Constants::from_scalars(*scalar, &scalars);
                self.perform(HostOp::WriteVector(*scalar), Some(column)).map(|_| ())
            }
            record => self.write(&record.wrapped(), values),
        }
    }

    /// Reads the values of so many instances; any values if something goes wrong.
    fn read(&mut self, ty: &Type, count: usize) -> Result<Vec<Value>, Failure> {
        match ty {
            Type::Unit => Ok(vec![Value::Unit; count]),
            Type::Pair(first_type, rest_type) => {
                let firsts = self.read(first_type, count)?;
                let rests = self.read(rest_type, count)?;
                Ok(firsts.into_iter().zip(rests).map(|(first, rest)| Value::pair(first, rest)).collect())
            }
            Type::Sequence(element) => {
                let lengths = self.vector(HostOp::ReadLengths, ScalarType::Int, None, count)?;
                let lengths: Vec<usize> = lengths.iter().map(|length| length.as_int() as usize).collect();
                // Lengths from a file may add up to anything; nothing has so many elements.
                let total = lengths.iter().fold(0, |total: usize, &length| total.saturating_add(length));
                let mut elements = self.read(element, total)?.into_iter();
                Ok(lengths.into_iter().map(|length| Value::sequence(elements.by_ref().take(length))).collect())
            }
            Type::Scalar(scalar) => {
                let prototype = Constants::from_scalars(*scalar, &[]);
                self.vector(HostOp::ReadVector(*scalar), *scalar, Some(prototype), count)
            }
            record => self.read(&record.wrapped(), count),
        }
    }

    fn vector(
        &mut self,
        op: HostOp,
        scalar: ScalarType,
        prototype: Option<Constants>,
        count: usize,
    ) -> Result<Vec<Value>, Failure> {
        let column = self.perform(op, prototype)?.unwrap_or_else(|| Constants::from_scalars(scalar, &[]));
        self.fits &= column.len() == count;
        Ok((0..column.len()).map(|index| Value::Scalar(column.get(index))).collect())
    }
}
