//! Which nodes of a graph can reach each other: for call graphs, of the source as of the flat program.

/// A number for each of so many nodes: two have the same if each can be reached from the other along edges. In time
/// linear in the nodes and edges, and on no stack but its own.
pub fn components(count: usize, mut successors: impl FnMut(usize) -> Vec<usize>) -> Vec<usize> {
    // Tarjan's algorithm: `least` is the earliest node on the path that a node was seen to reach.
    const UNSEEN: usize = usize::MAX;
    let (mut order, mut least, mut component) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
    let (mut seen, mut open, mut path) = (0, Vec::new(), Vec::new());
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        path.push((root, Vec::new().into_iter()));
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            if order[node] == UNSEEN {
                (order[node], least[node]) = (seen, seen);
                seen += 1;
                open.push(node);
                *rest = successors(node).into_iter();
            }
            match rest.next() {
                Some(next) if order[next] == UNSEEN => path.push((next, Vec::new().into_iter())),
                Some(next) if component[next] == UNSEEN => least[node] = least[node].min(order[next]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((caller, _)) = path.last() {
                        least[*caller] = least[*caller].min(least[node]);
                    }
                    if least[node] == order[node] {
                        let first = open.iter().rposition(|&other| other == node).unwrap_or(0);
                        open.drain(first..).for_each(|member| component[member] = node);
                    }
                }
            }
        }
    }
    component
}

/// The nodes in an order in which each comes after those that it leads to, but for cycles: a depth-first search's
/// *postorder*. In time linear in the nodes and edges, and on no stack but its own.
pub fn postorder(count: usize, mut successors: impl FnMut(usize) -> Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for root in 0..count {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut path = vec![(root, successors(root))];
        while let Some((node, waiting)) = path.last_mut() {
            match waiting.pop() {
                Some(next) if std::mem::replace(&mut seen[next], true) => {}
                Some(next) => path.push((next, successors(next))),
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{components, postorder};

    #[test]
    fn nodes_come_after_those_they_lead_to() {
        let edges = [vec![1, 2], vec![3], vec![1, 3], vec![], vec![0], vec![6], vec![5]];
        let order = postorder(edges.len(), |node| edges[node].clone());
        let place = |node: usize| order.iter().position(|&other| other == node).unwrap();
        for (from, to) in [(0, 1), (0, 2), (1, 3), (2, 1), (4, 0)] {
            assert!(place(from) > place(to), "{from} {to}: {order:?}");
        }
        assert_eq!(order.len(), edges.len());
    }

    #[test]
    fn nodes_that_reach_each_other_are_one_component() {
        // Two cycles that one edge joins, a node that leads to itself, a chain, and one without edges.
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![5], vec![7], vec![3], vec![]];
        let found = components(edges.len(), |node| edges[node].clone());
        for one in 0..edges.len() {
            for other in 0..edges.len() {
                let reaches = |from: usize, to: usize| {
                    let (mut reached, mut next) = (vec![from], 0);
                    while next < reached.len() {
                        let new: Vec<usize> =
                            edges[reached[next]].iter().copied().filter(|node| !reached.contains(node)).collect();
                        reached.extend(new);
                        next += 1;
                    }
                    reached.contains(&to)
                };
                let expected = reaches(one, other) && reaches(other, one);
                assert_eq!(found[one] == found[other], expected, "{one} and {other}: {found:?}");
            }
        }
        // A chain that no stack of a thread would take, and a cycle as long.
        let chain = components(1_000_000, |node| if node + 1 < 1_000_000 { vec![node + 1] } else { Vec::new() });
        assert!(chain.windows(2).all(|pair| pair[0] != pair[1]));
        let cycle = components(1_000_000, |node| vec![(node + 1) % 1_000_000]);
        assert!(cycle.iter().all(|&component| component == cycle[0]));
    }
}
