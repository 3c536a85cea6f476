//! Instructions that an engine does at once.

use super::{Run, Stop};
use crate::engine::Engine;
use crate::engine::value::SlotOf;
use crate::machine::decode::{Line, Operation};
use crate::machine::execute;
use crate::machine::frames::Frames;
use nesl_vcode::{Place, VectorOp};

impl<E: Engine> Run<'_, E> {
    /// Runs lines of one vector instruction at a place, each of which may be done with the first. An error is where the
    /// first is: alone, it would have met it.
    pub(in crate::machine) fn together(
        &mut self,
        (op, at): (VectorOp, Place),
        lines: &[Line],
        frames: &mut Frames<E>,
    ) -> Result<(), Stop> {
        let mut all: Vec<Vec<SlotOf<E>>> = Vec::with_capacity(lines.len());
        for line in lines {
            if let Line::Execute { operands, at, .. } = line {
                self.count(*at)?;
                all.push(operands.iter().map(|&operand| frames.read(operand)).collect());
            }
        }
        let values = self.engine.together(op, all).map_err(|fault| {
            let has_element = execute::has_element(&Operation::Vector(op), &fault);
            Stop::Here(fault, at, has_element.then_some(0))
        })?;
        for (line, value) in lines.iter().zip(values) {
            if let Line::Execute { result, .. } = line {
                frames.store(*result, value);
            }
        }
        Ok(())
    }
}
