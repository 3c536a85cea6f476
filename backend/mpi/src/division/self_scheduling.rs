//! Dealing out instances while they run, where nobody knows how long each takes.
//!
//! All operands are on every rank, so that any rank can run any instance. Ranks take them in an order that is no
//! pattern, many at a time at first and ever fewer: each begins with a share that all know, and asks for the next one
//! when it is free. Rank 0 answers, on a thread beside the one that computes its own, so that nobody waits for an
//! instance of rank 0; meanwhile that thread alone talks to MPI. Who ran what is made known to all at the end.
//!
//! An error is that of the first instance that fails, as it is of instances that run one after another: whoever has met
//! one goes on with instances before that, and leaves out those behind it.

use crate::communication::communicator::Communicator;
use crate::distribution::descriptor::is_at_hand;
use crate::distribution::redistribution::Run;
use crate::distribution::{Distribution, LocalEngine};
use crate::division::operands;
use crate::division::results;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::machine::{results_in_order, selected_operands};
use nesl_backend::{Division, Engine, Failed, Fault, Own, Slot, SlotOf};
use nesl_span::Span;
use nesl_vcode::{Constants, EachPlan};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most elements of operands that every rank gets, so that instances can be dealt out while they run.
const EVERYWHERE: usize = 1 << 16;

/// The most runs of instances that are dealt out.
const RUNS: usize = 4096;

/// The numbers below a bound, in an order that is no pattern, and always the same.
pub(crate) fn scattered(count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by_cached_key(|&number| mixed(number as u64));
    numbers
}

/// A number that says nothing of the one that it is made of: the finaliser of SplitMix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Turns that are left, and how many of them are given at once.
#[derive(Debug)]
struct Dealer {
    next: usize,
    turns: usize,
    ranks: usize,
    /// What a rank takes at least: it may have several workers.
    least: usize,
}

impl Dealer {
    /// Turns of which each rank has had a first share.
    fn new(turns: usize, ranks: usize, least: usize) -> Dealer {
        Dealer { next: first_share(turns, ranks, ranks).start, turns, ranks, least }
    }

    /// The next turns for a rank that is free: a quarter of what would be a fair share of those that are left.
    fn take(&mut self) -> Range<usize> {
        let (start, left) = (self.next, self.turns - self.next);
        self.next = self.turns.min(start + (left / (4 * self.ranks)).max(self.least));
        start..self.next
    }
}

/// The turns that a rank begins with: a quarter of what would be a fair share. Of costs like those of Pareto, of shape
/// 1.2, half of it left the busiest of four ranks with up to 1.3 times the mean, in simulations, a quarter with 1.2.
fn first_share(turns: usize, ranks: usize, rank: usize) -> Range<usize> {
    let share = (turns / (4 * ranks)).max(1);
    (rank * share).min(turns)..((rank + 1) * share).min(turns)
}

/// How instances are cut into runs.
#[derive(Clone, Copy)]
struct Cut {
    instances: usize,
    length: usize,
}

impl Cut {
    /// A run: its first instance, and how many it has.
    fn run(self, number: usize) -> (usize, usize) {
        let start = number * self.length;
        (start, self.length.min(self.instances - start))
    }
}

/// What a rank has run.
struct Ran<L: Engine> {
    /// Runs of instances in the order in which they ran.
    runs: Vec<usize>,
    /// Their results.
    batches: Vec<Vec<SlotOf<L>>>,
    /// The first instance that is known to fail.
    failed: Option<Failed>,
}

/// A rank's own part in dealing out: what it needs to run instances.
struct Player<'a, L: Engine, F> {
    local: &'a mut L,
    plan: &'a EachPlan,
    span: Span,
    operands: Vec<SlotOf<L>>,
    order: &'a [usize],
    cut: Cut,
    run: F,
    ran: Ran<L>,
}

impl<L: Engine, F: FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>> Player<'_, L, F> {
    /// Runs the instances of some turns, those behind the first that is known to fail apart.
    fn play(&mut self, turns: Range<usize>) {
        let bound = self.ran.failed.as_ref().map_or(usize::MAX, |(instance, _)| *instance);
        let mut runs = self.order[turns].to_vec();
        runs.sort_unstable();
        runs.retain(|&run| self.cut.run(run).0 < bound);
        let Some(&first) = runs.first() else { return };
        let outcome = self.results_of(&runs).map_err(|fault| self.failed(self.cut.run(first).0, fault));
        match outcome.flatten() {
            Ok(results) => {
                self.ran.runs.extend(runs);
                self.ran.batches.push(results);
            }
            Err(failed) if failed.0 < bound => self.ran.failed = Some(failed),
            Err(_) => {}
        }
    }

    fn failed(&self, instance: usize, Fault { failure, .. }: Fault) -> Failed {
        (instance, RuntimeError::at(self.span, failure))
    }

    /// Runs the instances of some runs.
    fn results_of(&mut self, runs: &[usize]) -> Result<Result<Vec<SlotOf<L>>, Failed>, Fault> {
        let runs: Vec<(usize, usize)> = runs.iter().map(|&run| self.cut.run(run)).collect();
        let indices = runs.iter().flat_map(|&(start, length)| start as i64..(start + length) as i64).collect();
        let indices = self.local.constants(&Constants::Int(indices))?;
        let operands = selected_operands(self.local, self.plan, &self.operands, &indices)?;
        Ok((self.run)(self.local, Own { runs, operands }))
    }

    /// What has been run, in the order of the instances, and its results.
    fn end(mut self) -> Result<(Vec<usize>, Vec<SlotOf<L>>), Failed> {
        let mut ran = std::mem::replace(&mut self.ran, Ran { runs: Vec::new(), batches: Vec::new(), failed: None });
        if let Some(failed) = ran.failed {
            return Err(failed);
        }
        if ran.batches.is_empty() {
            let nothing = self.results_of(&[]).map_err(|fault| self.failed(usize::MAX, fault))?;
            ran.batches.push(nothing?);
        }
        let starts = offsets(&ran.runs.iter().map(|&run| self.cut.run(run).1).collect::<Vec<_>>());
        let mut places: Vec<(usize, usize)> = ran.runs.iter().copied().zip(starts).collect();
        places.sort_unstable();
        let of = |&(run, start): &(usize, usize)| start as i64..(start + self.cut.run(run).1) as i64;
        let order = places.iter().flat_map(of).collect();
        let results = results_in_order(self.local, self.plan, ran.batches, order);
        let results =
            results.map_err(|fault| self.failed(places.first().map_or(usize::MAX, |place| place.0), fault))?;
        Ok((places.into_iter().map(|place| place.0).collect(), results))
    }
}

/// Whether all operands may be on every rank.
pub(crate) fn may_be_everywhere<L: LocalEngine>(division: &Division<'_, Ranks<L>>) -> bool {
    let elements = |slot: &SlotOf<Ranks<L>>| match slot {
        Slot::Column(column) if !is_at_hand(slot) => column.length(),
        Slot::Descriptor(segments) if !is_at_hand(slot) => 2 * segments.0.lengths.length(),
        _ => 0,
    };
    division.operands.iter().map(elements).sum::<usize>() <= EVERYWHERE
}

/// The results of all instances, which ranks take as they become free.
pub(crate) fn deal_while_they_run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
    run: impl FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>,
) -> Result<Vec<SlotOf<Ranks<L>>>, RuntimeError> {
    let (plan, span, instances) = (division.plan, division.span, division.instances);
    let at = |Fault { failure, .. }| RuntimeError::at(span, failure);
    let operands = operands::everywhere(ranks, division.operands).map_err(at)?;
    let (rank, rank_count) = (ranks.layout.rank, ranks.layout.ranks);
    let cut = Cut { instances, length: instances.div_ceil(RUNS) };
    let order = scattered(instances.div_ceil(cut.length));
    let least = ranks.local.workers();
    let ran = Ran { runs: Vec::new(), batches: Vec::new(), failed: None };
    let (local, communicator) = (&mut ranks.local, &mut ranks.collectives.communicator);
    let mut player = Player { local, plan, span, operands, order: &order, cut, run, ran };
    let begin = first_share(order.len(), rank_count, rank);
    communicator.line();
    match rank {
        0 => {
            let dealer = Mutex::new(Dealer::new(order.len(), rank_count, least));
            let take = || dealer.lock().unwrap_or_else(PoisonError::into_inner).take();
            let members = communicator.members();
            let (since, spent) = std::thread::scope(|scope| {
                let answering = scope.spawn(|| Communicator::answer_others(&members, rank_count - 1, take));
                play(&mut player, begin, take);
                let since = Instant::now();
                (since, answering.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            });
            communicator.has_waited(since, spent);
        }
        _ => play(&mut player, begin, || communicator.ask()),
    }
    let outcome = player.end();
    let (runs, results) = ranks.collectives.agree_on_failed(outcome)?;
    let runs = owners_of(ranks, cut, &runs);
    results::join(ranks, &plan.results, &runs, results).map_err(at)
}

/// Which instances each rank has run, from what this one has.
fn owners_of<L: LocalEngine>(ranks: &mut Distribution<L>, cut: Cut, own: &[usize]) -> Vec<Run> {
    let counts = ranks.collectives.communicator.all_gather_counts(own.len());
    let own: Vec<i64> = own.iter().map(|&run| run as i64).collect();
    let all = ranks.collectives.communicator.all_gather_varied(&own, &counts, Vec::new());
    let mut owners = vec![0; all.len()];
    let mut rest = all.as_slice();
    for (rank, count) in counts.into_iter().enumerate() {
        let (runs, others) = rest.split_at(count);
        runs.iter().for_each(|&run| owners[run as usize] = rank);
        rest = others;
    }
    let mut runs: Vec<Run> = Vec::new();
    for (number, rank) in owners.into_iter().enumerate() {
        let (start, length) = cut.run(number);
        match runs.last_mut() {
            Some(last) if last.rank == rank => last.length += length,
            _ => runs.push(Run { rank, start, length }),
        }
    }
    runs
}

/// Runs instances until none are left.
fn play<L: Engine, F: FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>>(
    player: &mut Player<'_, L, F>,
    mut turns: Range<usize>,
    mut take: impl FnMut() -> Range<usize>,
) {
    loop {
        player.play(turns);
        turns = take();
        if turns.is_empty() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_dealt_out_once_each_and_ever_fewer_at_a_time() {
        for (turns, ranks, least) in [(0, 2, 1), (1, 4, 1), (3, 2, 1), (1024, 2, 1), (1000, 5, 1), (4096, 16, 3)] {
            let mut dealt: Vec<Range<usize>> = (0..ranks).map(|rank| first_share(turns, ranks, rank)).collect();
            let mut dealer = Dealer::new(turns, ranks, least);
            dealt.extend(std::iter::from_fn(|| Some(dealer.take()).filter(|turns| !turns.is_empty())));
            assert_eq!(dealt.iter().cloned().flatten().collect::<Vec<_>>(), (0..turns).collect::<Vec<_>>());
            assert!(dealt[ranks..].windows(2).all(|pair| pair[0].len() >= pair[1].len()), "{dealt:?}");
        }
    }

    /// How much more the busiest rank does than the mean, if each asks when it is done.
    fn imbalance(costs: &[u64], ranks: usize) -> f64 {
        let order = scattered(costs.len());
        let cost = |turns: Range<usize>| order[turns].iter().map(|&instance| costs[instance]).sum::<u64>();
        let mut busy: Vec<u64> = (0..ranks).map(|rank| cost(first_share(costs.len(), ranks, rank))).collect();
        let mut dealer = Dealer::new(costs.len(), ranks, 1);
        loop {
            let turns = dealer.take();
            if turns.is_empty() {
                break;
            }
            let free = (0..ranks).min_by_key(|&rank| busy[rank]).expect("there are ranks");
            busy[free] += cost(turns);
        }
        let most = busy.iter().max().expect("there are ranks");
        *most as f64 * ranks as f64 / busy.iter().sum::<u64>() as f64
    }

    #[test]
    fn no_period_and_no_growth_of_costs_meets_the_deal() {
        for ranks in [2, 4] {
            for period in 1..=64 {
                let costs: Vec<u64> = (0..1024).map(|index| if index / period % 2 == 0 { 1000 } else { 1 }).collect();
                assert!(imbalance(&costs, ranks) <= 1.05, "period {period} on {ranks} ranks");
            }
            for power in 1..=3 {
                let costs: Vec<u64> = (0..1024u64).map(|index| index.pow(power)).collect();
                let falling: Vec<u64> = costs.iter().rev().copied().collect();
                assert!(imbalance(&costs, ranks) <= 1.05 && imbalance(&falling, ranks) <= 1.05, "{power}, {ranks}");
            }
        }
    }

    /// Costs of Pareto's distribution of shape 1.2, none above a share of all.
    fn heavy(seed: u64, ranks: usize) -> Vec<u64> {
        let one = |index: u64| ((mixed(seed << 32 | index) >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        let mut costs: Vec<f64> = (0..1024).map(|index| one(index).powf(-1.0 / 1.2)).collect();
        for _ in 0..20 {
            let bound = costs.iter().sum::<f64>() / (4 * ranks) as f64;
            costs.iter_mut().for_each(|cost| *cost = cost.min(bound));
        }
        costs.into_iter().map(|cost| (cost * 1000.0) as u64).collect()
    }

    /// Whoever begins a heavy instance last is late by it: nobody knew. That is rare on 2 ranks, where all instances of
    /// a fair share are begun before; on 4 ranks nine of ten runs are within a tenth. Not of seed 0: its costs would be
    /// in the order of the deal.
    #[test]
    fn heavy_costs_even_out_but_for_those_that_are_begun_last() {
        for (ranks, rare, worst) in [(2, 0, 1.1), (4, 30, 1.25)] {
            let imbalances: Vec<f64> = (1..=200).map(|seed| imbalance(&heavy(seed, ranks), ranks)).collect();
            let late = imbalances.iter().filter(|&&imbalance| imbalance > 1.1).count();
            let most = imbalances.iter().copied().fold(0.0, f64::max);
            println!("{ranks} ranks: {late} of 200 above 1.1, the most {most:.3}");
            assert!(late <= rare && most <= worst, "{ranks} ranks: {late} above 1.1, the most {most}");
        }
    }

    #[test]
    fn scattered_numbers_are_all_there_and_no_pattern() {
        let numbers = scattered(1024);
        assert_eq!(numbers.iter().sum::<usize>(), 1023 * 512);
        assert!(numbers.windows(2).filter(|pair| pair[0] < pair[1]).count().abs_diff(512) < 50);
    }
}
