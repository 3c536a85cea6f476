//! What the verifier finds, and how it says so.

use crate::program::{FunctionId, GlobalId, Register, RegisterType, SiteId};
use nesl_prim::ScalarOp;
use nesl_span::Span;
use std::fmt;

/// Something wrong with a program: a bug of whatever made it.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyError {
    /// The function or step: `function qs@[int]`, `step 2`, `main`.
    pub within: String,
    /// The instruction as text, if it is about one.
    pub instruction: Option<String>,
    /// The source it came from, if it is about a function.
    pub span: Option<Span>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// Two functions have the same name.
    NameTwice,
    /// A register without a type.
    UnknownRegister(Register),
    /// A register that is used before its definition, or that has none.
    Undefined(Register),
    /// A register that is defined in a block and used outside it.
    OutOfScope(Register),
    /// A second definition of a register.
    DefinedTwice(Register),
    /// Too many or too few operands.
    OperandCount {
        /// As many as are needed; for a variadic operation at least.
        expected: usize,
        /// As many as there are.
        found: usize,
    },
    /// An operand of another type.
    OperandType {
        /// Its position, from 0.
        position: usize,
        /// What is needed.
        expected: RegisterType,
        /// What it is.
        found: RegisterType,
    },
    /// Marks that are not one for each operand or result.
    Marks {
        /// How many operands or results there are.
        expected: usize,
        /// How many marks.
        found: usize,
    },
    /// A register that is read or dropped after a use that is marked as its last.
    Spent(Register),
    /// An operand that the result cannot be written over, marked as one that it can.
    NotInPlace {
        /// Its position, from 0.
        position: usize,
    },
    /// Results that are said to be put one after another, which no instruction behind does.
    NotBeside,
    /// An instruction that cannot be in the group where it is, as text.
    NotInGroup(String),
    /// A group that yields something else than different registers that it defines.
    GroupYields,
    /// `map` without a column.
    NoColumn,
    /// A reduction or scan with an operator that has no identity.
    NoIdentity(ScalarOp),
    /// The index of what an operator chooses that chooses none of its operands.
    NoChoice(ScalarOp),
    /// Results that are not what the operation, the called function or the step gives.
    Results {
        /// What is given.
        expected: Vec<RegisterType>,
        /// What is named.
        found: Vec<RegisterType>,
    },
    /// A block that yields other types than the instruction defines.
    Yields {
        /// The types of the instruction's results.
        expected: Vec<RegisterType>,
        /// The types that the block yields.
        found: Vec<RegisterType>,
    },
    /// A call that is gone and was not noted, or was after those that it led to.
    UnknownSite(SiteId),
    /// A function that does not exist.
    UnknownFunction(FunctionId),
    /// A function that takes or gives other registers than the shapes of the `each` that names it say.
    Version {
        /// The function.
        function: FunctionId,
        /// What it takes or gives.
        expected: Vec<RegisterType>,
        /// What the shapes say.
        found: Vec<RegisterType>,
    },
    /// Inputs of a step that are not the parameters of its function.
    Inputs {
        /// The types of the parameters.
        expected: Vec<RegisterType>,
        /// The inputs; none where a global comes from an earlier program.
        found: Vec<Option<Vec<RegisterType>>>,
    },
    /// An argument outside main, or one that main does not have.
    UnknownArgument(u32),
    /// The default of a parameter that is not one value of its shape.
    Default,
    /// A global that main's prelude does not compute.
    UnknownGlobal(GlobalId),
}

/// Types between commas.
struct Types<'a>(&'a [RegisterType]);

impl fmt::Display for Types<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.0.iter().map(RegisterType::to_string).collect();
        write!(formatter, "({})", types.join(", "))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NameTwice => write!(formatter, "another function has the same name"),
            Problem::UnknownRegister(register) => write!(formatter, "%{} has no type", register.0),
            Problem::Undefined(register) => write!(formatter, "%{} is used before it is defined", register.0),
            Problem::OutOfScope(register) => {
                write!(formatter, "%{} is used outside the block that defines it", register.0)
            }
            Problem::DefinedTwice(register) => write!(formatter, "%{} is defined twice", register.0),
            Problem::OperandCount { expected, found } => {
                write!(formatter, "needs {expected} operands, has {found}")
            }
            Problem::OperandType { position, expected, found } => {
                write!(formatter, "operand {position} should be {expected}, is {found}")
            }
            Problem::Marks { expected, found } => write!(formatter, "{found} marks on {expected} registers"),
            Problem::Spent(register) => write!(formatter, "%{} is used after its last use", register.0),
            Problem::NotInPlace { position } => {
                write!(formatter, "the result cannot be written over operand {position}")
            }
            Problem::NotBeside => write!(formatter, "nothing puts these results one after another"),
            Problem::NotInGroup(instruction) => write!(formatter, "`{instruction}` cannot be in this group"),
            Problem::GroupYields => write!(formatter, "a group yields other than different registers that it defines"),
            Problem::NoColumn => write!(formatter, "no operand is a column"),
            Problem::NoIdentity(op) => write!(formatter, "{op} has no identity"),
            Problem::NoChoice(op) => write!(formatter, "{op} chooses none of its operands"),
            Problem::Results { expected, found } => {
                write!(formatter, "gives {}, not {}", Types(expected), Types(found))
            }
            Problem::Yields { expected, found } => {
                write!(formatter, "a block yields {} for {}", Types(found), Types(expected))
            }
            Problem::UnknownSite(site) => write!(formatter, "there is no site {} before", site.0),
            Problem::UnknownFunction(function) => write!(formatter, "there is no function {}", function.0),
            Problem::Version { function, expected, found } => write!(
                formatter,
                "function {} has {} where the shapes of the each say {}",
                function.0,
                Types(expected),
                Types(found)
            ),
            Problem::Inputs { expected, found } => {
                let found: Vec<String> = found
                    .iter()
                    .map(|types| types.as_ref().map_or("a global".to_owned(), |types| Types(types).to_string()))
                    .collect();
                write!(formatter, "the function takes {}, the inputs are {}", Types(expected), found.join(", "))
            }
            Problem::UnknownArgument(argument) => write!(formatter, "there is no argument {argument} here"),
            Problem::Default => write!(formatter, "does not give one value of the shape of the parameter"),
            Problem::UnknownGlobal(global) => write!(formatter, "no step of the prelude computes global {}", global.0),
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.within, self.problem)?;
        match &self.instruction {
            // The blocks of an `if` are long; its first line tells which one it is.
            Some(text) => write!(formatter, ": {}", text.lines().next().unwrap_or("")),
            None => Ok(()),
        }
    }
}

impl std::error::Error for VerifyError {}
