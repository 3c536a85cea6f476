//! Which rank holds which elements: all the arithmetic of blocks and offsets.
//!
//! A partitioned column of `length` elements is cut into blocks of index, one for each rank, whose bounds depend on the
//! length and the number of ranks alone; so every rank knows where every element is without asking.

use std::ops::Range;

/// One rank's view of the division into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// This rank.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
}

impl Layout {
    /// The first index of the block of `rank`; the length itself for the rank after the last.
    pub fn bound(self, length: usize, rank: usize) -> usize {
        // The same formula as `Engine::share`, which readers of files rely on.
        (length as u128 * rank as u128 / self.ranks as u128) as usize
    }

    /// The bounds of all blocks: one more than there are ranks.
    pub fn bounds(self, length: usize) -> Vec<usize> {
        (0..=self.ranks).map(|rank| self.bound(length, rank)).collect()
    }

    /// The block of `rank`.
    pub fn block(self, length: usize, rank: usize) -> Range<usize> {
        self.bound(length, rank)..self.bound(length, rank + 1)
    }

    /// The block of this rank.
    pub fn share(self, length: usize) -> Range<usize> {
        self.block(length, self.rank)
    }

    /// The rank whose block holds `index`, which must be below `length`.
    pub fn owner(self, length: usize, index: usize) -> usize {
        debug_assert!(index < length, "element {index} of {length}");
        (((index as u128 + 1) * self.ranks as u128 - 1) / length as u128) as usize
    }
}

/// Finds owners by the bounds of all blocks: for loops over many indices.
#[derive(Clone, Copy, Debug)]
pub struct Owners<'a> {
    bounds: &'a [usize],
    /// Ranks for each index: blocks are as equal as they can be, so that this nearly finds the owner.
    scale: f64,
}

impl<'a> Owners<'a> {
    /// Owners of the blocks with these bounds, as [`Layout::bounds`] gives them.
    pub fn new(bounds: &'a [usize]) -> Owners<'a> {
        let ranks = bounds.len() - 1;
        Owners { bounds, scale: ranks as f64 / bounds[ranks].max(1) as f64 }
    }

    /// The rank whose block holds `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(self, index: usize) -> usize {
        let mut owner = ((index as f64 * self.scale) as usize).min(self.bounds.len() - 2);
        while self.bounds[owner] > index {
            owner -= 1;
        }
        while self.bounds[owner + 1] <= index {
            owner += 1;
        }
        owner
    }
}

/// Where each of some pieces starts when they lie one after another; last, where they end.
pub fn offsets(counts: &[usize]) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(counts.len() + 1);
    let mut end = 0;
    offsets.push(end);
    for count in counts {
        end += count;
        offsets.push(end);
    }
    offsets
}

/// What two ranges have in common.
pub fn overlap(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    let start = left.start.max(right.start);
    start..left.end.min(right.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_length_and_owners_agree() {
        for ranks in 1..8 {
            for length in 0..40 {
                let layout = Layout { rank: 0, ranks };
                let bounds = layout.bounds(length);
                assert_eq!((bounds[0], bounds[ranks]), (0, length));
                for index in 0..length {
                    let owner = layout.owner(length, index);
                    assert!(layout.block(length, owner).contains(&index), "{index} of {length} on {ranks}");
                    assert_eq!(Owners::new(&bounds).of(index), owner);
                }
            }
        }
    }

    #[test]
    fn bounds_of_huge_lengths_do_not_overflow() {
        let layout = Layout { rank: 6, ranks: 7 };
        assert_eq!(layout.share(usize::MAX).end, usize::MAX);
        assert_eq!(layout.owner(usize::MAX, usize::MAX - 1), 6);
        assert_eq!(Owners::new(&layout.bounds(usize::MAX)).of(usize::MAX - 1), 6);
    }

    #[test]
    fn overlaps_and_offsets() {
        assert_eq!(overlap(&(0..5), &(3..9)), 3..5);
        assert!(overlap(&(0..2), &(3..9)).is_empty());
        assert_eq!(offsets(&[2, 0, 3]), [0, 2, 2, 5]);
    }
}
