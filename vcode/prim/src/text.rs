//! How scalars are written: the text that NESL reads back as the same value.

use crate::value::ScalarValue;
use crate::visible;
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

/// A string with its quotes and escapes. What is not text in UTF-8, and characters that would do
/// something else at a terminal than to be seen, are escaped byte by byte.
pub fn string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                control if visible::stand_in(control).is_some() => {
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

/// The float that a text denotes, to the last bit; NaN where it is none. A text is a sign, digits, a point and digits,
/// and an `e` or `E` with a sign and digits, each of which may be missing: what is missing is 0.
pub fn parse_float(text: &[u8]) -> f64 {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let digits = |from: usize| from + text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let (mantissa, fraction) = match text.get(whole) {
        Some(b'.') => (digits(whole + 1), whole + 1),
        _ => (whole, whole),
    };
    let end = match text.get(mantissa) {
        Some(b'e' | b'E') => {
            let sign = usize::from(matches!(text.get(mantissa + 1), Some(b'+' | b'-')));
            digits(mantissa + 1 + sign)
        }
        _ => mantissa,
    };
    if end != text.len() {
        return f64::NAN;
    }
    if whole == sign && mantissa == fraction {
        return if text.first() == Some(&b'-') { -0.0 } else { 0.0 };
    }
    // An exponent without digits is one of 0, but Rust wants some.
    let written = if text.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') { end } else { mantissa };
    std::str::from_utf8(&text[..written]).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_grammar_are_floats_and_others_are_not() {
        let floats: &[(&str, f64)] = &[
            ("", 0.0),
            ("-", -0.0),
            ("+", 0.0),
            (".", 0.0),
            ("-.", -0.0),
            ("e", 0.0),
            ("-e5", -0.0),
            (".e", 0.0),
            ("5", 5.0),
            ("5.", 5.0),
            (".5", 0.5),
            ("-.5e1", -5.0),
            ("+1.5E+2", 150.0),
            ("1e", 1.0),
            ("1.e-", 1.0),
            ("1.5e+", 1.5),
            ("007.50", 7.5),
            ("1e400", f64::INFINITY),
            ("-1e99999999999999999999", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("0.1", 0.1),
            ("4.9406564584124654e-324", f64::from_bits(1)),
            // Halfway between 2^53 and the next float, and just above.
            ("9007199254740993", 9007199254740992.0),
            ("9007199254740993.0000000000000000000000000000001", 9007199254740994.0),
        ];
        for &(text, value) in floats {
            assert_eq!(parse_float(text.as_bytes()).to_bits(), value.to_bits(), "{text}");
        }
        for text in
            [" 1", "1 ", "1..2", "e5.", "--1", "1e5e", "1e5.", "inf", "nan", "infinity", "-nan", "1x", "0x1", "1_0"]
        {
            assert!(parse_float(text.as_bytes()).is_nan(), "{text}");
        }
        assert!(parse_float(&[0xff, b'1']).is_nan());
    }

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
