//! Memory for what comes in from outside, on its way to columns: counted against the limit of an engine as it grows.
//!
//! A file, a pipe or a command may give any number of bytes. Whoever reads takes room through a [`Hold`] before there
//! is data in it, so that the limit ends reading, rather than the kernel the process; and where there is no memory in
//! spite of the limit, the error is the same.

use crate::data::buffer::Meter;
use nesl_prim::Failure;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

/// The least room that is taken at once, in bytes.
const LEAST: usize = 4 << 10;

/// Bytes that are read before looking whether reading should end: a few milliseconds.
const AT_ONCE: usize = 1 << 20;

/// Bytes outside of columns that count against a limit while this lives.
#[derive(Debug, Default)]
pub struct Hold {
    meter: Option<Arc<Meter>>,
    bytes: u64,
}

impl Hold {
    /// Nothing yet; without a meter there is no limit but the machine's.
    pub fn under(meter: Option<&Arc<Meter>>) -> Hold {
        Hold { meter: meter.cloned(), bytes: 0 }
    }

    /// Nothing yet, under the same limit.
    #[must_use]
    pub fn another(&self) -> Hold {
        Hold::under(self.meter.as_ref())
    }

    /// Room for so many more elements of a vector, which may grow further.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn grow<T>(&mut self, vector: &mut Vec<T>, more: usize) -> Result<(), Failure> {
        if vector.capacity() - vector.len() >= more {
            return Ok(());
        }
        // By half as much as there is, so that growing by small steps takes linear time; where that is too much, by
        // what is needed.
        let needed = vector.len().saturating_add(more);
        let ample = (vector.capacity() / 2 * 3).max(needed).max(LEAST / size_of::<T>().max(1));
        self.extend_to(vector, ample).or_else(|_| self.extend_to(vector, needed))
    }

    /// Room for so many more elements of a vector, and no further.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] where the limit or the machine does not allow it.
    pub fn fill<T>(&mut self, vector: &mut Vec<T>, more: usize) -> Result<(), Failure> {
        if vector.capacity() - vector.len() >= more {
            Ok(())
        } else {
            self.extend_to(vector, vector.len().saturating_add(more))
        }
    }

    /// Adds an element.
    ///
    /// # Errors
    /// As of [`Hold::grow`].
    pub fn push<T>(&mut self, vector: &mut Vec<T>, element: T) -> Result<(), Failure> {
        self.grow(vector, 1)?;
        vector.push(element);
        Ok(())
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// As of [`Hold::grow`].
    pub fn append(&mut self, vector: &mut Vec<u8>, more: &[u8]) -> Result<(), Failure> {
        self.grow(vector, more.len())?;
        vector.extend_from_slice(more);
        Ok(())
    }

    fn extend_to<T>(&mut self, vector: &mut Vec<T>, capacity: usize) -> Result<(), Failure> {
        let bytes = |capacity: usize| (capacity as u64).saturating_mul(size_of::<T>() as u64);
        let more = bytes(capacity) - bytes(vector.capacity());
        let failure = || Failure::OutOfMemory { bytes: more };
        if let Some(meter) = &self.meter {
            meter.hold(more)?;
        }
        let grown = vector.try_reserve_exact(capacity - vector.len());
        match grown {
            Ok(()) => self.bytes += more,
            Err(_) => self.meter.iter().for_each(|meter| meter.release(more)),
        }
        grown.map_err(|_| failure())
    }

    /// Reads to the end, or so many bytes if that is less, and looks now and then whether to go on.
    ///
    /// # Errors
    /// As of [`Hold::grow`], those of reading, and those of `check`.
    pub fn read<E: From<Failure>>(
        &mut self,
        source: &mut dyn Read,
        most: u64,
        check: impl Fn() -> Result<(), E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<Vec<u8>, E> {
        let mut bytes = Vec::new();
        let mut window = vec![0; LEAST];
        while let left @ 1.. = most - bytes.len() as u64 {
            check()?;
            let room = window.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match source.read(&mut window[..room]) {
                Ok(0) => break,
                Ok(count) => {
                    self.append(&mut bytes, &window[..count])?;
                    // Who gives much at once is asked for more.
                    if count == window.len() && count < AT_ONCE {
                        window.resize(2 * count, 0);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(bytes)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(meter) = &self.meter {
            meter.release(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_while_it_is_held() {
        let meter = Meter::new(Some(100_000));
        let column = meter.adopt(vec![0u8; 30_000]);
        let mut hold = Hold::under(Some(&meter));
        let mut vector: Vec<i64> = Vec::new();
        for element in 0..8_750 {
            hold.push(&mut vector, element).unwrap();
        }
        assert_eq!(hold.push(&mut vector, 0), Err(Failure::OutOfMemory { bytes: 8 }));
        assert!(meter.admit(1).is_err() && Hold::under(Some(&meter)).push(&mut Vec::new(), 0u8).is_err());
        drop(column);
        hold.push(&mut vector, 0).unwrap();
        drop((hold, vector));
        assert!(meter.admit(100_000).is_ok() && meter.admit(100_001).is_err());
    }

    #[test]
    fn an_endless_source_ends_at_the_limit() {
        let meter = Meter::new(Some(10 << 20));
        let read = |most: u64| {
            let mut hold = Hold::under(Some(&meter));
            hold.read(&mut io::repeat(7), most, || Ok(()), |_| Failure::Interrupted).map(|bytes| bytes.len())
        };
        assert_eq!(read(9 << 20), Ok(9 << 20));
        assert!(matches!(read(u64::MAX), Err(Failure::OutOfMemory { .. })));
        assert_eq!(read(0), Ok(0));
        assert!(meter.admit(10 << 20).is_ok());
        // Impossible sizes are failures, too.
        assert!(Hold::default().fill(&mut Vec::<i64>::new(), usize::MAX).is_err());
    }
}
