//! Numerical programs: Fourier transform, matrices, the Mandelbrot set.

use super::graphs::Rows;
use rayon::prelude::*;

/// A complex number: real and imaginary part.
pub type Complex = (f64, f64);

fn multiply(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// From here on one thread goes on alone.
const GRAIN: usize = 1 << 13;

/// The fast Fourier transform of a sequence whose length is a power of two: recursion on its even and odd elements.
pub fn fft(input: &[Complex]) -> Vec<Complex> {
    let n = input.len();
    let angle = -2.0 * std::f64::consts::PI / n as f64;
    let root = |k: usize| {
        let (sin, cos) = (angle * k as f64).sin_cos();
        (cos, sin)
    };
    // The roots for each level lie side by side: those of half the length are every second one.
    let mut levels: Vec<Vec<Complex>> = vec![(0..n / 2).into_par_iter().map(root).collect()];
    while let Some(roots) = levels.last().filter(|roots| roots.len() > 1) {
        levels.push(roots.iter().step_by(2).copied().collect());
    }
    let mut output = input.to_vec();
    transform(&mut output, &mut vec![(0.0, 0.0); n], &levels);
    output
}

/// Transforms a sequence in its place, with as much room beside it.
fn transform(v: &mut [Complex], room: &mut [Complex], levels: &[Vec<Complex>]) {
    let n = v.len();
    let ([roots, smaller @ ..], 2..) = (levels, n) else { return };
    let (evens, odds) = room.split_at_mut(n / 2);
    let part = |((pair, even), odd): ((&[Complex], &mut Complex), &mut Complex)| (*even, *odd) = (pair[0], pair[1]);
    if n > GRAIN {
        let places = evens.par_iter_mut().zip(&mut *odds);
        let pairs = v.par_chunks_exact(2).zip(places).map(|(pair, (even, odd))| ((pair, even), odd));
        pairs.with_min_len(GRAIN).for_each(part);
    } else {
        v.chunks_exact(2).zip(&mut *evens).zip(&mut *odds).for_each(part);
    }
    let (low, high) = v.split_at_mut(n / 2);
    if n > GRAIN {
        rayon::join(|| transform(evens, low, smaller), || transform(odds, high, smaller));
    } else {
        transform(evens, low, smaller);
        transform(odds, high, smaller);
    }
    let butterfly = |(((low, high), (even, odd)), root): (Places<'_>, &Complex)| {
        let turned = multiply(*root, *odd);
        *low = (even.0 + turned.0, even.1 + turned.1);
        *high = (even.0 - turned.0, even.1 - turned.1);
    };
    if n > GRAIN {
        let halves = evens.par_iter().zip(&*odds);
        low.par_iter_mut().zip(high).zip(halves).zip(roots).with_min_len(GRAIN).for_each(butterfly);
    } else {
        let halves = evens.iter().zip(&*odds);
        low.iter_mut().zip(high).zip(halves).zip(roots).for_each(butterfly);
    }
}

/// Where a butterfly writes two elements, and the two that it reads.
type Places<'a> = ((&'a mut Complex, &'a mut Complex), (&'a Complex, &'a Complex));

/// A sparse matrix, rows of columns and values, times a vector.
pub fn spmv((matrix, vector): &(Rows<(usize, f64)>, Vec<f64>)) -> Vec<f64> {
    (0..matrix.len())
        .into_par_iter()
        .map(|row| matrix.row(row).iter().map(|&(column, value)| value * vector[column]).sum())
        .collect()
}

/// The product of two dense square matrices, rows one after another. The innermost loop runs along rows.
pub fn matrix_product((n, a, b): &(usize, Vec<f64>, Vec<f64>)) -> Vec<Vec<f64>> {
    a.par_chunks(*n)
        .map(|a_row| {
            let mut product = vec![0.0; *n];
            for (&x, b_row) in a_row.iter().zip(b.chunks(*n)) {
                for (sum, y) in product.iter_mut().zip(b_row) {
                    *sum += x * y;
                }
            }
            product
        })
        .collect()
}

/// After how many of at most 100 steps each point of a picture of the Mandelbrot set escapes.
pub fn mandelbrot(n: &usize) -> Vec<Vec<i64>> {
    let size = 2.5 / *n as f64;
    let escape = |cx: f64, cy: f64| {
        let (mut x, mut y, mut steps) = (0.0, 0.0, 0);
        while steps < 100 && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            steps += 1;
        }
        steps
    };
    (0..*n)
        .into_par_iter()
        .map(|row| (0..*n).map(|column| escape(column as f64 * size - 2.0, row as f64 * size - 1.25)).collect())
        .collect()
}
