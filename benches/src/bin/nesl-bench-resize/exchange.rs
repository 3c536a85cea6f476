//! One exchange between the ranks of before and those of afterwards, in each of the ways.

#![allow(unsafe_code, reason = "this is about MPI itself, which is C; every block says why it is sound")]

use crate::ways::{Method, Transport, Way};
use mpi::ffi;
use std::ops::Range;
use std::ptr::null_mut;

/// Which exchange messages are of: a rank may send those of the next before another has all of this one.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// A plain column, or the lengths of segments.
    First = 77,
    /// The elements of segments.
    Second = 78,
}

/// The part of a column that each of several ranks has: those of the first are longer by one where it does not divide.
pub fn block(length: usize, ranks: usize, rank: usize) -> Range<usize> {
    let (least, more) = (length / ranks, length % ranks);
    let start = rank * least + rank.min(more);
    start..start + least + usize::from(rank < more)
}

/// The ranks of before and of afterwards, and which of them this process is.
pub struct Meeting {
    /// All that talk to each other.
    pub all: ffi::MPI_Comm,
    pub before: usize,
    pub after: usize,
    pub way: Way,
    /// Which of those of before it is.
    pub source: Option<usize>,
    /// Which of those of afterwards it is.
    pub target: Option<usize>,
}

/// Elements that go to a rank or come from one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Which of the ranks of the other side.
    pub peer: usize,
    /// Where they are in the own ones.
    pub start: usize,
    pub count: usize,
}

impl Meeting {
    /// What a process of a part of a column has in common with the parts of the other side.
    pub fn pieces(own: Range<usize>, length: usize, ranks: usize) -> Vec<Piece> {
        let common = (0..ranks).map(|peer| {
            let other = block(length, ranks, peer);
            let (start, end) = (own.start.max(other.start), own.end.min(other.end));
            Piece { peer, start: start.saturating_sub(own.start), count: end.saturating_sub(start) }
        });
        common.filter(|piece| piece.count > 0).collect()
    }

    /// Moves elements: what goes away, and where what comes is to be, which is so much.
    pub fn exchange(
        &self,
        column: Column,
        (elements, away): (&[i64], &[Piece]),
        (coming, count): (&[Piece], usize),
    ) -> Vec<i64> {
        let mut arrived = vec![0; count];
        match self.way.transport {
            Transport::Messages => self.by_messages(column as i32, (elements, away), coming, &mut arrived),
            Transport::Collective => self.by_collective(elements, away, coming, &mut arrived),
        }
        arrived
    }

    /// The number of a rank of afterwards, as those of before address it.
    fn number_after(&self, rank: usize) -> i32 {
        let is_behind = self.way.method == Method::BaselineIntra;
        (if is_behind { self.before + rank } else { rank }) as i32
    }

    /// Whether a rank of one side is the same process as one of the other.
    fn is_same(&self, peer: usize) -> bool {
        self.way.method == Method::Merge && self.source == Some(peer) && self.target == Some(peer)
    }

    fn by_messages(&self, tag: i32, (elements, away): (&[i64], &[Piece]), coming: &[Piece], arrived: &mut [i64]) {
        let (at_home, coming): (Vec<Piece>, Vec<Piece>) = coming.iter().partition(|piece| self.is_same(piece.peer));
        for (to, from) in at_home.iter().zip(away.iter().filter(|piece| self.is_same(piece.peer))) {
            arrived[to.start..to.start + to.count].copy_from_slice(&elements[from.start..from.start + from.count]);
        }
        let mut requests = Vec::new();
        if self.way.is_async {
            for piece in &coming {
                requests.push(self.receive_later(tag, *piece, arrived));
            }
        }
        for piece in away.iter().filter(|piece| !self.is_same(piece.peer)) {
            let data = elements[piece.start..piece.start + piece.count].as_ptr().cast();
            let (count, to) = (piece.count as i32, self.number_after(piece.peer));
            // SAFETY: the elements live, and are not changed, until all requests are done below; others receive them.
            unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                ffi::MPI_Isend(data, count, ffi::RSMPI_INT64_T, to, tag, self.all, &raw mut request);
                requests.push(request);
            }
        }
        if self.way.is_async {
            return done(&mut requests);
        }
        for _ in &coming {
            // SAFETY: a status that the call fills in.
            let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
            // SAFETY: each of the pieces is sent once.
            unsafe {
                ffi::MPI_Probe(ffi::RSMPI_ANY_SOURCE, tag, self.all, &raw mut status);
            }
            let from = status.MPI_SOURCE;
            let Some(piece) = coming.iter().find(|piece| piece.peer as i32 == from) else { return };
            let place = arrived[piece.start..piece.start + piece.count].as_mut_ptr().cast();
            let ignored = null_mut();
            // SAFETY: there is room for as many as come.
            unsafe {
                ffi::MPI_Recv(place, piece.count as i32, ffi::RSMPI_INT64_T, from, tag, self.all, ignored);
            }
        }
        done(&mut requests);
    }

    fn receive_later(&self, tag: i32, piece: Piece, arrived: &mut [i64]) -> ffi::MPI_Request {
        let place = arrived[piece.start..piece.start + piece.count].as_mut_ptr().cast();
        let (count, from) = (piece.count as i32, piece.peer as i32);
        // SAFETY: there is room for as many as come, which nobody touches until all requests are done.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            ffi::MPI_Irecv(place, count, ffi::RSMPI_INT64_T, from, tag, self.all, &raw mut request);
            request
        }
    }

    fn by_collective(&self, elements: &[i64], away: &[Piece], coming: &[Piece], arrived: &mut [i64]) {
        let ranks = match (self.way.method, self.source) {
            (Method::Baseline, Some(_)) => self.after,
            (Method::Baseline, None) => self.before,
            (Method::BaselineIntra, _) => self.before + self.after,
            (Method::Merge, _) => self.before.max(self.after),
        };
        let table = |pieces: &[Piece], number: &dyn Fn(usize) -> usize| {
            let (mut counts, mut starts) = (vec![0i32; ranks], vec![0i32; ranks]);
            for piece in pieces {
                let number = number(piece.peer);
                (counts[number], starts[number]) = (piece.count as i32, piece.start as i32);
            }
            (counts, starts)
        };
        let (sent, sent_at) = table(away, &|peer| self.number_after(peer) as usize);
        let (received, received_at) = table(coming, &|peer| peer);
        let (from, to) = (elements.as_ptr().cast(), arrived.as_mut_ptr().cast());
        let (sent, sent_at) = (sent.as_ptr(), sent_at.as_ptr());
        let (received, received_at) = (received.as_ptr(), received_at.as_ptr());
        // SAFETY: counts and places are within the elements, there is one of each for every rank that this one talks
        // to, and all make this call; nothing is touched until the request is done.
        unsafe {
            let number = ffi::RSMPI_INT64_T;
            if !self.way.is_async {
                ffi::MPI_Alltoallv(from, sent, sent_at, number, to, received, received_at, number, self.all);
                return;
            }
            let mut request = ffi::RSMPI_REQUEST_NULL;
            ffi::MPI_Ialltoallv(
                from,
                sent,
                sent_at,
                number,
                to,
                received,
                received_at,
                number,
                self.all,
                &raw mut request,
            );
            done(&mut [request]);
        }
    }
}

/// Asks requests whether they are done until they are, as a program does that computes meanwhile.
fn done(requests: &mut [ffi::MPI_Request]) {
    let mut is_done = 0;
    while is_done == 0 {
        // SAFETY: the requests are alive, or have been done; nobody wants to know of each how it ended.
        unsafe {
            let ignored = ffi::RSMPI_STATUSES_IGNORE;
            ffi::MPI_Testall(requests.len() as i32, requests.as_mut_ptr(), &raw mut is_done, ignored);
        }
        if is_done == 0 {
            std::thread::yield_now();
        }
    }
}
