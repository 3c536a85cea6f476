//! A NESL program of the benchmarks: compiled once, called many times in this process.

use nesl_backend::{Limits, Loaded, Machine, Piece, Threads, Value, value};
use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};
use nesl_vcode::{Main, Program, pipeline};
use std::sync::Arc;

/// A program whose `main` can be called.
pub struct Compiled {
    loaded: Loaded,
    main: Main,
    machine: Machine<Threads>,
}

impl Compiled {
    /// Compiles a text for so many threads.
    ///
    /// # Errors
    /// What is wrong with it, as text.
    pub fn new(name: &str, text: &str, threads: usize) -> Result<Compiled, String> {
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
        let engine = Threads::new(threads, None).map_err(|error| error.to_string())?;
        let machine = Machine::new(engine, Limits::default());
        Ok(Compiled { loaded: Loaded::new(Arc::new(program)), main, machine })
    }

    /// Makes the value of a parameter from its pieces.
    ///
    /// # Errors
    /// Lack of memory, as text.
    pub fn argument(&mut self, parameter: usize, pieces: Vec<Piece>) -> Result<Value<Threads>, String> {
        let shape = &self.main.parameters[parameter].shape;
        value::import(&mut self.machine.engine, shape, pieces).map_err(|fault| fault.failure.to_string())
    }

    /// Calls `main`.
    ///
    /// # Errors
    /// Its failure, as text.
    pub fn call(&mut self, arguments: &[Value<Threads>]) -> Result<Value<Threads>, String> {
        let results = self.machine.run_step(&self.loaded, &self.main.step, 0, arguments);
        let mut results = results.map_err(|error| error.failure.to_string())?;
        results.pop().ok_or_else(|| "main shows nothing".to_owned())
    }
}
