//! Segment descriptors of one process: how a column is cut into segments.
//!
//! The only place where local descriptors are made and taken apart; both local engines share it. A descriptor is
//! immutable and cheap to clone. What can be derived from its lengths (where segments lie in packed order, how many
//! elements there are in all) is computed once, when somebody first asks. Where all segments are equally long, their
//! lengths, and starts that go up evenly, are not even in memory until somebody needs a column of them.

use crate::data::buffer::Meter;
use crate::data::lazy_ints::LazyInts;
use crate::data::vector::Vector;
use nesl_native::Ints;
use nesl_prim::Failure;
use nesl_prim::MOST_ELEMENTS;
use std::sync::{Arc, OnceLock};

/// Where segments start that are equally long.
#[derive(Clone, Debug)]
pub enum RegularStarts<C> {
    /// One after another: together they cover their data.
    Packed,
    /// The first here, each by a stride behind the one before, which may be any.
    Even {
        /// Where the first starts.
        first: i64,
        /// By how much further each next one does.
        stride: i64,
    },
    /// Where a column of ints says.
    At(C),
}

/// How a column is cut into segments.
#[derive(Clone, Debug)]
pub struct Descriptor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    meter: Arc<Meter>,
    lengths: LazyInts,
    /// Where the segments of a view start; none for a packed descriptor, whose segments start at its offsets.
    starts: Option<LazyInts>,
    offsets: OnceLock<Vector>,
    total: OnceLock<usize>,
}

impl Descriptor {
    /// Segments of these lengths, none negative, one after another: together they cover their data.
    ///
    /// # Panics
    /// If the lengths are not ints.
    pub fn packed(meter: &Arc<Meter>, lengths: Vector) -> Descriptor {
        Descriptor::new(meter, None, LazyInts::of(lengths))
    }

    /// Segment j is the `lengths[j]` elements from `starts[j]` on, in any order, overlapping or not.
    ///
    /// # Panics
    /// If starts and lengths are not equally many ints.
    pub fn view(meter: &Arc<Meter>, starts: Vector, lengths: Vector) -> Descriptor {
        let (left, right) = (starts.elements::<i64>().len(), lengths.len());
        assert_eq!(left, right, "a view of {left} starts and {right} lengths");
        Descriptor::new(meter, Some(LazyInts::of(starts)), LazyInts::of(lengths))
    }

    /// So many segments, all of one length, that are nowhere in memory: where they start may not be either.
    ///
    /// # Panics
    /// If there are not as many starts.
    pub fn regular(meter: &Arc<Meter>, starts: RegularStarts<Vector>, length: usize, count: usize) -> Descriptor {
        let starts = match starts {
            RegularStarts::Packed => None,
            RegularStarts::Even { first, stride } => Some(LazyInts::progression(first, stride, count)),
            RegularStarts::At(starts) => {
                assert_eq!(starts.elements::<i64>().len(), count, "as many starts as segments");
                Some(LazyInts::of(starts))
            }
        };
        Descriptor::new(meter, starts, LazyInts::progression(length as i64, 0, count))
    }

    fn new(meter: &Arc<Meter>, starts: Option<LazyInts>, lengths: LazyInts) -> Descriptor {
        debug_assert!(
            match &lengths {
                LazyInts::Column(lengths) => lengths.elements::<i64>().iter().all(|&length| length >= 0),
                LazyInts::Progression { first, .. } => *first >= 0,
            },
            "a segment of negative length"
        );
        let (offsets, total) = (OnceLock::new(), OnceLock::new());
        Descriptor(Arc::new(Inner { meter: Arc::clone(meter), lengths, starts, offsets, total }))
    }

    /// Whether the segments lie one after another and cover their data. A view that happens to is still a view.
    pub fn is_packed(&self) -> bool {
        self.0.starts.is_none()
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.0.lengths.len()
    }

    /// The length of each segment.
    pub fn lengths(&self) -> Ints<'_> {
        self.0.lengths.ints()
    }

    /// The lengths as a column.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`], if they are not in memory.
    pub fn lengths_vector(&self) -> Result<&Vector, Failure> {
        self.0.lengths.made(&self.0.meter)
    }

    /// Where each segment starts in the data.
    ///
    /// # Errors
    /// Those of [`Descriptor::offsets`], if the descriptor is packed.
    pub fn starts(&self) -> Result<Ints<'_>, Failure> {
        match &self.0.starts {
            Some(starts) => Ok(starts.ints()),
            None => self.offsets(),
        }
    }

    /// The starts as a column.
    ///
    /// # Errors
    /// Those of [`Descriptor::offsets_vector`], if the descriptor is packed; [`Failure::OutOfMemory`], if they are not
    /// in memory.
    pub fn starts_vector(&self) -> Result<&Vector, Failure> {
        match &self.0.starts {
            Some(starts) => starts.made(&self.0.meter),
            None => self.offsets_vector(),
        }
    }

    /// Where each segment starts in packed order: the exclusive sums of the lengths.
    ///
    /// # Errors
    /// Those of [`Descriptor::offsets_vector`].
    pub fn offsets(&self) -> Result<Ints<'_>, Failure> {
        match self.0.lengths.constant() {
            Some(length) => {
                self.total()?;
                Ok(Ints::progression(&0, length, self.segments()))
            }
            None => Ok(Ints::column(self.offsets_vector()?.elements())),
        }
    }

    /// The offsets as a column, computed once and counted then.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`], also where the lengths add up to more elements than any memory holds.
    pub fn offsets_vector(&self) -> Result<&Vector, Failure> {
        if let Some(offsets) = self.0.offsets.get() {
            return Ok(offsets);
        }
        let mut offsets = self.0.meter.room(self.segments())?;
        let mut next = 0i64;
        for length in self.lengths().iter() {
            offsets.push(next);
            next = next.checked_add(length).ok_or(TOO_LONG)?;
        }
        // Of two threads that get here at once, one's result is kept; they are equal.
        Ok(self.0.offsets.get_or_init(|| Vector::new(&self.0.meter, offsets)))
    }

    /// The sum of the lengths, computed once.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] if it is more elements than any memory holds.
    pub fn total(&self) -> Result<usize, Failure> {
        self.total_by(sum)
    }

    /// The same, by a way to add up lengths that are in memory: none where their sum is no int.
    ///
    /// # Errors
    /// As [`Descriptor::total`].
    pub fn total_by(&self, sum: impl FnOnce(&[i64]) -> Option<i64>) -> Result<usize, Failure> {
        if let Some(&total) = self.0.total.get() {
            return Ok(total);
        }
        let total = match &self.0.lengths {
            LazyInts::Column(lengths) => sum(lengths.elements()),
            LazyInts::Progression { first, count, .. } => {
                i64::try_from(*count).ok().and_then(|count| first.checked_mul(count))
            }
        };
        let total = total.filter(|&total| total <= MOST_ELEMENTS).ok_or(TOO_LONG)?;
        let total = usize::try_from(total).map_err(|_| TOO_LONG)?;
        Ok(*self.0.total.get_or_init(|| total))
    }

    /// Start and length of each segment, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let starts = self.0.starts.as_ref().map(LazyInts::ints);
        let mut next = 0usize;
        self.lengths().iter().enumerate().map(move |(segment, length)| {
            let start = starts.map_or(next, |starts| starts.at(segment) as usize);
            let length = length as usize;
            next = next.wrapping_add(length);
            (start, length)
        })
    }

    /// The segment that holds an element, and its position there, both in packed order: where to start work that is cut
    /// by elements rather than by segments. The number of segments if there is no such element.
    ///
    /// # Errors
    /// Those of [`Descriptor::offsets_vector`].
    pub fn locate(&self, element: usize) -> Result<(usize, usize), Failure> {
        if element >= self.total()? {
            return Ok((self.segments(), 0));
        }
        if let Some(length) = self.0.lengths.constant() {
            // There is an element, so that segments have some.
            return Ok((element / length as usize, element % length as usize));
        }
        let offsets: &[i64] = self.offsets_vector()?.elements();
        // The last segment that starts at or before the element: those before it that start there too are empty.
        let segment = offsets.partition_point(|&offset| offset as usize <= element) - 1;
        Ok((segment, element - offsets[segment] as usize))
    }
}

/// The sum of lengths, none of them negative; none where it is no int.
pub fn sum(lengths: &[i64]) -> Option<i64> {
    // So many lengths below 2^48 cannot add up to too much: no sum has to be looked at, so that several are added at
    // once.
    lengths.chunks(1 << 14).try_fold(0i64, |before, chunk| {
        let (sum, bits) =
            chunk.iter().fold((0i64, 0), |(sum, bits), &length| (sum.wrapping_add(length), bits | length));
        let exact = || chunk.iter().try_fold(0i64, |sum, &length| sum.checked_add(length));
        before.checked_add(if bits < 1 << 48 { sum } else { exact()? })
    })
}

/// Lengths that add up to more than any sequence has.
const TOO_LONG: Failure = Failure::OutOfMemory { bytes: u64::MAX };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::counters::Counters;

    fn ints(meter: &Arc<Meter>, elements: &[i64]) -> Vector {
        Vector::new(meter, elements.to_vec())
    }

    fn all(ints: Result<Ints<'_>, Failure>) -> Result<Vec<i64>, Failure> {
        ints.map(|ints| ints.iter().collect())
    }

    #[test]
    fn packed_segments_start_where_the_previous_end() {
        let meter = Meter::new(None);
        let descriptor = Descriptor::packed(&meter, ints(&meter, &[2, 0, 3, 0]));
        assert!(descriptor.is_packed());
        assert_eq!((descriptor.segments(), descriptor.total()), (4, Ok(5)));
        assert_eq!(all(descriptor.starts()), Ok(vec![0, 2, 2, 5]));
        assert_eq!(descriptor.iter().collect::<Vec<_>>(), [(0, 2), (2, 0), (2, 3), (5, 0)]);
        let located: Vec<_> = (0..6).map(|element| descriptor.locate(element).unwrap()).collect();
        assert_eq!(located, [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (4, 0)]);
    }

    #[test]
    fn views_start_anywhere_and_have_packed_offsets() {
        let meter = Meter::new(None);
        let descriptor = Descriptor::view(&meter, ints(&meter, &[3, 0, 3]), ints(&meter, &[2, 4, 1]));
        assert!(!descriptor.is_packed());
        assert_eq!(all(descriptor.starts()), Ok(vec![3, 0, 3]));
        assert_eq!(all(descriptor.offsets()), Ok(vec![0, 2, 6]));
        assert_eq!(descriptor.iter().collect::<Vec<_>>(), [(3, 2), (0, 4), (3, 1)]);
        assert_eq!(descriptor.locate(5), Ok((1, 3)));
    }

    #[test]
    fn offsets_are_counted_once_and_only_when_asked_for() {
        let meter = Meter::new(None);
        let descriptor = Descriptor::packed(&meter, ints(&meter, &[1; 8]));
        let elements = || {
            let mut counters = Counters::default();
            meter.report(&mut counters);
            counters.elements
        };
        assert_eq!((descriptor.total(), elements()), (Ok(8), 8));
        descriptor.starts().unwrap();
        descriptor.clone().offsets().unwrap();
        assert_eq!(elements(), 16);
    }

    #[test]
    fn equally_long_segments_are_in_memory_only_as_columns() {
        let meter = Meter::new(None);
        let elements = || {
            let mut counters = Counters::default();
            meter.report(&mut counters);
            counters.elements
        };
        let rows = Descriptor::regular(&meter, RegularStarts::Packed, 3, 4);
        assert!(rows.is_packed());
        assert_eq!((rows.segments(), rows.total()), (4, Ok(12)));
        assert_eq!(all(rows.starts()), Ok(vec![0, 3, 6, 9]));
        assert_eq!((rows.locate(7), rows.locate(12)), (Ok((2, 1)), Ok((4, 0))));
        let windows = Descriptor::regular(&meter, RegularStarts::Even { first: 1, stride: 2 }, 3, 2);
        assert!(!windows.is_packed());
        assert_eq!(windows.iter().collect::<Vec<_>>(), [(1, 3), (3, 3)]);
        assert_eq!((all(windows.starts()), all(windows.offsets())), (Ok(vec![1, 3]), Ok(vec![0, 3])));
        assert_eq!(elements(), 0);
        let column = |column: Result<&Vector, Failure>| column.map(|column| column.elements::<i64>().to_vec());
        assert_eq!(
            (column(rows.lengths_vector()), column(rows.starts_vector())),
            (Ok(vec![3; 4]), Ok(vec![0, 3, 6, 9]))
        );
        assert_eq!(
            (column(windows.starts_vector()), column(windows.starts_vector())),
            (Ok(vec![1, 3]), Ok(vec![1, 3]))
        );
        // Whoever makes another one of such lengths knows that.
        let lengths = || rows.lengths_vector().unwrap().clone();
        let view = Descriptor::view(&meter, ints(&meter, &[7, 0, 9, 1]), lengths());
        assert_eq!(view.lengths().identity(), rows.lengths().identity());
        assert_eq!(Descriptor::packed(&meter, lengths().slice(1, 2)).total(), Ok(6));
        assert_eq!(elements(), 14);
        let blocks = Descriptor::regular(&meter, RegularStarts::At(ints(&meter, &[5, 0])), 2, 2);
        assert_eq!((blocks.is_packed(), all(blocks.starts()), blocks.total()), (false, Ok(vec![5, 0]), Ok(4)));
    }

    #[test]
    fn too_many_elements_of_equally_long_segments() {
        let meter = Meter::new(None);
        let regular = |length, count| Descriptor::regular(&meter, RegularStarts::Packed, length, count);
        let most = MOST_ELEMENTS as usize;
        assert_eq!(
            (regular(most, 1).total(), regular(1, most).total(), regular(0, most).total()),
            (Ok(most), Ok(most), Ok(0))
        );
        assert_eq!((regular(most, 2).total(), regular(most, most).total()), (Err(TOO_LONG), Err(TOO_LONG)));
        assert_eq!(all(regular(most, most).offsets()), Err(TOO_LONG));
        assert_eq!((regular(most, 0).total(), regular(most, 0).locate(0)), (Ok(0), Ok((0, 0))));
    }

    #[test]
    fn no_segments_and_too_many_elements() {
        let meter = Meter::new(None);
        let none = Descriptor::packed(&meter, ints(&meter, &[]));
        assert_eq!((none.segments(), none.total(), none.locate(0)), (0, Ok(0), Ok((0, 0))));
        let huge = Descriptor::view(&meter, ints(&meter, &[0, 0]), ints(&meter, &[i64::MAX, i64::MAX]));
        assert_eq!(huge.total(), Err(TOO_LONG));
        assert_eq!((sum(&[1 << 62, (1 << 62) - 1]), sum(&[1 << 62, 1 << 62])), (Some(i64::MAX), None));
        assert_eq!((sum(&[3; 40_000]), sum(&[1 << 48; 1 << 15])), (Some(120_000), None));
        assert_eq!(all(huge.offsets()), Err(TOO_LONG));
    }
}
