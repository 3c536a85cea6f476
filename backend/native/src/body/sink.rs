//! What is computed between a filter, the instances of an `each` and a reduction moves into the loop over the instances, where
//! nothing else reads it.
//!
//! In `{f(a + x, b * x) : x in v | p(x)}` a filter's loop would compute both arguments for each element, kept or not, and store them
//! in columns; instead it keeps the elements alone, and each instance computes its own arguments from them. In `sum({f(x) : x in
//! v})` what instances give is added up where they give it.

use super::Body;
use crate::kernel::{Ending, NodeOp, Plan, Source, is_call, is_ordered};
use cranelift_codegen::ir::Value;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, Each, Function, Op, Operand, Register, RegisterType, Shape, VectorOp};
use std::collections::HashMap;

/// The most operations that are done for each instance to make one of its arguments.
const MOST: usize = 8;

/// How the registers of a function are read.
#[derive(Default)]
pub(super) struct Uses {
    /// How often each is.
    reads: Vec<usize>,
    /// How often by whoever only needs its length, and by how many instances of an `each` as one of their scalars.
    lengths: Vec<usize>,
    instances: Vec<usize>,
    /// By what the scalars that the instances of an `each` give are reduced, where nobody else reads them.
    combined: HashMap<Register, ScalarOp>,
    /// What is computed for each instance.
    sunk: HashMap<Register, Sunk>,
}

/// Operations on elements of columns, one after another; the last gives the result.
#[derive(Clone, Debug, Default)]
pub(super) struct Sunk(Vec<(ScalarOp, Vec<Part>)>);

/// An operand.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// What an operation before gives.
    Result(usize),
    /// An element of a column that the group yields, by its node.
    Node(usize),
    /// An element of a column at an address.
    Element(ScalarType, Value),
    /// A scalar that the group reads, by its position among the inputs.
    Input(usize),
    Same(Value),
    Constant(ScalarValue),
}

impl Uses {
    pub fn of(function: &Function) -> Uses {
        let count = function.registers.len();
        let mut uses =
            Uses { reads: vec![0; count], lengths: vec![0; count], instances: vec![0; count], ..Uses::default() };
        function.body.visit_reads(&mut |register| uses.reads[register.0 as usize] += 1);
        uses.look(&function.body);
        uses
    }

    /// How often a register is read.
    pub fn reads(&self, register: Register) -> usize {
        self.reads[register.0 as usize]
    }

    /// By what the scalars of instances are combined.
    pub fn combined(&self, register: Register) -> Option<ScalarOp> {
        self.combined.get(&register).copied()
    }

    /// Whether what a reduction reads has been combined.
    pub fn is_combined(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Register(register) if self.combined.contains_key(&register))
    }

    /// How to compute a scalar of an instance, if it is not in a column.
    pub fn sunk(&self, operand: Operand) -> Option<Sunk> {
        match operand {
            Operand::Register(register) => self.sunk.get(&register).cloned(),
            Operand::Constant(_) => None,
        }
    }

    fn look(&mut self, block: &Block) {
        let mut given = Vec::new();
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Vector(VectorOp::Length) => self.count(instruction.operands[0], |uses| &mut uses.lengths),
                Op::Vector(VectorOp::Reduce(op)) => {
                    let is_exact = !is_ordered(*op) && !op.row().fallible;
                    if let Operand::Register(register) = instruction.operands[0]
                        && given.contains(&register)
                        && is_exact
                        && self.reads(register) == 1
                    {
                        self.combined.insert(register, *op);
                    }
                }
                Op::Each(each) if Body::is_loop(each) => {
                    for (&operand, is_scalar) in instruction.operands[1..].iter().zip(scalars_of_instances(each)) {
                        if is_scalar {
                            self.count(operand, |uses| &mut uses.instances);
                        }
                    }
                    let are_scalars = each.results.iter().flat_map(scalars);
                    let results = instruction.results.iter().zip(are_scalars);
                    given.extend(results.filter(|&(_, is_scalar)| is_scalar).map(|(&result, _)| result));
                }
                Op::If(then_block, else_block) => {
                    self.look(then_block);
                    self.look(else_block);
                }
                _ => {}
            }
        }
    }

    fn count(&mut self, operand: Operand, of: impl Fn(&mut Uses) -> &mut Vec<usize>) {
        if let Operand::Register(register) = operand {
            of(self)[register.0 as usize] += 1;
        }
    }

    /// Whether a column is read by nobody but the instances of one `each`, its length apart.
    fn is_for_instances(&self, register: Register) -> bool {
        let index = register.0 as usize;
        self.instances[index] == 1 && self.reads[index] == self.lengths[index] + 1
    }
}

/// Of the registers of all instances for a shape, whether they are columns of scalars of the instances.
fn scalars(shape: &Shape) -> Vec<bool> {
    match shape {
        Shape::Scalar(_) => vec![true],
        Shape::Pair(first, rest) => [scalars(first), scalars(rest)].concat(),
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => scalars(inner),
        other => vec![false; other.lifted().len()],
    }
}

/// The same of the operands of an `each`, the first apart.
fn scalars_of_instances(each: &Each) -> impl Iterator<Item = bool> {
    each.arguments.iter().flat_map(|argument| match argument.varies {
        true => scalars(&argument.shape),
        false => vec![false; argument.registers().len()],
    })
}

/// How to compute a node in the space of a filter from what is kept there; none where that is much, can fail, or is not all.
fn sink(plan: &Plan, number: usize, sunk: &mut Sunk) -> Option<Part> {
    let node = &plan.nodes[number];
    match node.op {
        NodeOp::Vector(VectorOp::Pack) => return Some(Part::Node(number)),
        NodeOp::Map(op) if !node.is_fallible() && !is_call(op) && sunk.0.len() < MOST => {
            let mut parts = Vec::with_capacity(node.operands.len());
            for &operand in &node.operands {
                parts.push(match operand {
                    Source::Node(before) => sink(plan, before, sunk)?,
                    Source::Input(input) if matches!(plan.inputs[input], RegisterType::Scalar(_)) => Part::Input(input),
                    Source::Constant(value) => Part::Constant(value),
                    Source::Input(_) => return None,
                });
            }
            sunk.0.push((op, parts));
        }
        _ => return None,
    }
    Some(Part::Result(sunk.0.len() - 1))
}

impl Body<'_, '_> {
    /// The values of what a group yields, for an instruction with these results: of what only instances read, those of what it is
    /// computed from.
    pub(super) fn group_for(&mut self, plan: &Plan, inputs: &[Register], results: &[Register]) -> Vec<Value> {
        let sunk: Vec<Option<Sunk>> =
            results.iter().enumerate().map(|(index, &result)| self.sink(plan, index, result)).collect();
        let mut kept = Vec::new();
        for (sunk, &node) in sunk.iter().zip(&plan.yields) {
            let nodes = sunk.as_ref().map_or(vec![node], Sunk::nodes);
            nodes.into_iter().for_each(|node| {
                if !kept.contains(&node) {
                    kept.push(node);
                }
            });
        }
        if sunk.iter().all(Option::is_none) || kept.len() > plan.yields.len() {
            return self.group(plan, inputs);
        }
        let mut less = plan.clone();
        less.yields = kept;
        let mut flat = self.group(&less, inputs).into_iter();
        let widths = (0..less.yields.len()).map(|index| match less.ending(index) {
            Ending::Reduce(..) | Ending::Sum(..) => 1,
            _ => 2,
        });
        let values: HashMap<usize, Vec<Value>> =
            less.yields.iter().zip(widths).map(|(&node, width)| (node, flat.by_ref().take(width).collect())).collect();
        let mut all = Vec::new();
        for ((sunk, &result), &node) in sunk.into_iter().zip(results).zip(&plan.yields) {
            match sunk {
                None => all.extend(&values[&node]),
                Some(sunk) => {
                    // The column is never looked at; it has the same length as what it is computed from.
                    all.extend(&values[&sunk.nodes()[0]]);
                    let sunk = self.bound_to(sunk, plan, &values, inputs);
                    self.uses.sunk.insert(result, sunk);
                }
            }
        }
        all
    }

    /// How instances compute a yield that nobody else reads.
    fn sink(&self, plan: &Plan, index: usize, result: Register) -> Option<Sunk> {
        let number = plan.yields[index];
        let is_made = matches!(plan.nodes[number].op, NodeOp::Map(_)) && plan.nodes[number].space > 0;
        if !is_made || !self.uses.is_for_instances(result) {
            return None;
        }
        let mut sunk = Sunk::default();
        sink(plan, number, &mut sunk)?;
        Some(sunk)
    }

    /// The same on values.
    fn bound_to(
        &mut self,
        Sunk(mut steps): Sunk,
        plan: &Plan,
        values: &HashMap<usize, Vec<Value>>,
        inputs: &[Register],
    ) -> Sunk {
        for part in steps.iter_mut().flat_map(|(_, parts)| parts) {
            *part = match *part {
                Part::Node(node) => Part::Element(plan.nodes[node].ty, values[&node][0]),
                Part::Input(input) => Part::Same(self.value(Operand::Register(inputs[input]))[0]),
                other => other,
            };
        }
        Sunk(steps)
    }

    /// What an instance computes.
    pub(super) fn computed(&mut self, Sunk(steps): &Sunk, i: Value) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(steps.len());
        for (op, parts) in steps {
            let mut operands = Vec::with_capacity(parts.len());
            for part in parts {
                operands.push(match *part {
                    Part::Result(before) => results[before],
                    Part::Element(ty, column) => self.load(column, i, ty),
                    Part::Same(value) => value,
                    Part::Constant(value) => self.emitter.constant(value),
                    Part::Node(_) | Part::Input(_) => unreachable!("they have become values"),
                });
            }
            results.push(self.emitter.scalar(*op, &operands));
        }
        results.pop().unwrap_or_else(|| unreachable!("an operation at least"))
    }
}

impl Sunk {
    /// The nodes whose columns it reads.
    fn nodes(&self) -> Vec<usize> {
        let parts = self.0.iter().flat_map(|(_, parts)| parts);
        parts.filter_map(|part| if let Part::Node(node) = *part { Some(node) } else { None }).collect()
    }
}
