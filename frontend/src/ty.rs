//! Types, type classes and type schemes: the vocabulary that inference, core and the later stages share.
//!
//! The type of a function value says *which* function it is: that is its [`Identity`]. Core that is instantiated at
//! types without parameters therefore knows every callee, and a function value is no more than the values it captured.

use crate::ast::Symbol;
use nesl_prim::ScalarType;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A type of typed core.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `int`, `float`, `bool`, `char`.
    Scalar(ScalarType),
    /// `()`: it has one value, which holds nothing.
    Unit,
    /// `(a, b)`; longer tuples nest to the right.
    Pair(Arc<Type>, Arc<Type>),
    /// `[a]`.
    Sequence(Arc<Type>),
    /// A datatype at its type arguments, in the order of [`Datatype::classes`].
    Record(Arc<Datatype>, Vec<Type>),
    /// A function value.
    Function(Arc<FunctionType>),
    /// Which function a function value is. Not the type of any value: it occurs only as [`FunctionType::identity`] and
    /// as an argument for a type parameter of [`Class::Function`].
    Identity(Arc<Identity>),
    /// The `n`th type parameter of the enclosing function's scheme, or of the datatype whose payload this is.
    Parameter(usize),
}

/// A record type that a program defines. Equality, order and hash are those of its number.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Its name, which is also that of its constructor.
    pub name: Symbol,
    /// Its number, unique in the session.
    pub id: usize,
    /// The classes of its parameters: those that were written, then one of [`Class::Function`] for each function type
    /// in the payload.
    pub classes: Vec<Class>,
    /// The type that it wraps, over the parameters.
    pub payload: Type,
}

impl PartialEq for Datatype {
    fn eq(&self, other: &Datatype) -> bool {
        self.id == other.id
    }
}

impl Eq for Datatype {}

impl Hash for Datatype {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl PartialOrd for Datatype {
    fn partial_cmp(&self, other: &Datatype) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Datatype {
    fn cmp(&self, other: &Datatype) -> Ordering {
        self.id.cmp(&other.id)
    }
}

/// The type of a function value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionType {
    /// The type of its argument.
    pub parameter: Type,
    /// The type of its result.
    pub result: Type,
    /// Which function it is: a [`Type::Identity`], or a [`Type::Parameter`] of [`Class::Function`].
    pub identity: Type,
}

impl FunctionType {
    /// The function, of a type without parameters.
    ///
    /// # Panics
    /// If it has some: programs run, and are flattened, at types without.
    pub fn known(&self) -> &Identity {
        match &self.identity {
            Type::Identity(identity) => identity,
            other => panic!("a function from {} to {} is not known, but {other:?}", self.parameter, self.result),
        }
    }
}

/// Which function a function value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The number of a [`crate::core::FunctionId`], or [`Identity::NOBODY`].
    pub function: usize,
    /// The arguments for the parameters of the function's scheme.
    pub type_arguments: Vec<Type>,
    /// The types of the values it has captured; none for a named function. See [`crate::core`] for how it is called.
    pub captured: Vec<Type>,
}

impl Identity {
    /// The function of a function value that nothing determines: the elements of `[] (int -> int)`, or the function
    /// that a higher-order function would take, where that is used as a value and not called. It captures nothing. No
    /// instance of a program calls it.
    pub const NOBODY: usize = usize::MAX;

    /// The type of the captured values together: a right-nested tuple, nothing if there are none.
    pub fn captured_tuple(&self) -> Option<Type> {
        self.captured.iter().cloned().rev().reduce(|rest, first| Type::pair(first, rest))
    }
}

impl Type {
    /// `int`.
    pub const INT: Type = Type::Scalar(ScalarType::Int);
    /// `float`.
    pub const FLOAT: Type = Type::Scalar(ScalarType::Float);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(ScalarType::Bool);
    /// `char`.
    pub const CHAR: Type = Type::Scalar(ScalarType::Char);

    /// The pair of two types.
    pub fn pair(first: Type, rest: Type) -> Type {
        Type::Pair(Arc::new(first), Arc::new(rest))
    }

    /// The sequence of a type.
    pub fn sequence(element: Type) -> Type {
        Type::Sequence(Arc::new(element))
    }

    /// The type of a function value.
    pub fn function(parameter: Type, result: Type, identity: Type) -> Type {
        Type::Function(Arc::new(FunctionType { parameter, result, identity }))
    }

    /// The identity of a function that nothing determines.
    pub fn nobody() -> Type {
        let identity = Identity { function: Identity::NOBODY, type_arguments: Vec::new(), captured: Vec::new() };
        Type::Identity(Arc::new(identity))
    }

    /// The type with its parameters replaced by `arguments`.
    ///
    /// # Panics
    /// If a parameter has no argument: core is built so that each has.
    pub fn instantiate(&self, arguments: &[Type]) -> Type {
        match self {
            Type::Scalar(scalar) => Type::Scalar(*scalar),
            Type::Unit => Type::Unit,
            Type::Pair(first, rest) => Type::pair(first.instantiate(arguments), rest.instantiate(arguments)),
            Type::Sequence(element) => Type::sequence(element.instantiate(arguments)),
            Type::Record(datatype, parts) => Type::Record(Arc::clone(datatype), instantiate_all(parts, arguments)),
            Type::Function(function) => Type::function(
                function.parameter.instantiate(arguments),
                function.result.instantiate(arguments),
                function.identity.instantiate(arguments),
            ),
            Type::Identity(identity) => Type::Identity(Arc::new(Identity {
                function: identity.function,
                type_arguments: instantiate_all(&identity.type_arguments, arguments),
                captured: instantiate_all(&identity.captured, arguments),
            })),
            Type::Parameter(index) => arguments[*index].clone(),
        }
    }

    /// The type that a record wraps; nothing for other types.
    pub fn payload(&self) -> Option<Type> {
        match self {
            Type::Record(datatype, arguments) => Some(datatype.payload.instantiate(arguments)),
            _ => None,
        }
    }

    /// The types of a pair.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn pair_parts(&self) -> (&Type, &Type) {
        match self {
            Type::Pair(first, rest) => (first, rest),
            other => other.is_no("pair"),
        }
    }

    /// The type of the elements of a sequence.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn element(&self) -> &Type {
        match self {
            Type::Sequence(element) => element,
            other => other.is_no("sequence"),
        }
    }

    /// The scalar that it is.
    ///
    /// # Panics
    /// If it is none: core is typed.
    pub fn scalar(&self) -> ScalarType {
        match self {
            Type::Scalar(scalar) => *scalar,
            other => other.is_no("scalar"),
        }
    }

    /// The type that a record wraps.
    ///
    /// # Panics
    /// If it is none: core is typed, and has no type parameters where it runs or is flattened.
    pub fn wrapped(&self) -> Type {
        self.payload().unwrap_or_else(|| self.is_no("record"))
    }

    fn is_no(&self, expected: &str) -> ! {
        panic!("ill-typed core: expected a {expected}, found {self}")
    }

    /// The function of a function value.
    ///
    /// # Panics
    /// If it is none, or not known ([`FunctionType::known`]).
    pub fn function_known(&self) -> &Identity {
        match self {
            Type::Function(function) => function.known(),
            other => other.is_no("function"),
        }
    }

    /// Whether values of the type are numbered: ints, bools, characters, and records that wrap one of them.
    pub fn is_ordinal(&self) -> bool {
        match self {
            Type::Scalar(scalar) => *scalar != ScalarType::Float,
            Type::Record(..) => self.payload().is_some_and(|payload| payload.is_ordinal()),
            _ => false,
        }
    }

    /// Whether values of the type hold function values.
    pub fn has_functions(&self) -> bool {
        match self {
            Type::Function(_) => true,
            Type::Pair(first, rest) => first.has_functions() || rest.has_functions(),
            Type::Sequence(element) => element.has_functions(),
            Type::Record(..) => self.payload().is_some_and(|payload| payload.has_functions()),
            _ => false,
        }
    }

    /// The identity of a function value whose function is known.
    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Type::Function(function) => match &function.identity {
                Type::Identity(identity) => Some(identity),
                _ => None,
            },
            _ => None,
        }
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => write!(formatter, "{scalar}"),
            Type::Unit => formatter.write_str("()"),
            Type::Sequence(element) => write!(formatter, "[{element}]"),
            Type::Parameter(index) => formatter.write_str(&parameter_name(*index)),
            Type::Pair(first, rest) => {
                write!(formatter, "({first}")?;
                let mut rest = rest;
                while let Type::Pair(next, tail) = &**rest {
                    write!(formatter, ", {next}")?;
                    rest = tail;
                }
                write!(formatter, ", {rest})")
            }
            Type::Record(datatype, arguments) => {
                formatter.write_str(&datatype.name)?;
                let shown: Vec<String> = (arguments.iter().zip(&datatype.classes))
                    .filter(|(_, class)| **class != Class::Function)
                    .map(|(argument, _)| argument.to_string())
                    .collect();
                if shown.is_empty() { Ok(()) } else { write!(formatter, "({})", shown.join(", ")) }
            }
            // The arrow associates to the right.
            Type::Function(function) => match &function.parameter {
                parameter @ Type::Function(_) => write!(formatter, "({parameter}) -> {}", function.result),
                parameter => write!(formatter, "{parameter} -> {}", function.result),
            },
            // Never part of what is shown.
            Type::Identity(_) => Ok(()),
        }
    }
}

fn instantiate_all(types: &[Type], arguments: &[Type]) -> Vec<Type> {
    types.iter().map(|ty| ty.instantiate(arguments)).collect()
}

/// The name shown for a type parameter: a, b, …, z, a1, b1, …
pub fn parameter_name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}

/// A type class: a closed set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Every type.
    Any,
    /// int, float, bool, char.
    Scalar,
    /// int, float, char.
    Ordinal,
    /// int, float.
    Number,
    /// int, bool.
    Logical,
    /// The identities of functions: a class of its own, apart from all types of values, that no program can name.
    Function,
}

impl Class {
    /// All classes that a program can name.
    pub const ALL: [Class; 5] = [Class::Any, Class::Scalar, Class::Ordinal, Class::Number, Class::Logical];

    /// The name used in contexts: `a in number`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Any => "any",
            Class::Scalar => "scalar",
            Class::Ordinal => "ordinal",
            Class::Number => "number",
            Class::Logical => "logical",
            Class::Function => "function",
        }
    }

    /// The class with this name.
    pub fn by_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The scalar types in the class.
    pub fn scalars(self) -> &'static [ScalarType] {
        match self {
            Class::Any | Class::Scalar => &ScalarType::ALL,
            Class::Ordinal => &[ScalarType::Int, ScalarType::Float, ScalarType::Char],
            Class::Number => &[ScalarType::Int, ScalarType::Float],
            Class::Logical => &[ScalarType::Int, ScalarType::Bool],
            Class::Function => &[],
        }
    }

    /// Whether every member of `self` is a member of `other`.
    pub fn is_within(self, other: Class) -> bool {
        if self == Class::Function || other == Class::Function {
            return self == other;
        }
        other == Class::Any
            || (self != Class::Any && self.scalars().iter().all(|scalar| other.scalars().contains(scalar)))
    }
}

/// A polymorphic function type: `parameter -> result :: (a in c; …)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The class of each type parameter. Those of [`Class::Function`] come last and are not shown: they say which
    /// functions the parameter and the result hold.
    pub classes: Vec<Class>,
    /// The type of the function's one parameter.
    pub parameter: Type,
    /// The type of its result.
    pub result: Type,
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            parameter @ Type::Function(_) => write!(formatter, "({parameter}) -> {}", self.result)?,
            parameter => write!(formatter, "{parameter} -> {}", self.result)?,
        }
        let context: Vec<String> = (self.classes.iter().enumerate())
            .filter(|(_, class)| **class != Class::Function)
            .map(|(index, class)| format!("{} in {}", parameter_name(index), class.name()))
            .collect();
        if context.is_empty() { Ok(()) } else { write!(formatter, " :: ({})", context.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_as_they_are_written() {
        let nested = Type::pair(Type::pair(Type::INT, Type::BOOL), Type::pair(Type::sequence(Type::CHAR), Type::FLOAT));
        assert_eq!(nested.to_string(), "((int, bool), [char], float)");
        let scheme = Scheme {
            classes: vec![Class::Number],
            parameter: Type::pair(Type::sequence(Type::Parameter(0)), Type::INT),
            result: Type::Parameter(0),
        };
        assert_eq!(scheme.to_string(), "([a], int) -> a :: (a in number)");
    }

    #[test]
    fn functions_and_records_show_no_identities() {
        let [a, b, identity] = [Type::Parameter(0), Type::Parameter(1), Type::Parameter(2)];
        let function = Type::function(a.clone(), b.clone(), identity);
        let scheme = Scheme {
            classes: vec![Class::Any, Class::Any, Class::Function],
            parameter: Type::pair(function.clone(), a),
            result: b,
        };
        assert_eq!(scheme.to_string(), "(a -> b, a) -> b :: (a in any; b in any)");
        let datatype = Datatype {
            name: "pack".into(),
            id: 7,
            classes: vec![Class::Any, Class::Any, Class::Function],
            payload: function,
        };
        let which = Identity { function: 3, type_arguments: vec![], captured: vec![Type::INT, Type::BOOL] };
        assert_eq!(which.captured_tuple(), Some(Type::pair(Type::INT, Type::BOOL)));
        let arguments = vec![Type::INT, Type::BOOL, Type::Identity(Arc::new(which))];
        let record = Type::Record(Arc::new(datatype), arguments);
        assert_eq!(record.to_string(), "pack(int, bool)");
        let payload = record.payload().map(|payload| (payload.to_string(), payload.identity().map(|id| id.function)));
        assert_eq!(payload, Some(("int -> bool".to_owned(), Some(3))));
        let higher = Type::function(Type::function(Type::INT, Type::INT, Type::Parameter(0)), Type::INT, Type::INT);
        assert_eq!(higher.to_string(), "(int -> int) -> int");
    }

    #[test]
    fn classes_nest_as_in_the_manual() {
        assert!(Class::Number.is_within(Class::Ordinal));
        assert!(Class::Ordinal.is_within(Class::Scalar));
        assert!(Class::Logical.is_within(Class::Scalar));
        assert!(!Class::Number.is_within(Class::Logical));
        assert!(!Class::Any.is_within(Class::Scalar));
    }
}
