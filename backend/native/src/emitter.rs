//! The instructions of one native function: what all of them need, whatever they compute.
//!
//! A native function gets the address of the [`State`](crate::State) first and returns a status first. What cannot go
//! on leaves through one block, at which the function gives up.

use crate::state::{self, DONE, GAVE_UP, INTERRUPTED};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, Opcode, SigRef, Signature, StackSlot,
    StackSlotData, StackSlotKind, Type, Value, ValueDef, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use nesl_prim::{ScalarType, ScalarValue};
use std::collections::HashSet;

/// The machine type of a scalar: bools and chars are bytes, as in columns.
pub(crate) fn machine_type(scalar: ScalarType) -> Type {
    match scalar {
        ScalarType::Int => types::I64,
        ScalarType::Float => types::F64,
        ScalarType::Bool | ScalarType::Char => types::I8,
    }
}

/// Accesses to columns and to the state: aligned, and inside what is allocated.
pub(crate) const TRUSTED: MemFlagsData = MemFlagsData::trusted();

/// What a block gets from those who go there.
pub(crate) fn block_arguments(values: &[Value]) -> Vec<BlockArg> {
    values.iter().map(|&value| BlockArg::from(value)).collect()
}

/// Writes one function.
pub(crate) struct Emitter<'a> {
    /// Where instructions go.
    pub builder: FunctionBuilder<'a>,
    pub jit: &'a mut JITModule,
    /// The address of the state.
    pub state: Value,
    /// Leaves with the status in its parameter.
    leave: Block,
    /// Leave with the statuses that are known, once something may: no status is made before each of many branches.
    leaving: Vec<(u64, Block)>,
    /// How often what is written so far may move where free scratch memory begins.
    top_moves: usize,
    /// Values that are numbers of elements.
    sizes: HashSet<Value>,
    /// The results of the function, status apart.
    results: Vec<Type>,
    /// The calling convention of functions in Rust.
    convention: CallConv,
    /// Where a called operation leaves its result.
    word: Option<StackSlot>,
    /// The signature of a called operation.
    shim: Option<SigRef>,
}

impl<'a> Emitter<'a> {
    /// Begins a function; yields it and its parameters, the state apart.
    pub fn begin(mut builder: FunctionBuilder<'a>, jit: &'a mut JITModule) -> (Emitter<'a>, Vec<Value>) {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let (state, parameters) = match builder.block_params(entry) {
            [state, parameters @ ..] => (*state, parameters.to_vec()),
            [] => unreachable!("every native function gets the state"),
        };
        let leave = builder.create_block();
        builder.append_block_param(leave, types::I64);
        builder.set_cold_block(leave);
        let results = builder.func.signature.returns.iter().skip(1).map(|result| result.value_type).collect();
        let convention = builder.func.signature.call_conv;
        (
            Emitter {
                builder,
                jit,
                state,
                leave,
                leaving: Vec::new(),
                top_moves: 0,
                sizes: HashSet::new(),
                results,
                convention,
                word: None,
                shim: None,
            },
            parameters,
        )
    }

    /// Returns results.
    pub fn finish(mut self, results: &[Value]) {
        let status = self.int(DONE as i64);
        let all: Vec<Value> = std::iter::once(status).chain(results.iter().copied()).collect();
        self.builder.ins().return_(&all);
        for (status, block) in std::mem::take(&mut self.leaving) {
            self.builder.switch_to_block(block);
            let status = self.int(status as i64);
            self.builder.ins().jump(self.leave, &[BlockArg::from(status)]);
        }
        self.builder.switch_to_block(self.leave);
        let status = self.builder.block_params(self.leave)[0];
        let mut all = vec![status];
        for ty in std::mem::take(&mut self.results) {
            all.push(self.zero(ty));
        }
        self.builder.ins().return_(&all);
        self.builder.seal_all_blocks();
        let target = cranelift_module::Module::target_config(self.jit);
        self.builder.finalize(target);
    }

    /// A constant int.
    pub fn int(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    /// The 0 of a machine type.
    pub fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F64 => self.builder.ins().f64const(0.0),
            ty => self.builder.ins().iconst(ty, 0),
        }
    }

    /// The int that a value always is, where that is known.
    pub fn known_int(&self, value: Value) -> Option<i64> {
        let instruction = self.builder.func.dfg.value_def(value).inst()?;
        match self.builder.func.dfg.insts[instruction] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    /// A constant.
    pub fn constant(&mut self, value: ScalarValue) -> Value {
        match value {
            ScalarValue::Int(value) => self.int(value),
            ScalarValue::Float(value) => self.builder.ins().f64const(value),
            ScalarValue::Bool(value) => self.builder.ins().iconst(types::I8, i64::from(value)),
            ScalarValue::Char(value) => self.builder.ins().iconst(types::I8, i64::from(value)),
        }
    }

    /// Goes on in a new block where a condition is true, and elsewhere where it is not.
    pub fn go_on_if(&mut self, condition: Value, otherwise: Block) {
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, next, &[], otherwise, &[]);
        self.builder.switch_to_block(next);
    }

    /// Goes elsewhere with these values.
    pub fn jump(&mut self, elsewhere: Block, values: &[Value]) {
        self.builder.ins().jump(elsewhere, &block_arguments(values));
    }

    /// Goes elsewhere with these values where a condition is true, and on in a new block where it is not.
    pub fn jump_if(&mut self, condition: Value, elsewhere: Block, values: &[Value]) {
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, elsewhere, &block_arguments(values), next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Notes that a value is a number of elements: it is never negative.
    pub fn note_size(&mut self, value: Value) {
        self.sizes.insert(value);
    }

    /// Whether a value is known to be a number of elements.
    pub fn is_known_size(&self, value: Value) -> bool {
        self.sizes.contains(&value)
    }

    /// A value as the sum of another and a constant, as far as it was made by adding constants.
    pub fn sum_with_constant(&self, mut value: Value) -> (Value, i64) {
        let dfg = &self.builder.func.dfg;
        let mut sum = 0i64;
        while let ValueDef::Result(maker, _) = dfg.value_def(value)
            && let InstructionData::Binary { opcode: Opcode::Iadd, args: [before, added] } = dfg.insts[maker]
            && let ValueDef::Result(added, _) = dfg.value_def(added)
            && let InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } = dfg.insts[added]
        {
            (value, sum) = (before, sum.wrapping_add(imm.bits()));
        }
        (value, sum)
    }

    /// Gives up where a condition is false.
    pub fn require(&mut self, condition: Value) {
        self.leave_unless(condition, GAVE_UP);
    }

    /// Leaves with a known status where a condition is false.
    fn leave_unless(&mut self, condition: Value, status: u64) {
        let leaving = match self.leaving.iter().find(|&&(known, _)| known == status) {
            Some(&(_, block)) => block,
            None => {
                let block = self.builder.create_block();
                self.builder.set_cold_block(block);
                self.leaving.push((status, block));
                block
            }
        };
        self.go_on_if(condition, leaving);
    }

    /// Leaves with the status of a call unless it is done.
    pub fn require_done(&mut self, status: Value) {
        let is_done = self.builder.ins().icmp_imm_s(IntCC::Equal, status, DONE as i64);
        let next = self.builder.create_block();
        self.builder.ins().brif(is_done, next, &[], self.leave, &[BlockArg::from(status)]);
        self.builder.switch_to_block(next);
    }

    /// A word of the state.
    pub fn load_state(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, TRUSTED, self.state, offset)
    }

    /// Writes a word of the state.
    pub fn store_state(&mut self, offset: i32, word: Value) {
        if offset == state::TOP {
            self.move_top();
        }
        self.builder.ins().store(TRUSTED, word, self.state, offset);
    }

    /// Says that what is written now may move where free scratch memory begins.
    pub fn move_top(&mut self) {
        self.top_moves += 1;
    }

    /// How often what is written so far may do that.
    pub fn top_moves(&self) -> usize {
        self.top_moves
    }

    /// Word `index` from an address on.
    pub fn load_word(&mut self, address: Value, index: usize) -> Value {
        self.builder.ins().load(types::I64, TRUSTED, address, 8 * index as i32)
    }

    /// Writes word `index` from an address on.
    pub fn store_word(&mut self, address: Value, index: usize, word: Value) {
        self.builder.ins().store(TRUSTED, word, address, 8 * index as i32);
    }

    /// Counts so many steps, if anybody wants to know.
    pub fn count_steps(&mut self, count: Value) {
        if !state::counts_steps() {
            return;
        }
        let before = self.load_state(state::STEPS);
        let steps = self.builder.ins().iadd(before, count);
        self.store_state(state::STEPS, steps);
    }

    /// Leaves where the interrupt flag is set.
    pub fn check_interrupt(&mut self) {
        let flag = self.load_state(state::INTERRUPT);
        self.check_flag(flag);
    }

    /// Leaves where the interrupt flag, at this address, is set. What comes to look at it again and again is the work
    /// that is counted.
    pub fn check_flag(&mut self, flag: Value) {
        let one = self.int(1);
        self.count_steps(one);
        // Another thread sets it: read anew each time.
        let is_set = self.builder.ins().atomic_load(types::I8, MemFlagsData::trusted(), flag);
        let is_clear = self.builder.ins().icmp_imm_s(IntCC::Equal, is_set, 0);
        self.leave_unless(is_clear, INTERRUPTED);
    }

    /// Gives up where the stack ends.
    pub fn check_stack(&mut self) {
        let limit = self.load_state(state::STACK_LIMIT);
        let here = self.builder.ins().get_stack_pointer(types::I64);
        let has_room = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, here, limit);
        self.require(has_room);
    }

    /// Calls a function in Rust at a fixed address.
    pub fn call_rust(&mut self, address: usize, signature: SigRef, arguments: &[Value]) -> Vec<Value> {
        self.move_top();
        let callee = self.int(address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, arguments);
        self.builder.inst_results(call).to_vec()
    }

    /// The signature of a function in Rust.
    pub fn signature(&mut self, parameters: &[Type], results: &[Type]) -> SigRef {
        let mut signature = Signature::new(self.convention);
        signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.extend(results.iter().map(|&ty| AbiParam::new(ty)));
        self.builder.import_signature(signature)
    }

    /// The signature of [`Shim`](crate::shim::Shim), and where the result goes.
    pub fn shim(&mut self) -> (SigRef, StackSlot) {
        let signature = match self.shim {
            Some(signature) => signature,
            None => self.signature(&[types::I64; 4], &[types::I8]),
        };
        self.shim = Some(signature);
        let slot = self.word.unwrap_or_else(|| {
            self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3))
        });
        self.word = Some(slot);
        (signature, slot)
    }
}
