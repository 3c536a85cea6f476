//! Linear combinations: scalars and columns of ints as sums of others, looked up where these were made.

use crate::passes::rewrite::{Context, Maker};
use crate::program::Operand;
use nesl_prim::{ScalarOp, ScalarValue};

/// Sums that are made of more than so many others are not looked through.
const DEEPEST: usize = 8;

/// Constants are less than this, so that sums of a few of them do not wrap.
const LEAST_UNSAFE: i64 = 1 << 40;

/// A sum: how often each operand is in it, and what is constant.
#[derive(Default)]
pub(super) struct Sum {
    pub terms: Vec<(Operand, i64)>,
    pub constant: i64,
}

impl Sum {
    /// What an operand is; none where that may wrap.
    pub fn of(context: &Context, operand: Operand) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(context, operand, 1)?;
        Some(sum)
    }

    /// Adds what an operand is made of, so often.
    pub fn add(&mut self, context: &Context, operand: Operand, times: i64) -> Option<()> {
        self.add_deep(context, operand, times, 0)
    }

    fn add_deep(&mut self, context: &Context, operand: Operand, times: i64, depth: usize) -> Option<()> {
        if let Operand::Constant(ScalarValue::Int(value)) = operand {
            self.constant += times * Some(value).filter(|value| value.unsigned_abs() < LEAST_UNSAFE as u64)?;
            return Some(());
        }
        let definition = context.definition(operand).filter(|_| depth < DEEPEST);
        let (Maker::Scalar(op) | Maker::Map(op), &[a, b]) = (match definition {
            Some(definition) => (definition.maker, definition.operands.as_slice()),
            None => (Maker::Constants(0), &[][..]),
        }) else {
            self.add_term(operand, times);
            return Some(());
        };
        match op {
            ScalarOp::AddInt => {
                self.add_deep(context, a, times, depth + 1)?;
                self.add_deep(context, b, times, depth + 1)
            }
            ScalarOp::SubtractInt => {
                self.add_deep(context, a, times, depth + 1)?;
                self.add_deep(context, b, -times, depth + 1)
            }
            _ => {
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
