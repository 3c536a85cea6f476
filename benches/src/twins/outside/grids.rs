//! Cells and their neighbours, in one dimension and in two.

use super::Grid;

/// Some generations of the Game of Life on a torus.
pub fn life(board: &Grid<i64>) -> Grid<i64> {
    let (width, height) = (board.width, board.height());
    let mut now = board.clone();
    let mut then = board.clone();
    for _ in 0..5 {
        for i in 0..height {
            let (above, below) = ((i + height - 1) % height * width, (i + 1) % height * width);
            let row = i * width;
            for j in 0..width {
                let left = if j == 0 { width - 1 } else { j - 1 };
                let right = if j == width - 1 { 0 } else { j + 1 };
                let mut around = 0;
                for start in [above, row, below] {
                    around += now.cells[start + left] + now.cells[start + j] + now.cells[start + right];
                }
                let lives = around == 3 || (around == 4 && now.cells[row + j] == 1);
                then.cells[row + j] = i64::from(lives);
            }
        }
        std::mem::swap(&mut now, &mut then);
    }
    now
}

/// Some steps of heat in a plate whose edges are kept.
pub fn heat(plate: &Grid<f64>) -> Grid<f64> {
    let (width, height) = (plate.width, plate.height());
    let mut now = plate.clone();
    let mut then = plate.clone();
    for _ in 0..5 {
        for i in 1..height.max(1) - 1 {
            for j in 1..width - 1 {
                let at = i * width + j;
                let cells = &now.cells;
                then.cells[at] = 0.25 * (cells[at - width] + cells[at + width] + cells[at - 1] + cells[at + 1]);
            }
        }
        std::mem::swap(&mut now, &mut then);
    }
    now
}

/// The means of sixteen neighbours.
pub fn moving_average(v: &[f64]) -> Vec<f64> {
    let mut means = vec![0.0; v.len() - 15];
    for i in 0..means.len() {
        let mut sum = 0.0;
        for j in 0..16 {
            sum += v[i + j];
        }
        means[i] = sum / 16.0;
    }
    means
}

/// A convolution, where the kernel lies in the signal.
pub fn convolution((signal, kernel): &(Vec<f64>, Vec<f64>)) -> Vec<f64> {
    let mut result = vec![0.0; signal.len() - kernel.len() + 1];
    for i in 0..result.len() {
        let mut sum = 0.0;
        for j in 0..kernel.len() {
            sum += kernel[j] * signal[i + j];
        }
        result[i] = sum;
    }
    result
}
