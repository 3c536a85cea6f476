//! Type inference: Hindley–Milner with type classes, over one text at a time.
//!
//! ```text
//! text         which form defines what, and in which order forms are checked
//! references   the names that a form refers to
//! pattern, expression, call, keyword, value     trees with types that may still be refined ([`crate::typed`])
//! local_function   functions that a `let` defines
//! powers       warnings where a power is read otherwise than in NESL 3.1
//! declaration, datatype, function, form         signatures, datatypes, functions that call each other, values
//! mentions     what names mean where they stand, for editors
//! problem      what is wrong, as data, which the syntax of the text words
//! report, arguments    how problems come about, and what several places report; arguments that do not fit
//! writing      what it asks about how a text is written, which the syntax of the text answers
//! habits, near habits of other languages and unused names; names that are like one another
//! ```
//!
//! Every function has one argument. Functions are generalised at their definition; everything else is monomorphic,
//! lambdas included. A type variable that nothing determines becomes `int`, the one type in every class. Such variables
//! come from empty sequences: `[]` alone is an `[int]`, `max_val([])` an `int`.
//!
//! The type of a function value says which function it is ([`crate::typed::types::Key`]), as a variable where that is
//! open. A call where such a variable is neither determined nor a parameter of its function is an error.

pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod components;
pub(crate) mod datatype;
pub(crate) mod declaration;
pub(crate) mod environment;
pub(crate) mod expression;
pub(crate) mod form;
pub(crate) mod function;
pub(crate) mod habits;
pub(crate) mod keyword;
pub(crate) mod local_function;
pub(crate) mod mentions;
pub(crate) mod near;
pub(crate) mod order;
pub(crate) mod pattern;
pub(crate) mod powers;
pub(crate) mod problem;
mod references;
pub(crate) mod report;
pub(crate) mod serial;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod writing;

use crate::ast::{LIBRARY, Symbol, TopLevel, TopLevelKind};
use crate::core::{Form, FunctionId, GlobalId, VariableId};
use crate::diagnostic::MOST_DIAGNOSTICS;
use crate::ty::{Class, Datatype};
use crate::typed::Callee;
use crate::typed::types::{TypeId, Types};
use environment::{Entity, Environment, Keywords};
use nesl_span::Span;
use problem::warning::Warning;
use problem::{Finding, Problem};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use text::{Definitions, Reference};
use writing::Writing;

/// What checking a form has come to.
#[derive(Clone, Debug)]
enum Outcome {
    /// Not checked yet.
    Pending,
    /// A function of the group being checked, with its parameter's and its result's type.
    Group(TypeId, TypeId),
    /// A function.
    Function(FunctionId),
    /// A datatype with its constructor.
    Datatype(FunctionId, Arc<Datatype>),
    /// Values.
    Values(HashMap<Symbol, GlobalId>),
    /// Something whose errors have been reported.
    Broken,
}

/// A local variable, of which a name means the last that is bound.
#[derive(Clone, Copy, Debug)]
struct Local {
    id: VariableId,
    ty: TypeId,
    /// Where it is bound.
    span: Span,
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
    place: CallPlace,
}

/// Where a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPlace {
    /// Where it runs once.
    Plain,
    /// In an apply-to-each.
    Each,
    /// In a lambda.
    Lambda,
    /// Nowhere in sight: it is used as a value.
    Value,
}

/// A lambda that is being checked.
#[derive(Debug)]
struct LambdaScope {
    /// The variables with smaller numbers are bound around it.
    first: usize,
    /// Those of them that it mentions.
    captured: Vec<(VariableId, TypeId)>,
}

/// What a name means in a type or a pattern.
enum DatatypeMeaning {
    Known(Arc<Datatype>),
    /// The datatype being defined, or one that refers to it.
    Recursive,
    /// Reported already.
    Broken,
    Unknown,
}

/// The checker of one text.
pub(crate) struct Inference<'a> {
    /// The program, extended as forms are done.
    pub environment: Environment,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many of these are errors.
    errors: usize,
    types: Types,
    writing: &'a dyn Writing,
    forms: &'a [TopLevel],
    text: Definitions,
    binds_it: bool,
    outcomes: Vec<Outcome>,
    results: Vec<Option<Form>>,
    form: usize,
    locals: HashMap<Symbol, Vec<Local>>,
    signature: HashMap<Symbol, TypeId>,
    each_depth: usize,
    /// The lambdas around the place being checked.
    lambdas: Vec<LambdaScope>,
    /// The local variables that are mentioned.
    used: HashSet<VariableId>,
    /// The local variables that are elements of a sequence of the same name: `{… : links}`.
    elements: HashSet<VariableId>,
    /// The names that the `let` bindings and values being checked will bind.
    binding: Vec<Symbol>,
    /// The local functions around the place being checked, as long as they are not known.
    unfinished: Vec<local_function::OpenFunction>,
    /// The types behind the parts of the pattern being checked.
    annotations: Vec<pattern::Annotation>,
    calls: Vec<SeenCall>,
    /// Identities of functions that are called, or that are passed to what calls them, with the form and the place:
    /// they have to be determined.
    unknown: Vec<(usize, TypeId, Span)>,
    /// The types of operands of `==` and `/=`.
    compared: Vec<(TypeId, Span)>,
    /// How to call the functions of the group being checked that have keyword parameters.
    group_keywords: HashMap<usize, Keywords>,
    /// Whether some of the text could not be read: names may be missing for that reason.
    unreadable: bool,
    /// Whether `t` or `f` was to be bound somewhere: what it is elsewhere is not known for sure.
    unsure_truth: bool,
    /// What names mean where they are mentioned, if somebody wants to know.
    notes: Option<mentions::Notes>,
}

impl<'a> Inference<'a> {
    /// A checker of these forms.
    pub fn new(environment: Environment, writing: &'a dyn Writing, forms: &'a [TopLevel], binds_it: bool) -> Self {
        Inference {
            environment,
            findings: Vec::new(),
            errors: 0,
            types: Types::new(),
            writing,
            forms,
            text: Definitions::new(forms, binds_it),
            binds_it,
            outcomes: vec![Outcome::Pending; forms.len()],
            results: vec![None; forms.len()],
            form: 0,
            locals: HashMap::new(),
            signature: HashMap::new(),
            each_depth: 0,
            lambdas: Vec::new(),
            used: HashSet::new(),
            elements: HashSet::new(),
            binding: Vec::new(),
            unfinished: Vec::new(),
            annotations: Vec::new(),
            calls: Vec::new(),
            unknown: Vec::new(),
            compared: Vec::new(),
            group_keywords: HashMap::new(),
            unsure_truth: false,
            notes: None,
            unreadable: forms.iter().any(|form| matches!(form.kind, TopLevelKind::Error)),
        }
    }

    /// Tells that the text had syntax errors: unknown names are then no news. `unsure_truth` says that names were to be
    /// bound that cannot be, perhaps `t` or `f`.
    pub fn after_syntax_errors(&mut self, unsure_truth: bool) {
        self.unreadable = true;
        self.unsure_truth = unsure_truth;
    }

    /// Checks all forms and returns what they mean, in source order; nothing useful if there were errors.
    pub fn check(&mut self) -> Vec<Form> {
        let environment = &self.environment;
        let elsewhere = order::Elsewhere {
            is_value: &|name| matches!(environment.names.get(name), Some(Entity::Global(_))),
            is_datatype: &|name| environment.datatypes.contains_key(name),
        };
        let (groups, early) = order::order(&self.text, self.forms, environment.is_library, &elsewhere);
        for early in early {
            // `g(x) = x + 1` is no definition of x, but an attempt at one of g.
            self.form = early.form;
            let is_mistaken = match &self.forms[early.form].kind {
                TopLevelKind::Assignment { pattern, .. } => self.has_unknown_datatype(pattern),
                _ => false,
            };
            if !is_mistaken {
                self.report_early_use(&early);
            }
        }
        for group in groups {
            if self.errors > MOST_DIAGNOSTICS {
                // What is found from here on would not be shown.
                break;
            }
            self.types.commit();
            match &self.forms[group[0]].kind {
                TopLevelKind::Function(_) => self.functions(&group),
                TopLevelKind::Datatype(_) => self.datatypes(&group),
                TopLevelKind::Assignment { .. } | TopLevelKind::Expression(_) => self.value(group[0]),
                TopLevelKind::Import(_) | TopLevelKind::Error => self.outcomes[group[0]] = Outcome::Broken,
            }
        }
        self.check_bodies();
        if self.has_errors() {
            // What is mentioned in a form with errors is not known for sure.
            self.findings.retain(|finding| !matches!(finding.problem, Problem::Warning(Warning::Unused { .. })));
        }
        self.name_definitions();
        self.findings.sort_by_key(|finding| finding.span);
        std::mem::take(&mut self.results).into_iter().flatten().collect()
    }

    /// Makes the last definition of every name its meaning from now on.
    fn name_definitions(&mut self) {
        let mut names: Vec<(Symbol, Entity)> = Vec::new();
        for name in self.text.names() {
            let Some(&last) = self.text.definitions_of(name).last() else { continue };
            let entity = match &self.outcomes[last] {
                Outcome::Function(id) | Outcome::Datatype(id, _) => Entity::Function(*id),
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
        for name in self.text.datatype_names() {
            if let Some(&last) = self.text.datatypes_of(name).last()
                && let Outcome::Datatype(_, datatype) = &self.outcomes[last]
            {
                self.environment.datatypes.insert(name.clone(), Arc::clone(datatype));
            }
        }
    }

    /// The datatype that a name means at the place being checked.
    fn datatype(&self, name: &str) -> DatatypeMeaning {
        match self.text.resolve_datatype(self.form, name) {
            Some(form) => match &self.outcomes[form] {
                Outcome::Datatype(_, datatype) => DatatypeMeaning::Known(Arc::clone(datatype)),
                Outcome::Pending => DatatypeMeaning::Recursive,
                _ => DatatypeMeaning::Broken,
            },
            None => match self.environment.datatypes.get(name) {
                Some(datatype) => DatatypeMeaning::Known(Arc::clone(datatype)),
                None => DatatypeMeaning::Unknown,
            },
        }
    }

    /// What a name means at the place being checked.
    fn meaning(&self, name: &str) -> Meaning {
        if let Some(name) = name.strip_prefix(LIBRARY) {
            return self.library_function(name);
        }
        match self.locals.get(name).and_then(|scopes| scopes.last()) {
            Some(&Local { id, ty, .. }) => Meaning::Local(id, ty),
            None => self.outer_meaning(name),
        }
    }

    /// What a name means where no local variable has it.
    fn outer_meaning(&self, name: &str) -> Meaning {
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
            Outcome::Function(id) | Outcome::Datatype(id, _) => Meaning::Function(Target::Known(*id)),
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

    /// The identity of a function that is open here.
    fn fresh_identity(&mut self) -> TypeId {
        self.types.variable(Class::Function)
    }

    /// The parts of a function's parameter as written.
    fn parameters_of(&self, target: Target) -> Vec<String> {
        match target {
            Target::Known(id) => self.environment.program.functions[id.0].parameters.clone(),
            Target::Group(form) => match &self.forms[form].kind {
                TopLevelKind::Function(function) => pattern::definition_texts(function),
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
                TopLevelKind::Datatype(datatype) => datatype.name.span,
                _ => return None,
            },
        };
        self.writing.sources().is_user(span).then_some(span)
    }
}
