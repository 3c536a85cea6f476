//! Runs that are saved outlive their ranks: where one dies, the ranks that can be had go on from the last save.
//!
//! ```text
//! job 1:  print… save 1  print… save 2  print…  †
//! job 2:                                printed again, and not shown; print…  save 3 …
//! ```
//! Rank 0 says in the midst of what it prints where saves are ([`Told`]). So this process knows of each save what had
//! arrived from the user's point of view, and of a job that begins again shows only what was not there yet: nothing
//! comes twice. Of a save that it has not heard of it does not know that, and makes no use.

use super::input::RanksInput;
use super::job::{Ended, Watch, begin_with, mark};
use super::marks::Marks;
use super::repeated::Seen;
use super::signals;
use crate::checkpoint::generations::{self, Generation};
use crate::checkpoint::told::{Told, forget_seen, say_seen};
use crate::checkpoint::{FROM_THE_BEGINNING, SavingOptions};
use crate::options::RunOptions;
use crate::output::remark;
use crate::stop::Stop;
use nesl_backend::io::standard::StandardOutput;
use nesl_prim::visible;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a run begins again without a save in between.
const ATTEMPTS: usize = 3;

/// The exit codes of runs that have ended for a reason of their own without saying so: a bug, and that their time is
/// over.
const OWN_ENDS: [u8; 2] = [101, 124];

/// What is known of a run while its ranks come and go.
#[derive(Default)]
struct Known {
    /// How much of what it prints the user has, and the job of now has printed, and those before it up to where it
    /// began.
    seen: Seen,
    /// How much each save has printed.
    saves: BTreeMap<u64, usize>,
    /// Whether the ranks of now have begun.
    has_begun: bool,
    /// The exit code that the run has ended with.
    code: Option<u8>,
    /// Whether that was without an error.
    is_done: bool,
}

/// The same, for several threads.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Known>>);

impl Printed {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what rank 0 says; the number of a save, if it is one.
    fn hear(&self, word: &str) -> Option<u64> {
        let mut known = self.known();
        match Told::of(word)? {
            Told::Begun => known.has_begun = true,
            Told::Saves(number) => {
                let at = known.seen.at();
                known.saves.insert(number, at);
                return Some(number);
            }
            Told::Done => (known.code, known.is_done) = (Some(0), true),
            Told::Ended(code) => known.code = Some(code),
        }
        None
    }

    /// A job begins with this save, or from the beginning of the command.
    fn begin_again(&self, from: Option<u64>) {
        let mut known = self.known();
        let at = from.and_then(|number| known.saves.get(&number).copied()).unwrap_or(0);
        known.seen.again(at);
        known.saves.retain(|&number, _| from.is_some_and(|from| number <= from));
        (known.has_begun, known.code, known.is_done) = (false, None, false);
    }
}

/// Shows what was not shown before.
struct Once<W> {
    to: W,
    printed: Printed,
}

impl<W: Write> Write for Once<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let old = self.printed.known().seen.known_of(text.len());
        // The user may take any time over it: nobody else waits for that.
        self.to.write_all(&text[old..])?;
        self.printed.known().seen.passed(text.len());
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// How ranks were lost.
struct Loss {
    /// What is said of that.
    what: String,
    /// Whether they had been there.
    was_started: bool,
}

/// A run, whatever becomes of its ranks.
struct Survivor<'a> {
    options: &'a RunOptions,
    /// Where it is saved.
    folder: PathBuf,
    /// The save that the command began with.
    base: Option<Generation>,
    printed: Printed,
    /// How many ranks are started.
    ranks: usize,
    /// How often it has begun again since the last save.
    attempts: usize,
    /// The save that it began with last.
    last: Option<u64>,
    /// Whether so many could not be started when that was tried last.
    failed_once: bool,
    /// Whether a signal has asked it to end: then it is saved, by other ranks if need be.
    is_asked: bool,
}

/// Runs this command on so many ranks to its end; where they die, on those that can be had.
///
/// # Errors
/// The end of the run, if it could not begin or did not go well.
pub fn run(ranks: usize, options: &RunOptions, saving: &SavingOptions) -> Result<(), Stop> {
    signals::note();
    signals::note_user();
    let (folder, base) = saving.places();
    let last = base.as_ref().map(Generation::number);
    let printed = Printed::default();
    let (attempts, failed_once, is_asked) = (0, false, false);
    let mut run = Survivor { options, folder, base, printed, ranks, attempts, last, failed_once, is_asked };
    let input = RanksInput::again();
    let mut again = None;
    loop {
        let ended = run.job(&input, again.as_deref())?;
        run.is_asked |= ended.is_asked;
        let Some(loss) = run.loss(&ended) else { return run.conclude(ended) };
        let Some(from) = run.again(&loss) else { return run.give_up(&ended, &loss.what) };
        again = Some(from);
    }
}

impl Survivor<'_> {
    /// Starts ranks, and lasts as long as they do.
    fn job(&self, input: &RanksInput, again: Option<&OsStr>) -> Result<Ended, Stop> {
        let mark = mark();
        let mut own = vec![OsStr::new("--watched"), OsStr::new(&mark)];
        own.extend(again.iter().flat_map(|from| [OsStr::new("--again"), from]));
        let job = begin_with(input, self.ranks, self.options, &own)?;
        let (printed, folder) = (self.printed.clone(), self.folder.clone());
        let once = Once { to: StandardOutput::default(), printed: printed.clone() };
        let output = Marks::new(&mark, once, move |word: &str| {
            if let Some(number) = printed.hear(word) {
                // Where that is impossible there are no more saves until it is not.
                let _ = say_seen(&folder, number);
            }
        });
        let printed = self.printed.clone();
        let watch = Watch::new(job, self.ranks, output, io::stderr());
        watch.saved(move || printed.known().has_begun, self.is_asked).ended()
    }

    /// What has become of the ranks, if they did not end with the run.
    fn loss(&self, ended: &Ended) -> Option<Loss> {
        let known = self.printed.known();
        if ended.is_wanted() || known.code.is_some() {
            return None;
        }
        let was_started = true;
        // What ends by itself before it has begun is not to be tried again; no program kills itself.
        let is_lost = known.has_begun || self.attempts > 0 || ended.is_killed();
        if let Some(what) = ended.death().or_else(|| ended.loss().filter(|_| is_lost)) {
            return Some(Loss { what, was_started });
        }
        match ended.code() {
            0 => None,
            // Machines go without a word of their ranks.
            code if known.has_begun && !OWN_ENDS.contains(&code) => {
                Some(Loss { what: format!("the {} ranks were lost", self.ranks), was_started })
            }
            _ if !known.has_begun && self.attempts > 0 => {
                let number = if self.ranks == 1 { "1 rank".to_owned() } else { format!("{} ranks", self.ranks) };
                Some(Loss { what: format!("{number} cannot be started"), was_started: false })
            }
            _ => None,
        }
    }

    /// The save to go on with, or to begin from, after ranks were lost; none after several times for nothing.
    fn again(&mut self, loss: &Loss) -> Option<OsString> {
        let heard: Vec<u64> = self.printed.known().saves.keys().copied().collect();
        let base = self.base.as_ref().filter(|base| base.folder() == self.folder).map(Generation::number);
        let found = generations::back_to(&self.folder, |number| heard.contains(&number) || base == Some(number));
        let found = found.as_ref().or(self.base.as_ref());
        let from = found.map(Generation::number);
        let is_smaller = !loss.was_started && self.ranks > 1;
        if is_smaller && std::mem::replace(&mut self.failed_once, true) {
            (self.ranks, self.failed_once) = (self.ranks / 2, false);
        } else if !is_smaller {
            self.failed_once = false;
            self.attempts = if from > self.last { 1 } else { self.attempts + 1 };
        }
        if self.attempts > ATTEMPTS {
            return None;
        }
        self.last = from;
        self.printed.begin_again(from);
        match from.filter(|&number| found.is_some_and(|found| found.folder() == self.folder) && number > 0) {
            Some(number) => _ = say_seen(&self.folder, number),
            None => forget_seen(&self.folder),
        }
        let many = if self.ranks == 1 { "1 rank goes".to_owned() } else { format!("{} ranks go", self.ranks) };
        let place = found.map(|found| found.path().display().to_string());
        let how = place.map_or_else(|| " again from the beginning".to_owned(), |place| format!(" on from {place}"));
        remark(&self.options.style().note(&format!("{}: {many}{how}", loss.what)));
        Some(found.map_or_else(|| FROM_THE_BEGINNING.into(), |found| found.path().into()))
    }

    /// The end of a run that has ended by itself, or by whoever has started it.
    fn conclude(&self, ended: Ended) -> Result<(), Stop> {
        let (code, is_done) = {
            let known = self.printed.known();
            (known.code, known.is_done)
        };
        // Ranks that die after the run has ended take nothing with them.
        let result = match code {
            Some(code) if ended.death().is_some() && !ended.is_wanted() => match code {
                0 => Ok(()),
                _ => Err(Stop::with_code(code, "")),
            },
            _ => ended.conclude(),
        };
        match (&result, is_done) {
            (Ok(()), true) => generations::remove_all(&self.folder),
            _ => forget_seen(&self.folder),
        }
        result
    }

    /// The end of a run whose ranks die again and again.
    fn give_up(&self, ended: &Ended, what: &str) -> Result<(), Stop> {
        forget_seen(&self.folder);
        let hint = match generations::back_to(&self.folder, |_| true) {
            Some(_) => {
                let folder = self.folder.display().to_string();
                format!("what was saved goes on with:  nesl run --resume {}", visible::message(&folder))
            }
            None => "nothing was saved; --checkpoint FOLDER,every=TIME saves more often".to_owned(),
        };
        let message = format!("error: {what}, {} times without a save between: the job ends", ATTEMPTS + 1);
        Err(Stop::with_code(ended.code(), format!("{message}\nhint: {hint}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_not_shown_again() {
        let (printed, mut shown) = (Printed::default(), Vec::new());
        let mut print = |text: &str| {
            let mut once = Once { to: &mut shown, printed: printed.clone() };
            text.as_bytes().chunks(3).try_for_each(|piece| once.write_all(piece)).unwrap();
        };
        print("one ");
        assert_eq!(printed.hear("saves 1"), Some(1));
        print("two thr");
        printed.hear("saves 2");
        printed.begin_again(Some(1));
        assert_eq!(printed.known().saves.len(), 1, "save 2 is not there");
        print("two three ");
        printed.begin_again(None);
        print("one two");
        printed.begin_again(None);
        print("one two three four");
        printed.hear("ended 3");
        let ended = || {
            let known = printed.known();
            (known.code, known.is_done)
        };
        assert_eq!(ended(), (Some(3), false));
        assert_eq!((printed.hear("done"), ended()), (None, (Some(0), true)));
        assert_eq!(printed.hear("saves x"), None);
        assert_eq!(String::from_utf8(shown).unwrap(), "one two three four");
    }
}
