//! Float sums and products of machine code: a loop fills a buffer with elements, and they are combined here, as
//! [`nesl_prim::sum`] defines, with the widest vector instructions that the machine has. Those of one sequence come
//! block by block, those of segments one segment after another, as many as the buffer holds.
//!
//! ```text
//! for each element x:  buffer[n] = x;  n += 1             in machine code
//!                      if n == BLOCK { complete; n = 0 }  a call: blocks.push(block(buffer))
//! at the end:          finish(n)                          a call: tree(blocks, block(buffer[..n]))
//! ```
//!
//! What machine code calls is in [`crate::runtime::sums`].

use nesl_prim::{ScalarOp, sum};
use std::mem::offset_of;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Sums or products in progress: the elements of one sequence, or of one segment after another.
#[repr(C)]
#[derive(Debug)]
pub struct Sums {
    /// The elements of the block that is not complete; with segments, those that are not combined yet.
    buffer: [f64; sum::BLOCK],
    /// The address of the lengths of segments, and which bits of a segment's number say where its length is
    /// ([`crate::Ints`]); the address of their results.
    lengths: usize,
    length_mask: usize,
    results: usize,
    /// The segment of the first element in the buffer, and the end of all that there are.
    segment: usize,
    segments: usize,
    /// Whether elements are multiplied.
    is_product: bool,
    /// Where the first element in the buffer is, if the sequence begins inside a block.
    begin: usize,
    /// The elements of the block in which the sequence begins, if that is complete and not all of the block.
    head: Vec<f64>,
    /// The results of the whole blocks, of a segment those that are not in the buffer any more.
    blocks: Vec<f64>,
    /// The same for segments that are added up at once: of all of them, block by block.
    blocks_of_segments: Vec<f64>,
}

/// How many segments are added up at once, where they are: as many numbers as a line of the cache has.
pub(crate) const AT_ONCE: usize = 8;

/// The same where neighbours read what is the same or neighbours everywhere.
pub(crate) const MOST_AT_ONCE: usize = 16;

/// The lanes of a block of each of several segments, which are added up at once.
pub(crate) type LanesOfSegments<const SEGMENTS: usize> = [[f64; SEGMENTS]; sum::LANES];

/// Where kernels write elements.
pub(crate) const BUFFER: i32 = offset_of!(Sums, buffer) as i32;
/// Where they say which segments there are.
pub(crate) const LENGTHS: i32 = offset_of!(Sums, lengths) as i32;
pub(crate) const LENGTH_MASK: i32 = offset_of!(Sums, length_mask) as i32;
pub(crate) const RESULTS: i32 = offset_of!(Sums, results) as i32;
pub(crate) const SEGMENT: i32 = offset_of!(Sums, segment) as i32;
pub(crate) const SEGMENTS: i32 = offset_of!(Sums, segments) as i32;

impl Sums {
    /// Nothing, of an operation whose order counts. The first element will be at this position of its block.
    ///
    /// # Panics
    /// If the order of the operation does not count.
    pub fn new(op: ScalarOp, begin: usize) -> Box<Sums> {
        let is_product = match op {
            ScalarOp::AddFloat => false,
            ScalarOp::MultiplyFloat => true,
            other => panic!("{other} is combined in any order"),
        };
        Box::new(Sums {
            buffer: [0.0; sum::BLOCK],
            lengths: 0,
            length_mask: 0,
            results: 0,
            segment: 0,
            segments: 0,
            is_product,
            begin,
            head: Vec::new(),
            blocks: Vec::new(),
            blocks_of_segments: Vec::new(),
        })
    }

    fn block(&self, elements: &[f64]) -> f64 {
        if self.is_product {
            wide(|| sum::block(1.0, multiply, elements))
        } else {
            wide(|| sum::block(0.0, add, elements))
        }
    }

    /// The same for so many of the first elements in the buffer.
    fn first(&self, count: usize) -> f64 {
        if self.is_product {
            wide(|| few(1.0, multiply, &self.buffer, count))
        } else {
            wide(|| few(0.0, add, &self.buffer, count))
        }
    }

    fn tree(&self, blocks: &[f64]) -> f64 {
        if self.is_product { sum::tree(1.0, multiply, blocks) } else { sum::tree(0.0, add, blocks) }
    }

    /// Begins anew, with sums or products.
    pub(crate) fn begin(&mut self, is_product: bool) {
        (self.is_product, self.begin) = (is_product, 0);
        // What a group left that gave up.
        self.head.clear();
        self.blocks.clear();
        self.blocks_of_segments.clear();
    }

    /// The buffer is full.
    pub(crate) fn complete(&mut self) {
        if self.begin > 0 {
            self.head.extend_from_slice(&self.buffer[self.begin..]);
            self.begin = 0;
        } else {
            let block = self.block(&self.buffer);
            self.blocks.push(block);
        }
    }

    /// A block ends, of which so many elements are in the buffer: all of it, or its lanes and what comes behind them.
    pub(crate) fn complete_lanes(&mut self, filled: usize) {
        if filled == sum::BLOCK {
            return self.complete();
        }
        let block = self.first(filled);
        self.blocks.push(block);
    }

    /// The result, where so many elements are in the buffer. Begins anew.
    pub(crate) fn finish(&mut self, tail: usize) -> f64 {
        if self.blocks.is_empty() {
            return self.first(tail);
        }
        if tail > 0 {
            let block = self.block(&self.buffer[..tail]);
            self.blocks.push(block);
        }
        let result = self.tree(&self.blocks);
        self.blocks.clear();
        result
    }

    /// The same with an operation and its identity.
    ///
    /// # Safety
    /// As for [`Sums::add_up_segments`].
    #[inline(always)]
    unsafe fn add_up(&mut self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, filled: usize) -> usize {
        let (lengths, results) =
            (with_exposed_provenance::<i64>(self.lengths), with_exposed_provenance_mut::<f64>(self.results));
        let mut start = 0;
        while self.segment < self.segments {
            // SAFETY: it is one of the segments.
            let length =
                unsafe { *lengths.add(self.segment & self.length_mask) } as usize - sum::BLOCK * self.blocks.len();
            if start + length > filled {
                break;
            }
            let mut result = few(identity, combine, &self.buffer[start..filled], length);
            if !self.blocks.is_empty() {
                if length > 0 {
                    self.blocks.push(result);
                }
                result = sum::tree(identity, combine, &self.blocks);
                self.blocks.clear();
            }
            // SAFETY: as above.
            unsafe { *results.add(self.segment) = result };
            start += length;
            self.segment += 1;
        }
        if filled - start == sum::BLOCK {
            self.blocks.push(sum::block(identity, combine, &self.buffer));
            return 0;
        }
        self.buffer.copy_within(start..filled, 0);
        filled - start
    }

    /// Combines the elements of all segments that end with so many in the buffer; how many are left there.
    ///
    /// # Safety
    /// There are lengths of so many segments, and room for their results; they have so many elements at least as have
    /// come.
    pub(crate) unsafe fn add_up_segments(&mut self, filled: usize) -> usize {
        // SAFETY: by the caller.
        let add_up = || unsafe {
            if self.is_product { self.add_up(1.0, multiply, filled) } else { self.add_up(0.0, add, filled) }
        };
        wide(add_up)
    }

    /// So many elements of a block of each of several segments are in the lanes, and it is complete.
    pub(crate) fn complete_segments<const N: usize>(&mut self, lanes: &LanesOfSegments<N>, count: usize) {
        let blocks = self.blocks_of(lanes, count);
        self.blocks_of_segments.extend(blocks);
    }

    /// The results of segments of each of which these are the lanes of the last block, with so many elements.
    pub(crate) fn finish_segments<const N: usize>(&mut self, lanes: &LanesOfSegments<N>, count: usize) -> [f64; N] {
        if self.blocks_of_segments.is_empty() {
            return self.blocks_of(lanes, count);
        }
        self.complete_segments(lanes, count);
        let blocks = std::mem::take(&mut self.blocks_of_segments);
        std::array::from_fn(|segment| {
            let blocks: Vec<f64> = blocks.iter().skip(segment).step_by(N).copied().collect();
            self.tree(&blocks)
        })
    }

    fn blocks_of<const N: usize>(&self, lanes: &LanesOfSegments<N>, count: usize) -> [f64; N] {
        if self.is_product {
            wide(|| combined(1.0, multiply, lanes, count))
        } else {
            wide(|| combined(0.0, add, lanes, count))
        }
    }

    /// The result of parts of one sequence, in order, each with the position in a block where its elements end.
    pub fn join(parts: Vec<(Box<Sums>, usize)>) -> f64 {
        let mut parts = parts.into_iter();
        let Some((mut all, mut tail)) = parts.next() else { return 0.0 };
        for (part, end) in parts {
            if tail == 0 {
                all.blocks.extend_from_slice(&part.blocks);
                all.buffer[..end].copy_from_slice(&part.buffer[..end]);
            } else if part.head.is_empty() {
                all.buffer[tail..end].copy_from_slice(&part.buffer[tail..end]);
            } else {
                all.buffer[tail..].copy_from_slice(&part.head);
                let block = all.block(&all.buffer);
                all.blocks.push(block);
                all.blocks.extend_from_slice(&part.blocks);
                all.buffer[..end].copy_from_slice(&part.buffer[..end]);
            }
            tail = end;
        }
        all.finish(tail)
    }
}

/// So many of the first of some elements. Where they are no more than lanes, no loop depends on how many.
#[inline(always)]
fn few(identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, elements: &[f64], count: usize) -> f64 {
    match elements.first_chunk::<{ sum::LANES }>() {
        Some(lanes) if count <= sum::LANES => {
            let lane = |lane| if lane < count { combine(identity, lanes[lane]) } else { identity };
            sum::lanes(combine, std::array::from_fn::<f64, { sum::LANES }, _>(lane))
        }
        _ => sum::block(identity, combine, &elements[..count]),
    }
}

/// The lanes of a block of each of several segments, combined as [`sum::lanes`] does: where there are fewer elements
/// than lanes, those without one are left out as in [`sum::short`].
#[inline(always)]
fn combined<const N: usize>(
    identity: f64,
    combine: impl Fn(f64, f64) -> f64,
    lanes: &LanesOfSegments<N>,
    count: usize,
) -> [f64; N] {
    let mut width = count.next_power_of_two().min(sum::LANES);
    let mut lanes: LanesOfSegments<N> =
        std::array::from_fn(|lane| if lane < count { lanes[lane] } else { [identity; N] });
    while width > 1 {
        width /= 2;
        let (lower, upper) = lanes.split_at_mut(width);
        for (lower, upper) in lower.iter_mut().zip(upper) {
            lower.iter_mut().zip(upper).for_each(|(lower, upper)| *lower = combine(*lower, *upper));
        }
    }
    lanes[0]
}

fn add(a: f64, b: f64) -> f64 {
    a + b
}

fn multiply(a: f64, b: f64) -> f64 {
    a * b
}

/// Runs a loop with the widest vector instructions that the machine has and that cannot change a result.
///
/// The closure is compiled a second time for AVX2 where it is inlined here, as small loops are: ints are compared,
/// multiplied and selected twice to four times as fast as with the baseline of x86-64. Rust never contracts
/// `a * b + c`, so floats keep their bits.
#[inline(always)]
pub fn wide<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        return unsafe { avx2(body) };
    }
    body()
}

/// Runs a loop compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a loop over several segments does with the elements of each.
    fn at_once<const N: usize>(is_product: bool, elements: &[[f64; N]]) -> [f64; N] {
        let (identity, combine): (f64, fn(f64, f64) -> f64) = if is_product { (1.0, multiply) } else { (0.0, add) };
        let mut sums = Sums::new(ScalarOp::AddFloat, 0);
        sums.begin(is_product);
        let mut results = [f64::NAN; N];
        let blocks: Vec<_> = elements.chunks(sum::BLOCK).collect();
        for (number, block) in blocks.iter().enumerate() {
            // Lanes without an element hold what was there before.
            let mut lanes = [[f64::NAN; N]; sum::LANES];
            for (position, elements) in block.iter().enumerate() {
                let lane = &mut lanes[position % sum::LANES];
                let before = if position < sum::LANES { [identity; N] } else { *lane };
                *lane = std::array::from_fn(|segment| combine(before[segment], elements[segment]));
            }
            if number + 1 < blocks.len() {
                sums.complete_segments(&lanes, block.len());
            } else {
                results = sums.finish_segments(&lanes, block.len());
            }
        }
        results
    }

    #[test]
    fn sums_of_segments_at_once_have_the_bits_of_each_alone() {
        have_the_bits_of_each_alone::<AT_ONCE>();
        have_the_bits_of_each_alone::<MOST_AT_ONCE>();
    }

    fn have_the_bits_of_each_alone<const N: usize>() {
        for length in [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 64, 1000, 1023, 1024, 1025, 1030, 2048, 3073, 5000] {
            let element = |k: usize, segment: usize| match (k + segment) % 7 {
                0 => -0.0,
                1 => 1e16,
                2 => -1e16,
                rest => ((k * 7919 + segment * 104_729) % 1009) as f64 / 1000.0 + rest as f64 / 3.0,
            };
            let elements: Vec<[f64; N]> =
                (0..length).map(|k| std::array::from_fn(|segment| element(k, segment))).collect();
            let factors: Vec<[f64; N]> =
                elements.iter().map(|all| all.map(|element| 1.0 + element / 1e20 + element.signum() / 1e3)).collect();
            let (sums, products) = (at_once(false, &elements), at_once(true, &factors));
            for segment in 0..N {
                let of = |all: &[[f64; N]]| all.iter().map(|all| all[segment]).collect::<Vec<f64>>();
                let (sum, product) = (sum::reduce(0.0, add, &of(&elements)), sum::reduce(1.0, multiply, &of(&factors)));
                assert_eq!(sums[segment].to_bits(), sum.to_bits(), "{length} elements, segment {segment}");
                assert_eq!(products[segment].to_bits(), product.to_bits(), "{length} elements, segment {segment}");
            }
        }
    }

    #[test]
    fn a_sum_of_negative_zeros_is_zero_and_a_product_keeps_its_sign() {
        for length in [1, 2, 7, 16, 40] {
            let elements = vec![[-0.0; AT_ONCE]; length];
            assert_eq!(at_once(false, &elements).map(f64::to_bits), [0; AT_ONCE], "{length}");
            let one = at_once(true, &[[-0.0; AT_ONCE]]);
            assert_eq!(one.map(f64::to_bits), [(-0.0f64).to_bits(); AT_ONCE]);
        }
    }
}
