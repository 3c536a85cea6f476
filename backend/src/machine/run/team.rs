//! Tasks of one `each` that run beside one another, and which of them anybody still wants.
//!
//! Of several that fail the first counts, as if they had run one after another; so when one has failed, those behind it
//! are not begun any more, nor what is inside of them, and their lines end. A recursion without end would begin more
//! and more.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The tasks that an `each` is dealt out in.
pub(in crate::machine) struct Team<'a> {
    /// The number of the first task that has failed so far.
    failed: AtomicUsize,
    /// Where the `each` itself is.
    outer: Option<Member<'a>>,
}

/// One of the tasks.
#[derive(Clone, Copy)]
pub(in crate::machine) struct Member<'a> {
    pub team: &'a Team<'a>,
    pub number: usize,
}

impl<'a> Team<'a> {
    pub fn new(outer: Option<Member<'a>>) -> Team<'a> {
        Team { failed: AtomicUsize::new(usize::MAX), outer }
    }
}

impl Member<'_> {
    pub fn failed(&self) {
        self.team.failed.fetch_min(self.number, Relaxed);
    }

    /// Whether one before it has failed.
    pub fn is_too_late(&self) -> bool {
        self.team.failed.load(Relaxed) < self.number
    }

    /// Whether it is in something for which it is too late, or for itself.
    pub fn is_in_vain(&self) -> bool {
        let mut next = Some(*self);
        while let Some(member) = next {
            if member.is_too_late() {
                return true;
            }
            next = member.team.outer;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_behind_a_failure_is_in_vain() {
        let outer = Team::new(None);
        let member = |team, number| Member { team, number };
        let inner = Team::new(Some(member(&outer, 1)));
        member(&inner, 1).failed();
        member(&inner, 3).failed();
        let in_vain = |team, number| (member(team, number).is_too_late(), member(team, number).is_in_vain());
        assert_eq!([0, 1, 2].map(|number| in_vain(&inner, number)), [(false, false), (false, false), (true, true)]);
        member(&outer, 0).failed();
        assert_eq!(in_vain(&inner, 0), (false, true));
        assert_eq!([0, 1].map(|number| in_vain(&outer, number)), [(false, false), (true, true)]);
    }
}
