//! Where the extreme element of several is: the first of the least or of the greatest ones, or the first NaN if there
//! is one.
//!
//! What `minimum` and `maximum` do says all of it: an element takes the place of those before it where it changes what
//! they are combined to. So parts can be put together in their order, whatever they are parts of.

use crate::table::MonoidVisitor;
use crate::{Element, ScalarOp, ScalarValue};

/// The index where there are no elements.
pub const NOWHERE: i64 = i64::MAX;

/// How many elements are combined before it is looked where among them one has taken the place of those before.
const BLOCK: usize = 256;

/// Elements combined at the same time.
const LANES: usize = 16;

/// The extreme one of some elements, and where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extreme<T> {
    /// The element; the identity of the operation if there are none.
    pub value: T,
    /// Its index, or [`NOWHERE`].
    pub index: i64,
}

impl<T: Copy> Extreme<T> {
    /// That of no elements.
    pub fn none(identity: T) -> Extreme<T> {
        Extreme { value: identity, index: NOWHERE }
    }

    /// The same with indices that count from another one.
    pub fn from(self, first: usize) -> Extreme<T> {
        let index = if self.index == NOWHERE { NOWHERE } else { first as i64 + self.index };
        Extreme { index, ..self }
    }
}

impl<T: Element> Extreme<T> {
    /// That of these elements and of those that come after them, by the operation that chooses one of two.
    #[inline(always)]
    pub fn then(self, combine: impl Fn(T, T) -> T, later: Extreme<T>) -> Extreme<T> {
        if self.index == NOWHERE || is_replaced(combine, self.value, later.value) { later } else { self }
    }
}

impl Extreme<ScalarValue> {
    /// The same of tagged values.
    pub fn then_by(self, op: ScalarOp, later: Extreme<ScalarValue>) -> Extreme<ScalarValue> {
        op.visit_monoid(Then { before: self, later })
    }
}

/// Puts two parts together.
struct Then {
    before: Extreme<ScalarValue>,
    later: Extreme<ScalarValue>,
}

impl MonoidVisitor for Then {
    type Output = Extreme<ScalarValue>;

    fn exact<T: Element>(self, _: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static) -> Self::Output {
        let of = |Extreme { value, index }: Extreme<ScalarValue>| Extreme { value: T::from_value(value), index };
        let Extreme { value, index } = of(self.before).then(combine, of(self.later));
        Extreme { value: value.to_value(), index }
    }

    fn ordered(self, _: f64, _: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Self::Output {
        unreachable!("a sum is nowhere: the verifier excludes that")
    }
}

/// Whether an element takes the place of the extreme one of those before it.
#[inline(always)]
#[expect(clippy::eq_op, reason = "a NaN is unequal to itself")]
fn is_replaced<T: Element>(combine: impl Fn(T, T) -> T, before: T, element: T) -> bool {
    before == before && combine(before, element) != before
}

/// The extreme one of some elements, by the operation that chooses one of two, and its identity.
#[inline(always)]
pub fn extreme<T: Element>(identity: T, combine: impl Fn(T, T) -> T + Copy, elements: &[T]) -> Extreme<T> {
    let mut found = Extreme::none(identity);
    for (number, block) in elements.chunks(BLOCK).enumerate() {
        let value = combined(identity, combine, block);
        let is_first = found.index == NOWHERE;
        if is_first || is_replaced(combine, found.value, value) {
            let all = block.iter().zip(0..).map(|(&value, index)| Extreme { value, index }.from(number * BLOCK));
            found = all.fold(found, |found, one| found.then(combine, one));
        }
    }
    found
}

/// Elements combined by an operation that may combine them in any order.
#[inline(always)]
fn combined<T: Copy>(identity: T, combine: impl Fn(T, T) -> T + Copy, elements: &[T]) -> T {
    let mut lanes = [identity; LANES];
    let rows = elements.chunks_exact(LANES);
    let rest = rows.remainder();
    for row in rows {
        lanes.iter_mut().zip(row).for_each(|(lane, &element)| *lane = combine(*lane, element));
    }
    lanes.iter().chain(rest).fold(identity, |before, &element| combine(before, element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning;

    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;

    /// The index of the first least float, or of the first NaN.
    fn least(floats: &[f64]) -> i64 {
        extreme(INF, meaning::minimum, floats).index
    }

    #[test]
    fn the_first_of_equals_and_of_nans_is_found() {
        let greatest = |floats: &[f64]| extreme(-INF, meaning::maximum, floats).index;
        assert_eq!((least(&[]), greatest(&[])), (NOWHERE, NOWHERE));
        assert_eq!((least(&[INF, INF]), greatest(&[-INF, -INF])), (0, 0));
        assert_eq!((least(&[0.0, -0.0]), greatest(&[-0.0, 0.0])), (0, 0));
        assert_eq!((least(&[1.0, -INF, NAN, NAN]), greatest(&[NAN, INF])), (2, 0));
        assert_eq!(extreme(i64::MAX, i64::min, &[i64::MAX; 3]).index, 0);
        assert_eq!(extreme(i64::MIN, i64::max, &[i64::MIN, 7, 7]).index, 1);
    }

    #[test]
    fn blocks_make_no_difference() {
        let floats: Vec<f64> = (0..1000).map(|index| f64::from((index * 7919 + 13) % 1000)).collect();
        for length in [0, 1, 15, 16, 17, 255, 256, 257, 512, 1000] {
            for nan in [None, Some(0), Some(256), Some(700)] {
                let mut floats = floats[..length].to_vec();
                let nan = nan.filter(|&nan| nan < length);
                nan.into_iter().for_each(|nan| floats[nan] = NAN);
                let smallest = (0..length).min_by(|&one, &other| floats[one].total_cmp(&floats[other]));
                assert_eq!(least(&floats), nan.or(smallest).map_or(NOWHERE, |index| index as i64), "{length} {nan:?}");
            }
        }
    }

    #[test]
    fn parts_are_put_together_in_their_order() {
        let floats = [3.0, 1.0, 2.0, 1.0, NAN, 0.0, NAN];
        for end in 0..=floats.len() {
            for cut in 0..=end {
                let part = |from: usize, to: usize| extreme(INF, meaning::minimum, &floats[from..to]).from(from);
                let both = part(0, cut).then(meaning::minimum, part(cut, end));
                assert_eq!(both.index, least(&floats[..end]), "{cut} {end}");
            }
        }
    }
}
