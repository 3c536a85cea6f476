//! How high stacks are: how many entries each function takes and leaves.
//!
//! No function says so, but every instruction takes and gives a fixed number of entries, so the numbers follow from the
//! text. A recursive call leaves an unknown stack at first; the branch without it tells. The numbers grow until none
//! changes.

use super::{Result, wrong};
use crate::opcode::Opcode;
use crate::text::{Function, Kind, Statement};

/// More entries than a function needs; recursion that digs ever deeper ends here.
const MOST: usize = 1_000;

/// What a function does to the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Arity {
    /// How many of its caller's entries it takes.
    pub takes: usize,
    /// How many it leaves in their place; none if it is not known to return.
    pub leaves: Option<usize>,
    /// Whether it draws random numbers, or calls what does.
    pub draws: bool,
    /// Whether it uses the timer, or calls what does.
    pub times: bool,
}

/// The arities of all functions.
pub(super) fn arities(functions: &[Function]) -> Result<Vec<Arity>> {
    let mut arities = vec![Arity::default(); functions.len()];
    loop {
        let mut changed = false;
        // Functions are often written before what they call.
        for (index, function) in functions.iter().enumerate().rev() {
            let arity = arity(function, &arities)?;
            changed |= arity != arities[index];
            arities[index] = arity;
        }
        if !changed {
            return Ok(arities);
        }
    }
}

fn arity(function: &Function, known: &[Arity]) -> Result<Arity> {
    let mut heights = Heights { known, arity: Arity::default() };
    let end = heights.statements(&function.body, Some(0))?;
    let mut arity = heights.arity;
    let at = function.at.start;
    if let Some((inputs, _)) = &function.declared {
        if inputs.len() < arity.takes {
            let message = format!("the function takes {} entries, but declares {}", arity.takes, inputs.len());
            return wrong(at, message);
        }
        arity.takes = inputs.len();
    }
    if arity.takes > MOST {
        return wrong(at, format!("`{}` takes ever more entries from the stack", function.name));
    }
    // A height is never below what was taken.
    arity.leaves = end.map(|end| usize::try_from(end + arity.takes as i64).unwrap_or(0));
    if let (Some((_, outputs)), Some(leaves)) = (&function.declared, arity.leaves)
        && outputs.len() != leaves
    {
        return wrong(at, format!("the function leaves {leaves} entries, but declares {}", outputs.len()));
    }
    Ok(arity)
}

struct Heights<'a> {
    known: &'a [Arity],
    arity: Arity,
}

impl Heights<'_> {
    /// The height after statements, counted from the stack at entry; none where control does not come.
    fn statements(&mut self, statements: &[Statement], mut height: Option<i64>) -> Result<Option<i64>> {
        for statement in statements {
            let Some(before) = height else { return Ok(None) };
            height = match &statement.kind {
                Kind::Operation(opcode, _) => {
                    self.arity.draws |= matches!(opcode, Opcode::Rand | Opcode::SetSeed);
                    self.arity.times |= matches!(opcode, Opcode::StartTimer | Opcode::StopTimer);
                    let (takes, gives) = opcode.effect();
                    Some(self.take(before, takes) + gives as i64)
                }
                Kind::Constant(_) | Kind::Segment(_) => Some(before + 1),
                &Kind::Copy(count, below) => {
                    self.take(before, count.saturating_add(below));
                    Some(before.saturating_add(i64::try_from(count).unwrap_or(i64::MAX)))
                }
                &Kind::Pop(count, below) => {
                    self.take(before, count.saturating_add(below));
                    Some(before - count.min(MOST + 1) as i64)
                }
                &Kind::Move(count, below) => {
                    self.take(before, count.saturating_add(below));
                    Some(before)
                }
                Kind::Call(function) => {
                    let called = self.known[*function];
                    self.arity.draws |= called.draws;
                    self.arity.times |= called.times;
                    let rest = self.take(before, called.takes);
                    called.leaves.map(|leaves| rest + leaves as i64)
                }
                Kind::If(first, second) => {
                    let before = self.take(before, 1);
                    let (first, second) =
                        (self.statements(first, Some(before))?, self.statements(second, Some(before))?);
                    if let (Some(first), Some(second)) = (first, second)
                        && first != second
                    {
                        let message = format!(
                            "the branches leave stacks of different heights: the first {} than the second",
                            match first - second {
                                more @ 1.. => format!("{more} higher"),
                                less => format!("{} lower", -less),
                            }
                        );
                        return wrong(statement.at.start, message);
                    }
                    first.or(second)
                }
                Kind::Exit => None,
            };
            if height.is_some_and(|height| height > 1_000 * MOST as i64) {
                return wrong(statement.at.start, "the stack grows too high");
            }
        }
        Ok(height)
    }

    /// Notes that entries are used; the height without them.
    fn take(&mut self, height: i64, count: usize) -> i64 {
        let rest = height.saturating_sub(i64::try_from(count).unwrap_or(i64::MAX));
        self.arity.takes = self.arity.takes.max(usize::try_from(rest.saturating_neg()).unwrap_or(0));
        rest
    }
}
