//! What expressions of core mention: free local variables, and globals through calls.

use nesl_frontend::core::{Expr, ExprKind, FunctionBody, FunctionId, GlobalId, Program, VariableId, walk};
use nesl_frontend::ty::Type;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The local variables that expressions mention and do not bind, in order of their numbers. Variables are unique in the
/// program, so whatever is bound inside is not free.
pub fn variables<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> BTreeSet<VariableId> {
    let (mut mentioned, mut bound) = (BTreeSet::new(), HashSet::new());
    for expr in exprs.into_iter().flat_map(walk::parts) {
        match &expr.kind {
            ExprKind::Variable(id) => {
                mentioned.insert(*id);
            }
            ExprKind::Let { variable, .. } => {
                bound.insert(variable.id);
            }
            ExprKind::Each { sources, .. } => bound.extend(sources.iter().map(|(variable, _)| variable.id)),
            _ => {}
        }
    }
    mentioned.retain(|id| !bound.contains(id));
    mentioned
}

/// A function at concrete types.
type Instance = (FunctionId, Vec<Type>);

/// The globals that each function mentions at concrete types, directly or through the functions it calls. Only there it
/// is known which function a function value is; to count all that the program has would make a step need globals of
/// later ones.
#[derive(Debug, Default)]
pub struct Globals {
    direct: HashMap<Instance, Rc<Mentioned>>,
    functions: HashMap<Instance, BTreeSet<GlobalId>>,
}

/// What an expression mentions itself: globals, and functions that it calls.
#[derive(Debug, Default)]
struct Mentioned {
    globals: BTreeSet<GlobalId>,
    called: HashSet<Instance>,
}

impl Globals {
    /// The globals of a function, in order of their numbers.
    pub fn function(&mut self, program: &Program, function: FunctionId, type_arguments: &[Type]) -> BTreeSet<GlobalId> {
        let instance = (function, type_arguments.to_vec());
        if let Some(known) = self.functions.get(&instance) {
            return known.clone();
        }
        let mut globals = BTreeSet::new();
        let mut reached = HashSet::from([instance.clone()]);
        let mut pending = vec![instance.clone()];
        while let Some(next) = pending.pop() {
            if let Some(known) = self.functions.get(&next) {
                globals.extend(known);
                continue;
            }
            let mentioned = self.direct(program, next);
            globals.extend(&mentioned.globals);
            pending.extend(mentioned.called.iter().filter(|&callee| reached.insert(callee.clone())).cloned());
        }
        self.functions.insert(instance, globals.clone());
        globals
    }

    /// The globals of an expression at the top level, in order of their numbers.
    pub fn expr(&mut self, program: &Program, expr: &Expr) -> BTreeSet<GlobalId> {
        self.part(program, expr, &[])
    }

    /// The globals of part of a function whose type parameters stand for some types, in order of their numbers.
    pub fn part(&mut self, program: &Program, expr: &Expr, type_arguments: &[Type]) -> BTreeSet<GlobalId> {
        self.mentioned_by(program, mentioned(expr, type_arguments))
    }

    fn mentioned_by(&mut self, program: &Program, mentioned: Mentioned) -> BTreeSet<GlobalId> {
        let Mentioned { mut globals, called } = mentioned;
        for (function, type_arguments) in called {
            globals.extend(self.function(program, function, &type_arguments));
        }
        globals
    }

    fn direct(&mut self, program: &Program, instance: Instance) -> Rc<Mentioned> {
        if let Some(known) = self.direct.get(&instance) {
            return Rc::clone(known);
        }
        let found = Rc::new(match &program.function(instance.0).body {
            FunctionBody::Defined { body, .. } => mentioned(body, &instance.1),
            FunctionBody::Intrinsic(_) | FunctionBody::Missing => Mentioned::default(),
        });
        self.direct.insert(instance, Rc::clone(&found));
        found
    }
}

/// What an expression mentions itself where its type parameters stand for some types.
fn mentioned(expr: &Expr, type_arguments: &[Type]) -> Mentioned {
    let mut mentioned = Mentioned::default();
    for expr in walk::parts(expr) {
        match &expr.kind {
            ExprKind::Global(global) => {
                mentioned.globals.insert(*global);
            }
            ExprKind::Call { function, type_arguments: types, .. } => {
                let types = types.iter().map(|ty| ty.instantiate(type_arguments)).collect();
                mentioned.called.insert((*function, types));
            }
            ExprKind::Apply { function, .. } => {
                let function_type = function.ty.instantiate(type_arguments);
                if let Some(identity) = function_type.identity() {
                    mentioned.called.insert((FunctionId(identity.function), identity.type_arguments.clone()));
                }
            }
            _ => {}
        }
    }
    mentioned
}
