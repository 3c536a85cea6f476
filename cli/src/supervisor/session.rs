//! A session on ranks whose lines come from this process: at a terminal they are edited, remembered and completed here,
//! as in any session; what is typed goes to rank 0, which says when it has answered and which names there are. A
//! session that has begun in one process goes on so when it gets ranks ([`RemoteSession`]).
//!
//! Ranks that die end it, unless it is kept (`kept`).
//!
//! Ctrl-C while an input is evaluated is passed on to the ranks, which stop together ([`super::turns`]).

use super::job::{self, Ended, Watch, begin};
use super::marks::Marks;
use super::repeated::Repeated;
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
type End = Arc<Mutex<Option<Result<Ended, Stop>>>>;

/// The end of a job, if it is such a one.
fn take(end: &End, is_taken: impl Fn(&Result<Ended, Stop>) -> bool) -> Option<Result<Ended, Stop>> {
    end.lock().unwrap_or_else(PoisonError::into_inner).take_if(|end| is_taken(end))
}

/// Whether ranks were lost.
fn is_loss(end: &Result<Ended, Stop>) -> bool {
    end.as_ref().is_ok_and(|ended| !ended.is_wanted() && ended.loss().is_some())
}

/// Runs a session on so many ranks to its end.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
pub fn run(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal() && is_in_foreground()) {
        return job::session(ranks, options);
    }
    let (mut session, begun) = RemoteSession::begin(Beginning { ranks, options, more: &[], repeated: None })?;
    let edited = match begun {
        Next::Quit => Ok(()),
        _ => terminal::run(&mut session, options.color.enabled_on(&io::stdout())),
    };
    session.end(edited)
}

/// Standard output, without what nobody wants to see any more of an answer, or has seen.
struct Wanted {
    to: StandardOutput,
    turns: Arc<Turns>,
    repeated: Arc<Repeated>,
}

impl Write for Wanted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let known = self.repeated.known_of(bytes.len());
        let new = &bytes[known..];
        if !self.turns.drops(new.trim_ascii().len()) {
            self.to.write_all(new)?;
        }
        self.repeated.passed(bytes.len());
        Ok(bytes.len())
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

/// Standard error, without messages that were shown before.
struct New {
    to: io::Stderr,
    repeated: Arc<Repeated>,
}

impl Write for New {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.repeated.is_known() { Ok(bytes.len()) } else { self.to.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// What a session on ranks begins with.
pub(super) struct Beginning<'a> {
    /// How many ranks.
    pub ranks: usize,
    pub options: &'a RunOptions,
    /// More options for the ranks.
    pub more: &'a [&'a OsStr],
    /// What has been shown of its answers, if it is kept: then ranks that die do not end this process.
    pub repeated: Option<Arc<Repeated>>,
}

/// A session on ranks, for who has its lines.
pub(super) struct RemoteSession {
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
    /// Starts one; what came of its beginning.
    ///
    /// # Errors
    /// If no job could begin.
    pub(super) fn begin(beginning: Beginning<'_>) -> Result<(RemoteSession, Next), Stop> {
        let Beginning { ranks, options, more, repeated } = beginning;
        signals::note();
        let (mark, turns) = (job::mark(), Arc::<Turns>::default());
        let mut own = ["--mark", &mark, "--turns", &mark].map(OsStr::new).to_vec();
        let is_typed = io::stdin().is_terminal() && io::stdout().is_terminal();
        own.extend((!is_typed).then_some(OsStr::new("--as-script")));
        let mut job = begin(ranks, options, &[&own, more].concat(), Stdio::piped)?;
        let input = job.stdin();
        let (sender, events) = channel();
        // Nobody need listen any more: the session ends then.
        let answered = sender.clone();
        let (is_kept, repeated) = (repeated.is_some(), repeated.unwrap_or_default());
        let shown =
            Wanted { to: StandardOutput::default(), turns: Arc::clone(&turns), repeated: Arc::clone(&repeated) };
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
        let new = New { to: io::stderr(), repeated };
        let errors = Marks::new(&mark, new, move |word: &str| match word {
            "" => _ = told.send(Event::Told),
            word => heard.hear(word),
        });
        let watch = Watch::new(job, ranks, output, errors).interruptible(Arc::clone(&turns));
        let end = End::default();
        let slot = Arc::clone(&end);
        let terminal = io::stdin().is_terminal().then(TerminalSettings::remember);
        thread::spawn(move || {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.ended());
            let _ = sender.send(Event::Ended);
            thread::sleep(NOTICE);
            // Nobody has noticed: a line is being read, which nothing else ends.
            if let Some(end) = take(&slot, |end| !is_kept || !is_loss(end)) {
                if let Some(terminal) = terminal {
                    terminal.restore();
                    eprintln!();
                }
                std::process::exit(crate::conclude(end.and_then(Ended::conclude)).into());
            }
        });
        let mut session = RemoteSession {
            input,
            events,
            turns,
            number: 1,
            syntax: Syntax::Nesl,
            names: Vec::new(),
            is_over: false,
            is_quit: false,
            end,
        };
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
    fn end(self, edited: Result<(), Stop>) -> Result<(), Stop> {
        edited.and(self.last().map_or(Ok(()), |end| end.and_then(Ended::conclude)))
    }

    /// The same of a session that has been saved: ranks that die from here on take nothing with them.
    ///
    /// # Errors
    /// The end of the job, if that went wrong otherwise.
    pub(super) fn end_saved(self) -> Result<(), Stop> {
        match self.last() {
            Some(end) if !is_loss(&end) => end.and_then(Ended::conclude),
            _ => Ok(()),
        }
    }

    /// Ends the session; the end of the job.
    fn last(mut self) -> Option<Result<Ended, Stop>> {
        self.input = None;
        while !self.is_over {
            self.answered();
        }
        take(&self.end, |_| true)
    }

    /// Whether it is over, and no input wanted that.
    pub(super) fn has_ended(&self) -> bool {
        self.is_over && !self.is_quit
    }

    /// Whether Ctrl-C has come for an input since this was asked last.
    pub(super) fn take_interrupted(&self) -> bool {
        self.turns.take_asked()
    }

    /// What has become of ranks, if that is why the session is over.
    pub(super) fn loss(&self) -> Option<Ended> {
        let is_lost = self.is_over && !self.is_quit;
        if is_lost { take(&self.end, is_loss)?.ok() } else { None }
    }
}

/// Starts a job of so many ranks that goes on with the session in a folder.
///
/// # Errors
/// Why that is impossible; this process is as it was then.
pub fn going_on(ranks: usize, options: &RunOptions, folder: &Path) -> Result<Box<dyn Elsewhere>, Stop> {
    let more = [OsStr::new("--go-on"), folder.as_os_str()];
    let begun = RemoteSession::begin(Beginning { ranks, options, more: &more, repeated: None });
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
        RemoteSession::has_ended(self)
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
