//! `sort_up`, `rank_up` and their segmented and descending kin.

use super::random::{Random, Style};
use super::*;
use nesl_backend::{Collective, Order};
use nesl_prim::Direction;

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

/// Compares sorts and ranks in both directions.
fn check_column(engines: &mut [Threads], context: &dyn Debug, constants: &Constants) {
    let data = column(constants);
    for direction in DIRECTIONS {
        let context = (direction, context);
        check(
            engines,
            &("rank", context),
            |e| e.order(Order::Rank, direction, &data, None),
            |e| e.order(Order::Rank, direction, &data, None),
        );
        check(
            engines,
            &("sort", context),
            |e| e.order(Order::Sort, direction, &data, None),
            |e| e.order(Order::Sort, direction, &data, None),
        );
    }
}

#[test]
fn columns() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            let constants = Random(seed as u64).constants(scalar_type, length, 9);
            check_column(&mut engines, &(scalar_type, length, "seed", seed), &constants);
        }
    }
}

#[test]
fn keys_of_every_spread() {
    const LENGTH: usize = 150_000;
    let mut engines = engines();
    let mut random = Random(3);
    let mut ints = |make: &mut dyn FnMut(i64, u64) -> i64| {
        Constants::Int((0..LENGTH as i64).map(|index| make(index, random.bits())).collect())
    };
    let columns = [
        ("all bits", ints(&mut |_, bits| bits as i64)),
        ("a few bits", ints(&mut |_, bits| (bits % 700) as i64 - 350)),
        ("more values than buckets", ints(&mut |_, bits| (bits % 100_000) as i64)),
        ("equal", ints(&mut |_, _| -7)),
        ("ascending", ints(&mut |index, _| 3 * index - 100)),
        ("descending", ints(&mut |index, _| 100 - index)),
        ("descending, some equal", ints(&mut |index, _| -index / 2)),
        ("every exponent", ints(&mut |_, bits| ((bits >> 6) >> (bits % 58)) as i64)),
        ("one far away", ints(&mut |index, bits| if index == 77_777 { i64::MAX } else { (bits >> 34) as i64 })),
        ("both ends", ints(&mut |_, bits| if bits % 2 == 0 { i64::MIN } else { i64::MAX })),
        ("nearly in order", ints(&mut |index, bits| index + (bits % 100) as i64)),
    ];
    for (name, constants) in &columns {
        check_column(&mut engines, name, constants);
        let Constants::Int(ints) = constants else { continue };
        let floats = ints.iter().map(|&int| f64::from_bits(int as u64)).collect();
        check_column(&mut engines, &("bits of floats", name), &Constants::Float(floats));
        let floats = ints.iter().map(|&int| int as f64 / 1e3).collect();
        check_column(&mut engines, &("floats", name), &Constants::Float(floats));
    }
}

#[test]
fn what_is_in_order_is_not_copied() {
    let mut engine = Threads::new(2, None).unwrap();
    let ordered = engine.fill(Fill::Iota(200_000)).unwrap();
    let sorted = engine.order(Order::Sort, Direction::Up, &ordered, None).unwrap();
    assert_eq!(sorted.elements::<i64>().as_ptr(), ordered.elements::<i64>().as_ptr());
}

#[test]
fn a_sort_takes_little_more_room_than_its_result() {
    const LENGTH: usize = 1 << 20;
    let mut random = Random(8);
    let data = column(&Constants::Int((0..LENGTH).map(|_| random.bits() as i64).collect()));
    let mut engine = Threads::new(2, None).unwrap();
    engine.order(Order::Sort, Direction::Up, &data, None).unwrap();
    assert_eq!(engine.counters(nesl_backend::Counters::default())[0].peak_elements, LENGTH as u64);
    let mut engine = Threads::new(2, None).unwrap();
    engine.order(Order::Rank, Direction::Up, &data, None).unwrap();
    assert_eq!(engine.counters(nesl_backend::Counters::default())[0].peak_elements, 2 * LENGTH as u64);
}

#[test]
fn segments() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 300_000].iter().enumerate() {
        for style in Style::ALL {
            for packed in [true, false] {
                let mut random = Random(seed as u64);
                let (descriptor, length) = random.descriptor(style, total, packed);
                let direction = DIRECTIONS[seed % 2];
                let scalar_type = TYPES[seed % 4];
                let data = column(&random.constants(scalar_type, length, 9));
                let context = (direction, scalar_type, style, total, packed, "seed", seed);
                check(
                    &mut engines,
                    &("rank", context),
                    |e| e.order(Order::Rank, direction, &data, Some(&descriptor)),
                    |e| e.order(Order::Rank, direction, &data, Some(&descriptor)),
                );
                check(
                    &mut engines,
                    &("sort", context),
                    |e| e.order(Order::Sort, direction, &data, Some(&descriptor)),
                    |e| e.order(Order::Sort, direction, &data, Some(&descriptor)),
                );
            }
        }
    }
}
