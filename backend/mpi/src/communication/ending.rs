//! How a rank alone ends the whole job: after its last words, for what the others would wait for forever.

use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator as _;
use std::time::Duration;

/// The exit code of a job that a rank ends.
const ABORT_CODE: i32 = 101;

/// How long a launcher gets to hand on the last words: MPICH's throws away what it has not handed on when ranks end.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Says why, and ends all ranks.
pub(crate) fn end_all(why: &str) -> ! {
    eprintln!("{why}");
    std::thread::sleep(LAST_WORDS);
    SimpleCommunicator::world().abort(ABORT_CODE)
}
