//! Which parameters stay columns: those that are handed to something that needs elements in memory without going over
//! all of them. With numbers a function would make at each of its calls the column that its caller made once.
//!
//! What a column costs nothing to be made into is as good as the column: a slice of it, what an `if` chooses, and what
//! comes back from a call that gets it. What goes over all elements can as well make them.

use super::analysis::{Analysis, Parameter, Pattern, Version};
use crate::layout::Take;
use crate::op::VectorOp;
use crate::program::{Block, FunctionId, Instruction, Op, Operand, Register};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The parameters that patterns take for numbers and that must stay columns.
pub(super) fn parameters(analysis: &Analysis) -> HashSet<Parameter> {
    let of_crowded = |&function: &FunctionId| {
        let count = analysis.functions[function.0 as usize].parameters.len();
        (0..count).map(move |at| (function, at))
    };
    if !analysis.crowded.is_empty() {
        return analysis.crowded.iter().flat_map(of_crowded).collect();
    }
    let mut kept = HashSet::new();
    let mut passed: HashMap<Parameter, Vec<Parameter>> = HashMap::new();
    for version in analysis.reached() {
        let function = &analysis.functions[version.pattern.function.0 as usize];
        let mut walk = Walk { analysis, version, same: HashMap::new(), kept: BTreeSet::new(), passed: &mut passed };
        for (at, parameter) in function.parameters.iter().enumerate() {
            if version.pattern.parameters[at].is_some() {
                walk.same.insert(*parameter, BTreeSet::from([at]));
            }
        }
        if walk.same.is_empty() {
            continue;
        }
        walk.block(&function.body);
        for (result, made) in function.body.results.iter().zip(&version.results) {
            if made.form().is_none() {
                walk.keep(*result);
            }
        }
        kept.extend(walk.kept.iter().map(|&at| (version.pattern.function, at)));
    }
    // What is passed to one that stays a column is handed to something that needs it.
    let mut waiting: Vec<Parameter> = kept.iter().copied().collect();
    while let Some(parameter) = waiting.pop() {
        for &own in passed.get(&parameter).into_iter().flatten() {
            if kept.insert(own) {
                waiting.push(own);
            }
        }
    }
    kept
}

struct Walk<'w, 'a> {
    analysis: &'w Analysis<'a>,
    version: &'w Version,
    /// By register, the parameters whose elements it has for nothing.
    same: HashMap<Register, BTreeSet<usize>>,
    kept: BTreeSet<usize>,
    /// By parameter that numbers are passed to, the parameters of which they are the elements.
    passed: &'w mut HashMap<Parameter, Vec<Parameter>>,
}

impl Walk<'_, '_> {
    fn same(&self, operand: Operand) -> Option<&BTreeSet<usize>> {
        self.same.get(&operand.register()?)
    }

    fn keep(&mut self, operand: Operand) {
        if let Some(same) = self.same(operand).cloned() {
            self.kept.extend(same);
        }
    }

    /// Notes that an operand is passed to functions, of which the last takes all operands, others the last of them.
    fn pass(&mut self, operand: Operand, patterns: &[Pattern], at: usize) {
        let own = self.version.pattern.function;
        let same: Vec<Parameter> = self.same(operand).into_iter().flatten().map(|&at| (own, at)).collect();
        for pattern in patterns {
            let most = patterns.iter().map(|pattern| pattern.parameters.len()).max().unwrap_or(0);
            let at = at + pattern.parameters.len() - most;
            self.passed.entry((pattern.function, at)).or_default().extend(&same);
        }
    }

    fn join(&mut self, result: Register, operand: Operand) {
        if let Some(same) = self.same(operand).cloned() {
            self.same.entry(result).or_default().extend(same);
        }
    }

    fn block(&mut self, block: &Block) {
        for (at, instruction) in block.instructions.iter().enumerate() {
            self.instruction(&block.instructions[..at], instruction);
        }
    }

    fn instruction(&mut self, before: &[Instruction], instruction: &Instruction) {
        let (operands, results) = (&instruction.operands, &instruction.results);
        match &instruction.op {
            Op::Vector(VectorOp::Slice) => self.join(results[0], operands[0]),
            Op::If(then_block, else_block) => {
                for block in [then_block, else_block] {
                    self.block(block);
                    for (&result, &yielded) in results.iter().zip(&block.results) {
                        match self.version.made[result.0 as usize].form() {
                            Some(_) => self.join(result, yielded),
                            None => self.keep(yielded),
                        }
                    }
                }
            }
            Op::Call(_) | Op::Each(_) => {
                let patterns = self.analysis.patterns(before, instruction, &self.version.made).unwrap_or_default();
                let numbers = |at: usize| patterns.last().is_some_and(|pattern| pattern.parameters[at].is_some());
                let goes_over = elements(&instruction.op);
                for (at, &operand) in operands.iter().enumerate() {
                    if !numbers(at) {
                        if !goes_over.contains(&at) {
                            self.keep(operand);
                        }
                        continue;
                    }
                    self.pass(operand, &patterns, at);
                    for &result in results {
                        if self.version.made[result.0 as usize].form().is_some() {
                            self.join(result, operand);
                        }
                    }
                }
            }
            op => {
                let goes_over = |at: usize| match op {
                    Op::Map(_) => true,
                    Op::Vector(VectorOp::Length | VectorOp::Extract | VectorOp::Gather) => true,
                    Op::Vector(op) => op.data().is_empty() && op.fusion().aligned().contains(&at),
                    _ => false,
                };
                for (at, &operand) in operands.iter().enumerate() {
                    if !goes_over(at) {
                        self.keep(operand);
                    }
                }
            }
        }
    }
}

/// The operands of an `each` of which each instance takes its element.
fn elements(op: &Op) -> Vec<usize> {
    let Op::Each(each) = op else { return Vec::new() };
    let plan = each.plan();
    let of = plan.operands.iter().enumerate().filter(|(_, taken)| taken.take == Take::Element);
    of.map(|(at, _)| at + 1).collect()
}
