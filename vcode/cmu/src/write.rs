//! Writes a program in the stack format: from instructions on registers to statements on a stack.
//!
//! [`lower`] turns a function into operations on named vectors, most of our instructions into several (`vectors`,
//! `scalars`); [`stack`] orders the vectors on the stack. A scalar becomes a vector of length 1, a character its code,
//! a descriptor two vectors: where its segments start, and their lengths. Wherever the format needs segments one after
//! another, a gather makes them so, except for a descriptor that is known to be packed.
//!
//! Checks become an extraction that is out of range where they fail. What is to be printed goes to `STDOUT`. What the
//! format cannot say is a [`Limitation`].

mod lower;
mod outside;
mod scalars;
mod stack;
mod vectors;

use super::MAIN;
use crate::text::{LONGEST_NAME, is_word};
use lower::{Lowering, Value};
use nesl_prim::{HostOp, ScalarOp, ScalarType, ScalarValue};
use nesl_span::Span;
use nesl_vcode::passes::{expand_each, regular};
use nesl_vcode::program::{Block, Function, FunctionId, Input, Instruction, Op, Output, Program, RegisterType, Step};
use nesl_vcode::{Holds, Shape};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Something that the stack format cannot say.
#[derive(Clone, Debug, PartialEq)]
pub struct Limitation {
    /// What it is.
    pub what: String,
    /// The source it came from, if it is at one place.
    pub span: Option<Span>,
}

impl fmt::Display for Limitation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the CMU format {}", self.what)
    }
}

impl std::error::Error for Limitation {}

type Result<T> = std::result::Result<T, Limitation>;

fn limitation<T>(what: impl Into<String>, span: Span) -> Result<T> {
    Err(Limitation { what: what.into(), span: Some(span) })
}

/// What powers and the texts of ints need: functions of our own VCODE, exported where they are called.
const LIBRARY: &str = include_str!("write/library.vcode.txt");

/// Writes what a program does without arguments. The n-th step that draws random numbers starts with the seed
/// `seed(n)`.
///
/// # Errors
/// If the program does what the format cannot say.
pub fn write(program: &Program, seed: &dyn Fn(usize) -> i64) -> Result<String> {
    let shows = program.steps.iter().any(|step| step.shown().next().is_some());
    if !shows && !program.mains.is_empty() {
        let what = "knows no arguments, and without arguments this program does nothing";
        return Err(Limitation { what: what.to_owned(), span: None });
    }
    let program = with_library(program);
    let reached = reached(&program);
    let names: HashMap<FunctionId, String> =
        reached.iter().enumerate().map(|(number, &id)| (id, name(&function(&program, id).name, number))).collect();
    let mut text = main(&program, &names, seed)?;
    for &id in &reached {
        let function = function(&program, id);
        let mut lowering = Lowering::new(&program, &names, function);
        let parameters = lowering.parameters();
        let results = lowering.block(&function.body)?;
        text.push('\n');
        text.push_str(&stack::function(&names[&id], &parameters, lowering.finish(), &results, function.span)?);
    }
    Ok(text)
}

fn function(program: &Program, id: FunctionId) -> &Function {
    &program.functions[id.0 as usize]
}

/// The program without `each` and descriptors without columns, and with the functions that some instructions call in
/// this format, after its own.
fn with_library(program: &Program) -> Program {
    let mut program = program.clone();
    expand_each::expand(&mut program);
    regular::split(&mut program);
    let library =
        nesl_vcode::parse::parse(LIBRARY).unwrap_or_else(|error| panic!("the library of the stack format: {error}"));
    let offset = program.functions.len() as u32;
    for mut function in library.functions {
        function.body.visit_functions(&mut |id| id.0 += offset);
        program.functions.push(function);
    }
    program
}

/// The function of the library that does an instruction, if there is one for it.
fn helper(op: &Op, operand: Option<ScalarType>) -> Option<&'static str> {
    use nesl_vcode::op::VectorOp;
    match op {
        Op::Scalar(ScalarOp::PowerInt) | Op::Map(ScalarOp::PowerInt) => Some("power_int"),
        Op::Scalar(ScalarOp::PowerFloat) | Op::Map(ScalarOp::PowerFloat) => Some("power_float"),
        Op::Vector(VectorOp::TextLengths) if operand == Some(ScalarType::Int) => Some("text_lengths"),
        Op::Vector(VectorOp::Text) if operand == Some(ScalarType::Int) => Some("text"),
        _ => None,
    }
}

/// The function of the library with this name.
fn library_function(program: &Program, name: &str) -> FunctionId {
    // They are the last.
    let found = program.functions.iter().rposition(|function| function.name == name);
    FunctionId(found.unwrap_or_else(|| panic!("no `{name}` in the library of the stack format")) as u32)
}

/// The functions that the steps call, directly or not.
fn reached(program: &Program) -> BTreeSet<FunctionId> {
    fn calls(program: &Program, function: &Function, instruction: &Instruction, found: &mut Vec<FunctionId>) {
        let operand = instruction.operands.first().map(|&operand| function.operand_type(operand));
        let scalar = operand.and_then(lower::scalar_type);
        found.extend(helper(&instruction.op, scalar).map(|name| library_function(program, name)));
        match &instruction.op {
            Op::Call(id) => found.push(*id),
            Op::If(first, second) => {
                let inner = first.instructions.iter().chain(&second.instructions);
                inner.for_each(|instruction| calls(program, function, instruction, found));
            }
            Op::Fused(block) => block.instructions.iter().for_each(|inner| calls(program, function, inner, found)),
            _ => {}
        }
    }
    let mut open: Vec<FunctionId> = program.steps.iter().map(|step| step.function).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            let called = function(program, id);
            called.body.instructions.iter().for_each(|instruction| calls(program, called, instruction, &mut open));
        }
    }
    reached
}

/// A name that the format allows, unlike all others by its number.
fn name(source: &str, number: usize) -> String {
    let base = source.split('@').next().unwrap_or(source).to_ascii_uppercase();
    let base: String = base.chars().map(|c| if is_word(c) && c != '.' { c } else { '_' }).collect();
    let number = format!("_{number}");
    format!("{}{number}", &base[..base.len().min(LONGEST_NAME - number.len())])
}

/// The function that runs the steps and leaves what they show.
fn main(program: &Program, names: &HashMap<FunctionId, String>, seed: &dyn Fn(usize) -> i64) -> Result<String> {
    let empty = Function {
        name: MAIN.to_owned(),
        parameters: Vec::new(),
        registers: Vec::new(),
        body: Block::default(),
        span: Span::new(nesl_span::FileId(0), 0, 0),
    };
    let mut lowering = Lowering::new(program, names, &empty);
    if names.keys().any(|&id| uses_clock(&function(program, id).body)) {
        lowering.act("START_TIMER", &[], 0);
    }
    let mut globals: HashMap<_, Vec<Value>> = HashMap::new();
    let mut shown = Vec::new();
    let mut draws = 0;
    for step in &program.steps {
        let Step { function: id, inputs, outputs } = step;
        let mut arguments = Vec::new();
        for input in inputs {
            match input {
                Input::Seed => {
                    arguments.push(lowering.constant(ScalarValue::Int(seed(draws))));
                    draws += 1;
                }
                Input::Global(global) => arguments.extend(globals.get(global).into_iter().flatten()),
                Input::Argument(_) => unreachable!("only main has arguments"),
            }
        }
        let called = function(program, *id);
        let count = called.result_types().map(lower::width).sum();
        let mut values = lowering.call(*id, &arguments, count).into_iter();
        for output in outputs {
            let width = output.registers().into_iter().map(lower::width).sum();
            let values: Vec<Value> = values.by_ref().take(width).collect();
            match output {
                Output::Keep(global, _) => {
                    globals.insert(*global, values);
                }
                Output::Show(shape) => laid_out(&mut lowering, shape, &values, &mut shown),
                Output::Stack(RegisterType::Descriptor) => shown.push(lowering.segdes(values[1])),
                Output::Stack(_) => shown.extend(values),
            }
        }
    }
    stack::function(MAIN, &[], lowering.finish(), &shown, empty.span)
}

fn uses_clock(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| match &instruction.op {
        Op::Host(HostOp::Clock) => true,
        Op::If(first, second) => uses_clock(first) || uses_clock(second),
        _ => false,
    })
}

/// A value as the format lays it out, from its vectors here.
fn laid_out(lowering: &mut Lowering<'_>, shape: &Shape, mut values: &[Value], out: &mut Vec<Value>) {
    let fields = shape.fields();
    // Of the elements of sequences those that there are, if that is not all: their indices, by the positions of fields.
    let mut elements: Vec<Option<Value>> = Vec::with_capacity(fields.len());
    for field in fields {
        let (own, rest) = values.split_at(lower::width(field.serial()));
        values = rest;
        let index = field.parent.and_then(|parent| elements[parent]);
        let chosen = |lowering: &mut Lowering<'_>, value: Value| match index {
            Some(index) => lowering.gather(field.scalar_type(), value, index),
            None => value,
        };
        let first = chosen(lowering, own[0]);
        let mut inner = None;
        out.push(match (field.holds, field.parent) {
            (Holds::Scalars(_), _) => first,
            (Holds::Sequences, None) => lowering.segdes(first),
            (Holds::Sequences, Some(_)) => {
                let lengths = chosen(lowering, own[1]);
                if !lowering.is_packed(first, lengths) {
                    inner = Some(lowering.elements(first, lengths));
                }
                lowering.segdes(lengths)
            }
        });
        elements.push(inner);
    }
}
