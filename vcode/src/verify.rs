//! Checks that a program is one that an engine can run without checking.
//!
//! Each register is defined once and used only after that and in scope; operands and results are of the kinds that the tables
//! state; calls, blocks and steps agree with the functions they name. It runs after flattening, after every pass and when a
//! program is read from bytes. What it cannot see is a matter of the rows: equal lengths, checked indices.

use crate::build;
use crate::op::{Kind, VectorOp};
use crate::print::Printer;
use crate::program::{
    Block, Function, FunctionId, GlobalId, Input, Instruction, Op, Operand, Program, Register, RegisterType, Step,
};
use crate::shape::Shape;
use nesl_prim::{HostOp, ScalarOp, ScalarType};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};
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
    /// `map` without a column.
    NoColumn,
    /// A reduction or scan with an operator that has no identity.
    NoIdentity(ScalarOp),
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
    /// A function that does not exist.
    UnknownFunction(FunctionId),
    /// Inputs of a step that are not the parameters of its function.
    Inputs {
        /// The types of the parameters.
        expected: Vec<RegisterType>,
        /// The inputs; none where a global comes from an earlier program.
        found: Vec<Option<Vec<RegisterType>>>,
    },
    /// An argument outside main, or one that main does not have.
    UnknownArgument(u32),
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
            Problem::NoColumn => write!(formatter, "no operand is a column"),
            Problem::NoIdentity(op) => write!(formatter, "{op} has no identity"),
            Problem::Results { expected, found } => {
                write!(formatter, "gives {}, not {}", Types(expected), Types(found))
            }
            Problem::Yields { expected, found } => {
                write!(formatter, "a block yields {} for {}", Types(found), Types(expected))
            }
            Problem::UnknownFunction(function) => write!(formatter, "there is no function {}", function.0),
            Problem::Inputs { expected, found } => {
                let found: Vec<String> = found
                    .iter()
                    .map(|types| types.as_ref().map_or("a global".to_owned(), |types| Types(types).to_string()))
                    .collect();
                write!(formatter, "the function takes {}, the inputs are {}", Types(expected), found.join(", "))
            }
            Problem::UnknownArgument(argument) => write!(formatter, "there is no argument {argument} here"),
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

/// Checks a program.
///
/// # Errors
/// Everything that is wrong with it.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    for function in &program.functions {
        let scope = vec![State::Undefined; function.registers.len()];
        let mut checker = Checker { program, function, scope, errors: &mut errors };
        if !names.insert(function.name.as_str()) {
            checker.report(None, Problem::NameTwice);
        }
        for &parameter in &function.parameters {
            checker.define(None, parameter);
        }
        checker.block(&function.body, None);
    }
    let mut entries = Entries { program, errors: &mut errors, globals: HashMap::new(), arguments: None };
    for (index, step) in program.steps.iter().enumerate() {
        entries.step(&format!("step {index}"), step);
    }
    for main in &program.mains {
        // Main runs by itself: it sees no global of the steps.
        entries.globals.clear();
        entries.arguments = Some(main.parameters.iter().map(|parameter| &parameter.shape).collect());
        for (index, step) in main.prelude.iter().enumerate() {
            entries.step(&format!("main, step {index}"), step);
        }
        entries.step("main", &main.step);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The types of a function's parameters; none if a register has no type.
fn parameter_types(function: &Function) -> Option<Vec<RegisterType>> {
    function.parameters.iter().map(|register| function.registers.get(register.0 as usize).copied()).collect()
}

/// The types of operands; none if a register has no type.
fn operand_types(function: &Function, operands: &[Operand]) -> Option<Vec<RegisterType>> {
    let ty = |operand: &Operand| match operand {
        Operand::Register(register) => function.registers.get(register.0 as usize).copied(),
        Operand::Constant(value) => Some(RegisterType::Scalar(value.scalar_type())),
    };
    operands.iter().map(ty).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    InScope,
    OutOfScope,
}

struct Checker<'a> {
    program: &'a Program,
    function: &'a Function,
    scope: Vec<State>,
    errors: &'a mut Vec<VerifyError>,
}

impl Checker<'_> {
    fn report(&mut self, instruction: Option<&Instruction>, problem: Problem) {
        self.errors.push(VerifyError {
            within: format!("function {}", self.function.name),
            instruction: instruction.map(|instruction| Printer::default().instruction(self.program, instruction)),
            span: Some(instruction.map_or(self.function.span, |instruction| instruction.span)),
            problem,
        });
    }

    fn define(&mut self, instruction: Option<&Instruction>, register: Register) {
        match self.scope.get(register.0 as usize) {
            None => self.report(instruction, Problem::UnknownRegister(register)),
            Some(State::Undefined) => {}
            Some(State::InScope | State::OutOfScope) => self.report(instruction, Problem::DefinedTwice(register)),
        }
        if let Some(state) = self.scope.get_mut(register.0 as usize) {
            *state = State::InScope;
        }
    }

    /// The types of operands that are read here; none, and a report, if one of them cannot be.
    fn read(&mut self, instruction: Option<&Instruction>, operands: &[Operand]) -> Option<Vec<RegisterType>> {
        let mut sound = true;
        for operand in operands {
            let Operand::Register(register) = *operand else { continue };
            let problem = match self.scope.get(register.0 as usize) {
                Some(State::InScope) => continue,
                Some(State::Undefined) => Problem::Undefined(register),
                Some(State::OutOfScope) => Problem::OutOfScope(register),
                None => Problem::UnknownRegister(register),
            };
            sound = false;
            self.report(instruction, problem);
        }
        if sound { operand_types(self.function, operands) } else { None }
    }

    /// Checks a block of `owner`, or the body; yields the types of its results.
    fn block(&mut self, block: &Block, owner: Option<&Instruction>) -> Option<Vec<RegisterType>> {
        for instruction in &block.instructions {
            self.instruction(instruction);
        }
        let types = self.read(owner, &block.results);
        if owner.is_some() {
            for register in block.instructions.iter().flat_map(|instruction| &instruction.results) {
                if let Some(state) = self.scope.get_mut(register.0 as usize) {
                    *state = State::OutOfScope;
                }
            }
        }
        types
    }

    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(operands) = self.read(Some(instruction), &instruction.operands) {
            let checked = match &instruction.op {
                Op::Scalar(op) => check_scalar(*op, &operands).map(Some),
                Op::Map(op) => check_map(*op, &operands).map(Some),
                Op::Constants(constants) => {
                    check_types(&[], &operands).map(|()| Some(vec![RegisterType::Column(constants.scalar_type())]))
                }
                Op::Vector(op) => check_vector(*op, &operands).map(Some),
                Op::Host(op) => check_host(*op, &operands).map(Some),
                Op::Call(function) => self.check_call(*function, &operands),
                Op::If(..) => check_types(&[RegisterType::Scalar(ScalarType::Bool)], &operands).map(|()| None),
            };
            let named: Vec<Operand> = instruction.results.iter().map(|&result| result.into()).collect();
            match (checked, operand_types(self.function, &named)) {
                (Err(problem), _) => self.report(Some(instruction), problem),
                (Ok(Some(expected)), Some(found)) if expected != found => {
                    self.report(Some(instruction), Problem::Results { expected, found });
                }
                _ => {}
            }
        }
        if let Op::If(then_block, else_block) = &instruction.op {
            let named: Vec<Operand> = instruction.results.iter().map(|&result| result.into()).collect();
            for block in [then_block, else_block] {
                let yields = self.block(block, Some(instruction));
                if let (Some(found), Some(expected)) = (yields, operand_types(self.function, &named))
                    && found != expected
                {
                    self.report(Some(instruction), Problem::Yields { expected, found });
                }
            }
        }
        for &result in &instruction.results {
            self.define(Some(instruction), result);
        }
    }

    /// What a call gives; none where the function's own errors leave that open.
    fn check_call(&self, id: FunctionId, operands: &[RegisterType]) -> Result<Option<Vec<RegisterType>>, Problem> {
        let Some(function) = self.program.functions.get(id.0 as usize) else {
            return Err(Problem::UnknownFunction(id));
        };
        if let Some(parameters) = parameter_types(function) {
            check_types(&parameters, operands)?;
        }
        Ok(operand_types(function, &function.body.results))
    }
}

fn check_types(expected: &[RegisterType], found: &[RegisterType]) -> Result<(), Problem> {
    if expected.len() != found.len() {
        return Err(Problem::OperandCount { expected: expected.len(), found: found.len() });
    }
    let mismatch = expected.iter().zip(found).enumerate().find(|(_, (expected, found))| expected != found);
    match mismatch {
        Some((position, (&expected, &found))) => Err(Problem::OperandType { position, expected, found }),
        None => Ok(()),
    }
}

fn check_scalar(op: ScalarOp, operands: &[RegisterType]) -> Result<Vec<RegisterType>, Problem> {
    let expected: Vec<RegisterType> = op.row().operands.iter().map(|&scalar| RegisterType::Scalar(scalar)).collect();
    check_types(&expected, operands)?;
    Ok(vec![RegisterType::Scalar(op.row().result)])
}

fn check_map(op: ScalarOp, operands: &[RegisterType]) -> Result<Vec<RegisterType>, Problem> {
    // A scalar is as good as a column: compare with whichever is there.
    let expected: Vec<RegisterType> = (op.row().operands.iter().enumerate())
        .map(|(position, &scalar)| match operands.get(position) {
            Some(RegisterType::Scalar(_)) => RegisterType::Scalar(scalar),
            _ => RegisterType::Column(scalar),
        })
        .collect();
    check_types(&expected, operands)?;
    if !operands.iter().any(|ty| matches!(ty, RegisterType::Column(_))) {
        return Err(Problem::NoColumn);
    }
    Ok(vec![RegisterType::Column(op.row().result)])
}

fn check_host(op: HostOp, operands: &[RegisterType]) -> Result<Vec<RegisterType>, Problem> {
    let expected: Vec<RegisterType> = op.row().operands.iter().map(|&kind| kind.into()).collect();
    check_types(&expected, operands)?;
    Ok(op.results().map(RegisterType::from).collect())
}

fn check_vector(op: VectorOp, operands: &[RegisterType]) -> Result<Vec<RegisterType>, Problem> {
    let row = op.row();
    if let Some(operator) = op.operator().filter(|operator| operator.row().identity.is_none()) {
        return Err(Problem::NoIdentity(operator));
    }
    let too_few = operands.len() < row.operands.len();
    let count = if row.variadic && !too_few { operands.len() } else { row.operands.len() };
    let element = build::element_type(op, operands);
    let kinds = row.operands.iter().chain(std::iter::repeat(&row.operands[row.operands.len() - 1]));
    let expected: Vec<RegisterType> = (kinds.take(count))
        .map(|kind| match kind {
            Kind::Scalar(scalar) => RegisterType::Scalar(*scalar),
            Kind::Column(scalar) => RegisterType::Column(*scalar),
            // Where no operand tells T, each operand that should has another kind, so any T shows the mistake.
            Kind::ScalarT => RegisterType::Scalar(element.unwrap_or(ScalarType::Int)),
            Kind::ColumnT => RegisterType::Column(element.unwrap_or(ScalarType::Int)),
            Kind::Descriptor => RegisterType::Descriptor,
        })
        .collect();
    check_types(&expected, operands)?;
    Ok(build::result_type(op, operands).into_iter().collect())
}

/// Checks steps in the order in which they run.
struct Entries<'a> {
    program: &'a Program,
    errors: &'a mut Vec<VerifyError>,
    /// Shapes of the globals that earlier steps keep.
    globals: HashMap<GlobalId, &'a Shape>,
    /// Shapes of the arguments, in main.
    arguments: Option<Vec<&'a Shape>>,
}

impl<'a> Entries<'a> {
    fn report(&mut self, within: &str, problem: Problem) {
        self.errors.push(VerifyError { within: within.to_owned(), instruction: None, span: None, problem });
    }

    fn step(&mut self, within: &str, step: &'a Step) {
        let inputs: Result<Vec<_>, Problem> = step.inputs.iter().map(|input| self.input(input)).collect();
        let Some(function) = self.program.functions.get(step.function.0 as usize) else {
            return self.report(within, Problem::UnknownFunction(step.function));
        };
        match (inputs, parameter_types(function)) {
            (Err(problem), _) => self.report(within, problem),
            (Ok(found), Some(expected)) if !fits(&expected, &found) => {
                self.report(within, Problem::Inputs { expected, found });
            }
            _ => {}
        }
        let expected: Vec<RegisterType> = step.outputs.iter().flat_map(|output| output.shape.serial()).collect();
        if let Some(found) = operand_types(function, &function.body.results)
            && found != expected
        {
            self.report(within, Problem::Results { expected: found, found: expected });
        }
        for output in &step.outputs {
            if let Some(global) = output.global {
                self.globals.insert(global, &output.shape);
            }
        }
    }

    /// The registers of an input; none for a global of an earlier program.
    fn input(&self, input: &Input) -> Result<Option<Vec<RegisterType>>, Problem> {
        match (input, &self.arguments) {
            (Input::Seed, _) => Ok(Some(vec![RegisterType::Scalar(ScalarType::Int)])),
            (Input::Global(global), arguments) => match (self.globals.get(global), arguments) {
                (Some(shape), _) => Ok(Some(shape.serial())),
                (None, Some(_)) => Err(Problem::UnknownGlobal(*global)),
                (None, None) => Ok(None),
            },
            (Input::Argument(argument), Some(arguments)) => match arguments.get(*argument as usize) {
                Some(shape) => Ok(Some(shape.serial())),
                None => Err(Problem::UnknownArgument(*argument)),
            },
            (Input::Argument(argument), None) => Err(Problem::UnknownArgument(*argument)),
        }
    }
}

/// Whether inputs can be the parameters. What precedes the first and follows the last global of unknown shape must match;
/// such a global is at least one register.
fn fits(parameters: &[RegisterType], inputs: &[Option<Vec<RegisterType>>]) -> bool {
    let known = |inputs: &[Option<Vec<RegisterType>>]| -> Vec<RegisterType> {
        inputs.iter().flatten().flatten().copied().collect()
    };
    let (Some(first), Some(last)) = (inputs.iter().position(Option::is_none), inputs.iter().rposition(Option::is_none))
    else {
        return known(inputs) == parameters;
    };
    let unknown = inputs.iter().filter(|input| input.is_none()).count();
    parameters.len() >= known(inputs).len() + unknown
        && parameters.starts_with(&known(&inputs[..first]))
        && parameters.ends_with(&known(&inputs[last + 1..]))
}
