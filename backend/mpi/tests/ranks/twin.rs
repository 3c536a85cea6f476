//! The engine under test and the reference engine side by side.

use nesl_backend::{Collective, Columns, Engine, Fault, Reference, Vector};
use nesl_mpi::{Communicator, Distributed, Ranks};
use nesl_vcode::Constants;

/// A local engine for the ranks.
pub trait Local: Engine<Column = Vector, Descriptor = nesl_backend::Descriptor> {}

impl<L: Engine<Column = Vector, Descriptor = nesl_backend::Descriptor>> Local for L {}

/// The ranks with some local engine and the reference engine, and what came of the comparisons.
pub struct Twin<L> {
    pub ranks: Ranks<L>,
    pub reference: Reference,
    pub passed: usize,
    pub failed: usize,
    settings: String,
}

/// A column on both engines.
#[derive(Clone)]
pub struct Pair {
    pub tested: Distributed,
    pub expected: Vector,
}

/// A descriptor on both engines.
#[derive(Clone)]
pub struct SegmentsPair {
    pub tested: nesl_mpi::Descriptor<nesl_backend::Descriptor>,
    pub expected: nesl_backend::Descriptor,
}

impl<L: Local> Twin<L> {
    pub fn new(communicator: Communicator, local: L, threshold: usize, seed: u64) -> Twin<L> {
        let layout = communicator.layout();
        let settings = format!("rank {} of {}, threshold {threshold}, seed {seed}", layout.rank, layout.ranks);
        let ranks = Ranks::with_threshold(communicator, local, threshold);
        Twin { ranks, reference: Reference::new(None), passed: 0, failed: 0, settings }
    }

    /// The same constants on both.
    pub fn column(&mut self, constants: &Constants) -> Pair {
        let tested = self.ranks.constants(constants).expect("constants");
        Pair { tested, expected: self.reference.constants(constants).expect("constants") }
    }

    /// A packed descriptor on both.
    pub fn packed(&mut self, lengths: &[i64]) -> SegmentsPair {
        let lengths = self.column(&Constants::Int(lengths.to_vec()));
        let expected = self.reference.descriptor(None, lengths.expected).expect("packed");
        SegmentsPair { tested: self.ranks.descriptor(None, lengths.tested).expect("packed"), expected }
    }

    /// A view on both.
    pub fn view(&mut self, starts: &[i64], lengths: &[i64]) -> SegmentsPair {
        let starts = self.column(&Constants::Int(starts.to_vec()));
        let lengths = self.column(&Constants::Int(lengths.to_vec()));
        let expected = self.reference.descriptor(Some(starts.expected), lengths.expected).expect("view");
        SegmentsPair { tested: self.ranks.descriptor(Some(starts.tested), lengths.tested).expect("view"), expected }
    }

    /// Counts a comparison.
    pub fn check(&mut self, good: bool, case: impl FnOnce() -> String) {
        if good {
            self.passed += 1;
        } else {
            self.failed += 1;
            if self.failed <= 10 {
                println!("FAILED ({}): {}", self.settings, case());
            }
        }
    }

    /// Compares columns or faults; true where they are the same.
    pub fn compare(&mut self, case: &str, tested: Result<Distributed, Fault>, expected: Result<Vector, Fault>) {
        let (tested, expected) = match (tested, expected) {
            (Ok(tested), Ok(expected)) => (tested, expected.to_constants()),
            (tested, expected) => {
                let (tested, expected) = (tested.err(), expected.err());
                let same = tested == expected;
                self.check(same, || format!("{case}: {tested:?} where {expected:?} was expected"));
                return;
            }
        };
        let length = self.ranks.length(&tested);
        let window = self.ranks.fetch(&tested, 0, length).expect("fetch").elements;
        let different = (0..length.min(expected.len())).find(|&index| window.get(index) != expected.get(index));
        let common = matches!(tested, Distributed::Replicated(_));
        let kind = common == (length <= self.ranks.threshold());
        let same = length == expected.len() && different.is_none() && kind;
        self.check(same, || match different {
            Some(at) => format!("{case}: element {at} of {length} is {:?}, not {:?}", window.get(at), expected.get(at)),
            None => format!("{case}: length {length}, expected {}; common {common}", expected.len()),
        });
    }

    /// Comparisons that passed and failed.
    pub fn counts(&self) -> (usize, usize) {
        (self.passed, self.failed)
    }
}
