//! The twins: what a good engineer writes in Rust with rayon for the same problems, without tricks.

use rayon::prelude::*;

/// Functional quicksort: new vectors at each level, both halves in parallel, the library's sort below a grain.
pub fn quicksort(elements: &[i64]) -> Vec<i64> {
    const GRAIN: usize = 2048;
    if elements.len() < GRAIN {
        let mut sorted = elements.to_vec();
        sorted.sort_unstable();
        return sorted;
    }
    let pivot = elements[elements.len() / 2];
    let (mut lesser, mut equal, mut greater) = (Vec::new(), Vec::new(), Vec::new());
    for &element in elements {
        match element.cmp(&pivot) {
            std::cmp::Ordering::Less => lesser.push(element),
            std::cmp::Ordering::Equal => equal.push(element),
            std::cmp::Ordering::Greater => greater.push(element),
        }
    }
    let (mut sorted, above) = rayon::join(|| quicksort(&lesser), || quicksort(&greater));
    sorted.extend_from_slice(&equal);
    sorted.extend_from_slice(&above);
    sorted
}

/// How many primes are below `n`: a segmented sieve, segments in parallel.
pub fn primes(n: usize) -> usize {
    const SEGMENT: usize = 1 << 17;
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
            is_prime.iter().zip(start..).filter(|&(&prime, i)| prime && i >= 2).count()
        })
        .sum()
}

/// The dot product of two vectors.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.par_iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The positive elements of a vector.
pub fn filter(elements: &[i64]) -> Vec<i64> {
    elements.par_iter().copied().filter(|&x| x > 0).collect()
}
