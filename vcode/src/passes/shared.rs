//! What instances compute of a sequence that they share is computed once. It is a part of
//! [`simplify`](super::simplify).
//!
//! `{sum({exp(x) * f(i) : x in v}) : i in w}` reads `v` again and again, and asks for the same powers each time:
//!
//! ```text
//! %4 = view (dist 0 n) (dist m n)        %4 = view (dist 0 n) (dist m n)
//! %5 = compact v %4                      %5 = map exp v
//! %6 = map exp %5                        %6 = compact %5 %4
//! ```
//!
//! It is *loop-invariant code motion* out of the loop over instances (Allen, Kennedy, 2001, §4.4), where that loop is
//! instructions on columns. A column has to be written for it, so it is done for what costs a call, and with that for
//! what it is computed of; and as there may be no instance, for what cannot fail alone.

use super::rewrite::{Action, Context, Maker};
use super::{effect, size};
use crate::op::VectorOp;
use crate::program::{Op, Operand, RegisterType};
use nesl_prim::{ScalarOp, ScalarValue};

/// How many operations deep operands are looked at.
const DEPTH: usize = 4;

/// An elementwise operation on what all segments have in common as the segments of its results.
pub(super) fn once(context: &mut Context, op: ScalarOp, operands: &[Operand]) -> Option<Action> {
    if !op.row().cost.is_call() || can_fail(context, op, operands) {
        return None;
    }
    let view = operands.iter().find_map(|&operand| view(context, operand, DEPTH))?;
    let is_shared = |&operand: &Operand| is_shared(context, operand, view, DEPTH);
    if !operands.iter().all(is_shared) {
        return None;
    }
    let operands: Vec<Operand> = operands.iter().map(|&operand| of_shared(context, operand)).collect();
    let result = RegisterType::Column(op.row().result);
    let shared = context.emit(Op::Map(op), operands, result);
    Some(Action::Become(Op::Vector(VectorOp::Compact), vec![shared, view]))
}

/// Whether an operation may fail: a power does not where the exponent is an index.
fn can_fail(context: &Context, op: ScalarOp, operands: &[Operand]) -> bool {
    let is_index = |operand: Operand| {
        let whole = context.made_by(operand, VectorOp::Compact).map_or(operand, |operands| operands[0]);
        context.definition(whole).is_some_and(|definition| definition.maker.is_natural())
    };
    let is_power = matches!(op, ScalarOp::PowerInt | ScalarOp::PowerFloat) && is_index(operands[1]);
    !is_power && effect::has_effect(&Op::Map(op), operands)
}

/// The operation that made an operand, if that is one on elements.
fn map(context: &Context, operand: Operand) -> Option<(ScalarOp, &[Operand])> {
    let definition = context.definition(operand)?;
    match definition.maker {
        Maker::Map(op) => Some((op, &definition.operands)),
        _ => None,
    }
}

/// The view by which an operand, or what it is made of, reads a whole sequence in all segments.
fn view(context: &Context, operand: Operand, depth: usize) -> Option<Operand> {
    if let Some(&[column, descriptor]) = context.made_by(operand, VectorOp::Compact) {
        let [start, length] = context.made_by(descriptor, VectorOp::View)? else { return None };
        let [start, length] = [start, length].map(|&column| context.broadcast(column).map(|[value, _]| value));
        let is_whole = start? == Operand::Constant(ScalarValue::Int(0)) && size::has_length(context, column, length?);
        return is_whole.then_some(descriptor);
    }
    let (_, operands) = map(context, operand).filter(|_| depth > 0)?;
    operands.iter().find_map(|&operand| view(context, operand, depth - 1))
}

/// Whether an operand has the same elements in all segments of a view, which cannot fail.
fn is_shared(context: &Context, operand: Operand, view: Operand, depth: usize) -> bool {
    if context.is_scalar(operand) {
        return true;
    }
    if let Some(operands) = context.made_by(operand, VectorOp::Compact) {
        return operands[1] == view;
    }
    map(context, operand).filter(|_| depth > 0).is_some_and(|(op, operands)| {
        !can_fail(context, op, operands) && operands.iter().all(|&operand| is_shared(context, operand, view, depth - 1))
    })
}

/// The elements that such an operand has in each segment.
fn of_shared(context: &mut Context, operand: Operand) -> Operand {
    if let Some(operands) = context.made_by(operand, VectorOp::Compact) {
        return operands[0];
    }
    let Some((op, operands)) = map(context, operand) else { return operand };
    let operands: Vec<Operand> = operands.to_vec();
    let operands = operands.into_iter().map(|operand| of_shared(context, operand)).collect();
    context.emit(Op::Map(op), operands, RegisterType::Column(op.row().result))
}

#[cfg(test)]
mod tests {
    use crate::passes::{simplify, testing};

    const HEADER: &str = "(%0: int, %1: column float, %2: column float, %3: descriptor, %4: int)";

    #[track_caller]
    fn becomes(before: &str, after: &str) {
        testing::body_becomes(simplify::run, &format!("{HEADER} -> column float"), before, after);
    }

    /// All of a column in each of some segments.
    const SHARED: &str = "%5 = length %1
                          %6 = dist 0 %0
                          %7 = dist %5 %0
                          %8 = view %6 %7
                          %9 = compact %1 %8";

    #[test]
    fn what_all_segments_compute_of_one_column_is_computed_once() {
        becomes(
            &format!(
                "{SHARED}
                 %10 = map multiply.float %9 2.0
                 %11 = map exp %10
                 %12 = map add.float %11 1.0
                 return %12"
            ),
            "%5 = length %1
             %6 = dist 0 %0
             %7 = dist %5 %0
             %8 = view %6 %7
             %9 = map multiply.float %1 2.0
             %10 = map exp %9
             %11 = compact %10 %8
             %12 = map add.float %11 1.0
             return %12",
        );
        // The exponents are indices: no such power fails.
        becomes(
            "%5 = iota %4
             %6 = dist 0 %0
             %7 = dist %4 %0
             %8 = view %6 %7
             %9 = compact %5 %8
             %10 = map power.float 0.5 %9
             return %10",
            "%5 = iota %4
             %6 = dist 0 %0
             %7 = dist %4 %0
             %8 = view %6 %7
             %9 = map power.float 0.5 %5
             %10 = compact %9 %8
             return %10",
        );
    }

    #[test]
    fn what_is_cheap_or_differs_or_may_fail_stays() {
        let stays = |body: &str| becomes(body, body);
        stays(&format!("{SHARED}\n%10 = map multiply.float %9 %9\nreturn %10"));
        stays(&format!("{SHARED}\n%10 = packed %7\n%11 = seg_dist %2 %10\n%12 = map expt %9 %11\nreturn %12"));
        stays("%5 = compact %1 %3\n%6 = map exp %5\nreturn %6");
        let some = SHARED.replace("%5 = length %1", "%5 = length %2");
        stays(&format!("{some}\n%10 = map exp %9\nreturn %10"));
        stays(&format!("{SHARED}\n%10 = map truncate %9\n%11 = map power.float 2.0 %10\nreturn %11"));
    }
}
