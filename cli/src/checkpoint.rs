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
//! what ranks hold in parts, `whole` all that a machine holds; this file is what of a run is beside that, and
//! [`sessions`] what of a session. [`told`] is for whoever starts ranks again that have died. Where a run is to pause
//! is the machine's ([`nesl_backend::Pause`]).

mod columns;
pub mod generations;
pub mod request;
pub mod sessions;
pub mod told;
mod whole;

use crate::limit::TimeLimit;
use crate::options::RunOptions;
use crate::output::remark;
use crate::stop::Stop;
use crate::style::Style;
use generations::{Generation, Manifest, NOT_READ, NOT_SAVED, OTHER_PROGRAM, PROGRAM, SESSION};
use nesl_backend::{Engine, Machine, Paused};
use nesl_prim::host::HostState;
use nesl_prim::visible;
use nesl_span::SourceMap;
use nesl_vcode::{Program, pipeline};
use request::Requests;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};
use told::Told;
use whole::SavedMachine;

/// The exit code of a run that a signal has ended, and that can go on: EX_TEMPFAIL of sysexits.
pub const SAVED: u8 = 75;

/// Stands for a save where there is none: the run begins again.
pub const FROM_THE_BEGINNING: &str = "-";

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

    /// The run that goes on, one that has lost ranks `again` with a save of its own; none if there is none, and a
    /// program to begin with.
    ///
    /// # Errors
    /// If there is none to go on with, or something stands where the run would be saved.
    pub fn read(
        &self,
        (has_program, again): (bool, Option<&Path>),
        style: Style,
    ) -> Result<Option<(Saved, Compiled)>, Stop> {
        match again {
            Some(path) if path == Path::new(FROM_THE_BEGINNING) => return Ok(None),
            Some(path) => {
                let found = Generation::find(path).map_err(|error| unreadable(path, &error.to_string(), style))?;
                let generation = found.ok_or_else(|| unreadable(path, "it is there no more", style))?;
                return Saved::read(&generation, style).map(Some);
            }
            None => {}
        }
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

    /// The folder in which the run is saved, and the save that it goes on with, if there is one.
    pub fn places(&self) -> (PathBuf, Option<Generation>) {
        let base = self.resume.as_ref().and_then(|from| Generation::find(from).ok().flatten());
        let own = self.checkpoint.as_ref().map(|saves| saves.folder.clone());
        let resumed = || base.as_ref().map(|base| base.folder().to_owned()).or_else(|| self.resume.clone());
        (own.or_else(resumed).unwrap_or_default(), base)
    }

    /// Where to save, and how often.
    fn saves(&self, saved: Option<&Saved>) -> Saves {
        let every = saved.map_or(EVERY, |saved| saved.run.every);
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

/// What is saved of a run beside its program and what its machine holds.
#[derive(Debug, Serialize, Deserialize)]
struct RunState {
    position: RunPosition,
    arguments: Vec<Vec<u8>>,
    command: String,
    every: Duration,
    /// The checksum of the program as the machine runs it.
    lines: u32,
}

/// A program, and its sources.
pub type Compiled = (Program, SourceMap);

/// A run that was saved.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    run: RunState,
    held: SavedMachine,
    manifest: Manifest,
    /// Where it was saved.
    folder: PathBuf,
}

impl Saved {
    fn read(generation: &Generation, style: Style) -> Result<(Saved, Compiled), Stop> {
        let before = generation.before();
        let damaged = |what: String| damaged(generation.path(), &what, before.as_deref(), style);
        let manifest = generation.manifest().map_err(damaged)?;
        if generation.path().join(SESSION).exists() {
            return Err(damaged("a session was saved there, which :restore goes on with".to_owned()));
        }
        let program = generation.read(PROGRAM, manifest.program).map_err(damaged)?;
        let (program, sources) = nesl_vcode::from_bytes(&program).map_err(|error| damaged(error.to_string()))?;
        let state = generation.read("state", manifest.state).map_err(damaged)?;
        let state = postcard::from_bytes(&state).map_err(|error| damaged(format!("state: {error}")));
        let (run, held): (RunState, SavedMachine) = state?;
        if run.lines != lines_of(&program) {
            return Err(damaged("another version of nesl has saved it".to_owned()));
        }
        manifest.columns.iter().try_for_each(|column| generation.has(column)).map_err(damaged)?;
        let saved = Saved { run, held, manifest, folder: generation.folder().to_owned() };
        Ok((saved, (program, sources)))
    }

    /// The words of the command line that `main` got.
    pub fn arguments(&self) -> Vec<std::ffi::OsString> {
        self.run.arguments.iter().map(|bytes| words::from_bytes(bytes)).collect()
    }

    /// How the user started the program.
    pub fn command(&self) -> &str {
        &self.run.command
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
    let partitioned = pipeline::partitioned(program, &pipeline::Options::default())
        .map(|program| program.to_string())
        .unwrap_or_default();
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
    /// That of the first that this process makes.
    first: u64,
    /// What whoever has started the ranks knows words by that are for them.
    watched: Option<String>,
}

impl Saving {
    /// For a program that begins, or goes on. All ranks call this together, after rank 0 has read what goes on.
    pub fn new(
        options: &SavingOptions,
        saved: Option<Saved>,
        (program, sources): (&Program, &SourceMap),
        (arguments, command): (&[std::ffi::OsString], &str),
        (requests, run): (Requests, &RunOptions),
    ) -> Saving {
        let saves = options.saves(saved.as_ref());
        requests.begin(saves.every);
        let first = saved.as_ref().map_or(0, |saved| saved.manifest.generation) + 1;
        Saving {
            requests,
            style: run.style(),
            watched: run.watched.clone(),
            program: nesl_vcode::to_bytes(program, sources),
            lines: lines_of(program),
            arguments: arguments.iter().map(|word| words::to_bytes(word)).collect(),
            command: command.to_owned(),
            next: first,
            first,
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
        self.saved.as_ref().map(|saved| &saved.run.position)
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
        let Some(Saved { held, manifest, folder, .. }) = self.saved.take() else { return Ok(None) };
        let generation = Generation::new(&folder, manifest.generation);
        let before = generation.before();
        let paused = whole::restore(machine, program, (&generation, &manifest.columns), held)
            .map_err(|problem| damaged(generation.path(), &problem, before.as_deref(), self.style))?;
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
        let heard = if is_first && !is_last { self.is_heard() } else { Ok(()) };
        let heard = machine.engine.agree(heard);
        let host = match heard.and_then(|()| machine.host_state()) {
            Ok(host) => host,
            Err(reason) => {
                if self.requests.later() && is_first {
                    remark(&self.style.note(&format!("the run is saved later: {reason}")));
                }
                return Ok(());
            }
        };
        if is_first {
            Told::Saves(self.next).say(self.watched.as_deref());
        }
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

    /// Whether the save before, if it is one of this process, is known to whoever has started the ranks.
    fn is_heard(&self) -> Result<(), String> {
        let is_heard = self.watched.is_none()
            || self.next == self.first
            || told::seen(&self.saves.folder).is_some_and(|seen| seen + 1 >= self.next);
        if is_heard { Ok(()) } else { Err("what it has printed has not been read yet".to_owned()) }
    }

    /// Writes everything, and gives it its name; how many bytes. The same outcome on all ranks.
    fn write<E: Engine>(
        &mut self,
        machine: &mut Machine<E>,
        paused: &Paused<E>,
        (position, host): (RunPosition, HostState),
    ) -> Result<u64, String> {
        let generation = Generation::new(&self.saves.folder, self.next);
        let run = RunState {
            position,
            arguments: self.arguments.clone(),
            command: self.command.clone(),
            every: self.saves.every,
            lines: self.lines,
        };
        let written =
            whole::write(machine, (Some(paused), host), &generation, (PROGRAM, &self.program), &run, &|| false);
        self.next += u64::from(written.is_ok());
        written
    }

    /// Forgets what was saved: the run has ended well. Whoever has started the ranks does so when all have.
    pub fn remove(&self, is_first: bool) {
        if is_first && self.watched.is_none() {
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
