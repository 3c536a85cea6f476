//! Loops: functions that call themselves at their end.
//!
//! ```text
//! while (c) body    function f~loop(read, carried) = if c then let … body … in f~loop(read, carried) else carried
//! ```
//!
//! What the loop assigns is carried; what it only reads are further arguments. `break` gives what is carried,
//! `continue` calls the function again, and `return` gives the value as well.

use super::calls::part;
use super::statements::Flow;
use super::{After, Exit, Frame, FrameKind, Lowering};
use crate::ast::{
    Binding, Expr, FunctionDefinition, Name, Signature, Symbol, TopLevel, TopLevelKind, TypeExpr, TypeExprKind,
};
use crate::syntax::v::LOOP;
use crate::syntax::v::analysis::{assigned, exits, is_endless, mentioned};
use crate::syntax::v::build::{call, conditional, name, variables};
use crate::syntax::v::tree::{Expression, Loop, Statement};
use crate::syntax::v::types::Type;
use nesl_span::Span;
use std::collections::HashSet;

impl<'a> Lowering<'a> {
    /// A loop and what follows it.
    pub(super) fn repeated(
        &mut self,
        source: &'a Loop,
        at: Span,
        (rest, after): (&'a [Statement], &After<'a, '_>),
        bindings: &mut Vec<Binding>,
    ) -> Flow {
        let outside = self.scope.len();
        for statement in &source.initial {
            self.straight(statement, bindings);
        }
        let scope = self.scope.len();
        let parts: Vec<&Statement> = source.step.iter().chain([&source.body]).collect();
        let conditions: Vec<&Expression> = source.condition.iter().collect();
        let changed: HashSet<Symbol> = assigned(&parts, &self.pointers());
        let carried = self.locals(&changed);
        let read: HashSet<Symbol> = mentioned(&parts, &conditions);
        let mut parameters: Vec<Symbol> = self.locals(&read);
        parameters.retain(|symbol| !carried.contains(symbol));
        parameters.extend(carried.iter().cloned());
        let body = exits(&source.body);
        let function = self.loop_name();
        let kind = FrameKind::Loop {
            function: function.clone(),
            parameters: parameters.clone(),
            step: &source.step,
            condition: source.condition.as_ref().filter(|_| source.is_do),
            span: at,
        };
        let leaving = if body.returns { vec![Exit::Return] } else { Vec::new() };
        let falls = !is_endless(source) || body.breaks || leaving.is_empty();
        self.frames.push(Frame { kind, exits: leaving, falls, variables: carried, scope });
        let around = match &source.condition {
            Some(condition) if !source.is_do && !is_endless(source) => Some(self.condition(condition)),
            _ => None,
        };
        let inside = self.sequence(std::slice::from_ref(&source.body), &After::End, source.body.span);
        self.scope.truncate(scope);
        let value = match around {
            None => inside,
            Some(condition) => {
                let end = self.give(None, None, at);
                conditional(condition, inside, end, at)
            }
        };
        let Some(frame) = self.frames.pop() else { return Flow::Next };
        self.loop_function(&function, &parameters, &frame, value, at);
        let arguments = parameters.iter().map(|symbol| name(symbol, at)).collect();
        let value = call(&function, arguments, at, at);
        // What the head of the loop declares is gone after it.
        self.scope.truncate(outside);
        self.go_on(&frame, value, (rest, after), bindings, at)
    }

    /// The next step of the innermost loop.
    pub(super) fn step(&mut self, at: Span) -> Expr {
        let Some(frame) = self.frames.last() else { return crate::syntax::v::build::tuple(Vec::new(), at) };
        let FrameKind::Loop { function, parameters, step, condition, span } = &frame.kind else {
            return crate::syntax::v::build::tuple(Vec::new(), at);
        };
        let (function, parameters, step, condition, span) =
            (function.clone(), parameters.clone(), *step, *condition, *span);
        let scope = frame.scope;
        // Names that the body declares mean nothing here.
        let inner = self.scope.split_off(scope);
        let mut bindings = Vec::new();
        for statement in step {
            self.straight(statement, &mut bindings);
        }
        let arguments = parameters.iter().map(|symbol| name(symbol, span)).collect();
        let again = call(&function, arguments, span, span);
        let value = match condition {
            None => again,
            Some(condition) => {
                let condition = self.condition(condition);
                let end = self.give(None, None, at);
                conditional(condition, again, end, span)
            }
        };
        self.scope.truncate(scope);
        self.scope.extend(inner);
        crate::syntax::v::build::bound(bindings, value)
    }

    fn loop_name(&mut self) -> Symbol {
        let Some(context) = &mut self.context else { return Symbol::from(LOOP) };
        context.loops += 1;
        part(&context.name, "loop", context.loops)
    }

    fn loop_function(&mut self, function: &Symbol, parameters: &[Symbol], frame: &Frame<'a>, body: Expr, at: Span) {
        let types: Vec<Type> = parameters.iter().map(|symbol| self.type_of(symbol)).collect();
        let mut given = Vec::new();
        match frame.exits.len() + usize::from(frame.falls) {
            0 | 1 => {}
            2 => given.push(Type::Bool),
            _ => given.push(Type::Int),
        }
        let result = self.result();
        if frame.exits.contains(&Exit::Return) && result != Type::Void {
            given.push(result);
        }
        given.extend(frame.variables.iter().map(|symbol| self.type_of(symbol)));
        let parameter = variables(parameters, at);
        let definition = FunctionDefinition {
            name: Name { symbol: function.clone(), span: at },
            parameter,
            keywords: Vec::new(),
            signature: signature(&types, &given, at),
            doc: None,
            body: Some(body),
        };
        self.forms.push(TopLevel { kind: TopLevelKind::Function(definition), span: at });
    }
}

/// The signature of a function of these types, if they are known.
pub(super) fn signature(parameters: &[Type], results: &[Type], span: Span) -> Option<Signature> {
    let tree = |types: &[Type]| {
        let mut trees = types.iter().map(|ty| ty.tree(span)).collect::<Option<Vec<TypeExpr>>>()?;
        Some(match trees.len() {
            0 => TypeExpr { kind: TypeExprKind::Unit, span },
            1 => trees.remove(0),
            _ => TypeExpr { kind: TypeExprKind::Tuple(trees), span },
        })
    };
    let kind = TypeExprKind::Function(Box::new(tree(parameters)?), Box::new(tree(results)?));
    Some(Signature { type_expr: TypeExpr { kind, span }, context: Vec::new(), span })
}
