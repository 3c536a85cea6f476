//! Tests of nesl as a whole: what the test targets of this package share.
//!
//! ```text
//! programs.rs   the programs under tests/programs and examples, with the expectations of their headers
//! session.rs    text to checked program;  engines.rs  one program on every engine, in this process
//! ranks.rs      many programs on MPI ranks, through the binary rank_suite;  launcher.rs  finding and starting mpirun
//! command.rs    the built command, as a process;  stats.rs  the counters that it prints
//! generate.rs   random programs, and smaller ones that fail in the same way
//! generate_v.rs random programs of V;  agreement.rs  random programs on every engine
//! ```
//! What headers say, and how outcomes compare with them, is `nesl_service::{expectations, outcome}`: `nesl test` reads them
//! in the same way. README.md says how to run and how to add tests.

pub mod agreement;
pub mod command;
pub mod engines;
pub mod generate;
pub mod generate_v;
pub mod launcher;
pub mod layout;
pub mod programs;
pub mod random;
pub mod ranks;
pub mod session;
pub mod stats;
pub mod world;

pub use nesl_service::{expectations as header, outcome};
