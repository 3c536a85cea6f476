//! Runs one program: on the oracle, and as VCODE on any engine.

use crate::outcome::{End, Outcome};
use crate::session::{self, CheckedProgram};
use crate::world::World;
use nesl_backend::io::import::from_literal;
use nesl_backend::{
    Engine, Limits, Literal, Loaded, Machine, Native, Reference, RuntimeError, Strategy, Threads, Value,
};
use nesl_frontend::core::effects::Effects;
use nesl_frontend::core::{Expr, Form};
use nesl_frontend::eval::{self, EvalError, Evaluator, Globals};
use nesl_frontend::ty::Type;
use nesl_span::{SourceMap, Span};
use nesl_vcode::{Constants, Shape, Step, pipeline};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The seed of the random numbers in every run.
const SEED: i64 = 0;

/// Deeper than any program of the tests, and little enough that runaway recursion ends soon.
const LIMITS: Limits = Limits { depth: 1_000_000, frame_bytes: 1 << 30 };
const ORACLE_DEPTH: u64 = 200_000;

/// What columns may take: what a program of the tests needs, many times over.
const MEMORY: u64 = 4 << 30;

/// After this time a run counts as a hang.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The ways to run a program in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// The reference evaluator of core.
    Oracle,
    /// The reference engine on VCODE as flattening makes it, with both strategies mixed.
    Unoptimised,
    /// The threads engine on the same, its strategies chosen by size.
    UnoptimisedThreads,
    /// The reference engine.
    Reference(Strategy),
    /// The threads engine.
    Threads(usize, Strategy),
}

impl Local {
    /// All of them, the oracle first.
    pub const ALL: [Local; 8] = [
        Local::Oracle,
        Local::Unoptimised,
        Local::UnoptimisedThreads,
        Local::Reference(Strategy::Lift),
        Local::Reference(Strategy::Leaf),
        Local::Threads(1, Strategy::Auto),
        Local::Threads(2, Strategy::Mixed),
        Local::Threads(2, Strategy::Leaf),
    ];

    /// What a program goes through before it runs so.
    fn passes(self) -> Passes {
        match self {
            Local::Oracle | Local::Unoptimised | Local::UnoptimisedThreads => Passes::None,
            Local::Reference(_) | Local::Threads(..) => Passes::All,
        }
    }

    /// The name in tests.
    pub fn name(self) -> String {
        match self {
            Local::Oracle => "oracle".to_owned(),
            Local::Unoptimised => "unoptimised".to_owned(),
            Local::UnoptimisedThreads => "unoptimised-threads2".to_owned(),
            Local::Reference(strategy) => format!("reference-{}", name(strategy)),
            Local::Threads(count, strategy) => format!("threads{count}-{}", name(strategy)),
        }
    }
}

fn name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Auto => "auto",
        Strategy::Lift => "lift",
        Strategy::Leaf => "leaf",
        Strategy::Divide => "divide",
        Strategy::Mixed => "mixed",
    }
}

/// Runs a program in this process. A panic or a hang is an outcome too.
pub fn run(local: Local, text: &str, arguments: Option<&[String]>) -> Outcome {
    let end = || Outcome::ended(End::Broken("no outcome".to_owned()));
    run_all(&[local], text, arguments).pop().unwrap_or_else(end)
}

/// Runs a program in several ways, one after the other; it is checked once, and compiled once with passes and without.
pub fn run_all(locals: &[Local], text: &str, arguments: Option<&[String]>) -> Vec<Outcome> {
    let (sender, receiver) = mpsc::channel();
    let (ways, text, arguments) = (locals.to_vec(), text.to_owned(), arguments.map(<[String]>::to_vec));
    let work = move || {
        let checked = guarded(|| session::check(&text, arguments.as_deref())).and_then(|checked| checked);
        let mut compiled: Vec<(Passes, Result<nesl_vcode::Program, End>)> = Vec::new();
        for local in ways {
            let outcome = checked.as_ref().map_err(Clone::clone).and_then(|program| {
                let passes = local.passes();
                let known = compiled.iter().position(|(known, _)| *known == passes).unwrap_or_else(|| {
                    compiled.push((passes, guarded(|| compile(program, passes)).and_then(|vcode| vcode)));
                    compiled.len() - 1
                });
                let vcode = compiled[known].1.as_ref().map_err(Clone::clone)?;
                guarded(|| run_checked(local, program, vcode.clone()))
            });
            let _ = sender.send(outcome.unwrap_or_else(Outcome::ended));
        }
    };
    match on_a_thread(work) {
        Ok(()) => {
            let mut outcomes: Vec<Outcome> = locals.iter().map_while(|_| receiver.recv_timeout(TIMEOUT).ok()).collect();
            outcomes.resize_with(locals.len(), || Outcome::ended(hang()));
            outcomes
        }
        Err(problem) => vec![Outcome::ended(End::Broken(problem)); locals.len()],
    }
}

/// The bytes of a program's VCODE, as ranks read them. A panic or a hang is an end too.
///
/// # Errors
/// How it ended instead.
pub fn to_bytes(text: &str, arguments: Option<&[String]>, passes: Passes) -> Result<Vec<u8>, End> {
    let (sender, receiver) = mpsc::channel();
    let (text, arguments) = (text.to_owned(), arguments.map(<[String]>::to_vec));
    let work = move || {
        let compiled = guarded(|| {
            let program = session::check(&text, arguments.as_deref())?;
            Ok(nesl_vcode::to_bytes(&compile(&program, passes)?, &program.sources))
        });
        let _ = sender.send(compiled.and_then(|bytes| bytes));
    };
    on_a_thread(work).map_err(End::Broken)?;
    receiver.recv_timeout(TIMEOUT).unwrap_or_else(|_| Err(hang()))
}

/// Starts work on a thread with a deep stack. Where it hangs the thread is left behind: the process ends with the last
/// test.
fn on_a_thread(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = std::thread::Builder::new().name("program".to_owned()).stack_size(64 << 20).spawn(work);
    thread.map(drop).map_err(|error| format!("no thread: {error}"))
}

fn hang() -> End {
    End::Broken(format!("nothing happened for {} seconds", TIMEOUT.as_secs()))
}

/// What work gives, or how it panicked.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, End> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        End::Broken(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn run_checked(local: Local, program: &CheckedProgram, vcode: nesl_vcode::Program) -> Outcome {
    match local {
        Local::Oracle => run_oracle(program),
        Local::Unoptimised => run_compiled(None, (Strategy::Mixed, Native::On), vcode, program),
        Local::UnoptimisedThreads => run_compiled(Some(2), (Strategy::Auto, Native::On), vcode, program),
        Local::Reference(strategy) => run_compiled(None, (strategy, Native::On), vcode, program),
        // Small groups would not be worth compiling; here all are, and what native code gives is compared.
        Local::Threads(count, Strategy::Leaf) => {
            run_compiled(Some(count), (Strategy::Leaf, Native::Check), vcode, program)
        }
        Local::Threads(count, strategy) => run_compiled(Some(count), (strategy, Native::On), vcode, program),
    }
}

/// Runs VCODE of a program in this process: on so many threads, or else on the reference engine.
fn run_compiled(
    threads: Option<usize>,
    (strategy, native): (Strategy, Native),
    vcode: nesl_vcode::Program,
    program: &CheckedProgram,
) -> Outcome {
    run_loaded(threads, (strategy, native), &Loaded::new(Arc::new(vcode)), program)
}

fn run_loaded(
    threads: Option<usize>,
    (strategy, native): (Strategy, Native),
    loaded: &Loaded,
    program: &CheckedProgram,
) -> Outcome {
    let arguments = match arguments(program) {
        Ok(arguments) => arguments,
        Err(end) => return Outcome::ended(end),
    };
    let (sources, arguments) = (&program.sources, arguments.as_deref());
    match threads.map(|count| Threads::new(count, Some(MEMORY))) {
        None => run_vcode(Reference::new(Some(MEMORY)), (strategy, native), loaded, sources, arguments),
        Some(Ok(engine)) => run_vcode(engine, (strategy, native), loaded, sources, arguments),
        Some(Err(error)) => Outcome::ended(End::Broken(format!("no threads: {error}"))),
    }
}

/// Runs a program on two threads, compiled without one of the passes, to VCODE or to machine code. Small groups would not be worth compiling; here
/// all are, and each is compared with the reference engine.
pub fn run_without(pass: &'static str, text: &str) -> Outcome {
    let run = || {
        let program = session::check(text, None)?;
        let loaded = Loaded::without(Arc::new(compile(&program, Passes::Without(pass))?), vec![pass.to_owned()]);
        Ok(run_loaded(Some(2), (Strategy::Mixed, Native::Check), &loaded, &program))
    };
    guarded(run).and_then(|outcome| outcome).unwrap_or_else(Outcome::ended)
}

/// Which passes a program goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// None.
    None,
    /// All.
    All,
    /// All but those with this name.
    Without(&'static str),
}

/// The verified VCODE of a program.
///
/// # Errors
/// A bug of flattening or of a pass.
pub fn compile(program: &CheckedProgram, passes: Passes) -> Result<nesl_vcode::Program, End> {
    let main = program.call.as_ref().map(|call| call.main);
    let compiled = nesl_flatten::compile(program.core(), program.session.library(), &program.forms, main);
    let mut vcode = compiled.map_err(|errors| {
        let diagnostics = errors.iter().map(|error| error.diagnostic(&program.sources));
        End::Rejected(diagnostics.map(|error| (error.code.to_owned(), error.message)).collect())
    })?;
    let disable = match passes {
        Passes::All => Vec::new(),
        Passes::Without(pass) => vec![pass.to_owned()],
        Passes::None => {
            nesl_vcode::verify(&vcode).map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                End::Broken(format!("verification failed after flattening\n  {}", errors.join("\n  ")))
            })?;
            return Ok(vcode);
        }
    };
    let options = pipeline::Options { disable, ..pipeline::Options::default() };
    pipeline::optimise(&mut vcode, &options.of(pipeline::PASSES)).map_err(|error| End::Broken(error.to_string()))?;
    Ok(vcode)
}

/// The values of the arguments of `main`, if there are any.
///
/// # Errors
/// If one of them has none.
pub fn arguments(program: &CheckedProgram) -> Result<Option<Vec<Literal>>, End> {
    let Some(call) = &program.call else { return Ok(None) };
    let mut evaluator = Evaluator::new(program.core());
    // Defaults may be made of values of the file.
    let mut globals = Globals::new();
    for form in program.session.library().iter().chain(&program.forms) {
        if !matches!(form, Form::Expression(_)) {
            evaluator.form(form, &mut globals, SEED).map_err(|error| failed(&program.sources, &error))?;
        }
    }
    let value = |expr: &Expr| {
        let value = evaluator.evaluate(expr, &globals, SEED).map_err(|error| failed(&program.sources, &error))?;
        Ok(literal(&value, &expr.ty))
    };
    call.arguments.iter().map(value).collect::<Result<Vec<Literal>, End>>().map(Some)
}

/// A value of the oracle as one that engines take.
fn literal(value: &eval::Value, ty: &Type) -> Literal {
    match (value, ty) {
        (eval::Value::Pair(first, rest), Type::Pair(first_type, rest_type)) => {
            Literal::Pair(Box::new(literal(first, first_type)), Box::new(literal(rest, rest_type)))
        }
        (eval::Value::Sequence(elements), Type::Sequence(element)) => match **element {
            // An empty literal of literals has no element type.
            Type::Scalar(scalar_type) if elements.is_empty() => {
                Literal::Constants(Constants::from_scalars(scalar_type, &[]))
            }
            _ => Literal::Sequence(elements.iter().map(|value| literal(value, element)).collect()),
        },
        (eval::Value::Scalar(scalar), _) => Literal::Scalar(*scalar),
        (eval::Value::Unit, _) => Literal::Unit,
        _ => panic!("{value:?} is not a value of type {ty}"),
    }
}

/// Runs a program on the oracle.
fn run_oracle(program: &CheckedProgram) -> Outcome {
    let world = World::default();
    let mut evaluator = Evaluator::new(program.core()).with_call_limit(ORACLE_DEPTH).with_host(world.host());
    let mut globals = Globals::new();
    let mut lines = Vec::new();
    let effects = Effects::of(program.core());
    // Of `()`, and of what is evaluated for what it does, nothing is shown.
    let shown = |value: &eval::Value, expr: &Expr| {
        let is_shown = expr.ty != Type::Unit && !effects.is_for_effect(program.core(), expr);
        is_shown.then(|| value.text(&expr.ty))
    };
    for form in program.session.library().iter().chain(&program.forms) {
        if program.call.is_some() && matches!(form, Form::Expression(_)) {
            continue;
        }
        let value = evaluator.form(form, &mut globals, SEED);
        lines.extend(world.take_lines());
        match value {
            Ok(Some(value)) => {
                if let Form::Expression(expr) = form {
                    lines.extend(shown(&value, expr));
                }
            }
            Ok(None) => {}
            Err(error) => return Outcome { lines, end: failed(&program.sources, &error) },
        }
    }
    if let Some(call) = &program.call {
        let value = evaluator.evaluate(&call.call, &globals, SEED);
        lines.extend(world.take_lines());
        match value {
            Ok(value) => lines.extend(shown(&value, &call.call)),
            Err(error) => return Outcome { lines, end: failed(&program.sources, &error) },
        }
    }
    Outcome { lines, end: End::Done }
}

fn failed(sources: &SourceMap, error: &EvalError) -> End {
    let mut places = std::iter::once(error.span).chain(error.calls.iter().copied());
    let place = places.find(|&span| sources.is_user(span)).unwrap_or(error.span);
    failure(sources, error.failure.code(), error.to_string(), place)
}

fn failed_on_engine(sources: &SourceMap, error: &RuntimeError) -> End {
    failure(sources, error.failure.code(), error.to_string(), error.user_span(sources))
}

fn failure(sources: &SourceMap, code: &str, message: String, place: Span) -> End {
    End::Failed { code: code.to_owned(), message, at: sources.line_column(place) }
}

/// Runs VCODE on an engine: the steps, or `main` with arguments. In a distributed run every rank calls this; all get
/// the same outcome, but only rank 0 has the lines.
///
/// # Panics
/// Where nesl has a bug.
pub fn run_vcode<E: Engine>(
    engine: E,
    (strategy, native): (Strategy, Native),
    program: &Loaded,
    sources: &SourceMap,
    arguments: Option<&[Literal]>,
) -> Outcome {
    let world = World::default();
    let mut machine = Machine::new(engine, LIMITS, world.host());
    machine.set_strategy(strategy);
    machine.set_native(native);
    let mut run = Run { machine, program, sources, world, lines: Vec::new() };
    let end = match arguments {
        None => program.program().steps.iter().try_for_each(|step| run.step(step, &[])),
        Some(arguments) => run.main(arguments),
    };
    Outcome { lines: run.lines, end: end.err().unwrap_or(End::Done) }
}

/// A run of VCODE.
struct Run<'a, E: Engine> {
    machine: Machine<E>,
    program: &'a Loaded,
    sources: &'a SourceMap,
    world: World,
    lines: Vec<String>,
}

impl<E: Engine> Run<'_, E> {
    fn main(&mut self, arguments: &[Literal]) -> Result<(), End> {
        let engine = &mut self.machine.engine;
        let mut fitting = self.program.program().mains.iter().filter_map(|main| {
            let values = main.parameters.iter().zip(arguments);
            let values = values.map(|(parameter, literal)| from_literal(engine, &parameter.shape, literal));
            Some((main, values.collect::<Result<Vec<Value<E>>, _>>().ok()?))
        });
        let (main, values) = fitting.next().ok_or_else(|| End::Broken("no entry for these arguments".to_owned()))?;
        drop(fitting);
        for step in &main.prelude {
            self.step(step, &[])?;
        }
        self.step(&main.step, &values)
    }

    fn step(&mut self, step: &Step, arguments: &[Value<E>]) -> Result<(), End> {
        let shown = self.machine.run_step(self.program, step, SEED, arguments);
        self.lines.extend(self.world.take_lines());
        for value in shown.map_err(|error| failed_on_engine(self.sources, &error))? {
            if value.shape == Shape::Unit {
                continue;
            }
            let mut text = Vec::new();
            let is_printing = self.machine.engine.rank().0 == 0;
            let mut sink = std::io::sink();
            let out: &mut dyn std::io::Write = if is_printing { &mut text } else { &mut sink };
            nesl_backend::io::print::print(&mut self.machine.engine, &value, None, out)
                .map_err(|error| End::Broken(format!("printing failed: {error}")))?;
            self.lines.push(String::from_utf8_lossy(&text).into_owned());
        }
        Ok(())
    }
}
