//! Random inputs, the same on every rank.

use nesl_prim::ScalarType;
use nesl_vcode::Constants;

/// SplitMix64: small, fixed, and good enough to choose test cases.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// A float of any size, or a negative zero: sums of such depend on their order.
    pub fn float(&mut self) -> f64 {
        if self.below(20) == 0 {
            return -0.0;
        }
        let fraction = (self.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        fraction * 10f64.powi(self.below(13) as i32 - 6)
    }

    /// Elements of any type. Floats stay near 1 in size if `mild`, so that products do not vanish.
    pub fn elements(&mut self, scalar_type: ScalarType, length: usize, mild: bool) -> Constants {
        match scalar_type {
            ScalarType::Int => Constants::Int((0..length).map(|_| self.next() as i64 >> self.below(64)).collect()),
            ScalarType::Float if mild => {
                Constants::Float((0..length).map(|_| 1.0 + self.float().clamp(-0.4, 0.4)).collect())
            }
            ScalarType::Float => Constants::Float((0..length).map(|_| self.float()).collect()),
            ScalarType::Bool => Constants::Bool((0..length).map(|_| self.below(3) > 0).collect()),
            ScalarType::Char => Constants::Char((0..length).map(|_| self.next() as u8).collect()),
        }
    }

    /// Characters of which most runs denote floats, if they are not too long.
    pub fn digits(&mut self, length: usize) -> Constants {
        Constants::Char((0..length).map(|_| b"0123456789012345678901234567890123456789.-e"[self.below(43)]).collect())
    }

    /// Indices into `bound` elements, crowded at the start half of the time.
    pub fn indices(&mut self, length: usize, bound: usize) -> Vec<i64> {
        let crowd = if self.below(2) == 0 { bound } else { bound.div_ceil(10) };
        (0..length).map(|_| self.below(crowd) as i64).collect()
    }

    /// The numbers below `length` in random order.
    pub fn permutation(&mut self, length: usize) -> Vec<i64> {
        let mut numbers: Vec<i64> = (0..length as i64).collect();
        for last in (1..length).rev() {
            numbers.swap(last, self.below(last + 1));
        }
        numbers
    }

    /// A type.
    pub fn scalar_type(&mut self) -> ScalarType {
        ScalarType::ALL[self.below(4)]
    }

    /// Lengths of segments that cover `total` elements: even, skewed, with many empty ones.
    pub fn lengths(&mut self, segments: usize, total: usize) -> Vec<i64> {
        if segments == 0 {
            return Vec::new();
        }
        let kind = self.below(4);
        let mut borders: Vec<usize> = (1..segments)
            .map(|_| match kind {
                0 => self.below(total + 1),
                // All in one segment somewhere, or nearly.
                1 => [0, total][self.below(2)],
                2 => total - self.below(total.min(7) + 1),
                _ => self.below(4) * total / 4,
            })
            .collect();
        borders.extend([0, total]);
        borders.sort_unstable();
        borders.windows(2).map(|pair| (pair[1] - pair[0]) as i64).collect()
    }

    /// Starts and lengths of views into `bound` elements.
    pub fn views(&mut self, segments: usize, bound: usize, longest: usize) -> (Vec<i64>, Vec<i64>) {
        let shared = self.below(3) == 0;
        let (start, length) = (self.below(bound + 1), self.below(longest + 1));
        (0..segments)
            .map(|_| {
                let start = if shared { start } else { self.below(bound + 1) };
                let wanted = match self.below(6) {
                    0 => 0,
                    _ if shared => length,
                    1 => longest * 20,
                    _ => self.below(longest + 1),
                };
                (start as i64, wanted.min(bound - start) as i64)
            })
            .unzip()
    }
}
