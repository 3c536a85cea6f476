//! What processes of a job want of the system that takes unsafe code: to end with the process that started them, and to
//! know which signals they are to leave alone.

#![allow(unsafe_code, reason = "the system is called directly; every block says why it is sound")]

use std::process::Command;

/// Makes a process end with the thread that starts it, however that ends (on Linux).
pub fn end_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let end_with_parent = move || {
            end_with(libc::SIGTERM);
            // The parent may have ended before the kernel was asked.
            match std::os::unix::process::parent_id() == parent {
                true => Ok(()),
                false => Err(std::io::Error::from(std::io::ErrorKind::Interrupted)),
            }
        };
        // SAFETY: what runs between fork and exec calls two functions of the system that are safe there, and allocates
        // nothing.
        unsafe {
            command.pre_exec(end_with_parent);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Asks the kernel to end this process with the one that launched it (on Linux): a killed launcher may leave ranks
/// spinning otherwise.
pub(crate) fn end_with_launcher() {
    #[cfg(target_os = "linux")]
    end_with(libc::SIGKILL);
}

/// Has the kernel send this process a signal when its parent ends.
#[cfg(target_os = "linux")]
fn end_with(signal: libc::c_int) {
    // SAFETY: prctl with PR_SET_PDEATHSIG takes a signal number and touches no memory of ours.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, signal);
    }
}

/// Whether a signal is one that this process ignores, as whoever started it wanted.
#[cfg(unix)]
pub fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: sigaction without a new action only fills in the present one, where it gives 0, and only then that is
    // read.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_known() {
        assert!(is_ignored(libc::SIGPIPE), "Rust ignores this one");
        assert!(!is_ignored(libc::SIGTERM) && !is_ignored(-1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_ends_with_the_thread_that_started_it() {
        use std::os::unix::process::ExitStatusExt;
        let mut child = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            end_with_parent(command.arg("60"));
            command.spawn().unwrap()
        })
        .join()
        .unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
    }
}
