//! Between which numbers the results of operations are, where their operands say so: *interval arithmetic* (Moore,
//! 1966) on the ints of this language, whose sums wrap.
//!
//! Characters and truth values count as their codes, and as 0 and 1.

use crate::{ScalarOp, ScalarType, ScalarValue};

/// Numbers from the one to the other, both among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i64,
    /// The greatest.
    pub high: i64,
}

impl Interval {
    /// All numbers.
    pub const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX };

    /// From a number to another one, which is not less.
    pub const fn new(low: i64, high: i64) -> Interval {
        Interval { low, high }
    }

    /// That of all values of a type, as ints; none of floats, and of ints nothing is known.
    pub fn of_type(ty: ScalarType) -> Option<Interval> {
        match ty {
            ScalarType::Bool => Some(Interval::new(0, 1)),
            ScalarType::Char => Some(Interval::new(0, 255)),
            ScalarType::Int | ScalarType::Float => None,
        }
    }

    /// That of one value, as an int; none of a float.
    pub fn of_value(value: ScalarValue) -> Option<Interval> {
        let number = match value {
            ScalarValue::Int(value) => value,
            ScalarValue::Char(code) => code.into(),
            ScalarValue::Bool(value) => value.into(),
            ScalarValue::Float(_) => return None,
        };
        Some(Interval::new(number, number))
    }

    /// That of some numbers; of none, nothing.
    pub fn of_numbers(numbers: &[i64]) -> Option<Interval> {
        let &first = numbers.first()?;
        // Both at once, without a branch: many at a time.
        let widened = |(low, high): (i64, i64), &number: &i64| (low.min(number), high.max(number));
        let (low, high) = numbers.iter().fold((first, first), widened);
        Some(Interval::new(low, high))
    }

    /// Whether all of it is in another one.
    pub fn is_in(self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// The least one with all of both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What both have; where they have nothing in common, nobody reads what has either.
    pub fn common(self, other: Interval) -> Interval {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Interval::new(low, high) } else { self }
    }

    /// The interval, if it says anything.
    fn known(self) -> Option<Interval> {
        (self != Interval::ALL).then_some(self)
    }

    /// That of what an operation makes of the ends, which go up or down with each operand.
    fn of_ends(self, other: Interval, combine: fn(i64, i64) -> Option<i64>) -> Option<Interval> {
        let mut all: Option<Interval> = None;
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                let end = combine(a, b)?;
                let end = Interval::new(end, end);
                all = Some(all.map_or(end, |all| all.hull(end)));
            }
        }
        all
    }

    /// That of what an operation gives, by those of its operands; none where nothing is known.
    pub fn of_operation(op: ScalarOp, of: impl Fn(usize) -> Option<Interval>) -> Option<Interval> {
        let natural = |interval: Interval| (interval.low >= 0).then_some(interval);
        match op {
            ScalarOp::AddInt => of(0)?.of_ends(of(1)?, i64::checked_add),
            ScalarOp::SubtractInt => of(0)?.of_ends(of(1)?, i64::checked_sub),
            ScalarOp::MultiplyInt => of(0)?.of_ends(of(1)?, i64::checked_mul),
            ScalarOp::NegateInt => Interval::new(0, 0).of_ends(of(0)?, i64::checked_sub),
            ScalarOp::AbsoluteInt => {
                let Interval { low, high } = of(0)?;
                let most = low.checked_neg()?.max(high);
                Some(Interval::new(if low > 0 { low } else { 0 }, most.max(0)))
            }
            // Where nothing is known of one of them, the other one still says something.
            ScalarOp::MaximumInt | ScalarOp::MaximumChar => {
                let [a, b] = [0, 1].map(|at| of(at).unwrap_or(Interval::ALL));
                Interval::new(a.low.max(b.low), a.high.max(b.high)).known()
            }
            ScalarOp::MinimumInt | ScalarOp::MinimumChar => {
                let [a, b] = [0, 1].map(|at| of(at).unwrap_or(Interval::ALL));
                Interval::new(a.low.min(b.low), a.high.min(b.high)).known()
            }
            // No more bits than a number without a sign has.
            ScalarOp::AndInt => {
                let most = [of(0), of(1)].into_iter().flatten().filter_map(natural).map(|it| it.high).min()?;
                Some(Interval::new(0, most))
            }
            ScalarOp::OrInt | ScalarOp::XorInt => {
                let most = natural(of(0)?)?.high | natural(of(1)?)?.high;
                // All bits up to the highest one.
                Some(Interval::new(0, i64::MAX.checked_shr(most.leading_zeros().checked_sub(1)?).unwrap_or(0)))
            }
            ScalarOp::DivideInt => {
                let (a, by) = (of(0)?, of(1)?.divisor()?);
                a.of_ends(Interval::new(by, by), i64::checked_div)
            }
            ScalarOp::Remainder => {
                let by = of(1)?.divisor()?.checked_abs()?;
                let Interval { low, high } = of(0).unwrap_or(Interval::ALL);
                Some(Interval::new(low.max(1 - by).min(0), high.min(by - 1).max(0)))
            }
            ScalarOp::Modulo => {
                let by = Some(of(1)?.divisor()?).filter(|&by| by > 0)?;
                let Interval { low, high } = of(0).unwrap_or(Interval::ALL);
                Some(Interval::new(0, if low < 0 { by - 1 } else { high.min(by - 1) }))
            }
            ScalarOp::SelectInt | ScalarOp::SelectChar => Some(of(1)?.hull(of(2)?)),
            ScalarOp::CharToCode => of(0),
            // A code that is none gives no character.
            ScalarOp::CodeToChar => Some(of(0).unwrap_or(Interval::ALL).common(Interval::new(0, 255))),
            ScalarOp::LowByte => of(0).filter(|number| number.is_in(0, 255)).or(Interval::of_type(ScalarType::Char)),
            ScalarOp::BoolToInt => Some(Interval::new(0, 1)),
            // What fails gives nothing.
            ScalarOp::CheckIndex => {
                let most = of(1).map_or(i64::MAX, |length| length.high.saturating_sub(1)).max(0);
                Some(of(0).unwrap_or(Interval::ALL).common(Interval::new(0, most)))
            }
            ScalarOp::CheckLength => Some(of(0).unwrap_or(Interval::ALL).common(Interval::new(0, i64::MAX))),
            other => Interval::of_type(other.row().result),
        }
    }

    /// The one number that is neither 0 nor -1, by which nothing fails.
    pub fn divisor(self) -> Option<i64> {
        (self.low == self.high && !matches!(self.low, 0 | -1)).then_some(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_wrap_around_are_not_known() {
        let most = Interval::new(0, i64::MAX);
        assert_eq!(Interval::of_operation(ScalarOp::AddInt, |_| Some(most)), None);
        assert_eq!(Interval::of_operation(ScalarOp::NegateInt, |_| Some(Interval::new(i64::MIN, 0))), None);
        assert_eq!(
            Interval::of_operation(ScalarOp::AbsoluteInt, |_| Some(Interval::new(-3, 2))),
            Some(Interval::new(0, 3))
        );
        assert_eq!(
            Interval::of_operation(ScalarOp::SubtractInt, |_| Some(most)),
            Some(Interval::new(-i64::MAX, i64::MAX))
        );
    }

    #[test]
    fn bits_reach_up_to_the_highest_one() {
        let of = |a: i64, b: i64| Interval::of_operation(ScalarOp::OrInt, |at| Some(Interval::new(0, [a, b][at])));
        assert_eq!(of(5, 2), Some(Interval::new(0, 7)));
        assert_eq!(of(0, 0), Some(Interval::new(0, 0)));
        assert_eq!(of(i64::MAX, 1), Some(Interval::new(0, i64::MAX)));
        assert_eq!(Interval::of_operation(ScalarOp::OrInt, |_| Some(Interval::new(-1, 1))), None);
    }

    #[test]
    fn what_is_masked_or_left_is_small_whatever_it_was() {
        let of = |op, by| Interval::of_operation(op, |at| [None, Some(Interval::new(by, by))][at]);
        assert_eq!(of(ScalarOp::AndInt, 255), Some(Interval::new(0, 255)));
        assert_eq!(of(ScalarOp::AndInt, -2), None);
        assert_eq!(of(ScalarOp::Modulo, 10), Some(Interval::new(0, 9)));
        assert_eq!(of(ScalarOp::Modulo, -10), None);
        assert_eq!(of(ScalarOp::Remainder, -10), Some(Interval::new(-9, 9)));
        assert_eq!(of(ScalarOp::Remainder, i64::MIN), None);
    }

    #[test]
    fn results_are_between_the_numbers_that_are_said() {
        let ops = [
            ScalarOp::AddInt,
            ScalarOp::SubtractInt,
            ScalarOp::MultiplyInt,
            ScalarOp::MinimumInt,
            ScalarOp::MaximumInt,
            ScalarOp::DivideInt,
            ScalarOp::Modulo,
            ScalarOp::Remainder,
            ScalarOp::AndInt,
            ScalarOp::OrInt,
            ScalarOp::XorInt,
            ScalarOp::CheckIndex,
        ];
        let ends = [i64::MIN, -7, -1, 0, 1, 3, 12, i64::MAX];
        let pairs = ends.iter().flat_map(|&low| ends.iter().map(move |&high| (low, high)));
        let mut intervals: Vec<Option<Interval>> =
            pairs.filter(|(low, high)| low <= high).map(|(low, high)| Some(Interval::new(low, high))).collect();
        intervals.push(None);
        let inside = |interval: Option<Interval>| {
            let Interval { low, high } = interval.unwrap_or(Interval::ALL);
            [low, high, low.saturating_add(1).min(high), high.saturating_sub(1).max(low)]
        };
        for op in ops {
            for &left in &intervals {
                for &right in &intervals {
                    let said = Interval::of_operation(op, |at| [left, right][at]);
                    for (a, b) in inside(left).into_iter().flat_map(|a| inside(right).map(|b| (a, b))) {
                        let result = crate::eval(op, &[a, b].map(ScalarValue::Int));
                        if let (Some(said), Ok(ScalarValue::Int(result))) = (said, result) {
                            assert!(Interval::new(result, result).is_in(said.low, said.high), "{op} {a} {b}: {said:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn quotients_and_remainders_have_the_signs_they_should() {
        let of = |op, low, high, by| {
            Interval::of_operation(op, |at| Some([Interval::new(low, high), Interval::new(by, by)][at]))
        };
        assert_eq!(of(ScalarOp::Remainder, 3, 28, 26), Some(Interval::new(0, 25)));
        assert_eq!(of(ScalarOp::Remainder, -94, 4, -26), Some(Interval::new(-25, 4)));
        assert_eq!(of(ScalarOp::Modulo, -1, 4, 26), Some(Interval::new(0, 25)));
        assert_eq!(of(ScalarOp::DivideInt, -100, 255, 10), Some(Interval::new(-10, 25)));
        assert_eq!(of(ScalarOp::DivideInt, 0, 255, 0), None);
        assert_eq!(of(ScalarOp::Remainder, 0, 255, -1), None);
    }
}
