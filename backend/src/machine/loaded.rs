//! A program ready to run: what is found out about its functions, once for all runs and workers, when it is first
//! needed.

use super::decode::{Code, EachLine, decode};
use super::native::NativeCode;
use super::scalar_code::{self, is_scalar_only};
use super::strategy::{entered, is_serial, is_uniform, may_branch};
use nesl_vcode::alias::Summaries;
use nesl_vcode::tail::Steps;
use nesl_vcode::{FunctionId, Options, Place, Program, Register, RegisterType, pipeline};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// A verified program, decoded function by function when they are first called.
#[derive(Debug)]
pub struct Loaded {
    program: Arc<Program>,
    code: Vec<OnceLock<Code>>,
    /// Which calls are steps of loops, once somebody asked.
    steps: OnceLock<Steps>,
    /// Which columns functions give back, once somebody asked.
    summaries: OnceLock<Summaries>,
    /// For each function whether it computes on scalars alone, once somebody asked.
    scalar_only: Vec<OnceLock<bool>>,
    /// Those that do, as the evaluator runs them.
    scalar_code: Vec<OnceLock<scalar_code::Code>>,
    /// For each lifted function whether it is a loop that all instances go round together, once somebody asked.
    uniform: Vec<OnceLock<bool>>,
    /// For each function whether it comes to call itself more than once, once somebody asked.
    branching: Vec<OnceLock<bool>>,
    /// For each function whether it is a recursion over single elements, once somebody asked.
    serial: Vec<OnceLock<bool>>,
    /// Its native code.
    pub(crate) native: NativeCode,
    /// The same program for columns in parts.
    partitioned: OnceLock<Box<Loaded>>,
    /// The passes without which programs are made of this one.
    left_out: Vec<String>,
}

impl Loaded {
    /// Makes a program ready to run. The verifier must have accepted it: a machine panics on a program that breaks its
    /// rules.
    pub fn new(program: Arc<Program>) -> Loaded {
        Loaded::without(program, Vec::new())
    }

    /// The same, whose programs for machine code and for columns in parts are made without the passes of these names.
    pub fn without(program: Arc<Program>, passes: Vec<String>) -> Loaded {
        let code = program.functions.iter().map(|_| OnceLock::new()).collect();
        let scalar_only = program.functions.iter().map(|_| OnceLock::new()).collect();
        let scalar_code = program.functions.iter().map(|_| OnceLock::new()).collect();
        let uniform = program.functions.iter().map(|_| OnceLock::new()).collect();
        let branching = program.functions.iter().map(|_| OnceLock::new()).collect();
        let serial = program.functions.iter().map(|_| OnceLock::new()).collect();
        let native = NativeCode::new(program.functions.len(), passes.clone());
        let (steps, summaries, partitioned) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Loaded {
            program,
            code,
            steps,
            summaries,
            scalar_only,
            scalar_code,
            uniform,
            branching,
            serial,
            native,
            partitioned,
            left_out: passes,
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The same program for an engine whose columns lie in parts on several processes.
    pub(crate) fn partitioned(&self) -> &Loaded {
        self.partitioned.get_or_init(|| {
            let options = Options { disable: self.left_out.clone(), ..Options::default() };
            let program = pipeline::partitioned(&self.program, &options).unwrap_or_else(|error| panic!("{error}"));
            Box::new(Loaded::without(Arc::new(program), self.left_out.clone()))
        })
    }

    /// Whether a function, and whatever it calls, has scalars alone.
    pub(crate) fn is_scalar_only(&self, function: FunctionId) -> bool {
        let index = function.0 as usize;
        *self.scalar_only[index].get_or_init(|| is_scalar_only(&self.program, function))
    }

    /// Whether a lifted function is a loop that all instances go round together.
    pub(crate) fn is_uniform(&self, lifted: FunctionId) -> bool {
        *self.uniform[lifted.0 as usize].get_or_init(|| is_uniform(&self.program, lifted))
    }

    /// Whether a function, or one that it comes to call, may come to call itself more than once.
    pub(crate) fn may_branch(&self, function: FunctionId) -> bool {
        *self.branching[function.0 as usize].get_or_init(|| may_branch(&self.program, function))
    }

    /// Whether a function is a recursion over single elements that native code knows.
    pub(in crate::machine) fn is_serial(&self, function: FunctionId) -> bool {
        *self.serial[function.0 as usize].get_or_init(|| {
            self.native.is_recursive(&self.program, function)
                && self.native.is_supported(&self.program, function)
                && (is_serial(&self.program, (self.steps(), self.summaries()), function)
                    || self.enters_serial(function))
        })
    }

    /// Whether a loop that carries descriptors is one over single elements as it is compiled.
    fn enters_serial(&self, function: FunctionId) -> bool {
        let code = &self.program.functions[function.0 as usize];
        let is_descriptor = |&parameter: &Register| code.register_type(parameter) == RegisterType::Descriptor;
        if !code.parameters.iter().any(is_descriptor)
            || !self.steps().reached(&self.program, function).contains(&function)
        {
            return false;
        }
        let (serial, steps, summaries) = self.native.serial(&self.program);
        entered(serial, steps, function).is_some_and(|entered| is_serial(serial, (steps, summaries), entered))
    }

    /// The positions of the parameters that a function, or what it calls, would write over, or behind.
    pub(in crate::machine) fn written(&self, function: FunctionId) -> &BTreeSet<usize> {
        self.summaries().written(function)
    }

    fn summaries(&self) -> &Summaries {
        self.summaries.get_or_init(|| Summaries::of(&self.program))
    }

    /// A function of scalars alone, translated now if it was not yet.
    pub(crate) fn scalar_code(&self, function: FunctionId) -> &scalar_code::Code {
        let index = function.0 as usize;
        self.scalar_code[index].get_or_init(|| {
            scalar_code::translate(&self.decoded(function), scalar_code::results(&self.program, function))
        })
    }

    /// Where the function of an `each` is called; none where it is a part of the caller that stands there.
    pub(crate) fn call_place(&self, line: &EachLine) -> Option<Place> {
        let function = &self.program.functions[line.serial.0 as usize];
        match line.at.span == function.span {
            true => self.program.outer(line.at),
            false => Some(line.at),
        }
    }

    pub(super) fn decoded(&self, function: FunctionId) -> Code {
        decode(&self.program.functions[function.0 as usize], self.steps().callees(&self.program, function))
    }

    fn steps(&self) -> &Steps {
        self.steps.get_or_init(|| Steps::of(&self.program))
    }

    /// A function of it, decoded now if it was not yet.
    pub(crate) fn code(&self, function: FunctionId) -> &Code {
        let index = function.0 as usize;
        self.code[index].get_or_init(|| self.decoded(function))
    }
}
