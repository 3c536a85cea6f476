//! What scans that are read in their group begin with in each piece.

#![allow(unsafe_code, reason = "machine code; every block says why it is sound")]

use super::{GaveUp, Piece, Work, kernel};
use nesl_native::{Mode, Status, Words};
use nesl_prim::{ScalarValue, eval};

impl Work<'_> {
    /// Whether pieces run one after another, each going on from where scans were before: where as many threads as there
    /// are would not make up for going over all elements once more for each scan.
    pub(super) fn is_chained(&self) -> bool {
        !self.facts.running.is_empty() && !self.facts.is_counted && self.threads.workers.threads() <= self.levels()
    }

    /// How many times [`Work::begin_scans`] goes over all elements.
    pub(super) fn levels(&self) -> usize {
        self.facts.running.iter().map(|running| usize::from(running.level) + 1).max().unwrap_or(0)
    }

    /// Sets what scans that are read begin with in each piece: what those before it amount to.
    pub(super) fn begin_scans(&self, words: &mut [Words<'_>]) -> Result<(), GaveUp> {
        let running = &self.facts.running;
        let types = running.iter().map(|running| self.group.plan.nodes[running.node].ty);
        let scans: Vec<_> = running.iter().zip(types).enumerate().collect();
        for &(scan, (running, _)) in &scans {
            let identity = running.op.row().identity.ok_or(GaveUp)?;
            words.iter_mut().for_each(|words| words.set_before(scan, identity));
        }
        if self.pieces.len() == 1 || self.is_chained() {
            return Ok(());
        }
        for level in (0..self.levels()).map(|level| level as u8) {
            let kernel = kernel(self.threads, self.group, Mode::Scan(level)).ok_or(GaveUp)?;
            let items = words.iter().cloned().zip(&self.pieces).collect();
            let ends = self.threads.workers.each(items, &|_, (mut words, piece): (Words<'_>, &Piece)| {
                // SAFETY: as where the group is run; nothing is written here but words.
                let status = unsafe { self.call(kernel, &mut words, piece.indices.clone()) };
                (status == Status::Done).then_some(words)
            });
            let ends = ends.into_iter().collect::<Option<Vec<Words<'_>>>>().ok_or(GaveUp)?;
            for &(scan, (running, ty)) in scans.iter().filter(|(_, (running, _))| running.level == level) {
                let mut before = running.op.row().identity.ok_or(GaveUp)?;
                for (words, end) in words.iter_mut().zip(&ends) {
                    words.set_before(scan, before);
                    before = eval(running.op, &[before, ScalarValue::from_word(ty, end.after(scan))])?;
                }
            }
        }
        Ok(())
    }
}
