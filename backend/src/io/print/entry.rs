//! Entries of the stack of a program in the CMU format, as its interpreter prints them: `( 1 2 )`,
//! `( 1.50000000000000e+00 )`, `( T F )`, and the lengths of a descriptor in brackets, `[ 2 1 ]`.

use super::reader::Reader;
use super::{PrintError, Printer};
use crate::engine::Engine;
use nesl_prim::ScalarValue;

impl<E: Engine> Printer<'_, E> {
    /// Writes an entry: a column, in brackets.
    pub(super) fn entry(&mut self, column: &E::Column, brackets: [&str; 2]) -> Result<(), PrintError> {
        let length = self.engine.length(column);
        let mut reader = Reader::new(self.engine, column.clone());
        self.sink.text(brackets[0]);
        for index in 0..length.min(self.limit) {
            let value = reader.at(self.engine, &mut self.sink, index)?;
            self.sink.text(&element(value));
        }
        if length > self.limit {
            self.sink.text("... ");
        }
        self.sink.text(brackets[1]);
        Ok(())
    }
}

/// An element and a blank.
fn element(value: ScalarValue) -> String {
    match value {
        ScalarValue::Int(value) => format!("{value} "),
        ScalarValue::Float(value) => format!("{} ", scientific(value)),
        ScalarValue::Bool(value) => if value { "T " } else { "F " }.to_owned(),
        ScalarValue::Char(value) => format!("{value} "),
    }
}

/// A float as C writes it with `%.14e`.
fn scientific(value: f64) -> String {
    if !value.is_finite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let text = format!("{value:.14e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::scientific;

    #[test]
    fn floats_look_as_in_c() {
        // printf("%.14e") of each.
        let cases = [
            (1.5, "1.50000000000000e+00"),
            (-0.0, "-0.00000000000000e+00"),
            (1e100, "1.00000000000000e+100"),
            (1.0 / 3.0, "3.33333333333333e-01"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(scientific(value), text);
        }
    }
}
