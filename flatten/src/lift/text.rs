//! The text of values of any type, put together by their types.
//!
//! The texts of all scalars of a part are made by one instruction. What stands between parts is joined to them for all
//! instances at once, so that code and the number of instructions depend on the type alone:
//!
//! ```text
//! (a, b)   join "(" a ", " b ")"
//! [e, …]   join "[" (flatten {join (", " or, at position 0, nothing) e}) "]"
//! ```

use crate::lower::{Context, Lowering};
use crate::repr::int;
use crate::value::{Structure, Value};
use nesl_frontend::core::Intrinsic;
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Constants, Operand, VectorOp};

impl Lowering<'_, '_> {
    /// The text of a value, per instance.
    pub(crate) fn text(&mut self, ty: &Type, value: Value, context: Context) -> Value {
        if matches!(ty, Type::Function(_)) {
            return self.literal_text("function");
        }
        if let Some(payload) = ty.payload() {
            return self.text(&payload, value, context);
        }
        match Structure::of(ty) {
            // Only function values have nothing to them.
            Structure::Nothing => self.literal_text("function"),
            Structure::Scalar(_) if value.is_invariant() => {
                self.serial_work(context);
                let column = self.builder.vector(VectorOp::Build, &[value.operand()]);
                let text = self.builder.vector(VectorOp::Text, &[column]);
                let length = self.builder.vector(VectorOp::Length, &[text]);
                Value::sequence(length, Value::column(text, ScalarType::Char))
            }
            Structure::Scalar(_) => {
                let lengths = self.builder.vector(VectorOp::TextLengths, &[value.operand()]);
                let text = self.builder.vector(VectorOp::Text, &[value.operand()]);
                Value::segments(self.packed(lengths), Value::column(text, ScalarType::Char))
            }
            Structure::Pair(..) => {
                let mut parts = vec![self.literal_text("(")];
                self.tuple_texts(ty, value, context, &mut parts);
                parts.push(self.literal_text(")"));
                self.join(parts, context)
            }
            Structure::Sequence(element) => self.sequence_text(&element, value, context),
        }
    }

    /// The texts of the parts of a tuple, which prints flat, with what stands between them.
    fn tuple_texts(&mut self, ty: &Type, value: Value, context: Context, parts: &mut Vec<Value>) {
        let Type::Pair(first_type, rest_type) = ty else {
            parts.push(self.text(ty, value, context));
            return;
        };
        let (first, rest) = value.into_pair();
        parts.push(self.text(first_type, first, context));
        parts.push(self.literal_text(", "));
        self.tuple_texts(rest_type, rest, context, parts);
    }

    fn sequence_text(&mut self, element: &Type, value: Value, context: Context) -> Value {
        let lifted = !value.is_invariant();
        let (extent, elements) = if lifted { self.compact(value).into_sequence() } else { value.into_sequence() };
        let (total, positions) = if lifted {
            (self.total(extent), self.builder.vector(VectorOp::SegIota, &[extent]))
        } else {
            self.serial_work(context);
            (extent, self.builder.vector(VectorOp::Iota, &[extent]))
        };
        let texts = self.text(element, elements, Context::Lifted(total));
        let separators = self.separators(positions, total);
        let texts = self.join(vec![separators, texts], Context::Lifted(total));
        let string = Type::sequence(Type::CHAR);
        let inside = match context {
            Context::Lifted(count) if lifted => {
                self.segmented(Intrinsic::Flatten, Value::segments(extent, texts), &string, count)
            }
            _ => self.unsegmented(Intrinsic::Flatten, Value::sequence(extent, texts), &string),
        };
        let parts = vec![self.literal_text("["), inside, self.literal_text("]")];
        self.join(parts, context)
    }

    /// What stands before each of `total` elements with these positions in their sequences: views of one separator, which
    /// are empty at position 0.
    fn separators(&mut self, positions: Operand, total: Operand) -> Value {
        const SEPARATOR: &str = ", ";
        let text = self.builder.constants(Constants::Char(SEPARATOR.into()));
        let some = self.builder.map(ScalarOp::MinimumInt, &[positions, int(1)]);
        let lengths = self.builder.map(ScalarOp::MultiplyInt, &[some, int(SEPARATOR.len() as i64)]);
        let starts = self.builder.vector(VectorOp::Dist, &[int(0), total]);
        Value::segments(self.view(starts, lengths), Value::column(text, ScalarType::Char))
    }

    pub(crate) fn literal_text(&mut self, text: &str) -> Value {
        let column = self.builder.constants(Constants::Char(text.into()));
        Value::sequence(int(text.len() as i64), Value::column(column, ScalarType::Char))
    }

    /// Strings one after another.
    pub(crate) fn join(&mut self, parts: Vec<Value>, context: Context) -> Value {
        match context {
            Context::Lifted(count) if !parts.iter().all(Value::is_invariant) => {
                let number = int(parts.len() as i64);
                let lifted: Vec<Value> = parts.into_iter().map(|part| self.lift(part, count)).collect();
                let parts = self.move_elements(&lifted.iter().collect::<Vec<_>>(), &mut |lowering, columns| {
                    lowering.builder.vector(VectorOp::Interleave, columns)
                });
                let numbers = self.builder.vector(VectorOp::Dist, &[number, count]);
                let sequence = Value::segments(self.packed(numbers), parts);
                self.segmented(Intrinsic::Flatten, sequence, &Type::sequence(Type::CHAR), count)
            }
            _ => {
                let (lengths, texts): (Vec<Operand>, Vec<Value>) = parts.into_iter().map(Value::into_sequence).unzip();
                let mut length = int(0);
                for part in lengths {
                    length = self.builder.scalar(ScalarOp::AddInt, &[length, part]);
                }
                Value::sequence(length, self.concat(&texts.iter().collect::<Vec<_>>()))
            }
        }
    }
}
