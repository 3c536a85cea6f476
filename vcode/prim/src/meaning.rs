//! The numeric decisions of nesl that Rust does not already make, each in one function.
//!
//! `int` wraps; `/` truncates; `mod` has the divisor's sign and `rem` the dividend's; `round` goes half away from zero;
//! float maximum and minimum propagate NaN and order -0.0 below 0.0, so that they are associative and commutative. All
//! are called once per element from the loops of the engines, in other crates: hence `inline`.

use crate::ScalarValue;
use crate::failure::Failure;
use crate::value::MOST_ELEMENTS;

/// `a / b`, truncated towards zero.
#[inline]
pub fn divide(a: i64, b: i64) -> Result<i64, Failure> {
    match b {
        0 => Err(Failure::DivideByZero { dividend: a }),
        -1 if a == i64::MIN => Err(Failure::QuotientOverflow),
        _ => Ok(a / b),
    }
}

/// `rem(a, b)`: the remainder with the sign of `a`. `rem(x, -1)` is 0 for every x.
#[inline]
pub fn remainder(a: i64, b: i64) -> Result<i64, Failure> {
    if b == 0 { Err(Failure::DivideByZero { dividend: a }) } else { Ok(a.wrapping_rem(b)) }
}

/// `mod(a, b)`: the remainder with the sign of `b`.
#[inline]
pub fn modulo(a: i64, b: i64) -> Result<i64, Failure> {
    let remainder = remainder(a, b)?;
    Ok(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
}

#[inline]
fn shift_count(count: i64) -> Result<u32, Failure> {
    match u32::try_from(count) {
        Ok(bits) if bits < 64 => Ok(bits),
        _ => Err(Failure::ShiftOutOfRange { count }),
    }
}

/// `lshift(a, n)`.
#[inline]
pub fn shift_left(a: i64, n: i64) -> Result<i64, Failure> {
    Ok(a << shift_count(n)?)
}

/// `rshift(a, n)`, arithmetic.
#[inline]
pub fn shift_right(a: i64, n: i64) -> Result<i64, Failure> {
    Ok(a >> shift_count(n)?)
}

/// `a ^ n` on ints, wrapping, by repeated squaring.
#[inline]
pub fn power_int(a: i64, n: i64) -> Result<i64, Failure> {
    power(1i64, a, n, i64::wrapping_mul)
}

/// `a ^ n` on floats, by repeated squaring: the same products in the same order everywhere.
#[inline]
pub fn power_float(a: f64, n: i64) -> Result<f64, Failure> {
    power(1.0f64, a, n, |x, y| x * y)
}

fn power<T: Copy>(one: T, base: T, exponent: i64, multiply: impl Fn(T, T) -> T) -> Result<T, Failure> {
    if exponent < 0 {
        return Err(Failure::NegativePower { power: exponent });
    }
    let (mut result, mut square, mut left) = (one, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(result, square);
        }
        left >>= 1;
        if left > 0 {
            square = multiply(square, square);
        }
    }
    Ok(result)
}

/// The largest int whose square is at most `a`.
#[inline]
pub fn isqrt(a: i64) -> Result<i64, Failure> {
    if a < 0 { Err(Failure::NegativeRoot { value: a }) } else { Ok(a.isqrt()) }
}

/// A float with integral value as an int.
#[inline]
pub fn to_int(x: f64) -> Result<i64, Failure> {
    // 2^63 is a float and the first value too large; -2^63 is a float and an int.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        Ok(x as i64)
    } else {
        Err(Failure::FloatToInt { value: x })
    }
}

/// IEEE 754-2019 `maximum`.
#[inline]
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_positive() { a } else { b }
    } else if a > b {
        a
    } else {
        b
    }
}

/// IEEE 754-2019 `minimum`.
#[inline]
pub fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else if a < b {
        a
    } else {
        b
    }
}

/// The character with a code.
#[inline]
pub fn code_char(code: i64) -> Result<u8, Failure> {
    u8::try_from(code).map_err(|_| Failure::NotACharacter { code })
}

/// `index` if it is a position of a sequence of `length` elements.
#[inline]
pub fn check_index(index: i64, length: i64) -> Result<i64, Failure> {
    if (0..length).contains(&index) { Ok(index) } else { Err(Failure::IndexOutOfRange { index, length }) }
}

/// Where `count` elements start in a sequence of `length` elements, if indices from `start` on are all indices of it.
/// Fails as [`check_index`] does on the first that is not. No indices need no check, and start where every sequence has
/// a place.
#[inline]
pub fn check_range(start: i64, count: i64, length: i64) -> Result<i64, Failure> {
    if count <= 0 {
        return Ok(0);
    }
    check_index(start, length)?;
    if count > length - start { Err(Failure::IndexOutOfRange { index: length, length }) } else { Ok(start) }
}

/// The common length.
#[inline]
pub fn check_lengths(left: i64, right: i64) -> Result<i64, Failure> {
    if left == right { Ok(left) } else { Err(Failure::LengthMismatch { left, right }) }
}

/// `length` if it is one.
#[inline]
pub fn check_length(length: i64) -> Result<i64, Failure> {
    if length >= 0 { Ok(length) } else { Err(Failure::NegativeLength { length }) }
}

/// The sum of two lengths as numbers without a sign, which it never leaves: what is no int is negative, so that it
/// equals no length, and stays so whatever else is added, in any order.
#[inline]
pub fn add_lengths(a: i64, b: i64) -> i64 {
    (a as u64).saturating_add(b as u64) as i64
}

/// `total`, a length or a sum of lengths that [`add_lengths`] made, if a sequence can have so many elements.
#[inline]
pub fn check_total(total: i64) -> Result<i64, Failure> {
    if (0..=MOST_ELEMENTS).contains(&total) { Ok(total) } else { Err(Failure::OutOfMemory { bytes: total as u64 }) }
}

/// `length` if the lengths of a partition, summed up by [`add_lengths`], make it.
#[inline]
pub fn check_partition(sum: i64, length: i64) -> Result<i64, Failure> {
    if sum == length { Ok(length) } else { Err(Failure::BadPartition { sum, length }) }
}

/// The number of elements of `[start:end:stride]`.
#[inline]
pub fn range_length(start: i64, end: i64, stride: i64) -> Result<i64, Failure> {
    if end < start || stride < 1 {
        return Err(Failure::BadRange { start, end, stride });
    }
    let width = end.abs_diff(start).div_ceil(stride.unsigned_abs());
    check_total(width as i64)
}

/// The length of the subsequence from `start` to `end` of a sequence of `length` elements.
#[inline]
pub fn subsequence_length(start: i64, end: i64, length: i64) -> Result<i64, Failure> {
    if 0 <= start && start <= end && end <= length {
        Ok(end - start)
    } else {
        Err(Failure::BadSubsequence { start, end, length })
    }
}

/// How many elements `take(v, count)` keeps: a negative count keeps that many from the end.
#[inline]
pub fn check_count(count: i64, length: i64) -> Result<i64, Failure> {
    match count.checked_abs() {
        Some(size) if size <= length => Ok(size),
        _ => Err(Failure::BadCount { count, length }),
    }
}

/// The first length, if sequences of these lengths can alternate: the second is as long or one shorter.
#[inline]
pub fn check_interleave(left: i64, right: i64) -> Result<i64, Failure> {
    if right == left || right.checked_add(1) == Some(left) {
        Ok(left)
    } else {
        Err(Failure::LengthMismatch { left, right })
    }
}

/// The 64-bit finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
/// 2014).
#[inline]
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed after one draw.
#[inline]
pub fn seed_next(seed: i64) -> i64 {
    seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64 as i64)
}

/// The seed of instance `index` of an apply-to-each that started with `seed`.
#[inline]
pub fn seed_split(seed: i64, index: i64) -> i64 {
    mix(mix(seed as u64) ^ mix((index as u64).wrapping_add(0x5851_f42d_4c95_7f2d))) as i64
}

/// A uniform int in `0..bound`.
#[inline]
pub fn rand_int(seed: i64, bound: i64) -> Result<i64, Failure> {
    if bound <= 0 {
        return Err(Failure::NotPositive { value: ScalarValue::Int(bound) });
    }
    Ok(((u128::from(mix(seed as u64)) * bound as u128) >> 64) as i64)
}

/// A uniform float in `0.0..bound`.
#[inline]
pub fn rand_float(seed: i64, bound: f64) -> Result<f64, Failure> {
    if bound.is_nan() || bound <= 0.0 {
        return Err(Failure::NotPositive { value: ScalarValue::Float(bound) });
    }
    let unit = (mix(seed as u64) >> 11) as f64 / (1u64 << 53) as f64;
    Ok((bound * unit).min(bound.next_down()))
}

/// The hash of an int. On all 64-bit numbers it is one-to-one.
#[inline]
pub fn hash_int(value: i64) -> i64 {
    mix(value as u64) as i64
}

/// The hash of a float: that of its bits, where equal floats have the same bits. So -0.0 hashes as 0.0; any NaN as any
/// other.
#[inline]
pub fn hash_float(value: f64) -> i64 {
    let bits = if value == 0.0 {
        0
    } else if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    };
    hash_int(bits as i64)
}

/// Two hashes in their order, or a position and the hash of what is there, mixed to one.
///
/// The hash of a pair is that of the hashes of its parts. The hash of a sequence is that of its length and the wrapping
/// sum of the hashes of each position with the element there; so it is a reduction, in any order. An element that is an
/// int, a bool or a char is its own hash there, as an int.
#[inline]
pub fn hash_pair(left: i64, right: i64) -> i64 {
    // Odd, so that the product keeps all of the first; the digits of the square root of 5, to look like no pattern.
    const ODD: u64 = 0x3c6e_f372_fe94_f82b;
    mix((left as u64).wrapping_mul(ODD) ^ right as u64) as i64
}

/// What the code of a character at a position adds to the hash of a text.
///
/// The hash of a text is that of its length and the wrapping sum of these. It is linear in the codes: four characters
/// are one number in base 256, which counts as often as [`text_key`] says, so that they can be taken at once.
#[inline]
pub fn hash_place(position: i64, code: i64) -> i64 {
    let (block, digit) = (position as u64 / 4, position & 3);
    text_key(block).wrapping_mul((code as u64) << (8 * digit)) as i64
}

/// How often the number that four characters of a text are, the first one being the last digit, counts in the hash of
/// the text. Odd, so that texts of four characters have different sums.
#[inline]
pub const fn text_key(block: u64) -> u64 {
    mix(block) | 1
}

/// A hash as an int in `0..size`: its upper bits, scaled.
#[inline]
pub fn hash_index(hash: i64, size: i64) -> Result<i64, Failure> {
    if size <= 0 {
        return Err(Failure::NotASize { size });
    }
    Ok(((u128::from(hash as u64) * size as u128) >> 64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_follow_dividend_and_divisor() {
        let pairs = [(5, 3, 2, 2), (5, -3, 2, -1), (-5, 3, -2, 1), (-5, -3, -2, -2), (6, 3, 0, 0), (-7, 2, -1, 1)];
        for (a, b, rem, modulus) in pairs {
            assert_eq!(remainder(a, b), Ok(rem), "rem({a},{b})");
            assert_eq!(modulo(a, b), Ok(modulus), "mod({a},{b})");
        }
        assert_eq!(remainder(i64::MIN, -1), Ok(0));
        assert_eq!(divide(i64::MIN, -1), Err(Failure::QuotientOverflow));
        assert_eq!(divide(-7, 2), Ok(-3));
    }

    #[test]
    fn the_range_of_ints_in_floats_is_exact() {
        assert_eq!(to_int(-9_223_372_036_854_775_808.0), Ok(i64::MIN));
        assert!(to_int(9_223_372_036_854_775_808.0).is_err());
        assert!(to_int(f64::NAN).is_err());
        assert_eq!(to_int(9_223_372_036_854_774_784.0), Ok(9_223_372_036_854_774_784));
    }

    #[test]
    fn powers_by_squaring() {
        assert_eq!(power_int(2, 10), Ok(1024));
        assert_eq!(power_int(0, 0), Ok(1));
        assert_eq!(power_int(3, 64), Ok(3i64.wrapping_pow(64)));
        assert_eq!(power_float(1.5, 3), Ok(3.375));
        assert!(power_int(2, -1).is_err());
    }

    #[test]
    fn ranges_near_the_ends_of_int_do_not_overflow() {
        assert_eq!(range_length(7, 15, 2), Ok(4));
        assert_eq!(range_length(0, 0, 1), Ok(0));
        assert_eq!(range_length(i64::MAX - 1, i64::MAX, i64::MAX), Ok(1));
        assert!(range_length(i64::MIN, i64::MAX, 1).is_err());
        assert!(range_length(5, 1, 1).is_err());
        assert_eq!(range_length(-3, MOST_ELEMENTS - 3, 1), Ok(MOST_ELEMENTS));
        assert_eq!(range_length(0, i64::MAX, 1 << 17), Ok(1 << 46));
        assert!(range_length(0, MOST_ELEMENTS + 1, 1).is_err() && range_length(0, i64::MAX, 1).is_err());
    }

    #[test]
    fn sums_of_lengths_never_come_back_to_a_length() {
        let lengths = [0, 1, 5, 1 << 61, 1 << 62, i64::MAX - 1, i64::MAX];
        for a in lengths {
            for b in lengths {
                for c in lengths {
                    let exact = a as i128 + b as i128 + c as i128;
                    let sum = add_lengths(add_lengths(a, b), c);
                    assert_eq!(sum, add_lengths(a, add_lengths(b, c)));
                    let possible = (exact <= MOST_ELEMENTS as i128).then_some(exact as i64);
                    assert_eq!(possible, check_total(sum).ok(), "{a} {b} {c}");
                    assert_eq!(sum as u64 as i128, exact.min(u64::MAX as i128), "{a} {b} {c}");
                }
            }
        }
        assert!(check_partition(add_lengths(add_lengths(i64::MAX, i64::MAX), 5), 3).is_err());
    }

    #[test]
    fn a_range_is_checked_as_its_indices_one_after_another() {
        for start in [i64::MIN, -2, -1, 0, 1, 3, 4, 5, i64::MAX - 1, i64::MAX] {
            for count in 0..7 {
                for length in [0, 1, 4, i64::MAX] {
                    let one_by_one: Result<Vec<i64>, Failure> =
                        (0..count).map(|step| check_index(start.wrapping_add(step), length)).collect();
                    let expected = one_by_one.map(|indices| indices.first().copied().unwrap_or(0));
                    assert_eq!(check_range(start, count, length), expected, "{start} {count} {length}");
                }
            }
        }
        assert_eq!(check_range(1, i64::MAX, 3), Err(Failure::IndexOutOfRange { index: 3, length: 3 }));
    }

    #[test]
    fn float_maximum_is_commutative_even_on_odd_values() {
        let values = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for a in values {
            for b in values {
                assert_eq!(maximum(a, b).to_bits(), maximum(b, a).to_bits());
                assert_eq!(minimum(a, b).to_bits(), minimum(b, a).to_bits());
            }
        }
    }

    #[test]
    fn equal_floats_hash_alike_and_others_hardly_ever() {
        assert_eq!(hash_float(-0.0), hash_float(0.0));
        assert_eq!(hash_float(-f64::NAN), hash_float(f64::NAN));
        let floats = [0.0, 1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE];
        let hashes: std::collections::HashSet<i64> = floats.into_iter().map(hash_float).collect();
        assert_eq!(hashes.len(), floats.len());
    }

    #[test]
    fn hashes_of_small_ints_and_pairs_spread_over_the_cells() {
        let mut cells = [0u32; 16];
        for left in 0..100 {
            for right in 0..100 {
                cells[hash_index(hash_pair(hash_int(left), hash_int(right)), 16).unwrap() as usize] += 1;
            }
        }
        // 625 expected in each of them, with a standard deviation below 25.
        assert!(cells.iter().all(|&count| (525..725).contains(&count)), "{cells:?}");
        assert_ne!(hash_pair(1, 2), hash_pair(2, 1));
        assert_eq!((hash_index(-1, 1), hash_index(-1, i64::MAX)), (Ok(0), Ok(i64::MAX - 1)));
        assert!(hash_index(5, 0).is_err() && hash_index(5, -3).is_err());
    }

    #[test]
    fn rand_stays_in_its_range_and_uses_it() {
        let mut seen = [0u32; 10];
        let mut seed = 42;
        for _ in 0..10_000 {
            seen[rand_int(seed, 10).unwrap() as usize] += 1;
            let x = rand_float(seed, 2.0).unwrap();
            assert!((0.0..2.0).contains(&x));
            seed = seed_next(seed);
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }
}
