//! What values are made of again, one after another: registers, and values that have gone through something together.

use nesl_vcode::Operand;

/// A list that somebody takes apart who knows how long it is.
pub struct Supply<T = Operand>(std::vec::IntoIter<T>);

impl<T> Supply<T> {
    /// All of a list that has been made for that.
    pub fn of(list: Vec<T>) -> Supply<T> {
        Supply(list.into_iter())
    }

    /// The next one.
    ///
    /// # Panics
    /// If there is none: such lists are made by going over the same type, the same value, or the same variables.
    pub fn next(&mut self) -> T {
        self.0.next().unwrap_or_else(|| panic!("fewer registers or values than there are parts"))
    }
}
