//! The distributed engine over MPI.
//!
//! Every rank runs the machine on the same program with a [`Ranks`] engine. A column is *common* (short: on every rank) or
//! *partitioned* (by blocks of index); instructions on common columns run on every rank without a word, others locally
//! where lengths agree, else with one of a few patterns of communication. Inside a rank a local engine computes.
//!
//! From the bottom up: [`communicator`] is all that touches MPI, and [`interrupts`] what ends an evaluation there; [`launch`] joins
//! and leaves the job, [`layout`] knows which rank holds what, [`exchange`], `requests`, `ranges` and `routes` move elements, `managed`
//! sends what only its sender knows the length of. [`process`] ties processes of a job to each other, [`check`] tries the messages
//! between ranks. [`Column`] and [`Descriptor`] are what an instruction sees; the instructions are methods of [`Ranks`] in one
//! file for each class, and `engine` is the seam.

mod bundle;
pub mod check;
mod column;
pub mod communicator;
mod dealing;
mod divide;
mod engine;
pub mod exchange;
mod float_scans;
mod float_sums;
mod folds;
mod groups;
pub mod interrupts;
mod join;
pub mod launch;
pub mod layout;
mod loose;
mod managed;
mod movement;
mod order;
mod pieces;
pub mod process;
mod ranges;
mod ranks;
mod requests;
mod routes;
mod segmented;
mod segments;
mod send;
mod slices;
mod text;
mod together;

pub use column::{Column, Descriptor};
pub use communicator::Communicator;
pub use launch::{LaunchError, Launcher, World, detect, initialise};
pub use loose::Placed;
pub use managed::Growth;
pub use ranks::{Ranks, THRESHOLD};
