//! Starting ranks that run this command, too.

#![allow(unsafe_code, reason = "this is about MPI itself, which is C; every block says why it is sound")]

use mpi::ffi;
use std::ffi::{CString, OsString};

/// Starts so many ranks with these arguments, for all of a group.
pub fn start(group: ffi::MPI_Comm, count: usize, words: impl Iterator<Item = OsString>) -> ffi::MPI_Comm {
    let text = |text: OsString| CString::new(text.into_encoded_bytes()).unwrap_or_default();
    let program = text(std::env::current_exe().unwrap_or_default().into_os_string());
    let words: Vec<CString> = words.map(text).collect();
    let mut words: Vec<_> = words.iter().map(|word| word.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect();
    // SAFETY: a handle that the call below replaces.
    let mut between = unsafe { ffi::RSMPI_COMM_NULL };
    let mut codes = vec![0; count];
    // SAFETY: all strings end with a zero and live during the call, the list of words ends with none, and there is a
    // code for each process; all ranks of the group make the call.
    unsafe {
        let mut info = ffi::RSMPI_INFO_NULL;
        ffi::MPI_Info_create(&raw mut info);
        ffi::MPI_Info_set(info, c"map_by".as_ptr(), c"slot:oversubscribe".as_ptr());
        ffi::MPI_Info_set(info, c"bind_to".as_ptr(), c"none".as_ptr());
        let (program, words, codes) = (program.as_ptr(), words.as_mut_ptr(), codes.as_mut_ptr());
        ffi::MPI_Comm_spawn(program, words, count as i32, info, 0, group, &raw mut between, codes);
        ffi::MPI_Info_free(&raw mut info);
    }
    between
}
