//! One rank of a job that runs test programs: `rank_suite TASKS EVENTS FIRST [THRESHOLD]`, started by mpirun.
//!
//! Rank 0 compiles each program and sends the VCODE to the others, as the command does. It alone writes events.

use nesl_backend::{Native, Strategy, Threads};
use nesl_mpi::Ranks;
use nesl_tests::engines::Passes;
use nesl_tests::outcome::{End, Outcome};
use nesl_tests::ranks::{Event, Task, append, read_lines};
use nesl_tests::{engines, session};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, events, first, rest @ ..] = &arguments[..] else {
        eprintln!("usage: rank_suite TASKS EVENTS FIRST [THRESHOLD]");
        return ExitCode::from(2);
    };
    let threshold = rest.first().and_then(|text| text.parse().ok()).unwrap_or(nesl_mpi::THRESHOLD);
    let first = first.parse().unwrap_or(0);
    let world = match nesl_mpi::initialise() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // Where hardly any column is common, the strategies are unusual, too; otherwise all is as in the product.
    let strategy = match (rest.is_empty(), world.communicator().layout().ranks % 2) {
        (true, _) => Strategy::Auto,
        (false, 0) => Strategy::Mixed,
        (false, _) => Strategy::Divide,
    };
    let tasks: Vec<Task> = read_lines(Path::new(list));
    for (index, task) in tasks.iter().enumerate().skip(first) {
        // A communicator for each program: what one leaves behind cannot reach the next.
        let mut communicator = world.communicator();
        let layout = communicator.layout();
        let is_root = layout.rank == 0;
        // What flattening makes must give the same before any pass, too: so it runs on even numbers of ranks.
        let is_unoptimised = rest.is_empty() && layout.ranks % 2 == 0;
        let passes = if is_unoptimised { Passes::None } else { Passes::All };
        let note = |event: Event| {
            if is_root && let Err(error) = append(Path::new(events), &event) {
                panic!("{events}: {error}");
            }
        };
        note(Event::Start(index));
        let compiled = if is_root { compile(task, passes) } else { Err(End::Done) };
        let message = serde_json::to_vec(&compiled).unwrap_or_else(|error| panic!("{error}"));
        let message = communicator.broadcast_bytes(0, message);
        let compiled: Result<Vec<u8>, End> = serde_json::from_slice(&message).unwrap_or_else(|error| panic!("{error}"));
        let outcome = match compiled {
            Ok(bytes) => run(communicator, task, &bytes, threshold, strategy),
            Err(end) => Outcome::ended(end),
        };
        note(Event::End(index, outcome));
    }
    ExitCode::SUCCESS
}

/// The bytes of a program's VCODE.
fn compile(task: &Task, passes: Passes) -> Result<Vec<u8>, End> {
    let program = session::check(&task.text, task.arguments.as_deref())?;
    Ok(nesl_vcode::to_bytes(&engines::compile(&program, passes)?, &program.sources))
}

fn run(
    communicator: nesl_mpi::Communicator,
    task: &Task,
    bytes: &[u8],
    threshold: usize,
    strategy: Strategy,
) -> Outcome {
    let (vcode, sources) = nesl_vcode::from_bytes(bytes).unwrap_or_else(|error| panic!("{error}"));
    let arguments = task.arguments.as_ref().and_then(|arguments| {
        let program = session::check(&task.text, Some(arguments)).unwrap_or_else(|end| panic!("{end}"));
        engines::arguments(&program).unwrap_or_else(|end| panic!("{end}"))
    });
    let local = Threads::new(1, None).unwrap_or_else(|error| panic!("{error}"));
    let ranks = Ranks::with_threshold(communicator, local, threshold);
    engines::run_vcode(ranks, (strategy, Native::On), vcode, &sources, arguments.as_deref())
}
