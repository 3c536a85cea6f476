//! Values as CMU's compiler laid them out, one vector a line, as its interpreter printed them.
//!
//! Independent of the exporter: the value is read into nested values first, and these are taken apart again.

use nesl_backend::Slot;
use nesl_backend::{Engine, Value};
use nesl_prim::{Constants, ScalarValue};
use nesl_vcode::Shape;

/// A value without any columns.
#[derive(Clone)]
enum Nested {
    Scalar(ScalarValue),
    Pair(Box<Nested>, Box<Nested>),
    Sequence(Vec<Nested>),
    Nothing,
}

/// The parts of a value, with their columns as plain data.
enum Part {
    One(ScalarValue),
    Many(Constants),
    Pair(Box<Part>, Box<Part>),
    Sequence(Vec<(usize, usize)>, Box<Part>),
    Nothing,
}

/// The lines of a value.
pub fn lines<E: Engine>(engine: &mut E, value: &Value<E>) -> Vec<String> {
    let mut slots = value.slots.iter();
    let part = read(engine, &value.shape, &mut slots);
    let mut lines = Vec::new();
    write(&value.shape, &[nested(&part, 0)], &mut lines);
    lines
}

fn read<'a, E: Engine + 'a>(
    engine: &mut E,
    shape: &Shape,
    slots: &mut impl Iterator<Item = &'a Slot<E::Column, E::Descriptor>>,
) -> Part
where
    E::Column: 'a,
    E::Descriptor: 'a,
{
    fn column<E: Engine>(engine: &mut E, column: &E::Column) -> Constants {
        let length = engine.length(column);
        engine.fetch(column, 0, length).expect("columns can be read").elements
    }
    match shape {
        Shape::Scalar(_) => match slots.next() {
            Some(Slot::Scalar(value)) => Part::One(*value),
            Some(Slot::Column(values)) => Part::Many(column(engine, values)),
            _ => panic!("a scalar is no descriptor"),
        },
        Shape::Pair(first, rest) => {
            let first = read(engine, first, slots);
            Part::Pair(Box::new(first), Box::new(read(engine, rest, slots)))
        }
        Shape::Record(_, payload) => read(engine, payload, slots),
        Shape::Function(None) | Shape::Unit => Part::Nothing,
        Shape::Function(Some(captured)) => read(engine, captured, slots),
        Shape::Sequence(element) => {
            let segments = match slots.next() {
                Some(Slot::Scalar(ScalarValue::Int(length))) => vec![(0, *length as usize)],
                Some(Slot::Descriptor(descriptor)) => {
                    let starts = engine.starts(descriptor).expect("descriptors can be read");
                    let lengths = engine.lengths(descriptor).expect("descriptors can be read");
                    match (column(engine, &starts), column(engine, &lengths)) {
                        (Constants::Int(starts), Constants::Int(lengths)) => starts
                            .iter()
                            .zip(lengths)
                            .map(|(&start, length)| (start as usize, length as usize))
                            .collect(),
                        _ => panic!("starts and lengths are ints"),
                    }
                }
                _ => panic!("a sequence begins with its length or a descriptor"),
            };
            Part::Sequence(segments, Box::new(read(engine, element, slots)))
        }
    }
}

fn nested(part: &Part, index: usize) -> Nested {
    match part {
        Part::One(value) => Nested::Scalar(*value),
        Part::Many(values) => Nested::Scalar(values.get(index)),
        Part::Pair(first, rest) => Nested::Pair(Box::new(nested(first, index)), Box::new(nested(rest, index))),
        Part::Sequence(segments, element) => {
            let (start, length) = segments[index];
            Nested::Sequence((start..start + length).map(|index| nested(element, index)).collect())
        }
        Part::Nothing => Nested::Nothing,
    }
}

/// The vectors of values of one shape.
fn write(shape: &Shape, values: &[Nested], lines: &mut Vec<String>) {
    match shape {
        Shape::Scalar(_) => {
            let texts = values.iter().map(|value| match value {
                Nested::Scalar(value) => scalar(*value),
                _ => panic!("not a scalar"),
            });
            lines.push(format!("( {})", texts.map(|text| text + " ").collect::<String>()));
        }
        Shape::Pair(first_shape, rest_shape) => {
            let parts = values.iter().map(|value| match value {
                Nested::Pair(first, rest) => ((**first).clone(), (**rest).clone()),
                _ => panic!("not a pair"),
            });
            let (firsts, rests): (Vec<Nested>, Vec<Nested>) = parts.unzip();
            write(first_shape, &firsts, lines);
            write(rest_shape, &rests, lines);
        }
        Shape::Record(_, payload) => write(payload, values, lines),
        Shape::Function(None) | Shape::Unit => {}
        Shape::Function(Some(captured)) => write(captured, values, lines),
        Shape::Sequence(element) => {
            let sequences: Vec<&Vec<Nested>> = values
                .iter()
                .map(|value| match value {
                    Nested::Sequence(elements) => elements,
                    _ => panic!("not a sequence"),
                })
                .collect();
            lines.push(format!("[ {}]", sequences.iter().map(|s| format!("{} ", s.len())).collect::<String>()));
            let elements: Vec<Nested> = sequences.into_iter().flatten().cloned().collect();
            write(element, &elements, lines);
        }
    }
}

fn scalar(value: ScalarValue) -> String {
    match value {
        ScalarValue::Int(value) => value.to_string(),
        ScalarValue::Char(code) => code.to_string(),
        ScalarValue::Bool(value) => if value { "T" } else { "F" }.to_owned(),
        ScalarValue::Float(value) if value.is_nan() => "nan".to_owned(),
        ScalarValue::Float(value) if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        ScalarValue::Float(value) => {
            let text = format!("{value:.14e}");
            let (digits, exponent) = text.split_once('e').expect("there is an exponent");
            let exponent: i32 = exponent.parse().expect("it is an int");
            format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
    }
}
