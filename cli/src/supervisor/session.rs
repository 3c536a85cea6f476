//! A session on ranks at a terminal. Lines are edited, remembered and completed in this process, as in any session;
//! what is typed goes to rank 0, which says when it has answered and which names there are.
//!
//! Ctrl-C while an input is evaluated is passed on to the ranks, which stop together ([`super::turns`]).

use super::job::{self, Watch, begin};
use super::marks::Marks;
use super::signals;
use super::terminal::{TerminalSettings, is_in_foreground};
use super::turns::Turns;
use crate::options::RunOptions;
use crate::repl::{Next, Partner, UNIT, terminal};
use crate::screen::Screen;
use crate::stop::Stop;
use nesl_backend::io::standard::StandardOutput;
use nesl_frontend::syntax::Syntax;
use nesl_service::KnownName;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the thread that edits lines may take to notice the end of a job, if it does not wait for a line.
const NOTICE: Duration = Duration::from_millis(300);

/// What happens to a session.
enum Event {
    /// All answers to an input have been written; the number of the next and what it is in, and the names that can be
    /// used now.
    Answered(usize, Syntax, Vec<KnownName>),
    /// All messages about an input have been written.
    Told,
    /// The ranks are no more.
    Ended,
}

/// The end of the job, once it is known, for the one who takes it.
type End = Arc<Mutex<Option<Result<(), Stop>>>>;

fn take(end: &End) -> Option<Result<(), Stop>> {
    end.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs a session on so many ranks to its end.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
pub fn run(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal() && is_in_foreground()) {
        return job::session(ranks, options);
    }
    signals::note();
    let (mark, turns) = (job::mark(), Arc::<Turns>::default());
    let screen = Screen::now().to_string();
    let own = ["--mark", &mark, "--turns", &mark, "--screen", &screen].map(OsStr::new);
    let mut job = begin(ranks, options, &own, Stdio::piped)?;
    let input = job.stdin();
    let (sender, events) = channel();
    // Nobody need listen any more: the session ends then.
    let answered = sender.clone();
    let output = Marks::new(&mark, StandardOutput::default(), move |said: &str| {
        let mut parts = said.split(UNIT);
        let (number, syntax) = next_input(parts.next().unwrap_or_default());
        let mut names = Vec::new();
        while let (Some(name), Some(ty)) = (parts.next(), parts.next()) {
            names.push(KnownName::of_type(name, ty));
        }
        _ = answered.send(Event::Answered(number, syntax, names));
    });
    let told = sender.clone();
    let heard = Arc::clone(&turns);
    let errors = Marks::new(&mark, io::stderr(), move |word: &str| match word {
        "" => _ = told.send(Event::Told),
        word => heard.hear(word),
    });
    let watch = Watch::new(job, ranks, output, errors).interruptible(Arc::clone(&turns));
    let end = End::default();
    let (slot, terminal) = (Arc::clone(&end), TerminalSettings::remember());
    thread::spawn(move || {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.last());
        let _ = sender.send(Event::Ended);
        thread::sleep(NOTICE);
        // Nobody has noticed: a line is being edited, which nothing else ends.
        if let Some(result) = take(&slot) {
            terminal.restore();
            eprintln!();
            std::process::exit(crate::conclude(result).into());
        }
    });
    let mut remote =
        Remote { input, events, turns, number: 1, syntax: Syntax::Nesl, names: Vec::new(), is_over: false };
    let edited = match remote.answered() {
        Next::Quit => Ok(()),
        _ => terminal::run(&mut remote, options.color.enabled_on(&io::stdout())),
    };
    remote.leave();
    edited.and(take(&end).unwrap_or(Ok(())))
}

/// The number of the next input and what it is in, as rank 0 says them.
fn next_input(said: &str) -> (usize, Syntax) {
    let mut words = said.split_whitespace();
    let number = words.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let is_v = words.next() == Some(Syntax::V.name());
    (number, if is_v { Syntax::V } else { Syntax::Nesl })
}

/// A session on ranks.
struct Remote {
    /// What rank 0 reads.
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    turns: Arc<Turns>,
    number: usize,
    syntax: Syntax,
    names: Vec<KnownName>,
    is_over: bool,
}

impl Remote {
    /// Waits until an input has been answered, or the job has ended.
    fn answered(&mut self) -> Next {
        let (mut is_answered, mut is_told) = (false, false);
        while !(is_answered && is_told) {
            match self.events.recv() {
                Ok(Event::Answered(number, syntax, names)) => {
                    (self.number, self.syntax, self.names) = (number, syntax, names);
                    is_answered = true;
                }
                Ok(Event::Told) => is_told = true,
                Ok(Event::Ended) | Err(_) => {
                    self.is_over = true;
                    return Next::Quit;
                }
            }
        }
        Next::Go
    }

    /// Ends the session and waits for the end of the job.
    fn leave(&mut self) {
        self.input = None;
        while !self.is_over {
            self.answered();
        }
    }
}

impl Partner for Remote {
    fn number(&self) -> usize {
        self.number
    }

    fn names(&self) -> Vec<KnownName> {
        self.names.clone()
    }

    fn syntax(&self) -> Syntax {
        self.syntax
    }

    fn evaluate(&mut self, input: &str) -> Result<Next, Stop> {
        self.turns.sent();
        if let Some(pipe) = &mut self.input {
            // A job that does not read any more has ended, which is noticed below.
            let _ = pipe.write_all(input.as_bytes()).and_then(|()| pipe.write_all(b"\n")).and_then(|()| pipe.flush());
        }
        Ok(self.answered())
    }
}
