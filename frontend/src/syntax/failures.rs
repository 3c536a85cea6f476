//! What went wrong in a running program, in the words of the syntax that it is in.

use super::Syntax;
use nesl_prim::Failure;

/// The message of a failure.
pub fn message(syntax: Syntax, failure: &Failure) -> String {
    match failure {
        // Somebody else's words.
        Failure::User { .. } | Failure::Refused { .. } | Failure::OutputLost { .. } => failure.to_string(),
        _ if syntax == Syntax::V => failure.to_string().replace("sequence", "vector"),
        _ => failure.to_string(),
    }
}

/// What to do about it where a syntax has words of its own for that.
pub fn hint(syntax: Syntax, failure: &Failure) -> Option<&'static str> {
    if syntax == Syntax::Nesl {
        return None;
    }
    Some(match failure {
        Failure::DivideByZero { .. } => "test the divisor first, or filter: [a / b : a in v; b in w : b != 0]",
        Failure::FloatToInt { .. } => "a cast to int takes doubles from -9223372036854775808 to 9223372036854775807",
        Failure::IndexOutOfRange { index, length } if *index < 0 && *length > 0 => {
            "indices count from 0; from the end they are v[$v - 1], v[$v - 2] and so on"
        }
        Failure::BadRange { .. } => {
            "numbers go up: iseq(first, step, end) has a step above 0, and an end from first on"
        }
        Failure::LengthMismatch { .. } => {
            "equal lengths are needed: of vectors that are walked together, of rows of a matrix, of values and places"
        }
        Failure::BadPartition { .. } => "the lengths must add up to the length of the vector",
        Failure::NotAPermutation { .. } => "each index must occur exactly once; assign v[i] = x for anything else",
        Failure::NegativePower { .. } => "a power of an int is 0 or more; expt(x, y) takes any doubles",
        Failure::RecursionTooDeep { .. } => "does every call reach the end of the recursion? A loop has no limit",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_of_v_are_written_in_v() {
        let outside = Failure::IndexOutOfRange { index: -1, length: 3 };
        assert!(hint(Syntax::V, &outside).is_some_and(|text| text.contains("v[$v - 1]")));
        assert_eq!(hint(Syntax::V, &Failure::IndexOutOfRange { index: 3, length: 3 }), None);
        assert_eq!(hint(Syntax::Nesl, &outside), None);
    }
}
