//! `:save NAME` and `:restore NAME`: a session with all its names and values, in a folder.
//!
//! Values are written by all ranks together, and read by however many there are then ([`sessions`]). Names, types and
//! functions are the texts that have defined them: checked again, without being run, they give out the same numbers, by
//! which values are found ([`nesl_frontend::PastText`]).

use super::{Repl, file};
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
use std::path::PathBuf;
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
    accepted: Vec<String>,
    loaded: Vec<String>,
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
        let (begun, style) = (Instant::now(), self.options.style());
        let place = match sessions::next(&path, style) {
            Ok(place) => place,
            Err(stop) => return Ok(self.conclude(Err(stop))),
        };
        let known = self.known();
        let count = known.names.len();
        let known = match postcard::to_stdvec(&known) {
            Ok(known) => known,
            Err(error) => return Ok(self.conclude(Err(sessions::not_saved(&path, &error.to_string(), style)))),
        };
        self.together(&Request::Save(Cow::Borrowed(&place)));
        let interrupt = self.interrupt.clone();
        let is_over = || interrupt.as_ref().is_some_and(Interrupt::is_requested);
        match sessions::write(&mut self.machine, &place, &known, &is_over) {
            Ok(bytes) => {
                let (names, time) = (names_text(count), begun.elapsed().as_secs_f64());
                let folder = path.display().to_string();
                let text = format!("saved in {}: {names}, {bytes} bytes in {time:.2} s\n", visible::line(&folder));
                self.answer(&text).map(|()| Next::Go)
            }
            Err(problem) => Ok(self.conclude(Err(sessions::not_saved(&path, &problem, style)))),
        }
    }

    /// Makes this session the one that was saved by a name.
    ///
    /// # Errors
    /// If the session cannot go on.
    pub fn restore(&mut self, argument: &str) -> Result<Next, Stop> {
        let (path, begun, style) = (file(argument), Instant::now(), self.options.style());
        let (known, values) = match sessions::find::<Known>(&path, style) {
            Ok(found) => found,
            Err(stop) => return Ok(self.conclude(Err(stop))),
        };
        let place = values.place();
        let refused = |problem: &str| sessions::not_restored(&place, problem, style);
        let found = again(&mut self.sources, &known).and_then(|session| {
            let bytes = postcard::to_stdvec(&values).map_err(|error| error.to_string())?;
            Ok((session, bytes))
        });
        let (session, bytes) = match found {
            Ok(found) => found,
            Err(problem) => return Ok(self.conclude(Err(refused(&problem)))),
        };
        self.together(&Request::Restore(Cow::Owned(bytes)));
        if let Err(problem) = sessions::restore(&mut self.machine, values) {
            return Ok(self.conclude(Err(refused(&problem))));
        }
        self.session = session;
        self.options.seed = known.seed;
        self.draws = usize::try_from(known.draws).unwrap_or(0);
        self.inputs = usize::try_from(known.inputs).unwrap_or(0);
        self.syntax = if known.is_v { Syntax::V } else { Syntax::Nesl };
        self.accepted = known.accepted;
        self.loaded = known.loaded.into_iter().map(PathBuf::from).collect();
        let (names, time) = (names_text(known.names.len()), begun.elapsed().as_secs_f64());
        let folder = path.display().to_string();
        self.answer(&format!("restored from {}: {names} in {time:.2} s\n", visible::line(&folder))).map(|()| Next::Go)
    }

    fn known(&self) -> Known {
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
