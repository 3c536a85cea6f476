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

/// What a register holds whose type is known: programs are verified, and flattening gives each instruction what it
/// takes.
///
/// # Panics
/// All of these, if it holds something else.
impl<C, D> Slot<C, D> {
    /// The scalar.
    pub fn as_scalar(&self) -> ScalarValue {
        match self {
            Slot::Scalar(value) => *value,
            other => other.is_no("scalar"),
        }
    }

    /// The scalar as an index or a length, which an earlier check has accepted.
    pub fn as_size(&self) -> usize {
        self.as_scalar().to_size()
    }

    /// The column.
    pub fn as_column(&self) -> &C {
        match self {
            Slot::Column(column) => column,
            other => other.is_no("column"),
        }
    }

    /// The column itself.
    pub fn into_column(self) -> C {
        match self {
            Slot::Column(column) => column,
            other => other.is_no("column"),
        }
    }

    /// The descriptor.
    pub fn as_descriptor(&self) -> &D {
        match self {
            Slot::Descriptor(descriptor) => descriptor,
            other => other.is_no("descriptor"),
        }
    }

    #[cold]
    fn is_no(&self, expected: &str) -> ! {
        let found = match self {
            Slot::Scalar(value) => format!("the scalar {value:?}"),
            Slot::Column(_) => "a column".to_owned(),
            Slot::Descriptor(_) => "a descriptor".to_owned(),
        };
        panic!("expected a {expected}, found {found}: unverified program")
    }
}
