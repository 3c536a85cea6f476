//! Columns of one process: shared slices of counted buffers.
//!
//! Both local engines compute on [`Vector`]s, and the distributed engine holds its part of a column in one. A vector is
//! immutable while it is shared; its only owner may overwrite it ([`Slice::unique`]). One that several tasks write has
//! parts first ([`unwritten`]).

#![allow(unsafe_code, reason = "a buffer does not know which of its elements have been written; slices do")]

#[cfg(test)]
mod tests;
pub mod unwritten;

use crate::data::buffer::{Buffer, Meter};
use crate::data::memory::Room;
use nesl_native::Elements;
use nesl_prim::{Element, Failure, ScalarType, ScalarValue};
use nesl_vcode::Constants;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{Ordering::Acquire, fence};

/// Elements move out of a buffer of which they are less than one in so many ([`Slice::trim`]).
const TRIMMED_SHARE: usize = 4;

/// Buffers of fewer bytes stay as they are: those are not worth a copy.
const TRIMMED_BYTES: usize = 64 << 10;

/// Part of a shared buffer, whose elements have been written and are written again only where nobody else sees the
/// buffer.
#[derive(Clone, Debug)]
pub struct Slice<T> {
    buffer: Arc<Buffer<T>>,
    start: usize,
    length: usize,
    /// Whether all elements are known to be equal.
    is_constant: bool,
}

impl<T: Element> Slice<T> {
    /// A slice of all of a new buffer.
    pub fn new(meter: &Arc<Meter>, elements: impl Into<Room<T>>) -> Slice<T> {
        let elements = elements.into();
        let (start, length) = (elements.first(), elements.len());
        Slice { buffer: Arc::new(meter.count(elements)), start, length, is_constant: false }
    }

    /// The same elements, of which whoever made them knows that all are equal.
    pub fn constant(self) -> Slice<T> {
        Slice { is_constant: true, ..self }
    }

    /// What all elements are, if that is known, and there are some.
    pub fn as_constant(&self) -> Option<T> {
        self.elements().first().copied().filter(|_| self.is_constant)
    }

    /// The elements.
    pub fn elements(&self) -> &[T] {
        // SAFETY: the elements of a slice have been written; whoever writes again has the buffer alone.
        unsafe { self.buffer.room().range(self.start..self.start + self.length) }
    }

    /// `length` elements from `start` on, sharing the buffer.
    ///
    /// # Panics
    /// If they are not all there.
    pub fn slice(&self, start: usize, length: usize) -> Slice<T> {
        assert!(start + length <= self.length, "slice {start}+{length} of {} elements", self.length);
        Slice { buffer: Arc::clone(&self.buffer), start: self.start + start, length, is_constant: self.is_constant }
    }

    /// Slices one after another, if they share a buffer and lie there so; empty ones lie anywhere.
    pub fn joined<'a>(parts: impl IntoIterator<Item = &'a Slice<T>>) -> Option<Slice<T>> {
        let mut parts = parts.into_iter().filter(|part| part.length > 0);
        let mut whole = parts.next()?.clone();
        for part in parts {
            if !Arc::ptr_eq(&whole.buffer, &part.buffer) || part.start != whole.start + whole.length {
                return None;
            }
            whole.length += part.length;
            whole.is_constant = false;
        }
        Some(whole)
    }

    /// These elements and more behind them, in the same buffer, if it has room there that nobody has: so whoever appends a
    /// little again and again copies only that. Others who see the buffer do not see what is behind their own elements.
    pub fn appended(&self, parts: &[&[T]]) -> Option<Slice<T>> {
        let end = self.start + self.length;
        self.extended(parts, (self.start, end), |buffer, count, is_alone| buffer.claim(end, count, is_alone))
    }

    /// The same with more before them.
    pub fn prepended(&self, parts: &[&[T]]) -> Option<Slice<T>> {
        let count = parts.iter().map(|part| part.len()).sum();
        let start = self.start.checked_sub(count)?;
        self.extended(parts, (start, start), |buffer, count, is_alone| buffer.claim_before(self.start, count, is_alone))
    }

    /// These elements and more, which are written where the second position says, if that room can be claimed; the
    /// first is where the whole begins.
    fn extended(
        &self,
        parts: &[&[T]],
        (start, mut next): (usize, usize),
        claim: impl FnOnce(&Buffer<T>, usize, bool) -> bool,
    ) -> Option<Slice<T>> {
        let count = parts.iter().map(|part| part.len()).sum();
        // First another owner, then the question who they are: of two who extend this at once one sees both at least.
        let buffer = Arc::clone(&self.buffer);
        let is_alone = Arc::strong_count(&buffer) == 2;
        // What owners on other threads have done there before they let it go comes before what is written now.
        fence(Acquire);
        if !claim(&buffer, count, is_alone) {
            return None;
        }
        for part in parts {
            // SAFETY: this room has just been claimed, and no slice has it yet.
            unsafe { self.buffer.room().write(next, part) };
            next += part.len();
        }
        Some(Slice { buffer, start, length: self.length + count, is_constant: false })
    }

    /// Whether these elements were made by appending to others.
    pub fn grows(&self) -> bool {
        self.buffer.grows()
    }

    /// The same elements as what may be appended to again. Only who has made them says so.
    pub fn growing(mut self) -> Slice<T> {
        if let Some(buffer) = Arc::get_mut(&mut self.buffer) {
            buffer.set_growing();
        }
        self
    }

    /// Moves the elements to memory of their own, if they are a small part of much memory that nobody else sees: that
    /// is free then. A buffer is left so but once, so the copies cost less than a quarter of what making it has.
    pub fn trim(&mut self, meter: &Arc<Meter>) {
        let capacity = self.buffer.room().capacity();
        let is_small = self.length < capacity / TRIMMED_SHARE && capacity * size_of::<T>() >= TRIMMED_BYTES;
        // Behind elements that were appended there is room for more.
        if !is_small || self.grows() || Arc::strong_count(&self.buffer) > 1 {
            return;
        }
        // Without memory for a copy all stays as it is.
        if let Ok(mut copy) = meter.room(self.length) {
            copy.extend_from_slice(self.elements());
            *self = Slice { is_constant: self.is_constant, ..Slice::new(meter, copy) };
        }
    }

    /// The elements, which nobody else can see: those of a new slice, or of one of which somebody has asked that.
    ///
    /// # Panics
    /// If somebody can.
    pub fn own(&mut self) -> &mut [T] {
        self.unique().unwrap_or_else(|| unreachable!("nobody else has a new column"))
    }

    /// The elements, if nobody else can see them.
    pub fn unique(&mut self) -> Option<&mut [T]> {
        let (start, length) = (self.start, self.length);
        self.is_constant = false;
        // SAFETY: the elements of a slice have been written, and this one has the buffer alone.
        Arc::get_mut(&mut self.buffer).map(|buffer| unsafe { buffer.room_mut().range_mut(start..start + length) })
    }
}

/// A column of one process.
#[derive(Clone, Debug)]
pub enum Vector {
    /// Ints.
    Int(Slice<i64>),
    /// Floats.
    Float(Slice<f64>),
    /// Bools.
    Bool(Slice<bool>),
    /// Chars.
    Char(Slice<u8>),
}

/// Runs the same expression on the slice of a vector, whatever its type.
#[macro_export]
macro_rules! on_vector {
    ($vector:expr, $slice:ident => $body:expr) => {
        match $vector {
            $crate::data::vector::Vector::Int($slice) => $body,
            $crate::data::vector::Vector::Float($slice) => $body,
            $crate::data::vector::Vector::Bool($slice) => $body,
            $crate::data::vector::Vector::Char($slice) => $body,
        }
    };
}

/// The element types with their variants of [`Vector`].
pub trait VectorElement: Element {
    /// Wraps a slice.
    fn wrap(slice: Slice<Self>) -> Vector;
    /// The slice in a vector.
    ///
    /// # Panics
    /// If the vector is of another type: the verifier excludes that.
    fn slice_of(vector: &Vector) -> &Slice<Self> {
        vector.slice_of_any()
    }
    /// The same for the owner.
    fn slice_from(vector: Vector) -> Slice<Self>;
    /// Wraps elements as a constant column.
    fn constants(elements: Vec<Self>) -> Constants;
}

macro_rules! vector_element {
    ($rust:ty, $variant:ident) => {
        impl VectorElement for $rust {
            fn wrap(slice: Slice<Self>) -> Vector {
                Vector::$variant(slice)
            }
            fn slice_from(vector: Vector) -> Slice<Self> {
                match vector {
                    Vector::$variant(slice) => slice,
                    other => panic!("expected a column of {}, found {}", Self::TYPE, other.scalar_type()),
                }
            }
            fn constants(elements: Vec<Self>) -> Constants {
                Constants::$variant(elements)
            }
        }
    };
}

vector_element!(i64, Int);
vector_element!(f64, Float);
vector_element!(bool, Bool);
vector_element!(u8, Char);

impl Vector {
    /// A vector of new elements.
    pub fn new<T: VectorElement>(meter: &Arc<Meter>, elements: impl Into<Room<T>>) -> Vector {
        T::wrap(Slice::new(meter, elements))
    }

    /// A vector of new elements of a type that only its [`Element::TYPE`] tells, as in a [`nesl_prim::Visitor`].
    pub fn of<T: Element>(meter: &Arc<Meter>, elements: Vec<T>) -> Vector {
        Vector::of_slice(Slice::new(meter, elements))
    }

    /// The vector of a slice of such a type.
    pub fn of_slice<T: Element>(slice: Slice<T>) -> Vector {
        let mut slice = Some(slice);
        fn wrap<T: VectorElement>(slice: &mut dyn Any) -> Option<Vector> {
            slice.downcast_mut::<Option<Slice<T>>>().and_then(Option::take).map(T::wrap)
        }
        let vector = match T::TYPE {
            ScalarType::Int => wrap::<i64>(&mut slice),
            ScalarType::Float => wrap::<f64>(&mut slice),
            ScalarType::Bool => wrap::<bool>(&mut slice),
            ScalarType::Char => wrap::<u8>(&mut slice),
        };
        vector.expect("one Rust type for each scalar type")
    }

    /// The elements, of a type that only its [`Element::TYPE`] tells, as in a [`nesl_prim::Visitor`].
    ///
    /// # Panics
    /// If they are of another type.
    pub fn elements_of<T: Element>(&self) -> &[T] {
        self.slice_of_any().elements()
    }

    /// The slice of those.
    ///
    /// # Panics
    /// If they are of another type: the verifier excludes that.
    pub fn slice_of_any<T: Element>(&self) -> &Slice<T> {
        let slice = on_vector!(self, slice => (slice as &dyn Any).downcast_ref());
        slice.unwrap_or_else(|| panic!("expected a column of {}, found {}", T::TYPE, self.scalar_type()))
    }

    /// The same, to be overwritten; none if they are of another type.
    pub fn slice_of_any_mut<T: Element>(&mut self) -> Option<&mut Slice<T>> {
        on_vector!(self, slice => (slice as &mut dyn Any).downcast_mut())
    }

    /// Lets it hold no more memory than it needs ([`Slice::trim`]).
    pub fn trim(&mut self, meter: &Arc<Meter>) {
        on_vector!(self, slice => slice.trim(meter));
    }

    /// Where its elements lie: of vectors of one type and length, only those have one place that are one. None for
    /// vectors without elements, which lie anywhere.
    pub fn identity(&self) -> Option<usize> {
        on_vector!(self, slice => slice.elements().first().map(|first| std::ptr::from_ref(first) as usize))
    }

    /// A vector of constants.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn from_constants(meter: &Arc<Meter>, constants: &Constants) -> Result<Vector, Failure> {
        Vector::copied(
            meter,
            match constants {
                Constants::Int(elements) => Elements::Int(elements),
                Constants::Float(elements) => Elements::Float(elements),
                Constants::Bool(elements) => Elements::Bool(elements),
                Constants::Char(elements) => Elements::Char(elements),
            },
        )
    }

    /// A copy of elements.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn copied(meter: &Arc<Meter>, elements: Elements<'_>) -> Result<Vector, Failure> {
        fn copy<T: VectorElement>(meter: &Arc<Meter>, elements: &[T]) -> Result<Vector, Failure> {
            let mut copy = meter.room(elements.len())?;
            copy.extend_from_slice(elements);
            Ok(Vector::new(meter, copy))
        }
        match elements {
            Elements::Int(elements) => copy(meter, elements),
            Elements::Float(elements) => copy(meter, elements),
            Elements::Bool(elements) => copy(meter, elements),
            Elements::Char(elements) => copy(meter, elements),
        }
    }

    /// The same of constants that nobody else needs: in their own memory if it is not longer than they are.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn adopt_constants(meter: &Arc<Meter>, constants: Constants) -> Result<Vector, Failure> {
        fn adopt<T: VectorElement>(meter: &Arc<Meter>, elements: Vec<T>) -> Result<Vector, Failure> {
            if elements.capacity() > elements.len() {
                return Vector::from_constants(meter, &T::constants(elements));
            }
            meter.admit(size_of_val(elements.as_slice()) as u64)?;
            Ok(Vector::new(meter, elements))
        }
        match constants {
            Constants::Int(elements) => adopt(meter, elements),
            Constants::Float(elements) => adopt(meter, elements),
            Constants::Bool(elements) => adopt(meter, elements),
            Constants::Char(elements) => adopt(meter, elements),
        }
    }

    /// The scalar type of the elements.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Vector::Int(_) => ScalarType::Int,
            Vector::Float(_) => ScalarType::Float,
            Vector::Bool(_) => ScalarType::Bool,
            Vector::Char(_) => ScalarType::Char,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        on_vector!(self, slice => slice.length)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, of a type known from the verified program.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn elements<T: VectorElement>(&self) -> &[T] {
        T::slice_of(self).elements()
    }

    /// Element `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, index: usize) -> ScalarValue {
        on_vector!(self, slice => slice.elements()[index].to_value())
    }

    /// `length` elements from `start` on, sharing the buffer.
    ///
    /// # Panics
    /// If they are not all there.
    pub fn slice(&self, start: usize, length: usize) -> Vector {
        match self {
            Vector::Int(slice) => Vector::Int(slice.slice(start, length)),
            Vector::Float(slice) => Vector::Float(slice.slice(start, length)),
            Vector::Bool(slice) => Vector::Bool(slice.slice(start, length)),
            Vector::Char(slice) => Vector::Char(slice.slice(start, length)),
        }
    }

    /// A copy of the elements as constants.
    pub fn to_constants(&self) -> Constants {
        on_vector!(self, slice => VectorElement::constants(slice.elements().to_vec()))
    }
}
