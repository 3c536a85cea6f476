//! How long instructions take on common and on partitioned columns: the measurements behind the engine's thresholds.
//!
//! `NESL_RANKS_MEASURE=1 mpirun -n 2 <this test>`, of a release build. Not a test: times depend on the machine's mood.

use nesl_backend::{Engine, Fill, MapOperand, Pack, Permute, Reference};
use nesl_mpi::{Distributed, Ranks, World};
use nesl_prim::{ScalarOp, ScalarValue};
use std::time::Instant;

/// Lengths to measure at.
const LENGTHS: [usize; 7] = [64, 512, 2048, 4096, 8192, 32_768, 1 << 20];

/// Prints a table.
pub fn run(world: &World) {
    let layout = world.communicator().layout();
    if layout.rank == 0 {
        println!("{} ranks, microseconds per instruction, common / partitioned", layout.ranks);
        println!("{:>9} {:>17} {:>17} {:>17} {:>17} {:>17}", "length", "map", "reduce", "scan", "gather", "pack");
    }
    for length in LENGTHS {
        let common = times(world, length, usize::MAX);
        let partitioned = times(world, length, 0);
        if layout.rank == 0 {
            let cells: Vec<String> = common
                .iter()
                .zip(&partitioned)
                .map(|(common, partitioned)| format!("{common:>8.1} {partitioned:>8.1}"))
                .collect();
            println!("{length:>9} {}", cells.join(" "));
        }
    }
}

/// Microseconds of each instruction.
fn times(world: &World, length: usize, threshold: usize) -> Vec<f64> {
    let mut ranks = Ranks::with_threshold(world.communicator(), Reference::new(None), threshold);
    let numbers = ranks.fill(Fill::Iota(length)).expect("iota");
    let scalar = |value| MapOperand::<Distributed>::Scalar(ScalarValue::Int(value));
    let column = |column: &Distributed| MapOperand::Column(column.clone());
    let tripled = ranks.map(ScalarOp::MultiplyInt, vec![column(&numbers), scalar(7)]).expect("map");
    let indices = ranks.map(ScalarOp::Remainder, vec![column(&tripled), scalar(length as i64)]).expect("map");
    let flags = ranks.map(ScalarOp::LessInt, vec![column(&indices), scalar(length as i64 / 2)]).expect("map");
    let floats = ranks.map(ScalarOp::IntToFloat, vec![column(&numbers)]).expect("map");
    let repeats = (2_000_000 / (length + 2000)).max(5);
    let mut results = Vec::new();
    let mut time = |instruction: &mut dyn FnMut(&mut Ranks<Reference>)| {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            (0..repeats).for_each(|_| instruction(&mut ranks));
            best = best.min(start.elapsed().as_secs_f64() * 1e6 / repeats as f64);
        }
        results.push(best);
    };
    time(&mut |ranks| drop(ranks.map(ScalarOp::AddInt, vec![column(&numbers), column(&indices)]).expect("map")));
    time(&mut |ranks| assert!(ranks.reduce(ScalarOp::AddFloat, &floats).is_ok(), "reduce"));
    time(&mut |ranks| drop(ranks.scan(ScalarOp::AddInt, &indices, None).expect("scan")));
    time(&mut |ranks| drop(ranks.permute(Permute::Gather(&numbers, &indices)).expect("gather")));
    time(&mut |ranks| drop(ranks.pack(Pack::Pack(&numbers, &flags)).expect("pack")));
    results
}
