//! A machine between two engines: what it is beside its engine and its values.
//!
//! Where the number of ranks changes, values move from one engine to another. The world outside with its open files,
//! what was counted, and how programs run stay with the process.

use crate::data::counters::Counters;
use crate::engine::Engine;
use crate::engine::native::Native;
use crate::machine::profile::{Profile, Whereabouts};
use crate::machine::run::pause::Pause;
use crate::machine::strategy::Strategy;
use crate::machine::{Limits, Machine};
use nesl_prim::Host;
use std::collections::HashMap;
use std::sync::Arc;

/// A machine without an engine.
pub struct Resting {
    limits: Limits,
    host: Box<dyn Host>,
    printed: bool,
    strategy: Strategy,
    native: Native,
    turn: u64,
    counters: Counters,
    profile: Option<Profile>,
    whereabouts: Option<Arc<Whereabouts>>,
    pause: Option<Arc<Pause>>,
}

impl<E: Engine> Machine<E> {
    /// The engine, and what else there is but for values, which are forgotten, and for what interrupts.
    pub fn rest(self) -> (E, Resting) {
        let Machine {
            engine,
            limits,
            host,
            printed,
            strategy,
            native,
            turn,
            mut counters,
            profile,
            whereabouts,
            pause,
            interrupt: _,
            globals: _,
        } = self;
        engine.report(&mut counters);
        (engine, Resting { limits, host, printed, strategy, native, turn, counters, profile, whereabouts, pause })
    }
}

impl Resting {
    /// The machine on another engine, whose ranks all make theirs together.
    pub fn on<E: Engine>(self, mut engine: E) -> Machine<E> {
        let Resting { limits, host, printed, strategy, native, turn, counters, profile, whereabouts, pause } = self;
        engine.set_native(native);
        Machine {
            engine,
            limits,
            interrupt: None,
            host,
            printed,
            strategy,
            native,
            turn,
            globals: HashMap::new(),
            counters,
            profile,
            whereabouts,
            pause,
        }
    }
}
