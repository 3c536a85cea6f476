//! The threads engine against the reference engine: the same bits and the same faults, on 1, 2 and 4 threads.
//!
//! Columns are random from fixed seeds, which every failing assertion names with the sizes. Lengths lie around
//! everything at which the engine changes how it works: lanes, blocks, pieces, grains.

mod elementwise;
mod groups;
mod interrupt;
mod maker;
mod narrow;
mod order;
mod permute;
mod random;
mod scan;
mod segment;
mod sums;
mod text;

use nesl_backend::{Collective, Columns, Engine, Fault, Fill, Reference, Threads, Vector};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::Constants;
use std::fmt::Debug;

/// Lengths around lanes, blocks and grains, and large.
pub const LENGTHS: &[usize] = &[
    0, 1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 1023, 1024, 1025, 4097, 65_535, 65_537, 131_071, 131_072, 131_073,
    300_007,
];

/// Engines of 1, 2 and 4 threads.
pub fn engines() -> Vec<Threads> {
    [1, 2, 4].map(|threads| Threads::new(threads, None).expect("the system starts threads")).into()
}

/// A column as values, which compare as results do.
pub fn values(column: &Vector) -> Vec<ScalarValue> {
    (0..column.len()).map(|index| column.get(index)).collect()
}

/// Compares two columns, and names the first element that differs.
pub fn assert_same(expected: &Result<Vector, Fault>, actual: &Result<Vector, Fault>, context: &dyn Debug) {
    match (expected, actual) {
        (Ok(expected), Ok(actual)) => {
            assert_eq!(expected.scalar_type(), actual.scalar_type(), "{context:?}");
            assert_eq!(expected.len(), actual.len(), "{context:?}");
            let differs = (0..expected.len()).find(|&index| expected.get(index) != actual.get(index));
            if let Some(index) = differs {
                panic!("{context:?}: element {index} is {:?}, not {:?}", actual.get(index), expected.get(index));
            }
        }
        // As text: a fault may hold a NaN, which is no equal of itself.
        (expected, actual) => {
            let fault = |result: &Result<Vector, Fault>| format!("{:?}", result.as_ref().err());
            assert_eq!(fault(expected), fault(actual), "{context:?}");
        }
    }
}

/// Runs an instruction on the reference engine and on every threads engine, and compares.
pub fn check(
    engines: &mut [Threads],
    context: &dyn Debug,
    reference: impl Fn(&mut Reference) -> Result<Vector, Fault>,
    threads: impl Fn(&mut Threads) -> Result<Vector, Fault>,
) {
    let expected = reference(&mut Reference::new(None));
    for engine in engines {
        assert_same(&expected, &threads(engine), &(engine.threads(), context));
    }
}

/// The operations that reduce and scan.
pub fn reductions() -> impl Iterator<Item = ScalarOp> {
    ScalarOp::ALL.iter().copied().filter(|op| op.row().identity.is_some())
}

/// A column of an engine.
pub fn column(constants: &Constants) -> Vector {
    Reference::new(None).import(constants.clone()).expect("there is memory")
}

/// All scalar types.
pub const TYPES: [ScalarType; 4] = ScalarType::ALL;

#[test]
fn an_engine_without_room_says_so() {
    for threads in [1, 2] {
        let mut engine = Threads::new(threads, Some(1_000_000)).unwrap();
        let column = engine.fill(Fill::Iota(100_000)).unwrap();
        let fault = engine.fill(Fill::Iota(100_000)).unwrap_err();
        assert!(matches!(fault.failure, nesl_prim::Failure::OutOfMemory { bytes: 800_000 }), "{fault:?}");
        drop(column);
        engine.fill(Fill::Iota(100_000)).unwrap();
        let counters = engine.counters(nesl_backend::Counters::default())[0];
        assert_eq!((counters.elements, counters.peak_bytes), (200_000, 800_000));
    }
}

#[test]
fn one_process_holds_everything() {
    let mut engine = Threads::new(0, None).unwrap();
    assert!(engine.threads() >= 1);
    assert_eq!((engine.rank(), engine.share(10)), ((0, 1), 0..10));
    let column = engine.import(Constants::Int(vec![5, 6, 7])).unwrap();
    let window = engine.fetch(&column, 1, 2).unwrap();
    assert_eq!((window.start, window.elements), (1, Constants::Int(vec![6, 7])));
    assert_eq!(engine.extract(&column, 2), Ok(ScalarValue::Int(7)));
    assert_eq!(engine.agree(Err::<(), _>(3)), Err(3));
    let descriptor = engine.descriptor(None, column.clone()).unwrap();
    assert_eq!((engine.segments(&descriptor), engine.total(&descriptor)), (3, Ok(18)));
    let lengths = engine.lengths(&descriptor).unwrap();
    let starts = engine.starts(&descriptor).unwrap();
    assert_eq!((values(&lengths), values(&starts)), (values(&column), [0, 5, 11].map(ScalarValue::Int).to_vec()));
}
