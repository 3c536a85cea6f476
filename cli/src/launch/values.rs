//! The values of a machine on their way from some engine to another: what is written down for a run that is saved, but
//! for the columns, which ranks carry as they are.

use crate::stop::Stop;
use nesl_backend::{Carried, Engine, Loaded, Machine, MachineState, NotRestored, Paused};

/// The values of a machine between two numbers of ranks, and where its run is.
pub struct Values {
    pub(super) state: MachineState,
    pub(super) carried: Vec<Carried>,
}

impl Values {
    /// What a machine holds, and a step that has paused, if one has; all ranks together.
    ///
    /// # Errors
    /// If there is no memory to write it down.
    pub fn of<E: Engine>(machine: &mut Machine<E>, paused: Option<&Paused<E>>) -> Result<Values, Stop> {
        let taken = machine.state(paused).and_then(|(state, columns)| {
            let carried = machine.engine.carried(&columns)?;
            Ok(Values { state, carried })
        });
        let taken = taken.map_err(|fault| fault.failure.to_string());
        machine.engine.agree(taken).map_err(|problem| Stop::failed(format!("error: {problem}")))
    }

    /// Makes a machine of the ranks of afterwards what that was; the step that goes on, if one had paused.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn restore<E: Engine>(self, machine: &mut Machine<E>, program: &Loaded) -> Result<Option<Paused<E>>, Stop> {
        let columns = machine.engine.arrived(self.carried);
        machine.restore(program, self.state, columns).map_err(|problem| match problem {
            NotRestored::Unfit => {
                Stop::failed("error: what ranks hold does not fit their program; this is a bug in nesl")
            }
            NotRestored::Fault(fault) => Stop::failed(format!("error: {}", fault.failure)),
        })
    }
}
