//! The outsider's suite: programs as a user writes them first, before looking at what they become, beside plain loops.
//!
//! They come from books on algorithms, from the lists of problem-based benchmarks, and from tutorials. Nobody has tuned
//! them: they show what ordinary programs cost. Work is for one thread; the twins know no other.

use crate::answer::Agreement::{self, Exact, Within};
use crate::answer::Answer;
use crate::case::{Case, Row, Suite, Work};
use crate::input::{self, Random};
use crate::pieces::{chars, floats, graph, indices, int, int_tuples, ints, lengths, pairs, rows};
use crate::twins::graphs::Rows;
use crate::twins::outside::{Grid, dynamic, graphs, grids, keys, matrices, numbers, points, sorts, texts};
use nesl_backend::Piece;
use nesl_vcode::Constants;

/// A row, with the text of its program, which is called as the row is.
macro_rules! row {
    ($name:literal, $what:literal, $size:expr, $work:expr, $agreement:expr, $case:expr) => {
        Row {
            suite: Suite::Outside,
            name: $name,
            program: $name,
            text: include_str!(concat!("../outside/", $name, ".nesl")),
            what: $what,
            size: $size,
            work: $work,
            bytes: None,
            agreement: $agreement,
            case: $case,
        }
    };
}

const M: usize = 1_000_000;
const SUMS: Agreement = Within(1e-9);

/// All benchmarks.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("life", "five generations on a torus of n by n", 1500, Work::Square, Exact, life),
    row!("heat", "five steps on a plate of n by n", 2000, Work::Square, Exact,
        |n| { let plate = grid(n, n); Case::new(vec![matrix(&plate)], plate, grids::heat) }),
    row!("moving_average", "of 16 neighbours", 5 * M, Work::Elements, SUMS,
        |n| { let v = input::random_floats(n + 15, 1); Case::new(vec![floats(&v)], v, |v| grids::moving_average(v)) }),
    row!("convolution", "with a kernel of 64", 2 * M, Work::Elements, SUMS, |n| of_floats(n + 63, 64, grids::convolution)),
    row!("matrix_product", "of dense n by n matrices, by index", 512, Work::Cube, SUMS,
        |n| { let (a, b) = (grid(n, n), grid(n, n)); Case::new(vec![matrix(&a), matrix(&b)], (a, b), matrices::product) }),
    row!("matrix_vector", "dense n by n matrix times vector", 4000, Work::Square, SUMS,
        |n| { let (m, v) = (grid(n, n), input::random_floats(n, 2));
              Case::new(vec![matrix(&m), floats(&v)], (m, v), matrices::matrix_vector) }),
    row!("lu", "decomposition of a dense n by n matrix", 512, Work::Cube, Exact,
        |n| { let m = grid(n, n); Case::new(vec![matrix(&m)], m, matrices::lu) }),
    row!("solve", "n linear equations", 512, Work::Cube, Within(1e-6),
        |n| { let m = grid(n, n + 1); Case::new(vec![matrix(&m)], m, matrices::solve) }),
    row!("shortest_paths", "between n places, after Floyd and Warshall", 400, Work::Cube, Exact, shortest_paths),
    row!("pagerank", "ten rounds over n pages, 10 n links", M / 5, Work::Elements, SUMS, pagerank),
    row!("standardise", "20 columns of n numbers", M / 10, Work::Elements, SUMS,
        |n| { let table = grid(n, 20); Case::new(vec![matrix(&table)], table, matrices::standardise) }),
    row!("tokens", "of a text, counted by kind", 20 * M, Work::Elements, Exact, |n| of_text(code(n), texts::tokens)),
    row!("reverse_words", "the letters of each word", 20 * M, Work::Elements, Exact,
        |n| of_text(input::text(n), texts::reverse_words)),
    row!("word_count", "different words in small letters", 20 * M, Work::Elements, Exact,
        |n| of_text(capitals(n), texts::word_count)),
    row!("text_search", "a word at each place of a text", 50 * M, Work::Elements, Exact,
        |n| { let (word, text) = (input::WORD.to_vec(), input::text(n.max(10)));
              Case::new(vec![chars(&word), chars(&text)], (word, text), texts::text_search) }),
    row!("brackets", "matched, and how deep", 50 * M, Work::Elements, Exact, |n| of_text(brackets(n), texts::brackets)),
    row!("palindromes", "among the words of a text", 20 * M, Work::Elements, Exact,
        |n| of_text(input::text(n), texts::palindromes)),
    row!("caesar", "letters moved by three", 20 * M, Work::Elements, Exact, |n| of_text(capitals(n), texts::caesar)),
    row!("suffix_array", "of a text, by doubling", M / 2, Work::Sort, Exact,
        |n| of_text(input::text(n), texts::suffix_array)),
    row!("run_length", "of ints below 4", 10 * M, Work::Elements, Exact, |n| of_ints(below(n, 4), keys::run_length)),
    row!("histogram_small", "of ints below 256", 10 * M, Work::Elements, Exact,
        |n| of_ints(below(n, 256), |v| keys::histogram(v, 256))),
    row!("histogram_large", "of ints below a million", 10 * M, Work::Elements, Exact,
        |n| of_ints(below(n, M), |v| keys::histogram(v, M))),
    row!("duplicates", "of n ints below n / 2, removed", 5 * M, Work::Elements, Exact,
        |n| of_ints(below(n, n / 2 + 1), keys::duplicates)),
    row!("group_means", "floats by 1000 keys", 5 * M, Work::Elements, SUMS, group_means),
    row!("binary_search", "n ints in a table of n", M, Work::Sort, Exact,
        |n| { let (mut table, values) = (input::random_ints(n), below(n, M)); table.sort_unstable();
              Case::new(vec![ints(&table), ints(&values)], (table, values), keys::binary_search) }),
    row!("edit_distance", "of two texts of n characters", 4000, Work::Square, Exact, edit_distance),
    row!("knapsack", "of 200 things, for each weight up to n", M / 10, Work::Elements, Exact, knapsack),
    row!("increasing", "length of a longest increasing subsequence", M / 10, Work::Sort, Exact,
        |n| of_ints(input::random_ints(n), dynamic::increasing)),
    row!("pascal", "row n of the triangle", 5000, Work::Square, Exact, |n| of_size(n, dynamic::pascal)),
    row!("queens_boards", "n on a board of n by n, counted", 11, Work::Boards, Exact, |n| of_size(n, dynamic::queens)),
    row!("permutations", "of n numbers, all", 9, Work::Permutations, Exact, |n| of_size(n, dynamic::permutations)),
    row!("merge_sort", "random ints", M, Work::Sort, Exact, |n| of_ints(input::random_ints(n), sorts::merge_sort)),
    row!("radix_sort", "of ints of 20 bits, bit by bit", M, Work::Elements, Exact,
        |n| of_ints(below(n, 1 << 20), sorts::radix_sort)),
    row!("independent_set", "maximal, in a graph of n vertices, 10 n edges", 3 * M / 10, Work::Elements, Exact,
        |n| of_graph(n, graphs::independent_set)),
    row!("spanning_forest", "minimum, of n vertices, 5 n edges", M / 5, Work::Sort, Exact,
        |n| of_edges(n.max(2), graphs::spanning_forest)),
    row!("breadth_first", "distances in a graph of n vertices, 10 n edges", 3 * M / 10, Work::Elements, Exact,
        |n| of_graph(n, graphs::breadth_first)),
    row!("triangles", "in a graph of n vertices, 10 n edges", 30_000, Work::Elements, Exact,
        |n| of_graph(n, graphs::triangles)),
    row!("bellman_ford", "lengths of ways along 5 n edges", M / 10, Work::Elements, Exact,
        |n| of_edges(n.max(2), graphs::bellman_ford)),
    row!("sieve", "primes below n", 20 * M, Work::Elements, Exact, |n| of_size(n, numbers::sieve)),
    row!("perfect", "numbers below n", 10_000, Work::Square, Exact, |n| of_size(n.max(2), numbers::perfect)),
    row!("collatz", "longest way from a number below n", M / 2, Work::Elements, Exact,
        |n| of_size(n.max(2), numbers::collatz)),
    row!("polynomial", "of 32 coefficients at n points", M, Work::Elements, Exact,
        |n| { let (c, x) = (input::random_floats(32, 3), input::random_floats(n, 4));
              Case::new(vec![floats(&c), floats(&x)], (c, x), numbers::polynomial) }),
    row!("mandelbrot", "picture of n by n points", 512, Work::Square, Exact, |n| of_size(n, numbers::mandelbrot)),
    row!("bodies_direct", "forces between n bodies in space", 4000, Work::Square, SUMS, bodies),
    row!("prefix_sums", "of n ints", 20 * M, Work::Elements, Exact,
        |n| of_ints(input::random_ints(n), numbers::prefix_sums)),
    row!("best_trade", "among n prices", 20 * M, Work::Elements, Exact,
        |n| of_ints(input::random_ints(n), numbers::best_trade)),
    row!("k_means", "five rounds, 8 centres, n points", M, Work::Elements, SUMS,
        |n| { let p = input::square_points(n.max(8)); Case::new(vec![pairs(&p)], p, |p| points::k_means(p)) }),
    row!("convex_hull", "of n points in a square", 2 * M, Work::Elements, Exact,
        |n| { let p = input::square_points(n); Case::new(vec![pairs(&p)], p, |p| points::convex_hull(p)) }),
    row!("distances", "between n and n points in 16 dimensions", 1000, Work::Square, SUMS,
        |n| { let (p, q) = (grid(n, 16), grid(n, 16)); Case::new(vec![matrix(&p), matrix(&q)], (p, q), points::distances) }),
];

/// A signal and a kernel, coefficients and points.
type TwoVectors = (Vec<f64>, Vec<f64>);

/// The number of vertices, and edges with their weights.
type Edges = (usize, Vec<(i64, i64, i64)>);

fn of_ints<A: Answer + 'static>(elements: Vec<i64>, twin: fn(&[i64]) -> A) -> Case {
    Case::new(vec![ints(&elements)], elements, move |elements: &Vec<i64>| twin(elements))
}

fn of_text<A: Answer + 'static>(text: Vec<u8>, twin: fn(&[u8]) -> A) -> Case {
    Case::new(vec![chars(&text)], text, move |text: &Vec<u8>| twin(text))
}

fn of_size<A: Answer + 'static>(n: usize, twin: fn(&usize) -> A) -> Case {
    Case::new(vec![vec![int(n)]], n, twin)
}

fn of_floats(n: usize, m: usize, twin: fn(&TwoVectors) -> Vec<f64>) -> Case {
    let (a, b) = (input::random_floats(n, 5), input::random_floats(m, 6));
    Case::new(vec![floats(&a), floats(&b)], (a, b), twin)
}

fn of_graph<A: Answer + 'static>(vertices: usize, twin: fn(&Rows<usize>) -> A) -> Case {
    let edges = input::adjacency(vertices, &input::random_edges(vertices));
    Case::new(vec![graph(&edges)], edges, twin)
}

/// Edges without loops, whose weights are all different.
fn of_edges<A: Answer + 'static>(n: usize, twin: fn(&Edges) -> A) -> Case {
    let mut random = Random::new(20);
    let mut weights: Vec<i64> = (0..5 * n as i64).collect();
    for i in (1..weights.len()).rev() {
        weights.swap(i, random.below(i + 1));
    }
    let edges: Vec<(i64, i64, i64)> = weights
        .into_iter()
        .map(|weight| {
            let u = random.below(n);
            (u as i64, ((u + 1 + random.below(n - 1)) % n) as i64, weight)
        })
        .collect();
    let arguments = vec![vec![int(n)], int_tuples(&edges, &[|edge| edge.0, |edge| edge.1, |edge| edge.2])];
    Case::new(arguments, (n, edges), twin)
}

fn below(count: usize, limit: usize) -> Vec<i64> {
    let mut random = Random::new(21);
    (0..count).map(|_| random.below(limit) as i64).collect()
}

fn grid(height: usize, width: usize) -> Grid<f64> {
    Grid { width, cells: input::random_floats(height * width, 22 + width as u64) }
}

fn matrix(grid: &Grid<f64>) -> Vec<Piece> {
    rows(grid.width, floats(&grid.cells))
}

fn life(n: usize) -> Case {
    let board = Grid { width: n, cells: below(n * n, 2) };
    Case::new(vec![rows(n, ints(&board.cells))], board, grids::life)
}

fn shortest_paths(n: usize) -> Case {
    let lengths = Grid { width: n, cells: below(n * n, 1000) };
    Case::new(vec![rows(n, ints(&lengths.cells))], lengths, matrices::shortest_paths)
}

fn pagerank(n: usize) -> Case {
    let mut random = Random::new(23);
    let targets: Vec<usize> = (0..10 * n).map(|_| random.below(n)).collect();
    let incoming = Rows { offsets: (0..=n).map(|page| 10 * page).collect(), targets };
    let mut degrees = vec![0; n];
    incoming.targets.iter().for_each(|&page| degrees[page] += 1);
    let links = vec![lengths(&incoming), indices(incoming.targets.iter().copied())];
    Case::new(vec![links, ints(&degrees)], (incoming, degrees), matrices::pagerank)
}

fn group_means(n: usize) -> Case {
    let pairs: Vec<(i64, f64)> = below(n, 1000).into_iter().zip(input::random_floats(n, 7)).collect();
    let mut arguments = int_tuples(&pairs, &[|pair| pair.0]);
    arguments.push(Piece::Elements(Constants::Float(pairs.iter().map(|pair| pair.1).collect())));
    Case::new(vec![arguments], pairs, |pairs| keys::group_means(pairs, 1000))
}

fn edit_distance(n: usize) -> Case {
    let letters = |seed: u64| -> Vec<u8> {
        let mut random = Random::new(seed);
        (0..n).map(|_| b"acgt"[random.below(4)]).collect()
    };
    let (a, b) = (letters(24), letters(25));
    Case::new(vec![chars(&a), chars(&b)], (a, b), dynamic::edit_distance)
}

fn knapsack(capacity: usize) -> Case {
    let things: Vec<(i64, i64)> =
        below(200, 1000).into_iter().map(|w| w + 1).zip(below(400, 500).split_off(200)).collect();
    let arguments = vec![int_tuples(&things, &[|thing| thing.0, |thing| thing.1]), vec![int(capacity)]];
    Case::new(arguments, (things, capacity), dynamic::knapsack)
}

fn bodies(n: usize) -> Case {
    let mut random = Random::new(26);
    let bodies: Vec<points::Body> =
        (0..n).map(|_| (random.unit(), random.unit(), random.unit(), random.unit())).collect();
    let part = |part: fn(&points::Body) -> f64| Piece::Elements(Constants::Float(bodies.iter().map(part).collect()));
    let arguments = vec![vec![part(|b| b.0), part(|b| b.1), part(|b| b.2), part(|b| b.3)]];
    Case::new(arguments, bodies, |bodies| points::bodies(bodies))
}

/// A text of names, numbers, blanks and signs.
fn code(characters: usize) -> Vec<u8> {
    let mut random = Random::new(27);
    let mut text = Vec::with_capacity(characters + 8);
    while text.len() < characters {
        let alphabet: &[u8] = [b"abcxyz_XYZ".as_slice(), b"0123456789", b" \t\n ", b"+-*/()=<>;"][random.below(4)];
        for _ in 0..1 + random.below(8) {
            text.push(alphabet[random.below(alphabet.len())]);
        }
    }
    text.truncate(characters);
    text
}

/// A text of words, some letters of which are capitals.
fn capitals(characters: usize) -> Vec<u8> {
    let mut random = Random::new(28);
    input::text(characters).into_iter().map(|c| if random.below(8) == 0 { c.to_ascii_uppercase() } else { c }).collect()
}

/// A text with brackets that match.
fn brackets(characters: usize) -> Vec<u8> {
    let mut random = Random::new(29);
    let mut depth = 0;
    (0..characters)
        .map(|i| match random.below(3) {
            0 if depth + i + 1 < characters => {
                depth += 1;
                b'('
            }
            1 if depth > 0 => {
                depth -= 1;
                b')'
            }
            _ if depth > 0 && depth + i >= characters => {
                depth -= 1;
                b')'
            }
            _ => b'x',
        })
        .collect()
}
