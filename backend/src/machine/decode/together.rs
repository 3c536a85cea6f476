//! Instructions that may be done at once: they follow one another, are of one kind, agree in what says where elements
//! go, and none needs what another gives. So are those on the columns of one value; an engine on ranks sends these in
//! one message.

use super::{Line, Operation, Slot, Source};
use nesl_vcode::VectorOp;

/// Says of each line how many may be done at once from there on.
pub(super) fn mark(lines: &mut [Line]) {
    for first in 0..lines.len() {
        let count = alike(&lines[first..]);
        if let Line::Execute { together, .. } = &mut lines[first] {
            *together = count;
        }
    }
}

/// How many of the first lines may be done at once.
fn alike(lines: &[Line]) -> usize {
    let Some((op, model, _)) = lines.first().and_then(moving) else { return 1 };
    let Some(shared) = op.row().together else { return 1 };
    let mut given: Vec<Slot> = Vec::new();
    let is_alike = |line: &&Line| {
        let Some((other, operands, result)) = moving(line) else { return false };
        let agrees = |&position: &usize| match (operands[position], model[position]) {
            (Source::Constant(one), Source::Constant(other)) => one == other,
            (one, other) => place(one).is_some() && place(one) == place(other),
        };
        let is_free = operands.iter().all(|&operand| place(operand).is_none_or(|slot| !given.contains(&slot)));
        given.extend(result);
        other == op && shared.iter().all(agrees) && is_free
    };
    lines.iter().take_while(is_alike).count().max(1)
}

/// A line that does a vector instruction: which, on what, and where the result goes.
fn moving(line: &Line) -> Option<(VectorOp, &[Source], Option<Slot>)> {
    match line {
        Line::Execute { operation: Operation::Vector(op), operands, result, .. } => Some((*op, operands, *result)),
        _ => None,
    }
}

/// The slot that is read; constants are in none.
fn place(source: Source) -> Option<Slot> {
    match source {
        Source::Copy(slot) | Source::Take(slot) => Some(slot),
        Source::Constant(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use crate::machine::loaded::Loaded;
    use nesl_vcode::parse;
    use std::collections::HashSet;
    use std::sync::Arc;

    /// How many lines may be done at once from each line on.
    fn marks(text: &str) -> Vec<usize> {
        let program = parse(text).expect("a program");
        let loaded = Loaded::new(Arc::new(program));
        let code = decode(&loaded.program().functions[0], HashSet::new());
        let mark = |line: &Line| if let Line::Execute { together, .. } = line { *together } else { 0 };
        code.lines.iter().map(mark).collect()
    }

    #[test]
    fn gathers_at_the_same_indices_are_done_at_once() {
        let text = "function f(%0: column int, %1: column float, %2: column bool, %3: column int) -> column int, column float, column bool {
            %4 = gather %0! %3
            %5 = gather %1! %3
            %6 = gather %2! %3!
            return %4! %5! %6!
        }";
        assert_eq!(marks(text), [3, 2, 1, 0]);
    }

    #[test]
    fn what_needs_another_or_goes_elsewhere_is_not() {
        let text = "function f(%0: column int, %1: column int, %2: column int) -> column int, column int, column int {
            %3 = gather %0 %1
            %4 = gather %3 %1
            %5 = gather %0! %2!
            %6 = permute %4 %1!
            return %4! %5! %6!
        }";
        assert_eq!(marks(text), [1, 1, 1, 1, 0]);
    }

    #[test]
    fn constants_are_no_places() {
        let text = "function f(%0: column int, %1: column float) -> int, float {
            %2 = extract %0! 0
            %3 = extract %1! 1
            return %2 %3
        }";
        assert_eq!(marks(text), [1, 1, 0]);
    }
}
