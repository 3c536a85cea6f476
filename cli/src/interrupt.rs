//! Ctrl-C: what an interrupt from the terminal does.
//!
//! While a program is evaluated the first interrupt asks the machine to stop, which ends in an error like any other; a
//! second one, and any at another time, ends the process. A session at a terminal goes on instead: an interrupt ends
//! what its input does, and between inputs what the shell or an editor does, which get it from the terminal themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The interrupt of this process.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
    evaluating: Arc<AtomicBool>,
    /// Set with the first, and by others who cannot wait for what takes long.
    cut: Arc<AtomicBool>,
    attended: Arc<Attended>,
    /// Whether others listen to interrupts instead.
    is_left: Arc<AtomicBool>,
}

/// What is known of a session at a terminal.
#[derive(Debug, Default)]
struct Attended {
    /// Whether there is one.
    is_there: AtomicBool,
    /// Whether it does what an input says.
    is_busy: AtomicBool,
    /// Whether interrupts so far are those of the next input.
    is_ready: AtomicBool,
    /// The interrupts since that input.
    times: AtomicUsize,
}

impl Interrupt {
    /// Takes over SIGINT. Where that is impossible the process simply ends at an interrupt, as processes do.
    pub fn install() -> Interrupt {
        Interrupt::cutting(Arc::default())
    }

    /// The same with a flag of its own that ends what takes long.
    pub fn cutting(cut: Arc<AtomicBool>) -> Interrupt {
        let interrupt = Interrupt { cut, ..Interrupt::default() };
        let handled = interrupt.clone();
        // The one reason for failure is a second handler in the process, which does the same.
        let _ = ctrlc::set_handler(move || handled.arrive());
        interrupt
    }

    /// The user has pressed Ctrl-C.
    fn arrive(&self) {
        if self.is_left.load(SeqCst) {
            return;
        }
        crate::progress::erase();
        let again = self.requested.swap(true, SeqCst);
        self.cut.store(true, SeqCst);
        let end = || {
            eprintln!("interrupted");
            std::process::exit(130);
        };
        if !self.is_attended() {
            if again || !self.evaluating.load(SeqCst) {
                end();
            }
            return;
        }
        if !self.attended.is_busy.load(SeqCst) {
            return;
        }
        match self.attended.times.fetch_add(1, SeqCst) {
            0 => {}
            // What does not look at the flag must not hold somebody for ever; what the session knows is not lost by
            // impatience alone.
            1 => eprintln!("(this ends as soon as it can; Ctrl-C once more ends the session)"),
            _ => end(),
        }
    }

    /// From here on the process is a session at a terminal, which interrupts leave alone.
    pub fn attend(&self) {
        self.attended.is_there.store(true, SeqCst);
    }

    /// From here on others listen to interrupts, or not any more.
    pub fn leave(&self, is_left: bool) {
        self.is_left.store(is_left, SeqCst);
    }

    fn is_attended(&self) -> bool {
        self.attended.is_there.load(SeqCst)
    }

    /// A line has been read, and an interrupt from here on is of what it says, also where that has not begun.
    pub fn ready(&self) {
        self.clear();
        self.attended.is_ready.store(true, SeqCst);
    }

    /// Earlier interrupts are over.
    fn clear(&self) {
        self.requested.store(false, SeqCst);
        self.cut.store(false, SeqCst);
    }

    /// A session begins to do what an input says.
    pub fn begin(&self) {
        if !self.attended.is_ready.swap(false, SeqCst) {
            self.clear();
        }
        self.attended.times.store(0, SeqCst);
        self.attended.is_busy.store(true, SeqCst);
    }

    /// It has done that.
    pub fn end(&self) {
        self.attended.is_busy.store(false, SeqCst);
    }

    /// Whether the input that a session at a terminal is about is to end.
    pub fn is_requested(&self) -> bool {
        self.is_attended() && self.requested.load(SeqCst)
    }

    /// The flag that the machine looks at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requested)
    }

    /// Asks an evaluation in progress to end; whether there is one.
    pub fn request(&self) -> bool {
        let is_evaluating = self.evaluating.load(SeqCst);
        if is_evaluating {
            self.requested.store(true, SeqCst);
            self.cut.store(true, SeqCst);
        }
        is_evaluating
    }

    /// Runs an evaluation that looks at the flag.
    pub fn during<R>(&self, evaluation: impl FnOnce() -> R) -> R {
        // An input of a session may be several, and what is between them: an interrupt is of all.
        let is_whole = !self.is_attended();
        if is_whole {
            self.clear();
        }
        self.evaluating.store(true, SeqCst);
        let result = evaluation();
        self.evaluating.store(false, SeqCst);
        if is_whole {
            self.requested.store(false, SeqCst);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_before_an_input_begins_is_of_that_input() {
        let interrupt = Interrupt::default();
        interrupt.attend();
        interrupt.ready();
        interrupt.arrive();
        interrupt.begin();
        assert!(interrupt.is_requested() && interrupt.cut.load(SeqCst));
        interrupt.end();
        // One that comes after it, and before the next line has been read, is of nothing.
        interrupt.arrive();
        interrupt.ready();
        interrupt.begin();
        assert!(!interrupt.is_requested() && !interrupt.cut.load(SeqCst));
    }

    #[test]
    fn inputs_that_nobody_edits_begin_without_an_interrupt() {
        let interrupt = Interrupt::default();
        interrupt.attend();
        interrupt.arrive();
        interrupt.begin();
        assert!(!interrupt.is_requested());
    }
}
