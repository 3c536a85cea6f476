//! Type inference: Hindley–Milner with type classes, over one text at a time.
//!
//! ```text
//! text         which form defines what, and in which order forms are checked
//! types        type variables with classes; unification
//! pattern, expression, call     trees with types that may still be refined ([`typed`])
//! declaration  signatures, functions, groups of functions that call each other, values
//! report       all error codes and the wording that several places share
//! ```
//!
//! Function types exist only in schemes: every function has one argument, and functions are not values. Functions are
//! generalised at their definition; everything else is monomorphic. A type variable that nothing determines becomes `int`,
//! the one type in every class. Such variables come from empty sequences: `[]` alone is an `[int]`, `max_val([])` an `int`.

pub(crate) mod call;
pub(crate) mod declaration;
pub(crate) mod environment;
pub(crate) mod expression;
pub(crate) mod function;
pub(crate) mod pattern;
pub(crate) mod report;
pub(crate) mod text;
pub(crate) mod typed;
pub(crate) mod types;

use crate::ast::{Symbol, TopLevel, TopLevelKind};
use crate::core::{Form, FunctionId, GlobalId, VariableId};
use crate::diagnostic::Diagnostic;
use crate::ty::Class;
use environment::{Entity, Environment};
use nesl_span::{SourceMap, Span};
use std::collections::HashMap;
use text::{Reference, Text};
use typed::Callee;
use types::{TypeId, Types};

/// What checking a form has come to.
#[derive(Clone, Debug)]
enum Outcome {
    /// Not checked yet.
    Pending,
    /// A function of the group being checked, with its parameter's and its result's type.
    Group(TypeId, TypeId),
    /// A function.
    Function(FunctionId),
    /// Values.
    Values(HashMap<Symbol, GlobalId>),
    /// Something whose errors have been reported.
    Broken,
}

/// What a name means in an expression.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Local(VariableId, TypeId),
    Global(GlobalId),
    Function(Target),
    /// Reported already.
    Broken,
    Unknown,
}

/// A function that a name means.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// By number.
    Known(FunctionId),
    /// Of the group being checked, by form.
    Group(usize),
}

/// A function at one call: its types, with new variables.
#[derive(Clone, Debug)]
struct Instance {
    callee: Callee,
    parameter: TypeId,
    result: TypeId,
}

/// A call seen while checking a form, for the rule about `rand_seed`.
#[derive(Clone, Debug)]
struct SeenCall {
    target: Target,
    name: Symbol,
    span: Span,
    in_each: bool,
}

/// The checker of one text.
pub(crate) struct Inference<'a> {
    /// The program, extended as forms are done.
    pub environment: Environment,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
    types: Types,
    sources: &'a SourceMap,
    forms: &'a [TopLevel],
    text: Text,
    binds_it: bool,
    outcomes: Vec<Outcome>,
    results: Vec<Option<Form>>,
    form: usize,
    locals: HashMap<Symbol, Vec<(VariableId, TypeId)>>,
    signature: HashMap<Symbol, TypeId>,
    each_depth: usize,
    calls: Vec<SeenCall>,
    /// Whether some form could not be read: names may be missing for that reason.
    unreadable: bool,
}

impl<'a> Inference<'a> {
    /// A checker of these forms.
    pub fn new(environment: Environment, sources: &'a SourceMap, forms: &'a [TopLevel], binds_it: bool) -> Self {
        Inference {
            environment,
            diagnostics: Vec::new(),
            types: Types::new(),
            sources,
            forms,
            text: Text::new(forms, binds_it),
            binds_it,
            outcomes: vec![Outcome::Pending; forms.len()],
            results: vec![None; forms.len()],
            form: 0,
            locals: HashMap::new(),
            signature: HashMap::new(),
            each_depth: 0,
            calls: Vec::new(),
            unreadable: forms.iter().any(|form| matches!(form.kind, TopLevelKind::Error)),
        }
    }

    /// Tells that the text had syntax errors: unknown names are then no news.
    pub fn after_syntax_errors(&mut self) {
        self.unreadable = true;
    }

    /// Checks all forms and returns what they mean, in source order; nothing useful if there were errors.
    pub fn check(&mut self) -> Vec<Form> {
        let environment = &self.environment;
        let (groups, early) = self.text.order(self.forms, environment.is_library, &|name| {
            matches!(environment.names.get(name), Some(Entity::Global(_)))
        });
        for early in early {
            self.report_early_use(&early);
        }
        for group in groups {
            self.types.commit();
            match &self.forms[group[0]].kind {
                TopLevelKind::Function(_) => self.functions(&group),
                TopLevelKind::Assignment { .. } | TopLevelKind::Expression(_) => self.value(group[0]),
                TopLevelKind::Error => self.outcomes[group[0]] = Outcome::Broken,
            }
        }
        self.name_definitions();
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span));
        std::mem::take(&mut self.results).into_iter().flatten().collect()
    }

    /// Makes the last definition of every name its meaning from now on.
    fn name_definitions(&mut self) {
        let mut names: Vec<(Symbol, Entity)> = Vec::new();
        for name in self.text.names() {
            let Some(&last) = self.text.definitions_of(name).last() else { continue };
            let entity = match &self.outcomes[last] {
                Outcome::Function(id) => Entity::Function(*id),
                Outcome::Values(values) => match values.get(name) {
                    Some(id) => Entity::Global(*id),
                    None => continue,
                },
                _ => continue,
            };
            names.push((name.clone(), entity));
        }
        for (name, entity) in names {
            self.environment.name(name, entity);
        }
    }

    /// What a name means at the place being checked.
    fn meaning(&self, name: &str) -> Meaning {
        if let Some(&(id, ty)) = self.locals.get(name).and_then(|scopes| scopes.last()) {
            return Meaning::Local(id, ty);
        }
        let form = match self.text.resolve(self.form, name) {
            Reference::Form(form) => form,
            Reference::Later(_) | Reference::Elsewhere => {
                return match self.environment.names.get(name) {
                    Some(Entity::Function(id)) => Meaning::Function(Target::Known(*id)),
                    Some(Entity::Global(id)) => Meaning::Global(*id),
                    None if self.text.definitions_of(name).is_empty() => Meaning::Unknown,
                    // Used before it is computed: reported by the order of forms.
                    None => Meaning::Broken,
                };
            }
        };
        match &self.outcomes[form] {
            Outcome::Group(..) => Meaning::Function(Target::Group(form)),
            Outcome::Function(id) => Meaning::Function(Target::Known(*id)),
            Outcome::Values(values) => values.get(name).map_or(Meaning::Broken, |id| Meaning::Global(*id)),
            Outcome::Pending | Outcome::Broken => Meaning::Broken,
        }
    }

    /// A library function that syntax stands for, whatever the user calls by its name.
    fn library_function(&self, name: &str) -> Meaning {
        if self.environment.is_library {
            return self.meaning(name);
        }
        match self.environment.library.get(name) {
            Some(Entity::Function(id)) => Meaning::Function(Target::Known(*id)),
            _ => Meaning::Unknown,
        }
    }

    fn instance(&mut self, target: Target) -> Instance {
        match target {
            Target::Known(function) => {
                let scheme = &self.environment.program.functions[function.0].scheme;
                let (type_arguments, parameter, result) = self.types.instantiate(scheme);
                Instance { callee: Callee::Instance { function, type_arguments }, parameter, result }
            }
            Target::Group(form) => {
                let (parameter, result) = match self.outcomes[form] {
                    Outcome::Group(parameter, result) => (parameter, result),
                    _ => (Types::ERROR, Types::ERROR),
                };
                Instance { callee: Callee::Group(form), parameter, result }
            }
        }
    }

    fn new_variable(&mut self) -> VariableId {
        let id = VariableId(self.environment.program.variables);
        self.environment.program.variables += 1;
        id
    }

    fn fresh(&mut self) -> TypeId {
        self.types.variable(Class::Any)
    }

    /// The parts of a function's parameter as written.
    fn parameters_of(&self, target: Target) -> Vec<String> {
        match target {
            Target::Known(id) => self.environment.program.functions[id.0].parameters.clone(),
            Target::Group(form) => match &self.forms[form].kind {
                TopLevelKind::Function(function) => pattern::parameter_texts(&function.parameter),
                _ => Vec::new(),
            },
        }
    }

    /// Where a function is defined, if the user did it.
    fn definition_span(&self, target: Target) -> Option<Span> {
        let span = match target {
            Target::Known(id) => self.environment.program.functions[id.0].span,
            Target::Group(form) => match &self.forms[form].kind {
                TopLevelKind::Function(function) => function.name.span,
                _ => return None,
            },
        };
        self.sources.is_user(span).then_some(span)
    }
}
