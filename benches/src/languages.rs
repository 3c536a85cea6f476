//! The same program in V, in NESL and in C: twenty of them, each as who thinks in that language would write it.
//!
//! Those of V and NESL are those of `tests/programs/v`, with a `main` that makes input of a size; those of C are plain
//! loops on one thread, compiled where there is a C compiler. All three must give the same number.

use crate::answer;
use crate::machine_limits::memory_to_use;
use crate::measure::in_pool;
use crate::pieces::int;
use crate::program::Compiled;
use nesl_backend::Threads;
use nesl_vcode::Constants;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A program in three languages.
pub struct Trio {
    /// What it and its files are called.
    pub name: &'static str,
    /// Its full size.
    pub size: usize,
    /// A size that takes no time.
    pub small: usize,
    v: &'static str,
    nesl: &'static str,
}

macro_rules! trios {
    ($(($name:literal, $size:expr, $small:expr),)*) => {
        &[$(Trio {
            name: $name,
            size: $size,
            small: $small,
            v: include_str!(concat!("../v/", $name, ".v")),
            nesl: include_str!(concat!("../v/", $name, ".nesl")),
        },)*]
    };
}

/// All of them.
pub const TRIOS: &[Trio] = trios![
    ("bank", 5_000_000, 2000),
    ("bisection", 300_000, 500),
    ("breadth_first", 500_000, 700),
    ("collatz", 300_000, 500),
    ("edit_distance", 4000, 60),
    ("fft", 1 << 17, 256),
    ("floyd_warshall", 300, 20),
    ("gauss", 300, 20),
    ("histogram", 20_000_000, 3000),
    ("k_means", 300_000, 900),
    ("knapsack", 100_000, 700),
    ("life", 700, 30),
    ("mandelbrot", 600, 20),
    ("merge_sort", 500_000, 1000),
    ("primes", 3_000_000, 3000),
    ("queens", 9, 6),
    ("quicksort", 1_000_000, 2000),
    ("sparse", 500_000, 700),
    ("string_search", 10_000_000, 3000),
    ("tokenizer", 20_000, 500),
];

/// What a program took, in seconds: its fastest run.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// In V.
    pub v: f64,
    /// In NESL.
    pub nesl: f64,
    /// In C, if there is a compiler.
    pub c: Option<f64>,
}

/// A program that is compiled, with its input.
struct Side {
    program: Compiled<Threads>,
    size: Vec<nesl_backend::Value<Threads>>,
    best: f64,
}

impl Side {
    fn new(name: &str, text: &str, size: usize) -> Result<Side, String> {
        let mut program = Compiled::new(name, text, 1, memory_to_use())?;
        let size = program.arguments(vec![vec![int(size)]])?;
        Ok(Side { program, size, best: f64::INFINITY })
    }

    /// Runs it once; its answer.
    fn run(&mut self) -> Result<i64, String> {
        let start = Instant::now();
        let result = self.program.call(&self.size)?;
        self.best = self.best.min(start.elapsed().as_secs_f64());
        match answer::columns(self.program.engine(), &result)?.as_slice() {
            [Constants::Int(numbers)] if numbers.len() == 1 => Ok(numbers[0]),
            other => Err(format!("the answer is {other:?}")),
        }
    }
}

/// Compares the answers of a program at a size, and times it.
///
/// # Errors
/// If it fails, or the answers differ.
pub fn times(trio: &Trio, size: usize, repetitions: usize) -> Result<Times, String> {
    let c = twin_in_c(trio.name, size, repetitions)?;
    in_pool(1, |_| {
        let mut v = Side::new(&format!("{}.v", trio.name), trio.v, size)?;
        let mut nesl = Side::new(&format!("{}.nesl", trio.name), trio.nesl, size)?;
        let answers = (v.run()?, nesl.run()?);
        for _ in 1..repetitions {
            v.run()?;
            nesl.run()?;
        }
        if answers.0 != answers.1 || c.is_some_and(|(answer, _)| answer != answers.0) {
            return Err(format!("V gives {}, NESL {}, C {:?}", answers.0, answers.1, c.map(|(answer, _)| answer)));
        }
        Ok(Times { v: v.best, nesl: nesl.best, c: c.map(|(_, time)| time) })
    })
}

/// Answer and time of a program in C; none where nothing compiles it.
fn twin_in_c(name: &str, size: usize, repetitions: usize) -> Result<Option<(i64, f64)>, String> {
    let Some(folder) = folder() else { return Ok(None) };
    let file = std::env::temp_dir().join(format!("nesl-bench-{name}-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o"]).arg(&file).arg(folder.join(format!("{name}.c"))).arg(folder.join("main.c")).arg("-lm");
    match compiler.output() {
        Err(_) => return Ok(None),
        Ok(output) if !output.status.success() => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Ok(_) => {}
    }
    let ran = Command::new(&file).args([size.to_string(), repetitions.to_string()]).output();
    // What is left of it is in the way of nobody.
    let _ = std::fs::remove_file(&file);
    let printed = String::from_utf8_lossy(&ran.map_err(|error| error.to_string())?.stdout).into_owned();
    let mut words = printed.split_whitespace();
    let answer = words.next().and_then(|word| word.parse().ok());
    let time = words.next().and_then(|word| word.parse().ok());
    answer.zip(time).map(Some).ok_or_else(|| format!("the twin in C prints {printed:?}"))
}

/// Where the programs are, if this is run where it was built.
fn folder() -> Option<PathBuf> {
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("v")).filter(|folder| folder.is_dir())
}

/// Measures programs and prints a line for each; whether all went well.
pub fn report(trios: &[&Trio], divide: usize, repetitions: usize) -> bool {
    println!(
        "{:<15} {:>10} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "program", "size", "V ms", "NESL ms", "C ms", "V/NESL", "V/C"
    );
    let mut all_well = true;
    for trio in trios {
        let size = (trio.size / divide.max(1)).max(trio.small);
        match times(trio, size, repetitions) {
            Ok(Times { v, nesl, c }) => {
                let of_c = c.map_or_else(
                    || ("-".to_owned(), "-".to_owned()),
                    |c| (format!("{:.2}", c * 1e3), format!("{:.2}", v / c)),
                );
                let (v_ms, nesl_ms) = (v * 1e3, nesl * 1e3);
                let name = trio.name;
                println!(
                    "{name:<15} {size:>10} {v_ms:>9.2} {nesl_ms:>9.2} {:>9} {:>7.2} {:>7}",
                    of_c.0,
                    v / nesl,
                    of_c.1
                );
            }
            Err(message) => {
                eprintln!("{}: {message}", trio.name);
                all_well = false;
            }
        }
    }
    all_well
}
