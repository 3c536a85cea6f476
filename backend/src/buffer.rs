//! Counted storage for columns.
//!
//! Every column's elements live in a [`Buffer`], made through the [`Meter`] of its engine: that is where elements and bytes
//! are counted, where a memory limit is enforced, and where a failed allocation becomes an error instead of an abort.

use crate::counters::Counters;
use nesl_prim::Failure;
use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts the buffers of one engine and enforces its memory limit.
#[derive(Debug, Default)]
pub struct Meter {
    elements: AtomicU64,
    bytes: AtomicU64,
    resident_elements: AtomicU64,
    resident_bytes: AtomicU64,
    peak_elements: AtomicU64,
    peak_bytes: AtomicU64,
    largest: AtomicU64,
    /// Bytes that may be resident at once; 0 for no limit.
    limit: AtomicU64,
}

impl Meter {
    /// A meter that allows `limit` resident bytes, or any number where it is none.
    pub fn new(limit: Option<u64>) -> Arc<Meter> {
        let meter = Meter::default();
        meter.limit.store(limit.unwrap_or(0), Relaxed);
        Arc::new(meter)
    }

    /// An empty vector with room for `capacity` elements, to be filled and handed to [`Meter::adopt`].
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn reserve<T>(&self, capacity: usize) -> Result<Vec<T>, Failure> {
        let bytes = (capacity as u64).saturating_mul(size_of::<T>() as u64);
        let limit = self.limit.load(Relaxed);
        if limit != 0 && self.resident_bytes.load(Relaxed).saturating_add(bytes) > limit {
            return Err(Failure::OutOfMemory { bytes });
        }
        let mut elements = Vec::new();
        elements.try_reserve_exact(capacity).map_err(|_| Failure::OutOfMemory { bytes })?;
        Ok(elements)
    }

    /// Makes a counted buffer of a filled vector.
    pub fn adopt<T>(self: &Arc<Meter>, elements: Vec<T>) -> Buffer<T> {
        let (count, bytes) = (elements.len() as u64, (elements.capacity() * size_of::<T>()) as u64);
        self.elements.fetch_add(count, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.largest.fetch_max(count, Relaxed);
        let resident = self.resident_elements.fetch_add(count, Relaxed) + count;
        self.peak_elements.fetch_max(resident, Relaxed);
        let resident = self.resident_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.peak_bytes.fetch_max(resident, Relaxed);
        Buffer { elements, count, bytes, meter: Arc::clone(self) }
    }

    /// Adds what was counted to `counters`.
    pub fn report(&self, counters: &mut Counters) {
        counters.elements += self.elements.load(Relaxed);
        counters.bytes += self.bytes.load(Relaxed);
        counters.peak_elements = counters.peak_elements.max(self.peak_elements.load(Relaxed));
        counters.peak_bytes = counters.peak_bytes.max(self.peak_bytes.load(Relaxed));
        counters.largest_part = counters.largest_part.max(self.largest.load(Relaxed));
    }
}

/// The elements of a column, counted while they live.
#[derive(Debug)]
pub struct Buffer<T> {
    elements: Vec<T>,
    count: u64,
    bytes: u64,
    meter: Arc<Meter>,
}

impl<T> Buffer<T> {
    /// The elements.
    pub fn elements(&self) -> &[T] {
        &self.elements
    }

    /// The elements, to be overwritten by their only owner.
    pub fn elements_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.meter.resident_elements.fetch_sub(self.count, Relaxed);
        self.meter.resident_bytes.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residents_are_counted_while_they_live() {
        let meter = Meter::new(None);
        let first = meter.adopt(vec![1i64; 10]);
        let second = meter.adopt(vec![1u8; 5]);
        drop(first);
        let third = meter.adopt(vec![true; 3]);
        drop((second, third));
        let mut counters = Counters::default();
        meter.report(&mut counters);
        assert_eq!((counters.elements, counters.peak_elements, counters.largest_part), (18, 15, 10));
        assert_eq!((counters.bytes, counters.peak_bytes), (88, 85));
        assert_eq!(meter.resident_bytes.load(Relaxed), 0);
    }

    #[test]
    fn limits_and_impossible_sizes_are_failures() {
        let meter = Meter::new(Some(100));
        let held = meter.adopt(
            meter
                .reserve::<i64>(10)
                .map(|mut v| {
                    v.resize(10, 0);
                    v
                })
                .unwrap(),
        );
        assert!(meter.reserve::<i64>(3).is_err());
        drop(held);
        assert!(meter.reserve::<i64>(3).is_ok());
        assert!(Meter::new(None).reserve::<i64>(usize::MAX / 4).is_err());
    }
}
