//! Random columns and descriptors from a seed.

use super::column;
use nesl_backend::{Descriptor, Meter};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_vcode::Constants;

/// A generator: SplitMix64.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// A value: mostly one on which most operations succeed, and one in `odd` from the edges of its type.
    pub fn value(&mut self, scalar_type: ScalarType, odd: usize) -> ScalarValue {
        let edge = self.below(odd) == 0;
        match scalar_type {
            ScalarType::Int if edge => {
                ScalarValue::Int([0, -1, i64::MIN, i64::MAX, 64, 300, self.bits() as i64][self.below(7)])
            }
            ScalarType::Int => ScalarValue::Int(1 + self.below(50) as i64),
            ScalarType::Float if edge => ScalarValue::Float(
                [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e-300][self.below(7)],
            ),
            // Of very different sizes, so that the order of additions shows.
            ScalarType::Float => {
                ScalarValue::Float((self.below(2000) as f64 - 700.0) * 10f64.powi(self.below(30) as i32 - 15) / 3.0)
            }
            ScalarType::Bool => ScalarValue::Bool(self.below(2) == 0),
            ScalarType::Char => ScalarValue::Char(self.bits() as u8),
        }
    }

    /// A column of values.
    pub fn constants(&mut self, scalar_type: ScalarType, length: usize, odd: usize) -> Constants {
        let values: Vec<_> = (0..length).map(|_| self.value(scalar_type, odd)).collect();
        Constants::from_scalars(scalar_type, &values)
    }

    /// Indices of a column of `length` elements.
    pub fn indices(&mut self, count: usize, length: usize) -> Constants {
        Constants::Int((0..count).map(|_| self.below(length) as i64).collect())
    }

    /// A permutation.
    pub fn permutation(&mut self, length: usize) -> Vec<i64> {
        let mut permutation: Vec<i64> = (0..length as i64).collect();
        for last in (1..length).rev() {
            permutation.swap(last, self.below(last + 1));
        }
        permutation
    }

    /// Lengths of segments in different styles that add up to about `total`.
    pub fn lengths(&mut self, style: Style, total: usize) -> Vec<i64> {
        let (mut lengths, mut sum) = (Vec::new(), 0);
        match style {
            Style::Nothing => vec![],
            Style::Empty => vec![0; total],
            Style::One => vec![total as i64],
            Style::Huge => {
                // One huge segment among tiny ones.
                lengths = self.lengths(Style::Tiny, total / 10);
                let place = self.below(lengths.len() + 1);
                lengths.insert(place, (total - total / 10) as i64);
                lengths
            }
            Style::Tiny | Style::Middle | Style::Skewed => {
                while sum < total {
                    let length = match style {
                        Style::Tiny => self.below(4),
                        Style::Middle => self.below(3000),
                        _ => 1 << self.below(18).min(self.below(18)),
                    };
                    sum += length.max(1);
                    lengths.push(length as i64);
                }
                lengths
            }
        }
    }

    /// A descriptor, and how many elements its data must have.
    pub fn descriptor(&mut self, style: Style, total: usize, packed: bool) -> (Descriptor, usize) {
        let meter = Meter::new(None);
        let lengths = self.lengths(style, total);
        let sum = lengths.iter().sum::<i64>() as usize;
        let lengths_column = column(&Constants::Int(lengths.clone()));
        if packed {
            return (Descriptor::packed(&meter, lengths_column), sum);
        }
        // Overlapping and out of order, in data that may be smaller than the sum of the lengths.
        let data = lengths.iter().max().map_or(3, |&longest| longest as usize + 3);
        let starts = lengths.iter().map(|&length| self.below(data - length as usize + 1) as i64).collect();
        (Descriptor::view(&meter, column(&Constants::Int(starts)), lengths_column), data)
    }
}

/// Shapes of segments.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// No segment.
    Nothing,
    /// Only empty segments.
    Empty,
    /// One segment.
    One,
    /// Segments of 0 to 3 elements.
    Tiny,
    /// Segments of up to 3,000 elements.
    Middle,
    /// Powers of two, the larger the rarer.
    Skewed,
    /// A huge segment among tiny ones.
    Huge,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 7] =
        [Style::Nothing, Style::Empty, Style::One, Style::Tiny, Style::Middle, Style::Skewed, Style::Huge];
}
