//! Columns in scratch memory: room for them, what puts short ones together, and what remains of them when a function
//! ends.
//!
//! In small instances these are most of what is done, so they are a few instructions in place rather than calls.
//!
//! ```text
//! room(bytes)         start = top; top += bytes; if top > end { take }
//! copy(to, from, n)   n is short ? for w in 0 .. n { to[w] = from[w] } : copy_down
//! concat              room; for each column { copy }
//! packed(lengths)     start = 0; for s in 0 .. count { starts[s] = start; start += lengths[s] }
//! at the end          if top != mark { move each result down to mark, in the order in which they lie; top = behind }
//! ```

use super::{Body, Mark};
use crate::emitter::{Emitter, TRUSTED, block_arguments};
use crate::runtime::{copy_down, give_back, take};
use crate::state::{END, TOP};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value, types};
use nesl_prim::ScalarType;
use nesl_vcode::RegisterType;

/// Up to so many bytes are copied word by word; a call costs as much.
const SHORT: i64 = 128;

/// From so many unused bytes on between columns they are moved together.
const MUCH: i64 = 1 << 20;

/// More elements than memory has room for: what is no more than this many can be multiplied by the size of one.
const MOST: i64 = 1 << 40;

/// A column that a register is made of.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The position of the register, and of the address among its values.
    pub register: usize,
    pub word: usize,
    /// Its size.
    pub bytes: Value,
}

/// Where parts begin that have these values.
pub(super) fn addresses(parts: &[Part], values: &[Vec<Value>]) -> Vec<Value> {
    parts.iter().map(|part| values[part.register][part.word]).collect()
}

impl Emitter<'_> {
    /// Bytes, or an address, up to where a column can begin.
    pub fn aligned(&mut self, bytes: Value) -> Value {
        let more = self.builder.ins().iadd_imm_s(bytes, 7);
        self.builder.ins().band_imm_s(more, -8)
    }

    /// Room for so many bytes, a multiple of 8 below 2^60. Gives up where there is none.
    pub fn room(&mut self, bytes: Value) -> Value {
        let top = self.load_state(TOP);
        self.require_room(top, bytes);
        let next = self.builder.ins().iadd(top, bytes);
        self.store_state(TOP, next);
        top
    }

    /// Gives up where there are not so many bytes of scratch memory from an address on.
    pub fn require_room(&mut self, address: Value, bytes: Value) {
        let end = self.load_state(END);
        let builder = &mut self.builder;
        let (taking, after) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(taking);
        let left = builder.ins().isub(end, address);
        let is_in_use = builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, bytes, left);
        builder.ins().brif(is_in_use, after, &[], taking, &[]);
        builder.switch_to_block(taking);
        let signature = self.signature(&[types::I64; 3], &[types::I64]);
        let status = self.call_rust(take as *const () as usize, signature, &[self.state, address, bytes])[0];
        self.require_done(status);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    /// Copies words, or bytes, to where they do not overlap what lies behind them.
    pub fn copy(&mut self, to: Value, from: Value, bytes: Value, is_words: bool) {
        if !is_words {
            return self.copy_by_call(to, from, bytes);
        }
        let builder = &mut self.builder;
        let (short, long, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.set_cold_block(long);
        let (header, word) = (builder.create_block(), builder.create_block());
        builder.append_block_param(header, types::I64);
        let is_short = builder.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, bytes, SHORT);
        builder.ins().brif(is_short, short, &[], long, &[]);
        builder.switch_to_block(short);
        let zero = builder.ins().iconst(types::I64, 0);
        builder.ins().jump(header, &[BlockArg::from(zero)]);
        builder.switch_to_block(header);
        let offset = builder.block_params(header)[0];
        let is_left = builder.ins().icmp(IntCC::UnsignedLessThan, offset, bytes);
        builder.ins().brif(is_left, word, &[], after, &[]);
        builder.switch_to_block(word);
        let (source, target) = (builder.ins().iadd(from, offset), builder.ins().iadd(to, offset));
        let value = builder.ins().load(types::I64, TRUSTED, source, 0);
        builder.ins().store(TRUSTED, value, target, 0);
        let next = builder.ins().iadd_imm_s(offset, 8);
        builder.ins().jump(header, &[BlockArg::from(next)]);
        builder.switch_to_block(long);
        self.copy_by_call(to, from, bytes);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    /// Where a column lies after it has been moved down to an address if there is much room in between, which filters
    /// leave. What is not used of large columns would take memory once others lie there.
    pub fn close_up(&mut self, end: Value, column: Value, bytes: Value) -> Value {
        let builder = &mut self.builder;
        let (moving, after) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(moving);
        builder.append_block_param(after, types::I64);
        let between = builder.ins().isub(column, end);
        let is_much = builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, between, MUCH);
        builder.ins().brif(is_much, moving, &[], after, &[BlockArg::from(column)]);
        builder.switch_to_block(moving);
        self.copy_by_call(end, column, bytes);
        self.builder.ins().jump(after, &[BlockArg::from(end)]);
        self.builder.switch_to_block(after);
        self.builder.block_params(after)[0]
    }

    fn copy_by_call(&mut self, to: Value, from: Value, bytes: Value) {
        let signature = self.signature(&[types::I64; 3], &[]);
        self.call_rust(copy_down as *const () as usize, signature, &[to, from, bytes]);
    }
}

impl Body<'_, '_> {
    /// The bytes of so many elements.
    pub(super) fn bytes(&mut self, elements: Value, ty: ScalarType) -> Value {
        match ty.size() {
            8 => self.emitter.builder.ins().ishl_imm_u(elements, 3),
            _ => elements,
        }
    }

    /// The bytes of so many elements, up to where another column can begin.
    pub(super) fn whole_bytes(&mut self, elements: Value, ty: ScalarType) -> Value {
        let bytes = self.bytes(elements, ty);
        if ty.size() == 8 { bytes } else { self.emitter.aligned(bytes) }
    }

    /// Room for so many elements. Gives up where there is none, or cannot be.
    pub(super) fn room(&mut self, elements: Value, ty: ScalarType) -> Value {
        self.require_possible(elements);
        let bytes = self.whole_bytes(elements, ty);
        self.emitter.room(bytes)
    }

    /// Gives up where there cannot be so many elements.
    pub(super) fn require_possible(&mut self, elements: Value) {
        let is_possible = self.emitter.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, elements, MOST);
        self.emitter.require(is_possible);
    }

    /// A column of scalars.
    pub(super) fn build(&mut self, elements: &[Value], ty: ScalarType) -> Vec<Value> {
        let length = self.emitter.int(elements.len() as i64);
        let room = self.room(length, ty);
        for (index, &element) in elements.iter().enumerate() {
            self.emitter.builder.ins().store(TRUSTED, element, room, (index * ty.size()) as i32);
        }
        vec![room, length]
    }

    /// Columns, by their addresses and lengths, one after another.
    pub(super) fn concat(&mut self, columns: &[Value], ty: ScalarType) -> Vec<Value> {
        let mut length = columns[1];
        for column in columns.chunks(2).skip(1) {
            length = self.emitter.builder.ins().iadd(length, column[1]);
        }
        let room = self.room(length, ty);
        let mut to = room;
        for column in columns.chunks(2) {
            let bytes = self.bytes(column[1], ty);
            self.emitter.copy(to, column[0], bytes, ty.size() == 8);
            to = self.emitter.builder.ins().iadd(to, bytes);
        }
        vec![room, length]
    }

    /// The descriptor of segments of these lengths one after another.
    pub(super) fn packed(&mut self, lengths: Value, count: Value) -> Vec<Value> {
        let starts = self.room(count, ScalarType::Int);
        let bytes = self.bytes(count, ScalarType::Int);
        let zero = self.emitter.int(0);
        let builder = &mut self.emitter.builder;
        let (header, body, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        let [offset, start] = [(); 2].map(|()| builder.append_block_param(header, types::I64));
        builder.ins().jump(header, &[BlockArg::from(zero), BlockArg::from(zero)]);
        builder.switch_to_block(header);
        let is_left = builder.ins().icmp(IntCC::UnsignedLessThan, offset, bytes);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(body);
        let (source, target) = (builder.ins().iadd(lengths, offset), builder.ins().iadd(starts, offset));
        let length = builder.ins().load(types::I64, TRUSTED, source, 0);
        builder.ins().store(TRUSTED, start, target, 0);
        let (next, start) = (builder.ins().iadd_imm_s(offset, 8), builder.ins().iadd(start, length));
        builder.ins().jump(header, &[BlockArg::from(next), BlockArg::from(start)]);
        builder.switch_to_block(after);
        vec![starts, lengths, count]
    }

    /// The columns among registers that have these values; and whether all have elements of eight bytes.
    pub(super) fn parts(&mut self, registers: &[RegisterType], values: &[Vec<Value>]) -> (Vec<Part>, bool) {
        let (mut parts, mut is_words) = (Vec::new(), true);
        for (index, &register) in registers.iter().enumerate() {
            match register {
                RegisterType::Scalar(_) => {}
                RegisterType::Column(ty) => {
                    let bytes = self.bytes(values[index][1], ty);
                    is_words &= ty.size() == 8;
                    parts.push(Part { register: index, word: 0, bytes });
                }
                RegisterType::Descriptor => {
                    let bytes = self.bytes(values[index][2], ScalarType::Int);
                    parts.extend([0, 1].map(|word| Part { register: index, word, bytes }));
                }
            }
        }
        (parts, is_words)
    }

    /// Moves columns among registers to where scratch memory began at a mark, and frees the rest.
    pub(super) fn give_back(&mut self, mark: Mark, registers: &[RegisterType], values: &mut [Vec<Value>]) {
        // What makes no columns keeps no register for the mark.
        if self.emitter.top_moves() == mark.moves {
            return;
        }
        let mark = mark.address;
        let (parts, is_words) = self.parts(registers, values);
        if parts.is_empty() {
            self.emitter.store_state(TOP, mark);
            return;
        }
        // Where nothing was made nothing moves.
        let top = self.emitter.load_state(TOP);
        let is_used = self.emitter.builder.ins().icmp(IntCC::NotEqual, top, mark);
        let (moving, join) = (self.emitter.builder.create_block(), self.emitter.builder.create_block());
        let unmoved = addresses(&parts, values);
        self.emitter.builder.ins().brif(is_used, moving, &[], join, &block_arguments(&unmoved));
        self.emitter.builder.switch_to_block(moving);
        let moved = match parts[..] {
            [part] => vec![self.give_back_one(mark, top, unmoved[0], part.bytes, is_words)],
            _ => self.give_back_many(mark, top, &unmoved, &parts, is_words),
        };
        self.join_parts(join, &parts, moved, values);
    }

    /// Goes on in a block to which others jump with the addresses of parts, and here with those where they are now.
    pub(super) fn join_parts(&mut self, join: Label, parts: &[Part], moved: Vec<Value>, values: &mut [Vec<Value>]) {
        self.emitter.jump(join, &moved);
        let builder = &mut self.emitter.builder;
        for part in parts {
            values[part.register][part.word] = builder.append_block_param(join, types::I64);
        }
        builder.switch_to_block(join);
    }

    /// Puts columns together where scratch memory began at a mark, each of the parts by which its values are given, and
    /// frees the rest; the values of all registers.
    pub(super) fn give_back_parts(
        &mut self,
        whole_mark: Mark,
        registers: &[RegisterType],
        values: Vec<Vec<Value>>,
    ) -> Vec<Vec<Value>> {
        let mark = whole_mark.address;
        let (otherwise, after) = (self.emitter.builder.create_block(), self.label_for(registers));
        let end = self.emitter.load_state(END);
        // Each part moves down, past none that has not been moved; or it is from before the mark.
        let (mut to, mut moves, mut results) = (mark, Vec::new(), Vec::new());
        for (&register, values) in registers.iter().zip(&values) {
            let RegisterType::Column(ty) = register else {
                results.push(values.clone());
                continue;
            };
            let start = to;
            let mut length = self.emitter.int(0);
            for part in values.chunks(2) {
                let bytes = self.bytes(part[1], ty);
                let ins = &mut self.emitter.builder;
                let (elsewhere, next) = (ins.create_block(), ins.create_block());
                ins.set_cold_block(elsewhere);
                let is_behind = ins.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, part[0], to);
                ins.ins().brif(is_behind, next, &[], elsewhere, &[]);
                ins.switch_to_block(elsewhere);
                let part_end = ins.ins().iadd(part[0], bytes);
                let is_before = ins.ins().icmp(IntCC::UnsignedLessThanOrEqual, part_end, mark);
                ins.ins().brif(is_before, next, &[], otherwise, &[]);
                ins.switch_to_block(next);
                moves.push((to, part[0], bytes, ty.size() == 8));
                to = ins.ins().iadd(to, bytes);
                length = ins.ins().iadd(length, part[1]);
            }
            if ty.size() < 8 {
                to = self.emitter.aligned(to);
            }
            results.push(vec![start, length]);
        }
        let has_room = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, to, end);
        self.emitter.go_on_if(has_room, otherwise);
        for (to, from, bytes, is_words) in moves {
            self.emitter.copy(to, from, bytes, is_words);
        }
        self.emitter.store_state(TOP, to);
        self.emitter.jump(after, &results.concat());
        self.emitter.builder.switch_to_block(otherwise);
        let mut whole = values;
        for (&register, values) in registers.iter().zip(&mut whole) {
            if let RegisterType::Column(ty) = register {
                *values = self.concat(values, ty);
            }
        }
        self.give_back(whole_mark, registers, &mut whole);
        self.emitter.jump(after, &whole.concat());
        self.emitter.builder.switch_to_block(after);
        self.params_of(after, registers)
    }

    fn give_back_one(&mut self, mark: Value, top: Value, address: Value, bytes: Value, is_words: bool) -> Value {
        let builder = &mut self.emitter.builder;
        let (own, others, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.append_block_param(after, types::I64);
        let offset = builder.ins().isub(address, mark);
        let used = builder.ins().isub(top, mark);
        let is_own = builder.ins().icmp(IntCC::UnsignedLessThan, offset, used);
        builder.ins().brif(is_own, own, &[], others, &[]);
        builder.switch_to_block(own);
        self.emitter.copy(mark, address, bytes, is_words);
        let whole = if is_words { bytes } else { self.emitter.aligned(bytes) };
        let free = self.emitter.builder.ins().iadd(mark, whole);
        self.emitter.store_state(TOP, free);
        self.emitter.builder.ins().jump(after, &[BlockArg::from(mark)]);
        self.emitter.builder.switch_to_block(others);
        self.emitter.store_state(TOP, mark);
        self.emitter.builder.ins().jump(after, &[BlockArg::from(address)]);
        self.emitter.builder.switch_to_block(after);
        self.emitter.builder.block_params(after)[0]
    }

    fn give_back_many(
        &mut self,
        mark: Value,
        top: Value,
        unmoved: &[Value],
        parts: &[Part],
        is_words: bool,
    ) -> Vec<Value> {
        let builder = &mut self.emitter.builder;
        let (others, after) = (builder.create_block(), builder.create_block());
        for _ in parts {
            builder.append_block_param(after, types::I64);
        }
        // Mostly all of them lie one behind another, in this order.
        let mut end = mark;
        for (&address, &Part { bytes, .. }) in unmoved.iter().zip(parts) {
            let follows = self.emitter.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, address, end);
            self.emitter.go_on_if(follows, others);
            let behind = self.emitter.builder.ins().iadd(address, bytes);
            // What moves down begins at a multiple of 8.
            end = if is_words { behind } else { self.emitter.aligned(behind) };
        }
        let is_own = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, top);
        self.emitter.go_on_if(is_own, others);
        let mut moved = Vec::with_capacity(parts.len());
        let mut free = mark;
        for (&address, &Part { bytes, .. }) in unmoved.iter().zip(parts) {
            moved.push(BlockArg::from(free));
            self.emitter.copy(free, address, bytes, is_words);
            let whole = if is_words { bytes } else { self.emitter.aligned(bytes) };
            free = self.emitter.builder.ins().iadd(free, whole);
        }
        self.emitter.store_state(TOP, free);
        self.emitter.builder.ins().jump(after, &moved);
        self.emitter.builder.switch_to_block(others);
        let frame = self.frame(2 * parts.len());
        let frame = self.emitter.builder.ins().stack_addr(types::I64, frame, 0);
        for (position, (&address, &Part { bytes, .. })) in unmoved.iter().zip(parts).enumerate() {
            self.emitter.store_word(frame, 2 * position, address);
            self.emitter.store_word(frame, 2 * position + 1, bytes);
        }
        let signature = self.emitter.signature(&[types::I64; 4], &[types::I64]);
        let (state, count) = (self.emitter.state, self.emitter.int(parts.len() as i64));
        self.emitter.call_rust(give_back as *const () as usize, signature, &[state, mark, frame, count]);
        let moved: Vec<BlockArg> =
            (0..parts.len()).map(|position| self.emitter.load_word(frame, 2 * position).into()).collect();
        self.emitter.builder.ins().jump(after, &moved);
        self.emitter.builder.switch_to_block(after);
        self.emitter.builder.block_params(after).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use crate::Status;
    use crate::function::tests::run_in;

    /// A number for each of n instances, each of which makes a column for itself: in a function that it calls, by a
    /// helper, in a loop of its own, or in none of these.
    fn instances(made: &str) -> String {
        format!(
            "function f(%0: int) -> int {{
               %1 = iota %0
               %2 = each g g/L(of int) -> int %0 %1
               %3 = reduce.add.int %2
               return %3
             }}
             function g(%0: int) -> int {{
               %1 = less.int %0 0
               %8 = if %1 {{
                 %2 = add.int %0 1
                 %3 = call g %2
                 %4 = add.int %3 1
                 yield %4
               }} else {{
                 {made}
                 %6 = extract %5 3
                 %7 = add.int %6 %0
                 yield %7
               }}
               return %8
             }}
             function h(%0: int) -> column int {{
               %1 = less.int %0 0
               %5 = if %1 {{
                 %2 = add.int %0 1
                 %3 = call h %2
                 %4 = map add.int %3 1
                 yield %4
               }} else {{
                 %6 = iota 20
                 yield %6
               }}
               return %5
             }}
             function g/L(%0: int, %1: column int) -> column int {{
               return %1
             }}"
        )
    }

    #[test]
    fn what_gives_only_scalars_keeps_no_scratch_memory() {
        let made =
            ["%5 = call h %0", "%5 = iota 20", "%9 = iota 20\n%5 = rank_up %9", "%9 = iota 9\n%5 = concat %9 %9"];
        for made in made {
            for n in [0i64, 1, 1000] {
                let (status, words) = run_in(1 << 14, None, &instances(made), &[n as u64], 1);
                assert_eq!((status, words[0] as i64), (Status::Done, n * 3 + n * (n - 1) / 2), "{made} {n}");
            }
        }
    }
}
