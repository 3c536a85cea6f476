//! Counted storage for columns.
//!
//! Every column's elements live in a [`Buffer`], made through the [`Meter`] of its engine: that is where elements and
//! bytes are counted, where a memory limit is enforced, and where a failed allocation becomes an error instead of an
//! abort. The memory itself is recycled ([`crate::data::memory`]).
//!
//! What is counted is what programs ask for: it does not depend on how memory is managed. The limit is on what there
//! is: the blocks that large columns are in with their rounding, those that are free and kept, and all else that
//! columns take. Before it fails a request, what is free is given back.

use crate::data::counters::Counters;
use crate::data::memory::{Filling, Pool, Room};
use nesl_native::Scratch;
use nesl_prim::Failure;
use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Counts the buffers of one engine, and gives out their memory within its limit.
#[derive(Debug, Default)]
pub struct Meter {
    elements: AtomicU64,
    bytes: AtomicU64,
    resident_elements: AtomicU64,
    resident_bytes: AtomicU64,
    peak_elements: AtomicU64,
    peak_bytes: AtomicU64,
    largest: AtomicU64,
    /// Those of the resident bytes that are in blocks of the pool.
    pooled_bytes: AtomicU64,
    /// Bytes outside of columns, on their way into them.
    incoming: AtomicU64,
    /// Bytes that may be held at once.
    limit: Option<u64>,
    pool: Arc<Pool>,
}

impl Meter {
    /// A meter that allows `limit` bytes, or any number where it is none.
    pub fn new(limit: Option<u64>) -> Arc<Meter> {
        Arc::new(Meter { limit, ..Meter::default() })
    }

    /// Room for `capacity` elements, to be filled and handed to [`Meter::count`].
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn room<T: Copy>(&self, capacity: usize) -> Result<Room<T>, Failure> {
        self.room_for(capacity, Filling::Whole)
    }

    /// The same where fewer elements may be filled in.
    ///
    /// # Errors
    /// As [`Meter::room`].
    pub fn room_for<T: Copy>(&self, capacity: usize, filling: Filling) -> Result<Room<T>, Failure> {
        if !Room::<T>::is_pooled(capacity) {
            return self.reserve(capacity).map(Room::from);
        }
        let most = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.unpooled()));
        let room = Room::recycled(&self.pool, capacity).or_else(|| Room::fresh(&self.pool, capacity, most, filling));
        room.ok_or(Failure::OutOfMemory { bytes: bytes_of::<T>(capacity) })
    }

    /// The same elements without much room behind them, which a filter leaves. What then still uses less than half of
    /// its block moves to new room, if there is some.
    pub fn fitted<T: Copy>(&self, mut room: Room<T>) -> Room<T> {
        // A block may be larger than what it was taken for.
        let is_less = room.len() < room.capacity() / 2;
        room.shrink();
        if is_less
            && room.is_half_empty()
            && let Ok(mut small) = self.room(room.len())
        {
            small.extend_from_slice(&room);
            return small;
        }
        room
    }

    /// An empty vector with room for `capacity` elements: for results that grow, and for what is no column. It may be
    /// handed to [`Meter::adopt`]; its memory is not recycled.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn reserve<T>(&self, capacity: usize) -> Result<Vec<T>, Failure> {
        let bytes = bytes_of::<T>(capacity);
        self.admit(bytes)?;
        let mut elements = Vec::new();
        if elements.try_reserve_exact(capacity).is_err() {
            self.pool.release_down_to(0);
            elements.try_reserve_exact(capacity).map_err(|_| Failure::OutOfMemory { bytes })?;
        }
        Ok(elements)
    }

    /// Whether the limit allows so many more bytes outside of the pool, which gives free blocks back where that helps.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] if it does not.
    pub fn admit(&self, bytes: u64) -> Result<(), Failure> {
        let Some(limit) = self.limit else { return Ok(()) };
        let others = self.unpooled().saturating_add(bytes);
        if others.saturating_add(self.pool.held()) <= limit {
            return Ok(());
        }
        let failure = Failure::OutOfMemory { bytes };
        let rest = limit.checked_sub(others).ok_or(failure.clone())?;
        self.pool.release_down_to(rest);
        if self.pool.held() > rest { Err(failure) } else { Ok(()) }
    }

    /// Counts so many bytes outside of columns, until they are released.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit does not allow it.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), Failure> {
        self.admit(bytes)?;
        self.incoming.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Counts so many bytes no more that were held.
    pub(crate) fn release(&self, bytes: u64) {
        self.incoming.fetch_sub(bytes, Relaxed);
    }

    /// Bytes that are not in blocks of the pool.
    fn unpooled(&self) -> u64 {
        // Read at different moments, which other threads may count between.
        let columns = self.resident_bytes.load(Relaxed).saturating_sub(self.pooled_bytes.load(Relaxed));
        columns.saturating_add(self.incoming.load(Relaxed))
    }

    /// Makes a counted buffer of a filled vector.
    pub fn adopt<T: Copy>(self: &Arc<Meter>, elements: Vec<T>) -> Buffer<T> {
        self.count(elements.into())
    }

    /// Makes a counted buffer of filled room.
    pub fn count<T: Copy>(self: &Arc<Meter>, elements: Room<T>) -> Buffer<T> {
        let count = elements.len();
        self.count_as(elements, count)
    }

    /// Makes a counted buffer of room in which so many elements are to be written.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn unwritten<T: Copy>(self: &Arc<Meter>, count: usize) -> Result<Buffer<T>, Failure> {
        Ok(self.count_as(self.room_for(count, Filling::Part)?, count))
    }

    fn count_as<T: Copy>(self: &Arc<Meter>, elements: Room<T>, count: usize) -> Buffer<T> {
        let (count, bytes) = (count as u64, bytes_of::<T>(elements.capacity()));
        if elements.is_block() {
            self.pooled_bytes.fetch_add(bytes, Relaxed);
        }
        self.elements.fetch_add(count, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.largest.fetch_max(count, Relaxed);
        let resident = self.resident_elements.fetch_add(count, Relaxed) + count;
        self.peak_elements.fetch_max(resident, Relaxed);
        let resident = self.resident_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.peak_bytes.fetch_max(resident, Relaxed);
        let begin = elements.first();
        let owned = (AtomicUsize::new(begin), AtomicUsize::new(begin + count as usize));
        Buffer { elements, owned, grows: false, bytes, meter: Arc::clone(self) }
    }

    /// Runs something with scratch memory for native code, of no more bytes than the meter allows; none if there is
    /// none.
    pub(crate) fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> Option<T> {
        self.pool.with_scratch(self.limit, run)
    }

    /// Bytes of all buffers so far.
    pub fn allocated(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Elements of all buffers so far.
    pub fn elements(&self) -> u64 {
        self.elements.load(Relaxed)
    }

    /// Bytes of the buffers that there are now.
    pub fn resident(&self) -> u64 {
        self.resident_bytes.load(Relaxed)
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

/// The bytes of so many elements.
fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// The elements of a column, counted while they live.
#[derive(Debug)]
pub struct Buffer<T> {
    elements: Room<T>,
    /// The positions of the first element that has an owner, and behind the last.
    owned: (AtomicUsize, AtomicUsize),
    /// Something was appended when it was made, and may be again.
    grows: bool,
    bytes: u64,
    meter: Arc<Meter>,
}

impl<T> Buffer<T> {
    /// Where the elements are. Who has written which of them is known to those who share the buffer.
    pub fn room(&self) -> &Room<T> {
        &self.elements
    }

    /// The same for the only owner.
    pub fn room_mut(&mut self) -> &mut Room<T> {
        &mut self.elements
    }

    /// Whether something was appended when it was made.
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Says that something was appended when it was made.
    pub fn set_growing(&mut self) {
        self.grows = true;
    }

    /// Takes the room of `count` more elements behind the caller's, which end at `end`, if nobody has it: nothing has been
    /// appended there, or the caller `is_alone` with the buffer, so that what was there has no owner any more. They are
    /// counted as those of a new buffer are.
    pub fn claim(&self, end: usize, count: usize, is_alone: bool) -> bool {
        if count > self.elements.reach().saturating_sub(end) {
            return false;
        }
        let before = if is_alone { self.owned.1.load(Relaxed) } else { end };
        if self.owned.1.compare_exchange(before, end + count, Relaxed, Relaxed).is_err() {
            return false;
        }
        self.count_claimed(before - end, count);
        true
    }

    /// The same of `count` elements before the caller's, which begin at `start`.
    pub fn claim_before(&self, start: usize, count: usize, is_alone: bool) -> bool {
        let Some(first) = start.checked_sub(count) else { return false };
        let before = if is_alone { self.owned.0.load(Relaxed) } else { start };
        if self.owned.0.compare_exchange(before, first, Relaxed, Relaxed).is_err() {
            return false;
        }
        self.count_claimed(start - before, count);
        true
    }

    /// Counts elements that have lost their owners, and others that have one now.
    fn count_claimed(&self, lost: usize, count: usize) {
        self.meter.elements.fetch_add(count as u64, Relaxed);
        self.meter.resident_elements.fetch_sub(lost as u64, Relaxed);
        let resident = self.meter.resident_elements.fetch_add(count as u64, Relaxed) + count as u64;
        self.meter.peak_elements.fetch_max(resident, Relaxed);
        let owned = self.owned.1.load(Relaxed) - self.owned.0.load(Relaxed);
        self.meter.largest.fetch_max(owned as u64, Relaxed);
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let owned = *self.owned.1.get_mut() - *self.owned.0.get_mut();
        self.meter.resident_elements.fetch_sub(owned as u64, Relaxed);
        self.meter.resident_bytes.fetch_sub(self.bytes, Relaxed);
        if self.elements.is_block() {
            self.meter.pooled_bytes.fetch_sub(self.bytes, Relaxed);
        }
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

    #[test]
    fn counts_are_of_what_was_asked_for_and_the_limit_is_on_what_is_held() {
        const MIB: usize = 1 << 20;
        let meter = Meter::new(Some(40 * MIB as u64));
        let column = |bytes: usize| {
            let mut room = meter.room::<u8>(bytes)?;
            room.fill_rest(0);
            Ok::<_, Failure>(meter.count(room))
        };
        let first = column(20 * MIB).unwrap();
        let second = column(20 * MIB).unwrap();
        assert!(meter.reserve::<u8>(1).is_err() && column(MIB).is_err());
        drop(first);
        // The free block goes before the limit fails a request of another size, whoever asks.
        let small = meter.adopt(vec![0u8; MIB]);
        let third = column(18 * MIB).unwrap();
        drop(third);
        assert!(meter.reserve::<u8>(19 * MIB).is_ok());
        assert_eq!(meter.pool.held(), 20 * MIB as u64);
        assert!(meter.reserve::<u8>(19 * MIB + 1).is_err());
        let mut counters = Counters::default();
        meter.report(&mut counters);
        assert_eq!((counters.elements, counters.bytes), (59 * MIB as u64, 59 * MIB as u64));
        assert_eq!(counters.peak_bytes, 40 * MIB as u64);
        drop((second, small));
        assert_eq!((meter.unpooled(), meter.pooled_bytes.load(Relaxed)), (0, 0));
    }

    #[test]
    fn room_is_recycled_whoever_drops_it() {
        let meter = Meter::new(None);
        let first = meter.room::<f64>(1 << 20).unwrap();
        let start = first.as_ptr() as usize;
        std::thread::scope(|scope| _ = scope.spawn(|| drop(meter.count(first))));
        assert_eq!(meter.room::<i64>(1 << 20).unwrap().as_ptr() as usize, start);
    }
}
