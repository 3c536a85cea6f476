//! `--checkpoint` and `--resume`: runs that are saved while they run, and go on elsewhere.
//!
//! ```text
//! FOLDER/3/manifest     version, lengths and checksums of the other files, and a checksum of its own
//! FOLDER/3/program      the program, as `nesl build` keeps it
//! FOLDER/3/state        frames, globals, seed, positions of files; columns of a few elements
//! FOLDER/3/column-7     the elements of one column, little-endian; each rank writes its part
//! FOLDER/.4.part/       a save that has not been finished, or never will be
//! ```
//! A save is a folder that gets its name when everything in it has reached the disk: it is complete, or not there. The
//! one before it stays. [`request`] says when to save, [`generations`] knows the folders, [`columns`] writes and reads
//! what ranks hold in parts; this file is the save as a whole. Where a run is to pause is the machine's
//! ([`nesl_backend::Pause`]).

mod columns;
pub mod generations;
pub mod request;

use crate::limit::TimeLimit;
use crate::output::remark;
use crate::stop::Stop;
use crate::style::Style;
use columns::Written;
use generations::{Generation, Manifest, NOT_READ, NOT_SAVED, OTHER_PROGRAM, Sum};
use nesl_backend::{Engine, Machine, MachineState, Paused};
use nesl_prim::host::HostState;
use nesl_prim::{Constants, visible};
use nesl_span::SourceMap;
use nesl_vcode::{Program, pipeline};
use request::Requests;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// The exit code of a run that a signal has ended, and that can go on: EX_TEMPFAIL of sysexits.
pub const SAVED: u8 = 75;

/// How often a run is saved if nobody says.
const EVERY: Duration = Duration::from_secs(600);

/// Where a run is saved, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saves {
    folder: PathBuf,
    every: Duration,
}

impl FromStr for Saves {
    type Err = String;

    /// Reads `FOLDER` and `FOLDER,every=10m`.
    fn from_str(text: &str) -> Result<Saves, String> {
        let (folder, every) = match text.rsplit_once(",every=") {
            Some((folder, time)) => (folder, time.parse::<TimeLimit>()?.length()),
            None => (text, EVERY),
        };
        match folder {
            "" => Err("the folder has no name".to_owned()),
            _ => Ok(Saves { folder: folder.into(), every }),
        }
    }
}

/// Options of runs that are saved.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct SavingOptions {
    /// Save the run in this folder now and then [default: every=10m], and on SIGTERM and SIGUSR1, which end it with
    /// exit code 75
    #[arg(long, value_name = "FOLDER[,every=TIME]")]
    checkpoint: Option<Saves>,
    /// Go on with the run that was saved in this folder, or in a numbered folder there. Needs no FILE; with one, the
    /// run begins if nothing was saved
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
}

impl SavingOptions {
    /// Whether the run is saved.
    pub fn is_saved(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// Whether it is one that was saved before.
    pub fn is_resumed(&self) -> bool {
        self.resume.is_some()
    }

    /// The run that goes on; none if there is none, and a program to begin with.
    ///
    /// # Errors
    /// If there is none to go on with, or something stands where the run would be saved.
    pub fn read(&self, has_program: bool, style: Style) -> Result<Option<(Saved, Compiled)>, Stop> {
        if let Some(from) = &self.resume {
            let found = Generation::find(from).map_err(|error| unreadable(from, &error.to_string(), style))?;
            return match found {
                Some(generation) => Saved::read(&generation, style).map(Some),
                None if has_program => Ok(None),
                None => Err(unreadable(from, "nothing was saved there", style)),
            };
        }
        match &self.checkpoint {
            Some(Saves { folder, .. }) => match Generation::find(folder) {
                Ok(Some(_)) => Err(Stop::usage(format!(
                    "error: a run was saved in {folder}; go on with it: nesl run --resume {folder}, or take another folder",
                    folder = folder.display()
                ))),
                // Hours of work later it would be too late to hear that there is no such place.
                Ok(None) | Err(_) => match fs::create_dir_all(folder) {
                    Ok(()) => Ok(None),
                    Err(error) => Err(no_place(folder, &error, style)),
                },
            },
            None => Ok(None),
        }
    }

    /// Where to save, and how often.
    fn saves(&self, saved: Option<&Saved>) -> Saves {
        let every = saved.map_or(EVERY, |saved| saved.state.every);
        match (&self.checkpoint, saved, &self.resume) {
            (Some(saves), ..) => saves.clone(),
            (None, Some(saved), _) => Saves { folder: saved.folder.clone(), every },
            (None, None, resume) => Saves { folder: resume.clone().unwrap_or_default(), every },
        }
    }
}

/// Where a run is among the steps of its program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunPosition {
    /// Which of the entries of `main` runs; none for the top-level forms.
    pub main: Option<u32>,
    /// The step that runs.
    pub step: u32,
    /// The steps so far that drew random numbers, this one included.
    pub draws: u32,
    /// What their numbers come from.
    pub seed: i64,
}

/// What is saved of a run beside its program and the elements of long columns.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    position: RunPosition,
    arguments: Vec<Vec<u8>>,
    command: String,
    every: Duration,
    host: HostState,
    machine: MachineState,
    columns: u32,
    /// The columns of few elements, by their numbers.
    short: Vec<(u32, Constants)>,
    /// The checksum of the program as the machine runs it.
    lines: u32,
}

/// A program, and its sources.
pub type Compiled = (Program, SourceMap);

/// A run that was saved.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    state: State,
    manifest: Manifest,
    /// Where it was saved.
    folder: PathBuf,
}

impl Saved {
    fn read(generation: &Generation, style: Style) -> Result<(Saved, Compiled), Stop> {
        let before = generation.before();
        let damaged = |what: String| damaged(generation.path(), &what, before.as_deref(), style);
        let manifest = generation.manifest().map_err(damaged)?;
        let program = generation.read("program", manifest.program).map_err(damaged)?;
        let (program, sources) = nesl_vcode::from_bytes(&program).map_err(|error| damaged(error.to_string()))?;
        let state = generation.read("state", manifest.state).map_err(damaged)?;
        let state: State = postcard::from_bytes(&state).map_err(|error| damaged(format!("state: {error}")))?;
        if state.lines != lines_of(&program) {
            return Err(damaged("another version of nesl has saved it".to_owned()));
        }
        manifest.columns.iter().try_for_each(|column| generation.has(column)).map_err(damaged)?;
        let saved = Saved { state, manifest, folder: generation.folder().to_owned() };
        Ok((saved, (program, sources)))
    }

    /// The words of the command line that `main` got.
    pub fn arguments(&self) -> Vec<std::ffi::OsString> {
        self.state.arguments.iter().map(|bytes| words::from_bytes(bytes)).collect()
    }

    /// How the user started the program.
    pub fn command(&self) -> &str {
        &self.state.command
    }

    /// Refuses to go on where the user names another program.
    ///
    /// # Errors
    /// If it is one.
    pub fn check_program(&self, (own, named): (&Program, &Program), style: Style) -> Result<(), Stop> {
        if named.to_string() == own.to_string() {
            return Ok(());
        }
        let message = format!("what was saved in {} is the run of another program", self.folder.display());
        Err(style.failed_with(
            OTHER_PROGRAM,
            &message,
            "without a FILE, --resume goes on with the program that was saved",
        ))
    }
}

/// The checksum of a program as machines run it, in one process and on ranks.
fn lines_of(program: &Program) -> u32 {
    let partitioned = pipeline::partitioned(program).map(|program| program.to_string()).unwrap_or_default();
    crc32fast::hash((program.to_string() + &partitioned).as_bytes())
}

fn damaged(path: &Path, what: &str, before: Option<&Path>, style: Style) -> Stop {
    let message = format!("what was saved in {} cannot be used: {what}", path.display());
    let hint = match before {
        Some(before) => format!("the save before it is there still: --resume {}", before.display()),
        None => "there is no save before it".to_owned(),
    };
    style.failed_with(NOT_READ, &visible::message(&message), &visible::message(&hint))
}

fn unreadable(path: &Path, what: &str, style: Style) -> Stop {
    let message = format!("cannot go on with {}: {what}", path.display());
    style.failed_with(NOT_READ, &visible::message(&message), "name the folder that --checkpoint has named")
}

fn no_place(folder: &Path, error: &std::io::Error, style: Style) -> Stop {
    let message = format!("cannot save the run in {}: {error}", folder.display());
    style.failed_with(NOT_SAVED, &visible::message(&message), "nothing has run; name a folder that can be made")
}

/// A run that is saved while it runs.
pub struct Saving {
    saves: Saves,
    requests: Requests,
    style: Style,
    /// What goes on; taken when it does.
    saved: Option<Saved>,
    /// The bytes of the program, on rank 0.
    program: Vec<u8>,
    lines: u32,
    arguments: Vec<Vec<u8>>,
    command: String,
    /// The number of the next save.
    next: u64,
}

impl Saving {
    /// For a program that begins, or goes on. All ranks call this together, after rank 0 has read what goes on.
    pub fn new(
        options: &SavingOptions,
        saved: Option<Saved>,
        (program, sources): (&Program, &SourceMap),
        (arguments, command): (&[std::ffi::OsString], &str),
        (requests, style): (Requests, Style),
    ) -> Saving {
        let saves = options.saves(saved.as_ref());
        requests.begin(saves.every);
        Saving {
            requests,
            style,
            program: nesl_vcode::to_bytes(program, sources),
            lines: lines_of(program),
            arguments: arguments.iter().map(|word| words::to_bytes(word)).collect(),
            command: command.to_owned(),
            next: saved.as_ref().map_or(0, |saved| saved.manifest.generation) + 1,
            saves,
            saved,
        }
    }

    /// Who wants the machine to pause.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Where the run is that goes on; none where it begins.
    pub fn position(&self) -> Option<&RunPosition> {
        self.saved.as_ref().map(|saved| &saved.state.position)
    }

    /// Makes the machine what it was; all ranks together. None where the run begins.
    ///
    /// # Errors
    /// If what was saved is damaged, or cannot be here.
    pub fn restore<E: Engine>(
        &mut self,
        machine: &mut Machine<E>,
        program: &nesl_backend::Loaded,
    ) -> Result<Option<Paused<E>>, Stop> {
        let Some(Saved { state, manifest, folder, .. }) = self.saved.take() else { return Ok(None) };
        let generation = Generation::new(&folder, manifest.generation);
        let before = generation.before();
        let damaged = |what: &str| damaged(generation.path(), what, before.as_deref(), self.style);
        let columns = columns::read(&mut machine.engine, &generation, &manifest.columns, state.short, state.columns);
        let columns = columns.map_err(|problem| damaged(&problem))?;
        let paused = machine.restore(program, state.machine, columns).map_err(|problem| match problem {
            nesl_backend::NotRestored::Unfit => damaged("it does not fit the program"),
            nesl_backend::NotRestored::Fault(fault) => damaged(&fault.failure.to_string()),
        })?;
        machine.restore_host(&state.host).map_err(|problem| damaged(&problem))?;
        self.requests.saved();
        Ok(paused)
    }

    /// Saves a run that has paused; all ranks together. The run goes on then, unless a signal ends it.
    ///
    /// # Errors
    /// The end of the run.
    pub fn save<E: Engine>(
        &mut self,
        machine: &mut Machine<E>,
        paused: &Paused<E>,
        position: RunPosition,
    ) -> Result<(), Stop> {
        let begun = Instant::now();
        let is_last = machine.engine.agree(if self.requests.is_signalled() { Err(()) } else { Ok(()) }).is_err();
        let is_first = machine.engine.rank().0 == 0;
        let host = match machine.host_state() {
            Ok(host) => host,
            Err(reason) => {
                if self.requests.later() && is_first {
                    remark(&format!("note: the run is saved later: {}\n", visible::message(&reason)));
                }
                return Ok(());
            }
        };
        let is_cut = self.requests.is_cut();
        let written = self.write(machine, paused, (position, host));
        let folder = visible::message(&self.saves.folder.display().to_string()).into_owned();
        match (written, is_last) {
            (Ok(bytes), true) => {
                let again = match is_cut {
                    true => "; what had run for more than a second is done again from its beginning",
                    false => "",
                };
                let time = begun.elapsed().as_secs_f64();
                let text = format!(
                    "saved in {folder}: {bytes} bytes in {time:.2} s{again}\ngo on with:  nesl run --resume {folder}"
                );
                Err(Stop::with_code(SAVED, text))
            }
            (Ok(_), false) => {
                self.requests.saved();
                Ok(())
            }
            (Err(problem), is_last) => {
                if is_first {
                    Generation::new(&self.saves.folder, self.next).remove_part();
                }
                let message = format!("cannot save the run in {folder}: {}", visible::message(&problem));
                let hint = match self.next {
                    1 => "nothing was saved before".to_owned(),
                    _ => format!("what was saved before is as it was: nesl run --resume {folder}"),
                };
                let stop = self.style.failed_with(NOT_SAVED, &message, &hint);
                if is_last {
                    return Err(stop);
                }
                if is_first {
                    remark(&format!("{}\n", stop.message()));
                }
                self.requests.saved();
                Ok(())
            }
        }
    }

    /// Writes everything, and gives it its name; how many bytes. The same outcome on all ranks.
    fn write<E: Engine>(
        &mut self,
        machine: &mut Machine<E>,
        paused: &Paused<E>,
        (position, host): (RunPosition, HostState),
    ) -> Result<u64, String> {
        let (state, columns) = machine.state(Some(paused)).map_err(|fault| fault.failure.to_string())?;
        let engine = &mut machine.engine;
        let is_first = engine.rank().0 == 0;
        let generation = Generation::new(&self.saves.folder, self.next);
        let Written { short, files } = columns::write(engine, &generation, &columns)?;
        let state = State {
            position,
            arguments: self.arguments.clone(),
            command: self.command.clone(),
            every: self.saves.every,
            host,
            machine: state,
            columns: columns.len() as u32,
            short,
            lines: self.lines,
        };
        let finish = || {
            let state = postcard::to_stdvec(&state).map_err(|error| error.to_string())?;
            let manifest = Manifest::new(generation.number(), Sum::of(&self.program), Sum::of(&state), files);
            generation.finish(&[("program", &self.program), ("state", &state)], &manifest)?;
            Ok(manifest.bytes())
        };
        let outcome: Result<u64, String> = engine.by_itself(|| if is_first { finish() } else { Ok(0) });
        let bytes = engine.agree(outcome)?;
        self.next += 1;
        if is_first {
            generation.remove_old();
        }
        Ok(bytes)
    }

    /// Forgets what was saved: the run has ended well.
    pub fn remove(&self, is_first: bool) {
        if is_first {
            generations::remove_all(&self.saves.folder);
        }
    }
}

/// Words of the command line as bytes.
mod words {
    use std::ffi::{OsStr, OsString};

    pub fn to_bytes(word: &OsStr) -> Vec<u8> {
        word.as_encoded_bytes().to_vec()
    }

    #[cfg(unix)]
    pub fn from_bytes(bytes: &[u8]) -> OsString {
        std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
    }

    #[cfg(not(unix))]
    pub fn from_bytes(bytes: &[u8]) -> OsString {
        String::from_utf8_lossy(bytes).into_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_may_say_how_often() {
        let saves = |folder: &str, seconds| Ok(Saves { folder: folder.into(), every: Duration::from_secs(seconds) });
        assert_eq!("a".parse(), saves("a", 600));
        assert_eq!("a/b,every=2m".parse(), saves("a/b", 120));
        for wrong in ["", ",every=2m", "a,every=", "a,every=2", "a,every=0s"] {
            assert!(wrong.parse::<Saves>().is_err(), "{wrong}");
        }
    }
}
