//! Parameters with a default, which calls pass by name.
//!
//! `function df(a, b := 3)` becomes a core function of the pair `(a, b)`; the default is a function of its own, which
//! knows the scope of the definition, and a third one, of `a` alone, is what `df` is as a value.

use super::arguments::Misfit;
use super::environment::Keywords;
use super::expression::error;
use super::function::Member;
use super::problem::calls::CallProblem;
use super::problem::meeting::Subject;
use super::{Inference, Instance, Target};
use crate::ast;
use crate::ast::{FunctionDefinition, Symbol};
use crate::core;
use crate::core::{FunctionBody, FunctionId, Variable};
use crate::elaborate::{Elaboration, Group};
use crate::ty::Type;
use crate::typed::types::{Node, TypeId, Types};
use crate::typed::{Callee, Expr, ExprKind, Pattern, PatternKind};
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::sync::Arc;

/// The arguments that a call passes by name, and the others: for `f()` the `()`.
fn split_arguments(argument: &ast::Expr) -> (Vec<(&ast::Name, &ast::Expr)>, Vec<&ast::Expr>) {
    let parts = match &argument.kind {
        ast::ExprKind::Tuple(parts) => parts.as_slice(),
        _ => std::slice::from_ref(argument),
    };
    let mut named = Vec::new();
    let mut positional = Vec::new();
    for part in parts {
        match &part.kind {
            ast::ExprKind::Keyword { name, value } => named.push((name, &**value)),
            _ => positional.push(part),
        }
    }
    (named, positional)
}

/// Whether a call passes arguments by name.
pub(super) fn has_keywords(argument: &ast::Expr) -> bool {
    let is_keyword = |part: &ast::Expr| matches!(part.kind, ast::ExprKind::Keyword { .. });
    match &argument.kind {
        ast::ExprKind::Tuple(parts) => parts.iter().any(is_keyword),
        _ => is_keyword(argument),
    }
}

impl Inference<'_> {
    /// How a function with keyword parameters is called.
    pub(super) fn keywords_of(&self, target: Target) -> Option<Keywords> {
        match target {
            Target::Known(id) => self.environment.keywords.get(&id).cloned(),
            Target::Group(form) => self.group_keywords.get(&form).cloned(),
        }
    }

    /// Numbers for the functions that the keyword parameters of a definition bring along.
    pub(super) fn reserve_keywords(&mut self, form: usize, definition: &FunctionDefinition) {
        if definition.keywords.is_empty() {
            return;
        }
        let name = &definition.name;
        let wrapper = self.environment.reserve(name.symbol.clone(), name.span);
        let parameters = (definition.keywords.iter())
            .map(|keyword| {
                let function = format!("{}.{}", name.symbol, keyword.name.symbol);
                let id = self.environment.reserve(function.into(), keyword.default.span);
                (keyword.name.symbol.clone(), id)
            })
            .collect();
        let positional = match &definition.parameter.kind {
            ast::PatternKind::Unit => 0,
            ast::PatternKind::Tuple(parts) => parts.len(),
            _ => 1,
        };
        self.group_keywords.insert(form, Keywords { positional, wrapper, parameters });
    }

    /// Checks the defaults, which do not see the parameters.
    pub(super) fn infer_defaults(&mut self, member: &mut Member<'_>) {
        let definition = member.definition;
        member.defaults = definition.keywords.iter().map(|keyword| self.expression(&keyword.default)).collect();
    }

    /// Makes the parameters have the types of their defaults.
    pub(super) fn match_defaults(&mut self, member: &Member<'_>, pattern: &Pattern) {
        let Some(keywords) = self.group_keywords.get(&member.form) else { return };
        let (positional, count) = (keywords.positional, keywords.positional + keywords.parameters.len());
        let types = self.split(pattern.ty, count);
        let parameters = member.definition.keywords.iter().zip(types.into_iter().skip(positional));
        for ((keyword, ty), default) in parameters.zip(&member.defaults) {
            let subject = Subject::Default(keyword.name.symbol.clone());
            self.require(default.ty, ty, &keyword.default, subject);
        }
    }

    /// `name(e1, …, keyword := e, …)`, and every other call of a function with keyword parameters.
    pub(super) fn keyword_call(
        &mut self,
        span: Span,
        (name, name_span): (&str, Span),
        target: Target,
        argument: &ast::Expr,
    ) -> Expr {
        let (named, positional) = split_arguments(argument);
        let Some(keywords) = self.keywords_of(target) else {
            self.expressions(named.iter().map(|(_, value)| *value).chain(positional));
            if let Some((keyword, _)) = named.first() {
                self.report(keyword.span, CallProblem::NoneByName(Symbol::from(name)));
            }
            return error(span);
        };
        // Without parameters by position, an argument of none is passed all the same.
        let nothing = ast::Expr { kind: ast::ExprKind::Unit, span: argument.span };
        let positional = match keywords.positional {
            0 if positional.is_empty() => vec![&nothing],
            _ => positional,
        };
        let (Some(first), Some(last)) = (positional.first(), positional.last()) else {
            self.expressions(named.iter().map(|(_, value)| *value));
            self.report(argument.span, CallProblem::OnlyByName(Symbol::from(name)));
            return error(span);
        };
        let positional_span = first.span.to(last.span);
        let source = match (&positional[..], named.is_empty()) {
            ([only], _) => ast::Expr::clone(only),
            (_, true) => argument.clone(),
            (parts, false) => {
                let kind = ast::ExprKind::Tuple(parts.iter().copied().cloned().collect());
                ast::Expr { kind, span: positional_span }
            }
        };
        let typed = self.expression(&source);
        let instance = self.use_function(target, name, name_span);
        let types = self.split(instance.parameter, keywords.positional + keywords.parameters.len());
        let (wanted, optional) = types.split_at(keywords.positional.min(types.len()));
        let takes_any = wanted.last().is_some_and(|&last| matches!(self.types.node(last), Node::Variable(_)));
        if takes_any && let Some(by_name) = self.too_many_arguments(&positional, &keywords, named.len(), argument) {
            self.expressions(named.iter().map(|(_, value)| *value));
            self.report(
                argument.span,
                CallProblem::ByPosition {
                    name: Symbol::from(name),
                    wanted: keywords.positional,
                    given: positional.len(),
                    by_name,
                    defined: self.definition_span(target),
                    called: name_span,
                },
            );
            return error(span);
        }
        let wanted = wanted.iter().rev().copied().reduce(|rest, first| self.types.pair(first, rest));
        let wanted = wanted.unwrap_or(Types::UNIT);
        if let Err(failure) = self.types.unify(typed.ty, wanted) {
            let instance = Instance { parameter: wanted, ..instance };
            self.expressions(named.iter().map(|(_, value)| *value));
            let keyword = keywords.parameters.first().map(|(keyword, _)| keyword);
            let call = Misfit { name, name_span, target, instance: &instance, argument: &typed, source: &source };
            self.report_arguments(failure, &call, keyword);
            return self.failed(&instance, span);
        }
        let mut values = self.named_arguments((name, span, target), &keywords, &instance, optional, &named);
        let (bindings, mut parts) = self.positional_parts(typed, keywords.positional);
        parts.append(&mut values);
        let tuple = self.tuple(parts, argument.span);
        let call = self.finish(instance, tuple, span);
        match bindings {
            None => call,
            Some(binding) => {
                let ty = call.ty;
                Expr { kind: ExprKind::Let { bindings: vec![binding], body: Box::new(call) }, ty, span }
            }
        }
    }

    /// The parameters that a call passes by position, though they have to be passed by name, and the arguments for them. A
    /// parameter of any type would take the tuple.
    fn too_many_arguments(
        &self,
        positional: &[&ast::Expr],
        keywords: &Keywords,
        named: usize,
        argument: &ast::Expr,
    ) -> Option<Vec<(Symbol, Span)>> {
        let more = positional.len().checked_sub(keywords.positional).filter(|more| *more > 0)?;
        // In `name((a, b))` the tuple is meant.
        let first = positional.first()?.span;
        if more + named > keywords.parameters.len() || self.writing.is_tuple_of_its_own(argument.span, first) {
            return None;
        }
        let values = positional[keywords.positional..].iter().map(|value| value.span);
        Some(keywords.parameters.iter().map(|(keyword, _)| keyword.clone()).zip(values).collect())
    }

    fn expressions<'e>(&mut self, expressions: impl Iterator<Item = &'e ast::Expr>) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    /// The arguments for the keyword parameters: those that were given, and defaults.
    fn named_arguments(
        &mut self,
        (name, span, target): (&str, Span, Target),
        keywords: &Keywords,
        instance: &Instance,
        types: &[TypeId],
        named: &[(&ast::Name, &ast::Expr)],
    ) -> Vec<Expr> {
        let mut given: Vec<Option<Expr>> = keywords.parameters.iter().map(|_| None).collect();
        for &(keyword, source) in named {
            let value = self.expression(source);
            let position = keywords.parameters.iter().position(|(known, _)| *known == keyword.symbol);
            let ty = position.and_then(|position| types.get(position).copied());
            self.note_keyword(target, keyword, ty);
            let Some(position) = position else {
                let known = keywords.parameters.iter().map(|(known, _)| known.clone()).collect();
                let (function, name) = (Symbol::from(name), keyword.symbol.clone());
                self.report(keyword.span, CallProblem::UnknownParameter { function, name, known });
                continue;
            };
            if given[position].is_some() {
                self.report(keyword.span, CallProblem::PassedTwice(keyword.symbol.clone()));
            }
            let subject = Subject::Keyword { function: Symbol::from(name), keyword: keyword.symbol.clone() };
            self.require(value.ty, types.get(position).copied().unwrap_or(Types::ERROR), source, subject);
            given[position] = Some(value);
        }
        let defaults = keywords.parameters.iter().zip(types).zip(given);
        defaults
            .map(|(((_, function), &ty), given)| {
                given.unwrap_or_else(|| default(*function, &instance.callee, ty, span))
            })
            .collect()
    }

    /// The first parts of an argument: as written if it is written as a tuple, else those of a binding that takes it
    /// apart.
    fn positional_parts(&mut self, argument: Expr, count: usize) -> (Option<(Pattern, Expr)>, Vec<Expr>) {
        let span = argument.span;
        if count == 0 {
            let pattern = Pattern { kind: PatternKind::Unit, ty: Types::UNIT, span };
            return (Some((pattern, argument)), Vec::new());
        }
        if argument.parts(count).len() == count {
            let mut parts = Vec::with_capacity(count);
            let mut rest = argument;
            while parts.len() + 1 < count {
                match rest.kind {
                    ExprKind::Pair(first, tail) => {
                        parts.push(*first);
                        rest = *tail;
                    }
                    _ => break,
                }
            }
            parts.push(rest);
            return (None, parts);
        }
        let types = self.split(argument.ty, count);
        let (pattern, parts) = self.tuple_pattern(&types, span);
        (Some((pattern, argument)), parts)
    }

    /// A pattern of new variables of these types, and the variables as expressions.
    fn tuple_pattern(&mut self, types: &[TypeId], span: Span) -> (Pattern, Vec<Expr>) {
        let mut parts = Vec::with_capacity(types.len());
        let mut patterns = Vec::with_capacity(types.len());
        for &ty in types {
            let id = self.new_variable();
            parts.push(Expr { kind: ExprKind::Local(id), ty, span });
            let kind = PatternKind::Variable(id, Symbol::from("argument"));
            patterns.push(Pattern { kind, ty, span });
        }
        let whole = patterns.into_iter().rev().reduce(|rest, first| {
            let ty = self.types.pair(first.ty, rest.ty);
            Pattern { kind: PatternKind::Pair(Box::new(first), Box::new(rest)), ty, span }
        });
        (whole.unwrap_or(Pattern { kind: PatternKind::Unit, ty: Types::UNIT, span }), parts)
    }

    /// What is said of the keyword parameters of a definition.
    pub(super) fn described_keywords(
        &self,
        definition: &FunctionDefinition,
        keywords: &Keywords,
    ) -> Vec<core::Keyword> {
        let texts = definition.keywords.iter().map(|keyword| self.writing.on_one_line(keyword.default.span));
        (keywords.parameters.iter().zip(texts))
            .map(|((name, default), text)| core::Keyword { name: name.clone(), text, default: *default })
            .collect()
    }

    /// Supplies the functions that a finished definition with keyword parameters brings along.
    pub(super) fn keyword_functions(
        &mut self,
        member: &Member<'_>,
        id: FunctionId,
        variables: &[TypeId],
        group: &Group,
    ) {
        let Some(keywords) = self.environment.keywords.get(&id).cloned() else { return };
        let types = self.split(member.parameter, keywords.positional + keywords.parameters.len());
        let span = member.definition.name.span;
        let (pattern, mut parts) = self.tuple_pattern(&types[..keywords.positional], span);
        let callee = Callee::Group(member.form);
        let optional = keywords.parameters.iter().zip(&types[keywords.positional..]);
        parts.extend(optional.map(|((_, function), &ty)| default(*function, &callee, ty, span)));
        let argument = Box::new(self.tuple(parts, span));
        let call = Expr { kind: ExprKind::Call { callee, argument }, ty: member.result, span };
        let variable_count = &mut self.environment.program.variables;
        let mut elaboration = Elaboration::new(&self.types, variables, group, variable_count);
        let (parameter, body) = elaboration.function(&pattern, &call);
        let mut functions = vec![(keywords.wrapper, parameter, body)];
        for ((_, function), value) in keywords.parameters.iter().zip(&member.defaults) {
            let parameter = elaboration.variable("any", Type::INT);
            functions.push((*function, parameter, elaboration.expression(value)));
        }
        let schemes: Vec<_> = (functions.iter())
            .map(|(_, parameter, body)| elaboration.scheme(parameter.ty.clone(), body.ty.clone()))
            .collect();
        let made = elaboration.finish();
        self.environment.add_functions(made);
        let parameters = self.environment.program.functions[id.0].parameters.clone();
        for ((id, parameter, body), scheme) in functions.into_iter().zip(schemes) {
            let function = &mut self.environment.program.functions[id.0];
            function.scheme = scheme;
            function.body = FunctionBody::Defined { parameter, body: Arc::new(body) };
        }
        self.environment.program.functions[keywords.wrapper.0].parameters = parameters;
    }

    /// Lets what a replaced definition brought along call what the new one brings along, so that old callers see it.
    pub(super) fn redirect_keywords(&mut self, before: &Keywords, after: &Keywords) {
        let defaults = before.parameters.iter().zip(&after.parameters).map(|((_, old), (_, new))| (*old, *new));
        for (old, new) in defaults.chain([(before.wrapper, after.wrapper)]) {
            let id = self.new_variable();
            let functions = &mut self.environment.program.functions;
            let (scheme, span) = (functions[new.0].scheme.clone(), functions[new.0].span);
            let parameter = Variable { id, name: Symbol::from("argument"), ty: scheme.parameter.clone() };
            let argument = core::Expr { kind: core::ExprKind::Variable(id), ty: scheme.parameter.clone(), span };
            let kind = core::ExprKind::Call {
                function: new,
                type_arguments: (0..scheme.classes.len()).map(Type::Parameter).collect(),
                argument: Box::new(argument),
            };
            let body = Arc::new(core::Expr { kind, ty: scheme.result.clone(), span });
            functions[old.0].scheme = scheme;
            functions[old.0].body = FunctionBody::Defined { parameter, body };
        }
    }
}

/// The default of a parameter, in the call of `callee`: a function with the same type parameters, applied to any int.
fn default(function: FunctionId, callee: &Callee, ty: TypeId, span: Span) -> Expr {
    let callee = match callee {
        Callee::Instance { type_arguments, .. } => {
            Callee::Instance { function, type_arguments: type_arguments.clone() }
        }
        Callee::Group(form) | Callee::Within(_, form) => Callee::Within(function, *form),
    };
    let argument = Expr { kind: ExprKind::Literal(ScalarValue::Int(0)), ty: Types::INT, span };
    Expr { kind: ExprKind::Call { callee, argument: Box::new(argument) }, ty, span }
}
