//! Instructions on the columns of one value: they follow one another and share what says where elements go, so the
//! machine gives them to the engine at once ([`nesl_vcode::op::Row::together`]), and their columns travel in one
//! message for each pair of ranks.
//!
//! What needs no message, or is a column of a kind of its own among them, goes the way of a single instruction.

use crate::communication::collectives::{from_bits, to_bits};
use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::Descriptor;
use crate::distribution::{Distribution, LocalEngine, segments, transfer};
use crate::instructions::pack;
use crate::instructions::packed;
use crate::instructions::permute;
use crate::instructions::permute::first_repeated;
use crate::instructions::segment;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::{Fault, Pack, Permute, Segment, Slot, SlotOf, Vector};
use nesl_prim::ScalarValue;
use nesl_vcode::VectorOp;

/// The operands of one instruction.
type Operands<L> = Vec<SlotOf<Ranks<L>>>;

/// The columns that are partitioned, as the first of them is: their parts, and which they are. All others go their own
/// way.
fn alike(columns: &[Distributed]) -> (usize, Vec<usize>, Vec<Vector>) {
    let (mut of, mut which, mut parts) = (0, Vec::new(), Vec::new());
    for (index, column) in columns.iter().enumerate() {
        if let Distributed::Block(Block { length, part, .. }) = column
            && (which.is_empty() || *length == of)
        {
            of = *length;
            which.push(index);
            parts.push(part.clone());
        }
    }
    (of, which, parts)
}

/// Results of which some are there: the others are made one by one.
fn completed<T>(results: Vec<Option<T>>, mut make: impl FnMut(usize) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let of = |(index, result): (usize, Option<T>)| result.map_or_else(|| make(index), Ok);
    results.into_iter().enumerate().map(of).collect()
}

/// The results of some instructions of one kind.
pub(crate) fn run_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: VectorOp,
    lines: Vec<Operands<L>>,
) -> Result<Vec<SlotOf<Ranks<L>>>, Fault> {
    let columns = match op {
        VectorOp::Extract => {
            return Ok(extract_together(ranks, &lines)?.into_iter().map(Slot::Scalar).collect());
        }
        VectorOp::Gather => gather_together(ranks, &lines)?,
        VectorOp::Scatter => scatter_together(ranks, lines)?,
        VectorOp::Permute => permute_together(ranks, &lines)?,
        VectorOp::Merge => merge_together(ranks, &lines)?,
        VectorOp::Concat => concat_together(ranks, &lines)?,
        VectorOp::SegDist => distribute_together(ranks, &lines)?,
        VectorOp::Compact => compact_together(ranks, &lines)?,
        other => panic!("`{}` is not done for several columns at once", other.row().mnemonic),
    };
    Ok(columns.into_iter().map(Slot::Column).collect())
}

/// Operands of all lines in blocks, those of a line one after another.
fn operands_in_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
    positions: &[usize],
) -> Result<Vec<Distributed>, Fault> {
    let operands = lines.iter().flat_map(|line| positions.iter().map(|&position| line[position].as_column()));
    let operands: Vec<&Distributed> = operands.collect();
    ranks.all_in_blocks(&operands)
}

fn extract_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<ScalarValue>, Fault> {
    let index = lines[0][1].as_size();
    let is_alike = |line: &Operands<L>| {
        let Distributed::Block(Block { length, .. }) = line[0].as_column() else { return None };
        Some(*length)
    };
    let length = is_alike(&lines[0]);
    if length.is_none() || lines.iter().any(|line| is_alike(line) != length) {
        return lines.iter().map(|line| permute::extract(ranks, line[0].as_column(), index)).collect();
    }
    let (_, _, parts) = alike(&operands_in_blocks(ranks, lines, &[0])?);
    let length = length.unwrap_or(0);
    let (owner, start) = (ranks.layout.owner(length, index), ranks.layout.share(length).start);
    let mut bits = vec![0; parts.len()];
    if owner == ranks.layout.rank {
        bits.iter_mut().zip(&parts).for_each(|(bits, part)| *bits = to_bits(part.get(index - start)));
    }
    ranks.collectives.communicator.broadcast_all(owner, &mut bits);
    Ok(bits.iter().zip(&parts).map(|(&bits, part)| from_bits(part.scalar_type(), bits)).collect())
}

fn gather_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let indices = lines[0][1].as_column().clone();
    let mut results = Vec::with_capacity(lines.len());
    for line in lines {
        results.push(permute::gather_ragged(ranks, line[0].as_column(), &indices).transpose()?);
    }
    let others: Vec<usize> = (0..lines.len()).filter(|&line| results[line].is_none()).collect();
    let moving: Vec<&Distributed> = others.iter().map(|&line| lines[line][0].as_column()).collect();
    let (settled, indices) = ranks.all_and_last_in_blocks(moving, &indices)?;
    if let Distributed::Block(Block { length: total, .. }) = indices {
        let (length, which, parts) = alike(&settled);
        if parts.len() > 1 {
            let requests = ranks.requests(&indices, length)?;
            let fetched = transfer::fetched_together(ranks, &requests, &parts, total)?;
            for (which, part) in which.into_iter().zip(fetched) {
                results[others[which]] = Some(ranks.finish(total, part)?);
            }
        }
    }
    completed(results, |line| {
        // It has moved with the others.
        let column = ranks.in_blocks(lines[line][0].as_column())?;
        permute::gather(ranks, &column, &indices)
    })
}

fn permute_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let operands = lines.iter().map(|line| line[0].as_column()).collect();
    let (settled, indices) = ranks.all_and_last_in_blocks(operands, lines[0][1].as_column())?;
    let (length, which, parts) = alike(&settled);
    let mut results: Vec<Option<Distributed>> = settled.iter().map(|_| None).collect();
    if parts.len() > 1 {
        let requests = ranks.requests(&indices, length)?;
        if let Some((targets, came)) = transfer::delivered_together(ranks, &requests, &parts, length) {
            let repeated = first_repeated(targets.elements(), ranks.layout.share(length).len());
            // Where some come twice the first instruction alone says which.
            if !ranks.collectives.communicator.all_gather(repeated.is_some()).contains(&true) {
                for (which, values) in which.into_iter().zip(came) {
                    let permuted = ranks.local.permute(Permute::Permute(&values, &targets));
                    let part = ranks.collectives.settle(length, permuted)?;
                    results[which] = Some(ranks.finish(length, part)?);
                }
            }
        }
    }
    completed(results, |line| permute::permute(ranks, &settled[line], &indices))
}

fn scatter_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: Vec<Operands<L>>,
) -> Result<Vec<Distributed>, Fault> {
    let values = operands_in_blocks(ranks, &lines, &[2])?;
    let indices = ranks.in_blocks(lines[0][1].as_column())?;
    let targets: Vec<&Distributed> = lines.iter().map(|line| line[0].as_column()).collect();
    let lengths: Vec<usize> = targets.iter().map(|target| target.length()).collect();
    ranks.all_in_blocks(&targets)?;
    // Nobody else needs the columns that die here: they are written over.
    let mut targets = Vec::with_capacity(lines.len());
    for line in lines {
        for target in line.into_iter().take(1) {
            targets.push(ranks.taken_in_blocks(target.into_column())?);
        }
    }
    let is_alone = |which: usize| lengths[which] != lengths[0];
    let is_partitioned = matches!(indices, Distributed::Block(Block { .. }));
    if is_partitioned && !ranks.is_common(lengths[0]) && !(0..lengths.len()).any(is_alone) {
        let (length, total) = (lengths[0], indices.length());
        let requests = ranks.requests(&indices, length)?;
        let parts = values.iter().map(|values| ranks.part(values)).collect::<Result<Vec<_>, Fault>>()?;
        if let Some((places, came)) = transfer::delivered_together(ranks, &requests, &parts, total) {
            let written = targets.into_iter().zip(came).map(|(target, values)| {
                let part = ranks.take_part(target)?;
                let scattered = ranks.local.permute(Permute::Scatter(part, &places, &values));
                let part = ranks.collectives.settle(length, scattered)?;
                ranks.finish(length, part)
            });
            return written.collect();
        }
    }
    targets.into_iter().zip(&values).map(|(target, values)| permute::scatter(ranks, target, &indices, values)).collect()
}

fn merge_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let flags = ranks.in_blocks(lines[0][0].as_column())?;
    let operands = operands_in_blocks(ranks, lines, &[1, 2])?;
    if operands.iter().chain([&flags]).all(|column| column.replicated().is_some()) {
        let merge = |pair: &[Distributed]| pack::merge(ranks, &flags, &pair[0], &pair[1]);
        return operands.chunks_exact(2).map(merge).collect();
    }
    let length = flags.length();
    let own_flags = ranks.part(&flags)?;
    let trues = ranks.true_counts(&flags, &own_flags);
    let falses: Vec<usize> =
        trues.iter().enumerate().map(|(rank, trues)| ranks.layout.block(length, rank).len() - trues).collect();
    let bounds = [offsets(&trues), offsets(&falses)];
    let wanted = operands.iter().enumerate().map(|(at, column)| (column, bounds[at % 2].clone())).collect();
    let aligned = transfer::realigned_together(ranks, wanted)?;
    let mut merged = Vec::with_capacity(lines.len());
    for pair in aligned.chunks_exact(2) {
        let part = ranks.local.pack(Pack::Merge(&own_flags, &pair[0], &pair[1]));
        let part = ranks.collectives.settle(length, part)?;
        merged.push(ranks.finish(length, part)?);
    }
    Ok(merged)
}

fn concat_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let mut results = Vec::with_capacity(lines.len());
    for line in lines {
        let columns: Vec<Distributed> = line.iter().map(|slot| slot.as_column().clone()).collect();
        results.push(pack::concat_ragged(ranks, &columns));
    }
    let length = |line: usize| lines[line].iter().map(|slot| slot.as_column().length()).sum::<usize>();
    let moves = |line: &usize| results[*line].is_none() && !ranks.is_common(length(*line));
    let moving: Vec<usize> = (0..lines.len()).filter(moves).collect();
    let operands: Vec<&Distributed> = moving.iter().flat_map(|&line| lines[line].iter().map(Slot::as_column)).collect();
    let settled = ranks.all_in_blocks(&operands)?;
    let (mut wanted, mut rest) = (Vec::with_capacity(settled.len()), settled.iter());
    for &line in &moving {
        let bounds = ranks.layout.bounds(length(line));
        let mut start = 0;
        for column in rest.by_ref().take(lines[line].len()) {
            let here = start..start + column.length();
            // The bounds of the result's blocks as positions in this column.
            wanted.push((column, bounds.iter().map(|bound| bound.clamp(&here.start, &here.end) - start).collect()));
            start = here.end;
        }
    }
    let mut pieces = transfer::realigned_together(ranks, wanted)?.into_iter();
    for line in moving {
        let length = length(line);
        let pieces: Vec<Vector> = pieces.by_ref().take(lines[line].len()).collect();
        let joined = ranks.local.pack(Pack::Concat(&pieces));
        let part = ranks.collectives.settle(length, joined)?;
        results[line] = Some(ranks.finish(length, part)?);
    }
    completed(results, |line| {
        let columns: Vec<&Distributed> = lines[line].iter().map(Slot::as_column).collect();
        let columns = ranks.all_in_blocks(&columns)?;
        pack::concat(ranks, &columns)
    })
}

fn distribute_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let segments: Descriptor<L::Descriptor> = lines[0][1].as_descriptor().clone();
    let columns = operands_in_blocks(ranks, lines, &[0])?;
    let (length, which, parts) = alike(&columns);
    let mut results: Vec<Option<Distributed>> = columns.iter().map(|_| None).collect();
    if parts.len() > 1 {
        let map = segments::map_of(ranks, &segments)?;
        let pieces: Vec<i64> = map.segments.iter().map(|piece| piece.segment as i64).collect();
        let requests = ranks.requests_of(&map.identity, &pieces, map.total, length)?;
        for (which, values) in which.into_iter().zip(transfer::fetched_together(ranks, &requests, &parts, map.total)?) {
            let distributed = ranks.local.segment(Segment::Dist(&values, &map.local));
            let part = ranks.collectives.settle(map.total, distributed)?;
            results[which] = Some(ranks.finish(map.total, part)?);
        }
    }
    completed(results, |line| segment::seg_dist(ranks, &columns[line], &segments))
}

fn compact_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    lines: &[Operands<L>],
) -> Result<Vec<Distributed>, Fault> {
    let segments: Descriptor<L::Descriptor> = lines[0][1].as_descriptor().clone();
    let mut results = Vec::with_capacity(lines.len());
    for line in lines {
        results.push(segment::compact_ragged(ranks, line[0].as_column(), &segments));
    }
    let others: Vec<usize> = (0..lines.len()).filter(|&line| results[line].is_none()).collect();
    let moving: Vec<&Distributed> = others.iter().map(|&line| lines[line][0].as_column()).collect();
    let settled = ranks.all_in_blocks(&moving)?;
    let (length, which, parts) = alike(&settled);
    if parts.len() > 1 {
        let map = segments::map_of(ranks, &segments)?;
        let ranges = packed::ranges_of(&map);
        let requests = ranks.range_requests(&map.identity, ranges.into_iter(), map.total, length);
        let fetched = transfer::fetched_ranges_together(ranks, &requests, &parts, map.share.len(), map.total)?;
        for (which, part) in which.into_iter().zip(fetched) {
            results[others[which]] = Some(ranks.finish(map.total, part)?);
        }
    }
    completed(results, |line| segment::compact(ranks, lines[line][0].as_column(), &segments))
}
