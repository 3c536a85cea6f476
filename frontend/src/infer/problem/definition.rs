//! Functions, signatures and datatypes as a whole.

use super::types::Resolved;
use crate::ast::Symbol;
use nesl_span::Span;

/// What is wrong with a definition, or with a function as it is used.
#[derive(Clone, Debug)]
pub(crate) enum DefinitionProblem {
    /// A signature that is not the type of a function.
    NotAFunctionType,
    /// A function that has neither a body nor a type.
    NeitherBodyNorType(Symbol),
    /// A function of the library without a body that is not built in.
    NotBuiltIn(Symbol),
    /// A function without a body is needed to compute a value.
    NoBody {
        /// The function.
        function: Symbol,
        /// The one that is mentioned, if it is not that one but needs it.
        caller: Option<Symbol>,
        /// Where it is declared.
        declared: Span,
    },
    /// A local function that uses itself.
    LocalRecursion {
        /// Its name.
        name: Symbol,
        /// Where it is defined.
        defined: Span,
    },
    /// Nothing determines which function is called.
    Undetermined,
    /// Values of this type, which hold functions, are compared.
    Compared(Resolved),
    /// A function that sets the seed of random numbers, where the order of evaluation is open.
    Seeding {
        /// The function.
        name: Symbol,
        /// Where it is.
        place: SeedingPlace,
    },
    /// A datatype that would contain itself.
    RecursiveDatatype(Symbol),
    /// A wrong number of types for a datatype.
    TypeArguments {
        /// The datatype.
        name: Symbol,
        /// As many as it has parameters.
        wanted: usize,
        /// As many as there are.
        given: usize,
    },
    /// A type behind what is no pattern.
    TypeOfExpression,
}

/// Where the seed of random numbers may not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedingPlace {
    /// In an apply-to-each.
    Each,
    /// In a lambda.
    Lambda,
    /// Nowhere in sight: the function is used as a value.
    Value,
}
