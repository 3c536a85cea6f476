//! What inference finds wrong, as data: the types, names, places and candidates that a message needs, and no words.
//!
//! Types are [`Resolved`] when a problem is found, because unification goes on afterwards. What can only be found out
//! with the table of types – whether an element would have fitted, or the arguments in the other order – is found out
//! then, too. The syntax of the text words it ([`crate::syntax::explain`]), and reads the text itself for that.
//!
//! ```text
//! types        types as they are known at a moment, and expressions with what advice asks of them
//! names        names that mean nothing, or mean it too early or twice
//! meeting      two types that should be one, and why they are not
//! calls        what is called, and with how many arguments
//! definition   functions, signatures and datatypes as a whole
//! warning      what means something, perhaps not what was intended
//! ```

pub(crate) mod calls;
pub(crate) mod definition;
pub(crate) mod meeting;
pub(crate) mod names;
pub(crate) mod types;
pub(crate) mod warning;

use calls::CallProblem;
use definition::DefinitionProblem;
use meeting::{Conflict, Meeting};
use names::NameProblem;
use nesl_span::Span;
use warning::Warning;

/// A problem with its place.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Where it is.
    pub span: Span,
    /// What is wrong.
    pub problem: Problem,
    /// Whether it was found in the call of what a call gives.
    pub juxtaposition: Option<Juxtaposition>,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    /// A name.
    Name(NameProblem),
    /// Two types that should be one.
    Meeting(Conflict, Meeting),
    /// A call.
    Call(CallProblem),
    /// A definition, or a function as it is used.
    Definition(DefinitionProblem),
    /// Nothing yet.
    Warning(Warning),
}

/// `f g(x)`, where `f` and `g` are names of functions: it calls what `f g` gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Juxtaposition {
    /// `f`.
    pub outer: Span,
    /// `g`.
    pub inner: Span,
    /// `(x)`.
    pub argument: Span,
}

impl Problem {
    /// Whether the program means nothing because of it.
    pub fn is_error(&self) -> bool {
        !matches!(self, Problem::Warning(_))
    }
}

impl From<NameProblem> for Problem {
    fn from(problem: NameProblem) -> Problem {
        Problem::Name(problem)
    }
}

impl From<CallProblem> for Problem {
    fn from(problem: CallProblem) -> Problem {
        Problem::Call(problem)
    }
}

impl From<DefinitionProblem> for Problem {
    fn from(problem: DefinitionProblem) -> Problem {
        Problem::Definition(problem)
    }
}

impl From<Warning> for Problem {
    fn from(warning: Warning) -> Problem {
        Problem::Warning(warning)
    }
}
