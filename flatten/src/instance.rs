//! Instances: the functions of VCODE that a program needs, made on demand.
//!
//! An instance is a source function at concrete types (monomorphisation), in its serial version or in a lifted one for a
//! pattern of lifted and invariant parts of its argument. Its parameters are, in order:
//!
//! 1. the number of instances, if lifted;
//! 2. the seed, if it draws random numbers (a column if lifted);
//! 3. its argument;
//! 4. the globals that it or its callees mention, always invariant.
//!
//! Its results are its value (lifted throughout if lifted), then its state: the seed after it if it draws, and the text of
//! each instance if it prints and is lifted.

use crate::free::Globals;
use crate::lower::{Context, Lowering};
use crate::parallel::NotParallel;
use crate::value::{Pattern, Value};
use nesl_frontend::ast::Symbol;
use nesl_frontend::core::effects::Effects;
use nesl_frontend::core::{self, FunctionBody};
use nesl_frontend::ty::Type;
use nesl_prim::HostOp;
use nesl_span::Span;
use nesl_vcode::{Function, FunctionId, Operand};
use std::collections::HashMap;

/// For how many instances a function computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Version {
    /// One.
    Serial,
    /// Many; which parts of the argument are lifted.
    Lifted(Pattern),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    function: core::FunctionId,
    type_arguments: Vec<Type>,
    version: Version,
}

/// The instances made so far and those still to be made.
pub(crate) struct Instances<'p> {
    pub(crate) program: &'p core::Program,
    pub(crate) effects: Effects,
    pub(crate) globals: Globals,
    numbers: HashMap<Key, FunctionId>,
    pending: Vec<(Key, FunctionId)>,
    functions: Vec<Option<Function>>,
    names: HashMap<String, usize>,
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
        Instances {
            program,
            effects: Effects::of(program),
            globals: Globals::default(),
            numbers: HashMap::new(),
            pending: Vec::new(),
            functions: Vec::new(),
            names: HashMap::new(),
            origins: HashMap::new(),
            current: None,
            not_parallel: Vec::new(),
        }
    }

    /// The number of an instance that is called at `span`; it will be made if it was not yet.
    pub(crate) fn instance(
        &mut self,
        function: core::FunctionId,
        type_arguments: Vec<Type>,
        version: Version,
        span: Span,
    ) -> FunctionId {
        let key = Key { function, type_arguments, version };
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.reserve();
        self.numbers.insert(key.clone(), number);
        let callee = self.program.function(function).name.clone();
        self.origins.insert(number, Origin { caller: self.current, span, callee });
        self.pending.push((key, number));
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
        let mut calls = vec![(span, Symbol::from(if op == HostOp::Clock { "time" } else { op.row().mnemonic }))];
        let mut within = self.current;
        while let Some(origin) = within.and_then(|number| self.origins.get(&number)) {
            calls.push((origin.span, origin.callee.clone()));
            within = origin.caller;
        }
        self.not_parallel.push(NotParallel { calls });
    }

    /// Makes everything pending, and what that needs in turn; all functions.
    ///
    /// # Errors
    /// Where operations for serial code stand in lifted code.
    pub(crate) fn finish(mut self) -> Result<Vec<Function>, Vec<NotParallel>> {
        while let Some((key, number)) = self.pending.pop() {
            self.current = Some(number);
            let function = self.lower(&key);
            self.define(number, function);
        }
        if !self.not_parallel.is_empty() {
            return Err(NotParallel::in_order(self.not_parallel));
        }
        Ok(self.functions.into_iter().map(|function| function.expect("every reserved function is defined")).collect())
    }

    fn lower(&mut self, key: &Key) -> Function {
        let source = self.program.function(key.function);
        let FunctionBody::Defined { parameter, body } = &source.body else {
            panic!("{} has no body to lower: the program has errors", source.name)
        };
        let argument_type = source.scheme.parameter.instantiate(&key.type_arguments);
        let result_type = source.scheme.result.instantiate(&key.type_arguments);
        let name = self.unique_name(key.name(&source.name, &argument_type));
        let effect = self.effects.function(key.function);
        let globals = self.globals.function(self.program, key.function, &key.type_arguments);
        let program = self.program;
        let mut lowering = Lowering::new(self, &name, source.span, key.type_arguments.clone());
        let (context, pattern) = match &key.version {
            Version::Serial => (Context::Serial, Pattern::uniform(&argument_type, false)),
            Version::Lifted(pattern) => {
                let count = lowering.parameter(&Type::INT, &Pattern::Part(false)).operand();
                (Context::Lifted(count), pattern.clone())
            }
        };
        let lifted = context.is_lifted();
        if effect.draws {
            lowering.seed = Some(lowering.parameter(&Type::INT, &Pattern::Part(lifted)));
        }
        let argument = lowering.parameter(&argument_type, &pattern);
        lowering.environment.insert(parameter.id, argument);
        for global in globals {
            let ty = &program.global(global).ty;
            let value = lowering.parameter(ty, &Pattern::uniform(ty, false));
            lowering.globals.insert(global, value);
        }
        let value = lowering.eval(body, context);
        let value = match context {
            Context::Serial => value,
            Context::Lifted(count) => lowering.lift(value, count),
        };
        debug_assert_eq!(value.pattern(), Pattern::uniform(&result_type, lifted));
        let results = lowering.results(&value, effect, context);
        lowering.builder.finish(results)
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
    fn name(&self, source: &str, argument_type: &Type) -> String {
        let types = argument_type.to_string().replace(' ', "");
        match &self.version {
            Version::Serial => format!("{source}@{types}"),
            Version::Lifted(pattern) => format!("{source}@{types}/{}", pattern.letters()),
        }
    }
}
