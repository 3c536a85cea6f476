//! What the user has seen of what jobs print that begin again, or of the answers of inputs that are evaluated again:
//! that is not shown again.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much of a text that comes again has been shown.
#[derive(Debug, Default)]
pub(super) struct Seen {
    shown: usize,
    /// How much has come, from the job of now.
    at: usize,
}

impl Seen {
    /// How many of the next bytes have been.
    pub(super) fn known_of(&self, length: usize) -> usize {
        self.shown.saturating_sub(self.at).min(length)
    }

    /// So many bytes have come, and been shown if they were not known.
    pub(super) fn passed(&mut self, length: usize) {
        self.at += length;
        self.shown = self.shown.max(self.at);
    }

    /// How much has come.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// It comes again, from here on.
    pub(super) fn again(&mut self, at: usize) {
        self.at = at;
    }
}

/// How much of the answer of an input has been shown.
#[derive(Debug, Default)]
pub(super) struct Repeated(Mutex<Part>);

#[derive(Debug, Default)]
struct Part {
    /// All that the job of now says has been.
    is_all: bool,
    answer: Seen,
}

impl Repeated {
    fn part(&self) -> MutexGuard<'_, Part> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next answer is one that nobody has seen.
    pub(super) fn begin(&self) {
        *self.part() = Part::default();
    }

    /// The next answers have all been seen.
    pub(super) fn begin_known(&self) {
        self.part().is_all = true;
    }

    /// The next answer has been seen as far as the last one that has not ended.
    pub(super) fn begin_again(&self) {
        let mut part = self.part();
        part.is_all = false;
        part.answer.again(0);
    }

    /// How many of the next bytes have been seen.
    pub(super) fn known_of(&self, length: usize) -> usize {
        let part = self.part();
        if part.is_all { length } else { part.answer.known_of(length) }
    }

    /// So many bytes have come, and been shown if they were not known.
    pub(super) fn passed(&self, length: usize) {
        let mut part = self.part();
        if !part.is_all {
            part.answer.passed(length);
        }
    }

    /// Whether messages that come now have been seen.
    pub(super) fn is_known(&self) -> bool {
        self.part().is_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_once() {
        let (repeated, mut shown) = (Repeated::default(), String::new());
        let mut answer = |text: &str| {
            for start in (0..text.len()).step_by(3) {
                let piece = &text[start..text.len().min(start + 3)];
                shown.push_str(&piece[repeated.known_of(piece.len())..]);
                repeated.passed(piece.len());
            }
        };
        answer("it = 1;");
        repeated.begin();
        answer("two thr");
        repeated.begin_known();
        answer("it = 1;");
        repeated.begin_again();
        answer("two");
        repeated.begin_known();
        answer("it = 1;");
        repeated.begin_again();
        answer("two three;");
        repeated.begin();
        answer("four");
        assert_eq!(shown, "it = 1;two three;four");
    }
}
