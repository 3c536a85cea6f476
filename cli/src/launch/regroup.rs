//! More ranks, or fewer, while values live: what they are goes to the ranks of afterwards, and only what changes its
//! owner moves.
//!
//! All ranks that work say at the same place that there are to be so many ([`Place::regroup`]). Those that come then,
//! new or parked before, are told what all the others know, and get their parts of the columns
//! ([`Place::arrive`]). What ranks hold is the same bits after that: it is written down as for a run that is saved
//! ([`nesl_backend::Machine::state`]), but for the columns, which go directly ([`nesl_mpi::carry`]).

use super::values::Values;
use super::{Launched, Place};
use crate::options::RunOptions;
use crate::rank::RankProcess;
use nesl_backend::{Addresses, Carried, Meter, Threads, Vector};
use nesl_mpi::{Carriage, Communicator, Regrouping};
use nesl_prim::{Constants, ScalarType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What ranks are told that come.
#[derive(Serialize, Deserialize)]
struct Told<T, S> {
    before: usize,
    state: S,
    /// Type and length of each column.
    columns: Vec<(ScalarType, u64)>,
    more: T,
}

/// What a change of the number of ranks was.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    ranks: Regrouping,
    values: usize,
    carriage: Carriage,
    /// How long values took to move.
    time: Duration,
}

impl Change {
    /// What is said of it: `4 ranks (2 started in 0.37 s); 6.0 MB of 9 values moved in 0.02 s, 25 % stayed, 3 messages`.
    pub fn text(&self) -> String {
        let Change { ranks: Regrouping { before, after, started, time }, values, carriage, .. } = *self;
        let many = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let how = match (started, after < before) {
            (0, true) => format!("{} parked", before - after),
            (0, false) => format!("{} unparked in {:.2} s", after - before, time.as_secs_f64()),
            (started, _) => format!("{started} started in {:.2} s", time.as_secs_f64()),
        };
        let Carriage { moved, stayed, messages } = carriage;
        let share = match moved + stayed {
            0 => String::new(),
            all => format!(", {:.0} % stayed", 100.0 * stayed as f64 / all as f64),
        };
        format!(
            "{} ({how}); {} of {} moved in {:.2} s{share}, {}",
            many(after, "rank"),
            bytes(moved),
            many(values, "value"),
            self.time.as_secs_f64(),
            many(messages, "message")
        )
    }
}

/// Bytes as people read them.
fn bytes(count: u64) -> String {
    match count {
        0..1000 => format!("{count} B"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

impl Place {
    /// Why there cannot be so many ranks, if that is so.
    ///
    /// # Errors
    /// Why.
    pub fn check_ranks(&self, wanted: usize) -> Result<(), String> {
        let Some(world) = &self.world else { return Err("this process is no rank".to_owned()) };
        if wanted > world.processes() {
            nesl_mpi::can_start(&command().0)?;
            super::open_files::check_files(wanted).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Whether this process is no rank of any job, not even its only one.
    pub fn is_by_itself(&self) -> bool {
        self.world.is_none()
    }

    /// How many ranks work.
    pub fn working(&self) -> usize {
        self.ranks()
    }

    /// Makes so many ranks work; all that do call it together. `more` is what the others are told besides. The values
    /// of this rank afterwards, and what that took: without memory for what would come all stays as it was.
    pub fn regroup<T: Serialize>(
        &mut self,
        after: usize,
        values: Values,
        (threads, options): (&mut Threads, &RunOptions),
        more: &T,
    ) -> (Values, Result<Change, String>) {
        let Some(world) = &mut self.world else { return (values, Err("there are no ranks".to_owned())) };
        let Values { state, carried } = values;
        let (program, arguments) = command();
        let ranks = world.regroup(after, &program, &arguments);
        let mut communicator = world.communicator();
        if after > ranks.before {
            let columns = carried.iter().map(|column| (column.scalar, column.length as u64)).collect();
            let told = Told { before: ranks.before, state: &state, columns, more };
            let bytes = match communicator.layout().rank {
                0 => postcard::to_stdvec(&told).unwrap_or_default(),
                _ => Vec::new(),
            };
            communicator.broadcast_bytes(0, bytes);
        }
        let (carried, carriage, time) = self.carry(carried, (ranks.before, after), communicator, threads.meter());
        self.regrouped(carriage.as_ref().map_or(ranks.before, |_| after), true, (threads, options));
        let values = Values { state, carried };
        let change = carriage.map(|carriage| Change { ranks, values: values.state.values(), carriage, time });
        (values, change)
    }

    /// What this rank is to do with others that were there: their values, and what else they say; none if there was no
    /// memory for it, and the rank is parked.
    pub fn arrive<T: DeserializeOwned>(&mut self, engine: (&mut Threads, &RunOptions)) -> Option<(Values, T)> {
        let (threads, options) = engine;
        let mut communicator = self.world.as_ref()?.communicator();
        let after = communicator.layout().ranks;
        let told = postcard::from_bytes(&communicator.broadcast_bytes(0, Vec::new()));
        let Told { before, state, columns, more } = match told {
            Ok(told) => told,
            Err(problem) => communicator.abort(&format!("what ranks hold cannot be read: {problem}")),
        };
        let meter = threads.meter().map_or_else(|| Meter::new(None), Arc::clone);
        let column = |(scalar, length): (ScalarType, u64)| {
            let nothing = Constants::from_scalars(scalar, &[]);
            let part = Vector::from_constants(&meter, &nothing);
            part.map(|part| Carried { scalar, length: length as usize, part })
        };
        let carried: Vec<Carried> = match columns.into_iter().map(column).collect() {
            Ok(carried) => carried,
            Err(problem) => communicator.abort(&problem.to_string()),
        };
        let (carried, carriage, _) = self.carry(carried, (before, after), communicator, Some(&meter));
        let is_there = carriage.is_ok();
        self.regrouped(if is_there { after } else { before }, false, (threads, options));
        is_there.then_some((Values { state, carried }, more))
    }

    /// Moves columns, and tells rank 0 what ranks have.
    fn carry(
        &mut self,
        carried: Vec<Carried>,
        (before, after): (usize, usize),
        mut communicator: Communicator,
        meter: Option<&Arc<Meter>>,
    ) -> (Vec<Carried>, Result<Carriage, String>, Duration) {
        let known = postcard::to_stdvec(&RankProcess::here(0)).unwrap_or_default();
        let all = communicator.gather_bytes(0, &known);
        for (rank, bytes) in all.iter().enumerate() {
            if let Ok(known) = postcard::from_bytes(bytes) {
                match self.known.get_mut(rank) {
                    Some(place) => *place = known,
                    None => self.known.push(known),
                }
            }
        }
        let begun = Instant::now();
        let meter = meter.map_or_else(|| Meter::new(None), Arc::clone);
        match nesl_mpi::carry(communicator, &meter, (before, after), nesl_mpi::THRESHOLD, &carried) {
            Ok((arrived, carriage)) => (arrived, Ok(carriage), begun.elapsed()),
            Err(fault) => (carried, Err(fault.failure.to_string()), begun.elapsed()),
        }
    }

    /// So many ranks work from here on, whose threads divide the cores anew.
    fn regrouped(&mut self, ranks: usize, was_there: bool, (threads, options): (&mut Threads, &RunOptions)) {
        let Some(world) = &mut self.world else { return };
        let Some(neighbours) = world.settle(ranks, was_there) else { return };
        let layout = world.communicator().layout();
        self.launched = Some(Launched { rank: layout.rank, ranks: layout.ranks, neighbours });
        // Where the system starts no more threads, those that there are go on.
        let _ = nesl_backend::Scheduler::set_threads(threads, self.threads(options));
    }

    /// Sleeps until this rank, which is parked, is to [`arrive`](Place::arrive); whether that came, before the end of
    /// the job.
    pub fn park(&mut self) -> bool {
        self.world.as_mut().is_some_and(nesl_mpi::World::park)
    }

    /// Behind how many ranks how many others are started where so many are to work, if some are. Whoever names the dead
    /// is to know it before: a rank may die while it comes.
    pub fn starting(&self, wanted: usize) -> Option<(usize, usize)> {
        let processes = self.world.as_ref().map(nesl_mpi::World::processes)?;
        (wanted > processes).then(|| (processes, wanted - processes))
    }

    /// What the ranks have that are parked, on rank 0.
    pub fn parked(&self) -> &[RankProcess] {
        let working = self.world.as_ref().map_or(0, |world| world.communicator().layout().ranks);
        self.known.get(working..).unwrap_or_default()
    }
}

/// The command of this process, for processes that come to it.
fn command() -> (PathBuf, Vec<OsString>) {
    let program = std::env::current_exe().unwrap_or_default();
    (program, std::env::args_os().skip(1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_in_a_line() {
        let ranks = Regrouping { before: 2, after: 4, started: 2, time: Duration::from_millis(370) };
        let carriage = Carriage { moved: 6_000_000, stayed: 2_000_000, messages: 3 };
        let change = Change { ranks, values: 9, carriage, time: Duration::from_millis(20) };
        let said = "4 ranks (2 started in 0.37 s); 6.0 MB of 9 values moved in 0.02 s, 25 % stayed, 3 messages";
        assert_eq!(change.text(), said);
        let ranks = Regrouping { before: 4, after: 1, started: 0, time: Duration::ZERO };
        let carriage = Carriage { moved: 12, ..Carriage::default() };
        let change = Change { ranks, values: 1, carriage: Carriage { messages: 1, ..carriage }, time: Duration::ZERO };
        assert_eq!(change.text(), "1 rank (3 parked); 12 B of 1 value moved in 0.00 s, 0 % stayed, 1 message");
        let change = Change { carriage: Carriage::default(), ..change };
        assert_eq!(change.text(), "1 rank (3 parked); 0 B of 1 value moved in 0.00 s, 0 messages");
    }
}
