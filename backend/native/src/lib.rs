//! Machine code for VCODE.
//!
//! Functions become machine code by way of Cranelift: scalars in registers, sequences as pointers and lengths, columns
//! in scratch memory that is given back when a function returns. What runs is what the reference engine computes, bit
//! for bit.
//!
//! Native code has no errors of its own. Where an operation fails, the scratch memory ends, or the stack does, it gives
//! up ([`Status::GaveUp`]), and whoever called it runs the same again on the machine, which knows how to say what is
//! wrong, or has the memory. Programs have no state, so running again is safe.
//!
//! [`function`] says which functions can be compiled and calls them as [`abi`] says, [`body`] emits their instructions
//! by way of [`emitter`] and, for scalar operations, [`scalar`]; what touches whole columns there is in [`runtime`], in
//! Rust. [`instances`] are those of an `each` as a function that Rust calls, [`kept`] is what code has the addresses
//! of, [`ints`] what it reads of segments. [`kernel`] compiles groups of instructions over one index space, as one loop
//! each. [`module`] holds the code. This crate is one of those that contain `unsafe` code: it calls what it has
//! written.
#![allow(unsafe_code)]

mod abi;
mod body;
mod emitter;
mod function;
mod instances;
mod ints;
mod kept;
mod kernel;
mod module;
mod runtime;
mod scalar;
mod shim;
mod state;
mod sums;

pub use abi::words_of;
pub use function::{Compiled, Compiler, Unavailable, is_recursive, is_supported};
pub use instances::{Batch, Instances};
pub use ints::Ints;
pub use kernel::{
    AfterOperand, DescriptorPlace, Ending, Extent, Further, GroupResult, Kernel, Kernels, KnownInputs, Mode, NodeOp,
    PartPlan, Plan, PlanNode, PlanOperand, Running, Space, Stride, WordLayout, Words, is_ordered,
};
pub use module::target;
pub use runtime::elements::Elements;
pub use state::{Scratch, State, Status, count_steps};
pub use sums::{Sums, wide};
