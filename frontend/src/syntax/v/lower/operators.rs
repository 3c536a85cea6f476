//! C's operators, by the types of their operands.

use super::Lowering;
use super::convert::met;
use super::expressions::broken;
use crate::ast::{BinaryOp, Expr, Symbol, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::build::{binary, call, library, unary};
use crate::syntax::v::tree::{Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use nesl_span::Span;

impl Lowering<'_> {
    pub(super) fn unary(&mut self, operator: &str, at: Span, operand: &Expression, span: Span) -> (Expr, Type) {
        match operator {
            "$" => self.length(operand, span),
            "!" => {
                let value = self.value(operand, &Type::Bool, "what `!` negates");
                (library("not", vec![value], span), Type::Bool)
            }
            "~" => {
                let value = self.value(operand, &Type::Int, "what `~` inverts");
                (library("not", vec![value], span), Type::Int)
            }
            "-" => {
                let (value, from) = self.any(operand);
                let ty = self.arithmetic(&from, operator, operand.span);
                let value = self.fitted(value, &from, &ty, "an operand");
                (unary(UnaryOp::Negate, value, span), ty)
            }
            "*" => self.dereferenced(at, operand, span),
            _ => {
                let report = match self.eaches > 0 {
                    true => {
                        let message = "in an apply-to-each there are no pointers";
                        Diagnostic::error("E0506", message, span)
                            .hint("pass the value: what the function gives is the element of the new vector")
                    }
                    false => Diagnostic::error("E0511", "`&` may stand only before an argument", span)
                        .hint("a call with `&` is a statement of its own, or the whole value of an assignment"),
                };
                self.report(report);
                broken(span)
            }
        }
    }

    /// `*x`, the value of a parameter `int *x`.
    fn dereferenced(&mut self, at: Span, operand: &Expression, span: Span) -> (Expr, Type) {
        if let ExpressionKind::Name(name) = &operand.kind
            && let Some(local) = self.local(&name.symbol)
            && local.is_shared
        {
            let found = (crate::syntax::v::build::name(&local.symbol, span), local.ty.clone());
            if self.eaches > 0 {
                let report = Diagnostic::error("E0506", "in an apply-to-each there are no pointers", span);
                self.report(report.hint(format!("give the value a name before: `x = *{}`", name.symbol)));
            }
            return found;
        }
        // An arrow stands behind its operand.
        if at.start > operand.span.start {
            let report = Diagnostic::error("E0508", "this is no pointer", operand.span).also(at, "of this `->`");
            self.report(report.hint("a field of a struct is `s.x`"));
            return broken(span);
        }
        let report = Diagnostic::error("E0508", "this is no pointer", operand.span).also(at, "of this `*`");
        self.report(report.hint("only a parameter `int *x` is one, and `*x` is the value that it gives and takes"));
        broken(span)
    }

    /// The type in which arithmetic on a number is done: truth values and characters count as ints.
    fn arithmetic(&mut self, ty: &Type, operator: &str, span: Span) -> Type {
        match ty {
            Type::Double => Type::Double,
            Type::Unknown => Type::Unknown,
            ty if ty.is_number() => Type::Int,
            other => {
                let message = format!("`{operator}` works on numbers, and this is `{other}`");
                let report = Diagnostic::error("E0203", message, span);
                self.report(match other {
                    ty if operator == "+" && is_text(ty) => {
                        report.hint("texts are joined by `><`, and the text of a value is `string(x)`")
                    }
                    Type::Vector(_) => report.hint("on the elements of vectors: `[x + y : x in v; y in w]`"),
                    _ => report,
                });
                Type::Unknown
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: &'static str,
        at: Span,
        (left, right): (&Expression, &Expression),
        wanted: &Type,
    ) -> (Expr, Type) {
        match operator {
            "&&" | "||" => {
                let first = self.value(left, &Type::Bool, "an operand of a condition");
                let second = self.value(right, &Type::Bool, "an operand of a condition");
                let op = if operator == "&&" { BinaryOp::And } else { BinaryOp::Or };
                return (binary(op, first, second, at), Type::Bool);
            }
            "><" => return self.joined(at, left, right, wanted),
            _ => {}
        }
        let first = self.any(left);
        let second = self.any(right);
        self.computed(operator, at, first, second)
    }

    /// What an operator makes of two values.
    pub(super) fn computed(
        &mut self,
        operator: &'static str,
        at: Span,
        (first, first_type): (Expr, Type),
        (second, second_type): (Expr, Type),
    ) -> (Expr, Type) {
        let span = first.span.to(second.span);
        match operator {
            "==" | "!=" | "<" | ">" | "<=" | ">=" => {
                let is_equality = matches!(operator, "==" | "!=");
                let ordered = |ty: &Type| is_equality || ty.is_number();
                let met = met(&first_type, &second_type).filter(ordered);
                let Some(ty) = met else {
                    let message = format!("`{operator}` cannot compare `{first_type}` with `{second_type}`");
                    self.report(Diagnostic::error("E0203", message, span));
                    return broken(span);
                };
                // Truth values have no order of their own.
                let ty = if ty == Type::Bool && !is_equality { Type::Int } else { ty };
                let first = self.fitted(first, &first_type, &ty, "an operand");
                let second = self.fitted(second, &second_type, &ty, "an operand");
                (binary(comparison(operator), first, second, at), Type::Bool)
            }
            "+" if is_text(&first_type) && is_text(&second_type) => {
                let report = Diagnostic::error("E0203", "`+` works on numbers, and these are texts", span);
                self.report(report.hint("texts are joined by `><`"));
                broken(span)
            }
            "+" | "-" | "*" | "/" => {
                let one = self.arithmetic(&first_type, operator, first.span);
                let other = self.arithmetic(&second_type, operator, second.span);
                let op = match operator {
                    "+" => BinaryOp::Add,
                    "-" => BinaryOp::Subtract,
                    "*" => BinaryOp::Multiply,
                    _ => BinaryOp::Divide,
                };
                // Elements of `[]` are of any type that there is arithmetic on.
                if (&first_type, &second_type) == (&Type::Unknown, &Type::Unknown) {
                    return (binary(op, first, second, at), Type::Unknown);
                }
                let is_known = |computed: &Type, ty: &Type| *computed != Type::Unknown || *ty == Type::Unknown;
                let ty = met(&one, &other).unwrap_or(Type::Unknown);
                if ty == Type::Unknown || !is_known(&one, &first_type) || !is_known(&other, &second_type) {
                    return broken(span);
                }
                let first = self.fitted(first, &first_type, &ty, "an operand");
                let second = self.fitted(second, &second_type, &ty, "an operand");
                (binary(op, first, second, at), ty)
            }
            _ => self.bitwise(operator, at, (first, first_type), (second, second_type)),
        }
    }

    /// `%`, shifts, and logic on bits.
    fn bitwise(
        &mut self,
        operator: &str,
        at: Span,
        (first, first_type): (Expr, Type),
        (second, second_type): (Expr, Type),
    ) -> (Expr, Type) {
        let is_logical =
            matches!(operator, "&" | "|" | "^") && (&first_type, &second_type) == (&Type::Bool, &Type::Bool);
        let ty = if is_logical { Type::Bool } else { Type::Int };
        let what = format!("an operand of `{operator}`");
        let span = first.span.to(second.span);
        let first = self.fitted(first, &first_type, &ty, &what);
        let second = self.fitted(second, &second_type, &ty, &what);
        let function = |name: &str, first, second| {
            call(&Symbol::from(format!("{}{name}", crate::ast::LIBRARY)), vec![first, second], at, span)
        };
        let value = match operator {
            "%" => function("rem", first, second),
            "<<" => function("lshift", first, second),
            ">>" => function("rshift", first, second),
            "&" => binary(BinaryOp::And, first, second, at),
            "|" => binary(BinaryOp::Or, first, second, at),
            _ => binary(BinaryOp::Xor, first, second, at),
        };
        (value, ty)
    }

    /// `v >< w`.
    fn joined(&mut self, at: Span, left: &Expression, right: &Expression, wanted: &Type) -> (Expr, Type) {
        let span = left.span.to(right.span);
        let (first, first_type) = self.expression(left, wanted);
        // `[]` and `[1]` are what the other side is.
        let hint = if first_type.is_partly_unknown() { wanted.clone() } else { first_type.clone() };
        let (second, second_type) = self.expression(right, &hint);
        for (ty, at) in [(&first_type, left.span), (&second_type, right.span)] {
            if !matches!(ty, Type::Vector(_) | Type::Unknown) {
                let message = format!("`><` joins vectors, and this is `{ty}`");
                self.report(Diagnostic::error("E0203", message, at).hint("a vector of one element is `[x]`"));
                return broken(span);
            }
        }
        if !first_type.fits(&second_type) {
            self.mismatch(&second_type, &first_type, right.span, "what is joined to this vector");
            return broken(span);
        }
        (binary(BinaryOp::Append, first, second, at), first_type.refined(&second_type))
    }
}

fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Vector(element) if **element == Type::Char)
}

fn comparison(operator: &str) -> BinaryOp {
    match operator {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::Unequal,
        "<" => BinaryOp::Less,
        ">" => BinaryOp::Greater,
        "<=" => BinaryOp::AtMost,
        _ => BinaryOp::AtLeast,
    }
}
