//! Types, type classes and type schemes: the vocabulary that inference, core and the later stages share.

use nesl_prim::ScalarType;
use std::fmt;
use std::sync::Arc;

/// A type of typed core.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `int`, `float`, `bool`, `char`.
    Scalar(ScalarType),
    /// `(a, b)`; longer tuples nest to the right.
    Pair(Arc<Type>, Arc<Type>),
    /// `[a]`.
    Sequence(Arc<Type>),
    /// The `n`th type parameter of the enclosing function's scheme.
    Parameter(usize),
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

    /// The type with its parameters replaced by `arguments`.
    ///
    /// # Panics
    /// If a parameter has no argument: core is built so that each has.
    pub fn instantiate(&self, arguments: &[Type]) -> Type {
        match self {
            Type::Scalar(scalar) => Type::Scalar(*scalar),
            Type::Pair(first, rest) => Type::pair(first.instantiate(arguments), rest.instantiate(arguments)),
            Type::Sequence(element) => Type::sequence(element.instantiate(arguments)),
            Type::Parameter(index) => arguments[*index].clone(),
        }
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => write!(formatter, "{scalar}"),
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
        }
    }
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
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 5] = [Class::Any, Class::Scalar, Class::Ordinal, Class::Number, Class::Logical];

    /// The name used in contexts: `a in number`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Any => "any",
            Class::Scalar => "scalar",
            Class::Ordinal => "ordinal",
            Class::Number => "number",
            Class::Logical => "logical",
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
        }
    }

    /// Whether every member of `self` is a member of `other`.
    pub fn is_within(self, other: Class) -> bool {
        other == Class::Any
            || (self != Class::Any && self.scalars().iter().all(|scalar| other.scalars().contains(scalar)))
    }
}

/// A polymorphic function type: `parameter -> result :: (a in c; …)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The class of each type parameter.
    pub classes: Vec<Class>,
    /// The type of the function's one parameter.
    pub parameter: Type,
    /// The type of its result.
    pub result: Type,
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} -> {}", self.parameter, self.result)?;
        if self.classes.is_empty() {
            return Ok(());
        }
        let context: Vec<String> = (self.classes.iter().enumerate())
            .map(|(index, class)| format!("{} in {}", parameter_name(index), class.name()))
            .collect();
        write!(formatter, " :: ({})", context.join("; "))
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
    fn classes_nest_as_in_the_manual() {
        assert!(Class::Number.is_within(Class::Ordinal));
        assert!(Class::Ordinal.is_within(Class::Scalar));
        assert!(Class::Logical.is_within(Class::Scalar));
        assert!(!Class::Number.is_within(Class::Logical));
        assert!(!Class::Any.is_within(Class::Scalar));
    }
}
