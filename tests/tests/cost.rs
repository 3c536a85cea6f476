//! Cost grows as the source's cost model says: the programs under `tests/cost`, each at three sizes.
//!
//! What is counted does not depend on the machine: elements and bytes of the columns that instructions made, and
//! instructions run, with every strategy. A program's header names, for each, the function of the size n that it grows
//! with, and may do so for the most elements that there are at once (`peak`); a line `depth` bounds the calls that may
//! be active at once; per unit of that function a larger size may cost at most [`SLACK`] times what the smaller one
//! did. Run with `--nocapture` to see what a unit costs.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_backend::io::host::System;
use nesl_backend::io::import::from_literal;
use nesl_backend::{Counters, Engine, Limits, Literal, Loaded, Machine, Native, Reference, Strategy, Threads};
use nesl_prim::ScalarValue;
use nesl_tests::programs::root;
use nesl_tests::session;
use nesl_vcode::{Program, pipeline};
use std::sync::Arc;

/// How much dearer a unit may be at the next size, four times as large: what is rounded up at the smallest size shows
/// here.
const SLACK: f64 = 1.25;

const STRATEGIES: [Strategy; 3] = [Strategy::Lift, Strategy::Leaf, Strategy::Auto];

/// A function of the size.
#[derive(Clone, Copy, Debug)]
enum Growth {
    Constant,
    Logarithmic,
    Linear,
    Linearithmic,
    Quadratic,
    Cubic,
}

impl Growth {
    fn parse(text: &str) -> Growth {
        match text {
            "1" => Growth::Constant,
            "log n" => Growth::Logarithmic,
            "n" => Growth::Linear,
            "n log n" => Growth::Linearithmic,
            "n n" => Growth::Quadratic,
            "n n n" => Growth::Cubic,
            other => panic!("no growth is called {other}"),
        }
    }

    fn at(self, n: i64) -> f64 {
        let n = n as f64;
        match self {
            Growth::Constant => 1.0,
            Growth::Logarithmic => n.log2(),
            Growth::Linear => n,
            Growth::Linearithmic => n * n.log2(),
            Growth::Quadratic => n * n,
            Growth::Cubic => n * n * n,
        }
    }
}

/// A program with what its header says.
struct Case {
    name: String,
    text: String,
    sizes: Vec<i64>,
    elements: Growth,
    instructions: Growth,
    /// Elements in columns at once, where the header says.
    peak: Option<Growth>,
    /// Calls that may be active at once.
    depth: usize,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = std::fs::read_dir(root().join("tests/cost"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let option = |key: &str| {
                let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'));
                line.map(|line| line.trim().to_owned())
            };
            let line = |key: &str| option(key).unwrap_or_else(|| panic!("{name}: no line `{key}:`"));
            let sizes = line("sizes").split(' ').map(|size| size.parse().unwrap()).collect();
            let (elements, instructions) = (Growth::parse(&line("elements")), Growth::parse(&line("instructions")));
            let peak = option("peak").map(|peak| Growth::parse(&peak));
            let depth = option("depth").map_or(Limits::default().depth, |depth| depth.parse().unwrap());
            Case { name, sizes, elements, instructions, peak, depth, text }
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn compile(case: &Case) -> Program {
    let checked = session::check(&case.text, None).unwrap_or_else(|end| panic!("{}: {end}", case.name));
    let main = checked.session.function("main");
    let program = nesl_flatten::compile(checked.core(), checked.session.library(), &checked.forms, main);
    let mut program = program.unwrap_or_else(|_| panic!("{}: not for serial code", case.name));
    pipeline::optimise(&mut program, &pipeline::Options::default()).unwrap();
    program
}

/// What a run of `main` with this size costs.
fn run<E: Engine>(engine: E, strategy: Strategy, case: &Case, program: &Program, n: i64) -> Counters {
    let main = &program.mains[0];
    let mut machine =
        Machine::new(engine, Limits { depth: case.depth, ..Limits::default() }, Box::new(System::default()));
    machine.set_strategy(strategy);
    // Native code counts no instructions.
    machine.set_native(Native::Off);
    let size = Literal::Scalar(ScalarValue::Int(n));
    let argument = from_literal(&mut machine.engine, &main.parameters[0].shape, &size);
    let loaded = Loaded::new(Arc::new(program.clone()));
    for step in &main.prelude {
        machine.run_step(&loaded, step, 0, &[]).unwrap();
    }
    let before = machine.counters()[0];
    let shown = machine.run_step(&loaded, &main.step, 0, &[argument.unwrap()]);
    shown.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let after = machine.counters()[0];
    Counters {
        instructions: after.instructions - before.instructions,
        elements: after.elements - before.elements,
        bytes: after.bytes - before.bytes,
        ..after
    }
}

/// What is counted, how it grows, and how to count it.
type Counter = (&'static str, Growth, fn(&Counters) -> u64);

/// What must hold where the instances of an apply-to-each run all at once, and where they may run one by one: there the
/// instructions on scalars are work like elements.
fn counters(case: &Case, strategy: Strategy) -> Vec<Counter> {
    let mut counters: Vec<Counter> = match strategy {
        Strategy::Lift => vec![
            ("elements", case.elements, |counters| counters.elements),
            ("bytes", case.elements, |counters| counters.bytes),
            ("instructions", case.instructions, |counters| counters.instructions),
        ],
        _ => vec![
            ("elements and instructions", case.elements, |counters| counters.elements + counters.instructions),
            ("bytes", case.elements, |counters| counters.bytes),
        ],
    };
    counters.extend(case.peak.map(|peak| -> Counter { ("peak", peak, |counters| counters.peak_elements) }));
    counters
}

#[test]
fn cost_grows_as_the_cost_model_says() {
    let cases = cases();
    assert!(cases.len() >= 12, "only {} programs", cases.len());
    let mut problems = Vec::new();
    for case in &cases {
        let program = compile(case);
        for (engine, strategy) in
            ["reference", "threads"].into_iter().flat_map(|engine| STRATEGIES.map(|strategy| (engine, strategy)))
        {
            let costs: Vec<Counters> = (case.sizes.iter())
                .map(|&n| match engine {
                    "reference" => run(Reference::new(None), strategy, case, &program, n),
                    _ => run(Threads::new(2, None).unwrap(), strategy, case, &program, n),
                })
                .collect();
            for (name, growth, counter) in counters(case, strategy) {
                let units: Vec<f64> =
                    case.sizes.iter().zip(&costs).map(|(&n, costs)| counter(costs) as f64 / growth.at(n)).collect();
                let line =
                    format!("{} on {engine}, {strategy:?}: {name} per unit of {growth:?} {units:.2?}", case.name);
                println!("{line}");
                if units.windows(2).any(|pair| pair[1] > pair[0] * SLACK) {
                    problems.push(line);
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
