//! How a column is made of a few numbers.

use crate::op::VectorOp;
use crate::program::{Op, Operand, RegisterType};
use nesl_prim::{ScalarOp, ScalarType};

/// How a column is made of its length and other numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// From a start on, by one more each.
    Count,
    /// From a start on, by a step more each.
    Steps,
    /// One value everywhere.
    Same(ScalarType),
}

impl Form {
    /// The numbers of no elements.
    pub fn of_none(self) -> Vec<Operand> {
        let zero = |ty: RegisterType| Operand::Constant(ty.scalar_type().zero());
        self.numbers().into_iter().map(zero).collect()
    }

    /// The types of the numbers, the length first.
    pub fn numbers(self) -> Vec<RegisterType> {
        let int = RegisterType::Scalar(ScalarType::Int);
        match self {
            Form::Count => vec![int; 2],
            Form::Steps => vec![int; 3],
            Form::Same(element) => vec![int, RegisterType::Scalar(element)],
        }
    }
}

/// What is known of how a column was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Made {
    /// Nothing has been found yet that makes it.
    NotYet,
    /// It has no elements: any numbers make it.
    Empty,
    /// By numbers.
    By(Form),
    /// In another way, or it is no column.
    Otherwise,
}

impl Made {
    pub fn form(self) -> Option<Form> {
        match self {
            Made::By(form) => Some(form),
            Made::NotYet | Made::Empty | Made::Otherwise => None,
        }
    }

    /// Of what is made in one way or another.
    pub fn or(self, other: Made) -> Made {
        match (self, other) {
            (Made::NotYet, known) | (known, Made::NotYet) => known,
            (Made::Empty, known) | (known, Made::Empty) => known,
            (Made::By(one), Made::By(other)) if one == other => self,
            (Made::By(Form::Count | Form::Steps), Made::By(Form::Count | Form::Steps)) => Made::By(Form::Steps),
            _ => Made::Otherwise,
        }
    }

    /// Of what an operation makes that neither calls nor chooses.
    pub fn by(
        op: &Op,
        operands: &[Operand],
        made: impl Fn(Operand) -> Made,
        type_of: impl Fn(Operand) -> RegisterType,
    ) -> Made {
        let is_scalar = |operand: Operand| matches!(type_of(operand), RegisterType::Scalar(_));
        match (op, operands) {
            (Op::Constants(constants), _) if constants.is_empty() => Made::Empty,
            (Op::Vector(VectorOp::Iota), _) => Made::By(Form::Count),
            (Op::Vector(VectorOp::Dist), &[value, _]) => match type_of(value) {
                RegisterType::Scalar(element) => Made::By(Form::Same(element)),
                _ => Made::Otherwise,
            },
            (Op::Vector(VectorOp::Slice), &[column, ..]) => made(column),
            (Op::Map(ScalarOp::AddInt), &[column, scalar] | &[scalar, column]) if is_scalar(scalar) => {
                made(column).progression(None)
            }
            (Op::Map(ScalarOp::SubtractInt), &[column, scalar]) if is_scalar(scalar) => made(column).progression(None),
            (Op::Map(ScalarOp::MultiplyInt), &[column, scalar] | &[scalar, column]) if is_scalar(scalar) => {
                made(column).progression(Some(Form::Steps))
            }
            _ => Made::Otherwise,
        }
    }

    /// The same, or of this form, if it is an arithmetic progression.
    fn progression(self, form: Option<Form>) -> Made {
        match self {
            Made::By(own @ (Form::Count | Form::Steps)) => Made::By(form.unwrap_or(own)),
            Made::NotYet | Made::Empty => self,
            Made::By(Form::Same(_)) | Made::Otherwise => Made::Otherwise,
        }
    }
}
