//! Values in files, vector by vector, in serial code.
//!
//! A value is written as the vectors that its type makes of it, in order:
//!
//! ```text
//! scalar    a vector of one element
//! ()        none
//! (a, b)    the vectors of a, then those of b; a record is its payload
//! [e]       the lengths of its segments (one, outside), then the vectors of all elements together
//! ```
//!
//! What is read is put together only if everything could be read and all lengths fit.

use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Structure, Value};
use nesl_frontend::core::{Intrinsic, NO_FIT, NO_FUNCTIONS};
use nesl_frontend::ty::Type;
use nesl_prim::{HostOp, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, Operand, VectorOp};

const TRUE: Operand = Operand::Constant(ScalarValue::Bool(true));

impl Lowering<'_, '_> {
    /// Writes or reads a value of any type.
    pub(crate) fn object(
        &mut self,
        intrinsic: Intrinsic,
        argument: Value,
        argument_type: &Type,
        ty: &Type,
        context: Context,
    ) -> Value {
        let (object, _) = argument_type.pair_parts();
        if context.is_lifted() {
            let op = if intrinsic == Intrinsic::ReadObject { HostOp::ReadLengths } else { HostOp::WriteLengths };
            self.instances.serial_only(op, self.builder.current_span());
            return self.zero(ty);
        }
        let (value, stream) = argument.into_pair();
        match intrinsic {
            Intrinsic::ReadObject => self.read_object(object, value, stream.operand()),
            _ => self.write_object(object, value, stream.operand()),
        }
    }

    /// Writes a value; the message.
    fn write_object(&mut self, ty: &Type, value: Value, stream: Operand) -> Value {
        if ty.has_functions() {
            return self.literal_text(NO_FUNCTIONS);
        }
        let mut messages = Vec::new();
        self.write_one(ty, value, stream, &mut messages);
        let texts: Vec<Value> = messages.into_iter().map(|message| self.message_text(message)).collect();
        self.join(texts, Context::Serial)
    }

    fn write_one(&mut self, ty: &Type, value: Value, stream: Operand, messages: &mut Vec<Operand>) {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => {
                let column = self.builder.vector(VectorOp::Build, &[value.operand()]);
                self.write_column(scalar, column, stream, messages);
            }
            Structure::Pair(first_type, rest_type) => {
                let (first, rest) = value.into_pair();
                self.write_one(&first_type, first, stream, messages);
                self.write_one(&rest_type, rest, stream, messages);
            }
            Structure::Sequence(element) => {
                let (length, elements) = value.into_sequence();
                let lengths = self.builder.vector(VectorOp::Build, &[length]);
                messages.extend(self.builder.host(HostOp::WriteLengths, &[stream, lengths]));
                self.write_elements(&element, elements, stream, messages);
            }
            Structure::Nothing => {}
        }
    }

    fn write_elements(&mut self, ty: &Type, elements: Value, stream: Operand, messages: &mut Vec<Operand>) {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => self.write_column(scalar, elements.operand(), stream, messages),
            Structure::Pair(first_type, rest_type) => {
                let (first, rest) = elements.into_pair();
                self.write_elements(&first_type, first, stream, messages);
                self.write_elements(&rest_type, rest, stream, messages);
            }
            Structure::Sequence(element) => {
                let (descriptor, inner) = self.compact(elements).into_sequence();
                let lengths = self.lengths(descriptor);
                messages.extend(self.builder.host(HostOp::WriteLengths, &[stream, lengths]));
                self.write_elements(&element, inner, stream, messages);
            }
            Structure::Nothing => {}
        }
    }

    fn write_column(&mut self, scalar: ScalarType, column: Operand, stream: Operand, messages: &mut Vec<Operand>) {
        messages.extend(self.builder.host(HostOp::WriteVector(scalar), &[stream, column]));
    }

    /// Reads a value of the type of `prototype`; the value, or the prototype, and the message.
    fn read_object(&mut self, ty: &Type, prototype: Value, stream: Operand) -> Value {
        if ty.has_functions() {
            let message = self.literal_text(NO_FUNCTIONS);
            return Value::pair(prototype, message);
        }
        let mut read = Read { columns: Vec::new(), messages: Vec::new(), fits: TRUE };
        self.read_vectors(ty, int(1), stream, &mut read);
        let texts: Vec<Value> = read.messages.iter().map(|&message| self.message_text(message)).collect();
        let message = self.join(texts, Context::Serial);
        let (length, _) = message.clone().into_sequence();
        let silent = self.builder.scalar(ScalarOp::EqualInt, &[length, int(0)]);
        let sound = self.builder.scalar(ScalarOp::AndBool, &[silent, read.fits]);
        self.builder.begin_block();
        let value = self.assemble(ty, &mut Supply::of(read.columns));
        let whole = self.builder.end_block(value.operands());
        self.builder.begin_block();
        let otherwise = self.builder.end_block(prototype.operands());
        let pattern = Pattern::uniform(ty, false);
        let registers = pattern.registers(ty);
        let operands = self.builder.if_(sound, whole, otherwise, &registers);
        let value = pattern.value(ty, &mut Supply::of(operands));
        let misfit = self.literal_text(NO_FIT);
        let unsound = self.builder.scalar(ScalarOp::NotBool, &[read.fits]);
        let speaks = self.builder.scalar(ScalarOp::AndBool, &[silent, unsound]);
        let (misfit_length, misfit_text) = misfit.into_sequence();
        let shown = self.builder.scalar(ScalarOp::SelectInt, &[speaks, misfit_length, int(0)]);
        let misfit = Value::sequence(shown, self.move_by(&misfit_text, VectorOp::Slice, &[int(0), shown]));
        let message = self.join(vec![message, misfit], Context::Serial);
        Value::pair(value, message)
    }

    /// Reads the vectors of a type, with as many elements as `count` says.
    fn read_vectors(&mut self, ty: &Type, count: Operand, stream: Operand, read: &mut Read) {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => {
                let prototype = self.builder.constants(Constants::from_scalars(scalar, &[]));
                let results = self.builder.host(HostOp::ReadVector(scalar), &[stream, prototype]);
                self.was_read(results, count, read);
            }
            Structure::Pair(first, rest) => {
                self.read_vectors(&first, count, stream, read);
                self.read_vectors(&rest, count, stream, read);
            }
            Structure::Sequence(element) => {
                let results = self.builder.host(HostOp::ReadLengths, &[stream]);
                let lengths = results[0];
                self.was_read(results, count, read);
                let total = self.builder.vector(VectorOp::Reduce(ScalarOp::AddLength), &[lengths]);
                self.read_vectors(&element, total, stream, read);
            }
            Structure::Nothing => {}
        }
    }

    fn was_read(&mut self, results: Vec<Operand>, count: Operand, read: &mut Read) {
        let found = self.builder.vector(VectorOp::Length, &[results[0]]);
        let fits = self.builder.scalar(ScalarOp::EqualInt, &[found, count]);
        read.fits = self.builder.scalar(ScalarOp::AndBool, &[read.fits, fits]);
        read.columns.push(results[0]);
        read.messages.push(results[1]);
    }

    /// The value of vectors that fit.
    fn assemble(&mut self, ty: &Type, columns: &mut Supply) -> Value {
        let instances = self.assemble_elements(ty, columns);
        self.extract(&instances, int(0))
    }

    fn assemble_elements(&mut self, ty: &Type, columns: &mut Supply) -> Value {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => Value::column(columns.next(), scalar),
            Structure::Pair(first, rest) => {
                let first = self.assemble_elements(&first, columns);
                Value::pair(first, self.assemble_elements(&rest, columns))
            }
            Structure::Sequence(element) => {
                let lengths = columns.next();
                let descriptor = self.packed(lengths);
                Value::segments(descriptor, self.assemble_elements(&element, columns))
            }
            Structure::Nothing => Value::Nothing,
        }
    }

    fn message_text(&mut self, column: Operand) -> Value {
        let length = self.builder.vector(VectorOp::Length, &[column]);
        Value::sequence(length, Value::column(column, ScalarType::Char))
    }
}

/// The vectors read so far.
struct Read {
    columns: Vec<Operand>,
    messages: Vec<Operand>,
    /// Whether all have the lengths that those before them say.
    fits: Operand,
}
