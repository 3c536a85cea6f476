//! What the tasks compute: problems that divide into parts, down to a grain.

use std::fmt;
use std::str::FromStr;

/// Rows and most steps of the picture.
const ROWS: i64 = 400;
const STEPS: i64 = 400;

/// Pictures of fewer columns are computed alone.
const FEW_COLUMNS: i64 = 100;

/// The solutions of n queens.
const SOLUTIONS: [i64; 11] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724];

/// A problem, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// So many tasks that do nothing.
    Spawn(i64),
    /// The Fibonacci number of n; alone up to a grain.
    Fibonacci { n: i64, grain: i64 },
    /// The ways to go on with queens in the first rows of a board.
    Queens { n: i64, placed: Vec<i64> },
    /// Sorting; alone up to a grain.
    MergeSort { values: Vec<i64>, grain: i64 },
    /// So many columns of a picture of so many, from one on.
    Mandelbrot { first: i64, count: i64, columns: i64 },
}

impl Problem {
    /// Its parts, one for each task that it starts; none if it is done alone.
    pub(super) fn parts(&self) -> Vec<Problem> {
        match *self {
            Problem::Spawn(count) => vec![Problem::Spawn(0); count as usize],
            Problem::Fibonacci { n, grain } if n > grain => {
                [n - 1, n - 2].map(|n| Problem::Fibonacci { n, grain }).into()
            }
            Problem::Queens { n, ref placed } if (placed.len() as i64) < n => {
                let is_free = |column: &i64| {
                    let mut rows = (1..).zip(placed.iter().rev());
                    rows.all(|(distance, &other)| other != *column && (other - column).abs() != distance)
                };
                let with = |column| Problem::Queens { n, placed: [&placed[..], &[column]].concat() };
                (0..n).filter(is_free).map(with).collect()
            }
            Problem::MergeSort { ref values, grain } if values.len() as i64 > grain => {
                let (left, right) = values.split_at(values.len() / 2);
                [left, right].map(|half| Problem::MergeSort { values: half.to_vec(), grain }).into()
            }
            Problem::Mandelbrot { first, count, columns } if count >= FEW_COLUMNS => {
                let start = |part: i64| first + count * part / 4;
                let part =
                    |part| Problem::Mandelbrot { first: start(part), count: start(part + 1) - start(part), columns };
                (0..4).map(part).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its result, of one that has no parts.
    pub(super) fn alone(&self) -> Vec<i64> {
        match *self {
            Problem::Spawn(_) => Vec::new(),
            Problem::Fibonacci { n, .. } => vec![fibonacci(n)],
            Problem::Queens { n, ref placed } => vec![i64::from(placed.len() as i64 == n)],
            Problem::MergeSort { ref values, .. } => merge_sorted(values),
            Problem::Mandelbrot { first, count, columns } => {
                (first..first + count).map(|column| steps_of(column, columns)).collect()
            }
        }
    }

    /// Its result, of those of its parts.
    pub(super) fn together(&self, parts: impl Iterator<Item = Vec<i64>>) -> Vec<i64> {
        match self {
            Problem::Spawn(_) => Vec::new(),
            Problem::Fibonacci { .. } | Problem::Queens { .. } => vec![parts.flatten().sum()],
            Problem::MergeSort { .. } => {
                let parts: Vec<Vec<i64>> = parts.collect();
                parts.split_first().map_or_else(Vec::new, |(first, rest)| {
                    rest.iter().fold(first.clone(), |left, right| merged(&left, right))
                })
            }
            Problem::Mandelbrot { .. } => parts.flatten().collect(),
        }
    }

    /// Whether a result is the right one, which is found in another way.
    pub(super) fn is_right(&self, result: &[i64]) -> bool {
        match *self {
            Problem::Spawn(_) => result.is_empty(),
            Problem::Fibonacci { n, .. } => {
                let (number, _) = (0..n).fold((0i64, 1i64), |(a, b), _| (b, a.wrapping_add(b)));
                result == [number]
            }
            Problem::Queens { n, .. } => result == [SOLUTIONS[n as usize]],
            Problem::MergeSort { ref values, .. } => result.iter().copied().eq(0..values.len() as i64),
            Problem::Mandelbrot { count, columns, .. } => {
                result.iter().copied().eq((0..count).map(|column| steps_of(column, columns)))
            }
        }
    }

    /// As a message.
    pub(super) fn words(&self) -> Vec<i64> {
        match *self {
            Problem::Spawn(count) => vec![0, count],
            Problem::Fibonacci { n, grain } => vec![1, n, grain],
            Problem::Queens { n, ref placed } => [&[2, n], &placed[..]].concat(),
            Problem::MergeSort { ref values, grain } => [&[3, grain], &values[..]].concat(),
            Problem::Mandelbrot { first, count, columns } => vec![4, first, count, columns],
        }
    }

    /// That of a message.
    pub(super) fn of(words: &[i64]) -> Option<Problem> {
        match *words {
            [0, count] => Some(Problem::Spawn(count)),
            [1, n, grain] => Some(Problem::Fibonacci { n, grain }),
            [2, n, ref placed @ ..] => Some(Problem::Queens { n, placed: placed.to_vec() }),
            [3, grain, ref values @ ..] => Some(Problem::MergeSort { values: values.to_vec(), grain }),
            [4, first, count, columns] => Some(Problem::Mandelbrot { first, count, columns }),
            _ => None,
        }
    }
}

/// As the command line says it, without the parts.
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Problem::Spawn(count) => format!("spawn:{count}"),
            Problem::Fibonacci { n, grain } => format!("fib:{n}:{grain}"),
            Problem::Queens { n, .. } => format!("queens:{n}"),
            Problem::MergeSort { values, grain } => format!("merge_sort:{}:{grain}", values.len()),
            Problem::Mandelbrot { columns, .. } => format!("mandelbrot:{columns}"),
        };
        formatter.pad(&text)
    }
}

impl FromStr for Problem {
    type Err = String;

    fn from_str(text: &str) -> Result<Problem, String> {
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Option<Vec<i64>> = numbers.split(':').map(|number| number.parse().ok()).collect();
        match (name, numbers.as_deref()) {
            ("spawn", Some(&[count @ 1..=1000])) => Ok(Problem::Spawn(count)),
            ("fib", Some(&[n @ 0..=90, grain @ 1..=90])) => Ok(Problem::Fibonacci { n, grain }),
            ("queens", Some(&[n @ 1..=10])) => Ok(Problem::Queens { n, placed: Vec::new() }),
            ("merge_sort", Some(&[count @ 1..=100_000_000, grain @ 1..=100_000_000])) => {
                Ok(Problem::MergeSort { values: (0..count).rev().collect(), grain })
            }
            ("mandelbrot", Some(&[columns @ 1..=100_000])) => {
                Ok(Problem::Mandelbrot { first: 0, count: columns, columns })
            }
            _ => Err("expected spawn:TASKS, fib:N:GRAIN, queens:N, merge_sort:ELEMENTS:GRAIN or mandelbrot:COLUMNS"
                .to_owned()),
        }
    }
}

fn fibonacci(n: i64) -> i64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

fn merge_sorted(values: &[i64]) -> Vec<i64> {
    if values.len() < 2 {
        return values.to_vec();
    }
    let (left, right) = values.split_at(values.len() / 2);
    merged(&merge_sorted(left), &merge_sorted(right))
}

fn merged(left: &[i64], right: &[i64]) -> Vec<i64> {
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    let next = || match (left.peek(), right.peek()) {
        (Some(first), Some(other)) if first > other => right.next(),
        (Some(_), _) => left.next(),
        (None, _) => right.next(),
    };
    std::iter::from_fn(next).collect()
}

/// The steps that the points of a column of the picture take, all together.
fn steps_of(column: i64, columns: i64) -> i64 {
    let x = 3.0 * column as f64 / columns as f64 - 2.0;
    let steps = |row: i64| {
        let y = 2.0 * row as f64 / ROWS as f64 - 1.0;
        let (mut re, mut im, mut step) = (0.0, 0.0, 0);
        while step < STEPS && re * re + im * im <= 4.0 {
            (re, im, step) = (re * re - im * im + x, 2.0 * re * im + y, step + 1);
        }
        step
    };
    (0..ROWS).map(steps).sum()
}
