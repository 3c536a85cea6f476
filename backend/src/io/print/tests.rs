//! What values look like, and what happens when nobody reads them.

use super::*;
use crate::engine::Columns;
use crate::engine::reference::Reference;
use crate::io::import::{Literal, Piece, from_literal, import};
use nesl_vcode::Constants;

const INT: Shape = Shape::Scalar(ScalarType::Int);
const FLOAT: Shape = Shape::Scalar(ScalarType::Float);
const BOOL: Shape = Shape::Scalar(ScalarType::Bool);
const CHAR: Shape = Shape::Scalar(ScalarType::Char);

fn sequence(element: Shape) -> Shape {
    Shape::Sequence(Box::new(element))
}

fn pair(first: Shape, rest: Shape) -> Shape {
    Shape::Pair(Box::new(first), Box::new(rest))
}

fn int(value: i64) -> Literal {
    Literal::Scalar(ScalarValue::Int(value))
}

fn ints(elements: &[i64]) -> Literal {
    Literal::Constants(Constants::Int(elements.to_vec()))
}

fn text(text: &str) -> Literal {
    Literal::Constants(Constants::Char(text.as_bytes().to_vec()))
}

fn both(first: Literal, rest: Literal) -> Literal {
    Literal::Pair(Box::new(first), Box::new(rest))
}

fn printed(engine: &mut Reference, value: &Value<Reference>, limit: Option<usize>) -> String {
    let mut out = Vec::new();
    print(engine, value, limit, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn shown(shape: &Shape, literal: &Literal, limit: Option<usize>) -> String {
    let mut engine = Reference::new(None);
    let value = from_literal(&mut engine, shape, literal).unwrap();
    printed(&mut engine, &value, limit)
}

#[test]
fn nested_values_fit_a_page_with_a_limit() {
    let mut engine = Reference::new(None);
    let row = || ints(&[1, 2, 3]);
    let nested = |rows: usize| Literal::Sequence((0..rows).map(|_| row()).collect());
    let value = from_literal(&mut engine, &sequence(sequence(INT)), &nested(2)).unwrap();
    assert_eq!(printed(&mut engine, &value, Some(2)), "[[1, 2, ...], [1, 2, ...]]");
    // Ten numbers in all: three rows, and one of the fourth.
    let cube = Literal::Sequence((0..100).map(|_| nested(1)).collect());
    let value = from_literal(&mut engine, &sequence(sequence(sequence(INT))), &cube).unwrap();
    let first = "[[[1, ...]], [[1, ...]], ...]";
    assert_eq!(printed(&mut engine, &value, Some(2)).replace("1, 2, ...", "1, ..."), first);
    let wide = from_literal(&mut engine, &sequence(sequence(INT)), &nested(9)).unwrap();
    assert_eq!(printed(&mut engine, &wide, Some(9)).matches("[1, 2, 3]").count(), 9);
    let mut out = Vec::new();
    assert!(print_typed(&mut engine, &wide, Some(9), &[], &mut out).unwrap());
    assert!(!print_typed(&mut engine, &wide, Some(8), &[], &mut out).unwrap());
    // A hundred to a level, and a thousand in all.
    let many = Literal::Sequence((0..100).map(|_| ints(&(0..100).collect::<Vec<i64>>())).collect());
    let value = from_literal(&mut engine, &sequence(sequence(INT)), &many).unwrap();
    let text = printed(&mut engine, &value, Some(100));
    assert_eq!(text.matches(']').count(), 11, "{text}");
    assert!(text.ends_with("98, 99], ...]") && text.len() < 5000, "{}", text.len());
    let texts = Literal::Sequence((0..100).map(|_| self::text(&"x".repeat(80))).collect());
    let value = from_literal(&mut engine, &sequence(sequence(CHAR)), &texts).unwrap();
    assert_eq!(printed(&mut engine, &value, Some(100)).matches('x').count(), 91 * 80);
}

#[test]
fn scalars_print_as_they_are_written() {
    for (shape, value, expected) in [
        (INT, ScalarValue::Int(-5), "-5"),
        (FLOAT, ScalarValue::Float(2.0), "2.0"),
        (FLOAT, ScalarValue::Float(1.5e300), "1.5e300"),
        (BOOL, ScalarValue::Bool(true), "t"),
        (CHAR, ScalarValue::Char(b'a'), "`a"),
    ] {
        assert_eq!(shown(&shape, &Literal::Scalar(value), None), expected);
    }
}

#[test]
fn pairs_nested_to_the_right_are_flat() {
    let triple = pair(INT, pair(INT, INT));
    assert_eq!(shown(&triple, &both(int(1), both(int(2), int(3))), None), "(1, 2, 3)");
    let left = pair(pair(INT, INT), INT);
    assert_eq!(shown(&left, &both(both(int(1), int(2)), int(3)), None), "((1, 2), 3)");
    let rows = Literal::Sequence(vec![both(int(1), both(int(2), int(3)))]);
    assert_eq!(shown(&sequence(triple), &rows, None), "[(1, 2, 3)]");
}

#[test]
fn sequences_nest_and_strings_are_quoted_even_when_empty() {
    assert_eq!(shown(&sequence(INT), &ints(&[1, 2]), None), "[1, 2]");
    assert_eq!(shown(&sequence(INT), &ints(&[]), None), "[]");
    let nested = Literal::Sequence(vec![ints(&[1]), ints(&[]), ints(&[2, 3])]);
    assert_eq!(shown(&sequence(sequence(INT)), &nested, None), "[[1], [], [2, 3]]");
    assert_eq!(shown(&sequence(CHAR), &text(""), None), "\"\"");
    assert_eq!(shown(&sequence(CHAR), &text("a\"b\\\n"), None), r#""a\"b\\\n""#);
    let words = Literal::Sequence(vec![text("ab"), text(""), text("é")]);
    assert_eq!(shown(&sequence(sequence(CHAR)), &words, None), r#"["ab", "", "é"]"#);
    assert_eq!(shown(&sequence(sequence(CHAR)), &Literal::Sequence(vec![]), None), "[]");
    let named = sequence(pair(sequence(CHAR), BOOL));
    let rows = Literal::Sequence(vec![both(text("x"), Literal::Scalar(ScalarValue::Bool(false)))]);
    assert_eq!(shown(&named, &rows, None), "[(\"x\", f)]");
}

#[test]
fn a_limit_holds_for_every_sequence() {
    assert_eq!(shown(&sequence(INT), &ints(&[1, 2, 3]), Some(2)), "[1, 2, ...]");
    assert_eq!(shown(&sequence(INT), &ints(&[1, 2, 3]), Some(3)), "[1, 2, 3]");
    assert_eq!(shown(&sequence(INT), &ints(&[1]), Some(0)), "[...]");
    assert_eq!(shown(&sequence(INT), &ints(&[]), Some(0)), "[]");
    let nested = Literal::Sequence(vec![ints(&[1, 2, 3]), ints(&[4]), ints(&[5])]);
    assert_eq!(shown(&sequence(sequence(INT)), &nested, Some(2)), "[[1, 2, ...], [4], ...]");
    assert_eq!(shown(&sequence(CHAR), &text("abc"), Some(2)), "\"ab\"...");
    // The limit cuts the é: it is not shown in part.
    assert_eq!(shown(&sequence(CHAR), &text("aéb"), Some(2)), "\"a\"...");
}

#[test]
fn views_are_read_out_of_order() {
    let mut engine = Reference::new(None);
    let mut column = |elements: Vec<i64>| engine.constants(&Constants::Int(elements)).unwrap();
    // 300 segments of 1000 elements, back to front, over windows of all sizes; then overlapping ones.
    let count = 300;
    let data = column((0..count * 1000).collect());
    let starts = column((0..count).rev().map(|segment| segment * 1000).chain([5, 7]).collect());
    let lengths = column(std::iter::repeat_n(1000, count as usize).chain([3, 0]).collect());
    let descriptor = engine.descriptor(Some(starts), lengths).unwrap();
    let slots = vec![Slot::Scalar(ScalarValue::Int(count + 2)), Slot::Descriptor(descriptor), Slot::Column(data)];
    let value = Value::new(sequence(sequence(INT)), slots);
    let row = |start: i64, length: i64| {
        let row: Vec<String> = (start..start + length).map(|element| element.to_string()).collect();
        format!("[{}]", row.join(", "))
    };
    let rows: Vec<String> =
        (0..count).rev().map(|segment| row(segment * 1000, 1000)).chain([row(5, 3), row(7, 0)]).collect();
    assert_eq!(printed(&mut engine, &value, None), format!("[{}]", rows.join(", ")));
}

#[test]
fn long_columns_stream_and_characters_may_lie_across_windows() {
    let mut engine = Reference::new(None);
    // Two bytes each, and one before: every window ends within a character.
    let line = format!("x{}", "é".repeat(200_000));
    let value = from_literal(&mut engine, &sequence(CHAR), &text(&line)).unwrap();
    assert_eq!(printed(&mut engine, &value, None), format!("\"{line}\""));
    // Bytes that are no characters show as escapes, at the end too.
    let broken = Piece::Elements(Constants::Char(vec![b'a', 0xff, b'b', 0xe2, 0x82]));
    let value = import(&mut engine, &sequence(CHAR), vec![broken]).unwrap();
    assert_eq!(printed(&mut engine, &value, None), "\"a\\xffb\\xe2\\x82\"");
    let numbers: Vec<i64> = (0..200_000).map(|i| i * i - 7).collect();
    let value = from_literal(&mut engine, &sequence(INT), &ints(&numbers)).unwrap();
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    assert_eq!(printed(&mut engine, &value, None), format!("[{}]", texts.join(", ")));
}

/// Takes some bytes, then no more.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_takes_no_more_ends_the_printing() {
    let mut engine = Reference::new(None);
    let value = from_literal(&mut engine, &sequence(INT), &ints(&vec![7; 1_000_000])).unwrap();
    for room in [0, 100, 200_000] {
        match print(&mut engine, &value, None, &mut Full(room)) {
            Err(PrintError::Write(error)) => assert_eq!(error.kind(), io::ErrorKind::BrokenPipe),
            other => panic!("{other:?}"),
        }
    }
    let value = from_literal(&mut engine, &INT, &int(5)).unwrap();
    assert!(matches!(print(&mut engine, &value, None, &mut Full(0)), Err(PrintError::Write(_))));
}
