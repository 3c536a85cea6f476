//! A session on ranks: rank 0 reads, compiles and talks, and tells the others what all do at once.
//!
//! Names, types and texts are rank 0's alone. The others know programs and their global values, and take the same way
//! through the same programs, so that an error of one is an error of all and needs no word.

use super::show::Manner;
use crate::checkpoint::sessions;
use crate::execute::{seed_of, world};
use crate::launch::{Link, Place};
use crate::options::RunOptions;
use crate::output::MARK;
use crate::progress::Considerate;
use nesl_backend::{Engine, Limits, Loaded, Machine, RuntimeError};
use nesl_vcode::{GlobalId, Input, Program};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

/// What stands before each part of a mark's text: the character that separates units.
pub(crate) const UNIT: char = '\u{1f}';

/// The word that says that an input was wrong.
pub(crate) const WRONG: &str = "wrong";

/// What rank 0 says on standard error, after a mark, to whoever may interrupt it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It evaluates an input, or a form of it.
    Begins,
    /// It shows a value of the input: an interrupt of what ranks compute would come to the next evaluation.
    Shows,
    /// It has answered the input.
    Ends,
    /// All ranks have heard of the last interrupt.
    Heard,
}

impl Turn {
    /// The word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Turn::Begins => "begins",
            Turn::Shows => "shows",
            Turn::Ends => "ends",
            Turn::Heard => "heard",
        }
    }

    pub(super) fn say(self, mark: &str) {
        eprintln!("{MARK}{mark} {}", self.word());
    }
}

/// What rank 0 says of ranks that came later.
#[cfg(feature = "mpi")]
pub(crate) struct Started;

#[cfg(feature = "mpi")]
impl Started {
    /// Says that so many came, behind so many others, if somebody listens.
    pub fn say(options: &RunOptions, before: usize, count: usize) {
        if let Some(mark) = &options.turns {
            eprintln!("{MARK}{mark} started {before} {count}");
        }
    }

    /// Behind how many others how many came, if that is what was said.
    pub fn of(word: &str) -> Option<(usize, usize)> {
        let (before, count) = word.strip_prefix("started ")?.split_once(' ')?;
        Some((before.parse().ok()?, count.parse().ok()?))
    }
}

/// Says that an input has been answered, if somebody listens.
pub(super) fn end_turn(options: &RunOptions) {
    if let Some(mark) = &options.turns {
        Turn::Ends.say(mark);
    }
}

/// Makes this rank stop evaluations at an interrupt, if somebody sends some.
pub fn watch(place: &Place, options: &RunOptions) {
    if let Some(mark) = options.turns.clone() {
        let is_first = place.rank() == 0;
        place.watch(move || {
            if is_first {
                Turn::Heard.say(&mark);
            }
        });
    }
}

/// What all ranks do at once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request<'a> {
    /// Run the steps of a program, after so many others that drew random numbers of a seed. An interrupt since a moment
    /// ends that.
    Run { program: Cow<'a, Program>, seed: i64, draws: usize, since: u64 },
    /// Fetch a global to show it.
    Show { global: GlobalId, manner: Manner<'a> },
    /// Count what was done.
    Count,
    /// Compute on so many threads; 0 for all cores.
    Threads(usize),
    /// Tell rank 0 what they have.
    Rank,
    /// Find files from this folder on.
    Folder(PathBuf),
    /// Save what they hold.
    Save(Cow<'a, sessions::SavePlace>),
    /// Hold what was saved, which these bytes say.
    Restore(Cow<'a, [u8]>),
    /// So many ranks are to work from here on.
    Regroup(usize),
    /// End the session.
    Quit,
}

/// A machine for a session.
pub(super) fn machine<E: Engine>(engine: E, options: &RunOptions) -> Machine<E> {
    let world = world(options, &[], &[], engine.hold());
    let mut machine = Machine::new(engine, Limits::default(), Box::new(Considerate(world)));
    if let Some(flag) = Link::flag() {
        machine.set_interrupt(flag);
    }
    machine.set_strategy(options.strategy.into());
    machine.set_native(options.native.into());
    if options.stats {
        machine.count_steps();
    }
    machine
}

/// Runs the steps of a program; `draws` counts those that draw random numbers.
pub(super) fn run_steps<E: Engine>(
    machine: &mut Machine<E>,
    program: &Loaded,
    seed: i64,
    draws: &mut usize,
) -> Result<(), RuntimeError> {
    program.program().steps.iter().try_for_each(|step| {
        let seed = seed_of(seed, *draws);
        *draws += usize::from(step.inputs.contains(&Input::Seed));
        machine.run_step(program, step, seed, &[]).map(|_| ())
    })
}

/// The same, on all ranks or on none: an interrupt since a moment ends it on all.
pub(super) fn run_together<E: Engine>(
    link: &mut Link,
    since: u64,
    machine: &mut Machine<E>,
    program: &Loaded,
    seed: i64,
    draws: &mut usize,
) -> Option<Result<(), RuntimeError>> {
    let done = link.evaluation(since, || run_steps(machine, program, seed, draws));
    if done.is_none() {
        machine.recover();
    }
    done
}

/// Lets all ranks compute on so many threads each.
pub(super) fn set_threads<E: Engine>(engine: &mut E, threads: usize) -> Result<(), String> {
    let outcome = engine.set_threads(threads).map_err(|error| error.to_string());
    engine.agree(outcome)
}
