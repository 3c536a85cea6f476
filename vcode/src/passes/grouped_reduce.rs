//! Reductions of groups that are never made: where elements are brought together only to be reduced, each is combined
//! into the result of its group.
//!
//! ```text
//! %r = rank_up %i                                          %n = reduce_by_index.op %v %i n
//! %g = scatter … %r %v          the groups, in order
//! %l = combine_by_index.add.int (dist 0 n) %i (dist 1 …)   how long they are
//! %d = packed %l
//! %n = seg_reduce.op %g %d
//! ```
//!
//! Ranks of numbers bring equal ones together, in their order, and as often as a number occurs, so long is its group:
//! that is all this needs to know of `%i`. So do groups that leave out those without elements (lengths that are packed
//! where they are greater than 0): the results are packed likewise. What is computed elementwise of grouped elements is
//! computed of the elements as they were, and what is spread over groups is looked up by the number of the group.
//!
//! Only of what nothing else reads: of groups that are made anyway a reduction is cheaper.

use crate::op::VectorOp;
use crate::passes::effect::has_effect;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::{Direction, ScalarOp, ScalarValue};
use std::collections::HashMap;

/// Reduces by index in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let only_reduced = OnlyReduced::of(function);
        rewrite::rewrite(function, &mut GroupedReduce { only_reduced });
    }
}

/// The columns that are reduced by segments, they or what is computed elementwise of them, and read by nothing else.
struct OnlyReduced {
    /// By register, whether something else reads it.
    is_read: Vec<bool>,
}

impl OnlyReduced {
    fn of(function: &Function) -> OnlyReduced {
        let mut found = OnlyReduced { is_read: vec![false; function.registers.len()] };
        found.block(&function.body);
        found
    }

    /// Walks a block from its end: what reads a result is known before the instruction that makes it.
    fn block(&mut self, block: &Block) {
        block.results.iter().for_each(|&result| self.read(result));
        for instruction in block.instructions.iter().rev() {
            if let Op::If(then_block, else_block) = &instruction.op {
                self.block(else_block);
                self.block(then_block);
            }
            let operands = match &instruction.op {
                Op::Vector(VectorOp::SegReduce(_)) => &instruction.operands[1..],
                op if is_elementwise(op, &instruction.operands) && self.contains(instruction.results[0].into()) => &[],
                _ => &instruction.operands[..],
            };
            operands.iter().for_each(|&operand| self.read(operand));
        }
    }

    fn read(&mut self, operand: Operand) {
        if let Operand::Register(register) = operand {
            self.is_read[register.0 as usize] = true;
        }
    }

    fn contains(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Register(Register(number)) if self.is_read.get(number as usize) == Some(&false))
    }
}

/// Whether an instruction makes elements of those at the same index, and cannot fail: it is the same wherever they are.
fn is_elementwise(op: &Op, operands: &[Operand]) -> bool {
    matches!(op, Op::Map(_)) && !has_effect(op, operands)
}

struct GroupedReduce {
    only_reduced: OnlyReduced,
}

impl Rule for GroupedReduce {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let (&Op::Vector(VectorOp::SegReduce(op)), &[column, descriptor]) =
            (&instruction.op, instruction.operands.as_slice())
        else {
            return Action::Keep;
        };
        let reduced = (|| {
            let groups = Groups::of(context, descriptor).filter(|_| !op.row().fallible)?;
            let is_only_reduced = |column| self.only_reduced.contains(column);
            (groups.is_made_of(context, column, &is_only_reduced)).then(|| groups.reduced(context, op, column))
        })();
        match reduced {
            Some((op, operands)) => Action::Become(Op::Vector(op), operands),
            None => Action::Keep,
        }
    }
}

/// Groups of equal numbers, in the order of these.
#[derive(Clone, Copy)]
struct Groups {
    /// The number of each element's group.
    numbers: Operand,
    /// How many numbers there may be.
    count: Operand,
    /// How many elements each has.
    lengths: Operand,
    /// Which of them have elements, where the others are left out.
    kept: Option<Operand>,
}

impl Groups {
    /// The groups of which these are the segments, if they are some.
    fn of(context: &Context, descriptor: Operand) -> Option<Groups> {
        let lengths = context.made_by(descriptor, VectorOp::Packed)?[0];
        let (all, kept) = match context.made_by(unchecked(context, lengths), VectorOp::Pack) {
            Some(&[all, flags]) if is_greater_than_zero(context, flags, all) => (all, Some(flags)),
            _ => (lengths, None),
        };
        let counting = VectorOp::CombineByIndex(ScalarOp::AddInt);
        let &[zeros, numbers, ones] = context.made_by(unchecked(context, all), counting)? else { return None };
        let [zero, count] = context.broadcast(zeros)?;
        let [one, _] = context.broadcast(ones)?;
        (is_int(zero, 0) && is_int(one, 1)).then_some(Groups { numbers, count, lengths, kept })
    }

    /// Whether a column is made of elements that are brought together in these groups, and whether those were brought
    /// together for this alone.
    fn is_made_of(self, context: &Context, column: Operand, is_only_reduced: &impl Fn(Operand) -> bool) -> bool {
        if self.grouped(context, column).is_some() {
            return is_only_reduced(column);
        }
        let Some(definition) = context.definition(column) else { return false };
        let Maker::Map(op) = definition.maker else { return false };
        let mut columns = definition.operands.iter().filter(|&&operand| is_column(context, operand)).peekable();
        let is_made_of = |&operand: &Operand| {
            self.spread(context, operand).is_some() || self.is_made_of(context, operand, is_only_reduced)
        };
        is_elementwise(&Op::Map(op), &definition.operands) && columns.peek().is_some() && columns.all(is_made_of)
    }

    /// The elements that were brought together.
    fn grouped(self, context: &Context, column: Operand) -> Option<Operand> {
        // Where all places are written it makes no difference what was there.
        let &[_, ranks, values] = context.made_by(column, VectorOp::Scatter)? else { return None };
        let &[ranked] = context.made_by(ranks, VectorOp::Rank(Direction::Up))? else { return None };
        (unchecked(context, ranked) == unchecked(context, self.numbers)).then_some(values)
    }

    /// What is spread over the elements of groups: an element for each.
    fn spread(self, context: &Context, column: Operand) -> Option<Operand> {
        let &[of_groups, descriptor] = context.made_by(column, VectorOp::SegDist)? else { return None };
        (context.made_by(descriptor, VectorOp::Packed) == Some(&[self.lengths])).then_some(of_groups)
    }

    /// The column that [is made of](Groups::is_made_of) grouped elements as it is without groups, and so is what it is
    /// made of: `known` says of which columns that has been computed already.
    fn ungrouped(self, context: &mut Context, column: Operand, known: &mut HashMap<Operand, Operand>) -> Operand {
        if let Some(values) = self.grouped(context, column).or_else(|| known.get(&column).copied()) {
            return values;
        }
        let ty = context.type_of(column);
        let (op, operands) = if let Some(of_groups) = self.spread(context, column) {
            (Op::Vector(VectorOp::Gather), vec![of_groups, self.own_groups(context, known)])
        } else {
            let definition =
                context.definition(column).map(|definition| (definition.maker, definition.operands.clone()));
            let Some((Maker::Map(op), operands)) = definition else { return column };
            (Op::Map(op), operands.into_iter().map(|operand| self.ungrouped(context, operand, known)).collect())
        };
        let computed = context.emit(op, operands, ty);
        known.insert(column, computed);
        computed
    }

    /// Which group each element is in, of those with elements where the others are left out.
    fn own_groups(self, context: &mut Context, known: &mut HashMap<Operand, Operand>) -> Operand {
        let Some(flags) = self.kept else { return self.numbers };
        if let Some(&groups) = known.get(&flags) {
            return groups;
        }
        let ints = context.type_of(self.numbers);
        let ones = context.emit(Op::Map(ScalarOp::BoolToInt), vec![flags], ints);
        let before = context.emit(Op::Vector(VectorOp::Scan(ScalarOp::AddInt)), vec![ones], ints);
        let groups = context.emit(Op::Vector(VectorOp::Gather), vec![before, self.numbers], ints);
        known.insert(flags, groups);
        groups
    }

    /// The instruction that reduces such a column.
    fn reduced(self, context: &mut Context, op: ScalarOp, column: Operand) -> (VectorOp, Vec<Operand>) {
        let (ty, values) = (context.type_of(column), self.ungrouped(context, column, &mut HashMap::new()));
        let (reduce, operands) = if op.row().associative {
            let identities = vec![Operand::Constant(op.identity()), self.count];
            let identities = context.emit(Op::Vector(VectorOp::Dist), identities, ty);
            (VectorOp::CombineByIndex(op), vec![identities, self.numbers, values])
        } else {
            (VectorOp::ReduceByIndex(op), vec![values, self.numbers, self.count])
        };
        match self.kept {
            Some(flags) => (VectorOp::Pack, vec![context.emit(Op::Vector(reduce), operands, ty), flags]),
            None => (reduce, operands),
        }
    }
}

/// Elements before they were checked.
fn unchecked(context: &Context, column: Operand) -> Operand {
    let checked = context.definition(column).and_then(|definition| match definition.maker {
        Maker::Map(op) => op.checked_operand().map(|position| definition.operands[position]),
        _ => None,
    });
    checked.map_or(column, |checked| unchecked(context, checked))
}

fn is_int(operand: Operand, int: i64) -> bool {
    operand == Operand::Constant(ScalarValue::Int(int))
}

/// Whether flags say where ints are greater than 0.
fn is_greater_than_zero(context: &Context, flags: Operand, ints: Operand) -> bool {
    let Some(definition) = context.definition(flags) else { return false };
    let &[left, right] = definition.operands.as_slice() else { return false };
    definition.maker == Maker::Map(ScalarOp::GreaterInt) && left == ints && is_int(right, 0)
}

fn is_column(context: &Context, operand: Operand) -> bool {
    matches!(context.type_of(operand), RegisterType::Column(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const SIGNATURE: &str = "(%0: column int, %1: int, %2: column float, %3: column int) -> column float";
    /// How long groups are.
    const LENGTHS: &str = "%4 = length %0
        %5 = dist 0 %1
        %6 = map check_index %0 %1
        %7 = dist 1 %4
        %8 = combine_by_index.add.int %5 %6 %7\n";
    /// The elements of the groups.
    const GROUPS: &str = "%9 = rank_up %0
        %10 = dist 0.0 %4
        %11 = scatter %10 %9 %2
        %12 = packed %8\n";

    /// Checks what becomes of groups and what reads them, after removal of what is no longer used.
    #[track_caller]
    fn becomes(before: &str, after: &str) {
        let (before, after) = (format!("{LENGTHS}{GROUPS}{before}"), format!("{LENGTHS}{after}"));
        testing::body_becomes(run, SIGNATURE, &before, &after);
    }

    #[test]
    fn groups_that_are_only_reduced_are_not_made() {
        let becomes = |before: &str, after: &str| {
            let before = format!("{LENGTHS}{GROUPS}{before}");
            testing::body_becomes(run, SIGNATURE, &before, &format!("%4 = map check_index %0 %1\n{after}"));
        };
        becomes("%13 = seg_reduce.add.float %11 %12\nreturn %13", "%5 = reduce_by_index.add.float %2 %4 %1\nreturn %5");
        becomes(
            "%13 = seg_reduce.maximum.float %11 %12\nreturn %13",
            "%5 = dist -inf %1\n%6 = combine_by_index.maximum.float %5 %4 %2\nreturn %6",
        );
    }

    #[test]
    fn so_are_functions_of_their_elements_and_of_the_groups() {
        becomes(
            "%13 = seg_reduce.maximum.float %11 %12
             %14 = seg_dist %13 %12
             %15 = map subtract.float %11 %14
             %16 = map multiply.float %15 %15
             %17 = map int_to_float %8
             %18 = seg_reduce.add.float %16 %12
             %19 = map divide.float %18 %17
             return %19",
            "%9 = dist -inf %1
             %10 = combine_by_index.maximum.float %9 %6 %2
             %11 = map int_to_float %8
             %12 = gather %10 %6
             %13 = map subtract.float %2 %12
             %14 = map multiply.float %13 %13
             %15 = reduce_by_index.add.float %14 %6 %1
             %16 = map divide.float %15 %11
             return %16",
        );
    }

    #[test]
    fn groups_without_elements_may_be_left_out() {
        becomes(
            "%13 = map greater.int %8 0
             %14 = pack %8 %13
             %15 = packed %14
             %16 = seg_reduce.add.float %11 %15
             return %16",
            "%9 = map greater.int %8 0
             %10 = reduce_by_index.add.float %2 %6 %1
             %11 = pack %10 %9
             return %11",
        );
    }

    #[test]
    fn what_is_spread_over_groups_is_that_of_those_with_elements() {
        becomes(
            "%13 = map greater.int %8 0
             %14 = pack %8 %13
             %15 = packed %14
             %16 = seg_reduce.maximum.float %11 %15
             %17 = seg_dist %16 %15
             %18 = map subtract.float %11 %17
             %19 = seg_reduce.add.float %18 %15
             return %19",
            "%9 = map greater.int %8 0
             %10 = dist -inf %1
             %11 = combine_by_index.maximum.float %10 %6 %2
             %12 = pack %11 %9
             %13 = map bool_to_int %9
             %14 = scan.add.int %13
             %15 = gather %14 %6
             %16 = gather %12 %15
             %17 = map subtract.float %2 %16
             %18 = reduce_by_index.add.float %17 %6 %1
             %19 = pack %18 %9
             return %19",
        );
    }

    #[test]
    fn groups_that_something_else_reads_are_made() {
        for body in [
            "%13 = seg_reduce.add.float %11 %12\n%14 = concat %11 %13\nreturn %14",
            "%13 = map sin %11\n%14 = seg_reduce.add.float %13 %12\n%15 = concat %14 %13\nreturn %15",
        ] {
            becomes(body, &format!("{GROUPS}{body}"));
        }
        // Groups that have more than one element.
        let groups = "%9 = rank_up %0
             %10 = dist 0.0 %4
             %11 = scatter %10 %9 %2
             %12 = map greater.int %8 1
             %13 = pack %8 %12
             %14 = packed %13
             %15 = seg_reduce.add.float %11 %14
             return %15";
        testing::body_becomes(run, SIGNATURE, &format!("{LENGTHS}{groups}"), &format!("{LENGTHS}{groups}"));
    }

    #[test]
    fn elements_by_other_ranks_are_no_groups() {
        let text = "function f(%0: column int, %1: int, %2: column float, %3: column int) -> column float {
  %4 = length %0
  %5 = dist 0 %1
  %6 = dist 1 %4
  %7 = combine_by_index.add.int %5 %0 %6
  %8 = rank_up %3
  %9 = dist 0.0 %4
  %10 = scatter %9 %8 %2
  %11 = packed %7
  %12 = seg_reduce.add.float %10 %11
  return %12
}

";
        testing::stays(run, text);
    }
}
