//! Words of text files as scalars: what numbers and truth values look like, in a table or between white space.

/// The mark of UTF-8, which some programs write before a text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An int in decimal digits.
pub(super) fn int(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    // Downwards from zero, because the least int has no positive counterpart.
    let mut value = 0i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// A float as NESL prints it, or in any other usual form.
pub(super) fn float(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// `t` or `f`.
pub(super) fn truth(word: &[u8]) -> Option<bool> {
    match word {
        b"t" | b"true" => Some(true),
        b"f" | b"false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit_and_no_further() {
        assert_eq!(int(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(int(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(int(b"+7"), Some(7));
        for word in [&b"9223372036854775808"[..], b"", b"-", b"1.0", b"1e3", b"--1", b"\xff"] {
            assert_eq!(int(word), None);
        }
        assert_eq!(float(b"1.5e300"), Some(1.5e300));
        assert_eq!(float(b"2"), Some(2.0));
        assert_eq!(float(b"\xff"), None);
    }
}
