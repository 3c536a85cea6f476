//! How many files it takes to start ranks: launchers with too few of them fail in their own words, or hang.

use std::fmt;

/// Files that a launcher and each of its ranks may have open at once. Open MPI 4 was seen to fail in its own words with
/// 40, and to wait forever with others.
const FILES: u64 = 64;
/// Files that a launcher opens for each rank.
const FILES_OF_RANK: u64 = 8;

/// A process may open too few files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewFiles {
    /// So many.
    allowed: u64,
    /// What ranks need.
    needed: u64,
}

impl fmt::Display for FewFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FewFiles { allowed, needed } = self;
        write!(
            formatter,
            "starting these ranks takes up to {needed} open files, and a process may have {allowed} here\n\
             hint: raise the limit: ulimit -n {needed}"
        )
    }
}

/// Whether this process, and those that it starts, may have as many files open as it takes to start so many ranks; the
/// limit is raised if that is allowed.
///
/// # Errors
/// If not.
pub fn check_files(ranks: usize) -> Result<(), FewFiles> {
    let needed = FILES + FILES_OF_RANK * ranks as u64;
    match allowed_files(needed) {
        allowed if allowed < needed => Err(FewFiles { allowed, needed }),
        _ => Ok(()),
    }
}

/// How many files this process and those that it starts may have open, raised to what is wanted if that is allowed.
#[cfg(unix)]
fn allowed_files(wanted: u64) -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((now, most)) = getrlimit(Resource::RLIMIT_NOFILE) else { return u64::MAX };
    let raised = most.min(wanted);
    match now < raised && setrlimit(Resource::RLIMIT_NOFILE, raised, most).is_ok() {
        true => raised,
        false => now,
    }
}

#[cfg(not(unix))]
fn allowed_files(_: u64) -> u64 {
    u64::MAX
}
