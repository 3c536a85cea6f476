//! Loops: functions whose calls at their end come back to them ([`nesl_vcode::tail`]). Such a call is a jump to where
//! the function that it calls begins, with other values in its parameters: it takes nothing of the stack, and nothing
//! of scratch memory but what it passes on.
//!
//! Functions that call one another so are emitted in one, each where it is first called; each of them is compiled in
//! the same way where it is called from elsewhere.
//!
//! ```text
//! f(parameters):
//!     if interrupt { leave }
//!     …body…
//!     at a call f(values) or g(values) that ends it:
//!         move the columns among the values down to mark; top = behind them
//!         parameters = values; jump to f                  // or to g, which is emitted here where it is first called
//! ```

use super::in_place::Writes;
use super::loop_state::{Loop, Version};
use super::{Body, Uses};
use crate::abi::machine_types;
use crate::state::INTERRUPT;
use cranelift_codegen::ir::{Block as Label, Value};
use nesl_vcode::alias::{self, InPlace, Updates};
use nesl_vcode::tail::{self, Steps};
use nesl_vcode::{Block, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// How many instructions the functions of a loop may have in all where they are emitted in one.
const LOOP: usize = 1024;

/// The functions of the loop that a function is part of; none if it is none.
pub(super) fn functions(program: &Program, steps: &Steps, id: FunctionId) -> HashSet<FunctionId> {
    let own = steps.callees(program, id);
    if own.is_empty() {
        return own;
    }
    let mut functions = steps.reached(program, id);
    let others = functions.iter().filter(|&&other| other != id);
    let size: usize = others.map(|other| program.functions[other.0 as usize].body.size()).sum();
    if size > LOOP {
        // It alone, if it is a loop alone: the others are called.
        functions.retain(|&function| function == id && own.contains(&function));
    }
    functions
}

/// The parameters of the functions of a loop, by position, that nothing reads but steps of the loop that hand them on
/// as such parameters.
fn unread(program: &Program, functions: &HashSet<FunctionId>) -> HashSet<(FunctionId, usize)> {
    let count = |id: FunctionId| program.functions[id.0 as usize].parameters.len();
    let mut unread: HashSet<(FunctionId, usize)> =
        functions.iter().flat_map(|&id| (0..count(id)).map(move |position| (id, position))).collect();
    loop {
        let before = unread.len();
        for &id in functions {
            let function = &program.functions[id.0 as usize];
            let mut reads = HashMap::<Register, isize>::new();
            function.body.visit_reads(&mut |register| *reads.entry(register).or_default() += 1);
            tail::visit_ends(&function.body, &mut |call, callee| {
                for (position, operand) in call.operands.iter().enumerate() {
                    if let (&Operand::Register(register), true) = (operand, unread.contains(&(callee, position))) {
                        *reads.entry(register).or_default() -= 1;
                    }
                }
            });
            let is_read = |position: usize| reads.get(&function.parameters[position]).is_some_and(|&reads| reads > 0);
            unread.retain(|&(other, position)| other != id || !is_read(position));
        }
        if unread.len() == before {
            return unread;
        }
    }
}

/// Whether a block calls functions, apart from calls of one at its end.
pub(super) fn has_calls(block: &Block, but: Option<FunctionId>) -> bool {
    let end = tail::last(block);
    block.instructions.iter().any(|instruction| {
        let is_end = end.is_some_and(|end| std::ptr::eq(end, instruction));
        match &instruction.op {
            Op::Call(function) => !(is_end && but == Some(*function)),
            Op::Each(_) => true,
            Op::Fused(group) => group.each().is_some(),
            Op::If(then_block, else_block) => {
                let but = but.filter(|_| is_end);
                has_calls(then_block, but) || has_calls(else_block, but)
            }
            _ => false,
        }
    })
}

impl Body<'_, '_> {
    /// Emits the body of the current function, which is a loop of these functions; the values of its results.
    pub(super) fn looped(&mut self, functions: HashSet<FunctionId>) -> Vec<Vec<Value>> {
        let flag = self.emitter.load_state(INTERRUPT);
        let shares_columns = alias::passes_one_twice(self.program, &functions, &self.calls.summaries);
        let slots = if shares_columns { None } else { self.begin_slots(&functions) };
        let in_place = match (shares_columns, slots, self.mark) {
            (false, None, Some(_)) => InPlace::of(self.program, &functions, self.id, &self.calls.summaries),
            _ => InPlace::default(),
        };
        let (first, begins) = (self.id, Vec::new());
        let unread = unread(self.program, &functions);
        self.tail_loop =
            Some(Loop { functions, unread, first, version: Version::Only, begins, flag, shares_columns, slots });
        self.updates = self.updates_of_loop();
        let function = self.function;
        let values: Vec<Vec<Value>> =
            function.parameters.iter().map(|&parameter| self.value(Operand::Register(parameter))).collect();
        let results = if in_place.is_empty() {
            self.foresee_moves(Writes::Copy);
            let ranges = self.split_live_ranges(&values, &[]);
            let results = self.round(&ranges.inside(&values));
            results.map(|results| ranges.outside(&results))
        } else {
            self.versions(in_place, &values)
        };
        results.unwrap_or_else(|| {
            // It never ends: nothing jumps here.
            let nowhere = self.emitter.builder.create_block();
            self.emitter.builder.switch_to_block(nowhere);
            let types = function.result_types().map(machine_types);
            types.map(|types| types.into_iter().map(|ty| self.emitter.zero(ty)).collect()).collect()
        })
    }

    /// Emits the current function where it is first called in its loop, on these values of its parameters; those of its
    /// results, none if it does not come to its end.
    pub(super) fn round(&mut self, values: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
        let label = self.emitter.builder.create_block();
        let function = self.function;
        let mut parameters = Vec::new();
        for (position, &parameter) in function.parameters.iter().enumerate() {
            let types = machine_types(function.register_type(parameter)).into_iter();
            parameters.push(match self.column_in_place(self.id, position) {
                Some(column) => Ok(column.to_vec()),
                None if self.is_unread(self.id, position) => Err(types),
                None => Ok(types.map(|ty| self.emitter.builder.append_block_param(label, ty)).collect::<Vec<Value>>()),
            });
        }
        self.jump(label, self.id, values);
        self.emitter.builder.switch_to_block(label);
        let mut values = Vec::new();
        for parameter in parameters {
            match parameter {
                Ok(known) => values.extend(known),
                Err(types) => values.extend(types.map(|ty| self.emitter.zero(ty))),
            }
        }
        self.define(&function.parameters, values);
        if let Some(Loop { begins, flag, .. }) = &mut self.tail_loop {
            begins.push((self.id, label));
            let flag = *flag;
            self.emitter.check_flag(flag);
        }
        let outer = std::mem::replace(&mut self.turn_moves, self.emitter.top_moves());
        let results = self.tail(&function.body);
        self.turn_moves = outer;
        results
    }

    /// Jumps to where a function of the loop begins, with these values of its parameters.
    fn jump(&mut self, label: Label, id: FunctionId, values: &[Vec<Value>]) {
        let varies = |position: &usize| self.column_in_place(id, *position).is_none() && !self.is_unread(id, *position);
        let values: Vec<Value> =
            (0..values.len()).filter(varies).flat_map(|position| values[position].clone()).collect();
        self.emitter.jump(label, &values);
    }

    /// The address and length of a parameter of a function of the loop that does not vary.
    fn column_in_place(&self, id: FunctionId, position: usize) -> Option<[Value; 2]> {
        self.tail_loop.as_ref().and_then(|tail_loop| tail_loop.version.column(id, position))
    }

    /// Whether nothing reads a parameter of a function of the loop.
    pub(super) fn is_unread(&self, id: FunctionId, position: usize) -> bool {
        self.tail_loop.as_ref().is_some_and(|tail_loop| tail_loop.unread.contains(&(id, position)))
    }

    /// Emits a block at the end of the function; the values of its results, moved to where the function's scratch
    /// memory began. None if it only goes on with the loop.
    pub(super) fn tail(&mut self, block: &Block) -> Option<Vec<Vec<Value>>> {
        let Some(end) = tail::last(block) else { return Some(self.end(block)) };
        let before = &block.instructions[..block.instructions.len() - 1];
        match &end.op {
            Op::Call(step) if self.is_step(*step) => {
                self.instructions(before);
                self.step(*step, &end.operands)
            }
            Op::If(then_block, else_block) => {
                self.instructions(before);
                let condition = self.value(end.operands[0])[0];
                let values = self.branches(condition, [then_block, else_block], &end.results, Self::tail)?;
                self.define(&end.results, values);
                Some(block.results.iter().map(|&result| self.value(result)).collect())
            }
            _ => Some(self.end(block)),
        }
    }

    /// The columns that the current function, of a loop, may write over.
    fn updates_of_loop(&self) -> Updates {
        match &self.tail_loop {
            Some(Loop { shares_columns: false, .. }) => Updates::of(self.function, &self.calls.summaries),
            _ => Updates::default(),
        }
    }

    fn is_step(&self, function: FunctionId) -> bool {
        self.tail_loop.as_ref().is_some_and(|tail_loop| tail_loop.functions.contains(&function))
    }

    /// Emits a block that ends the function.
    fn end(&mut self, block: &Block) -> Vec<Vec<Value>> {
        let Some(mark) = self.mark else { return self.block(block) };
        if let Some(last) = self.last_group(block) {
            return self.end_in_place(mark.address, block, &last);
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

    /// The instructions that put columns together which nothing but the function's results are made of. All or none:
    /// where one result is there already, all of them move together.
    fn put_together_at_end<'i>(&self, block: &'i Block) -> Vec<&'i Instruction> {
        let is_column = |&result: &Operand| matches!(self.type_of(result), RegisterType::Column(_));
        let has_descriptors = block.results.iter().any(|&result| self.type_of(result) == RegisterType::Descriptor);
        let columns = block.results.iter().filter(|result| is_column(result));
        let made: Option<Vec<&Instruction>> = columns.map(|&result| self.put_together(block, result)).collect();
        made.filter(|_| !has_descriptors).unwrap_or_default()
    }

    /// Goes on with a function of the loop; the values of its results where it is emitted here and comes to its end.
    fn step(&mut self, id: FunctionId, operands: &[Operand]) -> Option<Vec<Vec<Value>>> {
        let mut values: Vec<Vec<Value>> = operands.iter().map(|&operand| self.value(operand)).collect();
        if let Some(mark) = self.mark {
            match self.tail_loop.as_ref().and_then(|tail_loop| tail_loop.slots) {
                Some(slots) => {
                    let types: Vec<RegisterType> = operands.iter().map(|&operand| self.type_of(operand)).collect();
                    self.carry_on(slots, mark.address, &types, &mut values);
                }
                None => self.end_turn(mark, id, operands, &mut values),
            }
        }
        let begins = self.tail_loop.iter().flat_map(|tail_loop| &tail_loop.begins);
        let known = begins.copied().find(|&(function, _)| function == id).map(|(_, label)| label);
        if let Some(label) = known {
            self.jump(label, id, &values);
            return None;
        }
        let outer = (self.id, self.function);
        let kept =
            (std::mem::take(&mut self.values), std::mem::take(&mut self.uses), std::mem::take(&mut self.updates));
        (self.id, self.function) = (id, &self.program.functions[id.0 as usize]);
        self.values = vec![Vec::new(); self.function.registers.len()];
        self.uses = Uses::of(self.function);
        self.updates = self.updates_of_loop();
        let results = self.round(&values);
        (self.id, self.function) = outer;
        (self.values, self.uses, self.updates) = kept;
        results
    }
}
