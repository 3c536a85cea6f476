//! Which columns stay in one place: what a function gives may be what it got, with elements written over, and a loop
//! may carry a column from turn to turn so.
//!
//! ```text
//! f(n, v, i) = if i == n then v else f(n, scatter v [i] [0], i + 1)      // gives its parameter 1, and carries it
//! ```
//!
//! Where such a column is the loop's own, each turn writes to the same memory, and nothing has to be looked at or moved
//! for it in a turn. It is a matter of speed alone: whoever relies on it makes sure as the loop runs.

use super::{Summaries, Updates, is_update};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use crate::tail;
use std::collections::{HashMap, HashSet};

/// Where the memory of a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Origin {
    /// Nowhere: it is never there.
    #[default]
    Never,
    /// The parameter at a position, some elements of which may have been written over.
    Parameter(usize),
    /// Elsewhere, or from more than one place.
    Other,
}

impl Origin {
    fn or(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Never, origin) | (origin, Origin::Never) => origin,
            _ if self == other => self,
            _ => Origin::Other,
        }
    }
}

/// The origins of the results of a function, given those of all functions as far as they are known.
pub(super) fn origins_of_results(function: &Function, summaries: &Summaries) -> Vec<Origin> {
    let origins = Origins::of(function, summaries, None);
    function.body.results.iter().map(|&result| origins.of_operand(result)).collect()
}

/// The origins of the registers of a function.
struct Origins<'a> {
    summaries: &'a Summaries,
    /// What may be written over; all, where that is not asked for.
    updates: Option<&'a Updates>,
    origins: Vec<Origin>,
}

impl<'a> Origins<'a> {
    fn of(function: &Function, summaries: &'a Summaries, updates: Option<&'a Updates>) -> Origins<'a> {
        let mut origins = Origins { summaries, updates, origins: vec![Origin::Other; function.registers.len()] };
        for (position, &parameter) in function.parameters.iter().enumerate() {
            origins.origins[parameter.0 as usize] = Origin::Parameter(position);
        }
        origins.block(&function.body);
        origins
    }

    fn of_operand(&self, operand: Operand) -> Origin {
        operand.register().map_or(Origin::Other, |register| self.origins[register.0 as usize])
    }

    fn define(&mut self, register: Register, origin: Origin) {
        self.origins[register.0 as usize] = origin;
    }

    fn block(&mut self, block: &Block) {
        for instruction in &block.instructions {
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    self.block(then_block);
                    self.block(else_block);
                    for (index, &result) in instruction.results.iter().enumerate() {
                        let [one, other] = [then_block, else_block].map(|block| self.of_operand(block.results[index]));
                        self.define(result, one.or(other));
                    }
                }
                Op::Call(callee) => self.call(*callee, instruction),
                Op::Fused(block) => {
                    for (&result, &yielded) in instruction.results.iter().zip(&block.results) {
                        let gives = |inner: &&Instruction| {
                            inner.results.iter().any(|&inner| Operand::Register(inner) == yielded)
                        };
                        if let Some(maker) = block.instructions.iter().find(gives) {
                            self.update(maker, result);
                        }
                    }
                }
                _ => instruction.results.iter().for_each(|&result| self.update(instruction, result)),
            }
        }
    }

    /// Gives a result the origin of the column that an instruction writes to.
    fn update(&mut self, maker: &Instruction, result: Register) {
        let Some(&Operand::Register(target)) = maker.operands.first().filter(|_| is_update(&maker.op)) else { return };
        if self.updates.is_none_or(|updates| updates.may_overwrite(target)) {
            self.define(result, self.of_operand(Operand::Register(target)));
        }
    }

    fn call(&mut self, callee: FunctionId, call: &Instruction) {
        let summaries = self.summaries;
        let summary = &summaries.0[callee.0 as usize];
        for (&result, &origin) in call.results.iter().zip(&summary.origins) {
            let origin = match origin {
                Origin::Parameter(position) => {
                    let is_granted = self.updates.is_none_or(|updates| updates.granted(call).contains(&position));
                    let is_kept = is_granted || !summary.written.contains(&position);
                    if is_kept { self.of_operand(call.operands[position]) } else { Origin::Other }
                }
                origin => origin,
            };
            self.define(result, origin);
        }
    }
}

/// The columns that a loop writes to and carries in one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InPlace {
    /// For parameters of its functions, by their positions, that of the parameter with which the loop begins.
    columns: HashMap<(FunctionId, usize), usize>,
}

impl InPlace {
    /// Those of a loop of some functions, none of which passes another one column twice
    /// ([`passes_one_twice`](super::passes_one_twice)), which begins with one of them.
    pub fn of(program: &Program, functions: &HashSet<FunctionId>, first: FunctionId, summaries: &Summaries) -> InPlace {
        let of = |id: FunctionId| &program.functions[id.0 as usize];
        let is_column = |id: FunctionId, position: usize| {
            matches!(of(id).register_type(of(id).parameters[position]), RegisterType::Column(_))
        };
        // None where a parameter is different columns.
        let mut columns = HashMap::<(FunctionId, usize), Option<usize>>::new();
        // A descriptor is written to where its lengths, as a column, are.
        for &position in summaries.written(first).iter().filter(|&&position| is_column(first, position)) {
            columns.insert((first, position), Some(position));
        }
        let mut waiting = vec![first];
        while let Some(id) = waiting.pop() {
            let function = of(id);
            let updates = Updates::of(function, summaries);
            let origins = Origins::of(function, summaries, Some(&updates));
            tail::visit_ends(&function.body, &mut |step, callee| {
                if !functions.contains(&callee) {
                    return;
                }
                let positions = (0..step.operands.len()).filter(|&position| is_column(callee, position));
                for position in positions {
                    let column = match origins.of_operand(step.operands[position]) {
                        Origin::Parameter(from) => columns.get(&(id, from)).copied().flatten(),
                        Origin::Never | Origin::Other => None,
                    };
                    let known = columns.get(&(callee, position)).copied();
                    let next = if known.is_none_or(|known| known == column) { column } else { None };
                    if known != Some(next) {
                        columns.insert((callee, position), next);
                        waiting.push(callee);
                    }
                }
            });
        }
        let is_carried = |column: usize| columns.get(&(first, column)) == Some(&Some(column));
        let found = columns.iter().filter_map(|(&parameter, &column)| Some((parameter, column?)));
        InPlace { columns: found.filter(|&(_, column)| is_carried(column)).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Which of them, by the position of the parameter with which the loop begins, a parameter of one of its functions
    /// is.
    pub fn column(&self, function: FunctionId, parameter: usize) -> Option<usize> {
        self.columns.get(&(function, parameter)).copied()
    }
}
