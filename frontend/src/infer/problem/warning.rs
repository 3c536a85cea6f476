//! What means something, perhaps not what was intended.

use super::types::Resolved;
use crate::ast::Symbol;
use crate::ty::Class;
use nesl_span::Span;

/// Something that may not be meant.
#[derive(Clone, Debug)]
pub(crate) enum Warning {
    /// A signature whose type variable stands for less than it says.
    Promise {
        /// The type variable.
        variable: Symbol,
        /// Its class according to the signature.
        class: Class,
        /// The type of the parameter that holds.
        parameter: Box<Resolved>,
        /// The type of the result that holds.
        result: Box<Resolved>,
    },
    /// A definition that hides one of the library.
    Shadowing(Symbol),
    /// A definition that takes the place of one with another type.
    Redefinition {
        /// The name.
        name: Symbol,
        /// A function that keeps what the name meant.
        keeper: Option<Symbol>,
    },
    /// A second definition in one text.
    DefinedTwice(Symbol),
    /// A second definition of a datatype.
    DatatypeTwice(Symbol),
    /// A name that nothing mentions.
    Unused {
        /// The name.
        name: Symbol,
        /// Whether it is all that its binding binds.
        is_whole: bool,
    },
    /// A filter that keeps all elements, or none.
    ConstantFilter(bool),
    /// `-base ^ exponent`.
    NegatedPower {
        /// The base.
        base: Span,
        /// The exponent.
        exponent: Span,
    },
    /// `base ^ left ^ right`.
    PowerOfPower {
        /// The base.
        base: Span,
        /// Whether a sign stands before `left`.
        is_negated: bool,
        /// The base of the exponent.
        left: Span,
        /// The exponent of the exponent.
        right: Span,
    },
    /// A name that is spelled as another one that it does not mean.
    Capitals {
        /// As it is spelled.
        written: String,
        /// As what it means is spelled.
        bound_as: String,
        /// Where that is bound.
        bound: Span,
        /// Where the one is bound that is spelled so.
        hidden: Span,
    },
}
