//! The engines of nesl: VCODE to answers.
//!
//! [`machine`] runs a program on any [`Engine`]; [`mod@reference`] is the meaning of VCODE, one simple loop per instruction;
//! [`threads`] is the default; functions run as machine code by way of [`native`]. The distributed engine is a crate of its own, `nesl-mpi`, on the same seam.

#[macro_use]
mod one_process;

pub mod buffer;
pub mod clock;
pub mod counters;
mod decode;
pub mod descriptor;
pub mod division;
pub mod engine;
pub mod error;
pub mod files;
pub mod group;
pub mod hold;
pub mod host;
pub mod interrupt;
pub mod machine;
pub mod memory;
pub mod native;
pub mod print;
pub mod profile;
pub mod reference;
mod scalar;
pub mod standard;
pub mod strategy;
pub mod threads;
pub mod value;
pub mod vector;

pub use buffer::Meter;
pub use counters::Counters;
pub use decode::Loaded;
pub use descriptor::Descriptor;
pub use division::{Division, Failed, Own};
pub use engine::{Engine, Fault, MapOperand, Window};
pub use error::{Instance, RuntimeError};
pub use group::Group;
pub use hold::Hold;
pub use interrupt::Interrupt;
pub use machine::{Limits, Machine};
pub use native::Native;
pub use print::{PrintError, print};
pub use profile::Spent;
pub use reference::Reference;
pub use strategy::Strategy;
pub use threads::Threads;
pub use value::{Literal, LiteralError, Piece, Slot, SlotOf, Value};
pub use vector::Vector;
