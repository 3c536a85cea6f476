//! VCODE: the flat program that flattening makes and engines run.
//!
//! [`program`] is the program as data, [`op`] the instruction table, [`shape`] how values lie in registers. [`build`] makes
//! functions.

pub mod build;
pub mod op;
pub mod program;
pub mod shape;

pub use build::FunctionBuilder;
pub use op::VectorOp;
pub use program::{
    Block, Constants, Function, FunctionId, GlobalId, Input, Instruction, Main, Op, Operand, Output, Parameter,
    Program, Register, RegisterType, Step,
};
pub use shape::Shape;
