//! Room for the results of the instances of a loop, which come in any order.
//!
//! Scalars are written into columns of all instances. Of sequences these say where they lie and how long they are;
//! their elements lie one after another in the order in which they came. A place that nobody has filled has zeros.

use crate::lower::repr::int;
use crate::lower::{Lowering, first_component};
use crate::supply::Supply;
use crate::value::{Pattern, Structure, Value, shape};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Operand, RegisterType, VectorOp};

/// Room for values of a type.
#[derive(Clone, Debug)]
pub(crate) enum Room {
    /// A column with an element for each.
    Scalar(Operand, ScalarType),
    /// Room for the parts of pairs.
    Pair(Box<Room>, Box<Room>),
    /// Where sequences begin, how long they are, and what is in them.
    Sequence { starts: Operand, lengths: Operand, elements: Value },
    /// Values without registers.
    Nothing,
}

impl Room {
    /// Room for so many values.
    pub fn new(lowering: &mut Lowering<'_, '_>, ty: &Type, count: Operand) -> Room {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => {
                let zero = Operand::Constant(scalar.zero());
                Room::Scalar(lowering.builder.vector(VectorOp::Dist, &[zero, count]), scalar)
            }
            Structure::Pair(first, rest) => {
                let first = Room::new(lowering, &first, count);
                Room::Pair(Box::new(first), Box::new(Room::new(lowering, &rest, count)))
            }
            Structure::Sequence(element) => {
                let [starts, lengths] = [(); 2].map(|()| lowering.builder.vector(VectorOp::Dist, &[int(0), count]));
                Room::Sequence { starts, lengths, elements: lowering.empty(&element) }
            }
            Structure::Nothing => Room::Nothing,
        }
    }

    /// The types of its registers.
    pub fn registers(ty: &Type) -> Vec<RegisterType> {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => vec![RegisterType::Column(scalar)],
            Structure::Pair(first, rest) => [Room::registers(&first), Room::registers(&rest)].concat(),
            Structure::Sequence(element) => {
                let mut registers = vec![RegisterType::Column(ScalarType::Int); 2];
                registers.extend(shape(&element).lifted());
                registers
            }
            Structure::Nothing => Vec::new(),
        }
    }

    /// Room in these registers.
    pub fn of(ty: &Type, operands: &mut Supply) -> Room {
        match Structure::of(ty) {
            Structure::Scalar(scalar) => Room::Scalar(operands.next(), scalar),
            Structure::Pair(first, rest) => {
                let first = Room::of(&first, operands);
                Room::Pair(Box::new(first), Box::new(Room::of(&rest, operands)))
            }
            Structure::Sequence(element) => {
                let (starts, lengths) = (operands.next(), operands.next());
                let elements = Pattern::uniform(&element, true).value(&element, operands);
                Room::Sequence { starts, lengths, elements }
            }
            Structure::Nothing => Room::Nothing,
        }
    }

    /// The same in other registers.
    pub fn with(&self, operands: &mut Supply) -> Room {
        match self {
            Room::Scalar(_, scalar) => Room::Scalar(operands.next(), *scalar),
            Room::Pair(first, rest) => {
                let first = first.with(operands);
                Room::Pair(Box::new(first), Box::new(rest.with(operands)))
            }
            Room::Sequence { elements, .. } => {
                let (starts, lengths) = (operands.next(), operands.next());
                Room::Sequence { starts, lengths, elements: elements.with(operands) }
            }
            Room::Nothing => Room::Nothing,
        }
    }

    /// Its registers.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Room::Scalar(column, _) => vec![*column],
            Room::Pair(first, rest) => [first.operands(), rest.operands()].concat(),
            Room::Sequence { starts, lengths, elements } => [vec![*starts, *lengths], elements.operands()].concat(),
            Room::Nothing => Vec::new(),
        }
    }

    /// The same with values, lifted, at these places.
    pub fn filled(&self, lowering: &mut Lowering<'_, '_>, at: Operand, values: &Value) -> Room {
        let scatter = |lowering: &mut Lowering<'_, '_>, room: Operand, values: Operand| {
            lowering.builder.vector(VectorOp::Scatter, &[room, at, values])
        };
        match self {
            Room::Scalar(column, scalar) => Room::Scalar(scatter(lowering, *column, values.operand()), *scalar),
            Room::Pair(first, rest) => {
                let (of_first, of_rest) = values.clone().into_pair();
                let first = first.filled(lowering, at, &of_first);
                Room::Pair(Box::new(first), Box::new(rest.filled(lowering, at, &of_rest)))
            }
            Room::Sequence { starts, lengths, elements } => {
                let (descriptor, own) = lowering.compact(values.clone()).into_sequence();
                let before = match first_component(elements) {
                    Some((column, true)) => lowering.builder.vector(VectorOp::Segments, &[column]),
                    Some((column, false)) => lowering.builder.vector(VectorOp::Length, &[column]),
                    None => int(0),
                };
                let own_starts = lowering.starts(descriptor);
                let own_starts = lowering.builder.map(ScalarOp::AddInt, &[own_starts, before]);
                let own_lengths = lowering.lengths(descriptor);
                let starts = scatter(lowering, *starts, own_starts);
                let lengths = scatter(lowering, *lengths, own_lengths);
                Room::Sequence { starts, lengths, elements: lowering.concat(&[elements, &own]) }
            }
            Room::Nothing => Room::Nothing,
        }
    }

    /// The values, lifted, where all places are filled.
    pub fn into_value(self, lowering: &mut Lowering<'_, '_>) -> Value {
        match self {
            Room::Scalar(column, scalar) => Value::column(column, scalar),
            Room::Pair(first, rest) => {
                let first = first.into_value(lowering);
                Value::pair(first, rest.into_value(lowering))
            }
            Room::Sequence { starts, lengths, elements } => Value::segments(lowering.view(starts, lengths), elements),
            Room::Nothing => Value::Nothing,
        }
    }
}
