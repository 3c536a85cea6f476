//! A communicator of MPI that lasts until somebody frees it: the ranks that a message may go to.
//!
//! Which ranks work together changes while a job runs ([`crate::communication::world::World::regroup`]). Every
//! [`crate::communication::communicator::Communicator`] has the group that it was made for, and uses no other.

#![allow(unsafe_code, reason = "communicators of MPI are handles whose lives MPI does not watch; every block says why")]

use crate::layout::Layout;
use mpi::ffi;
use mpi::raw::{AsRaw, FromRaw};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator as _;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Ranks that talk to each other, this one among them.
pub(crate) struct Members {
    communicator: ManuallyDrop<SimpleCommunicator>,
    is_world: bool,
}

// SAFETY: the handle of MPI is a name of what MPI keeps; only one thread uses MPI at a time.
unsafe impl Send for Members {}
// SAFETY: as above.
unsafe impl Sync for Members {}

impl fmt::Debug for Members {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Members({} of {})", self.rank(), self.size())
    }
}

impl Deref for Members {
    type Target = SimpleCommunicator;

    fn deref(&self) -> &SimpleCommunicator {
        &self.communicator
    }
}

impl Members {
    /// The ranks that a launcher started together.
    pub(crate) fn world() -> Arc<Members> {
        Arc::new(Members { communicator: ManuallyDrop::new(SimpleCommunicator::world()), is_world: true })
    }

    /// The ranks of a communicator that nobody else frees.
    pub(crate) fn of(communicator: SimpleCommunicator) -> Arc<Members> {
        Arc::new(Members { communicator: ManuallyDrop::new(communicator), is_world: false })
    }

    /// Which of them this one is, and how many there are.
    pub(crate) fn layout(&self) -> Layout {
        Layout { rank: self.rank() as usize, ranks: self.size() as usize }
    }

    /// Gives the communicator back to MPI: all its ranks do so, and use it no more. The world stays.
    pub(crate) fn free(&self) {
        if self.is_world {
            return;
        }
        let mut handle = self.as_raw();
        // SAFETY: it is no handle of the system, whoever made it left it to this group, and it is used no more.
        unsafe {
            ffi::MPI_Comm_free(&raw mut handle);
        }
    }

    /// The first ranks of this group; none on the others. All ranks of this group call it together.
    pub(crate) fn first(&self, ranks: usize) -> Option<Arc<Members>> {
        let rank = self.rank();
        let color = if (rank as usize) < ranks {
            0
        } else {
            // SAFETY: a number.
            unsafe { ffi::RSMPI_UNDEFINED }
        };
        // SAFETY: a handle that the call below replaces.
        let mut part = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the communicator is alive, and all of its ranks make this call.
        unsafe {
            ffi::MPI_Comm_split(self.as_raw(), color, rank, &raw mut part);
        }
        // SAFETY: for ranks of a color it is a new communicator, which is left to the group.
        (color == 0).then(|| Members::of(unsafe { SimpleCommunicator::from_raw(part) }))
    }

    /// This group and new processes behind it, each started by a command with these arguments; all ranks of this group
    /// call it together. The new ones [arrive](Members::arrive). None where MPI starts none, on rank 0; whether the others
    /// come back then, MPI does not say.
    pub(crate) fn spawn(&self, count: usize, command: &Spawned) -> Option<Arc<Members>> {
        let words: Vec<_> = command.arguments.iter().map(|word| word.as_ptr().cast_mut()).collect();
        let mut arguments: Vec<_> = words.into_iter().chain([std::ptr::null_mut()]).collect();
        // SAFETY: handles that the calls below replace.
        let (mut between, mut info) = unsafe { (ffi::RSMPI_COMM_NULL, ffi::RSMPI_INFO_NULL) };
        let mut codes = vec![0; count];
        // SAFETY: all strings end with a zero and live during the calls, the list of words ends with none, there is a
        // code for each process; all ranks of a communicator that is alive make these calls. An error is returned only
        // between them.
        let is_started = unsafe {
            ffi::MPI_Info_create(&raw mut info);
            for (key, value) in SETTINGS {
                ffi::MPI_Info_set(info, key.as_ptr(), value.as_ptr());
            }
            ffi::MPI_Comm_set_errhandler(self.as_raw(), ffi::RSMPI_ERRORS_RETURN);
            let code = ffi::MPI_Comm_spawn(
                command.program.as_ptr(),
                arguments.as_mut_ptr(),
                count as i32,
                info,
                0,
                self.as_raw(),
                &raw mut between,
                codes.as_mut_ptr(),
            );
            ffi::MPI_Info_free(&raw mut info);
            ffi::MPI_Comm_set_errhandler(self.as_raw(), ffi::RSMPI_ERRORS_ARE_FATAL);
            code == ffi::MPI_SUCCESS as i32 && between != ffi::RSMPI_COMM_NULL
        };
        is_started.then(|| merged(between, false))
    }

    /// The group that this process was started for, if one was: the others in it were there before.
    pub(crate) fn arrive() -> Option<Arc<Members>> {
        // SAFETY: a handle that the call below replaces.
        let mut parent = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: it fills in a handle.
        unsafe {
            ffi::MPI_Comm_get_parent(&raw mut parent);
        }
        // SAFETY: a handle of the system, which is compared.
        let is_alone = parent == unsafe { ffi::RSMPI_COMM_NULL };
        (!is_alone).then(|| merged(parent, true))
    }

    /// Waits for a message of few numbers from a rank, looking so often.
    pub(crate) fn wait_asleep(&self, source: usize, tag: i32, numbers: &mut [i64], nap: Duration) {
        use mpi::point_to_point::Source as _;
        let process = self.process_at_rank(source as mpi::Rank);
        mpi::request::scope(|scope| {
            let mut request = process.immediate_receive_into_with_tag(scope, numbers, tag);
            while let Err(pending) = request.test() {
                request = pending;
                std::thread::sleep(nap);
            }
        });
    }
}

/// What new processes run.
#[derive(Debug, Default)]
pub(crate) struct Spawned {
    pub(crate) program: std::ffi::CString,
    pub(crate) arguments: Vec<std::ffi::CString>,
}

/// More processes than cores may be started, which are not tied to some of them: as for those that were there at first.
/// What an MPI does not know of these it ignores.
const SETTINGS: [(&std::ffi::CStr, &std::ffi::CStr); 2] = [(c"map_by", c"slot:oversubscribe"), (c"bind_to", c"none")];

/// One group of the two that a handle is between; it is freed.
fn merged(mut between: ffi::MPI_Comm, is_new: bool) -> Arc<Members> {
    // SAFETY: a handle that the call below replaces.
    let mut all = unsafe { ffi::RSMPI_COMM_NULL };
    // SAFETY: the handle is that of two groups, all of whose ranks make these calls, and use it no more.
    let all = unsafe {
        ffi::MPI_Intercomm_merge(between, i32::from(is_new), &raw mut all);
        // Before the end of MPI: jobs that leave this to it were seen to die then.
        ffi::MPI_Comm_disconnect(&raw mut between);
        SimpleCommunicator::from_raw(all)
    };
    Members::of(all)
}
