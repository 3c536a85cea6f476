//! Statements in inputs of a session: globals are variables there, which get what the statement assigned at its end.

use super::{After, Context, Frame, FrameKind, Local, Lowering};
use crate::ast::{Expr, Symbol, TopLevel, TopLevelKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::analysis::{assigned, exits};
use crate::syntax::v::build::variables;
use crate::syntax::v::known::Signature;
use crate::syntax::v::tree::{Expression, ExpressionKind, Statement};
use crate::syntax::v::types::Type;
use nesl_span::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// Whether an expression is a call that changes variables.
pub(super) fn changes(value: &Expression) -> bool {
    match &value.kind {
        ExpressionKind::Call { arguments, .. } => {
            arguments.iter().any(|argument| matches!(argument.kind, ExpressionKind::Unary("&", ..)))
        }
        _ => false,
    }
}

impl<'a> Lowering<'a> {
    /// A statement that somebody typed.
    pub(super) fn typed(&mut self, statement: &'a Statement) {
        let ways = exits(statement);
        if ways.returns {
            let report = Diagnostic::error("E0512", "`return` stands in no function", statement.span);
            self.report(report.hint("the value of an expression is shown: `x + 1;`"));
            return;
        }
        if ways.breaks || ways.continues {
            self.report(Diagnostic::error("E0512", "`break` and `continue` stand in loops", statement.span));
            return;
        }
        let symbols = self.begin(assigned(&[statement], &HashSet::new()), statement.span);
        let value = self.sequence(std::slice::from_ref(statement), &After::End, statement.span);
        self.end_input(&symbols, value, statement.span);
    }

    /// A call `f(&x);` that somebody typed.
    pub(super) fn called_for_change(&mut self, value: &'a Expression, span: Span) {
        let mut changed = HashSet::new();
        if let ExpressionKind::Call { arguments, .. } = &value.kind {
            for argument in arguments {
                if let ExpressionKind::Unary("&", _, target) = &argument.kind {
                    changed.extend(crate::syntax::v::analysis::changed(target).cloned());
                }
            }
        }
        let symbols = self.begin(changed, span);
        let mut bindings = Vec::new();
        self.effect(value, &mut bindings);
        let end = self.proceed(&After::End, span);
        let value = crate::syntax::v::build::bound(bindings, end);
        self.end_input(&symbols, value, span);
    }

    /// Makes those of these names variables that are globals.
    fn begin(&mut self, names: HashSet<Symbol>, span: Span) -> Vec<Symbol> {
        let mut globals: Vec<(Symbol, Type)> =
            names.into_iter().filter_map(|name| self.global_type(&name).map(|ty| (name, ty))).collect();
        globals.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut symbols = Vec::new();
        for (symbol, ty) in globals {
            // They are the globals, whatever else has their names.
            self.scope.push(Local { name: symbol.clone(), symbol: symbol.clone(), ty, length: None, is_shared: false });
            symbols.push(symbol);
        }
        let signature = Signature { is_pure: false, parameters: Vec::new(), result: Type::Void, span };
        // A loop of it is in no function.
        let name = Symbol::from("");
        self.context = Some(Context { name, signature: Arc::new(signature), loops: 0, end: span });
        let (exits, variables) = (Vec::new(), symbols.clone());
        self.frames.push(Frame { kind: FrameKind::Branch, exits, falls: true, variables, scope: 0 });
        symbols
    }

    /// The form that gives the globals their new values.
    fn end_input(&mut self, symbols: &[Symbol], value: Expr, span: Span) {
        self.frames.pop();
        self.scope.clear();
        self.context = None;
        let kind = match symbols.is_empty() {
            true => TopLevelKind::Expression(value),
            false => TopLevelKind::Assignment { pattern: variables(symbols, span), value },
        };
        self.forms.push(TopLevel { kind, span });
    }
}
