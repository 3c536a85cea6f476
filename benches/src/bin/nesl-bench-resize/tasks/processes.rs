//! Tasks that are processes: started by one call of MPI for all parts of a problem, given their parts by messages, and
//! asked for their results in the same way.
//!
//! Tasks that are threads of one process use MPI in turns, so that any MPI will do: no call waits long, and who waits
//! for a message looks now and then.

#![allow(unsafe_code, reason = "this is about MPI itself, which is C; every block says why it is sound")]

use super::{Done, Problem, Role};
use crate::start::start;
use mpi::ffi;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Whose turn it is.
static TURN: Mutex<()> = Mutex::new(());

/// How often who waits for a message looks.
const LOOK: Duration = Duration::from_micros(50);

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does each part in a process of its own, on a level.
pub(super) fn done(parts: &[Problem], role: Role) -> Vec<Done> {
    let Role { kind, level } = role;
    let words = ["--as-task".to_owned(), format!("{kind}:{level}")].map(OsString::from);
    let children = {
        let _turn = turn();
        // SAFETY: the group of this process alone lasts as long as MPI does.
        let own = unsafe { ffi::RSMPI_COMM_SELF };
        start(own, parts.len(), words.into_iter())
    };
    for (child, part) in parts.iter().enumerate() {
        send(children, child, &part.words());
    }
    let results = (0..parts.len()).map(|child| {
        let words = received(children, child);
        let (counts, result) = words.split_at(2.min(words.len()));
        Done {
            result: result.to_vec(),
            threads: counts.first().copied().unwrap_or(0),
            processes: counts.last().copied().unwrap_or(0),
        }
    });
    let results = results.collect();
    leave(children);
    results
}

/// Does what the process that has started this one wants, and tells it.
pub(super) fn answer(done: impl Fn(Problem) -> Done) -> ExitCode {
    // SAFETY: a handle that the call replaces, after MPI has begun.
    let parent = unsafe {
        let mut parent = ffi::RSMPI_COMM_NULL;
        ffi::MPI_Comm_get_parent(&raw mut parent);
        if parent == ffi::RSMPI_COMM_NULL {
            return ExitCode::FAILURE;
        }
        parent
    };
    let Some(problem) = Problem::of(&received(parent, 0)) else { return ExitCode::FAILURE };
    let Done { result, threads, processes } = done(problem);
    send(parent, 0, &[&[threads, processes], &result[..]].concat());
    leave(parent);
    ExitCode::SUCCESS
}

fn send(group: ffi::MPI_Comm, to: usize, words: &[i64]) {
    let _turn = turn();
    // SAFETY: the words live during the call.
    unsafe {
        ffi::MPI_Send(words.as_ptr().cast(), words.len() as i32, ffi::RSMPI_INT64_T, to as i32, 0, group);
    }
}

fn received(group: ffi::MPI_Comm, from: usize) -> Vec<i64> {
    loop {
        {
            let _turn = turn();
            // SAFETY: what the calls fill in lives during them, and a message that has been seen is as long as is said.
            unsafe {
                let mut status = std::mem::zeroed::<ffi::MPI_Status>();
                let (mut is_there, mut count) = (0, 0);
                ffi::MPI_Iprobe(from as i32, 0, group, &raw mut is_there, &raw mut status);
                if is_there != 0 {
                    ffi::MPI_Get_count(&raw const status, ffi::RSMPI_INT64_T, &raw mut count);
                    let mut words = vec![0i64; count as usize];
                    let to = words.as_mut_ptr().cast();
                    ffi::MPI_Recv(to, count, ffi::RSMPI_INT64_T, from as i32, 0, group, &raw mut status);
                    return words;
                }
            }
        }
        thread::sleep(LOOK);
    }
}

fn leave(mut group: ffi::MPI_Comm) {
    let _turn = turn();
    // SAFETY: a handle that is alive and used no more; both sides make this call.
    unsafe {
        ffi::MPI_Comm_disconnect(&raw mut group);
    }
}
