//! Sessions that are saved: `:save NAME` and `:restore NAME`.
//!
//! The layout is that of runs, but for the file `session` in the place of `program`: what rank 0 knows of the session.

use super::generations::{ColumnFile, Generation, NOT_READ, NOT_SAVED, PROGRAM, SESSION};
use super::whole::{self, SavedMachine};
use crate::stop::Stop;
use crate::style::Style;
use nesl_backend::{Engine, Loaded, Machine};
use nesl_prim::visible;
use nesl_vcode::Program;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of a save in a folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavePlace {
    folder: PathBuf,
    number: u64,
}

impl SavePlace {
    fn generation(&self) -> Generation {
        Generation::new(&self.folder, self.number)
    }
}

/// The values of a session that was saved, as all ranks need them.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedValues {
    place: SavePlace,
    files: Vec<ColumnFile>,
    held: SavedMachine,
}

/// Where the next save of a session in a folder goes.
///
/// # Errors
/// If the folder is of something else, or cannot be read.
pub fn next(folder: &Path, style: Style) -> Result<SavePlace, Stop> {
    let last = Generation::find(folder).map_err(|error| not_saved(folder, &error.to_string(), style))?;
    if let Some(last) = &last {
        if last.folder() != folder {
            return Err(not_saved(folder, "this is one save of several; name the folder around it", style));
        }
        if !last.path().join(SESSION).exists() {
            return Err(not_saved(folder, "the run of a program was saved there; take another name", style));
        }
    }
    Ok(SavePlace { folder: folder.to_owned(), number: last.map_or(0, |last| last.number()) + 1 })
}

/// Saves what a machine holds between two inputs, and on rank 0 what that knows, unless somebody wants that to end; all
/// ranks together. How many bytes.
///
/// # Errors
/// Why that was impossible, the same on all ranks. What was saved before is as it was.
pub fn write<E: Engine>(
    machine: &mut Machine<E>,
    place: &SavePlace,
    known: &[u8],
    is_over: &dyn Fn() -> bool,
) -> Result<u64, String> {
    let was_there = place.folder.exists();
    let host = machine.host_state()?;
    let written = whole::write(machine, (None, host), &place.generation(), (SESSION, known), &(), is_over);
    if written.is_err() && !was_there && machine.engine.rank().0 == 0 {
        // Only if nothing else is in it.
        let _ = fs::remove_dir(&place.folder);
    }
    written
}

/// What rank 0 knew of the last session that was saved in a folder, and its values; on rank 0.
///
/// # Errors
/// If there is none, or it is damaged.
pub fn find<T: DeserializeOwned>(folder: &Path, style: Style) -> Result<(T, SavedValues), Stop> {
    let unread = |what: &str| not_read(folder, what, None, style);
    let found = Generation::find(folder).map_err(|error| unread(&error.to_string()))?;
    let generation = found.ok_or_else(|| unread("nothing was saved there"))?;
    let before = generation.before();
    let damaged = |what: String| not_read(generation.path(), &what, before.as_deref(), style);
    let manifest = generation.manifest().map_err(damaged)?;
    if generation.path().join(PROGRAM).exists() {
        return Err(unread("the run of a program was saved there, which nesl run --resume goes on with"));
    }
    let known = generation.read(SESSION, manifest.program).map_err(damaged)?;
    let known = postcard::from_bytes(&known).map_err(|error| damaged(format!("{SESSION}: {error}")))?;
    let state = generation.read("state", manifest.state).map_err(damaged)?;
    let ((), held): ((), SavedMachine) =
        postcard::from_bytes(&state).map_err(|error| damaged(format!("state: {error}")))?;
    manifest.columns.iter().try_for_each(|column| generation.has(column)).map_err(damaged)?;
    let place = SavePlace { folder: generation.folder().to_owned(), number: generation.number() };
    Ok((known, SavedValues { place, files: manifest.columns, held: held.with_input_anew() }))
}

/// Makes a machine hold what was saved; all ranks together.
///
/// # Errors
/// What is wrong with it, the same on all ranks. The machine is as it was then.
pub fn restore<E: Engine>(machine: &mut Machine<E>, saved: SavedValues) -> Result<(), String> {
    let SavedValues { place, files, held } = saved;
    // No step goes on: none of its programs is needed.
    let program = Loaded::new(Arc::new(Program::default()));
    whole::restore(machine, &program, (&place.generation(), &files), held).map(drop)
}

/// Says why a session is not saved.
pub fn not_saved(folder: &Path, what: &str, style: Style) -> Stop {
    let message = format!("cannot save the session in {}: {what}", folder.display());
    let hint = "what was saved before, and the session, are as they were";
    style.failed_with(NOT_SAVED, &visible::message(&message), hint)
}

impl SavedValues {
    /// Where they are.
    pub fn place(&self) -> SavePlace {
        self.place.clone()
    }
}

/// Says why a session cannot be what was saved.
pub fn not_restored(place: &SavePlace, what: &str, style: Style) -> Stop {
    let generation = place.generation();
    not_read(generation.path(), what, generation.before().as_deref(), style)
}

fn not_read(path: &Path, what: &str, before: Option<&Path>, style: Style) -> Stop {
    let message = format!("cannot restore {}: {what}", path.display());
    let hint = match before {
        Some(before) => format!("the save before it is there still: :restore {}", before.display()),
        None => "the session is as it was; :restore takes a name that :save was given".to_owned(),
    };
    style.failed_with(NOT_READ, &visible::message(&message), &visible::message(&hint))
}
