//! A group over a part of the indices on this rank: a block, or a run of what is ragged.

use crate::communication::collectives::from_bits;
use crate::distribution::column::Distributed;
use crate::distribution::{Distribution, LocalEngine};
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role};
use nesl_backend::{Columns, Slot, SlotOf};
use nesl_prim::{Element, ScalarOp, ScalarValue};
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
    /// Their number.
    pub(crate) segments: usize,
    /// Which those are of the values of all segments: all of them, where the values are those of the portion.
    pub(crate) first: usize,
    /// How many elements of the first one lie before the portion.
    pub(crate) before: usize,
}

/// Of each input the cut of its segments, if it is a descriptor.
pub(crate) type Cuts<L> = Vec<Option<Cut<<L as Columns>::Descriptor>>>;

/// What a group gives over a portion of the indices.
pub(crate) fn run_on_portion<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    portion: &Portion,
    cuts: &Cuts<L>,
) -> Option<Vec<SlotOf<L>>> {
    let mut local = Vec::with_capacity(partial.roles.len());
    for (input, role) in partial.roles.iter().enumerate() {
        local.push(match (*role, operands.get(input)) {
            (Role::Scalar, Some(Slot::Scalar(value))) => Slot::Scalar(*value),
            (Role::Elements, Some(Slot::Column(Distributed::Ragged(ragged)))) => {
                Slot::Column(ragged.parts[portion.part].clone())
            }
            (Role::Elements, Some(Slot::Column(column))) => Slot::Column(ranks.part(column).ok()?),
            (Role::Segments, Some(_)) => Slot::Descriptor(cuts[input].as_ref()?.local.clone()),
            (Role::OfSegments(segments), Some(Slot::Column(column))) => {
                let cut = cuts[segments].as_ref()?;
                Slot::Column(column.whole().slice(cut.first, cut.segments))
            }
            (Role::Count, None) => Slot::Scalar((portion.length as i64).to_value()),
            (Role::First, None) => Slot::Scalar((portion.first as i64).to_value()),
            (Role::Before(segments), None) => {
                let cut = cuts[segments].as_ref()?;
                let mut before = vec![0; cut.segments];
                before.iter_mut().take(1).for_each(|first| *first = cut.before as i64);
                Slot::Column(ranks.local_column(Constants::Int(before)).ok()?)
            }
            (role, _) => panic!("a group on rank_count reads no {role:?}"),
        });
    }
    // One instruction has a loop of its own, whose form is made for it. What else it is not worth compiling a loop for
    // is still best done here, where the elements are.
    let is_alone = partial.group.members() == 1;
    let done = if is_alone { None } else { ranks.local.group(&partial.group, &mut local) };
    done.or_else(|| partial.group.one_by_one(&mut ranks.local, &local).ok())
}

/// Words of values, in order, combined.
pub(crate) fn folded(op: ScalarOp, words: impl Iterator<Item = i64>) -> ScalarValue {
    words.map(|bits| from_bits(op.row().result, bits)).fold(op.identity(), |all, value| op.combine(all, value))
}
