//! Instructions that put elements together and take them apart in order: `pack`, `merge`, `concat`, `interleave`.
//!
//! Each runs on the local engine where all operands and the result are common. Otherwise what a rank needs for its
//! block is brought to it, and the local engine does the rest.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::ragged::ColumnRange;
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::offsets;
use nesl_backend::{Fault, Pack, Vector};

/// Elements kept, or columns put together.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    pack: Pack<'_, Distributed>,
) -> Result<Distributed, Fault> {
    match pack {
        Pack::Pack(column, flags) => self::pack(ranks, column, flags),
        Pack::Merge(flags, when_true, when_false) => merge(ranks, flags, when_true, when_false),
        Pack::Concat(columns) => concat(ranks, columns),
        Pack::Interleave(columns) => interleave(ranks, columns),
    }
}

/// `pack`.
pub(crate) fn pack<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    flags: &Distributed,
) -> Result<Distributed, Fault> {
    let (column, flags) = (&ranks.in_blocks(column)?, &ranks.in_blocks(flags)?);
    if let (Distributed::Replicated(column), Distributed::Replicated(flags)) = (column, flags) {
        let packed = ranks.local.pack(Pack::Pack(column, flags));
        return ranks.collectives.replicated(packed).map(Distributed::Replicated);
    }
    let (part, own_flags) = (ranks.part(column)?, ranks.part(flags)?);
    let packed = ranks.local.pack(Pack::Pack(&part, &own_flags));
    let packed = ranks.collectives.settle(column.length(), packed)?;
    let counts = ranks.true_counts(flags, &own_flags);
    ranks.ragged(counts.into_iter().enumerate().collect(), packed)
}

/// `merge`.
pub(crate) fn merge<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    flags: &Distributed,
    when_true: &Distributed,
    when_false: &Distributed,
) -> Result<Distributed, Fault> {
    let [flags, when_true, when_false] = &ranks.each_in_blocks([flags, when_true, when_false])?;
    let length = flags.length();
    if let (Some(flags), Some(left), Some(right)) =
        (flags.replicated(), when_true.replicated(), when_false.replicated())
    {
        let merged = ranks.local.pack(Pack::Merge(flags, left, right));
        return ranks.collectives.replicated(merged).map(Distributed::Replicated);
    }
    let own_flags = ranks.part(flags)?;
    let trues = ranks.true_counts(flags, &own_flags);
    let falses: Vec<usize> =
        trues.iter().enumerate().map(|(rank, trues)| ranks.layout.block(length, rank).len() - trues).collect();
    let left = realigned_column(ranks, when_true, &offsets(&trues))?;
    let right = realigned_column(ranks, when_false, &offsets(&falses))?;
    let merged = ranks.local.pack(Pack::Merge(&own_flags, &left, &right));
    let part = ranks.collectives.settle(length, merged)?;
    ranks.finish(length, part)
}

/// `concat`.
pub(crate) fn concat<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    columns: &[Distributed],
) -> Result<Distributed, Fault> {
    if let Some(joined) = concat_ragged(ranks, columns) {
        return Ok(joined);
    }
    let columns = ranks.all_in_blocks(&columns.iter().collect::<Vec<_>>())?;
    let length = columns.iter().map(Distributed::length).sum();
    if ranks.is_common(length) {
        let vectors: Vec<Vector> = columns.iter().map(|column| column.whole()).collect();
        let joined = ranks.local.pack(Pack::Concat(&vectors));
        return ranks.collectives.replicated(joined).map(Distributed::Replicated);
    }
    let mut pieces = Vec::with_capacity(columns.len());
    let mut start = 0;
    for column in &columns {
        let here = start..start + column.length();
        // The bounds of the result's blocks as positions in this column.
        let wanted: Vec<usize> =
            ranks.layout.bounds(length).iter().map(|bound| bound.clamp(&here.start, &here.end) - start).collect();
        pieces.push(realigned_column(ranks, column, &wanted)?);
        start = here.end;
    }
    let joined = ranks.local.pack(Pack::Concat(&pieces));
    let part = ranks.collectives.settle(length, joined)?;
    ranks.finish(length, part)
}

/// `interleave`.
pub(crate) fn interleave<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    columns: &[Distributed],
) -> Result<Distributed, Fault> {
    let columns = ranks.all_in_blocks(&columns.iter().collect::<Vec<_>>())?;
    let each = columns.first().map_or(0, Distributed::length);
    let length = each * columns.len();
    if ranks.is_common(length) {
        let vectors: Vec<Vector> = columns.iter().map(|column| column.whole()).collect();
        let mixed = ranks.local.pack(Pack::Interleave(&vectors));
        return ranks.collectives.replicated(mixed).map(Distributed::Replicated);
    }
    let parts = columns.iter().map(|column| ranks.part(column)).collect::<Result<Vec<_>, Fault>>()?;
    let mixed = ranks.local.pack(Pack::Interleave(&parts));
    let mixed = ranks.collectives.settle(length, mixed)?;
    let counts: Vec<usize> =
        (0..ranks.layout.ranks).map(|rank| ranks.layout.block(each, rank).len() * columns.len()).collect();
    ranks.assemble_counted(mixed, &counts)
}

/// This rank's elements of a column by other bounds than those of its blocks.
pub(crate) fn realigned_column<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    wanted: &[usize],
) -> Result<Vector, Fault> {
    let rank = ranks.layout.rank;
    if let Some(vector) = column.replicated() {
        return Ok(vector.slice(wanted[rank], wanted[rank + 1] - wanted[rank]));
    }
    let Block { length, part, .. } = ranks.block(column)?;
    ranks.realigned(&part, &ranks.layout.bounds(length), wanted)
}

/// `concat`, without a message.
pub(crate) fn concat_ragged<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    columns: &[Distributed],
) -> Option<Distributed> {
    if ranks.layout.ranks == 1 {
        return None;
    }
    let ranges: Vec<_> =
        columns.iter().enumerate().map(|(column, of)| ColumnRange { column, start: 0, length: of.length() }).collect();
    ranks.select(&columns.iter().collect::<Vec<_>>(), &ranges)
}
