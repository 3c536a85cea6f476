//! VCODE: the flat program.
//!
//! Functions over named registers, in static single assignment, with structured control. A register holds a machine scalar,
//! a column of scalars, or a segment descriptor; there is nothing nested. Every instruction carries the source span it
//! came from. A [`Program`] also says how its functions are run: [`Step`]s in order, or [`Main`] with arguments.

use crate::op::VectorOp;
use crate::shape::Shape;
use nesl_prim::{Constants, HostKind, HostOp, ScalarOp, ScalarType, ScalarValue};
use nesl_span::Span;
use serde::{Deserialize, Serialize};

/// A register of a function: an index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Register(pub u32);

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

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The functions.
    pub functions: Vec<Function>,
    /// What to run, in order, where no arguments are given.
    pub steps: Vec<Step>,
    /// What to run with arguments: the first whose parameters the arguments fit. There are several where `main` is polymorphic.
    pub mains: Vec<Main>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Name for listings, unique in the program: `qs@[int]`, `qs@[int]/lifted`.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Register>,
    /// The types of all its registers.
    pub registers: Vec<RegisterType>,
    /// Its body; the block's results are the function's.
    pub body: Block,
    /// The source it came from.
    pub span: Span,
}

impl Function {
    /// The type of a register.
    pub fn register_type(&self, register: Register) -> RegisterType {
        self.registers[register.0 as usize]
    }

    /// The type of an operand.
    pub fn operand_type(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Register(register) => self.register_type(register),
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        }
    }
}

/// Instructions, then results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The instructions in order.
    pub instructions: Vec<Instruction>,
    /// What the block yields.
    pub results: Vec<Operand>,
}

/// One instruction: `results = op operands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub operands: Vec<Operand>,
    /// What it defines.
    pub results: Vec<Register>,
    /// The source it came from.
    pub span: Span,
}

/// A register or a scalar constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A scalar constant.
    Constant(ScalarValue),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Operand {
        Operand::Register(register)
    }
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// A scalar operation on machine scalars.
    Scalar(ScalarOp),
    /// The same on every element of columns of one length. At least one operand is a column; scalar operands are broadcast.
    Map(ScalarOp),
    /// A constant column; no operands.
    Constants(Constants),
    /// A vector operation of the instruction table.
    Vector(VectorOp),
    /// An operation on the world outside.
    Host(HostOp),
    /// A call; operands and results are those of the function.
    Call(FunctionId),
    /// The first block where the one operand, a bool, is true, else the second. Both yield the instruction's results and see
    /// the registers defined before it.
    If(Box<Block>, Box<Block>),
}

/// One thing to run: a top-level form of the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The function; its parameters are the registers of the inputs one after another, its results those of the outputs.
    pub function: FunctionId,
    /// Where its parameters come from.
    pub inputs: Vec<Input>,
    /// What becomes of its results.
    pub outputs: Vec<Output>,
}

/// Where parameters of a step come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// The seed of the random numbers: one int.
    Seed,
    /// A global value.
    Global(GlobalId),
    /// An argument of the command line, by position: only in [`Main`].
    Argument(u32),
}

/// What becomes of results of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The shape of the value.
    pub shape: Shape,
    /// Keep it as this global; otherwise show it.
    pub global: Option<GlobalId>,
}

/// The entry that takes arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Main {
    /// Steps that compute the globals it needs.
    pub prelude: Vec<Step>,
    /// What it expects on the command line.
    pub parameters: Vec<Parameter>,
    /// The call itself.
    pub step: Step,
}

/// A parameter of [`Main`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in the source.
    pub name: String,
    /// Its type as NESL writes it, for messages.
    pub type_text: String,
    /// The shape of its value.
    pub shape: Shape,
}
