//! What programs send and hold on ranks, by counters: bytes for each element, how evenly work and memory are spread,
//! and how the number of collectives grows with that of the ranks. The programs are those of `tests/ranks`, the bounds
//! those of the cost model.

use nesl_tests::launcher;
use nesl_tests::programs::root;
use nesl_tests::stats::Table;
use std::path::Path;
use std::process::{Command, Stdio};

/// The numbers of ranks.
const RANKS: [usize; 4] = [2, 4, 8, 16];

/// What must hold of a program.
struct Bounds {
    name: &'static str,
    /// Elements of its data.
    elements: usize,
    /// Elements of the longest column that it makes.
    longest: usize,
    /// Bytes that all ranks together send for each of them at most, if anything is known of that.
    bytes: fn(ranks: usize) -> f64,
    /// The most that a rank does, and holds at any time, relative to the mean.
    imbalance: f64,
    /// The most that a rank holds of one column, relative to its fair share.
    part: f64,
    /// Collectives for each doubling of the ranks at most.
    collectives: u64,
    /// Up to how many ranks the work of one process compares with that of ranks: loops over several instructions make
    /// no columns for those inside, and instances in native code make none at all, while lifted levels and what moves
    /// by index do. Each doubling of the ranks may lift a level more.
    comparable: usize,
    /// Up to so many ranks the work of all is counted as that of two is: on more the parts are too small to be loops of
    /// machine code.
    growing: usize,
}

/// Moves of all elements, of 8 bytes: a few however many ranks there are, and some for each doubling.
fn sorting(ranks: usize) -> f64 {
    24.0 + 16.0 * (ranks as f64).log2()
}

fn a_few_words(ranks: usize) -> f64 {
    (ranks * ranks) as f64 * 0.0005
}

/// Mergesort sends every rank the half that it searches; the primes below n cross out n (ln ln √n + 0.26) multiples,
/// less the squares of the primes.
const PROGRAMS: &[Bounds] = &[
    Bounds {
        name: "quicksort",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: sorting,
        imbalance: 1.2,
        part: 2.0,
        collectives: 50,
        comparable: 4,
        growing: 16,
    },
    Bounds {
        name: "mergesort",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: |_| 1000.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 60,
        comparable: 4,
        growing: 16,
    },
    Bounds {
        name: "sort",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: |_| 16.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 60,
        comparable: 0,
        growing: 16,
    },
    Bounds {
        name: "quickhull",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: |_| 16.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 100,
        // One process does it all in few loops; what two move so that they have equally much is as much again.
        comparable: 0,
        growing: 16,
    },
    Bounds {
        name: "fft",
        elements: 262_144,
        longest: 262_144,
        bytes: |ranks| 2.0 * sorting(ranks),
        imbalance: 1.2,
        part: 2.0,
        collectives: 120,
        comparable: 2,
        growing: 16,
    },
    Bounds {
        name: "primes",
        elements: 10_000_000,
        longest: 22_850_000,
        bytes: |_| 40.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 400,
        comparable: 0,
        growing: 16,
    },
    Bounds {
        name: "search",
        elements: 4_000_000,
        longest: 4_000_000,
        bytes: a_few_words,
        imbalance: 1.2,
        part: 1.1,
        collectives: 30,
        comparable: 8,
        growing: 16,
    },
    Bounds {
        name: "mandelbrot",
        elements: 262_144,
        longest: 262_144,
        bytes: |_| 24.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 60,
        comparable: 2,
        growing: 16,
    },
    Bounds {
        name: "spmv",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: |_| 24.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 120,
        comparable: 0,
        growing: 16,
    },
    Bounds {
        name: "bfs",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: |_| 64.0,
        imbalance: 1.2,
        part: 2.0,
        collectives: 600,
        comparable: 0,
        growing: 16,
    },
    Bounds {
        name: "elementwise",
        elements: 1_000_000,
        longest: 1_000_000,
        bytes: a_few_words,
        imbalance: 1.1,
        part: 1.1,
        collectives: 30,
        comparable: 4,
        growing: 4,
    },
];

fn run(command: &mut Command, what: &str) -> (String, String) {
    let output = command.current_dir(root()).stdin(Stdio::null()).output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{what}: {err}");
    (out, err)
}

fn most(counts: &[u64]) -> f64 {
    counts.iter().copied().max().unwrap_or(0) as f64
}

/// The most on a rank over the mean.
fn imbalance(counts: &[u64]) -> f64 {
    most(counts) * counts.len() as f64 / counts.iter().sum::<u64>().max(1) as f64
}

/// The least that p ranks are faster than one process by the work of the busiest, relative to p.
const SPEED_UP: f64 = 0.8;

/// By how much of the work of two ranks all work may grow with each doubling of the ranks. Work that every rank repeats
/// doubles.
const GROWTH: f64 = 0.6;

/// Runs a program, prints its counters, and says where they are out of bounds. `alone` is what one process prints, and
/// its work; `two` the work of two ranks, once it is known.
fn check(
    bounds: &Bounds,
    ranks: usize,
    (launcher, nesl): (&Path, &Path),
    (alone, one): (&str, u64),
    two: &mut Option<u64>,
) -> Vec<String> {
    let file = format!("tests/ranks/{}.nesl", bounds.name);
    let what = format!("{} on {ranks} ranks", bounds.name);
    let mut command = launcher::command(launcher, ranks, nesl);
    command.env("MPIEXEC_TIMEOUT", "300").args(["run", "--threads", "1", "--stats", &file]);
    let (out, err) = run(&mut command, &what);
    let table = Table::read(&err);
    let bytes = table.column("bytes sent").iter().sum::<u64>() as f64 / bounds.elements as f64;
    let work = table.column("work");
    let speed_up = one as f64 / most(&work);
    let all: u64 = work.iter().sum();
    let growth = all as f64 / *two.get_or_insert(all) as f64;
    let (work, peak) = (imbalance(&table.column("elements")), imbalance(&table.column("peak elements")));
    let part = most(&table.column("largest part")) * ranks as f64 / bounds.longest as f64;
    let collectives = table.column("collectives").into_iter().max().unwrap_or(0);
    println!(
        "{:12} {ranks:2} ranks: {bytes:7.2} bytes sent for each element, speed-up by work {speed_up:.2}, \
         all work {growth:.2} times that of two ranks, imbalance {work:.3} (memory {peak:.3}), \
         largest part {part:.2} fair shares, {collectives} collectives",
        bounds.name
    );
    let mut problems = Vec::new();
    let mut hold = |good: bool, problem: &str| {
        if !good {
            problems.push(format!("{what}: {problem}"));
        }
    };
    hold(out == alone, "the output is not that of one process");
    hold(bytes <= (bounds.bytes)(ranks), "too many bytes");
    hold(ranks > bounds.comparable || speed_up >= SPEED_UP * ranks as f64, "the busiest rank has too much work");
    hold(ranks > bounds.growing || growth <= 1.0 + GROWTH * (ranks as f64 / 2.0).log2(), "work is repeated");
    hold(work <= bounds.imbalance && peak <= bounds.imbalance, "work or memory is spread unevenly");
    hold(part <= bounds.part, "a rank holds too much of a column");
    hold(collectives <= bounds.collectives * u64::from(ranks.ilog2()), "too many collectives");
    problems
}

#[test]
fn ranks_send_little_and_do_equally_much() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let mut problems = Vec::new();
    for bounds in PROGRAMS {
        let file = format!("tests/ranks/{}.nesl", bounds.name);
        let (alone, err) = run(Command::new(&nesl).args(["run", "--threads", "1", "--stats", &file]), bounds.name);
        let one = Table::read(&err).column("work")[0];
        let mut two = None;
        for ranks in RANKS {
            problems.extend(check(bounds, ranks, (&launcher, &nesl), (&alone, one), &mut two));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What moves a sequence `v` of `n` elements: as many messages whatever its elements are. `i` are indices in no order,
/// `p` is a permutation, and `s` are some of them where segments begin.
const MOVES: [(&str, &str); 12] = [
    ("reverse", "reverse(v)"),
    ("rotate", "rotate(v, 12345)"),
    ("indices", "v -> i"),
    ("permutation", "permute(v, p)"),
    ("writes", "v <- {(k, x) : k in i; x in v}"),
    ("concatenation", "take(reverse(v), 60001) ++ v"),
    ("filter", "{x in v; k in i | rem(k, 3) == 1} -> {rem(k, 20000) : k in i}"),
    ("views", "flatten({subseq(v, a, a + 7) : a in s})"),
    ("segments", "flatten(partition(v, dist(2, n / 2)) -> {rem(k * 7919, n / 2) : k in [0:n / 2]})"),
    ("copies", "flatten({dist(x, 3) : x in v})"),
    ("instances", "flatten({wander(x) : x in partition(v, {300 + 200 * rem(q, 2) : q in [0:n / 400]})})"),
    ("halves", "flatten({reverse(x) : x in bottop(v)})"),
];

/// Elements of one, two, three and four columns, by their numbers.
const ELEMENTS: [&str; 4] =
    ["k", "(k, float(j))", "(k, float(j), j > 5)", "((k, code_char(rem(j, 256))), (float(j), j > 5))"];

#[test]
fn columns_of_a_value_travel_together() {
    const RANKS: usize = 3;
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    let mut problems = Vec::new();
    for (name, moved) in MOVES {
        let mut sent = Vec::new();
        for element in ELEMENTS {
            let text = format!(
                "function wander(x) = if #x < 2 then x else wander(take(x, #x / 2)) ++ reverse(drop(x, #x / 2)); \
                 function main(n) : int -> int = let v = {{let k = rem(j * 31, 1009) in {element} : j in [0:n]}}; \
                 i = {{rem(j * 7919 + 13, n) : j in [0:n]}}; p = {{rem(j + 5 * (n / 8), n) : j in [0:n]}}; \
                 s = {{rem(j * 977, n - 7) : j in [0:n / 8]}}; w = {moved} \
                 in #w + #{{x in w; y in reverse(w) | eql(x, y)}} + #p + #s + #i;\n"
            );
            std::fs::write(&file, text).expect("a file");
            let what = format!("{name} of {element}");
            let run_by = |mut command: Command| {
                run(command.args(["run", "--threads", "1", "--stats"]).arg(&file).args(["--", "80000"]), &what)
            };
            let (alone, _) = run_by(Command::new(&nesl));
            let (out, err) = run_by(launcher::command(&launcher, RANKS, &nesl));
            if out != alone {
                problems.push(format!("{what}: {out} instead of {alone}"));
            }
            sent.push(Table::read(&err).column("messages").iter().sum::<u64>());
        }
        println!("{name:13} messages for 1, 2, 3 and 4 columns: {sent:?}");
        if sent[0] == 0 || sent.iter().any(|&count| count != sent[0]) {
            problems.push(format!("{name}: {sent:?} messages for 1, 2, 3 and 4 columns"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Ranges that recursive functions get, cut, give back and choose, and that instances and closures share.
const OF_RANGES: &str = "
    function walk(v, i, s) = if i >= #v then s else walk(v, i + 1 + v[i] / 2, s + v[i]);
    function down(v, s) = if #v < 9 then s + sum(v) else down(drop(v, #v / 3), s + v[0]);
    function cut(v, n) = if #v <= n then v else cut((if rem(#v, 2) == 0 then take(v, #v / 2) else drop(v, 1)), n);
    function until(found, v, i) = if found(v[i]) then i else until(found, v, 2 * i + 1);
    function main(n) : int -> ([int], int, int, int, int) =
      let v = [0:n]; w = dist(7, n)
      in ({walk(v, k, 0) : k in [0:3]}, walk([5:n:3], 0, w[n / 2]), down(v, 0), sum(cut([1:n], 9)),
          until(x => v[x] > 999, v, 0));
";

#[test]
fn ranges_are_no_elements() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    std::fs::write(&file, OF_RANGES).expect("a file");
    let mut answers = Vec::new();
    for mut command in [Command::new(&nesl), launcher::command(&launcher, 3, &nesl)] {
        command.args(["run", "--threads", "1", "--stats"]).arg(&file).args(["--", "100000000"]);
        let (answer, err) = run(&mut command, "ranges");
        let elements = Table::read(&err).column("elements");
        assert!(!elements.is_empty() && elements.iter().all(|&count| count < 1000), "{elements:?}");
        answers.push(answer);
    }
    assert_eq!(answers[0], answers[1]);
}

/// What goes one step after another, and reads or writes single elements: searches and updates of a column, trees of
/// sets, a table that is filled in place, a heap, and a loop that fails.
const ONE_BY_ONE: [(&str, &str); 5] = [
    (
        "increasing",
        "function place(ends, x, low, high) = if low == high then low else let m = (low + high) / 2
           in if ends[m] < x then place(ends, x, m + 1, high) else place(ends, x, low, m);
         function longest(v, i, ends, n) = if i == #v then n
           else let p = place(ends, v[i], 0, n) in longest(v, i + 1, rep(ends, v[i], p), max(n, p + 1));
         function main(n) : int -> int = longest({rem(i * 7919, 100003) : i in [0:n]}, 0, dist(0, n), 0);",
    ),
    (
        "sets",
        "function root(up, v) = if up[v] == v then (up, v) else let w = up[up[v]] in root(rep(up, w, v), w);
         function unite(up, edges, i, count) = if i == #edges then (up, count)
           else let (a, b) = edges[i]; (up, a) = root(up, a); (up, b) = root(up, b)
                in if a == b then unite(up, edges, i + 1, count) else unite(rep(up, a, b), edges, i + 1, count - 1);
         function main(n) : int -> (int, int) =
           let (up, count) = unite([0:n], {(rem(i * 7919, n), rem(i * i + 3, n)) : i in [0:n]}, 0, n)
           in (count, sum({rem(v * x, 1009) : v in up; x in [0:n]}));",
    ),
    (
        "table",
        "function coin(ways, c, i) = if i == #ways then ways
           else coin(rep(ways, rem(ways[i] + ways[i - c], 1000007), i), c, i + 1);
         function main(n) : int -> int = sum(coin(coin(rep(dist(0, n), 1, 0), 1, 1), 5, 5));",
    ),
    (
        "heap",
        "function down(h, i) = let l = 2 * i + 1 in if l >= #h then h
           else let c = if l + 1 < #h and h[l + 1] > h[l] then l + 1 else l
                in if h[c] <= h[i] then h else let x = h[i]; y = h[c] in down(rep(rep(h, y, i), x, c), c);
         function build(h, i) = if i < 0 then h else build(down(h, i), i - 1);
         function main(n) : int -> (int, bool) =
           let h = build({rem(i * 7919 + 13, 100003) : i in [0:n]}, n / 2)
           in (h[0], all({h[(i - 1) / 2] >= h[i] : i in [1:n]}));",
    ),
    (
        "a walk out of bounds",
        "function follow(next, v, s) = if s < 0 then v else follow(next, next[v], s + 1);
         function main(n) : int -> int = follow({i + 1 : i in [0:n]}, 0, 0) + 1;",
    ),
];

#[test]
fn single_elements_are_no_messages() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    let mut problems = Vec::new();
    for (name, text) in ONE_BY_ONE {
        std::fs::write(&file, text).expect("a file");
        for elements in [50_000u64, 200_000] {
            let table = answers_alike(&nesl, launcher::command(&launcher, 3, &nesl), &file, elements, name);
            let messages = table.column("messages").iter().sum::<u64>();
            println!("{name} of {elements}: {messages} messages");
            // By the lines each element would be two or more; some turns go by before the columns have moved.
            if messages > elements / 20 {
                problems.push(format!("{name} of {elements}: {messages} messages"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn who_has_no_room_for_all_asks_for_elements() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    let text = "function follow(next, v, steps) = if steps == 0 then v else follow(next, next[v], steps - 1);
                function main(n) : int -> int = follow({rem(i + 7919, n) : i in [0:n]}, 3, 5000);";
    std::fs::write(&file, text).expect("a file");
    // A column takes 16 MB, of which two ranks have one half each.
    let mut command = launcher::command(&launcher, 2, &nesl);
    command.args(["run", "--threads", "1", "--max-memory", "20M"]).arg(&file).args(["--", "2000000"]);
    let (answer, _) = run(&mut command, "a walk");
    assert_eq!(answer.trim(), ((3 + 5000 * 7919) % 2_000_000).to_string());
}

/// Loops whose turns are a few vector instructions on short columns.
const SHORT: [(&str, &str); 5] = [
    (
        "states",
        "function best(a, e, seen, k, v) = if k == #seen then max_val(v)
           else best(a, e, seen, k + 1, {max_val({x + p : x in v; p in row}) + q[seen[k]] : row in a; q in e});
         function main(n) : int -> int =
           best({{rem(i * 37 + j * 11, 23) : j in [0:20]} : i in [0:20]},
                {{rem(i * j, 7) : j in [0:5]} : i in [0:20]}, {rem(i * 7919, 5) : i in [0:n]}, 0, dist(0, 20));",
    ),
    (
        "digits",
        "function carried(w) = if all({x < 1000 : x in w}) then w
           else carried({rem(x, 1000) + c : x in w; c in [0] ++ {x / 1000 : x in take(w, #w - 1)}});
         function power(v, k) = if k == 0 then v else power(carried({x * 3 : x in v}), k - 1);
         function main(n) : int -> int = sum({x * (i + 1) : x in power([1] ++ dist(0, 99), n); i in [0:100]});",
    ),
    (
        "a dice",
        "function throw(v, k) = if k == 0 then sum(v)
           else throw({rem(x * 5 + rand(6), 1009) : x in drop(v, 1) ++ [rand(k)]}, k - 1);
         function main(n) : int -> int = throw([0:50], n);",
    ),
    (
        "one that grows",
        "function spread(front, seen, k) = if k == 0 then (#front, sum(front), seen)
           else spread((if #front < 20000 then front ++ {rem(x * 3 + 1, 1009) : x in take(front, 9)} else take(front, 9)),
                       seen + #front, k - 1);
         function main(n) : int -> (int, int, int) = spread([0:9], 0, n);",
    ),
    (
        "one out of bounds",
        "function shrink(v, k) = if k < 0 then v else shrink({x + v[k / 30] : x in drop(v, 1)} ++ [k], k + 1);
         function main(n) : int -> [int] = shrink([0:99], 0);",
    ),
];

#[test]
fn turns_that_share_nothing_are_no_collectives() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    let mut problems = Vec::new();
    for (name, text) in SHORT {
        std::fs::write(&file, text).expect("a file");
        let turns = 12_000;
        let table = answers_alike(&nesl, launcher::command(&launcher, 3, &nesl), &file, turns, name);
        let collectives = most(&table.column("collectives"));
        println!("{name}: {collectives} collectives in {turns} turns");
        // What grows is in parts in four of five turns.
        if collectives > turns as f64 / if name == "one that grows" { 1.0 } else { 8.0 } {
            problems.push(format!("{name}: {collectives} collectives"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn segments_are_written_over_and_ordered_where_they_are() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.nesl");
    // Rows from k on in turn k; short sequences of different lengths. Both read 8 n n bytes.
    let programs = [
        (
            "eliminate",
            "function eliminate(m, k) = if k == #m then m
               else let pivot = m[k]
                    in eliminate({if i <= k then row
                                  else let q = row[k] / pivot[k] in {x - q * p : x in row; p in pivot}
                                  : row in m; i in index(#m)}, k + 1);
             function main(n) : int -> float =
               sum({sum(row) : row in eliminate({{if i == j then 100.0 else float(rem(i * 7 + j * 3, 11)) : j in [0:n]}
                                                 : i in [0:n]}, 0)});",
        ),
        (
            "order",
            "function main(n) : int -> (int, int) =
               let parts = {sort({rem(i * 7919 + j * 31, 1009) : j in [0:n + rem(i, 5)]}) : i in [0:n]};
                   ranks = {rank({rem(x * 17, 101) : x in part}) : part in parts}
               in (sum({part[3] * i : part in parts; i in [0:n]}), sum({part[2] * i : part in ranks; i in [0:n]}));",
        ),
    ];
    for (name, text) in programs {
        std::fs::write(&file, text).expect("a file");
        for ranks in [2, 3, 5] {
            let n = 200;
            let table = answers_alike(&nesl, launcher::command(&launcher, ranks, &nesl), &file, n, name);
            let sent: u64 = table.column("bytes sent").iter().sum();
            println!("{name} on {ranks} ranks: {sent} bytes");
            // A row and a column to all in each turn; what moves is what borders of segments and blocks are apart.
            assert!(sent < 12 * 8 * n * n * ranks as u64, "{name} on {ranks} ranks: {sent} bytes");
        }
    }
}

/// The counters of a program on ranks, which answers, or fails, as one process does.
fn answers_alike(nesl: &Path, ranks: Command, file: &Path, n: u64, name: &str) -> Table {
    let [(answer, said), (out, err)] = [Command::new(nesl), ranks].map(|mut command| {
        command.args(["run", "--threads", "1", "--stats"]).arg(file).arg("--").arg(n.to_string());
        let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    });
    let error = said.find("Error").map(|at| &said[at..]);
    let is_alike = out == answer && error.is_none_or(|error| err.contains(error));
    assert!(is_alike, "{name} of {n}: {out}{err} instead of {answer}{said}");
    Table::read(&err)
}
