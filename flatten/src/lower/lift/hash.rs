//! Hashes of values of any type, put together by their types, and numbers of those that have one.
//!
//! The hash of a sequence is a reduction, so that it is the same bits serial and lifted, on any engine:
//!
//! ```text
//! hash of a pair        hash_pair (hash of first) (hash of rest)
//! hash of a sequence    hash_pair length (sum of hash_pair position (hash of element))
//! hash of a text        hash_pair length (sum of hash_place position (code of character))
//! ```
//!
//! An element that is an int or a bool stands for its own hash, as an int: it is mixed with its position anyway.
//! Characters are small enough that it takes no mixing, so that engines can take several at once.

use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::value::{Structure, Value};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Operand, VectorOp};

impl Lowering<'_, '_> {
    /// The hash of a value as an int below `size`, per instance.
    pub(crate) fn hash(&mut self, ty: &Type, value: Value, size: &Value, context: Context) -> Value {
        let hash = self.hash_bits(ty, value, context);
        let lifted = !(hash.is_invariant() && size.is_invariant());
        self.elementwise(ScalarOp::HashIndex, &[hash.operand(), size.operand()], lifted, context)
    }

    /// The number of a value in its type, if that is an ordinal one; else 0.
    pub(crate) fn ordinal_number(&mut self, ty: &Type, value: Value, context: Context) -> Value {
        if let Some(payload) = ty.payload() {
            return self.ordinal_number(&payload, value, context);
        }
        let op = match Structure::of(ty) {
            Structure::Scalar(ScalarType::Int) => return value,
            Structure::Scalar(ScalarType::Bool) => ScalarOp::BoolToInt,
            Structure::Scalar(ScalarType::Char) => ScalarOp::CharToCode,
            _ => return Value::scalar(int(0), ScalarType::Int),
        };
        let lifted = !value.is_invariant();
        self.elementwise(op, &[value.operand()], lifted, context)
    }

    /// All bits of the hash of a value, per instance.
    fn hash_bits(&mut self, ty: &Type, value: Value, context: Context) -> Value {
        if matches!(ty, Type::Function(_)) {
            return Value::scalar(int(0), ScalarType::Int);
        }
        if let Some(payload) = ty.payload() {
            return self.hash_bits(&payload, value, context);
        }
        let lifted = !value.is_invariant();
        match Structure::of(ty) {
            Structure::Nothing => Value::scalar(int(0), ScalarType::Int),
            Structure::Scalar(scalar_type) => {
                let op = match scalar_type {
                    ScalarType::Int => ScalarOp::HashInt,
                    ScalarType::Float => ScalarOp::HashFloat,
                    ScalarType::Bool => ScalarOp::HashBool,
                    ScalarType::Char => ScalarOp::HashChar,
                };
                self.elementwise(op, &[value.operand()], lifted, context)
            }
            Structure::Pair(first_type, rest_type) => {
                let (first, rest) = value.into_pair();
                let first = self.hash_bits(&first_type, first, context);
                let rest = self.hash_bits(&rest_type, rest, context);
                let lifted = !(first.is_invariant() && rest.is_invariant());
                self.elementwise(ScalarOp::HashPair, &[first.operand(), rest.operand()], lifted, context)
            }
            Structure::Sequence(element) if lifted => {
                let (descriptor, elements) = self.compact(value).into_sequence();
                let total = self.total(descriptor);
                let positions = self.builder.vector(VectorOp::SegIota, &[descriptor]);
                let places = self.hash_places(&element, elements, positions, total);
                let sums = self.builder.vector(VectorOp::SegReduce(ScalarOp::AddInt), &[places, descriptor]);
                let lengths = self.lengths(descriptor);
                Value::column(self.builder.map(ScalarOp::HashPair, &[lengths, sums]), ScalarType::Int)
            }
            Structure::Sequence(element) => {
                self.serial_work(context);
                let (length, elements) = value.into_sequence();
                let positions = self.builder.vector(VectorOp::Iota, &[length]);
                let places = self.hash_places(&element, elements, positions, length);
                let sum = self.builder.vector(VectorOp::Reduce(ScalarOp::AddInt), &[places]);
                Value::scalar(self.builder.scalar(ScalarOp::HashPair, &[length, sum]), ScalarType::Int)
            }
        }
    }

    /// The hashes of `total` elements, each mixed with its position in its sequence.
    fn hash_places(&mut self, element: &Type, elements: Value, positions: Operand, total: Operand) -> Operand {
        let op = if is_char(element) { ScalarOp::HashPlace } else { ScalarOp::HashPair };
        let hashes = self.element_hashes(element, elements, total);
        self.builder.map(op, &[positions, hashes.operand()])
    }

    /// The hashes of `total` elements, before they are mixed with their positions.
    fn element_hashes(&mut self, ty: &Type, elements: Value, total: Operand) -> Value {
        if let Some(payload) = ty.payload() {
            return self.element_hashes(&payload, elements, total);
        }
        let op = match Structure::of(ty) {
            Structure::Scalar(ScalarType::Int) => return elements,
            Structure::Scalar(ScalarType::Bool) => ScalarOp::BoolToInt,
            Structure::Scalar(ScalarType::Char) => ScalarOp::CharToCode,
            _ => return self.hash_bits(ty, elements, Context::Lifted(total)),
        };
        Value::column(self.builder.map(op, &[elements.operand()]), ScalarType::Int)
    }
}

/// Whether the values of a type are characters, by whatever name.
fn is_char(ty: &Type) -> bool {
    match ty.payload() {
        Some(payload) => is_char(&payload),
        None => matches!(Structure::of(ty), Structure::Scalar(ScalarType::Char)),
    }
}
