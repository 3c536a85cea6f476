//! Operations of typed programs: what whoever knows that there is such an operation, or that it reduces, need not ask.

pub mod extreme;

use crate::table::{ScalarOp, eval};
use crate::value::{ScalarType, ScalarValue};

impl ScalarOp {
    /// What changes nothing, for an operation that reduces or scans.
    ///
    /// # Panics
    /// If it does neither: programs are typed and verified.
    pub fn identity(self) -> ScalarValue {
        self.row().identity.unwrap_or_else(|| panic!("{self} neither reduces nor scans"))
    }

    /// Whether the operation chooses the least or the greatest of its operands: that one is somewhere.
    pub fn is_extreme(self) -> bool {
        matches!(self.row().source, Some("min" | "max"))
    }

    /// The operation with a name of the source for operands of these types.
    ///
    /// # Panics
    /// If there is none: core is typed.
    pub fn named(source: &str, types: &[ScalarType]) -> ScalarOp {
        match ScalarOp::resolve(source, types) {
            Some(op) => op,
            None => panic!("no row of the primitive table means {source} on {types:?}: core is typed"),
        }
    }

    /// Two values combined by an operation that reduces, or compares: those cannot fail.
    ///
    /// # Panics
    /// If it does.
    pub fn combine(self, left: ScalarValue, right: ScalarValue) -> ScalarValue {
        let combined = eval(self, &[left, right]);
        combined.unwrap_or_else(|failure| panic!("{self}, which reduces, is not total: {failure}"))
    }
}
