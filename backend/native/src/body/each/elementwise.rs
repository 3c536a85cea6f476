//! What is computed at one index, for an instance of an `each` alone: operations on elements that lie at the index, on
//! the index itself, and on scalars.
//!
//! ```text
//! f(a + v[i], b * v[i])                                   // for instance i, with no column of sums or products
//! ```
//!
//! A filter looks at several neighbouring indices at once ([`super::filter`]), and at two in one operation where its
//! operations are wide.

use crate::body::Body;
use crate::emitter::{TRUSTED, machine_type};
use crate::kernel::{NodeOp, Plan, PlanOperand};
use crate::scalar::vector::{is_number, is_wide_op};
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Operand, Register, RegisterType, VectorOp};
use std::collections::HashMap;

/// Operations on elements of columns, one after another, and what of all that is the result.
#[derive(Clone, Debug)]
pub(super) struct Elementwise {
    steps: Vec<(ScalarOp, Vec<Part>)>,
    result: Part,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// What an operation before gives.
    Result(usize),
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

impl Elementwise {
    /// How something of a group is computed at an index: what filters keep is what lies there. None where it is
    /// computed in another way.
    pub fn of(plan: &Plan, source: PlanOperand) -> Option<Elementwise> {
        let (mut steps, mut known) = (Vec::new(), HashMap::new());
        let result = part(plan, source, &mut steps, &mut known)?;
        Some(Elementwise { steps, result })
    }

    /// The same on values of the inputs, those of columns being elements at the index.
    pub fn on_values(mut self, value: impl Fn(usize) -> Value) -> Elementwise {
        for part in self.steps.iter_mut().flat_map(|(_, parts)| parts).chain([&mut self.result]) {
            if let Part::Input(input) | Part::Column(input) = *part {
                *part = Part::Same(value(input));
            }
        }
        self
    }
}

/// What an operand is, after these steps and some more; steps of nodes that are known are not repeated.
fn part(
    plan: &Plan,
    source: PlanOperand,
    steps: &mut Vec<(ScalarOp, Vec<Part>)>,
    known: &mut HashMap<usize, Part>,
) -> Option<Part> {
    let number = match source {
        PlanOperand::Constant(value) => return Some(Part::Constant(value)),
        PlanOperand::Input(input) => {
            return match plan.inputs[input] {
                RegisterType::Scalar(_) => Some(Part::Input(input)),
                RegisterType::Column(_) => Some(Part::Column(input)),
                RegisterType::Descriptor => None,
            };
        }
        PlanOperand::Node(number) => number,
    };
    if let Some(&part) = known.get(&number) {
        return Some(part);
    }
    let node = &plan.nodes[number];
    let found = match node.op {
        NodeOp::Vector(VectorOp::Pack) => part(plan, node.operands[0], steps, known)?,
        NodeOp::Vector(VectorOp::Iota) => Part::Index,
        NodeOp::Map(op) => {
            let operands = node.operands.iter().map(|&operand| part(plan, operand, steps, known));
            let operands = operands.collect::<Option<_>>()?;
            steps.push((op, operands));
            Part::Result(steps.len() - 1)
        }
        NodeOp::Vector(_) => return None,
    };
    known.insert(number, found);
    Some(found)
}

impl Body<'_, '_> {
    /// The same on the values of the inputs.
    pub(super) fn bound_to(&mut self, mut elementwise: Elementwise, plan: &Plan, inputs: &[Register]) -> Elementwise {
        let parts = elementwise.steps.iter_mut().flat_map(|(_, parts)| parts).chain([&mut elementwise.result]);
        for part in parts {
            let mut value = |input: usize| self.value(Operand::Register(inputs[input]))[0];
            *part = match *part {
                Part::Input(input) => Part::Same(value(input)),
                Part::Column(input) => match plan.inputs[input] {
                    RegisterType::Column(ty) => Part::Element(ty, value(input)),
                    other => unreachable!("elements are those of a column, not of {other:?}"),
                },
                other => other,
            };
        }
        elementwise
    }

    /// What is computed so many indices behind an index.
    pub(super) fn computed(&mut self, elementwise: &Elementwise, i: Value, behind: i32) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(elementwise.steps.len());
        for (op, parts) in &elementwise.steps {
            let operands: Vec<Value> = parts.iter().map(|&part| self.part_at(part, &results, i, behind)).collect();
            results.push(self.emitter.scalar(*op, &operands));
        }
        self.part_at(elementwise.result, &results, i, behind)
    }

    /// Whether something is computed by operations for two indices, and is true or false.
    pub(super) fn is_wide(&self, elementwise: &Elementwise) -> bool {
        let is_wide_part = |part: &Part| match *part {
            Part::Element(ty, _) => is_number(ty),
            Part::Constant(value) => is_number(value.scalar_type()),
            Part::Same(value) => self.emitter.builder.func.dfg.value_type(value).bytes() == 8,
            Part::Result(_) | Part::Index => true,
            Part::Input(_) | Part::Column(_) | Part::Both(_) => false,
        };
        let is_truth = |&(op, _): &(ScalarOp, Vec<Part>)| op.row().result == ScalarType::Bool;
        matches!(elementwise.result, Part::Result(last) if is_truth(&elementwise.steps[last]))
            && elementwise.steps.iter().all(|(op, parts)| is_wide_op(*op) && parts.iter().all(is_wide_part))
    }

    /// What is the same at all indices, in memory.
    pub(super) fn scalars_in_memory(&mut self, elementwise: &Elementwise) -> Vec<StackSlot> {
        let mut slots = Vec::new();
        for part in elementwise.steps.iter().flat_map(|(_, parts)| parts) {
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
    pub(super) fn with_scalars_from(&mut self, mut elementwise: Elementwise, slots: &[StackSlot]) -> Elementwise {
        let mut slots = slots.iter();
        for part in elementwise.steps.iter_mut().flat_map(|(_, parts)| parts) {
            let Some(value) = self.same(*part) else { continue };
            let slot = *slots.next().unwrap_or_else(|| unreachable!("each scalar has its slot"));
            let builder = &mut self.emitter.builder;
            let ty = builder.func.dfg.value_type(value);
            *part = Part::Same(builder.ins().stack_load(types::I64, ty, slot, 0));
        }
        elementwise
    }

    /// What is to be computed, with that for two indices.
    pub(super) fn with_splats(&mut self, mut elementwise: Elementwise) -> Elementwise {
        for part in elementwise.steps.iter_mut().flat_map(|(_, parts)| parts) {
            if let Some(value) = self.same(*part) {
                *part = Part::Both(self.emitter.splat(value));
            }
        }
        elementwise
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
    pub(super) fn computed_wide(&mut self, elementwise: &Elementwise, i: Value, behind: i32) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(elementwise.steps.len());
        for (op, parts) in &elementwise.steps {
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
            Part::Input(_) | Part::Column(_) | Part::Both(_) => {
                unreachable!("{part:?} is no value of one index")
            }
        }
    }
}
