//! `each` on the elements of a short sequence that is written out becomes a call for each of them: for code that runs
//! one instance after another.
//!
//! In `{quicksort(v) : v in [lesser, greater]}` the two columns are put together only to be taken apart again, as are
//! the results in `sorted[0]` and `sorted[1]`. The calls take the parts themselves, and who reads a part of the results
//! gets that. Only parts that are known to have the lengths that the descriptor says are taken so; of others slices do.

use crate::layout::{EachPlan, Holds, Take};
use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::size::has_length;
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::HashMap;

/// The longest sequence whose elements get calls of their own: the code grows by so many.
const MOST: i64 = 4;

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

/// Unrolls in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Unroll::default());
    }
}

/// The parts of a column: where each starts, how long it is, and the column that it was.
type Parts = Vec<(Operand, Operand, Operand)>;

#[derive(Default)]
struct Unroll {
    /// What is known of results that were put together: by their descriptors starts and lengths, by their columns the
    /// parts.
    segments: HashMap<Operand, Vec<(Operand, Operand)>>,
    parts: HashMap<Operand, Parts>,
    /// The lengths of results of calls.
    lengths: HashMap<Operand, Operand>,
}

fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

impl Rule for Unroll {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Each(each), &[Operand::Constant(ScalarValue::Int(count)), ..]) if (1..=MOST).contains(&count) => {
                let plan = each.plan();
                if !plan.gives_flat() {
                    return Action::Keep;
                }
                let operands = &instruction.operands[1..];
                let instances: Vec<Vec<Operand>> = (0..count)
                    .map(|index| {
                        let arguments = self.arguments(context, &plan, operands, index);
                        context.emit_all(Op::Call(each.serial), arguments, &each.serial_results())
                    })
                    .collect();
                for (&result, value) in instruction.results.iter().zip(self.together(context, &plan, &instances)) {
                    context.rename(result, value);
                }
                Action::Remove
            }
            (Op::Vector(VectorOp::Extract), &[column, Operand::Constant(ScalarValue::Int(index))]) => {
                let known = context.definition(column).and_then(|definition| match definition.maker {
                    rewrite::Maker::Vector(VectorOp::Starts) => Some(self.at(definition.operands[0], index)?.0),
                    rewrite::Maker::Vector(VectorOp::Lengths) => Some(self.at(definition.operands[0], index)?.1),
                    _ => None,
                });
                known.map_or(Action::Keep, Action::Replace)
            }
            (Op::Vector(VectorOp::Slice), &[column, start, length]) => {
                let parts = self.parts.get(&column).map_or(&[][..], Vec::as_slice);
                let part = parts.iter().find(|part| (part.0, part.1) == (start, length));
                part.map_or(Action::Keep, |part| Action::Replace(part.2))
            }
            _ => Action::Keep,
        }
    }
}

impl Unroll {
    /// The start and the length of a segment of results.
    fn at(&self, descriptor: Operand, index: i64) -> Option<(Operand, Operand)> {
        self.segments.get(&descriptor)?.get(usize::try_from(index).ok()?).copied()
    }

    /// The arguments of an instance.
    fn arguments(&self, context: &mut Context, plan: &EachPlan, operands: &[Operand], index: i64) -> Vec<Operand> {
        let mut arguments = Vec::with_capacity(operands.len());
        // Of sequences that were put together the parts of their columns; of others where the segments are.
        let (mut written_out, mut ranges) = (HashMap::new(), HashMap::new());
        for (position, (taken, &operand)) in plan.operands.iter().zip(operands).enumerate() {
            let argument = match (taken.take, taken.register) {
                (Take::Element, RegisterType::Descriptor) => {
                    if let Some(length) = self.written_out(context, plan, operands, (position, index), &mut written_out)
                    {
                        length
                    } else {
                        let [starts, lengths] = [VectorOp::Starts, VectorOp::Lengths]
                            .map(|op| context.emit(Op::Vector(op), vec![operand], INTS));
                        let [start, length] = [starts, lengths].map(|column| element(context, column, index, INT));
                        ranges.insert(position, (start, length));
                        length
                    }
                }
                (Take::Element, RegisterType::Column(ty) | RegisterType::Scalar(ty)) => {
                    element(context, operand, index, RegisterType::Scalar(ty))
                }
                (Take::Slice(of), ty) => match (written_out.get(&position), ranges.get(&of)) {
                    (Some(&part), _) => part,
                    (None, Some(&range)) => slice(context, operand, ty, range),
                    (None, None) => operand,
                },
                // What segments lie in stays whole.
                (Take::Same | Take::Data, _) => operand,
            };
            arguments.push(argument);
        }
        arguments
    }

    /// The length of one of the sequences that were put together; notes the parts of its columns by their positions.
    fn written_out(
        &self,
        context: &Context,
        plan: &EachPlan,
        operands: &[Operand],
        (position, index): (usize, i64),
        columns: &mut HashMap<usize, Operand>,
    ) -> Option<Operand> {
        let lengths = context.made_by(context.made_by(operands[position], VectorOp::Packed)?[0], VectorOp::Build)?;
        let index = usize::try_from(index).ok()?;
        let length = *lengths.get(index)?;
        let mut found = Vec::new();
        for (child, taken) in plan.operands.iter().enumerate().filter(|(_, taken)| taken.take == Take::Slice(position))
        {
            let parts = context.made_by(operands[child], VectorOp::Concat)?;
            let is_known = |(&part, &length): (&Operand, &Operand)| {
                self.lengths.get(&part) == Some(&length) || has_length(context, part, length)
            };
            // All of them before it, for it to begin where it should.
            let all = parts.len() == lengths.len() && parts.iter().zip(lengths).take(index + 1).all(is_known);
            let is_column = taken.register != RegisterType::Descriptor;
            found.push((child, *parts.get(index).filter(|_| all && is_column)?));
        }
        columns.extend(found);
        Some(length)
    }

    /// The results of all instances, from those of each.
    fn together(&mut self, context: &mut Context, plan: &EachPlan, instances: &[Vec<Operand>]) -> Vec<Operand> {
        let mut values: Vec<Operand> = Vec::with_capacity(plan.results.len());
        for (place, field) in plan.results.iter().enumerate() {
            let all: Vec<Operand> = instances.iter().map(|results| results[place]).collect();
            let segments = field.parent.and_then(|parent| self.segments.get(&values[parent]));
            values.push(match (segments, field.holds) {
                (Some(segments), _) => {
                    self.lengths.extend(all.iter().copied().zip(segments.iter().map(|segment| segment.1)));
                    let parts = segments.iter().zip(&all);
                    let parts: Parts = parts.map(|(&(start, length), &part)| (start, length, part)).collect();
                    let column = context.emit(Op::Vector(VectorOp::Concat), all, field.lifted());
                    self.parts.insert(column, parts);
                    column
                }
                (None, Holds::Scalars(_)) => context.emit(Op::Vector(VectorOp::Build), all, field.lifted()),
                (None, Holds::Sequences) => {
                    let mut segments = vec![(int(0), all[0])];
                    for pair in all.windows(2) {
                        let (start, length) = segments[segments.len() - 1];
                        let start = match start {
                            Operand::Constant(_) => length,
                            start => context.emit(Op::Scalar(ScalarOp::AddInt), vec![start, length], INT),
                        };
                        segments.push((start, pair[1]));
                    }
                    let column = context.emit(Op::Vector(VectorOp::Build), all, INTS);
                    let descriptor = context.emit(Op::Vector(VectorOp::Packed), vec![column], field.lifted());
                    self.segments.insert(descriptor, segments);
                    descriptor
                }
            });
        }
        values
    }
}

/// An element of a column.
fn element(context: &mut Context, column: Operand, index: i64, ty: RegisterType) -> Operand {
    let known = context.made_by(column, VectorOp::Build).zip(usize::try_from(index).ok());
    match known.and_then(|(elements, index)| elements.get(index).copied()) {
        Some(element) => element,
        None => context.emit(Op::Vector(VectorOp::Extract), vec![column, int(index)], ty),
    }
}

/// The part of a register from a start on, of a length.
fn slice(context: &mut Context, operand: Operand, ty: RegisterType, (start, length): (Operand, Operand)) -> Operand {
    let part =
        |context: &mut Context, column, ty| context.emit(Op::Vector(VectorOp::Slice), vec![column, start, length], ty);
    match ty {
        RegisterType::Descriptor => {
            let [starts, lengths] = [VectorOp::Starts, VectorOp::Lengths].map(|op| {
                let all = context.emit(Op::Vector(op), vec![operand], INTS);
                part(context, all, INTS)
            });
            context.emit(Op::Vector(VectorOp::View), vec![starts, lengths], ty)
        }
        column => part(context, operand, column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::becomes;
    use crate::passes::{dead, number};

    /// What a function `f` becomes, beside the versions of `g`, of which each instance gives a sequence.
    fn f_becomes(before: &str, after: &str) {
        let versions = "
            function g(%0: int, %1: column int) -> int, column int {
              return %0 %1
            }
            function g/L(%0: int, %1: descriptor, %2: column int) -> descriptor, column int {
              return %1 %2
            }";
        let tidied = |program: &mut Program| {
            run(program);
            dead::run(program);
            number::run(program);
        };
        becomes(tidied, &format!("{before}{versions}"), &format!("{after}{versions}"));
    }

    #[test]
    fn sequences_that_are_written_out_go_to_calls_and_come_from_them() {
        f_becomes(
            "function f(%0: column int, %1: column int) -> int, column int, int {
               %2 = length %0
               %3 = length %1
               %4 = build %2 %3
               %5 = concat %0 %1
               %6 = packed %4
               %7, %8 = each g g/L(of [int]) -> [int] 2 %6 %5
               %9 = starts %7
               %10 = lengths %7
               %11 = extract %9 1
               %12 = extract %10 1
               %13 = slice %8 %11 %12
               %14 = extract %10 0
               return %12 %13 %14
             }",
            "function f(%0: column int, %1: column int) -> int, column int, int {
               %2 = length %0
               %3 = length %1
               %4, %5 = call g %2 %0
               %6, %7 = call g %3 %1
               return %6 %7 %4
             }",
        );
    }

    #[test]
    fn others_are_cut_out_of_what_they_lie_in() {
        f_becomes(
            "function f(%0: descriptor, %1: column int) -> descriptor, column int {
               %2, %3 = each g g/L(of [int]) -> [int] 2 %0 %1
               return %2 %3
             }",
            "function f(%0: descriptor, %1: column int) -> descriptor, column int {
               %2 = starts %0
               %3 = lengths %0
               %4 = extract %2 0
               %5 = extract %3 0
               %6 = slice %1 %4 %5
               %7, %8 = call g %5 %6
               %9 = starts %0
               %10 = lengths %0
               %11 = extract %9 1
               %12 = extract %10 1
               %13 = slice %1 %11 %12
               %14, %15 = call g %12 %13
               %16 = build %7 %14
               %17 = packed %16
               %18 = concat %8 %15
               return %17 %18
             }",
        );
    }

    #[test]
    fn many_instances_stay_a_loop() {
        let text = "function f(%0: descriptor, %1: column int) -> descriptor, column int {
               %2, %3 = each g g/L(of [int]) -> [int] 5 %0 %1
               return %2 %3
             }";
        f_becomes(text, text);
    }
}
