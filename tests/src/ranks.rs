//! Runs many programs on MPI ranks, one after the other in one job.
//!
//! The binary `rank_suite` reads a file of orders and writes to a file of events: that it starts a task, and with which
//! outcome it ended. Programs are compiled here, once for all jobs that run them. A crash or a hang ends the job; it
//! belongs to the task that was started last, and a new job goes on with the next one.

use crate::engines::{self, Passes};
use crate::launcher;
use crate::outcome::{End, Outcome};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempPath;

/// Without progress for this time the job is ended.
const PATIENCE: Duration = Duration::from_secs(180);

/// A program to run on ranks.
#[derive(Debug)]
pub struct Task {
    text: String,
    arguments: Option<Vec<String>>,
    /// Files with the VCODE before any pass and after all, once a job has asked for it.
    compiled: [OnceLock<Result<TempPath, End>>; 2],
}

impl Task {
    /// A program, perhaps with arguments of `main`.
    pub fn new(text: String, arguments: Option<Vec<String>>) -> Task {
        Task { text, arguments, compiled: Default::default() }
    }

    /// The file with the VCODE.
    fn compiled(&self, is_optimised: bool) -> &Result<TempPath, End> {
        self.compiled[usize::from(is_optimised)].get_or_init(|| {
            let passes = if is_optimised { Passes::All } else { Passes::None };
            let bytes = engines::to_bytes(&self.text, self.arguments.as_deref(), passes)?;
            let file = tempfile::NamedTempFile::new().and_then(|mut file| file.write_all(&bytes).map(|()| file));
            file.map(tempfile::NamedTempFile::into_temp_path).map_err(|error| End::Broken(format!("no file: {error}")))
        })
    }
}

/// A line of the file of orders: what ranks are to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The file with the VCODE.
    pub program: PathBuf,
    /// The text and the arguments of `main`, if there are any.
    pub call: Option<(String, Vec<String>)>,
}

/// A line of the file of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The order with this number begins.
    Start(usize),
    /// It ended.
    End(usize, Outcome),
}

/// How a job is run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The launcher.
    pub launcher: &'a Path,
    /// The binary `rank_suite`.
    pub suite: &'a Path,
    /// The number of ranks.
    pub ranks: usize,
    /// The length up to which columns are common; that of the product where it is none.
    pub threshold: Option<usize>,
}

impl Job<'_> {
    /// Whether passes are run. What flattening makes must give the same before any pass, too: with the product's
    /// threshold it runs so on even numbers of ranks.
    fn is_optimised(&self) -> bool {
        self.threshold.is_some() || self.ranks % 2 == 1
    }
}

/// Jobs run one at a time: each takes all cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The outcome of each task.
///
/// # Panics
/// If files cannot be written.
pub fn run(job: &Job<'_>, tasks: &[&Task]) -> Vec<Outcome> {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let compiled = compile_all(tasks, job.is_optimised());
    let order = |(task, program): (&&Task, &TempPath)| Order {
        program: program.to_path_buf(),
        call: task.arguments.as_ref().map(|arguments| (task.text.clone(), arguments.clone())),
    };
    let good = tasks.iter().zip(&compiled).filter_map(|(task, program)| Some((task, program.as_ref().ok()?)));
    let mut outcomes = run_orders(job, &good.map(order).collect::<Vec<Order>>()).into_iter();
    let outcome = |program: &Result<TempPath, End>| match program {
        Ok(_) => outcomes.next().unwrap_or_else(|| Outcome::ended(End::Broken("no outcome".to_owned()))),
        Err(end) => Outcome::ended(end.clone()),
    };
    compiled.into_iter().map(outcome).collect()
}

/// Compiles tasks, on all cores.
fn compile_all<'a>(tasks: &[&'a Task], is_optimised: bool) -> Vec<&'a Result<TempPath, End>> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            // What came of it is asked for below.
            let _ = task.compiled(is_optimised);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    tasks.iter().map(|task| task.compiled(is_optimised)).collect()
}

/// The outcome of each order.
fn run_orders(job: &Job<'_>, orders: &[Order]) -> Vec<Outcome> {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let list = folder.path().join("orders");
    write_lines(&list, orders);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; orders.len()];
    let mut first = 0;
    while first < orders.len() {
        let events = folder.path().join(format!("events-{first}"));
        let errors = folder.path().join(format!("errors-{first}"));
        let how = run_once(job, &list, &events, &errors, first);
        let mut started = None;
        for event in read_lines(&events) {
            match event {
                Event::Start(index) => started = Some(index),
                Event::End(index, outcome) => {
                    if let Some(slot) = outcomes.get_mut(index) {
                        *slot = Some(outcome);
                    }
                    started = None;
                }
            }
        }
        let complaint = std::fs::read_to_string(&errors).unwrap_or_default();
        let complaint: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).take(12).collect();
        let broken = |index: usize| {
            let what = format!("{how} on {} ranks in task {index}\n    {}", job.ranks, complaint.join("\n    "));
            Outcome::ended(End::Broken(what))
        };
        match started {
            Some(index) => {
                outcomes[index] = Some(broken(index));
                first = index + 1;
            }
            None => match outcomes.iter().position(Option::is_none) {
                // Nothing was even started: it would be the same again.
                Some(next) if next == first => {
                    outcomes[first..].iter_mut().for_each(|outcome| *outcome = Some(broken(first)));
                    first = orders.len();
                }
                Some(next) => first = next,
                None => first = orders.len(),
            },
        }
    }
    outcomes.into_iter().flatten().collect()
}

/// One job from task `first` on, until it ends or hangs; says how it ended.
fn run_once(job: &Job<'_>, list: &Path, events: &Path, errors: &Path, first: usize) -> String {
    let file = std::fs::File::create(errors).unwrap_or_else(|error| panic!("{}: {error}", errors.display()));
    let mut command = launcher::command(job.launcher, job.ranks, job.suite);
    command.args([list, events]).arg(first.to_string());
    command.args(job.threshold.map(|threshold| threshold.to_string()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    match command.spawn() {
        Ok(mut child) => wait(&mut child, events),
        Err(error) => format!("{} did not start: {error}", job.launcher.display()),
    }
}

fn wait(child: &mut Child, events: &Path) -> String {
    let (mut size, mut changed) = (0, Instant::now());
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return format!("the job ended ({status})"),
            Ok(None) => {}
            Err(error) => return format!("the launcher is gone: {error}"),
        }
        let now = std::fs::metadata(events).map_or(0, |file| file.len());
        if now != size {
            (size, changed) = (now, Instant::now());
        }
        if changed.elapsed() > PATIENCE {
            launcher::end(child);
            return format!("nothing happened for {} seconds", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn write_lines<T: Serialize>(path: &Path, items: &[T]) {
    let mut text = Vec::new();
    for item in items {
        serde_json::to_writer(&mut text, item).unwrap_or_else(|error| panic!("{error}"));
        text.push(b'\n');
    }
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The items of a file of lines; a last line that was not finished is left out.
///
/// # Panics
/// If a whole line is no item.
pub fn read_lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .collect()
}

/// Adds an event to a file at once.
///
/// # Errors
/// Those of writing.
pub fn append(path: &Path, event: &Event) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}

/// The binary `rank_suite` of this build, if it was built with the feature `mpi`.
pub fn suite(path: Option<&'static str>) -> Result<PathBuf, String> {
    path.map(PathBuf::from).ok_or_else(|| "nesl-tests was built without the feature `mpi`".to_owned())
}
