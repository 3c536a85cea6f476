//! Operators: those of NESL by those of V, where V has them.

use super::{Piece, Printer};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::syntax::v::parser::power;
use crate::ty;
use nesl_span::Span;

/// How tightly expressions hold together, from `?:` on.
pub(super) const CONDITIONAL: usize = 0;
/// The loosest infix operator has this; the others follow.
const INFIX: usize = 1;
pub(super) const PREFIX: usize = 20;
pub(super) const ATOM: usize = 30;

impl Printer<'_> {
    /// An expression in parentheses, unless it holds together as tightly as this.
    pub(super) fn at(&mut self, expression: &Expr, least: usize) -> String {
        let piece = self.expression(expression);
        parenthesised(piece, least)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Piece {
        match op {
            UnaryOp::Length => (format!("${}", self.at(operand, PREFIX)), PREFIX),
            UnaryOp::String => (format!("string({})", self.expression(operand).0), ATOM),
            UnaryOp::Negate => {
                let operand = self.at(operand, PREFIX);
                // `--` is another operator.
                let operand = if operand.starts_with('-') { format!("({operand})") } else { operand };
                (format!("-{operand}"), PREFIX)
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, op_span: Span, left: &Expr, right: &Expr) -> Piece {
        let is_bool = || {
            let ty = self.meaning(op_span).and_then(|meaning| meaning.ty.as_ref());
            match ty.map(|ty| self.instantiated(ty)) {
                Some(ty::Type::Pair(first, _)) => *first == ty::Type::BOOL,
                _ => self.type_of(left).or_else(|| self.type_of(right)) == Some(ty::Type::BOOL),
            }
        };
        let sign = match op {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Append => "><",
            BinaryOp::Equal => "==",
            BinaryOp::Unequal => "!=",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::AtMost => "<=",
            BinaryOp::AtLeast => ">=",
            BinaryOp::And | BinaryOp::Nand => {
                if is_bool() {
                    "&&"
                } else {
                    "&"
                }
            }
            BinaryOp::Or | BinaryOp::Nor => {
                if is_bool() {
                    "||"
                } else {
                    "|"
                }
            }
            BinaryOp::Xor => "^",
            BinaryOp::Read => {
                let (left, right) = (self.expression(left).0, self.expression(right).0);
                return (format!("read({left}, {right})"), ATOM);
            }
            BinaryOp::Write => return self.write(left, right),
            BinaryOp::Power => {
                let hint = "of floats it is `expt(a, b)`; of ints write a function that multiplies";
                return self.cannot("V has no operator for powers", op_span, hint);
            }
            BinaryOp::Pad => {
                let hint = "in V a width is part of the format: `printf(\"%5d\", n)`";
                return self.cannot("V has no operator that pads texts", op_span, hint);
            }
        };
        let own = INFIX + power(sign);
        let left = self.at(left, own);
        // What need not be evaluated has no statements before it.
        let is_lazy = matches!(sign, "&&" | "||");
        let hoists = self.inside.hoists;
        self.inside.hoists = hoists && !is_lazy;
        let right = self.at(right, own + 1);
        self.inside.hoists = hoists;
        let text = format!("{left} {sign} {right}");
        match op {
            BinaryOp::Nand | BinaryOp::Nor => {
                let not = if is_lazy { "!" } else { "~" };
                (format!("{not}({text})"), PREFIX)
            }
            _ => (text, own),
        }
    }

    /// `d <- pairs`, where the pairs are written out.
    fn write(&mut self, into: &Expr, pairs: &Expr) -> Piece {
        let into = self.expression(into).0;
        let columns = match &pairs.kind {
            ExprKind::Sequence(rows) => self.columns(rows, 2),
            ExprKind::Each { is_serial: false, body: Some(body), sources, filter } => match &body.kind {
                ExprKind::Tuple(parts) if parts.len() == 2 => {
                    let column = |printer: &mut Self, part: &Expr| {
                        let body = Some(part);
                        printer.each(body, sources, filter.as_deref(), pairs.span).0
                    };
                    Some(vec![column(self, &parts[0]), column(self, &parts[1])])
                }
                _ => None,
            },
            _ => None,
        };
        match columns.as_deref() {
            Some([indices, values]) => (format!("write({into}, zip({indices}, {values}))"), ATOM),
            _ => {
                self.no_tuples(pairs.span);
                (into, ATOM)
            }
        }
    }
}

pub(super) fn parenthesised((text, power): Piece, least: usize) -> String {
    if power < least { format!("({text})") } else { text }
}
