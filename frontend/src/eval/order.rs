//! Which of several failures in an apply-to-each is the first.
//!
//! An apply-to-each is evaluated operation by operation: of all elements those count that fail in the first operation that fails on any,
//! and of these the first. The evaluator goes from element to element; so a failure keeps its place, and the least place counts.
//!
//! A place says which part of each expression around it the failure is in, counted in the order of evaluation; what happens inside of
//! a called function is in its own order after the argument. A step of a loop ([`crate::core::tail`]) comes after all else in the
//! body: first of those that go on with one function, then of those that go on with another. Of those that go on with the same one
//! by different calls, the ones of the first call stand before the ones of the second.

use super::EvalError;
use crate::core::{Expr, ExprKind, FunctionBody, FunctionId, Program, tail, tail::Steps};
use nesl_prim::Failure;
use std::cmp::Ordering;

/// Where a failure is in the order of evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// Which part of each expression it is in, innermost first.
    parts: Vec<usize>,
    /// By which of the calls that go on with the same function each step was taken, the last one first.
    turns: Vec<usize>,
}

/// A step as it stands among those of a body: which of the functions is gone on with, and by which of the calls that do so.
pub(super) type Turn = (usize, usize);

/// What comes after all else in a body.
const STEP: usize = usize::MAX;

impl Place {
    /// Puts it into a part of an expression.
    pub fn enter(&mut self, part: usize) {
        self.parts.push(part);
    }

    /// Puts it into parts of expressions inside each other, the outermost first.
    pub fn enter_all(&mut self, parts: &[usize]) {
        self.parts.extend(parts.iter().rev());
    }

    /// Puts it behind the steps of a loop, in the order in which they were taken.
    pub fn after(&mut self, steps: &[Turn]) {
        for &(target, turn) in steps.iter().rev() {
            self.parts.extend([target, STEP]);
            self.turns.push(turn);
        }
    }

    fn order(&self, other: &Place) -> Ordering {
        let parts = self.parts.iter().rev().cmp(other.parts.iter().rev());
        parts.then_with(|| self.turns.cmp(&other.turns))
    }
}

/// Puts a failure into a part of an expression.
pub(super) fn part<T>(position: usize, result: Result<T, Box<EvalError>>) -> Result<T, Box<EvalError>> {
    result.map_err(|mut error| {
        error.place.enter(position);
        error
    })
}

/// Which of its checks an operation has failed in.
pub(super) fn check(failure: &Failure) -> usize {
    match failure {
        Failure::BadPartition { .. } | Failure::IndexOutOfRange { .. } | Failure::OutOfMemory { .. } => 1,
        Failure::NotAPermutation { .. } => 2,
        _ => 0,
    }
}

/// The failure that counts, of those of elements so far and of one more. Of two in the same operation that of the earlier element does.
pub(super) fn first(before: Option<Box<EvalError>>, next: Box<EvalError>) -> Box<EvalError> {
    before.filter(|before| before.place.order(&next.place).is_le()).unwrap_or(next)
}

/// Whether a failure ends everything, whatever else fails: what is missing in this process has no place in the order.
pub(super) fn ends_all(failure: &Failure) -> bool {
    !failure.is_of_program() && !matches!(failure, Failure::OutOfMemory { .. })
}

/// Where a call that is a step of a loop stands among those of its body.
pub(super) fn turn(program: &Program, steps: &Steps, caller: FunctionId, call: &Expr) -> Turn {
    let mut targets: Vec<(FunctionId, usize)> = Vec::new();
    let FunctionBody::Defined { body, .. } = &program.function(caller).body else { return (0, 0) };
    let mut waiting: Vec<&Expr> = vec![body];
    while let Some(expr) = waiting.pop() {
        match &expr.kind {
            ExprKind::Let { body, .. } => waiting.push(body),
            ExprKind::If { then_branch, else_branch, .. } => waiting.extend([&**else_branch, &**then_branch]),
            ExprKind::Construct(inner) | ExprKind::Payload(inner) => waiting.push(inner),
            ExprKind::Call { function, .. } => {
                if let Some((_, _, right)) = tail::connective(program, expr) {
                    waiting.push(right);
                } else if steps.is_step(caller, *function) {
                    let target = targets.iter().position(|(target, _)| target == function);
                    let target = target.unwrap_or_else(|| {
                        targets.push((*function, 0));
                        targets.len() - 1
                    });
                    if std::ptr::eq(expr, call) {
                        return (target, targets[target].1);
                    }
                    targets[target].1 += 1;
                }
            }
            _ => {}
        }
    }
    (0, 0)
}
