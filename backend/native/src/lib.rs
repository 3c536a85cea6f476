//! Machine code for VCODE.
//!
//! Functions become machine code by way of Cranelift: scalars in registers, sequences as pointers and lengths, columns in
//! scratch memory that is given back when a function returns. What runs is what the reference engine computes, bit for bit.
//!
//! Native code has no errors of its own. Where an operation fails, the scratch memory ends, or the stack does, it gives up
//! ([`Status::GaveUp`]), and whoever called it runs the same again on the machine, which knows how to say what is wrong, or
//! has the memory. Programs have no state, so running again is safe.
//!
//! [`function`] compiles whole functions, [`kernel`] groups of instructions over one index space, as one loop each.
//! [`module`] holds the code, [`emitter`] writes a function's instructions, [`scalar`] those for one scalar operation.
//! This crate is one of those that contain `unsafe` code: it calls what it has written.
#![allow(unsafe_code)]

mod emitter;
mod function;
mod kernel;
mod module;
mod scalar;
mod state;
mod thunk;

pub use function::{Compiled, Compiler, Unavailable};
pub use kernel::{
    Ending, Extent, Kernel, Kernels, Layout, Mode, Node, NodeOp, Plan, Source, Space, Sums, Words, is_ordered,
};
pub use state::{State, Status};
