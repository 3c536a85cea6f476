//! Calls: of what is no function, with too many or too few arguments, with names of parameters that are none.

use super::meeting::Called;
use super::types::{Operand, Resolved};
use crate::ast::Symbol;
use nesl_span::Span;

/// What is wrong with a call.
#[derive(Clone, Debug)]
pub(crate) enum CallProblem {
    /// What is called is no function.
    NotAFunction {
        /// Its name, if it is a name.
        name: Option<Symbol>,
        /// What is called.
        called: Box<Operand>,
        /// Whether it hides a function of the library.
        is_hiding: bool,
        /// What follows it.
        argument: Box<Operand>,
        /// Whether that is the name of a function.
        is_before_function: bool,
    },
    /// A function whose element is taken: `f[x]`.
    ElementOfFunction {
        /// The function.
        name: Symbol,
        /// What stands in the brackets.
        index: Span,
    },
    /// A function that is subtracted from: `f -x`.
    SubtractedFrom {
        /// The function.
        name: Symbol,
        /// What is subtracted.
        operand: Span,
    },
    /// An operator of the user's that does not take two operands.
    NotTwoOperands {
        /// The operator.
        operator: Symbol,
        /// What it takes.
        wanted: Resolved,
    },
    /// A wrong number of arguments.
    Count {
        /// The function.
        function: Called,
        /// The parts of its parameter as its definition writes them.
        parameters: Vec<String>,
        /// How many arguments there are.
        count: usize,
        /// All of them together.
        argument: Box<Operand>,
        /// The first of its parameters that are passed by name, if it has such.
        keyword: Option<Symbol>,
    },
    /// Arguments by position that have to be passed by name.
    ByPosition {
        /// The function.
        name: Symbol,
        /// How many it takes by position.
        wanted: usize,
        /// How many there are.
        given: usize,
        /// The parameters of those that are too many, and these arguments. There is at least one.
        by_name: Vec<(Symbol, Span)>,
        /// Where the function is defined, if that is in a text of the user.
        defined: Option<Span>,
        /// Where it is called.
        called: Span,
    },
    /// No arguments by position, though the function takes some.
    OnlyByName(Symbol),
    /// An argument by name for a function that takes none of these.
    NoneByName(Symbol),
    /// A name that none of the parameters has.
    UnknownParameter {
        /// The function.
        function: Symbol,
        /// The name.
        name: Symbol,
        /// The parameters that are passed by name.
        known: Vec<Symbol>,
    },
    /// A parameter that is passed a second time.
    PassedTwice(Symbol),
    /// An argument by name outside of a call.
    ByNameOutside(Symbol),
    /// An argument by name for a function value.
    ByNameToValue,
}
