//! Whole functions: registers become values, blocks become blocks, calls calls.
//!
//! A function is compiled with all that it calls when it is first asked for, and kept. From Rust it is entered through a
//! few instructions that take its arguments from words and leave its results in words.

use crate::emitter::{Emitter, machine_type};
use crate::module::Module;
pub use crate::module::Unavailable;
use crate::state::{State, Status};
use cranelift_codegen::ir::{AbiParam, Block as Label, BlockArg, InstBuilder, Signature, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _};
use nesl_prim::ScalarType;
use nesl_vcode::{Block, Function, FunctionId, Op, Operand, Program, Register, RegisterType};
use std::collections::HashMap;

/// The native functions of a program.
#[derive(Debug)]
pub struct Compiler {
    module: Module,
    functions: HashMap<FunctionId, Entry>,
}

/// A function that is compiled, or about to be.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The function itself.
    body: FuncId,
    /// What Rust calls.
    entry: FuncId,
}

/// Runs a function on words; returns a status.
type Enter = unsafe extern "C" fn(state: *mut State<'_>, arguments: *const u64, results: *mut u64) -> u64;

/// A function in machine code.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    enter: Enter,
    /// Words of its arguments.
    arguments: usize,
    /// Words of its results.
    results: usize,
}

impl Compiled {
    /// Runs the function. Unless it is done, what the results hold means nothing.
    ///
    /// # Panics
    /// If there are not as many words as it has arguments and results.
    pub fn call(&self, state: &mut State<'_>, arguments: &[u64], results: &mut [u64]) -> Status {
        assert_eq!((arguments.len(), results.len()), (self.arguments, self.results), "words of a native call");
        // SAFETY: the code was compiled from a verified function and reads and writes as many words as were just counted; the
        // module it is in is never dropped before the program's functions are ([`Compiler`]).
        let status = unsafe { (self.enter)(state, arguments.as_ptr(), results.as_mut_ptr()) };
        Status::from_word(status)
    }
}

impl Compiler {
    /// A compiler that has compiled nothing.
    ///
    /// # Errors
    /// If this machine cannot run what it would compile.
    pub fn new() -> Result<Compiler, Unavailable> {
        Ok(Compiler { module: Module::new()?, functions: HashMap::new() })
    }

    /// A function of scalars alone, compiled now if it was not yet.
    ///
    /// # Errors
    /// If Cranelift does not take it.
    ///
    /// # Panics
    /// If the function, or one that it calls, has other registers than scalars.
    pub fn function(&mut self, program: &Program, function: FunctionId) -> Result<Compiled, Unavailable> {
        if !self.functions.contains_key(&function) {
            self.compile(program, function)?;
        }
        let code = &program.functions[function.0 as usize];
        let address = self.module.address(self.functions[&function].entry);
        // SAFETY: the address is that of an entry, which has this signature.
        let enter = unsafe { std::mem::transmute::<*const u8, Enter>(address) };
        Ok(Compiled { enter, arguments: code.parameters.len(), results: code.body.results.len() })
    }

    fn compile(&mut self, program: &Program, function: FunctionId) -> Result<(), Unavailable> {
        let reached = self.reach(program, function);
        for &id in &reached {
            let code = &program.functions[id.0 as usize];
            let (body, entry) = (self.signature(code), self.entry_signature());
            let entry = Entry { body: self.module.declare(&body)?, entry: self.module.declare(&entry)? };
            self.functions.insert(id, entry);
        }
        for &id in &reached {
            let code = &program.functions[id.0 as usize];
            let (signature, entry_signature) = (self.signature(code), self.entry_signature());
            let Entry { body, entry } = self.functions[&id];
            let functions = &self.functions;
            self.module.define(body, signature, |builder, jit| Body::emit(builder, jit, code, functions))?;
            self.module.define(entry, entry_signature, |builder, jit| emit_entry(builder, jit, code, body))?;
        }
        self.module.finish()
    }

    /// A function and those it calls, as far as they are not compiled.
    fn reach(&self, program: &Program, function: FunctionId) -> Vec<FunctionId> {
        fn calls(block: &Block, visit: &mut impl FnMut(FunctionId)) {
            for instruction in &block.instructions {
                match &instruction.op {
                    Op::Call(function) => visit(*function),
                    Op::If(then_block, else_block) => {
                        calls(then_block, visit);
                        calls(else_block, visit);
                    }
                    _ => {}
                }
            }
        }
        let mut reached = vec![function];
        let mut next = 0;
        while let Some(&id) = reached.get(next) {
            next += 1;
            calls(&program.functions[id.0 as usize].body, &mut |callee| {
                if !self.functions.contains_key(&callee) && !reached.contains(&callee) {
                    reached.push(callee);
                }
            });
        }
        reached
    }

    fn signature(&mut self, function: &Function) -> Signature {
        let mut signature = self.module.signature();
        let of = |ty: ScalarType| AbiParam::new(machine_type(ty));
        signature.params.push(AbiParam::new(types::I64));
        signature.params.extend(function.parameters.iter().map(|&parameter| of(scalar(function, parameter.into()))));
        signature.returns.push(AbiParam::new(types::I64));
        signature.returns.extend(function.body.results.iter().map(|&result| of(scalar(function, result))));
        signature
    }

    fn entry_signature(&mut self) -> Signature {
        let mut signature = self.module.signature();
        signature.params = vec![AbiParam::new(types::I64); 3];
        signature.returns.push(AbiParam::new(types::I64));
        signature
    }
}

fn scalar(function: &Function, operand: Operand) -> ScalarType {
    match function.operand_type(operand) {
        RegisterType::Scalar(ty) => ty,
        other => panic!("a function of scalars alone has {other:?}"),
    }
}

/// Emits what Rust calls: words in, words out.
fn emit_entry(builder: FunctionBuilder<'_>, jit: &mut JITModule, function: &Function, body: FuncId) {
    let (mut emitter, parameters) = Emitter::begin(builder, jit);
    let (from, to) = (parameters[0], parameters[1]);
    let mut arguments = vec![emitter.state];
    for (index, &parameter) in function.parameters.iter().enumerate() {
        let word = emitter.load_word(from, index);
        arguments.push(emitter.value_of_word(word, scalar(function, parameter.into())));
    }
    let results = emitter.call(body, &arguments);
    for (index, (&value, &result)) in results.iter().zip(&function.body.results).enumerate() {
        let word = emitter.word_of_value(value, scalar(function, result));
        emitter.store_word(to, index, word);
    }
    emitter.finish(&[]);
}

/// Writes the body of a function.
struct Body<'a, 'b> {
    emitter: Emitter<'b>,
    function: &'a Function,
    functions: &'a HashMap<FunctionId, Entry>,
    values: Vec<Option<Value>>,
}

impl<'a, 'b> Body<'a, 'b> {
    fn emit(
        builder: FunctionBuilder<'b>,
        jit: &'b mut JITModule,
        function: &'a Function,
        functions: &'a HashMap<FunctionId, Entry>,
    ) {
        let (emitter, parameters) = Emitter::begin(builder, jit);
        let mut body = Body { emitter, function, functions, values: vec![None; function.registers.len()] };
        function.parameters.iter().zip(parameters).for_each(|(&register, value)| body.define(register, value));
        if has_calls(&function.body) {
            body.emitter.check_stack();
            body.emitter.check_interrupt();
        }
        let results = body.block(&function.body);
        body.emitter.finish(&results);
    }

    fn define(&mut self, register: Register, value: Value) {
        self.values[register.0 as usize] = Some(value);
    }

    fn value(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(value) => self.emitter.constant(value),
            Operand::Register(register) => self.values[register.0 as usize]
                .unwrap_or_else(|| panic!("%{} is read before it is defined: unverified program", register.0)),
        }
    }

    fn values(&mut self, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|&operand| self.value(operand)).collect()
    }

    /// Emits the instructions of a block; its results.
    fn block(&mut self, block: &Block) -> Vec<Value> {
        for instruction in &block.instructions {
            let results = match &instruction.op {
                Op::Scalar(op) => {
                    let operands = self.values(&instruction.operands);
                    vec![self.emitter.scalar(*op, &operands)]
                }
                Op::If(then_block, else_block) => {
                    let condition = self.value(instruction.operands[0]);
                    self.branches(condition, [then_block, else_block], &instruction.results)
                }
                Op::Call(function) => {
                    let operands = self.values(&instruction.operands);
                    let arguments: Vec<Value> = std::iter::once(self.emitter.state).chain(operands).collect();
                    self.emitter.call(self.functions[function].body, &arguments)
                }
                other => panic!("a function of scalars alone has {other:?}"),
            };
            instruction.results.iter().zip(results).for_each(|(&register, value)| self.define(register, value));
        }
        self.values(&block.results)
    }

    fn branches(&mut self, condition: Value, blocks: [&Block; 2], results: &[Register]) -> Vec<Value> {
        let labels: [Label; 2] = std::array::from_fn(|_| self.emitter.builder.create_block());
        let join = self.emitter.builder.create_block();
        for &result in results {
            let ty = machine_type(scalar(self.function, result.into()));
            self.emitter.builder.append_block_param(join, ty);
        }
        self.emitter.builder.ins().brif(condition, labels[0], &[], labels[1], &[]);
        for (label, block) in labels.into_iter().zip(blocks) {
            self.emitter.builder.switch_to_block(label);
            let values: Vec<BlockArg> = self.block(block).into_iter().map(BlockArg::from).collect();
            self.emitter.builder.ins().jump(join, &values);
        }
        self.emitter.builder.switch_to_block(join);
        self.emitter.builder.block_params(join).to_vec()
    }
}

fn has_calls(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| match &instruction.op {
        Op::Call(_) => true,
        Op::If(then_block, else_block) => has_calls(then_block) || has_calls(else_block),
        _ => false,
    })
}

impl Emitter<'_> {
    /// Calls a native function; its results. Leaves with its status unless it is done.
    fn call(&mut self, function: FuncId, arguments: &[Value]) -> Vec<Value> {
        let callee = self.jit.declare_func_in_func(function, self.builder.func);
        let call = self.builder.ins().call(callee, arguments);
        let results = self.builder.inst_results(call).to_vec();
        self.require_done(results[0]);
        results[1..].to_vec()
    }
}

#[cfg(test)]
mod tests;
