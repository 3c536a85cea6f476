//! `if`, and going on after statements from which control may leave.

use super::statements::Flow;
use super::{After, Exit, Frame, FrameKind, Lowering, exits_in};
use crate::ast::{BinaryOp, Binding, Expr, Symbol};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::analysis::{assigned, exits};
use crate::syntax::v::build::{binary, boolean, conditional, int, name, tuple, variables};
use crate::syntax::v::tree::{Expression, ExpressionKind, Statement, StatementKind};
use crate::syntax::v::types::Type;
use nesl_span::Span;

impl<'a> Lowering<'a> {
    /// `if (condition) then_branch else else_branch`, and what follows it.
    pub(super) fn branch(
        &mut self,
        whole: &'a Statement,
        condition: &'a Expression,
        (then_branch, else_branch): (&'a Statement, Option<&'a Statement>),
        (rest, after): (&'a [Statement], &After<'a, '_>),
        bindings: &mut Vec<Binding>,
    ) -> Flow {
        let at = whole.span;
        let exits_of_whole = exits(whole);
        let condition = self.condition(condition);
        let scope = self.scope.len();
        let falls = |branch: Option<&Statement>| branch.is_none_or(|branch| exits(branch).falls);
        let both = falls(Some(then_branch)) && falls(else_branch);
        let leaves = !exits_of_whole.only_falls() || !exits_of_whole.falls;
        if leaves && (!both || self.is_short(rest, after)) {
            // What follows belongs to the one branch that goes on, or is short enough to stand in both.
            let after = After::Rest { statements: rest, scope, next: after };
            let first = self.nested(then_branch, &after);
            let second = self.nested_or_nothing(else_branch, &after, at);
            return Flow::Ended(conditional(condition, first, second, at));
        }
        let variables_of = self.locals(&assigned(&[whole], &self.pointers()));
        let leaving = exits_in(exits_of_whole);
        let frame = Frame { kind: FrameKind::Branch, exits: leaving, falls: true, variables: variables_of, scope };
        self.frames.push(frame);
        let first = self.nested(then_branch, &After::End);
        let second = self.nested_or_nothing(else_branch, &After::End, at);
        let Some(frame) = self.frames.pop() else { return Flow::Next };
        let value = conditional(condition, first, second, at);
        self.go_on(&frame, value, (rest, after), bindings, at)
    }

    fn nested(&mut self, branch: &'a Statement, after: &After<'a, '_>) -> Expr {
        let scope = self.scope.len();
        let value = self.sequence(std::slice::from_ref(branch), after, branch.span);
        self.scope.truncate(scope);
        value
    }

    fn nested_or_nothing(&mut self, branch: Option<&'a Statement>, after: &After<'a, '_>, at: Span) -> Expr {
        match branch {
            Some(branch) => self.nested(branch, after),
            None => self.proceed(after, at),
        }
    }

    /// Whether what follows may stand twice.
    fn is_short(&self, rest: &[Statement], after: &After<'_, '_>) -> bool {
        match rest {
            [] => match after {
                After::End => self.frames.last().is_none_or(|frame| match &frame.kind {
                    FrameKind::Loop { step, condition, .. } => step.len() <= 1 && condition.is_none(),
                    FrameKind::Branch | FrameKind::Function => true,
                }),
                After::Rest { statements, next, .. } => self.is_short(statements, next),
            },
            [first, ..] => match &first.kind {
                StatementKind::Return(None) | StatementKind::Break | StatementKind::Continue => true,
                StatementKind::Return(Some(value)) => {
                    !matches!(value.kind, ExpressionKind::Call { .. } | ExpressionKind::Each { .. })
                }
                _ => false,
            },
        }
    }

    /// Binds what a frame gives, and goes on: elsewhere, if control left it.
    pub(super) fn go_on(
        &mut self,
        frame: &Frame<'a>,
        value: Expr,
        (rest, after): (&'a [Statement], &After<'a, '_>),
        bindings: &mut Vec<Binding>,
        at: Span,
    ) -> Flow {
        let mut symbols = Vec::new();
        let exit = Symbol::from("~exit");
        let result = Symbol::from("~result");
        if frame.has_code() {
            symbols.push(exit.clone());
        }
        let returns = frame.exits.contains(&Exit::Return) && self.has_value();
        if returns {
            symbols.push(result.clone());
        }
        symbols.extend(frame.variables.iter().cloned());
        let pattern = match symbols.is_empty() {
            true => super::expressions::ignored(at),
            false => variables(&symbols, at),
        };
        bindings.push(Binding { pattern, value });
        if frame.exits.is_empty() {
            return Flow::Next;
        }
        let mut ways: Vec<Option<Exit>> = frame.exits.iter().copied().map(Some).collect();
        if frame.falls {
            ways.push(None);
        }
        let mut end: Option<Expr> = None;
        for way in ways.into_iter().rev() {
            let there = match way {
                None => self.sequence(rest, after, at),
                Some(leaving) => {
                    let value = (leaving == Exit::Return && returns).then(|| name(&result, at));
                    self.leave(leaving, value, at)
                }
            };
            end = Some(match end {
                None => there,
                Some(others) => conditional(frame.is_code(way, name(&exit, at), at), there, others, at),
            });
        }
        end.map_or(Flow::Next, Flow::Ended)
    }

    /// Whether the function being lowered gives a value.
    fn has_value(&self) -> bool {
        self.result() != Type::Void
    }

    /// Leaves the innermost frame.
    pub(super) fn leave(&mut self, exit: Exit, value: Option<Expr>, at: Span) -> Expr {
        match (self.frames.last().map(|frame| &frame.kind), exit) {
            (Some(FrameKind::Branch), _) | (Some(FrameKind::Loop { .. }), Exit::Return) => {
                self.give(Some(exit), value, at)
            }
            (Some(FrameKind::Loop { .. }), Exit::Break) => self.give(None, None, at),
            (Some(FrameKind::Loop { .. }), Exit::Continue) => self.step(at),
            (Some(FrameKind::Function) | None, Exit::Return) => self.returned(value, at),
            (Some(FrameKind::Function) | None, _) => {
                let word = if exit == Exit::Break { "break" } else { "continue" };
                self.report(Diagnostic::error("E0512", format!("`{word}` stands in no loop"), at));
                tuple(Vec::new(), at)
            }
        }
    }

    /// What the innermost frame gives when control leaves it, or comes to its end.
    pub(super) fn give(&mut self, exit: Option<Exit>, value: Option<Expr>, at: Span) -> Expr {
        let Some(frame) = self.frames.last() else { return tuple(Vec::new(), at) };
        let mut parts = Vec::new();
        if frame.has_code() {
            parts.push(frame.code(exit, at));
        }
        if frame.exits.contains(&Exit::Return) && self.has_value() {
            // Nobody looks at it where nothing is returned.
            parts.push(value.unwrap_or_else(|| self.zero(&self.result(), at)));
        }
        parts.extend(frame.variables.iter().map(|symbol| name(symbol, at)));
        tuple(parts, at)
    }
}

impl Frame<'_> {
    fn ways(&self) -> usize {
        self.exits.len() + usize::from(self.falls)
    }

    /// Whether there is more than one way out.
    fn has_code(&self) -> bool {
        self.ways() > 1
    }

    /// Which way it is: 0 is on to what follows.
    fn number(&self, exit: Option<Exit>) -> usize {
        match exit {
            None => 0,
            Some(exit) => {
                let index = self.exits.iter().position(|known| *known == exit).unwrap_or(0);
                index + usize::from(self.falls)
            }
        }
    }

    fn code(&self, exit: Option<Exit>, at: Span) -> Expr {
        let number = self.number(exit);
        match self.ways() {
            2 => boolean(number == 1, at),
            _ => int(i64::try_from(number).unwrap_or(0), at),
        }
    }

    /// The test for a way that is not the last one asked for.
    fn is_code(&self, exit: Option<Exit>, code: Expr, at: Span) -> Expr {
        let number = self.number(exit);
        match self.ways() {
            2 if number == 1 => code,
            2 => crate::syntax::v::build::library("not", vec![code], at),
            _ => binary(BinaryOp::Equal, code, int(i64::try_from(number).unwrap_or(0), at), at),
        }
    }
}
