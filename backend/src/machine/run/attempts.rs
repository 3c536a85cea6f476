//! When native code that gave up is tried again.
//!
//! Where native code gives up, the machine's lines begin the work again, and call what native code was in the middle
//! of: that may give up in its turn, at every level of a recursion. So whoever gave up again and again waits, each time
//! twice as long: a recursion of a million levels that fails at its end, or has none, is tried some twenty times.

use nesl_vcode::FunctionId;
use std::collections::HashMap;

/// The most that are waited for at a time, as a power of two.
const MOST: u32 = 62;

/// What has become of attempts, by function.
#[derive(Clone, Default)]
pub(in crate::machine) struct Attempts {
    unlucky: HashMap<FunctionId, Unlucky>,
}

/// A function that gave up when it was last tried.
#[derive(Clone, Default)]
struct Unlucky {
    /// How many times one after another.
    times: u32,
    /// How many chances are to go by before the next attempt.
    waits: u64,
}

impl Attempts {
    /// Whether to try it now.
    pub fn is_next(&mut self, function: FunctionId) -> bool {
        match self.unlucky.get_mut(&function) {
            Some(Unlucky { waits, .. }) if *waits > 0 => {
                *waits -= 1;
                false
            }
            _ => true,
        }
    }

    /// It came to its end.
    pub fn ended(&mut self, function: FunctionId) {
        if !self.unlucky.is_empty() {
            self.unlucky.remove(&function);
        }
    }

    /// It gave up.
    pub fn gave_up(&mut self, function: FunctionId) {
        let unlucky = self.unlucky.entry(function).or_default();
        unlucky.times = (unlucky.times + 1).min(MOST);
        unlucky.waits = (1 << unlucky.times) - 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gives_up_waits_twice_as_long_each_time() {
        let (mut attempts, function) = (Attempts::default(), FunctionId(3));
        let tried = (0..1_000_000).filter(|_| {
            let is_next = attempts.is_next(function);
            if is_next {
                attempts.gave_up(function);
            }
            is_next
        });
        assert_eq!(tried.count(), 19);
        assert!(attempts.is_next(FunctionId(4)));
        attempts.ended(function);
        attempts.gave_up(function);
        assert!(attempts.is_next(function), "once does not count");
    }
}
