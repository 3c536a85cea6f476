//! Reads a program in the stack format: from statements on a stack to instructions on registers.
//!
//! Each function is translated for the types that its operands have where it is called; one that does not care for
//! types gets several versions. Translation walks through the statements with a stack of registers. What a recursive
//! call leaves is unknown at first, and control does not come back from it; the other branch tells, and translation is
//! repeated until no function leaves anything new.
//!
//! The state of the random numbers and the start of the timer are registers too: operands and results of the functions
//! that need them.

mod control;
mod elementwise;
mod outside;
mod segmented;

use super::{MAIN, ReadError, Result, Wrong, wrong};
use crate::arity::{Arity, arities};
use crate::opcode::{Opcode, Word};
use crate::text::{Function, parse};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_span::{FileId, Span};
use nesl_vcode::build::FunctionBuilder;
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::{FunctionId, Input, Operand, Output, Program, RegisterType, Step};
use std::collections::HashMap;
use std::ops::Range;

/// More versions than a program needs; a function that calls itself on ever larger pairs ends here.
const MOST_VERSIONS: usize = 10_000;

/// Deeper than pairs need to be; types are walked through recursively.
const DEEPEST_PAIR: usize = 50;

/// Reads a program, whose spans are places in the file. Its one step shows the stack at the end, entry by entry.
///
/// # Errors
/// The first mistake.
pub fn read(text: &str, file: FileId) -> std::result::Result<Program, ReadError> {
    program(text, file).map_err(|wrong: Wrong| wrong.locate(text))
}

/// The type of an entry of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Type {
    /// A vector of scalars: a column.
    Vector(ScalarType),
    /// A packed descriptor.
    Segdes,
    /// Two entries in one.
    Pair(Box<Type>, Box<Type>),
}

const INT: Type = Type::Vector(ScalarType::Int);
const FLOAT: Type = Type::Vector(ScalarType::Float);
const BOOL: Type = Type::Vector(ScalarType::Bool);

impl Type {
    /// Strings are vectors of codes.
    fn of(word: Word) -> Type {
        match word {
            Word::Int | Word::Char => INT,
            Word::Float => FLOAT,
            Word::Bool => BOOL,
            Word::Segdes => Type::Segdes,
        }
    }

    fn text(&self) -> String {
        match self {
            Type::Vector(ScalarType::Float) => "FLOAT".to_owned(),
            Type::Vector(ScalarType::Bool) => "BOOL".to_owned(),
            Type::Vector(_) => "INT".to_owned(),
            Type::Segdes => "SEGDES".to_owned(),
            Type::Pair(first, second) => format!("({} {})", first.text(), second.text()),
        }
    }

    /// How many pairs are inside one another.
    fn depth(&self) -> usize {
        match self {
            Type::Pair(first, second) => 1 + first.depth().max(second.depth()),
            _ => 0,
        }
    }

    fn registers(&self, registers: &mut Vec<RegisterType>) {
        match self {
            Type::Vector(scalar) => registers.push(RegisterType::Column(*scalar)),
            Type::Segdes => registers.push(RegisterType::Descriptor),
            Type::Pair(first, second) => {
                first.registers(registers);
                second.registers(registers);
            }
        }
    }
}

fn texts(types: &[Type]) -> String {
    let texts: Vec<String> = types.iter().map(Type::text).collect();
    format!("`{}`", texts.join(" "))
}

fn registers(types: &[Type]) -> Vec<RegisterType> {
    let mut registers = Vec::new();
    types.iter().for_each(|ty| ty.registers(&mut registers));
    registers
}

/// An entry of the stack: its registers.
#[derive(Clone, Debug)]
struct Entry {
    ty: Type,
    operands: Vec<Operand>,
}

/// What is on the stack at a place, and the state beside it.
#[derive(Clone, Debug)]
struct State {
    /// Bottom to top.
    stack: Vec<Entry>,
    /// The seed of the next draw, in functions that draw.
    seed: Option<Operand>,
    /// When the timer was started, in functions that use it.
    started: Option<Operand>,
}

/// A function at the types of its operands.
struct Version {
    function: usize,
    inputs: Vec<Type>,
    /// What it leaves; none if it is not known to return.
    results: Option<Vec<Type>>,
}

/// All versions found so far.
struct Versions<'a> {
    functions: &'a [Function],
    arities: Vec<Arity>,
    file: FileId,
    list: Vec<Version>,
    numbers: HashMap<(usize, Vec<Type>), usize>,
}

fn program(text: &str, file: FileId) -> Result<Program> {
    let functions = parse(text)?;
    let arities = arities(&functions)?;
    let main = functions.iter().position(|function| function.name == MAIN).unwrap_or(0);
    let mut versions = Versions { functions: &functions, arities, file, list: Vec::new(), numbers: HashMap::new() };
    versions.find(main, Vec::new(), functions[main].at.start)?;
    let translated = loop {
        let mut translated = Vec::new();
        let mut changed = false;
        let mut index = 0;
        // The list grows on the way.
        while index < versions.list.len() {
            let (function, results) = versions.translate(index)?;
            changed |= results != versions.list[index].results;
            versions.list[index].results = results;
            translated.push(function);
            index += 1;
        }
        if !changed {
            break translated;
        }
    };
    let mut program = Program { functions: translated, ..Program::default() };
    let (entry, shown, draws) = versions.entry(functions[main].at.clone());
    let function = FunctionId(u32::try_from(program.functions.len()).unwrap_or(u32::MAX));
    program.functions.push(entry);
    program.steps.push(Step {
        function,
        inputs: if draws { vec![Input::Seed] } else { Vec::new() },
        outputs: shown.into_iter().map(Output::Stack).collect(),
    });
    Ok(program)
}

impl Versions<'_> {
    fn span(&self, at: &Range<usize>) -> Span {
        Span::new(self.file, at.start, at.end)
    }

    /// The number of a function at types.
    fn find(&mut self, function: usize, inputs: Vec<Type>, offset: usize) -> Result<usize> {
        let name = &self.functions[function].name;
        if let Some(&found) = self.numbers.get(&(function, inputs.clone())) {
            return Ok(found);
        }
        if let Some((declared, _)) = &self.functions[function].declared {
            let declared: Vec<Type> = declared.iter().copied().map(Type::of).collect();
            if declared != inputs {
                let message = format!("`{name}` declares operands {}, here are {}", texts(&declared), texts(&inputs));
                return wrong(offset, message);
            }
        }
        let number = self.list.len();
        if number == MOST_VERSIONS {
            return wrong(offset, format!("`{name}` calls itself on ever new types"));
        }
        self.numbers.insert((function, inputs.clone()), number);
        self.list.push(Version { function, inputs, results: None });
        Ok(number)
    }

    /// A version as a function, as far as is known, and what it leaves.
    fn translate(&mut self, index: usize) -> Result<(nesl_vcode::program::Function, Option<Vec<Type>>)> {
        let (functions, file) = (self.functions, self.file);
        let Version { function, inputs, .. } = &self.list[index];
        let (source, arity) = (&functions[*function], self.arities[*function]);
        let name = match self.list[..index].iter().filter(|other| other.function == *function).count() {
            0 => source.name.clone(),
            others => format!("{}@{}", source.name, others + 1),
        };
        let mut builder = FunctionBuilder::new(name, self.span(&source.at));
        let mut stack = Vec::new();
        for ty in inputs {
            let operands = registers(std::slice::from_ref(ty)).into_iter();
            let operands = operands.map(|register| builder.parameter(register).into()).collect();
            stack.push(Entry { ty: ty.clone(), operands });
        }
        let mut hidden = |needed: bool, scalar: ScalarType| -> Option<Operand> {
            needed.then(|| builder.parameter(RegisterType::Scalar(scalar)).into())
        };
        let seed = hidden(arity.draws, ScalarType::Int);
        let started = hidden(arity.times, ScalarType::Float);
        let state = Some(State { stack, seed, started });
        let mut translation = Translation { versions: self, builder, file, offset: source.at.start, word: "", state };
        translation.statements(&source.body)?;
        let Translation { builder, state, .. } = translation;
        let Some(State { stack, seed, started }) = state else { return Ok((builder.finish(Vec::new()), None)) };
        let types: Vec<Type> = stack.iter().map(|entry| entry.ty.clone()).collect();
        if let Some((_, declared)) = &source.declared {
            let declared: Vec<Type> = declared.iter().copied().map(Type::of).collect();
            if declared != types {
                let message = format!("the function declares results {}, leaves {}", texts(&declared), texts(&types));
                return wrong(source.at.start, message);
            }
        }
        let results = stack.into_iter().flat_map(|entry| entry.operands).chain(seed).chain(started).collect();
        Ok((builder.finish(results), Some(types)))
    }

    /// The function that calls the main one, the types of what it shows, and whether it needs a seed.
    fn entry(&self, at: Range<usize>) -> (nesl_vcode::program::Function, Vec<RegisterType>, bool) {
        let main = &self.list[0];
        let arity = self.arities[main.function];
        let mut builder = FunctionBuilder::new("@program", self.span(&at));
        let mut operands = Vec::new();
        if arity.draws {
            operands.push(builder.parameter(RegisterType::Scalar(ScalarType::Int)).into());
        }
        if arity.times {
            operands.push(Operand::Constant(ScalarValue::Float(0.0)));
        }
        let shown = main.results.as_ref().map(|types| registers(types)).unwrap_or_default();
        let mut results = shown.clone();
        if main.results.is_some() {
            results.extend(arity.draws.then_some(RegisterType::Scalar(ScalarType::Int)));
            results.extend(arity.times.then_some(RegisterType::Scalar(ScalarType::Float)));
        }
        let mut left = builder.call(FunctionId(0), &operands, &results);
        left.truncate(shown.len());
        (builder.finish(left), shown, arity.draws)
    }
}

/// The translation of one function.
struct Translation<'a, 'b> {
    versions: &'a mut Versions<'b>,
    builder: FunctionBuilder,
    file: FileId,
    /// Where the statement begins.
    offset: usize,
    /// Its word.
    word: &'static str,
    /// None where control does not come.
    state: Option<State>,
}

impl Translation<'_, '_> {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T> {
        wrong(self.offset, message)
    }

    /// The stack, where there is control.
    fn state(&mut self) -> Result<&mut State> {
        match &mut self.state {
            Some(state) => Ok(state),
            None => wrong(self.offset, "control does not come here"),
        }
    }

    fn pop(&mut self) -> Result<Entry> {
        let word = self.word;
        match self.state()?.stack.pop() {
            Some(entry) => Ok(entry),
            None => self.wrong(format!("stack underflow: {word} needs more operands than there are")),
        }
    }

    fn pop_type(&mut self, expected: &Type) -> Result<Operand> {
        let word = self.word;
        match self.pop()? {
            Entry { ty, operands } if ty == *expected => Ok(operands[0]),
            Entry { ty, .. } => {
                self.wrong(format!("type mismatch: {word} needs {} here, found {}", expected.text(), ty.text()))
            }
        }
    }

    fn pop_vector(&mut self, scalar: ScalarType) -> Result<Operand> {
        self.pop_type(&Type::Vector(scalar))
    }

    fn pop_segdes(&mut self) -> Result<Operand> {
        self.pop_type(&Type::Segdes)
    }

    fn push(&mut self, ty: Type, operands: Vec<Operand>) -> Result<()> {
        self.state()?.stack.push(Entry { ty, operands });
        Ok(())
    }

    fn push_vector(&mut self, operand: Operand) -> Result<()> {
        match self.builder.register_type(operand) {
            RegisterType::Descriptor => self.push(Type::Segdes, vec![operand]),
            RegisterType::Column(scalar) | RegisterType::Scalar(scalar) => {
                self.push(Type::Vector(scalar), vec![operand])
            }
        }
    }

    /// Pushes a scalar as a vector of length 1.
    fn push_scalar(&mut self, operand: Operand) -> Result<()> {
        let column = self.builder.vector(VectorOp::Build, &[operand]);
        self.push_vector(column)
    }

    fn length(&mut self, column: Operand) -> Operand {
        self.builder.vector(VectorOp::Length, &[column])
    }

    /// Fails at run time unless vectors have equal lengths.
    fn check_equal_lengths(&mut self, first: Operand, second: Operand) {
        if first != second {
            let (first, second) = (self.length(first), self.length(second));
            self.builder.scalar(ScalarOp::CheckLengths, &[first, second]);
        }
    }

    /// Fails at run time unless a vector has the length that a descriptor covers.
    fn check_fits(&mut self, vector: Operand, segdes: Operand) {
        let (total, length) = (self.builder.vector(VectorOp::Total, &[segdes]), self.length(vector));
        self.builder.scalar(ScalarOp::CheckPartition, &[total, length]);
    }

    /// Fails at run time unless a vector has one element for each segment.
    fn check_segments(&mut self, vector: Operand, segdes: Operand) {
        let (length, segments) = (self.length(vector), self.builder.vector(VectorOp::Segments, &[segdes]));
        self.builder.scalar(ScalarOp::CheckLengths, &[length, segments]);
    }

    /// The one element of a vector; fails at run time if there are more or none.
    fn single(&mut self, vector: Operand) -> Operand {
        let length = self.length(vector);
        self.builder.scalar(ScalarOp::CheckLengths, &[length, int(1)]);
        self.builder.vector(VectorOp::Extract, &[vector, int(0)])
    }

    /// An instruction of the table.
    fn operation(&mut self, opcode: Opcode, word: Option<Word>) -> Result<()> {
        let ty = word.map_or(INT, Type::of);
        let scalar = match ty {
            Type::Vector(scalar) => scalar,
            Type::Segdes | Type::Pair(..) => ScalarType::Int,
        };
        if self.elementwise(opcode, scalar)? || self.segmented(opcode, scalar)? {
            return Ok(());
        }
        match opcode {
            Opcode::Pair => {
                let (second, first) = (self.pop()?, self.pop()?);
                if first.ty.depth().max(second.ty.depth()) >= DEEPEST_PAIR {
                    return self.wrong(format!("a PAIR in more than {DEEPEST_PAIR} others"));
                }
                let operands = [first.operands, second.operands].concat();
                self.push(Type::Pair(Box::new(first.ty), Box::new(second.ty)), operands)
            }
            Opcode::Unpair => {
                let Entry { ty, mut operands } = self.pop()?;
                let Type::Pair(first, second) = ty else {
                    return self.wrong(format!("type mismatch: UNPAIR needs a pair, found {}", ty.text()));
                };
                let rest = operands.split_off(registers(std::slice::from_ref(&*first)).len());
                self.push(*first, operands)?;
                self.push(*second, rest)
            }
            _ => self.outside(opcode, word),
        }
    }
}

/// An int constant.
fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}
