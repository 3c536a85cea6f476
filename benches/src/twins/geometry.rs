//! Convex hulls.

use super::filters::filtered;
use rayon::prelude::*;

/// A point in the plane.
pub type Point = (f64, f64);

/// From here on one thread goes on alone.
const GRAIN: usize = 1 << 12;

/// How far a point is above the line from `p` to `q`, times the length.
fn cross(o: Point, p: Point, q: Point) -> f64 {
    (p.0 - o.0) * (q.1 - o.1) - (p.1 - o.1) * (q.0 - o.0)
}

/// Quickhull: the corners clockwise from the leftmost.
pub fn quickhull(points: &[Point]) -> Vec<Point> {
    let left = first_of_greatest(points, |point| -point.0);
    let right = first_of_greatest(points, |point| point.0);
    let (mut hull, below) = rayon::join(|| above(points, left, right), || above(points, right, left));
    hull.extend_from_slice(&below);
    hull
}

/// The corners above the line from `p` to `q`, `p` included and `q` not.
fn above(points: &[Point], p: Point, q: Point) -> Vec<Point> {
    let outside = filtered(points, |&o| cross(o, p, q) > 0.0);
    if outside.len() < GRAIN {
        let mut corners = Vec::new();
        push_above(&outside, p, q, &mut corners);
        return corners;
    }
    let top = first_of_greatest(&outside, |&o| cross(o, p, q));
    let (mut corners, rest) = rayon::join(|| above(&outside, p, top), || above(&outside, top, q));
    corners.extend_from_slice(&rest);
    corners
}

/// The same of points all of which are above the line, by one thread.
fn push_above(outside: &[Point], p: Point, q: Point, corners: &mut Vec<Point>) {
    if outside.is_empty() {
        corners.push(p);
        return;
    }
    let top = first_of_greatest(outside, |&o| cross(o, p, q));
    for (a, b) in [(p, top), (top, q)] {
        let further: Vec<Point> = outside.iter().copied().filter(|&o| cross(o, a, b) > 0.0).collect();
        push_above(&further, a, b, corners);
    }
}

/// The first of the points with the greatest key.
fn first_of_greatest(points: &[Point], key: impl Fn(&Point) -> f64 + Sync) -> Point {
    let first_in = |points: &[Point]| {
        let mut best = (points[0], key(&points[0]));
        for point in &points[1..] {
            let key = key(point);
            if key > best.1 {
                best = (*point, key);
            }
        }
        best
    };
    if points.len() <= GRAIN {
        return first_in(points).0;
    }
    let bests: Vec<(Point, f64)> = points.par_chunks(GRAIN).map(first_in).collect();
    bests
        .into_iter()
        .reduce(|best, other| if other.1 > best.1 { other } else { best })
        .map_or((0.0, 0.0), |best| best.0)
}
