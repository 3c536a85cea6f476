//! `nesl repl`, and `nesl` alone: an interactive session on an engine.

use crate::interrupt::Interrupt;
use crate::launch::Place;
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::repl;
use crate::stop::Stop;
use crate::supervisor;
use clap::Args;
#[cfg(feature = "mpi")]
use std::path::Path;
use std::path::PathBuf;

/// What `nesl repl` is told.
#[derive(Args, Debug, Default)]
pub struct Arguments {
    /// With --ranks: keep the session in a folder, so that it goes on where ranks die, and the next time
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Starts a session, which lasts to the end of its input.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    // One rank alone may want others later.
    let is_elastic = cfg!(feature = "mpi") && matches!(options.engine, None | Some(EngineName::Mpi));
    let one = || options.ranks.filter(|_| is_elastic && !options.as_rank).map(usize::from);
    let started = supervisor::wanted(options)?.or_else(one);
    match (started, &arguments.keep) {
        (Some(ranks), Some(folder)) => return supervisor::kept(ranks, options, folder),
        (Some(ranks), None) => return supervisor::session(ranks, options),
        (None, Some(_)) if !options.as_rank => {
            let problem =
                "error: --keep is for sessions whose ranks are started here: nesl repl --ranks N --keep FOLDER";
            let hint = "hint: :save NAME and :restore NAME keep any session";
            return Err(Stop::usage(format!("{problem}\n{hint}")));
        }
        (None, _) => {}
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
    // Whoever started ranks is interrupted for them, also where there is one alone for now.
    let is_own = place.is_alone() && options.turns.is_none();
    let interrupt = is_own.then(Interrupt::install);
    let limit = Limit::new(options.time_limit.clone(), options.style(), interrupt.clone(), place.rank());
    repl::watch(&place, options);
    let result = converse(&mut place, options, (interrupt, limit));
    if place.is_parked() { result } else { place.said_once(result) }
}

/// The session on this rank.
#[cfg(feature = "mpi")]
fn converse(place: &mut Place, options: &RunOptions, ends: (Option<Interrupt>, Limit)) -> Result<(), Stop> {
    if place.rank() > 0 || place.is_new() {
        return repl::follow(place, options);
    }
    let start = |ranks, folder: &Path| supervisor::going_on(ranks, options, folder);
    let session = repl::ElasticSession::new(place, options, ends, Box::new(start))?;
    repl::run(session, options)
}

/// The session.
#[cfg(not(feature = "mpi"))]
fn converse(place: &mut Place, options: &RunOptions, ends: (Option<Interrupt>, Limit)) -> Result<(), Stop> {
    struct Session<'a> {
        options: &'a RunOptions,
        ends: (Option<Interrupt>, Limit),
        link: crate::launch::Link,
    }
    impl crate::launch::Job for Session<'_> {
        fn run<E: nesl_backend::Engine + 'static>(self, engine: E) -> Result<(), Stop> {
            let Session { options, ends, link } = self;
            repl::run(repl::session::Repl::new(engine, options.clone(), ends, link), options)
        }
    }
    let link = place.link();
    place.run(options, Session { options, ends, link })
}
