//! Linear combinations: scalars and columns of ints as sums of others, as far as it is known how these were made.

use crate::passes::rewrite::{Context, Maker};
use crate::program::Operand;
use nesl_prim::{ScalarOp, ScalarValue};

/// Sums that are made of more than so many others are not looked through.
const DEEPEST: usize = 8;

/// Constants are less than this, so that sums of them, and what is added to those, do not wrap.
const LEAST_UNSAFE: i64 = 1 << 40;

/// A constant, if a few of its kind add up to less than any limit.
pub(super) fn small(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Constant(ScalarValue::Int(value)) if value.unsigned_abs() < LEAST_UNSAFE as u64 => Some(value),
        _ => None,
    }
}

/// How a number was made of others.
pub(super) enum Made {
    Sum([Operand; 2]),
    Difference([Operand; 2]),
    /// It is another, which was checked.
    Checked(Operand),
}

impl Made {
    pub fn by(op: ScalarOp, operands: &[Operand]) -> Option<Made> {
        match (op, operands) {
            (ScalarOp::AddInt, &[a, b]) => Some(Made::Sum([a, b])),
            (ScalarOp::SubtractInt, &[a, b]) => Some(Made::Difference([a, b])),
            _ => op.checked_operand().map(|checked| Made::Checked(operands[checked])),
        }
    }

    /// As the walk of a rule knows it.
    pub fn known(context: &Context) -> impl Fn(Operand) -> Option<Made> {
        |operand| {
            let definition = context.definition(operand)?;
            match definition.maker {
                Maker::Scalar(op) | Maker::Map(op) => Made::by(op, &definition.operands),
                Maker::Vector(_) | Maker::Constants(_) => None,
            }
        }
    }
}

/// A sum: how often each operand is in it, and what is constant.
#[derive(Default)]
pub(super) struct Sum {
    pub terms: Vec<(Operand, i64)>,
    pub constant: i64,
}

impl Sum {
    /// What an operand is; none where that may wrap.
    pub fn of(operand: Operand, made: &impl Fn(Operand) -> Option<Made>) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(operand, 1, made)?;
        Some(sum)
    }

    /// Adds what an operand is made of, so often.
    pub fn add(&mut self, operand: Operand, times: i64, made: &impl Fn(Operand) -> Option<Made>) -> Option<()> {
        self.add_deep(operand, times, made, 0)
    }

    fn add_deep(
        &mut self,
        operand: Operand,
        times: i64,
        made: &impl Fn(Operand) -> Option<Made>,
        depth: usize,
    ) -> Option<()> {
        if let Operand::Constant(_) = operand {
            self.constant += times * small(operand)?;
            return Some(());
        }
        let depth = depth + 1;
        match made(operand).filter(|_| depth <= DEEPEST) {
            Some(Made::Sum([a, b])) => {
                self.add_deep(a, times, made, depth)?;
                self.add_deep(b, times, made, depth)
            }
            Some(Made::Difference([a, b])) => {
                self.add_deep(a, times, made, depth)?;
                self.add_deep(b, -times, made, depth)
            }
            Some(Made::Checked(itself)) => self.add_deep(itself, times, made, depth),
            None => {
                self.add_term(operand, times);
                Some(())
            }
        }
    }

    /// Adds an operand as it is, so often.
    pub fn add_term(&mut self, operand: Operand, times: i64) {
        match self.terms.iter_mut().find(|(other, _)| *other == operand) {
            Some((_, before)) => *before += times,
            None => self.terms.push((operand, times)),
        }
        self.terms.retain(|&(_, times)| times != 0);
    }

    /// Its value, if it is constant.
    pub fn constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
}
