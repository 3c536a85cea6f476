//! `nesl repl`, and `nesl` alone: an interactive session on an engine.

use crate::interrupt::Interrupt;
use crate::launch::{Job, Place};
use crate::options::{EngineName, RunOptions};
use crate::repl::{self, session::Repl};
use crate::stop::Stop;
use nesl_backend::Engine;

/// Starts a session, which lasts to the end of its input.
pub fn run(options: &RunOptions) -> Result<(), Stop> {
    if options.engine == Some(EngineName::Oracle) {
        return Err(Stop::usage("error: a session keeps its values in an engine; the oracle is none"));
    }
    let mut place = Place::join(options)?;
    let interrupt = Interrupt::install();
    place.run(options, Session { options, interrupt: &interrupt })
}

struct Session<'a> {
    options: &'a RunOptions,
    interrupt: &'a Interrupt,
}

impl Job for Session<'_> {
    fn run<E: Engine>(self, engine: E) -> Result<(), Stop> {
        repl::run(Repl::new(engine, self.options.clone(), self.interrupt.clone()))
    }
}
