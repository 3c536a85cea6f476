//! Axes: from numbers to places on the paper, and the numbers that stand beside them.

/// Numbers beyond this are drawn as if they were this: twice as far is still a number.
const FARTHEST: f64 = 4e307;

/// A range of numbers along a length.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// The range of the finite numbers, with some room at both ends.
    pub fn around(values: impl Iterator<Item = f64>, room: f64) -> Scale {
        let Scale { low, high } = Scale::of(values);
        let more = (high - low) * room;
        Scale { low: low - more, high: high + more }
    }

    /// The range of the finite numbers; one around a single number, and 0 to 1 of none.
    pub fn of(values: impl Iterator<Item = f64>) -> Scale {
        let finite = values.filter(|value| value.is_finite()).map(|value| value.clamp(-FARTHEST, FARTHEST));
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Scale { low: 0.0, high: 1.0 };
        }
        // What differs only in its last digits is one number.
        let least = low.abs().max(high.abs()) * 1e-12;
        if high - low <= least || high == low {
            let around = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            return Scale { low: low - around, high: high + around };
        }
        Scale { low, high }
    }

    /// The range of the finite numbers and 0, with some room at the ends that are not 0.
    pub fn from_zero(values: impl Iterator<Item = f64>, room: f64) -> Scale {
        let Scale { low, high } = Scale::of(values.chain([0.0]));
        let more = (high - low) * room;
        let end = |end: f64, more: f64| if end == 0.0 { end } else { end + more };
        Scale { low: end(low, -more), high: end(high, more) }
    }

    /// Where a number lies: 0 at the low end, 1 at the high end; what is far beyond, such as infinity, a little beyond.
    pub fn part(self, value: f64) -> f64 {
        ((value.clamp(-FARTHEST, FARTHEST) - self.low) / (self.high - self.low)).clamp(-1.0, 2.0)
    }

    /// Round numbers in the range, about so many, with their texts.
    pub fn ticks(self, wanted: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powi(rough.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        if !(step.is_normal() && (self.low / step).is_finite()) {
            return Vec::new();
        }
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        let count = (last - first).clamp(-1.0, 4.0 * wanted as f64) as i64;
        let values: Vec<f64> = (0..=count).map(|index| (first + index as f64) * step).collect();
        let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let digits = |unit: f64| (unit.log10().floor() - (step * 1.000_001).log10().floor()).max(0.0) as usize;
        let text = |value: f64| match largest {
            _ if value.abs() < step / 2.0 => "0".to_owned(),
            large if !(1e-3..1e6).contains(&large) => format!("{value:.*e}", digits(value.abs() * 1.000_001)),
            _ => format!("{value:.*}", digits(1.0)),
        };
        values.into_iter().map(|value| (value, text(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> String {
        let ticks = Scale::of([low, high].into_iter()).ticks(5);
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers_in_the_range() {
        assert_eq!(texts(0.0, 1.0), "0.0 0.2 0.4 0.6 0.8 1.0".replace("0.0", "0"));
        assert_eq!(texts(-1.0, 1.0), "-1.0 -0.5 0 0.5 1.0");
        assert_eq!(texts(0.0, 100.0), "0 20 40 60 80 100");
        assert_eq!(texts(3.0, 4.1), "3.0 3.5 4.0");
        assert_eq!(texts(0.0, 5e9), "0 1e9 2e9 3e9 4e9 5e9");
        assert_eq!(texts(0.0, 1.3e-7), "0 5e-8 1.0e-7");
        assert_eq!(texts(1e6, 1.5e6), "1.0e6 1.1e6 1.2e6 1.3e6 1.4e6 1.5e6");
    }

    #[test]
    fn every_range_has_a_scale() {
        for values in
            [vec![], vec![f64::NAN], vec![0.0], vec![-3.0], vec![1e308, -1e308], vec![5e-324, 0.0], vec![1e300]]
        {
            let scale = Scale::around(values.iter().copied(), 0.05);
            assert!(scale.low < scale.high && (scale.high - scale.low).is_finite(), "{values:?}: {scale:?}");
            assert!(scale.ticks(5).len() < 25, "{values:?}");
            for value in values.into_iter().filter(|value| !value.is_nan()) {
                assert!((0.0..=1.0).contains(&scale.part(value)), "{value}: {scale:?}");
            }
        }
    }
}
