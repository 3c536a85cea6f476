//! One rank of a job that runs test programs: `rank_suite ORDERS EVENTS FIRST [THRESHOLD]`, started by mpirun.
//!
//! Each rank reads the programs, which are compiled. Rank 0 alone writes events.

use nesl_backend::{Loaded, Native, Strategy, Threads};
use nesl_mpi::Ranks;
use nesl_tests::outcome::Outcome;
use nesl_tests::ranks::{Event, Order, append, read_lines};
use nesl_tests::{engines, session};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, events, first, rest @ ..] = &arguments[..] else {
        eprintln!("usage: rank_suite ORDERS EVENTS FIRST [THRESHOLD]");
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
    let orders: Vec<Order> = read_lines(Path::new(list));
    for (index, order) in orders.iter().enumerate().skip(first) {
        // A communicator for each program: what one leaves behind cannot reach the next.
        let communicator = world.communicator();
        let is_root = communicator.layout().rank == 0;
        let note = |event: Event| {
            if is_root && let Err(error) = append(Path::new(events), &event) {
                panic!("{events}: {error}");
            }
        };
        note(Event::Start(index));
        let outcome = run(communicator, order, threshold, strategy);
        note(Event::End(index, outcome));
    }
    ExitCode::SUCCESS
}

fn run(communicator: nesl_mpi::Communicator, order: &Order, threshold: usize, strategy: Strategy) -> Outcome {
    let bytes = std::fs::read(&order.program).unwrap_or_else(|error| panic!("{}: {error}", order.program.display()));
    let (vcode, sources) = nesl_vcode::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}"));
    let arguments = order.call.as_ref().and_then(|(text, arguments)| {
        let program = session::check(text, Some(arguments)).unwrap_or_else(|end| panic!("{end}"));
        engines::arguments(&program).unwrap_or_else(|end| panic!("{end}"))
    });
    let local = Threads::new(1, None).unwrap_or_else(|error| panic!("{error}"));
    let ranks = Ranks::with_threshold(communicator, local, threshold);
    let loaded = Loaded::new(Arc::new(vcode));
    engines::run_vcode(ranks, (strategy, Native::On), &loaded, &sources, arguments.as_deref())
}
