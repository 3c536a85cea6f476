//! What a function that somebody has written costs, as far as its text says: work and depth, as the functions of the
//! library state them in their doc strings.
//!
//! Operations cost work 1 and depth 1, instances in an apply-to-each add up their work and share their depth. What more
//! there is are calls: of library functions, which say what they cost, and of others.

use nesl_frontend::core::{Expr, ExprKind, FunctionId, walk};
use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;
use std::collections::BTreeSet;

/// What library functions say that cost no more than an operation.
const LEAST: &str = "work 1, depth 1";

/// What the body of a function does that costs something.
#[derive(Default)]
struct Does {
    /// It has an apply-to-each.
    walks: bool,
    /// It calls function values that it does not make itself.
    applies: bool,
    /// The functions that it calls, by name.
    calls: BTreeSet<(String, FunctionId)>,
}

/// The cost of a function, a line; none of one without a body, or whose doc string says it.
pub(super) fn text(session: &Session, sources: &SourceMap, id: FunctionId) -> Option<String> {
    let function = session.program().function(id);
    if function.doc.as_ref().is_some_and(|doc| doc.contains("Work ")) {
        return None;
    }
    let does = done_by(session, function.expression()?);
    let mut text = if does.walks { "work 1 for each element, depth 1" } else { LEAST }.to_owned();
    let (of_library, own): (Vec<_>, Vec<_>) =
        does.calls.iter().partition(|(_, callee)| session.is_library_function(*callee));
    let stated = of_library.into_iter().filter_map(|(name, callee)| {
        let cost = stated(&manual::of(session, sources, *callee).doc)?;
        (cost != LEAST).then(|| format!("{name} ({cost})"))
    });
    let stated: Vec<String> = stated.collect();
    if !stated.is_empty() {
        text += &format!("; more for {}", stated.join(", "));
    }
    let (again, others): (Vec<_>, Vec<_>) = own.into_iter().partition(|(_, callee)| reaches(session, *callee, id));
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|(name, _)| &**name).collect();
        text += &format!("; and what {} costs", names.join(", "));
    }
    if does.applies {
        text += "; and what the functions cost that it is given";
    }
    if !again.is_empty() {
        text += "; all that for each call of itself, and depth for each in a row";
    }
    Some(format!("cost: {text}\n"))
}

/// What an expression does, lambdas in it included.
fn done_by(session: &Session, expression: &Expr) -> Does {
    let mut does = Does::default();
    let mut waiting = vec![expression];
    while let Some(expression) = waiting.pop() {
        for part in walk::parts(expression) {
            match &part.kind {
                // So many elements as are written down are no more than so many operations; two calls of one function
                // may have become that.
                ExprKind::Each { sources, .. } => {
                    does.walks |= sources.iter().all(|(_, source)| !matches!(source.kind, ExprKind::Sequence(_)));
                }
                ExprKind::Apply { function, .. } => {
                    does.applies |= !matches!(function.kind, ExprKind::Closure { .. });
                }
                ExprKind::Call { function, .. } | ExprKind::Closure { function, .. } => {
                    let called = session.program().function(*function);
                    match called.expression() {
                        Some(body) if called.is_lambda() => waiting.push(body),
                        _ => _ = does.calls.insert((called.name.to_string(), *function)),
                    }
                }
                _ => {}
            }
        }
    }
    does
}

/// Whether a call of a function may come to a call of another, or is one.
fn reaches(session: &Session, from: FunctionId, to: FunctionId) -> bool {
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
    while let Some(id) = waiting.pop() {
        if id == to {
            return true;
        }
        if session.is_library_function(id) || !seen.insert(id) {
            continue;
        }
        if let Some(body) = session.program().function(id).expression() {
            waiting.extend(done_by(session, body).calls.into_iter().map(|(_, callee)| callee));
        }
    }
    false
}

/// What a doc string of the library says of costs.
fn stated(doc: &str) -> Option<String> {
    let cost = doc.get(doc.rfind("Work ")?..)?.trim_end().trim_end_matches('.');
    Some(format!("w{}", &cost[1..]))
}
