//! Runs many programs on MPI ranks, one after the other in one job.
//!
//! The binary `rank_suite` reads a file of tasks and writes to a file of events: that it starts a task, and with which
//! outcome it ended. A crash or a hang ends the job; it belongs to the task that was started last, and a new job goes
//! on with the next one.

use crate::launcher;
use crate::outcome::{End, Outcome};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Without progress for this time the job is ended.
const PATIENCE: Duration = Duration::from_secs(180);

/// A program to run on ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Its text.
    pub text: String,
    /// The arguments of `main`.
    pub arguments: Option<Vec<String>>,
}

/// A line of the file of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The task with this number begins.
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

/// Jobs run one at a time: each takes all cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The outcome of each task.
///
/// # Panics
/// If files cannot be written.
pub fn run(job: &Job<'_>, tasks: &[Task]) -> Vec<Outcome> {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let list = folder.path().join("tasks");
    write_lines(&list, tasks);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; tasks.len()];
    let mut first = 0;
    while first < tasks.len() {
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
                    first = tasks.len();
                }
                Some(next) => first = next,
                None => first = tasks.len(),
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
