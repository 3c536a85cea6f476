//! Numerical programs: Fourier transform, matrices, the Mandelbrot set.

use super::graphs::Rows;
use rayon::prelude::*;

/// A complex number: real and imaginary part.
pub type Complex = (f64, f64);

fn multiply(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// The fast Fourier transform of a sequence whose length is a power of two: recursion on its even and odd elements.
pub fn fft(input: &[Complex]) -> Vec<Complex> {
    let n = input.len();
    let angle = -2.0 * std::f64::consts::PI / n as f64;
    let roots: Vec<Complex> = (0..n / 2)
        .into_par_iter()
        .map(|k| {
            let (sin, cos) = (angle * k as f64).sin_cos();
            (cos, sin)
        })
        .collect();
    let mut output = vec![(0.0, 0.0); n];
    transform(input, 1, &roots, &mut output);
    output
}

/// Transforms every `stride`-th element of the input. The roots are those of the whole.
fn transform(input: &[Complex], stride: usize, roots: &[Complex], output: &mut [Complex]) {
    const GRAIN: usize = 1 << 13;
    match output {
        [] => {}
        [only] => *only = input[0],
        [first, second] => {
            let (a, b) = (input[0], input[stride]);
            *first = (a.0 + b.0, a.1 + b.1);
            *second = (a.0 - b.0, a.1 - b.1);
        }
        _ => {
            let n = output.len();
            let (evens, odds) = output.split_at_mut(n / 2);
            let mut even = || transform(input, stride * 2, roots, evens);
            let mut odd = || transform(&input[stride..], stride * 2, roots, odds);
            if n > GRAIN {
                rayon::join(even, odd);
            } else {
                even();
                odd();
            }
            let butterfly = |((a, b), &root): ((&mut Complex, &mut Complex), &Complex)| {
                let turned = multiply(root, *b);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            };
            let (evens, odds) = output.split_at_mut(n / 2);
            if n > GRAIN {
                let roots = (0..n / 2).into_par_iter().map(|k| &roots[k * stride]);
                evens.par_iter_mut().zip(odds).zip(roots).with_min_len(GRAIN / 2).for_each(butterfly);
            } else {
                evens.iter_mut().zip(odds).zip(roots.iter().step_by(stride)).for_each(butterfly);
            }
        }
    }
}

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
