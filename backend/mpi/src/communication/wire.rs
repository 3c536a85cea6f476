//! The types of elements that messages carry, and the memory where they arrive.

#![allow(unsafe_code, reason = "messages write to memory that is not initialised; every block says why it is sound")]

use mpi::Count;
use mpi::traits::{AsDatatype, BufferMut, Collection, Equivalence, PointerMut};
use std::mem::MaybeUninit;

/// A type whose values can be sent.
pub trait Wire: Equivalence + Copy + Default + 'static {}

impl Wire for i64 {}
impl Wire for f64 {}
impl Wire for bool {}
impl Wire for u8 {}

/// Elements as places for some.
pub(crate) fn uninitialised<T: Wire>(elements: &mut [T]) -> &mut [MaybeUninit<T>] {
    let (start, length) = (elements.as_mut_ptr().cast(), elements.len());
    // SAFETY: the same memory, borrowed as long, and of the same layout; messages only ever write elements to it.
    unsafe { std::slice::from_raw_parts_mut(start, length) }
}

/// Where a message goes: room for elements, whether or not there are any yet.
pub(crate) struct ReceiveBuffer<'a, T>(pub(crate) &'a mut [MaybeUninit<T>]);

// SAFETY: the elements that there is room for are of this type.
unsafe impl<T: Wire> AsDatatype for ReceiveBuffer<'_, T> {
    type Out = T::Out;

    fn as_datatype(&self) -> T::Out {
        T::equivalent_datatype()
    }
}

// SAFETY: there is room for so many; slices are cut to what a count holds.
unsafe impl<T: Wire> Collection for ReceiveBuffer<'_, T> {
    fn count(&self) -> Count {
        self.0.len() as Count
    }
}

// SAFETY: this is where the room is, and it is borrowed to be written to.
unsafe impl<T: Wire> PointerMut for ReceiveBuffer<'_, T> {
    fn pointer_mut(&mut self) -> *mut std::ffi::c_void {
        self.0.as_mut_ptr().cast()
    }
}

// SAFETY: of the parts above.
unsafe impl<T: Wire> BufferMut for ReceiveBuffer<'_, T> {}
