//! Whether the user wants an evaluation to end.
//!
//! The machine looks between instructions; engines, printing and files look inside long ones, after every few
//! milliseconds of work, and fail with [`Failure::Interrupted`].

use nesl_prim::Failure;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag that somebody else sets; by default nobody.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    /// Ends what looks at it soon after the flag is set.
    pub fn on(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(Some(flag))
    }

    /// Whether the flag is set.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Relaxed))
    }

    /// The flag, for native code to look at.
    pub(crate) fn flag(&self) -> Option<&AtomicBool> {
        self.0.as_deref()
    }

    /// Nothing, as long as the flag is not set.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if it is.
    #[inline]
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_requested() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}
