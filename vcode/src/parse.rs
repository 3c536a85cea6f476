//! Reads the text form that [`crate::print`] writes.
//!
//! A small recursive-descent parser over the characters. It is an internal format: the first mistake ends it, with its
//! line and column. Types of registers are derived from the tables afterwards, when the result types of all functions
//! are known. What it accepts has a meaning for every word, but only the verifier says that the program makes sense.

mod link;
mod numbered;
mod scan;

use crate::each::{Argument, Each};
use crate::op::VectorOp;
use crate::program::{
    Block, DefaultValue, Function, FunctionId, GlobalId, Input, Instruction, Main, Op, Operand, Output, Parameter,
    Program, Register, RegisterType, Step, Use,
};
use crate::shape::Shape;
use nesl_prim::cursor::Unread;
use nesl_prim::{Constants, HostOp, ScalarOp, ScalarType};
use nesl_span::{FileId, Span};
use std::collections::HashMap;
use std::fmt;

pub use numbered::numbered;

use link::Linker;
use scan::Parser;

/// The word before results of a group that come to lie one after another.
const BESIDE: &str = "beside";

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something else should stand here.
    Expected(&'static str),
    /// No instruction has this name.
    UnknownInstruction(String),
    /// No function has this name.
    UnknownFunction(String),
    /// A second function with this name.
    FunctionTwice(String),
    /// A number that its type cannot hold.
    NumberOutOfRange,
    /// A register that is used and not defined, or missing in the numbering.
    UndefinedRegister(u32),
    /// A second definition of a register.
    RegisterTwice(u32),
    /// The instruction does not define as many registers as are named.
    ResultCount {
        /// What it defines.
        expected: usize,
        /// What is named.
        found: usize,
    },
    /// The operands do not determine the type of the result.
    UntypedResult,
    /// A function returns other types than its first line says.
    ReturnTypes,
    /// A `loop` that is no step of one: it does not end its function, or nothing comes back from it.
    NoStep,
    /// Blocks or shapes nested too deeply.
    TooDeep,
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.line, self.column)?;
        match &self.problem {
            Problem::Expected(what) => write!(formatter, "expected {what}"),
            Problem::UnknownInstruction(name) => write!(formatter, "no instruction is called `{name}`"),
            Problem::UnknownFunction(name) => write!(formatter, "no function is called `{name}`"),
            Problem::FunctionTwice(name) => write!(formatter, "a second function `{name}`"),
            Problem::NumberOutOfRange => write!(formatter, "the number is out of range"),
            Problem::UndefinedRegister(register) => write!(formatter, "%{register} is not defined"),
            Problem::RegisterTwice(register) => write!(formatter, "%{register} is defined twice"),
            Problem::ResultCount { expected, found } => {
                write!(formatter, "the instruction has {expected} results, {found} are named")
            }
            Problem::UntypedResult => write!(formatter, "the operands do not tell the type of the result"),
            Problem::ReturnTypes => write!(formatter, "the function returns other types than it says here"),
            Problem::NoStep => {
                write!(formatter, "`loop` ends a function, to which what it calls can come back in this way")
            }
            Problem::TooDeep => write!(formatter, "nested too deeply"),
        }
    }
}

impl std::error::Error for ParseError {}

/// The span of everything in a program that was read from text.
pub(crate) const NO_SPAN: Span = Span { file: FileId(0), start: 0, end: 0 };

/// Reads a program.
///
/// # Errors
/// The first mistake.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser::new(text);
    parser.program().map_err(|error| {
        let before = text.get(..error.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: error.problem,
        }
    })
}

struct Error {
    offset: usize,
    problem: Problem,
}

type Parse<T> = Result<T, Error>;

impl From<(usize, Unread)> for Error {
    fn from((offset, unread): (usize, Unread)) -> Error {
        let problem = match unread {
            Unread::Expected(what) => Problem::Expected(what),
            Unread::NumberOutOfRange => Problem::NumberOutOfRange,
        };
        Error { offset, problem }
    }
}

/// A function whose instructions have no types yet. Until they are typed, a span's start is the offset of the
/// instruction and a `FunctionId` an index into [`Parser::names`].
struct Draft {
    function: Function,
    types: HashMap<u32, RegisterType>,
    results: Vec<RegisterType>,
    loops: Vec<(Vec<Register>, usize)>,
    offset: usize,
}

impl Parser<'_> {
    fn scalar_type(&mut self) -> Parse<ScalarType> {
        let word = self.peek_word();
        match ScalarType::ALL.into_iter().find(|scalar| scalar.name() == word) {
            Some(scalar) => {
                self.cursor.offset += word.len();
                Ok(scalar)
            }
            None => self.fail(Problem::Expected("a scalar type")),
        }
    }

    fn register_type(&mut self) -> Parse<RegisterType> {
        if self.accept_word("descriptor") {
            Ok(RegisterType::Descriptor)
        } else if self.accept_word("column") {
            Ok(RegisterType::Column(self.scalar_type()?))
        } else {
            Ok(RegisterType::Scalar(self.scalar_type()?))
        }
    }

    fn shape(&mut self) -> Parse<Shape> {
        self.nested(|parser| {
            if parser.cursor.accept("[") {
                let element = parser.shape()?;
                parser.cursor.expect("]")?;
                return Ok(Shape::Sequence(Box::new(element)));
            }
            if parser.accept_word("record") {
                let name = parser.name()?;
                return Ok(Shape::Record(name, Box::new(parser.shape()?)));
            }
            if parser.accept_word("fn") {
                let captures = parser.accept_word("of");
                return Ok(Shape::Function(if captures { Some(Box::new(parser.shape()?)) } else { None }));
            }
            if !parser.cursor.accept("(") {
                return Ok(Shape::Scalar(parser.scalar_type()?));
            }
            if parser.cursor.accept(")") {
                return Ok(Shape::Unit);
            }
            let mut parts = vec![parser.shape()?];
            while parser.cursor.accept(",") {
                parts.push(parser.shape()?);
            }
            if parts.len() < 2 {
                return parser.fail(Problem::Expected(","));
            }
            parser.cursor.expect(")")?;
            let pair = |rest, first| Shape::Pair(Box::new(first), Box::new(rest));
            let last = parts.pop().unwrap_or(Shape::Scalar(ScalarType::Int));
            Ok(parts.into_iter().rev().fold(last, pair))
        })
    }

    /// Operands and their marks up to the end of the line or of the block.
    fn operands(&mut self) -> Parse<(Vec<Operand>, Vec<Use>)> {
        let (mut operands, mut uses) = (Vec::new(), Vec::new());
        loop {
            self.cursor.skip_blanks();
            let rest = self.cursor.rest();
            if rest.is_empty() || rest.starts_with(['\n', '{', '}']) || self.peek_word() == BESIDE {
                let is_marked = uses.iter().any(|&mark| mark != Use::Kept);
                return Ok((operands, if is_marked { uses } else { Vec::new() }));
            }
            if self.cursor.at("%") {
                operands.push(Operand::Register(self.register()?));
                uses.push(self.mark());
            } else {
                operands.push(Operand::Constant(self.cursor.scalar("a register or a scalar")?));
                uses.push(Use::Kept);
            }
        }
    }

    /// Which of the results of a group come to lie one after another.
    fn beside(&mut self, results: &[Operand]) -> Parse<Vec<Vec<usize>>> {
        let mut all = Vec::new();
        while self.accept_word(BESIDE) {
            let mut parts = Vec::new();
            while self.cursor.at("%") {
                let register = self.register()?;
                match results.iter().position(|&result| result == register.into()) {
                    Some(part) => parts.push(part),
                    None => return self.fail(Problem::UndefinedRegister(register.0)),
                }
            }
            all.push(parts);
        }
        Ok(all)
    }

    /// What becomes of the register that stands before.
    fn mark(&mut self) -> Use {
        let mark = match self.cursor.rest().chars().next() {
            Some('!') => Use::Last,
            Some('*') => Use::InPlace,
            _ => return Use::Kept,
        };
        self.cursor.offset += 1;
        mark
    }

    /// The registers that a block begins with dropping.
    fn drops(&mut self) -> Parse<Vec<Register>> {
        let mut drops = Vec::new();
        self.skip_lines();
        if self.accept_word("drop") {
            while self.cursor.at("%") {
                drops.push(self.register()?);
            }
            self.end_of_line()?;
        }
        Ok(drops)
    }

    fn end_of_line(&mut self) -> Parse<()> {
        self.cursor.skip_blanks();
        if self.cursor.rest().starts_with('\n') { Ok(()) } else { self.fail(Problem::Expected("the end of the line")) }
    }

    fn constants(&mut self) -> Parse<Constants> {
        let scalar_type = self.scalar_type()?;
        if scalar_type == ScalarType::Char {
            return Ok(Constants::Char(self.cursor.bytes()?));
        }
        self.cursor.expect("[")?;
        let mut values = Vec::new();
        while !self.cursor.accept("]") {
            self.cursor.skip_blanks();
            let start = self.cursor.offset;
            let value = self.cursor.scalar("a scalar")?;
            if value.scalar_type() != scalar_type {
                return Err(Error { offset: start, problem: Problem::Expected("an element of the column's type") });
            }
            values.push(value);
        }
        Ok(Constants::from_scalars(scalar_type, &values))
    }

    /// A use of a function by name: for now its number in [`Parser::names`].
    fn function_use(&mut self) -> Parse<FunctionId> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        let name = self.name()?;
        self.names.push((name, offset));
        Ok(FunctionId(u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)))
    }

    /// The instructions and results of a block up to its `}`, which is consumed. Its last line starts with `word`.
    fn block(&mut self, word: &'static str) -> Parse<Block> {
        self.cursor.expect("{")?;
        let drops = self.drops()?;
        let mut instructions = Vec::new();
        loop {
            self.skip_lines();
            if self.accept_word(word) {
                let (results, uses) = self.operands()?;
                let beside = self.beside(&results)?;
                self.skip_lines();
                self.cursor.expect("}")?;
                return Ok(Block { drops, instructions, results, uses, beside });
            }
            instructions.push(self.instruction(word)?);
            self.end_of_line()?;
        }
    }

    fn instruction(&mut self, last: &'static str) -> Parse<Instruction> {
        let offset = self.cursor.offset;
        let results = if self.cursor.at("%") {
            let results = self.items(Self::register)?;
            self.cursor.expect("=")?;
            results
        } else {
            Vec::new()
        };
        let word = self.peek_word();
        let start = self.cursor.offset;
        self.cursor.offset += word.len();
        let mut operands = None;
        let op = match word {
            "" if results.is_empty() => return self.fail(Problem::Expected(last)),
            "" => return self.fail(Problem::Expected("an instruction")),
            "call" => Op::Call(self.function_use()?),
            "loop" => {
                self.loops.push((results.clone(), start));
                Op::Call(self.function_use()?)
            }
            "each" => Op::Each(Box::new(self.each()?)),
            "constants" => Op::Constants(self.constants()?),
            "map" => {
                let word = self.peek_word();
                let Some(op) = ScalarOp::by_mnemonic(word) else {
                    return self.fail(Problem::UnknownInstruction(format!("map {word}")));
                };
                self.cursor.offset += word.len();
                Op::Map(op)
            }
            "if" => {
                operands = Some(self.operands()?);
                let (then_block, else_block) = self.nested(|parser| {
                    let then_block = parser.block("yield")?;
                    parser.expect_word("else")?;
                    Ok((then_block, parser.block("yield")?))
                })?;
                Op::If(Box::new(then_block), Box::new(else_block))
            }
            "fused" => {
                operands = Some((Vec::new(), Vec::new()));
                Op::Fused(Box::new(self.nested(|parser| parser.block("yield"))?))
            }
            _ => match (ScalarOp::by_mnemonic(word), VectorOp::by_name(word), HostOp::by_name(word)) {
                (Some(op), ..) => Op::Scalar(op),
                (None, Some(op), _) => Op::Vector(op),
                (None, None, Some(op)) => Op::Host(op),
                (None, None, None) => {
                    return Err(Error { offset: start, problem: Problem::UnknownInstruction(word.to_owned()) });
                }
            },
        };
        let (operands, uses) = match operands {
            Some(operands) => operands,
            None => self.operands()?,
        };
        Ok(Instruction { op, operands, uses, results, place: Span::new(FileId(0), offset, offset).into() })
    }

    fn each(&mut self) -> Parse<Each> {
        let (serial, lifted) = (self.function_use()?, self.function_use()?);
        self.cursor.expect("(")?;
        let arguments = self.list(")", |parser| {
            let varies = parser.accept_word("of");
            Ok(Argument { varies, shape: parser.shape()? })
        })?;
        let results = if self.cursor.accept("->") { self.items(Self::shape)? } else { Vec::new() };
        Ok(Each { serial, lifted, arguments, results })
    }

    fn typed(&mut self) -> Parse<(Register, RegisterType)> {
        let register = self.register()?;
        self.cursor.expect(":")?;
        Ok((register, self.register_type()?))
    }

    fn function(&mut self) -> Parse<Draft> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        let name = self.name()?;
        self.cursor.expect("(")?;
        let parameters = self.list(")", Self::typed)?;
        let results = if self.cursor.accept("->") { self.items(Self::register_type)? } else { Vec::new() };
        let unused = if self.accept_word("unused") { self.items(Self::typed)? } else { Vec::new() };
        let mut types = HashMap::new();
        for &(register, ty) in parameters.iter().chain(&unused) {
            if types.insert(register.0, ty).is_some() {
                return Err(Error { offset, problem: Problem::RegisterTwice(register.0) });
            }
        }
        let body = self.block("return")?;
        let parameters = parameters.into_iter().map(|(register, _)| register).collect();
        let function = Function { name, parameters, registers: Vec::new(), body, span: NO_SPAN };
        Ok(Draft { function, types, results, loops: std::mem::take(&mut self.loops), offset })
    }

    fn step(&mut self) -> Parse<Step> {
        let function = self.function_use()?;
        self.cursor.expect("(")?;
        let inputs = self.list(")", |parser| {
            if parser.accept_word("seed") {
                Ok(Input::Seed)
            } else if parser.accept_word("global") {
                Ok(Input::Global(GlobalId(parser.cursor.number()?)))
            } else if parser.accept_word("argument") {
                Ok(Input::Argument(parser.cursor.number()?))
            } else {
                parser.fail(Problem::Expected("seed, global or argument"))
            }
        })?;
        let outputs = if self.cursor.accept("->") { self.items(Self::output)? } else { Vec::new() };
        Ok(Step { function, inputs, outputs })
    }

    fn output(&mut self) -> Parse<Output> {
        if self.accept_word("show") {
            return Ok(Output::Show(self.shape()?));
        }
        if self.accept_word("stack") {
            return Ok(Output::Stack(self.register_type()?));
        }
        self.expect_word("global")?;
        Ok(Output::Keep(GlobalId(self.cursor.number()?), self.shape()?))
    }

    fn main(&mut self) -> Parse<Main> {
        self.cursor.expect("(")?;
        let mut parameters = self.list(")", |parser| {
            let name = parser.name()?;
            let type_text = parser.cursor.quoted('"')?;
            Ok(Parameter { name, type_text, shape: parser.shape()?, default: None })
        })?;
        self.cursor.expect("{")?;
        let mut prelude = Vec::new();
        self.skip_lines();
        while self.accept_word("step") {
            prelude.push(self.step()?);
            self.skip_lines();
        }
        while self.accept_word("default") {
            let position: u32 = self.cursor.number()?;
            let default = DefaultValue { text: self.cursor.quoted('"')?, step: self.step()? };
            match parameters.get_mut(position as usize) {
                Some(parameter) => parameter.default = Some(default),
                None => return self.fail(Problem::Expected("the position of a parameter")),
            }
            self.skip_lines();
        }
        self.expect_word("run")?;
        let step = self.step()?;
        self.skip_lines();
        self.cursor.expect("}")?;
        Ok(Main { prelude, parameters, step })
    }

    fn program(&mut self) -> Parse<Program> {
        let (mut drafts, mut steps, mut mains) = (Vec::new(), Vec::new(), Vec::<Main>::new());
        loop {
            self.skip_lines();
            if self.cursor.rest().is_empty() {
                break;
            } else if self.accept_word("function") {
                drafts.push(self.function()?);
            } else if self.accept_word("step") {
                steps.push(self.step()?);
            } else if self.accept_word("main") {
                mains.push(self.main()?);
            } else {
                return self.fail(Problem::Expected("function, step or main"));
            }
        }
        let linker = Linker::new(&drafts, &self.names)?;
        for step in steps.iter_mut().chain(mains.iter_mut().flat_map(Main::steps_mut)) {
            step.function = linker.resolve(step.function)?;
        }
        let loops: Vec<_> = drafts.iter_mut().map(|draft| std::mem::take(&mut draft.loops)).collect();
        let functions = drafts.into_iter().map(|draft| linker.finish(draft)).collect::<Parse<_>>()?;
        let program = Program { functions, steps, mains, sites: Vec::new() };
        link::check_loops(&program, &loops)?;
        Ok(program)
    }
}
