//! How scalars are written: the text that NESL reads back as the same value.

use crate::value::ScalarValue;
use std::io::Write;

/// The shortest decimal text that reads back as the same float, always with a point or an exponent.
pub fn float(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// A character as a NESL constant: a backquote and the character itself, or its escape.
pub fn character(code: u8) -> String {
    let mut out = String::from("`");
    match code {
        b' '..=b'~' => out.push(char::from(code)),
        other => escape(other, &mut out),
    }
    out
}

/// A string with its quotes and escapes. What is not text in UTF-8, and control characters, are escaped byte by byte.
pub fn string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                control if control.is_control() => {
                    control.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| escape(byte, &mut out));
                }
                other => out.push(other),
            }
        }
        chunk.invalid().iter().for_each(|&byte| escape(byte, &mut out));
    }
    out.push('"');
    out
}

/// The escape of a byte that cannot stand for itself.
fn escape(byte: u8, out: &mut String) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\t' => out.push_str("\\t"),
        other => {
            out.push_str("\\x");
            out.extend([other >> 4, other & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
        }
    }
}

/// Any scalar as NESL prints it.
pub fn scalar(value: ScalarValue) -> String {
    match value {
        ScalarValue::Int(value) => value.to_string(),
        ScalarValue::Float(value) => float(value),
        ScalarValue::Bool(value) => if value { "t" } else { "f" }.to_owned(),
        ScalarValue::Char(code) => character(code),
    }
}

/// Adds the text of [`scalar`], without making a string of its own.
pub fn append(value: ScalarValue, out: &mut Vec<u8>) {
    let written = match value {
        ScalarValue::Int(value) => write!(out, "{value}"),
        ScalarValue::Float(value) if value.is_nan() => write!(out, "nan"),
        ScalarValue::Float(value) => write!(out, "{value:?}"),
        ScalarValue::Bool(value) => write!(out, "{}", if value { 't' } else { 'f' }),
        ScalarValue::Char(code) => write!(out, "{}", character(code)),
    };
    debug_assert!(written.is_ok(), "a vector takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_text_is_that_of_the_scalar() {
        let floats = [0.1, -0.0, 1e300, f64::NAN, -f64::NAN, f64::INFINITY].map(ScalarValue::Float);
        let others = [ScalarValue::Int(i64::MIN), ScalarValue::Bool(true), ScalarValue::Bool(false)];
        for value in floats.into_iter().chain(others).chain((0..=255).map(ScalarValue::Char)) {
            let mut out = b"x".to_vec();
            append(value, &mut out);
            assert_eq!(out, format!("x{}", scalar(value)).as_bytes());
        }
    }

    #[test]
    fn floats_read_back_and_look_like_floats() {
        for (value, text) in [(2.0, "2.0"), (1.5e300, "1.5e300"), (0.1, "0.1"), (-0.0, "-0.0"), (1e16, "1e16")] {
            assert_eq!(float(value), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(float(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn strings_escape_what_would_end_or_split_them() {
        assert_eq!(string(b"a\"b\\c\nd"), r#""a\"b\\c\nd""#);
        assert_eq!(string("é".as_bytes()), "\"é\"");
        assert_eq!(string(b"\xc3\xa9\xff\0a\xc3"), r#""é\xff\x00a\xc3""#);
        assert_eq!(string("\r\u{85}".as_bytes()), r#""\x0d\xc2\x85""#);
    }

    #[test]
    fn characters_that_do_not_show_are_escaped() {
        for (code, text) in
            [(b'a', "`a"), (b' ', "` "), (b'\\', "`\\"), (b'\n', "`\\n"), (0, "`\\x00"), (233, "`\\xe9")]
        {
            assert_eq!(character(code), text);
        }
    }
}
