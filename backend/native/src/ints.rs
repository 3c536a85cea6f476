//! Ints by position that need not be in memory: those of a column, or those of an arithmetic progression.
//!
//! The starts and lengths of segments are such. Whoever reads them, in Rust or in machine code, does the same for both,
//! without a branch: element k is `elements[k & mask] + k * stride`. Of a column all bits of k are taken and the stride
//! is 0; of a progression none are, so that the first element is read each time.

/// Ints by position.
#[derive(Clone, Copy, Debug)]
pub struct Ints<'a> {
    elements: &'a [i64],
    mask: usize,
    stride: i64,
    count: usize,
}

impl<'a> Ints<'a> {
    /// Those of a column.
    pub fn column(elements: &'a [i64]) -> Ints<'a> {
        Ints { elements, mask: usize::MAX, stride: 0, count: elements.len() }
    }

    /// So many, of which the first is given and each is by a stride more than the one before, wrapping around.
    pub fn progression(first: &'a i64, stride: i64, count: usize) -> Ints<'a> {
        Ints { elements: std::slice::from_ref(first), mask: 0, stride, count }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The one at a position.
    ///
    /// # Panics
    /// If there is no such position in a column.
    pub fn at(self, position: usize) -> i64 {
        self.elements[position & self.mask].wrapping_add(self.stride.wrapping_mul(position as i64))
    }

    /// The one at a position, if there is one.
    pub fn get(self, position: usize) -> Option<i64> {
        (position < self.count).then(|| self.at(position))
    }

    /// All of them, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        (0..self.count).map(move |position| self.at(position))
    }

    /// The first and the stride of a progression.
    pub fn as_progression(self) -> Option<[i64; 2]> {
        (self.mask == 0).then(|| [self.elements[0], self.stride])
    }

    /// What all elements of a progression are, if that is one.
    pub fn as_constant(self) -> Option<i64> {
        self.as_progression().and_then(|[first, stride]| (stride == 0).then_some(first))
    }

    /// What is the same for ints that are known to be the same, without a look at all of them.
    pub fn identity(self) -> [usize; 4] {
        let place = self.as_progression().map_or(self.elements.as_ptr() as usize, |[first, _]| first as usize);
        [place, self.mask, self.stride as usize, self.count]
    }

    /// What machine code reads them by: the address of the elements, the mask and the stride.
    pub(crate) fn words(self) -> [u64; 3] {
        [self.elements.as_ptr() as u64, self.mask as u64, self.stride as u64]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_progressions_are_read_alike() {
        let column = Ints::column(&[3, 1, 4]);
        assert_eq!((column.len(), column.at(2), column.get(3)), (3, 4, None));
        let odd = Ints::progression(&1, 2, 3);
        assert_eq!(odd.iter().collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!((odd.get(2), odd.get(3)), (Some(5), None));
        let wrapping = Ints::progression(&i64::MAX, 1, 2);
        assert_eq!(wrapping.at(1), i64::MIN);
        assert!(Ints::progression(&7, 1, 0).is_empty());
        assert_eq!((odd.as_progression(), odd.as_constant()), (Some([1, 2]), None));
        assert_eq!((Ints::progression(&7, 0, 2).as_constant(), column.as_progression()), (Some(7), None));
    }

    #[test]
    fn what_is_the_same_is_known_where_it_is_at_one_place_or_a_progression() {
        let elements = [5, 5];
        let column = Ints::column(&elements);
        let [fives, more] = [2, 3].map(|count| Ints::progression(&5, 0, count));
        assert_eq!(column.identity(), Ints::column(&elements).identity());
        assert_ne!(column.identity(), fives.identity());
        assert_eq!(fives.identity(), Ints::progression(&5, 0, 2).identity());
        assert_ne!(fives.identity(), more.identity());
    }
}
