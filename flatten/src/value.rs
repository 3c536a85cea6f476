//! NESL values at compile time: which registers hold them, and which parts vary from instance to instance.
//!
//! # Nomenclature
//! Code is generated in a *context*: serial (one instance) or lifted (n instances at once). A part of a value is
//! *lifted* if it has one component per instance, and *invariant* if all instances share it:
//!
//! | part | invariant | lifted |
//! |---|---|---|
//! | scalar | a scalar operand | a column with an element per instance |
//! | sequence | its length, and its elements | a descriptor with a segment per instance, and elements for all |
//!
//! Pairs have no representation of their own; a record is its payload, and a function value the values it captured:
//! nothing where there are none. Neither has `()` anything. The *elements* of a sequence are a [`Value`] that is lifted
//! throughout, over the positions of the sequence's data. So the elements of a sequence and the value of a variable in
//! an apply-to-each over it are the same thing.
//!
//! # Worked example
//! `[[1, 2], [], [3]]`, invariant: length `3`, elements = a lifted sequence with descriptor `packed [2 0 1]` whose
//! elements are the column `[1 2 3]`.

use crate::supply::Supply;
use nesl_frontend::ty::Type;
use nesl_prim::ScalarType;
use nesl_vcode::{Argument, Operand, RegisterType, Shape};

/// The registers of a value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar.
    Scalar {
        /// A scalar operand, or a column if lifted.
        operand: Operand,
        /// Whether it varies by instance.
        lifted: bool,
        /// Its type.
        scalar_type: ScalarType,
    },
    /// A pair.
    Pair(Box<Value>, Box<Value>),
    /// A sequence.
    Sequence {
        /// The length, or a descriptor if lifted.
        extent: Operand,
        /// Whether it varies by instance.
        lifted: bool,
        /// The elements.
        elements: Box<Value>,
    },
    /// `()`, or a function value that captured nothing.
    Nothing,
}

impl Value {
    /// An invariant scalar.
    pub fn scalar(operand: Operand, scalar_type: ScalarType) -> Value {
        Value::Scalar { operand, lifted: false, scalar_type }
    }

    /// A lifted scalar: a column.
    pub fn column(operand: Operand, scalar_type: ScalarType) -> Value {
        Value::Scalar { operand, lifted: true, scalar_type }
    }

    /// A pair.
    pub fn pair(first: Value, rest: Value) -> Value {
        Value::Pair(Box::new(first), Box::new(rest))
    }

    /// An invariant sequence.
    pub fn sequence(length: Operand, elements: Value) -> Value {
        Value::Sequence { extent: length, lifted: false, elements: Box::new(elements) }
    }

    /// A lifted sequence.
    pub fn segments(descriptor: Operand, elements: Value) -> Value {
        Value::Sequence { extent: descriptor, lifted: true, elements: Box::new(elements) }
    }

    /// Whether no part varies by instance.
    pub fn is_invariant(&self) -> bool {
        match self {
            Value::Scalar { lifted, .. } | Value::Sequence { lifted, .. } => !lifted,
            Value::Pair(first, rest) => first.is_invariant() && rest.is_invariant(),
            Value::Nothing => true,
        }
    }

    /// The two parts of a pair.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn into_pair(self) -> (Value, Value) {
        match self {
            Value::Pair(first, rest) => (*first, *rest),
            other => other.is_no("pair"),
        }
    }

    /// The parts of a tuple of three.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn into_triple(self) -> (Value, Value, Value) {
        let (first, rest) = self.into_pair();
        let (second, third) = rest.into_pair();
        (first, second, third)
    }

    /// The operand of a scalar.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn operand(&self) -> Operand {
        match self {
            Value::Scalar { operand, .. } => *operand,
            other => other.is_no("scalar"),
        }
    }

    /// The type of a scalar.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Value::Scalar { scalar_type, .. } => *scalar_type,
            other => other.is_no("scalar"),
        }
    }

    /// Extent and elements of a sequence.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn into_sequence(self) -> (Operand, Value) {
        match self {
            Value::Sequence { extent, elements, .. } => (extent, *elements),
            other => other.is_no("sequence"),
        }
    }

    /// Core is typed, and values are as their types are.
    fn is_no(&self, expected: &str) -> ! {
        panic!("expected a {expected}, found {self:?}")
    }

    /// The same in other registers, in the order of [`Value::operands`].
    ///
    /// # Panics
    /// If there are too few.
    #[must_use]
    pub fn with(&self, operands: &mut Supply) -> Value {
        match self {
            Value::Scalar { lifted, scalar_type, .. } => {
                Value::Scalar { operand: operands.next(), lifted: *lifted, scalar_type: *scalar_type }
            }
            Value::Pair(first, rest) => {
                let first = first.with(operands);
                Value::pair(first, rest.with(operands))
            }
            Value::Sequence { lifted, elements, .. } => {
                let extent = operands.next();
                Value::Sequence { extent, lifted: *lifted, elements: Box::new(elements.with(operands)) }
            }
            Value::Nothing => Value::Nothing,
        }
    }

    /// Its registers in the order of [`Shape`].
    pub fn operands(&self) -> Vec<Operand> {
        let mut operands = Vec::new();
        self.push_operands(&mut operands);
        operands
    }

    fn push_operands(&self, operands: &mut Vec<Operand>) {
        match self {
            Value::Scalar { operand, .. } => operands.push(*operand),
            Value::Pair(first, rest) => {
                first.push_operands(operands);
                rest.push_operands(operands);
            }
            Value::Sequence { extent, elements, .. } => {
                operands.push(*extent);
                elements.push_operands(operands);
            }
            Value::Nothing => {}
        }
    }

    /// The types of its registers, in the same order.
    pub fn register_types(&self) -> Vec<RegisterType> {
        match self {
            Value::Scalar { lifted: true, scalar_type, .. } => vec![RegisterType::Column(*scalar_type)],
            Value::Scalar { scalar_type, .. } => vec![RegisterType::Scalar(*scalar_type)],
            Value::Pair(first, rest) => [first.register_types(), rest.register_types()].concat(),
            Value::Sequence { lifted, elements, .. } => {
                let extent = if *lifted { RegisterType::Descriptor } else { RegisterType::Scalar(ScalarType::Int) };
                [vec![extent], elements.register_types()].concat()
            }
            Value::Nothing => Vec::new(),
        }
    }

    /// Whether no sequence is in it.
    pub fn is_flat(&self) -> bool {
        match self {
            Value::Scalar { .. } | Value::Nothing => true,
            Value::Pair(first, rest) => first.is_flat() && rest.is_flat(),
            Value::Sequence { .. } => false,
        }
    }

    /// Which of its parts are lifted.
    pub fn pattern(&self) -> Pattern {
        match self {
            Value::Scalar { lifted, .. } | Value::Sequence { lifted, .. } => Pattern::Part(*lifted),
            Value::Pair(first, rest) => Pattern::Pair(Box::new(first.pattern()), Box::new(rest.pattern())),
            Value::Nothing => Pattern::Nothing,
        }
    }
}

/// A pattern with the type that it is of.
enum Parts<'a> {
    /// A scalar or a sequence: lifted or not.
    One(bool),
    Pair((&'a Pattern, Type), (&'a Pattern, Type)),
    Nothing,
}

/// Which parts of a value are lifted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// A scalar or a sequence: lifted or not.
    Part(bool),
    /// A pair.
    Pair(Box<Pattern>, Box<Pattern>),
    /// Nothing.
    Nothing,
}

impl Pattern {
    /// The pattern of a type all of whose parts are lifted, or none.
    pub fn uniform(ty: &Type, lifted: bool) -> Pattern {
        match Structure::of(ty) {
            Structure::Scalar(_) | Structure::Sequence(_) => Pattern::Part(lifted),
            Structure::Pair(first, rest) => {
                Pattern::Pair(Box::new(Pattern::uniform(&first, lifted)), Box::new(Pattern::uniform(&rest, lifted)))
            }
            Structure::Nothing => Pattern::Nothing,
        }
    }

    /// One letter for each part, for names of functions: `L` lifted, `I` invariant.
    pub fn letters(&self) -> String {
        match self {
            Pattern::Part(lifted) => if *lifted { "L" } else { "I" }.to_owned(),
            Pattern::Pair(first, rest) => first.letters() + &rest.letters(),
            Pattern::Nothing => String::new(),
        }
    }

    /// The parts of the pattern with their types, one level deep.
    ///
    /// # Panics
    /// If it is none of the type: both come from the same expression.
    fn parts(&self, ty: &Type) -> Parts<'_> {
        match (self, Structure::of(ty)) {
            (Pattern::Part(lifted), _) => Parts::One(*lifted),
            (Pattern::Pair(first, rest), Structure::Pair(first_type, rest_type)) => {
                Parts::Pair((first, first_type), (rest, rest_type))
            }
            (Pattern::Nothing, Structure::Nothing) => Parts::Nothing,
            (pattern, _) => panic!("pattern {pattern:?} for type {ty}"),
        }
    }

    /// The registers of a value of this type and pattern.
    pub fn registers(&self, ty: &Type) -> Vec<RegisterType> {
        match self.parts(ty) {
            Parts::One(true) => shape(ty).lifted(),
            Parts::One(false) => shape(ty).serial(),
            Parts::Pair((first, first_type), (rest, rest_type)) => {
                let mut registers = first.registers(&first_type);
                registers.extend(rest.registers(&rest_type));
                registers
            }
            Parts::Nothing => Vec::new(),
        }
    }

    /// The arguments of an `each` that a value of this type and pattern is.
    pub fn arguments(&self, ty: &Type) -> Vec<Argument> {
        match self.parts(ty) {
            Parts::One(varies) => vec![Argument { shape: shape(ty), varies }],
            Parts::Pair((first, first_type), (rest, rest_type)) => {
                let mut arguments = first.arguments(&first_type);
                arguments.extend(rest.arguments(&rest_type));
                arguments
            }
            Parts::Nothing => Vec::new(),
        }
    }

    /// The value of this type and pattern whose registers `operands` supplies in order.
    ///
    /// # Panics
    /// If there are too few.
    pub fn value(&self, ty: &Type, operands: &mut Supply) -> Value {
        match self.parts(ty) {
            Parts::One(lifted) => part(ty, lifted, operands),
            Parts::Pair((first, first_type), (rest, rest_type)) => {
                let first = first.value(&first_type, operands);
                Value::pair(first, rest.value(&rest_type, operands))
            }
            Parts::Nothing => Value::Nothing,
        }
    }
}

fn part(ty: &Type, lifted: bool, operands: &mut Supply) -> Value {
    match Structure::of(ty) {
        Structure::Scalar(scalar_type) => Value::Scalar { operand: operands.next(), lifted, scalar_type },
        Structure::Sequence(element) => {
            let extent = operands.next();
            Value::Sequence { extent, lifted, elements: Box::new(part(&element, true, operands)) }
        }
        Structure::Pair(first, rest) => {
            let first = part(&first, lifted, operands);
            Value::pair(first, part(&rest, lifted, operands))
        }
        Structure::Nothing => Value::Nothing,
    }
}

/// How values of a type are represented, one level deep.
pub enum Structure {
    /// A scalar.
    Scalar(ScalarType),
    /// A pair of values of these types.
    Pair(Type, Type),
    /// A sequence of values of this type.
    Sequence(Type),
    /// No register at all.
    Nothing,
}

impl Structure {
    /// The structure of a type.
    ///
    /// # Panics
    /// If the type is polymorphic.
    pub fn of(ty: &Type) -> Structure {
        match ty {
            Type::Scalar(scalar_type) => Structure::Scalar(*scalar_type),
            Type::Unit => Structure::Nothing,
            Type::Pair(first, rest) => Structure::Pair((**first).clone(), (**rest).clone()),
            Type::Sequence(element) => Structure::Sequence((**element).clone()),
            Type::Function(function) => {
                let captured = function.known().captured_tuple();
                captured.map_or(Structure::Nothing, |tuple| Structure::of(&tuple))
            }
            record => Structure::of(&record.wrapped()),
        }
    }
}

/// The shape of the values of a type.
///
/// # Panics
/// If the type is polymorphic.
pub fn shape(ty: &Type) -> Shape {
    match ty {
        Type::Scalar(scalar_type) => Shape::Scalar(*scalar_type),
        Type::Unit => Shape::Unit,
        Type::Pair(first, rest) => Shape::Pair(Box::new(shape(first)), Box::new(shape(rest))),
        Type::Sequence(element) => Shape::Sequence(Box::new(shape(element))),
        Type::Record(datatype, arguments) => {
            Shape::Record(datatype.name.to_string(), Box::new(shape(&datatype.payload.instantiate(arguments))))
        }
        Type::Function(function) => {
            Shape::Function(function.known().captured_tuple().map(|tuple| Box::new(shape(&tuple))))
        }
        Type::Parameter(_) | Type::Identity(_) => panic!("type {ty} after monomorphisation"),
    }
}
