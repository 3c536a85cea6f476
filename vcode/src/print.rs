//! The text form of a program: what listings, dumps and pass tests show. [`mod@crate::parse`] reads it back.
//!
//! ```text
//! function qs@[int](%0: int, %1: column int) -> int, column int {
//!   %2 = less.int %0 2
//!   %3, %4 = if %2 { yield %0 %1 } else {
//!     %5 = map add.int %1 1
//!     yield %0 %5
//!   }
//!   return %3 %4
//! }
//! step main@0(seed, global 3) -> show [int], global 4 (int, [char])
//! ```
//!
//! Where the last uses of registers are marked, `%5!` is one, `%5*` one whose column the result may be written over,
//! and a block that begins with `drop %5` is one whose `if` has another block that reads `%5`.
//!
//! A group of instructions that can be one loop is `%7, %8 = fused {`, its instructions, `yield %5 %6` and `}`;
//! `yield %5 %6 beside %6 %5` where these come to lie one after another.
//!
//! A call that is a step of a loop ([`crate::tail`]) is written `loop` instead of `call`: it goes on with the next
//! turn, with its operands as what the loop carries.
//!
//! One instruction a line; `;` starts a comment. Names with other characters than `is_bare` allows are quoted. Scalars
//! are written as in NESL, except that a char that would not show is
//! `` `\x0a `` and a NaN with an unusual payload carries its bits. Printing never fails, since it also shows what the
//! verifier rejects.

use crate::each::Each;
use crate::program::{
    Block, Function, FunctionId, Input, Instruction, Main, Op, Operand, Output, Place, Program, RegisterType, Step, Use,
};
use crate::shape::Shape;
use crate::tail::{self, Steps};
use nesl_prim::{Constants, cursor};
use nesl_span::SourceMap;
use std::cell::OnceCell;
use std::fmt;

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printer<'a> {
    /// If given, each instruction is followed by the place it came from: `;; sort.nesl:12`.
    pub sources: Option<&'a SourceMap>,
}

impl<'a> Printer<'a> {
    /// The text of a program.
    pub fn program(self, program: &'a Program) -> String {
        let mut writer = self.writer(program);
        for function in &program.functions {
            writer.function(function);
        }
        for step in &program.steps {
            writer.step("step", step);
            writer.out.push('\n');
        }
        for main in &program.mains {
            writer.main(main);
        }
        writer.out
    }

    /// The text of one function of a program.
    pub fn function(self, program: &'a Program, function: &Function) -> String {
        let mut writer = self.writer(program);
        writer.function(function);
        writer.out
    }

    /// The text of one instruction of a program, and of a function that it ends, if it does.
    pub fn instruction(self, program: &'a Program, instruction: &Instruction, ends: Option<FunctionId>) -> String {
        let mut writer = self.writer(program);
        writer.instruction(instruction, 0, ends);
        writer.out
    }

    fn writer(self, program: &'a Program) -> Writer<'a> {
        Writer { program, printer: self, steps: OnceCell::new(), out: String::new() }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Printer::default().program(self))
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(register) => write!(formatter, "%{}", register.0),
            Operand::Constant(value) => formatter.write_str(&cursor::scalar(*value)),
        }
    }
}

impl fmt::Display for RegisterType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterType::Scalar(scalar) => write!(formatter, "{scalar}"),
            RegisterType::Column(scalar) => write!(formatter, "column {scalar}"),
            RegisterType::Descriptor => formatter.write_str("descriptor"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Scalar(scalar) => write!(formatter, "{scalar}"),
            Shape::Unit => formatter.write_str("()"),
            Shape::Sequence(element) => write!(formatter, "[{element}]"),
            Shape::Pair(first, rest) => {
                // Pairs nested to the right are flat, as in NESL.
                write!(formatter, "({first}")?;
                let mut rest = rest;
                while let Shape::Pair(next, others) = &**rest {
                    write!(formatter, ", {next}")?;
                    rest = others;
                }
                write!(formatter, ", {rest})")
            }
            Shape::Record(record, payload) => write!(formatter, "record {} {payload}", name(record)),
            Shape::Function(None) => formatter.write_str("fn"),
            Shape::Function(Some(captured)) => write!(formatter, "fn of {captured}"),
        }
    }
}

/// Whether a character may stand in a name without quotes.
pub(crate) fn is_bare(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_@/[].+-*'<>=!?^&|:$#".contains(character)
}

/// A name, in quotes where it needs them.
pub(crate) fn name(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    cursor::quoted(name, '"')
}

fn constants(constants: &Constants) -> String {
    if let Constants::Char(bytes) = constants {
        return format!("char {}", cursor::bytes(bytes));
    }
    let elements: Vec<String> = (0..constants.len()).map(|index| cursor::scalar(constants.get(index))).collect();
    format!("{} [{}]", constants.scalar_type(), elements.join(" "))
}

/// The words before the operands of an instruction, other than those of `call`, `each`, `if` and `fused`.
pub(crate) fn mnemonic(op: &Op) -> String {
    match op {
        Op::Scalar(op) => op.to_string(),
        Op::Map(op) => format!("map {op}"),
        Op::Vector(op) => op.name(),
        Op::Constants(_) => "constants".to_owned(),
        Op::Host(op) => op.to_string(),
        Op::Call(_) => "call".to_owned(),
        Op::Each(_) => "each".to_owned(),
        Op::If(..) => "if".to_owned(),
        Op::Fused(_) => "fused".to_owned(),
    }
}

/// Operands with their marks, a blank before each.
pub(crate) fn marked(operands: &[Operand], uses: &[Use]) -> String {
    let uses = uses.iter().chain(std::iter::repeat(&Use::Kept));
    let marked = |(operand, mark): (&Operand, &Use)| match mark {
        Use::Kept => format!(" {operand}"),
        Use::Last => format!(" {operand}!"),
        Use::InPlace => format!(" {operand}*"),
    };
    operands.iter().zip(uses).map(marked).collect()
}

/// What a block yields: operands with their marks, and those that come to lie one after another.
pub(crate) fn yielded(block: &Block) -> String {
    let beside = block.beside.iter().map(|parts| {
        // A program that is wrong still prints.
        let parts: String = parts.iter().filter_map(|&part| Some(format!(" {}", block.results.get(part)?))).collect();
        format!(" beside{parts}")
    });
    marked(&block.results, &block.uses) + &beside.collect::<String>()
}

/// The line that drops registers.
pub(crate) fn drop_line(block: &Block) -> Option<String> {
    let registers: String = block.drops.iter().map(|register| format!(" %{}", register.0)).collect();
    (!registers.is_empty()).then(|| format!("drop{registers}"))
}

struct Writer<'a> {
    program: &'a Program,
    printer: Printer<'a>,
    /// Which calls at the end of functions are steps of loops, once that is asked.
    steps: OnceCell<Steps>,
    out: String,
}

impl Writer<'_> {
    fn text(&mut self, text: impl fmt::Display) {
        self.out.push_str(&text.to_string());
    }

    fn list<T>(&mut self, separator: &str, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (index, element) in items.iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            item(self, element);
        }
    }

    fn operands(&mut self, operands: &[Operand], uses: &[Use]) {
        self.out.push_str(&marked(operands, uses));
    }

    fn indent(&mut self, depth: usize) {
        self.out.push_str(&"  ".repeat(depth));
    }

    fn function_name(&mut self, id: FunctionId) {
        match self.program.functions.get(id.0 as usize) {
            Some(function) => self.out.push_str(&name(&function.name)),
            // Not in the grammar: only rejected programs have such calls.
            None => self.text(format!("<function {}>", id.0)),
        }
    }

    fn typed(&mut self, function: &Function, register: usize) {
        self.text(format!("%{register}: "));
        match function.registers.get(register) {
            Some(ty) => self.text(ty),
            None => self.out.push('?'),
        }
    }

    fn function(&mut self, function: &Function) {
        self.text(format!("function {}(", name(&function.name)));
        self.list(", ", &function.parameters, |writer, parameter| writer.typed(function, parameter.0 as usize));
        self.out.push(')');
        if !function.body.results.is_empty() {
            self.text(" -> ");
            self.list(", ", &function.body.results, |writer, &result| match result {
                Operand::Register(register) if register.0 as usize >= function.registers.len() => writer.out.push('?'),
                other => writer.text(function.operand_type(other)),
            });
        }
        let unused = unused_registers(function);
        if !unused.is_empty() {
            self.text(" unused ");
            self.list(", ", &unused, |writer, &register| writer.typed(function, register));
        }
        self.text(" {");
        self.source(function.span.into());
        self.out.push('\n');
        let id = self.program.functions.iter().position(|other| std::ptr::eq(other, function));
        let ends = id.and_then(|id| u32::try_from(id).ok()).map(FunctionId);
        self.instructions(&function.body, 1, ends);
        self.indent(1);
        self.text("return");
        self.operands(&function.body.results, &function.body.uses);
        self.text("\n}\n\n");
    }

    /// Those of a block, which ends a function or none.
    fn instructions(&mut self, block: &Block, depth: usize, ends: Option<FunctionId>) {
        if let Some(line) = drop_line(block) {
            self.indent(depth);
            self.text(line);
            self.out.push('\n');
        }
        for instruction in &block.instructions {
            self.indent(depth);
            let is_last = tail::last(block).is_some_and(|last| std::ptr::eq(last, instruction));
            self.instruction(instruction, depth, ends.filter(|_| is_last));
            self.out.push('\n');
        }
    }

    /// Whether a call that ends a function is a step of a loop.
    fn is_step(&self, ended: FunctionId, callee: FunctionId) -> bool {
        // Only rejected programs have calls of functions that are not there.
        (callee.0 as usize) < self.program.functions.len()
            && self.steps.get_or_init(|| Steps::of(self.program)).is_step(ended, callee)
    }

    /// One that ends a function or none.
    fn instruction(&mut self, instruction: &Instruction, depth: usize, ends: Option<FunctionId>) {
        self.list(", ", &instruction.results, |writer, result| writer.text(format!("%{}", result.0)));
        if !instruction.results.is_empty() {
            self.text(" = ");
        }
        match (&instruction.op, ends) {
            (Op::Call(callee), Some(ended)) if self.is_step(ended, *callee) => self.text("loop"),
            (op, _) => self.text(mnemonic(op)),
        }
        match &instruction.op {
            Op::If(then_block, else_block) => {
                self.operands(&instruction.operands, &instruction.uses);
                self.out.push(' ');
                self.block(then_block, depth, Some(instruction.place), ends);
                self.text(" else ");
                self.block(else_block, depth, None, ends);
                return;
            }
            Op::Fused(block) => {
                self.out.push(' ');
                return self.block(block, depth, Some(instruction.place), None);
            }
            Op::Constants(elements) => {
                self.out.push(' ');
                self.text(constants(elements));
            }
            Op::Call(function) => {
                self.out.push(' ');
                self.function_name(*function);
            }
            Op::Each(each) => self.each(each),
            Op::Scalar(_) | Op::Map(_) | Op::Vector(_) | Op::Host(_) => {}
        }
        self.operands(&instruction.operands, &instruction.uses);
        self.source(instruction.place);
    }

    /// What stands between `each` and its operands.
    fn each(&mut self, each: &Each) {
        self.out.push(' ');
        self.function_name(each.serial);
        self.out.push(' ');
        self.function_name(each.lifted);
        self.out.push('(');
        self.list(", ", &each.arguments, |writer, argument| {
            writer.text(format!("{}{}", if argument.varies { "of " } else { "" }, argument.shape));
        });
        self.out.push(')');
        if !each.results.is_empty() {
            self.text(" -> ");
            self.list(", ", &each.results, |writer, shape| writer.text(shape));
        }
    }

    /// A block, on one line if all it does is yield; `place` is noted where its first line ends.
    fn block(&mut self, block: &Block, depth: usize, place: Option<Place>, ends: Option<FunctionId>) {
        if block.instructions.is_empty() && block.drops.is_empty() {
            self.text("{ yield");
            self.text(yielded(block));
            self.text(" }");
            return;
        }
        self.out.push('{');
        if let Some(place) = place {
            self.source(place);
        }
        self.out.push('\n');
        self.instructions(block, depth + 1, ends);
        self.indent(depth + 1);
        self.text("yield");
        self.text(yielded(block));
        self.out.push('\n');
        self.indent(depth);
        self.out.push('}');
    }

    fn source(&mut self, place: Place) {
        let Some(sources) = self.printer.sources else { return };
        let span = self.program.nearest(place, sources);
        // A program and a map that do not belong together still print.
        if let Some((_, file)) = sources.files().find(|(id, _)| *id == span.file) {
            let (line, _) = sources.line_column(span);
            self.text(format!("  ;; {}:{line}", file.name.replace(char::is_control, " ")));
        }
    }

    fn step(&mut self, word: &str, step: &Step) {
        self.text(format!("{word} "));
        self.function_name(step.function);
        self.out.push('(');
        self.list(", ", &step.inputs, |writer, input| match input {
            Input::Seed => writer.text("seed"),
            Input::Global(global) => writer.text(format!("global {}", global.0)),
            Input::Argument(argument) => writer.text(format!("argument {argument}")),
        });
        self.out.push(')');
        if !step.outputs.is_empty() {
            self.text(" -> ");
            self.list(", ", &step.outputs, |writer, output| match output {
                Output::Keep(global, shape) => writer.text(format!("global {} {shape}", global.0)),
                Output::Show(shape) => writer.text(format!("show {shape}")),
                Output::Stack(register) => writer.text(format!("stack {register}")),
            });
        }
    }

    fn main(&mut self, main: &Main) {
        self.text("main (");
        self.list(", ", &main.parameters, |writer, parameter| {
            writer.text(format!(
                "{} {} {}",
                name(&parameter.name),
                cursor::quoted(&parameter.type_text, '"'),
                parameter.shape
            ));
        });
        self.text(") {\n");
        for step in &main.prelude {
            self.indent(1);
            self.step("step", step);
            self.out.push('\n');
        }
        for (position, parameter) in main.parameters.iter().enumerate() {
            let Some(default) = &parameter.default else { continue };
            self.indent(1);
            self.step(&format!("default {position} {}", cursor::quoted(&default.text, '"')), &default.step);
            self.out.push('\n');
        }
        self.indent(1);
        self.step("run", &main.step);
        self.text("\n}\n");
    }
}

/// Registers that have a type and no definition. Passes leave them; the text names them so that it reads back the same.
fn unused_registers(function: &Function) -> Vec<usize> {
    fn mark(block: &Block, defined: &mut [bool]) {
        for instruction in &block.instructions {
            for result in &instruction.results {
                if let Some(slot) = defined.get_mut(result.0 as usize) {
                    *slot = true;
                }
            }
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    mark(then_block, defined);
                    mark(else_block, defined);
                }
                Op::Fused(block) => mark(block, defined),
                _ => {}
            }
        }
    }
    let mut defined = vec![false; function.registers.len()];
    for parameter in &function.parameters {
        if let Some(slot) = defined.get_mut(parameter.0 as usize) {
            *slot = true;
        }
    }
    mark(&function.body, &mut defined);
    (0..defined.len()).filter(|&register| !defined[register]).collect()
}
