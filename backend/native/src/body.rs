//! The instructions of a function's body: registers become values, blocks become blocks, calls calls.
//!
//! A scalar is a value, a column its address and length, a descriptor the addresses of its starts and lengths and the
//! number of segments. What only looks at these is done here ([`is_direct`]). What goes over elements is a loop in
//! place where it can be in a fusion group ([`group`]), as are the instances of an `each` ([`each`]); the rest calls a
//! helper ([`crate::runtime`]). A function whose calls at its end come back to it is a loop ([`tail_calls`]).

mod columns;
mod destination;
mod each;
mod group;
mod in_place;
mod live_ranges;
mod loop_state;
mod single;
mod slots;
mod tail_calls;
mod updates;
mod uses;

use crate::abi::{Entry, machine_types, parameter_types, words_of};
use crate::emitter::{Emitter, TRUSTED};
use crate::kept::Kept;
use crate::kernel::Plan;
use crate::runtime::{Helper, needed_helper};
use crate::state::TOP;
use cranelift_codegen::ir::{Block as Label, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _};
use nesl_prim::ScalarType;
use nesl_vcode::alias::{Summaries, Updates};
use nesl_vcode::tail::Steps;
use nesl_vcode::{
    Block, EachPlan, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType, VectorOp,
};
use std::collections::HashMap;

use each::EachGroup;
pub(crate) use group::{is_loop, plan_of};
use loop_state::Loop;
use uses::Uses;

/// How many instructions a function may have that is emitted where it is called.
const INLINED: usize = 72;

/// Whether an instruction needs no helper: it only looks at columns and descriptors, or puts columns side by side.
pub(crate) fn is_direct(op: VectorOp) -> bool {
    op == VectorOp::Concat || !op.is_pass() && op != VectorOp::Total && op.regular_operands().is_none()
}

/// Whether a function is emitted where others call it: it is not much, and calls nothing but itself at its end.
pub(crate) fn is_inlined(program: &Program, id: FunctionId) -> bool {
    let body = &program.functions[id.0 as usize].body;
    body.size() <= INLINED && !tail_calls::has_calls(body, Some(id))
}

/// The values of all parameters of a function, given those that are passed; what it does not read is 0.
fn of_all(emitter: &mut Emitter<'_>, function: &Function, passed: &[usize], values: &[Value]) -> Vec<Value> {
    let all = parameter_types(function).into_iter().enumerate().map(|(position, ty)| {
        match passed.iter().position(|&other| other == position) {
            Some(index) => values[index],
            None => emitter.zero(ty),
        }
    });
    all.collect()
}

/// Where the scratch memory of a function begins.
#[derive(Clone, Copy)]
struct Mark {
    address: Value,
    /// How often the top may have moved before.
    moves: usize,
}

/// What is known of the calls of a program.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Which of them are steps of loops.
    pub steps: Steps,
    /// Of which of their operands their results may be the memory.
    pub summaries: Summaries,
}

impl Calls {
    pub fn of(program: &Program) -> Calls {
        Calls { steps: Steps::of(program), summaries: Summaries::of(program) }
    }
}

/// A function of a program.
#[derive(Clone, Copy)]
pub(crate) struct ProgramFunction<'a> {
    pub program: &'a Program,
    pub calls: &'a Calls,
    pub id: FunctionId,
}

/// An `each` as a function of its own.
#[derive(Clone, Copy)]
pub(crate) struct EachFunction<'a> {
    /// The serial version.
    pub source: ProgramFunction<'a>,
    /// The registers of the `each` ([`crate::instances::function_of`]).
    pub function: &'a Function,
    pub plan: &'a EachPlan,
}

/// Writes the body of a function.
pub(crate) struct Body<'a, 'b> {
    emitter: Emitter<'b>,
    program: &'a Program,
    calls: &'a Calls,
    id: FunctionId,
    function: &'a Function,
    functions: &'a HashMap<FunctionId, Entry>,
    kept: &'a mut Kept,
    /// The values of each register.
    values: Vec<Vec<Value>>,
    /// How registers are read.
    uses: Uses,
    /// The columns that it may write over.
    updates: Updates,
    /// Those of its caller's that it may: where each begins, and its bytes.
    granted: Vec<[Value; 2]>,
    /// Where columns begin that are known to be its own.
    owned: Vec<Value>,
    /// The words for helpers, by number.
    frames: HashMap<usize, StackSlot>,
    /// Where the function's scratch memory begins, if it has to do with columns.
    mark: Option<Mark>,
    /// The loop that it is, if it is one.
    tail_loop: Option<Loop>,
    /// How often the top may have moved before the turn of the loop.
    turn_moves: usize,
}

impl<'a, 'b> Body<'a, 'b> {
    fn new(
        emitter: Emitter<'b>,
        source: ProgramFunction<'a>,
        function: &'a Function,
        functions: &'a HashMap<FunctionId, Entry>,
        kept: &'a mut Kept,
    ) -> Body<'a, 'b> {
        let ProgramFunction { program, calls, id } = source;
        Body {
            emitter,
            program,
            calls,
            id,
            function,
            functions,
            kept,
            values: Vec::new(),
            uses: Uses::default(),
            updates: Updates::default(),
            granted: Vec::new(),
            owned: Vec::new(),
            frames: HashMap::new(),
            mark: None,
            tail_loop: None,
            turn_moves: 0,
        }
    }

    /// Emits a function of the program.
    pub fn emit(
        builder: FunctionBuilder<'b>,
        jit: &'b mut JITModule,
        source: ProgramFunction<'a>,
        functions: &'a HashMap<FunctionId, Entry>,
        kept: &'a mut Kept,
    ) {
        let (mut emitter, parameters) = Emitter::begin(builder, jit);
        let function = &source.program.functions[source.id.0 as usize];
        let parameters = of_all(&mut emitter, function, &functions[&source.id].passed, &parameters);
        let mut body = Body::new(emitter, source, function, functions, kept);
        let results = body.of_function(&parameters, true);
        body.emitter.finish(&results.concat());
    }

    /// Emits the loop over the instances of an `each` as a function that Rust calls: words of its operands in, words of
    /// its results out ([`crate::instances`]).
    pub fn emit_instances(
        builder: FunctionBuilder<'b>,
        jit: &'b mut JITModule,
        each: &EachFunction<'a>,
        functions: &'a HashMap<FunctionId, Entry>,
        kept: &'a mut Kept,
    ) {
        let (emitter, parameters) = Emitter::begin(builder, jit);
        let (from, to) = (parameters[0], parameters[1]);
        let EachFunction { source, function, plan } = *each;
        // It is none of the program's own.
        let id = FunctionId(source.program.functions.len() as u32);
        let mut body = Body::new(emitter, ProgramFunction { id, ..source }, function, functions, kept);
        body.values = vec![Vec::new(); function.registers.len()];
        let (mut read, mut operands) = (0, Vec::with_capacity(function.parameters.len()));
        for &parameter in &function.parameters {
            let values = body.emitter.load_register(from, read, function.register_type(parameter));
            read += values.len();
            operands.push(Operand::Register(parameter));
            body.values[parameter.0 as usize] = values;
        }
        let results: Vec<Register> = (operands.len()..function.registers.len()).map(|r| Register(r as u32)).collect();
        let values = body.each_loop(source.id, plan, &operands);
        let mut written = 0;
        for result in results {
            let ty = function.register_type(result);
            body.emitter.store_register(to, written, ty, &values[written..written + words_of(ty)]);
            written += words_of(ty);
        }
        body.emitter.finish(&[]);
    }

    /// Emits the body of the current function on values of its parameters; those of its results.
    fn of_function(&mut self, parameters: &[Value], is_called: bool) -> Vec<Vec<Value>> {
        let function = self.function;
        self.values = vec![Vec::new(); function.registers.len()];
        self.define(&function.parameters, parameters.to_vec());
        let looped = tail_calls::functions(self.program, &self.calls.steps, self.id);
        let all = looped.iter().map(|id| &self.program.functions[id.0 as usize]).chain([function]);
        let makes_columns =
            all.flat_map(|function| &function.registers).any(|ty| !matches!(ty, RegisterType::Scalar(_)));
        self.uses = Uses::of(function);
        self.updates = Updates::of(function, &self.calls.summaries);
        self.mark =
            makes_columns.then(|| Mark { address: self.emitter.load_state(TOP), moves: self.emitter.top_moves() });
        self.tail_loop = None;
        if is_called && self.functions[&self.id].updates {
            self.granted = self.take_over();
        }
        let is_checked = is_called && self.looks_at_interrupt(self.id);
        if is_checked {
            self.emitter.check_stack();
        }
        if !looped.is_empty() {
            return self.looped(looped);
        }
        if is_checked {
            self.emitter.check_interrupt();
        }
        let results = self.tail(&function.body);
        results.unwrap_or_else(|| unreachable!("what is no loop comes to its end"))
    }

    fn is_inlined(&self, id: FunctionId) -> bool {
        id != self.id && is_inlined(self.program, id)
    }

    /// Whether a function looks at the interrupt flag whenever it is called.
    fn looks_at_interrupt(&self, id: FunctionId) -> bool {
        tail_calls::has_calls(&self.program.functions[id.0 as usize].body, None)
    }

    /// Calls a function; the values of its results.
    fn call(&mut self, id: FunctionId, arguments: &[Value]) -> Vec<Value> {
        let entry = &self.functions[&id];
        let function = &self.program.functions[id.0 as usize];
        if function.body.results.iter().any(|&result| !matches!(function.operand_type(result), RegisterType::Scalar(_)))
        {
            self.emitter.move_top();
        }
        self.emitter.call(entry.body, &entry.passed, arguments)
    }

    /// Emits a function where it is called; it may write over these columns.
    fn inlined(&mut self, id: FunctionId, arguments: &[Value], granted: Vec<[Value; 2]>) -> Vec<Value> {
        let kept =
            (std::mem::take(&mut self.values), std::mem::take(&mut self.uses), std::mem::take(&mut self.updates));
        let outer = (self.id, self.function, self.mark, self.tail_loop.take());
        let owned = granted.iter().map(|[start, _]| *start).filter(|start| self.owned.contains(start)).collect();
        let (granted, owned) =
            (std::mem::replace(&mut self.granted, granted), std::mem::replace(&mut self.owned, owned));
        (self.id, self.function) = (id, &self.program.functions[id.0 as usize]);
        let results = self.of_function(arguments, false);
        (self.id, self.function, self.mark, self.tail_loop) = outer;
        (self.granted, self.owned) = (granted, owned);
        (self.values, self.uses, self.updates) = kept;
        results.concat()
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
        self.instructions(&block.instructions);
        block.results.iter().map(|&result| self.value(result)).collect()
    }

    fn instructions(&mut self, instructions: &[Instruction]) {
        for instruction in instructions {
            let values = self.instruction(instruction);
            self.define(&instruction.results, values);
        }
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
                let emit = |body: &mut Self, block: &Block| Some(body.block(block));
                self.branches(condition, [then_block, else_block], &instruction.results, emit)
                    .unwrap_or_else(|| unreachable!("both blocks come to their end"))
            }
            Op::Call(function) => {
                let granted = self.grants(*function, instruction);
                let operands = self.flat(operands);
                if self.is_inlined(*function) {
                    return self.inlined(*function, &operands, granted);
                }
                self.hand_over(*function, &granted);
                self.call(*function, &operands)
            }
            Op::Constants(constants) => {
                let address = self.kept.constants(constants);
                vec![self.emitter.int(address as i64), self.emitter.int(constants.len() as i64)]
            }
            Op::Vector(VectorOp::Build) if self.uses.is_single(instruction.results[0]) => self.value(operands[0]),
            Op::Vector(op) if is_direct(*op) => match self.append(instruction) {
                Some(values) => values,
                None => self.direct(*op, operands),
            },
            Op::Each(each) => self.each_loop(each.serial, &each.plan(), operands),
            Op::Fused(block) if block.each().is_some() => match EachGroup::of(block, self.function) {
                Some(group) => self.each_group(group),
                None => panic!("native code of what is not supported: {instruction:?}"),
            },
            Op::Fused(_) | Op::Map(_) | Op::Vector(_) | Op::Host(_) => {
                match (plan_of(instruction, self.function), &instruction.op) {
                    (Some((plan, inputs)), _) => match self.single_write(instruction) {
                        Some(values) => values,
                        None => self.loops(instruction, &plan, &inputs),
                    },
                    (None, Op::Vector(op)) => self.vector(*op, operands, &instruction.results),
                    (None, _) => panic!("native code of what is not supported: {instruction:?}"),
                }
            }
        }
    }

    /// Emits the blocks of an `if`, each by `emit`; the values of its results, none if no block comes to its end.
    fn branches(
        &mut self,
        condition: Value,
        blocks: [&Block; 2],
        results: &[Register],
        emit: impl Fn(&mut Self, &Block) -> Option<Vec<Vec<Value>>>,
    ) -> Option<Vec<Value>> {
        let labels: [Label; 2] = std::array::from_fn(|_| self.emitter.builder.create_block());
        let types: Vec<RegisterType> = results.iter().map(|&result| self.function.register_type(result)).collect();
        let join = self.label_for(&types);
        self.emitter.builder.ins().brif(condition, labels[0], &[], labels[1], &[]);
        let mut found = Vec::with_capacity(2);
        for (label, block) in labels.into_iter().zip(blocks) {
            self.emitter.builder.switch_to_block(label);
            if let Some(values) = emit(self, block) {
                let values = values.concat();
                self.emitter.jump(join, &values);
                found.push(values);
            }
        }
        let ends = found.first()?;
        self.emitter.builder.switch_to_block(join);
        let joined = self.emitter.builder.block_params(join).iter().zip(ends).enumerate();
        // What both blocks give is that value.
        let is_same = |index: usize, value: Value| found.iter().all(|values| values[index] == value);
        Some(joined.map(|(index, (&joined, &value))| if is_same(index, value) { value } else { joined }).collect())
    }

    /// A block whose parameters are registers of these types.
    fn label_for(&mut self, registers: &[RegisterType]) -> Label {
        let label = self.emitter.builder.create_block();
        for ty in registers.iter().flat_map(|&register| machine_types(register)) {
            self.emitter.builder.append_block_param(label, ty);
        }
        label
    }

    /// The values of the registers that are the parameters of a block.
    fn params_of(&self, label: Label, registers: &[RegisterType]) -> Vec<Vec<Value>> {
        let mut values = self.emitter.builder.block_params(label).iter().copied();
        registers.iter().map(|&register| values.by_ref().take(machine_types(register).len()).collect()).collect()
    }

    /// A group, or an instruction that could be one.
    fn loops(&mut self, instruction: &Instruction, plan: &Plan, inputs: &[Register]) -> Vec<Value> {
        // The result of a check is its operand.
        let checked = match instruction.op {
            Op::Map(op) => op.checked_operand().map(|position| instruction.operands[position]),
            _ => None,
        };
        match checked.filter(|&operand| matches!(self.type_of(operand), RegisterType::Column(_))) {
            Some(operand) => {
                self.trial(plan, inputs);
                self.value(operand)
            }
            None => self.group(plan, inputs),
        }
    }

    /// An instruction that only looks at addresses and lengths, or at single elements.
    fn direct(&mut self, op: VectorOp, operands: &[Operand]) -> Vec<Value> {
        let ty = self.scalar_type(operands[0]);
        let values = self.flat(operands);
        match op {
            VectorOp::Build => self.build(&values, ty),
            VectorOp::Concat => self.concat(&values, ty),
            VectorOp::Packed => self.packed(values[0], values[1]),
            VectorOp::Length => {
                self.emitter.note_size(values[1]);
                vec![values[1]]
            }
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

    /// The address of an element. What is constant of the index is added last: it is a part of the instruction that
    /// reads or writes there.
    fn address(&mut self, column: Value, index: Value, ty: ScalarType) -> Value {
        let (index, constant) = self.emitter.sum_with_constant(index);
        let offset = self.bytes(index, ty);
        let address = self.emitter.builder.ins().iadd(column, offset);
        match constant {
            0 => address,
            _ => self.emitter.builder.ins().iadd_imm_s(address, constant.wrapping_mul(ty.size() as i64)),
        }
    }

    fn vector(&mut self, op: VectorOp, operands: &[Operand], results: &[Register]) -> Vec<Value> {
        let of_segments = |operand: &Operand| matches!(self.type_of(*operand), RegisterType::Descriptor);
        let element = match op {
            VectorOp::Merge => operands.get(1),
            _ => operands.iter().find(|operand| !of_segments(operand)),
        };
        let ty = element.map_or(ScalarType::Int, |&operand| self.scalar_type(operand));
        let mut words = Vec::new();
        if op == VectorOp::Interleave {
            words.push(self.emitter.int(operands.len() as i64));
        }
        if let Some(identity) = op.operator().and_then(|op| op.row().identity) {
            words.push(self.emitter.int(identity.to_word() as i64));
        }
        words.extend(self.words(operands));
        self.helper(needed_helper(op, ty), &words, results)
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
}

impl Emitter<'_> {
    /// Calls a native function with those of the values of its parameters that are passed; its results. Leaves with its
    /// status unless it is done.
    pub fn call(&mut self, function: FuncId, passed: &[usize], values: &[Value]) -> Vec<Value> {
        let callee = self.jit.declare_func_in_func(function, self.builder.func);
        let arguments: Vec<Value> =
            std::iter::once(self.state).chain(passed.iter().map(|&position| values[position])).collect();
        let call = self.builder.ins().call(callee, &arguments);
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
