//! How an `each` is run: all its instances at once by the lifted version of its function, or one after another by the
//! serial one.
//!
//! Both give the same results. *Lift* suits many instances, or few with much in them: a vector instruction costs the
//! same whatever it is for, plus little for each element. *Leaf* suits a few small instances, which do not pay for
//! segmented instructions, and functions of scalars alone, which have no vectors to gain from: their instances run
//! depth-first, in little memory, on all workers. Ranks *divide* instances among them ([`Deal`]) where these are many
//! or weigh about the same: then each runs its own without a message, and lifts or not as suits them. Recursion that
//! begins with few instances is lifted on ranks, and on threads if it takes long, until it has become enough of them,
//! or does not become more ([`Growth`]). This is the one place that chooses; the numbers in it were measured, as each
//! of them says.

mod branching;
mod serial;
mod tuning;
mod uniform;

use crate::engine::division::Deal;
pub(super) use branching::may_branch;
use serde::{Deserialize, Serialize};
pub(super) use serial::{entered, is_serial};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
pub(super) use tuning::{Pace, Tuning};
pub(super) use uniform::is_uniform;

/// A way of running an `each`, or how to choose it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// By the sizes: [`choose`].
    #[default]
    Auto,
    /// Always all instances at once.
    Lift,
    /// Always one instance after another.
    Leaf,
    /// Always dealt out to ranks where that can be; by the sizes on each of them, and in one process.
    Divide,
    /// In turns, whatever the sizes: finds where they do not fit together.
    Mixed,
}

/// What is known of an `each` when it is about to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// The number of instances, at least one.
    pub instances: usize,
    /// Elements in the sequences that vary by instance, all instances together.
    pub elements: usize,
    /// The elements of the longest column that all instances read.
    pub read: usize,
    /// The elements of the largest instance, at most; known where there is native code.
    pub largest: usize,
    /// Whether the function computes on scalars alone, and so do all that it calls.
    pub scalar_only: bool,
    /// Whether instances can run in native code.
    pub native: bool,
    /// Whether the function, or one that it comes to call, may come to run itself, so that sizes do not tell how long
    /// it takes.
    pub recursive: bool,
    /// Whether one instance may come to be several when that is lifted.
    pub branching: bool,
    /// Whether the function gives sequences of sequences.
    pub rows: bool,
    /// Whether the function is a loop of which all instances take the same number of turns, and see no sequences of
    /// their own.
    pub uniform: bool,
    /// Whether every operand is whole on this process: always, except on ranks.
    pub at_hand: bool,
    /// Whether recursion around it has been lifted for long without becoming more instances.
    pub is_stalled: bool,
}

/// How the number of instances grows from one lifted level of a recursion to the next.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Growth {
    /// The instances of the level that had twice as many as the last such one.
    instances: usize,
    /// The levels since.
    levels: u32,
}

impl Growth {
    /// After one more level, of so many instances.
    pub fn with(self, instances: usize) -> Growth {
        match instances >= self.instances.saturating_mul(2) {
            true => Growth { instances, levels: 0 },
            false => Growth { levels: self.levels.saturating_add(1), ..self },
        }
    }

    /// Whether a recursion has been lifted at all.
    pub fn has_begun(self) -> bool {
        self.instances > 0
    }

    /// Whether more levels promise no more instances.
    pub fn is_stalled(self) -> bool {
        self.levels >= PATIENCE
    }
}

/// Up to so many elements and instances together, instances run one after another. A quicksort of n ints took, lifted
/// and leaf on one thread, 19 and 8 µs at n = 4, 76 and 47 at 16, 102 and 97 at 32, 132 and 260 at 64.
const LEAF_SIZE: usize = 32;

/// From so many instances on, those that go round a loop together are lifted. A polynomial of 32 coefficients at 10^6
/// points took 72 ms lifted and 660 one by one, at each of which the next product waits for the last.
const TOGETHER: usize = 4096;

/// One worker runs instances in native code up to this size, and each of two up to two thirds of it: what an instance
/// makes has to fit into a cache, or at least into scratch memory, and that of all workers is in use at once. A
/// quicksort of 10^7 ints had 322 MiB in memory on two, and 375 to 388 where both had instances of the full size.
const NATIVE_SIZE: usize = 1 << 21;

/// With several workers, instances are dealt out if there are so many for each, or if all together are no larger than
/// what one worker does before the others have woken up.
const NATIVE_SHARES: usize = 4;

/// On ranks every instruction of an instance of distributed data takes a round of messages: in turns only up to so many
/// elements and instances together.
const MIXED_SIZE: usize = 200;

/// Instances that read much, and take nobody knows how long, are dealt out to ranks if there are so many for each:
/// fewer would not even out.
const TURNS: usize = 4;

/// Recursive instances are lifted on ranks, and on threads those without sequences, until there are so many for each.
/// The largest of those that Fibonacci numbers come to is then a fifteenth of what one of two ranks gets, and a twelfth
/// of what one of four does.
const FRONTIER: usize = 64;

/// Instances with so many elements each, on average, are small. All 3.6 * 10^6 permutations of ten numbers took 1.2 s
/// one after another, 120 ns for each call, and 0.5 lifted; the choices of six of 26 in order took 55 and 35 ms.
/// Cutting 10^6 numbers at pivots into rows of up to four, two instances with half of them at first, took 60 and 90 ms.
const SMALL: usize = 64;

/// Recursion that has been lifted for so many levels without twice as many instances is dealt out as it is.
const PATIENCE: u32 = 16;

/// From so many elements on, instances are worth waking other workers for: some 10 µs of work.
const PARALLEL_SIZE: usize = 4096;

/// From so many elements on that all instances read, a few run one after another as vector instructions on all workers:
/// then it does not matter that one of two has more to do. A hull of 10^6 points in a square took 13.4 ms on two
/// threads, and 16.2 where each had one half of it, the larger of which is two thirds; hulls of points on a circle,
/// whose halves weigh the same, took longer by 1 and 10 % with this at a half and an eighth.
const ALL_WORKERS_SIZE: usize = 1 << 18;

impl Strategy {
    /// Whether to run the instances one after another. `turn` counts the calls.
    pub fn is_leaf(self, sizes: Sizes, workers: usize, ranks: usize, turn: &mut u64) -> bool {
        match self {
            // Every rank would run all of them, and none in native code.
            Strategy::Auto | Strategy::Divide if ranks > 1 && sizes.recursive && !sizes.scalar_only => false,
            Strategy::Auto | Strategy::Divide => {
                sizes.at_hand
                    && !sizes.go_together()
                    && (sizes.scalar_only || sizes.is_small() || sizes.is_native(workers))
            }
            Strategy::Lift => false,
            Strategy::Leaf => true,
            Strategy::Mixed if !sizes.at_hand && sizes.instances + sizes.elements > MIXED_SIZE => false,
            Strategy::Mixed => {
                *turn += 1;
                // Not strictly in turns: with two calls a round it would always be the same one.
                (*turn ^ (*turn >> 1)) & 1 == 1
            }
        }
    }

    /// How to deal instances out to so many ranks, if at all. `turn` counts the calls.
    pub fn deal(self, sizes: Sizes, ranks: usize, turn: &mut u64) -> Option<Deal> {
        let is_forced = match self {
            Strategy::Auto => false,
            Strategy::Divide => true,
            Strategy::Lift | Strategy::Leaf => return None,
            Strategy::Mixed if ranks == 1 => return None,
            Strategy::Mixed => {
                *turn += 1;
                if turn.is_multiple_of(3) {
                    return None;
                }
                true
            }
        };
        match sizes {
            _ if ranks == 1 => Some(Deal::Everywhere),
            _ if is_forced => Some(Deal::Always),
            Sizes { scalar_only: true, recursive: true, .. } => Some(Deal::SelfScheduled),
            Sizes { scalar_only: true, at_hand: true, .. } => Some(Deal::Everywhere),
            Sizes { scalar_only: true, .. } => Some(Deal::Blocks),
            _ if sizes.recursive && sizes.elements < PARALLEL_SIZE => {
                (sizes.is_stalled || sizes.instances >= FRONTIER * ranks).then_some(Deal::SelfScheduled)
            }
            Sizes { elements: 0, .. } if sizes.reads_much() => {
                (sizes.instances >= TURNS * ranks).then_some(Deal::SelfScheduled)
            }
            _ => (sizes.elements >= PARALLEL_SIZE).then_some(Deal::Weights { lasting: sizes.recursive }),
        }
    }

    /// Whether instances that could run one after another had better be lifted, if they turn out to take long:
    /// recursion of unknown cost, in which a few instances leave most workers to wait for one, until they are more (a
    /// search goes on from a board, however small that is, for as long as there are others to be tried); and
    /// recursion of small instances that makes rows of rows, which each call puts together anew.
    pub fn is_to_grow(self, sizes: Sizes, workers: usize) -> bool {
        let are_few = sizes.instances < FRONTIER * workers;
        let leave_workers = workers > 1 && sizes.elements < PARALLEL_SIZE && are_few;
        let make_rows = sizes.rows && sizes.elements / SMALL <= sizes.instances;
        self == Strategy::Auto && sizes.native && sizes.branching && !sizes.is_stalled && (leave_workers || make_rows)
    }

    /// The strategy for the instances that this rank got.
    pub fn after_division(self) -> Strategy {
        if self == Strategy::Divide { Strategy::Auto } else { self }
    }
}

impl Sizes {
    /// Whether vector instructions would cost more than they do.
    fn is_small(self) -> bool {
        self.instances + self.elements <= LEAF_SIZE
    }

    /// Whether vector instructions do most for a loop that all instances go round together.
    fn go_together(self) -> bool {
        self.uniform && self.instances >= TOGETHER
    }

    /// Whether instances together may go over many elements that are the same for all of them.
    fn reads_much(self) -> bool {
        self.instances.saturating_mul(self.read) >= PARALLEL_SIZE
    }

    /// Whether nothing that is known of instances tells how long each of them takes: they search on from little, or
    /// make all that they go over of scalars.
    pub fn is_of_unknown_cost(self) -> bool {
        let (takes_nothing, is_little) = (self.elements == 0, self.elements < PARALLEL_SIZE);
        let are_many = self.instances >= FRONTIER;
        (takes_nothing && (self.recursive || self.reads_much()))
            || (are_many && is_little && (self.recursive || (takes_nothing && !self.scalar_only)))
    }

    /// Whether each worker gets about as much as the others, although there are few instances.
    fn is_balanced(self, workers: usize) -> bool {
        self.instances >= workers && self.largest.saturating_mul(workers) <= self.elements + self.elements / 8
    }

    /// Whether instances are so few, and each of them may go over so many elements, that each had better have all
    /// workers. A function that runs itself on ever fewer elements soon comes to those that are worth it no more; one
    /// on as many as before, which are what the instance `around` reads, would never.
    pub fn take_all_workers_each(self, workers: usize, around: Option<usize>) -> bool {
        let is_less = around.is_none_or(|around| self.read <= around - around / 4);
        let are_few = self.instances < NATIVE_SHARES * workers && self.is_small();
        workers > 1 && self.at_hand && self.recursive && are_few && self.read >= ALL_WORKERS_SIZE && is_less
    }

    /// Whether native code does best, one instance after another on each worker.
    fn is_native(self, workers: usize) -> bool {
        let is_shared = workers == 1
            || self.instances >= NATIVE_SHARES * workers
            || self.elements <= PARALLEL_SIZE
            || self.is_balanced(workers);
        self.native && self.largest <= 2 * NATIVE_SIZE / (workers + 1) && is_shared
    }
}

/// Whether instances that run one after another are dealt out to several workers.
pub fn is_shared(sizes: Sizes) -> bool {
    let may_be_long =
        sizes.scalar_only || (sizes.native && sizes.is_of_unknown_cost()) || sizes.elements >= PARALLEL_SIZE;
    sizes.at_hand && sizes.instances > 1 && may_be_long
}

/// The most that a rank may get of all weight, relative to its fair share: what it takes longer than the others is lost
/// to all.
const EVEN: f64 = 1.1;

/// Whether ranks that get these weights have about equally much to do.
pub fn is_even(loads: &[u64]) -> bool {
    let total: u64 = loads.iter().sum();
    let most = loads.iter().copied().max().unwrap_or(0);
    most as f64 * loads.len() as f64 <= total as f64 * EVEN
}

/// Deals items out to ranks, the heaviest first, each to the rank that has least so far. The rank of each item, and
/// what each rank has in all.
pub fn deal_out(weights: &[u64], ranks: usize) -> (Vec<usize>, Vec<u64>) {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&item| Reverse(weights[item]));
    let mut loads: BinaryHeap<_> = (0..ranks).map(|rank| Reverse((0u64, rank))).collect();
    let mut owners = vec![0; weights.len()];
    for item in order {
        if let Some(mut least) = loads.peek_mut() {
            owners[item] = least.0.1;
            least.0.0 += weights[item];
        }
    }
    let mut all = vec![0; ranks];
    loads.into_iter().for_each(|Reverse((load, rank))| all[rank] = load);
    (owners, all)
}

/// The instances of each of so many tasks, so that each has about the same weight, and none is without.
pub fn shares(weights: &[u64], tasks: usize) -> Vec<Range<usize>> {
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    // What all shares up to this one weigh, at least.
    let end = |share: usize| (total * (share as u128 + 1)).div_ceil(tasks as u128);
    let (mut shares, mut start, mut before, mut next) = (Vec::with_capacity(tasks), 0, 0, end(0));
    for (index, &weight) in weights.iter().enumerate() {
        before += u128::from(weight);
        if before >= next {
            shares.push(start..index + 1);
            start = index + 1;
            next = end(shares.len());
        }
    }
    if start < weights.len() {
        shares.push(start..weights.len());
    }
    shares
}

/// The same of so many instances that weigh the same, at least as many as there are tasks.
pub fn even_shares(instances: usize, tasks: usize) -> Vec<Range<usize>> {
    let start = |task: usize| (instances as u128 * task as u128 / tasks as u128) as usize;
    (0..tasks).map(|task| start(task)..start(task + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Sizes {
        Sizes { instances: 1000, at_hand: true, ..Sizes::default() }
    }

    #[test]
    fn small_ones_and_scalars_run_one_by_one() {
        let auto = |sizes| Strategy::Auto.is_leaf(sizes, 1, 1, &mut 0);
        assert!(!auto(sizes()));
        assert!(auto(Sizes { scalar_only: true, ..sizes() }));
        assert!(auto(Sizes { instances: 2, elements: 10, ..sizes() }));
        assert!(!auto(Sizes { instances: 2, elements: 1000, ..sizes() }));
        assert!(!auto(Sizes { scalar_only: true, at_hand: false, ..sizes() }));
    }

    #[test]
    fn many_that_go_round_a_loop_together_are_lifted() {
        let is_leaf = |instances, uniform| {
            let sizes = Sizes { scalar_only: true, recursive: true, instances, uniform, ..sizes() };
            Strategy::Auto.is_leaf(sizes, 1, 1, &mut 0)
        };
        assert!(!is_leaf(100_000, true));
        assert!(is_leaf(1000, true) && is_leaf(100_000, false));
    }

    #[test]
    fn shares_weigh_about_the_same() {
        assert_eq!(shares(&[1; 8], 4), [0..2, 2..4, 4..6, 6..8]);
        assert_eq!(shares(&[9, 1, 1, 1, 1, 1, 1, 1, 1, 1], 2), [0..1, 1..10]);
        assert_eq!(shares(&[1, 1, 1, 97, 1], 3), [0..4, 4..5]);
        for tasks in 1..20 {
            let weights: Vec<u64> = (0..50).map(|index| index * 37 % 11 + 1).collect();
            for shares in [shares(&weights, tasks), even_shares(50, tasks)] {
                assert!(shares.len() <= tasks);
                assert_eq!(shares.iter().cloned().flatten().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
            }
            let lengths: Vec<usize> = even_shares(50, tasks).iter().map(Range::len).collect();
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1, "{lengths:?}");
        }
    }

    #[test]
    fn native_code_runs_what_fits_it_and_can_be_dealt_out() {
        let auto = |sizes, workers| Strategy::Auto.is_leaf(sizes, workers, 1, &mut 0);
        let native = Sizes { instances: 2, elements: 2_000_000, largest: 1_000_000, native: true, ..sizes() };
        assert!(auto(native, 1) && auto(native, 2) && !auto(native, 3));
        let uneven = Sizes { largest: 1_500_000, ..native };
        assert!(auto(uneven, 1) && !auto(uneven, 2));
        assert!(auto(Sizes { instances: 100, ..native }, 2));
        assert!(!auto(Sizes { largest: 100_000_000, ..native }, 1));
        // Those of two million elements have one worker's cache to themselves, or none.
        let large = Sizes { instances: 100, elements: 200_000_000, largest: NATIVE_SIZE, ..native };
        assert!(auto(large, 1) && !auto(large, 2) && auto(Sizes { largest: NATIVE_SIZE / 2, ..large }, 2));
    }

    #[test]
    fn few_that_read_much_have_all_workers_each_as_long_as_it_gets_less() {
        let few = Sizes { instances: 2, read: 1_000_000, recursive: true, ..sizes() };
        let all = |sizes: Sizes, around| sizes.take_all_workers_each(2, around);
        assert!(all(few, None) && all(few, Some(2_000_000)));
        assert!(!all(few, Some(1_000_000)) && !all(few, Some(0)));
        assert!(!few.take_all_workers_each(1, None));
        assert!(!all(Sizes { instances: 8, ..few }, None));
        assert!(!all(Sizes { read: 1000, ..few }, None));
        assert!(!all(Sizes { elements: 1_000_000, ..few }, None));
        assert!(!all(Sizes { recursive: false, ..few }, None));
    }

    #[test]
    fn what_takes_long_is_dealt_out() {
        assert!(!is_shared(sizes()) && is_shared(Sizes { scalar_only: true, ..sizes() }));
        assert!(is_shared(Sizes { recursive: true, native: true, instances: 2, ..sizes() }));
        assert!(!is_shared(Sizes { recursive: true, elements: 10, ..sizes() }));
        assert!(is_shared(Sizes { native: true, read: 10, ..sizes() }));
        assert!(!is_shared(Sizes { native: true, read: 2, instances: 8, ..sizes() }));
        assert!(is_shared(Sizes { native: true, ..sizes() }));
        assert!(is_shared(Sizes { native: true, recursive: true, elements: 1000, ..sizes() }));
        assert!(!is_shared(Sizes { native: true, recursive: true, elements: 10, instances: 8, ..sizes() }));
        assert!(is_shared(Sizes { elements: 1_000_000, ..sizes() }));
        assert!(!is_shared(Sizes { elements: 1_000_000, instances: 1, ..sizes() }));
    }

    #[test]
    fn the_heaviest_are_dealt_out_first() {
        let (owners, loads) = deal_out(&[5, 9, 3, 4, 1], 2);
        assert_eq!((owners, loads), (vec![1, 0, 0, 1, 1], vec![12, 10]));
        assert!(is_even(&[10, 11]) && !is_even(&[10, 20]) && is_even(&[0, 0]));
    }

    #[test]
    fn ranks_divide_what_is_much_or_may_be_long() {
        let deal = |sizes| Strategy::Auto.deal(sizes, 4, &mut 0);
        assert_eq!(deal(Sizes { elements: 1_000_000, ..sizes() }), Some(Deal::Weights { lasting: false }));
        assert_eq!(deal(Sizes { elements: 100, ..sizes() }), None);
        assert_eq!(deal(Sizes { scalar_only: true, recursive: true, ..sizes() }), Some(Deal::SelfScheduled));
        assert_eq!(deal(Sizes { scalar_only: true, ..sizes() }), Some(Deal::Everywhere));
        assert_eq!(deal(Sizes { scalar_only: true, at_hand: false, ..sizes() }), Some(Deal::Blocks));
        let recursive = Sizes { recursive: true, ..sizes() };
        assert_eq!(deal(Sizes { instances: 4 * FRONTIER - 1, ..recursive }), None);
        assert_eq!(deal(Sizes { instances: 4 * FRONTIER, ..recursive }), Some(Deal::SelfScheduled));
        assert_eq!(deal(Sizes { instances: 1, is_stalled: true, ..recursive }), Some(Deal::SelfScheduled));
        assert_eq!(deal(Sizes { elements: PARALLEL_SIZE - 1, ..recursive }), Some(Deal::SelfScheduled));
        assert_eq!(deal(Sizes { elements: PARALLEL_SIZE, ..recursive }), Some(Deal::Weights { lasting: true }));
        assert_eq!(deal(Sizes { read: 1000, instances: 16, ..sizes() }), Some(Deal::SelfScheduled));
        assert_eq!(Strategy::Lift.deal(sizes(), 4, &mut 0), None);
        assert_eq!(Strategy::Auto.deal(sizes(), 1, &mut 0), Some(Deal::Everywhere));
    }

    #[test]
    fn recursion_on_ranks_is_lifted_until_its_instances_become_no_more() {
        let few = Sizes { recursive: true, instances: 2, native: true, ..sizes() };
        let leaf = |sizes, ranks| Strategy::Auto.is_leaf(sizes, 1, ranks, &mut 0);
        assert!(leaf(few, 1) && !leaf(few, 2) && leaf(Sizes { recursive: false, ..few }, 2));
        let after = |levels: &[usize]| levels.iter().fold(Growth::default(), |growth, &level| growth.with(level));
        assert!(!after(&[1; 16]).is_stalled() && after(&[1; 17]).is_stalled());
        // Twice as many now and then is enough, and fewer do not end the patience anew.
        assert!(!after(&[1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4]).is_stalled());
        assert!(after(&[8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15]).is_stalled());
    }

    #[test]
    fn recursion_that_makes_rows_of_rows_is_lifted_where_its_instances_are_small() {
        let rows = Sizes {
            instances: 10,
            elements: 90,
            native: true,
            recursive: true,
            branching: true,
            rows: true,
            ..sizes()
        };
        let grows = |sizes| Strategy::Auto.is_to_grow(sizes, 1);
        assert!(grows(rows) && grows(Sizes { instances: 1 << 20, elements: 8 << 20, ..rows }));
        assert!(grows(Sizes { elements: 0, ..rows }));
        assert!(!grows(Sizes { instances: 2, elements: 1 << 20, ..rows }));
        assert!(!grows(Sizes { rows: false, ..rows }) && !grows(Sizes { branching: false, ..rows }));
        assert!(!grows(Sizes { is_stalled: true, ..rows }) && !Strategy::Leaf.is_to_grow(rows, 1));
    }

    #[test]
    fn tasks_of_unknown_costs_even_out_on_workers() {
        let few = Sizes { instances: 8, ..sizes() };
        let unknown = Sizes { recursive: true, ..few };
        assert!(unknown.is_of_unknown_cost() && !few.is_of_unknown_cost());
        assert!(!Sizes { elements: 1, ..unknown }.is_of_unknown_cost());
        // Many that make their sequences of scalars, or search on from short ones.
        assert!(sizes().is_of_unknown_cost() && !Sizes { scalar_only: true, ..sizes() }.is_of_unknown_cost());
        let recursive = |elements| Sizes { recursive: true, elements, ..sizes() };
        assert!(recursive(1000).is_of_unknown_cost() && !recursive(PARALLEL_SIZE).is_of_unknown_cost());
        assert!(!Sizes { elements: 1000, ..sizes() }.is_of_unknown_cost());
    }

    #[test]
    fn few_searches_become_more_before_they_are_dealt_out() {
        let boards = Sizes { instances: 8, elements: 8, native: true, recursive: true, branching: true, ..sizes() };
        let grows = |sizes| Strategy::Auto.is_to_grow(sizes, 2);
        assert!(grows(boards) && grows(Sizes { elements: 0, ..boards }));
        assert!(!grows(Sizes { elements: PARALLEL_SIZE, ..boards }));
        assert!(!grows(Sizes { instances: 2 * FRONTIER, elements: 4 * FRONTIER, ..boards }));
    }

    #[test]
    fn mixed_takes_both_ways_also_where_calls_alternate() {
        let mut turn = 0;
        let taken: Vec<bool> = (0..16).map(|_| Strategy::Mixed.is_leaf(sizes(), 1, 1, &mut turn)).collect();
        for half in [0, 1] {
            let own: Vec<bool> = taken.iter().skip(half).step_by(2).copied().collect();
            assert!(own.contains(&true) && own.contains(&false), "{own:?}");
        }
    }
}
