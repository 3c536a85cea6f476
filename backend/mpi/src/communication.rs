//! Messages between ranks: all that touches MPI, and nothing that knows what a column is.
//!
//! ```text
//! world         joining the job and leaving it together     process     ending with the process that started this one
//! communicator  typed collectives and exchanges             framed      messages whose length only their sender knows; frame
//! interrupts    ending one evaluation on all ranks          slices      how a message lies in memory
//! collectives   what ranks agree on                         wire        the types of elements that messages carry
//! check         whether what is sent arrives, and how fast   members     the ranks that a message may go to
//! regroup       more ranks, or fewer, while a job runs    ending      one rank ends them all, and says why
//! launcher      the command that starts ranks
//! ```

pub mod check;
pub(crate) mod collectives;
pub mod communicator;
pub(crate) mod ending;
pub(crate) mod frame;
pub(crate) mod framed;
pub mod interrupts;
pub mod launcher;
pub(crate) mod members;
pub mod process;
pub mod regroup;
pub(crate) mod slices;
pub(crate) mod wire;
pub mod world;
