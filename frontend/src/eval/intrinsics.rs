//! The intrinsics of core on plain values: every one but those on the seed, which the machine itself holds.
//!
//! Scalar meanings come from the primitive table; here is only what happens around them, in the order in which the
//! operation checks its operands.

use super::value::{Closure, Value};
use crate::core::{FunctionId, Intrinsic, short};
use crate::ty::Type;
use nesl_prim::{Direction, Element, Extreme, Failure, ScalarOp, ScalarType, ScalarValue, eval, meaning, sum, text};
use std::cmp::Ordering;
use std::sync::Arc;

/// The longest sequence made at once: 3 GiB of values. The check keeps a mistaken `dist(0, max_int)` from ending the
/// process; it bounds one sequence, not the whole program.
const MAXIMUM_LENGTH: i64 = 1 << 27;

/// Applies an intrinsic to its operand. `parameter` gives the type of the operand, for operations whose result on an
/// empty sequence depends on it.
///
/// # Panics
/// If the operand is ill-typed, and for `Rand`, `RandSeed` and `Host`.
pub(super) fn apply(intrinsic: Intrinsic, operand: &Value, parameter: impl FnOnce() -> Type) -> Result<Value, Failure> {
    match intrinsic {
        Intrinsic::Scalar(source) => scalar(source, operand),
        Intrinsic::Equal => {
            let (left, right) = operand.as_pair();
            Ok(Value::bool(equal(left, right)))
        }
        Intrinsic::Identity => Ok(zero(&parameter())),
        Intrinsic::ElementIdentity => Ok(zero(parameter().element())),
        Intrinsic::Hash => {
            let (value, size) = operand.as_pair();
            Ok(Value::int(meaning::hash_index(hash(value), size.as_int())?))
        }
        Intrinsic::HasOrdinalNumbers => Ok(Value::bool(parameter().element().is_ordinal())),
        Intrinsic::OrdinalNumber => Ok(Value::int(ordinal_number(operand))),
        Intrinsic::Length => Ok(Value::int(length(operand))),
        Intrinsic::Dist => {
            let (value, count) = operand.as_pair();
            let count = checked_length(meaning::check_length(count.as_int())?)?;
            Ok(Value::sequence(std::iter::repeat_n(value.clone(), count)))
        }
        Intrinsic::Elt => {
            let (sequence, index) = operand.as_pair();
            Ok(element(sequence, index.as_int())?.clone())
        }
        Intrinsic::Iseq => range(operand),
        Intrinsic::Subseq => {
            let (sequence, start, end) = triple(operand);
            let (start, end) = (start.as_int(), end.as_int());
            meaning::subsequence_length(start, end, length(sequence))?;
            Ok(Value::sequence(sequence.as_sequence()[start as usize..end as usize].iter().cloned()))
        }
        Intrinsic::Read => {
            let (sequence, indices) = operand.as_pair();
            let read = |index: &Value| element(sequence, index.as_int()).cloned();
            Ok(Value::sequence(indices.as_sequence().iter().map(read).collect::<Result<Vec<Value>, Failure>>()?))
        }
        Intrinsic::Write => write(operand, |_, value| value.clone()),
        Intrinsic::CombineByIndex(source) => combine_by_index(source, operand, &parameter()),
        Intrinsic::Permute => permute(operand),
        Intrinsic::Append => {
            let (left, right) = operand.as_pair();
            checked_length(length(left) + length(right))?;
            Ok(Value::sequence(left.as_sequence().iter().chain(right.as_sequence().iter()).cloned()))
        }
        Intrinsic::Flatten => {
            let parts = operand.as_sequence();
            checked_length(parts.iter().map(length).fold(0, i64::saturating_add))?;
            Ok(Value::sequence(parts.iter().flat_map(|part| part.as_sequence().iter()).cloned()))
        }
        Intrinsic::Partition => partition(operand),
        Intrinsic::Reduce(source) => Ok(reduce(operator(source, &parameter()), operand)),
        Intrinsic::ReduceIndex(source) => Ok(reduce_index(operator(source, &parameter()), operand)),
        Intrinsic::Scan(source) => Ok(scan(operator(source, &parameter()), operand)),
        Intrinsic::Rank(direction) => Ok(rank(direction, operand)),
        Intrinsic::Text => Ok(text_of(operand, &parameter(), None)),
        Intrinsic::ShortText => Ok(text_of(operand, &parameter(), Some(short::LEVELS))),
        Intrinsic::ParseFloat => {
            let chars: Vec<u8> = operand.as_sequence().iter().map(|char| u8::from_value(char.as_scalar())).collect();
            Ok(Value::float(text::parse_float(&chars)))
        }
        Intrinsic::Rand | Intrinsic::RandSeed | Intrinsic::Host(_) | Intrinsic::WriteObject | Intrinsic::ReadObject => {
            unreachable!("the machine holds the seed and the world outside")
        }
    }
}

/// The ints of a start, a stride and an end.
fn range(operand: &Value) -> Result<Value, Failure> {
    let (start, stride, end) = triple(operand);
    let (start, stride) = (start.as_int(), stride.as_int());
    let count = checked_length(meaning::range_length(start, end.as_int(), stride)?)?;
    // All elements are ints, but a step towards one may wrap on its way and back.
    let at = |step: i64| start.wrapping_add(step.wrapping_mul(stride));
    Ok(Value::sequence((0..count as i64).map(|step| Value::int(at(step)))))
}

/// A sequence with values combined into the elements at their indices, in the order of the values.
fn combine_by_index(source: &str, operand: &Value, parameter: &Type) -> Result<Value, Failure> {
    let (destination, _) = parameter.pair_parts();
    let op = operator(source, destination);
    write(operand, |before, value| Value::Scalar(op.combine(before.as_scalar(), value.as_scalar())))
}

/// The scalar function with this source name, at the types of its operands.
pub(super) fn scalar(source: &str, operand: &Value) -> Result<Value, Failure> {
    let mut operands = Vec::with_capacity(3);
    let mut left = operand;
    while let Value::Pair(first, rest) = left {
        operands.push(first.as_scalar());
        left = rest;
    }
    operands.push(left.as_scalar());
    let types: Vec<ScalarType> = operands.iter().map(|operand| operand.scalar_type()).collect();
    eval(ScalarOp::named(source, &types), &operands).map(Value::Scalar)
}

/// Whether two values of one type have the same shape and equal scalars.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            operator("==", &Type::sequence(Type::Scalar(left.scalar_type()))).combine(*left, *right)
                == ScalarValue::Bool(true)
        }
        (Value::Pair(first, rest), Value::Pair(other_first, other_rest)) => {
            equal(first, other_first) && equal(rest, other_rest)
        }
        (Value::Sequence(elements), Value::Sequence(others)) => {
            elements.len() == others.len() && elements.iter().zip(others.iter()).all(|(one, other)| equal(one, other))
        }
        (Value::Unit, Value::Unit) | (Value::Function(_), Value::Function(_)) => true,
        _ => panic!("ill-typed core: {left:?} compared with {right:?}"),
    }
}

/// The number of a value in its type, if that is an ordinal one.
fn ordinal_number(value: &Value) -> i64 {
    match value {
        Value::Scalar(ScalarValue::Int(value)) => *value,
        Value::Scalar(ScalarValue::Bool(value)) => i64::from(*value),
        Value::Scalar(ScalarValue::Char(value)) => i64::from(*value),
        _ => 0,
    }
}

/// All 64 bits of the hash of a value.
fn hash(value: &Value) -> i64 {
    match value {
        Value::Scalar(ScalarValue::Int(value)) => meaning::hash_int(*value),
        Value::Scalar(ScalarValue::Float(value)) => meaning::hash_float(*value),
        Value::Scalar(ScalarValue::Bool(value)) => meaning::hash_int(i64::from(*value)),
        Value::Scalar(ScalarValue::Char(value)) => meaning::hash_int(i64::from(*value)),
        Value::Pair(first, rest) => meaning::hash_pair(hash(first), hash(rest)),
        Value::Sequence(elements) => {
            let places = elements.iter().enumerate().map(|(position, element)| match element {
                Value::Scalar(ScalarValue::Char(code)) => meaning::hash_place(position as i64, i64::from(*code)),
                _ => meaning::hash_pair(position as i64, element_hash(element)),
            });
            meaning::hash_pair(length(value), places.fold(0, i64::wrapping_add))
        }
        Value::Unit | Value::Function(_) => 0,
    }
}

/// The hash of an element of a sequence, before it is mixed with its position: a discrete scalar as an int.
fn element_hash(value: &Value) -> i64 {
    match value {
        Value::Scalar(ScalarValue::Int(value)) => *value,
        Value::Scalar(ScalarValue::Bool(value)) => i64::from(*value),
        _ => hash(value),
    }
}

/// The text of a value with so many levels of brackets; with all, and all elements, where there is none.
fn text_of(value: &Value, ty: &Type, levels: Option<usize>) -> Value {
    let mut out = Vec::new();
    write_text(value, ty, levels, &mut out);
    Value::sequence(out.into_iter().map(Value::char))
}

/// Adds the text of a value. Strings are sequences like any others here, and records show their payload alone.
fn write_text(value: &Value, ty: &Type, levels: Option<usize>, out: &mut Vec<u8>) {
    let inside = levels.map(|levels| levels.saturating_sub(1));
    match (value, ty) {
        (payload, Type::Record(datatype, arguments)) => {
            write_text(payload, &datatype.payload.instantiate(arguments), levels, out);
        }
        (Value::Scalar(scalar), _) => text::append(*scalar, out),
        (Value::Unit, _) => out.extend_from_slice(b"()"),
        (Value::Sequence(_), Type::Sequence(_)) | (Value::Pair(..), Type::Pair(..)) if levels == Some(0) => {
            out.extend_from_slice(short::HIDDEN.as_bytes());
        }
        (Value::Sequence(elements), Type::Sequence(element)) => {
            let shown = if levels.is_some() { short::ELEMENTS as usize } else { elements.len() };
            out.push(b'[');
            for (position, value) in elements.iter().take(shown).enumerate() {
                if position > 0 {
                    out.extend_from_slice(b", ");
                }
                write_text(value, element, inside, out);
            }
            out.extend_from_slice(if shown < elements.len() { b", ...]" } else { b"]" });
        }
        (Value::Pair(..), Type::Pair(..)) => {
            out.push(b'(');
            let (mut value, mut ty) = (value, ty);
            while let (Value::Pair(first, rest), Type::Pair(first_type, rest_type)) = (value, ty) {
                write_text(first, first_type, inside, out);
                out.extend_from_slice(b", ");
                (value, ty) = (rest, rest_type);
            }
            write_text(value, ty, inside, out);
            out.push(b')');
        }
        (Value::Function(_), _) => out.extend_from_slice(b"function"),
        _ => value.is_no(&format!("a value of type {ty}")),
    }
}

/// The zero of a type: of a function the one whose captured values are zero.
fn zero(ty: &Type) -> Value {
    match ty {
        Type::Scalar(ScalarType::Int) => Value::int(0),
        Type::Scalar(ScalarType::Float) => Value::float(0.0),
        Type::Scalar(ScalarType::Bool) => Value::bool(false),
        Type::Scalar(ScalarType::Char) => Value::char(0),
        Type::Unit => Value::Unit,
        Type::Pair(first, rest) => Value::pair(zero(first), zero(rest)),
        Type::Sequence(_) => Value::sequence([]),
        Type::Function(function) => {
            let identity = function.known();
            Value::Function(Arc::new(Closure {
                function: FunctionId(identity.function),
                type_arguments: identity.type_arguments.clone(),
                captured: identity.captured_tuple().map(|captured| zero(&captured)),
            }))
        }
        record => zero(&record.wrapped()),
    }
}

/// The destination with what `becomes` of an element and the value of each pair written at its index.
fn write(operand: &Value, becomes: impl Fn(&Value, &Value) -> Value) -> Result<Value, Failure> {
    let (destination, pairs) = operand.as_pair();
    let mut result = Vec::clone(destination.as_sequence());
    for pair in pairs.as_sequence().iter() {
        let (index, value) = pair.as_pair();
        let index = meaning::check_index(index.as_int(), length(destination))?;
        // In order, so that the last of equal indices wins, or what is combined with it comes last.
        result[index as usize] = becomes(&result[index as usize], value);
    }
    Ok(Value::sequence(result))
}

/// Checks the lengths, then all indices against the range, then that none occurs twice.
fn permute(operand: &Value) -> Result<Value, Failure> {
    let (sequence, indices) = operand.as_pair();
    let count = meaning::check_lengths(length(sequence), length(indices))?;
    for index in indices.as_sequence().iter() {
        meaning::check_index(index.as_int(), count)?;
    }
    let mut result: Vec<Option<Value>> = vec![None; count as usize];
    for (value, index) in sequence.as_sequence().iter().zip(indices.as_sequence().iter()) {
        let index = index.as_int();
        if result[index as usize].replace(value.clone()).is_some() {
            return Err(Failure::NotAPermutation { index });
        }
    }
    // As many distinct indices as positions: every position was filled.
    Ok(Value::sequence(result.into_iter().flatten()))
}

/// Where each element is in the order of all.
fn rank(direction: Direction, operand: &Value) -> Value {
    let elements = operand.as_sequence();
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by(|&one, &other| order_of(direction, &elements[one], &elements[other]));
    let mut ranks = vec![0; elements.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank as i64;
    }
    Value::sequence(ranks.into_iter().map(Value::int))
}

/// How two values of one type stand to each other: by their first parts that differ, sequences that begin with each
/// other by their lengths. Functions are equal.
fn order_of(direction: Direction, one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Scalar(one), Value::Scalar(other)) => {
            let key = |value: ScalarValue| match value {
                ScalarValue::Int(value) => direction.key(value),
                ScalarValue::Float(value) => direction.key(value),
                ScalarValue::Bool(value) => direction.key(value),
                ScalarValue::Char(value) => direction.key(value),
            };
            key(*one).cmp(&key(*other))
        }
        (Value::Pair(first, rest), Value::Pair(other_first, other_rest)) => {
            order_of(direction, first, other_first).then_with(|| order_of(direction, rest, other_rest))
        }
        (Value::Sequence(ones), Value::Sequence(others)) => {
            let differing = ones.iter().zip(others.iter()).map(|(one, other)| order_of(direction, one, other));
            let lengths = match direction {
                Direction::Up => ones.len().cmp(&others.len()),
                Direction::Down => others.len().cmp(&ones.len()),
            };
            differing.into_iter().find(|order| order.is_ne()).unwrap_or(lengths)
        }
        _ => Ordering::Equal,
    }
}

/// Checks each length for its sign, then their sum.
fn partition(operand: &Value) -> Result<Value, Failure> {
    let (sequence, lengths) = operand.as_pair();
    let mut total: i64 = 0;
    for count in lengths.as_sequence().iter() {
        total = meaning::add_lengths(total, meaning::check_length(count.as_int())?);
    }
    meaning::check_partition(total, length(sequence))?;
    let mut rest = sequence.as_sequence().as_slice();
    Ok(Value::sequence(lengths.as_sequence().iter().map(|count| {
        let (part, after) = rest.split_at(count.as_int() as usize);
        rest = after;
        Value::sequence(part.iter().cloned())
    })))
}

/// The operator that reduces or scans a sequence of this type.
fn operator(source: &str, sequence: &Type) -> ScalarOp {
    ScalarOp::named(source, &[sequence.element().scalar(); 2])
}

/// The elements and the identity as floats, if the order of combination matters: float sums and products.
fn ordered(op: ScalarOp, sequence: &Value) -> Option<(f64, Vec<f64>)> {
    match op.identity() {
        ScalarValue::Float(identity) if !op.row().associative => {
            let elements = sequence.as_sequence().iter().map(|value| f64::from_value(value.as_scalar()));
            Some((identity, elements.collect()))
        }
        _ => None,
    }
}

fn combine_floats(op: ScalarOp) -> impl Fn(f64, f64) -> f64 + Copy {
    move |left, right| f64::from_value(op.combine(left.to_value(), right.to_value()))
}

fn reduce(op: ScalarOp, sequence: &Value) -> Value {
    if let Some((identity, elements)) = ordered(op, sequence) {
        return Value::float(sum::reduce(identity, combine_floats(op), &elements));
    }
    let elements = sequence.as_sequence().iter().map(Value::as_scalar);
    Value::Scalar(elements.fold(op.identity(), |before, element| op.combine(before, element)))
}

fn reduce_index(op: ScalarOp, sequence: &Value) -> Value {
    let elements = sequence.as_sequence().iter().map(Value::as_scalar).zip(0..);
    let one_by_one = elements.map(|(value, index)| Extreme { value, index });
    Value::int(one_by_one.fold(Extreme::none(op.identity()), |before, one| before.then_by(op, one)).index)
}

fn scan(op: ScalarOp, sequence: &Value) -> Value {
    if let Some((identity, elements)) = ordered(op, sequence) {
        return Value::sequence(sum::scan(identity, combine_floats(op), &elements).into_iter().map(Value::float));
    }
    let mut before = op.identity();
    Value::sequence(sequence.as_sequence().iter().map(|element| {
        let after = op.combine(before, element.as_scalar());
        Value::Scalar(std::mem::replace(&mut before, after))
    }))
}

fn triple(operand: &Value) -> (&Value, &Value, &Value) {
    let (first, rest) = operand.as_pair();
    let (second, third) = rest.as_pair();
    (first, second, third)
}

/// The length of a sequence.
pub(super) fn length(sequence: &Value) -> i64 {
    sequence.as_sequence().len() as i64
}

fn element(sequence: &Value, index: i64) -> Result<&Value, Failure> {
    let index = meaning::check_index(index, length(sequence))?;
    Ok(&sequence.as_sequence()[index as usize])
}

/// A length, not negative, if a sequence of it can be made.
fn checked_length(length: i64) -> Result<usize, Failure> {
    if length > MAXIMUM_LENGTH {
        let bytes = (length as u64).saturating_mul(size_of::<Value>() as u64);
        return Err(Failure::OutOfMemory { bytes });
    }
    Ok(length as usize)
}
