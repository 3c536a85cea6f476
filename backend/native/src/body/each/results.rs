//! The results of the instances of an `each`: what the loop keeps of each of them, and how that is put together after
//! it.
//!
//! Scalars are reduced, and go to a column where somebody reads that. The elements of a sequence stay in scratch memory
//! where the instance left them; putting them together copies nothing where all of them lie one after another. A
//! sequence within a sequence is a segment of what its instance gives: those of all instances become the segments of
//! one column.
//!
//! ```text
//! starts, lengths = (total so far, length) of the sequence of each instance
//! elements        = join(address, length of each instance)
//! inner lengths   = join(lengths of each instance);  inner starts = their sums
//! inner elements  = for each instance: for each of its segments { copy behind the last }
//! ```

use super::elementwise::Elementwise;
use crate::body::Body;
use crate::emitter::machine_type;
use crate::runtime::{Helper, instances, join};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{EachPlan, Field, Holds, Operand, Register};

/// What is kept of a register of the results of all instances.
#[derive(Clone, Copy)]
pub(super) enum Collected {
    /// A column of scalars.
    Scalar(ScalarType, Value),
    /// Scalars that nobody reads one by one.
    Nothing,
    /// The descriptor of sequences, and how many elements there are so far.
    Sequences { starts: Value, lengths: Value, total: Variable },
    /// Where the elements of the sequences, or of segments within, of the register at this position are in each instance.
    Elements { ty: ScalarType, addresses: Value, of: usize },
    /// Where the starts and lengths of segments within those of the register at this position are in each instance.
    Within { starts: Value, lengths: Value, of: usize },
}

/// What a reduction reads: a field of what instances give, by its position, or a scalar from outside.
#[derive(Clone, Copy)]
pub(super) enum Source<S> {
    Field(usize),
    Scalar(S),
}

/// A reduction in the loop over instances.
pub(super) struct Reduction {
    op: ScalarOp,
    /// What is reduced, computed from such inputs.
    reduced: Elementwise,
    inputs: Vec<Source<Value>>,
    pub variable: Variable,
}

/// The segments of all instances.
#[derive(Clone, Copy)]
enum Joined {
    /// One of each instance, the whole of what is within; how many elements these have together.
    Whole { lengths: Value, total: Value },
    /// Several: how many of each instance, and where in what the instance gives each starts and how long it is.
    Several { counts: Value, starts: Value, lengths: Value, segments: Value },
}

impl Body<'_, '_> {
    /// Room for what is kept of the results of so many instances: of scalars, where they are read one by one.
    pub(super) fn keep_all(
        &mut self,
        plan: &EachPlan,
        count: Value,
        is_read: impl Fn(usize) -> bool,
    ) -> Vec<Collected> {
        let fields = plan.results.iter().enumerate();
        fields.map(|(index, field)| self.keep(*field, count, is_read(index))).collect()
    }

    fn keep(&mut self, field: Field, count: Value, is_read: bool) -> Collected {
        let ty = field.scalar_type();
        match (field.holds, field.parent) {
            (Holds::Sequences, None) => {
                let [starts, lengths] = [(); 2].map(|()| self.room(count, ScalarType::Int));
                let total = self.emitter.builder.declare_var(types::I64);
                let zero = self.emitter.int(0);
                self.emitter.builder.def_var(total, zero);
                Collected::Sequences { starts, lengths, total }
            }
            (Holds::Sequences, Some(of)) => {
                let [starts, lengths] = [(); 2].map(|()| self.room(count, ScalarType::Int));
                Collected::Within { starts, lengths, of }
            }
            (Holds::Scalars(_), Some(of)) => {
                Collected::Elements { ty, addresses: self.room(count, ScalarType::Int), of }
            }
            (Holds::Scalars(_), None) if is_read => Collected::Scalar(ty, self.room(count, ty)),
            (Holds::Scalars(_), None) => Collected::Nothing,
        }
    }

    /// Keeps what instance `i` gives: a scalar, a length, or addresses.
    pub(super) fn add(&mut self, kept: Collected, i: Value, values: &[Value]) {
        let value = values[0];
        match kept {
            Collected::Scalar(ty, column) => self.save(column, i, ty, value),
            Collected::Nothing => {}
            Collected::Sequences { starts, lengths, total } => {
                let start = self.emitter.builder.use_var(total);
                self.save(starts, i, ScalarType::Int, start);
                self.save(lengths, i, ScalarType::Int, value);
                let end = self.emitter.builder.ins().iadd(start, value);
                self.emitter.builder.def_var(total, end);
            }
            Collected::Elements { addresses, .. } => self.save(addresses, i, ScalarType::Int, value),
            Collected::Within { starts, lengths, .. } => {
                self.save(starts, i, ScalarType::Int, value);
                self.save(lengths, i, ScalarType::Int, values[1]);
            }
        }
    }

    /// Begins with nothing.
    pub(super) fn begin_reduction(
        &mut self,
        op: ScalarOp,
        reduced: Elementwise,
        sources: &[Source<Register>],
    ) -> Reduction {
        let identity = self.identity(op);
        let variable = self.emitter.builder.declare_var(machine_type(op.row().result));
        self.emitter.builder.def_var(variable, identity);
        let input = |source: &Source<Register>| match *source {
            Source::Field(position) => Source::Field(position),
            Source::Scalar(register) => Source::Scalar(self.value(Operand::Register(register))[0]),
        };
        Reduction { op, reduced, inputs: sources.iter().map(input).collect(), variable }
    }

    /// Combines with what was before what an instance gives, field by field.
    pub(super) fn reduce(&mut self, reduction: &Reduction, index: Value, fields: &[&[Value]]) {
        let value = |input: usize| match reduction.inputs[input] {
            Source::Field(field) => fields[field][0],
            Source::Scalar(scalar) => scalar,
        };
        let reduced = reduction.reduced.clone().on_values(value);
        let value = self.computed(&reduced, index, 0);
        let before = self.emitter.builder.use_var(reduction.variable);
        let after = self.emitter.scalar(reduction.op, &[before, value]);
        self.emitter.builder.def_var(reduction.variable, after);
    }

    /// The values of the registers of what was kept; none for what was not.
    pub(super) fn together(&mut self, kept: Vec<Collected>, count: Value) -> Vec<Vec<Value>> {
        let (mut values, mut joined) = (Vec::new(), Vec::<Option<Joined>>::with_capacity(kept.len()));
        for kept in kept {
            let mut segments = None;
            let within = |of: usize| joined[of].unwrap_or_else(|| unreachable!("what is within lies in sequences"));
            values.push(match kept {
                Collected::Nothing => Vec::new(),
                Collected::Scalar(_, column) => vec![column, count],
                Collected::Sequences { starts, lengths, total } => {
                    let total = self.emitter.builder.use_var(total);
                    // The same sequence may be the result of many instances.
                    self.require_possible(total);
                    segments = Some(Joined::Whole { lengths, total });
                    vec![starts, lengths, count]
                }
                Collected::Elements { ty, addresses, of } => self.joined(addresses, ty, within(of), count).to_vec(),
                Collected::Within { starts, lengths, of } => {
                    let (descriptor, inner) = self.segments_within([starts, lengths], within(of), count);
                    segments = Some(inner);
                    descriptor.to_vec()
                }
            });
            joined.push(segments);
        }
        values
    }

    /// The descriptor of segments within segments, from where their starts and lengths are in each instance.
    fn segments_within(&mut self, addresses: [Value; 2], within: Joined, count: Value) -> ([Value; 3], Joined) {
        let counts = match within {
            Joined::Whole { lengths, .. } => lengths,
            Joined::Several { counts, lengths, segments, .. } => {
                let words = [counts, count, lengths, segments];
                self.call_helper(instances::counts_within(), &words, 2)[0]
            }
        };
        let [starts, lengths] = addresses.map(|addresses| self.joined(addresses, ScalarType::Int, within, count));
        let segments = lengths[1];
        let packed = self.call_helper(instances::packed_starts(), &lengths, 2)[0];
        let inner = Joined::Several { counts, starts: starts[0], lengths: lengths[0], segments };
        ([packed, lengths[0], segments], inner)
    }

    /// The elements of all instances in one column: its address and length.
    fn joined(&mut self, addresses: Value, ty: ScalarType, within: Joined, count: Value) -> [Value; 2] {
        match within {
            Joined::Whole { lengths, total } => {
                let bytes = self.bytes(total, ty);
                let size = self.emitter.int(ty.size() as i64);
                let signature = self.emitter.signature(&[types::I64; 6], &[types::I64]);
                let arguments = [self.emitter.state, addresses, lengths, count, size, bytes];
                let address = self.emitter.call_rust(join as *const () as usize, signature, &arguments)[0];
                self.emitter.require(address);
                [address, total]
            }
            Joined::Several { counts, starts, lengths, segments } => {
                let words = [addresses, count, counts, count, starts, lengths, segments];
                let helper: Helper = instances::join_within(ty);
                let column = self.call_helper(helper, &words, 2);
                [column[0], column[1]]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::function::tests::column_of;

    #[test]
    fn sequences_within_what_instances_give_are_put_together() {
        // g(i) = {[k:i] : k in [0:i]}, which share their elements; h(n) = {g(i) : i in [0:n]}; f(n) = {h(i) : i in [0:n]}.
        let text = "
            function f(%0: int) -> int, column int {
              %1 = iota %0
              %2, %3, %4, %5 = each h h/L(of int) -> [[[int]]] %0 %1
              %6 = lengths %4
              %7 = lengths %3
              %8 = lengths %2
              %9 = starts %4
              %10 = concat %5 %6 %7 %8 %9
              %11 = length %10
              return %11 %10
            }
            function h(%0: int) -> int, descriptor, descriptor, column int {
              %1 = iota %0
              %2, %3, %4 = each g g/L(of int) -> [[int]] %0 %1
              return %0 %2 %3 %4
            }
            function g(%0: int) -> int, descriptor, column int {
              %1 = iota %0
              %2 = map subtract.int %0 %1
              %3 = view %1 %2
              return %0 %3 %1
            }
            function g/L(%0: int, %1: column int) -> descriptor, descriptor, column int {
              %2 = packed %1
              %3 = seg_iota %2
              %4 = packed %3
              %5 = seg_iota %4
              return %2 %4 %5
            }
            function h/L(%0: int, %1: column int) -> descriptor, descriptor, descriptor, column int {
              %2 = packed %1
              %3 = seg_iota %2
              %4 = packed %3
              %5 = seg_iota %4
              %6 = packed %5
              %7 = seg_iota %6
              return %2 %4 %6 %7
            }";
        for n in [0, 1, 2, 3, 4, 7] {
            let below = |n: i64| (0..n).flat_map(|i| 0..i);
            let innermost = || below(n).flat_map(|i| (0..i).map(move |k| k..i));
            let lengths: Vec<i64> = innermost().map(|segment| segment.end - segment.start).collect();
            let mut starts = Vec::new();
            lengths.iter().fold(0, |start, length| {
                starts.push(start);
                start + length
            });
            let elements = innermost().flatten().collect();
            let expected = [elements, lengths, below(n).collect(), (0..n).collect(), starts].concat();
            assert_eq!(column_of(text, &[n as u64]), expected, "{n}");
        }
    }
}
