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

/// The globals that each function mentions, directly or through the functions it calls.
#[derive(Debug, Default)]
pub struct Globals {
    functions: HashMap<FunctionId, BTreeSet<GlobalId>>,
}

impl Globals {
    /// Analyses the functions reachable from `roots` and from `main`.
    pub fn of<'a>(program: &Program, roots: impl IntoIterator<Item = &'a Expr>, main: Option<FunctionId>) -> Globals {
        let mut calls: HashMap<FunctionId, HashSet<FunctionId>> = HashMap::new();
        let mut globals = Globals::default();
        let mut pending: Vec<FunctionId> =
            roots.into_iter().flat_map(|expr| direct(program, expr).1).chain(main).collect();
        while let Some(function) = pending.pop() {
            if globals.functions.contains_key(&function) {
                continue;
            }
            let (mentioned, called) = match &program.function(function).body {
                FunctionBody::Defined { body, .. } => direct(program, body),
                FunctionBody::Intrinsic(_) | FunctionBody::Missing => Default::default(),
            };
            globals.functions.insert(function, mentioned);
            pending.extend(&called);
            calls.insert(function, called);
        }
        // Callees' globals flow to their callers until nothing changes; each round is linear in the call graph.
        let mut changed = true;
        while changed {
            changed = false;
            for (function, called) in &calls {
                let inherited: Vec<GlobalId> =
                    called.iter().flat_map(|callee| globals.functions[callee].iter().copied()).collect();
                let own = globals.functions.entry(*function).or_default();
                let before = own.len();
                own.extend(inherited);
                changed |= own.len() > before;
            }
        }
        globals
    }

    /// The globals of a function, in order of their numbers.
    pub fn function(&self, function: FunctionId) -> impl Iterator<Item = GlobalId> + '_ {
        self.functions.get(&function).into_iter().flatten().copied()
    }

    /// The globals of an expression, in order of their numbers.
    pub fn expr(&self, program: &Program, expr: &Expr) -> BTreeSet<GlobalId> {
        let (mut mentioned, called) = direct(program, expr);
        mentioned.extend(called.into_iter().flat_map(|function| self.function(function)));
        mentioned
    }
}

/// The globals that an expression mentions itself, and the functions that it may call. A function value may be any function
/// that the program uses as one: which, is known only at concrete types.
fn direct(program: &Program, expr: &Expr) -> (BTreeSet<GlobalId>, HashSet<FunctionId>) {
    let (mut mentioned, mut called) = (BTreeSet::new(), HashSet::new());
    walk(expr, &mut |expr| match &expr.kind {
        ExprKind::Global(global) => {
            mentioned.insert(*global);
        }
        ExprKind::Call { function, .. } => {
            called.insert(*function);
        }
        ExprKind::Apply { .. } => called.extend(&program.function_values),
        _ => {}
    });
    (mentioned, called)
}
