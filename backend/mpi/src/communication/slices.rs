//! Several columns in one message: what each has for a rank stays where it is, and MPI is told where the pieces lie.

#![allow(unsafe_code, reason = "MPI reads and writes memory by address; every block says why it is sound")]

use crate::communication::wire::Wire;
use mpi::Count;
use mpi::datatype::UserDatatype;
use mpi::traits::{AsDatatype, Buffer, BufferMut, Collection, Equivalence, Pointer, PointerMut};
use std::mem::{MaybeUninit, size_of_val};

/// What one column has for each rank, and where what each has for it comes, in bytes.
#[derive(Debug)]
pub struct Slices<'a> {
    outgoing: Vec<&'a [u8]>,
    incoming: Vec<&'a mut [MaybeUninit<u8>]>,
}

impl<'a> Slices<'a> {
    /// From elements.
    pub fn of<T: Wire>(outgoing: Vec<&'a [T]>, incoming: Vec<&'a mut [MaybeUninit<T>]>) -> Slices<'a> {
        let sent = |slice: &'a [T]| {
            // SAFETY: the same memory, borrowed as long. The types of elements have no bytes without a value.
            unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
        };
        let place = |slice: &'a mut [MaybeUninit<T>]| {
            let (start, length) = (slice.as_mut_ptr().cast(), size_of_val(slice));
            // SAFETY: the same memory, borrowed as long; messages only ever write to it what is an element on the other
            // side.
            unsafe { std::slice::from_raw_parts_mut(start, length) }
        };
        let (outgoing, incoming) = (outgoing.into_iter().map(sent), incoming.into_iter().map(place));
        Slices { outgoing: outgoing.collect(), incoming: incoming.collect() }
    }

    /// For each rank what all columns have for it, and where it comes from it.
    pub(crate) fn by_rank(ranks: usize, columns: Vec<Slices<'a>>) -> (Outgoing<'a>, Incoming<'a>) {
        let mut outgoing: Outgoing<'a> = (0..ranks).map(|_| Vec::new()).collect();
        let mut incoming: Incoming<'a> = (0..ranks).map(|_| Vec::new()).collect();
        for column in columns {
            outgoing.iter_mut().zip(column.outgoing).for_each(|(all, slice)| all.push(slice));
            incoming.iter_mut().zip(column.incoming).for_each(|(all, slice)| all.push(slice));
        }
        (outgoing, incoming)
    }
}

/// For each rank slices that go there.
pub(crate) type Outgoing<'a> = Vec<Vec<&'a [u8]>>;
/// For each rank places of what comes from there.
pub(crate) type Incoming<'a> = Vec<Vec<&'a mut [MaybeUninit<u8>]>>;

/// Bytes that lie together.
pub(crate) trait Bytes: Sized {
    fn length(&self) -> usize;
    /// The first of them, and the others.
    fn cut_at(self, length: usize) -> (Self, Self);
    fn start(&self) -> *const u8;
}

impl Bytes for &[u8] {
    fn length(&self) -> usize {
        self.len()
    }

    fn cut_at(self, length: usize) -> (Self, Self) {
        self.split_at(length)
    }

    fn start(&self) -> *const u8 {
        self.as_ptr()
    }
}

impl Bytes for &mut [MaybeUninit<u8>] {
    fn length(&self) -> usize {
        self.len()
    }

    fn cut_at(self, length: usize) -> (Self, Self) {
        self.split_at_mut(length)
    }

    fn start(&self) -> *const u8 {
        self.as_ptr().cast()
    }
}

/// Slices that are sent as one message, or received from one, from where they lie; none is empty.
pub(crate) struct Apart<S>(Vec<S>);

impl<S: Bytes> Apart<S> {
    pub(crate) fn length(&self) -> usize {
        self.0.iter().map(Bytes::length).sum()
    }

    /// Where the first slice starts: other places are relative to it.
    fn start(&self) -> *const u8 {
        self.0.first().map_or(std::ptr::null(), Bytes::start)
    }
}

/// Slices in messages of at most `limit` bytes: both sides cut alike, however their slices lie.
pub(crate) fn cut<S: Bytes>(slices: Vec<S>, limit: usize) -> Vec<Apart<S>> {
    let (mut messages, mut room) = (Vec::new(), 0);
    for mut rest in slices {
        while rest.length() > 0 {
            if room == 0 {
                messages.push(Apart(Vec::new()));
                room = limit;
            }
            let length = rest.length().min(room);
            let (slice, others) = rest.cut_at(length);
            if let Some(message) = messages.last_mut() {
                message.0.push(slice);
            }
            (rest, room) = (others, room - length);
        }
    }
    messages
}

// SAFETY: relative to the start of the first slice there are so many bytes at the places of all of them; their lengths
// are those of messages, which a count holds.
unsafe impl<S: Bytes> AsDatatype for Apart<S> {
    type Out = UserDatatype;

    fn as_datatype(&self) -> UserDatatype {
        let lengths: Vec<Count> = self.0.iter().map(|slice| slice.length() as Count).collect();
        let start = self.start() as mpi::Address;
        let places: Vec<mpi::Address> = self.0.iter().map(|slice| slice.start() as mpi::Address - start).collect();
        UserDatatype::heterogeneous_indexed(&lengths, &places, &u8::equivalent_datatype())
    }
}

// SAFETY: one of the type above is all of it.
unsafe impl<S: Bytes> Collection for Apart<S> {
    fn count(&self) -> Count {
        1
    }
}

// SAFETY: this is what places are relative to.
unsafe impl Pointer for Apart<&[u8]> {
    fn pointer(&self) -> *const std::ffi::c_void {
        self.start().cast()
    }
}

// SAFETY: of the parts above.
unsafe impl Buffer for Apart<&[u8]> {}

// SAFETY: this is what places are relative to, and the slices are borrowed to be written to.
unsafe impl PointerMut for Apart<&mut [MaybeUninit<u8>]> {
    fn pointer_mut(&mut self) -> *mut std::ffi::c_void {
        self.0.first_mut().map_or(std::ptr::null_mut(), |slice| slice.as_mut_ptr().cast())
    }
}

// SAFETY: of the parts above.
unsafe impl BufferMut for Apart<&mut [MaybeUninit<u8>]> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_cut_alike_however_their_slices_lie() {
        let bytes: Vec<u8> = (0..20).collect();
        let slices = |ends: &[usize]| {
            let starts = std::iter::once(&0).chain(ends);
            starts.zip(ends).map(|(&start, &end)| &bytes[start..end]).collect::<Vec<_>>()
        };
        for ends in [&[20][..], &[0, 8, 8, 16, 17, 20], &[1, 3, 19, 20]] {
            let messages = cut(slices(ends), 7);
            assert_eq!(messages.iter().map(Apart::length).collect::<Vec<_>>(), [7, 7, 6]);
            let all: Vec<u8> = messages.iter().flat_map(|message| message.0.concat()).collect();
            assert_eq!(all, bytes);
            assert!(messages.iter().all(|message| message.0.iter().all(|slice| !slice.is_empty())));
        }
        assert!(cut(slices(&[0, 0]), 7).is_empty());
        assert_eq!(cut(slices(&[20]), 20).len(), 1);
    }
}
