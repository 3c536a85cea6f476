//! What a session does with an input: checks it, runs its forms on the machine, and answers each.
//!
//! Names and types live in the front end's session, values in the machine, and they must not part: where a form fails
//! at run time, the session goes back to what was defined before that form, because its names have no values.

mod kept;

use super::Next;
use super::matrix::Page;
use super::ranks::{Request, machine, run_steps, run_together};
use super::show::{self, Extent, Manner, element_types};
use crate::driver::{self, Disk};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::launch::Link;
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::{self, print_error, remark};
use crate::profile;
use crate::progress::Evaluation;
use crate::rank::RankProcess;
use crate::screen::Screen;
use crate::stats;
use crate::stop::Stop;
use crate::style::Style;
use nesl_backend::data::slot::Slot;
use nesl_backend::engine::value::SlotOf;
use nesl_backend::io::print::PrintError;
use nesl_backend::{Counters, Engine, Loaded, Machine, Whereabouts};
use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::core::{Form, GlobalId};
use nesl_frontend::session::Checked;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::ty::Type;
use nesl_frontend::{Diagnostic, Imports, Options, Session, manual};
use nesl_prim::{Failure, ScalarValue, visible};
use nesl_span::{FileId, Origin, SourceMap};
use nesl_vcode::{GlobalId as GlobalSlot, Program, pipeline};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements of a sequence that an answer shows, if nobody says otherwise.
pub(super) const SHOWN: usize = 100;

/// The warning that a definition replaces another one.
const REDEFINITION: &str = "W0203";

/// What evaluating a text did.
struct Evaluated {
    /// How long running it took.
    time: Duration,
    /// Whether an expression in it has a value.
    gives_result: bool,
}

/// The most elements of a value that keeps the number of its input.
const KEPT: usize = 1 << 20;

/// What a session shows: [`super::inspect`] changes it.
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
    pub(super) accepted: Vec<String>,
    /// The files loaded so far, the last one last.
    pub(super) loaded: Vec<PathBuf>,
    /// The names that the library defines.
    pub(super) library: HashSet<String>,
    /// What ranks have that are parked.
    pub(super) parked: Vec<RankProcess>,
    /// What inputs are in.
    pub(super) syntax: Syntax,
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
        let file = self.add(text);
        let number = self.inputs;
        let kept = self.kept(file);
        let outcome = self.evaluate(file)?;
        if let Ok(evaluated) = &outcome {
            self.accepted.push(kept);
            if evaluated.gives_result && self.is_numbered {
                self.keep_result(number)?;
            }
            if self.settings.timing {
                self.answer(&format!("{:.3} ms\n", evaluated.time.as_secs_f64() * 1e3))?;
            }
        }
        Ok(self.conclude(outcome.map(|_| ())))
    }

    /// Lets the value of the last expression be known by the number of its input, unless it is so large that memory
    /// would be held for nothing.
    fn keep_result(&mut self, number: usize) -> Result<(), Stop> {
        let elements = |slot: &SlotOf<E>| match slot {
            Slot::Column(column) => self.machine.engine.length(column),
            Slot::Scalar(_) | Slot::Descriptor(_) => 0,
        };
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
                let outcome = self.evaluate_with(file, &imports, is_known)?.map(|_| ());
                if outcome.is_ok() {
                    let text = self.kept_file(file, &imports);
                    self.accepted.push(text);
                }
                self.loaded.retain(|loaded| loaded != path);
                self.loaded.push(path.to_owned());
                outcome
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
        let file = self.add(&format!("{text};"));
        let outcome = match self.evaluate(file)? {
            Ok(Evaluated { time, .. }) => {
                self.answer(&format!("{:.3} ms\n", time.as_secs_f64() * 1e3))?;
                Ok(())
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
        let file = self.add(&format!("{text};"));
        let aside = self.machine.start_profile_apart(&self.sources);
        let outcome = self.evaluate(file);
        let places = self.machine.end_profile_apart(aside);
        let outcome = match outcome? {
            Ok(_) => {
                let lines = profile::LINES.parse().unwrap_or(usize::MAX);
                self.answer(&profile::text(&places, &self.sources, lines, None, Style::Text { color: false }))?;
                Ok(())
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
        let file = self.add(text);
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
            Some(entry) => self.answer(&manual::describe(&entry)).map(|()| Next::Go),
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
        if self.is_quiet { Ok(()) } else { output::print(text) }
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

    pub(super) fn add(&mut self, text: &str) -> FileId {
        self.inputs += 1;
        self.sources.add(self.input_name(), text, Origin::User)
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

    /// Checks an input, runs its forms one after another and answers each.
    fn evaluate(&mut self, file: FileId) -> Result<Result<Evaluated, Stop>, Stop> {
        let imports = Imports::of(&mut self.sources, file, None, &mut Disk);
        self.evaluate_with(file, &imports, false)
    }

    /// Checks a text, runs its forms one after another and answers each, those of files that it imports without a word.
    /// The inner error ends the input, the outer one the session. Of a text that `is_known` definitions replace those
    /// of before without a word too.
    fn evaluate_with(
        &mut self,
        file: FileId,
        imports: &Imports,
        is_known: bool,
    ) -> Result<Result<Evaluated, Stop>, Stop> {
        let before = self.session.clone();
        let mut checked =
            self.session.check_with(&self.sources, file, imports, Options { bind_it: true, ..Options::default() });
        let is_own = |diagnostic: &Diagnostic| diagnostic.labels.first().is_none_or(|label| label.span.file == file);
        checked.diagnostics.retain(|diagnostic| diagnostic.code != REDEFINITION || (!is_known && is_own(diagnostic)));
        if let Err(stop) = self.report(&checked.diagnostics) {
            return Ok(Err(stop));
        }
        let mut time = Duration::ZERO;
        let gives_result = checked.forms.iter().any(|form| self.is_result(form));
        for (index, form) in checked.forms.iter().enumerate() {
            match self.run(form)? {
                Ok(spent) => time += spent,
                Err(stop) => {
                    self.back_to(before, file, imports, index.checked_sub(checked.imported));
                    return Ok(Err(stop));
                }
            }
            if index >= checked.imported {
                self.announce(form)?;
            }
        }
        Ok(Ok(Evaluated { time, gives_result }))
    }

    /// Whether a form is an expression with a value, which `it` names then.
    fn is_result(&self, form: &Form) -> bool {
        let program = self.session.program();
        let is_it = |id: GlobalId| &*program.global(id).name == "it" && program.global(id).ty != Type::Unit;
        matches!(form, Form::Assignment { targets, .. } if targets.iter().any(|(id, _)| is_it(*id)))
    }

    /// Makes the session what it was before the form with this index in a text that has been checked; without an index,
    /// what it was before the text.
    fn back_to(&mut self, before: Session, file: FileId, imports: &Imports, index: Option<usize>) {
        self.session = before;
        let Some(index) = index else { return };
        let source = self.sources.file(file).clone();
        let mut forms = self.session.forms(&self.sources, file);
        forms.retain(|form| !matches!(form.kind, TopLevelKind::Import(_)));
        // The same text up to there gives out the same numbers again, so that names find their values.
        let text = Self::before_form(&source.name, &source.text, &forms, index);
        let start = self.sources.add(source.name, text, source.origin);
        self.session.check_with(
            &self.sources,
            start,
            &imports.moved(file, start),
            Options { bind_it: true, ..Options::default() },
        );
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

    /// Answers a form that was run.
    fn announce(&mut self, form: &Form) -> Result<(), Stop> {
        match form {
            Form::Function(id) => self.answer(&self.function_text(*id)),
            Form::Assignment { targets, .. } => targets.iter().try_for_each(|(id, _)| {
                let program = self.session.program();
                let global = program.global(*id);
                if let ("it", Type::Unit) = (&*global.name, &global.ty) {
                    return Ok(());
                }
                let (text, size) = self.value_text(*id)?;
                let program = self.session.program();
                let global = program.global(*id);
                // A function by its name alone is that function at some type; what it is in general says more.
                if let ("it", Some(identity)) = (&*global.name, global.ty.identity())
                    && let Some(function) = program.functions.get(identity.function)
                    && !function.is_lambda()
                {
                    return self.answer(&format!("{} = {text} : {}\n", function.name, function.scheme));
                }
                let ty = self.session.type_text(&global.ty, self.syntax);
                self.answer(&format!("{} = {text} : {ty}{size}\n", global.name))
            }),
            // With `bind_it` every expression is an assignment.
            Form::Expression(_) => Ok(()),
        }
    }

    /// The screen that the answer of a global is for, where somebody looks at one.
    fn page(&self, id: GlobalId) -> Option<Page> {
        if !self.is_numbered {
            return None;
        }
        let (columns, lines) = self.options.screen.unwrap_or_else(Screen::now).size();
        let global = self.session.program().global(id);
        let length = |text: &str| text.chars().count();
        let after = length(&format!(" : {}, 1000 × 1000", global.ty));
        Some(Page { columns, lines, before: length(&global.name) + 3, after })
    }

    /// A value as an answer shows it, and what is said of its size where that is not all of it.
    pub(super) fn value_text(&mut self, id: GlobalId) -> Result<(String, String), Stop> {
        let slot = GlobalSlot(u32::try_from(id.0).unwrap_or(u32::MAX));
        let said = |text: String| Ok((text, String::new()));
        let Some(value) = self.machine.global(slot).cloned() else { return said("?".to_owned()) };
        let ty = &self.session.program().global(id).ty;
        let mut types = Vec::new();
        element_types(ty, &mut types);
        if self.syntax == Syntax::V {
            // Vectors without elements are `[]` there, whatever of.
            types.iter_mut().for_each(String::clear);
        }
        let length = match (ty, value.slots.first()) {
            (Type::Sequence(_), Some(Slot::Scalar(ScalarValue::Int(length)))) => Some(*length),
            _ => None,
        };
        let noun = if *ty == Type::sequence(Type::CHAR) { "characters" } else { "elements" };
        let manner = Manner { limit: self.settings.shown, types: Cow::Owned(types), page: self.page(id) };
        self.together(&Request::Show { global: slot, manner: manner.clone() });
        let mut text = Vec::new();
        let extent = match show::write(&mut self.machine.engine, &value, &manner, &mut text) {
            Ok(extent) => extent,
            Err(PrintError::Failure(failure @ Failure::OutOfMemory { .. })) => return said(format!("? ({failure})")),
            Err(error) => return Err(print_error(&error)),
        };
        let size = match (extent, length) {
            (Extent::Matrix(rows, columns), _) => format!(", {rows} × {columns}"),
            (Extent::Part, Some(length)) => format!(", {length} {noun}"),
            _ => String::new(),
        };
        Ok((String::from_utf8_lossy(&text).into_owned(), size))
    }
}

/// The file that an argument names, in quotes or not, with spaces as they are or as completion writes them.
pub(super) fn file(argument: &str) -> PathBuf {
    let name = argument.trim_matches('"').replace("\\ ", " ");
    match (name.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(name),
    }
}
