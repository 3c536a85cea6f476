//! What a session says about itself: what is defined, where and how, what it costs, and its settings.

mod cost;

use super::session::{Repl, SHOWN, file};
use super::{Next, Partner, Pending};
use crate::driver;
use crate::stats;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_frontend::core::Form;
use nesl_frontend::{Options, manual};
use nesl_prim::visible;
use nesl_service::KnownName;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `:bench` goes on for so long, or for so many runs.
const BENCH_TIME: Duration = Duration::from_secs(1);
const BENCH_RUNS: usize = 1000;

/// And makes so many runs at least.
const BENCH_LEAST: usize = 3;

impl<E: Engine> Repl<E> {
    /// Prepares for inputs that somebody types: they are numbered, and the file of settings is read, in silence.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn begin_at_terminal(&mut self) -> Result<(), Stop> {
        if let Some(interrupt) = &self.interrupt {
            interrupt.attend();
        }
        if let Some(path) = settings_file() {
            self.is_quiet = true;
            let read = read_settings(self, &path);
            (self.is_quiet, self.origin) = (false, None);
            read?;
        }
        self.inputs = 0;
        self.is_numbered = true;
        Ok(())
    }

    /// Shows what a name is: its type, meaning and costs, where it is defined, and its definition.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn info(&mut self, name: &str) -> Result<Next, Stop> {
        let Some(entry) = manual::lookup(self.session(), self.sources(), name) else {
            return Ok(self.refuse(&manual::unknown(self.session(), name, ":apropos")));
        };
        let function = self.session().function(&entry.name);
        let own = function.filter(|id| !self.session().is_library_function(*id));
        let cost = own.and_then(|id| cost::text(self.session(), self.sources(), id)).unwrap_or_default();
        let definition = function.map(|id| self.session().program().function(id).span).and_then(|span| {
            let source = self.sources().file(span.file);
            let forms = self.session().forms(self.sources(), span.file);
            let form = forms.iter().find(|form| form.span.start <= span.start && span.end <= form.span.end)?;
            source.text.get(form.span.start as usize..form.span.end as usize).map(str::to_owned)
        });
        let definition = definition.map_or_else(String::new, |text| format!("{text}\n"));
        self.answer(&visible::text(&format!("{}{definition}{cost}", self.description(&entry)))).map(|()| Next::Go)
    }

    /// Lists what the session has defined, with types: what begins with a text, or all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn list_names(&mut self, prefix: &str) -> Result<Next, Stop> {
        let prefix = prefix.to_lowercase();
        let names = self.own_names().into_iter().filter(|name| name.name.starts_with(&prefix));
        let text: String = names.map(|KnownName { name, ty, .. }| self.name_text(&name, &ty)).collect();
        match text.is_empty() {
            true => Ok(self.refuse("nothing has been defined in this session")),
            false => self.answer(&text).map(|()| Next::Go),
        }
    }

    /// Shows a value as long as it is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(&mut self, text: &str) -> Result<Next, Stop> {
        if text.is_empty() && !self.is_own_name("it") {
            return Ok(self.refuse("there has been no value yet"));
        }
        let shown = self.settings.shown.take();
        let next = self.evaluate_aside(&format!("{};", if text.is_empty() { "it" } else { text }));
        self.settings.shown = shown;
        next
    }

    /// Shows the flat program of an expression.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn vcode(&mut self, text: &str) -> Result<Next, Stop> {
        let outcome = self.forms_of(text).and_then(|forms| self.compile(&forms));
        let outcome = match outcome {
            Ok(program) => {
                self.answer(&visible::text(&program.to_string()))?;
                Ok(())
            }
            Err(stop) => Err(stop),
        };
        Ok(self.conclude(outcome))
    }

    /// Runs an expression again and again, and shows how long that takes.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn bench(&mut self, text: &str) -> Result<Next, Stop> {
        let forms = match self.forms_of(text) {
            Ok(forms) => forms,
            Err(stop) => return Ok(self.conclude(Err(stop))),
        };
        let mut times: Vec<Duration> = Vec::new();
        while times.len() < BENCH_LEAST || (times.len() < BENCH_RUNS && times.iter().sum::<Duration>() < BENCH_TIME) {
            let mut time = Duration::ZERO;
            for form in &forms {
                match self.run(form)? {
                    Ok(spent) => time += spent,
                    Err(stop) => return Ok(self.conclude(Err(stop))),
                }
            }
            times.push(time);
        }
        times.sort_unstable();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        self.answer(&format!(
            "{:.3} ms at least, {:.3} ms in the middle, {:.3} ms at most, of {} runs\n",
            milliseconds(least),
            milliseconds(median),
            milliseconds(most),
            times.len()
        ))?;
        Ok(Next::Go)
    }

    /// Draws a value, or the last one, as its type asks for.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn plot(&mut self, text: &str) -> Result<Next, Stop> {
        if text.is_empty() && !self.is_own_name("it") {
            return Ok(self.refuse("there has been no value yet"));
        }
        let text = if text.is_empty() { "it" } else { text };
        let file = self.aside(&format!("{text};"));
        let mut trial = self.session().clone();
        let checked = trial.check(self.sources(), file, Options { bind_it: true, ..Options::default() });
        if let Err(stop) = self.report(&checked.diagnostics) {
            return Ok(self.conclude(Err(stop)));
        }
        let ty = trial.global("it").map(|id| trial.program().global(id).ty.to_string()).unwrap_or_default();
        let number = |ty: &str| matches!(ty, "int" | "float");
        let inside = |ty: &str| ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')).map(str::to_owned);
        let elements = inside(&ty).unwrap_or_default();
        let pair = elements.strip_prefix('(').and_then(|pair| pair.strip_suffix(')')?.split_once(", "));
        let draw = match (inside(&elements).as_deref(), pair) {
            _ if number(&elements) => "plot_values",
            (None, Some((x, y))) if number(x) && number(y) => "scatter_points",
            (Some("(int, int, int)"), _) => "rgb_image",
            (Some(element), _) if number(element) => "heatmap",
            _ => {
                return Ok(self.refuse(
                    "this draws sequences of numbers, of points (x, y), of rows of numbers and of rows of colours \
                     (red, green, blue)",
                ));
            }
        };
        let forms = match self.forms_of(&format!("{draw}({text})")) {
            Ok(forms) => forms,
            Err(stop) => return Ok(self.conclude(Err(stop))),
        };
        for form in &forms {
            if let Err(stop) = self.run(form)? {
                return Ok(self.conclude(Err(stop)));
            }
        }
        Ok(Next::Go)
    }

    /// The forms of an expression whose value nobody keeps.
    fn forms_of(&mut self, text: &str) -> Result<Vec<Form>, Stop> {
        let file = self.aside(&format!("{text};"));
        let before = self.session().clone();
        let checked = self.check(file, Options::default());
        self.report(&checked.diagnostics)?;
        // What it defines, if anything, has no value.
        if checked.forms.iter().any(|form| !matches!(form, Form::Expression(_))) {
            self.set_session(before);
            return Err(Stop::failed("error: this must be an expression"));
        }
        Ok(checked.forms)
    }

    /// Shows what the session has done so far.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn count(&mut self, _: &str) -> Result<Next, Stop> {
        let text = stats::table(&self.counters());
        self.answer(&text).map(|()| Next::Go)
    }

    /// Writes what was right of the inputs so far to a new file.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub(super) fn save_inputs(&mut self, path: &Path) -> Result<Next, Stop> {
        let text = self.program_of_inputs();
        let written = std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Ok(()) => {
                let count = self.accepted.len();
                let inputs = if count == 1 { "input" } else { "inputs" };
                self.answer(&format!("{count} {inputs} in {}\n", path.display())).map(|()| Next::Go)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok(self.refuse(&format!("{} exists; choose another name", path.display())))
            }
            Err(error) => Ok(self.refuse(&format!("cannot write {}: {error}", path.display()))),
        }
    }

    /// Changes the folder that names of files are relative to, or shows it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn change_folder(&mut self, argument: &str) -> Result<Next, Stop> {
        if !argument.is_empty() {
            let path = match (argument, self.folder.clone()) {
                ("-", Some(folder)) => folder,
                ("-", None) => return Ok(self.refuse("there is no folder before this one: `:cd FOLDER`")),
                _ => file(argument),
            };
            let before = std::env::current_dir();
            if let Err(error) = std::env::set_current_dir(&path) {
                return Ok(self.refuse(&format!("cannot go to {}: {error}", path.display())));
            }
            self.folder = before.ok().or(self.folder.take());
            self.share_folder();
        }
        match std::env::current_dir() {
            Ok(folder) => {
                self.answer(&format!("{}\n", visible::line(&folder.display().to_string()))).map(|()| Next::Go)
            }
            Err(error) => Ok(self.refuse(&format!("there is no folder: {error}"))),
        }
    }

    /// Changes a setting, or shows all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn set(&mut self, argument: &str) -> Result<Next, Stop> {
        let (name, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        let value = value.trim();
        match (name, value) {
            ("", _) => {
                let shown = self.settings.shown.map_or("all".to_owned(), |shown| shown.to_string());
                let word = |is_on: bool| if is_on { "on" } else { "off" };
                let (timing, progress) = (word(self.settings.timing), word(self.settings.progress));
                let text = format!(
                    "shown {shown}  elements of a sequence that answers show: a number, or all\n\
                     timing {timing}  whether each answer says how long it took: on, or off\n\
                     progress {progress}  whether a line says how long evaluations go on, at a terminal: on, or off\n"
                );
                self.answer(&text)?;
            }
            ("shown", "all") => self.settings.shown = None,
            ("shown", number) => match number.parse() {
                Ok(shown) => self.settings.shown = Some(shown),
                Err(_) => return Ok(self.refuse(&format!("`shown` is a number, such as {SHOWN}, or all"))),
            },
            ("timing", "on") => self.settings.timing = true,
            ("timing", "off") => self.settings.timing = false,
            ("progress", "on") => self.settings.progress = true,
            ("progress", "off") => self.settings.progress = false,
            ("progress", _) => return Ok(self.refuse("`progress` is on or off")),
            ("timing", _) => return Ok(self.refuse("`timing` is on or off")),
            _ => return Ok(self.refuse(&format!("there is no setting `{name}`; :set lists them"))),
        }
        Ok(Next::Go)
    }

    /// Reads the file that was loaded last once more.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn reload(&mut self, _: &str) -> Result<Next, Stop> {
        match self.loaded.last().cloned() {
            Some(path) => self.load(&path),
            None => Ok(self.refuse("no file has been loaded: :load FILE")),
        }
    }
}

/// The file with what a session at a terminal begins with: `$NESL_STARTUP`, else in the user's folder of settings.
fn settings_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = variable("NESL_STARTUP") {
        return Some(named);
    }
    let settings = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    Some(settings?.join("nesl/startup.nesl")).filter(|file| file.exists())
}

/// Evaluates what a file of settings says: inputs and commands, as in a session.
fn read_settings<E: Engine>(repl: &mut Repl<E>, path: &Path) -> Result<(), Stop> {
    let text = match driver::read_source(path, repl.options.style()) {
        Ok(text) => text,
        Err(stop) => {
            repl.refuse(stop.message());
            return Ok(());
        }
    };
    let name = path.display().to_string();
    let (mut pending, mut before) = (Pending::default(), 0);
    for (number, line) in text.lines().enumerate() {
        if pending.text.is_empty() {
            before = number;
        }
        if let Some(input) = pending.push(line, repl.syntax, |word| repl.is_own_name(word)) {
            repl.origin = Some((name.clone(), before));
            repl.evaluate(&input)?;
        }
    }
    if !pending.text.trim().is_empty() {
        repl.origin = Some((name, before));
        repl.evaluate(&pending.text)?;
    }
    Ok(())
}
