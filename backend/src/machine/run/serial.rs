//! Recursion over single elements outside of an apply-to-each: calls, and turns of loops, in native code.
//!
//! There is nothing in such functions for vector instructions ([`is_serial`](crate::machine::strategy::is_serial)), and
//! each of the machine's lines takes what native code needs for fifty. Native code reads columns where they are. What
//! it changes it copies first, because where it gives up the lines begin again from what was there; so a function that
//! changes elements goes there once the machine has done enough of its turns to have earned the copy ([`Account`]).
//! Whatever the program, copies then cost little beside the turns. A loop that is long enough moves over between two
//! turns.

use super::{Run, Stop};
use crate::data::slot::Slot;
use crate::engine::Engine;
use crate::engine::error::RuntimeError;
use crate::engine::native::Native;
use crate::engine::value::SlotOf;
use crate::machine::decode::Source;
use crate::machine::frames::Frames;
use crate::machine::native::Operands;
use nesl_native::Status;
use nesl_vcode::{FunctionId, Place, RegisterType};
use std::collections::HashMap;

/// How many bytes a call, or a turn, earns: to copy them takes about a fifth of its time.
const EARNED: usize = 2048;

/// The bytes that may be copied before anything has been earned.
const AT_FIRST: usize = 1 << 15;

/// What may be copied.
pub(in crate::machine) struct Account {
    /// So many bytes, by turns that the machine has done, and by columns that it has made.
    earned: usize,
    /// So many have been copied.
    spent: usize,
    /// So many bytes of columns had been made, when that was last looked at.
    made: u64,
    /// How many had been, when a function was first refused.
    refused: HashMap<FunctionId, usize>,
}

impl Default for Account {
    fn default() -> Account {
        Account::of(AT_FIRST)
    }
}

impl Account {
    /// One in which so many bytes have been earned.
    pub fn of(earned: usize) -> Account {
        Account { earned, spent: 0, made: 0, refused: HashMap::new() }
    }

    /// What has been made since earns as much: who has just made a column can copy it once more.
    fn earn(&mut self, made: u64) {
        self.earned = self.earned.saturating_add(usize::try_from(made.saturating_sub(self.made)).unwrap_or(usize::MAX));
        self.made = made;
    }

    /// How many have been.
    pub fn earned(&self) -> usize {
        self.earned
    }

    /// What native code has made, its copies among it, earns nothing.
    pub fn overlook(&mut self, made: u64) {
        self.made = made;
    }

    /// Whether a function may have so many bytes copied. The calls in a turn of a loop spend all that is earned;
    /// what they have had copied since the loop was refused is a reason to let the loop go over: it makes these copies
    /// fewer.
    pub(super) fn spend(&mut self, function: FunctionId, copied: usize) -> bool {
        let since = self.refused.get(&function).map_or(0, |&before| self.spent - before);
        if copied > self.earned.saturating_add(since) {
            self.refused.entry(function).or_insert(self.spent);
            self.earned = self.earned.saturating_add(EARNED);
            return false;
        }
        self.refused.remove(&function);
        self.earned = self.earned.saturating_sub(copied);
        self.spent = self.spent.saturating_add(copied);
        true
    }
}

impl<E: Engine> Run<'_, E> {
    /// The results of a call in native code, if the function is one for that, and comes to its end there. Otherwise the
    /// operands are in the frame as they were.
    pub(super) fn serial_call(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        if self.settings.native == Native::Off || !self.program.is_serial(function) || !self.attempts.is_next(function)
        {
            return Ok(None);
        }
        if !self.engine.has_addresses() {
            return self.everywhere_call(function, operands, at, frames);
        }
        let writes = !self.program.written(function).is_empty();
        if writes {
            let copied = self.copied(function, operands, frames);
            self.account.earn(self.engine.allocated());
            if !self.account.spend(function, copied) {
                return Ok(None);
            }
        }
        let outside = frames.active().map_err(Stop::at(at))?;
        let values: Vec<SlotOf<E>> = operands.iter().map(|&operand| frames.read(operand)).collect();
        let call = |run: &mut Self| run.native_call(function, &values, at, outside.calls);
        let then = writes.then(|| self.reading());
        let results = self.checked_call((function, &values), at, call)?;
        if let Some(then) = then {
            let now = self.reading();
            self.loops.add(then, now);
        }
        if results.is_none() {
            frames.put_back(operands, values);
        }
        Ok(results)
    }

    /// The results of a call, whatever it takes: in native code, if it comes to its end there.
    ///
    /// # Errors
    /// Those of the call.
    pub(in crate::machine) fn whole_call(
        &mut self,
        function: FunctionId,
        values: Vec<SlotOf<E>>,
        at: Place,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let call = |run: &mut Self| run.native_call(function, &values, at, 0);
        match self.checked_call((function, &values), at, call) {
            Ok(Some(results)) => Ok(results),
            Ok(None) | Err(_) => self.function(function, values),
        }
    }

    /// How many bytes native code copies before it changes what it gets: all of the columns that it writes to.
    pub(super) fn copied(&self, function: FunctionId, operands: &[Source], frames: &Frames<E>) -> usize {
        let code = &self.program.program().functions[function.0 as usize];
        let written = self.program.written(function).iter().map(|&position| {
            let bytes = match code.register_type(code.parameters[position]) {
                RegisterType::Column(ty) => ty.size(),
                RegisterType::Scalar(_) | RegisterType::Descriptor => 0,
            };
            (operands[position], bytes)
        });
        let columns = written.filter_map(|(operand, bytes)| match frames.look(operand) {
            Some(Slot::Column(column)) => Some(self.engine.length(column).saturating_mul(bytes)),
            _ => None,
        });
        columns.fold(0, usize::saturating_add)
    }

    fn native_call(
        &mut self,
        function: FunctionId,
        values: &[SlotOf<E>],
        at: Place,
        calls: usize,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        let fault = Stop::of(at);
        let program = self.program;
        let Some(native) = program.native.function(program.program(), function) else { return Ok(None) };
        let Some(operands) = Operands::new(self.engine, values).map_err(&fault)? else { return Ok(None) };
        let code = &program.program().functions[function.0 as usize];
        let types: Vec<_> = code.result_types().collect();
        let limits = (self.settings.cut, self.settings.limits.depth.saturating_sub(calls));
        self.is_native();
        let called = program.native.call(self.engine, (native, &types), (&operands, values), limits).map_err(&fault)?;
        self.account.overlook(self.engine.allocated());
        let Some(called) = called.filter(|called| called.status == Status::Done) else {
            self.attempts.gave_up(function);
            return Ok(None);
        };
        self.attempts.ended(function);
        self.instructions += 1;
        self.steps += called.steps;
        Ok(Some(called.results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_goes_over_when_the_loops_in_it_have_copied_as_much() {
        let mut account = Account::default();
        let (outer, inner) = (FunctionId(0), FunctionId(1));
        let (mut turns, mut calls) = (0, 0);
        while !account.spend(outer, 96_000) {
            turns += 1;
            // Until the loop in it goes over, the machine does its turns.
            while !account.spend(inner, 48_000) {
                calls += 1;
            }
        }
        assert_eq!(turns, 2);
        assert!(calls < 2 * 48_000 / EARNED, "{calls}");
        // Who makes a column can copy it once, and no more often than that.
        let mut account = Account::of(0);
        account.earn(1_000_000);
        assert!(account.spend(outer, 1_000_000));
        account.overlook(3_000_000);
        account.earn(3_000_000);
        assert!(!account.spend(outer, 1_000_000));
        // One that never copies much does not let others do so.
        let mut account = Account::default();
        assert!((0..10).all(|_| account.spend(inner, 100)));
        assert!((0..10).all(|_| !account.spend(outer, 1_000_000)));
    }
}
