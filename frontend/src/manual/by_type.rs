//! Which functions have a type: `nesl apropos "[int] -> int"`.
//!
//! A function is found if it can be called so: its type parameters stand for whatever the type has in their place, if
//! their classes allow that. A type variable of the query stands for a type parameter alone.

use crate::ast::{TopLevelKind, TypeExpr, TypeExprKind};
use crate::syntax::nesl::parser;
use crate::ty::{Class, Scheme, Type};
use nesl_span::FileId;
use std::collections::HashMap;

/// A type that functions are to have.
pub(super) struct Query {
    parameter: TypeExpr,
    result: TypeExpr,
}

impl Query {
    /// The type that a text is, if it is that of a function.
    pub fn read(text: &str) -> Option<Query> {
        let parsed = parser::parse(FileId(0), &format!("function query(x) : {text};"));
        let form = parsed.forms.into_iter().next().filter(|_| text.contains("->") && parsed.diagnostics.is_empty())?;
        match form.kind {
            TopLevelKind::Function(function) => match function.signature?.type_expr.kind {
                TypeExprKind::Function(parameter, result) => Some(Query { parameter: *parameter, result: *result }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether functions of a type can be called so.
    pub fn is_met_by(&self, scheme: &Scheme) -> bool {
        let mut matching = Matching { classes: &scheme.classes, bound: HashMap::new() };
        matching.fits(&scheme.parameter, &self.parameter) && matching.fits(&scheme.result, &self.result)
    }
}

struct Matching<'s> {
    classes: &'s [Class],
    /// What type parameters stand for, as text.
    bound: HashMap<usize, String>,
}

impl Matching<'_> {
    fn fits(&mut self, ty: &Type, query: &TypeExpr) -> bool {
        match (ty, &query.kind) {
            (Type::Parameter(index), _) => self.allows(*index, query) && self.is_bound_to(*index, text(query)),
            (Type::Scalar(scalar), TypeExprKind::Scalar(wanted)) => scalar == wanted,
            (Type::Unit, TypeExprKind::Unit) => true,
            (Type::Sequence(element), TypeExprKind::Sequence(wanted)) => self.fits(element, wanted),
            (Type::Pair(..), TypeExprKind::Tuple(wanted)) => self.fits_all(ty, wanted),
            (Type::Record(datatype, arguments), TypeExprKind::Name(name)) => {
                arguments.is_empty() && datatype.name == name.symbol
            }
            (Type::Record(datatype, arguments), TypeExprKind::Record(name, wanted)) => {
                datatype.name == name.symbol
                    && arguments.len() == wanted.len()
                    && arguments.iter().zip(wanted).all(|(argument, wanted)| self.fits(argument, wanted))
            }
            (Type::Function(function), TypeExprKind::Function(parameter, result)) => {
                self.fits(&function.parameter, parameter) && self.fits(&function.result, result)
            }
            _ => false,
        }
    }

    /// A tuple is pairs to the right.
    fn fits_all(&mut self, ty: &Type, wanted: &[TypeExpr]) -> bool {
        match (ty, wanted) {
            (_, []) => false,
            (_, [last]) => self.fits(ty, last),
            (Type::Pair(first, rest), [wanted, others @ ..]) => self.fits(first, wanted) && self.fits_all(rest, others),
            _ => false,
        }
    }

    /// Whether the class of a type parameter has a type.
    fn allows(&self, index: usize, query: &TypeExpr) -> bool {
        match (self.classes.get(index), &query.kind) {
            (Some(Class::Any), _) | (Some(_), TypeExprKind::Name(_)) => true,
            (Some(class), TypeExprKind::Scalar(scalar)) => class.scalars().contains(scalar),
            _ => false,
        }
    }

    fn is_bound_to(&mut self, index: usize, text: String) -> bool {
        *self.bound.entry(index).or_insert_with(|| text.clone()) == text
    }
}

/// A type as text that is the same for equal types.
fn text(query: &TypeExpr) -> String {
    let all = |types: &[TypeExpr]| types.iter().map(text).collect::<Vec<_>>().join(", ");
    match &query.kind {
        TypeExprKind::Scalar(scalar) => scalar.to_string(),
        TypeExprKind::Name(name) => name.symbol.to_string(),
        TypeExprKind::Record(name, arguments) => format!("{}({})", name.symbol, all(arguments)),
        TypeExprKind::Sequence(element) => format!("[{}]", text(element)),
        TypeExprKind::Unit => "()".to_owned(),
        TypeExprKind::Tuple(parts) => format!("({})", all(parts)),
        TypeExprKind::Function(parameter, result) => format!("({} -> {})", text(parameter), text(result)),
        TypeExprKind::Error => String::new(),
    }
}
