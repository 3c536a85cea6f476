//! The names that a flat program uses: registers with their types, operands, functions and globals.

use nesl_prim::{HostKind, ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};

/// A register of a function: an index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Register(pub u32);

impl Register {
    /// A new register of a function with these.
    pub(crate) fn add(registers: &mut Vec<RegisterType>, ty: RegisterType) -> Register {
        let register = Register(u32::try_from(registers.len()).unwrap_or(u32::MAX));
        registers.push(ty);
        register
    }

    /// New registers of these types.
    pub(crate) fn add_all(
        registers: &mut Vec<RegisterType>,
        types: impl IntoIterator<Item = RegisterType>,
    ) -> Vec<Register> {
        types.into_iter().map(|ty| Register::add(registers, ty)).collect()
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RegisterType {
    /// One machine scalar.
    Scalar(ScalarType),
    /// A column of scalars.
    Column(ScalarType),
    /// A segment descriptor: packed or a view.
    Descriptor,
}

impl RegisterType {
    /// The type of its scalars, or of the lengths of its segments.
    pub fn scalar_type(self) -> ScalarType {
        match self {
            RegisterType::Scalar(scalar) | RegisterType::Column(scalar) => scalar,
            RegisterType::Descriptor => ScalarType::Int,
        }
    }
}

impl From<HostKind> for RegisterType {
    fn from(kind: HostKind) -> RegisterType {
        match kind {
            HostKind::Scalar(scalar) => RegisterType::Scalar(scalar),
            HostKind::Column(scalar) => RegisterType::Column(scalar),
        }
    }
}

/// A function: an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// A global value: a number that the front end gives out, the same in all programs of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GlobalId(pub u32);

/// A call that a body took the place of: an index into [`Program::sites`].
///
/// [`Program::sites`]: crate::Program::sites
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteId(pub u32);

/// A register or a scalar constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A scalar constant.
    Constant(ScalarValue),
}

impl Operand {
    /// The register; none of a constant.
    pub fn register(self) -> Option<Register> {
        match self {
            Operand::Register(register) => Some(register),
            Operand::Constant(_) => None,
        }
    }
}

impl From<Register> for Operand {
    fn from(register: Register) -> Operand {
        Operand::Register(register)
    }
}
