//! Checks that a program is one that an engine can run without checking.
//!
//! Each register is defined once and used only after that and in scope; operands and results are of the kinds that the
//! tables state; no register is read after a use that is marked as its last (`marks`); calls, blocks and steps agree
//! with the functions they name. It runs after flattening, after every pass and when a program is read from bytes. What
//! it cannot see is a matter of the rows: equal lengths, checked indices.

mod marks;
mod problem;

use crate::build;
use crate::each::Each;
use crate::fusion::Group;
use crate::op::{Kind, VectorOp};
use crate::print::Printer;
use crate::program::{
    Block, DefaultValue, Function, FunctionId, GlobalId, Input, Instruction, Op, Operand, Output, Parameter, Program,
    Register, RegisterType, Step,
};
use crate::shape::Shape;
use nesl_prim::{HostOp, ScalarOp, ScalarType};
use std::collections::{HashMap, HashSet};

pub use problem::{Problem, VerifyError};

/// Checks a program.
///
/// # Errors
/// Everything that is wrong with it.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    for function in &program.functions {
        let scope = vec![State::Undefined; function.registers.len()];
        let mut checker = Checker { program, function, scope, is_in_group: false, errors: &mut errors };
        if !names.insert(function.name.as_str()) {
            checker.report(None, Problem::NameTwice);
        }
        for &parameter in &function.parameters {
            checker.define(None, parameter);
        }
        checker.block(&function.body, None);
        checker.marks();
    }
    for (index, site) in program.sites.iter().enumerate() {
        if let Some(outer) = site.within.filter(|outer| outer.0 as usize >= index) {
            let (within, problem) = (format!("site {index}"), Problem::UnknownSite(outer));
            errors.push(VerifyError { within, instruction: None, span: Some(site.span), problem });
        }
    }
    let mut entries = Entries { program, errors: &mut errors, globals: HashMap::new(), arguments: None };
    for (index, step) in program.steps.iter().enumerate() {
        entries.step(&format!("step {index}"), step);
    }
    for main in &program.mains {
        // Main runs by itself: it sees no global of the steps.
        entries.globals.clear();
        let arguments: Vec<&Shape> = main.parameters.iter().map(|parameter| &parameter.shape).collect();
        entries.arguments = Some(arguments.clone());
        for (index, step) in main.prelude.iter().enumerate() {
            entries.step(&format!("main, step {index}"), step);
        }
        entries.arguments = Some(Vec::new());
        for parameter in &main.parameters {
            entries.default(parameter);
        }
        entries.arguments = Some(arguments);
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
    /// Whether it is at the instructions of a group.
    is_in_group: bool,
    errors: &'a mut Vec<VerifyError>,
}

impl Checker<'_> {
    fn report(&mut self, instruction: Option<&Instruction>, problem: Problem) {
        self.errors.push(VerifyError {
            within: format!("function {}", self.function.name),
            instruction: instruction.map(|instruction| Printer::default().instruction(self.program, instruction, None)),
            span: Some(instruction.map_or(self.function.span, |instruction| instruction.place.span)),
            problem,
        });
    }

    /// Checks marks of last uses, unless something else is wrong already.
    fn marks(&mut self) {
        if self.errors.is_empty() {
            for (instruction, problem) in marks::check(self.function) {
                self.report(instruction, problem);
            }
        }
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
        if let Some(site) = instruction.place.within.filter(|site| site.0 as usize >= self.program.sites.len()) {
            self.report(Some(instruction), Problem::UnknownSite(site));
        }
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
                Op::Each(each) => self.check_each(each, &operands).map(Some),
                Op::If(..) => check_types(&[RegisterType::Scalar(ScalarType::Bool)], &operands).map(|()| None),
                Op::Fused(_) => check_types(&[], &operands).map(|()| None),
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
        let blocks = match &instruction.op {
            Op::If(then_block, else_block) => vec![then_block, else_block],
            Op::Fused(block) => vec![block],
            _ => Vec::new(),
        };
        let is_group = matches!(instruction.op, Op::Fused(_));
        for block in blocks {
            let named: Vec<Operand> = instruction.results.iter().map(|&result| result.into()).collect();
            let outside = std::mem::replace(&mut self.is_in_group, is_group);
            let yields = self.block(block, Some(instruction));
            self.is_in_group = outside;
            if let (Some(found), Some(expected)) = (yields, operand_types(self.function, &named))
                && found != expected
            {
                self.report(Some(instruction), Problem::Yields { expected, found });
            }
        }
        if let (Op::Fused(block), true) = (&instruction.op, self.errors.is_empty()) {
            self.group(instruction, block);
        }
        for &result in &instruction.results {
            self.define(Some(instruction), result);
        }
    }

    /// Checks a group that is sound otherwise.
    fn group(&mut self, instruction: &Instruction, block: &Block) {
        let mut group = Group::default();
        for inner in &block.instructions {
            if !group.admit(inner, &self.function.registers, |_| true) {
                let text = Printer::default().instruction(self.program, inner, None);
                return self.report(Some(instruction), Problem::NotInGroup(text));
            }
        }
        let mut yielded = HashSet::new();
        let is_own = |result: &Operand| match *result {
            Operand::Register(register) => group.defines(register) && yielded.insert(register),
            Operand::Constant(_) => false,
        };
        if !block.results.iter().all(is_own) {
            self.report(Some(instruction), Problem::GroupYields);
        }
    }

    /// What an `each` gives.
    fn check_each(&self, each: &Each, operands: &[RegisterType]) -> Result<Vec<RegisterType>, Problem> {
        check_version(self.program, each.serial, &each.serial_parameters(), each.serial_results())?;
        check_version(self.program, each.lifted, &each.operand_types(), each.result_types())?;
        let expected = if self.is_in_group { each.member_operand_types() } else { each.operand_types() };
        check_types(&expected, operands)?;
        Ok(each.result_types())
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

/// Whether a function of an `each` is as the instruction says.
fn check_version(
    program: &Program,
    id: FunctionId,
    parameters: &[RegisterType],
    results: Vec<RegisterType>,
) -> Result<(), Problem> {
    let Some(function) = program.functions.get(id.0 as usize) else {
        return Err(Problem::UnknownFunction(id));
    };
    let expected = (parameter_types(function), operand_types(function, &function.body.results));
    match expected {
        (Some(expected), _) if expected != parameters => {
            Err(Problem::Version { function: id, expected, found: parameters.to_vec() })
        }
        (_, Some(expected)) if expected != results => Err(Problem::Version { function: id, expected, found: results }),
        _ => Ok(()),
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
    if let Some(operator) = op.operator().filter(|_| !op.has_fitting_operator()) {
        let has_identity = operator.row().identity.is_some();
        return Err(if has_identity { Problem::NoChoice(operator) } else { Problem::NoIdentity(operator) });
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
        let expected: Vec<RegisterType> = step.outputs.iter().flat_map(Output::registers).collect();
        if let Some(found) = operand_types(function, &function.body.results)
            && found != expected
        {
            self.report(within, Problem::Results { expected: found, found: expected });
        }
        for output in &step.outputs {
            if let Output::Keep(global, shape) = output {
                self.globals.insert(*global, shape);
            }
        }
    }

    /// A default gives one value, of the shape of its parameter.
    fn default(&mut self, parameter: &'a Parameter) {
        let Some(DefaultValue { step, .. }) = &parameter.default else { return };
        let within = format!("main, the default of {}", parameter.name);
        self.step(&within, step);
        match step.outputs.as_slice() {
            [Output::Show(shape)] if *shape == parameter.shape => {}
            _ => self.report(&within, Problem::Default),
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

/// Whether inputs can be the parameters. What precedes the first and follows the last global of unknown shape must
/// match; such a global may be no register at all, as `()` is.
fn fits(parameters: &[RegisterType], inputs: &[Option<Vec<RegisterType>>]) -> bool {
    let known = |inputs: &[Option<Vec<RegisterType>>]| -> Vec<RegisterType> {
        inputs.iter().flatten().flatten().copied().collect()
    };
    let (Some(first), Some(last)) = (inputs.iter().position(Option::is_none), inputs.iter().rposition(Option::is_none))
    else {
        return known(inputs) == parameters;
    };
    parameters.len() >= known(inputs).len()
        && parameters.starts_with(&known(&inputs[..first]))
        && parameters.ends_with(&known(&inputs[last + 1..]))
}
