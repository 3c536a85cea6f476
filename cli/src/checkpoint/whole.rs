//! A save as a whole, as all ranks write it together and read it again: what a machine holds, beside what rank 0 knows.

use super::columns::{self, Written};
use super::generations::{ColumnFile, Generation, Manifest, Sum};
use nesl_backend::{Engine, Loaded, Machine, MachineState, NotRestored, Paused};
use nesl_prim::Constants;
use nesl_prim::host::HostState;
use serde::{Deserialize, Serialize};

/// What is saved of a machine beside the elements of long columns.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedMachine {
    host: HostState,
    machine: MachineState,
    columns: u32,
    /// The columns of few elements, by their numbers.
    short: Vec<(u32, Constants)>,
}

/// Writes what a machine holds, with a file that rank 0 has made, and what it adds to the state; all ranks together.
/// How many bytes that were.
///
/// # Errors
/// Why that was impossible, the same on all ranks. Nothing of it is left then, if that can be.
pub fn write<E: Engine, S: Serialize>(
    machine: &mut Machine<E>,
    (paused, host): (Option<&Paused<E>>, HostState),
    generation: &Generation,
    (name, bytes): (&str, &[u8]),
    more: &S,
    is_over: &dyn Fn() -> bool,
) -> Result<u64, String> {
    let written = write_all(machine, (paused, host), generation, (name, bytes), more, is_over);
    if machine.engine.rank().0 == 0 {
        match written {
            Ok(_) => generation.remove_old(),
            Err(_) => generation.remove_part(),
        }
    }
    written
}

fn write_all<E: Engine, S: Serialize>(
    machine: &mut Machine<E>,
    (paused, host): (Option<&Paused<E>>, HostState),
    generation: &Generation,
    (name, bytes): (&str, &[u8]),
    more: &S,
    is_over: &dyn Fn() -> bool,
) -> Result<u64, String> {
    let taken = machine.state(paused).map_err(|fault| fault.failure.to_string());
    let engine = &mut machine.engine;
    let (machine, columns) = engine.agree(taken)?;
    let is_first = engine.rank().0 == 0;
    let Written { short, files } = columns::write(engine, generation, &columns, is_over)?;
    let held = SavedMachine { host, machine, columns: columns.len() as u32, short };
    let finish = || {
        let state = postcard::to_stdvec(&(more, &held)).map_err(|error| error.to_string())?;
        let manifest = Manifest::new(generation.number(), Sum::of(bytes), Sum::of(&state), files);
        generation.finish(&[(name, bytes), ("state", &state)], &manifest)?;
        Ok(manifest.bytes())
    };
    let outcome: Result<u64, String> = engine.by_itself(|| if is_first { finish() } else { Ok(0) });
    engine.agree(outcome)
}

/// Makes a machine what was saved; all ranks together. The step that goes on, if one had paused.
///
/// # Errors
/// What is wrong with it, the same on all ranks. The machine is as it was then.
pub fn restore<E: Engine>(
    machine: &mut Machine<E>,
    program: &Loaded,
    (generation, files): (&Generation, &[ColumnFile]),
    held: SavedMachine,
) -> Result<Option<Paused<E>>, String> {
    let SavedMachine { host, machine: state, columns, short } = held;
    let columns = columns::read(&mut machine.engine, generation, files, short, columns)?;
    machine.restore_host(&host)?;
    machine.restore(program, state, columns).map_err(|problem| match problem {
        NotRestored::Unfit => "it does not fit the program".to_owned(),
        NotRestored::Fault(fault) => fault.failure.to_string(),
    })
}

impl SavedMachine {
    /// The same for a process that reads its standard input anew.
    #[must_use]
    pub fn with_input_anew(self) -> SavedMachine {
        SavedMachine { host: HostState { read: 0, ..self.host }, ..self }
    }
}
