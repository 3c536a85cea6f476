//! Values: assignments and expressions, and what holds for a form as a whole.

use super::problem::definition::DefinitionProblem;
use super::problem::meeting::{Matched, Subject};
use super::{Entity, Inference, Outcome};
use crate::ast::{self, Symbol, TopLevelKind};
use crate::core::{Form, FunctionBody, FunctionId, Global, GlobalId, walk};
use crate::elaborate::{Elaboration, Export, Group};
use crate::ty::Type;
use crate::typed::types::TypeId;
use crate::typed::{Expr, Step};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Inference<'_> {
    /// Checks an assignment or an expression.
    pub(super) fn value(&mut self, form: usize) {
        self.form = form;
        let forms = self.forms;
        let (pattern, source) = match &forms[form].kind {
            TopLevelKind::Assignment { pattern, value } => (Some(pattern), value),
            TopLevelKind::Expression(value) => (None, value),
            TopLevelKind::Function(_) | TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {
                return;
            }
        };
        let bound = self.binding.len();
        if let Some(pattern) = pattern {
            pattern.names(&mut self.binding);
        }
        let value = self.expression(source);
        self.binding.truncate(bound);
        let mut targets = Vec::new();
        let mut values = HashMap::new();
        if let Some(pattern) = pattern {
            let typed = self.pattern(pattern, &mut HashMap::new());
            self.match_pattern(&typed, value.ty, Matched::Assigned, source.span);
            let mut parts: Vec<(Symbol, Span, TypeId, Vec<bool>)> = Vec::new();
            typed.for_each_variable(&mut |_, name, part, path| {
                let path = path.iter().filter(|step| **step != Step::Payload).map(|step| *step == Step::Rest);
                parts.push((name.clone(), part.span, part.ty, path.collect()));
            });
            self.check_known(&Group::new());
            for (name, span, ty, path) in parts {
                if !self.types.has_error(ty) {
                    let id = self.global_id(form, &name, span, ty);
                    self.note_global(id, ty, span, true);
                    values.insert(name, id);
                    targets.push((id, path));
                }
            }
        } else if self.binds_it && !self.types.has_error(value.ty) {
            let name = Symbol::from("it");
            let id = self.global_id(form, &name, source.span, value.ty);
            values.insert(name, id);
            targets.push((id, Vec::new()));
        }
        self.outcomes[form] = Outcome::Values(values);
        self.check_known(&Group::new());
        self.check_compared();
        self.check_seeding();
        if self.has_errors() {
            return;
        }
        let value = Arc::new(self.elaborate_value(&value));
        let assigns = pattern.is_some() || self.binds_it;
        self.results[form] = Some(if assigns { Form::Assignment { targets, value } } else { Form::Expression(value) });
    }

    /// The core of an expression outside of functions.
    fn elaborate_value(&mut self, value: &Expr) -> crate::core::Expr {
        let group = Group::new();
        let mut elaboration = Elaboration::new(&self.types, &[], &group, &mut self.environment.program.variables);
        let value = elaboration.expression(value);
        let made = elaboration.finish();
        self.environment.add_functions(made);
        value
    }

    /// The number under which a value is kept: that of the earlier value of this name if its type is the same.
    fn global_id(&mut self, form: usize, name: &Symbol, span: Span, ty: TypeId) -> GlobalId {
        let ty = Export::new(&self.types, &[], &Group::new()).ty(ty);
        let before = (self.text.definitions_of(name).iter().rev().filter(|&&definition| definition < form)).find_map(
            |&definition| match &self.outcomes[definition] {
                Outcome::Values(values) => values.get(name).map(|&id| Entity::Global(id)),
                _ => None,
            },
        );
        match before.or_else(|| self.environment.names.get(name).copied()) {
            Some(entity) if self.environment.is_of_library(name, entity) => self.warn_shadow(name, span),
            Some(Entity::Global(old)) if self.environment.program.globals[old.0].ty == ty => return old,
            // `it` changes its type with every answer.
            Some(old) if &**name != "it" => self.warn_redefinition(name, old, span),
            _ => {}
        }
        self.environment.add_global(Global { name: name.clone(), span, ty })
    }

    /// Checks one expression outside of any form, against a type if one is expected.
    pub(crate) fn single(&mut self, source: &ast::Expr, expected: Option<&Type>) -> Option<crate::core::Expr> {
        let value = self.expression(source);
        if let Some(expected) = expected {
            let wanted = self.types.import(expected, &[]);
            self.require(value.ty, wanted, source, Subject::Value);
        }
        self.check_known(&Group::new());
        self.check_compared();
        self.check_seeding();
        if self.has_errors() {
            return None;
        }
        let value = self.elaborate_value(&value);
        self.check_body_of(&value);
        (!self.has_errors()).then_some(value)
    }

    /// Reports forms that reach a function without a body.
    pub(super) fn check_bodies(&mut self) {
        if self.has_errors() || self.environment.stubs.is_empty() {
            return;
        }
        for form in self.results.clone().into_iter().flatten() {
            match form {
                Form::Expression(value) | Form::Assignment { value, .. } => self.check_body_of(&value),
                Form::Function(_) => {}
            }
        }
    }

    /// Reports the first mention in an expression of a function that is, or calls, one without a body.
    fn check_body_of(&mut self, value: &crate::core::Expr) {
        if self.environment.stubs.is_empty() {
            return;
        }
        let program = &self.environment.program;
        let mut mentions: Vec<(FunctionId, Span)> = walk::mentions(value).collect();
        mentions.sort_by_key(|(_, span)| *span);
        let mut seen: HashSet<FunctionId> = HashSet::new();
        for (mentioned, span) in mentions {
            let mut open = vec![mentioned];
            while let Some(id) = open.pop() {
                if !seen.insert(id) {
                    continue;
                }
                let function = program.function(id);
                if self.environment.stubs.contains(&id) {
                    let problem = DefinitionProblem::NoBody {
                        function: function.name.clone(),
                        caller: (id != mentioned).then(|| program.function(mentioned).name.clone()),
                        declared: function.span,
                    };
                    self.report(span, problem);
                    return;
                }
                if let FunctionBody::Defined { body, .. } = &function.body {
                    open.extend(walk::mentions(body).map(|(id, _)| id));
                }
            }
        }
    }

    /// Whether there were errors, not only warnings, in the syntax of the text too: then nothing is elaborated. What
    /// stands for unreadable text has no type, and no message of the checker says so.
    pub(crate) fn has_errors(&self) -> bool {
        self.unreadable || self.errors > 0
    }
}
