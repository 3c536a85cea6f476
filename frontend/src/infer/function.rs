//! Forms: groups of functions that call each other, and values.

use super::declaration::Declared;
use super::pattern::parameter_texts;
use super::typed::{Expr, Pattern};
use super::types::TypeId;
use super::{Entity, Inference, Outcome, SeenCall, Target};
use crate::ast::{self, FunctionDefinition, Symbol, TopLevelKind};
use crate::core::{Form, Function, FunctionBody, FunctionId, Global, GlobalId, Intrinsic};
use crate::diagnostic::{Diagnostic, Severity};
use crate::elaborate::{Elaboration, Export, Group};
use crate::ty::{Scheme, Type};
use nesl_span::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A function of the group being checked.
struct Member<'a> {
    form: usize,
    definition: &'a FunctionDefinition,
    declared: Option<Declared>,
    parameter: TypeId,
    result: TypeId,
    typed: Option<(Pattern, Expr)>,
}

impl<'a> Inference<'a> {
    /// Checks functions that call each other; mostly one.
    pub(super) fn functions(&mut self, group: &[usize]) {
        let forms = self.forms;
        let mut members: Vec<Member<'a>> = Vec::new();
        for &form in group {
            self.form = form;
            let TopLevelKind::Function(definition) = &forms[form].kind else { continue };
            if definition.body.is_none() && self.declaration(form, definition) {
                continue;
            }
            members.push(self.member(form, definition));
        }
        for member in &mut members {
            self.infer_member(member);
        }
        self.signature.clear();
        let seeds = self.check_seeding();
        let mut generalised: Group = HashMap::new();
        for member in &members {
            if let Some(declared) = &member.declared {
                self.check_promise(declared);
            }
            if self.types.has_error(member.parameter) || self.types.has_error(member.result) {
                self.outcomes[member.form] = Outcome::Broken;
                continue;
            }
            let (scheme, variables) = self.generalise(member.parameter, member.result);
            let id = self.function_id(member.form, member.definition, scheme, FunctionBody::Missing, seeds);
            generalised.insert(member.form, (id, variables));
            self.results[member.form] = Some(Form::Function(id));
        }
        for (&form, (id, _)) in &generalised {
            self.outcomes[form] = Outcome::Function(*id);
        }
        if self.has_errors() {
            return;
        }
        for member in members {
            let (Some((id, variables)), Some((pattern, body))) = (generalised.get(&member.form), member.typed) else {
                continue;
            };
            let variable_count = &mut self.environment.program.variables;
            let mut elaboration = Elaboration::new(&self.types, variables, &generalised, variable_count);
            let (parameter, body) = elaboration.function(&pattern, &body);
            self.environment.program.functions[id.0].body = FunctionBody::Defined { parameter, body: Arc::new(body) };
        }
    }

    fn member(&mut self, form: usize, definition: &'a FunctionDefinition) -> Member<'a> {
        let declared = definition.signature.as_ref().map(|signature| self.declared(signature));
        let (parameter, result) = match &declared {
            Some(declared) => (declared.parameter, declared.result),
            None => (self.fresh(), self.fresh()),
        };
        self.outcomes[form] = Outcome::Group(parameter, result);
        Member { form, definition, declared, parameter, result, typed: None }
    }

    fn infer_member(&mut self, member: &mut Member<'a>) {
        let Some(source) = &member.definition.body else { return };
        self.form = member.form;
        self.signature = (member.declared.iter())
            .flat_map(|declared| declared.variables.iter().map(|(name, _, variable)| (name.clone(), *variable)))
            .collect();
        let pattern = self.pattern(&member.definition.parameter, &mut HashMap::new());
        match &member.declared {
            Some(declared) => self.match_pattern(&pattern, member.parameter, "the declared parameter", declared.span),
            None => {
                let name = member.definition.name.span;
                self.match_pattern(&pattern, member.parameter, "what other functions pass", name);
            }
        }
        self.enter(&pattern);
        let body = self.expression(source);
        self.leave(&pattern);
        self.match_result(member, source, &body);
        member.typed = Some((pattern, body));
    }

    fn match_result(&mut self, member: &Member<'_>, source: &ast::Expr, body: &Expr) {
        let Err(failure) = self.types.unify(body.ty, member.result) else { return };
        let name = &member.definition.name;
        let (given, wanted) = (self.types.describe(body.ty), self.types.describe(member.result));
        let subject = match member.declared {
            Some(_) => format!("the signature of `{}`", name.symbol),
            None => format!("the result of `{}`", name.symbol),
        };
        let report = self.class_report(failure, &subject, source.span).unwrap_or_else(|| {
            let message = match member.declared {
                Some(_) => format!("`{}` is declared to return {wanted}, but its body is {given}", name.symbol),
                None => format!("`{}` returns {given}, but its callers take the result as {wanted}", name.symbol),
            };
            Diagnostic::error("E0202", message, source.span)
        });
        let mut report = report.saying(self.types.label(body.ty));
        report = match &member.declared {
            Some(declared) => report.also(declared.span, format!("declared as {wanted}")),
            None => report.also(name.span, format!("used as {wanted}")),
        };
        if report.hint.is_none() {
            report.hint = self.conversion_hint(body.ty, member.result, source);
        }
        self.diagnostics.push(report);
    }

    /// A definition without a body: a built-in function of the library, a promise of a definition in the same text, or a
    /// mistake. True if there is nothing more to do.
    fn declaration(&mut self, form: usize, definition: &FunctionDefinition) -> bool {
        let name = &definition.name;
        let declared = definition.signature.as_ref().map(|signature| self.declared(signature));
        self.signature.clear();
        self.outcomes[form] = Outcome::Broken;
        if !self.text.definitions_of(&name.symbol).contains(&form) {
            return true;
        }
        let intrinsic = if self.environment.is_library { Intrinsic::by_name(&name.symbol) } else { None };
        match (intrinsic, declared) {
            (Some(intrinsic), Some(declared)) => {
                let (scheme, _) = self.generalise(declared.parameter, declared.result);
                let id = self.function_id(form, definition, scheme, FunctionBody::Intrinsic(intrinsic), false);
                self.outcomes[form] = Outcome::Function(id);
                self.results[form] = Some(Form::Function(id));
            }
            _ => {
                let message = format!("the function `{}` has no body", name.symbol);
                let hint = "define it in the same text: a function may use one that is defined later";
                self.diagnostics.push(Diagnostic::error("E0209", message, name.span).hint(hint));
            }
        }
        true
    }

    /// The scheme of a function type, with the variables that became its parameters.
    fn generalise(&self, parameter: TypeId, result: TypeId) -> (Scheme, Vec<TypeId>) {
        let mut variables = Vec::new();
        self.types.collect_variables(parameter, &mut variables);
        self.types.collect_variables(result, &mut variables);
        let mut export = Export::new(&self.types, &variables);
        let classes = export.classes();
        (Scheme { classes, parameter: export.ty(parameter), result: export.ty(result) }, variables)
    }

    /// Finds out whether the forms just checked call `rand_seed`, and reports calls inside of an apply-to-each.
    fn check_seeding(&mut self) -> bool {
        let calls: Vec<SeenCall> = std::mem::take(&mut self.calls);
        let seeds_known = |target: Target| match target {
            Target::Known(id) => self.environment.seeding.contains(&id),
            Target::Group(_) => false,
        };
        let seeds = calls.iter().any(|call| seeds_known(call.target));
        if !seeds {
            return false;
        }
        // Functions of one group reach each other.
        let bad = calls
            .iter()
            .filter(|call| call.in_each && (seeds_known(call.target) || matches!(call.target, Target::Group(_))));
        let reports: Vec<Diagnostic> = bad
            .map(|call| {
                let message = match &*call.name {
                    "rand_seed" => "`rand_seed` may not be called inside an apply-to-each".to_owned(),
                    name => format!("`{name}` calls `rand_seed`, which may not happen inside an apply-to-each"),
                };
                Diagnostic::error("E0210", message, call.span).hint("set the seed before: `rand` is allowed inside")
            })
            .collect();
        self.diagnostics.extend(reports);
        true
    }

    /// The number under which a definition is kept. The last definition of a text takes the place of the user's earlier one
    /// with the same type, so that old callers see the new body; every other definition gets a new number.
    fn function_id(
        &mut self,
        form: usize,
        definition: &FunctionDefinition,
        scheme: Scheme,
        body: FunctionBody,
        seeds: bool,
    ) -> FunctionId {
        let (name, span) = (definition.name.symbol.clone(), definition.name.span);
        let function = Function {
            name: name.clone(),
            span,
            scheme,
            parameters: parameter_texts(&definition.parameter),
            body,
            doc: definition.doc.clone(),
        };
        let definitions = self.text.definitions_of(&name);
        let is_last = definitions.last() == Some(&form);
        if definitions.first() != Some(&form) {
            let message = format!("`{name}` is defined twice; what stands above keeps the first definition");
            self.warn("W0203", message, span, None);
        }
        match self.environment.names.get(&name).copied() {
            Some(entity) if self.environment.is_of_library(&name, entity) => self.warn_shadow(&name, span),
            Some(Entity::Function(old)) if is_last => {
                let known = &self.environment.program.functions[old.0];
                if known.scheme == function.scheme && self.environment.seeding.contains(&old) == seeds {
                    self.environment.program.functions[old.0] = function;
                    return old;
                }
                self.warn_redefinition(&name, span);
            }
            Some(Entity::Global(_)) if is_last => self.warn_redefinition(&name, span),
            _ => {}
        }
        let id = self.environment.add_function(function);
        if seeds {
            self.environment.seeding.insert(id);
        }
        id
    }

    fn warn_shadow(&mut self, name: &str, span: Span) {
        if !self.environment.is_library {
            let hint = "the library itself keeps its own";
            self.warn("W0202", format!("`{name}` shadows the library's `{name}`"), span, Some(hint));
        }
    }

    fn warn_redefinition(&mut self, name: &str, span: Span) {
        let message = format!("redefining `{name}` with a new type; earlier callers keep the old one");
        self.warn("W0203", message, span, None);
    }

    /// Checks an assignment or an expression.
    pub(super) fn value(&mut self, form: usize) {
        self.form = form;
        let forms = self.forms;
        let (pattern, source) = match &forms[form].kind {
            TopLevelKind::Assignment { pattern, value } => (Some(pattern), value),
            TopLevelKind::Expression(value) => (None, value),
            TopLevelKind::Function(_) | TopLevelKind::Error => return,
        };
        let value = self.expression(source);
        let mut targets = Vec::new();
        let mut values = HashMap::new();
        if let Some(pattern) = pattern {
            let typed = self.pattern(pattern, &mut HashMap::new());
            self.match_pattern(&typed, value.ty, "the value", source.span);
            let mut parts: Vec<(Symbol, Span, TypeId, Vec<bool>)> = Vec::new();
            typed.for_each_variable(&mut |_, name, part, path| {
                parts.push((name.clone(), part.span, part.ty, path.to_vec()));
            });
            for (name, span, ty, path) in parts {
                if !self.types.has_error(ty) {
                    let id = self.global_id(form, &name, span, ty);
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
        let group = HashMap::new();
        Elaboration::new(&self.types, &[], &group, &mut self.environment.program.variables).expression(value)
    }

    /// The number under which a value is kept: that of the earlier value of this name if its type is the same.
    fn global_id(&mut self, form: usize, name: &Symbol, span: Span, ty: TypeId) -> GlobalId {
        let ty = Export::new(&self.types, &[]).ty(ty);
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
            Some(_) if &**name != "it" => self.warn_redefinition(name, span),
            _ => {}
        }
        self.environment.add_global(Global { name: name.clone(), span, ty })
    }

    /// Checks one expression outside of any form, against a type if one is expected.
    pub(crate) fn single(&mut self, source: &ast::Expr, expected: Option<&Type>) -> Option<crate::core::Expr> {
        let value = self.expression(source);
        if let Some(expected) = expected {
            let wanted = self.types.import(expected, &[]);
            self.require(value.ty, wanted, source, "the value");
        }
        self.check_seeding();
        (!self.has_errors()).then(|| self.elaborate_value(&value))
    }

    /// Whether there were errors, not only warnings.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
