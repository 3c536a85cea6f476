//! VCODE: the flat program that flattening makes and engines run.
//!
//! [`program`] is the program as data, [`register`] the names in it, [`op`] the instruction table, [`shape`] what
//! values are, [`layout`] how they lie in registers, [`mod@each`] a function on many instances, [`fusion`] groups
//! of instructions that can be one loop. [`build`] makes functions; [`mod@print`] and [`mod@parse`] are its text
//! form, [`codec`] its bytes; [`mod@verify`] says whether it is sound; [`tail`] which calls are steps of a loop,
//! [`alias`] which registers may mean the same memory; [`metrics`] counts instructions; [`manual`] describes them;
//! [`pipeline`] optimises it by the [`passes`]. The stack format of CMU's NESL is a crate of its own, `vcode/cmu`,
//! that only uses this one.

pub mod alias;
pub mod build;
pub mod codec;
mod depth;
pub mod each;
pub mod explain;
pub mod fusion;
pub mod layout;
pub mod manual;
pub mod metrics;
pub mod op;
pub mod parse;
pub mod pass;
pub mod passes;
pub mod pipeline;
pub mod print;
pub mod program;
pub mod register;
pub mod shape;
pub mod tail;
pub mod verify;

pub use build::FunctionBuilder;
pub use codec::{CodecError, from_bytes, to_bytes};
pub use each::{Argument, Each};
pub use explain::explain;
pub use layout::{EachPlan, Field, Holds, Take, Taken};
pub use metrics::Counts;
pub use nesl_prim::Constants;
pub use op::VectorOp;
pub use parse::{ParseError, parse};
pub use pass::Pass;
pub use pipeline::{Options, PASSES, PassError, optimise};
pub use print::Printer;
pub use program::{
    Block, DefaultValue, Function, FunctionId, GlobalId, Input, Instruction, Main, Op, Operand, Output, Parameter,
    Place, Program, Register, RegisterType, SiteId, Step, Use,
};
pub use shape::Shape;
pub use verify::{VerifyError, verify};
