//! Float addition and multiplication of a whole sequence, defined by its contents alone.
//!
//! Float operations are not associative, so the order is part of the meaning, and it must not depend on engine, threads
//! or ranks. A sequence is cut into blocks of [`BLOCK`] elements from its start.
//!
//! *Reduction*: inside a block, element `i` is combined into lane `i % LANES`; the lanes are combined in the order of
//! [`lanes`]; the blocks are combined by [`tree`]: neighbours first, an odd last one moves up unchanged.
//!
//! *Scan*: inside a block, from left to right starting with the identity; blocks start from the running total of the
//! whole blocks before them, themselves combined from left to right.

/// Elements in a block.
pub const BLOCK: usize = 1024;
/// Independent accumulators in a block: enough to hide the latency of an addition, and two AVX-512 registers wide.
pub const LANES: usize = 16;

/// Reduces one block, of at most [`BLOCK`] elements.
#[inline]
pub fn block(identity: f64, combine: impl Fn(f64, f64) -> f64, elements: &[f64]) -> f64 {
    let mut lane = [identity; LANES];
    let rows = elements.chunks_exact(LANES);
    let rest = rows.remainder();
    for row in rows {
        for (accumulator, element) in lane.iter_mut().zip(row) {
            *accumulator = combine(*accumulator, *element);
        }
    }
    for (accumulator, element) in lane.iter_mut().zip(rest) {
        *accumulator = combine(*accumulator, *element);
    }
    lanes(combine, lane)
}

/// Combines the lanes of a block: lane `i` with lane `i + width / 2`, halving the width until one is left.
#[inline]
pub fn lanes<const WIDTH: usize>(combine: impl Fn(f64, f64) -> f64, mut lane: [f64; WIDTH]) -> f64 {
    let mut width = WIDTH;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lane[i] = combine(lane[i], lane[i + width]);
        }
    }
    lane[0]
}

/// [`block`] of no more elements than lanes: the lanes without an element hold the identity, and combining with it
/// changes nothing, so those are left out that none of the others is combined with. (The one exception, negative zero
/// plus zero, cannot occur: a lane is never negative zero where the identity is zero, since it starts as zero plus its
/// element.)
#[inline]
pub fn short(identity: f64, combine: impl Fn(f64, f64) -> f64, elements: &[f64]) -> f64 {
    match elements {
        [] => identity,
        &[element] => combine(identity, element),
        [_, _] => few::<2>(identity, combine, elements),
        [_, _, _] | [_, _, _, _] => few::<4>(identity, combine, elements),
        _ if elements.len() <= LANES / 2 => few::<{ LANES / 2 }>(identity, combine, elements),
        _ => few::<LANES>(identity, combine, elements),
    }
}

/// The same of no more elements than so many lanes, the others left out.
#[inline]
fn few<const WIDTH: usize>(identity: f64, combine: impl Fn(f64, f64) -> f64, elements: &[f64]) -> f64 {
    let lane = match elements.first_chunk::<WIDTH>() {
        Some(all) => all.map(|element| combine(identity, element)),
        None => {
            let mut lane = [identity; WIDTH];
            for (lane, &element) in lane.iter_mut().zip(elements) {
                *lane = combine(identity, element);
            }
            lane
        }
    };
    lanes(combine, lane)
}

/// The same for values that stand for floats, as a program has them that is to compute such a sum.
pub fn short_by<T: Copy>(identity: T, combine: &mut impl FnMut(T, T) -> T, elements: &[T]) -> T {
    let mut lane: Vec<T> = elements.iter().map(|&element| combine(identity, element)).collect();
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width.min(lane.len().saturating_sub(width)) {
            lane[i] = combine(lane[i], lane[i + width]);
        }
    }
    lane.first().copied().unwrap_or(identity)
}

/// Combines the results of the blocks of one sequence; the identity where there are none.
pub fn tree(identity: f64, combine: impl Fn(f64, f64) -> f64, blocks: &[f64]) -> f64 {
    let mut level = blocks.to_vec();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => combine(*left, *right),
                other => other[0],
            })
            .collect();
    }
    level.first().copied().unwrap_or(identity)
}

/// Reduces a whole sequence: the definition that every engine must agree with.
pub fn reduce(identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, elements: &[f64]) -> f64 {
    if elements.len() <= BLOCK {
        return block(identity, combine, elements);
    }
    let blocks: Vec<f64> = elements.chunks(BLOCK).map(|chunk| block(identity, combine, chunk)).collect();
    tree(identity, combine, &blocks)
}

/// A reduction that is given its elements one after another: that of many sequences whose elements come mixed.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// Of the block that is not complete.
    lane: [f64; LANES],
    /// How many elements that block has.
    filled: usize,
    /// The results of the blocks before it.
    blocks: Vec<f64>,
}

impl Accumulator {
    /// Of no elements.
    pub fn new(identity: f64) -> Accumulator {
        Accumulator { lane: [identity; LANES], filled: 0, blocks: Vec::new() }
    }

    /// Takes the next element.
    #[inline(always)]
    pub fn push(&mut self, identity: f64, combine: impl Fn(f64, f64) -> f64, element: f64) {
        let lane = &mut self.lane[self.filled % LANES];
        *lane = combine(*lane, element);
        self.filled += 1;
        if self.filled == BLOCK {
            self.blocks.push(lanes(combine, self.lane));
            (self.lane, self.filled) = ([identity; LANES], 0);
        }
    }

    /// What [`reduce`] gives for all elements.
    pub fn finish(&self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy) -> f64 {
        if self.blocks.is_empty() {
            return lanes(combine, self.lane);
        }
        let last = (self.filled > 0).then(|| lanes(combine, self.lane));
        let blocks: Vec<f64> = self.blocks.iter().copied().chain(last).collect();
        tree(identity, combine, &blocks)
    }
}

/// Exclusive scan of a whole sequence: the definition that every engine must agree with.
pub fn scan(identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, elements: &[f64]) -> Vec<f64> {
    let mut result = Vec::with_capacity(elements.len());
    let mut before = identity;
    for chunk in elements.chunks(BLOCK) {
        let mut inside = identity;
        for element in chunk {
            result.push(combine(before, inside));
            inside = combine(inside, *element);
        }
        before = combine(before, inside);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(a: f64, b: f64) -> f64 {
        a + b
    }

    #[test]
    fn sums_of_integers_are_exact_at_every_length() {
        for n in [0usize, 1, 15, 16, 17, 1023, 1024, 1025, 5000] {
            let elements: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let expected: usize = (0..n).sum();
            assert_eq!(reduce(0.0, add, &elements), expected as f64);
            let scanned = scan(0.0, add, &elements);
            let direct: Vec<f64> = (0..n).map(|i| (0..i).sum::<usize>() as f64).collect();
            assert_eq!(scanned, direct);
        }
    }

    #[test]
    fn short_blocks_are_blocks() {
        for n in 0..=LANES {
            let elements: Vec<f64> = (0..n).map(|i| 0.1 / (i as f64 - 2.5)).collect();
            assert_eq!(short(0.0, add, &elements).to_bits(), block(0.0, add, &elements).to_bits());
            let multiply = |a: f64, b: f64| a * b;
            assert_eq!(short(1.0, multiply, &elements).to_bits(), block(1.0, multiply, &elements).to_bits());
            assert_eq!(short_by(0.0, &mut add, &elements).to_bits(), block(0.0, add, &elements).to_bits());
        }
        assert_eq!(short(0.0, add, &[-0.0]).to_bits(), block(0.0, add, &[-0.0]).to_bits());
    }

    #[test]
    fn elements_one_after_another_are_reduced_as_all_at_once() {
        for n in [0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 2048, 3 * BLOCK, 5 * BLOCK + 7] {
            let elements: Vec<f64> = (0..n).map(|i| 0.1 / (i as f64 - 2.5)).collect();
            for (identity, combine) in [(0.0, add as fn(f64, f64) -> f64), (1.0, |a, b| a * b)] {
                let mut accumulator = Accumulator::new(identity);
                elements.iter().for_each(|&element| accumulator.push(identity, combine, element));
                let expected = reduce(identity, combine, &elements);
                assert_eq!(accumulator.finish(identity, combine).to_bits(), expected.to_bits(), "{n}");
            }
        }
        let mut negative_zero = Accumulator::new(0.0);
        negative_zero.push(0.0, add, -0.0);
        assert_eq!(negative_zero.finish(0.0, add).to_bits(), reduce(0.0, add, &[-0.0]).to_bits());
    }

    #[test]
    fn the_tree_keeps_the_order_of_blocks() {
        let blocks = [1e16, 1.0, -1e16, 1.0, 3.0];
        let by_hand = ((1e16 + 1.0) + (-1e16 + 1.0)) + 3.0;
        assert_eq!(tree(0.0, add, &blocks), by_hand);
    }
}
