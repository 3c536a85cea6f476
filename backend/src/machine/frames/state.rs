//! All frames of a run as they are written down.

use super::{Caller, Frames, Leaf, Limits};
use crate::engine::{Engine, Fault};
use crate::machine::decode::Line;
use crate::machine::leaf::state::{ColumnTable, Held, HeldResults, HeldSplit, NotRestored, Numbered, Unfit};
use crate::machine::loaded::Loaded;
use crate::machine::strategy::Growth;
use nesl_vcode::FunctionId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All frames, and what runs in the last.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::machine) struct HeldFrames {
    slots: Vec<Held>,
    callers: Vec<HeldCaller>,
    base: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeldCaller {
    function: FunctionId,
    next: u32,
    base: u64,
    leaf: Option<HeldLeaf>,
    growth: Growth,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeldLeaf {
    arguments: HeldSplit,
    index: u64,
    end: u64,
    read: u64,
    results: HeldResults,
    operands: Option<Vec<Held>>,
}

impl<E: Engine> Frames<E> {
    /// What to write down.
    pub fn held(&self, engine: &mut E, table: &mut ColumnTable<E>) -> Result<HeldFrames, Fault> {
        let slots = self.slots.iter().map(|slot| match slot {
            Some(slot) => table.held(engine, slot),
            None => Ok(Held::Nothing),
        });
        let slots = slots.collect::<Result<_, Fault>>()?;
        let mut callers = Vec::with_capacity(self.callers.len());
        for Caller { function, next, base, leaf, growth } in &self.callers {
            let leaf = leaf.as_ref().map(|leaf| leaf.held(engine, table)).transpose()?;
            callers.push(HeldCaller { function: *function, next: *next, base: *base as u64, leaf, growth: *growth });
        }
        Ok(HeldFrames { slots, callers, base: self.base as u64 })
    }
}

impl<E: Engine> Leaf<E> {
    fn held(&self, engine: &mut E, table: &mut ColumnTable<E>) -> Result<HeldLeaf, Fault> {
        let operands = self.operands.as_ref();
        let operands = operands.map(|slots| slots.iter().map(|slot| table.held(engine, slot)).collect());
        Ok(HeldLeaf {
            arguments: HeldSplit::of(&self.arguments, engine, table)?,
            index: self.index as u64,
            end: self.end as u64,
            read: self.read as u64,
            results: HeldResults::of(&self.results, engine, table),
            operands: operands.transpose()?,
        })
    }
}

impl HeldFrames {
    /// How many registers hold something.
    pub fn values(&self) -> usize {
        self.slots.iter().filter(|slot| **slot != Held::Nothing).count()
    }

    /// The frames of a run of a program, whose last function is to go on with a line.
    pub fn restored<E: Engine>(
        self,
        (engine, columns): (&mut E, &Numbered<E>),
        (program, limits): (&Loaded, Limits),
        (function, next): (FunctionId, usize),
    ) -> Result<Frames<E>, NotRestored> {
        let code = |function: FunctionId| match program.program().functions.len() > function.0 as usize {
            true => Ok(program.code(function)),
            false => Err(Unfit),
        };
        // Each frame is as large as those of its function are, and begins where the one before it ends.
        let ends = self.callers.iter().skip(1).map(|caller| caller.base).chain([self.base]);
        let mut begin = 0;
        for (caller, end) in self.callers.iter().zip(ends) {
            let size = code(caller.function)?.slots as u64;
            if caller.base != begin || end != begin + size {
                return Err(NotRestored::Unfit);
            }
            begin = end;
        }
        let last = code(function)?;
        if self.base != begin || self.slots.len() as u64 != begin + last.slots as u64 || next >= last.lines.len() {
            return Err(NotRestored::Unfit);
        }
        let mut frames = Frames::new(limits);
        for held in &self.slots {
            frames.slots.push(columns.slot(engine, held)?);
        }
        for HeldCaller { function, next, base, leaf, growth } in self.callers {
            let line = (next as usize).checked_sub(1).and_then(|line| code(function).ok()?.lines.get(line));
            let leaf = match (line, leaf) {
                (Some(Line::Each(line)), Some(leaf)) => {
                    frames.leaves.push(frames.callers.len());
                    let operands = leaf.operands.map(|operands| columns.slots(engine, &operands)).transpose()?;
                    Some(Box::new(Leaf {
                        line: Arc::clone(line),
                        arguments: Arc::new(leaf.arguments.restored(engine, columns)?),
                        index: leaf.index as usize,
                        end: leaf.end as usize,
                        read: leaf.read as usize,
                        results: leaf.results.restored(&line.plan.results, columns)?,
                        operands,
                    }))
                }
                (Some(Line::Call { .. } | Line::Each(_)), None) => None,
                _ => return Err(NotRestored::Unfit),
            };
            frames.callers.push(Caller { function, next, base: base as usize, leaf, growth });
        }
        frames.base = self.base as usize;
        Ok(frames)
    }
}
