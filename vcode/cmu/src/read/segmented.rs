//! Instructions on segments. Indices count from the start of a segment, so each is checked against its segment's
//! length, and the segment's start is added.

use super::Translation;
use super::elementwise::operator;
use crate::Result;
use crate::opcode::Opcode;
use ScalarType::{Bool, Int};
use nesl_prim::{Direction, ScalarOp, ScalarType};
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::Operand;

impl Translation<'_, '_> {
    /// A segmented instruction; whether it is one.
    pub(super) fn segmented(&mut self, opcode: Opcode, ty: ScalarType) -> Result<bool> {
        let result = match opcode {
            Opcode::Permute => {
                let (segdes, indices, vector) = (self.pop_segdes()?, self.pop_vector(Int)?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                self.check_equal_lengths(vector, indices);
                let indices = self.absolute(indices, segdes, segdes);
                self.builder.vector(VectorOp::Permute, &[vector, indices])
            }
            Opcode::PermuteOver => {
                let (target, segdes, default) = (self.pop_segdes()?, self.pop_segdes()?, self.pop_vector(ty)?);
                self.scatter(ty, false, default, segdes, target)?
            }
            Opcode::PermuteFlaggedOver => {
                let (target, segdes, default) = (self.pop_segdes()?, self.pop_segdes()?, self.pop_vector(ty)?);
                self.scatter(ty, true, default, segdes, target)?
            }
            Opcode::PermuteFlagged => {
                let (target, segdes) = (self.pop_segdes()?, self.pop_segdes()?);
                let total = self.builder.vector(VectorOp::Total, &[target]);
                // Positions that are not written may hold anything.
                let default = self.builder.vector(VectorOp::Dist, &[Operand::Constant(ty.zero()), total]);
                self.scatter(ty, true, default, segdes, target)?
            }
            Opcode::Gather => {
                let (target, segdes) = (self.pop_segdes()?, self.pop_segdes()?);
                let (indices, vector) = (self.pop_vector(Int)?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                self.check_fits(indices, target);
                let indices = self.absolute(indices, segdes, target);
                self.builder.vector(VectorOp::Gather, &[vector, indices])
            }
            Opcode::GatherFlagged => {
                let (target, segdes, flags) = (self.pop_segdes()?, self.pop_segdes()?, self.pop_vector(Bool)?);
                let (indices, vector) = (self.pop_vector(Int)?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                self.check_fits(indices, target);
                self.check_equal_lengths(flags, indices);
                let indices = self.absolute_flagged(indices, flags, segdes, target);
                let gathered = self.builder.vector(VectorOp::Gather, &[vector, indices]);
                let (all, some) = (self.length(flags), self.length(gathered));
                let rest = self.builder.scalar(ScalarOp::SubtractInt, &[all, some]);
                let zeros = self.builder.vector(VectorOp::Dist, &[Operand::Constant(ty.zero()), rest]);
                self.builder.vector(VectorOp::Merge, &[flags, gathered, zeros])
            }
            Opcode::Extract => {
                let (segdes, indices, vector) = (self.pop_segdes()?, self.pop_vector(Int)?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                let indices = self.one_of_each(indices, segdes);
                self.builder.vector(VectorOp::Gather, &[vector, indices])
            }
            Opcode::Replace => {
                let (segdes, values) = (self.pop_segdes()?, self.pop_vector(ty)?);
                let (indices, vector) = (self.pop_vector(Int)?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                self.check_equal_lengths(values, indices);
                let indices = self.one_of_each(indices, segdes);
                self.builder.vector(VectorOp::Scatter, &[vector, indices, values])
            }
            Opcode::Distribute => {
                let (segdes, vector) = (self.pop_segdes()?, self.pop_vector(ty)?);
                self.distribute(vector, segdes)
            }
            Opcode::Index => {
                let (segdes, strides, starts) = (self.pop_segdes()?, self.pop_vector(Int)?, self.pop_vector(Int)?);
                let positions = self.builder.vector(VectorOp::SegIota, &[segdes]);
                let (strides, starts) = (self.distribute(strides, segdes), self.distribute(starts, segdes));
                let steps = self.builder.map(ScalarOp::MultiplyInt, &[positions, strides]);
                self.builder.map(ScalarOp::AddInt, &[starts, steps])
            }
            Opcode::RankUp | Opcode::RankDown => {
                let direction = if opcode == Opcode::RankUp { Direction::Up } else { Direction::Down };
                let (segdes, vector) = (self.pop_segdes()?, self.pop_vector(ty)?);
                self.check_fits(vector, segdes);
                self.builder.vector(VectorOp::SegRank(direction), &[vector, segdes])
            }
            Opcode::Pack => return self.pack(ty).map(|()| true),
            Opcode::MakeSegdes => {
                let lengths = self.pop_vector(Int)?;
                let lengths = self.builder.map(ScalarOp::CheckLength, &[lengths]);
                self.builder.vector(VectorOp::Packed, &[lengths])
            }
            Opcode::Lengths => {
                let segdes = self.pop_segdes()?;
                self.builder.vector(VectorOp::Lengths, &[segdes])
            }
            Opcode::Length => {
                let vector = self.pop_vector(ty)?;
                let length = self.length(vector);
                self.builder.vector(VectorOp::Build, &[length])
            }
            _ => match operator(opcode, ty) {
                None => return Ok(false),
                Some(operator) => {
                    let (segdes, vector) = (self.pop_segdes()?, self.pop_vector(ty)?);
                    self.check_fits(vector, segdes);
                    let is_scan = opcode.word().ends_with("_SCAN");
                    let op = if is_scan { VectorOp::SegScan(operator) } else { VectorOp::SegReduce(operator) };
                    self.builder.vector(op, &[vector, segdes])
                }
            },
        };
        self.push_vector(result)?;
        Ok(true)
    }

    fn pack(&mut self, ty: ScalarType) -> Result<()> {
        let (segdes, flags, vector) = (self.pop_segdes()?, self.pop_vector(Bool)?, self.pop_vector(ty)?);
        self.check_fits(vector, segdes);
        self.check_equal_lengths(vector, flags);
        let packed = self.builder.vector(VectorOp::Pack, &[vector, flags]);
        let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
        let lengths = self.builder.vector(VectorOp::SegReduce(ScalarOp::AddInt), &[ones, segdes]);
        let segdes = self.builder.vector(VectorOp::Packed, &[lengths]);
        self.push_vector(packed)?;
        self.push_vector(segdes)
    }

    /// A vector with the elements of another written to indices; flags, indices and that vector are on the stack.
    fn scatter(
        &mut self,
        ty: ScalarType,
        is_flagged: bool,
        default: Operand,
        segdes: Operand,
        target: Operand,
    ) -> Result<Operand> {
        let flags = if is_flagged { Some(self.pop_vector(Bool)?) } else { None };
        let (indices, mut vector) = (self.pop_vector(Int)?, self.pop_vector(ty)?);
        self.check_fits(vector, segdes);
        self.check_equal_lengths(vector, indices);
        self.check_fits(default, target);
        let indices = match flags {
            None => self.absolute(indices, target, segdes),
            Some(flags) => {
                self.check_equal_lengths(flags, indices);
                vector = self.builder.vector(VectorOp::Pack, &[vector, flags]);
                self.absolute_flagged(indices, flags, target, segdes)
            }
        };
        Ok(self.builder.vector(VectorOp::Scatter, &[default, indices, vector]))
    }

    /// Element j for each element of segment j.
    fn distribute(&mut self, vector: Operand, segdes: Operand) -> Operand {
        self.check_segments(vector, segdes);
        self.builder.vector(VectorOp::SegDist, &[vector, segdes])
    }

    /// Indices into whole data, from indices into its segments; segment j of the indices is for segment j of the data.
    fn absolute(&mut self, indices: Operand, data: Operand, segdes: Operand) -> Operand {
        let (lengths, starts) = self.bounds(data, segdes);
        let checked = self.builder.map(ScalarOp::CheckIndex, &[indices, lengths]);
        self.builder.map(ScalarOp::AddInt, &[starts, checked])
    }

    /// The same for the indices with a true flag; the others may be anything.
    fn absolute_flagged(&mut self, indices: Operand, flags: Operand, data: Operand, segdes: Operand) -> Operand {
        let (lengths, starts) = self.bounds(data, segdes);
        let [indices, lengths, starts] =
            [indices, lengths, starts].map(|column| self.builder.vector(VectorOp::Pack, &[column, flags]));
        let checked = self.builder.map(ScalarOp::CheckIndex, &[indices, lengths]);
        self.builder.map(ScalarOp::AddInt, &[starts, checked])
    }

    /// Lengths and starts of the segments of data, for each element of the segments of another descriptor.
    fn bounds(&mut self, data: Operand, segdes: Operand) -> (Operand, Operand) {
        let lengths = self.builder.vector(VectorOp::Lengths, &[data]);
        let starts = self.builder.vector(VectorOp::Starts, &[data]);
        (self.distribute(lengths, segdes), self.distribute(starts, segdes))
    }

    /// One index into whole data for each segment.
    fn one_of_each(&mut self, indices: Operand, segdes: Operand) -> Operand {
        self.check_segments(indices, segdes);
        let lengths = self.builder.vector(VectorOp::Lengths, &[segdes]);
        let checked = self.builder.map(ScalarOp::CheckIndex, &[indices, lengths]);
        let starts = self.builder.vector(VectorOp::Starts, &[segdes]);
        self.builder.map(ScalarOp::AddInt, &[starts, checked])
    }

    /// The characters with these codes.
    pub(super) fn characters(&mut self, codes: Operand) -> Operand {
        self.builder.map(ScalarOp::CodeToChar, &[codes])
    }

    /// A column of one scalar for each of a number of elements.
    pub(super) fn copies(&mut self, value: Operand, of: Operand) -> Operand {
        let length = self.length(of);
        self.builder.vector(VectorOp::Dist, &[value, length])
    }
}
