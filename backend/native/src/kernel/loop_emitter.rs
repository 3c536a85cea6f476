//! The loops of a group while they are emitted: the function they go to, what they run with, and what they carry.
//!
//! What is emitted is decided before ([`Analysis`]); here are only values and variables. The loop nest is made from the
//! outside in: [`super::emit`] stretches and strips, [`super::strip_mining`] the loop over indices, [`super::body`] and
//! [`super::simd`] what is computed at one or two of them, [`super::ends`] what becomes of that.
//!
//! ```text
//! check the ends, compare lengths         // or give up
//! segment, base, stop = the first         // for each descriptor that is used
//! accumulators = identities; positions = where filtered elements go
//! …loops…
//! ```

use super::analysis::{Analysis, Inner, UNROLL};
use super::environment::{BoundInts, BoundSegments, Environment, Made};
use super::plan::{Ending, Plan};
use crate::emitter::Emitter;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use nesl_prim::ScalarOp;
use std::ops::Range;

/// Emits the loops of a group.
pub(super) struct LoopEmitter<'a, 'e, 'b> {
    pub emitter: &'e mut Emitter<'b>,
    pub plan: &'a Plan,
    pub analysis: &'a Analysis<'a>,
    pub environment: Environment,
    /// The cursors of descriptors, by input.
    pub cursors: Made<Cursor>,
    /// Positions in columns, by space.
    pub positions: Vec<Option<Variable>>,
    pub carried: Vec<Carried>,
    /// What goes from one index to the next for each node that is a scan.
    pub scans: Vec<Carried>,
    /// Indices that go up evenly inside a strip, by node.
    pub inductions: Made<InductionVariable>,
    /// Accumulators of exact reductions for two indices, by yield.
    pub wide_accumulators: Vec<Vec<Variable>>,
    /// Counters for two indices, of the spaces that are counted.
    pub wide_counters: Vec<Variable>,
    /// Accumulators of reductions in narrow lanes, by yield.
    pub narrow_accumulators: Made<Variable>,
    /// The lanes of a sum that are kept in registers.
    pub lanes: Option<Lanes>,
    /// What holds for a strip: the elements of `seg_dist`, what is invariant, and the addresses that index 0 would have
    /// in what is read element after element, by node.
    pub of_strip: Made<Value>,
    /// The addresses that index 0 would have in buffers of sums, for a strip or a stretch, by yield.
    pub biases: Made<Value>,
    /// Whether there is room for all indices that the loop takes now, kept or not.
    pub has_room: bool,
    /// What is known at the current index.
    pub now: Now,
    /// The plans of strips in which conditions are known.
    pub inner: Vec<InnerLoop<'a>>,
}

/// An inner plan while its loops are emitted.
pub(super) struct InnerLoop<'a> {
    pub inner: &'a Inner,
    pub analysis: &'a Analysis<'a>,
    pub inductions: Made<InductionVariable>,
}

/// What is known at the current index.
#[derive(Clone)]
pub(super) struct Now {
    /// The loop's index; none outside of the loops.
    pub index: Option<Value>,
    /// How much the current one is further.
    pub further: usize,
    pub nodes: Made<Value>,
    pub inputs: Vec<Option<Value>>,
}

impl Now {
    /// Nothing, at an index of the loops over a plan.
    pub fn nothing(plan: &Plan, index: Option<Value>) -> Now {
        let (nodes, inputs) = (Made::nothing("node", plan.nodes.len()), vec![None; plan.inputs.len()]);
        Now { index, further: 0, nodes, inputs }
    }

    /// The loop's index.
    ///
    /// # Panics
    /// Outside of the loops, where only scalars are read.
    pub fn loop_index(&self) -> Value {
        self.index.unwrap_or_else(|| panic!("elements are read outside of the loops"))
    }
}

/// What goes from one index to the next for a yield.
#[derive(Clone, Debug)]
pub(super) enum Carried {
    Nothing,
    /// Accumulators of an exact operation; the extreme element so far, and the loop's index there; or the position in a
    /// filter's buffer of sums.
    Values(Vec<Variable>),
    /// An ordered scan: what comes before the block, what comes before the element inside the block, and for a filter
    /// the position in the block.
    Ordered {
        before: Variable,
        inside: Variable,
        position: Variable,
    },
}

/// Where a descriptor's loop is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub starts: BoundInts,
    pub lengths: BoundInts,
    pub segments: Value,
    pub segment: Variable,
    pub base: Variable,
    pub stop: Variable,
}

/// The lanes of a yield.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The position of the yield.
    pub yields: usize,
    pub op: ScalarOp,
    /// The descriptor whose segments are added up.
    pub descriptor: Option<usize>,
    /// The sums.
    pub sums: Value,
    pub vectors: Vec<Variable>,
    /// The address that index 0 would have in the buffer.
    pub bias: Variable,
    /// Whether the loop that is emitted keeps them.
    pub is_kept: bool,
}

/// An index that goes up evenly inside a strip.
#[derive(Clone, Copy)]
pub(super) struct InductionVariable {
    /// What it is next.
    pub index: Variable,
    pub step: Variable,
}

impl<'a, 'e, 'b> LoopEmitter<'a, 'e, 'b> {
    /// Emits what comes before the loops over the indices from one value up to another.
    pub fn begin(
        emitter: &'e mut Emitter<'b>,
        analysis: &'a Analysis<'a>,
        environment: &Environment,
        indices: &Range<Value>,
    ) -> Self {
        let plan = analysis.plan;
        let mut loops = LoopEmitter {
            emitter,
            plan,
            analysis,
            environment: environment.clone(),
            cursors: Made::nothing("input", plan.inputs.len()),
            positions: vec![None; plan.spaces()],
            carried: Vec::new(),
            scans: vec![Carried::Nothing; plan.nodes.len()],
            inductions: Made::nothing("node", plan.nodes.len()),
            wide_accumulators: Vec::new(),
            wide_counters: Vec::new(),
            narrow_accumulators: Made::nothing("yield", plan.yields.len()),
            lanes: None,
            of_strip: Made::nothing("node", plan.nodes.len()),
            biases: Made::nothing("yield", plan.yields.len()),
            has_room: false,
            now: Now::nothing(plan, None),
            inner: Vec::new(),
        };
        loops.check_ends(indices.start, indices.end);
        loops.check_lengths(indices.start, indices.end);
        loops.begin_cursors();
        loops.begin_inductions();
        for space in 0..plan.spaces() {
            if analysis.positioned[space] {
                loops.positions[space] = Some(loops.variable(environment.positions[space]));
            }
        }
        for index in 0..analysis.endings.len() {
            let carried = loops.carry(index, indices);
            loops.carried.push(carried);
        }
        loops.begin_scans();
        if analysis.is_wide {
            loops.begin_wide(UNROLL);
        }
        if let Some(lanes) = analysis.narrow {
            loops.begin_narrow(lanes);
        }
        loops
    }

    /// Defines where the loop is in descriptors.
    fn begin_cursors(&mut self) {
        for (input, &first) in self.analysis.cursors.iter().enumerate() {
            let Some(first) = first else { continue };
            let BoundSegments { starts, lengths, segment, base, stop, segments } = self.environment.segments(input);
            let cursor = match self.cursors.get(first) {
                Some(first) => Cursor { starts, ..first },
                None => {
                    let [segment, base, stop] = [segment, base, stop].map(|value| self.variable(value));
                    Cursor { starts, lengths, segments, segment, base, stop }
                }
            };
            self.cursors.set(input, cursor);
        }
    }

    /// Where the loop is in descriptors, each with the first that is used of those with segments as long.
    pub fn different_cursors(&self) -> Vec<(usize, Cursor)> {
        self.analysis.first_cursors().filter_map(|input| Some((input, self.cursors.get(input)?))).collect()
    }

    fn carry(&mut self, index: usize, indices: &Range<Value>) -> Carried {
        let start = self.environment.outlets[index].start;
        let is_within = |source| self.plan.space_of(source) > 0;
        match self.analysis.endings[index] {
            Some(Ending::Reduce(op, _)) => {
                let identity = self.identity(op);
                let mut accumulators = vec![self.variable(start)];
                // What takes one step waits for nothing: more accumulators would only take registers.
                let times = if is_quick(op) { 1 } else { self.analysis.times };
                accumulators.extend((1..times).map(|_| self.variable(identity)));
                Carried::Values(accumulators)
            }
            Some(Ending::SegReduce(op, ..)) => {
                let identity = self.identity(op);
                Carried::Values(vec![self.variable(identity)])
            }
            Some(Ending::ReduceIndex(op, _)) => {
                let first = self.first_looked_at(indices);
                self.carry_extreme(op, first)
            }
            Some(Ending::SegReduceIndex(op, _, descriptor)) => {
                let base = self.environment.segments(descriptor).base;
                self.carry_extreme(op, base)
            }
            Some(Ending::Sum(_, source)) if is_within(source) => Carried::Values(vec![self.variable(start)]),
            Some(Ending::SegSum(_, _, descriptor)) => {
                self.begin_segments(index, descriptor);
                let none = self.emitter.int(0);
                Carried::Values(vec![self.variable(none)])
            }
            _ => Carried::Nothing,
        }
    }

    pub fn variable(&mut self, value: Value) -> Variable {
        let ty = self.emitter.builder.func.dfg.value_type(value);
        let variable = self.emitter.builder.declare_var(ty);
        self.emitter.builder.def_var(variable, value);
        variable
    }

    pub fn identity(&mut self, op: ScalarOp) -> Value {
        self.emitter.constant(op.identity())
    }

    pub fn values(&self, index: usize) -> Vec<Variable> {
        match &self.carried[index] {
            Carried::Values(variables) => variables.clone(),
            other => unreachable!("a reduction carries values, not {other:?}"),
        }
    }

    pub fn add(&mut self, variable: Variable, value: Value) {
        let before = self.emitter.builder.use_var(variable);
        let after = self.emitter.builder.ins().iadd(before, value);
        self.emitter.builder.def_var(variable, after);
    }
}

/// Whether a reduction takes one step of a processor for an element.
fn is_quick(op: ScalarOp) -> bool {
    matches!(op, ScalarOp::AddInt | ScalarOp::OrBool | ScalarOp::AndBool)
}
