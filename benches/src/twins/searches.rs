//! Combinatorics: primes and queens.

use rayon::prelude::*;

/// How many primes are below `n`: a segmented sieve, segments in parallel.
pub fn primes(n: &usize) -> i64 {
    const SEGMENT: usize = 1 << 17;
    let n = *n;
    if n <= 2 {
        return 0;
    }
    let root = (n - 1).isqrt();
    let mut is_small = vec![true; root + 1];
    let mut small = Vec::new();
    for i in 2..=root {
        if is_small[i] {
            small.push(i);
            (i * i..=root).step_by(i).for_each(|multiple| is_small[multiple] = false);
        }
    }
    (0..n.div_ceil(SEGMENT))
        .into_par_iter()
        .map(|segment| {
            let (start, end) = (segment * SEGMENT, ((segment + 1) * SEGMENT).min(n));
            let mut is_prime = vec![true; end - start];
            for &p in small.iter().take_while(|&&p| p * p < end) {
                let first = (p * p).max(start.div_ceil(p) * p);
                (first - start..end - start).step_by(p).for_each(|multiple| is_prime[multiple] = false);
            }
            is_prime.iter().zip(start..).filter(|&(&prime, i)| prime && i >= 2).count() as i64
        })
        .sum()
}

/// Queens that stand so far, one in each row.
#[derive(Clone, Copy)]
pub struct Board {
    /// How many there are room for.
    size: usize,
    row: usize,
    /// The columns that are taken, and those that the diagonals reach in the next row, as bits.
    columns: u64,
    left: u64,
    right: u64,
}

impl Board {
    /// A board without queens.
    pub fn empty(size: usize) -> Board {
        Board { size, row: 0, columns: 0, left: 0, right: 0 }
    }

    /// The boards with one queen more.
    fn next(self) -> impl Iterator<Item = Board> {
        let mut free = !(self.columns | self.left | self.right) & ((1 << self.size) - 1);
        std::iter::from_fn(move || {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            (bit != 0).then_some(Board {
                size: self.size,
                row: self.row + 1,
                columns: self.columns | bit,
                left: (self.left | bit) << 1,
                right: (self.right | bit) >> 1,
            })
        })
    }

    /// How many boards with all queens this one leads to.
    fn solutions(self) -> i64 {
        if self.row == self.size { 1 } else { self.next().map(Board::solutions).sum() }
    }

    /// How many boards this one leads to, with all queens or not, itself included: the work of the search.
    pub fn reachable(self) -> usize {
        1 + if self.row == self.size { 0 } else { self.next().map(Board::reachable).sum() }
    }
}

/// In how many ways n queens stand so that none attacks another: backtracking, the boards of two queens in parallel.
pub fn queens(n: &usize) -> i64 {
    let mut boards = vec![Board::empty(*n)];
    for _ in 0..2.min(*n) {
        boards = boards.into_iter().flat_map(Board::next).collect();
    }
    boards.into_par_iter().map(Board::solutions).sum()
}
