//! The text of values of any type, put together by their types.
//!
//! The texts of all scalars of a part are made by one instruction. What stands between parts is joined to them for all
//! instances at once, so that code and the number of instructions depend on the type alone:
//!
//! ```text
//! (a, b)   join "(" a ", " b ")"
//! [e, …]   join "[" (flatten {join (", " or, at position 0, nothing) e}) "]"
//! ```
//!
//! A shortened text is that of a value of which only so many levels and elements are looked at: parts of it are views.

use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::value::{Structure, Value};
use nesl_frontend::core::Intrinsic;
use nesl_frontend::core::short::{ELEMENTS as SHORT_ELEMENTS, HIDDEN, LEVELS as SHORT_LEVELS};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Constants, Operand, VectorOp};

/// How many levels of brackets a text shows; all where there is none.
type Levels = Option<usize>;

impl Lowering<'_, '_> {
    /// The text of a value, per instance.
    pub(crate) fn text(&mut self, ty: &Type, value: Value, context: Context) -> Value {
        self.text_of(ty, value, context, None)
    }

    /// The text of a value without what is deep in it or late in long sequences, per instance.
    pub(crate) fn short_text(&mut self, ty: &Type, value: Value, context: Context) -> Value {
        self.text_of(ty, value, context, Some(SHORT_LEVELS))
    }

    fn text_of(&mut self, ty: &Type, value: Value, context: Context, levels: Levels) -> Value {
        if matches!(ty, Type::Function(_)) {
            return self.literal_text("function");
        }
        if let Some(payload) = ty.payload() {
            return self.text_of(&payload, value, context, levels);
        }
        match Structure::of(ty) {
            Structure::Nothing => self.literal_text("()"),
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
            Structure::Pair(..) | Structure::Sequence(_) if levels == Some(0) => self.literal_text(HIDDEN),
            Structure::Pair(..) => {
                let mut parts = vec![self.literal_text("(")];
                self.tuple_texts(ty, value, context, levels.map(|levels| levels - 1), &mut parts);
                parts.push(self.literal_text(")"));
                self.join(parts, context)
            }
            Structure::Sequence(element) => self.sequence_text(&element, value, context, levels),
        }
    }

    /// The texts of the parts of a tuple, which prints flat, with what stands between them.
    fn tuple_texts(&mut self, ty: &Type, value: Value, context: Context, levels: Levels, parts: &mut Vec<Value>) {
        let Type::Pair(first_type, rest_type) = ty else {
            parts.push(self.text_of(ty, value, context, levels));
            return;
        };
        let (first, rest) = value.into_pair();
        parts.push(self.text_of(first_type, first, context, levels));
        parts.push(self.literal_text(", "));
        self.tuple_texts(rest_type, rest, context, levels, parts);
    }

    fn sequence_text(&mut self, element: &Type, value: Value, context: Context, levels: Levels) -> Value {
        let lifted = !value.is_invariant();
        let (value, end) = match levels {
            Some(_) => self.shortened(value),
            None => (value, self.literal_text("]")),
        };
        let (extent, elements) = if lifted { self.compact(value).into_sequence() } else { value.into_sequence() };
        let (total, positions) = if lifted {
            (self.total(extent), self.builder.vector(VectorOp::SegIota, &[extent]))
        } else {
            self.serial_work(context);
            (extent, self.builder.vector(VectorOp::Iota, &[extent]))
        };
        let texts = self.text_of(element, elements, Context::Lifted(total), levels.map(|levels| levels - 1));
        let separators = self.separators(positions, total);
        let texts = self.join(vec![separators, texts], Context::Lifted(total));
        let string = Type::sequence(Type::CHAR);
        let inside = match context {
            Context::Lifted(count) if lifted => {
                self.segmented(Intrinsic::Flatten, Value::segments(extent, texts), &string, count)
            }
            _ => self.unsegmented(Intrinsic::Flatten, Value::sequence(extent, texts), &string),
        };
        let parts = vec![self.literal_text("["), inside, end];
        self.join(parts, context)
    }

    /// The first elements of a sequence, and how its text ends: with dots where there are more.
    fn shortened(&mut self, value: Value) -> (Value, Value) {
        const ENDS: &str = ", ...]";
        let more = ENDS.len() as i64 - 1;
        let limit = int(SHORT_ELEMENTS);
        let ends = self.builder.constants(Constants::Char(ENDS.into()));
        let lifted = !value.is_invariant();
        let (extent, elements) = value.into_sequence();
        let length = if lifted { self.lengths(extent) } else { extent };
        let mut compute = |op, operands: &[Operand]| {
            if lifted { self.builder.map(op, operands) } else { self.builder.scalar(op, operands) }
        };
        let kept = compute(ScalarOp::MinimumInt, &[length, limit]);
        let longer = compute(ScalarOp::GreaterInt, &[length, limit]);
        let longer = compute(ScalarOp::BoolToInt, &[longer]);
        let dots = compute(ScalarOp::MultiplyInt, &[longer, int(more)]);
        let start = compute(ScalarOp::SubtractInt, &[int(more), dots]);
        let end = compute(ScalarOp::AddInt, &[dots, int(1)]);
        if lifted {
            let starts = self.starts(extent);
            let shortened = Value::segments(self.view(starts, kept), elements);
            return (shortened, Value::segments(self.view(start, end), Value::column(ends, ScalarType::Char)));
        }
        let elements = self.move_by(&elements, VectorOp::Slice, &[int(0), kept]);
        let ends = self.builder.vector(VectorOp::Slice, &[ends, start, end]);
        (Value::sequence(kept, elements), Value::sequence(end, Value::column(ends, ScalarType::Char)))
    }

    /// What stands before each of `total` elements with these positions in their sequences: views of one separator,
    /// which are empty at position 0.
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
        if parts.is_empty() {
            return self.literal_text("");
        }
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
