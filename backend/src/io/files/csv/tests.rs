//! Tables: every form that spreadsheets write, and every mistake with its place.

use super::*;
use crate::engine::interrupt::Interrupt;
use crate::io::files::Storage;
use std::path::PathBuf;
use std::sync::Arc;

const INT: Cell = Cell::Scalar(ScalarType::Int);
const FLOAT: Cell = Cell::Scalar(ScalarType::Float);

fn content(name: &str, text: &str) -> Content {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let length = bytes.len() as u64;
    let (interrupt, hold) = (Interrupt::default(), Hold::default());
    Content {
        path: PathBuf::from(name),
        storage: Storage::Memory(bytes),
        base: 0,
        length,
        lines_before: 0,
        interrupt,
        hold,
    }
}

/// A way to read a table.
type Read<'r> = &'r dyn Fn(&mut Content, Share<'_>) -> Result<Vec<Piece>, InputError>;

/// The pieces that some ranks read, one behind another.
fn on_ranks(ranks: usize, text: &str, read: Read<'_>) -> Result<Vec<Piece>, String> {
    let mut all: Option<Vec<Piece>> = None;
    for rank in 0..ranks {
        let share = |length: usize| length * rank / ranks..length * (rank + 1) / ranks;
        let pieces = read(&mut content("a.csv", text), &share).map_err(|error| error.message)?;
        match &mut all {
            None => all = Some(pieces),
            Some(all) => all.iter_mut().zip(pieces).for_each(|(before, more)| match (before, more) {
                (Piece::Lengths(before), Piece::Lengths(more)) => before.extend(more),
                (Piece::Elements(before), Piece::Elements(more)) => before.extend(&more),
                _ => unreachable!("ranks have the same pieces"),
            }),
        }
    }
    Ok(all.unwrap_or_default())
}

fn of(cells: &'static [Cell]) -> impl Fn(&mut Content, Share<'_>) -> Result<Vec<Piece>, InputError> {
    move |content, share| records(content, cells, share)
}

fn text_piece(text: &str) -> Piece {
    Piece::Elements(Constants::Char(text.as_bytes().to_vec()))
}

#[test]
fn records_are_columns_however_the_file_is_divided() {
    let text = "\u{feff}name,units,price\r\nnorth,3,1.5\r\n\"so\"\"uth,\r\n east\",-4, 2 \r\n\r\n,+5,1e3";
    for ranks in 1..9 {
        let pieces = on_ranks(ranks, text, &of(&[Cell::Text, INT, FLOAT])).unwrap();
        // A carriage return within quotes is part of the field.
        let expected = [
            Piece::Lengths(vec![5, 14, 0]),
            text_piece("northso\"uth,\r\n east"),
            Piece::Elements(Constants::Int(vec![3, -4, 5])),
            Piece::Elements(Constants::Float(vec![1.5, 2.0, 1000.0])),
        ];
        assert_eq!(pieces, expected, "{ranks} ranks");
    }
}

#[test]
fn delimiters_headings_and_blank_lines_are_seen() {
    let ints = |text: &str| on_ranks(1, text, &|content, share| rows(content, ScalarType::Int, share));
    for text in
        ["1,2\n3,4\n", "1;2\n3;4", "\n\na\tb\n1\t2\n\n3\t4\n\n", "\"x,y\"|b\n1|2\n3|4", "1,\"2\"\r\n\"3\",4\r\n"]
    {
        let expected = [Piece::Lengths(vec![2, 2]), Piece::Elements(Constants::Int(vec![1, 2, 3, 4]))];
        assert_eq!(ints(text).unwrap(), expected, "{text:?}");
    }
    for text in ["", "\n\r\n", "\u{feff}", "a,b\n"] {
        assert_eq!(ints(text).unwrap(), [Piece::Lengths(vec![]), Piece::Elements(Constants::Int(vec![]))], "{text:?}");
    }
    let fields = on_ranks(1, "a,\n\"\"\n", &|content, share| fields(content, share));
    assert_eq!(fields.unwrap_err(), "a.csv, line 2: 1 field, where line 1 has 2 fields");
    assert!(is_table(&mut content("a.txt", "1,2")).unwrap() && !is_table(&mut content("a.txt", "1\t2")).unwrap());
    assert!(is_table(&mut content("a.TSV", "1 2")).unwrap() && !is_table(&mut content("a.csv", "1 2\n3 4")).unwrap());
}

#[test]
fn numbers_of_tuples_may_stand_between_white_space() {
    let expected = [Piece::Elements(Constants::Int(vec![1, 3])), Piece::Elements(Constants::Int(vec![2, 4]))];
    for text in ["1 2\n3 4\n", "from to\n 1\t2 \n\n3  4", "1 2\r\n \r\n3 4\r\n"] {
        for ranks in 1..4 {
            let shares = on_ranks(ranks, text, &of(&[INT, INT]));
            assert_eq!(shares.unwrap(), expected, "{text:?}");
        }
    }
}

#[test]
fn what_begins_as_a_number_is_no_heading() {
    for (text, message) in [
        ("1.5,2.5\n3,4\n", "line 1, column 1: `1.5` is not an int"),
        ("99999999999999999999,1\n3,4\n", "line 1, column 1: `99999999999999999999` is too large for an int"),
        ("-3x,-.5y\n3,4\n", "line 1, column 1: `-3x` is not an int"),
        ("5\n1,2\n", "line 1: 1 field, where 2 fields are wanted"),
    ] {
        let shares = on_ranks(2, text, &of(&[INT, INT]));
        assert_eq!(shares.unwrap_err(), format!("a.csv, {message}"), "{text:?}");
    }
    let of_text = on_ranks(1, "bolt,3x\nnut,4\n", &of(&[Cell::Text, INT]));
    assert_eq!(of_text.unwrap_err(), "a.csv, line 1, column 2: `3x` is not an int");
}

#[test]
fn mistakes_are_named_by_line_and_column() {
    let long = format!("a,b\n1,2\n1,{}\n", "x".repeat(100));
    for (text, message) in [
        ("1,2\n3\n", "line 2: 1 field, where line 1 has 2 fields"),
        ("1,2,3\n", "line 1: 3 fields, where 2 fields are wanted"),
        ("a,b\n1,2\n3,x\u{1b}\n", "line 3, column 2 (b): `x␛` is not an int"),
        ("1,2\n\n\"3\n\",\n", "line 3, column 2: there is nothing where an int should be"),
        ("1,99999999999999999999\n", "line 1, column 2: `99999999999999999999` is too large for an int"),
        ("a,2\n", "line 1, column 1: `a` is not an int"),
        ("1,2\n3,\"4\n5,6\n", "line 2: a quote that begins in this row is not closed"),
        ("1,2\n3,\"4\"5\n", "line 2: a text follows the quote that closes a field"),
        (&long, &format!("line 3, column 2 (b): `{}…` is not an int", "x".repeat(40))),
    ] {
        for ranks in 1..4 {
            let shares = on_ranks(ranks, text, &of(&[INT, INT]));
            assert_eq!(shares.unwrap_err(), format!("a.csv, {message}"), "{text:?}");
        }
    }
}

#[test]
fn rows_longer_than_a_window_are_read() {
    let row: Vec<String> = (0..1_000_000).map(|number: i64| number.to_string()).collect();
    let text = format!("{}\n{}\n", row.join(","), row.join(","));
    assert!(text.len() as u64 > 2 * AT_ONCE);
    let pieces = on_ranks(2, &text, &|content, share| rows(content, ScalarType::Int, share)).unwrap();
    assert_eq!(pieces[0], Piece::Lengths(vec![1_000_000; 2]));
    assert!(matches!(&pieces[1], Piece::Elements(Constants::Int(all)) if all[1_999_999] == 999_999));
}
