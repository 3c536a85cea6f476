//! Values from literals and pieces, on the reference engine.

use super::*;
use crate::engine::reference::Reference;
use crate::engine::{Collective, Columns};
use nesl_prim::ScalarType;

fn sequence(element: Shape) -> Shape {
    Shape::Sequence(Box::new(element))
}

fn pair(first: Shape, rest: Shape) -> Shape {
    Shape::Pair(Box::new(first), Box::new(rest))
}

const INT: Shape = Shape::Scalar(ScalarType::Int);
const CHAR: Shape = Shape::Scalar(ScalarType::Char);

fn int(value: i64) -> Literal {
    Literal::Scalar(ScalarValue::Int(value))
}

fn text(text: &str) -> Literal {
    Literal::Constants(Constants::Char(text.as_bytes().to_vec()))
}

/// What is in the slots of a value, in words.
fn slots(engine: &mut Reference, value: &Value<Reference>) -> Vec<String> {
    let describe = |slot: &SlotOf<Reference>| match slot {
        Slot::Scalar(value) => nesl_prim::text::scalar(*value),
        Slot::Column(column) => {
            let length = engine.length(column);
            format!("{:?}", engine.fetch(column, 0, length).unwrap().elements)
        }
        Slot::Descriptor(descriptor) => format!("{:?}", descriptor.lengths().iter().collect::<Vec<_>>()),
    };
    value.slots.iter().map(describe).collect()
}

#[test]
fn nested_literals_become_columns() {
    let mut engine = Reference::new(None);
    let shape = pair(INT, sequence(pair(sequence(CHAR), sequence(INT))));
    let row = |name, numbers: &[i64]| {
        Literal::Pair(
            Box::new(text(name)),
            Box::new(Literal::Sequence(numbers.iter().map(|&number| int(number)).collect())),
        )
    };
    let rows = Literal::Sequence(vec![row("ab", &[1, 2]), row("", &[]), row("c", &[3])]);
    let value = from_literal(&mut engine, &shape, &Literal::Pair(Box::new(int(7)), Box::new(rows))).unwrap();
    assert_eq!(value.shape.serial().len(), value.slots.len());
    assert_eq!(
        slots(&mut engine, &value),
        ["7", "3", "[2, 0, 1]", "Char([97, 98, 99])", "[2, 0, 1]", "Int([1, 2, 3])"]
    );
}

#[test]
fn empty_sequences_fit_every_type_of_sequence() {
    let mut engine = Reference::new(None);
    let shape = sequence(sequence(pair(INT, CHAR)));
    let value = from_literal(&mut engine, &shape, &Literal::Sequence(vec![])).unwrap();
    assert_eq!(slots(&mut engine, &value), ["0", "[]", "Int([])", "Char([])"]);
    let value = from_literal(&mut engine, &shape, &Literal::Sequence(vec![Literal::Sequence(vec![])])).unwrap();
    assert_eq!(slots(&mut engine, &value), ["1", "[0]", "Int([])", "Char([])"]);
}

#[test]
fn mismatches_say_where() {
    let mut engine = Reference::new(None);
    let shape = sequence(sequence(pair(INT, sequence(CHAR))));
    let inner = Literal::Sequence(vec![Literal::Pair(Box::new(int(1)), Box::new(int(2)))]);
    let literal = Literal::Sequence(vec![Literal::Sequence(vec![]), inner]);
    let error = from_literal(&mut engine, &shape, &literal).err().unwrap();
    assert_eq!(error.to_string(), "expected [char], found the int 2 at element 1, 0");
    let error = from_literal(&mut engine, &shape, &text("abc")).err().unwrap();
    assert_eq!(error.to_string(), "expected [[(int, [char])]], found a [char] of length 3");
}

#[test]
fn lines_of_a_file_come_in_as_lengths_and_characters() {
    let mut engine = Reference::new(None);
    let pieces = vec![Piece::Lengths(vec![3, 0, 2]), Piece::Elements(Constants::Char(b"onexy".to_vec()))];
    let value = import(&mut engine, &sequence(sequence(CHAR)), pieces).unwrap();
    assert_eq!(slots(&mut engine, &value), ["3", "[3, 0, 2]", "Char([111, 110, 101, 120, 121])"]);
}

#[test]
fn a_value_that_does_not_fit_is_a_failure() {
    let mut engine = Reference::new(Some(64));
    let literal = Literal::Constants(Constants::Int(vec![0; 100]));
    let error = from_literal(&mut engine, &sequence(INT), &literal).err();
    assert_eq!(error, Some(LiteralError::Failure(Failure::OutOfMemory { bytes: 800 })));
}
