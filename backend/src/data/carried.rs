//! A column on its way from some ranks to more of them, or to fewer.

use crate::data::vector::Vector;
use nesl_prim::ScalarType;

/// What a process holds of a column while the number of ranks changes: of a short one all elements, of others its share
/// among those that held them.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The type of the elements.
    pub scalar: ScalarType,
    /// The number of elements on all ranks.
    pub length: usize,
    /// Those of this process.
    pub part: Vector,
}
