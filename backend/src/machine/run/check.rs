//! Native code against the machine's lines (`--native check`): wrappers around what runs it, which does not know.
//!
//! Each has the results that native code gives, has the machine's lines give theirs on the same operands, and compares.

use super::bounded::Turns;
use super::{Run, Stop, outside_instances};
use crate::data::slot::Slot;
use crate::engine::error::RuntimeError;
use crate::engine::native::Native;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::EachLine;
use crate::machine::evaluator::{Active, Evaluator};
use crate::machine::leaf::Gathered;
use nesl_prim::ScalarValue;
use nesl_vcode::{FunctionId, Place};
use std::ops::Range;

/// The results of some instances, in batches.
type Batches<E> = Vec<Vec<SlotOf<E>>>;

impl<E: Engine> Run<'_, E> {
    /// The results of a call that native code has done, if it has.
    ///
    /// # Panics
    /// If the lines give others.
    pub(in crate::machine) fn checked_call(
        &mut self,
        (function, values): (FunctionId, &[SlotOf<E>]),
        at: Place,
        call: impl FnOnce(&mut Self) -> Result<Option<Vec<SlotOf<E>>>, Stop>,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        let found = call(self)?;
        if let (Native::Check, Some(found)) = (self.settings.native, &found) {
            self.compare((function, values), found, at)?;
        }
        Ok(found)
    }

    /// What has become of turns of a loop in native code.
    ///
    /// # Panics
    /// If it came to the end of the loop, and the lines come to another.
    pub(in crate::machine) fn checked_turns(
        &mut self,
        (function, values): (FunctionId, &[SlotOf<E>]),
        at: Place,
        turns: impl FnOnce(&mut Self) -> Result<Turns<E>, Stop>,
    ) -> Result<Turns<E>, Stop> {
        let turns = turns(self)?;
        if let (Native::Check, Turns::All(found, _)) = (self.settings.native, &turns) {
            self.compare((function, values), found, at)?;
        }
        Ok(turns)
    }

    /// The results of some instances of an `each` on these operands, in native code.
    ///
    /// # Errors
    /// That of the first instance that fails.
    ///
    /// # Panics
    /// If the lines give others.
    pub(in crate::machine) fn checked_instances(
        &mut self,
        (line, operands): (&EachLine, &[SlotOf<E>]),
        range: Range<usize>,
        outside: Active,
        run: impl FnOnce(&mut Self) -> Result<Batches<E>, RuntimeError>,
    ) -> Result<Batches<E>, RuntimeError> {
        if self.settings.native != Native::Check {
            return run(self);
        }
        let fault = outside_instances(line.at);
        let mut found = Gathered::new(&line.plan.results);
        for values in run(self)? {
            found.add(self.engine, values).map_err(fault)?;
        }
        let found = found.finish(self.engine).map_err(fault)?;
        let expected = self.by_lines(|run| run.instances_by_lines(line, operands, range, outside))?;
        let name = &self.program.program().functions[line.serial.0 as usize].name;
        self.require_same(&format!("instances of {name}"), &found, &expected).map_err(fault)?;
        Ok(vec![found])
    }

    /// Does something without native code.
    fn by_lines<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let native = std::mem::replace(&mut self.settings.native, Native::Off);
        let results = act(self);
        self.settings.native = native;
        results
    }

    /// Compares what native code gave for these values with what the machine's lines give.
    fn compare(
        &mut self,
        (function, values): (FunctionId, &[SlotOf<E>]),
        found: &[SlotOf<E>],
        at: Place,
    ) -> Result<(), Stop> {
        let expected = self.by_lines(|run| run.function(function, values.to_vec()));
        let expected = expected.map_err(|error| Stop::Inside(Box::new(error), Some(at)))?;
        let name = &self.program.program().functions[function.0 as usize].name;
        self.require_same(name, found, &expected).map_err(Stop::of(at))
    }

    /// # Panics
    /// If what native code gave is not what the lines give.
    fn require_same(&mut self, name: &str, found: &[SlotOf<E>], expected: &[SlotOf<E>]) -> Result<(), Fault> {
        let mut shown =
            |slots: &[SlotOf<E>]| -> Result<_, Fault> { Ok((self.shown(slots)?, self.shown_together(slots)?)) };
        let (found, expected) = (shown(found)?, shown(expected)?);
        // Segments may lie elsewhere, as long as they are the same.
        let is_same = |index: usize| found.0[index] == expected.0[index] || found.1[index] == expected.1[index];
        let what = "in native code, and by the machine's lines";
        assert!((0..expected.0.len()).all(is_same), "{name} {what}: {:?}, {:?}", found.0, expected.0);
        Ok(())
    }

    /// What registers hold, for comparing.
    fn shown(&mut self, slots: &[SlotOf<E>]) -> Result<Vec<Vec<String>>, Fault> {
        let mut all = Vec::new();
        for slot in slots {
            let column = match slot {
                Slot::Scalar(value) => {
                    all.push(vec![format!("{value:?}")]);
                    continue;
                }
                Slot::Column(column) => column.clone(),
                Slot::Descriptor(segments) => self.engine.lengths(segments)?,
            };
            let length = self.engine.length(&column);
            let elements = self.engine.fetch(&column, 0, length)?.elements;
            all.push((0..length).map(|index| format!("{:?}", elements.get(index))).collect());
        }
        Ok(all)
    }

    /// What registers hold, for comparing: columns behind a descriptor as its segments stand one behind the other, where
    /// they can be its data.
    fn shown_together(&mut self, slots: &[SlotOf<E>]) -> Result<Vec<Vec<String>>, Fault> {
        let mut all = self.shown(slots)?;
        let mut segments: Option<Vec<Range<usize>>> = None;
        for (shown, slot) in all.iter_mut().zip(slots) {
            match slot {
                Slot::Scalar(_) => segments = None,
                Slot::Descriptor(descriptor) => {
                    let columns = [self.engine.starts(descriptor)?, self.engine.lengths(descriptor)?];
                    let [starts, lengths] = columns.map(|column| self.ints(&column));
                    segments =
                        Some(starts?.into_iter().zip(lengths?).map(|(start, length)| start..start + length).collect());
                }
                Slot::Column(_) => {
                    let parts = segments.iter().flatten().map(|segment| shown.get(segment.clone()));
                    if segments.is_some()
                        && let Some(parts) = parts.collect::<Option<Vec<_>>>()
                    {
                        *shown = parts.concat();
                    }
                }
            }
        }
        Ok(all)
    }

    /// The elements of a column of ints.
    fn ints(&mut self, column: &E::Column) -> Result<Vec<usize>, Fault> {
        let length = self.engine.length(column);
        let elements = self.engine.fetch(column, 0, length)?.elements;
        let int = |index| match elements.get(index) {
            ScalarValue::Int(value) => usize::try_from(value).unwrap_or(0),
            _ => 0,
        };
        Ok((0..length).map(int).collect())
    }
}

impl Evaluator<'_> {
    /// Calls a function, in native code and by its lines.
    ///
    /// # Errors
    /// Where an operation fails.
    ///
    /// # Panics
    /// If they give other results.
    pub(in crate::machine) fn checked(
        &mut self,
        function: FunctionId,
        arguments: impl ExactSizeIterator<Item = u64> + Clone,
        outside: Active,
    ) -> Result<&[u64], RuntimeError> {
        let found = self.call_native(function, arguments.clone(), outside).then(|| self.results.clone());
        self.interpret(function, arguments, outside)?;
        let Some(found) = found else { return Ok(&self.results) };
        self.instructions += 1;
        let types = &self.program.scalar_code(function).results;
        let values = |words: &[u64]| -> Vec<ScalarValue> {
            types.iter().zip(words).map(|(&ty, &word)| ScalarValue::from_word(ty, word)).collect()
        };
        let name = &self.program.program().functions[function.0 as usize].name;
        assert_eq!(values(&found), values(&self.results), "{name} in native code, and by its lines");
        Ok(&self.results)
    }
}
