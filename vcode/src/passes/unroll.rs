//! `each` on the elements of a short sequence that is written out becomes a call for each of them: for code that runs
//! one instance after another.
//!
//! In `{quicksort(v) : v in [lesser, greater]}` the two columns are put together only to be taken apart again, as are
//! the results in `sorted[0]` and `sorted[1]`. The calls take the parts themselves, and who reads a part of the results
//! gets that. Only parts that are known to have the lengths that the descriptor says are taken so; of others slices do.

use crate::each::Each;
use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::simplify::has_length;
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use crate::shape::Shape;
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
            (Op::Each(each), &[Operand::Constant(ScalarValue::Int(count)), ..])
                if (1..=MOST).contains(&count) && each.results.iter().all(is_flat) =>
            {
                self.unroll(context, each, count, instruction);
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

/// Whether values of a shape are scalars and sequences of scalars.
fn is_flat(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(_) | Shape::Function(None) | Shape::Unit => true,
        Shape::Pair(first, rest) => is_flat(first) && is_flat(rest),
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => is_flat(inner),
        Shape::Sequence(element) => element.lifted().iter().all(|ty| matches!(ty, RegisterType::Column(_))),
        Shape::Entry(_) => false,
    }
}

fn next<'o>(operands: &mut impl Iterator<Item = &'o Operand>) -> Operand {
    *operands.next().unwrap_or_else(|| panic!("an operand is missing: unverified program"))
}

impl Unroll {
    /// The start and the length of a segment of results.
    fn at(&self, descriptor: Operand, index: i64) -> Option<(Operand, Operand)> {
        self.segments.get(&descriptor)?.get(usize::try_from(index).ok()?).copied()
    }

    fn unroll(&mut self, context: &mut Context, each: &Each, count: i64, instruction: &Instruction) {
        let instances: Vec<Vec<Operand>> = (0..count)
            .map(|index| {
                let mut rest = instruction.operands[1..].iter();
                let mut arguments = Vec::new();
                for argument in &each.arguments {
                    if argument.varies {
                        self.argument(context, &argument.shape, index, &mut rest, &mut arguments);
                    } else {
                        arguments.extend(rest.by_ref().take(argument.registers().len()));
                    }
                }
                context.emit_all(Op::Call(each.serial), arguments, &each.serial_results())
            })
            .collect();
        let mut values = Vec::new();
        let mut place = 0;
        each.results.iter().for_each(|shape| self.together(context, shape, &instances, &mut place, &mut values));
        for (&result, value) in instruction.results.iter().zip(values) {
            context.rename(result, value);
        }
    }

    /// The arguments of an instance for a shape whose lifted registers come next.
    fn argument<'o>(
        &self,
        context: &mut Context,
        shape: &Shape,
        index: i64,
        operands: &mut impl Iterator<Item = &'o Operand>,
        arguments: &mut Vec<Operand>,
    ) {
        match shape {
            Shape::Scalar(ty) => {
                let column = next(operands);
                arguments.push(element(context, column, index, RegisterType::Scalar(*ty)));
            }
            Shape::Pair(first, rest) => {
                self.argument(context, first, index, operands, arguments);
                self.argument(context, rest, index, operands, arguments);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => {
                self.argument(context, inner, index, operands, arguments);
            }
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(elements) => {
                let descriptor = next(operands);
                let columns: Vec<Operand> = elements.lifted().iter().map(|_| next(operands)).collect();
                match self.written_out(context, elements, descriptor, &columns, index) {
                    Some(part) => arguments.extend(part),
                    None => cut(context, elements, descriptor, &columns, index, arguments),
                }
            }
            Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
        }
    }

    /// The length and the columns of one of the sequences that were put together.
    fn written_out(
        &self,
        context: &Context,
        elements: &Shape,
        descriptor: Operand,
        columns: &[Operand],
        index: i64,
    ) -> Option<Vec<Operand>> {
        if !is_flat(elements) {
            return None;
        }
        let lengths = context.made_by(context.made_by(descriptor, VectorOp::Packed)?[0], VectorOp::Build)?;
        let index = usize::try_from(index).ok()?;
        let mut part = vec![*lengths.get(index)?];
        for &column in columns {
            let parts = context.made_by(column, VectorOp::Concat)?;
            let is_known = |(&part, &length): (&Operand, &Operand)| {
                self.lengths.get(&part) == Some(&length) || has_length(context, part, length)
            };
            // All of them before it, for it to begin where it should.
            let all = parts.len() == lengths.len() && parts.iter().zip(lengths).take(index + 1).all(is_known);
            part.push(*parts.get(index).filter(|_| all)?);
        }
        Some(part)
    }

    /// The lifted registers of a shape, of the results of all instances.
    fn together(
        &mut self,
        context: &mut Context,
        shape: &Shape,
        instances: &[Vec<Operand>],
        place: &mut usize,
        values: &mut Vec<Operand>,
    ) {
        let mut all = || {
            *place += 1;
            instances.iter().map(|results| results[*place - 1]).collect::<Vec<Operand>>()
        };
        match shape {
            Shape::Scalar(ty) => {
                values.push(context.emit(Op::Vector(VectorOp::Build), all(), RegisterType::Column(*ty)));
            }
            Shape::Pair(first, rest) => {
                self.together(context, first, instances, place, values);
                self.together(context, rest, instances, place, values);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => {
                self.together(context, inner, instances, place, values);
            }
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(elements) => {
                let lengths = all();
                let mut segments = vec![(int(0), lengths[0])];
                for pair in lengths.windows(2) {
                    let (start, length) = segments[segments.len() - 1];
                    let start = match start {
                        Operand::Constant(_) => length,
                        start => context.emit(Op::Scalar(ScalarOp::AddInt), vec![start, length], INT),
                    };
                    segments.push((start, pair[1]));
                }
                let column = context.emit(Op::Vector(VectorOp::Build), lengths, INTS);
                let descriptor = context.emit(Op::Vector(VectorOp::Packed), vec![column], RegisterType::Descriptor);
                values.push(descriptor);
                for ty in elements.lifted() {
                    let columns = all();
                    self.lengths.extend(columns.iter().copied().zip(segments.iter().map(|segment| segment.1)));
                    let parts = segments.iter().zip(&columns);
                    let parts: Parts = parts.map(|(&(start, length), &part)| (start, length, part)).collect();
                    let column = context.emit(Op::Vector(VectorOp::Concat), columns, ty);
                    self.parts.insert(column, parts);
                    values.push(column);
                }
                self.segments.insert(descriptor, segments);
            }
            Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
        }
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

/// A segment of columns, taken out of them.
fn cut(
    context: &mut Context,
    elements: &Shape,
    descriptor: Operand,
    columns: &[Operand],
    index: i64,
    arguments: &mut Vec<Operand>,
) {
    let [starts, lengths] =
        [VectorOp::Starts, VectorOp::Lengths].map(|op| context.emit(Op::Vector(op), vec![descriptor], INTS));
    let [start, length] = [starts, lengths].map(|column| element(context, column, index, INT));
    arguments.push(length);
    slices(context, elements, (start, length), &mut columns.iter(), arguments);
}

/// The part of the lifted registers of a shape from a start on, of a length.
fn slices<'o>(
    context: &mut Context,
    shape: &Shape,
    range: (Operand, Operand),
    columns: &mut impl Iterator<Item = &'o Operand>,
    arguments: &mut Vec<Operand>,
) {
    let slice = |context: &mut Context, column, ty| {
        context.emit(Op::Vector(VectorOp::Slice), vec![column, range.0, range.1], ty)
    };
    match shape {
        Shape::Scalar(ty) => arguments.push(slice(context, next(columns), RegisterType::Column(*ty))),
        Shape::Pair(first, rest) => {
            slices(context, first, range, columns, arguments);
            slices(context, rest, range, columns, arguments);
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => slices(context, inner, range, columns, arguments),
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(elements) => {
            let descriptor = next(columns);
            let [starts, lengths] = [VectorOp::Starts, VectorOp::Lengths].map(|op| {
                let all = context.emit(Op::Vector(op), vec![descriptor], INTS);
                slice(context, all, INTS)
            });
            arguments.push(context.emit(Op::Vector(VectorOp::View), vec![starts, lengths], RegisterType::Descriptor));
            // What the segments lie in stays whole.
            arguments.extend(columns.by_ref().take(elements.lifted().len()));
        }
        Shape::Entry(_) => panic!("an entry of a stack in a sequence: unverified program"),
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
