//! Columns that grow in a loop: each column that the loop carries has a slot, with room behind it.
//!
//! `v ++ [x]` would copy `v` in each turn. Where nothing reads `v` any more, `x` is written behind it, into what is
//! left of its slot, so that it costs what it adds; taking elements off an end has always been a matter of addresses.
//! So stacks and queues cost what they move. The slots lie where the scratch memory of the loop begins, and what a turn
//! makes behind all of them. What has no room in its slot moves to a new one at the end of the turn, twice as large
//! ([`crate::runtime::slots`]). That nothing else reads `v` is known before, as for columns that are written over
//! ([`super::updates`]).
//!
//! ```text
//! f(v, i):
//!     slots = none; behind = mark                         // once, when the loop begins
//!   turn:
//!     v ++ [x]:  v lies in a slot, and x before its end ? write x behind v : copy both
//!     at a call f(w, j) that ends it:
//!         w lies in slot 0, or before mark ? go on : settle
//!         top = behind; v = w; i = j; jump turn
//! ```
//!
//! A function that is called with a column to write over may write behind it as well, up to the end of its slot.

use super::Body;
use super::columns::{Part, addresses};
use crate::emitter::TRUSTED;
use crate::runtime::slots::{NONE, settle};
use crate::state::{END, TOP};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use nesl_prim::ScalarType;
use nesl_vcode::alias::Updates;
use nesl_vcode::{Function, FunctionId, Instruction, Op, RegisterType};
use std::collections::HashSet;

/// The slots of a loop: two words for each on the stack, where it begins and ends, and behind them where the last ends.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    words: StackSlot,
    count: usize,
}

impl Body<'_, '_> {
    /// The slots of a loop of these functions, none of which passes another one column twice; none if nothing grows
    /// in it.
    pub(super) fn begin_slots(&mut self, functions: &HashSet<FunctionId>) -> Option<Slots> {
        let mark = self.mark?.address;
        let of = |id: &FunctionId| &self.program.functions[id.0 as usize];
        if !functions.iter().any(|id| self.grows(of(id))) {
            return None;
        }
        let columns = |id| of(id).parameters.iter().map(|&parameter| columns_of(of(id).register_type(parameter))).sum();
        let count: usize = functions.iter().map(columns).max().unwrap_or(0);
        let size = 8 * (2 * count + 1) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slots = Slots { words: self.emitter.builder.create_sized_stack_slot(slot), count };
        let (words, none) = (self.words_of_slots(slots), self.emitter.int(NONE as i64));
        for index in 0..2 * count {
            self.emitter.store_word(words, index, none);
        }
        self.emitter.store_word(words, 2 * count, mark);
        Some(slots)
    }

    /// Whether a function appends to columns that it may write behind, or lets one do so that it calls.
    fn grows(&self, function: &Function) -> bool {
        let updates = Updates::of(function, &self.calls.summaries);
        let mut grows = updates.grows();
        function.body.visit(&mut |instruction| {
            if let Op::Call(callee) = instruction.op {
                let appends = self.functions.get(&callee).is_some_and(|entry| entry.grows);
                grows |= appends && !updates.granted(instruction).is_empty();
            }
        });
        grows
    }

    fn words_of_slots(&mut self, slots: Slots) -> Value {
        self.emitter.builder.ins().stack_addr(types::I64, slots.words, 0)
    }

    /// Where the memory begins and ends that this function may write to beside what it makes: the slots of its loop,
    /// and what its caller lets it have.
    fn ranges(&mut self) -> Vec<[Value; 2]> {
        let mut ranges = Vec::new();
        if let Some(slots) = self.tail_loop.as_ref().and_then(|tail_loop| tail_loop.slots) {
            let words = self.words_of_slots(slots);
            let bounds = |index| [2 * index, 2 * index + 1].map(|word| self.emitter.load_word(words, word));
            ranges.extend((0..slots.count).map(bounds));
        }
        for [start, bytes] in self.granted.clone() {
            ranges.push([start, self.emitter.builder.ins().iadd(start, bytes)]);
        }
        ranges
    }

    /// How many bytes from the beginning of a column on are the function's own and nobody else's: none unless the
    /// column is.
    pub(super) fn own_bytes(&mut self, column: Value, bytes: Value) -> Value {
        let is_made = self.is_made(column);
        let nothing = self.emitter.int(0);
        let mut own = self.emitter.builder.ins().select(is_made, bytes, nothing);
        for range in self.ranges() {
            let is_inside = self.is_inside(column, range);
            let builder = &mut self.emitter.builder;
            let room = builder.ins().isub(range[1], column);
            own = builder.ins().select(is_inside, room, own);
        }
        own
    }

    /// Whether an address is in a range, or its end.
    fn is_inside(&mut self, address: Value, [start, end]: [Value; 2]) -> Value {
        let builder = &mut self.emitter.builder;
        let (offset, size) = (builder.ins().isub(address, start), builder.ins().isub(end, start));
        builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, offset, size)
    }

    /// Appends columns to one that nothing else reads, which is written behind where there is room for that; none where
    /// an instruction does something else.
    pub(super) fn append(&mut self, instruction: &Instruction) -> Option<Vec<Value>> {
        if self.tail_loop.is_none() || !self.updates.may_append(instruction) {
            return None;
        }
        let columns = self.flat(&instruction.operands);
        let ty = self.scalar_type(instruction.operands[0]);
        let mut length = columns[1];
        for column in columns.chunks(2).skip(1) {
            length = self.emitter.builder.ins().iadd(length, column[1]);
        }
        self.require_possible(length);
        let (before, bytes) = (self.bytes(columns[1], ty), self.bytes(length, ty));
        let builder = &mut self.emitter.builder;
        let (behind, end) = (builder.ins().iadd(columns[0], before), builder.ins().iadd(columns[0], bytes));
        let [in_place, after] = [(); 2].map(|()| builder.create_block());
        builder.append_block_param(after, types::I64);
        for range in self.ranges() {
            let is_inside = self.is_inside(columns[0], range);
            let builder = &mut self.emitter.builder;
            let fits = builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, range[1]);
            let has_room = builder.ins().band(is_inside, fits);
            let next = builder.create_block();
            builder.ins().brif(has_room, in_place, &[], next, &[]);
            builder.switch_to_block(next);
        }
        let copied = self.concat(&columns, ty)[0];
        self.emitter.builder.ins().jump(after, &[BlockArg::from(copied)]);
        self.emitter.builder.switch_to_block(in_place);
        let mut to = behind;
        for column in columns.chunks(2).skip(1) {
            to = self.write_behind(to, column, ty);
        }
        self.emitter.builder.ins().jump(after, &[BlockArg::from(columns[0])]);
        self.emitter.builder.switch_to_block(after);
        Some(vec![self.emitter.builder.block_params(after)[0], length])
    }

    /// Writes a column to an address; the address behind it.
    fn write_behind(&mut self, to: Value, column: &[Value], ty: ScalarType) -> Value {
        if self.emitter.known_int(column[1]) == Some(1) {
            let builder = &mut self.emitter.builder;
            let element = builder.ins().load(crate::emitter::machine_type(ty), TRUSTED, column[0], 0);
            builder.ins().store(TRUSTED, element, to, 0);
            return builder.ins().iadd_imm_s(to, ty.size() as i64);
        }
        let bytes = self.bytes(column[1], ty);
        self.emitter.copy(to, column[0], bytes, ty.size() == 8);
        self.emitter.builder.ins().iadd(to, bytes)
    }

    /// Ends a turn that carries these values on: each column of them is in a slot then, or from before the loop.
    pub(super) fn carry_on(
        &mut self,
        slots: Slots,
        mark: Value,
        registers: &[RegisterType],
        values: &mut [Vec<Value>],
    ) {
        let (parts, _) = self.parts(registers, values);
        let unmoved = addresses(&parts, values);
        let (end, words) = (self.emitter.load_state(END), self.words_of_slots(slots));
        let builder = &mut self.emitter.builder;
        let used = builder.ins().isub(end, mark);
        let [settling, after] = [(); 2].map(|()| builder.create_block());
        builder.set_cold_block(settling);
        for (index, &address) in unmoved.iter().enumerate() {
            let range = [2 * index, 2 * index + 1].map(|word| self.emitter.load_word(words, word));
            let is_inside = self.is_inside(address, range);
            let builder = &mut self.emitter.builder;
            let offset = builder.ins().isub(address, mark);
            let is_before = builder.ins().icmp(IntCC::UnsignedGreaterThan, offset, used);
            let stays = builder.ins().bor(is_inside, is_before);
            self.emitter.go_on_if(stays, settling);
        }
        let behind = self.emitter.load_word(words, 2 * slots.count);
        self.emitter.store_state(TOP, behind);
        self.emitter.jump(after, &unmoved);
        self.emitter.builder.switch_to_block(settling);
        let moved = self.settle_parts(slots, mark, &unmoved, &parts);
        self.join_parts(after, &parts, moved, values);
    }

    /// Calls [`settle`]; the addresses of the parts after it.
    fn settle_parts(&mut self, slots: Slots, mark: Value, addresses: &[Value], parts: &[Part]) -> Vec<Value> {
        let words = self.words_of_slots(slots);
        let frame = self.frame((2 * parts.len()).max(1));
        let frame = self.emitter.builder.ins().stack_addr(types::I64, frame, 0);
        for (index, (&address, part)) in addresses.iter().zip(parts).enumerate() {
            self.emitter.store_word(frame, 2 * index, address);
            self.emitter.store_word(frame, 2 * index + 1, part.bytes);
        }
        let counts = [slots.count, parts.len()].map(|count| self.emitter.int(count as i64));
        let signature = self.emitter.signature(&[types::I64; 6], &[types::I64]);
        let arguments = [self.emitter.state, mark, words, counts[0], frame, counts[1]];
        let status = self.emitter.call_rust(settle as *const () as usize, signature, &arguments)[0];
        self.emitter.require_done(status);
        (0..parts.len()).map(|index| self.emitter.load_word(frame, 2 * index)).collect()
    }
}

/// How many columns a register is made of.
fn columns_of(ty: RegisterType) -> usize {
    match ty {
        RegisterType::Scalar(_) => 0,
        RegisterType::Column(_) => 1,
        RegisterType::Descriptor => 2,
    }
}

#[cfg(test)]
mod tests {
    use crate::function::tests::{column_of, numbered};

    /// A loop of n turns over these columns, empty at first: in a turn, i is 0, 1, …; what comes of the first one.
    fn looped(count: usize, turn: &str, next: &str) -> String {
        let columns: Vec<String> = (2..2 + count).map(|register| format!("%{register}: column int")).collect();
        let (columns, empty) = (columns.join(", "), " %1".repeat(count));
        format!(
            "function f(%0: int) -> int, column int {{
               %1 = iota 0
               %2 = call g %0 0{empty}
               %3 = length %2
               return %3 %2
             }}
             function g(%0: int, %1: int, {columns}) -> column int {{
               %10 = equal.int %1 %0
               %99 = if %10 {{ yield %2 }} else {{
                 %11 = add.int %1 1
                 {turn}
                 %98 = call g %0 %11 {next}
                 yield %98
               }}
               return %99
             }}"
        )
    }

    const TURNS: [i64; 8] = [0, 1, 2, 31, 32, 33, 100, 150];

    fn check(text: &str, expected: impl Fn(i64) -> Vec<i64>) {
        let text = numbered(text);
        for n in TURNS {
            assert_eq!(column_of(&text, &[n as u64]), expected(n), "{n}\n{text}");
        }
    }

    #[test]
    fn what_is_appended_stands_behind() {
        check(&looped(1, "%12 = build %1\n%13 = concat %2 %12", "%13"), |n| (0..n).collect());
        // Several at once, which fill slots at other lengths.
        let turn = "%12 = build %1 %11 %0\n%14 = iota %1\n%13 = concat %2 %12 %14";
        check(&looped(1, turn, "%13"), |n| (0..n).flat_map(|i| [i, i + 1, n].into_iter().chain(0..i)).collect());
    }

    #[test]
    fn columns_that_grow_together_do_not_meet() {
        // a gets i, b i twice; then c, which is what there is at the end, what b was. Places change in each turn.
        let turn = "%12 = build %1
            %15 = build %1 %1
            %13 = concat %2 %12
            %14 = concat %3 %15";
        let pairs = |n: i64| (0..n).flat_map(|i| [i, i]).collect::<Vec<i64>>();
        check(&looped(2, turn, "%13 %14"), |n| (0..n).collect());
        let swapped = |n: i64| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for i in 0..n {
                a.push(i);
                b.extend([i, i]);
                std::mem::swap(&mut a, &mut b);
            }
            a
        };
        check(&looped(2, turn, "%14 %13"), swapped);
        // One of them is made anew in each turn, and so lies behind all slots.
        let turn = "%12 = build %1
            %13 = concat %2 %12
            %14 = iota %11
            %15 = concat %3 %12 %12";
        check(&looped(3, turn, "%13 %15 %14"), |n| (0..n).collect());
        check(&looped(3, turn, "%15 %13 %14"), |n| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for i in 0..n {
                b.extend([i, i]);
                a.push(i);
                std::mem::swap(&mut a, &mut b);
            }
            a
        });
        assert_eq!(pairs(2), [0, 0, 1, 1]);
    }

    #[test]
    fn queues_and_stacks_take_off_what_they_have() {
        // A queue of at most three: the first goes where there are more.
        let queue = "%12 = build %1
            %13 = concat %2 %12
            %14 = length %13
            %15 = less.int %14 4
            %18 = if %15 { yield %13 } else { %16 = subtract.int %14 1
              %17 = slice %13 1 %16
              yield %17 }";
        check(&looped(1, queue, "%18"), |n| ((n - 3).max(0)..n).collect());
        // A queue that is emptied in each turn, beside a column that grows: it ends where that begins.
        let emptied = "%12 = build %1
            %13 = concat %3 %12
            %14 = slice %13 1 0
            %15 = concat %2 %12";
        check(&looped(2, emptied, "%15 %14"), |n| (0..n).collect());
        // A stack: each third turn takes two off.
        let stack = "%12 = build %1
            %13 = concat %2 %12
            %14 = remainder %1 3
            %15 = equal.int %14 2
            %19 = if %15 { %16 = length %13
              %17 = subtract.int %16 2
              %18 = slice %13 0 %17
              yield %18 } else { yield %13 }";
        check(&looped(1, stack, "%19"), |n| {
            let mut stack = Vec::new();
            for i in 0..n {
                stack.push(i);
                if i % 3 == 2 {
                    stack.truncate(stack.len() - 2);
                }
            }
            stack
        });
    }

    #[test]
    fn what_is_read_afterwards_is_copied() {
        // The column before is read again: in the same turn, and in the next.
        let turn = "%12 = build %1
            %13 = concat %2 %12
            %14 = build 7
            %15 = concat %2 %14
            %16 = length %15
            %17 = extract %15 %1
            %18 = build %17
            %19 = concat %13 %18
            %20 = slice %19 0 %11";
        check(&looped(1, turn, "%20"), |n| (0..n).collect());
        check(&looped(2, "%12 = build %1\n%13 = concat %2 %12", "%13 %2"), |n| (0..n).collect());
    }

    #[test]
    fn functions_write_behind_what_their_caller_grants() {
        // h appends 0 .. i to what it gets, in a loop of its own.
        let inner = "
            function h(%0: int, %1: int, %2: column int) -> column int {
              %3 = equal.int %1 %0
              %8 = if %3 { yield %2 } else {
                %4 = add.int %1 1
                %5 = build %1
                %6 = concat %2 %5
                %7 = call h %0 %4 %6
                yield %7
              }
              return %8
            }";
        let text = looped(2, "%12 = call h %11 0 %2\n%13 = build %1\n%14 = concat %3 %13", "%12 %14") + inner;
        check(&text, |n| (0..n).flat_map(|i| 0..=i).collect());
        // A loop that appends nothing itself.
        check(&(looped(1, "%12 = call h %11 0 %2", "%12") + inner), |n| (0..n).flat_map(|i| 0..=i).collect());
        // What the caller reads afterwards is left as it is.
        let turn = "%12 = call h %11 0 %2\n%13 = build %1\n%14 = concat %2 %13\n%15 = length %12";
        check(&(looped(1, turn, "%14") + inner), |n| (0..n).collect());
    }
}
