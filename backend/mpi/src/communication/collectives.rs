//! What ranks settle together: scalars that all know, and whether all can go on.
//!
//! The rule that keeps ranks from waiting for each other forever: whatever may fail on one rank alone goes through
//! [`Collectives::settle`] before the next communication.

use crate::communication::communicator::Communicator;
use crate::communication::interrupts;
use crate::layout::Layout;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::{Failed, Fault};
use nesl_prim::{Failure, ScalarType, ScalarValue};

/// Columns from this length on are allocated with the agreement of all ranks: an allgather of a few microseconds
/// against tens of microseconds of work. Below, a rank without memory for so little ends the job.
const AGREED_FROM: usize = 1 << 16;

/// The ranks of the job, and how they agree.
#[derive(Debug)]
pub(crate) struct Collectives {
    pub(crate) communicator: Communicator,
    pub(crate) layout: Layout,
}

impl Collectives {
    /// Those that a communicator connects.
    pub(crate) fn new(communicator: Communicator) -> Collectives {
        let layout = communicator.layout();
        Collectives { communicator, layout }
    }

    /// The result of an instruction that every rank ran on common operands. Failures are the same everywhere, except
    /// for lack of memory, after which this rank cannot go on alone.
    pub(crate) fn replicated<T>(&self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        outcome.inspect_err(|fault| self.met_by_all(&fault.failure))
    }

    /// Ends the job for lack of memory, with which this rank cannot go on alone: any other failure of what every rank
    /// does all have met, as they have where a sequence would be longer than any can be.
    pub(crate) fn met_by_all(&self, failure: &Failure) {
        if matches!(failure, Failure::OutOfMemory { .. }) && !failure.is_of_program() && self.layout.ranks > 1 {
            self.communicator.abort(&failure.to_string());
        }
    }

    /// The outcome of local work on a column of `length` elements that fails only for lack of memory, or of an
    /// interrupt, which is the end on all ranks: the same error on all ranks, or none.
    pub(crate) fn settle<T>(&mut self, length: usize, outcome: Result<T, Fault>) -> Result<T, Fault> {
        if self.layout.ranks == 1 {
            return outcome;
        }
        if length >= AGREED_FROM {
            return self.agree_on_fault(outcome);
        }
        outcome.or_else(|fault| match fault.failure {
            Failure::Interrupted => interrupts::stop(),
            failure => self.communicator.abort(&failure.to_string()),
        })
    }

    /// The fault of the lowest failing rank, on all ranks, or every rank's own result. Blocks of index lie in the order
    /// of the ranks, so the lowest rank has the least element.
    pub(crate) fn agree_on_fault<T>(&mut self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        let outcome = outcome.map_err(|fault| (fault.failure, fault.element));
        let outcome = self.agree_on(outcome);
        outcome.map_err(|(failure, element)| Fault { failure, element })
    }

    /// The error of the lowest failing rank, on all ranks, or every rank's own result.
    pub(crate) fn agree_on<T, E: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        outcome: Result<T, E>,
    ) -> Result<T, E> {
        let failed = self.communicator.all_gather(outcome.is_err());
        match failed.iter().position(|&failed| failed) {
            None => outcome,
            Some(root) => Err(self.error_of(root, outcome.err())),
        }
    }

    /// The error that `root` has met, on all ranks.
    pub(crate) fn error_of<E: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        root: usize,
        own: Option<E>,
    ) -> E {
        let bytes = match own {
            Some(error) if root == self.layout.rank => match postcard::to_stdvec(&error) {
                Ok(bytes) => bytes,
                Err(problem) => self.communicator.abort(&format!("an error cannot be sent: {problem}")),
            },
            _ => Vec::new(),
        };
        let bytes = self.communicator.broadcast_bytes(root, bytes);
        match postcard::from_bytes(&bytes) {
            Ok(error) => error,
            Err(problem) => self.communicator.abort(&format!("an error cannot be read: {problem}")),
        }
    }

    /// A scalar of every rank, on every rank.
    pub(crate) fn all_scalars(&mut self, scalar_type: ScalarType, mine: ScalarValue) -> Vec<ScalarValue> {
        let all = self.communicator.all_gather(to_bits(mine));
        all.into_iter().map(|bits| from_bits(scalar_type, bits)).collect()
    }

    /// A scalar that `root` knows, on every rank.
    pub(crate) fn broadcast_scalar(
        &mut self,
        root: usize,
        scalar_type: ScalarType,
        value: Option<ScalarValue>,
    ) -> ScalarValue {
        let bits = self.communicator.broadcast(root, value.map_or(0, to_bits));
        from_bits(scalar_type, bits)
    }

    /// What every rank says of its results, in so many words of each; none if a rank has no results.
    pub(crate) fn words_of_ranks(&mut self, own: Option<Vec<i64>>, widths: &[usize]) -> Option<Vec<Vec<i64>>> {
        let mut words = vec![i64::from(own.is_some())];
        words.extend(own.unwrap_or_default());
        words.resize(widths[self.layout.rank] + 1, 0);
        let counts: Vec<usize> = widths.iter().map(|width| width + 1).collect();
        let all = self.communicator.all_gather_varied(&words, &counts, Vec::new());
        let mut rest = &all[..];
        let of_ranks: Vec<Vec<i64>> = counts
            .iter()
            .map(|&count| {
                let (words, others) = rest.split_at(count);
                rest = others;
                words.to_vec()
            })
            .collect();
        let are_all = of_ranks.iter().all(|words| words[0] == 1);
        are_all.then(|| of_ranks.into_iter().map(|words| words[1..].to_vec()).collect())
    }

    /// The error of the first instance that failed on any rank, on all of them, or every rank's own results.
    pub(crate) fn agree_on_failed<T>(&mut self, outcome: Result<T, Failed>) -> Result<T, RuntimeError> {
        let key = match &outcome {
            Ok(_) => i64::MAX,
            Err((instance, _)) => i64::try_from(*instance).unwrap_or(i64::MAX - 1),
        };
        let keys = self.communicator.all_gather(key);
        let first = keys.iter().enumerate().filter(|&(_, &key)| key < i64::MAX).min_by_key(|&(_, &key)| key);
        let own = outcome.map_err(|(_, error)| error);
        match first {
            None => own,
            Some((root, _)) => Err(self.error_of(root, own.err())),
        }
    }
}

/// A scalar as the bits that travel.
pub(crate) fn to_bits(value: ScalarValue) -> i64 {
    match value {
        ScalarValue::Int(value) => value,
        ScalarValue::Float(value) => value.to_bits() as i64,
        ScalarValue::Bool(value) => i64::from(value),
        ScalarValue::Char(value) => i64::from(value),
    }
}

/// The scalar that arrived.
pub(crate) fn from_bits(scalar_type: ScalarType, bits: i64) -> ScalarValue {
    match scalar_type {
        ScalarType::Int => ScalarValue::Int(bits),
        ScalarType::Float => ScalarValue::Float(f64::from_bits(bits as u64)),
        ScalarType::Bool => ScalarValue::Bool(bits != 0),
        ScalarType::Char => ScalarValue::Char(bits as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_survive_the_journey() {
        let values =
            [ScalarValue::Int(i64::MIN), ScalarValue::Float(-0.0), ScalarValue::Bool(true), ScalarValue::Char(255)];
        for value in values {
            assert_eq!(from_bits(value.scalar_type(), to_bits(value)), value);
        }
    }
}
