//! The results of a function that ends with a loop: the loop writes them to where they stay.
//!
//! A function's results lie where its scratch memory began once it has returned. There lies at first what it made on
//! the way; where its last group reads nothing of that, as in a recursion that reads what its calls gave, the group
//! writes over it, and columns that are put together from what it yields are written side by side. Otherwise they move
//! down together.
//!
//! ```text
//! first = no input lies in mark .. mark + bytes ? mark : top
//! loop of the group over 0 .. length, writing its yields from first on, in the order of the results
//! if first != mark { copy first .. first + bytes to mark }
//! top = mark + bytes
//! ```

use super::Body;
use super::group::{is_stored, plan_of};
use crate::kernel::{Ending, Plan};
use crate::state::TOP;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use nesl_prim::ScalarType;
use nesl_vcode::{Block, Instruction, Op, Operand, Register, RegisterType, VectorOp};

/// The group with which a function ends.
pub(super) struct LastGroup<'i> {
    instruction: &'i Instruction,
    plan: Plan,
    inputs: Vec<Register>,
    /// The results that are columns: the type of their elements, and the yields that they consist of, one after
    /// another.
    columns: Vec<(ScalarType, Vec<usize>)>,
}

/// Where results are written.
struct Place {
    first: Value,
    bytes: Value,
    /// Whether they may have to move down from there.
    may_move: bool,
}

impl Body<'_, '_> {
    /// The group at the end of a block that makes all columns among the block's results, and no others.
    pub(super) fn last_group<'i>(&self, block: &'i Block) -> Option<LastGroup<'i>> {
        let is_after = |instruction: &&Instruction| {
            !matches!(instruction.op, Op::Scalar(_) | Op::Vector(VectorOp::Concat | VectorOp::Length))
        };
        let instruction = block.instructions.iter().rfind(is_after)?;
        // The result of a check is its operand.
        let is_group = match instruction.op {
            Op::Fused(_) | Op::Vector(_) => true,
            Op::Map(op) => op.checked_operand().is_none(),
            _ => false,
        };
        let (plan, inputs) = plan_of(instruction, self.function).filter(|_| is_group)?;
        let ending = |index: &usize| plan.ending(*index);
        let is_scalar =
            |index: &usize| matches!(ending(index), Ending::Reduce(..) | Ending::ReduceIndex(..) | Ending::Sum(..));
        let is_simple = |index| is_stored(ending(&index)) || is_scalar(&index);
        if plan.spaces() > 1 || !(0..plan.yields.len()).all(is_simple) {
            return None;
        }
        let yielded = |operand: Operand| {
            let index = instruction.results.iter().position(|&result| operand == Operand::Register(result))?;
            (self.uses.reads(instruction.results[index]) == 1).then_some(index)
        };
        let mut columns = Vec::new();
        for &result in &block.results {
            let ty = match self.type_of(result) {
                RegisterType::Scalar(_) => continue,
                RegisterType::Column(ty) => ty,
                RegisterType::Descriptor => return None,
            };
            let yields = match yielded(result) {
                Some(index) => vec![index],
                None if ty.size() == 8 => {
                    let concat = self.put_together(block, result)?;
                    let parts = concat.operands.iter().map(|&operand| yielded(operand)).collect::<Option<Vec<_>>>()?;
                    let Op::Fused(group) = &instruction.op else { return None };
                    group.beside.contains(&parts).then_some(parts)?
                }
                None => return None,
            };
            columns.push((ty, yields));
        }
        let placed: usize = columns.iter().map(|(_, yields)| yields.len()).sum();
        let stored = (0..plan.yields.len()).filter(|index| is_stored(ending(index))).count();
        (stored > 0 && placed == stored).then_some(LastGroup { instruction, plan, inputs, columns })
    }

    /// The instruction that puts columns together to one that nobody else reads.
    pub(super) fn put_together<'i>(&self, block: &'i Block, result: Operand) -> Option<&'i Instruction> {
        block.instructions.iter().find(|instruction| {
            matches!(instruction.op, Op::Vector(VectorOp::Concat))
                && result == Operand::Register(instruction.results[0])
                && self.uses.reads(instruction.results[0]) == 1
        })
    }

    /// Emits a block that ends the function with a group; the values of its results.
    pub(super) fn end_in_place(&mut self, mark: Value, block: &Block, last: &LastGroup<'_>) -> Vec<Vec<Value>> {
        let mut columns = Vec::new();
        for instruction in &block.instructions {
            if std::ptr::eq(instruction, last.instruction) {
                let (values, (place, offsets, length)) = self.group_in(&last.plan, &last.inputs, |body, length| {
                    let (found, ends, rooms) = body.place(mark, last, length);
                    (rooms, (found, ends, length))
                });
                self.define(&instruction.results, values);
                self.settle(mark, &place);
                for (offset, (_, yields)) in offsets.into_iter().zip(&last.columns) {
                    let address = self.emitter.builder.ins().iadd(mark, offset);
                    let length = self.emitter.builder.ins().imul_imm_s(length, yields.len() as i64);
                    columns.push(vec![address, length]);
                }
            } else if !self.is_put_together(block, instruction) {
                let values = self.instruction(instruction);
                self.define(&instruction.results, values);
            }
        }
        let mut columns = columns.into_iter();
        let mut results = Vec::with_capacity(block.results.len());
        for &result in &block.results {
            results.push(match self.type_of(result) {
                RegisterType::Column(_) => {
                    columns.next().unwrap_or_else(|| unreachable!("the group makes all columns"))
                }
                _ => self.value(result),
            });
        }
        results
    }

    /// Whether an instruction puts one of the results together.
    fn is_put_together(&self, block: &Block, instruction: &Instruction) -> bool {
        let is_it = |&result: &Operand| {
            self.put_together(block, result).is_some_and(|concat| std::ptr::eq(concat, instruction))
        };
        block.results.iter().any(is_it)
    }

    /// Where results are written that have so many elements in each yield, where each column begins behind the first,
    /// and the address of each yield that is stored.
    fn place(&mut self, mark: Value, last: &LastGroup<'_>, length: Value) -> (Place, Vec<Value>, Vec<Value>) {
        self.require_possible(length);
        let mut bytes = self.emitter.int(0);
        let (mut offsets, mut yields) = (Vec::new(), Vec::new());
        for (ty, parts) in &last.columns {
            offsets.push(bytes);
            let size = self.bytes(length, *ty);
            for &index in parts {
                yields.push((index, bytes));
                bytes = self.emitter.builder.ins().iadd(bytes, size);
            }
            if ty.size() < 8 {
                bytes = self.emitter.aligned(bytes);
            }
        }
        let (first, may_move) = self.beginning(mark, bytes, &last.inputs);
        self.emitter.require_room(first, bytes);
        yields.sort_unstable_by_key(|&(index, _)| index);
        let rooms = yields.into_iter().map(|(_, offset)| self.emitter.builder.ins().iadd(first, offset)).collect();
        (Place { first, bytes, may_move }, offsets, rooms)
    }

    /// Where so many bytes can be written while the inputs of a group are read, and whether that may be elsewhere than
    /// at the mark.
    fn beginning(&mut self, mark: Value, bytes: Value, inputs: &[Register]) -> (Value, bool) {
        let mut addresses = Vec::new();
        for &input in inputs {
            // What a function was given lies before its mark, unless it has begun again.
            if self.tail_loop.is_none() && self.function.parameters.contains(&input) {
                continue;
            }
            let values = self.value(Operand::Register(input));
            match self.function.register_type(input) {
                RegisterType::Scalar(_) => {}
                RegisterType::Column(_) => addresses.push(values[0]),
                RegisterType::Descriptor => addresses.extend(&values[..2]),
            }
        }
        if addresses.is_empty() {
            return (mark, false);
        }
        let builder = &mut self.emitter.builder;
        let (elsewhere, after) = (builder.create_block(), builder.create_block());
        builder.append_block_param(after, types::I64);
        for address in addresses {
            // What lies before the mark is far behind it, taken as what has no sign.
            let offset = self.emitter.builder.ins().isub(address, mark);
            let is_behind = self.emitter.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, offset, bytes);
            self.emitter.go_on_if(is_behind, elsewhere);
        }
        self.emitter.builder.ins().jump(after, &[BlockArg::from(mark)]);
        self.emitter.builder.switch_to_block(elsewhere);
        let top = self.emitter.load_state(TOP);
        self.emitter.builder.ins().jump(after, &[BlockArg::from(top)]);
        self.emitter.builder.switch_to_block(after);
        (self.emitter.builder.block_params(after)[0], true)
    }

    /// Moves results down to the mark, where they are not there, and frees what is behind them.
    fn settle(&mut self, mark: Value, place: &Place) {
        if place.may_move {
            let builder = &mut self.emitter.builder;
            let (moving, after) = (builder.create_block(), builder.create_block());
            let stays = builder.ins().icmp(IntCC::Equal, place.first, mark);
            builder.ins().brif(stays, after, &[], moving, &[]);
            builder.switch_to_block(moving);
            self.emitter.copy(mark, place.first, place.bytes, true);
            self.emitter.builder.ins().jump(after, &[]);
            self.emitter.builder.switch_to_block(after);
        }
        let free = self.emitter.builder.ins().iadd(mark, place.bytes);
        self.emitter.store_state(TOP, free);
    }
}

#[cfg(test)]
mod tests {
    use crate::function::tests::column_of;

    /// The squares of n numbers, made behind so many other columns; and from them, put together, what a group yields:
    /// differences and sums with the first of those columns, which may lie where results go, or with themselves, read
    /// from the end on.
    fn at_the_end(before: usize, reads_first: bool) -> String {
        let columns: String =
            (0..before).map(|column| format!("%{} = map add.int %1 {}\n", 13 + column, 100 * column)).collect();
        let first = if reads_first && before > 0 { "%13" } else { "%2" };
        format!(
            "function f(%0: int) -> int, column int {{
               %1 = call g %0
               %2 = length %1
               return %2 %1
             }}
             function g(%0: int) -> column int {{
               %1 = iota %0
               {columns}
               %2 = map multiply.int %1 %1
               %3 = subtract.int %0 1
               %10, %11 = fused {{
                 %4 = iota %0
                 %5 = map subtract.int %3 %4
                 %6 = map check_index %5 %0
                 %7 = gather {first} %6
                 %8 = map add.int %2 %7
                 %9 = map subtract.int %2 %7
                 yield %8 %9
               }}
               %12 = concat %11 %10
               return %12
             }}"
        )
    }

    #[test]
    fn what_is_read_is_not_written_over_before() {
        for n in [0i64, 1, 2, 3, 4, 17, 64] {
            for before in 0..6 {
                for reads_first in [false, true] {
                    let first = |i: i64| if reads_first && before > 0 { n - 1 - i } else { (n - 1 - i) * (n - 1 - i) };
                    let sums = (0..n).map(|i| i * i + first(i));
                    let expected: Vec<i64> = (0..n).map(|i| i * i - first(i)).chain(sums).collect();
                    let found = column_of(&at_the_end(before, reads_first), &[n as u64]);
                    assert_eq!(found, expected, "{n} {before} {reads_first}");
                }
            }
        }
    }

    #[test]
    fn what_a_function_begins_again_with_lies_where_results_go() {
        let text = "
            function f(%0: int) -> int, column int {
              %1 = iota %0
              %2 = call g 3 %1
              %3 = length %2
              return %3 %2
            }
            function g(%0: int, %1: column int) -> column int {
              %2 = equal.int %0 0
              %8 = if %2 {
                %3 = length %1
                %4 = fused {
                  %9 = iota %3
                  %10 = map subtract.int %3 %9
                  %11 = map subtract.int %10 1
                  %12 = map check_index %11 %3
                  %13 = gather %1 %12
                  yield %13
                }
                yield %4
              } else {
                %5 = subtract.int %0 1
                %6 = map add.int %1 5
                %7 = call g %5 %6
                yield %7
              }
              return %8
            }";
        for n in [0i64, 1, 2, 9, 100] {
            let expected: Vec<i64> = (0..n).rev().map(|i| i + 15).collect();
            assert_eq!(column_of(text, &[n as u64]), expected, "{n}");
        }
    }
}
