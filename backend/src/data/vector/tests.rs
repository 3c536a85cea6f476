//! Which slices have memory of their own, and what is written beside them.

use super::*;
use crate::data::counters::Counters;

/// A column of the numbers from 0 on, in a block of the pool that is longer.
fn numbers(meter: &Arc<Meter>, count: i64) -> Slice<i64> {
    let mut room = meter.room(count as usize).unwrap();
    room.extend_from_iter(0..count);
    Slice::new(meter, room)
}

fn peak_bytes(meter: &Arc<Meter>) -> u64 {
    let mut counters = Counters::default();
    meter.report(&mut counters);
    counters.peak_bytes
}

#[test]
fn a_small_part_of_what_nobody_else_has_moves() {
    let meter = Meter::new(None);
    let whole = numbers(&meter, 100_000);
    let mut part = whole.slice(500, 10);
    let start = part.elements().as_ptr();
    part.trim(&meter);
    assert_eq!(part.elements().as_ptr(), start, "others see the buffer");
    drop(whole);
    assert_eq!(meter.resident(), 800_000);
    part.trim(&meter);
    assert_eq!((part.elements(), meter.resident()), (&(500..510).collect::<Vec<_>>()[..], 80));
    let mut none = numbers(&meter, 100_000).slice(7, 0);
    none.trim(&meter);
    assert_eq!((none.elements(), meter.resident()), (&[][..], 80));
}

#[test]
fn what_is_most_of_its_buffer_or_of_little_stays() {
    let meter = Meter::new(None);
    let stays = |whole: Slice<i64>, length| {
        let mut part = whole.slice(1, length);
        drop(whole);
        let start = part.elements().as_ptr();
        part.trim(&meter);
        part.elements().as_ptr() == start
    };
    assert!(stays(numbers(&meter, 100_000), 25_000) && !stays(numbers(&meter, 100_000), 24_999));
    assert!(stays(numbers(&meter, 1000), 1) && stays(numbers(&meter, 100_000).growing(), 10));
}

#[test]
fn without_memory_for_a_copy_all_stays() {
    let meter = Meter::new(Some(1_000_000));
    let whole = numbers(&meter, 100_000);
    let mut part = whole.slice(3, 20_000);
    drop(whole);
    let start = part.elements().as_ptr();
    part.trim(&meter);
    assert_eq!((part.elements().as_ptr(), part.elements()[0]), (start, 3));
}

#[test]
fn a_few_elements_are_written_beside_many() {
    let meter = Meter::new(None);
    let column = numbers(&meter, 100_000);
    let before = column.prepended(&[&[-3], &[-2, -1]]).unwrap();
    let both = before.appended(&[&[100_000, 100_001]]).unwrap();
    assert_eq!((&before.elements()[..5], before.elements().len()), (&[-3, -2, -1, 0, 1][..], 100_003));
    assert_eq!(both.elements(), (-3..100_002).collect::<Vec<_>>());
    assert_eq!(column.elements(), (0..100_000).collect::<Vec<_>>());
    assert_eq!(peak_bytes(&meter), 800_000);
    // That place is taken, and there are no more than eight.
    assert!(column.prepended(&[&[5]]).is_none() && column.appended(&[&[5]]).is_none());
    assert!(both.prepended(&[&[0; 6]]).is_none() && both.prepended(&[&[0; 5]]).is_some());
    assert_eq!(column.prepended(&[]).map(|same| same.elements().len()), None);
}

#[test]
fn places_beside_are_free_again_when_their_owners_are_gone() {
    let meter = Meter::new(None);
    let column = numbers(&meter, 100_000);
    drop(column.prepended(&[&[1, 2, 3]]).unwrap());
    let again = column.prepended(&[&[4]]).unwrap();
    assert_eq!(again.elements()[..2], [4, 0]);
    drop(column);
    let rest = again.slice(50_000, 50_001);
    drop(again);
    let more = rest.prepended(&[&[7; 100]]).unwrap();
    assert_eq!((more.elements().len(), &more.elements()[98..102]), (50_101, &[7, 7, 49_999, 50_000][..]));
    drop((rest, more));
    assert_eq!(meter.resident(), 0);
    assert!(Slice::new(&meter, vec![1i64; 10]).prepended(&[&[1]]).is_none(), "small columns have no room before them");
}
