//! A NESL program of the benchmarks: compiled once, called many times in this process.

use nesl_backend::io::host::System;
use nesl_backend::io::import::import;
use nesl_backend::{Engine, Limits, Loaded, Machine, Piece, Threads, Value};
use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};
use nesl_vcode::{Main, Program, Step, pipeline};
use std::sync::Arc;
use std::time::Instant;

/// A program whose `main` can be called.
pub struct Compiled<E: Engine> {
    loaded: Loaded,
    main: Main,
    machine: Machine<E>,
}

impl Compiled<Threads> {
    /// Compiles a text for so many threads, and computes the globals that its `main` needs. Its columns may take so
    /// many bytes.
    ///
    /// # Errors
    /// What is wrong with it, as text.
    pub fn new(name: &str, text: &str, threads: usize, memory: Option<u64>) -> Result<Compiled<Threads>, String> {
        let engine = Threads::new(threads, memory).map_err(|error| error.to_string())?;
        Compiled::on(engine, name, text)
    }
}

impl<E: Engine> Compiled<E> {
    /// The same for an engine.
    ///
    /// # Errors
    /// What is wrong with it, as text.
    pub fn on(engine: E, name: &str, text: &str) -> Result<Compiled<E>, String> {
        let mut sources = SourceMap::default();
        let mut session = Session::new(&mut sources);
        let file = sources.add(name, text, Origin::User);
        let checked = session.check(&sources, file, Options::default());
        if checked.has_errors() {
            let messages: Vec<String> =
                checked.diagnostics.iter().map(|diagnostic| render::render(diagnostic, &sources, false)).collect();
            return Err(messages.join("\n"));
        }
        let main = session.function("main");
        let mut program: Program = nesl_flatten::compile(session.program(), session.library(), &checked.forms, main)
            .map_err(|_| "a benchmark uses files in parallel")?;
        pipeline::optimise(&mut program, &pipeline::Options::default()).map_err(|error| error.to_string())?;
        let main = program.mains.first().cloned().ok_or_else(|| format!("{name} has no main"))?;
        let world = System::within(engine.hold());
        let machine = Machine::new(engine, Limits::default(), Box::new(world));
        let mut compiled = Compiled { loaded: Loaded::new(Arc::new(program)), main, machine };
        for step in compiled.main.prelude.clone() {
            compiled.run(&step, &[])?;
        }
        Ok(compiled)
    }

    /// The engine that runs it.
    pub fn engine(&mut self) -> &mut E {
        &mut self.machine.engine
    }

    /// Makes the arguments of `main` from the pieces of each: on ranks, from what each of them has.
    ///
    /// # Errors
    /// Lack of memory, as text.
    pub fn arguments(&mut self, pieces: Vec<Vec<Piece>>) -> Result<Vec<Value<E>>, String> {
        let Compiled { main, machine, .. } = self;
        assert_eq!(main.parameters.len(), pieces.len(), "arguments of main");
        let shaped = main.parameters.iter().zip(pieces);
        shaped
            .map(|(parameter, pieces)| import(&mut machine.engine, &parameter.shape, pieces))
            .collect::<Result<_, _>>()
            .map_err(|fault| fault.failure.to_string())
    }

    /// Calls `main`.
    ///
    /// # Errors
    /// Its failure, as text.
    pub fn call(&mut self, arguments: &[Value<E>]) -> Result<Value<E>, String> {
        let step = self.main.step.clone();
        self.run(&step, arguments)?.pop().ok_or_else(|| "main shows nothing".to_owned())
    }

    /// The seconds that calling `main` takes. Its result is dropped after the clock has stopped.
    ///
    /// # Errors
    /// Its failure, as text.
    pub fn time(&mut self, arguments: &[Value<E>]) -> Result<f64, String> {
        let start = Instant::now();
        let result = self.call(arguments)?;
        let seconds = start.elapsed().as_secs_f64();
        drop(result);
        Ok(seconds)
    }

    fn run(&mut self, step: &Step, arguments: &[Value<E>]) -> Result<Vec<Value<E>>, String> {
        self.machine.run_step(&self.loaded, step, 0, arguments).map_err(|error| error.failure.to_string())
    }
}
