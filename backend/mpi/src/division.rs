//! Dividing instances among ranks: who gets which.
//!
//! Weights are the lengths of the sequences that vary by instance. Instances go to ranks as runs of their order where
//! that is even enough, since then little has to move; else, if they are few, the heaviest first. Where they are too
//! uneven either way the instances stay together, and their lifted function runs on all ranks: it is for huge segments
//! to become smaller ones first. Where nobody knows what instances weigh they are dealt out while they run
//! ([`crate::division::self_scheduling`]), or, where that takes too much to be everywhere, in an order that is no
//! pattern. [`crate::division::operands`] brings the operands to the ranks, and [`crate::division::results`] is the way
//! back.

pub(crate) mod everywhere;
mod operands;
mod results;
mod self_scheduling;

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::{Descriptor, is_at_hand};
use crate::distribution::redistribution::{Redistribution, Run};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::division::operands::Plan;
use crate::division::self_scheduling::scattered;
use crate::layout::Layout;
use crate::ranks::Ranks;
use nesl_backend::engine::division::Deal;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::machine::strategy;
use nesl_backend::{Division, Failed, Fault, Own, Slot, SlotOf};
use nesl_vcode::Take;
use std::sync::Arc;

/// Instances that are dealt out before they run, though nobody knows their weight, go in so many runs to each rank, and
/// in no more than so many in all: enough to even out what is next to each other, and what is far heavier than the
/// rest.
const RUNS: usize = 512;
const MOST_RUNS: usize = 4096;

/// Segments that lie in the same data are sent to the ranks one by one, as long as they are no more than so many times
/// the data.
const SHARED: usize = 2;

/// The most elements that every rank gets, because all instances read them, where it has less than that of all else: 8
/// MiB of ints on each rank against a round of messages for each step of a search in them.
const REPLICATED: usize = 1 << 20;

/// Instances that go over their elements a few times, as far as is known, move at most one in so many of these.
const MOVED: usize = 4;

/// The sequences that vary by instance.
struct Sequences<D> {
    /// Segments that instances have of their own, and the first column of their elements.
    own: Vec<(Descriptor<D>, Option<Distributed>)>,
    /// The positions among the operands of those that share data.
    shared: Vec<usize>,
}

/// [`Engine::divide`].
pub(crate) fn divide_instances<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
    mut run: impl FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>,
) -> Option<Result<Vec<SlotOf<Ranks<L>>>, RuntimeError>> {
    let at = |Fault { failure, .. }| RuntimeError::at(division.span, failure);
    let instances = division.instances;
    if division.deal == Deal::Everywhere {
        let operands = division.operands.iter().map(|slot| local_slot(ranks, slot)).collect::<Result<_, Fault>>();
        let own = operands.map(|operands| Own { runs: vec![(0, instances)], operands });
        return Some(own.map_err(at).and_then(|own| results::known_everywhere(ranks, division, own, run)));
    }
    if division.deal == Deal::SelfScheduled && self_scheduling::may_be_everywhere(division) {
        ranks.shared += 1;
        return Some(self_scheduling::deal_while_they_run(ranks, division, run));
    }
    let plan = match assign(ranks, division) {
        Ok(plan) => plan?,
        Err(fault) => return Some(Err(at(fault))),
    };
    ranks.shared += 1;
    let runs = &plan.runs;
    let rank = ranks.layout.rank;
    let own = runs.iter().filter(|run| run.rank == rank).map(|run| (run.start, run.length)).collect();
    let operands = match operands::send_operands(ranks, division, &plan) {
        Ok(operands) => operands,
        Err(fault) => return Some(Err(at(fault))),
    };
    let own: Vec<(usize, usize)> = own;
    let first = own.first().map_or(usize::MAX, |run| run.0);
    let outcome = run(&mut ranks.local, Own { runs: own, operands });
    let outcome =
        outcome.and_then(|slots| results::packed_results(ranks, division, slots).map_err(|fault| (first, at(fault))));
    let results = ranks.collectives.agree_on_failed(outcome);
    Some(results.and_then(|slots| results::join(ranks, &division.plan.results, runs, slots).map_err(at)))
}

/// A value that is common, on the local engine.
fn local_slot<L: LocalEngine>(ranks: &mut Distribution<L>, slot: &SlotOf<Ranks<L>>) -> Result<SlotOf<L>, Fault> {
    Ok(match slot {
        Slot::Scalar(value) => Slot::Scalar(*value),
        Slot::Column(column) => Slot::Column(column.whole()),
        Slot::Descriptor(segments) => Slot::Descriptor(segments::local_descriptor(ranks, segments)?),
    })
}

/// What to send to whom; none where the instances had better stay together.
fn assign<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
) -> Result<Option<Plan>, Fault> {
    let (layout, count) = (ranks.layout, division.instances);
    let Some(Sequences { own: sequences, shared }) = sequences(ranks, division)? else { return Ok(None) };
    let runs = match division.deal {
        Deal::Everywhere => unreachable!("nothing is dealt out"),
        Deal::Blocks => Some(contiguous(&layout.bounds(count))),
        Deal::SelfScheduled => Some(in_turns(layout, count)),
        Deal::Weights { .. } | Deal::Always if sequences.is_empty() => Some(contiguous(&layout.bounds(count))),
        Deal::Weights { .. } | Deal::Always => {
            let always = division.deal == Deal::Always;
            let lengths = sequences.iter().map(|(segments, _)| segments.0.lengths.replicated());
            match lengths.collect::<Option<Vec<_>>>() {
                Some(lengths) => {
                    let mut weights = vec![1u64; count];
                    for lengths in lengths {
                        let lengths = lengths.elements::<i64>();
                        weights.iter_mut().zip(lengths).for_each(|(weight, &length)| *weight += length as u64);
                    }
                    by_known_weights(layout, &weights, always)
                }
                None => by_partitioned_weights(ranks, &sequences, count, always)?,
            }
        }
    };
    let Some(runs) = runs else { return Ok(None) };
    if division.deal == (Deal::Weights { lasting: false }) && is_far(ranks, &sequences, &runs)? {
        return Ok(None);
    }
    Ok(Some(Plan { runs, shared }))
}

/// Whether more elements would have to move than is worth it for instances that do not last.
fn is_far<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    sequences: &[(Descriptor<L::Descriptor>, Option<Distributed>)],
    runs: &[Run],
) -> Result<bool, Fault> {
    let (mut total, mut moved) = (0, 0);
    for (segments, elements) in sequences {
        let Some(elements) = elements else { continue };
        if let Some(inner) = operands::inside(ranks, segments, runs)? {
            let pieces = Arc::clone(&ranks.as_ragged(elements).runs);
            total += inner.iter().map(|run| run.length).sum::<usize>();
            moved += Redistribution::from_runs(ranks.layout.ranks, &pieces, &inner).moved();
        }
    }
    Ok(moved > total / MOVED)
}

/// The sequences that vary by instance; none where that is too much to send about.
fn sequences<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
) -> Result<Option<Sequences<L::Descriptor>>, Fault> {
    let mut found = Sequences { own: Vec::new(), shared: Vec::new() };
    let (mut total, mut replicated) = (division.instances, 0);
    for (position, (operand, slot)) in division.plan.operands.iter().zip(division.operands).enumerate() {
        match (operand.take, slot) {
            (Take::Same, slot) if !is_at_hand(slot) => replicated += length_of(slot),
            (Take::Element, Slot::Descriptor(segments)) => {
                let elements = segments.total()?;
                let next = division.plan.operands.get(position + 1).filter(|next| next.parent == Some(position));
                let first = next.map(|_| &division.operands[position + 1]);
                // Elements that hold nothing lie nowhere else.
                let data = first.map_or(elements, length_of);
                if segments.0.starts.is_none() || elements <= data.saturating_mul(SHARED) {
                    total = total.saturating_add(elements);
                    let elements = match first {
                        Some(Slot::Column(column)) if column.replicated().is_none() => Some(column.clone()),
                        _ => None,
                    };
                    found.own.push((segments.clone(), elements));
                } else {
                    replicated += data;
                    found.shared.push(position);
                }
            }
            _ => {}
        }
    }
    let is_forced = division.deal == Deal::Always;
    // Both of two ranks may have all: that is no more than twice a fair share.
    let allowed = if ranks.layout.ranks > 2 { REPLICATED.max(total / ranks.layout.ranks) } else { usize::MAX };
    Ok((is_forced || replicated <= allowed).then_some(found))
}

/// Runs of about equal weight, where ranks hold blocks of the lengths.
fn by_partitioned_weights<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    sequences: &[(Descriptor<L::Descriptor>, Option<Distributed>)],
    count: usize,
    always: bool,
) -> Result<Option<Vec<Run>>, Fault> {
    let share = ranks.layout.share(count);
    let mut weights = vec![1u64; share.len()];
    for (segments, _) in sequences {
        let lengths = ranks.part(&segments.0.lengths)?;
        weights.iter_mut().zip(lengths.elements::<i64>()).for_each(|(weight, &length)| *weight += length as u64);
    }
    let sums = ranks.collectives.communicator.all_gather(weights.iter().sum::<u64>() as i64);
    let ends: Vec<u64> = sums
        .iter()
        .scan(0, |end, &sum| {
            Some({
                *end += sum as u64;
                *end
            })
        })
        .collect();
    let (rank, rank_count) = (ranks.layout.rank, ranks.layout.ranks);
    let total = ends[rank_count - 1];
    // The rank that knows which instance begins a rank's run, for all ranks but the first.
    let targets: Vec<u64> =
        (1..rank_count).map(|rank| (u128::from(total) * rank as u128 / rank_count as u128) as u64).collect();
    let owner = |target: u64| ends.partition_point(|&end| end <= target);
    let mut counts = vec![0; rank_count];
    targets.iter().for_each(|&target| counts[owner(target)] += 2);
    let mut known = Vec::new();
    let mut before = if rank == 0 { 0 } else { ends[rank - 1] };
    let mut own = targets.iter().filter(|&&target| owner(target) == rank).peekable();
    for (index, weight) in weights.iter().enumerate() {
        while own.next_if(|&&target| target < before + weight).is_some() {
            known.extend([(share.start + index) as i64, before as i64]);
        }
        before += weight;
    }
    let all = ranks.collectives.communicator.all_gather_varied(&known, &counts, Vec::new());
    let pairs = || all.chunks_exact(2);
    let bounds: Vec<usize> = std::iter::once(0).chain(pairs().map(|pair| pair[0] as usize)).chain([count]).collect();
    let starts: Vec<u64> = std::iter::once(0).chain(pairs().map(|pair| pair[1] as u64)).chain([total]).collect();
    let loads: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Ok((always || strategy::is_even(&loads)).then(|| contiguous(&bounds)))
}

/// The number of elements of a column, or of segments.
fn length_of<D>(slot: &Slot<Distributed, Descriptor<D>>) -> usize {
    match slot {
        Slot::Scalar(_) => 0,
        Slot::Column(column) => column.length(),
        Slot::Descriptor(segments) => segments.0.lengths.length(),
    }
}

/// One run for each rank, by their bounds.
fn contiguous(bounds: &[usize]) -> Vec<Run> {
    let run = |(rank, pair): (usize, &[usize])| Run { rank, start: pair[0], length: pair[1] - pair[0] };
    bounds.windows(2).enumerate().map(run).collect()
}

/// Short runs, as many to each rank, in an order that no pattern of their weights meets.
fn in_turns(layout: Layout, count: usize) -> Vec<Run> {
    let length = count.div_ceil((layout.ranks * RUNS).min(MOST_RUNS)).max(1);
    let runs = count.div_ceil(length);
    let mut owners = vec![0; runs];
    scattered(runs).into_iter().enumerate().for_each(|(turn, run)| owners[run] = turn % layout.ranks);
    let run = |(rank, start): (usize, usize)| Run { rank, start, length: length.min(count - start) };
    owners.into_iter().zip((0..count).step_by(length)).map(run).collect()
}

/// Runs of about equal weight, or instances one by one to even them out.
fn by_known_weights(layout: Layout, weights: &[u64], always: bool) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut loads = Vec::new();
    for (rank, share) in strategy::shares(weights, layout.ranks).into_iter().enumerate() {
        loads.push(weights[share.clone()].iter().sum());
        runs.push(Run { rank, start: share.start, length: share.len() });
    }
    loads.resize(layout.ranks, 0);
    if strategy::is_even(&loads) {
        return Some(runs);
    }
    let (owners, loads) = strategy::deal_out(weights, layout.ranks);
    let one = |(start, rank)| Run { rank, start, length: 1 };
    (always || strategy::is_even(&loads)).then(|| owners.into_iter().enumerate().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(list: &[(usize, usize, usize)]) -> Vec<Run> {
        list.iter().map(|&(rank, start, length)| Run { rank, start, length }).collect()
    }

    #[test]
    fn instances_go_in_order_where_that_is_even_and_else_the_heaviest_first() {
        let layout = Layout { rank: 0, ranks: 2 };
        assert_eq!(by_known_weights(layout, &[2, 2, 2, 2], false), Some(runs(&[(0, 0, 2), (1, 2, 2)])));
        assert_eq!(
            by_known_weights(layout, &[90, 1, 50, 49], false),
            Some(runs(&[(0, 0, 1), (0, 1, 1), (1, 2, 1), (1, 3, 1)]))
        );
        assert_eq!(by_known_weights(layout, &[90, 1, 9], false), None);
        assert!(by_known_weights(layout, &[90, 1, 9], true).is_some());
    }

    #[test]
    fn turns_are_short_and_cover_everything() {
        let layout = Layout { rank: 0, ranks: 3 };
        let few = in_turns(layout, 4);
        assert_eq!(few.iter().map(|run| (run.start, run.length)).collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        let many = in_turns(layout, 1_000_000);
        assert_eq!(many.iter().map(|run| run.length).sum::<usize>(), 1_000_000);
        assert!(many.len() <= 3 * RUNS && many.windows(2).all(|pair| pair[0].start + pair[0].length == pair[1].start));
    }

    #[test]
    fn no_period_of_weights_meets_the_turns() {
        for ranks in [2, 4] {
            let runs = in_turns(Layout { rank: 0, ranks }, 100_000);
            for period in 1..=64 {
                let mut loads = vec![0; ranks];
                for run in &runs {
                    let heavy = (run.start..run.start + run.length).filter(|index| index / period % 2 == 0);
                    loads[run.rank] += heavy.count();
                }
                let most = *loads.iter().max().expect("there are ranks") * ranks;
                let all: usize = loads.iter().sum();
                assert!(most * 10 <= all * 11, "period {period} on {ranks} ranks: {loads:?}");
            }
        }
    }
}
