//! What goes on from one index to the next besides reductions: scans, which are elements of the loop like others, and
//! segments that are read where they lie.
//!
//! ```text
//! scan                here = before; before = before + v          // in a piece, before = what comes before it
//! of floats           here = before + inside; inside = inside + v
//!   block ends        before = before + inside; inside = 0
//! segment begins      before = 0
//! view of a segment   bias = column + starts[segment] - base      // when a strip begins; then bias[i] is the element
//! ```

use super::loop_emitter::{Carried, Cursor, LoopEmitter};
use super::plan::{Mode, is_ordered};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::ScalarOp;

impl LoopEmitter<'_, '_, '_> {
    /// Defines what scans carry. In a piece those that are read go on from what comes before it.
    pub fn begin_scans(&mut self) {
        for number in 0..self.plan.nodes.len() {
            let (Some(op), true) = (self.plan.nodes[number].scanned(), self.analysis.live[number]) else { continue };
            let identity = self.identity(op);
            self.scans[number] = if is_ordered(op) {
                let zero = self.emitter.int(0);
                let [before, inside] = [identity; 2].map(|value| self.variable(value));
                Carried::Ordered { before, inside, position: self.variable(zero) }
            } else {
                Carried::Values(vec![self.variable(identity)])
            };
        }
        if self.analysis.mode == Mode::Whole {
            return;
        }
        for (position, running) in self.plan.running().into_iter().enumerate() {
            if let [variable] = self.scan_values(running.node)[..] {
                let word = self.emitter.load_word(self.environment.aside, 1 + position);
                let value = self.emitter.value_of_word(word, running.op.row().result);
                self.emitter.builder.def_var(variable, value);
            }
        }
    }

    /// Leaves what scans end with where they began from.
    pub fn end_scans(&mut self) {
        if self.analysis.mode == Mode::Whole {
            return;
        }
        for (position, running) in self.plan.running().into_iter().enumerate() {
            if let [variable] = self.scan_values(running.node)[..] {
                let value = self.emitter.builder.use_var(variable);
                let word = self.emitter.word_of_value(value, running.op.row().result);
                self.emitter.store_word(self.environment.aside, 1 + position, word);
            }
        }
    }

    fn scan_values(&self, number: usize) -> Vec<Variable> {
        match &self.scans[number] {
            Carried::Values(variables) => variables.clone(),
            Carried::Nothing | Carried::Ordered { .. } => Vec::new(),
        }
    }

    /// The element of a scan at the current index.
    pub fn scan(&mut self, number: usize, op: ScalarOp, mask: Option<Value>) -> Value {
        let node = &self.plan.nodes[number];
        let (value, space) = (self.operand(node.operands[0]), node.space);
        match self.scans[number].clone() {
            Carried::Values(accumulators) => {
                let before = self.emitter.builder.use_var(accumulators[0]);
                self.combine(op, accumulators[0], value, mask);
                before
            }
            Carried::Ordered { before, inside, position } => {
                let (all_before, inside_before) =
                    (self.emitter.builder.use_var(before), self.emitter.builder.use_var(inside));
                let here = self.emitter.scalar(op, &[all_before, inside_before]);
                let after = self.emitter.scalar(op, &[inside_before, value]);
                self.emitter.builder.def_var(inside, after);
                if space > 0 {
                    let one = self.emitter.int(1);
                    self.add(position, one);
                    let full = self.at_block_end(position);
                    self.end_scanned_block(number);
                    self.emitter.builder.ins().jump(full, &[]);
                    self.emitter.builder.switch_to_block(full);
                }
                here
            }
            Carried::Nothing => unreachable!("a scan carries what comes before"),
        }
    }

    /// An ordered scan goes on with the next block.
    pub fn end_scanned_block(&mut self, number: usize) {
        let (Some(op), Carried::Ordered { before, inside, .. }) =
            (self.plan.nodes[number].scanned(), self.scans[number].clone())
        else {
            unreachable!("blocks end in ordered scans")
        };
        let (all_before, inside_before) = (self.emitter.builder.use_var(before), self.emitter.builder.use_var(inside));
        let after = self.emitter.scalar(op, &[all_before, inside_before]);
        self.emitter.builder.def_var(before, after);
        let identity = self.identity(op);
        self.emitter.builder.def_var(inside, identity);
    }

    /// A scan of segments begins anew.
    pub fn begin_scan(&mut self, number: usize, op: ScalarOp) {
        let identity = self.identity(op);
        let variables = match self.scans[number].clone() {
            Carried::Values(accumulators) => accumulators,
            Carried::Ordered { before, inside, .. } => vec![before, inside],
            Carried::Nothing => Vec::new(),
        };
        variables.into_iter().for_each(|variable| self.emitter.builder.def_var(variable, identity));
    }

    /// The address that index 0 would have if the current segment, wherever it lies in a column, began there at its
    /// base.
    pub fn bias_of_segment(&mut self, pointer: Value, length: Value, cursor: Cursor, size: u32) -> Value {
        let base = self.emitter.builder.use_var(cursor.base);
        let builder = &mut self.emitter.builder;
        let (view, after) = (builder.create_block(), builder.create_block());
        builder.append_block_param(after, types::I64);
        builder.ins().brif(cursor.starts.pointer, view, &[], after, &[BlockArg::from(base)]);
        builder.switch_to_block(view);
        let segment = builder.use_var(cursor.segment);
        let start = cursor.starts.at(self.emitter, segment);
        self.emitter.builder.ins().jump(after, &[BlockArg::from(start)]);
        self.emitter.builder.switch_to_block(after);
        let start = self.emitter.builder.block_params(after)[0];
        // Views have been checked; a segment that is not there is a bug, and gives up.
        let stop = self.emitter.builder.use_var(cursor.stop);
        let ins = &mut self.emitter.builder;
        let count = ins.ins().isub(stop, base);
        let room = ins.ins().isub(length, count);
        let is_before = ins.ins().icmp(IntCC::SignedLessThanOrEqual, start, room);
        let is_after = ins.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, start, 0);
        let is_there = ins.ins().band(is_before, is_after);
        self.emitter.require(is_there);
        let before = self.emitter.builder.ins().isub(start, base);
        self.emitter.address(pointer, before, size)
    }
}
