//! How the registers of a function are read.

use super::single::Singles;
use nesl_vcode::{Function, Register};

/// Who reads what.
#[derive(Default)]
pub(super) struct Uses {
    /// How often each register is read.
    reads: Vec<usize>,
    /// What is written by itself.
    singles: Singles,
}

impl Uses {
    /// Those of a function.
    pub fn of(function: &Function) -> Uses {
        let mut uses = Uses { reads: vec![0; function.registers.len()], singles: Singles::of(function) };
        function.body.visit_reads(&mut |register| uses.reads[register.0 as usize] += 1);
        uses
    }

    /// Whether a column is one element that is written by itself.
    pub fn is_single(&self, register: Register) -> bool {
        self.singles.contains(register)
    }

    /// How often a register is read.
    pub fn reads(&self, register: Register) -> usize {
        self.reads[register.0 as usize]
    }
}
