//! Strips in which conditions on the index are known, as [`unswitch`](super::super::analysis) has found them.
//!
//! ```text
//! if stop - i >= SHORT {
//!     for each comparison of x, which goes up by one, with y:
//!         if x < y { stop = min(stop, i + (y - x)) }      // where it is reached; or, where it is passed, one more
//!     for each inner plan:
//!         if each flag, at i, is as it wants it {
//!             begin_strip(i, stop); strip of the inner plan   // or nothing, if there is nothing to do
//!             …
//!         }
//! }
//! begin_strip(i, stop); strip of the whole plan           // otherwise
//! ```

use super::super::analysis::{Analysis, Change, Changes, Inner, UNROLL};
use super::super::environment::Made;
use super::super::loop_emitter::{InnerLoop, LoopEmitter};
use super::super::plan::{NodeOp, PlanOperand};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_vcode::VectorOp;
use std::collections::HashMap;
use std::ops::Range;

/// Strips of fewer indices are not worth looking at conditions.
const SHORT: i64 = 16;

impl<'a> LoopEmitter<'a, '_, '_> {
    /// Lets strips be done by the inner plan where they can.
    pub(super) fn begin_inner(&mut self, inner: &'a Inner, analysis: &'a Analysis<'a>, indices: &Range<Value>) {
        let inductions = Made::nothing("node", self.plan.nodes.len());
        self.inner.push(InnerLoop { inner, analysis, inductions });
        self.with_inner(self.inner.len() - 1, |loops| {
            loops.check_lengths(indices.start, indices.end);
            loops.begin_inductions();
            if analysis.is_wide && loops.wide_accumulators.is_empty() {
                loops.begin_wide(UNROLL);
            }
            if let Some(lanes) = analysis.narrow {
                loops.begin_narrow(lanes);
            }
        });
    }

    /// Emits something of an inner plan, by its number.
    fn with_inner(&mut self, number: usize, emit: impl FnOnce(&mut Self)) {
        let mut all = std::mem::take(&mut self.inner);
        let inner = &mut all[number];
        let whole = (self.plan, self.analysis);
        (self.plan, self.analysis) = (&inner.inner.plan, inner.analysis);
        std::mem::swap(&mut self.inductions, &mut inner.inductions);
        emit(self);
        std::mem::swap(&mut self.inductions, &mut inner.inductions);
        (self.plan, self.analysis) = whole;
        self.inner = all;
    }

    /// The loop over a strip that may end before a stop; where it does.
    pub(super) fn strip_of_either(&mut self, index: Variable, i: Value, stop: Value) -> Value {
        let inner: Vec<&Inner> = self.inner.iter().map(|inner| inner.inner).collect();
        if inner.is_empty() {
            self.begin_strip(i, stop);
            self.strip(index, stop);
            return stop;
        }
        let builder = &mut self.emitter.builder;
        let [long, whole, after] = [(); 3].map(|()| builder.create_block());
        let [end_of_whole, end] = [whole, after].map(|block| builder.append_block_param(block, types::I64));
        let count = builder.ins().isub(stop, i);
        let is_long = builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, SHORT);
        builder.ins().brif(is_long, long, &[], whole, &[BlockArg::Value(stop)]);
        builder.switch_to_block(long);
        let mut at = AtIndex { index: i, values: HashMap::new() };
        let mut until = count;
        let mut changes: Vec<Change> = Vec::new();
        for &change in inner.iter().flat_map(|inner| &inner.changes) {
            if !changes.contains(&change) {
                until = self.until_change(&mut at, change, until);
                changes.push(change);
            }
        }
        let until = self.emitter.builder.ins().iadd(i, until);
        for (number, inner) in inner.into_iter().enumerate() {
            let is_inner = self.are_wanted(&mut at, &inner.flags);
            let builder = &mut self.emitter.builder;
            let [within, other] = [(); 2].map(|()| builder.create_block());
            builder.ins().brif(is_inner, within, &[], other, &[]);
            builder.switch_to_block(within);
            self.with_inner(number, |loops| {
                if loops.analysis.has_nothing_to_do() {
                    return loops.emitter.builder.def_var(index, until);
                }
                loops.begin_strip(i, until);
                loops.strip(index, until);
            });
            self.emitter.builder.ins().jump(after, &[BlockArg::Value(until)]);
            self.emitter.builder.switch_to_block(other);
        }
        self.emitter.builder.ins().jump(whole, &[BlockArg::Value(until)]);
        self.emitter.builder.switch_to_block(whole);
        self.begin_strip(i, end_of_whole);
        self.strip(index, end_of_whole);
        self.emitter.builder.ins().jump(after, &[BlockArg::Value(end_of_whole)]);
        self.emitter.builder.switch_to_block(after);
        end
    }

    /// Whether flags are what an inner plan wants them to be.
    fn are_wanted(&mut self, at: &mut AtIndex, flags: &[(PlanOperand, bool)]) -> Value {
        let mut are_all = None;
        for &(flag, wanted) in flags {
            let mut is_wanted = self.at_index_alone(at, flag);
            if !wanted {
                is_wanted = self.emitter.builder.ins().bxor_imm_u(is_wanted, 1);
            }
            are_all = Some(are_all.map_or(is_wanted, |before| self.emitter.builder.ins().band(before, is_wanted)));
        }
        are_all.unwrap_or_else(|| unreachable!("some flag is known"))
    }

    /// How many of some indices there are before a comparison changes: one at least.
    fn until_change(&mut self, at: &mut AtIndex, change: Change, count: Value) -> Value {
        let [moving, limit] = [change.moving, change.limit].map(|source| self.at_index_alone(at, source));
        let (low, high) = if change.goes_up { (moving, limit) } else { (limit, moving) };
        let ins = &mut self.emitter.builder;
        // As a number without a sign there is no overflow.
        let distance = ins.ins().isub(high, low);
        let no_change = ins.ins().iconst(types::I64, -1);
        let is_ahead = ins.ins().icmp(IntCC::SignedLessThan, low, high);
        let to_limit = ins.ins().select(is_ahead, distance, no_change);
        let is_here_or_ahead = ins.ins().icmp(IntCC::SignedLessThanOrEqual, low, high);
        let capped = ins.ins().umin(distance, count);
        let next = ins.ins().iadd_imm_s(capped, 1);
        let past_limit = ins.ins().select(is_here_or_ahead, next, no_change);
        let mut until = match change.at {
            Changes::Reached => ins.ins().umin(count, to_limit),
            Changes::Passed => ins.ins().umin(count, past_limit),
            Changes::Both => {
                let one = ins.ins().iconst(types::I64, 1);
                let is_here = ins.ins().icmp(IntCC::Equal, low, high);
                let until = ins.ins().select(is_here, one, to_limit);
                ins.ins().umin(count, until)
            }
        };
        if change.may_wrap {
            let last = ins.ins().iconst(types::I64, if change.goes_up { i64::MAX } else { i64::MIN });
            let (high, low) = if change.goes_up { (last, moving) } else { (moving, last) };
            let room = ins.ins().isub(high, low);
            let capped = ins.ins().umin(room, until);
            let with_last = ins.ins().iadd_imm_s(capped, 1);
            until = ins.ins().umin(until, with_last);
        }
        until
    }

    /// What flags are computed from, at an index, whatever space it is in.
    fn at_index_alone(&mut self, at: &mut AtIndex, source: PlanOperand) -> Value {
        let number = match source {
            PlanOperand::Node(number) => number,
            PlanOperand::Constant(_) | PlanOperand::Input(_) => return self.operand(source),
        };
        if let Some(&value) = at.values.get(&number) {
            return value;
        }
        let plan = self.plan;
        let node = &plan.nodes[number];
        let value = match (node.op, &node.operands[..]) {
            (NodeOp::Vector(VectorOp::Iota), _) => at.index,
            (NodeOp::Vector(VectorOp::SegIota), &[descriptor, ..]) => {
                let base = self.base_of_segment(descriptor);
                self.emitter.builder.ins().isub(at.index, base)
            }
            (NodeOp::Vector(VectorOp::SegDist), _) => self.of_segment(number),
            (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), _]) => {
                self.line_of_compact(number, column, at.index).0
            }
            (NodeOp::Vector(VectorOp::Dist | VectorOp::Pack), &[value, ..]) => self.at_index_alone(at, value),
            (NodeOp::Vector(VectorOp::Merge), &[flag, first, second]) => {
                let [flag, first, second] = [flag, first, second].map(|operand| self.at_index_alone(at, operand));
                self.emitter.builder.ins().select(flag, first, second)
            }
            (NodeOp::Map(op), operands) => {
                let operands: Vec<Value> = operands.iter().map(|&operand| self.at_index_alone(at, operand)).collect();
                self.emitter.scalar(op, &operands)
            }
            (NodeOp::Vector(other), _) => unreachable!("no flag of an inner plan is computed by {other:?}"),
        };
        at.values.insert(number, value);
        value
    }
}

/// What is known at one index.
struct AtIndex {
    index: Value,
    values: HashMap<usize, Value>,
}
