//! Writing elements of a column where nobody else can see it: a scatter over its own target.
//!
//! A loop that carries a column and changes an element in each turn takes one step a turn, not one for each element.
//! That a target is the function's own is seen at run time: it lies in the scratch memory that the function has taken
//! since it began. That nothing else means the same memory, and is read afterwards, is known before
//! ([`nesl_vcode::alias`]), for each register that a scatter writes to.
//!
//! ```text
//! f(a, i) = if i == n then a else f(a <- [(i, x)], i + 1)
//!
//!     target = mark <= a < top ? a : copy of a            // a copy in the first turn alone
//!     target[i] = x
//!     move target down to mark                            // where it is already
//!     jump f(target, i + 1)
//! ```
//!
//! A function that is called gets columns to write over with the call, if they are the caller's own, and nothing reads
//! them after it: `f(find(parents, x), …)` would otherwise copy all parents in each turn.

use super::Body;
use crate::state::{GRANTED, GRANTED_MOST, TOP};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use nesl_vcode::{FunctionId, Instruction};

impl Body<'_, '_> {
    /// Whether a column that begins at an address is the function's own.
    pub(super) fn owns(&mut self, address: Value) -> Value {
        let mut is_own = self.is_made(address);
        let builder = &mut self.emitter.builder;
        for [start, bytes] in self.granted.iter().copied() {
            let offset = builder.ins().isub(address, start);
            let is_inside = builder.ins().icmp(IntCC::UnsignedLessThan, offset, bytes);
            is_own = builder.ins().bor(is_own, is_inside);
        }
        is_own
    }

    /// Whether a column that begins at an address lies in the scratch memory that the function has taken.
    pub(super) fn is_made(&mut self, address: Value) -> Value {
        let top = self.emitter.load_state(TOP);
        let builder = &mut self.emitter.builder;
        let Some(mark) = self.mark else { return builder.ins().iconst(types::I8, 0) };
        let (offset, bytes) = (builder.ins().isub(address, mark.address), builder.ins().isub(top, mark.address));
        builder.ins().icmp(IntCC::UnsignedLessThan, offset, bytes)
    }

    /// The columns among the operands of a call that the called function may write over, if it writes at all: where
    /// each begins, and its bytes.
    pub(super) fn grants(&mut self, function: FunctionId, call: &Instruction) -> Vec<[Value; 2]> {
        if !self.functions[&function].updates {
            return Vec::new();
        }
        let mut grants = Vec::new();
        let positions: Vec<usize> = self.updates.granted(call).iter().copied().take(GRANTED_MOST).collect();
        for position in positions {
            let operand = call.operands[position];
            let (column, ty) = (self.value(operand), self.scalar_type(operand));
            let bytes = self.bytes(column[1], ty);
            let own = if self.owned.contains(&column[0]) { bytes } else { self.own_bytes(column[0], bytes) };
            grants.push([column[0], own]);
        }
        grants
    }

    /// Gives columns to a function that is about to be called.
    pub(super) fn hand_over(&mut self, function: FunctionId, granted: &[[Value; 2]]) {
        if granted.is_empty() {
            return;
        }
        let nothing = self.emitter.int(0);
        for index in 0..self.granted_to(function) {
            let words = granted.get(index).copied().unwrap_or([nothing; 2]);
            for (word, value) in words.into_iter().enumerate() {
                self.emitter.store_state(word_of(index, word), value);
            }
        }
    }

    /// The columns that this function was given.
    pub(super) fn take_over(&mut self) -> Vec<[Value; 2]> {
        let nothing = self.emitter.int(0);
        (0..self.granted_to(self.id))
            .map(|index| {
                let words = [0, 1].map(|word| self.emitter.load_state(word_of(index, word)));
                self.emitter.store_state(word_of(index, 1), nothing);
                words
            })
            .collect()
    }

    /// How many columns a function may be given: those that it would write to.
    fn granted_to(&self, function: FunctionId) -> usize {
        self.calls.summaries.written(function).len().min(GRANTED_MOST)
    }
}

/// Where a word of the columns that are given stands in the state.
fn word_of(index: usize, word: usize) -> i32 {
    GRANTED + (8 * (2 * index + word)) as i32
}
