//! One row of the table, and what it becomes at a size: arguments for the program, and a twin that has its input.

use crate::answer::{Agreement, Answer};
use crate::twins::searches::Board;
use clap::ValueEnum;
use nesl_backend::Piece;

/// Which programs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Those that the project is tuned for, beside parallel twins.
    Programs,
    /// Programs as a user writes them first, beside plain loops on one thread.
    Outside,
    /// Programs in V, in NESL and in C.
    Languages,
}

/// A benchmark.
pub struct Row {
    /// The suite that it belongs to.
    pub suite: Suite,
    /// What it is called on the command line.
    pub name: &'static str,
    /// Its program: a file of the suite's folder, without the ending.
    pub program: &'static str,
    /// The text of the program.
    pub text: &'static str,
    /// What is computed.
    pub what: &'static str,
    /// Its full size.
    pub size: usize,
    /// How its work grows with the size.
    pub work: Work,
    /// Where memory is the limit: how many bytes have to be read and written at least, for each element of the size.
    pub bytes: Option<usize>,
    /// How well program and twin agree.
    pub agreement: Agreement,
    /// Makes the input of a size.
    pub case: fn(usize) -> Case,
}

/// The input of both sides at some size.
pub struct Case {
    /// The pieces of each argument of the program.
    pub arguments: Vec<Vec<Piece>>,
    /// The twin and its input.
    pub twin: Twin,
}

/// A twin that has its input.
pub type Twin = Box<dyn Fn() -> Box<dyn Answer> + Send + Sync>;

impl Case {
    /// A case of the pieces of each argument, and of the twin with its input.
    pub fn new<I: Send + Sync + 'static, A: Answer + 'static>(
        arguments: Vec<Vec<Piece>>,
        input: I,
        twin: impl Fn(&I) -> A + Send + Sync + 'static,
    ) -> Case {
        Case { arguments, twin: Box::new(move || Box::new(twin(&input))) }
    }
}

/// How work grows with the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Like the size.
    Elements,
    /// Like the size times its logarithm.
    Sort,
    /// Like the size times its logarithm, which is a power of two.
    Powers,
    /// Like the square of the size.
    Square,
    /// Like the cube of the size.
    Cube,
    /// Like the number of boards that backtracking reaches.
    Boards,
    /// Like the number of permutations.
    Permutations,
}

impl Work {
    /// The work at a size, in some unit.
    pub fn at(self, size: usize) -> f64 {
        let n = size as f64;
        match self {
            Work::Elements => n,
            Work::Sort | Work::Powers => n * n.log2().max(1.0),
            Work::Square => n * n,
            Work::Cube => n * n * n,
            Work::Boards => Board::empty(size).reachable() as f64,
            Work::Permutations => (1..=size).map(|k| k as f64).product(),
        }
    }

    /// The unit of work, for tables.
    pub fn unit(self) -> &'static str {
        match self {
            Work::Elements => "n",
            Work::Sort | Work::Powers => "n log n",
            Work::Square => "n²",
            Work::Cube => "n³",
            Work::Boards => "boards",
            Work::Permutations => "n!",
        }
    }

    /// The size at which there is about that part of the elements (of pictures and matrices), or of the work (of
    /// searches).
    pub fn divided(self, size: usize, divide: usize) -> usize {
        let divide = divide.max(1);
        let smaller = match self {
            Work::Elements | Work::Sort => size / divide,
            Work::Powers => 1 << (size / divide).max(1).ilog2(),
            Work::Square | Work::Cube => size / divide.isqrt().max(1),
            Work::Boards | Work::Permutations => {
                let whole = self.at(size);
                (1..=size).rev().find(|&n| self.at(n) * divide as f64 <= whole * 1.5).unwrap_or(1)
            }
        };
        smaller.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_divided_by_elements_or_work() {
        assert_eq!(Work::Elements.divided(1000, 10), 100);
        assert_eq!(Work::Elements.divided(10, 1000), 1);
        assert_eq!(Work::Powers.divided(1 << 20, 10), 1 << 16);
        assert_eq!(Work::Square.divided(1024, 4), 512);
        assert_eq!(Work::Boards.divided(12, 1), 12);
        assert_eq!(Work::Boards.divided(12, 4), 11);
        // The number of boards that backtracking reaches for eight queens is known, the empty one apart.
        assert_eq!(Board::empty(8).reachable(), 2057);
    }
}
