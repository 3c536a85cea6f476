//! A short trial: few instances of a recursion, of which nobody knows how long they take, run in native code on this
//! thread for as long as it would take other workers to be worth waking. Most calls end in that time. What does not is
//! begun again in the lifted version, until there are enough instances for all workers.

use crate::engine::Engine;
use crate::engine::value::SlotOf;
use crate::machine::decode::EachLine;
use crate::machine::evaluator::Active;
use crate::machine::leaf::Gathered;
use crate::machine::run::alarm::set_after;
use crate::machine::run::{Run, Stop};
use crate::machine::strategy::Sizes;
use nesl_native::Status;
use std::sync::Arc;
use std::time::Duration;

/// How long a trial takes at most. Lifting Fibonacci numbers until there are 128 of them takes about half of that.
const TRIAL: Duration = Duration::from_millis(1);

/// What has become of a trial.
pub(super) enum Trial<E: Engine> {
    /// The results of all instances.
    Done(Vec<SlotOf<E>>),
    /// The time was over.
    TooLong,
    /// An instance did not come to its end for another reason.
    Failed,
}

impl<E: Engine> Run<'_, E> {
    /// Runs all instances one after another in native code, for a short time at most. `operands` are those of the
    /// `each` without the number of instances, `outside` the calls that are active.
    pub(super) fn trial(
        &mut self,
        line: &Arc<EachLine>,
        sizes: Sizes,
        operands: &[SlotOf<E>],
        outside: Active,
    ) -> Result<Trial<E>, Stop> {
        let fault = Stop::of(line.at);
        let Some(native) = self.native(line, sizes, operands).map_err(&fault)? else { return Ok(Trial::Failed) };
        let Some(flag) = set_after(TRIAL) else { return Ok(Trial::Failed) };
        let limits = (Some(&*flag), self.settings.limits.depth.saturating_sub(outside.calls));
        self.is_native();
        let done = native.run(self, line, (0..sizes.instances, &mut []), limits).map_err(&fault)?;
        let Some(done) = done else { return Ok(Trial::Failed) };
        self.steps += done.steps;
        match done.status {
            Status::Done => {}
            Status::Interrupted => return Ok(Trial::TooLong),
            Status::GaveUp => return Ok(Trial::Failed),
        }
        self.instructions += sizes.instances as u64;
        let mut results = Gathered::new(&line.plan.results);
        results.add(self.engine, done.results).map_err(&fault)?;
        results.finish(self.engine).map(Trial::Done).map_err(&fault)
    }
}
