//! The total order of scalars that ranks follow.

use crate::value::{Element, ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};

/// Which end of the order comes first. Equal elements keep their order either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// The least element.
    Up,
    /// The greatest element.
    Down,
}

impl Direction {
    /// As mnemonics end in it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }

    /// An int for each element of a type: the smaller it is, the earlier the element comes.
    ///
    /// Floats are in the order of [`f64::total_cmp`], which puts -0.0 before 0.0; but every NaN comes after infinity,
    /// because the sign of one depends on how it was computed.
    pub fn key<T: Element>(self, element: T) -> i64 {
        let key = match element.to_value() {
            ScalarValue::Int(value) => value,
            ScalarValue::Float(value) => {
                let bits = if value.is_nan() { f64::NAN.abs() } else { value }.to_bits() as i64;
                // Of negative floats those with larger bits are smaller.
                bits ^ (((bits >> 63) as u64) >> 1) as i64
            }
            ScalarValue::Bool(value) => i64::from(value),
            ScalarValue::Char(value) => i64::from(value),
        };
        self.turned(key)
    }

    /// The element with this key; of NaNs, the positive one.
    pub fn element<T: Element>(self, key: i64) -> T {
        let key = self.turned(key);
        let bits = if T::TYPE == ScalarType::Float { key ^ (((key >> 63) as u64) >> 1) as i64 } else { key };
        T::from_word(bits as u64)
    }

    fn turned(self, key: i64) -> i64 {
        match self {
            Direction::Up => key,
            Direction::Down => !key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_floats_totally() {
        let ascending = [f64::NEG_INFINITY, -1e300, -1.5, -1e-310, -0.0, 0.0, 1e-310, 2.0, f64::INFINITY, f64::NAN];
        for pair in ascending.windows(2) {
            assert!(Direction::Up.key(pair[0]) < Direction::Up.key(pair[1]), "{pair:?}");
            assert!(Direction::Down.key(pair[0]) > Direction::Down.key(pair[1]), "{pair:?}");
        }
        assert_eq!(Direction::Up.key(f64::NAN), Direction::Up.key(-f64::NAN));
    }

    #[test]
    fn keys_say_what_the_element_is() {
        fn check<T: Element>(elements: &[T]) {
            for direction in [Direction::Up, Direction::Down] {
                for &element in elements {
                    let found: T = direction.element(direction.key(element));
                    assert_eq!(found.to_value(), element.to_value());
                }
            }
        }
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-310, f64::INFINITY, f64::NAN, -f64::NAN]);
        check(&[false, true]);
        check(&[0u8, 127, 128, 255]);
    }

    #[test]
    fn keys_order_the_other_types() {
        let down = |value: i64| Direction::Down.key(value);
        assert!(down(i64::MAX) < down(0) && down(0) < down(-1) && down(-1) < down(i64::MIN));
        assert!(
            Direction::Up.key(b'a') < Direction::Up.key(200u8) && Direction::Up.key(false) < Direction::Up.key(true)
        );
    }
}
