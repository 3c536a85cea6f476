//! Every instruction that can take long ends early where the user wants that, also on one thread.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_backend::{
    Columns, Descriptor, Engine, Fault, Fill, Interrupt, MapOperand, Meter, Order, Pack, Permute, Scheduler, Segment,
    Text, Threads, Vector,
};
use nesl_prim::{Direction, Failure, ScalarOp, ScalarValue};
use nesl_vcode::Constants;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// More elements than any piece has.
const MANY: usize = 5 << 20;

fn run(threads: usize, check: &mut dyn FnMut(&str, Result<(), Fault>)) {
    let mut engine = Threads::new(threads, None).expect("the system starts threads");
    let flag = Arc::new(AtomicBool::new(false));
    engine.set_interrupt(&Interrupt::on(Arc::clone(&flag)));
    let meter = Meter::new(None);
    let ints = engine.fill(Fill::Iota(MANY)).unwrap();
    let floats = engine.map(ScalarOp::IntToFloat, vec![MapOperand::Column(ints.clone())]).unwrap();
    let flags = engine.fill(Fill::Dist(ScalarValue::Bool(true), MANY)).unwrap();
    let chars = engine.constants(&Constants::Char(vec![b'7'; MANY])).unwrap();
    let [half, rest] = [0, MANY / 2].map(|start| ints.slice(start, MANY / 2));
    let halves = [true, false].map(|flag| engine.fill(Fill::Dist(ScalarValue::Bool(flag), MANY / 2)).unwrap());
    let mixed = engine.pack(Pack::Concat(&halves)).unwrap();
    let one = engine.constants(&Constants::Int(vec![MANY as i64])).unwrap();
    let whole = Descriptor::packed(&meter, one);
    let lengths = engine.fill(Fill::Dist(ScalarValue::Int(8), MANY / 8)).unwrap();
    let starts = Vector::new(&meter, (0..MANY as i64 / 8).rev().map(|segment| 8 * segment).collect::<Vec<_>>());
    let view = Descriptor::view(&meter, starts, lengths);
    let values = ints.slice(0, MANY / 8);
    flag.store(true, Relaxed);

    let mut column = |name: &str, outcome: Result<Vector, Fault>| check(name, outcome.map(drop));
    column("iota", engine.fill(Fill::Iota(MANY)));
    column("dist", engine.fill(Fill::Dist(ScalarValue::Int(1), MANY)));
    column("map", engine.map(ScalarOp::Sine, vec![MapOperand::Column(floats.clone())]));
    column("gather", engine.permute(Permute::Gather(&floats, &ints)));
    column("scatter", engine.permute(Permute::Scatter(floats.clone(), &ints, &floats)));
    column("permute", engine.permute(Permute::Permute(&floats, &ints)));
    column("pack", engine.pack(Pack::Pack(&ints, &flags)));
    column("merge", engine.pack(Pack::Merge(&mixed, &half, &rest)));
    column("concat", engine.pack(Pack::Concat(&[ints.clone(), ints.clone()])));
    column("interleave", engine.pack(Pack::Interleave(&[ints.clone(), ints.clone()])));
    column("append", engine.segment(Segment::Append((&whole, &ints), (&whole, &ints))));
    column("scan", engine.scan(ScalarOp::AddInt, &ints, None));
    column("scan of floats", engine.scan(ScalarOp::AddFloat, &floats, None));
    column("text_lengths", engine.text(Text::Lengths(&ints)));
    column("text", engine.text(Text::Text(&ints)));
    column("parse_float", engine.text(Text::ParseFloat(&chars, &view)));
    column("seg_dist", engine.segment(Segment::Dist(&values, &view)));
    column("compact", engine.segment(Segment::Compact(&ints, &view)));
    for segments in [&whole, &view] {
        column("seg_iota", engine.segment(Segment::Iota(segments)));
        column("seg_reduce", engine.seg_reduce(ScalarOp::AddInt, &ints, segments));
        column("seg_reduce of floats", engine.seg_reduce(ScalarOp::AddFloat, &floats, segments));
        column("seg_scan", engine.scan(ScalarOp::AddInt, &ints, Some(segments)));
        column("seg_scan of floats", engine.scan(ScalarOp::AddFloat, &floats, Some(segments)));
    }
    column("seg_order", engine.order(Order::Rank, Direction::Up, &ints, Some(&view)));
    check("reduce", engine.reduce(ScalarOp::AddInt, &ints).map(drop));
    check("reduce of floats", engine.reduce(ScalarOp::AddFloat, &floats).map(drop));
}

#[test]
fn instructions_on_many_elements_are_interrupted() {
    for threads in [1, 2] {
        let mut finished = Vec::new();
        run(threads, &mut |name, outcome| match outcome {
            Err(fault) => assert_eq!(fault.failure, Failure::Interrupted, "{name} on {threads} threads"),
            Ok(()) => finished.push(name.to_owned()),
        });
        assert_eq!(finished, [""; 0], "on {threads} threads");
    }
}
