//! Inputs, from a fixed generator: the same on every run and every machine.

use crate::twins::graphs::Rows;

/// A generator of random numbers: SplitMix64.
pub struct Random(u64);

impl Random {
    /// One that starts from a number.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A float from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Ints from -10^9 to 10^9.
pub fn random_ints(count: usize) -> Vec<i64> {
    let mut random = Random::new(1);
    (0..count).map(|_| random.below(2_000_000_001) as i64 - 1_000_000_000).collect()
}

/// Floats from 0 to 1.
pub fn random_floats(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.unit()).collect()
}

/// Points in the unit square.
pub fn square_points(count: usize) -> Vec<(f64, f64)> {
    let mut random = Random::new(2);
    (0..count).map(|_| (random.unit(), random.unit())).collect()
}

/// Points in the unit disk, everywhere equally dense.
pub fn disk_points(count: usize) -> Vec<(f64, f64)> {
    let mut random = Random::new(3);
    (0..count).map(|_| polar(random.unit().sqrt(), random.unit())).collect()
}

/// Points on the unit circle, but for rounding.
pub fn circle_points(count: usize) -> Vec<(f64, f64)> {
    let mut random = Random::new(4);
    (0..count).map(|_| polar(1.0, random.unit())).collect()
}

fn polar(radius: f64, turn: f64) -> (f64, f64) {
    let (sin, cos) = (2.0 * std::f64::consts::PI * turn).sin_cos();
    (radius * cos, radius * sin)
}

/// Elements in each row of a sparse matrix, on average.
pub const ROW: usize = 10;

/// A sparse matrix of as many columns as rows, all rows equally long.
pub fn uniform_matrix(rows: usize) -> Rows<(usize, f64)> {
    matrix(&vec![ROW; rows])
}

/// A sparse matrix whose k-th longest row has a k-th of the elements of the longest; the longest has a fifteenth of
/// all.
pub fn skewed_matrix(rows: usize) -> Rows<(usize, f64)> {
    let harmonic: f64 = (1..=rows).map(|k| 1.0 / k as f64).sum();
    let longest = (ROW * rows) as f64 / harmonic;
    let mut lengths: Vec<usize> = (1..=rows).map(|k| (longest / k as f64).round() as usize).collect();
    let mut random = Random::new(5);
    for i in (1..rows).rev() {
        lengths.swap(i, random.below(i + 1));
    }
    matrix(&lengths)
}

fn matrix(lengths: &[usize]) -> Rows<(usize, f64)> {
    let mut random = Random::new(6);
    let mut offsets = vec![0];
    let mut targets = Vec::new();
    for &length in lengths {
        targets.extend((0..length).map(|_| (random.below(lengths.len()), random.unit())));
        offsets.push(targets.len());
    }
    Rows { offsets, targets }
}

/// Edges between random vertices, ten for each vertex.
pub fn random_edges(vertices: usize) -> Vec<(usize, usize)> {
    let mut random = Random::new(7);
    (0..10 * vertices).map(|_| (random.below(vertices), random.below(vertices))).collect()
}

/// The neighbours of each vertex, where edges lead both ways.
pub fn adjacency(vertices: usize, edges: &[(usize, usize)]) -> Rows<usize> {
    let mut offsets = vec![0; vertices + 1];
    for &(u, v) in edges {
        offsets[u + 1] += 1;
        offsets[v + 1] += 1;
    }
    for vertex in 0..vertices {
        offsets[vertex + 1] += offsets[vertex];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0; 2 * edges.len()];
    for &(u, v) in edges {
        for (from, to) in [(u, v), (v, u)] {
            targets[next[from]] = to;
            next[from] += 1;
        }
    }
    Rows { offsets, targets }
}

/// A word that occurs in [`text`], neither often nor rarely.
pub const WORD: &[u8] = b"wombat";

/// A text of a vocabulary of 20,000 words, of which some are much more frequent than others, in lines of twelve words.
pub fn text(characters: usize) -> Vec<u8> {
    let mut random = Random::new(8);
    let mut vocabulary: Vec<Vec<u8>> =
        (0..20_000).map(|_| (0..2 + random.below(9)).map(|_| b'a' + random.below(26) as u8).collect()).collect();
    vocabulary[100] = WORD.to_vec();
    let mut text = Vec::with_capacity(characters + 16);
    let mut words = 0;
    while text.len() < characters {
        // The third power makes the first words frequent.
        let choice = random.unit();
        text.extend_from_slice(&vocabulary[(choice * choice * choice * vocabulary.len() as f64) as usize]);
        words += 1;
        text.push(if words % 12 == 0 { b'\n' } else { b' ' });
    }
    text.truncate(characters);
    text
}
