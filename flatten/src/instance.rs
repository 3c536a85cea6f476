//! Instances: the functions of VCODE that a program needs, made on demand.
//!
//! An instance is a source function at concrete types (monomorphisation), in its serial version or in a lifted one for
//! a pattern of lifted and invariant parts of its argument. Its parameters are, in order:
//!
//! 1. the number of instances, if lifted;
//! 2. the seed, if it draws random numbers (a column if lifted);
//! 3. its argument;
//! 4. the globals that it or its callees mention, always invariant.
//!
//! A loop ([`crate::lower::lift::looped`]) has more: after the number of instances how many there were at first and
//! which of them these are, after the seed what they have printed, and before the globals the results so far, which it
//! gives.
//!
//! Its results are its value (lifted throughout if lifted), then its state: the seed after it if it draws, and the text
//! of each instance if it prints and is lifted.

use crate::free::Globals;
use crate::parallel::NotParallel;
use crate::replacing::Packing;
use crate::value::{Pattern, Value};
use nesl_frontend::ast::Symbol;
use nesl_frontend::core::effects::Effects;
use nesl_frontend::core::tail::Steps;
use nesl_frontend::core::{self, Expr, VariableId};
use nesl_frontend::ty::Type;
use nesl_prim::HostOp;
use nesl_span::Span;
use nesl_vcode::{Function, FunctionId, Operand};
use std::collections::HashMap;
use std::rc::Rc;

/// For how many instances a function computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Version {
    /// One.
    Serial,
    /// One, of a function that takes and gives packed sequences ([`crate::lower::packing`]).
    Packed,
    /// Many; which parts of the argument are lifted.
    Lifted(Pattern),
    /// Those that are left of many, in a function that is a loop; the same of it.
    Loop(Pattern),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub source: Source,
    pub type_arguments: Vec<Type>,
    pub version: Version,
}

/// What an instance is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// A function.
    Function(core::FunctionId),
    /// A part of one, by its number.
    Part(usize),
}

/// A part of a function that becomes a function of its own.
pub(crate) struct Part {
    pub(crate) expr: Expr,
    /// Its free variables, with their types where the function is polymorphic.
    pub(crate) variables: Vec<(VariableId, Type)>,
}

/// The instances made so far and those still to be made.
pub(crate) struct Instances<'p> {
    pub(crate) program: &'p core::Program,
    pub(crate) effects: Effects,
    pub(crate) steps: Steps,
    pub(crate) packing: Packing,
    pub(crate) globals: Globals,
    numbers: HashMap<Key, FunctionId>,
    pending: Vec<(Key, FunctionId)>,
    functions: Vec<Option<Function>>,
    names: HashMap<String, usize>,
    parts: Vec<Rc<Part>>,
    /// Their numbers by the addresses of their expressions, which stay where they are until all is made.
    part_numbers: HashMap<usize, usize>,
    /// For each function made on demand the call that asked for it first.
    origins: HashMap<FunctionId, Origin>,
    /// The function on demand that is being made; none while entries are.
    current: Option<FunctionId>,
    /// Operations found in lifted code that are for serial code only.
    not_parallel: Vec<NotParallel>,
}

/// The call that asked for an instance.
struct Origin {
    /// The function with the call; none in an entry.
    caller: Option<FunctionId>,
    span: Span,
    callee: Symbol,
}

impl<'p> Instances<'p> {
    pub(crate) fn new(program: &'p core::Program) -> Self {
        let steps = Steps::of(program);
        Instances {
            program,
            effects: Effects::of(program),
            packing: Packing::of(program, &steps),
            steps,
            globals: Globals::default(),
            numbers: HashMap::new(),
            pending: Vec::new(),
            functions: Vec::new(),
            names: HashMap::new(),
            parts: Vec::new(),
            part_numbers: HashMap::new(),
            origins: HashMap::new(),
            current: None,
            not_parallel: Vec::new(),
        }
    }

    /// The number of an instance that is called at `span`; it will be made if it was not yet.
    pub(crate) fn instance(
        &mut self,
        source: Source,
        type_arguments: Vec<Type>,
        version: Version,
        span: Span,
    ) -> FunctionId {
        let key = Key { source, type_arguments, version };
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.reserve();
        self.numbers.insert(key.clone(), number);
        if let Source::Function(function) = source {
            let callee = self.program.function(function).name.clone();
            self.origins.insert(number, Origin { caller: self.current, span, callee });
        }
        self.pending.push((key, number));
        number
    }

    /// The number of a part of a function, which is known by its place in core.
    pub(crate) fn part(&mut self, expr: &Expr, part: Part) -> usize {
        let address = std::ptr::from_ref(expr) as usize;
        let next = self.parts.len();
        let number = *self.part_numbers.entry(address).or_insert(next);
        if number == next {
            self.parts.push(Rc::new(part));
        }
        number
    }

    /// A number for a function that the caller will [`define`](Self::define).
    pub(crate) fn reserve(&mut self) -> FunctionId {
        self.functions.push(None);
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// Supplies a function.
    pub(crate) fn define(&mut self, number: FunctionId, function: Function) {
        self.functions[number.0 as usize] = Some(function);
    }

    /// A name that no other function has.
    pub(crate) fn unique_name(&mut self, name: String) -> String {
        let uses = self.names.entry(name.clone()).or_insert(0);
        *uses += 1;
        if *uses == 1 { name } else { format!("{name}#{uses}") }
    }

    /// Notes that an operation for serial code stands in lifted code.
    pub(crate) fn serial_only(&mut self, op: HostOp, span: Span) {
        // The one operation that programs reach without a library function is `time`.
        let operation = (span, Symbol::from(if op == HostOp::Clock { "time" } else { op.row().mnemonic }));
        let mut calls = Vec::new();
        let mut within = self.current;
        while let Some(origin) = within.and_then(|number| self.origins.get(&number)) {
            calls.push((origin.span, origin.callee.clone()));
            within = origin.caller;
        }
        self.not_parallel.push(NotParallel { operation, calls });
    }

    /// One that is to be made still, with its number; from now on it is the one that asks for others.
    pub(crate) fn begin(&mut self) -> Option<(Key, FunctionId)> {
        let (key, number) = self.pending.pop()?;
        self.current = Some(number);
        Some((key, number))
    }

    /// A part of a function by its number.
    pub(crate) fn part_of(&self, number: usize) -> Rc<Part> {
        Rc::clone(&self.parts[number])
    }

    /// All functions.
    ///
    /// # Errors
    /// Where operations for serial code stand in lifted code.
    pub(crate) fn finish(self) -> Result<Vec<Function>, Vec<NotParallel>> {
        if !self.not_parallel.is_empty() {
            return Err(NotParallel::in_order(self.not_parallel));
        }
        Ok(self.functions.into_iter().map(|function| function.expect("every reserved function is defined")).collect())
    }

    /// What a call of an instance passes.
    pub(crate) fn arguments(
        globals: impl Iterator<Item = Value>,
        count: Option<Operand>,
        seed: Option<Operand>,
        argument: &Value,
    ) -> Vec<Operand> {
        let mut operands: Vec<Operand> = count.into_iter().chain(seed).collect();
        operands.extend(argument.operands());
        operands.extend(globals.flat_map(|global| global.operands()));
        operands
    }
}

impl Key {
    /// `qs@[int]`, `qs@[int]/L`: the argument's type, then the pattern if lifted.
    pub fn name(&self, source: &str, argument_type: &Type) -> String {
        let types = argument_type.to_string().replace(' ', "");
        match &self.version {
            Version::Serial => format!("{source}@{types}"),
            Version::Packed => format!("{source}@{types}/P"),
            Version::Lifted(pattern) => format!("{source}@{types}/{}", pattern.letters()),
            Version::Loop(pattern) => format!("{source}@{types}/{}/loop", pattern.letters()),
        }
    }
}
