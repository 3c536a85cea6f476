//! Walks over expressions that keep their own stack, so that a long chain of bindings cannot exhaust that of the
//! thread.

use super::{Expr, ExprKind, FunctionId};
use nesl_span::Span;

/// An expression and all its parts, in no particular order.
pub fn parts(expr: &Expr) -> impl Iterator<Item = &Expr> {
    walk(expr, true)
}

/// An expression and those of its parts that are evaluated once if at all: not the bodies of its apply-to-eaches.
pub fn parts_once(expr: &Expr) -> impl Iterator<Item = &Expr> {
    walk(expr, false)
}

fn walk(expr: &Expr, enters_eaches: bool) -> impl Iterator<Item = &Expr> {
    let mut waiting = vec![expr];
    std::iter::from_fn(move || {
        let expr = waiting.pop()?;
        match &expr.kind {
            ExprKind::Literal(_)
            | ExprKind::Unit
            | ExprKind::Constants(_)
            | ExprKind::Variable(_)
            | ExprKind::Global(_) => {}
            ExprKind::First(part) | ExprKind::Rest(part) | ExprKind::Construct(part) | ExprKind::Payload(part) => {
                waiting.push(part);
            }
            ExprKind::Pair(first, rest) => waiting.extend([&**first, &**rest]),
            ExprKind::Let { value, body, .. } => waiting.extend([&**value, &**body]),
            ExprKind::If { condition, then_branch, else_branch } => {
                waiting.extend([&**condition, &**then_branch, &**else_branch]);
            }
            ExprKind::Sequence(elements) | ExprKind::Closure { captured: elements, .. } => waiting.extend(elements),
            ExprKind::Each { sources, filter, body } => {
                waiting.extend(sources.iter().map(|(_, source)| source));
                waiting.extend(filter.iter().chain([body]).map(|part| &**part).filter(|_| enters_eaches));
            }
            ExprKind::Call { argument, .. } => waiting.push(argument),
            ExprKind::Apply { function, argument } => waiting.extend([&**function, &**argument]),
        }
        Some(expr)
    })
}

/// The parts of an expression that stand in no other part, in the order in which they are evaluated.
pub fn direct_parts_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Unit
        | ExprKind::Constants(_)
        | ExprKind::Variable(_)
        | ExprKind::Global(_) => Vec::new(),
        ExprKind::First(part) | ExprKind::Rest(part) | ExprKind::Construct(part) | ExprKind::Payload(part) => {
            vec![part]
        }
        ExprKind::Pair(first, rest) => vec![first, rest],
        ExprKind::Let { value, body, .. } => vec![value, body],
        ExprKind::If { condition, then_branch, else_branch } => vec![condition, then_branch, else_branch],
        ExprKind::Sequence(elements) | ExprKind::Closure { captured: elements, .. } => elements.iter_mut().collect(),
        ExprKind::Each { sources, filter, body } => {
            let sources = sources.iter_mut().map(|(_, source)| source);
            sources.chain(filter.as_deref_mut()).chain([&mut **body]).collect()
        }
        ExprKind::Call { argument, .. } => vec![argument],
        ExprKind::Apply { function, argument } => vec![function, argument],
    }
}

/// The functions that an expression calls or uses as values, with the places.
pub fn mentions(expr: &Expr) -> impl Iterator<Item = (FunctionId, Span)> {
    parts(expr).filter_map(|part| match &part.kind {
        ExprKind::Call { function, .. } | ExprKind::Closure { function, .. } => Some((*function, part.span)),
        _ => None,
    })
}
