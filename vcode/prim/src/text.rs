//! How scalars are written: the text that NESL reads back as the same value.

use crate::value::ScalarValue;

/// The shortest decimal text that reads back as the same float, always with a point or an exponent.
pub fn float(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// A character as a NESL constant: a backquote and the character itself.
pub fn character(code: u8) -> String {
    format!("`{}", char::from(code))
}

/// A string with its quotes and escapes. Bytes that are not part of valid UTF-8 show as the replacement character.
pub fn string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for character in String::from_utf8_lossy(bytes).chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
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

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
