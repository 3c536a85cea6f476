//! What is computed between a filter, the instances of an `each` and a reduction moves into the loop over the
//! instances, where nothing else reads it.
//!
//! In `{f(a + x, b * x) : x in v | p(x)}` a filter's loop would compute both arguments for each element, kept or not,
//! and store them in columns; instead it keeps the elements alone, and each instance computes its own arguments from
//! them. In `sum({f(x) : x in v})` what instances give is added up where they give it.
//!
//! ```text
//! kept = the elements of v where p                        // one loop, one column
//! for i in 0 .. count { total = total + f(a + kept[i], b * kept[i]) }
//! ```

use super::Body;
use super::single::Singles;
use crate::emitter::{TRUSTED, machine_type};
use crate::kernel::{Ending, NodeOp, Plan, PlanOperand, is_ordered};
use crate::scalar::vector::{is_number, is_wide_op};
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, EachPlan, Function, Instruction, Op, Operand, Register, RegisterType, Take, VectorOp};
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
    /// The column that a register is the length of, and what loops over instances read and give.
    length_of: HashMap<Register, Register>,
    loops: Vec<Instances>,
    /// What is written by itself.
    singles: Singles,
    /// What is computed for each instance.
    producers: HashMap<Register, Producer>,
    /// Where there is an instance, by the register that would be their number: at the indices at which this is true.
    filters: HashMap<Register, Producer>,
}

/// The instances of an `each` by which nothing but scalars varies.
struct Instances {
    count: Register,
    /// The columns of their scalars.
    scalars: Vec<Register>,
    results: Vec<Register>,
}

/// Operations on elements of columns, one after another, and what of all that is the result.
#[derive(Clone, Debug)]
pub(super) struct Producer {
    steps: Vec<(ScalarOp, Vec<Part>)>,
    result: Part,
}

/// What is computed anew for each instance: from what a filter keeps, or from what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Kept,
    Inputs,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// What an operation before gives.
    Result(usize),
    /// An element of a column that the group yields, by its node.
    Node(usize),
    /// An element of a column that the group reads, by its position among the inputs, and the index itself.
    Column(usize),
    Index,
    /// An element of a column at an address.
    Element(ScalarType, Value),
    /// A scalar that the group reads, by its position among the inputs.
    Input(usize),
    Same(Value),
    /// A scalar for two indices.
    Both(Value),
    Constant(ScalarValue),
}

impl Uses {
    pub fn of(function: &Function) -> Uses {
        let count = function.registers.len();
        let mut uses =
            Uses { reads: vec![0; count], lengths: vec![0; count], instances: vec![0; count], ..Uses::default() };
        uses.singles = Singles::of(function);
        function.body.visit_reads(&mut |register| uses.reads[register.0 as usize] += 1);
        uses.look(&function.body);
        uses
    }

    /// Whether a column is one element that is written by itself.
    pub fn is_single(&self, register: Register) -> bool {
        self.singles.contains(register)
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
    pub fn producer(&self, operand: Operand) -> Option<Producer> {
        match operand {
            Operand::Register(register) => self.producers.get(&register).cloned(),
            Operand::Constant(_) => None,
        }
    }

    fn look(&mut self, block: &Block) {
        let mut given = Vec::new();
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Vector(VectorOp::Length) => {
                    self.count(instruction.operands[0], |uses| &mut uses.lengths);
                    if let Operand::Register(column) = instruction.operands[0] {
                        self.length_of.insert(instruction.results[0], column);
                    }
                }
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
                Op::Each(each) => {
                    let plan = each.plan();
                    for (&operand, taken) in instruction.operands[1..].iter().zip(&plan.operands) {
                        if taken.is_scalar() {
                            self.count(operand, |uses| &mut uses.instances);
                        }
                    }
                    self.loops.extend(Instances::of(&plan, instruction));
                    let results = instruction.results.iter().zip(&plan.results);
                    given.extend(results.filter(|(_, field)| field.is_scalar()).map(|(&result, _)| result));
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

    /// The number of the instances of an `each`, where columns are read by nobody but these and there is no other use
    /// for how many elements they have: all that varies comes from these columns, and all that instances give is
    /// combined.
    pub fn instances_of(&self, columns: &[Register]) -> Option<Register> {
        let reads_all = |instances: &&Instances| {
            let (read, given) = (&instances.scalars, &instances.results);
            read.len() == columns.len()
                && read.iter().all(|column| columns.contains(column))
                && given.iter().all(|result| self.combined.contains_key(result))
        };
        let count = self.loops.iter().find(reads_all)?.count;
        let lengths: usize = columns.iter().map(|column| self.lengths[column.0 as usize]).sum();
        let is_count = self.length_of.get(&count).is_some_and(|column| columns.contains(column));
        let are_alone = columns.iter().all(|&column| self.is_for_instances(column));
        (is_count && lengths == 1 && self.reads(count) == 1 && are_alone).then_some(count)
    }

    /// At which indices there is an instance, where that is not all up to their number.
    pub fn filter(&self, count: Operand) -> Option<Producer> {
        match count {
            Operand::Register(register) => self.filters.get(&register).cloned(),
            Operand::Constant(_) => None,
        }
    }

    /// Sets what is computed at each index: whether there is an instance, and the scalars of that.
    pub fn set_filter(
        &mut self,
        count: Register,
        filter: Producer,
        scalars: impl Iterator<Item = (Register, Producer)>,
    ) {
        self.filters.insert(count, filter);
        self.producers.extend(scalars);
    }
}

impl Instances {
    fn of(plan: &EachPlan, instruction: &Instruction) -> Option<Instances> {
        let Operand::Register(count) = instruction.operands[0] else { return None };
        if plan.operands.iter().any(|taken| taken.take != Take::Same && !taken.is_scalar()) {
            return None;
        }
        let operands = instruction.operands[1..].iter().zip(&plan.operands);
        let columns = operands.filter(|(_, taken)| taken.is_scalar()).map(|(&operand, _)| match operand {
            Operand::Register(column) => Some(column),
            Operand::Constant(_) => None,
        });
        Some(Instances { count, scalars: columns.collect::<Option<_>>()?, results: instruction.results.clone() })
    }
}

impl Producer {
    /// How to compute something from what filters keep, or from what is there before any: all that it takes is at its
    /// index. None where that is much, can fail, or needs something else.
    pub fn of(plan: &Plan, source: PlanOperand, from: Origin) -> Option<Producer> {
        let mut producer = Producer { steps: Vec::new(), result: Part::Index };
        producer.result = producer.part(plan, source, from)?;
        Some(producer)
    }

    fn part(&mut self, plan: &Plan, source: PlanOperand, from: Origin) -> Option<Part> {
        let number = match source {
            PlanOperand::Constant(value) => return Some(Part::Constant(value)),
            PlanOperand::Input(input) => {
                return match plan.inputs[input] {
                    RegisterType::Scalar(_) => Some(Part::Input(input)),
                    RegisterType::Column(_) if from == Origin::Inputs => Some(Part::Column(input)),
                    RegisterType::Column(_) | RegisterType::Descriptor => None,
                };
            }
            PlanOperand::Node(number) => number,
        };
        let node = &plan.nodes[number];
        match (node.op, from) {
            (NodeOp::Vector(VectorOp::Pack), Origin::Kept) => Some(Part::Node(number)),
            (NodeOp::Vector(VectorOp::Pack), Origin::Inputs) => self.part(plan, node.operands[0], from),
            (NodeOp::Vector(VectorOp::Iota), Origin::Inputs) => Some(Part::Index),
            (NodeOp::Map(op), _) if !node.is_fallible() && !op.row().cost.is_call() && self.steps.len() < MOST => {
                let operands = node.operands.iter().map(|&operand| self.part(plan, operand, from));
                let operands = operands.collect::<Option<_>>()?;
                self.steps.push((op, operands));
                Some(Part::Result(self.steps.len() - 1))
            }
            _ => None,
        }
    }

    /// The nodes whose columns it reads.
    fn nodes(&self) -> Vec<usize> {
        let parts = self.steps.iter().flat_map(|(_, parts)| parts).chain([&self.result]);
        parts.filter_map(|part| if let Part::Node(node) = *part { Some(node) } else { None }).collect()
    }
}

impl Body<'_, '_> {
    /// The values of what a group yields, for an instruction with these results: of what only instances read, those of
    /// what it is computed from.
    pub(super) fn group_for(&mut self, plan: &Plan, inputs: &[Register], results: &[Register]) -> Vec<Value> {
        if let Some(values) = self.filter_for(plan, inputs, results) {
            return values;
        }
        let producer: Vec<Option<Producer>> =
            results.iter().enumerate().map(|(index, &result)| self.producer_of(plan, index, result)).collect();
        let mut kept = Vec::new();
        for (producer, &node) in producer.iter().zip(&plan.yields) {
            let nodes = producer.as_ref().map_or(vec![node], Producer::nodes);
            nodes.into_iter().for_each(|node| {
                if !kept.contains(&node) {
                    kept.push(node);
                }
            });
        }
        if producer.iter().all(Option::is_none) || kept.len() > plan.yields.len() {
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
        for ((producer, &result), &node) in producer.into_iter().zip(results).zip(&plan.yields) {
            match producer {
                None => all.extend(&values[&node]),
                Some(producer) => {
                    // The column is never looked at; it has the same length as what it is computed from.
                    all.extend(&values[&producer.nodes()[0]]);
                    let producer = self.bound_to(producer, plan, &values, inputs);
                    self.uses.producers.insert(result, producer);
                }
            }
        }
        all
    }

    /// How instances compute a yield that nobody else reads.
    fn producer_of(&self, plan: &Plan, index: usize, result: Register) -> Option<Producer> {
        let number = plan.yields[index];
        let is_made = matches!(plan.nodes[number].op, NodeOp::Map(_)) && plan.nodes[number].space > 0;
        if !is_made || !self.uses.is_for_instances(result) {
            return None;
        }
        Producer::of(plan, PlanOperand::Node(number), Origin::Kept)
    }

    /// The same on values.
    pub(super) fn bound_to(
        &mut self,
        mut producer: Producer,
        plan: &Plan,
        values: &HashMap<usize, Vec<Value>>,
        inputs: &[Register],
    ) -> Producer {
        let mut value = |input: usize| self.value(Operand::Register(inputs[input]))[0];
        for part in producer.steps.iter_mut().flat_map(|(_, parts)| parts).chain([&mut producer.result]) {
            *part = match *part {
                Part::Node(node) => Part::Element(plan.nodes[node].ty, values[&node][0]),
                Part::Input(input) => Part::Same(value(input)),
                Part::Column(input) => match plan.inputs[input] {
                    RegisterType::Column(ty) => Part::Element(ty, value(input)),
                    other => unreachable!("elements are those of a column, not of {other:?}"),
                },
                other => other,
            };
        }
        producer
    }

    /// What is computed so many indices behind an index.
    pub(super) fn computed(&mut self, producer: &Producer, i: Value, behind: i32) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(producer.steps.len());
        for (op, parts) in &producer.steps {
            let operands: Vec<Value> = parts.iter().map(|&part| self.part_at(part, &results, i, behind)).collect();
            results.push(self.emitter.scalar(*op, &operands));
        }
        self.part_at(producer.result, &results, i, behind)
    }

    /// Whether something is computed by operations for two indices, and is true or false.
    pub(super) fn is_wide(&self, producer: &Producer) -> bool {
        let is_wide_part = |part: &Part| match *part {
            Part::Element(ty, _) => is_number(ty),
            Part::Constant(value) => is_number(value.scalar_type()),
            Part::Same(value) => self.emitter.builder.func.dfg.value_type(value).bytes() == 8,
            Part::Result(_) | Part::Index => true,
            Part::Node(_) | Part::Input(_) | Part::Column(_) | Part::Both(_) => false,
        };
        let is_truth = |&(op, _): &(ScalarOp, Vec<Part>)| op.row().result == ScalarType::Bool;
        matches!(producer.result, Part::Result(last) if is_truth(&producer.steps[last]))
            && producer.steps.iter().all(|(op, parts)| is_wide_op(*op) && parts.iter().all(is_wide_part))
    }

    /// What is the same at all indices, in memory.
    pub(super) fn scalars_in_memory(&mut self, producer: &Producer) -> Vec<StackSlot> {
        let mut slots = Vec::new();
        for part in producer.steps.iter().flat_map(|(_, parts)| parts) {
            if let Some(value) = self.same(*part) {
                let builder = &mut self.emitter.builder;
                let slot = builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
                builder.ins().stack_store(types::I64, value, slot, 0);
                slots.push(slot);
            }
        }
        slots
    }

    /// What is to be computed, with that from memory.
    pub(super) fn with_scalars_from(&mut self, mut producer: Producer, slots: &[StackSlot]) -> Producer {
        let mut slots = slots.iter();
        for part in producer.steps.iter_mut().flat_map(|(_, parts)| parts) {
            let Some(value) = self.same(*part) else { continue };
            let slot = *slots.next().unwrap_or_else(|| unreachable!("each scalar has its slot"));
            let builder = &mut self.emitter.builder;
            let ty = builder.func.dfg.value_type(value);
            *part = Part::Same(builder.ins().stack_load(types::I64, ty, slot, 0));
        }
        producer
    }

    /// What is to be computed, with that for two indices.
    pub(super) fn with_splats(&mut self, mut producer: Producer) -> Producer {
        for part in producer.steps.iter_mut().flat_map(|(_, parts)| parts) {
            if let Some(value) = self.same(*part) {
                *part = Part::Both(self.emitter.splat(value));
            }
        }
        producer
    }

    /// The value of what is the same at all indices.
    fn same(&mut self, part: Part) -> Option<Value> {
        match part {
            Part::Same(value) => Some(value),
            Part::Constant(value) => Some(self.emitter.constant(value)),
            _ => None,
        }
    }

    /// The same for that index and the next one, in a vector.
    pub(super) fn computed_wide(&mut self, producer: &Producer, i: Value, behind: i32) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(producer.steps.len());
        for (op, parts) in &producer.steps {
            let mut operands = Vec::with_capacity(parts.len());
            for &part in parts {
                operands.push(match part {
                    Part::Result(before) => results[before],
                    Part::Both(value) => value,
                    Part::Element(ty, column) => {
                        let address = self.address(column, i, ty);
                        self.emitter.load_wide_where_needed(ty, address, behind * ty.size() as i32)
                    }
                    Part::Index => {
                        let first = self.emitter.builder.ins().iadd_imm_s(i, i64::from(behind));
                        self.emitter.index_wide(first)
                    }
                    other => {
                        let value = self.part_at(other, &results, i, behind);
                        self.emitter.splat(value)
                    }
                });
            }
            results.push(self.emitter.wide_operation(*op, &operands));
        }
        results.pop().unwrap_or_else(|| unreachable!("there is an operation"))
    }

    fn part_at(&mut self, part: Part, results: &[Value], i: Value, behind: i32) -> Value {
        match part {
            Part::Result(before) => results[before],
            Part::Element(ty, column) => {
                let address = self.address(column, i, ty);
                self.emitter.builder.ins().load(machine_type(ty), TRUSTED, address, behind * ty.size() as i32)
            }
            Part::Index => self.emitter.builder.ins().iadd_imm_s(i, i64::from(behind)),
            Part::Same(value) => value,
            Part::Constant(value) => self.emitter.constant(value),
            Part::Node(_) | Part::Input(_) | Part::Column(_) | Part::Both(_) => {
                unreachable!("{part:?} is no value of one index")
            }
        }
    }
}
