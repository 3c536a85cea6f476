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
