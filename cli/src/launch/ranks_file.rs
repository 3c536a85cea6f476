//! `--ranks-from FILE`: how many ranks somebody wants a run to have, a person or a batch system. The file has a number;
//! it is read once a second, and at once after SIGUSR2. While the ranks are others, the machine is to pause.

use crate::output::remark;
use crate::style::Style;
use nesl_backend::Pause;
use nesl_prim::visible;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the file is read.
const EVERY: Duration = Duration::from_secs(1);

/// How often it is looked for a signal.
const TICK: Duration = Duration::from_millis(20);

/// The most ranks that a run may have.
const MOST: usize = u16::MAX as usize;

/// Longer files have no number.
const LONGEST: u64 = 1 << 10;

/// The file that says how many ranks are wanted.
#[derive(Clone)]
pub struct RanksFile(Arc<Watched>);

struct Watched {
    path: PathBuf,
    pause: Arc<Pause>,
    /// A signal has come.
    look: Arc<AtomicBool>,
    state: Mutex<Wanted>,
    style: Style,
}

#[derive(Default)]
struct Wanted {
    /// What the file says.
    wanted: Option<usize>,
    /// How many ranks there are.
    now: usize,
    /// What was impossible.
    refused: Option<usize>,
    /// What was said last of the file.
    problem: Option<String>,
}

impl RanksFile {
    /// From here on the signal does not end this process.
    pub fn listen(path: &Path, style: Style) -> RanksFile {
        let look = Arc::<AtomicBool>::default();
        signal::note(&look);
        let pause = Arc::new(Pause::new(Arc::default()));
        RanksFile(Arc::new(Watched { path: path.to_owned(), pause, look, state: Mutex::default(), style }))
    }

    /// Who makes the machine pause.
    pub fn pause(&self) -> Arc<Pause> {
        Arc::clone(&self.0.pause)
    }

    /// Reads the file from here on, on rank 0 of so many.
    pub fn begin(&self, ranks: usize) {
        self.is_now(ranks);
        let watched = Arc::clone(&self.0);
        thread::spawn(move || {
            loop {
                watched.read();
                let read = Instant::now();
                while read.elapsed() < EVERY && !watched.look.swap(false, SeqCst) {
                    thread::sleep(TICK);
                }
            }
        });
    }

    /// So many ranks work now.
    pub fn is_now(&self, ranks: usize) {
        let mut state = self.0.lock();
        state.now = ranks;
        self.0.pause.want(state.is_other());
    }

    /// How many are wanted, where those are others.
    pub fn wanted(&self) -> Option<usize> {
        let state = self.0.lock();
        state.wanted.filter(|_| state.is_other())
    }

    /// It is impossible to have so many; the run goes on as it was.
    pub fn refuse(&self, ranks: usize, problem: &str) {
        let mut state = self.0.lock();
        state.refused = Some(ranks);
        self.0.pause.want(false);
        remark(&self.0.style.note(&format!("the run stays on {} ranks: {problem}", state.now)));
    }
}

impl Wanted {
    fn is_other(&self) -> bool {
        self.wanted.is_some_and(|wanted| wanted != self.now && Some(wanted) != self.refused)
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) {
        let said = number_in(&self.path);
        let mut state = self.lock();
        match said {
            // Whoever writes it has emptied it first, and is not done.
            Ok(None) => {}
            Ok(Some(wanted)) => {
                if state.wanted != Some(wanted) {
                    state.refused = None;
                }
                (state.wanted, state.problem) = (Some(wanted), None);
            }
            Err(problem) => {
                if state.problem.as_ref() != Some(&problem) {
                    let path = self.path.display().to_string();
                    let (path, said) = (visible::line(&path), visible::line(&problem));
                    remark(&self.style.note(&format!("{path} does not say how many ranks are wanted: {said}")));
                }
                (state.wanted, state.problem) = (None, Some(problem));
            }
        }
        self.pause.want(state.is_other());
    }
}

/// The number of ranks in a file, if there is anything in it.
fn number_in(path: &Path) -> Result<Option<usize>, String> {
    use std::io::Read as _;
    let failed = |error: std::io::Error| error.to_string();
    if std::fs::metadata(path).map_err(failed)?.is_file() {
        let mut text = String::new();
        std::fs::File::open(path).map_err(failed)?.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
        return if text.is_empty() { Ok(None) } else { number(&text).map(Some) };
    }
    // Who waits for a pipe may wait for ever.
    Err("it is no file".to_owned())
}

fn number(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(ranks) if (1..=MOST).contains(&ranks) => Ok(ranks),
        _ => Err(format!("it has no number from 1 to {MOST}")),
    }
}

#[cfg(unix)]
mod signal {
    use signal_hook::consts::SIGUSR2;
    use signal_hook::flag::register;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub(super) fn note(look: &Arc<AtomicBool>) {
        // The reasons for failure are signals that cannot be caught, which this is not.
        let _ = register(SIGUSR2, Arc::clone(look));
    }
}

/// Where there are no signals.
#[cfg(not(unix))]
mod signal {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub(super) fn note(_: &Arc<AtomicBool>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_number() {
        assert_eq!((number("4\n"), number(" 65535 ")), (Ok(4), Ok(65535)));
        for wrong in ["", "0", "-1", "65536", "4 8", "four", "99999999999999999999"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_run_pauses_while_other_ranks_are_wanted_that_are_possible() {
        let mut state = Wanted { now: 2, ..Wanted::default() };
        assert!(!state.is_other(), "nobody has said anything");
        state.wanted = Some(2);
        assert!(!state.is_other());
        state.wanted = Some(4);
        assert!(state.is_other());
        state.refused = Some(4);
        assert!(!state.is_other());
    }
}
