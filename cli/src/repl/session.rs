//! What a session does with an input: checks it, runs its forms on the machine, and answers each.
//!
//! Names and types live in the front end's session, values in the machine, and they must not part: where a form fails
//! at run time, the session goes back to what was defined before that form, because its names have no values.

mod accepted;
mod evaluation;
mod kept;

use super::Next;
use super::ranks::{Request, Turn, machine, run_steps, run_together};
use crate::driver::{self, Disk};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::launch::Link;
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::{self, remark};
use crate::profile;
use crate::progress::Evaluation;
use crate::rank::RankProcess;
use crate::stats;
use crate::stop::Stop;
use crate::style::Style;
pub(super) use accepted::{Accepted, is_number};
use evaluation::{Evaluated, Given};
use nesl_backend::data::slot::Slot;
use nesl_backend::engine::value::SlotOf;
use nesl_backend::{Counters, Engine, Loaded, Machine, Whereabouts};
use nesl_frontend::core::Form;
use nesl_frontend::session::Checked;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::{Diagnostic, Imports, Options, Session, manual};
use nesl_prim::{Failure, visible};
use nesl_span::{FileId, Origin, SourceMap};
use nesl_vcode::{GlobalId as GlobalSlot, Program, pipeline};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements of a sequence that an answer shows, if nobody says otherwise.
pub(super) const SHOWN: usize = 100;

/// The most elements of a value that keeps the number of its input.
const KEPT: usize = 1 << 20;

/// What a session shows: [`super::inspect`] changes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    /// Elements of a sequence that an answer shows; none for all.
    pub shown: Option<usize>,
    /// Whether the time that each input took is shown.
    pub timing: bool,
    /// Whether it is shown how an evaluation goes on that takes long, where that can be.
    pub progress: bool,
}

/// A session on an engine.
pub struct Repl<E: Engine> {
    pub(super) session: Session,
    pub(super) sources: SourceMap,
    pub(super) machine: Machine<E>,
    /// Where it is, for whoever looks while it runs.
    pub(super) whereabouts: Option<Arc<Whereabouts>>,
    pub(super) options: RunOptions,
    /// What Ctrl-C does; nothing where it is left to the launcher.
    pub(super) interrupt: Option<Interrupt>,
    /// The most time that an input may take.
    pub(super) limit: Limit,
    /// The other ranks.
    pub(super) link: Link,
    /// When the evaluation of this input began, as ranks count.
    pub(super) since: u64,
    pub(super) inputs: usize,
    /// Steps so far that drew random numbers.
    pub(super) draws: usize,
    pub(super) settings: Settings,
    /// Whether inputs are numbered, and what they give can be named by that.
    pub(super) is_numbered: bool,
    /// Whether nothing is answered.
    pub(super) is_quiet: bool,
    /// What was right of the inputs so far.
    pub(super) accepted: Vec<Accepted>,
    /// The files loaded so far, the last one last.
    pub(super) loaded: Vec<PathBuf>,
    /// The names that the library defines.
    pub(super) library: HashSet<String>,
    /// What ranks have that are parked.
    pub(super) parked: Vec<RankProcess>,
    /// What inputs are in.
    pub(super) syntax: Syntax,
    /// The file that inputs come from, if they do, and the lines in it before the present one.
    pub(super) origin: Option<(String, usize)>,
    /// The folder before the last `:cd`.
    pub(super) folder: Option<PathBuf>,
    /// Whether Ctrl-C has ended an answer early.
    pub(super) was_cut: Cell<bool>,
}

impl<E: Engine> Repl<E> {
    /// A session that knows the library.
    pub fn new(engine: E, options: RunOptions, ends: (Option<Interrupt>, Limit), link: Link) -> Repl<E> {
        let (interrupt, limit) = ends;
        let mut sources = SourceMap::default();
        let session = Session::new(&mut sources);
        let mut machine = machine(engine, &options);
        if let Some(interrupt) = &interrupt {
            machine.set_interrupt(interrupt.flag());
        }
        if options.profile.is_some() {
            machine.start_profile(&sources);
        }
        let is_watched = options.shows_progress() && machine.engine.rank().1 == 1;
        let whereabouts = is_watched.then(Arc::<Whereabouts>::default);
        if let Some(whereabouts) = &whereabouts {
            machine.watched_by(Arc::clone(whereabouts));
        }
        let library = session.names().map(str::to_owned).collect();
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
            inputs: 0,
            draws: 0,
            settings: Settings { shown: Some(SHOWN), timing: false, progress: true },
            is_numbered: false,
            is_quiet: false,
            accepted: Vec::new(),
            loaded: Vec::new(),
            library,
            parked: Vec::new(),
            syntax: Syntax::Nesl,
            origin: None,
            folder: None,
            was_cut: Cell::new(false),
        }
    }

    /// The number of the next input.
    pub fn number(&self) -> usize {
        self.inputs + 1
    }

    /// Evaluates forms.
    ///
    /// # Errors
    /// If an answer cannot be written.
    pub fn input(&mut self, text: &str) -> Result<Next, Stop> {
        self.inputs += 1;
        let (number, name) = (self.inputs, self.input_name());
        let file = self.add(text, name);
        let outcome = self.evaluate(file, Some(number))?;
        if let Ok(evaluated) = &outcome {
            if evaluated.gives_result && self.is_numbered {
                self.keep_result(number)?;
            }
            if self.settings.timing {
                self.answer(&format!("{:.3} ms\n", evaluated.time.as_secs_f64() * 1e3))?;
            }
        }
        Ok(self.conclude(outcome.and_then(Evaluated::outcome)))
    }

    /// Lets the value of the last expression be known by the number of its input, unless it is so large that memory
    /// would be held for nothing.
    fn keep_result(&mut self, number: usize) -> Result<(), Stop> {
        let elements = |slot: &SlotOf<E>| match slot {
            Slot::Column(column) => self.machine.engine.length(column),
            Slot::Scalar(_) | Slot::Descriptor(_) => 0,
        };
        if self.is_interrupted() {
            return Ok(());
        }
        let slot = self.session.global("it").and_then(|id| u32::try_from(id.0).ok());
        let value = slot.and_then(|id| self.machine.global(GlobalSlot(id)));
        let Some(true) = value.map(|value| value.slots.iter().map(elements).sum::<usize>() <= KEPT) else {
            return Ok(());
        };
        let file = self.sources.add("<result>", format!("_{number} = it;"), Origin::User);
        let checked = self.session.check(&self.sources, file, Options::default());
        for form in &checked.forms {
            // It only names what is there.
            self.run(form)?.ok();
        }
        Ok(())
    }

    /// Evaluates the forms of a file.
    ///
    /// # Errors
    /// If an answer cannot be written.
    pub fn load(&mut self, path: &Path) -> Result<Next, Stop> {
        let outcome = match driver::read_source(path, self.options.style()) {
            Ok(text) => {
                let file = self.sources.add(path.display().to_string(), text, Origin::User);
                let is_known = self.loaded.iter().any(|loaded| loaded == path);
                let imports = Imports::of(&mut self.sources, file, driver::key(path).as_deref(), &mut Disk);
                let outcome = self.evaluate_with(file, &imports, Given::File { is_known })?;
                self.loaded.retain(|loaded| loaded != path);
                self.loaded.push(path.to_owned());
                outcome.and_then(Evaluated::outcome)
            }
            Err(stop) => Err(stop),
        };
        Ok(self.conclude(outcome))
    }

    /// Evaluates an expression and says how long that took, checking and compiling it apart.
    ///
    /// # Errors
    /// If an answer cannot be written.
    pub fn time(&mut self, text: &str) -> Result<Next, Stop> {
        let file = self.aside(&format!("{text};"));
        let outcome = match self.evaluate(file, None)? {
            Ok(evaluated) => {
                self.answer(&format!("{:.3} ms\n", evaluated.time.as_secs_f64() * 1e3))?;
                evaluated.outcome()
            }
            Err(stop) => Err(stop),
        };
        Ok(self.conclude(outcome))
    }

    /// Evaluates an expression and shows which lines took the time.
    ///
    /// # Errors
    /// If an answer cannot be written.
    pub fn profile(&mut self, text: &str) -> Result<Next, Stop> {
        let file = self.aside(&format!("{text};"));
        let aside = self.machine.start_profile_apart(&self.sources);
        let outcome = self.evaluate(file, None);
        let places = self.machine.end_profile_apart(aside);
        let outcome = match outcome? {
            Ok(evaluated) => {
                let lines = profile::LINES.parse().unwrap_or(usize::MAX);
                self.answer(&profile::text(&places, &self.sources, lines, None, Style::plain()))?;
                evaluated.outcome()
            }
            Err(stop) => Err(stop),
        };
        Ok(self.conclude(outcome))
    }

    /// Shows the type of an expression.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show_type(&mut self, text: &str) -> Result<Next, Stop> {
        if self.syntax == Syntax::V {
            return self.show_type_in_v(text);
        }
        let file = self.aside(text);
        let outcome = match self.session.type_of(&self.sources, file) {
            Ok(ty) => {
                self.answer(&visible::text(&format!("{text} : {ty}\n")))?;
                Ok(())
            }
            Err(diagnostics) => self.report(&diagnostics),
        };
        Ok(self.conclude(outcome))
    }

    /// Shows what a function does.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn doc(&mut self, name: &str) -> Result<Next, Stop> {
        match manual::lookup(&self.session, &self.sources, name) {
            Some(entry) => self.answer(&self.description(&entry)).map(|()| Next::Go),
            None => Ok(self.refuse(&manual::unknown(&self.session, name, ":apropos"))),
        }
    }

    /// Lists the functions that have to do with a word.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn apropos(&mut self, word: &str) -> Result<Next, Stop> {
        let found = manual::apropos(&self.session, &self.sources, word);
        match found.is_empty() {
            true => Ok(self.refuse(&manual::nothing(word))),
            false => self.answer(&manual::list(&found)).map(|()| Next::Go),
        }
    }

    /// Prints an answer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn answer(&self, text: &str) -> Result<(), Stop> {
        if self.is_quiet {
            return Ok(());
        }
        let is_whole = output::print_unless(text, || self.is_interrupted())?;
        self.was_cut.set(self.was_cut.get() || !is_whole);
        Ok(())
    }

    /// Whether somebody at a terminal wants the present input to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_requested)
    }

    /// Does what an input says, which Ctrl-C can end; says so where nothing else does.
    pub(super) fn interruptibly(&mut self, work: impl FnOnce(&mut Self) -> Result<Next, Stop>) -> Result<Next, Stop> {
        let interrupt = self.interrupt.clone();
        self.was_cut.set(false);
        if let Some(interrupt) = &interrupt {
            interrupt.begin();
        }
        let next = work(self);
        if let Some(interrupt) = &interrupt {
            interrupt.end();
        }
        match next {
            Ok(Next::Go) if self.was_cut.get() => Ok(self.tell(&Stop::interrupted())),
            next => next,
        }
    }

    /// Says why an input does not do anything.
    pub fn refuse(&self, message: &str) -> Next {
        self.tell(&Stop::failed(message))
    }

    /// Says how an input ended; the session goes on.
    fn tell(&self, stop: &Stop) -> Next {
        remark(&format!("{}\n", stop.message()));
        Next::GoAfterError
    }

    /// The names and types of the session.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Makes the session what it was.
    pub(super) fn set_session(&mut self, session: Session) {
        self.session = session;
    }

    /// Its texts.
    pub(super) fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Checks a text and adds its definitions to the session.
    pub(super) fn check(&mut self, file: FileId, options: Options) -> Checked {
        self.session.check(&self.sources, file, options)
    }

    /// What was done so far, on each rank.
    pub(super) fn counters(&mut self) -> Vec<Counters> {
        self.together(&Request::Count);
        self.machine.counters()
    }

    /// The end of the session.
    pub fn finish(&mut self) {
        if self.options.stats {
            remark(&stats::table(&self.counters()));
        }
        if let Some(lines) = self.options.profile {
            let places = self.machine.profile();
            remark(&profile::text(&places, &self.sources, lines, None, self.options.style()));
        }
        self.together(&Request::Quit);
    }

    /// Evaluates what a command is given, and answers it.
    pub(super) fn evaluate_aside(&mut self, text: &str) -> Result<Next, Stop> {
        let file = self.aside(text);
        let outcome = self.evaluate(file, None)?;
        Ok(self.conclude(outcome.and_then(Evaluated::outcome)))
    }

    /// Adds what a command is given, which is no input: it has no number.
    pub(super) fn aside(&mut self, text: &str) -> FileId {
        let name = self.command_name();
        self.add(text, name)
    }

    fn add(&mut self, text: &str, called: String) -> FileId {
        match &self.origin {
            // Lines count from the beginning of the file.
            Some((name, before)) if Syntax::of(name) == self.syntax => {
                self.sources.add(name.clone(), "\n".repeat(*before) + text, Origin::User)
            }
            _ => self.sources.add(called, text, Origin::User),
        }
    }

    pub(super) fn report(&self, diagnostics: &[Diagnostic]) -> Result<(), Stop> {
        driver::report(diagnostics, &self.sources, self.options.style())
    }

    /// Shows what went wrong with an input, if something did; the session goes on.
    pub(super) fn conclude(&self, outcome: Result<(), Stop>) -> Next {
        match outcome {
            Ok(()) => Next::Go,
            Err(stop) => self.tell(&stop),
        }
    }

    /// The optimised program of forms.
    pub(super) fn compile(&self, forms: &[Form]) -> Result<Program, Stop> {
        match nesl_flatten::compile(self.session.program(), self.session.library(), forms, None) {
            Ok(mut program) => pipeline::optimise(&mut program, &pipeline::Options::default())
                .map_err(|error| driver::pass_error(&error))
                .map(|()| program),
            Err(errors) => {
                let style = self.options.style();
                let diagnostics = errors.iter().map(|error| error.diagnostic(&self.sources));
                let text: String = diagnostics.map(|report| style.diagnostic(&report, &self.sources)).collect();
                Err(Stop::reported(text))
            }
        }
    }

    /// Compiles and runs one form. The inner error is one of the form, the outer one ends the session.
    pub(super) fn run(&mut self, form: &Form) -> Result<Result<Duration, Stop>, Stop> {
        let program = match self.compile(std::slice::from_ref(form)) {
            Ok(program) => program,
            Err(stop) => return Ok(Err(stop)),
        };
        self.say_turn(Turn::Begins);
        let (seed, draws) = (self.options.seed, self.draws);
        let request = Request::Run { program: Cow::Borrowed(&program), seed, draws, since: self.since };
        self.together(&request);
        let program = Loaded::new(Arc::new(program));
        let Repl { machine, interrupt, limit, sources, options, draws, link, since, .. } = self;
        let whereabouts = self.whereabouts.as_deref().filter(|_| self.settings.progress);
        let meter = machine.engine.meter().cloned();
        let mut evaluate = || {
            let start = Instant::now();
            let ran = match interrupt {
                Some(interrupt) => Some(interrupt.during(|| run_steps(machine, &program, options.seed, draws))),
                None => run_together(link, *since, machine, &program, options.seed, draws),
            };
            (ran, start.elapsed())
        };
        let (ran, spent) = match whereabouts {
            Some(whereabouts) => Evaluation { program: program.program(), sources, whereabouts, meter }.shown(evaluate),
            None => evaluate(),
        };
        let ran = match ran {
            Some(Ok(())) => Ok(spent),
            Some(Err(error)) => {
                let is_exit = matches!(error.failure, Failure::Exited { .. });
                let stop = failure::stop(&limit.explained(error), sources, options.style());
                if is_exit {
                    return Err(stop);
                }
                Err(stop)
            }
            None => Err(Stop::interrupted()),
        };
        // What follows, the next prompt too, stands on a line of its own.
        Ok(machine.end_line().map_err(|failure| failure::lost(&failure)).and(ran))
    }
}

/// The file that an argument names, in quotes or not, with spaces as they are or as completion writes them.
pub(super) fn file(argument: &str) -> PathBuf {
    let name = argument.trim_matches('"').replace("\\ ", " ");
    let inside = if name == "~" { Some("") } else { name.strip_prefix("~/") };
    match (inside, std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(name),
    }
}
