//! The elements of a column that native code has made, as a slice of their type.

use nesl_prim::{Constants, Element, ScalarType};

/// The elements of a column in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Of ints.
    Int(&'a [i64]),
    /// Of floats.
    Float(&'a [f64]),
    /// Of truth values.
    Bool(&'a [bool]),
    /// Of characters.
    Char(&'a [u8]),
}

impl<'a> Elements<'a> {
    /// The elements at an address.
    ///
    /// # Safety
    /// There are so many elements of this type at the address, and they stay there as long as this is used.
    pub unsafe fn at(ty: ScalarType, address: u64, length: u64) -> Elements<'a> {
        /// # Safety
        /// As above.
        unsafe fn slice<'a, T: Element>(address: u64, length: u64) -> &'a [T] {
            let start = std::ptr::with_exposed_provenance::<T>(address as usize);
            // SAFETY: by the caller.
            unsafe { std::slice::from_raw_parts(start, length as usize) }
        }
        // SAFETY: by the caller.
        unsafe {
            match ty {
                ScalarType::Int => Elements::Int(slice(address, length)),
                ScalarType::Float => Elements::Float(slice(address, length)),
                ScalarType::Bool => Elements::Bool(slice(address, length)),
                ScalarType::Char => Elements::Char(slice(address, length)),
            }
        }
    }

    /// A copy.
    pub fn to_constants(self) -> Constants {
        match self {
            Elements::Int(elements) => Constants::Int(elements.to_vec()),
            Elements::Float(elements) => Constants::Float(elements.to_vec()),
            Elements::Bool(elements) => Constants::Bool(elements.to_vec()),
            Elements::Char(elements) => Constants::Char(elements.to_vec()),
        }
    }
}
