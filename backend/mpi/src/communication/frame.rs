//! What a message of unknown length looks like, and the buffer that it needs: see [`crate::communication::framed`].

/// The bytes of a header: what kind of message it is, and a number.
pub(crate) const HEADER: usize = 16;

/// How buffers grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Bytes of a buffer at first; at least a header for each rank.
    pub initial: usize,
    /// A buffer that is too short becomes so many times as long, or as long as is needed if that is more.
    pub factor: f64,
}

impl Default for Growth {
    /// Room for most programs of a page, and growth as of vectors.
    fn default() -> Growth {
        Growth { initial: 16 << 10, factor: 2.0 }
    }
}

impl Growth {
    /// The length of a buffer of `length` bytes that is to hold `needed`, which are more.
    pub(crate) fn grown(self, length: usize, needed: usize) -> usize {
        needed.max((length as f64 * self.factor) as usize)
    }
}

/// What a message is. The number in its header is the length of the payload, or that which buffers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A payload.
    Data,
    /// All contributions have arrived.
    Arrived,
    /// In a gather: this rank's payload does not fit its slot.
    TooLong,
    /// From the root: buffers grow. What did not fit follows, or is to be contributed again.
    Grow,
    /// From the root: buffers grow for the result of centralised processing, which follows.
    GrowForResult,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Data, Kind::Arrived, Kind::TooLong, Kind::Grow, Kind::GrowForResult];

    pub(crate) fn header(self, number: usize) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[0] = self as u8;
        header[8..].copy_from_slice(&(number as u64).to_le_bytes());
        header
    }

    /// The kind and the number of a message; none if it is not one of ours.
    pub(crate) fn of(message: &[u8]) -> Option<(Kind, usize)> {
        let number = message.get(8..HEADER)?.try_into().ok()?;
        let kind = Kind::ALL.into_iter().find(|&kind| kind as u8 == message[0])?;
        Some((kind, usize::try_from(u64::from_le_bytes(number)).ok()?))
    }
}

/// The bytes of a message that begins like this.
pub(crate) fn length_of(start: &[u8]) -> Option<usize> {
    match Kind::of(start)? {
        (Kind::Data, payload) => HEADER.checked_add(payload),
        _ => Some(HEADER),
    }
}

/// A rank's buffer. Every call is made by all ranks together, in the same order.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    pub(crate) growth: Growth,
    /// Its length is the one that all ranks know; nothing before the first message.
    pub(crate) buffer: Vec<u8>,
}

impl Managed {
    /// A buffer that has not been used yet.
    pub(crate) fn new(growth: Growth) -> Managed {
        Managed { growth, buffer: Vec::new() }
    }

    /// Bytes that all ranks know to have room for.
    pub(crate) fn room(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(&kind.header(1 << 40)), Some((kind, 1 << 40)));
        }
        assert_eq!(length_of(&Kind::Data.header(5)), Some(HEADER + 5));
        assert_eq!(length_of(&Kind::Grow.header(5)), Some(HEADER));
        assert_eq!((Kind::of(&[9; HEADER]), Kind::of(&[0; 3])), (None, None));
    }

    #[test]
    fn buffers_grow_by_their_factor_or_by_what_is_needed() {
        let growth = Growth { initial: 100, factor: 1.5 };
        assert_eq!((growth.grown(100, 101), growth.grown(100, 151)), (150, 151));
        assert_eq!(Growth { initial: 1, factor: 0.0 }.grown(10, 11), 11);
    }
}
