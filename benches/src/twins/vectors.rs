//! Flat vectors: maps, scans, reductions, gathers.

use rayon::prelude::*;

/// Elements that one task handles.
const BLOCK: usize = 1 << 16;

/// The sum of a term for each pair of elements. A single chain of additions would take four cycles for each, so there
/// are eight of them.
fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    a.par_chunks(BLOCK)
        .zip(b.par_chunks(BLOCK))
        .map(|(a, b)| {
            let (a, a_rest) = a.as_chunks::<8>();
            let (b, b_rest) = b.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for (a, b) in a.iter().zip(b) {
                for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
                    *sum += term(*x, *y);
                }
            }
            let rest: f64 = a_rest.iter().zip(b_rest).map(|(&x, &y)| term(x, y)).sum();
            sums.iter().sum::<f64>() + rest
        })
        .sum()
}

/// The dot product of two vectors.
pub fn dot((a, b): &(Vec<f64>, Vec<f64>)) -> f64 {
    sum_of(a, b, |x, y| x * y)
}

/// The line through points with the least squares of errors: where it is at 0, and its slope.
pub fn line_fit((xs, ys): &(Vec<f64>, Vec<f64>)) -> (f64, f64) {
    let n = xs.len() as f64;
    let (x_mean, y_mean) = (sum_of(xs, xs, |x, _| x) / n, sum_of(ys, ys, |y, _| y) / n);
    let spread = sum_of(xs, xs, |x, _| (x - x_mean) * (x - x_mean));
    let slope = sum_of(xs, ys, |x, y| (x - x_mean) * y) / spread;
    (y_mean - x_mean * slope, slope)
}

/// A function of each element.
pub fn map(elements: &[f64]) -> Vec<f64> {
    elements.par_iter().map(|x| x * x + 1.0).collect()
}

/// The elements at given indices.
pub fn gather((elements, indices): &(Vec<f64>, Vec<usize>)) -> Vec<f64> {
    indices.par_iter().map(|&index| elements[index]).collect()
}

/// Running sums: the sums of blocks first, then each block from what is before it.
pub fn plus_scan(elements: &[i64]) -> Vec<i64> {
    let mut starts: Vec<i64> = elements.par_chunks(BLOCK).map(|block| block.iter().sum()).collect();
    let mut total = 0;
    for start in &mut starts {
        total += std::mem::replace(start, total);
    }
    let mut sums = vec![0; elements.len()];
    sums.par_chunks_mut(BLOCK).zip(elements.par_chunks(BLOCK)).zip(starts).for_each(|((sums, elements), start)| {
        let mut running = start;
        for (sum, element) in sums.iter_mut().zip(elements) {
            *sum = running;
            running += element;
        }
    });
    sums
}

/// Of a run of elements: its sum, and the greatest sums at its start, at its end and anywhere in it.
#[derive(Clone, Copy, Default)]
struct Sums {
    total: i64,
    prefix: i64,
    suffix: i64,
    greatest: i64,
}

/// The greatest sum of neighbouring elements.
pub fn greatest_sum(elements: &[i64]) -> i64 {
    let of_block = |block: &[i64]| {
        block.iter().fold(Sums::default(), |sums, &x| {
            let total = sums.total + x;
            let suffix = (sums.suffix + x).max(0);
            Sums { total, prefix: sums.prefix.max(total), suffix, greatest: sums.greatest.max(suffix) }
        })
    };
    let joined = |left: Sums, right: Sums| Sums {
        total: left.total + right.total,
        prefix: left.prefix.max(left.total + right.prefix),
        suffix: right.suffix.max(right.total + left.suffix),
        greatest: left.greatest.max(right.greatest).max(left.suffix + right.prefix),
    };
    elements.par_chunks(BLOCK).map(of_block).reduce(Sums::default, joined).greatest
}
