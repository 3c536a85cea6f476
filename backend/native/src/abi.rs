//! The calling convention of native functions: in which machine values a register is, which of them a function gets,
//! and what Rust calls.
//!
//! A scalar is one value, a column two (address, length), a descriptor three (the addresses of starts and lengths, the
//! number of segments). Between native functions these are in machine registers, those that are read alone; from Rust
//! they come and go as words in memory.

use crate::emitter::machine_type;
use crate::state::State;
use cranelift_codegen::ir::{Type, types};
use cranelift_module::FuncId;
use nesl_vcode::{Function, RegisterType};
use std::sync::Arc;

/// Runs a function on words; returns a status.
pub(crate) type Enter = unsafe extern "C" fn(state: *mut State<'_>, arguments: *const u64, results: *mut u64) -> u64;

/// A function that is compiled, or about to be.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The function itself.
    pub body: FuncId,
    /// Which of the values of its parameters it gets, in this order.
    pub passed: Arc<[usize]>,
    /// What Rust calls.
    pub entry: FuncId,
    /// Whether it, or what it calls, writes elements of columns: then it takes those over that it may write over.
    pub updates: bool,
    /// Whether it, or what it calls, appends to columns that it may write behind.
    pub grows: bool,
}

/// Words of a register.
pub fn words_of(ty: RegisterType) -> usize {
    match ty {
        RegisterType::Scalar(_) => 1,
        RegisterType::Column(_) => 2,
        RegisterType::Descriptor => 3,
    }
}

/// The machine types of a register.
pub(crate) fn machine_types(ty: RegisterType) -> Vec<Type> {
    match ty {
        RegisterType::Scalar(ty) => vec![machine_type(ty)],
        other => vec![types::I64; words_of(other)],
    }
}

/// Those of all parameters of a function.
pub(crate) fn parameter_types(function: &Function) -> Vec<Type> {
    function.parameters.iter().flat_map(|&parameter| machine_types(function.register_type(parameter))).collect()
}

/// Which of the values of its parameters a function gets: those that it reads, the scalars first. There are few machine
/// registers for arguments, and what is passed in memory comes some cycles later; where a column is, is rarely what a
/// computation waits for.
pub(crate) fn passed(function: &Function) -> Arc<[usize]> {
    let mut reads = vec![false; function.registers.len()];
    function.body.visit_reads(&mut |register| reads[register.0 as usize] = true);
    let (mut scalars, mut others, mut next) = (Vec::new(), Vec::new(), 0);
    for &parameter in &function.parameters {
        let ty = function.register_type(parameter);
        let positions = next..next + words_of(ty);
        next = positions.end;
        if reads[parameter.0 as usize] {
            if matches!(ty, RegisterType::Scalar(_)) { &mut scalars } else { &mut others }.extend(positions);
        }
    }
    scalars.extend(others);
    scalars.into()
}
