//! Two types that should be one: where they meet, and why they are different.

use super::types::{FunctionName, Operand, Resolved};
use crate::ast::{Pattern, Symbol, UnaryOp};
use crate::ty::Class;
use nesl_span::Span;

/// Why two types cannot be one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Conflict {
    /// Their shapes differ.
    Shape,
    /// What is given is not in the class that is wanted.
    Class {
        /// The class.
        wanted: Class,
        /// What is given.
        given: Resolved,
    },
    /// What is wanted is not in the class that is given.
    Member {
        /// What is wanted.
        wanted: Resolved,
        /// The class.
        given: Class,
    },
    /// Neither class lies within the other.
    Classes {
        /// That of what is wanted.
        wanted: Class,
        /// That of what is given.
        given: Class,
        /// How many parameters the function around has; none outside of functions.
        parameters: Option<usize>,
    },
    /// Two function values that are different functions.
    Functions(FunctionName, FunctionName),
    /// A type would contain itself.
    Infinite,
}

/// Where two types meet.
#[derive(Clone, Debug)]
pub(crate) enum Meeting {
    /// An expression and what the construct around it wants.
    Wanted {
        /// Who wants it.
        subject: Subject,
        /// The expression.
        given: Operand,
        /// What is wanted.
        wanted: Resolved,
    },
    /// The branches of a conditional.
    Branches {
        /// The one behind `then`.
        then_branch: Operand,
        /// The one behind `else`.
        else_branch: Operand,
        /// If the second is a tuple without parentheses, the type of its first part.
        before_comma: Option<Resolved>,
    },
    /// Elements of a sequence.
    Elements {
        /// The first, with the type of those before the other.
        first: Operand,
        /// One that is different.
        other: Operand,
    },
    /// What an apply-to-each walks over, which is no sequence.
    Source(Operand),
    /// What an element is taken of, which is no sequence.
    Indexed {
        /// That.
        sequence: Operand,
        /// Whether the index is a literal.
        is_literal: bool,
    },
    /// What elements are counted of, which is no sequence.
    Counted(Operand),
    /// What a pattern binds and the type behind the pattern.
    Annotation {
        /// The pattern.
        pattern: Box<Pattern>,
        /// The type of what it binds.
        bound: Resolved,
        /// The type that stands there.
        written: Resolved,
        /// Where the value is that it binds.
        value: Option<Span>,
    },
    /// A pattern and what it takes apart.
    Pattern {
        /// The type that the pattern takes apart.
        pattern: Resolved,
        /// What it is to take apart.
        matched: Matched,
        /// The type of that.
        given: Resolved,
        /// Where that is.
        value: Span,
    },
    /// The body of a function, and its signature or what its callers take it for.
    Result {
        /// The function.
        function: Symbol,
        /// Where its name stands.
        name: Span,
        /// Its body.
        body: Operand,
        /// What the signature or the callers say.
        wanted: Resolved,
        /// The signature, if there is one.
        declared: Option<Span>,
    },
    /// The operands of an operator.
    Operands {
        /// The operator.
        operator: Symbol,
        /// The left operand.
        left: Box<Operand>,
        /// The right operand.
        right: Box<Operand>,
        /// Whether the left one does not fit; else the right one does not, or both do not fit together.
        is_left: bool,
        /// What is wanted of that operand.
        wanted: Resolved,
        /// Whether the operator wants two operands of one type.
        wants_same: bool,
    },
    /// An argument of a named function and the parameter.
    Argument(Box<Argument>),
    /// Arguments of a named function that fit one by one, but not together.
    Arguments {
        /// The function.
        function: Called,
        /// The type of all of them.
        given: Resolved,
    },
    /// The argument of a function value.
    Applied {
        /// The function value.
        function: Box<Operand>,
        /// Its argument.
        argument: Box<Operand>,
        /// The type of its parameter.
        wanted: Resolved,
    },
    /// A call of what is not known to be a function.
    Call,
    /// The argument of a datatype.
    TypeArgument(Symbol),
}

/// Who wants an expression to have a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subject {
    /// A conditional its condition.
    Condition,
    /// An apply-to-each its filter.
    Filter,
    /// An element reference its index.
    Index,
    /// A range its start.
    RangeStart,
    /// A range its end.
    RangeEnd,
    /// A range its stride.
    RangeStride,
    /// Whoever asked for a value of this type.
    Value,
    /// An operator its operand.
    Operator(UnaryOp),
    /// The parameter of this name its default.
    Default(Symbol),
    /// A parameter that is passed by name.
    Keyword {
        /// The function.
        function: Symbol,
        /// The parameter.
        keyword: Symbol,
    },
}

/// What a pattern takes apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Matched {
    /// The parameter as the signature declares it.
    Declared,
    /// What the functions of the same group pass.
    Passed,
    /// The value of an assignment.
    Assigned,
    /// The value of a binding.
    Bound,
    /// An element of the sequence that is walked over.
    Element,
    /// What a record of this datatype wraps.
    Payload(Symbol),
}

/// A named function that is called.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    /// Its name.
    pub name: Symbol,
    /// Where that stands in the call.
    pub span: Span,
    /// Where it is defined, if that is in a text of the user.
    pub defined: Option<Span>,
    /// The type of its parameter there.
    pub parameter: Resolved,
}

/// An argument that does not fit. Types are those that the arguments before it leave, if nothing else is said.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// The function.
    pub function: Called,
    /// Whether that constructs records.
    pub is_constructor: bool,
    /// Which argument it is.
    pub index: usize,
    /// Of how many; one too if the arguments are not a tuple.
    pub count: usize,
    /// The parameter as its definition writes it.
    pub parameter: Option<String>,
    /// The argument.
    pub given: Operand,
    /// What is wanted.
    pub wanted: Resolved,
    /// The type of the argument, without regard to those before.
    pub alone: Resolved,
    /// The arguments before it.
    pub before: Vec<Operand>,
    /// The one of these that must have the same type.
    pub twin: Option<usize>,
    /// Whether an element of it would fit.
    pub element_fits: bool,
    /// Whether it would fit as an element of what is wanted.
    pub fits_as_element: bool,
    /// The two arguments, if they would fit in the other order.
    pub swapped: Option<[Span; 2]>,
}
