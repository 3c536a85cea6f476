//! The types of random programs of V.

use crate::random::Random;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Double,
    Bool,
    Char,
    /// The struct of the program.
    Struct,
    Vector(Box<Type>),
}

impl Type {
    pub fn vector(element: Type) -> Type {
        Type::Vector(Box::new(element))
    }

    /// A declaration of a name.
    pub fn declared(&self, name: &str) -> String {
        format!("{} {name}{}", self.base(), self.dimensions())
    }

    /// What stands before the name.
    pub fn base(&self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Double => "double",
            Type::Bool => "bool",
            Type::Char => "char",
            Type::Struct => "struct p",
            Type::Vector(element) => element.base(),
        }
    }

    /// What stands behind it.
    pub fn dimensions(&self) -> String {
        match self {
            Type::Vector(element) => format!("[*]{}", element.dimensions()),
            _ => String::new(),
        }
    }

    /// A type of a variable.
    pub fn random(random: &mut Random) -> Type {
        match random.below(20) {
            0..6 => Type::Int,
            6..8 => Type::Double,
            8..10 => Type::Bool,
            10 => Type::Char,
            11..13 => Type::Struct,
            13..16 => Type::vector(Type::Int),
            16 => Type::vector(Type::Char),
            17 => Type::vector(Type::Struct),
            18 => Type::vector(Type::Double),
            _ => Type::vector(Type::vector(Type::Int)),
        }
    }
}

/// The struct of a program: its fields, by name.
pub(super) struct Struct(pub Vec<(&'static str, Type)>);

impl Struct {
    pub fn random(random: &mut Random) -> Struct {
        let mut fields = vec![("a", Type::Int)];
        let more = [("b", Type::Double), ("c", Type::vector(Type::Int)), ("d", Type::Bool)];
        fields.extend(more.into_iter().filter(|_| random.chance(60)));
        Struct(fields)
    }

    /// Its definition.
    pub fn text(&self) -> String {
        let fields: Vec<String> = self.0.iter().map(|(name, ty)| format!("{};", ty.declared(name))).collect();
        format!("struct p {{ {} }};\n", fields.join(" "))
    }
}
