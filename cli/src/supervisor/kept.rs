//! Sessions that are kept in a folder, `nesl repl --ranks N --keep FOLDER`: where ranks die, those that can be had go
//! on from the last save, and evaluate again what was typed since.
//!
//! ```text
//! job 1:  a  b  save 1  c  d†
//! job 2:        save 1  c  d  e …     what c has answered, and d so far, is not shown again
//! ```
//! This process has the lines, so it knows what the session was told, asks for saves between inputs ([`KEEP`]), and
//! knows of each whether it is there. A save is due when evaluating since the last took ten times as long as a save
//! takes: so saves take a tenth of the time, and nothing takes much longer again. A session that ends is saved,
//! too, and goes on in the same folder the next time.

use super::job::Ended;
use super::repeated::Repeated;
use super::session::{Beginning, RemoteSession};
use super::signals;
use crate::checkpoint::generations::{self, Generation};
use crate::checkpoint::{FROM_THE_BEGINNING, sessions};
use crate::options::RunOptions;
use crate::output::remark;
use crate::repl::{Conversation, KEEP, Next, Partner, is_quit, ranks_wanted};
use crate::stop::Stop;
use nesl_frontend::syntax::Syntax;
use nesl_prim::visible;
use nesl_service::KnownName;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often ranks are started again without an answer in between.
const ATTEMPTS: usize = 3;

/// How much longer evaluating takes than the saves of it.
const FACTOR: u32 = 10;

/// What takes less than this is evaluated again rather than saved.
const LEAST: Duration = Duration::from_secs(1);

/// The most text that is kept to be evaluated again, in bytes.
const LONGEST: usize = 1 << 24;

/// A session whose ranks come and go.
struct KeptSession<'a> {
    options: &'a RunOptions,
    /// Where it is kept, and how the user calls that.
    folder: PathBuf,
    name: &'a Path,
    /// How many ranks are started.
    ranks: usize,
    session: Option<RemoteSession>,
    repeated: Arc<Repeated>,
    /// The save that stands for all that was evaluated before `since`.
    last: Option<u64>,
    /// The inputs since then that have been answered.
    since: Vec<String>,
    /// Their length.
    length: usize,
    /// How long evaluating them took.
    took: Duration,
    /// How long the last save took.
    save_took: Duration,
    /// How often ranks were started since the last answer.
    attempts: usize,
    /// Whether so many could not be started when that was tried last.
    failed_once: bool,
    /// Whether Ctrl-C has come before the last input was evaluated, on ranks that took the place of others.
    is_dropped: bool,
}

/// Runs a session on so many ranks to its end, which is kept in a folder; goes on with the one that is there.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
pub fn run(ranks: usize, options: &RunOptions, name: &Path) -> Result<(), Stop> {
    // Ranks may be in another folder later.
    let folder = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
    sessions::next(name, options.style())?;
    let base = Generation::find(&folder).ok().flatten();
    let mut session = KeptSession {
        options,
        folder,
        name,
        ranks,
        session: None,
        repeated: Arc::default(),
        last: base.as_ref().map(Generation::number),
        since: Vec::new(),
        length: 0,
        took: Duration::ZERO,
        save_took: Duration::ZERO,
        attempts: 0,
        failed_once: false,
        is_dropped: false,
    };
    if let Some(base) = &base {
        session.tell(&format!("the session goes on from {}", session.place(base)));
    }
    let begun = session.begin(base.as_ref())?;
    match session.outlived(begun, None)? {
        Next::Quit => session.finish(),
        _ => crate::repl::run(session, options),
    }
}

impl KeptSession<'_> {
    /// How the user calls a save.
    fn place(&self, save: &Generation) -> String {
        self.name.join(save.number().to_string()).display().to_string()
    }

    fn tell(&self, message: &str) {
        remark(&self.options.style().note(&visible::message(message)));
    }

    /// Starts ranks that go on from a save, or begin; what came of that.
    fn begin(&mut self, from: Option<&Generation>) -> Result<Next, Stop> {
        let path = from.map(|from| from.path().as_os_str());
        let mut more: Vec<&OsStr> = path.iter().flat_map(|path| [OsStr::new("--go-on"), path]).collect();
        if self.attempts > 0 {
            // They may be fewer than were asked for.
            more.extend([OsStr::new("--again"), path.unwrap_or(OsStr::new(FROM_THE_BEGINNING))]);
        }
        let repeated = Some(Arc::clone(&self.repeated));
        let beginning = Beginning { ranks: self.ranks, options: self.options, more: &more, repeated };
        let (session, next) = RemoteSession::begin(beginning)?;
        self.session = Some(session);
        Ok(next)
    }

    /// Evaluates an input, on other ranks where these die.
    fn last(&mut self, input: &str) -> Result<Next, Stop> {
        self.repeated.begin();
        let next = self.evaluate_once(input)?;
        self.outlived(next, Some(input))
    }

    /// What came of an input, or of the beginning, if need be on other ranks.
    fn outlived(&mut self, mut next: Next, input: Option<&str>) -> Result<Next, Stop> {
        while let (Next::Quit, Some(ended)) = (next, self.session.as_ref().and_then(RemoteSession::loss)) {
            next = self.again(&ended, input)?;
        }
        if next != Next::Quit {
            (self.attempts, self.failed_once) = (0, false);
        }
        Ok(next)
    }

    fn evaluate_once(&mut self, input: &str) -> Result<Next, Stop> {
        self.session.as_mut().map_or(Ok(Next::Quit), |session| session.evaluate(input))
    }

    /// Goes on with other ranks after the loss of some, and evaluates there what is not saved, and this input.
    fn again(&mut self, loss: &Ended, input: Option<&str>) -> Result<Next, Stop> {
        let what = loss.loss().unwrap_or_default();
        self.attempts += 1;
        if self.attempts > ATTEMPTS {
            return Err(self.give_up(loss, &what));
        }
        let from = generations::back_to(&self.folder, |number| Some(number) == self.last);
        self.tell(&format!("{what}: {}", self.plan(from.as_ref())));
        // What ranks say while they start is new.
        self.repeated.begin_again();
        while self.begin(from.as_ref())? == Next::Quit {
            if let Some(ended) = self.session.as_ref().and_then(RemoteSession::loss) {
                return self.again(&ended, input);
            }
            if signals::caught().is_some() {
                return Ok(Next::Quit);
            }
            if std::mem::replace(&mut self.failed_once, true) {
                if self.ranks == 1 {
                    return Err(self.give_up(loss, &what));
                }
                (self.ranks, self.failed_once) = (self.ranks / 2, false);
                self.tell(&format!("so many ranks cannot be started: {}", self.plan(from.as_ref())));
            }
        }
        let since = std::mem::take(&mut self.since);
        let mut next = Next::Go;
        for (index, text) in since.iter().enumerate() {
            self.repeated.begin_known();
            next = self.evaluate_once(text)?;
            if next == Next::Quit {
                break;
            }
            if self.session.as_ref().is_some_and(RemoteSession::take_interrupted) {
                // That of now is one of them.
                let rest = since.len() - index + 1;
                self.tell(&format!("interrupted: {rest} inputs are not evaluated, and what they define is not there"));
                self.since = since[..index].to_vec();
                self.is_dropped = true;
                return Ok(Next::GoAfterError);
            }
        }
        self.since = since;
        self.repeated.begin_again();
        match input {
            Some(input) if next != Next::Quit => self.evaluate_once(input),
            _ => Ok(next),
        }
    }

    /// What happens next, in words.
    fn plan(&self, from: Option<&Generation>) -> String {
        let many = if self.ranks == 1 { "1 rank goes".to_owned() } else { format!("{} ranks go", self.ranks) };
        let place = from.map(|from| format!(" on from {}", self.place(from)));
        let place = place.unwrap_or_else(|| " on from the beginning".to_owned());
        let inputs = match self.since.len() {
            0 => String::new(),
            1 => ", evaluating 1 input again".to_owned(),
            count => format!(", evaluating {count} inputs again"),
        };
        format!("{many}{place}{inputs}")
    }

    /// The end of a session whose ranks die again and again.
    fn give_up(&self, ended: &Ended, what: &str) -> Stop {
        let hint = match self.last {
            Some(_) => "what was saved goes on with the same command",
            None => "nothing was saved",
        };
        let message = format!("error: {what}, {} times without an answer between: the job ends", self.attempts);
        Stop::with_code(ended.code(), format!("{message}\nhint: {hint}"))
    }

    /// Notes an input that was answered.
    fn note(&mut self, input: &str, next: Next, took: Duration) {
        let is_about_ranks = ranks_wanted(input);
        if let Some(ranks) = is_about_ranks.and_then(|ranks| ranks.parse().ok()) {
            // Others begin with as many.
            self.ranks = if next == Next::Go { ranks } else { self.ranks };
            return;
        }
        self.since.push(input.to_owned());
        self.length += input.len();
        self.took += took;
    }

    fn is_due(&self) -> bool {
        self.took >= LEAST.max(self.save_took * FACTOR) || self.length > LONGEST
    }

    /// Saves the session; says why, if that is impossible.
    fn save(&mut self) -> Result<Next, Stop> {
        let begun = Instant::now();
        let next = self.last(&format!("{KEEP}{}", self.folder.display()))?;
        if std::mem::take(&mut self.is_dropped) {
            return Ok(next);
        }
        self.save_took = begun.elapsed();
        self.took = Duration::ZERO;
        if next == Next::Go
            && let Ok(Some(found)) = Generation::find(&self.folder)
        {
            self.last = Some(found.number());
            self.since.clear();
            self.length = 0;
        }
        Ok(next)
    }
}

impl Partner for KeptSession<'_> {
    fn number(&self) -> usize {
        self.session.as_ref().map_or(1, Partner::number)
    }

    fn names(&self) -> Vec<KnownName> {
        self.session.as_ref().map(Partner::names).unwrap_or_default()
    }

    fn syntax(&self) -> Syntax {
        self.session.as_ref().map_or(Syntax::Nesl, Partner::syntax)
    }

    fn evaluate(&mut self, input: &str) -> Result<Next, Stop> {
        if is_quit(input) && !self.since.is_empty() && self.save()? == Next::Quit {
            return Ok(Next::Quit);
        }
        let begun = Instant::now();
        let next = self.last(input)?;
        if next == Next::Quit {
            self.since.clear();
            return Ok(next);
        }
        if std::mem::take(&mut self.is_dropped) {
            return Ok(next);
        }
        self.note(input, next, begun.elapsed());
        let was_interrupted = self.session.as_ref().is_some_and(RemoteSession::take_interrupted);
        // What was done of an input that was interrupted cannot be done again.
        if (was_interrupted || self.is_due()) && self.save()? == Next::Quit {
            return Ok(Next::Quit);
        }
        Ok(next)
    }
}

impl Conversation for KeptSession<'_> {
    /// The ranks have read the settings.
    fn begin_at_terminal(&mut self) -> Result<(), Stop> {
        Ok(())
    }

    /// They have gone on already.
    fn go_on(&mut self, _: &Path, _: bool) -> Result<(), Stop> {
        Ok(())
    }

    fn is_marked(&self) -> bool {
        false
    }

    fn mark(&self, _: Next) -> Result<(), Stop> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.session.as_ref().is_some_and(RemoteSession::has_ended)
    }

    fn finish(&mut self) -> Result<(), Stop> {
        if !self.since.is_empty() {
            self.save()?;
        }
        self.session.take().map_or(Ok(()), |session| session.end_saved())
    }
}
