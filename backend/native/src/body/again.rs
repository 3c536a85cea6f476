//! Functions that end by calling themselves: instead they begin again, with other values in their parameters.
//!
//! The calls count as before, so that a recursion without end ends in the same error: each takes the least that a call takes of
//! the stack away from what is left of it.

use super::{Body, Mark};
use crate::function::machine_types;
use crate::state::{INTERRUPT, LEAST_FRAME, STACK_LIMIT};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_vcode::{Block, FunctionId, Instruction, Op, Operand, RegisterType};

/// A function that begins again.
#[derive(Clone, Copy)]
pub(super) struct Again {
    /// Gets the parameters.
    label: Label,
    stack: Stack,
}

/// What is left of the stack.
#[derive(Clone, Copy)]
enum Stack {
    /// Nobody else looks at it: bytes.
    Left(Variable),
    /// The functions that are called look at the state's limit, which was this before.
    Limit(Value),
}

/// Whether a function with this body, or part of a body, ends by calling itself, though not always.
pub(super) fn repeats(block: &Block, id: FunctionId) -> bool {
    ends(block, id) == (true, true)
}

/// Whether a block ends in a call of its function, and whether it ends in something else.
fn ends(block: &Block, id: FunctionId) -> (bool, bool) {
    match last(block).map(|last| &last.op) {
        Some(Op::Call(function)) if *function == id => (true, false),
        Some(Op::If(then_block, else_block)) => {
            let (first, second) = (ends(then_block, id), ends(else_block, id));
            (first.0 || second.0, first.1 || second.1)
        }
        _ => (false, true),
    }
}

/// The last instruction of a block, if its results are those of the block.
fn last(block: &Block) -> Option<&Instruction> {
    let last = block.instructions.last()?;
    let results = last.results.iter().map(|&result| Operand::Register(result));
    results.eq(block.results.iter().copied()).then_some(last)
}

/// Whether a block calls functions, apart from calls of one at its end.
pub(super) fn has_calls(block: &Block, but: Option<FunctionId>) -> bool {
    let end = last(block);
    block.instructions.iter().any(|instruction| {
        let is_end = end.is_some_and(|end| std::ptr::eq(end, instruction));
        match &instruction.op {
            Op::Call(function) => !(is_end && but == Some(*function)),
            Op::Each(_) => true,
            Op::If(then_block, else_block) => {
                let but = but.filter(|_| is_end);
                has_calls(then_block, but) || has_calls(else_block, but)
            }
            _ => false,
        }
    })
}

impl Body<'_, '_> {
    /// Begins a function that may begin again.
    pub(super) fn begin_again(&mut self) {
        let flag = self.emitter.load_state(INTERRUPT);
        let limit = self.emitter.load_state(STACK_LIMIT);
        let stack = if has_calls(&self.function.body, Some(self.id)) {
            Stack::Limit(limit)
        } else {
            let here = self.emitter.builder.ins().get_stack_pointer(types::I64);
            let left = self.emitter.builder.ins().isub(here, limit);
            let variable = self.emitter.builder.declare_var(types::I64);
            self.emitter.builder.def_var(variable, left);
            Stack::Left(variable)
        };
        let label = self.emitter.builder.create_block();
        let parameters = self.function.parameters.clone();
        let mut values = Vec::new();
        for &parameter in &parameters {
            values.extend(self.value(Operand::Register(parameter)));
            for ty in machine_types(self.function.register_type(parameter)) {
                self.emitter.builder.append_block_param(label, ty);
            }
        }
        let values: Vec<BlockArg> = values.into_iter().map(BlockArg::from).collect();
        self.emitter.builder.ins().jump(label, &values);
        self.emitter.builder.switch_to_block(label);
        let values = self.emitter.builder.block_params(label).to_vec();
        self.define(&parameters, values);
        self.again = Some(Again { label, stack });
        match stack {
            Stack::Limit(_) => self.emitter.check_stack(),
            Stack::Left(left) => {
                let left = self.emitter.builder.use_var(left);
                let has_room = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0);
                self.emitter.require(has_room);
            }
        }
        self.emitter.check_flag(flag);
    }

    /// Leaves the state as it was.
    pub(super) fn end_again(&mut self) {
        if let Some(Again { stack: Stack::Limit(limit), .. }) = self.again {
            self.emitter.store_state(STACK_LIMIT, limit);
        }
    }

    /// Emits a block at the end of the function; the values of its results, moved to where the function's scratch memory began.
    /// None if it only begins again.
    pub(super) fn tail(&mut self, block: &Block) -> Option<Vec<Vec<Value>>> {
        let Some(end) = last(block) else { return Some(self.end(block)) };
        let is_again = matches!(end.op, Op::Call(function) if function == self.id);
        let ((Op::If(..), ..) | (_, true, Some(_))) = (&end.op, is_again, self.again) else {
            return Some(self.end(block));
        };
        for instruction in &block.instructions[..block.instructions.len() - 1] {
            let values = self.instruction(instruction);
            self.define(&instruction.results, values);
        }
        match (&end.op, self.again) {
            (Op::If(then_block, else_block), _) => {
                let condition = self.value(end.operands[0])[0];
                let values = self.branches(condition, [then_block, else_block], &end.results, Self::tail)?;
                self.define(&end.results, values);
                Some(block.results.iter().map(|&result| self.value(result)).collect())
            }
            (_, Some(again)) => {
                self.repeat(again, &end.operands);
                None
            }
            (_, None) => unreachable!("only what begins again does so"),
        }
    }

    /// Emits a block that ends the function.
    fn end(&mut self, block: &Block) -> Vec<Vec<Value>> {
        let Some(Mark { address: mark, .. }) = self.mark else { return self.block(block) };
        if let Some(last) = self.last_group(block) {
            return self.end_in_place(mark, block, &last);
        }
        let types: Vec<RegisterType> = block.results.iter().map(|&result| self.type_of(result)).collect();
        let parts = self.put_together_at_end(block);
        let mut results = Vec::new();
        for instruction in &block.instructions {
            if parts.is_empty() || !parts.iter().any(|part| std::ptr::eq(*part, instruction)) {
                let values = self.instruction(instruction);
                self.define(&instruction.results, values);
            }
        }
        for &result in &block.results {
            let part = parts.iter().find(|part| result == Operand::Register(part.results[0]));
            results.push(match part {
                Some(part) => self.flat(&part.operands),
                None => self.value(result),
            });
        }
        if parts.is_empty() {
            self.give_back(mark, &types, &mut results);
            return results;
        }
        self.give_back_parts(mark, &types, results)
    }

    /// The instructions that put columns together which nothing but the function's results are made of. All or none: where one
    /// result is there already, all of them move together.
    fn put_together_at_end<'i>(&self, block: &'i Block) -> Vec<&'i Instruction> {
        let is_column = |&result: &Operand| matches!(self.type_of(result), RegisterType::Column(_));
        let has_descriptors = block.results.iter().any(|&result| self.type_of(result) == RegisterType::Descriptor);
        let columns = block.results.iter().filter(|result| is_column(result));
        let made: Option<Vec<&Instruction>> = columns.map(|&result| self.put_together(block, result)).collect();
        made.filter(|_| !has_descriptors).unwrap_or_default()
    }

    fn repeat(&mut self, again: Again, operands: &[Operand]) {
        let mut values: Vec<Vec<Value>> = operands.iter().map(|&operand| self.value(operand)).collect();
        if let Some(Mark { address: mark, .. }) = self.mark {
            let types: Vec<RegisterType> = operands.iter().map(|&operand| self.type_of(operand)).collect();
            self.give_back(mark, &types, &mut values);
        }
        match again.stack {
            Stack::Left(variable) => {
                let left = self.emitter.builder.use_var(variable);
                let left = self.emitter.builder.ins().iadd_imm_s(left, -LEAST_FRAME);
                self.emitter.builder.def_var(variable, left);
            }
            Stack::Limit(_) => {
                let limit = self.emitter.load_state(STACK_LIMIT);
                let limit = self.emitter.builder.ins().iadd_imm_s(limit, LEAST_FRAME);
                self.emitter.store_state(STACK_LIMIT, limit);
            }
        }
        let values: Vec<BlockArg> = values.concat().into_iter().map(BlockArg::from).collect();
        self.emitter.builder.ins().jump(again.label, &values);
    }
}
