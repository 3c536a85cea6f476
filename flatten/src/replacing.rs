//! Which functions replace one element of a sequence by another, and which do so within elements.
//!
//! `d <- [(i, v)]` with one pair is what assignments to elements are in V, and the library's `rep` is a name for it.
//! Where `v` has an element replaced itself, as in `rep(m, rep(m[i], x, j), i)`, an element within an element is
//! replaced: [`crate::lower::written_back`] does that where it lies, and [`crate::lower::packing`] says what functions
//! that do it take and give.

use crate::value::Structure;
use nesl_frontend::core::tail::Steps;
use nesl_frontend::core::walk::{parts, parts_once};
use nesl_frontend::core::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic, Program, Variable};
use nesl_frontend::ty::Type;

/// The destination, the index and the value of `d <- [(i, v)]`, by its argument.
pub(crate) fn parts_of_write(argument: &Expr) -> Option<[&Expr; 3]> {
    let ExprKind::Pair(destination, pairs) = &argument.kind else { return None };
    let ExprKind::Sequence(pairs) = &pairs.kind else { return None };
    let [pair] = &pairs[..] else { return None };
    let ExprKind::Pair(index, value) = &pair.kind else { return None };
    Some([destination, index, value])
}

/// Parameter and body of a function that does nothing but to replace one element by its arguments, as the library's
/// `rep`.
pub(crate) fn replacing(program: &Program, function: FunctionId) -> Option<(&Variable, &Expr)> {
    let FunctionBody::Defined { parameter, body } = &program.function(function).body else { return None };
    let mut last = &**body;
    while let ExprKind::Let { value, body, .. } = &last.kind {
        last = is_argument(value).then_some(body)?;
    }
    let ExprKind::Call { function, argument, .. } = &last.kind else { return None };
    let is_write = matches!(program.function(*function).body, FunctionBody::Intrinsic(Intrinsic::Write));
    let parts = parts_of_write(argument).filter(|_| is_write)?;
    parts.into_iter().all(is_argument).then_some((parameter, body))
}

/// Whether an expression only names a part of an argument.
fn is_argument(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) => true,
        ExprKind::First(inner) | ExprKind::Rest(inner) => is_argument(inner),
        _ => false,
    }
}

/// Which functions replace elements within elements.
pub(crate) struct Packing {
    /// Those that do it themselves, and those that loop with them.
    replacing: Vec<bool>,
    /// Those that call one of these, directly or not.
    calling: Vec<bool>,
}

impl Packing {
    /// Analyses a program.
    pub(crate) fn of(program: &Program, steps: &Steps) -> Packing {
        let count = program.functions.len();
        let expression = |function: usize| program.functions[function].expression();
        let replaces = |function: &usize| {
            expression(*function).is_some_and(|body| parts_once(body).any(|part| replaces_within(program, part)))
        };
        let found: Vec<usize> = (0..count).filter(replaces).collect();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
        let (mut replacing, mut calling) = (vec![false; count], vec![false; count]);
        if found.is_empty() {
            return Packing { replacing, calling };
        }
        for (function, is_replacing) in replacing.iter_mut().enumerate() {
            let is_step = |other: &usize| steps.is_step(FunctionId(function), FunctionId(*other));
            *is_replacing = found.contains(&function) || found.iter().any(is_step);
            for part in expression(function).into_iter().flat_map(parts_once) {
                if let ExprKind::Call { function: callee, .. } = &part.kind {
                    callers[callee.0].push(function);
                }
            }
        }
        let mut waiting: Vec<usize> = (0..count).filter(|&function| replacing[function]).collect();
        while let Some(function) = waiting.pop() {
            for &caller in &callers[function] {
                if !std::mem::replace(&mut calling[caller], true) {
                    waiting.push(caller);
                }
            }
        }
        Packing { replacing, calling }
    }

    /// Whether a function at these types takes and gives packed sequences.
    pub(crate) fn is_packed(&self, function: FunctionId, parameter: &Type, result: &Type) -> bool {
        let is_nested = |ty: &Type| nests(ty, 2);
        self.replacing[function.0] && (is_nested(parameter) || is_nested(result))
            || self.calling[function.0] && is_nested(result)
    }
}

/// Whether an expression replaces an element by a value in which an element is replaced, or by one with another row.
fn replaces_within(program: &Program, expr: &Expr) -> bool {
    replaced(program, expr)
        .is_some_and(|value| nests(&expr.ty, 2) || parts(value).any(|part| replaced(program, part).is_some()))
}

/// Where an expression replaces an element, what has its new value in it.
fn replaced<'e>(program: &Program, expr: &'e Expr) -> Option<&'e Expr> {
    let ExprKind::Call { function, argument, .. } = &expr.kind else { return None };
    match program.function(*function).body {
        FunctionBody::Intrinsic(Intrinsic::Write) => parts_of_write(argument).map(|[_, _, value]| value),
        _ => replacing(program, *function).map(|_| &**argument),
    }
}

/// Whether values of a type have sequences in sequences, so many deep; of a polymorphic one, whether they may.
fn nests(ty: &Type, levels: usize) -> bool {
    match ty {
        _ if levels == 0 => true,
        Type::Parameter(_) => true,
        // Which function it is, and what that captures, is not known yet.
        Type::Function(_) if ty.identity().is_none() => false,
        _ => match Structure::of(ty) {
            Structure::Scalar(_) | Structure::Nothing => false,
            Structure::Pair(first, rest) => nests(&first, levels) || nests(&rest, levels),
            Structure::Sequence(element) => nests(&element, levels - 1),
        },
    }
}
