//! A group over a portion of the indices: its inputs are put together, and the local engine runs it.

use crate::distribution::{Distribution, LocalEngine};
use crate::groups::portion::{Cuts, Operands, Portion, inputs};
use crate::groups::reads;
use nesl_backend::SlotOf;
use nesl_backend::engine::group::Partial;

/// What a group gives over a portion of the indices, of operands of which this rank has what lies in the portion, and
/// as they are. All ranks run theirs together where it reads at other indices.
pub(crate) fn run_on_portion<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    (settled, operands): (Operands<'_, L>, Operands<'_, L>),
    portion: &Portion,
    cuts: &Cuts<L>,
) -> Option<Vec<SlotOf<L>>> {
    let local = inputs(ranks, partial, settled, portion, cuts);
    let local =
        if partial.reads.is_empty() { local } else { reads::read(ranks, partial, operands, portion, cuts, local) };
    let mut local: Vec<SlotOf<L>> = local?.into_iter().collect::<Option<_>>()?;
    // One instruction has a loop of its own, whose form is made for it. What else it is not worth compiling a loop for
    // is still best done here, where the elements are.
    let is_alone = partial.group.members() == 1;
    let done = if is_alone { None } else { ranks.local.group(&partial.group, &mut local) };
    done.unwrap_or_else(|| partial.group.one_by_one(&mut ranks.local, &local)).ok()
}
