//! The engines of nesl: VCODE to answers, in four storeys.
//!
//! ```text
//! io       the world outside: files, streams, commands; values in, text out
//! machine  runs a program: lines, frames, strategies, native functions
//! engine   the instructions on columns: the seam, the reference engine, the threads
//! data     memory, columns, segment descriptors
//! ```
//! Each uses only what is below it. [`mod@reference`](engine::reference) is the meaning of VCODE, one simple loop per
//! instruction; [`threads`](engine::threads) is the default. The distributed engine is a crate of its own, `nesl-mpi`,
//! on the same seam.

pub mod data;
pub mod engine;
pub mod io;
pub mod machine;

pub use data::buffer::Meter;
pub use data::carried::Carried;
pub use data::counters::Counters;
pub use data::descriptor::{Descriptor, RegularStarts};
pub use data::hold::Hold;
pub use data::slot::Slot;
pub use data::vector::Vector;
pub use engine::division::{Division, Failed, Own};
pub use engine::error::{CALLS_KEPT, Instance, RuntimeError};
pub use engine::group::Group;
pub use engine::interrupt::Interrupt;
pub use engine::native::Native;
pub use engine::reference::Reference;
pub use engine::threads::Threads;
pub use engine::value::{SlotOf, Value};
pub use engine::{
    Addresses, Collective, Columns, Engine, Fault, Fill, MapOperand, Order, Pack, Permute, Scheduler, Segment, Text,
    Window,
};
pub use io::import::{Literal, LiteralError, Piece};
pub use io::print::{PrintError, print};
pub use machine::loaded::Loaded;

pub use machine::profile::{Passage, Spent, Whereabouts};
pub use machine::strategy::Strategy;
pub use machine::{ColumnId, Limits, Machine, MachineState, NotRestored, Pause, Paused, Resting, StepEnd};
