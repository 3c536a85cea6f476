//! What a register holds at run time, whatever the engine.

use nesl_prim::ScalarValue;

/// What a register holds at run time.
#[derive(Clone, Debug)]
pub enum Slot<C, D> {
    /// One machine scalar.
    Scalar(ScalarValue),
    /// A column of scalars.
    Column(C),
    /// A segment descriptor.
    Descriptor(D),
}
