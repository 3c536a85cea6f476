//! An element of a row that is read where one is written is read by its place in the data of all rows: for
//! code that runs one instance after another.
//!
//! ```text
//! %5 = slice %0 %1 %2                  %6 = add.int %1 %3
//! %4 = extract %5 %3                   %4 = extract %0 %6
//! %6 = add.int %1 %3                   %7 = build %6
//! %7 = build %6                        …
//! …                                    %9 = scatter %0 %7 %8
//! %9 = scatter %0 %7 %8
//! ```
//!
//! That is what `c[i][j] += x` becomes in C-like programs. Where several turns of a loop are one, [`super::simplify`]
//! then knows in the second what the first has written, also when the place was computed before the loop: the sum stays
//! in a register. This is *scalar replacement* (Callahan, Carr, Kennedy, 1990), with `hoist` and `bounds`.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::scoped::Scoped;
use crate::program::{Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::{ScalarOp, ScalarType};
use std::collections::{HashMap, HashSet};

/// Reads elements by the places that they are written to, in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let written = written(function);
        if !written.is_empty() {
            rewrite::rewrite(function, &mut WrittenPlace { written, places: Scoped::new() });
        }
    }
}

/// Where a row begins, and an index in it.
type Place = [Operand; 2];

/// The places of the single elements that a function writes.
fn written(function: &Function) -> HashSet<Place> {
    let (mut sums, mut single) = (HashMap::<Register, Place>::new(), HashMap::<Register, Operand>::new());
    let mut written = HashSet::new();
    function.body.visit(&mut |instruction| match (&instruction.op, &instruction.operands[..]) {
        (Op::Scalar(ScalarOp::AddInt), &[start, index]) => {
            sums.insert(instruction.results[0], [start, index]);
        }
        (Op::Vector(VectorOp::Build), &[place]) => {
            single.insert(instruction.results[0], place);
        }
        (Op::Vector(VectorOp::Scatter), &[_, places, _]) => {
            let place = places.register().and_then(|places| single.get(&places)).and_then(|place| place.register());
            written.extend(place.and_then(|place| sums.get(&place)));
        }
        _ => {}
    });
    written
}

struct WrittenPlace {
    written: HashSet<Place>,
    /// The places that have been computed.
    places: Scoped<Place, Operand>,
}

impl Rule for WrittenPlace {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, &instruction.operands[..]) {
            (Op::Scalar(ScalarOp::AddInt), &[start, index]) => match self.places.get(&[start, index]) {
                Some(&place) => Action::Replace(place),
                None => {
                    self.places.insert([start, index], instruction.results[0].into());
                    Action::Keep
                }
            },
            (Op::Vector(VectorOp::Extract), &[row, index]) => {
                let Some(&[data, start, _]) = context.made_by(row, VectorOp::Slice) else { return Action::Keep };
                let place = [start, index];
                if !self.written.contains(&place) {
                    return Action::Keep;
                }
                let known = self.places.get(&place).copied();
                let sum = known.unwrap_or_else(|| {
                    let int = RegisterType::Scalar(ScalarType::Int);
                    context.emit(Op::Scalar(ScalarOp::AddInt), place.to_vec(), int)
                });
                self.places.insert(place, sum);
                Action::Become(Op::Vector(VectorOp::Extract), vec![data, sum])
            }
            _ => Action::Keep,
        }
    }

    fn enter(&mut self) {
        self.places.enter();
    }

    fn leave(&mut self, _: &mut Context) {
        self.places.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::body_becomes;

    #[test]
    fn what_is_read_and_written_has_one_place() {
        body_becomes(
            run,
            "(%0: column float, %1: int, %2: int, %3: int) -> column float",
            "%4 = check_index %3 %2
             %5 = slice %0 %1 %2
             %6 = extract %5 %4
             %7 = multiply.float %6 2.0
             %8 = add.int %1 %4
             %9 = build %8
             %10 = build %7
             %11 = scatter %0 %9 %10
             return %11",
            "%4 = check_index %3 %2
             %5 = add.int %1 %4
             %6 = extract %0 %5
             %7 = multiply.float %6 2.0
             %8 = build %5
             %9 = build %7
             %10 = scatter %0 %8 %9
             return %10",
        );
    }

    #[test]
    fn what_is_only_read_stays() {
        let body = "%4 = slice %0 %1 %2
             %5 = extract %4 %3
             %6 = extract %4 0
             %7 = add.int %1 %3
             %8 = build %5
             %9 = build %6
             %10 = scatter %0 %9 %8
             %11 = build %3
             %12 = scatter %10 %11 %9
             return %12 %7";
        body_becomes(run, "(%0: column int, %1: int, %2: int, %3: int) -> column int, int", body, body);
    }
}
