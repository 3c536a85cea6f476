//! What is known of loops on ranks, the same on all: whether their turns share anything, and so how many turns each
//! rank does by itself ([`super::everywhere`]).

use super::bounded::Loops;
use nesl_vcode::FunctionId;
use std::collections::HashMap;

/// So many turns of a loop go by before it is looked at, and so many from one time that each rank does some by itself
/// to the next.
const FIRST: u64 = 8;
const BETWEEN: u64 = 2;

/// The most turns between two looks at a loop that shares something.
const APART: u64 = 1 << 10;

/// The turns that each rank does at first, by how many times as many it is each time, and at most.
const TRIED: u64 = 16;
const GROWTH: u64 = 4;
const MOST: u64 = 1 << 12;

/// What is known of loops on ranks: the same on all.
#[derive(Default)]
pub(in crate::machine) struct Shared {
    gauges: HashMap<FunctionId, Gauge>,
    /// What each rank knows of loops that it does turns of by itself, and the instructions that it did there so far.
    pub loops: Loops,
    pub instructions: u64,
}

/// What is known of a loop.
struct Gauge {
    /// How much ranks had shared when it was last looked at.
    shared: u64,
    /// Turns since then, and when there are so many, it is looked at.
    turns: u64,
    wait: u64,
    /// How many each rank does next.
    bound: u64,
}

/// Where to leave a loop that begins with the first frame.
pub(in crate::machine) struct Bound {
    pub function: FunctionId,
    /// How many turns may still begin.
    pub left: u64,
    /// What the next one would have begun with is the result.
    pub is_met: bool,
}

impl Gauge {
    /// How many turns each rank is to do now, if any, where ranks have shared so much.
    fn plan(&mut self, shared: u64) -> Option<u64> {
        self.turns += 1;
        if self.turns < self.wait {
            return None;
        }
        self.turns = 0;
        if std::mem::replace(&mut self.shared, shared) != shared {
            (self.wait, self.bound) = ((2 * self.wait).clamp(FIRST, APART), TRIED);
            return None;
        }
        self.wait = BETWEEN;
        Some(self.bound)
    }
}

impl Shared {
    /// How many turns of a loop each rank is to do by itself now, if any, where ranks have shared so much.
    pub fn plan(&mut self, function: FunctionId, shared: u64) -> Option<u64> {
        let new = || Gauge { shared, turns: 0, wait: FIRST, bound: TRIED };
        self.gauges.entry(function).or_insert_with(new).plan(shared)
    }

    /// Each has done what was planned of a loop; what came of that may lie in parts.
    pub fn did(&mut self, function: FunctionId, shared: u64) {
        if let Some(gauge) = self.gauges.get_mut(&function) {
            (gauge.shared, gauge.bound) = (shared, (gauge.bound * GROWTH).min(MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is planned at each of so many turns, in which ranks share something or not.
    fn planned(known: &mut Shared, shared: &mut u64, shares: bool, turns: usize) -> Vec<u64> {
        let mut plans = Vec::new();
        for _ in 0..turns {
            *shared += u64::from(shares);
            if let Some(bound) = known.plan(FunctionId(0), *shared) {
                // What comes of turns that each does by itself may lie in parts.
                *shared += 1;
                known.did(FunctionId(0), *shared);
                plans.push(bound);
            }
        }
        plans
    }

    #[test]
    fn turns_that_share_nothing_are_done_by_each_more_of_them_each_time() {
        let (mut known, mut shared) = (Shared::default(), 0);
        assert_eq!(planned(&mut known, &mut shared, false, 7), []);
        assert_eq!(planned(&mut known, &mut shared, false, 13), [16, 64, 256, 1024, 4096, 4096, 4096]);
        // One that shares something is not looked at for a while, and begins with few.
        assert_eq!(planned(&mut known, &mut shared, true, 100), []);
        let after = planned(&mut known, &mut shared, false, 300);
        assert_eq!(after[..2], [16, 64]);
    }
}
