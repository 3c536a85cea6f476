//! Instances of an `each` that ranks divide among them: what the machine says of them, and what a rank gets.
//!
//! This is the weighted division of the collective model: whole instances go to ranks, each rank runs its own with no
//! communication and in its own control flow, and the results join. [`Engine::divide`] does it.

use crate::engine::Engine;
use crate::engine::error::RuntimeError;
use crate::engine::value::SlotOf;
use nesl_span::Span;
use nesl_vcode::EachPlan;

/// How instances are dealt out to ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// Every rank runs all of them, and knows all results: no messages.
    Everywhere,
    /// As blocks of index.
    Blocks,
    /// As ranks become free, in an order that is no pattern: nobody knows how long each takes.
    SelfScheduled,
    /// By the lengths of their sequences; unless they are so uneven that a rank would get far more than others, or have
    /// to move farther than they are worth.
    Weights {
        /// Whether they go over their elements any number of times: that is worth moving them.
        lasting: bool,
    },
    /// By the lengths of their sequences, whatever these are.
    Always,
}

/// An `each` whose instances are to be dealt out.
pub struct Division<'a, E: Engine> {
    /// What it does with operands and results.
    pub plan: &'a EachPlan,
    /// The number of instances, at least one.
    pub instances: usize,
    /// Its operands after that number.
    pub operands: &'a [SlotOf<E>],
    /// How to deal.
    pub deal: Deal,
    /// Where it stands in the source.
    pub span: Span,
}

/// The instances that a rank got.
pub struct Own<L: Engine> {
    /// Runs of consecutive instances: the first, and how many.
    pub runs: Vec<(usize, usize)>,
    /// The operands after the number of instances, for these one after another.
    pub operands: Vec<SlotOf<L>>,
}

impl<L: Engine> Own<L> {
    /// How many instances these are.
    pub fn instances(&self) -> usize {
        self.runs.iter().map(|run| run.1).sum()
    }

    /// Which of all instances one of these is.
    pub fn global(&self, index: usize) -> usize {
        let mut before = index;
        for &(first, length) in &self.runs {
            if before < length {
                return first + before;
            }
            before -= length;
        }
        usize::MAX
    }
}

/// An instance that failed, or the first of several of which one did, and how.
pub type Failed = (usize, RuntimeError);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reference::Reference;

    #[test]
    fn own_instances_are_found_among_all() {
        let own = Own::<Reference> { runs: vec![(3, 2), (9, 1), (20, 4)], operands: Vec::new() };
        assert_eq!(own.instances(), 7);
        assert_eq!([0, 1, 2, 3, 6, 7].map(|index| own.global(index)), [3, 4, 9, 20, 23, usize::MAX]);
    }
}
