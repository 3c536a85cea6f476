//! The instructions of a function's body: registers become values, blocks become blocks, calls calls.
//!
//! A scalar is a value, a column its address and length, a descriptor the addresses of its starts and lengths and the number
//! of segments. What only looks at these is done here ([`is_direct`]); what touches elements calls a helper
//! ([`crate::runtime`]).

use crate::emitter::{Emitter, TRUSTED};
use crate::function::{Entry, Kept, machine_types};
use crate::runtime::each::words_of;
use crate::runtime::{Helper, each_helper, give_back, helper_of, map_helper};
use crate::state::TOP;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block as Label, BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Block, Each, Function, FunctionId, Instruction, Op, Operand, Register, RegisterType, VectorOp};
use std::collections::HashMap;

/// Whether an instruction needs no helper.
pub(crate) fn is_direct(op: VectorOp) -> bool {
    matches!(
        op,
        VectorOp::Build
            | VectorOp::Length
            | VectorOp::Extract
            | VectorOp::Slice
            | VectorOp::View
            | VectorOp::Starts
            | VectorOp::Lengths
            | VectorOp::Segments
    )
}

/// Writes the body of a function.
pub(crate) struct Body<'a, 'b> {
    emitter: Emitter<'b>,
    function: &'a Function,
    functions: &'a HashMap<FunctionId, Entry>,
    kept: &'a mut Kept,
    /// The values of each register.
    values: Vec<Vec<Value>>,
    /// The words for helpers, by number.
    frames: HashMap<usize, StackSlot>,
}

impl<'a, 'b> Body<'a, 'b> {
    pub fn emit(
        builder: FunctionBuilder<'b>,
        jit: &'b mut JITModule,
        function: &'a Function,
        functions: &'a HashMap<FunctionId, Entry>,
        kept: &'a mut Kept,
    ) {
        let (emitter, parameters) = Emitter::begin(builder, jit);
        let values = vec![Vec::new(); function.registers.len()];
        let mut body = Body { emitter, function, functions, kept, values, frames: HashMap::new() };
        let mut parameters = parameters.into_iter();
        for &parameter in &function.parameters {
            let width = words_of(function.register_type(parameter));
            body.values[parameter.0 as usize] = parameters.by_ref().take(width).collect();
        }
        if has_calls(&function.body) {
            body.emitter.check_stack();
            body.emitter.check_interrupt();
        }
        let has_columns = function.registers.iter().any(|ty| !matches!(ty, RegisterType::Scalar(_)));
        let mark = has_columns.then(|| body.emitter.load_state(TOP));
        let mut results = body.block(&function.body);
        if let Some(mark) = mark {
            body.give_back(mark, &mut results);
        }
        body.emitter.finish(&results.concat());
    }

    fn type_of(&self, operand: Operand) -> RegisterType {
        self.function.operand_type(operand)
    }

    fn scalar_type(&self, operand: Operand) -> ScalarType {
        match self.type_of(operand) {
            RegisterType::Scalar(ty) | RegisterType::Column(ty) => ty,
            RegisterType::Descriptor => ScalarType::Int,
        }
    }

    fn value(&mut self, operand: Operand) -> Vec<Value> {
        match operand {
            Operand::Constant(value) => vec![self.emitter.constant(value)],
            Operand::Register(register) => {
                let values = self.values[register.0 as usize].clone();
                assert!(!values.is_empty(), "%{} is read before it is defined: unverified program", register.0);
                values
            }
        }
    }

    fn flat(&mut self, operands: &[Operand]) -> Vec<Value> {
        operands.iter().flat_map(|&operand| self.value(operand)).collect()
    }

    /// Emits the instructions of a block; the values of its results.
    fn block(&mut self, block: &Block) -> Vec<Vec<Value>> {
        for instruction in &block.instructions {
            let values = self.instruction(instruction);
            self.define(&instruction.results, values);
        }
        block.results.iter().map(|&result| self.value(result)).collect()
    }

    fn define(&mut self, registers: &[Register], values: Vec<Value>) {
        let mut values = values.into_iter();
        for &register in registers {
            let width = words_of(self.function.register_type(register));
            self.values[register.0 as usize] = values.by_ref().take(width).collect();
        }
    }

    /// The values of the results of an instruction.
    fn instruction(&mut self, instruction: &Instruction) -> Vec<Value> {
        let operands = instruction.operands.as_slice();
        match &instruction.op {
            Op::Scalar(op) => {
                let operands = self.flat(operands);
                vec![self.emitter.scalar(*op, &operands)]
            }
            Op::If(then_block, else_block) => {
                let condition = self.value(operands[0])[0];
                self.branches(condition, [then_block, else_block], &instruction.results)
            }
            Op::Call(function) => {
                let operands = self.flat(operands);
                let arguments: Vec<Value> = std::iter::once(self.emitter.state).chain(operands).collect();
                self.emitter.call(self.functions[function].body, &arguments)
            }
            Op::Constants(constants) => {
                let address = self.kept.constants(constants);
                vec![self.emitter.int(address as i64), self.emitter.int(constants.len() as i64)]
            }
            Op::Fused(block) => self.block(block).concat(),
            Op::Map(op) => self.map(*op, operands),
            Op::Vector(op) if is_direct(*op) => self.direct(*op, operands),
            Op::Vector(op) => self.vector(*op, operands, &instruction.results),
            Op::Each(each) => self.each(each, operands, &instruction.results),
            Op::Host(op) => panic!("native code acts on the world outside: {op:?}"),
        }
    }

    fn branches(&mut self, condition: Value, blocks: [&Block; 2], results: &[Register]) -> Vec<Value> {
        let labels: [Label; 2] = std::array::from_fn(|_| self.emitter.builder.create_block());
        let join = self.emitter.builder.create_block();
        for &result in results {
            for ty in machine_types(self.function.register_type(result)) {
                self.emitter.builder.append_block_param(join, ty);
            }
        }
        self.emitter.builder.ins().brif(condition, labels[0], &[], labels[1], &[]);
        for (label, block) in labels.into_iter().zip(blocks) {
            self.emitter.builder.switch_to_block(label);
            let values: Vec<BlockArg> = self.block(block).concat().into_iter().map(BlockArg::from).collect();
            self.emitter.builder.ins().jump(join, &values);
        }
        self.emitter.builder.switch_to_block(join);
        self.emitter.builder.block_params(join).to_vec()
    }

    /// An instruction that only looks at addresses and lengths, or at single elements.
    fn direct(&mut self, op: VectorOp, operands: &[Operand]) -> Vec<Value> {
        let ty = self.scalar_type(operands[0]);
        let values = self.flat(operands);
        match op {
            VectorOp::Build => {
                let words = values.len();
                let room = self.room(words * ty.size());
                for (index, value) in values.into_iter().enumerate() {
                    self.emitter.builder.ins().store(TRUSTED, value, room, (index * ty.size()) as i32);
                }
                vec![room, self.emitter.int(words as i64)]
            }
            VectorOp::Length => vec![values[1]],
            VectorOp::Extract => {
                let address = self.address(values[0], values[2], ty);
                vec![self.emitter.builder.ins().load(crate::emitter::machine_type(ty), TRUSTED, address, 0)]
            }
            VectorOp::Slice => vec![self.address(values[0], values[2], ty), values[3]],
            VectorOp::View => vec![values[0], values[2], values[1]],
            VectorOp::Starts => vec![values[0], values[2]],
            VectorOp::Lengths => vec![values[1], values[2]],
            VectorOp::Segments => vec![values[2]],
            _ => unreachable!("{} needs a helper", op.name()),
        }
    }

    /// The address of an element.
    fn address(&mut self, column: Value, index: Value, ty: ScalarType) -> Value {
        let offset = self.bytes(index, ty);
        self.emitter.builder.ins().iadd(column, offset)
    }

    /// The bytes of so many elements.
    fn bytes(&mut self, elements: Value, ty: ScalarType) -> Value {
        match ty.size() {
            8 => self.emitter.builder.ins().ishl_imm_u(elements, 3),
            _ => elements,
        }
    }

    /// Room for so many bytes, by a column of bytes: what is in it is overwritten.
    fn room(&mut self, bytes: usize) -> Value {
        let (zero, length) = (self.emitter.int(0), self.emitter.int(bytes as i64));
        self.call_helper(dist_of_bytes(), &[zero, length], 2)[0]
    }

    fn map(&mut self, op: ScalarOp, operands: &[Operand]) -> Vec<Value> {
        let is_column = |body: &Self, operand: Operand| matches!(body.type_of(operand), RegisterType::Column(_));
        let first = operands.iter().copied().find(|&operand| is_column(self, operand));
        let first = first.unwrap_or_else(|| panic!("{op} of no column: unverified program"));
        let mut words = vec![self.value(first)[1]];
        for &operand in operands {
            let column = is_column(self, operand);
            words.push(self.emitter.int(i64::from(column)));
            let value = self.value(operand)[0];
            words.push(match self.type_of(operand) {
                RegisterType::Scalar(ty) => self.emitter.word_of_value(value, ty),
                _ => value,
            });
        }
        let checked = op.checked_operand().map(|index| operands[index]).filter(|&operand| is_column(self, operand));
        let Some(checked) = checked else { return self.call_helper(map_helper(op), &words, 2) };
        // The result is the operand: what the helper made to see whether all are right is not needed.
        let top = self.emitter.load_state(TOP);
        self.call_helper(map_helper(op), &words, 2);
        self.emitter.store_state(TOP, top);
        self.value(checked)
    }

    fn vector(&mut self, op: VectorOp, operands: &[Operand], results: &[Register]) -> Vec<Value> {
        let of_segments = |operand: &Operand| matches!(self.type_of(*operand), RegisterType::Descriptor);
        let element = match op {
            VectorOp::Merge => operands.get(1),
            _ => operands.iter().find(|operand| !of_segments(operand)),
        };
        let ty = element.map_or(ScalarType::Int, |&operand| self.scalar_type(operand));
        let mut words = Vec::new();
        match op {
            VectorOp::Concat | VectorOp::Interleave => words.push(self.emitter.int(operands.len() as i64)),
            _ => {}
        }
        if let Some(identity) = op.operator().and_then(|op| op.row().identity) {
            words.push(self.emitter.int(identity.to_word() as i64));
        }
        words.extend(self.words(operands));
        let helper = helper_of(op, ty).unwrap_or_else(|| panic!("{} is not supported", op.name()));
        self.helper(helper, &words, results)
    }

    fn each(&mut self, each: &Each, operands: &[Operand], results: &[Register]) -> Vec<Value> {
        let site = self.kept.site(each);
        let mut words = vec![self.emitter.int(site as i64)];
        words.extend(self.words(operands));
        self.helper(each_helper(), &words, results)
    }

    /// The words of operands.
    fn words(&mut self, operands: &[Operand]) -> Vec<Value> {
        let mut words = Vec::new();
        for &operand in operands {
            let values = self.value(operand);
            match self.type_of(operand) {
                RegisterType::Scalar(ty) => words.push(self.emitter.word_of_value(values[0], ty)),
                _ => words.extend(values),
            }
        }
        words
    }

    /// Calls a helper; the values of the registers that it makes.
    fn helper(&mut self, helper: Helper, words: &[Value], results: &[Register]) -> Vec<Value> {
        let types: Vec<RegisterType> = results.iter().map(|&result| self.function.register_type(result)).collect();
        let count = types.iter().copied().map(words_of).sum();
        let words = self.call_helper(helper, words, count);
        let mut words = words.into_iter();
        let mut values = Vec::new();
        for ty in types {
            let own: Vec<Value> = words.by_ref().take(words_of(ty)).collect();
            match ty {
                RegisterType::Scalar(ty) => values.push(self.emitter.value_of_word(own[0], ty)),
                _ => values.extend(own),
            }
        }
        values
    }

    /// Calls a helper on words; so many words that it leaves.
    fn call_helper(&mut self, helper: Helper, words: &[Value], results: usize) -> Vec<Value> {
        let frame = self.frame(words.len().max(results));
        let frame = self.emitter.builder.ins().stack_addr(types::I64, frame, 0);
        for (index, &word) in words.iter().enumerate() {
            self.emitter.store_word(frame, index, word);
        }
        let signature = self.emitter.signature(&[types::I64; 2], &[types::I64]);
        let state = self.emitter.state;
        let status = self.emitter.call_rust(helper as usize, signature, &[state, frame])[0];
        self.emitter.require_done(status);
        (0..results).map(|index| self.emitter.load_word(frame, index)).collect()
    }

    /// So many words on the stack. Helpers are done with theirs when the next is called.
    fn frame(&mut self, words: usize) -> StackSlot {
        let size = words.next_power_of_two();
        let builder = &mut self.emitter.builder;
        *self.frames.entry(size).or_insert_with(|| {
            builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * size as u32, 3))
        })
    }

    /// Moves columns among the results to where the function's scratch memory began, and frees the rest.
    fn give_back(&mut self, mark: Value, results: &mut [Vec<Value>]) {
        // Where each part is among the results, and its size in bytes.
        let mut parts: Vec<(usize, usize, Value)> = Vec::new();
        for (index, &result) in self.function.body.results.iter().enumerate() {
            let values = results[index].clone();
            match self.type_of(result) {
                RegisterType::Scalar(_) => {}
                RegisterType::Column(ty) => {
                    let bytes = self.bytes(values[1], ty);
                    parts.push((index, 0, bytes));
                }
                RegisterType::Descriptor => {
                    let bytes = self.bytes(values[2], ScalarType::Int);
                    parts.extend([(index, 0, bytes), (index, 1, bytes)]);
                }
            }
        }
        if parts.is_empty() {
            return self.emitter.store_state(TOP, mark);
        }
        // Where nothing was made nothing moves.
        let top = self.emitter.load_state(TOP);
        let is_used = self.emitter.builder.ins().icmp(IntCC::NotEqual, top, mark);
        let (moving, join) = (self.emitter.builder.create_block(), self.emitter.builder.create_block());
        let unmoved: Vec<Value> = parts.iter().map(|&(index, word, _)| results[index][word]).collect();
        for _ in &parts {
            self.emitter.builder.append_block_param(join, types::I64);
        }
        let arguments: Vec<BlockArg> = unmoved.iter().map(|&value| BlockArg::from(value)).collect();
        self.emitter.builder.ins().brif(is_used, moving, &[], join, &arguments);
        self.emitter.builder.switch_to_block(moving);
        let frame = self.frame(2 * parts.len());
        let frame = self.emitter.builder.ins().stack_addr(types::I64, frame, 0);
        for (position, (&address, &(_, _, bytes))) in unmoved.iter().zip(&parts).enumerate() {
            self.emitter.store_word(frame, 2 * position, address);
            self.emitter.store_word(frame, 2 * position + 1, bytes);
        }
        let signature = self.emitter.signature(&[types::I64; 4], &[types::I64]);
        let (state, count) = (self.emitter.state, self.emitter.int(parts.len() as i64));
        self.emitter.call_rust(give_back as *const () as usize, signature, &[state, mark, frame, count]);
        let moved: Vec<BlockArg> =
            (0..parts.len()).map(|position| self.emitter.load_word(frame, 2 * position).into()).collect();
        self.emitter.builder.ins().jump(join, &moved);
        self.emitter.builder.switch_to_block(join);
        let values = self.emitter.builder.block_params(join).to_vec();
        for ((index, word, _), value) in parts.into_iter().zip(values) {
            results[index][word] = value;
        }
    }
}

/// The helper that makes a column of equal bytes.
fn dist_of_bytes() -> Helper {
    helper_of(VectorOp::Dist, ScalarType::Char).unwrap_or_else(|| unreachable!("there is a helper for dist"))
}

fn has_calls(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| match &instruction.op {
        Op::Call(_) | Op::Each(_) => true,
        Op::If(then_block, else_block) => has_calls(then_block) || has_calls(else_block),
        _ => false,
    })
}

impl Emitter<'_> {
    /// Calls a native function; its results. Leaves with its status unless it is done.
    pub fn call(&mut self, function: FuncId, arguments: &[Value]) -> Vec<Value> {
        let callee = self.jit.declare_func_in_func(function, self.builder.func);
        let call = self.builder.ins().call(callee, arguments);
        let results = self.builder.inst_results(call).to_vec();
        self.require_done(results[0]);
        results[1..].to_vec()
    }

    /// The values of a register whose words begin at a position from an address on.
    pub fn load_register(&mut self, address: Value, position: usize, ty: RegisterType) -> Vec<Value> {
        let words: Vec<Value> = (0..words_of(ty)).map(|index| self.load_word(address, position + index)).collect();
        match ty {
            RegisterType::Scalar(ty) => vec![self.value_of_word(words[0], ty)],
            _ => words,
        }
    }

    /// Writes the words of a register.
    pub fn store_register(&mut self, address: Value, position: usize, ty: RegisterType, values: &[Value]) {
        for (index, &value) in values.iter().enumerate() {
            let word = match ty {
                RegisterType::Scalar(ty) => self.word_of_value(value, ty),
                _ => value,
            };
            self.store_word(address, position + index, word);
        }
    }
}
