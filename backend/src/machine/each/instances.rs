//! The instances of an `each` in native code, and on the machine's own lines where that gives up.

use super::tasks::Task;
use crate::data::vector::unwritten::Unwritten;
use crate::engine::error::RuntimeError;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::EachLine;
use crate::machine::evaluator::Active;
use crate::machine::leaf::Split;
use crate::machine::native::{Done, Operands};
use crate::machine::run::{Run, outside_instances};
use crate::machine::strategy::Sizes;
use nesl_native::{Instances, Status};
use nesl_vcode::EachPlan;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes of results that instances leave behind in scratch memory before they are handed on, about.
const BATCH: usize = 4 << 20;

/// How many times as many instances the next batch may have.
const GROWTH: usize = 8;

/// How many instances native code runs at first before their results are handed on: one where these have sequences, of
/// which nobody knows how long they are.
fn first_batch(plan: &EachPlan) -> usize {
    let has_sequences = plan.results.iter().any(|field| !field.is_scalar());
    if has_sequences { 1 } else { BATCH / size_of::<u64>() / plan.results.len().max(1) }
}

/// How many come after so many with results in so many bytes.
fn next_batch(instances: usize, bytes: usize) -> usize {
    let most = instances.saturating_mul(GROWTH);
    let each = bytes.div_ceil(instances).max(1);
    most.min(BATCH / each).max(1)
}

/// An `each` in native code, with its operands.
pub(super) struct NativeEach<E: Engine> {
    instances: Arc<Instances>,
    operands: Operands<E>,
}

impl<E: Engine> NativeEach<E> {
    /// Runs some instances, as [`NativeCode::run`](crate::machine::native::NativeCode::run) does.
    pub(super) fn run(
        &self,
        run: &mut Run<'_, E>,
        line: &EachLine,
        range: (Range<usize>, &mut [Option<Unwritten>]),
        limits: (Option<&AtomicBool>, usize),
    ) -> Result<Option<Done<E>>, Fault> {
        run.program.native.run(run.engine, (line, &self.instances), &self.operands, range, limits)
    }

    /// The results of some instances, in batches, compared with those of the machine's lines if somebody wants that.
    /// `operands` are those of the `each` without the number of instances.
    ///
    /// # Errors
    /// That of the first instance that fails.
    pub(super) fn instances(
        &self,
        run: &mut Run<'_, E>,
        (line, operands): (&EachLine, &[SlotOf<E>]),
        task: Task,
        outside: Active,
    ) -> Result<Vec<Vec<SlotOf<E>>>, RuntimeError> {
        let range = task.range.clone();
        let native = |run: &mut Run<'_, E>| run.native_instances(line, self, operands, task, outside);
        run.checked_instances((line, operands), range, outside, native)
    }
}

impl<E: Engine> Run<'_, E> {
    /// The native code of an `each`, if it has that, and its operands are where that can read them.
    pub(super) fn native(
        &mut self,
        line: &Arc<EachLine>,
        sizes: Sizes,
        operands: &[SlotOf<E>],
    ) -> Result<Option<NativeEach<E>>, Fault> {
        if !sizes.native {
            return Ok(None);
        }
        let Some(operands) = Operands::new(self.engine, operands)? else { return Ok(None) };
        let instances = self.program.native.instances(self.program.program(), line);
        Ok(instances.map(|instances| NativeEach { instances, operands }))
    }

    /// The results of some instances, one after another, in batches. `operands` are those of the `each` without the
    /// number of instances.
    ///
    /// # Errors
    /// That of the first instance that fails.
    fn native_instances(
        &mut self,
        line: &EachLine,
        native: &NativeEach<E>,
        operands: &[SlotOf<E>],
        task: Task,
        outside: Active,
    ) -> Result<Vec<Vec<SlotOf<E>>>, RuntimeError> {
        let Task { range, mut parts } = task;
        let fault = outside_instances(line.at);
        let limits = (self.settings.cut, self.settings.limits.depth.saturating_sub(outside.calls));
        let (mut batches, mut gave_up) = (Vec::new(), false);
        let (mut next, mut most) = (range.start, first_batch(&line.plan));
        self.is_native();
        while next < range.end {
            let batch = next..range.end.min(next.saturating_add(most));
            let done = native.run(self, line, (batch.clone(), &mut parts), limits);
            let Some(done) = done.map_err(fault)? else {
                batches.push(self.instances_by_lines(line, operands, next..range.end, outside)?);
                break;
            };
            self.steps += done.steps;
            match done.status {
                Status::Done => {
                    self.instructions += batch.len() as u64;
                    batches.push(done.results);
                    (next, most) = (batch.end, next_batch(batch.len(), done.bytes));
                }
                Status::GaveUp if batch.len() > 1 => most = batch.len() / 2,
                Status::GaveUp | Status::Interrupted => {
                    // Inside of it already this counts.
                    self.attempts.gave_up(line.serial);
                    gave_up = true;
                    batches.push(self.instances_by_lines(line, operands, next..next + 1, outside)?);
                    next += 1;
                }
            }
        }
        if !gave_up {
            self.attempts.ended(line.serial);
        }
        Ok(batches)
    }

    /// The results of some instances by the machine's lines.
    pub(in crate::machine) fn instances_by_lines(
        &mut self,
        line: &EachLine,
        operands: &[SlotOf<E>],
        range: Range<usize>,
        outside: Active,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        if self.program.is_scalar_only(line.serial) {
            return self.scalar_instances(line, operands, range, outside);
        }
        let arguments = Split::new(self.engine, &line.plan, operands.iter().cloned());
        self.instances(line, &arguments.map_err(outside_instances(line.at))?, range)
    }
}
