//! `:save NAME` and `:restore NAME`: a session with all its names and values, in a folder.
//!
//! Values are written by all ranks together, and read by however many there are then ([`sessions`]). Names, types and
//! functions are the texts that have defined them: checked again, without being run, they give out the same numbers, by
//! which values are found ([`nesl_frontend::PastText`]). A session that is to go on in other processes goes the same
//! way.

use super::{Accepted, Repl, Settings, file};
use crate::checkpoint::sessions;
use crate::interrupt::Interrupt;
use crate::repl::Next;
use crate::repl::ranks::Request;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::{PastText, Session};
use nesl_prim::visible;
use nesl_service::KnownName;
use nesl_span::SourceMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a session knows beside its values.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    texts: Vec<PastText>,
    /// The names of its own with their types, for those who check the texts again.
    names: Vec<(String, String)>,
    seed: i64,
    draws: u64,
    inputs: u64,
    is_v: bool,
    accepted: Vec<Accepted>,
    loaded: Vec<String>,
    manner: Manner,
}

/// How it shows things, and where it is: what the session of another process goes on with that takes its place.
#[derive(Debug, Serialize, Deserialize)]
struct Manner {
    settings: Settings,
    here: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl<E: Engine> Repl<E> {
    /// Saves the session by a name, or writes its inputs to a new file where that is the name of a source file.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn save(&mut self, argument: &str) -> Result<Next, Stop> {
        let path = file(argument);
        if path.extension().is_some_and(|ending| ending == "nesl") {
            return self.save_inputs(&path);
        }
        let begun = Instant::now();
        match self.keep(&path) {
            Ok((count, bytes)) => {
                let (names, time) = (names_text(count), begun.elapsed().as_secs_f64());
                let folder = path.display().to_string();
                let text = format!("saved in {}: {names}, {bytes} bytes in {time:.2} s\n", visible::line(&folder));
                self.answer(&text).map(|()| Next::Go)
            }
            Err(stop) => Ok(self.conclude(Err(stop))),
        }
    }

    /// Saves the session in a folder: how many names, and how many bytes of values.
    ///
    /// # Errors
    /// Why that is impossible.
    pub(in crate::repl) fn keep(&mut self, path: &Path) -> Result<(usize, u64), Stop> {
        let style = self.options.style();
        let failed = |problem: &str| sessions::not_saved(path, problem, style);
        let place = sessions::next(path, style)?;
        let known = self.known();
        let bytes = postcard::to_stdvec(&known).map_err(|error| failed(&error.to_string()))?;
        self.together(&Request::Save(Cow::Borrowed(&place)));
        let interrupt = self.interrupt.clone();
        let is_over = || interrupt.as_ref().is_some_and(Interrupt::is_requested);
        let written = sessions::write(&mut self.machine, &place, &bytes, &is_over);
        written.map(|bytes| (known.names.len(), bytes)).map_err(|problem| failed(&problem))
    }

    /// Makes this session the one that was saved by a name.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn restore(&mut self, argument: &str) -> Result<Next, Stop> {
        let (path, begun) = (file(argument), Instant::now());
        match self.become_kept(&path) {
            Ok((count, _)) => {
                let (names, time) = (names_text(count), begun.elapsed().as_secs_f64());
                let folder = path.display().to_string();
                let text = format!("restored from {}: {names} in {time:.2} s\n", visible::line(&folder));
                self.answer(&text).map(|()| Next::Go)
            }
            Err(stop) => Ok(self.conclude(Err(stop))),
        }
    }

    /// Makes this session the one that was saved in a folder: how many names it has, and how that showed things.
    fn become_kept(&mut self, path: &Path) -> Result<(usize, Manner), Stop> {
        let style = self.options.style();
        let (known, values) = sessions::find::<Known>(path, style)?;
        let place = values.place();
        let refused = |problem: &str| sessions::not_restored(&place, problem, style);
        let session = again(&mut self.sources, &known).map_err(|problem| refused(&problem))?;
        let bytes = postcard::to_stdvec(&values).map_err(|error| refused(&error.to_string()))?;
        self.together(&Request::Restore(Cow::Owned(bytes)));
        sessions::restore(&mut self.machine, values).map_err(|problem| refused(&problem))?;
        self.session = session;
        self.options.seed = known.seed;
        self.draws = usize::try_from(known.draws).unwrap_or(0);
        self.inputs = usize::try_from(known.inputs).unwrap_or(0);
        self.syntax = if known.is_v { Syntax::V } else { Syntax::Nesl };
        self.accepted = known.accepted;
        self.loaded = known.loaded.into_iter().map(PathBuf::from).collect();
        Ok((known.names.len(), known.manner))
    }

    /// Saves the session in a folder because whoever started the ranks wants that: says nothing but what goes wrong.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub(in crate::repl) fn keep_in(&mut self, folder: &Path) -> Result<Next, Stop> {
        let kept = self.keep(folder).map(drop);
        Ok(self.conclude(kept))
    }

    /// Goes on with a session that another process has left in a folder; whether somebody types its inputs.
    ///
    /// # Errors
    /// Why that is impossible.
    pub(in crate::repl) fn go_on(&mut self, folder: &Path, is_typed: bool) -> Result<(), Stop> {
        let (_, Manner { settings, here, folder }) = self.become_kept(folder)?;
        (self.settings, self.is_numbered, self.folder) = (settings, is_typed, folder);
        if let Some(here) = here {
            // A folder that is no more, or on another machine, is missed where something in it is.
            let _ = std::env::set_current_dir(here);
            self.share_folder();
        }
        Ok(())
    }

    fn known(&self) -> Known {
        let (settings, here, folder) = (self.settings.clone(), std::env::current_dir().ok(), self.folder.clone());
        let names = self.own_names().into_iter().map(|KnownName { name, ty, .. }| (name, ty));
        Known {
            texts: self.session.history().cloned().collect(),
            names: names.collect(),
            seed: self.options.seed,
            draws: self.draws as u64,
            inputs: self.inputs as u64,
            is_v: self.syntax == Syntax::V,
            accepted: self.accepted.clone(),
            loaded: self.loaded.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            manner: Manner { settings, here, folder },
        }
    }
}

/// The names of a session that was saved, made of its texts.
fn again(sources: &mut SourceMap, known: &Known) -> Result<Session, String> {
    let mut session = Session::new(sources);
    let is_right = known.texts.iter().all(|text| session.check_again(sources, text));
    let names = nesl_service::known_names(&session, sources);
    let is_there = |(name, ty): &(String, String)| names.iter().any(|known| known.name == *name && known.ty == *ty);
    match is_right && known.names.iter().all(is_there) {
        true => Ok(session),
        false => Err("another version of nesl has saved it".to_owned()),
    }
}

fn names_text(count: usize) -> String {
    if count == 1 { "1 name".to_owned() } else { format!("{count} names") }
}
