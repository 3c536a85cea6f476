//! The functions of a program in machine code: which can be compiled, what they need beside their instructions, and how
//! Rust calls them.
//!
//! A function is compiled with all that it calls when it is first asked for, and kept. From Rust it is entered through
//! a few instructions that take its arguments from words and leave its results in words: one for a scalar, an address
//! and a length for a column, the addresses of starts and lengths and the number of segments for a descriptor.

pub use crate::module::Unavailable;

use crate::abi::{Enter, Entry, machine_types, parameter_types, passed, words_of};
use crate::body::{self, Body, Calls, EachFunction, ProgramFunction};
use crate::emitter::Emitter;
use crate::instances::{Instances, function_of};
use crate::kept::Kept;
use crate::module::Module;
use crate::runtime::helper_of;
use crate::state::{State, Status};
use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use nesl_prim::ScalarType;
use nesl_vcode::alias::{self, Updates};
use nesl_vcode::{EachPlan, Function, FunctionId, Instruction, Op, Program, RegisterType};
use std::collections::HashMap;

/// The native functions of a program.
#[derive(Debug)]
pub struct Compiler {
    module: Module,
    functions: HashMap<FunctionId, Entry>,
    /// What is known of the calls of the program, once it is.
    calls: Option<Calls>,
    kept: Kept,
}

/// A function in machine code. It must not outlive its [`Compiler`].
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    enter: Enter,
    /// Words of its arguments.
    arguments: usize,
    /// Words of its results.
    results: usize,
}

impl Compiled {
    /// Words of the results.
    pub fn result_words(&self) -> usize {
        self.results
    }

    /// Runs the function. Unless it is done, what the results hold means nothing. Columns among them lie in the state's
    /// scratch memory, or are (parts of) arguments or constants.
    ///
    /// # Safety
    /// The words of columns and descriptors among the arguments are addresses and lengths of memory that stays as it
    /// is; the compiler that made this still exists.
    ///
    /// # Panics
    /// If there are not as many words as it has arguments and results.
    pub unsafe fn call(&self, state: &mut State<'_>, arguments: &[u64], results: &mut [u64]) -> Status {
        assert_eq!((arguments.len(), results.len()), (self.arguments, self.results), "words of a native call");
        // SAFETY: the code was compiled from a verified function and reads and writes as many words as were just
        // counted; the rest is what the caller promises.
        let status =
            unsafe { (self.enter)(std::ptr::from_mut(state).cast(), arguments.as_ptr(), results.as_mut_ptr()) };
        Status::from_word(status)
    }
}

/// A function and those that it calls, directly or not, but what is left out and what only that calls.
fn reach(program: &Program, function: FunctionId, is_left_out: impl Fn(FunctionId) -> bool) -> Vec<FunctionId> {
    let mut reached = vec![function];
    let mut next = 0;
    while let Some(&id) = reached.get(next) {
        next += 1;
        program.functions[id.0 as usize].body.visit(&mut |instruction| {
            if let Some(callee) = callee(&instruction.op)
                && !is_left_out(callee)
                && !reached.contains(&callee)
            {
                reached.push(callee);
            }
        });
    }
    reached
}

/// Whether all instructions of a function, and of whatever it calls, are of a kind.
fn all(program: &Program, function: FunctionId, is_so: impl Fn(&Function, &Instruction) -> bool) -> bool {
    reach(program, function, |_| false).into_iter().all(|id| {
        let (function, mut all) = (&program.functions[id.0 as usize], true);
        function.body.visit(&mut |instruction| all &= is_so(function, instruction));
        all
    })
}

/// Whether a function, and whatever it calls, can be compiled.
pub fn is_supported(program: &Program, function: FunctionId) -> bool {
    all(program, function, |function, instruction| match &instruction.op {
        Op::Host(_) => false,
        Op::Scalar(_) | Op::If(..) | Op::Call(_) | Op::Each(_) | Op::Constants(_) => true,
        _ if body::is_loop(instruction, function) => true,
        Op::Vector(op) => {
            let of = instruction.operands.iter().find_map(|&operand| match function.operand_type(operand) {
                RegisterType::Scalar(ty) | RegisterType::Column(ty) => Some(ty),
                RegisterType::Descriptor => None,
            });
            // In the program for one instance after another descriptors are made of columns again.
            let is_made_of_columns = op.regular_operands().is_some();
            is_made_of_columns || body::is_direct(*op) || helper_of(*op, of.unwrap_or(ScalarType::Int)).is_some()
        }
        Op::Map(_) | Op::Fused(_) => false,
    })
}

/// Whether a function, or one that it comes to call, may come to run itself: then the sizes of what it gets do not tell
/// how long it takes.
pub fn is_recursive(program: &Program, function: FunctionId) -> bool {
    let runs_itself = |function| !all(program, function, |_, instruction| callee(&instruction.op) != Some(function));
    runs_itself(function) || !all(program, function, |_, instruction| !callee(&instruction.op).is_some_and(runs_itself))
}

fn callee(op: &Op) -> Option<FunctionId> {
    match op {
        Op::Call(function) => Some(*function),
        Op::Each(each) => Some(each.serial),
        _ => None,
    }
}

impl Compiler {
    /// A compiler that has compiled nothing.
    ///
    /// # Errors
    /// If this machine cannot run what it would compile.
    pub fn new() -> Result<Compiler, Unavailable> {
        Ok(Compiler { module: Module::new()?, functions: HashMap::new(), calls: None, kept: Kept::default() })
    }

    /// A function, compiled now if it was not yet.
    ///
    /// # Errors
    /// If Cranelift does not take it.
    ///
    /// # Panics
    /// If it is not [supported](is_supported).
    pub fn function(&mut self, program: &Program, function: FunctionId) -> Result<Compiled, Unavailable> {
        if !self.functions.contains_key(&function) {
            self.compile(program, function)?;
        }
        let code = &program.functions[function.0 as usize];
        let words = |types: &mut dyn Iterator<Item = RegisterType>| types.map(words_of).sum();
        Ok(Compiled {
            enter: self.enter(self.functions[&function].entry),
            arguments: words(&mut code.parameters.iter().map(|&parameter| code.register_type(parameter))),
            results: words(&mut code.result_types()),
        })
    }

    /// The instances of an `each`, whose serial function is compiled now if it was not yet.
    ///
    /// # Errors
    /// If Cranelift does not take it.
    ///
    /// # Panics
    /// If the function is not [supported](is_supported).
    pub fn instances(
        &mut self,
        program: &Program,
        serial: FunctionId,
        plan: EachPlan,
    ) -> Result<Instances, Unavailable> {
        if !body::is_inlined(program, serial) && !self.functions.contains_key(&serial) {
            self.compile(program, serial)?;
        }
        let signature = self.entry_signature();
        let id = self.module.declare(&signature)?;
        let function = function_of(&plan, &program.functions[serial.0 as usize]);
        let (functions, kept) = (&self.functions, &mut self.kept);
        let calls = &*self.calls.get_or_insert_with(|| Calls::of(program));
        let source = ProgramFunction { program, calls, id: serial };
        let each = EachFunction { source, function: &function, plan: &plan };
        self.module.define(id, signature, |builder, jit| Body::emit_instances(builder, jit, &each, functions, kept))?;
        self.module.finish()?;
        let enter = self.enter(id);
        Ok(Instances::new(plan, enter))
    }

    fn enter(&mut self, entry: FuncId) -> Enter {
        let address = self.module.address(entry);
        // SAFETY: the address is that of an entry, which has this signature.
        unsafe { std::mem::transmute::<*const u8, Enter>(address) }
    }

    fn compile(&mut self, program: &Program, function: FunctionId) -> Result<(), Unavailable> {
        let reached = reach(program, function, |callee| self.functions.contains_key(&callee));
        for &id in &reached {
            let code = &program.functions[id.0 as usize];
            let passed = passed(code);
            let (body, entry) = (self.signature(code, &passed), self.entry_signature());
            let (body, entry) = (self.module.declare(&body)?, self.module.declare(&entry)?);
            let calls = self.calls.get_or_insert_with(|| Calls::of(program));
            let is_loop = !calls.steps.callees(program, id).is_empty();
            let grows = is_loop && Updates::of(code, &calls.summaries).grows();
            let updates = grows || alias::writes(&code.body);
            self.functions.insert(id, Entry { body, passed, entry, updates, grows });
        }
        self.pass_on_updates(program, &reached);
        for &id in &reached {
            let code = &program.functions[id.0 as usize];
            let Entry { body, passed, entry, .. } = self.functions[&id].clone();
            let (signature, entry_signature) = (self.signature(code, &passed), self.entry_signature());
            let (functions, kept) = (&self.functions, &mut self.kept);
            let calls = &*self.calls.get_or_insert_with(|| Calls::of(program));
            self.module.define(body, signature, |builder, jit| {
                Body::emit(builder, jit, ProgramFunction { program, calls, id }, functions, kept);
            })?;
            self.module.define(entry, entry_signature, |builder, jit| emit_entry(builder, jit, code, body, &passed))?;
        }
        self.module.finish()
    }

    /// What calls a function that writes elements, or appends some, is one that does.
    fn pass_on_updates(&mut self, program: &Program, reached: &[FunctionId]) {
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for id in reached {
                let Entry { mut updates, mut grows, .. } = self.functions[id];
                program.functions[id.0 as usize].body.visit(&mut |instruction| {
                    if let Op::Call(callee) = instruction.op {
                        updates |= self.functions[&callee].updates;
                        grows |= self.functions[&callee].grows;
                    }
                });
                if let Some(entry) = self.functions.get_mut(id) {
                    is_done &= (entry.updates, entry.grows) == (updates, grows);
                    (entry.updates, entry.grows) = (updates, grows);
                }
            }
        }
    }

    fn signature(&mut self, function: &Function, passed: &[usize]) -> Signature {
        let mut signature = self.module.signature();
        let params = |types: Vec<Type>| types.into_iter().map(AbiParam::new);
        let types = parameter_types(function);
        signature.params.push(AbiParam::new(types::I64));
        signature.params.extend(passed.iter().map(|&position| AbiParam::new(types[position])));
        signature.returns.push(AbiParam::new(types::I64));
        for &result in &function.body.results {
            signature.returns.extend(params(machine_types(function.operand_type(result))));
        }
        signature
    }

    fn entry_signature(&mut self) -> Signature {
        let mut signature = self.module.signature();
        signature.params = vec![AbiParam::new(types::I64); 3];
        signature.returns.push(AbiParam::new(types::I64));
        signature
    }
}

/// Emits what Rust calls: words in, words out.
fn emit_entry(builder: FunctionBuilder<'_>, jit: &mut JITModule, function: &Function, body: FuncId, passed: &[usize]) {
    let (mut emitter, parameters) = Emitter::begin(builder, jit);
    let (from, to) = (parameters[0], parameters[1]);
    let mut values = Vec::new();
    for &parameter in &function.parameters {
        let of_parameter = emitter.load_register(from, values.len(), function.register_type(parameter));
        values.extend(of_parameter);
    }
    let results = emitter.call(body, passed, &values);
    let mut written = 0;
    for &result in &function.body.results {
        let ty = function.operand_type(result);
        let width = words_of(ty);
        emitter.store_register(to, written, ty, &results[written..written + width]);
        written += width;
    }
    emitter.finish(&[]);
}

#[cfg(test)]
pub(crate) mod tests;
