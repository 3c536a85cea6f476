//! `rank_up`, `rank_down`, `seg_rank_up`, `seg_rank_down`.

use super::random::{Random, Style};
use super::*;
use nesl_prim::Direction;

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

#[test]
fn ranks_of_columns() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            let data = column(&Random(seed as u64).constants(scalar_type, length, 9));
            for direction in DIRECTIONS {
                let context = (direction, scalar_type, length, "seed", seed);
                check(&mut engines, &context, |e| e.order(direction, &data), |e| e.order(direction, &data));
            }
        }
    }
}

#[test]
fn ranks_in_segments() {
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
                    &context,
                    |e| e.seg_order(direction, &data, &descriptor),
                    |e| e.seg_order(direction, &data, &descriptor),
                );
            }
        }
    }
}
