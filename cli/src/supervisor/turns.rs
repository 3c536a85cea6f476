//! Ctrl-C in a session on ranks: whether it is for the evaluation that is going on, and when the ranks can hear of it.
//!
//! The first one during an evaluation stops that, a second one and any at another time ends the session, as in one
//! process ([`crate::interrupt`]). Rank 0 says when an evaluation begins and ends, and when all ranks have heard of an
//! interrupt: before that no other is sent, since the system may make one of two.

use crate::repl::{Started, Turn};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the session.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// An input was sent, or rank 0 evaluates one.
    busy: bool,
    /// Rank 0 evaluates an input.
    evaluating: bool,
    /// An interrupt has come for this input.
    asked: bool,
    /// It has to be passed on yet.
    due: bool,
    /// The last one that was passed on has not been heard by all.
    unheard: bool,
    /// Of ranks that came later, behind how many they are, and how many.
    started: Vec<(usize, usize)>,
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what rank 0 says.
    pub(super) fn hear(&self, word: &str) {
        let mut state = self.state();
        if word == Turn::Begins.word() {
            (state.busy, state.evaluating) = (true, true);
        } else if word == Turn::Ends.word() {
            let started = std::mem::take(&mut state.started);
            *state = State { unheard: state.unheard, started, ..State::default() };
        } else if word == Turn::Heard.word() {
            state.unheard = false;
        } else if let Some(started) = Started::of(word) {
            state.started.push(started);
        }
    }

    /// Of ranks that came later, behind how many they are, and how many.
    pub(super) fn started(&self) -> Vec<(usize, usize)> {
        self.state().started.clone()
    }

    /// An input is on its way to rank 0.
    pub(super) fn sent(&self) {
        self.state().busy = true;
    }

    /// A Ctrl-C has come; whether it is for the evaluation, and nothing else is to be done.
    pub(super) fn interrupt(&self) -> bool {
        let mut state = self.state();
        let is_for_evaluation = state.busy && !state.asked;
        if is_for_evaluation {
            (state.asked, state.due) = (true, true);
        }
        is_for_evaluation
    }

    /// Whether the ranks are to be interrupted now; once for each Ctrl-C.
    pub(super) fn take_due(&self) -> bool {
        let mut state = self.state();
        let now = state.due && state.evaluating && !state.unheard;
        if now {
            (state.due, state.unheard) = (false, true);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_came_later_are_known_from_then_on() {
        let turns = Turns::default();
        for word in ["begins", "started 2 2", "ends", "started 4 1", "started", "started x 1"] {
            turns.hear(word);
        }
        assert_eq!(turns.started(), [(2, 2), (4, 1)]);
    }

    #[test]
    fn the_first_interrupt_of_an_evaluation_is_passed_on_once_it_can_be_heard() {
        let turns = Turns::default();
        assert!(!turns.interrupt(), "at the prompt");
        turns.sent();
        assert!(turns.interrupt() && !turns.take_due(), "before rank 0 has begun");
        turns.hear("begins");
        assert!(turns.take_due() && !turns.take_due(), "once");
        assert!(!turns.interrupt(), "the second");
        turns.hear("ends");
        assert!(!turns.interrupt(), "at the prompt again");
        turns.hear("begins");
        assert!(turns.interrupt() && !turns.take_due(), "some ranks have not heard of the last");
        turns.hear("heard");
        assert!(turns.take_due());
        turns.hear("heard");
        turns.hear("ends");
        turns.hear("begins");
        assert!(!turns.take_due(), "an evaluation that nobody interrupts");
    }
}
