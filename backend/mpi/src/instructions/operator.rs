//! The operators that reduce and scan: their neutral elements, and two values combined.

use nesl_prim::{ScalarOp, ScalarValue, eval};

/// Two values combined by an operator that has an identity; those cannot fail.
pub(crate) fn combine(op: ScalarOp, left: ScalarValue, right: ScalarValue) -> ScalarValue {
    match eval(op, &[left, right]) {
        Ok(value) => value,
        Err(failure) => panic!("{op} has an identity and failed: {failure}"),
    }
}

/// The neutral element of an operator that reduces.
pub(crate) fn identity(op: ScalarOp) -> ScalarValue {
    op.row().identity.unwrap_or_else(|| panic!("{op} does not reduce: unverified program"))
}
