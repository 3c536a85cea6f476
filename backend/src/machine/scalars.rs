//! Calls and instances of functions of scalars alone: the machine's values into the words of the evaluator, and back.

use super::frames::Frames;
use super::run::{Run, Stop, outside_instances};
use crate::data::slot::Slot;
use crate::engine::error::{Instance, RuntimeError};
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::{EachLine, Slot as Position, Source};
use crate::machine::evaluator::Active;
use nesl_prim::{Constants, ScalarValue};
use nesl_vcode::{Field, FunctionId, Holds, Place};
use std::ops::Range;

/// Instances whose arguments and results are words at a time: many for each access to columns, few enough for a cache.
const BATCH: usize = 1024;

/// An argument of the instances of a batch.
enum Words {
    Same(u64),
    Varying(Vec<u64>),
}

impl Words {
    fn get(&self, index: usize) -> u64 {
        match self {
            Words::Same(word) => *word,
            Words::Varying(words) => words[index],
        }
    }
}

impl<E: Engine> Run<'_, E> {
    /// Runs a function.
    ///
    /// # Errors
    /// Where an instruction fails.
    pub(super) fn scalar_function(
        &mut self,
        function: FunctionId,
        inputs: Vec<SlotOf<E>>,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let arguments = inputs.into_iter().map(|slot| slot.as_scalar().to_word());
        self.at(self.program.code(function).span.into());
        self.is_scalar(function);
        let words = self.evaluator.call(function, arguments, Active::default())?;
        let types = &self.program.scalar_code(function).results;
        Ok(types.iter().zip(words).map(|(&ty, &word)| Slot::Scalar(ScalarValue::from_word(ty, word))).collect())
    }

    /// Runs a call.
    pub(super) fn scalar_call(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        results: &[Option<Position>],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<(), Stop> {
        let outside = frames.active().map_err(Stop::at(at))?;
        self.is_scalar(function);
        let arguments = operands.iter().map(|&operand| frames.scalar(operand).to_word());
        let words = self
            .evaluator
            .call(function, arguments, outside)
            .map_err(|error| Stop::Inside(Box::new(error), Some(at)))?;
        let types = &self.program.scalar_code(function).results;
        for ((&place, &ty), &word) in results.iter().zip(types).zip(words) {
            frames.store(place, Slot::Scalar(ScalarValue::from_word(ty, word)));
        }
        Ok(())
    }

    /// The results of some instances, one after another. `operands` are those of the `each` without the number of
    /// instances.
    ///
    /// # Errors
    /// That of the first instance that fails.
    pub(super) fn scalar_instances(
        &mut self,
        line: &EachLine,
        operands: &[SlotOf<E>],
        range: Range<usize>,
        outside: Active,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let (function, fault) = (line.serial, outside_instances(line.at));
        self.is_scalar(function);
        let types = &self.program.scalar_code(function).results;
        let mut results: Vec<Constants> = types.iter().map(|&ty| Constants::from_scalars(ty, &[])).collect();
        let mut result_words: Vec<Vec<u64>> = types.iter().map(|_| Vec::with_capacity(BATCH)).collect();
        for start in range.clone().step_by(BATCH) {
            let batch = start..range.end.min(start + BATCH);
            let arguments = arguments(self.engine, operands, batch.clone()).map_err(fault)?;
            for index in 0..batch.len() {
                let words = arguments.iter().map(|argument| argument.get(index));
                let words = self.evaluator.call(function, words, outside).map_err(|mut error| {
                    error.instances.push(Instance { index: start + index, place: line.at.span });
                    error
                })?;
                result_words.iter_mut().zip(words).for_each(|(result, &word)| result.push(word));
            }
            for (result, words) in results.iter_mut().zip(&mut result_words) {
                result.extend_from_words(words);
                words.clear();
            }
        }
        let result = |(result, field): (&Constants, &Field)| {
            let column = self.engine.constants(result)?;
            match field.holds {
                // The lengths of sequences whose elements have no registers.
                Holds::Sequences => self.engine.descriptor(None, column).map(Slot::Descriptor),
                Holds::Scalars(_) => Ok(Slot::Column(column)),
            }
        };
        results.iter().zip(&line.plan.results).map(result).collect::<Result<_, Fault>>().map_err(fault)
    }
}

/// The arguments of a batch of instances.
fn arguments<E: Engine>(engine: &mut E, operands: &[SlotOf<E>], batch: Range<usize>) -> Result<Vec<Words>, Fault> {
    let argument = |operand: &SlotOf<E>| match operand {
        Slot::Scalar(value) => Ok(Words::Same(value.to_word())),
        Slot::Column(column) => Ok(Words::Varying(engine.fetch(column, batch.start, batch.len())?.elements.to_words())),
        // Of a sequence whose elements have no registers a function gets the length alone.
        Slot::Descriptor(segments) => {
            let lengths = engine.lengths(segments)?;
            Ok(Words::Varying(engine.fetch(&lengths, batch.start, batch.len())?.elements.to_words()))
        }
    };
    operands.iter().map(argument).collect()
}
