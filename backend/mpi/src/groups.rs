//! Groups on ranks: each runs the loop over its block, and one exchange of a few words puts the results together.

use crate::column::{Column, from_bits, to_bits};
use crate::folds::{combine, identity};
use crate::loose::Placed;
use crate::ranks::Ranks;
use nesl_backend::group::Yield;
use nesl_backend::{Engine, Fault, Group, Slot, SlotOf, Vector};

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// [`Engine::group`]: over columns in parts, where all are read at the index; over common ones always.
    pub(crate) fn run_group(&mut self, group: &Group, operands: &[SlotOf<Self>]) -> Option<Vec<SlotOf<Self>>> {
        let mut partitioned = None;
        let mut local = Vec::with_capacity(operands.len());
        for operand in operands {
            local.push(match operand {
                Slot::Scalar(value) => Slot::Scalar(*value),
                // Without memory for the blocks the instructions one by one will say so.
                Slot::Column(column) => Slot::Column(match self.in_blocks(column).ok()? {
                    Column::Common(vector) => vector,
                    Column::Partitioned { length, part, .. } => {
                        partitioned = Some(length);
                        part
                    }
                }),
                Slot::Descriptor(segments) if self.layout.ranks == 1 => {
                    Slot::Descriptor(self.local_descriptor(segments).ok()?)
                }
                Slot::Descriptor(_) => return None,
            });
        }
        let yields = group.yields();
        let Some(length) = partitioned else {
            // Nothing says how many elements the results have, unless all of it is at the index of what is common.
            if self.layout.ranks > 1 && yields.is_none() {
                return None;
            }
            let results = self.local.group(group, &mut local)?;
            return Some(results.into_iter().map(common).collect());
        };
        let yields = yields?;
        let results = self.local.group(group, &mut local);
        self.results_of_parts(length, &yields, results)
    }

    /// The results of a group on columns of `length` from those of all ranks, or none if a rank has none.
    fn results_of_parts(
        &mut self,
        length: usize,
        yields: &[Yield],
        results: Option<Vec<SlotOf<L>>>,
    ) -> Option<Vec<SlotOf<Self>>> {
        // Whether there are results, and what the others need of them.
        let mut words = vec![i64::from(results.is_some())];
        words.extend((0..yields.len()).map(|index| match results.as_ref().map(|results| &results[index]) {
            Some(Slot::Scalar(value)) => to_bits(*value),
            Some(Slot::Column(part)) => part.len() as i64,
            Some(Slot::Descriptor(_)) | None => 0,
        }));
        let width = words.len();
        let all = self.communicator.all_gather_varied(&words, &vec![width; self.layout.ranks], Vec::new());
        let of_ranks = |word: usize| all.chunks_exact(width).map(move |words| words[word]);
        if of_ranks(0).any(|done| done == 0) {
            return None;
        }
        let together = |(index, (result, kind)): (usize, (SlotOf<L>, &Yield))| -> Result<SlotOf<Self>, Fault> {
            Ok(match (result, kind) {
                (Slot::Column(part), Yield::All) => Slot::Column(Placed::Settled(self.finish(length, part)?)),
                (Slot::Column(piece), Yield::Kept) => {
                    let pieces = of_ranks(index + 1).map(|count| count as usize).enumerate().collect();
                    Slot::Column(self.loose(pieces, piece)?)
                }
                (Slot::Scalar(_), &Yield::Reduced(op)) => {
                    let values = of_ranks(index + 1).map(|bits| from_bits(op.row().result, bits));
                    Slot::Scalar(values.fold(identity(op), |all, value| combine(op, all, value)))
                }
                (_, kind) => panic!("a group yields something else than {kind:?}"),
            })
        };
        // Without memory for a result the instructions one by one will say so.
        results?.into_iter().zip(yields).enumerate().map(together).collect::<Result<_, Fault>>().ok()
    }
}

/// What every rank has.
fn common<C, D>(slot: Slot<Vector, C>) -> Slot<Placed, D> {
    match slot {
        Slot::Scalar(value) => Slot::Scalar(value),
        Slot::Column(vector) => Slot::Column(Placed::Settled(Column::Common(vector))),
        Slot::Descriptor(_) => panic!("a group yields columns and scalars"),
    }
}
