//! A run beside the run: instances that a worker takes, or this rank alone.

use crate::engine::Engine;
use crate::machine::evaluator::Evaluator;
use crate::machine::loaded::Loaded;
use crate::machine::profile::Profile;
use crate::machine::run::{Run, Settings, attempts::Attempts, bounded::Loops, serial, shared::Shared};

/// What a run beside the run did.
pub(in crate::machine) struct Did<R> {
    pub outcome: R,
    pub instructions: u64,
    pub steps: u64,
    pub profile: Option<Profile>,
}

/// Runs something on an engine. It has no business with the world outside. It is inside of the `attempts` of whoever
/// waits for it.
pub(in crate::machine) fn run<E: Engine, R>(
    program: &Loaded,
    settings: Settings<'_>,
    engine: &mut E,
    (mut profile, attempts): (Option<Profile>, Attempts),
    task: impl FnOnce(&mut Run<'_, E>) -> R,
) -> Did<R> {
    let (mut printed, mut turn) = (false, 0);
    let mut run = Run {
        program,
        local: program,
        engine,
        host: None,
        printed: &mut printed,
        settings: Settings { within: true, interrupt: settings.cut, pause: None, ..settings },
        turn: &mut turn,
        evaluator: Evaluator::new(program, settings.limits, settings.native, settings.cut),
        instructions: 0,
        steps: 0,
        account: serial::Account::default(),
        attempts,
        loops: Loops::default(),
        shared: Shared::default(),
        bound: None,
        profile: profile.as_mut(),
        unlooked: 0,
    };
    run.begin_profile();
    let outcome = task(&mut run);
    run.end_profile();
    let (instructions, steps) = (run.all_instructions(), run.all_steps());
    Did { outcome, instructions, steps, profile }
}
