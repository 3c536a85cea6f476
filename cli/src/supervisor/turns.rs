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
    /// Rank 0 evaluates a form of the input.
    evaluating: bool,
    /// An interrupt has come for this input.
    asked: bool,
    /// It has to be passed on yet.
    due: bool,
    /// The last one that was passed on has not been heard by all.
    unheard: bool,
    /// Of ranks that came later, behind how many they are, and how many.
    started: Vec<(usize, usize)>,
    /// The answer of an input that was sent has not been shown to its end.
    awaited: bool,
    /// Nobody wants to see the rest of it.
    cut: bool,
    /// There was a rest.
    is_short: bool,
    /// An interrupt has come for an evaluation since somebody looked.
    was_asked: bool,
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
        } else if word == Turn::Shows.word() {
            state.evaluating = false;
        } else if word == Turn::Ends.word() {
            let started = std::mem::take(&mut state.started);
            let State { unheard, awaited, cut, is_short, was_asked, .. } = *state;
            *state = State { unheard, started, awaited, cut, is_short, was_asked, ..State::default() };
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
        let mut state = self.state();
        (state.busy, state.awaited) = (true, true);
    }

    /// All of its answer has been shown, or what of it was wanted; whether that was less than there was.
    pub(super) fn answered(&self) -> bool {
        let mut state = self.state();
        (state.awaited, state.cut) = (false, false);
        std::mem::take(&mut state.is_short)
    }

    /// A Ctrl-C has come; whether it is for the evaluation or for what is shown of it, and nothing else is to be done.
    pub(super) fn interrupt(&self) -> bool {
        let mut state = self.state();
        if state.busy && !state.asked {
            (state.asked, state.due, state.cut, state.was_asked) = (true, true, true, true);
            return true;
        }
        // Rank 0 has written the answer, which is long, and on its way still.
        let is_for_answer = !state.busy && state.awaited && !state.cut;
        state.cut |= is_for_answer;
        is_for_answer
    }

    /// Whether an interrupt has come for an evaluation since this was asked last.
    pub(super) fn take_asked(&self) -> bool {
        std::mem::take(&mut self.state().was_asked)
    }

    /// Whether nobody wants to see a part of an answer of so many bytes.
    pub(super) fn drops(&self, length: usize) -> bool {
        let mut state = self.state();
        state.is_short |= state.cut && length > 0;
        state.cut
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
    fn an_interrupt_ends_an_answer_that_is_on_its_way() {
        let turns = Turns::default();
        turns.sent();
        ["begins", "ends"].iter().for_each(|word| turns.hear(word));
        assert!(!turns.drops(5) && turns.interrupt() && turns.drops(5), "the rest is not shown");
        assert!(!turns.take_due(), "nothing is evaluated");
        assert!(!turns.interrupt(), "the second");
        assert!(turns.answered() && !turns.answered() && !turns.drops(5));
        assert!(!turns.interrupt(), "at the prompt");
        turns.sent();
        turns.hear("begins");
        assert!(turns.interrupt() && turns.drops(0) && turns.take_due());
        turns.hear("ends");
        assert!(!turns.answered(), "there was no rest");
        turns.hear("heard");
        turns.sent();
        ["begins", "shows"].iter().for_each(|word| turns.hear(word));
        assert!(
            turns.interrupt() && turns.drops(0) && !turns.take_due(),
            "it ends the next evaluation, if there is one"
        );
        turns.hear("begins");
        assert!(turns.take_due());
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
