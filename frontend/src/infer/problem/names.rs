//! Names that mean nothing, or mean something too early, or twice.

use crate::ast::Symbol;
use nesl_span::Span;

/// What is wrong with a name.
#[derive(Clone, Debug)]
pub(crate) enum NameProblem {
    /// Nothing has this name.
    Unknown {
        /// The name.
        name: Symbol,
        /// Whether it is called.
        is_called: bool,
        /// Whether it is what is being computed: a value that uses itself.
        is_own: bool,
        /// The known names that are the most like it; none if nobody has looked for them.
        near: Option<Vec<Symbol>>,
        /// What stands behind it, one after another, as if it were called. What is wrong there may be of no interest.
        arguments: Vec<Span>,
    },
    /// An unknown name before `<-`, which reads elements.
    UnknownBeforeRead(Symbol),
    /// This point stands in a name behind what is no file.
    Point,
    /// A file where a value should be.
    File(Symbol),
    /// A second variable of one name in a pattern.
    Twice {
        /// The name.
        name: Symbol,
        /// Where the first is.
        first: Span,
    },
    /// A type variable that a context lists a second time.
    VariableTwice(Symbol),
    /// No type class has this name.
    UnknownClass(Symbol),
    /// No type has this name.
    UnknownType {
        /// The name.
        name: Symbol,
        /// Whether it has no arguments, as type variables have none.
        may_be_variable: bool,
    },
    /// A pattern that takes apart what is no datatype.
    NoDatatype {
        /// The name.
        name: Symbol,
        /// The datatype whose name is the most like it.
        near: Option<Symbol>,
    },
    /// A value is used before it is computed.
    Early {
        /// The name that is used.
        name: Symbol,
        /// The name of the value, if it has one.
        value: Option<Symbol>,
        /// Whether the name is that of the value, not of a function that uses it.
        is_direct: bool,
        /// Where the value is computed.
        computed: Span,
    },
}
