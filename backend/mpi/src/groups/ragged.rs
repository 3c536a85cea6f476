//! Groups over columns in runs: a loop over each run, and no element moves.
//!
//! Every rank knows the runs of all, and the lengths of the segments; so it also knows which segments each run has
//! parts of.

use crate::communication::collectives::{from_bits, to_bits};
use crate::distribution::column::{Distributed, Runs};
use crate::distribution::descriptor::{Descriptor, is_at_hand};
use crate::distribution::ragged::counts_of;
use crate::distribution::{Distribution, LocalEngine};
use crate::groups::portion::{Cut, Cuts, Portion, extreme, folded, starts_from};
use crate::groups::run::run_on_portion;
use crate::instructions::segment;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Yield};
use nesl_backend::machine::strategy;
use nesl_backend::{Slot, SlotOf, Vector};
use nesl_prim::{Extreme, ScalarOp, ScalarValue};
use nesl_vcode::Constants;
use std::ops::Range;
use std::sync::Arc;

/// The most runs for each rank over which a group runs one after another: each takes some microseconds besides its
/// elements.
const MOST: usize = 64;

/// The fewest elements of a run, on average, as a part of the most that a common column has: with fewer, moving them
/// into blocks costs less than the loops.
const LEAST: usize = 4;

/// What the rank with most may have more than is even: that takes no time to speak of.
const MORE: u64 = 64;

/// The segments that all runs have parts of, of each input that is a descriptor.
type Crossed = Vec<Option<Vec<Range<usize>>>>;

/// What a group runs over.
struct Course<'a> {
    runs: &'a Arc<Runs>,
    /// Which of the runs are this rank's.
    own: &'a [usize],
    crossed: &'a Crossed,
}

/// The runs in which all columns of elements lie, if they do, and if a group runs well over them: evenly, unless what
/// comes of it goes where they are.
pub(crate) fn runs_of<L: LocalEngine>(
    ranks: &Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    length: usize,
    stays: bool,
) -> Option<Arc<Runs>> {
    // What others have all ranks get at once, and orders that count are those of whole segments.
    let is_common = |&column: &usize| is_at_hand(&operands[column]);
    if !partial.reads.iter().all(is_common) || partial.yields.iter().any(Yield::is_ordered) {
        return None;
    }
    let mut found: Option<Arc<Runs>> = None;
    for (role, operand) in partial.roles.iter().zip(operands) {
        match (role, operand) {
            (Role::Elements, Slot::Column(Distributed::Ragged(ragged))) => match &found {
                Some(runs) if **runs != *ragged.runs => return None,
                Some(_) => {}
                None => found = Some(Arc::clone(&ragged.runs)),
            },
            (Role::Elements, _) => return None,
            (Role::Segments, operand) if !partial.reads.is_empty() && !is_at_hand(operand) => return None,
            (Role::OfSegments(_) | Role::Segments, operand) if !is_known(operand) => return None,
            _ => {}
        }
    }
    let runs = found?;
    let least = ranks.threshold / LEAST;
    let mut loads: Vec<u64> = counts_of(ranks.layout.ranks, &runs).into_iter().map(|count| count as u64).collect();
    let are_few = runs.len() <= MOST * ranks.layout.ranks && runs.len() * least <= length;
    if let Some(most) = loads.iter_mut().max() {
        *most = most.saturating_sub(MORE);
    }
    (are_few && (stays || strategy::is_even(&loads))).then_some(runs)
}

/// `seg_reduce`, where the elements are; none where that is not for runs.
pub(crate) fn seg_reduce_by_runs<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Option<Distributed> {
    if !op.row().associative || !matches!(column, Distributed::Ragged(_)) {
        return None;
    }
    let column = segment::compact_ragged(ranks, column, descriptor)?;
    let partial = Partial::seg_reduce(op);
    let length = column.length();
    let operands = [Slot::Column(column), Slot::Descriptor(descriptor.clone())];
    let runs = runs_of(ranks, &partial, &operands, length, false)?;
    match run_by_runs(ranks, &partial, &operands, &runs)?.pop() {
        Some(Slot::Column(reduced)) => Some(reduced),
        _ => None,
    }
}

/// `reduce_index`, or `seg_reduce_index` by a descriptor, where the elements are; none where that is not for runs.
pub(crate) fn reduce_index_by_runs<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: Option<&Descriptor<L::Descriptor>>,
) -> Option<SlotOf<Ranks<L>>> {
    if !matches!(column, Distributed::Ragged(_)) {
        return None;
    }
    let column = match descriptor {
        Some(descriptor) => segment::compact_ragged(ranks, column, descriptor)?,
        None => column.clone(),
    };
    let partial = Partial::reduce_index(op, descriptor.is_some());
    let length = column.length();
    let mut operands = vec![Slot::Column(column)];
    operands.extend(descriptor.map(|descriptor| Slot::Descriptor(descriptor.clone())));
    let runs = runs_of(ranks, &partial, &operands, length, false)?;
    run_by_runs(ranks, &partial, &operands, &runs)?.pop()
}

/// Whether every rank has all of a column, or the lengths of all segments.
fn is_known<D>(operand: &Slot<Distributed, Descriptor<D>>) -> bool {
    match operand {
        Slot::Descriptor(segments) => segments.0.lengths.replicated().is_some(),
        operand => is_at_hand(operand),
    }
}

/// Over the runs of this rank, one after another.
pub(crate) fn run_by_runs<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    runs: &Arc<Runs>,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let starts = offsets(&runs.iter().map(|run| run.1).collect::<Vec<_>>());
    let crossed: Crossed = operands
        .iter()
        .map(|operand| match operand {
            Slot::Descriptor(_) => {
                let bounds = offsets(&lengths_of(operand)?);
                Some(starts.windows(2).map(|pair| within(&bounds[1..], pair[0]..pair[1])).collect())
            }
            Slot::Scalar(_) | Slot::Column(_) => None,
        })
        .collect();
    let own: Vec<usize> = (0..runs.len()).filter(|&run| runs[run].0 == ranks.layout.rank).collect();
    let mut given = Vec::with_capacity(own.len());
    for (part, &run) in own.iter().enumerate() {
        let portion = Portion { first: starts[run], length: runs[run].1, part };
        let results = cuts(ranks, partial, operands, &crossed, run, &portion)
            .and_then(|cuts| run_on_portion(ranks, partial, (operands, operands), &portion, &cuts));
        given.push(results);
    }
    if own.is_empty() {
        // What has no elements still has types.
        let portion = Portion { first: 0, length: 0, part: 0 };
        let results = nothing(ranks, operands)
            .and_then(|cuts| run_on_portion(ranks, partial, (operands, operands), &portion, &cuts));
        given.push(results);
    }
    let given = given.into_iter().collect();
    results_of_runs(ranks, partial, operands, &Course { runs, own: &own, crossed: &crossed }, given)
}

/// What segments have in a run.
fn cuts<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    crossed: &Crossed,
    run: usize,
    portion: &Portion,
) -> Option<Cuts<L>> {
    let mut cuts = Vec::with_capacity(operands.len());
    for (operand, crossed) in operands.iter().zip(crossed) {
        let (Slot::Descriptor(segments), Some(crossed)) = (operand, crossed) else {
            cuts.push(None);
            continue;
        };
        let lengths = segments.0.lengths.replicated()?.elements::<i64>();
        let range = crossed[run].clone();
        let first = lengths[..range.start].iter().sum::<i64>() as usize;
        let before = portion.first - first;
        let mut rest = portion.length;
        let mut inside: Vec<i64> = Vec::with_capacity(range.len());
        for (index, &length) in lengths[range.clone()].iter().enumerate() {
            let length = (length as usize - if index == 0 { before } else { 0 }).min(rest);
            rest -= length;
            inside.push(length as i64);
        }
        let mut starts = match &segments.0.starts {
            _ if partial.reads.is_empty() => None,
            Some(starts) => Some(starts.replicated()?.elements()[range.clone()].to_vec()),
            None => Some(starts_from(first, &lengths[range.clone()])),
        };
        starts.iter_mut().flat_map(|starts| starts.first_mut()).for_each(|start| *start += before as i64);
        cuts.push(Some(cut(ranks, (starts, inside), range.start, before)?));
    }
    Some(cuts)
}

/// No segments.
fn nothing<L: LocalEngine>(ranks: &mut Distribution<L>, operands: &[SlotOf<Ranks<L>>]) -> Option<Cuts<L>> {
    let mut cuts = Vec::with_capacity(operands.len());
    for operand in operands {
        cuts.push(match operand {
            Slot::Descriptor(_) => Some(cut(ranks, (Some(Vec::new()), Vec::new()), 0, 0)?),
            Slot::Scalar(_) | Slot::Column(_) => None,
        });
    }
    Some(cuts)
}

fn cut<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    (starts, lengths): (Option<Vec<i64>>, Vec<i64>),
    first: usize,
    before: usize,
) -> Option<Cut<L::Descriptor>> {
    let lengths = ranks.local_column(Constants::Int(lengths)).ok()?;
    let local = ranks.local.descriptor(None, lengths.clone()).ok()?;
    let starts = starts.map(|starts| ranks.local_column(Constants::Int(starts))).transpose().ok()?;
    Some(Cut { local, lengths, first, before, starts })
}

/// The results of a group from those over the runs of this rank, or none if a rank has none.
fn results_of_runs<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    Course { runs, own, crossed }: &Course<'_>,
    given: Option<Vec<Vec<SlotOf<L>>>>,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let width = |kind: &Yield, run: usize| words_for(kind, crossed, run);
    let mut widths = vec![0; ranks.layout.ranks];
    for (run, &(rank, _)) in runs.iter().enumerate() {
        widths[rank] += partial.yields.iter().map(|kind| width(kind, run)).sum::<usize>();
    }
    let own_given = given.iter().flat_map(|given| given.iter().take(own.len()));
    let words = own_given.flat_map(|results| results.iter().zip(&partial.yields).flat_map(words_of)).collect();
    let all = ranks.collectives.words_of_ranks(given.is_some().then_some(words), &widths)?;
    // By run and yield.
    let mut next = vec![0; ranks.layout.ranks];
    let mut words: Vec<Vec<&[i64]>> = Vec::with_capacity(runs.len());
    for (run, &(rank, _)) in runs.iter().enumerate() {
        let of_yield = |kind| {
            let start = next[rank];
            next[rank] += width(kind, run);
            &all[rank][start..next[rank]]
        };
        words.push(partial.yields.iter().map(of_yield).collect());
    }
    let mut results = Vec::with_capacity(partial.yields.len());
    let starts = offsets(&runs.iter().map(|run| run.1).collect::<Vec<_>>());
    let given = given?;
    for (index, kind) in partial.yields.iter().enumerate() {
        let of_runs = || words.iter().map(move |words| words[index]);
        results.push(match *kind {
            Yield::Reduced(op) => Slot::Scalar(folded(op, of_runs().map(|words| words[0]))),
            Yield::Index(op) => {
                let parts = of_runs_with_values(&words, index).zip(&starts);
                let parts = parts.map(|((values, indices), &start)| extreme(op, values[0], indices[0]).from(start));
                let found = parts.fold(Extreme::none(op.identity()), |before, later| before.then_by(op, later));
                Slot::Scalar(ScalarValue::Int(found.index))
            }
            Yield::IndexBySegment(op, segments) => {
                let begins = offsets(&lengths_of(&operands[segments])?);
                let mut found = vec![Extreme::none(op.identity()); begins.len() - 1];
                for (run, (values, indices)) in of_runs_with_values(&words, index).enumerate() {
                    let range = crossed[segments].as_ref()?[run].clone();
                    for (segment, (&value, &index)) in range.zip(values.iter().zip(indices)) {
                        let before = starts[run].saturating_sub(begins[segment]);
                        found[segment] = found[segment].then_by(op, extreme(op, value, index).from(before));
                    }
                }
                let indices = Constants::Int(found.into_iter().map(|extreme| extreme.index).collect());
                Slot::Column(ranks.constant_column(&indices).ok()?)
            }
            Yield::BySegment(op, segments) => {
                let mut values = vec![op.identity(); segments_of(&operands[segments])];
                for (run, words) in of_runs().enumerate() {
                    let range = crossed[segments].as_ref()?[run].clone();
                    for (value, &bits) in values[range].iter_mut().zip(words) {
                        *value = op.combine(*value, from_bits(op.row().result, bits));
                    }
                }
                let values = Constants::from_scalars(op.row().result, &values);
                Slot::Column(ranks.constant_column(&values).ok()?)
            }
            Yield::Ordered(_) | Yield::OrderedBySegment(..) => panic!("parts of {kind:?} have no order"),
            Yield::All => {
                let parts = given.iter().map(|results| results[index].as_column().clone()).collect();
                Slot::Column(ranks.new_ragged(starts[runs.len()], Arc::clone(runs), parts))
            }
            Yield::Kept => {
                let parts: Vec<Vector> = given.iter().map(|results| results[index].as_column().clone()).collect();
                let kept = runs.iter().zip(of_runs()).map(|(&(rank, _), words)| (rank, words[0] as usize));
                let like = parts[0].clone();
                Slot::Column(ranks.ragged_parts(Arc::new(kept.collect()), parts, &like).ok()?)
            }
        });
    }
    Some(partial.without_extremes(results))
}

/// How many words a run says of a yield.
fn words_for(kind: &Yield, crossed: &Crossed, run: usize) -> usize {
    match *kind {
        Yield::All | Yield::Ordered(_) => 0,
        Yield::Kept | Yield::Reduced(_) | Yield::Index(_) => 1,
        Yield::BySegment(_, segments) | Yield::OrderedBySegment(_, segments) | Yield::IndexBySegment(_, segments) => {
            crossed[segments].as_ref().map_or(0, |crossed| crossed[run].len())
        }
    }
}

/// What each run says of a yield and of the one before it, which is the extreme elements of which it is the indices.
fn of_runs_with_values<'a>(words: &'a [Vec<&[i64]>], index: usize) -> impl Iterator<Item = (&'a [i64], &'a [i64])> {
    words.iter().map(move |words| (words[index - 1], words[index]))
}

/// How long the segments of an operand are, if every rank knows.
fn lengths_of<D>(operand: &Slot<Distributed, Descriptor<D>>) -> Option<Vec<usize>> {
    let Slot::Descriptor(segments) = operand else { return None };
    let lengths = segments.0.lengths.replicated()?.elements::<i64>();
    Some(lengths.iter().map(|&length| length as usize).collect())
}

fn segments_of<C, D>(operand: &Slot<C, Descriptor<D>>) -> usize {
    operand.as_descriptor().0.lengths.length()
}

/// The segments, by where they end, that have elements in a range, and empty ones between them.
fn within(ends: &[usize], range: Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    let first = ends.partition_point(|&end| end <= range.start);
    first..ends.partition_point(|&end| end < range.end) + 1
}

/// What the others need to know of a result over a run.
fn words_of<D>((result, kind): (&Slot<Vector, D>, &Yield)) -> Vec<i64> {
    match (result, kind) {
        (_, Yield::All) => Vec::new(),
        (Slot::Scalar(value), Yield::Reduced(_) | Yield::Index(_)) => vec![to_bits(*value)],
        (Slot::Column(kept), Yield::Kept) => vec![kept.len() as i64],
        (Slot::Column(reduced), Yield::BySegment(..) | Yield::IndexBySegment(..)) => {
            (0..reduced.len()).map(|at| to_bits(reduced.get(at))).collect()
        }
        (_, kind) => panic!("a group yields something else than {kind:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_crosses_the_segments_that_have_elements_in_it() {
        let ends = [0, 3, 3, 5, 9, 9];
        let crossed: Vec<_> = [0..2, 2..3, 2..4, 3..5, 4..9, 9..9].map(|range| within(&ends, range)).into();
        assert_eq!(crossed, [1..2, 1..2, 1..4, 3..4, 3..5, 0..0]);
    }
}
