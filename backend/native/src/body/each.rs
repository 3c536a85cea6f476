//! `each` in the middle of a function: a loop around a call of the serial version; by itself, or in a group
//! ([`group`]).
//!
//! Taking the operands of an instance apart copies nothing. What an instance gives is put together after the loop
//! ([`results`]).
//!
//! ```text
//! for i in 0 .. count { keep f(operands[i]) }
//! put together what was kept
//! ```

mod elementwise;
mod filter;
mod group;
mod results;

use super::Body;
use crate::abi::words_of;
use crate::emitter::{TRUSTED, machine_type};
use crate::state::INTERRUPT;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use elementwise::Elementwise;
pub(crate) use group::EachGroup;
use nesl_prim::ScalarType;
use nesl_vcode::{EachPlan, Field, FunctionId, Operand, RegisterType, Take, Taken};
use results::{Collected, Reduction};
use std::collections::HashMap;

/// A register of the arguments of an instance.
enum Part {
    Same(Vec<Value>),
    /// An element of a column.
    Element(ScalarType, Value),
    /// What is computed from such elements.
    Computed(Elementwise),
    /// The length of a segment.
    Length {
        starts: Value,
        lengths: Value,
    },
    /// What is in the segment of the part at this position: of a column, or of the starts and lengths of a descriptor.
    Slice(ScalarType, Value, usize),
    Segments(Value, Value, usize),
}

/// The instances of an `each`.
struct Instances<'a> {
    /// What runs for one of them, on what.
    serial: FunctionId,
    parts: Vec<Part>,
    /// The number of indices, and at which there is one, if not at all.
    length: Value,
    filter: Option<Elementwise>,
    /// What they give, and what is kept of it.
    fields: &'a [Field],
    kept: &'a [Collected],
    /// What becomes of some of it at once.
    reductions: &'a [Reduction],
}

impl Body<'_, '_> {
    /// The values of the results of an `each` by itself.
    pub(super) fn each_loop(&mut self, serial: FunctionId, plan: &EachPlan, operands: &[Operand]) -> Vec<Value> {
        let length = self.value(operands[0])[0];
        // Where nothing varies, no column has so many elements.
        self.require_possible(length);
        let parts =
            plan.operands.iter().zip(&operands[1..]).map(|(taken, &operand)| self.part(taken, operand)).collect();
        let kept = self.keep_all(plan, length, |_| true);
        let (fields, filter) = (&plan.results, None);
        self.run_all(&Instances { serial, parts, length, filter, fields, kept: &kept, reductions: &[] });
        self.together(kept, length).concat()
    }

    /// Runs instances, in order.
    fn run_all(&mut self, instances: &Instances<'_>) {
        let &Instances { serial, length, .. } = instances;
        let flag = self.emitter.load_state(INTERRUPT);
        let is_inlined = self.is_inlined(serial);
        let instance = |body: &mut Self, i: Value| {
            if is_inlined || !body.looks_at_interrupt(serial) {
                body.emitter.check_flag(flag);
            }
            let arguments = body.arguments(&instances.parts, i);
            let results =
                if is_inlined { body.inlined(serial, &arguments, Vec::new()) } else { body.call(serial, &arguments) };
            let mut rest = results.as_slice();
            let mut of_fields = Vec::with_capacity(instances.fields.len());
            for (field, kept) in instances.fields.iter().zip(instances.kept) {
                let (own, others) = rest.split_at(words_of(field.serial()));
                body.add(*kept, i, own);
                of_fields.push(own);
                rest = others;
            }
            instances.reductions.iter().for_each(|reduction| body.reduce(reduction, i, &of_fields));
        };
        match &instances.filter {
            Some(filter) => self.for_each_where(filter, length, flag, instance),
            None => self.for_each(length, instance),
        }
    }

    /// A loop over the indices up to a count.
    fn for_each(&mut self, count: Value, instance: impl FnOnce(&mut Self, Value)) {
        let zero = self.emitter.int(0);
        let builder = &mut self.emitter.builder;
        let index = builder.declare_var(types::I64);
        builder.def_var(index, zero);
        let (header, body, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let i = builder.use_var(index);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, i, count);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(body);
        instance(self, i);
        let next = self.emitter.builder.ins().iadd_imm_s(i, 1);
        self.emitter.builder.def_var(index, next);
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// What an instance takes of an operand.
    fn part(&mut self, taken: &Taken, operand: Operand) -> Part {
        match (taken.take, taken.register) {
            (Take::Element, RegisterType::Column(ty)) => Part::Element(ty, self.value(operand)[0]),
            (Take::Element, RegisterType::Descriptor) => {
                let segments = self.value(operand);
                Part::Length { starts: segments[0], lengths: segments[1] }
            }
            (Take::Slice(of), RegisterType::Column(ty)) => Part::Slice(ty, self.value(operand)[0], of),
            (Take::Slice(of), RegisterType::Descriptor) => {
                let segments = self.value(operand);
                Part::Segments(segments[0], segments[1], of)
            }
            _ => Part::Same(self.value(operand)),
        }
    }

    /// The values of the arguments of instance `i`.
    fn arguments(&mut self, parts: &[Part], i: Value) -> Vec<Value> {
        let mut arguments = Vec::new();
        // Where the segments of sequences are, by the positions of these.
        let mut segments = HashMap::new();
        for (position, part) in parts.iter().enumerate() {
            match part {
                Part::Same(values) => arguments.extend(values),
                Part::Element(ty, column) => arguments.push(self.load(*column, i, *ty)),
                Part::Computed(elementwise) => arguments.push(self.computed(elementwise, i, 0)),
                Part::Length { starts, lengths } => {
                    let [start, length] = [starts, lengths].map(|&column| self.load(column, i, ScalarType::Int));
                    segments.insert(position, (start, length));
                    arguments.push(length);
                }
                Part::Slice(ty, column, of) => {
                    let (start, length) = segments[of];
                    arguments.extend([self.address(*column, start, *ty), length]);
                }
                Part::Segments(starts, lengths, of) => {
                    let (start, length) = segments[of];
                    let of_segments = [starts, lengths];
                    arguments.extend(of_segments.map(|&column| self.address(column, start, ScalarType::Int)));
                    arguments.push(length);
                }
            }
        }
        arguments
    }

    pub(super) fn load(&mut self, column: Value, index: Value, ty: ScalarType) -> Value {
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().load(machine_type(ty), TRUSTED, address, 0)
    }

    pub(super) fn save(&mut self, column: Value, index: Value, ty: ScalarType, value: Value) {
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
    }
}
