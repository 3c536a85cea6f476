//! `nesl watch`: a file run again whenever it, or a file that it imports, is saved, with values beside its lines.

use crate::driver::{self, Disk, ProgramText};
use crate::interrupt::Interrupt;
use crate::launch::{Job, Place};
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::output::{print, remark};
use crate::repl::FormRow;
use crate::repl::session::Repl;
use crate::screen::Screen;
use crate::stop::Stop;
use clap::Args;
use nesl_backend::Engine;
use nesl_frontend::{Opened, Reader};
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

#[derive(Args, Debug)]
#[command(after_help = "Shows each form of the file with its value, and does so again when the file or one that\n\
                  it imports has been saved, also in the middle of a run. Ctrl-C ends it.\n\n\
                  Example: nesl watch examples/quicksort/quicksort.nesl")]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// How often it is looked whether files have changed.
const EVERY: Duration = Duration::from_millis(100);

/// What clears a terminal.
const CLEAR: &str = "\u{1b}[2J\u{1b}[3J\u{1b}[H";

/// What is known of a file without reading it; nothing where there is none.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The files that a run has read, or looked for, as they were before.
#[derive(Default)]
struct Watched(Mutex<Vec<(PathBuf, Stamp)>>);

impl Watched {
    fn add(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), stamp(path)));
    }

    /// Whether one has changed. Where there was a file and is none, somebody is about to put a new one there.
    fn has_changed(&self) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|(path, before)| {
            let now = stamp(path);
            now != *before && now.is_some()
        })
    }
}

/// The files on disk, each of which is watched from then on.
struct Watching<'a>(&'a Watched);

impl Reader for Watching<'_> {
    fn open(&mut self, importer: &str, path: &str) -> Result<Opened, String> {
        self.0.add(&driver::imported(importer, path));
        Disk.open(importer, path)
    }
}

/// Runs the file again and again.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if options.ranks.is_some() || matches!(options.engine, Some(EngineName::Mpi | EngineName::Oracle)) {
        return Err(Stop::usage("error: `nesl watch` keeps to the engines of one process: threads and reference"));
    }
    let text = ProgramText::of(&arguments.file);
    if text == ProgramText::StandardInput || text.is_stack_format() {
        return Err(Stop::usage("error: `nesl watch` takes a file with a program of NESL"));
    }
    // What is no file at the beginning never was one.
    text.read(options.style())?;
    let interrupt = Interrupt::install();
    loop {
        let (watched, begun) = (Watched::default(), Instant::now());
        watched.add(&arguments.file);
        if stdout().is_terminal() && !RunOptions::is_terminal_dumb() {
            print(CLEAR)?;
        }
        let (is_over, has_changed) = (AtomicBool::new(false), AtomicBool::new(false));
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(SeqCst) {
                    if watched.has_changed() {
                        has_changed.store(true, SeqCst);
                        interrupt.request();
                    }
                    std::thread::sleep(EVERY);
                }
            });
            let showing = Showing { file: &arguments.file, options, interrupt: &interrupt, watched: &watched };
            let outcome = Place::alone().run(options, showing);
            is_over.store(true, SeqCst);
            outcome
        });
        if !has_changed.load(SeqCst) {
            match outcome {
                Err(stop) if stop.is_interruption() => return Err(stop),
                // Nobody reads what is shown.
                Err(stop) if stop == Stop::quietly() => return Err(stop),
                Err(stop) => remark(&format!("{}\n", stop.message())),
                Ok(()) => {}
            }
            let took = begun.elapsed().as_secs_f64() * 1e3;
            print(&format!("{}: {took:.0} ms; waits for changes, Ctrl-C ends\n", text.name()))?;
            while !watched.has_changed() {
                std::thread::sleep(EVERY);
            }
        }
    }
}

/// One run.
struct Showing<'a> {
    file: &'a Path,
    options: &'a RunOptions,
    interrupt: &'a Interrupt,
    watched: &'a Watched,
}

impl Job for Showing<'_> {
    fn run<E: Engine>(self, engine: E) -> Result<(), Stop> {
        let Showing { file, options, interrupt, watched } = self;
        let text = driver::read_source(file, options.style())?;
        let limit = Limit::new(options.time_limit.clone(), options.style(), Some(interrupt.clone()), 0);
        let _watching = limit.since(Instant::now());
        let mut session = Repl::new(engine, options.clone(), (Some(interrupt.clone()), limit), Place::alone().link());
        let name = file.display().to_string();
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let (columns, _) = Screen::now().size();
        let page = stdout().is_terminal().then_some(columns);
        let width = longest.min(page.unwrap_or(80) / 2);
        let show = |row: FormRow| print(&shown(&row, width, page));
        session.rows((name, driver::key(file).as_deref()), &text, &mut Watching(watched), show)
    }
}

/// The line of a form: as much of it as so many characters, then its value, cut at the end of the page if there is one.
fn shown(FormRow { line, source, value }: &FormRow, width: usize, page: Option<usize>) -> String {
    let source = cut(source, width);
    let text = format!("{line:>4}  {source:<width$}  {value}");
    format!("{}\n", cut(&text, page.unwrap_or(usize::MAX)))
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.to_owned(),
        false => text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_beside_lines_and_fit_the_page() {
        let row = FormRow { line: 12, source: "v = [1, 2];".to_owned(), value: "= [1, 2] : [int]".to_owned() };
        assert_eq!(shown(&row, 14, None), "  12  v = [1, 2];     = [1, 2] : [int]\n");
        assert_eq!(shown(&row, 8, Some(24)), "  12  v = [...  = [1,...\n");
    }
}
