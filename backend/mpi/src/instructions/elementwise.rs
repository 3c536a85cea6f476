//! Columns made of indices or of the elements of others, one by one: `iota`, `dist`, `map`.

use crate::distribution::column::{Distributed, Item};
use crate::distribution::{Distribution, LocalEngine};
use nesl_backend::{Fault, Fill, MapOperand, Pack, Vector};
use nesl_prim::{ScalarOp, ScalarValue};

/// Elements made of scalars and indices.
pub(crate) fn run<L: LocalEngine>(ranks: &mut Distribution<L>, fill: Fill) -> Result<Distributed, Fault> {
    match fill {
        Fill::Iota(length) => iota(ranks, length),
        Fill::Dist(value, length) => dist(ranks, value, length),
    }
}

/// `iota`.
pub(crate) fn iota<L: LocalEngine>(ranks: &mut Distribution<L>, length: usize) -> Result<Distributed, Fault> {
    if ranks.is_common(length) {
        let numbers = ranks.local.fill(Fill::Iota(length));
        return ranks.collectives.replicated(numbers).map(Distributed::Replicated);
    }
    let share = ranks.layout.share(length);
    let numbers = ranks.local.fill(Fill::Iota(share.len())).and_then(|numbers| match share.start {
        0 => Ok(numbers),
        start => amend_head(ranks, ScalarOp::AddInt, ScalarValue::Int(start as i64), numbers, share.len()),
    });
    let part = ranks.collectives.settle(length, numbers)?;
    ranks.finish(length, part)
}

/// `dist`.
pub(crate) fn dist<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    value: ScalarValue,
    length: usize,
) -> Result<Distributed, Fault> {
    if ranks.is_common(length) {
        let copies = ranks.local.fill(Fill::Dist(value, length));
        return ranks.collectives.replicated(copies).map(Distributed::Replicated);
    }
    let copies = ranks.local.fill(Fill::Dist(value, ranks.layout.share(length).len()));
    let part = ranks.collectives.settle(length, copies)?;
    ranks.finish(length, part)
}

/// `map`.
pub(crate) fn map<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    operands: Vec<MapOperand<Distributed>>,
) -> Result<Distributed, Fault> {
    let length = operands.iter().find_map(|operand| match operand {
        MapOperand::Column(column) => Some(column.length()),
        MapOperand::Scalar(_) => None,
    });
    let length = length.unwrap_or(0);
    let common = ranks.is_common(length);
    let local = operands.into_iter().map(|operand| match operand {
        MapOperand::Scalar(value) => Ok(MapOperand::Scalar(value)),
        MapOperand::Column(Distributed::Replicated(vector)) if common => Ok(MapOperand::Column(vector)),
        MapOperand::Column(column) => ranks.take_part(column).map(MapOperand::Column),
    });
    let local = local.collect::<Result<_, Fault>>()?;
    let result = ranks.local.map(op, local);
    if common {
        return ranks.collectives.replicated(result).map(Distributed::Replicated);
    }
    let start = ranks.layout.share(length).start;
    let result = result.map_err(|fault| Fault { element: fault.element + start, ..fault });
    let part = if op.row().fallible {
        ranks.collectives.agree_on_fault(result)
    } else {
        ranks.collectives.settle(length, result)
    }?;
    ranks.finish(length, part)
}

/// `before` combined with each of the first `length` elements.
pub(crate) fn amend_head<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    before: ScalarValue,
    elements: Vector,
    length: usize,
) -> Result<Vector, Fault> {
    let rest = elements.len() - length;
    if rest == 0 {
        return ranks.local.map(op, vec![MapOperand::Scalar(before), MapOperand::Column(elements)]);
    }
    let head = elements.slice(0, length);
    let head = ranks.local.map(op, vec![MapOperand::Scalar(before), MapOperand::Column(head)])?;
    ranks.local.pack(Pack::Concat(&[head, elements.slice(length, rest)]))
}
/// A column of `length` elements computed from their indices.
pub(crate) fn generate<L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    length: usize,
    element: impl Fn(usize) -> T,
) -> Result<Distributed, Fault> {
    if ranks.is_common(length) {
        let elements = (0..length).map(element).collect();
        return ranks.adopt(0, elements).map(Distributed::Replicated);
    }
    let share = ranks.layout.share(length);
    let mut elements = ranks.rooms(length, |meter| meter.room(share.len()))?;
    elements.extend_from_iter(share.map(element));
    let part = ranks.filled(elements);
    ranks.finish(length, part)
}
