//! A session on ranks whose lines come from this process: at a terminal they are edited, remembered and completed here,
//! as in any session; what is typed goes to rank 0, which says when it has answered and which names there are. A
//! session that has begun in one process goes on so when it gets ranks ([`RemoteSession`]).
//!
//! Ctrl-C while an input is evaluated is passed on to the ranks, which stop together ([`super::turns`]).

use super::job::{self, Watch, begin};
use super::marks::Marks;
use super::signals;
use super::terminal::{TerminalSettings, is_in_foreground};
use super::turns::Turns;
use crate::options::RunOptions;
use crate::repl::{END_OF_INPUT, Elsewhere, Next, Partner, UNIT, WRONG, is_quit, terminal};
use crate::stop::Stop;
use nesl_backend::io::standard::StandardOutput;
use nesl_frontend::syntax::Syntax;
use nesl_service::KnownName;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the thread that edits lines may take to notice the end of a job, if it does not wait for a line.
const NOTICE: Duration = Duration::from_millis(300);

/// What happens to a session.
enum Event {
    /// All answers to an input have been written; the number of the next and what it is in, the names that can be used
    /// now, and whether the input was right.
    Answered { number: usize, syntax: Syntax, names: Vec<KnownName>, next: Next },
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
    let (mut session, begun) = RemoteSession::begin(ranks, options, &[])?;
    let edited = match begun {
        Next::Quit => Ok(()),
        _ => terminal::run(&mut session, options.color.enabled_on(&io::stdout())),
    };
    session.end(edited)
}

/// Standard output, without what nobody wants to see any more of an answer.
struct Wanted {
    to: StandardOutput,
    turns: Arc<Turns>,
}

impl Write for Wanted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.turns.drops(bytes.trim_ascii().len()) { Ok(bytes.len()) } else { self.to.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// What rank 0 says when it has answered: the number of the next input, what it is in, and whether the last was right.
fn next_input(said: &str) -> (usize, Syntax, Next) {
    let mut words = said.split_whitespace();
    let number = words.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let is_v = words.next() == Some(Syntax::V.name());
    let next = if words.next() == Some(WRONG) { Next::GoAfterError } else { Next::Go };
    (number, if is_v { Syntax::V } else { Syntax::Nesl }, next)
}

/// A session on ranks, for who has its lines.
struct RemoteSession {
    /// What rank 0 reads.
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    turns: Arc<Turns>,
    number: usize,
    syntax: Syntax,
    names: Vec<KnownName>,
    is_over: bool,
    /// Whether the last input was to end the session.
    is_quit: bool,
    end: End,
}

impl RemoteSession {
    /// Starts one, with more options for the ranks; what came of its beginning.
    ///
    /// # Errors
    /// If no job could begin.
    fn begin(ranks: usize, options: &RunOptions, more: &[&OsStr]) -> Result<(RemoteSession, Next), Stop> {
        signals::note();
        let (mark, turns) = (job::mark(), Arc::<Turns>::default());
        let own = ["--mark", &mark, "--turns", &mark].map(OsStr::new);
        let mut job = begin(ranks, options, &[&own, more].concat(), Stdio::piped)?;
        let input = job.stdin();
        let (sender, events) = channel();
        // Nobody need listen any more: the session ends then.
        let answered = sender.clone();
        let shown = Wanted { to: StandardOutput::default(), turns: Arc::clone(&turns) };
        let output = Marks::new(&mark, shown, move |said: &str| {
            let mut parts = said.split(UNIT);
            let (number, syntax, next) = next_input(parts.next().unwrap_or_default());
            let mut names = Vec::new();
            while let (Some(name), Some(ty)) = (parts.next(), parts.next()) {
                names.push(KnownName::of_type(name, ty));
            }
            _ = answered.send(Event::Answered { number, syntax, names, next });
        });
        let told = sender.clone();
        let heard = Arc::clone(&turns);
        let errors = Marks::new(&mark, io::stderr(), move |word: &str| match word {
            "" => _ = told.send(Event::Told),
            word => heard.hear(word),
        });
        let watch = Watch::new(job, ranks, output, errors).interruptible(Arc::clone(&turns));
        let end = End::default();
        let slot = Arc::clone(&end);
        let terminal = io::stdin().is_terminal().then(TerminalSettings::remember);
        thread::spawn(move || {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.last());
            let _ = sender.send(Event::Ended);
            thread::sleep(NOTICE);
            // Nobody has noticed: a line is being read, which nothing else ends.
            if let Some(result) = take(&slot) {
                if let Some(terminal) = terminal {
                    terminal.restore();
                    eprintln!();
                }
                std::process::exit(crate::conclude(result).into());
            }
        });
        let (number, syntax, names, is_over, is_quit) = (1, Syntax::Nesl, Vec::new(), false, false);
        let mut session = RemoteSession { input, events, turns, number, syntax, names, is_over, is_quit, end };
        let begun = session.answered();
        Ok((session, begun))
    }

    /// Waits until an input has been answered, or the job has ended. Says so where Ctrl-C has ended the answer early.
    fn answered(&mut self) -> Next {
        let next = self.next();
        if self.turns.answered() && next != Next::Quit {
            eprintln!("{}", Stop::interrupted().message());
            return Next::GoAfterError;
        }
        next
    }

    fn next(&mut self) -> Next {
        let (mut answer, mut is_told) = (None, false);
        loop {
            if let (Some(next), true) = (answer, is_told) {
                return next;
            }
            match self.events.recv() {
                Ok(Event::Answered { number, syntax, names, next }) => {
                    (self.number, self.syntax, self.names) = (number, syntax, names);
                    answer = Some(next);
                }
                Ok(Event::Told) => is_told = true,
                Ok(Event::Ended) | Err(_) => {
                    self.is_over = true;
                    return Next::Quit;
                }
            }
        }
    }

    /// Ends the session, and waits for the end of the job.
    ///
    /// # Errors
    /// The end of the job, if it did not go well; that of its lines before that.
    fn end(mut self, edited: Result<(), Stop>) -> Result<(), Stop> {
        self.input = None;
        while !self.is_over {
            self.answered();
        }
        edited.and(take(&self.end).unwrap_or(Ok(())))
    }
}

/// Starts a job of so many ranks that goes on with the session in a folder.
///
/// # Errors
/// Why that is impossible; this process is as it was then.
pub fn going_on(ranks: usize, options: &RunOptions, folder: &Path) -> Result<Box<dyn Elsewhere>, Stop> {
    let begun = RemoteSession::begin(ranks, options, &[OsStr::new("--go-on"), folder.as_os_str()]);
    let session = begun.and_then(|(session, begun)| match begun {
        Next::Quit => session.end(Ok(())).and(Err(Stop::failed("error: the ranks have ended at once"))),
        _ => Ok(session),
    });
    match session {
        Ok(session) => Ok(Box::new(session)),
        Err(stop) => {
            let caught = signals::caught().filter(|&signal| !signals::is_interrupt(signal));
            signals::note_no_more();
            if let Some(signal) = caught {
                // It was for this process, which leaves nothing behind.
                let _ = std::fs::remove_dir_all(folder);
                signals::raise(signal);
            }
            Err(stop)
        }
    }
}

impl Elsewhere for RemoteSession {
    fn has_ended(&self) -> bool {
        self.is_over && !self.is_quit
    }

    fn end(self: Box<Self>) -> Result<(), Stop> {
        RemoteSession::end(*self, Ok(()))
    }
}

impl Partner for RemoteSession {
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
        self.is_quit = is_quit(input);
        if let Some(pipe) = &mut self.input {
            // A job that does not read any more has ended, which is noticed below.
            let _ = write!(pipe, "{input}\n{END_OF_INPUT}\n").and_then(|()| pipe.flush());
        }
        Ok(self.answered())
    }
}
