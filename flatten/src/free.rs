//! What expressions of core mention: free local variables, and globals through calls.

use nesl_frontend::core::{Expr, ExprKind, FunctionBody, FunctionId, GlobalId, Program, VariableId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Calls `visit` on an expression and all expressions in it.
pub fn walk<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Constants(_) | ExprKind::Variable(_) | ExprKind::Global(_) => {}
        ExprKind::Pair(first, rest) => {
            walk(first, visit);
            walk(rest, visit);
        }
        ExprKind::First(inner) | ExprKind::Rest(inner) | ExprKind::Construct(inner) | ExprKind::Payload(inner) => {
            walk(inner, visit);
        }
        ExprKind::Closure { captured, .. } => captured.iter().for_each(|captured| walk(captured, visit)),
        ExprKind::Apply { function, argument } => {
            walk(function, visit);
            walk(argument, visit);
        }
        ExprKind::Let { value, body, .. } => {
            walk(value, visit);
            walk(body, visit);
        }
        ExprKind::If { condition, then_branch, else_branch } => {
            walk(condition, visit);
            walk(then_branch, visit);
            walk(else_branch, visit);
        }
        ExprKind::Sequence(elements) => elements.iter().for_each(|element| walk(element, visit)),
        ExprKind::Call { argument, .. } => walk(argument, visit),
        ExprKind::Each { sources, filter, body } => {
            sources.iter().for_each(|(_, source)| walk(source, visit));
            filter.iter().for_each(|filter| walk(filter, visit));
            walk(body, visit);
        }
    }
}

/// The local variables that expressions mention and do not bind, in order of their numbers. Variables are unique in the
/// program, so whatever is bound inside is not free.
pub fn variables<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> BTreeSet<VariableId> {
    let (mut mentioned, mut bound) = (BTreeSet::new(), HashSet::new());
    for expr in exprs {
        walk(expr, &mut |expr| match &expr.kind {
            ExprKind::Variable(id) => {
                mentioned.insert(*id);
            }
            ExprKind::Let { variable, .. } => {
                bound.insert(variable.id);
            }
            ExprKind::Each { sources, .. } => bound.extend(sources.iter().map(|(variable, _)| variable.id)),
            _ => {}
        });
    }
    mentioned.retain(|id| !bound.contains(id));
    mentioned
}

/// The globals that each function mentions, directly or through the functions it may call.
#[derive(Debug, Default)]
pub struct Globals {
    functions: HashMap<FunctionId, Mentioned>,
}

/// Globals that are mentioned, in order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Mentioned {
    /// All.
    pub all: BTreeSet<GlobalId>,
    /// Those mentioned even if function values that are called mention none: they have values wherever this is evaluated.
    pub surely: BTreeSet<GlobalId>,
}

impl Mentioned {
    fn add(&mut self, other: &Mentioned) {
        self.all.extend(&other.all);
        self.surely.extend(&other.surely);
    }
}

impl Globals {
    /// Analyses the functions reachable from `roots` and from `main`.
    pub fn of<'a>(program: &Program, roots: impl IntoIterator<Item = &'a Expr>, main: Option<FunctionId>) -> Globals {
        let mut direct_calls: HashMap<FunctionId, Direct> = HashMap::new();
        let mut globals = Globals::default();
        let reached = |direct: &Direct| -> Vec<FunctionId> {
            let values = program.function_values.iter().filter(|_| direct.applies);
            direct.called.iter().chain(values).copied().collect()
        };
        let mut pending: Vec<FunctionId> =
            roots.into_iter().flat_map(|expr| reached(&Direct::of(expr))).chain(main).collect();
        while let Some(function) = pending.pop() {
            if globals.functions.contains_key(&function) {
                continue;
            }
            let direct = match &program.function(function).body {
                FunctionBody::Defined { body, .. } => Direct::of(body),
                FunctionBody::Intrinsic(_) | FunctionBody::Missing => Direct::default(),
            };
            let (all, surely) = (direct.globals.clone(), direct.globals.clone());
            globals.functions.insert(function, Mentioned { all, surely });
            pending.extend(reached(&direct));
            direct_calls.insert(function, direct);
        }
        // Callees' globals flow to their callers until nothing changes; each round is linear in the call graph.
        let mut changed = true;
        while changed {
            changed = false;
            let values = globals.values(program);
            for (function, direct) in &direct_calls {
                let inherited = globals.through(direct, &values);
                let own = globals.functions.entry(*function).or_default();
                let before = (own.all.len(), own.surely.len());
                own.add(&inherited);
                changed |= (own.all.len(), own.surely.len()) > before;
            }
        }
        globals
    }

    /// The globals of a function, in order of their numbers.
    pub fn function(&self, function: FunctionId) -> impl Iterator<Item = GlobalId> + '_ {
        self.functions.get(&function).into_iter().flat_map(|mentioned| mentioned.all.iter().copied())
    }

    /// The globals of an expression.
    pub fn expr(&self, program: &Program, expr: &Expr) -> Mentioned {
        let direct = Direct::of(expr);
        let mut mentioned = self.through(&direct, &self.values(program));
        mentioned.add(&Mentioned { all: direct.globals.clone(), surely: direct.globals });
        mentioned
    }

    /// What any function value may mention.
    fn values(&self, program: &Program) -> BTreeSet<GlobalId> {
        program.function_values.iter().flat_map(|function| self.function(*function)).collect()
    }

    /// What is mentioned through calls.
    fn through(&self, direct: &Direct, values: &BTreeSet<GlobalId>) -> Mentioned {
        let mut mentioned = Mentioned::default();
        for callee in &direct.called {
            mentioned.add(&self.functions[callee]);
        }
        if direct.applies {
            mentioned.all.extend(values);
        }
        mentioned
    }
}

/// What an expression mentions itself.
#[derive(Debug, Default)]
struct Direct {
    globals: BTreeSet<GlobalId>,
    /// The functions it calls by their names.
    called: HashSet<FunctionId>,
    /// Whether it calls function values. Each may be any function that the program uses as one: which, is known only at
    /// concrete types.
    applies: bool,
}

impl Direct {
    fn of(expr: &Expr) -> Direct {
        let mut direct = Direct::default();
        walk(expr, &mut |expr| match &expr.kind {
            ExprKind::Global(global) => {
                direct.globals.insert(*global);
            }
            ExprKind::Call { function, .. } => {
                direct.called.insert(*function);
            }
            ExprKind::Apply { .. } => direct.applies = true,
            _ => {}
        });
        direct
    }
}
