//! Which of several failures in an apply-to-each is the first.
//!
//! An apply-to-each is evaluated operation by operation: of all elements those count that fail in the first operation
//! that fails on any, and of these the first. The evaluator goes from element to element; so a failure keeps its place,
//! and the least place counts.
//!
//! A place says which part of each expression around it the failure is in, counted in the order of evaluation; what
//! happens inside of a called function is in its own order after the argument. A step of a loop ([`crate::core::tail`])
//! comes after all else in the body: first of those that go on with one function, then of those that go on with
//! another. Of those that go on with the same one by different calls, the ones of the first call stand before the ones
//! of the second.

use super::EvalError;
use crate::core::{Expr, ExprKind, FunctionBody, FunctionId, Program, tail, tail::Steps};
use nesl_prim::Failure;
use std::cmp::Ordering;

/// Where a failure is in the order of evaluation. Steps of a loop that are taken alike are kept as one run of them, so
/// that a loop of many steps needs no memory for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// Which part of each expression it is in, innermost first.
    parts: Runs<Part>,
    /// By which of the calls that go on with the same function each step was taken, the last one first.
    turns: Runs<usize>,
}

/// A step as it stands among those of a body: which of the functions is gone on with, and by which of the calls that do
/// so.
pub(super) type Turn = (usize, usize);

/// A part of an expression or a body, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// One that is evaluated.
    Inner(usize),
    /// What comes after all of them: the step that goes on with one of the functions.
    Step(usize),
}

/// A sequence, kept as runs of equal values with their lengths.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Runs<T>(Vec<(T, u64)>);

impl<T> Default for Runs<T> {
    fn default() -> Runs<T> {
        Runs(Vec::new())
    }
}

impl<T: Copy + Ord> Runs<T> {
    /// Puts a value to the end.
    pub fn push(&mut self, value: T) {
        self.extend(value, 1);
    }

    fn extend(&mut self, value: T, count: u64) {
        match self.0.last_mut() {
            Some((last, length)) if *last == value => *length += count,
            _ => self.0.push((value, count)),
        }
    }
}

/// The order of two sequences by the first place at which they differ.
fn order<T: Copy + Ord>(
    mut left: impl Iterator<Item = (T, u64)>,
    mut right: impl Iterator<Item = (T, u64)>,
) -> Ordering {
    let (mut run, mut other) = (left.next(), right.next());
    while let (Some((value, length)), Some((other_value, other_length))) = (run, other) {
        if value != other_value {
            return value.cmp(&other_value);
        }
        let common = length.min(other_length);
        run = if length > common { Some((value, length - common)) } else { left.next() };
        other = if other_length > common { Some((value, other_length - common)) } else { right.next() };
    }
    run.is_some().cmp(&other.is_some())
}

impl Place {
    /// Puts it into a part of an expression.
    pub fn enter(&mut self, part: usize) {
        self.parts.push(Part::Inner(part));
    }

    /// Puts it into parts of expressions inside each other, the outermost first.
    pub fn enter_all(&mut self, parts: &[usize]) {
        parts.iter().rev().for_each(|part| self.enter(*part));
    }

    /// Puts it behind the steps of a loop, in the order in which they were taken.
    pub fn after(&mut self, steps: &Runs<Turn>) {
        for &((target, turn), count) in steps.0.iter().rev() {
            self.parts.extend(Part::Step(target), count);
            self.turns.extend(turn, count);
        }
    }

    fn order(&self, other: &Place) -> Ordering {
        let parts = order(self.parts.0.iter().rev().copied(), other.parts.0.iter().rev().copied());
        parts.then_with(|| order(self.turns.0.iter().copied(), other.turns.0.iter().copied()))
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

/// The failure that counts, of those of elements so far and of one more. Of two in the same operation that of the
/// earlier element does.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn runs<T: Copy + Ord>(values: &[T]) -> Runs<T> {
        let mut runs = Runs::default();
        values.iter().for_each(|value| runs.push(*value));
        runs
    }

    #[test]
    fn runs_have_the_order_of_what_they_stand_for() {
        // All sequences of up to four of three values.
        let mut sequences: Vec<Vec<u8>> = vec![Vec::new()];
        for length in 0..4 {
            let longest: Vec<_> = sequences.iter().filter(|sequence| sequence.len() == length).cloned().collect();
            for value in 0..3 {
                sequences.extend(longest.iter().map(|sequence| [&sequence[..], &[value]].concat()));
            }
        }
        assert_eq!(sequences.len(), 1 + 3 + 9 + 27 + 81);
        for left in &sequences {
            for right in &sequences {
                let found = order(runs(left).0.into_iter(), runs(right).0.into_iter());
                assert_eq!(found, left.cmp(right), "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn a_loop_of_many_equal_steps_is_one_run() {
        let place = |steps: u64, part: usize| {
            let mut turns = Runs::default();
            (0..steps).for_each(|_| turns.push((0, 1)));
            let mut place = Place::default();
            place.enter(part);
            place.after(&turns);
            place
        };
        let late = place(100_000, 0);
        assert_eq!((late.parts.0.len(), late.turns.0.len()), (2, 1));
        // Whoever takes fewer steps fails first, whatever the part; after as many the part counts.
        assert_eq!(place(99_999, 7).order(&late), Ordering::Less);
        assert_eq!(place(100_000, 1).order(&late), Ordering::Greater);
        assert_eq!(place(100_000, 0).order(&late), Ordering::Equal);
    }
}
