//! Lists of statements: bindings, one after another, and a value at their end.

use super::expressions::{broken, ignored};
use super::targets::Target;
use super::{After, Exit, FrameKind, Lowering};
use crate::ast::{BinaryOp, Binding, Expr, ExprKind};
use crate::ast::{Symbol, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::analysis::exits_of;
use crate::syntax::v::build::{bound, conditional, expr, int, library, name, text, tuple, unary, variable, variables};
use crate::syntax::v::tree::{Base, BaseKind, Expression, ExpressionKind, Statement, StatementKind};
use crate::syntax::v::types::Type;
use nesl_span::Span;

/// Where control is after a statement.
pub(super) enum Flow {
    /// At the next one.
    Next,
    /// The rest is in this expression.
    Ended(Expr),
}

impl<'a> Lowering<'a> {
    /// Statements and what comes after them.
    pub(super) fn sequence(&mut self, statements: &'a [Statement], after: &After<'a, '_>, at: Span) -> Expr {
        let mut bindings = Vec::new();
        let mut rest = statements;
        while let [first, following @ ..] = rest {
            rest = following;
            if let Flow::Ended(end) = self.statement(first, rest, after, &mut bindings) {
                return bound(bindings, end);
            }
        }
        let end = self.proceed(after, at);
        bound(bindings, end)
    }

    /// What comes after a list of statements.
    pub(super) fn proceed(&mut self, after: &After<'a, '_>, at: Span) -> Expr {
        match after {
            After::End => self.end(at),
            After::Rest { statements, scope, next } => {
                let inner = self.scope.split_off(*scope);
                let rest = self.sequence(statements, next, at);
                self.scope.truncate(*scope);
                self.scope.extend(inner);
                rest
            }
        }
    }

    /// The end of the innermost frame.
    fn end(&mut self, at: Span) -> Expr {
        match self.frames.last().map(|frame| &frame.kind) {
            Some(FrameKind::Branch) => self.give(None, None, at),
            Some(FrameKind::Loop { .. }) => self.step(at),
            Some(FrameKind::Function) | None => self.without_value(at),
        }
    }

    /// The end of a function that gives no value there.
    fn without_value(&mut self, at: Span) -> Expr {
        let Some(context) = &self.context else { return broken(at).0 };
        let (name, end) = (context.name.clone(), context.end);
        match self.result() {
            Type::Void => self.returned(None, at),
            _ if &*name == "main" => self.returned(Some(int(0, at)), at),
            _ if self.is_partial => broken(at).0,
            result => {
                let message = format!("`{name}` must give a value of type `{result}`, and can end without one");
                self.report(Diagnostic::error("E0510", message, end).saying("there is no `return` on the way here"));
                broken(at).0
            }
        }
    }

    /// What the function gives: the value that is returned, and what it assigned to shared parameters.
    pub(super) fn returned(&mut self, value: Option<Expr>, at: Span) -> Expr {
        let shared = self.shared();
        let is_main = self.context.as_ref().is_some_and(|context| &*context.name == "main");
        if is_main && self.result() == Type::Int {
            let code = value.unwrap_or_else(|| int(0, at));
            if matches!(&code.kind, ExprKind::Literal(nesl_prim::ScalarValue::Int(0))) {
                return tuple(Vec::new(), at);
            }
            // The value of `int main` is the program's exit code.
            let symbol = Symbol::from("~code");
            let test = crate::syntax::v::build::binary(BinaryOp::Equal, name(&symbol, at), int(0, at), at);
            let exit = library("exit", vec![name(&symbol, at)], at);
            let body = conditional(test, tuple(Vec::new(), at), exit, at);
            return bound(vec![Binding { pattern: variable(&symbol, at), value: code }], body);
        }
        let parts = value.into_iter().chain(shared.iter().map(|symbol| name(symbol, at)));
        tuple(parts.collect(), at)
    }

    /// The shared parameters of the function.
    fn shared(&self) -> Vec<Symbol> {
        self.scope.iter().filter(|local| local.is_shared).map(|local| local.symbol.clone()).collect()
    }

    /// A statement from which control does not leave: a step of a loop, what it begins with.
    pub(super) fn straight(&mut self, statement: &'a Statement, bindings: &mut Vec<Binding>) {
        self.statement(statement, &[], &After::End, bindings);
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        rest: &'a [Statement],
        after: &After<'a, '_>,
        bindings: &mut Vec<Binding>,
    ) -> Flow {
        let at = statement.span;
        match &statement.kind {
            StatementKind::Block(inner) => return self.block(inner, rest, after, bindings, at),
            StatementKind::If { condition, then_branch, else_branch } => {
                let branches = (&**then_branch, else_branch.as_deref());
                return self.branch(statement, condition, branches, (rest, after), bindings);
            }
            StatementKind::Loop(repeated) => return self.repeated(repeated, at, (rest, after), bindings),
            StatementKind::Break => return Flow::Ended(self.leave(Exit::Break, None, at)),
            StatementKind::Continue => return Flow::Ended(self.leave(Exit::Continue, None, at)),
            StatementKind::Return(value) => return Flow::Ended(self.return_statement(value.as_ref(), at)),
            StatementKind::Expression(value) if !exits_of(std::slice::from_ref(statement)).falls => {
                return Flow::Ended(self.expression(value, &Type::Unknown).0);
            }
            StatementKind::Declaration(declaration) => self.declaration(declaration, rest, bindings),
            StatementKind::Assignment { target, operator, value } => {
                self.assignment(target, *operator, value, bindings);
            }
            StatementKind::Expression(value) => self.effect(value, bindings),
            StatementKind::Empty | StatementKind::Error => {}
        }
        Flow::Next
    }

    fn block(
        &mut self,
        inner: &'a [Statement],
        rest: &'a [Statement],
        after: &After<'a, '_>,
        bindings: &mut Vec<Binding>,
        at: Span,
    ) -> Flow {
        let scope = self.scope.len();
        if exits_of(inner).only_falls() && exits_of(inner).falls {
            for (index, statement) in inner.iter().enumerate() {
                self.statement(statement, &inner[index + 1..], &After::End, bindings);
            }
            self.scope.truncate(scope);
            return Flow::Next;
        }
        let value = self.sequence(inner, &After::Rest { statements: rest, scope, next: after }, at);
        self.scope.truncate(scope);
        Flow::Ended(value)
    }

    fn return_statement(&mut self, value: Option<&'a Expression>, at: Span) -> Expr {
        let result = self.result();
        let value = match (value, &result) {
            (Some(value), Type::Void) => {
                let report = Diagnostic::error("E0202", "a `void` function returns no value", value.span);
                self.report(report);
                None
            }
            (Some(value), result) => Some(self.value(value, result, "what is returned")),
            (None, Type::Void) => None,
            (None, result) => {
                let message = format!("`return` needs a value of type `{result}`");
                self.report(Diagnostic::error("E0510", message, at));
                Some(broken(at).0)
            }
        };
        self.leave(Exit::Return, value, at)
    }

    /// `target = value`, `target += value`.
    fn assignment(
        &mut self,
        target: &Expression,
        operator: Option<(&'static str, Span)>,
        value: &Expression,
        bindings: &mut Vec<Binding>,
    ) {
        if let (None, ExpressionKind::Call { function, arguments }) = (operator, &value.kind) {
            let call = self.effective(function, arguments, value.span);
            if !call.changed.is_empty() {
                self.changing_call(call, Some(target), bindings);
                return;
            }
        }
        let Some(place) = self.target(target, bindings) else {
            self.expression(value, &Type::Unknown);
            return;
        };
        let what = "what is assigned";
        let new = match operator {
            None => self.value(value, &place.ty, what),
            Some((operator, at)) => {
                let operand = self.any(value);
                let (new, ty) = self.computed(operator, at, (place.value(), place.ty.clone()), operand);
                match (&ty, &place.ty) {
                    // `c += 1` keeps the type of `c`, as in C.
                    (Type::Int, Type::Char) => library("code_char", vec![new], value.span),
                    _ => self.fitted(new, &ty, &place.ty, what),
                }
            }
        };
        self.assign(&place, new, bindings);
    }

    /// Gives a variable, or a part of it, a value.
    fn assign(&mut self, place: &Target, new: Expr, bindings: &mut Vec<Binding>) {
        let new = match place.length {
            Some(length) => checked_length(new, length),
            None => new,
        };
        bindings.push(place.changed(new));
    }

    /// A call for its effect.
    pub(super) fn effect(&mut self, value: &Expression, bindings: &mut Vec<Binding>) {
        let ExpressionKind::Call { function, arguments } = &value.kind else {
            if let ExpressionKind::Cast(Base { kind: BaseKind::Void, .. }, inner) = &value.kind
                && let ExpressionKind::Call { .. } = &inner.kind
            {
                let report = Diagnostic::error("E0511", "a call whose value is not wanted needs no cast", value.span);
                let call = written(inner).unwrap_or_else(|| "f(x)".to_owned());
                self.report(report.hint(format!("write `{call};`")));
                return;
            }
            if value.kind != ExpressionKind::Error {
                let report = Diagnostic::error("E0511", "this does nothing", value.span);
                self.report(match &value.kind {
                    ExpressionKind::Binary("==", ..) => report.hint("an assignment is written with one `=`"),
                    _ => report.hint("a statement assigns, calls, declares or goes on elsewhere"),
                });
            }
            return;
        };
        let call = self.effective(function, arguments, value.span);
        if call.changed.is_empty() {
            bindings.push(Binding { pattern: ignored(value.span), value: call.value });
        } else {
            self.changing_call(call, None, bindings);
        }
    }

    /// A call whose shared arguments are assigned, and its value, where it is.
    pub(super) fn changing_call(
        &mut self,
        call: super::calls::Effective,
        target: Option<&Expression>,
        bindings: &mut Vec<Binding>,
    ) {
        let span = call.value.span;
        // Places are found before the call, so that indices are those of before.
        let mut places = Vec::new();
        for changed in &call.changed {
            places.extend(self.target(changed, bindings));
        }
        let target = target.and_then(|target| self.target(target, bindings));
        let result = Symbol::from("~value");
        let mut symbols = Vec::new();
        if call.ty != Type::Void {
            symbols.push(result.clone());
        }
        symbols.extend((0..places.len()).map(|index| Symbol::from(format!("~changed{index}"))));
        bindings.push(Binding { pattern: variables(&symbols, span), value: call.value });
        for (index, place) in places.iter().enumerate() {
            let new = name(&Symbol::from(format!("~changed{index}")), span);
            self.assign(place, new, bindings);
        }
        if let Some(target) = target {
            let new = self.fitted(name(&result, span), &call.ty, &target.ty, "what is assigned");
            self.assign(&target, new, bindings);
        }
    }
}

/// A call of names, as it is written.
fn written(source: &Expression) -> Option<String> {
    match &source.kind {
        ExpressionKind::Name(name) => Some(name.symbol.to_string()),
        ExpressionKind::Int(value) => Some(value.to_string()),
        ExpressionKind::Unary(operator @ ("&" | "*"), _, inner) => Some(format!("{operator}{}", written(inner)?)),
        ExpressionKind::Call { function, arguments } => {
            let arguments = arguments.iter().map(written).collect::<Option<Vec<String>>>()?;
            Some(format!("{}({})", function.symbol, arguments.join(", ")))
        }
        _ => None,
    }
}

/// A vector that must have a length.
pub(super) fn checked_length(vector: Expr, length: i64) -> Expr {
    let span = vector.span;
    if matches!(&vector.kind, ExprKind::Sequence(elements) if i64::try_from(elements.len()) == Ok(length)) {
        return vector;
    }
    let symbol = Symbol::from("~array");
    let whole = name(&symbol, span);
    let test = crate::syntax::v::build::binary(
        BinaryOp::Equal,
        unary(UnaryOp::Length, whole.clone(), span),
        int(length, span),
        span,
    );
    let message = text(format!("an array of {length} elements gets a vector of another length").into_bytes(), span);
    let body = conditional(test, whole, library("error", vec![message], span), span);
    bound(vec![Binding { pattern: variable(&symbol, span), value: vector }], expr(body.kind, span))
}
