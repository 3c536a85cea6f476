//! Windows: subsequences that all are as long, cut at places that come one after another.
//!
//! `{f(subseq(a, i, i + k)) : i in [0:#a - k + 1]}` asks of each window whether it lies in `a`, and takes its length
//! from its ends. Both are known of all of them: the last one ends where `a` does, or before. So the lengths are a
//! broadcast, which costs nothing, and other passes know that all windows are as long.
//!
//! ```text
//! t = subtract (length a) k; m = range_length 0 (add t 1) 1
//! i = iota m; e = map add i k
//! l = map subsequence_length i e (length a)          l = dist k m
//! ```

use crate::op::VectorOp;
use crate::passes::linear::{Made, Sum};
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::program::{Instruction, Op, Operand, Program};
use nesl_prim::{ScalarOp, ScalarValue};

/// Takes the lengths of windows from what they are cut by, in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Windows);
    }
}

struct Windows;

impl Rule for Windows {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let (Op::Map(ScalarOp::SubsequenceLength), &[start, end, length]) =
            (&instruction.op, instruction.operands.as_slice())
        else {
            return Action::Keep;
        };
        match window(context, [start, end, length]) {
            Some((window, count)) => Action::Become(Op::Vector(VectorOp::Dist), vec![window, count]),
            None => Action::Keep,
        }
    }
}

/// How long windows are that begin and end at these places of a sequence, and how many there are.
fn window(context: &Context, [start, end, length]: [Operand; 3]) -> Option<(Operand, Operand)> {
    let made = Made::known(context);
    let first = Sum::of(start, &made)?;
    let [(places, 1)] = first.terms[..] else { return None };
    let &[count] = context.made_by(places, VectorOp::Iota)? else { return None };
    let definition = context.definition(count)?;
    let (Maker::Scalar(ScalarOp::RangeLength), &[from, until, Operand::Constant(ScalarValue::Int(1))]) =
        (definition.maker, definition.operands.as_slice())
    else {
        return None;
    };
    if first.constant < 0 {
        return None;
    }
    // How long they are: the end without the start.
    let mut long = Sum::of(end, &made)?;
    long.add(start, -1, &made)?;
    let window = match long.terms[..] {
        [] if long.constant >= 0 => Operand::Constant(ScalarValue::Int(long.constant)),
        [(term, 1)] if long.constant == 0 && is_length(context, term) => term,
        _ => return None,
    };
    // The end of the last one without the length of the sequence: from + (until - from - 1) steps, or none at all.
    let mut beyond = Sum::of(end, &made)?;
    beyond.add_term(places, -1);
    beyond.add(until, 1, &made)?;
    beyond.add(from, -1, &made)?;
    beyond.add(length, -1, &made)?;
    (beyond.constant()? <= 1).then_some((window, count))
}

/// Whether a number is a number of elements, which is never negative and never so large that a few of them wrap.
fn is_length(context: &Context, operand: Operand) -> bool {
    [VectorOp::Length, VectorOp::Segments].into_iter().any(|op| context.made_by(operand, op).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{body_becomes, stays};

    fn windows(until: &str, start: &str, end: &str) -> String {
        format!(
            "%3 = length %0
             %4 = length %1
             {until}
             %7 = range_length 0 %6 1
             %8 = iota %7
             {start}
             {end}
             %11 = map subsequence_length %9 %10 %3
             return %11"
        )
    }

    const SIGNATURE: &str = "(%0: column int, %1: column int, %2: int) -> column int";

    #[test]
    fn lengths_of_windows_are_a_broadcast() {
        let until = "%5 = subtract.int %3 %4\n%6 = add.int %5 1";
        let whole = windows(until, "%9 = map add.int %8 0", "%10 = map add.int %8 %4");
        let known = "%3 = length %0
             %4 = length %1
             %5 = subtract.int %3 %4
             %6 = add.int %5 1
             %7 = range_length 0 %6 1
             %8 = dist %4 %7
             return %8";
        body_becomes(run, SIGNATURE, &whole, known);
        // Around each place but those at the ends.
        let until = "%5 = subtract.int %3 1\n%6 = subtract.int %5 1";
        let around = windows(until, "%9 = map add.int %8 0", "%10 = map add.int %8 3");
        let known = "%3 = length %0
             %4 = subtract.int %3 1
             %5 = subtract.int %4 1
             %6 = range_length 0 %5 1
             %7 = dist 3 %6
             return %7";
        body_becomes(run, SIGNATURE, &around, known);
    }

    #[test]
    fn others_stay() {
        let stays = |until: &str, start: &str, end: &str| {
            stays(run, &format!("function f{SIGNATURE} {{ {} }}", windows(until, start, end)));
        };
        let until = "%5 = subtract.int %3 %4\n%6 = add.int %5 1";
        let start = "%9 = map add.int %8 0";
        // The last one is too long, or the first begins too early; one more of them; of a length that may be negative.
        stays(until, start, "%10 = map add.int %8 %2");
        stays("%5 = subtract.int %3 %4\n%6 = add.int %5 2", start, "%10 = map add.int %8 %4");
        stays("%5 = subtract.int %3 %2\n%6 = add.int %5 1", start, "%10 = map add.int %8 %2");
        stays(until, "%9 = map subtract.int %8 1", "%10 = map add.int %9 %4");
    }
}
