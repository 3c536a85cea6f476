//! Statements one after another: constants, the order of the stack, calls and branches.

use super::{Entry, State, Translation, Type, registers, texts};
use crate::Result;
use crate::text::{Kind, Statement};
use nesl_prim::{Constants, HostOp, ScalarType, ScalarValue};
use nesl_span::Span;
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::{Block, FunctionId, Operand, RegisterType};

impl Translation<'_, '_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Result<()> {
        let mut before: Option<&Kind> = None;
        for statement in statements {
            if self.state.is_none() {
                // What is behind an EXIT, or a call that is not known to return, is not even typed. But such a call
                // does not end its function: it is no step of a loop, and recursion without an end is as deep as it is
                // written.
                if !matches!(before, Some(Kind::Exit)) {
                    self.exit();
                }
                return Ok(());
            }
            before = Some(&statement.kind);
            self.offset = statement.at.start;
            self.builder.set_span(Span::new(self.file, statement.at.start, statement.at.end));
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match &statement.kind {
            Kind::Operation(opcode, word) => {
                self.word = opcode.word();
                self.operation(*opcode, *word)
            }
            Kind::Constant(constants) => {
                let column = self.builder.constants(constants.clone());
                self.push_vector(column)
            }
            Kind::Segment(length) => {
                let lengths = self.builder.constants(Constants::Int(vec![*length]));
                let segdes = self.builder.vector(VectorOp::Packed, &[lengths]);
                self.push_vector(segdes)
            }
            &Kind::Copy(count, below) => {
                let range = self.range("COPY", count, below)?;
                self.state()?.stack.extend_from_within(range);
                Ok(())
            }
            &Kind::Pop(count, below) => {
                let range = self.range("POP", count, below)?;
                self.state()?.stack.drain(range);
                Ok(())
            }
            &Kind::Move(count, below) => {
                let range = self.range("CPOP", count, below)?;
                let stack = &mut self.state()?.stack;
                let moved: Vec<Entry> = stack.drain(range).collect();
                stack.extend(moved);
                Ok(())
            }
            Kind::Call(function) => self.call(*function),
            Kind::If(first, second) => self.branches(statement, first, second),
            Kind::Exit => {
                self.exit();
                self.state = None;
                Ok(())
            }
        }
    }

    fn exit(&mut self) {
        self.builder.host(HostOp::Exit, &[Operand::Constant(ScalarValue::Int(0))]);
    }

    /// The positions of entries below the top.
    fn range(&mut self, word: &'static str, count: usize, below: usize) -> Result<std::ops::Range<usize>> {
        let height = self.state()?.stack.len();
        match height.checked_sub(below).and_then(|end| Some(end.checked_sub(count)?..end)) {
            Some(range) => Ok(range),
            None => self.wrong(format!("stack underflow: {word} reaches below the {height} entries that there are")),
        }
    }

    fn call(&mut self, function: usize) -> Result<()> {
        let arity = self.versions.arities[function];
        let offset = self.offset;
        let State { mut stack, seed, started } = self.state()?.clone();
        let Some(rest) = stack.len().checked_sub(arity.takes) else {
            let name = &self.versions.functions[function].name;
            let message = format!("stack underflow: `{name}` takes {}, the stack has {}", arity.takes, stack.len());
            return self.wrong(message);
        };
        let operands = stack.split_off(rest);
        let types = operands.iter().map(|entry| entry.ty.clone()).collect();
        let version = self.versions.find(function, types, offset)?;
        let id = FunctionId(u32::try_from(version).unwrap_or(u32::MAX));
        let mut operands: Vec<Operand> = operands.into_iter().flat_map(|entry| entry.operands).collect();
        operands.extend(seed.filter(|_| arity.draws));
        operands.extend(started.filter(|_| arity.times));
        let Some(results) = self.versions.list[version].results.clone() else {
            self.builder.call(id, &operands, &[]);
            self.state = None;
            return Ok(());
        };
        let mut types = registers(&results);
        types.extend(arity.draws.then_some(RegisterType::Scalar(ScalarType::Int)));
        types.extend(arity.times.then_some(RegisterType::Scalar(ScalarType::Float)));
        let mut left = self.builder.call(id, &operands, &types).into_iter();
        for ty in results {
            let count = registers(std::slice::from_ref(&ty)).len();
            stack.push(Entry { ty, operands: left.by_ref().take(count).collect() });
        }
        let seed = if arity.draws { left.next() } else { seed };
        let started = if arity.times { left.next() } else { started };
        self.state = Some(State { stack, seed, started });
        Ok(())
    }

    fn branches(&mut self, statement: &Statement, first: &[Statement], second: &[Statement]) -> Result<()> {
        self.word = "IF";
        let condition = self.pop_vector(ScalarType::Bool)?;
        let condition = self.single(condition);
        let before = self.state()?.clone();
        let mut branch = |branch: &[Statement]| -> Result<_> {
            self.state = Some(before.clone());
            self.builder.begin_block();
            self.statements(branch)?;
            Ok((self.builder.end_block(Vec::new()), self.state.take()))
        };
        let ((first_block, first), (second_block, second)) = (branch(first)?, branch(second)?);
        self.offset = statement.at.start;
        self.builder.set_span(Span::new(self.file, statement.at.start, statement.at.end));
        let Some(model) = first.as_ref().or(second.as_ref()).cloned() else {
            self.builder.if_(condition, first_block, second_block, &[]);
            return Ok(());
        };
        if let (Some(first), Some(second)) = (&first, &second) {
            let [first, second] =
                [first, second].map(|state| state.stack.iter().map(|entry| entry.ty.clone()).collect::<Vec<Type>>());
            if first != second {
                let message = format!("the branches leave different stacks: {} and {}", texts(&first), texts(&second));
                return self.wrong(message);
            }
        }
        let types: Vec<RegisterType> =
            flat(&model).into_iter().map(|operand| self.builder.register_type(operand)).collect();
        let blocks = [(first_block, first), (second_block, second)];
        let mut ends = blocks.map(|(block, state)| self.end(block, state.as_ref(), &types));
        // What both leave as it was is no result.
        let same: Vec<bool> = ends[0].results.iter().zip(&ends[1].results).map(|(one, other)| one == other).collect();
        let kept: Vec<Operand> = ends[0].results.clone();
        for block in &mut ends {
            let mut index = 0..;
            block.results.retain(|_| !index.next().is_some_and(|index| same[index]));
        }
        let different: Vec<RegisterType> =
            types.iter().zip(&same).filter(|(_, same)| !**same).map(|(ty, _)| *ty).collect();
        let [first_block, second_block] = ends;
        let mut results = self.builder.if_(condition, first_block, second_block, &different).into_iter();
        let mut merged = kept.iter().zip(&same).filter_map(|(operand, same)| match same {
            true => Some(*operand),
            false => results.next(),
        });
        let mut state = model;
        for operand in state.stack.iter_mut().flat_map(|entry| &mut entry.operands) {
            *operand = merged.next().unwrap_or(*operand);
        }
        for operand in [&mut state.seed, &mut state.started].into_iter().flatten() {
            *operand = merged.next().unwrap_or(*operand);
        }
        self.state = Some(state);
        Ok(())
    }

    /// The block with what it leaves; with anything of these types where control does not come to its end.
    fn end(&mut self, block: Block, state: Option<&State>, types: &[RegisterType]) -> Block {
        self.builder.begin_block();
        self.builder.splice(block);
        let results = match state {
            Some(state) => flat(state),
            None => types.iter().map(|ty| self.anything(*ty)).collect(),
        };
        self.builder.end_block(results)
    }

    fn anything(&mut self, ty: RegisterType) -> Operand {
        match ty {
            RegisterType::Scalar(scalar) => Operand::Constant(scalar.zero()),
            RegisterType::Column(scalar) => self.builder.constants(Constants::from_scalars(scalar, &[])),
            RegisterType::Descriptor => {
                let lengths = self.builder.constants(Constants::Int(Vec::new()));
                self.builder.vector(VectorOp::Packed, &[lengths])
            }
        }
    }
}

/// All registers of a state in their order.
fn flat(state: &State) -> Vec<Operand> {
    let stack = state.stack.iter().flat_map(|entry| entry.operands.iter().copied());
    stack.chain(state.seed).chain(state.started).collect()
}
