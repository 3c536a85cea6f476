//! The loop over the instances of an `each` that is in a group with a filter: nothing is kept in memory.
//!
//! For `sum({f(x, a) : x in v | p(x)})` it goes over the elements of `v` in rounds of as many as a word has bits. Where
//! there is an instance is a word's bits, and each bit that is set says which element the next instance reads. A search
//! for all solutions does nothing but this, for a few elements at a time.
//!
//! ```text
//! for base = 0; base < length; base += 64 {
//!     set = 0
//!     for i = min(base + 64, length); i > base; i -= 8, or 4, or 1 { set = set << 8 | bits of p at i - 8 .. i }
//!     while set != 0 { i = base + trailing zeros of set; set &= set - 1; instance i }
//!     if interrupt { leave }                              // before all rounds but the first
//! }
//! ```

use super::elementwise::Elementwise;
use crate::body::Body;
use crate::scalar::vector::LANES;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;

/// How many indices are looked at before the instances among them run: as many as a word has bits.
const ROUND: i64 = 64;

/// How many of them are taken at a time: by a loop, then once where so many are left, then one by one.
const TIMES: [i32; 3] = [8, 4, 1];

impl Body<'_, '_> {
    /// A loop over the indices up to a length at which something is true.
    pub(super) fn for_each_where(
        &mut self,
        filter: &Elementwise,
        length: Value,
        interrupt: Value,
        instance: impl FnOnce(&mut Self, Value),
    ) {
        let is_wide = self.is_wide(filter);
        let scalars = self.scalars_in_memory(filter);
        let zero = self.emitter.int(0);
        let [base, set] = [(); 2].map(|()| self.emitter.builder.declare_var(types::I64));
        let builder = &mut self.emitter.builder;
        let [first, header, body, next, again, after] = [(); 6].map(|()| builder.create_block());
        builder.def_var(base, zero);
        let is_some = builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, length, 0);
        builder.ins().brif(is_some, first, &[], after, &[]);
        builder.switch_to_block(first);
        // Most filters have one round, whose scalars are still in registers.
        let wide = is_wide.then(|| self.with_splats(filter.clone()));
        self.find(filter, wide, zero, length, set);
        let builder = &mut self.emitter.builder;
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let bits = builder.use_var(set);
        builder.ins().brif(bits, body, &[], next, &[]);
        builder.switch_to_block(body);
        let offset = builder.ins().ctz(bits);
        let less = builder.ins().iadd_imm_s(bits, -1);
        let others = builder.ins().band(bits, less);
        builder.def_var(set, others);
        let start = builder.use_var(base);
        let i = builder.ins().iadd(start, offset);
        instance(self, i);
        let builder = &mut self.emitter.builder;
        builder.ins().jump(header, &[]);
        builder.switch_to_block(next);
        let start = builder.use_var(base);
        let start = builder.ins().iadd_imm_s(start, ROUND);
        builder.def_var(base, start);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, start, length);
        builder.ins().brif(is_left, again, &[], after, &[]);
        builder.switch_to_block(again);
        // Where nothing is kept no instance looks.
        self.emitter.check_flag(interrupt);
        // What the loop over rounds keeps in registers is in memory during every instance: the first round would begin
        // by reading it.
        let filter = self.with_scalars_from(filter.clone(), &scalars);
        let wide = is_wide.then(|| self.with_splats(filter.clone()));
        self.find(&filter, wide, start, length, set);
        let builder = &mut self.emitter.builder;
        builder.ins().jump(header, &[]);
        builder.switch_to_block(after);
    }

    /// The bits of the round that begins at an index, the lowest for that. The last index is the first that is looked
    /// at: the bits before it push those behind it up.
    fn find(&mut self, filter: &Elementwise, wide: Option<Elementwise>, first: Value, length: Value, set: Variable) {
        let builder = &mut self.emitter.builder;
        let index = builder.declare_var(types::I64);
        let none = builder.ins().iconst(types::I64, 0);
        builder.def_var(set, none);
        let end = builder.ins().iadd_imm_s(first, ROUND);
        let end = builder.ins().smin(end, length);
        builder.def_var(index, end);
        for times in TIMES {
            let builder = &mut self.emitter.builder;
            let [body, after] = [(); 2].map(|()| builder.create_block());
            let last = builder.ins().iadd_imm_s(first, i64::from(times));
            let i = builder.use_var(index);
            let is_left = builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, last);
            builder.ins().brif(is_left, body, &[], after, &[]);
            builder.switch_to_block(body);
            let (i, before) = (builder.use_var(index), builder.use_var(set));
            // Neighbours are put together first, and all of them then with those behind: the loop waits for no more
            // than that.
            let (mut bits, mut width) = match &wide {
                Some(wide) if times > 1 => (self.bits_of_vectors(wide, i, times), LANES as i64),
                _ => (self.bits_of_indices(filter, i, times), 1),
            };
            while bits.len() > 1 {
                bits = bits.chunks(2).map(|pair| self.pushed(pair[0], width, pair[1])).collect();
                width *= 2;
            }
            let bits = self.pushed(before, width, bits[0]);
            let builder = &mut self.emitter.builder;
            builder.def_var(set, bits);
            let i = builder.ins().iadd_imm_s(i, -i64::from(times));
            builder.def_var(index, i);
            if TIMES.contains(&(2 * times)) {
                builder.ins().jump(after, &[]);
            } else {
                let is_left = builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, last);
                builder.ins().brif(is_left, body, &[], after, &[]);
            }
            builder.switch_to_block(after);
        }
    }

    /// One bit for each of the indices before an index, the last first.
    fn bits_of_indices(&mut self, filter: &Elementwise, i: Value, times: i32) -> Vec<Value> {
        let bits = (1..=times).map(|behind| {
            let is_there = self.computed(filter, i, -behind);
            self.emitter.builder.ins().uextend(types::I64, is_there)
        });
        bits.collect()
    }

    /// The bits of the same indices, those of a vector together.
    fn bits_of_vectors(&mut self, filter: &Elementwise, i: Value, times: i32) -> Vec<Value> {
        let bits = (1..=times / LANES as i32).map(|behind| {
            let are_there = self.computed_wide(filter, i, -behind * LANES as i32);
            self.emitter.builder.ins().vhigh_bits(types::I64, are_there)
        });
        bits.collect()
    }

    /// Bits with so many others behind them.
    fn pushed(&mut self, bits: Value, width: i64, others: Value) -> Value {
        let pushed = self.emitter.builder.ins().ishl_imm_u(bits, width);
        self.emitter.builder.ins().iadd(others, pushed)
    }
}

#[cfg(test)]
mod tests;
