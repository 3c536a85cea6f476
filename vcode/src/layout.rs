//! How values lie in registers, as a flat list: what each register holds, and which other one says where its elements
//! are. Whoever takes values apart or puts them together goes over such a list; only [`crate::shape`] walks shapes to
//! make it.
//!
//! For `[[int]]` the list is `sequences`, `sequences` in the first, `int` in the second. The same list is for one value
//! and for many: what lies in nothing is a scalar, or a length, for one of them, and a column, or a descriptor, for
//! many.

use crate::op::VectorOp;
use crate::register::RegisterType;
use nesl_prim::ScalarType;

/// A register of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What there is for each element.
    pub holds: Holds,
    /// The field of the sequences whose elements these are, by its position in the list.
    pub parent: Option<usize>,
}

/// What a register has for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A scalar.
    Scalars(ScalarType),
    /// A sequence, whose elements lie in the fields that have this one as their parent.
    Sequences,
}

impl Field {
    /// The register for one value.
    pub fn serial(self) -> RegisterType {
        match self.parent {
            None => RegisterType::Scalar(self.scalar_type()),
            Some(_) => self.lifted(),
        }
    }

    /// The register for many values.
    pub fn lifted(self) -> RegisterType {
        match self.holds {
            Holds::Scalars(scalar) => RegisterType::Column(scalar),
            Holds::Sequences => RegisterType::Descriptor,
        }
    }

    /// Whether one value has one scalar here.
    pub fn is_scalar(self) -> bool {
        self.parent.is_none() && matches!(self.holds, Holds::Scalars(_))
    }

    /// The type of its scalars, or of the lengths of its sequences.
    pub fn scalar_type(self) -> ScalarType {
        match self.holds {
            Holds::Scalars(scalar) => scalar,
            Holds::Sequences => ScalarType::Int,
        }
    }
}

/// What an [`Each`](crate::Each) does with registers: made once, from the shapes of its arguments and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EachPlan {
    /// The operands after the number of instances. There is one for each parameter of the serial function.
    pub operands: Vec<Taken>,
    /// The results. What lies in nothing an instance gives as a scalar or a length, everything else as elements that go
    /// behind those of the instances before it.
    pub results: Vec<Field>,
}

/// An operand of an [`Each`](crate::Each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its type.
    pub register: RegisterType,
    /// What an instance takes of it.
    pub take: Take,
    /// The operand of the sequences whose elements these are, by its position in the list.
    pub parent: Option<usize>,
}

/// What an instance takes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// All of it: it is the same for all instances.
    Same,
    /// An element of a column, or the length of a segment, at the index of the instance.
    Element,
    /// Of a column or a descriptor the part that is in the instance's segment of the operand at this position.
    Slice(usize),
    /// All of it: what the segments of a slice lie in.
    Data,
}

impl Take {
    /// Whether it is not the same for all instances.
    pub fn varies(self) -> bool {
        !matches!(self, Take::Same | Take::Data)
    }
}

impl Taken {
    /// Whether an instance takes a scalar of its own.
    pub fn is_scalar(self) -> bool {
        self.take == Take::Element && self.register != RegisterType::Descriptor
    }

    /// Whether an instance takes a sequence of its own, of which this is the descriptor.
    pub fn is_sequence(self) -> bool {
        self.take == Take::Element && self.register == RegisterType::Descriptor
    }
}

impl EachPlan {
    /// Whether what an instance gives is scalars and sequences of scalars.
    pub fn gives_flat(&self) -> bool {
        self.results.iter().all(|field| field.parent.is_none() || field.holds != Holds::Sequences)
    }

    /// What says how many instances there are where no operand does, as in a group: an instruction on the operand at a
    /// position. None where nothing varies.
    pub fn counted_by(&self) -> Option<(VectorOp, usize)> {
        let position = self.operands.iter().position(|taken| taken.take == Take::Element)?;
        let is_sequence = self.operands[position].is_sequence();
        Some((if is_sequence { VectorOp::Segments } else { VectorOp::Length }, position))
    }

    /// Adds an argument with these fields.
    pub(crate) fn argument(&mut self, fields: &[Field], varies: bool) {
        let first = self.operands.len();
        self.operands.extend(fields.iter().map(|field| {
            let take = match field.parent {
                None if varies => Take::Element,
                Some(parent) if varies && fields[parent].parent.is_none() => Take::Slice(first + parent),
                Some(_) if varies => Take::Data,
                _ => Take::Same,
            };
            let register = if varies { field.lifted() } else { field.serial() };
            Taken { register, take, parent: field.parent.map(|parent| first + parent) }
        }));
    }
}
