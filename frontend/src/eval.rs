//! The reference evaluator: what a program of typed core means.
//!
//! It walks core directly over plain nested values, element by element, and is the oracle that every engine is tested
//! against. It is meant to be trusted by reading; nothing in it is there for speed. Core is evaluated as it is,
//! polymorphic: a call carries the concrete types of its function's parameters along.
//!
//! ```text
//! value.rs        Value, and how it prints
//! machine.rs      expressions, calls, apply-to-each, the seed
//! intrinsics.rs   built-in operations on values
//! objects.rs      values in files
//! order.rs        which of several failures in an apply-to-each is the first
//! outside.rs      printing, and everything else in the world outside
//! ```
//!
//! Evaluation is strict and goes from left to right; the first failure in that order ends it. In an apply-to-each the
//! order is that of the operations ([`order`]), so that all elements are evaluated, each as far as it goes. Deep
//! recursion ends in a failure too, never in the end of the process; a call that is a step of a loop
//! ([`crate::core::tail`]) is no depth.

mod intrinsics;
mod machine;
mod objects;
mod order;
mod outside;
mod value;

pub use value::{Closure, Value};

use crate::core::effects::Effects;
use crate::core::tail::Steps;
use crate::core::{Expr, Form, FunctionId, GlobalId, Program};
use crate::ty::Type;
use machine::{Evaluated, Frame, Machine, stack_address};
use nesl_prim::host::{HostError, Share};
use nesl_prim::{Failure, Host, HostOp, HostValue};
use nesl_span::Span;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The values of the globals defined so far.
pub type Globals = HashMap<GlobalId, Value>;

/// How many calls may be in progress at once, unless [`Evaluator::with_call_limit`] says otherwise.
pub const CALL_LIMIT: u64 = 100_000;

/// The stacks to try, largest first: where memory is limited, the largest may be refused. Pages are only used once
/// touched.
const STACK_SIZES: [usize; 4] = [4 << 30, 1 << 30, 256 << 20, 32 << 20];

/// What is kept free at the end of the stack for whatever runs between two checks.
const STACK_RESERVE: usize = 1 << 20;

/// A failure of a program at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// What went wrong.
    pub failure: Failure,
    /// The expression that failed: the call of a built-in operation, or a whole apply-to-each whose sources differ in
    /// length.
    pub span: Span,
    /// The calls that were in progress, innermost first.
    pub calls: Vec<Span>,
    /// Where it is in the order of evaluation.
    place: order::Place,
}

impl fmt::Display for EvalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl std::error::Error for EvalError {}

/// A world in which nothing can be reached.
struct Nowhere;

impl Host for Nowhere {
    fn perform(&mut self, op: HostOp, _: &[HostValue], _: Share<'_>) -> Result<Vec<HostValue>, HostError> {
        match op.row().reports {
            true => Err(HostError::Message("nothing outside can be reached from here".to_owned())),
            false => Ok(op.results().map(HostValue::zero).collect()),
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Evaluates expressions and forms of one program.
pub struct Evaluator<'a> {
    program: &'a Program,
    effects: Effects,
    steps: Steps,
    host: Box<dyn Host + 'a>,
    call_limit: u64,
    step_limit: u64,
    interrupt: Arc<AtomicBool>,
    seed: i64,
}

impl<'a> Evaluator<'a> {
    /// An evaluator of a program. The program must be well typed and without missing functions wherever it is run;
    /// other core makes the evaluator panic. What it prints is lost, and nothing else outside can be reached.
    pub fn new(program: &'a Program) -> Self {
        let (effects, steps) = (Effects::of(program), Steps::of(program));
        Evaluator {
            program,
            effects,
            steps,
            host: Box::new(Nowhere),
            call_limit: CALL_LIMIT,
            step_limit: u64::MAX,
            interrupt: Arc::default(),
            seed: 0,
        }
    }

    /// The same evaluator in a world.
    pub fn with_host(self, host: Box<dyn Host + 'a>) -> Self {
        Evaluator { host, ..self }
    }

    /// The same evaluator, which ends with [`Failure::Interrupted`] soon after the flag is set.
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.host.interrupt_on(Arc::clone(&flag));
        Evaluator { interrupt: flag, ..self }
    }

    /// The same evaluator with another limit on the calls in progress at once.
    pub fn with_call_limit(self, call_limit: u64) -> Self {
        Evaluator { call_limit, ..self }
    }

    /// The same evaluator, which is interrupted after so many steps of loops: for programs of which nobody knows
    /// whether they end.
    pub fn with_step_limit(self, step_limit: u64) -> Self {
        Evaluator { step_limit, ..self }
    }

    /// Begins a new line if what was printed last is in the middle of one.
    ///
    /// # Errors
    /// If the output does not take it.
    pub fn end_line(&mut self) -> Result<(), Failure> {
        self.host.end_line()
    }

    /// The seed of the random numbers after the last successful evaluation: that of a next form which continues them.
    pub fn seed(&self) -> i64 {
        self.seed
    }

    /// The value of a closed expression without type parameters.
    ///
    /// # Errors
    /// The first failure in the order of evaluation.
    ///
    /// # Panics
    /// If the expression, or a function it calls, uses a global that is not among `globals`.
    pub fn evaluate(&mut self, expr: &Expr, globals: &Globals, seed: i64) -> Result<Value, EvalError> {
        let mut frame = Frame::top(self.effects.expr(expr).draws);
        self.run(globals, seed, expr.span, |machine| machine.expression(&mut frame, expr))
    }

    /// The result of a function at concrete type arguments, which are in the order of its scheme's parameters. The span
    /// of the function's name stands for the place of the call.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    ///
    /// # Panics
    /// As [`Evaluator::evaluate`], and if argument and types do not fit the function.
    pub fn call(
        &mut self,
        function: FunctionId,
        type_arguments: &[Type],
        argument: Value,
        globals: &Globals,
        seed: i64,
    ) -> Result<Value, EvalError> {
        let span = self.program.function(function).span;
        let type_arguments = type_arguments.to_vec();
        self.run(globals, seed, span, |machine| machine.apply(function, type_arguments, argument, span))
    }

    /// Runs a top-level form: keeps the values of an assignment in `globals`, and returns the value of an assignment or
    /// an expression.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; then `globals` is unchanged.
    ///
    /// # Panics
    /// As [`Evaluator::evaluate`].
    pub fn form(&mut self, form: &Form, globals: &mut Globals, seed: i64) -> Result<Option<Value>, EvalError> {
        match form {
            Form::Function(_) => {
                self.seed = seed;
                Ok(None)
            }
            Form::Expression(expr) => self.evaluate(expr, globals, seed).map(Some),
            Form::Assignment { targets, value } => {
                let value = self.evaluate(value, globals, seed)?;
                for (global, path) in targets {
                    let mut part = &value;
                    for rest in path {
                        let (first, second) = part.as_pair();
                        part = if *rest { second } else { first };
                    }
                    globals.insert(*global, part.clone());
                }
                Ok(Some(value))
            }
        }
    }

    /// Runs one evaluation on a thread with a large stack.
    fn run(
        &mut self,
        globals: &Globals,
        seed: i64,
        span: Span,
        work: impl FnOnce(&mut Machine<'_>) -> Evaluated + Send,
    ) -> Result<Value, EvalError> {
        let mut machine = Machine {
            program: self.program,
            effects: &self.effects,
            steps: &self.steps,
            host: &mut *self.host,
            printed: None,
            globals,
            seed,
            call_limit: self.call_limit,
            steps_left: self.step_limit,
            interrupt: &self.interrupt,
            calls: 0,
            eaches: 0,
            stack_end: 0,
        };
        // The thread takes the work out of here, so that it is still there if a thread could not be started.
        let mut work = Some(work);
        let result = STACK_SIZES.into_iter().find_map(|stack_size| {
            std::thread::scope(|scope| {
                let thread = std::thread::Builder::new().stack_size(stack_size).spawn_scoped(scope, || {
                    machine.stack_end = stack_address().saturating_sub(stack_size - STACK_RESERVE);
                    work.take().map(|work| work(&mut machine))
                });
                thread.ok()?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        });
        let seed = machine.seed;
        let flushed = self.host.flush();
        let lost = |failure| EvalError { failure, span, calls: Vec::new(), place: order::Place::default() };
        match result {
            Some(Ok(value)) => {
                flushed.map_err(lost)?;
                self.seed = seed;
                Ok(value)
            }
            Some(Err(error)) => Err(*error),
            None => {
                let bytes = STACK_SIZES[STACK_SIZES.len() - 1] as u64;
                Err(EvalError {
                    failure: Failure::OutOfMemory { bytes },
                    span,
                    calls: Vec::new(),
                    place: order::Place::default(),
                })
            }
        }
    }
}
