//! The distributed engine over MPI.
//!
//! Every rank runs the machine on the same program with a [`Ranks`] engine. A column is *common* (short: on every rank)
//! or *partitioned* (by blocks of index); instructions on common columns run on every rank without a word, others
//! locally where lengths agree, else with one of a few patterns of communication. Inside a rank a local engine
//! computes.
//!
//! From the bottom up: [`communication`] is all that touches MPI, [`layout`] knows which rank holds what,
//! `distribution` moves elements to where they are needed, and `instructions` are what the machine asks for, in one
//! file for each class. `groups` run loops over the elements where they lie, `division` deals whole instances out to
//! ranks. [`Distributed`] and [`Descriptor`] are what an instruction sees, and `engine` is the seam.

pub mod communication;
mod distribution;
mod division;
mod engine;
mod groups;
mod instructions;
pub mod layout;
mod ranks;

pub use communication::communicator::Communicator;
pub use communication::frame::Growth;
pub use communication::regroup::{Regrouping, can_start};
pub use communication::world::{LaunchError, Launcher, World, detect, initialise};
pub use distribution::carrying::{Carriage, carry};
pub use distribution::column::Distributed;
pub use distribution::descriptor::Descriptor;
pub use ranks::{Ranks, THRESHOLD};
