//! A program beside its source: each line of the source, then the instructions that it became, in the order in which
//! they run.
//!
//! ```text
//! qs@[int](%0: int, %1: column int) -> int, column int
//!   sort.nesl:3   if #a < 2 then a
//!       %2 = less.int %0 2
//!       %3, %4 = if %2 { yield %0 %1 } else {
//!   sort.nesl:4   else let p = a[#a / 2]
//!         %5 = div.int %0 2
//! ```
//!
//! Lines of the library stand where a program's own code became its instructions. A line comes again where other lines'
//! instructions stand between its own.

use crate::print::{self, Printer};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Place, Program};
use crate::tail;
use nesl_span::{FileId, SourceMap};

/// The program beside its source. Functions without a place in the source, and steps, are left out.
pub fn explain(program: &Program, sources: &SourceMap) -> String {
    let mut writer = Writer { program, sources, line: None, out: String::new() };
    for (id, function) in (0..).zip(&program.functions) {
        writer.function(function, FunctionId(id));
    }
    writer.out
}

struct Writer<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    /// The line of the source under which instructions stand now.
    line: Option<(FileId, usize)>,
    out: String,
}

impl Writer<'_> {
    fn function(&mut self, function: &Function, id: FunctionId) {
        let text = Printer::default().function(self.program, function);
        let signature = text.lines().next().unwrap_or("").trim_start_matches("function ").trim_end_matches(" {");
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(signature);
        self.out.push('\n');
        self.line = None;
        self.block(&function.body, 0, Some(id));
        self.results("return", &function.body, 0);
    }

    /// A block, which ends a function or none.
    fn block(&mut self, block: &Block, depth: usize, ends: Option<FunctionId>) {
        if let Some(line) = print::drop_line(block) {
            self.at(depth, &line);
        }
        for instruction in &block.instructions {
            self.source(instruction.place);
            let is_last = tail::last(block).is_some_and(|last| std::ptr::eq(last, instruction));
            self.instruction(instruction, depth, ends.filter(|_| is_last));
        }
    }

    fn instruction(&mut self, instruction: &Instruction, depth: usize, ends: Option<FunctionId>) {
        let text = Printer::default().instruction(self.program, instruction, ends);
        let (blocks, ends) = match &instruction.op {
            Op::If(then_block, else_block) => (vec![then_block, else_block], ends),
            Op::Fused(block) => (vec![block], None),
            _ => return self.at(depth, &text),
        };
        // Its first line ends where the first block begins.
        let head = text.split(" {").next().unwrap_or("");
        self.at(depth, &format!("{head} {{"));
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                self.at(depth, "} else {");
            }
            self.block(block, depth + 1, ends);
            self.results("yield", block, depth + 1);
        }
        self.at(depth, "}");
    }

    fn results(&mut self, word: &str, block: &Block, depth: usize) {
        let results = print::yielded(block);
        self.at(depth, &format!("{word}{results}"));
    }

    fn at(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"  ".repeat(depth + 3));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The line of a place, unless it is the one that stands there already.
    fn source(&mut self, place: Place) {
        let span = self.program.nearest(place, self.sources);
        let Some((_, file)) = self.sources.files().find(|(id, _)| *id == span.file) else { return };
        let (number, _) = self.sources.line_column(span);
        if self.line.replace((span.file, number)) == Some((span.file, number)) {
            return;
        }
        let line = file.text.lines().nth(number - 1).unwrap_or("").trim();
        let name = file.name.replace(char::is_control, " ");
        self.out.push_str(&format!("  {name}:{number}   {line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::FunctionBuilder;
    use crate::program::{Operand, RegisterType};
    use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
    use nesl_span::{Origin, Span};

    #[test]
    fn instructions_stand_under_their_lines() {
        let mut sources = SourceMap::default();
        let text = "function f(a) =\n  if a < 1\n  then a + 2\n  else a;\n";
        let file = sources.add("f.nesl", text, Origin::User);
        let at = |part: &str| {
            let start = text.find(part).unwrap();
            Span::new(file, start, start + part.len())
        };
        let int = |value| Operand::Constant(ScalarValue::Int(value));
        let ty = RegisterType::Scalar(ScalarType::Int);
        let mut builder = FunctionBuilder::new("f", at("function"));
        let a = Operand::from(builder.parameter(ty));
        builder.set_span(at("a < 1"));
        let condition = builder.scalar(ScalarOp::LessInt, &[a, int(1)]);
        builder.begin_block();
        builder.set_span(at("a + 2"));
        let sum = builder.scalar(ScalarOp::AddInt, &[a, int(2)]);
        let then_block = builder.end_block(vec![sum]);
        builder.begin_block();
        let else_block = builder.end_block(vec![a]);
        builder.set_span(at("if"));
        let results = builder.if_(condition, then_block, else_block, &[ty]);
        let program = Program { functions: vec![builder.finish(results)], ..Program::default() };
        let expected = "f(%0: int) -> int\n  f.nesl:2   if a < 1\n      %1 = less.int %0 1\n      %3 = if %1 {\n  \
                        f.nesl:3   then a + 2\n        %2 = add.int %0 2\n        yield %2\n      } else {\n        \
                        yield %0\n      }\n      return %3\n";
        assert_eq!(explain(&program, &sources), expected);
    }
}
