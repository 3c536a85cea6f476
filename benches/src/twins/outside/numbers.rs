//! Numbers: primes, divisors, steps, sums.

use super::Grid;

/// The primes below n, by crossing out.
pub fn sieve(&n: &usize) -> Vec<i64> {
    let mut is_prime = vec![true; n];
    let mut primes = Vec::new();
    for p in 2..n {
        if is_prime[p] {
            primes.push(p as i64);
            let mut multiple = p * p;
            while multiple < n {
                is_prime[multiple] = false;
                multiple += p;
            }
        }
    }
    primes
}

/// The perfect numbers below n.
pub fn perfect(&n: &usize) -> Vec<i64> {
    let mut found = Vec::new();
    for k in 2..n as i64 {
        let mut sum = 0;
        for d in 1..k / 2 + 1 {
            if k % d == 0 {
                sum += d;
            }
        }
        if sum == k {
            found.push(k);
        }
    }
    found
}

/// The number below n from which it is the most steps to 1.
pub fn collatz(&n: &usize) -> i64 {
    let (mut best, mut most) = (0, -1);
    for k in 1..n as i64 {
        let (mut x, mut steps) = (k, 0);
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            steps += 1;
        }
        if steps > most {
            (best, most) = (k, steps);
        }
    }
    best
}

/// A polynomial at many points.
pub fn polynomial((coefficients, points): &(Vec<f64>, Vec<f64>)) -> Vec<f64> {
    let mut values = vec![0.0; points.len()];
    for i in 0..points.len() {
        let mut value = 0.0;
        for k in 0..coefficients.len() {
            value = value * points[i] + coefficients[k];
        }
        values[i] = value;
    }
    values
}

/// Steps until points leave the Mandelbrot set.
pub fn mandelbrot(&n: &usize) -> Grid<i64> {
    let mut steps = Grid { width: n, cells: vec![0; n * n] };
    for y in 0..n {
        for x in 0..n {
            let (cx, cy) = (3.0 * x as f64 / n as f64 - 2.0, 2.0 * y as f64 / n as f64 - 1.0);
            let (mut zx, mut zy, mut count) = (0.0f64, 0.0f64, 0);
            while count < 100 && (zx * zx + zy * zy).sqrt() <= 2.0 {
                (zx, zy) = (zx * zx - zy * zy + cx, zx * zy + zy * zx + cy);
                count += 1;
            }
            steps.cells[y * n + x] = count;
        }
    }
    steps
}

/// Running sums.
pub fn prefix_sums(v: &[i64]) -> Vec<i64> {
    let mut sums = vec![0; v.len()];
    let mut sum = 0i64;
    for i in 0..v.len() {
        sum = sum.wrapping_add(v[i]);
        sums[i] = sum;
    }
    sums
}

/// The most that one purchase and one later sale earn.
pub fn best_trade(prices: &[i64]) -> i64 {
    let (mut lowest, mut best) = (prices[0], i64::MIN);
    for i in 1..prices.len() {
        best = best.max(prices[i] - lowest);
        lowest = lowest.min(prices[i]);
    }
    best
}
