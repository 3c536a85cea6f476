//! Forces between bodies, after Barnes and Hut.

use rayon::prelude::*;

/// A body: its place and its mass.
pub type Body = (f64, f64, f64);

/// A node of the tree; nodes lie in depth-first order.
struct Node {
    /// The side of its square; 0 for a single body.
    size: f64,
    mass: f64,
    x: f64,
    y: f64,
    /// How many nodes there are in its subtree.
    count: usize,
}

/// The force on a unit of mass where each body is.
pub fn forces(bodies: &[Body]) -> Vec<(f64, f64)> {
    let nodes = tree(bodies, 0.5, 0.5, 1.0);
    bodies.par_iter().map(|&(x, y, _)| force(&nodes, x, y)).collect()
}

/// The tree of the bodies in a square with the centre (cx, cy).
fn tree(bodies: &[Body], cx: f64, cy: f64, size: f64) -> Vec<Node> {
    const GRAIN: usize = 1 << 10;
    if bodies.len() < GRAIN {
        let mut nodes = Vec::new();
        push_tree(bodies, cx, cy, size, &mut nodes);
        return nodes;
    }
    let subtrees: Vec<Vec<Node>> = quadrants(bodies, cx, cy, size)
        .into_par_iter()
        .filter(|(part, ..)| !part.is_empty())
        .map(|(part, cx, cy)| tree(&part, cx, cy, size / 2.0))
        .collect();
    let mut nodes = vec![middle(bodies, size)];
    nodes.extend(subtrees.into_iter().flatten());
    nodes[0].count = nodes.len();
    nodes
}

/// Adds that tree, by one thread.
fn push_tree(bodies: &[Body], cx: f64, cy: f64, size: f64, nodes: &mut Vec<Node>) {
    if let [(x, y, mass)] = bodies {
        nodes.push(Node { size: 0.0, mass: *mass, x: *x, y: *y, count: 1 });
        return;
    }
    let root = nodes.len();
    nodes.push(middle(bodies, size));
    for (part, cx, cy) in quadrants(bodies, cx, cy, size) {
        if !part.is_empty() {
            push_tree(&part, cx, cy, size / 2.0, nodes);
        }
    }
    nodes[root].count = nodes.len() - root;
}

/// The bodies of each quarter of a square, and its centre.
fn quadrants(bodies: &[Body], cx: f64, cy: f64, size: f64) -> [(Vec<Body>, f64, f64); 4] {
    let quarter = size / 4.0;
    let mut parts = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)]
        .map(|(dx, dy)| (Vec::new(), cx + dx * quarter, cy + dy * quarter));
    for &body in bodies {
        parts[usize::from(body.0 >= cx) + 2 * usize::from(body.1 >= cy)].0.push(body);
    }
    parts
}

/// The node of some bodies.
fn middle(bodies: &[Body], size: f64) -> Node {
    let (mut mass, mut x, mut y) = (0.0, 0.0, 0.0);
    for body in bodies {
        mass += body.2;
        x += body.2 * body.0;
        y += body.2 * body.1;
    }
    Node { size, mass, x: x / mass, y: y / mass, count: 1 }
}

/// The force on a unit of mass at a place.
fn force(nodes: &[Node], px: f64, py: f64) -> (f64, f64) {
    let (mut fx, mut fy) = (0.0, 0.0);
    let mut i = 0;
    while let Some(node) = nodes.get(i) {
        let (dx, dy) = (node.x - px, node.y - py);
        let square = dx * dx + dy * dy;
        if node.size * node.size < 0.25 * square || node.count == 1 {
            let soft = square + 1e-9;
            let strength = node.mass / (soft * soft.sqrt());
            fx += strength * dx;
            fy += strength * dy;
            i += node.count;
        } else {
            i += 1;
        }
    }
    (fx, fy)
}
