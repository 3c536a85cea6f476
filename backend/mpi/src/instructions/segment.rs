//! Segmented instructions that make and move elements, and those that make and take apart descriptors. What they do
//! with operands that are not packed is in [`crate::instructions::packed`].

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::Descriptor;
use crate::distribution::ragged::{ColumnRange, local_parts};
use crate::distribution::redistribution::{Redistribution, Run};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::elementwise;
use crate::instructions::pack;
use crate::instructions::packed;
use crate::instructions::permute;
use crate::instructions::scan;
use crate::layout::offsets;
use nesl_backend::{Fault, MapOperand, Segment, Vector, on_vector};
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::Constants;

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

/// `seg_scatter`: where every rank knows the segments, values go to the ranks of their places, and most lie there;
/// otherwise a scatter to the places of all elements.
pub(crate) fn seg_scatter<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: Distributed,
    descriptor: &Descriptor<L::Descriptor>,
    values: &Distributed,
) -> Result<Distributed, Fault> {
    let is_apart = ranks.layout.ranks > 1 && column.replicated().is_none();
    if let Some(segments) = known_ranges(descriptor).filter(|_| is_apart) {
        let length = column.length();
        let (own, values) = own_values(ranks, length, &segments, values)?;
        let part = ranks.take_part(column)?;
        let scattered = scattered(ranks, part, own, &values);
        let part = ranks.collectives.settle(length, scattered)?;
        return ranks.finish(length, part);
    }
    let starts = starts(ranks, descriptor)?;
    let operands = [seg_dist(ranks, &starts, descriptor)?, seg_iota(ranks, descriptor)?].map(MapOperand::Column);
    let places = elementwise::map(ranks, ScalarOp::AddInt, Vec::from(operands))?;
    permute::scatter(ranks, column, &places, values)
}

/// Where in this rank's block of `length` elements there are parts of segments, and the values that go there.
fn own_values<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    segments: &[(usize, usize)],
    values: &Distributed,
) -> Result<(Vec<(usize, usize)>, Vector), Fault> {
    let layout = ranks.layout;
    let bounds = layout.bounds(length);
    let (mut own, mut wanted): (Vec<(usize, usize)>, Vec<Run>) = (Vec::new(), Vec::new());
    let mut at = 0;
    for &(first, count) in segments {
        let (mut start, end) = (first, first + count);
        while start < end {
            let owner = layout.owner(length, start);
            let part = end.min(bounds[owner + 1]) - start;
            match wanted.last_mut() {
                Some(last) if last.rank == owner => last.length += part,
                _ => wanted.push(Run { rank: owner, start: at, length: part }),
            }
            if owner == layout.rank {
                let place = start - bounds[owner];
                match own.last_mut() {
                    Some((first, count)) if *first + *count == place => *count += part,
                    _ => own.push((place, part)),
                }
            }
            at += part;
            start += part;
        }
    }
    if let Some(vector) = values.replicated() {
        let mine = wanted.iter().filter(|run| run.rank == layout.rank);
        let mut parts: Vec<Vector> = mine.map(|run| vector.slice(run.start, run.length)).collect();
        if parts.is_empty() {
            parts.push(vector.slice(0, 0));
        }
        return Ok((own, ranks.joined_parts(length, &parts)?));
    }
    let held = ranks.as_ragged(values);
    let redistribution = Redistribution::from_runs(layout.ranks, &held.runs, &wanted);
    let values = match redistribution.moved() {
        0 => ranks.joined_parts(at, &held.parts)?,
        _ => on_vector!(&held.parts[0], slice => {
            ranks.redistributed(at, &redistribution, &local_parts(slice.elements(), &held.parts))?
        }),
    };
    Ok((own, values))
}

/// A part of a column with values written over segments of it.
fn scattered<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    part: Vector,
    segments: Vec<(usize, usize)>,
    values: &Vector,
) -> Result<Vector, Fault> {
    let (starts, lengths) = segments.into_iter().map(|(start, length)| (start as i64, length as i64)).unzip();
    let [starts, lengths] = [starts, lengths].map(|ints| ranks.local_column(Constants::Int(ints)));
    let view = ranks.local.descriptor(Some(starts?), lengths?)?;
    ranks.local.segment(Segment::Scatter(part, &view, values))
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
