//! Dense matrices.

use super::Grid;
use crate::twins::graphs::Rows;

/// The product of two square matrices, by the loops in the order that is good for caches.
pub fn product((a, b): &(Grid<f64>, Grid<f64>)) -> Grid<f64> {
    let n = a.width;
    let mut c = Grid { width: n, cells: vec![0.0; n * n] };
    for i in 0..n {
        for k in 0..n {
            let x = a.cells[i * n + k];
            for j in 0..n {
                c.cells[i * n + j] += x * b.cells[k * n + j];
            }
        }
    }
    c
}

/// A matrix times a vector.
pub fn matrix_vector((m, v): &(Grid<f64>, Vec<f64>)) -> Vec<f64> {
    let mut result = vec![0.0; m.height()];
    for i in 0..result.len() {
        let mut sum = 0.0;
        for j in 0..m.width {
            sum += m.cells[i * m.width + j] * v[j];
        }
        result[i] = sum;
    }
    result
}

/// Both triangles of a matrix, in place of a copy of it.
pub fn lu(m: &Grid<f64>) -> Grid<f64> {
    let n = m.width;
    let mut m = m.clone();
    for k in 0..n {
        for i in k + 1..n {
            let factor = m.cells[i * n + k] / m.cells[k * n + k];
            m.cells[i * n + k] = factor;
            for j in k + 1..n {
                m.cells[i * n + j] -= factor * m.cells[k * n + j];
            }
        }
    }
    m
}

/// The solution of linear equations, by elimination with the largest pivot; the last column is the right side.
pub fn solve(rows: &Grid<f64>) -> Vec<f64> {
    let (n, width) = (rows.height(), rows.width);
    let mut m = rows.cells.clone();
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if m[i * width + k].abs() > m[best * width + k].abs() {
                best = i;
            }
        }
        for j in k..width {
            m.swap(k * width + j, best * width + j);
        }
        for i in k + 1..n {
            let factor = m[i * width + k] / m[k * width + k];
            for j in k + 1..width {
                m[i * width + j] -= factor * m[k * width + j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let mut known = 0.0;
        for j in k + 1..n {
            known += m[k * width + j] * x[j];
        }
        x[k] = (m[k * width + n] - known) / m[k * width + k];
    }
    x
}

/// The lengths of the shortest ways between all places.
pub fn shortest_paths(lengths: &Grid<i64>) -> Grid<i64> {
    let n = lengths.width;
    let mut d = lengths.clone();
    let mut through = vec![0; n];
    for k in 0..n {
        through.copy_from_slice(&d.cells[k * n..(k + 1) * n]);
        for i in 0..n {
            let first = d.cells[i * n + k];
            for j in 0..n {
                d.cells[i * n + j] = d.cells[i * n + j].min(first + through[j]);
            }
        }
    }
    d
}

/// Ten rounds of PageRank.
pub fn pagerank((incoming, degrees): &(Rows<usize>, Vec<i64>)) -> Vec<f64> {
    let n = degrees.len();
    let mut ranks = vec![1.0 / n as f64; n];
    for _ in 0..10 {
        let mut next = vec![0.0; n];
        for page in 0..n {
            let mut sum = 0.0;
            for &other in incoming.row(page) {
                sum += ranks[other] / degrees[other] as f64;
            }
            next[page] = 0.15 / n as f64 + 0.85 * sum;
        }
        ranks = next;
    }
    ranks
}

/// Columns moved and scaled to mean 0 and standard deviation 1.
pub fn standardise(table: &Grid<f64>) -> Grid<f64> {
    let (width, height) = (table.width, table.height());
    let n = height as f64;
    let mut result = table.clone();
    let (mut means, mut squares) = (vec![0.0; width], vec![0.0; width]);
    for i in 0..height {
        for j in 0..width {
            means[j] += table.cells[i * width + j] / n;
        }
    }
    for i in 0..height {
        for j in 0..width {
            let from_mean = table.cells[i * width + j] - means[j];
            squares[j] += from_mean * from_mean / n;
        }
    }
    for i in 0..height {
        for j in 0..width {
            result.cells[i * width + j] = (table.cells[i * width + j] - means[j]) / squares[j].sqrt();
        }
    }
    result
}
