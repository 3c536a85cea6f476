//! Ctrl-C: what an interrupt from the terminal does.
//!
//! While a program is evaluated the first interrupt asks the machine to stop, which ends in an error like any other; a
//! second one, and any at another time, ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The interrupt of this process.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
    evaluating: Arc<AtomicBool>,
    /// Set with the first, and by others who cannot wait for what takes long.
    cut: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over SIGINT. Where that is impossible the process simply ends at an interrupt, as processes do.
    pub fn install() -> Interrupt {
        Interrupt::cutting(Arc::default())
    }

    /// The same with a flag of its own that ends what takes long.
    pub fn cutting(cut: Arc<AtomicBool>) -> Interrupt {
        let interrupt = Interrupt { cut, ..Interrupt::default() };
        let Interrupt { requested, evaluating, cut } = interrupt.clone();
        let handler = move || {
            let again = requested.swap(true, SeqCst);
            cut.store(true, SeqCst);
            if again || !evaluating.load(SeqCst) {
                crate::progress::erase();
                eprintln!("interrupted");
                std::process::exit(130);
            }
        };
        // The one reason for failure is a second handler in the process, which does the same.
        let _ = ctrlc::set_handler(handler);
        interrupt
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
        self.requested.store(false, SeqCst);
        self.cut.store(false, SeqCst);
        self.evaluating.store(true, SeqCst);
        let result = evaluation();
        self.evaluating.store(false, SeqCst);
        self.requested.store(false, SeqCst);
        result
    }
}
