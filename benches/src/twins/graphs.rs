//! Graphs.

use rayon::prelude::*;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

/// A graph or a sparse matrix: row i is `targets[offsets[i]..offsets[i + 1]]`.
pub struct Rows<T> {
    /// Where each row begins, and the end of the last.
    pub offsets: Vec<usize>,
    /// The rows, one after another.
    pub targets: Vec<T>,
}

impl<T> Rows<T> {
    /// One row.
    pub fn row(&self, index: usize) -> &[T] {
        &self.targets[self.offsets[index]..self.offsets[index + 1]]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The distance of each vertex from vertex 0, -1 if it cannot be reached: breadth-first search, a frontier at a time.
pub fn bfs(graph: &Rows<usize>) -> Vec<i64> {
    let distances: Vec<AtomicI64> =
        (0..graph.len()).map(|vertex| AtomicI64::new(if vertex == 0 { 0 } else { -1 })).collect();
    let mut frontier = vec![0];
    let mut distance = 0;
    while !frontier.is_empty() {
        distance += 1;
        // A look first: the exchange is dear, and most neighbours have been reached.
        let reach = |&w: &usize| {
            let reached = &distances[w];
            reached.load(Relaxed) < 0 && reached.compare_exchange(-1, distance, Relaxed, Relaxed).is_ok()
        };
        frontier = frontier.par_iter().flat_map_iter(|&v| graph.row(v).iter().copied().filter(reach)).collect();
    }
    distances.into_iter().map(AtomicI64::into_inner).collect()
}

/// The least vertex of the component of each vertex: union and find, edges in parallel.
pub fn components((vertices, edges): &(usize, Vec<(usize, usize)>)) -> Vec<usize> {
    let parents: Vec<AtomicUsize> = (0..*vertices).map(AtomicUsize::new).collect();
    let find = |mut vertex: usize| loop {
        let parent = parents[vertex].load(Relaxed);
        if parent == vertex {
            return vertex;
        }
        let grandparent = parents[parent].load(Relaxed);
        // Halving of the path. Parents only ever become smaller ancestors, so an update that comes late does no harm.
        parents[vertex].store(grandparent, Relaxed);
        vertex = grandparent;
    };
    edges.par_iter().for_each(|&(u, v)| {
        loop {
            let (u, v) = (find(u), find(v));
            let (lesser, greater) = (u.min(v), u.max(v));
            if lesser == greater || parents[greater].compare_exchange(greater, lesser, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
    });
    (0..*vertices).into_par_iter().map(find).collect()
}
