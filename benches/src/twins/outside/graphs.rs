//! Graphs.

use crate::twins::graphs::Rows;

/// A maximal independent set: 1 for a vertex in it, 2 for others.
pub fn independent_set(graph: &Rows<usize>) -> Vec<i64> {
    let mut states = vec![0; graph.len()];
    for v in 0..graph.len() {
        let mut state = 1;
        for &w in graph.row(v) {
            if w < v && states[w] == 1 {
                state = 2;
                break;
            }
        }
        states[v] = state;
    }
    states
}

/// The weight of a minimum spanning forest: edges by weight, which are all numbers below their count, and trees of sets.
pub fn spanning_forest((n, edges): &(usize, Vec<(i64, i64, i64)>)) -> i64 {
    fn root(parents: &mut [usize], mut v: usize) -> usize {
        while parents[v] != v {
            parents[v] = parents[parents[v]];
            v = parents[v];
        }
        v
    }
    let mut by_weight = vec![0; edges.len()];
    for (i, &(_, _, weight)) in edges.iter().enumerate() {
        by_weight[weight as usize] = i;
    }
    let mut parents: Vec<usize> = (0..*n).collect();
    let mut total = 0;
    for i in by_weight {
        let (u, v, weight) = edges[i];
        let (a, b) = (root(&mut parents, u as usize), root(&mut parents, v as usize));
        if a != b {
            parents[a] = b;
            total += weight;
        }
    }
    total
}

/// The distance of each vertex from vertex 0, or -1.
pub fn breadth_first(graph: &Rows<usize>) -> Vec<i64> {
    let mut distances = vec![-1; graph.len()];
    distances[0] = 0;
    let mut queue = vec![0];
    let mut next = 0;
    while next < queue.len() {
        let v: usize = queue[next];
        next += 1;
        for &w in graph.row(v) {
            if distances[w] < 0 {
                distances[w] = distances[v] + 1;
                queue.push(w);
            }
        }
    }
    distances
}

/// How many triangles there are.
pub fn triangles(graph: &Rows<usize>) -> i64 {
    let mut count = 0;
    for u in 0..graph.len() {
        for &v in graph.row(u) {
            if v <= u {
                continue;
            }
            for &x in graph.row(u) {
                for &y in graph.row(v) {
                    count += i64::from(x == y && x > u && y > v);
                }
            }
        }
    }
    count
}

/// The lengths of the shortest ways from vertex 0: rounds over all edges until nothing gets better.
pub fn bellman_ford((n, edges): &(usize, Vec<(i64, i64, i64)>)) -> Vec<i64> {
    let mut lengths = vec![1_000_000_000; *n];
    lengths[0] = 0;
    loop {
        let before = lengths.clone();
        for &(u, v, weight) in edges {
            let length = before[u as usize] + weight;
            if length < lengths[v as usize] {
                lengths[v as usize] = length;
            }
        }
        if lengths == before {
            return lengths;
        }
    }
}
