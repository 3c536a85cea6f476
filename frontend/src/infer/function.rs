//! Groups of functions that call each other: their types, their numbers, and how they become core.

use super::declaration::Declared;
use super::environment::{Environment, Keywords};
use super::pattern::definition_texts;
use super::problem::definition::{DefinitionProblem, SeedingPlace};
use super::problem::meeting::{Matched, Meeting};
use super::problem::warning::Warning;
use super::{CallPlace, Entity, Inference, Outcome, SeenCall, Target};
use crate::ast::{self, FunctionDefinition, Symbol, TopLevelKind};
use crate::core::walk::parts;
use crate::core::{ExprKind, Form, Function, FunctionBody, FunctionId, Intrinsic};
use crate::elaborate::{Elaboration, Export, Group};
use crate::ty::{Class, Scheme};
use crate::typed::types::{Node, TypeId};
use crate::typed::{Expr, Pattern};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A function of the group being checked.
pub(super) struct Member<'a> {
    /// The number of its form.
    pub form: usize,
    /// The form.
    pub definition: &'a FunctionDefinition,
    declared: Option<Declared>,
    /// The type of its parameter, keyword parameters included.
    pub parameter: TypeId,
    /// The type of its result.
    pub result: TypeId,
    typed: Option<(Pattern, Expr)>,
    /// The defaults of its keyword parameters.
    pub defaults: Vec<Expr>,
}

/// The core function of a definition.
fn function(definition: &FunctionDefinition, scheme: Scheme, body: FunctionBody) -> Function {
    Function {
        name: definition.name.symbol.clone(),
        span: definition.name.span,
        scheme,
        parameters: definition_texts(definition),
        keywords: Vec::new(),
        body,
        doc: definition.doc.clone(),
    }
}

impl<'a> Inference<'a> {
    /// Checks functions that call each other; mostly one.
    pub(super) fn functions(&mut self, group: &[usize]) {
        let forms = self.forms;
        let mut members: Vec<Member<'a>> = Vec::new();
        for &form in group {
            self.form = form;
            let TopLevelKind::Function(definition) = &forms[form].kind else { continue };
            if definition.body.is_none() {
                self.declaration(form, definition);
            } else {
                members.push(self.member(form, definition));
            }
        }
        for member in &mut members {
            self.infer_member(member);
        }
        self.signature.clear();
        let seeds = self.check_seeding();
        for member in &members {
            if let Some(declared) = &member.declared {
                self.check_promise(declared);
            }
            if self.types.has_error(member.parameter) || self.types.has_error(member.result) {
                self.outcomes[member.form] = Outcome::Broken;
            }
        }
        let count = members.len();
        members.retain(|member| !matches!(self.outcomes[member.form], Outcome::Broken));
        let is_whole = members.len() == count;
        let (generalised, replacing) = self.settle(&members, seeds);
        self.check_known(&generalised);
        self.check_compared();
        let mut replaced: Vec<(Keywords, Keywords)> = Vec::new();
        for member in &members {
            let Some((id, variables)) = generalised.get(&member.form) else { continue };
            let scheme = self.scheme(member.parameter, member.result, variables, &generalised);
            self.note_parameters(member.form, variables);
            let definition = member.definition;
            if !replacing.contains(&member.form) {
                self.warn_definition(member.form, &definition.name.symbol, definition.name.span, true);
            }
            self.install(*id, function(definition, scheme, FunctionBody::Missing), seeds);
            self.environment.stubs.remove(id);
            let before = self.environment.keywords.remove(id);
            if let Some(keywords) = self.group_keywords.remove(&member.form) {
                if let Some(before) = before {
                    replaced.push((before, keywords.clone()));
                }
                self.environment.program.functions[id.0].keywords = self.described_keywords(definition, &keywords);
                self.environment.keywords.insert(*id, keywords);
            }
            self.results[member.form] = Some(Form::Function(*id));
        }
        for (&form, (id, _)) in &generalised {
            self.outcomes[form] = Outcome::Function(*id);
        }
        // The others may call what has no type.
        if self.has_errors() || !is_whole {
            return;
        }
        for member in members {
            let Some((id, variables)) = generalised.get(&member.form) else { continue };
            self.keyword_functions(&member, *id, variables, &generalised);
            let Some((pattern, body)) = member.typed else { continue };
            let variable_count = &mut self.environment.program.variables;
            let mut elaboration = Elaboration::new(&self.types, variables, &generalised, variable_count);
            let (parameter, body) = elaboration.function(&pattern, &body);
            let made = elaboration.finish();
            self.environment.add_functions(made);
            self.environment.program.functions[id.0].body = FunctionBody::Defined { parameter, body: Arc::new(body) };
        }
        for (before, after) in replaced {
            self.redirect_keywords(&before, &after);
        }
    }

    fn member(&mut self, form: usize, definition: &'a FunctionDefinition) -> Member<'a> {
        let declared = definition.signature.as_ref().map(|signature| self.declared(signature));
        let (parameter, result) = match &declared {
            Some(declared) => (declared.parameter, declared.result),
            None => (self.fresh(), self.fresh()),
        };
        self.outcomes[form] = Outcome::Group(parameter, result);
        self.reserve_keywords(form, definition);
        Member { form, definition, declared, parameter, result, typed: None, defaults: Vec::new() }
    }

    /// The numbers of the functions of a group, with the variables that become their type parameters. The last
    /// definition of a text takes the number of the user's earlier one with the same type, so that old callers see the
    /// new body: those forms are returned too. Every other definition gets a new number. The types may mention the
    /// numbers (of functions used as values), so a number that turns out to be new may make others new.
    fn settle(&mut self, members: &[Member<'a>], seeds: bool) -> (Group, HashSet<usize>) {
        let mut group = Group::new();
        let mut replacing = HashSet::new();
        for member in members {
            let name = &member.definition.name;
            let variables = self.variables_of(member.parameter, member.result);
            let id = match self.replaceable(member.form, &name.symbol) {
                Some(old) => {
                    replacing.insert(member.form);
                    old
                }
                None => self.environment.reserve(name.symbol.clone(), name.span),
            };
            group.insert(member.form, (id, variables));
        }
        loop {
            let mut changed = None;
            for member in members.iter().filter(|member| replacing.contains(&member.form)) {
                let Some((old, variables)) = group.get(&member.form) else { continue };
                let scheme = self.scheme(member.parameter, member.result, variables, &group);
                let known = &self.environment.program.functions[old.0];
                let names = |keywords: Option<&Keywords>| {
                    keywords.map(|keywords| {
                        let names = keywords.parameters.iter().map(|(name, _)| name.clone());
                        (keywords.positional, names.collect::<Vec<Symbol>>())
                    })
                };
                let is_same = known.scheme == scheme
                    && self.environment.seeding.contains(old) == seeds
                    && names(self.environment.keywords.get(old)) == names(self.group_keywords.get(&member.form));
                if !is_same {
                    changed = Some(member);
                    break;
                }
            }
            let Some(member) = changed else { return (group, replacing) };
            let name = &member.definition.name;
            replacing.remove(&member.form);
            let id = self.environment.reserve(name.symbol.clone(), name.span);
            if let Some(entry) = group.get_mut(&member.form) {
                entry.0 = id;
            }
        }
    }

    /// The user's function that a definition replaces if it has the same type.
    fn replaceable(&self, form: usize, name: &Symbol) -> Option<FunctionId> {
        match self.environment.names.get(name).copied() {
            Some(entity) if self.environment.is_of_library(name, entity) => None,
            Some(Entity::Function(old)) if self.text.definitions_of(name).last() == Some(&form) => {
                (!self.environment.constructors.contains(&old)).then_some(old)
            }
            _ => None,
        }
    }

    fn infer_member(&mut self, member: &mut Member<'a>) {
        let Some(source) = &member.definition.body else { return };
        self.form = member.form;
        self.signature = (member.declared.iter())
            .flat_map(|declared| declared.variables.iter().map(|(name, _, variable)| (name.clone(), *variable)))
            .collect();
        self.infer_defaults(member);
        let pattern = self.pattern(&member.definition.whole_parameter(), &mut HashMap::new());
        match &member.declared {
            Some(declared) => self.match_pattern(&pattern, member.parameter, Matched::Declared, declared.span),
            None => {
                let name = member.definition.name.span;
                self.match_pattern(&pattern, member.parameter, Matched::Passed, name);
            }
        }
        self.match_defaults(member, &pattern);
        self.enter(&pattern);
        let body = self.expression(source);
        self.leave(&pattern);
        self.match_result(member, source, &body);
        member.typed = Some((pattern, body));
    }

    fn match_result(&mut self, member: &Member<'_>, source: &ast::Expr, body: &Expr) {
        let Err(failure) = self.types.unify(body.ty, member.result) else { return };
        let name = &member.definition.name;
        let meeting = Meeting::Result {
            function: name.symbol.clone(),
            name: name.span,
            body: self.operand(body.ty, source),
            wanted: self.resolved(member.result),
            declared: member.declared.as_ref().map(|declared| declared.span),
        };
        self.report_meeting(source.span, failure, meeting);
    }

    /// A definition without a body: a built-in function of the library, a promise of a definition in the same text, a
    /// function that a later text will define, or a mistake.
    fn declaration(&mut self, form: usize, definition: &FunctionDefinition) {
        let name = &definition.name;
        let declared = definition.signature.as_ref().map(|signature| self.declared(signature));
        self.signature.clear();
        self.outcomes[form] = Outcome::Broken;
        if !self.text.definitions_of(&name.symbol).contains(&form) {
            return;
        }
        let Some(declared) = declared else {
            self.report(name.span, DefinitionProblem::NeitherBodyNorType(name.symbol.clone()));
            return;
        };
        if self.types.has_error(declared.parameter) || self.types.has_error(declared.result) {
            return;
        }
        let variables = self.variables_of(declared.parameter, declared.result);
        let scheme = self.scheme(declared.parameter, declared.result, &variables, &Group::new());
        let intrinsic = if self.environment.is_library { Intrinsic::by_name(&name.symbol) } else { None };
        let old = self.replaceable(form, &name.symbol);
        let id = match old.filter(|old| self.environment.program.functions[old.0].scheme == scheme) {
            // It is there already.
            Some(old) => old,
            None => {
                let id = self.environment.reserve(name.symbol.clone(), name.span);
                self.warn_definition(form, &name.symbol, name.span, true);
                let body = intrinsic.map_or(FunctionBody::Missing, FunctionBody::Intrinsic);
                let seeds = intrinsic == Some(Intrinsic::RandSeed);
                self.install(id, function(definition, scheme, body), seeds);
                if intrinsic.is_none() {
                    self.environment.stubs.insert(id);
                }
                id
            }
        };
        if intrinsic.is_none() && self.environment.is_library {
            self.report(name.span, DefinitionProblem::NotBuiltIn(name.symbol.clone()));
        }
        self.outcomes[form] = Outcome::Function(id);
        self.results[form] = Some(Form::Function(id));
    }

    /// The variables of a function type that become its type parameters; those that stand for functions last.
    fn variables_of(&self, parameter: TypeId, result: TypeId) -> Vec<TypeId> {
        let mut variables = Vec::new();
        self.types.collect_variables(parameter, &mut variables);
        self.types.collect_variables(result, &mut variables);
        variables.sort_by_key(|&variable| self.types.node(variable) == Node::Variable(Class::Function));
        variables
    }

    fn scheme(&self, parameter: TypeId, result: TypeId, variables: &[TypeId], group: &Group) -> Scheme {
        let mut export = Export::new(&self.types, variables, group);
        Scheme { classes: export.classes(), parameter: export.ty(parameter), result: export.ty(result) }
    }

    /// Reports calls of functions that nothing determines: neither the forms just checked nor the callers of these
    /// functions.
    pub(super) fn check_known(&mut self, group: &Group) {
        let unknown = std::mem::take(&mut self.unknown);
        if self.has_errors() {
            return;
        }
        let mut places: Vec<Span> = Vec::new();
        for (form, identity, span) in unknown {
            let mut open = Vec::new();
            self.types.collect_variables(identity, &mut open);
            let parameters = group.get(&form).map_or(&[][..], |(_, variables)| variables);
            let is_open = open.iter().any(|variable| {
                self.types.node(*variable) == Node::Variable(Class::Function) && !parameters.contains(variable)
            });
            if is_open && !places.contains(&span) {
                places.push(span);
                self.report(span, DefinitionProblem::Undetermined);
            }
        }
    }

    /// Reports comparisons of functions.
    pub(super) fn check_compared(&mut self) {
        for (ty, span) in std::mem::take(&mut self.compared) {
            if self.types.has_function(ty) {
                self.report(span, DefinitionProblem::Compared(self.resolved(ty)));
            }
        }
    }

    /// Finds out whether the forms just checked call `rand_seed`, and reports calls inside of an apply-to-each.
    pub(super) fn check_seeding(&mut self) -> bool {
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
        let bad = calls.iter().filter(|call| {
            call.place != CallPlace::Plain && (seeds_known(call.target) || matches!(call.target, Target::Group(_)))
        });
        let places: Vec<(Span, DefinitionProblem)> = bad
            .map(|call| {
                let place = match call.place {
                    CallPlace::Value => SeedingPlace::Value,
                    CallPlace::Lambda => SeedingPlace::Lambda,
                    CallPlace::Each | CallPlace::Plain => SeedingPlace::Each,
                };
                (call.span, DefinitionProblem::Seeding { name: call.name.clone(), place })
            })
            .collect();
        for (span, problem) in places {
            self.report(span, problem);
        }
        true
    }

    /// Supplies a function that has been reserved, or a new one in place of an old one.
    pub(super) fn install(&mut self, id: FunctionId, function: Function, seeds: bool) {
        self.environment.program.functions[id.0] = function;
        if seeds {
            self.environment.seeding.insert(id);
        }
    }

    /// Warns if a definition hides another one that it does not replace.
    pub(super) fn warn_definition(&mut self, form: usize, name: &Symbol, span: Span, is_function: bool) {
        let definitions = self.text.definitions_of(name);
        let is_last = definitions.last() == Some(&form);
        if definitions.first() != Some(&form) && is_function {
            self.report(span, Warning::DefinedTwice(name.clone()));
        }
        match self.environment.names.get(name).copied() {
            Some(entity) if self.environment.is_of_library(name, entity) => self.warn_shadow(name, span),
            Some(old) if is_last => self.warn_redefinition(name, old, span),
            _ => {}
        }
    }

    pub(super) fn warn_shadow(&mut self, name: &Symbol, span: Span) {
        if !self.environment.is_library && !self.environment.everyday.contains(name) {
            self.report(span, Warning::Shadowing(name.clone()));
        }
    }

    pub(super) fn warn_redefinition(&mut self, name: &Symbol, old: Entity, span: Span) {
        let keeper = self.keeper(old);
        self.report(span, Warning::Redefinition { name: name.clone(), keeper });
    }

    /// The first function of an earlier text, by its name, that uses something and is not defined again here: it keeps
    /// what that is now.
    fn keeper(&self, used: Entity) -> Option<Symbol> {
        let Environment { names, program, .. } = &self.environment;
        let is_using = |id: FunctionId| {
            let (mut waiting, mut seen) = (vec![id], HashSet::new());
            while let Some(id) = waiting.pop() {
                let FunctionBody::Defined { body, .. } = &program.functions[id.0].body else { continue };
                if !seen.insert(id) {
                    continue;
                }
                for part in parts(body) {
                    let mentioned = match &part.kind {
                        ExprKind::Call { function, .. } | ExprKind::Closure { function, .. } => {
                            // What stands in a function is a function of its own.
                            waiting.extend(Some(*function).filter(|id| program.functions[id.0].is_lambda()));
                            Entity::Function(*function)
                        }
                        ExprKind::Global(global) => Entity::Global(*global),
                        _ => continue,
                    };
                    if mentioned == used {
                        return true;
                    }
                }
            }
            false
        };
        let stays = |name: &Symbol, entity: Entity| {
            !self.environment.is_of_library(name, entity) && self.text.definitions_of(name).is_empty()
        };
        let users = names.iter().filter_map(|(name, &entity)| match entity {
            Entity::Function(id) if stays(name, entity) && is_using(id) => Some(name),
            _ => None,
        });
        users.min().cloned()
    }
}
