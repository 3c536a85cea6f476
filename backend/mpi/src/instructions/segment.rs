//! Segmented instructions that make and move elements, and those that make and take apart descriptors. What they do
//! with operands that are not packed is in [`crate::instructions::packed`].

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::Descriptor;
use crate::distribution::ragged::ColumnRange;
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::elementwise;
use crate::instructions::pack;
use crate::instructions::packed;
use crate::instructions::permute;
use crate::instructions::scan;
use crate::layout::offsets;
use nesl_backend::{Fault, MapOperand, Segment};
use nesl_prim::{ScalarOp, ScalarValue};

/// Elements moved by segments.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    segment: Segment<'_, Distributed, Descriptor<L::Descriptor>>,
) -> Result<Distributed, Fault> {
    match segment {
        Segment::Iota(descriptor) => seg_iota(ranks, descriptor),
        Segment::Dist(column, descriptor) => seg_dist(ranks, column, descriptor),
        Segment::Compact(column, descriptor) => compact(ranks, column, descriptor),
        Segment::Append(first, second) => append(ranks, first, second),
        Segment::Scatter(column, descriptor, values) => seg_scatter(ranks, column, descriptor, values),
    }
}

/// `append`.
///
/// Across ranks it is a merge: the segments of both in turn, by flags that say whose each element is.
pub(crate) fn append<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    first: (&Descriptor<L::Descriptor>, &Distributed),
    second: (&Descriptor<L::Descriptor>, &Distributed),
) -> Result<Distributed, Fault> {
    if let Some(appended) = append_ragged(ranks, first, second) {
        return Ok(appended);
    }
    let [left, right] = &ranks.each_in_blocks([first.1, second.1])?;
    let (first, second) = ((first.0, left), (second.0, right));
    let total = first.0.total()?.saturating_add(second.0.total()?);
    if let (Distributed::Replicated(left), Distributed::Replicated(right), true, true, true) = (
        first.1,
        second.1,
        ranks.is_common(total),
        segments::is_small(ranks, first.0),
        segments::is_small(ranks, second.0),
    ) {
        let locals = (segments::local_descriptor(ranks, first.0)?, segments::local_descriptor(ranks, second.0)?);
        let appended = ranks.local.segment(Segment::Append((&locals.0, left), (&locals.1, right)));
        return ranks.collectives.replicated(appended).map(Distributed::Replicated);
    }
    let lengths = pack::interleave(ranks, &[first.0.0.lengths.clone(), second.0.0.lengths.clone()])?;
    let of_first = elementwise::generate(ranks, lengths.length(), |segment| segment % 2 == 0)?;
    let both = segments::descriptor(ranks, None, lengths)?;
    let flags = seg_dist(ranks, &of_first, &both)?;
    let left = packed::compact_in_blocks(ranks, first.1, first.0)?;
    let right = packed::compact_in_blocks(ranks, second.1, second.0)?;
    pack::merge(ranks, &flags, &left, &right)
}

/// `seg_iota`.
pub(crate) fn seg_iota<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    if segments::is_small(ranks, descriptor) {
        let local = segments::local_packed(ranks, descriptor)?;
        let numbers = ranks.local.segment(Segment::Iota(&local));
        return ranks.collectives.replicated(numbers).map(Distributed::Replicated);
    }
    let map = segments::map_of(ranks, descriptor)?;
    let numbers = ranks.local.segment(Segment::Iota(&map.local));
    let amended = match map.head() {
        None => numbers,
        Some(head) => numbers.and_then(|numbers| {
            let before = ScalarValue::Int((map.share.start - head.start) as i64);
            elementwise::amend_head(ranks, ScalarOp::AddInt, before, numbers, map.head_length())
        }),
    };
    let part = ranks.collectives.settle(map.total, amended)?;
    ranks.finish(map.total, part)
}

/// `seg_dist`.
pub(crate) fn seg_dist<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = &ranks.in_blocks(column)?;
    if let (Distributed::Replicated(vector), true) = (column, segments::is_small(ranks, descriptor)) {
        let local = segments::local_packed(ranks, descriptor)?;
        let distributed = ranks.local.segment(Segment::Dist(vector, &local));
        return ranks.collectives.replicated(distributed).map(Distributed::Replicated);
    }
    let map = segments::map_of(ranks, descriptor)?;
    let values = packed::values_of_segments(ranks, column, &map)?;
    let distributed = ranks.local.segment(Segment::Dist(&values, &map.local));
    let part = ranks.collectives.settle(map.total, distributed)?;
    ranks.finish(map.total, part)
}

/// `compact`.
pub(crate) fn compact<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    match compact_ragged(ranks, column, descriptor) {
        Some(compacted) => Ok(compacted),
        None => {
            let column = ranks.in_blocks(column)?;
            packed::compact_in_blocks(ranks, &column, descriptor)
        }
    }
}

/// `seg_scatter`: a scatter to the places of all elements of the segments.
pub(crate) fn seg_scatter<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: Distributed,
    descriptor: &Descriptor<L::Descriptor>,
    values: &Distributed,
) -> Result<Distributed, Fault> {
    let starts = starts(ranks, descriptor)?;
    let operands = [seg_dist(ranks, &starts, descriptor)?, seg_iota(ranks, descriptor)?].map(MapOperand::Column);
    let places = elementwise::map(ranks, ScalarOp::AddInt, Vec::from(operands))?;
    permute::scatter(ranks, column, &places, values)
}

/// The descriptor of segments that lie one after another.
pub(crate) fn packed<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lengths: Distributed,
) -> Result<Descriptor<L::Descriptor>, Fault> {
    let lengths = ranks.taken_in_blocks(lengths)?;
    segments::descriptor(ranks, None, lengths)
}

/// The descriptor of segments that lie anywhere.
pub(crate) fn view<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    starts: Distributed,
    lengths: Distributed,
) -> Result<Descriptor<L::Descriptor>, Fault> {
    let (starts, lengths) = (ranks.taken_in_blocks(starts)?, ranks.taken_in_blocks(lengths)?);
    segments::descriptor(ranks, Some(starts), lengths)
}

/// Where segments start.
pub(crate) fn starts<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    match &descriptor.0.starts {
        Some(starts) => Ok(starts.clone()),
        None => {
            descriptor.total()?;
            scan::scan(ranks, ScalarOp::AddInt, &descriptor.0.lengths)
        }
    }
}

/// `compact`, without a message.
pub(crate) fn compact_ragged<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    segments: &Descriptor<L::Descriptor>,
) -> Option<Distributed> {
    if segments.0.starts.is_none() {
        return Some(column.clone());
    }
    if column.replicated().is_some() {
        return None;
    }
    let range = |(start, length)| ColumnRange { column: 0, start, length };
    let ranges: Vec<_> = known_ranges(segments)?.into_iter().map(range).collect();
    ranks.select(&[column], &ranges)
}

/// `append`, without a message.
pub(crate) fn append_ragged<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    first: (&Descriptor<L::Descriptor>, &Distributed),
    second: (&Descriptor<L::Descriptor>, &Distributed),
) -> Option<Distributed> {
    if ranks.layout.ranks == 1 {
        return None;
    }
    let (left, right) = (known_ranges(first.0)?, known_ranges(second.0)?);
    let both = left.into_iter().zip(right);
    let range = |column: usize, (start, length)| ColumnRange { column, start, length };
    let ranges: Vec<_> = both.flat_map(|(left, right)| [range(0, left), range(1, right)]).collect();
    ranks.select(&[first.1, second.1], &ranges)
}

/// Start and length of each segment, where every rank knows them.
pub(crate) fn known_ranges<D>(segments: &Descriptor<D>) -> Option<Vec<(usize, usize)>> {
    let inner = &segments.0;
    let lengths = inner.lengths.replicated()?.elements::<i64>().iter().map(|&length| length as usize);
    Some(match &inner.starts {
        Some(starts) => {
            let starts = starts.replicated()?;
            starts.elements::<i64>().iter().map(|&start| start as usize).zip(lengths).collect()
        }
        None => {
            let lengths: Vec<usize> = lengths.collect();
            offsets(&lengths).into_iter().zip(lengths).collect()
        }
    })
}
