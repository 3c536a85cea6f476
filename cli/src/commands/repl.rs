//! `nesl repl`, and `nesl` alone: an interactive session on an engine.

use crate::interrupt::Interrupt;
use crate::launch::{Job, Link, Place};
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::repl::{self, session::Repl};
use crate::stop::Stop;
use crate::supervisor;
use nesl_backend::Engine;

/// Starts a session, which lasts to the end of its input.
pub fn run(options: &RunOptions) -> Result<(), Stop> {
    if let Some(ranks) = supervisor::wanted(options)? {
        return supervisor::session(ranks, options);
    }
    if options.turns.is_some() {
        Place::expect_interrupts();
    }
    let mut place = Place::join(options)?;
    if options.engine == Some(EngineName::Oracle) {
        return Err(Stop::usage("error: a session keeps its values in an engine; the oracle is none"));
    }
    if options.profile_html.is_some() || options.trace.is_some() {
        let what = "--profile-html and --trace are for runs of programs; :profile shows the lines of an expression";
        return Err(Stop::usage(format!("error: {what}")));
    }
    let interrupt = place.is_alone().then(Interrupt::install);
    let limit = Limit::new(options.time_limit.clone(), options.style(), interrupt.clone(), place.rank());
    repl::watch(&place, options);
    let link = place.link();
    let result = place.run(options, Session { options, interrupt, limit, link });
    place.said_once(result)
}

struct Session<'a> {
    options: &'a RunOptions,
    interrupt: Option<Interrupt>,
    limit: Limit,
    link: Link,
}

impl Job for Session<'_> {
    fn run<E: Engine>(self, engine: E) -> Result<(), Stop> {
        let Session { options, interrupt, limit, mut link } = self;
        if engine.rank().0 > 0 {
            return repl::follow(engine, options, &mut link);
        }
        repl::run(Repl::new(engine, options.clone(), (interrupt, limit), link))
    }
}
