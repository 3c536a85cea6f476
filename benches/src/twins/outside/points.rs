//! Points in the plane and in space.

use super::Grid;

type Point = (f64, f64);

/// Five rounds of k-means from the first eight points.
pub fn k_means(points: &[Point]) -> Vec<Point> {
    let mut centres = points[..8.min(points.len())].to_vec();
    for _ in 0..5 {
        let (mut xs, mut ys, mut counts) = ([0.0; 8], [0.0; 8], [0.0; 8]);
        for &(x, y) in points {
            let (mut best, mut least) = (0, f64::INFINITY);
            for k in 0..centres.len() {
                let (dx, dy) = (x - centres[k].0, y - centres[k].1);
                if dx * dx + dy * dy < least {
                    (best, least) = (k, dx * dx + dy * dy);
                }
            }
            xs[best] += x;
            ys[best] += y;
            counts[best] += 1.0;
        }
        for k in 0..centres.len() {
            centres[k] = (xs[k] / counts[k], ys[k] / counts[k]);
        }
    }
    centres
}

/// A place and a mass.
pub type Body = (f64, f64, f64, f64);

/// The forces of all bodies on each.
pub fn bodies(bodies: &[Body]) -> Vec<(f64, f64, f64)> {
    let mut forces = vec![(0.0, 0.0, 0.0); bodies.len()];
    for i in 0..bodies.len() {
        let (mut fx, mut fy, mut fz) = (0.0, 0.0, 0.0);
        for j in 0..bodies.len() {
            let (dx, dy, dz) = (bodies[j].0 - bodies[i].0, bodies[j].1 - bodies[i].1, bodies[j].2 - bodies[i].2);
            let square = dx * dx + dy * dy + dz * dz + 0.01;
            let strength = bodies[j].3 / (square * square.sqrt());
            fx += dx * strength;
            fy += dy * strength;
            fz += dz * strength;
        }
        forces[i] = (fx, fy, fz);
    }
    forces
}

fn cross(a: Point, b: Point, p: Point) -> f64 {
    (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0)
}

/// The convex hull, by quickhull.
pub fn convex_hull(points: &[Point]) -> Vec<Point> {
    fn side(points: &[Point], a: Point, b: Point, hull: &mut Vec<Point>) {
        let mut above = Vec::new();
        let (mut far, mut most) = (a, 0.0);
        for &p in points {
            let height = cross(a, b, p);
            if height > 0.0 {
                above.push(p);
                if height > most {
                    (far, most) = (p, height);
                }
            }
        }
        if above.is_empty() {
            hull.push(a);
        } else {
            side(&above, a, far, hull);
            side(&above, far, b, hull);
        }
    }
    let (mut a, mut b) = (points[0], points[0]);
    for &p in points {
        if p.0 < a.0 {
            a = p;
        }
        if p.0 > b.0 {
            b = p;
        }
    }
    let mut hull = Vec::new();
    side(points, a, b, &mut hull);
    side(points, b, a, &mut hull);
    hull
}

/// The distances of all points of one set to all of another.
pub fn distances((ps, qs): &(Grid<f64>, Grid<f64>)) -> Grid<f64> {
    let mut result = Grid { width: qs.height(), cells: vec![0.0; ps.height() * qs.height()] };
    for i in 0..ps.height() {
        for j in 0..qs.height() {
            let mut sum = 0.0;
            for k in 0..ps.width {
                let difference = ps.cells[i * ps.width + k] - qs.cells[j * qs.width + k];
                sum += difference * difference;
            }
            result.cells[i * qs.height() + j] = f64::sqrt(sum);
        }
    }
    result
}
