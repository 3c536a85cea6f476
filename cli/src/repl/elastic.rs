//! A session whose ranks can become more or fewer: `:ranks N`.
//!
//! A session runs on an engine; when the number of ranks changes, its names, texts and settings go on with another
//! engine, to which its values have moved ([`crate::launch::Place::regroup`]). Rank 0 has that session
//! ([`ElasticSession`]), the others follow it ([`follow`]), and sleep while they are parked. A session that has begun
//! in one process, without a launcher, is left in a folder and goes on in a job that is started for it; this process
//! passes on its lines from then on ([`Elsewhere`]).

mod left;

use super::ranks::{self, Request, machine};
use super::session::{Accepted, Repl, Settings};
use super::show;
use super::{Conversation, Next, Partner};
use crate::checkpoint::sessions;
use crate::interrupt::Interrupt;
use crate::launch::{Job, Link, Place, Values};
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::rank::RankProcess;
use crate::stop::Stop;
use nesl_backend::{Engine, Loaded, Machine, Resting, RuntimeError, Threads, Whereabouts};
use nesl_frontend::Session;
use nesl_frontend::syntax::Syntax;
use nesl_prim::Failure;
use nesl_service::KnownName;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The most ranks that a session may have.
const MOST: usize = u16::MAX as usize;

/// A session on some engine, which it can leave.
trait Seated: Conversation {
    /// Leaves its engine, as all ranks do, of which there are to be so many.
    fn leave(self: Box<Self>, ranks: usize) -> Result<(Front, Left), Stop>;

    /// Leaves a copy of itself in a folder, for other processes: how many names, and how many bytes of values.
    fn leave_in(&mut self, folder: &Path) -> Result<(usize, u64), Stop>;

    /// Leaves interrupts to others, or listens to them again.
    fn leave_interrupts(&self, is_left: bool);

    /// Tells the other ranks which folder it is in.
    fn share_folder(&mut self);

    /// Prints an answer.
    fn answer(&self, text: &str) -> Result<(), Stop>;

    /// Says why an input does not do anything.
    fn refuse(&self, message: &str) -> Next;
}

/// What a session is beside its engine.
struct Front {
    session: Session,
    sources: SourceMap,
    options: RunOptions,
    interrupt: Option<Interrupt>,
    limit: Limit,
    inputs: usize,
    draws: usize,
    settings: Settings,
    is_numbered: bool,
    is_quiet: bool,
    accepted: Vec<Accepted>,
    loaded: Vec<PathBuf>,
    library: HashSet<String>,
    syntax: Syntax,
    folder: Option<PathBuf>,
}

/// What a rank has left of its machine.
struct Left {
    machine: Resting,
    threads: Threads,
    values: Values,
}

impl Left {
    /// Takes a machine apart, together with those of all ranks.
    fn of<E: Engine>(mut machine: Machine<E>) -> Result<Left, Stop> {
        let values = Values::of(&mut machine, None)?;
        let (engine, machine) = machine.rest();
        let threads = engine.into_threads().ok_or_else(|| Stop::failed("error: this engine has no ranks"))?;
        Ok(Left { machine, threads, values })
    }
}

/// Makes a machine for values that have arrived.
fn seated<E: Engine>(mut machine: Machine<E>, values: Values) -> Result<Machine<E>, Stop> {
    if let Some(flag) = Link::flag() {
        machine.set_interrupt(flag);
    }
    // No step goes on: none of its programs is needed.
    values.restore(&mut machine, &Loaded::new(Arc::new(Program::default())))?;
    Ok(machine)
}

impl<E: Engine + 'static> Seated for Repl<E> {
    fn leave(mut self: Box<Self>, ranks: usize) -> Result<(Front, Left), Stop> {
        self.together(&Request::Regroup(ranks));
        let Repl { session, sources, machine, options, interrupt, limit, inputs, draws, settings, .. } = *self;
        let Repl { is_numbered, is_quiet, accepted, loaded, library, syntax, folder, .. } = *self;
        let front = Front {
            session,
            sources,
            options,
            interrupt,
            limit,
            inputs,
            draws,
            settings,
            is_numbered,
            is_quiet,
            accepted,
            loaded,
            library,
            syntax,
            folder,
        };
        Ok((front, Left::of(machine)?))
    }

    fn leave_in(&mut self, folder: &Path) -> Result<(usize, u64), Stop> {
        self.keep(folder)
    }

    fn leave_interrupts(&self, is_left: bool) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.leave(is_left);
        }
    }

    fn share_folder(&mut self) {
        Repl::share_folder(self);
    }

    fn answer(&self, text: &str) -> Result<(), Stop> {
        Repl::answer(self, text)
    }

    fn refuse(&self, message: &str) -> Next {
        Repl::refuse(self, message)
    }
}

/// A session that begins, or that goes on after it has left another engine.
struct Seat<'a> {
    begin: Begin<'a>,
    link: Link,
    parked: Vec<RankProcess>,
    seated: &'a mut Option<Box<dyn Seated>>,
}

enum Begin<'a> {
    New { options: &'a RunOptions, interrupt: Option<Interrupt>, limit: Limit },
    Again { front: Box<Front>, left: Box<(Resting, Values)> },
}

impl Job for Seat<'_> {
    fn run<E: Engine + 'static>(self, engine: E) -> Result<(), Stop> {
        let Seat { begin, link, parked, seated: seat } = self;
        *seat = Some(match begin {
            Begin::New { options, interrupt, limit } => {
                Box::new(Repl::new(engine, options.clone(), (interrupt, limit), link))
            }
            Begin::Again { front, left } => {
                let (machine, values) = *left;
                let mut machine = seated(machine.on(engine), values)?;
                let is_watched = front.options.shows_progress() && machine.engine.rank().1 == 1;
                let whereabouts = is_watched.then(Arc::<Whereabouts>::default);
                if let Some(whereabouts) = &whereabouts {
                    machine.watched_by(Arc::clone(whereabouts));
                }
                Box::new(front.on(machine, whereabouts, link, parked))
            }
        });
        Ok(())
    }
}

impl Front {
    /// The session on another machine.
    fn on<E: Engine>(
        self,
        machine: Machine<E>,
        whereabouts: Option<Arc<Whereabouts>>,
        link: Link,
        parked: Vec<RankProcess>,
    ) -> Repl<E> {
        let Front { session, sources, options, interrupt, limit, inputs, draws, settings, .. } = self;
        Repl {
            session,
            sources,
            machine,
            whereabouts,
            options,
            interrupt,
            limit,
            link,
            since: 0,
            inputs,
            draws,
            settings,
            is_numbered: self.is_numbered,
            is_quiet: self.is_quiet,
            accepted: self.accepted,
            loaded: self.loaded,
            library: self.library,
            syntax: self.syntax,
            parked,
            origin: None,
            folder: self.folder,
            was_cut: Cell::new(false),
        }
    }
}

/// The session on rank 0.
pub struct ElasticSession<'a> {
    place: &'a mut Place,
    options: &'a RunOptions,
    /// Nothing after the session has broken down, or goes on elsewhere.
    seated: Option<Box<dyn Seated>>,
    /// Starts jobs for it.
    starter: Starter<'a>,
    /// The session, where it goes on in a job of its own.
    remote: Option<Box<dyn Elsewhere>>,
}

/// A session that goes on in a job, and gets its lines from here.
pub trait Elsewhere: Partner {
    /// Whether it is over without having been told to be.
    fn has_ended(&self) -> bool;

    /// Ends it, and waits for the end of the job.
    ///
    /// # Errors
    /// The end of the job, if it did not go well.
    fn end(self: Box<Self>) -> Result<(), Stop>;
}

/// What starts a job of so many ranks that goes on with the session in a folder.
pub type Starter<'a> = Box<dyn Fn(usize, &Path) -> Result<Box<dyn Elsewhere>, Stop> + 'a>;

/// A session that has broken down between two engines is at its end.
fn broken() -> Stop {
    Stop::failed("error: the session has no engine any more")
}

impl<'a> ElasticSession<'a> {
    /// A session that knows the library.
    ///
    /// # Errors
    /// If it cannot begin.
    pub fn new(
        place: &'a mut Place,
        options: &'a RunOptions,
        (interrupt, limit): (Option<Interrupt>, Limit),
        starter: Starter<'a>,
    ) -> Result<ElasticSession<'a>, Stop> {
        let (link, mut seated) = (place.link(), None);
        let begin = Begin::New { options, interrupt, limit };
        place.run(options, Seat { begin, link, parked: Vec::new(), seated: &mut seated })?;
        Ok(ElasticSession { place, options, seated, starter, remote: None })
    }

    fn seated(&self) -> Result<&dyn Seated, Stop> {
        self.seated.as_deref().ok_or_else(broken)
    }

    /// Who evaluates: this process, or the ranks of a job.
    fn partner(&self) -> Option<&dyn Partner> {
        match (&self.remote, &self.seated) {
            (Some(remote), _) => Some(&**remote as &dyn Partner),
            (None, Some(seated)) => Some(&**seated as &dyn Partner),
            (None, None) => None,
        }
    }

    /// Makes so many ranks work, and says what that took; or says why it is impossible.
    fn regroup(&mut self, argument: &str) -> Result<Next, Stop> {
        let seated = self.seated()?;
        let wanted = match argument.parse::<usize>() {
            Ok(wanted) if (1..=MOST).contains(&wanted) => wanted,
            _ => return Ok(seated.refuse(&format!("`:ranks` takes a number from 1 to {MOST}"))),
        };
        if wanted == self.place.working() {
            let many = if wanted == 1 { "" } else { "s" };
            return seated.answer(&format!("{wanted} rank{many}, as before\n")).map(|()| Next::Go);
        }
        if !matches!(self.options.engine, None | Some(EngineName::Mpi)) {
            return Ok(seated.refuse("this engine runs in one process; begin the session without --engine"));
        }
        if self.place.is_by_itself() {
            return self.move_out(wanted);
        }
        if let Err(problem) = self.place.check_ranks(wanted) {
            return Ok(seated.refuse(&format!("the ranks stay as they are: {problem}")));
        }
        if let Some((before, count)) = self.place.starting(wanted) {
            ranks::Started::say(self.options, before, count);
        }
        let (front, Left { machine, mut threads, values }) = self.seated.take().ok_or_else(broken)?.leave(wanted)?;
        let (values, change) = self.place.regroup(wanted, values, (&mut threads, self.options), &());
        let (link, parked) = (self.place.link(), self.place.parked().to_vec());
        let begin = Begin::Again { front: Box::new(front), left: Box::new((machine, values)) };
        self.place.run_on(threads, Seat { begin, link, parked, seated: &mut self.seated })?;
        let seated = self.seated.as_mut().ok_or_else(broken)?;
        seated.share_folder();
        match change {
            Ok(change) => seated.answer(&format!("{}\n", change.text())).map(|()| Next::Go),
            Err(problem) => Ok(seated.refuse(&format!("the ranks stay as they are: {problem}"))),
        }
    }
}

impl ElasticSession<'_> {
    /// Goes on with the session in a job of so many ranks, which is started for it; or says why that is impossible, and
    /// goes on as before.
    fn move_out(&mut self, wanted: usize) -> Result<Next, Stop> {
        let begun = Instant::now();
        let seated = self.seated.as_mut().ok_or_else(broken)?;
        let folder = left::folder();
        seated.leave_interrupts(true);
        let moved = seated.leave_in(&folder).and_then(|kept| Ok(((self.starter)(wanted, &folder)?, kept)));
        let _ = std::fs::remove_dir_all(&folder);
        match moved {
            Ok((session, (names, bytes))) => {
                let many = if names == 1 { "" } else { "s" };
                let time = begun.elapsed().as_secs_f64();
                let how = format!("{wanted} ranks, started in {time:.2} s");
                seated.answer(&format!("{how}; {names} name{many} moved to them, with {bytes} bytes of values\n"))?;
                (self.seated, self.remote) = (None, Some(session));
                Ok(Next::Go)
            }
            Err(stop) => {
                seated.leave_interrupts(false);
                let problem = stop.message().trim_start_matches("error: ").to_owned();
                let why = if problem.is_empty() { "no ranks could be started" } else { &problem };
                Ok(seated.refuse(&format!("the session goes on in this process: {why}")))
            }
        }
    }
}

/// The argument of `:ranks` in an input that is that, and has one.
pub(crate) fn ranks_wanted(input: &str) -> Option<&str> {
    let (name, argument) = input.trim().strip_prefix(':')?.trim_start().split_once(char::is_whitespace)?;
    let argument = super::commands::without_end(argument);
    (name == "ranks" && !argument.is_empty()).then_some(argument)
}

impl Partner for ElasticSession<'_> {
    fn number(&self) -> usize {
        self.partner().map_or(0, |partner| partner.number())
    }

    fn names(&self) -> Vec<KnownName> {
        self.partner().map(|partner| partner.names()).unwrap_or_default()
    }

    fn syntax(&self) -> Syntax {
        self.partner().map_or(Syntax::Nesl, |partner| partner.syntax())
    }

    fn ready(&self) {
        if let Some(partner) = self.partner() {
            partner.ready();
        }
    }

    fn evaluate(&mut self, input: &str) -> Result<Next, Stop> {
        if let Some(remote) = &mut self.remote {
            return remote.evaluate(input);
        }
        match ranks_wanted(input) {
            Some(argument) => {
                let next = self.regroup(argument);
                ranks::end_turn(self.options);
                next
            }
            None => self.seated.as_mut().ok_or_else(broken)?.evaluate(input),
        }
    }
}

impl Conversation for ElasticSession<'_> {
    fn begin_at_terminal(&mut self) -> Result<(), Stop> {
        self.seated.as_mut().ok_or_else(broken)?.begin_at_terminal()
    }

    fn is_marked(&self) -> bool {
        self.options.mark.is_some()
    }

    fn go_on(&mut self, folder: &Path, is_typed: bool) -> Result<(), Stop> {
        self.seated.as_mut().ok_or_else(broken)?.go_on(folder, is_typed)
    }

    fn mark(&self, answered: Next) -> Result<(), Stop> {
        match &self.remote {
            // Nobody passes on what is passed on here.
            Some(_) => Ok(()),
            None => self.seated()?.mark(answered),
        }
    }

    fn has_ended(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.has_ended())
    }

    fn finish(&mut self) -> Result<(), Stop> {
        match (self.remote.take(), &mut self.seated) {
            (Some(remote), _) => remote.end(),
            (None, Some(seated)) => seated.finish(),
            (None, None) => Ok(()),
        }
    }
}

/// What a rank other than rank 0 does, until the session ends or the number of ranks changes.
struct Following<'a> {
    options: &'a RunOptions,
    link: Link,
    /// The machine that it had before, and values that have arrived.
    before: (Option<Resting>, Option<Values>),
    left: &'a mut Option<(usize, Left)>,
}

impl Job for Following<'_> {
    fn run<E: Engine + 'static>(self, engine: E) -> Result<(), Stop> {
        let Following { options, mut link, before: (resting, values), left } = self;
        let mut machine = match resting {
            Some(resting) => resting.on(engine),
            None => machine(engine, options),
        };
        if let Some(values) = values {
            machine = seated(machine, values)?;
        }
        if let Some(ranks) = do_requests(&mut machine, &mut link)? {
            *left = Some((ranks, Left::of(machine)?));
        }
        Ok(())
    }
}

/// Does what rank 0 says on this rank, until the session ends or the number of ranks changes: to that.
///
/// # Errors
/// If a program has ended the session with an exit code that says so.
fn do_requests<E: Engine>(machine: &mut Machine<E>, link: &mut Link) -> Result<Option<usize>, Stop> {
    let mut end = 0;
    while let Some(request) = link.hear::<Request<'_>>() {
        match request {
            Request::Run { program, seed, mut draws, since } => {
                let program = Loaded::new(Arc::new(program.into_owned()));
                // What goes wrong goes wrong on all ranks, and rank 0 says so.
                match ranks::run_together(link, since, machine, &program, seed, &mut draws) {
                    // What comes now is the end of the session.
                    Some(Err(RuntimeError { failure: Failure::Exited { code }, .. })) => end = code,
                    _ => drop(machine.end_line()),
                }
            }
            Request::Show { global, manner } => {
                if let Some(value) = machine.global(global).cloned() {
                    let _ = show::write(&mut machine.engine, &value, &manner, &mut std::io::sink());
                }
            }
            Request::Count => drop(machine.counters()),
            // What cannot be done rank 0 says.
            Request::Threads(threads) => _ = ranks::set_threads(&mut machine.engine, threads),
            Request::Rank => _ = link.at_first(&RankProcess::here(machine.engine.threads())),
            // Where it is not there, files in it are not, which is said where they are missed.
            Request::Folder(folder) => _ = std::env::set_current_dir(folder),
            Request::Save(place) => _ = sessions::write(machine, &place, &[], &|| false),
            Request::Restore(values) => {
                if let Ok(values) = postcard::from_bytes(&values) {
                    let _ = sessions::restore(machine, values);
                }
            }
            Request::Regroup(ranks) => return Ok(Some(ranks)),
            Request::Quit => break,
        }
    }
    match end {
        0 => Ok(None),
        code => Err(Stop::with_code(code, "")),
    }
}

/// Follows a session on a rank other than rank 0, to its end.
///
/// # Errors
/// If a program has ended the session with an exit code that says so, or this rank cannot go on.
pub fn follow(place: &mut Place, options: &RunOptions) -> Result<(), Stop> {
    let mut threads = place.own_threads(options)?;
    let mut before = (None, None);
    let mut is_awaited = place.is_new();
    loop {
        if place.is_parked() {
            // What it had would only take memory.
            before = (None, None);
            is_awaited = place.park();
            if !is_awaited {
                return Ok(());
            }
        }
        if is_awaited {
            before = (None, place.arrive::<()>((&mut threads, options)).map(|(values, ())| values));
            is_awaited = false;
            continue;
        }
        let mut left = None;
        let following = Following { options, link: place.link(), before, left: &mut left };
        place.run_on(threads, following)?;
        let Some((ranks, rest)) = left else { return Ok(()) };
        threads = rest.threads;
        let (values, _) = place.regroup(ranks, rest.values, (&mut threads, options), &());
        before = (Some(rest.machine), Some(values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_ranks_is_an_argument_of_one_command() {
        for (input, wanted) in [
            (":ranks 4", Some("4")),
            (" : ranks  4 ;", Some("4")),
            (":ranks", None),
            (":ranks ;", None),
            (":rank 4", None),
            ("ranks 4;", None),
        ] {
            assert_eq!(ranks_wanted(input), wanted, "{input}");
        }
    }
}
