//! Strongly connected components: which forms must be checked together.

/// The strongly connected components of a graph, each after those it has edges to (Tarjan's algorithm).
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        edges: &'a [Vec<usize>],
        index: Vec<usize>,
        low: Vec<usize>,
        on_stack: Vec<bool>,
        stack: Vec<usize>,
        next: usize,
        found: Vec<Vec<usize>>,
    }

    impl Search<'_> {
        fn visit(&mut self, node: usize) {
            self.index[node] = self.next;
            self.low[node] = self.next;
            self.next += 1;
            self.stack.push(node);
            self.on_stack[node] = true;
            let edges = self.edges;
            for &other in &edges[node] {
                if self.index[other] == usize::MAX {
                    self.visit(other);
                    self.low[node] = self.low[node].min(self.low[other]);
                } else if self.on_stack[other] {
                    self.low[node] = self.low[node].min(self.index[other]);
                }
            }
            if self.low[node] == self.index[node] {
                let start = self.stack.iter().rposition(|&other| other == node).unwrap_or(0);
                let mut group = self.stack.split_off(start);
                group.iter().for_each(|&other| self.on_stack[other] = false);
                group.sort_unstable();
                self.found.push(group);
            }
        }
    }

    let count = edges.len();
    let mut search = Search {
        edges,
        index: vec![usize::MAX; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for node in 0..count {
        if search.index[node] == usize::MAX {
            search.visit(node);
        }
    }
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_use() {
        assert_eq!(components(&[vec![1], vec![2], vec![1], vec![0, 3]]), [vec![1, 2], vec![0], vec![3]]);
    }
}
