//! Writes the versions of functions: numbers instead of the columns that they make.

use super::analysis::{Analysis, Pattern, Version};
use super::form::{Form, Made};
use crate::each::{Argument, Each};
use crate::op::VectorOp;
use crate::passes::writer::Writer;
use crate::passes::{dead, fold};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Place, Register, RegisterType};
use crate::shape::Shape;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::{BTreeMap, HashMap, HashSet};

const ZERO: Operand = Operand::Constant(ScalarValue::Int(0));
const ONE: Operand = Operand::Constant(ScalarValue::Int(1));
const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

/// The functions that are other ones now, and those that are new, behind all that there are.
pub(super) fn functions(analysis: &Analysis) -> Vec<(FunctionId, Function)> {
    let mut names: HashSet<String> = analysis.functions.iter().map(|function| function.name.clone()).collect();
    let reached = analysis.reached();
    let (mut ids, mut written) = (HashMap::new(), BTreeMap::new());
    let mut next = (0..).map(FunctionId).skip(analysis.functions.len());
    // Whether a version might yield numbers makes no difference where it does not.
    let mut alike = HashMap::new();
    for version in &reached {
        let own = version.pattern.function;
        let name = &analysis.functions[own.0 as usize].name;
        let forms: Vec<Option<Form>> = version.results.iter().map(|made| made.form()).collect();
        let id = *alike.entry((own, &version.pattern.parameters, forms)).or_insert_with(|| {
            let (id, name) = match version.is_plain() {
                true => (own, name.clone()),
                false => (next.next().unwrap_or(own), new_name(&mut names, name)),
            };
            written.insert(id, (*version, name));
            id
        });
        ids.insert(&version.pattern, id);
    }
    let id_of = |pattern: &Pattern| ids[pattern];
    let write = |(id, (version, name))| Some((id, Writing::of(version, analysis, &id_of, name)?));
    written.into_iter().filter_map(write).collect()
}

/// A name that no function has yet.
fn new_name(names: &mut HashSet<String>, name: &str) -> String {
    let mut own = format!("{name}/numbers");
    let mut count = 1;
    while !names.insert(own.clone()) {
        count += 1;
        own = format!("{name}/numbers{count}");
    }
    own
}

/// A function that is being written.
struct Writing<'w, 'a> {
    analysis: &'w Analysis<'a>,
    version: &'w Version,
    ids: &'w dyn Fn(&Pattern) -> FunctionId,
    registers: Vec<RegisterType>,
    /// By column that numbers make, the numbers.
    numbers: HashMap<Register, Vec<Operand>>,
    is_other: bool,
}

impl Writing<'_, '_> {
    /// The function of a version; none where that is as it was.
    fn of(
        version: &Version,
        analysis: &Analysis,
        ids: &dyn Fn(&Pattern) -> FunctionId,
        name: String,
    ) -> Option<Function> {
        let function = &analysis.functions[version.pattern.function.0 as usize];
        let registers = function.registers.clone();
        let is_other = !version.is_plain();
        let mut writing = Writing { analysis, version, ids, registers, numbers: HashMap::new(), is_other };
        let (mut parameters, mut instructions) = (Vec::new(), Vec::new());
        for (&parameter, form) in function.parameters.iter().zip(&version.pattern.parameters) {
            match form {
                Some(form) => {
                    let numbers = writing.made(parameter, *form, function.span.into(), &mut instructions);
                    parameters.extend(numbers);
                }
                None => parameters.push(parameter),
            }
        }
        let mut body = writing.block(&function.body, &version.results);
        instructions.append(&mut body.instructions);
        let body = Block::new(instructions, body.results);
        let (registers, is_other) = (writing.registers, writing.is_other);
        is_other.then(|| {
            let mut function = Function { name, parameters, registers, body, span: function.span };
            // What is not read goes at once: a call that ended its function does again.
            dead::tidy(&mut function);
            function
        })
    }

    /// A block that yields numbers where a result is made of them.
    fn block(&mut self, block: &Block, results: &[Made]) -> Block {
        let mut output = Vec::with_capacity(block.instructions.len());
        for (at, instruction) in block.instructions.iter().enumerate() {
            self.instruction(&block.instructions[..at], instruction, &mut output);
        }
        let forms = results.iter().map(|made| made.form());
        Block::new(output, self.expanded(&block.results, forms))
    }

    /// Operands, with numbers in place of those that have a form.
    fn expanded(&self, operands: &[Operand], forms: impl Iterator<Item = Option<Form>>) -> Vec<Operand> {
        let mut expanded = Vec::with_capacity(operands.len());
        for (&operand, form) in operands.iter().zip(forms) {
            match form {
                Some(form) => expanded.extend(self.numbers(operand, form)),
                None => expanded.push(operand),
            }
        }
        expanded
    }

    /// The numbers that make a column, in a form that it has.
    fn numbers(&self, column: Operand, form: Form) -> Vec<Operand> {
        let register = column.register();
        if register.is_some_and(|register| self.version.made[register.0 as usize] == Made::Empty) {
            return form.of_none();
        }
        let known = register.and_then(|register| self.numbers.get(&register));
        let mut numbers = known.expect("the analysis found what makes the column").clone();
        if form == Form::Steps && numbers.len() == Form::Count.numbers().len() {
            numbers.push(ONE);
        }
        numbers
    }

    /// New registers for the numbers of a column, which is made of them.
    fn made(&mut self, column: Register, form: Form, place: Place, output: &mut Vec<Instruction>) -> Vec<Register> {
        let numbers = Register::add_all(&mut self.registers, form.numbers());
        let values: Vec<Operand> = numbers.iter().map(|&number| number.into()).collect();
        let ty = self.registers[column.0 as usize];
        let mut writer = Writer::at(place, &mut self.registers);
        match (form, values.as_slice()) {
            (Form::Same(_), &[length, value]) => {
                writer.vector(VectorOp::Dist, &[value, length], ty);
            }
            (_, &[length, start, ref step @ ..]) => {
                let mut steps = writer.vector(VectorOp::Iota, &[length], INTS);
                if let [step] = *step {
                    steps = writer.add(Op::Map(ScalarOp::MultiplyInt), &[steps, step], INTS);
                }
                writer.add(Op::Map(ScalarOp::AddInt), &[steps, start], INTS);
            }
            _ => unreachable!("each form has two numbers or three"),
        }
        let mut instructions = writer.instructions;
        if let Some(last) = instructions.last_mut() {
            last.results = vec![column];
        }
        output.append(&mut instructions);
        self.numbers.insert(column, values);
        numbers
    }

    /// Results of an instruction, with new registers for numbers in place of those that are made of them; these are
    /// made behind it.
    fn results(&mut self, instruction: &Instruction) -> (Vec<Register>, Vec<Instruction>) {
        let (mut results, mut behind) = (Vec::new(), Vec::new());
        for &result in &instruction.results {
            match self.version.made[result.0 as usize].form() {
                Some(form) => {
                    self.is_other = true;
                    results.extend(self.made(result, form, instruction.place, &mut behind));
                }
                None => results.push(result),
            }
        }
        (results, behind)
    }

    fn instruction(&mut self, before: &[Instruction], instruction: &Instruction, output: &mut Vec<Instruction>) {
        let (op, operands) = match &instruction.op {
            Op::If(then_block, else_block) => {
                let yields: Vec<Made> =
                    instruction.results.iter().map(|result| self.version.made[result.0 as usize]).collect();
                let [then_block, else_block] =
                    [then_block, else_block].map(|block| Box::new(self.block(block, &yields)));
                (Op::If(then_block, else_block), instruction.operands.clone())
            }
            Op::Call(_) | Op::Each(_) => {
                let patterns = self.analysis.patterns(before, instruction, &self.version.made);
                self.running(instruction, &patterns.expect("all columns are known when functions are written"))
            }
            _ => {
                output.push(instruction.clone());
                return self.know(instruction, output);
            }
        };
        let (results, mut behind) = self.results(instruction);
        output.push(Instruction::new(op, operands, results, instruction.place));
        output.append(&mut behind);
    }

    /// A call of the version of its one pattern, or an `each` of those of its two.
    fn running(&mut self, instruction: &Instruction, patterns: &[Pattern]) -> (Op, Vec<Operand>) {
        let ids: Vec<FunctionId> = patterns.iter().map(self.ids).collect();
        // Those of the lifted function are the operands.
        let last = &patterns[patterns.len() - 1];
        let forms = || last.parameters.iter().copied();
        let operands = self.expanded(&instruction.operands, forms());
        let op = match &instruction.op {
            Op::Each(each) => {
                let mut of_arguments = forms().skip(1);
                let mut arguments = Vec::new();
                for argument in &each.arguments {
                    let own: Vec<Option<Form>> = of_arguments.by_ref().take(argument.shape.width()).collect();
                    push_arguments(argument, &own, &mut arguments);
                }
                let results = each.results.clone();
                Op::Each(Box::new(Each { serial: ids[0], lifted: ids[1], arguments, results }))
            }
            _ => Op::Call(ids[0]),
        };
        self.is_other |= op != instruction.op;
        (op, operands)
    }

    /// Says what numbers make the result of an instruction that is no call, if they do.
    fn know(&mut self, instruction: &Instruction, output: &mut Vec<Instruction>) {
        let &[result] = instruction.results.as_slice() else { return };
        let Some(form) = self.version.made[result.0 as usize].form() else { return };
        let operands = instruction.operands.as_slice();
        let of = |operand: Operand| operand.register().and_then(|register| self.numbers.get(&register)).cloned();
        let numbers: Vec<Vec<Operand>> = operands.iter().filter_map(|&operand| of(operand)).collect();
        let mut writer = Writer::at(instruction.place, &mut self.registers);
        let mut scalar = |op, operands: [Operand; 2]| {
            fold::evaluate(op, &operands).unwrap_or_else(|| writer.add(Op::Scalar(op), &operands, INT))
        };
        let known = match (&instruction.op, operands, numbers.first().map(Vec::as_slice)) {
            (Op::Vector(VectorOp::Iota), &[length], _) => vec![length, ZERO],
            (Op::Vector(VectorOp::Dist), &[value, length], _) => vec![length, value],
            (Op::Vector(VectorOp::Slice), &[_, _, count], Some(&[_, value])) if matches!(form, Form::Same(_)) => {
                vec![count, value]
            }
            (Op::Vector(VectorOp::Slice), &[_, at, count], Some(&[_, start, ref step @ ..])) => {
                let before = step.first().map_or(at, |&step| scalar(ScalarOp::MultiplyInt, [at, step]));
                [&[count, scalar(ScalarOp::AddInt, [start, before])], step].concat()
            }
            (Op::Map(op), &[left, right], Some(&[length, start, ref step @ ..])) => {
                let other = if of(left).is_some() { right } else { left };
                let start = scalar(*op, [start, other]);
                match (op, step.first()) {
                    (ScalarOp::MultiplyInt, None) => vec![length, start, other],
                    (ScalarOp::MultiplyInt, Some(&step)) => vec![length, start, scalar(*op, [step, other])],
                    _ => [&[length, start], step].concat(),
                }
            }
            _ => unreachable!("the analysis knows numbers of no other instruction"),
        };
        output.append(&mut writer.instructions);
        self.numbers.insert(result, known);
    }
}

/// An argument of an `each`, or those of its parts where columns of it are made of numbers.
fn push_arguments(argument: &Argument, forms: &[Option<Form>], arguments: &mut Vec<Argument>) {
    if forms.iter().all(Option::is_none) {
        arguments.push(argument.clone());
        return;
    }
    let mut forms = forms.iter();
    for shape in argument.shape.parts() {
        let own: Vec<Form> = forms.by_ref().take(shape.width()).copied().flatten().collect();
        // A sequence's length, and in place of its elements the numbers that make them.
        let scalars = std::iter::once(INT).chain(own.iter().flat_map(|form| form.numbers()));
        let shapes: Vec<Shape> = match own.is_empty() {
            true => vec![shape.clone()],
            false => scalars.map(|ty| Shape::Scalar(ty.scalar_type())).collect(),
        };
        arguments.extend(shapes.into_iter().map(|shape| Argument { shape, varies: argument.varies }));
    }
}
