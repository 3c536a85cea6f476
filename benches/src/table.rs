//! The table of benchmarks: what is run, at which size, on which input, and beside which twin.

use crate::answer::Agreement::{Exact, Within};
use crate::case::{Case, Row, Suite, Work};
use crate::input::{self, ROW, Random};
use crate::pieces::{chars, floats, indices, int, ints, lengths, pairs, rows};
use crate::twins::graphs::Rows;
use crate::twins::{bodies, filters, geometry, graphs, numeric, orders, searches, texts, vectors};
use nesl_backend::Piece;
use nesl_vcode::Constants;

/// A row, with the text of its program.
macro_rules! row {
    ($name:literal, $program:literal, $what:literal, $size:expr, $work:expr, $bytes:expr, $agreement:expr, $case:expr) => {
        Row {
            suite: Suite::Programs,
            name: $name,
            program: $program,
            text: include_str!(concat!("../programs/", $program, ".nesl")),
            what: $what,
            size: $size,
            work: $work,
            bytes: $bytes,
            agreement: $agreement,
            case: $case,
        }
    };
}

const M: usize = 1_000_000;

/// All benchmarks. Bytes are those of the input and of the output; a gather reads its indices and its elements.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("quicksort", "quicksort", "random ints", 10 * M, Work::Sort, None, Exact,
        |n| of_ints(input::random_ints(n), orders::quicksort)),
    row!("sort", "sort", "random ints", 10 * M, Work::Sort, None, Exact,
        |n| of_ints(input::random_ints(n), orders::sort)),
    row!("mergesort", "mergesort", "descending ints, by positions", 10 * M, Work::Sort, None, Exact,
        |n| of_ints((0..n as i64).rev().collect(), orders::mergesort)),
    row!("median", "median", "random ints", 10 * M, Work::Elements, None, Exact,
        |n| of_ints(input::random_ints(n), orders::median)),
    row!("primes", "primes", "below n, by a sieve", 100 * M, Work::Elements, None, Exact,
        |n| Case::new(vec![vec![int(n)]], n, searches::primes)),
    row!("queens", "queens", "n on a board of n by n, counted", 12, Work::Boards, None, Exact,
        |n| Case::new(vec![vec![int(n)]], n, searches::queens)),
    row!("hull-square", "quickhull", "random points in a square", M, Work::Elements, None, Exact,
        |n| hull(input::square_points(n))),
    row!("hull-disk", "quickhull", "random points in a disk", M, Work::Elements, None, Exact,
        |n| hull(input::disk_points(n))),
    row!("hull-circle", "quickhull", "random points on a circle", M, Work::Sort, None, Exact,
        |n| hull(input::circle_points(n))),
    row!("fft", "fft", "complex numbers", 1 << 20, Work::Powers, None, Within(1e-12), fft),
    row!("spmv", "spmv", "sparse matrix of equal rows times vector", M, Work::Elements, Some(16 * ROW + 24), Within(1e-12),
        |n| spmv(input::uniform_matrix(n))),
    row!("spmv-skewed", "spmv", "sparse matrix of unequal rows times vector", M, Work::Elements, Some(16 * ROW + 24), Within(1e-12),
        |n| spmv(input::skewed_matrix(n))),
    row!("matrix", "matrix", "product of dense n by n matrices", 512, Work::Cube, None, Within(1e-12), matrix),
    row!("mandelbrot", "mandelbrot", "picture of n by n points", 1024, Work::Square, None, Exact,
        |n| Case::new(vec![vec![int(n)]], n, numeric::mandelbrot)),
    row!("bodies", "bodies", "forces after Barnes and Hut in the plane", M / 10, Work::Sort, None, Within(1e-9), forces),
    row!("bfs", "bfs", "distances in a random graph of n vertices, 10 n edges", M, Work::Elements, None, Exact, bfs),
    row!("components", "components", "of the same graph", M, Work::Elements, None, Exact, components),
    row!("words", "words", "different words of a text, counted", 100 * M, Work::Elements, None, Exact,
        |n| { let text = input::text(n); Case::new(vec![chars(&text)], text, |text| texts::count_words(text)) }),
    row!("search", "search", "positions of a word in a text", 100 * M, Work::Elements, Some(1), Exact,
        |n| { let (word, text) = (input::WORD.to_vec(), input::text(n));
              Case::new(vec![chars(&word), chars(&text)], (word, text), texts::search) }),
    row!("line-fit", "line_fit", "least squares", 10 * M, Work::Elements, Some(16), Within(1e-9), line_fit),
    row!("greatest-sum", "greatest_sum", "of neighbouring elements", 100 * M, Work::Elements, Some(8), Exact,
        |n| of_ints(input::random_ints(n), vectors::greatest_sum)),
    row!("dot", "dot", "product of float vectors", 100 * M, Work::Elements, Some(16), Within(1e-12),
        |n| { let (a, b) = (input::random_floats(n, 9), input::random_floats(n, 10));
              Case::new(vec![floats(&a), floats(&b)], (a, b), vectors::dot) }),
    row!("plus-scan", "plus_scan", "of ints", 100 * M, Work::Elements, Some(16), Exact,
        |n| of_ints(input::random_ints(n), vectors::plus_scan)),
    row!("filter", "filter", "random ints, half of them kept", 100 * M, Work::Elements, Some(12), Exact,
        |n| of_ints(input::random_ints(n), |v| filters::filtered(v, |&x| x > 0))),
    row!("gather", "gather", "floats at random indices", 100 * M, Work::Elements, Some(24), Exact, gather),
    row!("map", "map", "of floats", 100 * M, Work::Elements, Some(16), Exact,
        |n| { let a = input::random_floats(n, 9); Case::new(vec![floats(&a)], a, |a| vectors::map(a)) }),
];

fn of_ints<A: crate::answer::Answer + 'static>(elements: Vec<i64>, twin: fn(&[i64]) -> A) -> Case {
    Case::new(vec![ints(&elements)], elements, move |elements: &Vec<i64>| twin(elements))
}

fn hull(points: Vec<(f64, f64)>) -> Case {
    Case::new(vec![pairs(&points)], points, |points| geometry::quickhull(points))
}

fn fft(n: usize) -> Case {
    let elements = input::square_points(n);
    Case::new(vec![pairs(&elements)], elements, |elements| numeric::fft(elements))
}

fn spmv(matrix: Rows<(usize, f64)>) -> Case {
    let vector = input::random_floats(matrix.len(), 11);
    let columns = indices(matrix.targets.iter().map(|(column, _)| *column));
    let values = Piece::Elements(Constants::Float(matrix.targets.iter().map(|(_, value)| *value).collect()));
    let arguments = vec![vec![lengths(&matrix), columns, values], floats(&vector)];
    Case::new(arguments, (matrix, vector), numeric::spmv)
}

fn matrix(n: usize) -> Case {
    let (a, b) = (input::random_floats(n * n, 12), input::random_floats(n * n, 13));
    Case::new(vec![rows(n, floats(&a)), rows(n, floats(&b))], (n, a, b), numeric::matrix_product)
}

fn forces(n: usize) -> Case {
    let mut random = Random::new(14);
    let bodies: Vec<bodies::Body> = (0..n).map(|_| (random.unit(), random.unit(), 0.5 + random.unit())).collect();
    let part = |part: fn(&bodies::Body) -> f64| Piece::Elements(Constants::Float(bodies.iter().map(part).collect()));
    let arguments = vec![vec![part(|body| body.0), part(|body| body.1), part(|body| body.2)]];
    Case::new(arguments, bodies, |bodies| bodies::forces(bodies))
}

fn bfs(vertices: usize) -> Case {
    let graph = input::adjacency(vertices, &input::random_edges(vertices));
    let arguments = vec![vec![lengths(&graph), indices(graph.targets.iter().copied())]];
    Case::new(arguments, graph, graphs::bfs)
}

fn components(vertices: usize) -> Case {
    let edges = input::random_edges(vertices);
    let arguments = vec![
        vec![int(vertices)],
        vec![indices(edges.iter().map(|edge| edge.0)), indices(edges.iter().map(|edge| edge.1))],
    ];
    Case::new(arguments, (vertices, edges), graphs::components)
}

fn line_fit(n: usize) -> Case {
    let (xs, noise) = (input::random_floats(n, 15), input::random_floats(n, 16));
    let ys: Vec<f64> = xs.iter().zip(&noise).map(|(x, noise)| 3.0 + 2.0 * x + noise).collect();
    Case::new(vec![floats(&xs), floats(&ys)], (xs, ys), vectors::line_fit)
}

fn gather(n: usize) -> Case {
    let mut random = Random::new(17);
    let elements = input::random_floats(n, 9);
    let places: Vec<usize> = (0..n).map(|_| random.below(n)).collect();
    let arguments = vec![floats(&elements), vec![indices(places.iter().copied())]];
    Case::new(arguments, (elements, places), vectors::gather)
}
