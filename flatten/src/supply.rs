//! Registers that values are made of, one after another.

use nesl_vcode::Operand;

/// The registers of a list, in their order.
pub struct Supply(std::vec::IntoIter<Operand>);

impl Supply {
    /// Those of a list that has been made for the values.
    pub fn of(registers: Vec<Operand>) -> Supply {
        Supply(registers.into_iter())
    }

    /// The next one.
    ///
    /// # Panics
    /// If there is none: such lists are made by going over the same type, or the same value.
    pub fn next(&mut self) -> Operand {
        self.0.next().unwrap_or_else(|| panic!("fewer registers than the parts of a value"))
    }
}
