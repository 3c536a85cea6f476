//! What is passed to parameters `int *x`: places of variables, `&x`, and places that were passed on, `x`.

use super::Lowering;
use super::expressions::broken;
use crate::ast::{Expr, Name, Symbol};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::analysis::changed;
use crate::syntax::v::known::Parameter;
use crate::syntax::v::tree::{Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use std::collections::HashSet;

impl Lowering<'_> {
    /// The value for a parameter `int *x`; what the call assigns is added to `assigned`.
    pub(super) fn passed(
        &mut self,
        function: &Symbol,
        parameter: &Parameter,
        argument: &Expression,
        assigned: &mut Vec<Expression>,
    ) -> Expr {
        let target = match &argument.kind {
            ExpressionKind::Unary("&", _, target) => {
                if let Some(name) = self.pointer(target) {
                    let message = format!("`{}` is a place already", name.symbol);
                    let report = Diagnostic::error("E0508", message, argument.span);
                    self.report(report.hint(format!("pass `{}`", name.symbol)));
                    return broken(argument.span).0;
                }
                (**target).clone()
            }
            // A place that is passed on is that of `*x`.
            _ if self.pointer(argument).is_some() => {
                let kind = ExpressionKind::Unary("*", argument.span, Box::new(argument.clone()));
                Expression { kind, span: argument.span }
            }
            _ => {
                let message =
                    format!("`{function}` changes its argument `{}`: pass the place of a variable", parameter.name);
                let report = Diagnostic::error("E0511", message, argument.span);
                let hint = match &argument.kind {
                    ExpressionKind::Unary("*", _, inner) => self.pointer(inner).map(|name| name.symbol.clone()),
                    _ => None,
                };
                self.report(report.hint(hint.map_or("write `&x`".to_owned(), |name| format!("pass `{name}`"))));
                return broken(argument.span).0;
            }
        };
        let (value, ty) = self.place(&target);
        if !ty.fits(&parameter.ty) {
            self.mismatch(&ty, &parameter.ty, target.span, "what is passed with `&`");
        }
        assigned.push(target);
        value
    }

    /// The name of a parameter `int *x`, if an expression is one.
    pub(super) fn pointer<'e>(&self, source: &'e Expression) -> Option<&'e Name> {
        match &source.kind {
            ExpressionKind::Name(name) if self.local(&name.symbol).is_some_and(|local| local.is_shared) => Some(name),
            _ => None,
        }
    }

    /// The names that mean parameters `int *x` here.
    pub(super) fn pointers(&self) -> HashSet<Symbol> {
        let names = self.scope.iter().map(|local| &local.name);
        names.filter(|name| self.local(name).is_some_and(|local| local.is_shared)).cloned().collect()
    }

    /// The value of what `&` stands before: a variable, or a part of one.
    fn place(&mut self, target: &Expression) -> (Expr, Type) {
        let root = changed(target);
        if let Some(symbol) = root
            && self.local(symbol).is_none()
            && self.global_type(symbol).is_some()
        {
            let message = format!("`{symbol}` is a global, and its address cannot be taken");
            let report = Diagnostic::error("E0503", message, target.span);
            self.report(report.hint("copy it into a variable of the function, and pass the place of that"));
            return broken(target.span);
        }
        if root.is_none() {
            let report = Diagnostic::error("E0511", "`&` stands before a variable, an element or a field", target.span);
            self.report(report);
            return broken(target.span);
        }
        self.any(target)
    }

    /// Reports two arguments of a call that are one place, or one of which is in the other. In C both parameters would
    /// change it; here each has a copy, and the last that is given back would win.
    pub(super) fn check_distinct(&mut self, places: &[Expression]) {
        for (index, place) in places.iter().enumerate() {
            let Some(other) = places[..index].iter().find(|other| overlap(other, place)) else { continue };
            let message = match same(other, place) {
                true => "two arguments are one place, and a call gives back each by itself",
                false => "of two arguments one is a part of the other, and a call gives back each by itself",
            };
            let report = Diagnostic::error("E0511", message, place.span).also(other.span, "passed here, too");
            self.report(report.hint("pass one of them, or copy one into a variable of its own and pass that"));
            return;
        }
    }
}

/// The variable of a place.
fn root(place: &Expression) -> &Expression {
    match &place.kind {
        ExpressionKind::Unary("*", _, inner) => root(inner),
        ExpressionKind::Index(inner, _) | ExpressionKind::Field(inner, _) => root(inner),
        _ => place,
    }
}

/// The indices and fields that lead from a variable to a place.
fn path(place: &Expression) -> Vec<&Expression> {
    match &place.kind {
        ExpressionKind::Unary("*", _, inner) => path(inner),
        ExpressionKind::Index(inner, _) | ExpressionKind::Field(inner, _) => {
            let mut steps = path(inner);
            steps.push(place);
            steps
        }
        _ => Vec::new(),
    }
}

/// Whether two places are one, or one is in the other, whatever the values of indices are.
fn overlap(one: &Expression, other: &Expression) -> bool {
    let is_same_step = |one: &Expression, other: &Expression| match (&one.kind, &other.kind) {
        (ExpressionKind::Index(_, one), ExpressionKind::Index(_, other)) => same(one, other),
        (ExpressionKind::Field(_, one), ExpressionKind::Field(_, other)) => one.symbol == other.symbol,
        _ => false,
    };
    same(root(one), root(other)) && path(one).into_iter().zip(path(other)).all(|(one, other)| is_same_step(one, other))
}

/// Whether two expressions are written alike.
fn same(one: &Expression, other: &Expression) -> bool {
    use ExpressionKind::{Binary, Call, Cast, Char, Field, Index, Int, Name, Unary};
    match (&one.kind, &other.kind) {
        (Int(one), Int(other)) => one == other,
        (Char(one), Char(other)) => one == other,
        (Name(one), Name(other)) => one.symbol == other.symbol,
        (Index(one, index), Index(other, other_index)) => same(one, other) && same(index, other_index),
        (Field(one, field), Field(other, other_field)) => same(one, other) && field.symbol == other_field.symbol,
        (Unary(operator, _, one), Unary(other_operator, _, other)) => operator == other_operator && same(one, other),
        (Binary(operator, _, left, right), Binary(other, _, other_left, other_right)) => {
            operator == other && same(left, other_left) && same(right, other_right)
        }
        (Cast(base, one), Cast(other_base, other)) => base.kind == other_base.kind && same(one, other),
        (Call { function, arguments }, Call { function: other, arguments: others }) => {
            let is_alike = function.symbol == other.symbol && arguments.len() == others.len();
            is_alike && arguments.iter().zip(others).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}
