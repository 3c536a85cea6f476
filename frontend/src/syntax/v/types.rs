//! The types of V, as declarations write them and messages show them.

use crate::ast::{Name, Symbol, TypeExpr, TypeExprKind};
use crate::ty::{self, Datatype};
use nesl_prim::ScalarType;
use nesl_span::Span;
use std::fmt;
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum Type {
    Int,
    Double,
    Bool,
    Char,
    /// What a function without a value gives.
    Void,
    Vector(Arc<Type>),
    /// A struct that V defines.
    Struct(Symbol),
    /// What a function of NESL gives: V takes it apart by functions of NESL.
    Pair(Arc<Type>, Arc<Type>),
    /// A datatype of NESL.
    Record(Arc<Datatype>, Vec<Type>),
    /// Not known: the elements of `[]`, or because of a mistake that has been reported. It fits every type.
    Unknown,
}

impl Type {
    pub fn vector(element: Type) -> Type {
        Type::Vector(Arc::new(element))
    }

    /// Whether it counts or measures: what arithmetic works on.
    pub fn is_number(&self) -> bool {
        matches!(self, Type::Int | Type::Double | Type::Bool | Type::Char | Type::Unknown)
    }

    /// Whether part of it is not known.
    pub fn is_partly_unknown(&self) -> bool {
        match self {
            Type::Unknown => true,
            Type::Vector(element) => element.is_partly_unknown(),
            Type::Pair(first, rest) => first.is_partly_unknown() || rest.is_partly_unknown(),
            Type::Record(_, arguments) => arguments.iter().any(Type::is_partly_unknown),
            _ => false,
        }
    }

    /// The same, with other names for some structs.
    pub fn renamed(&self, name: &impl Fn(&Symbol) -> Option<Symbol>) -> Type {
        match self {
            Type::Vector(element) => Type::vector(element.renamed(name)),
            Type::Struct(symbol) => Type::Struct(name(symbol).unwrap_or_else(|| symbol.clone())),
            Type::Pair(first, rest) => Type::Pair(Arc::new(first.renamed(name)), Arc::new(rest.renamed(name))),
            Type::Record(datatype, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.renamed(name));
                Type::Record(Arc::clone(datatype), arguments.collect())
            }
            other => other.clone(),
        }
    }

    /// Whether a value of one type is one of the other as it is.
    pub fn fits(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            (Type::Vector(one), Type::Vector(other)) => one.fits(other),
            (Type::Pair(first, rest), Type::Pair(other_first, other_rest)) => {
                first.fits(other_first) && rest.fits(other_rest)
            }
            // A struct of a file that is imported behind a name, as another file gives it; core knows whether it is.
            (Type::Struct(name), Type::Record(datatype, _)) | (Type::Record(datatype, _), Type::Struct(name)) => {
                name.rsplit_once('.').is_some_and(|(_, own)| *own == *datatype.name)
            }
            (Type::Record(one, arguments), Type::Record(other, others)) => {
                one == other && arguments.iter().zip(others).all(|(one, other)| one.fits(other))
            }
            _ => self == other,
        }
    }

    /// The type with what is not known of it taken from another one that fits.
    pub fn refined(&self, other: &Type) -> Type {
        match (self, other) {
            (Type::Unknown, other) => other.clone(),
            (Type::Vector(one), Type::Vector(other)) => Type::vector(one.refined(other)),
            _ => self.clone(),
        }
    }

    /// The declaration of a name of this type: `int v[*]`.
    pub fn declared(&self, name: &str) -> String {
        let (mut base, mut dimensions) = (self, String::new());
        while let Type::Vector(element) = base {
            (base, dimensions) = (element, dimensions + "[*]");
        }
        format!("{base} {name}{dimensions}")
    }

    /// The tree of the type, if all of it is known.
    pub fn tree(&self, span: Span) -> Option<TypeExpr> {
        let kind = match self {
            Type::Int => TypeExprKind::Scalar(ScalarType::Int),
            Type::Double => TypeExprKind::Scalar(ScalarType::Float),
            Type::Bool => TypeExprKind::Scalar(ScalarType::Bool),
            Type::Char => TypeExprKind::Scalar(ScalarType::Char),
            Type::Void => TypeExprKind::Unit,
            Type::Vector(element) => TypeExprKind::Sequence(Box::new(element.tree(span)?)),
            Type::Struct(symbol) => TypeExprKind::Name(Name { symbol: symbol.clone(), span }),
            Type::Pair(first, rest) => TypeExprKind::Tuple(vec![first.tree(span)?, rest.tree(span)?]),
            Type::Record(datatype, arguments) => {
                let name = Name { symbol: datatype.name.clone(), span };
                match arguments.is_empty() {
                    true => TypeExprKind::Name(name),
                    false => {
                        let arguments = arguments.iter().map(|argument| argument.tree(span));
                        TypeExprKind::Record(name, arguments.collect::<Option<_>>()?)
                    }
                }
            }
            Type::Unknown => return None,
        };
        Some(TypeExpr { kind, span })
    }

    /// The type that core has for something; not known where V has none for it.
    pub fn of(ty: &ty::Type, is_structure: &dyn Fn(&str) -> bool) -> Type {
        let of = |ty| Type::of(ty, is_structure);
        match ty {
            ty::Type::Scalar(ScalarType::Int) => Type::Int,
            ty::Type::Scalar(ScalarType::Float) => Type::Double,
            ty::Type::Scalar(ScalarType::Bool) => Type::Bool,
            ty::Type::Scalar(ScalarType::Char) => Type::Char,
            ty::Type::Unit => Type::Void,
            ty::Type::Sequence(element) => Type::vector(of(element)),
            ty::Type::Pair(first, rest) => Type::Pair(Arc::new(of(first)), Arc::new(of(rest))),
            ty::Type::Record(datatype, _) if is_structure(&datatype.name) => Type::Struct(datatype.name.clone()),
            ty::Type::Record(datatype, arguments) => {
                Type::Record(Arc::clone(datatype), arguments.iter().map(of).collect())
            }
            ty::Type::Function(_) | ty::Type::Identity(_) | ty::Type::Parameter(_) => Type::Unknown,
        }
    }
}

/// As V writes it: `int[*]`, `struct point`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int => f.write_str("int"),
            Type::Double => f.write_str("double"),
            Type::Bool => f.write_str("bool"),
            Type::Char => f.write_str("char"),
            Type::Void => f.write_str("void"),
            Type::Vector(element) => {
                // The dimensions of C are read from left to right.
                write!(f, "{element}[*]")
            }
            Type::Struct(name) => write!(f, "struct {name}"),
            Type::Pair(first, rest) => write!(f, "({first}, {rest})"),
            Type::Record(datatype, _) => write!(f, "{}", datatype.name),
            Type::Unknown => f.write_str("?"),
        }
    }
}
