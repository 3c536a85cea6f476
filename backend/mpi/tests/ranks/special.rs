//! What is not an instruction's result: agreement, counters, memory, and that no rank holds too much.

use crate::sharing::sent;
use crate::twin::{Local, Twin};
use nesl_backend::{Collective, Columns, Engine, Fill, MapOperand, Pack, Permute, Slot, Value};
use nesl_mpi::Communicator;
use nesl_prim::{Failure, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, Shape};

/// Elements of the check that no rank holds too much.
const MANY: usize = 1_000_000;

pub fn run(twin: &mut Twin<impl Local>) {
    agreement(twin);
    memory(twin);
    shares(twin);
    programs(twin);
    printing(twin);
    locally(twin);
}

/// The lowest failing rank's error is everybody's.
fn agreement(twin: &mut Twin<impl Local>) {
    let (rank, ranks) = twin.ranks.rank();
    let outcome = twin.ranks.agree::<usize, String>(Ok(rank));
    twin.check(outcome == Ok(rank), || format!("agreement of all: {outcome:?}"));
    let last = ranks - 1;
    let mine = if rank >= last.min(1) { Err(format!("rank {rank} failed")) } else { Ok(rank) };
    let outcome = twin.ranks.agree(mine);
    let expected = Err(format!("rank {} failed", last.min(1)));
    twin.check(outcome == expected, || format!("agreement of some: {outcome:?}"));
}

/// Lack of memory is an error on all ranks.
fn memory(twin: &mut Twin<impl Local>) {
    let outcome = twin.ranks.fill(Fill::Dist(ScalarValue::Int(1), 1 << 58)).err().map(|fault| fault.failure);
    twin.check(matches!(outcome, Some(Failure::OutOfMemory { .. })), || format!("too much memory: {outcome:?}"));
    let lengths = Constants::Int(vec![i64::MAX, i64::MAX]);
    let lengths = twin.column(&lengths);
    let tested =
        twin.ranks.descriptor(Some(lengths.tested.clone()), lengths.tested).and_then(|view| twin.ranks.total(&view));
    let expected = twin
        .reference
        .descriptor(Some(lengths.expected.clone()), lengths.expected)
        .and_then(|view| twin.reference.total(&view));
    twin.check(tested == expected, || format!("total of too much: {tested:?}, not {expected:?}"));
}

/// A program of moves keeps every rank near its share.
fn shares(twin: &mut Twin<impl Local>) {
    let (_, count) = twin.ranks.rank();
    let ranks = &mut twin.ranks;
    let numbers = ranks.fill(Fill::Iota(MANY)).expect("iota");
    let tripled = ranks
        .map(ScalarOp::MultiplyInt, vec![MapOperand::Column(numbers.clone()), MapOperand::Scalar(ScalarValue::Int(7))])
        .expect("map");
    let indices = ranks
        .map(ScalarOp::Remainder, vec![MapOperand::Column(tripled), MapOperand::Scalar(ScalarValue::Int(MANY as i64))])
        .expect("map");
    let gathered = ranks.permute(Permute::Gather(&numbers, &indices)).expect("gather");
    let flags = ranks
        .map(
            ScalarOp::LessInt,
            vec![MapOperand::Column(numbers.clone()), MapOperand::Scalar(ScalarValue::Int(MANY as i64 * 9 / 10))],
        )
        .expect("map");
    let packed = ranks.pack(Pack::Pack(&gathered, &flags)).expect("pack");
    let scanned = ranks.scan(ScalarOp::AddInt, &packed, None).expect("scan");
    let last = ranks.length(&scanned) - 1;
    let sum = ranks.extract(&scanned, last).expect("extract");
    let counters = ranks.counters(nesl_backend::Counters::default());
    let expected: i64 = (0..MANY as i64 * 9 / 10 - 1).map(|i| i * 7 % MANY as i64).sum();
    twin.check(sum == ScalarValue::Int(expected), || format!("a program's sum: {sum:?}, not {expected}"));
    twin.check(counters.len() == count, || format!("counters of {} ranks", counters.len()));
    let largest = counters.iter().map(|counters| counters.largest_part).max().unwrap_or(0) as usize;
    let allowed = if count == 4 { MANY * 2 / 5 } else { MANY.div_ceil(count) };
    twin.check(largest <= allowed, || format!("a rank held {largest} of {MANY} elements"));
    let sent: u64 = counters.iter().map(|counters| counters.bytes_sent).sum();
    twin.check((sent > 0) == (count > 1), || format!("{count} ranks sent {sent} bytes"));
}

/// Element-wise instructions and sums send a few bytes for each rank, however long the columns are.
fn locally(twin: &mut Twin<impl Local>) {
    const ALLOWED: u64 = 512;
    let (_, count) = twin.ranks.rank();
    let before = sent(&mut twin.ranks);
    let ranks = &mut twin.ranks;
    let numbers = ranks.fill(Fill::Iota(MANY)).expect("iota");
    let half = MapOperand::Scalar(ScalarValue::Int(2));
    let halves = ranks.map(ScalarOp::DivideInt, vec![MapOperand::Column(numbers), half]).expect("map");
    let sum = ranks.reduce(ScalarOp::AddInt, &halves).expect("reduce");
    let floats = ranks.map(ScalarOp::IntToFloat, vec![MapOperand::Column(halves)]).expect("map");
    let float_sum = ranks.reduce(ScalarOp::AddFloat, &floats).expect("reduce");
    let after = sent(&mut twin.ranks);
    let expected: i64 = (0..MANY as i64).map(|number| number / 2).sum();
    let good = sum == ScalarValue::Int(expected) && float_sum == ScalarValue::Float(expected as f64);
    twin.check(good, || format!("sums {sum:?} and {float_sum:?}, not {expected}"));
    let bytes = after[1] - before[1];
    twin.check(bytes <= ALLOWED * count as u64, || format!("{bytes} bytes of a rank of {count} for two sums"));
}

/// What is shown of a long sequence is all that travels; a whole one goes window by window.
fn printing(twin: &mut Twin<impl Local>) {
    /// The most elements of a window.
    const WINDOW: u64 = 65_536;
    let (_, count) = twin.ranks.rank();
    let others = count as u64 - 1;
    let column = twin.ranks.fill(Fill::Iota(MANY)).expect("iota");
    let shape = Shape::Sequence(Box::new(Shape::Scalar(ScalarType::Int)));
    let slots = vec![Slot::Scalar(ScalarValue::Int(MANY as i64)), Slot::Column(column)];
    let value = Value::new(shape, slots);
    let numbers = |count| (0..count).map(|number: usize| number.to_string()).collect::<Vec<_>>().join(", ");
    for (limit, expected) in [(Some(100), format!("[{}, ...]", numbers(100))), (None, format!("[{}]", numbers(MANY)))] {
        let before = sent(&mut twin.ranks);
        let mut text = Vec::new();
        let printed = nesl_backend::print(&mut twin.ranks, &value, limit, &mut text);
        let after = sent(&mut twin.ranks);
        twin.check(printed.is_ok() && text == expected.as_bytes(), || format!("printing {limit:?} of {MANY}"));
        let [_, bytes, collectives] = std::array::from_fn(|which| after[which] - before[which]);
        // Each rank sends what it has of a window to every other; ranks also agree now and then, in a byte.
        let most = match limit {
            Some(shown) => 2 * shown as u64 * 8 * others,
            None => collectives * WINDOW * 8 * others,
        };
        twin.check(bytes <= most + collectives * others, || format!("{bytes} bytes for {limit:?} of {MANY}"));
        let fewest = if limit.is_none() && count > 1 { MANY as u64 / WINDOW } else { 0 };
        twin.check(collectives >= fewest, || format!("{collectives} windows for {limit:?} of {MANY}"));
    }
}

/// Bytes of rank 0 reach all.
fn programs(twin: &mut Twin<impl Local>) {
    let (rank, _) = twin.ranks.rank();
    for length in [0usize, 1, 100_000] {
        let mine = if rank == 0 { vec![7u8; length] } else { vec![1u8; 3] };
        let bytes = twin.ranks.communicator().broadcast_bytes(0, mine);
        twin.check(bytes == vec![7u8; length], || format!("broadcast of {length} bytes"));
    }
}

/// One rank panics while the others wait for it.
pub fn panic_on_last_rank(mut communicator: Communicator) {
    let layout = communicator.layout();
    assert!(layout.rank + 1 < layout.ranks, "a panic that was asked for");
    communicator.all_gather(0i64);
}
