//! Groups of instructions, and single instructions that could be in one, as loops in the middle of a function.
//!
//! ```text
//! length = …; rooms = for each yield that is stored, length elements of scratch memory, one after another
//! loops of the group over 0 .. length                     // crate::kernel
//! after filters: move columns down to where those before them end; top = where the last ends
//! ```

use super::Body;
use super::each::EachGroup;
use crate::emitter::TRUSTED;
use crate::kernel::{
    Bound, BoundColumn, BoundInts, BoundSegments, Ending, Environment, Extent, Finished, Mode, Outlet, Plan,
    PlanOperand, emit_group, is_ordered,
};
use crate::runtime::{needed_helper, sums};
use crate::state::TOP;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Block, Function, Instruction, Op, Operand, Register, RegisterType, VectorOp};

/// The plan of a group or of an instruction that can be one, with the registers that it reads; none where it is
/// something else.
pub(crate) fn plan_of(instruction: &Instruction, function: &Function) -> Option<(Plan, Vec<Register>)> {
    match &instruction.op {
        Op::Fused(block) => Plan::new(block, &function.registers),
        // Segments need not lie one after another where they are read; what is moved by segments a helper moves faster.
        Op::Vector(op) if !op.data().is_empty() => None,
        Op::Map(_) | Op::Vector(_) => {
            let results = instruction.results.iter().map(|&result| Operand::Register(result)).collect();
            Plan::new(&Block::new(vec![instruction.clone()], results), &function.registers)
        }
        _ => None,
    }
}

/// Whether an instruction is a loop in place.
pub(crate) fn is_loop(instruction: &Instruction, function: &Function) -> bool {
    let is_each_group = matches!(&instruction.op, Op::Fused(block) if EachGroup::of(block, function).is_some());
    is_each_group || plan_of(instruction, function).is_some()
}

/// Whether elements of a yield are stored as they come.
pub(super) fn is_stored(ending: Ending) -> bool {
    matches!(ending, Ending::Store(_) | Ending::Scan(..))
}

/// The loops of a group, emitted.
struct Looped<'a> {
    /// The number of indices.
    length: Value,
    outlets: &'a [Outlet],
    finished: &'a Finished,
}

impl Body<'_, '_> {
    /// The values of what a group yields.
    pub(super) fn group(&mut self, plan: &Plan, inputs: &[Register]) -> Vec<Value> {
        self.group_in(plan, inputs, |body, length| (body.rooms_for(plan, length), ())).0
    }

    /// The same, where what is stored goes to rooms that are made for so many elements of each.
    pub(super) fn group_in<R>(
        &mut self,
        plan: &Plan,
        inputs: &[Register],
        rooms: impl FnOnce(&mut Self, Value) -> (Vec<Value>, R),
    ) -> (Vec<Value>, R) {
        let bounds: Vec<Bound> = inputs.iter().map(|&register| self.bound(register)).collect();
        let lengths = |input: usize| match bounds[input] {
            Bound::Descriptor(BoundSegments { lengths, segments, .. }) => Some((lengths.pointer, segments)),
            Bound::Scalar(_) | Bound::Column(_) => None,
        };
        let plan = &plan.clone().with_known(plan.find_known(lengths, |_| false));
        let length = self.extent(plan, inputs);
        let zero = self.emitter.int(0);
        let (rooms, made) = rooms(self, length);
        let outlets = self.outlets(plan, inputs, rooms);
        let positions = vec![zero; plan.spaces()];
        let environment = Environment { inputs: bounds, positions, limits: Vec::new(), outlets, aside: zero };
        let finished = emit_group(&mut self.emitter, plan, Mode::Whole, &environment, zero..length);
        let looped = Looped { length, outlets: &environment.outlets, finished: &finished };
        (self.results_of(plan, inputs, &looped), made)
    }

    /// Where the yields of a group go: what is stored to these rooms, in order.
    fn outlets(&mut self, plan: &Plan, inputs: &[Register], rooms: Vec<Value>) -> Vec<Outlet> {
        let zero = self.emitter.int(0);
        let mut rooms = rooms.into_iter();
        let mut outlets = Vec::with_capacity(plan.yields.len());
        for (index, &node) in plan.yields.iter().enumerate() {
            let (ty, ending) = (plan.nodes[node].ty, plan.ending(index));
            let outlet = match ending {
                Ending::Reduce(op, _) => Outlet { pointer: zero, start: self.identity(op) },
                // It begins with nothing, and ends in registers.
                Ending::ReduceIndex(..) => Outlet { pointer: zero, start: zero },
                Ending::Sum(op, _) => Outlet { pointer: self.begin_sums(index, op), start: zero },
                Ending::Store(_) | Ending::Scan(..) => {
                    let pointer = rooms.next().unwrap_or_else(|| unreachable!("there is room for what is stored"));
                    Outlet { pointer, start: zero }
                }
                Ending::SegReduce(_, _, input) | Ending::SegReduceIndex(_, _, input) | Ending::SegSum(_, _, input) => {
                    let segments = self.value(Operand::Register(inputs[input]))[2];
                    let pointer = self.room(segments, ty);
                    let start = match ending {
                        Ending::SegSum(op, ..) => self.begin_sums(index, op),
                        _ => zero,
                    };
                    Outlet { pointer, start }
                }
                Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => {
                    self.target(plan, node, inputs, ty)
                }
            };
            outlets.push(outlet);
        }
        outlets
    }

    /// The values of what a group yields, after its loops.
    fn results_of(&mut self, plan: &Plan, inputs: &[Register], looped: &Looped<'_>) -> Vec<Value> {
        let &Looped { length, outlets, finished } = looped;
        let mut values = vec![Vec::new(); plan.yields.len()];
        // Where the columns end that have been dealt with, in the order in which they lie: room for what is stored was
        // made first.
        let mut end = None;
        let (stored, others): (Vec<usize>, Vec<usize>) =
            (0..plan.yields.len()).partition(|&index| is_stored(plan.ending(index)));
        for index in stored.into_iter().chain(others) {
            let outlet = outlets[index];
            let done = || finished.values[index];
            let count = match plan.ending(index) {
                Ending::Reduce(..) | Ending::ReduceIndex(..) => {
                    values[index].push(done());
                    continue;
                }
                Ending::Sum(..) => {
                    let sum = self.emitter.finish_sums(outlet.pointer, done());
                    values[index].push(sum);
                    continue;
                }
                Ending::Store(source) | Ending::Scan(_, source) => {
                    finished.positions[plan.space_of(source)].unwrap_or(length)
                }
                Ending::SegReduce(_, _, input) | Ending::SegReduceIndex(_, _, input) | Ending::SegSum(_, _, input) => {
                    self.value(Operand::Register(inputs[input]))[2]
                }
                Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => outlet.start,
            };
            let mut pointer = outlet.pointer;
            if plan.spaces() > 1 {
                let ty = plan.nodes[plan.yields[index]].ty;
                let (bytes, whole) = (self.bytes(count, ty), self.whole_bytes(count, ty));
                pointer = end.map_or(pointer, |end| self.emitter.close_up(end, pointer, bytes));
                end = Some(self.emitter.builder.ins().iadd(pointer, whole));
            }
            values[index].extend([pointer, count]);
        }
        if let Some(end) = end {
            self.emitter.store_state(TOP, end);
        }
        values.concat()
    }

    /// Room for as many elements of each yield that is stored as there are indices, one after another, taken at once.
    fn rooms_for(&mut self, plan: &Plan, length: Value) -> Vec<Value> {
        let stored = plan.yields.iter().enumerate().filter(|&(index, _)| is_stored(plan.ending(index)));
        let stored: Vec<ScalarType> = stored.map(|(_, &node)| plan.nodes[node].ty).collect();
        if !stored.is_empty() {
            self.require_possible(length);
        }
        let mut ends = Vec::with_capacity(stored.len());
        let mut end = None;
        for &ty in &stored {
            let bytes = self.whole_bytes(length, ty);
            let next = end.map_or(bytes, |end| self.emitter.builder.ins().iadd(end, bytes));
            ends.push(next);
            end = Some(next);
        }
        let Some(bytes) = end else { return Vec::new() };
        let first = self.emitter.room(bytes);
        let starts = ends[..ends.len() - 1].iter().map(|&end| self.emitter.builder.ins().iadd(first, end));
        std::iter::once(first).chain(starts).collect()
    }

    /// Computes only whether a group fails.
    pub(super) fn trial(&mut self, plan: &Plan, inputs: &[Register]) {
        let mut plan = plan.clone();
        plan.yields.clear();
        self.group(&plan, inputs);
    }

    /// The column that is changed at indices, and its length.
    fn target(&mut self, plan: &Plan, node: usize, inputs: &[Register], ty: ScalarType) -> Outlet {
        let [pointer, start] = self.overwritable(inputs[plan.nodes[node].operands[0].outside()], ty);
        Outlet { pointer, start }
    }

    /// A column that may be written to, and its length: a copy, unless it is the function's own and nobody else's.
    pub(super) fn overwritable(&mut self, target: Register, ty: ScalarType) -> [Value; 2] {
        let column = self.value(Operand::Register(target));
        if !self.updates.may_overwrite(target) {
            let copy = self.concat(&column, ty);
            return [copy[0], copy[1]];
        }
        if self.owned.contains(&column[0]) {
            return [column[0], column[1]];
        }
        let is_own = self.owns(column[0]);
        let builder = &mut self.emitter.builder;
        let (copying, after) = (builder.create_block(), builder.create_block());
        builder.append_block_param(after, types::I64);
        builder.ins().brif(is_own, after, &[BlockArg::from(column[0])], copying, &[]);
        builder.switch_to_block(copying);
        let copy = self.concat(&column, ty);
        self.emitter.builder.ins().jump(after, &[BlockArg::from(copy[0])]);
        self.emitter.builder.switch_to_block(after);
        [self.emitter.builder.block_params(after)[0], column[1]]
    }

    pub(super) fn identity(&mut self, op: ScalarOp) -> Value {
        self.emitter.constant(op.identity())
    }

    /// Where the sums of yield `index` are added up.
    fn begin_sums(&mut self, index: usize, op: ScalarOp) -> Value {
        debug_assert!(is_ordered(op));
        let signature = self.emitter.signature(&[types::I64; 3], &[types::I64]);
        let is_product = i64::from(op == ScalarOp::MultiplyFloat);
        let (state, index, is_product) =
            (self.emitter.state, self.emitter.int(index as i64), self.emitter.int(is_product));
        self.emitter.call_rust(sums::begin as *const () as usize, signature, &[state, index, is_product])[0]
    }

    fn bound(&mut self, register: Register) -> Bound {
        let values = self.value(Operand::Register(register));
        match self.function.register_type(register) {
            RegisterType::Scalar(_) => Bound::Scalar(values[0]),
            RegisterType::Column(_) => {
                Bound::Column(BoundColumn { pointer: values[0], length: values[1], progression: None })
            }
            RegisterType::Descriptor => {
                let [starts, lengths, segments] = [0, 1, 2].map(|word| values[word]);
                let zero = self.emitter.int(0);
                let builder = &mut self.emitter.builder;
                let (some, after) = (builder.create_block(), builder.create_block());
                builder.append_block_param(after, types::I64);
                let is_empty = builder.ins().icmp_imm_s(IntCC::Equal, segments, 0);
                builder.ins().brif(is_empty, after, &[BlockArg::from(zero)], some, &[]);
                builder.switch_to_block(some);
                let first = builder.ins().load(types::I64, TRUSTED, lengths, 0);
                builder.ins().jump(after, &[BlockArg::from(first)]);
                builder.switch_to_block(after);
                let stop = builder.block_params(after)[0];
                let [starts, lengths] = [starts, lengths].map(|pointer| BoundInts::column(&mut self.emitter, pointer));
                Bound::Descriptor(BoundSegments { starts, lengths, segment: zero, base: zero, stop, segments })
            }
        }
    }

    /// The number of indices.
    pub(super) fn extent(&mut self, plan: &Plan, inputs: &[Register]) -> Value {
        match plan.extent {
            Extent::Value(source) => {
                let length = match source {
                    PlanOperand::Constant(value) => self.emitter.constant(value),
                    source => self.value(Operand::Register(inputs[source.outside()]))[0],
                };
                self.require_possible(length);
                length
            }
            Extent::Column(input) => self.value(Operand::Register(inputs[input]))[1],
            Extent::Total(input) => {
                let words = self.value(Operand::Register(inputs[input]));
                let total = self.call_helper(needed_helper(VectorOp::Total, ScalarType::Int), &words, 1)[0];
                self.require_possible(total);
                total
            }
        }
    }
}
