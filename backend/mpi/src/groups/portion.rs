//! A group over a part of the indices on this rank: a block, a run of what is ragged, or those of whole segments. And
//! what comes of all ranks.

use crate::communication::collectives::{from_bits, to_bits};
use crate::distribution::column::Distributed;
use crate::distribution::{Distribution, LocalEngine};
use crate::instructions::reduce;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Yield};
use nesl_backend::{Columns, Slot, SlotOf, Vector};
use nesl_prim::{Element, Extreme, ScalarOp, ScalarValue};
use nesl_vcode::Constants;

/// A part of the indices of a group on this rank.
pub(crate) struct Portion {
    /// The first index.
    pub(crate) first: usize,
    pub(crate) length: usize,
    /// Which part of columns in pieces has the elements.
    pub(crate) part: usize,
}

/// The segments of a descriptor in a portion.
pub(crate) struct Cut<D> {
    /// What lies in the portion, packed, on the local engine.
    pub(crate) local: D,
    /// How much of each that is.
    pub(crate) lengths: Vector,
    /// Which those are of the values of all segments: all of them, where the values are those of the portion.
    pub(crate) first: usize,
    /// How many elements of the first one lie before the portion.
    pub(crate) before: usize,
    /// Where it starts in the data, where something reads there.
    pub(crate) starts: Option<Vector>,
}

/// The operands of a group on ranks.
pub(crate) type Operands<'o, L> = &'o [SlotOf<Ranks<L>>];

/// The inputs of a portion, as far as they are there.
pub(crate) type Locals<L> = Vec<Option<SlotOf<L>>>;

/// Of each input the cut of its segments, if it is a descriptor.
pub(crate) type Cuts<L> = Vec<Option<Cut<<L as Columns>::Descriptor>>>;

/// The inputs of a portion, but for what it reads at other indices.
pub(super) fn inputs<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    portion: &Portion,
    cuts: &Cuts<L>,
) -> Option<Locals<L>> {
    let mut local = Vec::with_capacity(partial.roles.len());
    for (input, role) in partial.roles.iter().enumerate() {
        local.push(match (*role, operands.get(input)) {
            (Role::Read(_) | Role::Offset(_) | Role::View { .. }, None) => None,
            (role, operand) => Some(own_input(ranks, role, operand, (input, portion), cuts)?),
        });
    }
    Some(local)
}

/// An input of a portion that this rank has.
fn own_input<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    role: Role,
    operand: Option<&SlotOf<Ranks<L>>>,
    (input, portion): (usize, &Portion),
    cuts: &Cuts<L>,
) -> Option<SlotOf<L>> {
    Some(match (role, operand) {
        (Role::Scalar, Some(Slot::Scalar(value))) => Slot::Scalar(*value),
        (Role::Elements, Some(Slot::Column(Distributed::Ragged(ragged)))) => {
            Slot::Column(ragged.parts[portion.part].clone())
        }
        (Role::Elements, Some(Slot::Column(column))) => Slot::Column(ranks.part(column).ok()?),
        // Nothing reads it.
        (Role::Elsewhere, Some(_)) => Slot::Scalar(0i64.to_value()),
        (Role::Segments, Some(_)) => Slot::Descriptor(cuts[input].as_ref()?.local.clone()),
        (Role::OfSegments(segments), Some(Slot::Column(column))) => {
            let cut = cuts[segments].as_ref()?;
            Slot::Column(column.whole().slice(cut.first, cut.lengths.len()))
        }
        (Role::Count, None) => Slot::Scalar((portion.length as i64).to_value()),
        (Role::First, None) => Slot::Scalar((portion.first as i64).to_value()),
        (Role::Before(segments), None) => {
            let cut = cuts[segments].as_ref()?;
            let mut before = vec![0; cut.lengths.len()];
            before.iter_mut().take(1).for_each(|first| *first = cut.before as i64);
            Slot::Column(ranks.local_column(Constants::Int(before)).ok()?)
        }
        (role, _) => panic!("a group on ranks reads no {role:?}"),
    })
}

/// Where segments of these lengths start, one after another, the first at `start`.
pub(super) fn starts_from(start: usize, lengths: &[i64]) -> Vec<i64> {
    let next = |end: &mut i64, &length: &i64| {
        *end += length;
        Some(*end - length)
    };
    lengths.iter().scan(start as i64, next).collect()
}

/// Words of values, in order, combined.
pub(crate) fn folded(op: ScalarOp, words: impl Iterator<Item = i64>) -> ScalarValue {
    words.map(|bits| from_bits(op.row().result, bits)).fold(op.identity(), |all, value| op.combine(all, value))
}

/// What the others need to know of a result over a rank's block.
pub(super) fn word<D>(result: &Slot<Vector, D>) -> i64 {
    match result {
        Slot::Scalar(value) => to_bits(*value),
        other => other.as_column().len() as i64,
    }
}

/// What comes of all ranks of a result that is no matter of segments: from what each has of it, which lies behind what
/// the ranks before it have. `words` are what they say of all results; each begins where `starts` says.
pub(super) fn put_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    (kind, index): (Yield, usize),
    own: SlotOf<L>,
    words: &[Vec<i64>],
    starts: &[usize],
) -> Option<SlotOf<Ranks<L>>> {
    let of_ranks = |index: usize| words.iter().map(move |words| words[index]);
    Some(match (own, kind) {
        (Slot::Column(part), Yield::All | Yield::Kept | Yield::Ordered(_)) => {
            let runs = of_ranks(index).map(|count| count as usize).enumerate().collect();
            let column = ranks.ragged(runs, part).ok()?;
            match kind {
                Yield::Ordered(op) => Slot::Scalar(reduce::reduce(ranks, op, &column).ok()?),
                _ => Slot::Column(column),
            }
        }
        (Slot::Scalar(_), Yield::Reduced(op)) => Slot::Scalar(folded(op, of_ranks(index))),
        (Slot::Scalar(_), Yield::Index(op)) => {
            let parts = of_ranks(index - 1).zip(of_ranks(index)).zip(starts);
            let parts = parts.map(|((value, at), &start)| extreme(op, value, at).from(start));
            let found = parts.fold(Extreme::none(op.identity()), |before, later| before.then_by(op, later));
            Slot::Scalar(ScalarValue::Int(found.index))
        }
        (_, kind) => panic!("a group yields something else than {kind:?}"),
    })
}

/// An extreme element from the words of it and of its index.
pub(super) fn extreme(op: ScalarOp, value: i64, index: i64) -> Extreme<ScalarValue> {
    Extreme { value: from_bits(op.row().result, value), index }
}
