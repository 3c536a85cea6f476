//! What the verifier finds, and how it says so.

use crate::ast::Symbol;
use crate::core::print::names::Names;
use crate::core::print::types;
use crate::core::{FunctionId, GlobalId, VariableId};
use crate::ty::{Class, Type, parameter_name};
use nesl_span::Span;
use std::fmt;

/// Something wrong with core: a bug of whatever made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The function or form: `function qs`, `form 2`.
    pub within: String,
    /// The expression as text, if it is about one.
    pub expression: Option<String>,
    /// The source it came from.
    pub span: Option<Span>,
    /// What is wrong.
    pub problem: CoreProblem,
}

/// What is wrong with core.
#[derive(Clone, Debug, PartialEq)]
pub enum CoreProblem {
    /// A variable that is bound a second time.
    BoundTwice(VariableId),
    /// A variable whose number is not below the program's count of them.
    Uncounted(VariableId),
    /// A new variable with a number of before.
    OldNumber(VariableId),
    /// A variable that is mentioned where it is not bound.
    OutOfScope(VariableId),
    /// A function that does not exist.
    UnknownFunction(FunctionId),
    /// A global that does not exist.
    UnknownGlobal(GlobalId),
    /// A type parameter that the scheme around it does not have.
    UnknownParameter(usize),
    /// An expression whose type does not follow from its parts.
    Type {
        /// What follows.
        expected: Type,
        /// What it says.
        found: Type,
    },
    /// A part of another type than its place wants.
    Part {
        /// Which part.
        part: Constituent,
        /// What is wanted.
        expected: Type,
        /// What it is.
        found: Type,
    },
    /// A type that is not of the form that its place wants.
    Form {
        /// What is wanted: `a pair`.
        expected: &'static str,
        /// What it is.
        found: Type,
    },
    /// Too many or too few type arguments of a function, datatype or identity.
    TypeArguments {
        /// How many type parameters there are.
        expected: usize,
        /// How many arguments.
        found: usize,
    },
    /// A type argument that is not in the class of its parameter.
    Class {
        /// The class.
        expected: Class,
        /// The argument.
        found: Type,
    },
    /// The type of a function value that its identity does not have.
    Identity {
        /// What the identity has; none if there is no function value with it.
        expected: Option<(Type, Type)>,
        /// What is said.
        found: (Type, Type),
    },
    /// A captured value that is no variable.
    NoVariable,
    /// A function that is used as a value and not listed as one.
    Unlisted(FunctionId),
    /// A lambda that does not have the type parameters of the function around it.
    Lambda(FunctionId),
    /// The call of a function that nothing determines.
    CallsNobody,
    /// An apply-to-each over nothing.
    NoSources,
    /// A parameter of [`Class::Function`] before one of another class.
    ClassOrder,
    /// A built-in function that does not have this type.
    Intrinsic(String),
    /// A default that is not a function of any int with the type parameters of the function whose parameter it is, and
    /// the parameter's type.
    Default(Symbol),
    /// A form that reaches a function whose definition has not come yet.
    Missing(FunctionId),
    /// A lambda without a body.
    LambdaMissing,
    /// A global that gets what is not there in the value, or of another type.
    Target(GlobalId),
}

/// A part whose type its place determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constituent {
    /// The argument of a call.
    Argument,
    /// The condition of an `if`.
    Condition,
    /// The second branch of an `if`; the first one has its type.
    ElseBranch,
    /// The variable of a binding; the value has its type.
    Variable,
    /// The filter of an apply-to-each.
    Filter,
    /// An element of a sequence.
    Element,
    /// What a record wraps.
    Payload,
    /// The parameter of a function.
    Parameter,
    /// The body of a function.
    Body,
}

impl Constituent {
    fn name(self) -> &'static str {
        match self {
            Constituent::Argument => "argument",
            Constituent::Condition => "condition",
            Constituent::ElseBranch => "else branch",
            Constituent::Variable => "variable",
            Constituent::Filter => "filter",
            Constituent::Element => "element",
            Constituent::Payload => "payload",
            Constituent::Parameter => "parameter",
            Constituent::Body => "body",
        }
    }
}

/// A type as core has it, with functions and datatypes by their numbers.
fn text(ty: &Type) -> String {
    types::ty(ty, &Names::default())
}

fn arrow((parameter, result): &(Type, Type)) -> String {
    format!("{} -> {}", text(parameter), text(result))
}

impl fmt::Display for CoreProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoreProblem::BoundTwice(id) => write!(formatter, "#{} is bound twice", id.0),
            CoreProblem::Uncounted(id) => write!(formatter, "#{} is not below the number of variables", id.0),
            CoreProblem::OldNumber(id) => write!(formatter, "#{} may be bound in an earlier text", id.0),
            CoreProblem::OutOfScope(id) => write!(formatter, "#{} is not bound here", id.0),
            CoreProblem::UnknownFunction(id) => write!(formatter, "there is no function @{}", id.0),
            CoreProblem::UnknownGlobal(id) => write!(formatter, "there is no global @{}", id.0),
            CoreProblem::UnknownParameter(index) => {
                write!(formatter, "there is no type parameter {} here", parameter_name(*index))
            }
            CoreProblem::Type { expected, found } => {
                write!(formatter, "the type should be {}, is {}", text(expected), text(found))
            }
            CoreProblem::Part { part, expected, found } => {
                write!(formatter, "the {} should be {}, is {}", part.name(), text(expected), text(found))
            }
            CoreProblem::Form { expected, found } => write!(formatter, "{} is not the type of {expected}", text(found)),
            CoreProblem::TypeArguments { expected, found } => {
                write!(formatter, "{found} type arguments for {expected} parameters")
            }
            CoreProblem::Class { expected, found } => {
                write!(formatter, "the type argument {} is not in the class {}", text(found), expected.name())
            }
            CoreProblem::Identity { expected: None, .. } => write!(formatter, "no function value has this identity"),
            CoreProblem::Identity { expected: Some(expected), found } => {
                write!(formatter, "the function value is {}, not {}", arrow(expected), arrow(found))
            }
            CoreProblem::NoVariable => write!(formatter, "a captured value is no variable"),
            CoreProblem::Unlisted(id) => write!(formatter, "@{} is not among the functions used as values", id.0),
            CoreProblem::Lambda(id) => {
                write!(formatter, "the lambda @{} does not have the type parameters of the function around it", id.0)
            }
            CoreProblem::CallsNobody => write!(formatter, "calls a function that nothing determines"),
            CoreProblem::NoSources => write!(formatter, "an apply-to-each without sources"),
            CoreProblem::Intrinsic(ty) => write!(formatter, "no built-in function of this name is {ty}"),
            CoreProblem::ClassOrder => write!(formatter, "type parameters for functions do not come last"),
            CoreProblem::Default(name) => {
                write!(formatter, "the default of {name} is not a function of any int for this parameter")
            }
            CoreProblem::Missing(id) => write!(formatter, "reaches the function @{}, which is not defined", id.0),
            CoreProblem::LambdaMissing => write!(formatter, "a lambda without a body"),
            CoreProblem::Target(id) => write!(formatter, "the value has no part for the global @{}", id.0),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.within, self.problem)?;
        match &self.expression {
            Some(text) => write!(formatter, ": {text}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Violation {}
