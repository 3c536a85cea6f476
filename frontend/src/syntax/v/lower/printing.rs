//! `printf`: a text of pieces, one after another.

use super::Lowering;
use super::expressions::broken;
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::build::{binary, int, library, text};
use crate::syntax::v::tree::{Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use nesl_span::Span;

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(Vec<u8>),
    Value(Place),
}

/// A place for a value: `%-8.3f`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    conversion: u8,
    flags: Flags,
    width: i64,
    precision: Option<i64>,
}

/// What stands behind the percent sign of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flags {
    /// `-`
    is_left: bool,
    /// `0`
    has_zeros: bool,
    /// `+`
    has_sign: bool,
}

impl Lowering<'_> {
    /// `printf("…", …)`.
    pub(super) fn printf(&mut self, arguments: &[Expression], at: Span, span: Span) -> (Expr, Type) {
        self.check_purity("printf", at, false, None);
        let Some((format, arguments)) = arguments.split_first() else {
            self.report(Diagnostic::error("E0513", "`printf` takes a format", span));
            return broken(span);
        };
        let ExpressionKind::Text(bytes) = &format.kind else {
            let report = Diagnostic::error("E0513", "the format of `printf` must be written out", format.span);
            self.report(report.hint("a text that is computed is printed by `printf(\"%s\", text)`"));
            return broken(span);
        };
        let pieces = match pieces(bytes) {
            Ok(pieces) => pieces,
            Err(what) => {
                let report = Diagnostic::error("E0513", format!("`printf` does not know `{what}`"), format.span);
                self.report(
                    report.hint("it knows %d, %x, %c, %s, %f, %e, %g, and %v for any value; %% is a percent sign"),
                );
                return broken(span);
            }
        };
        let wanted = pieces.iter().filter(|piece| matches!(piece, Piece::Value(_))).count();
        if wanted != arguments.len() {
            let message = format!("the format has {wanted} places for values, and there are {}", arguments.len());
            self.report(Diagnostic::error("E0513", message, format.span));
            return broken(span);
        }
        let mut arguments = arguments.iter();
        let texts: Vec<Expr> = (pieces.into_iter())
            .filter_map(|piece| match piece {
                Piece::Text(bytes) => Some(text(bytes, format.span)),
                Piece::Value(place) => {
                    let shown = self.shown_as(arguments.next()?, place.conversion, place.precision);
                    Some(padded(shown, &place))
                }
            })
            .collect();
        let whole = texts.into_iter().reduce(|before, piece| binary(BinaryOp::Append, before, piece, format.span));
        let whole = whole.unwrap_or_else(|| text(Vec::new(), format.span));
        (library("print_string", vec![whole], span), Type::Void)
    }

    /// The text of a value.
    fn shown_as(&mut self, source: &Expression, conversion: u8, precision: Option<i64>) -> Expr {
        let span = source.span;
        let what = format!("what `%{}` prints", char::from(conversion));
        match conversion {
            b'd' | b'i' | b'u' => library("string", vec![self.value(source, &Type::Int, &what)], span),
            b'x' => library("hex_string", vec![self.value(source, &Type::Int, &what)], span),
            b'c' => Expr { kind: ExprKind::Sequence(vec![self.value(source, &Type::Char, &what)]), span },
            b's' => self.value(source, &Type::vector(Type::Char), &what),
            b'f' => {
                let value = self.value(source, &Type::Double, &what);
                library("fixed_string", vec![value, int(precision.unwrap_or(6), span)], span)
            }
            b'e' => {
                let value = self.value(source, &Type::Double, &what);
                library("scientific_string", vec![value, int(precision.unwrap_or(6), span)], span)
            }
            b'g' => library("string", vec![self.value(source, &Type::Double, &what)], span),
            _ => match self.any(source) {
                (value, ty) if ty == Type::vector(Type::Char) => value,
                (value, _) => library("string", vec![value], span),
            },
        }
    }
}

/// A text as a place shows it: with a sign, and in so many columns.
fn padded(shown: Expr, &Place { conversion, flags, width, .. }: &Place) -> Expr {
    let span = shown.span;
    let has_sign = flags.has_sign && matches!(conversion, b'd' | b'i' | b'f' | b'e' | b'g');
    let shown = if has_sign { library("signed_string", vec![shown], span) } else { shown };
    let has_zeros = flags.has_zeros && !flags.is_left && !matches!(conversion, b'c' | b's' | b'v');
    match width {
        0 => shown,
        _ if has_zeros => library("zero_padded", vec![shown, int(width, span)], span),
        _ => binary(BinaryOp::Pad, shown, int(if flags.is_left { width } else { -width }, span), span),
    }
}

/// The parts of a format, or what is none.
fn pieces(format: &[u8]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut rest = format;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            plain.push(*first);
            continue;
        }
        if let [b'%', after @ ..] = rest {
            plain.push(b'%');
            rest = after;
            continue;
        }
        let begin = rest;
        let mut flags = Flags::default();
        while let [flag @ (b'-' | b'0' | b'+'), after @ ..] = rest {
            flags.is_left |= *flag == b'-';
            flags.has_zeros |= *flag == b'0';
            flags.has_sign |= *flag == b'+';
            rest = after;
        }
        let width = number(&mut rest).unwrap_or(0);
        let mut precision = None;
        if let [b'.', after @ ..] = rest {
            rest = after;
            precision = Some(number(&mut rest).unwrap_or(0));
        }
        while let [b'l', after @ ..] = rest {
            rest = after;
        }
        match rest {
            [conversion @ (b'd' | b'i' | b'u' | b'x' | b'c' | b's' | b'f' | b'e' | b'g' | b'v'), after @ ..]
                if precision.is_none() || matches!(conversion, b'f' | b'e') =>
            {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Value(Place { conversion: *conversion, flags, width, precision }));
                rest = after;
            }
            _ => {
                let length = begin.len() - rest.len() + usize::from(!rest.is_empty());
                return Err(format!("%{}", String::from_utf8_lossy(&begin[..length])));
            }
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// The number that a text begins with.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at(digits.min(6));
    *rest = after;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_texts_and_values() {
        let value = |conversion, [is_left, has_zeros, has_sign]: [bool; 3], width, precision| {
            Piece::Value(Place { conversion, flags: Flags { is_left, has_zeros, has_sign }, width, precision })
        };
        let text = |text: &str| Piece::Text(text.as_bytes().to_vec());
        let expected = vec![
            text("a "),
            value(b'd', [false; 3], 5, None),
            text("% "),
            value(b'f', [true, false, false], 8, Some(2)),
        ];
        assert_eq!(pieces(b"a %5ld%% %-8.2f"), Ok(expected));
        assert_eq!(pieces(b"%+05x"), Ok(vec![value(b'x', [false, true, true], 5, None)]));
        assert_eq!(pieces(b"100%"), Err("%".to_owned()));
        assert_eq!(pieces(b"%y"), Err("%y".to_owned()));
        assert_eq!(pieces(b""), Ok(Vec::new()));
    }
}
