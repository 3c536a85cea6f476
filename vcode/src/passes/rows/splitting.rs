//! A loop whose descriptor is split: each use of it becomes one of its lengths, its starts, or its data, and what
//! is appended to it is appended to those.
//!
//! A descriptor that is no more is followed through the body: where it is the parameter, where segments have been
//! appended, and where an `if` gives one or another. A loop that needs it otherwise is refused.

use super::{INTS, Split, Writer};
use crate::op::VectorOp;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Register, RegisterType};
use crate::tail;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::{HashMap, HashSet};

/// Segments whose descriptor is split: their data have no other elements, and stand in their order.
#[derive(Clone)]
struct Rows {
    lengths: Operand,
    starts: Operand,
    data: Vec<Operand>,
}

/// What is known at an instruction.
#[derive(Clone, Default)]
struct Known {
    /// By its descriptor.
    rows: HashMap<Register, Rows>,
    /// What registers are from here on.
    names: HashMap<Register, Operand>,
    /// Columns that were put together of others, or of single elements.
    concats: HashMap<Register, Vec<Operand>>,
    /// How long the first of them was.
    lengths: HashMap<Register, Operand>,
    builds: HashMap<Register, Vec<Operand>>,
}

impl Known {
    fn named(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Register(register) => self.names.get(&register).copied().unwrap_or(operand),
            Operand::Constant(_) => operand,
        }
    }

    fn rows_of(&self, operand: Operand) -> Option<&Rows> {
        match operand {
            Operand::Register(register) => self.rows.get(&register),
            Operand::Constant(_) => None,
        }
    }

    /// A column with others behind it, if there is one such; none if there are several.
    fn appended(&self, to: Operand) -> Option<Register> {
        let mut found = self.concats.iter().filter(|(_, parts)| parts[0] == to);
        found.next().filter(|_| found.next().is_none()).map(|(&register, _)| register)
    }
}

/// A descriptor of a loop that is being split.
pub(super) struct Splitting<'f> {
    own: FunctionId,
    /// Where it is among the parameters, and where its data are.
    position: usize,
    data: Vec<usize>,
    /// The results that are lengths from now on.
    results: &'f HashSet<usize>,
    writer: Writer,
    /// Whether anything is appended to it.
    appends: bool,
}

/// Why a loop cannot be written so.
enum Refusal {
    /// The descriptor is needed as one.
    Descriptor,
    /// This result is a descriptor of something else.
    Result(usize),
}

impl Splitting<'_> {
    /// The loop without a descriptor.
    pub(super) fn done(function: &Function, own: FunctionId, descriptor: Register) -> Option<(Function, Split)> {
        let mut data = Vec::new();
        function.body.visit(&mut |instruction| {
            if let (Op::Vector(VectorOp::Compact), &[Operand::Register(column), segments]) =
                (&instruction.op, &instruction.operands[..])
                && segments == descriptor.into()
            {
                data.extend(function.parameters.iter().position(|&parameter| parameter == column));
            }
        });
        data.sort_unstable();
        data.dedup();
        let types = function.result_types().enumerate();
        let descriptors = types.filter(|(_, ty)| *ty == RegisterType::Descriptor);
        let mut results: HashSet<usize> = descriptors.map(|(index, _)| index).collect();
        loop {
            match Splitting::tried(function, own, descriptor, (&data, &results)) {
                Ok(None) | Err(Refusal::Descriptor) => return None,
                Ok(Some(loop_function)) => {
                    let data = data.iter().map(|&index| function.parameters[index]).collect();
                    return Some((loop_function, Split { descriptor, data, results }));
                }
                Err(Refusal::Result(index)) => _ = results.remove(&index),
            }
        }
    }

    /// The same, where these parameters are its data, and these results its lengths; none if nothing is appended.
    fn tried(
        function: &Function,
        own: FunctionId,
        descriptor: Register,
        (data, results): (&[usize], &HashSet<usize>),
    ) -> Result<Option<Function>, Refusal> {
        let position = function.parameters.iter().position(|&parameter| parameter == descriptor);
        let (Some(position), Some(_)) = (position, data.first()) else { return Ok(None) };
        let mut writer = Writer { registers: function.registers.clone(), place: function.span.into() };
        let [lengths, starts] = [(); 2].map(|()| Register::add(&mut writer.registers, INTS));
        let columns = data.iter().map(|&index| function.parameters[index].into()).collect();
        let mut known = Known::default();
        known.rows.insert(descriptor, Rows { lengths: lengths.into(), starts: starts.into(), data: columns });
        let mut splitting = Splitting { own, position, data: data.to_vec(), results, writer, appends: false };
        let body = splitting.end(&function.body, known)?;
        let parameters = function.parameters.iter().flat_map(|&parameter| match parameter == descriptor {
            true => vec![lengths, starts],
            false => vec![parameter],
        });
        let (parameters, registers) = (parameters.collect(), splitting.writer.registers);
        Ok(splitting.appends.then(|| Function { parameters, registers, body, ..function.clone() }))
    }

    /// A block that ends the loop.
    fn end(&mut self, block: &Block, mut known: Known) -> Result<Block, Refusal> {
        let Some(last) = tail::last(block) else {
            let instructions = self.instructions(&block.instructions, &mut known)?;
            let results = self.yielded(&block.results, &known)?;
            return Ok(Block::new(instructions, results));
        };
        let before = &block.instructions[..block.instructions.len() - 1];
        let mut instructions = self.instructions(before, &mut known)?;
        let (op, operands) = match &last.op {
            Op::If(then_block, else_block) => {
                let condition = self.operands(&last.operands, &known)?;
                let then_block = self.end(then_block, known.clone())?;
                (Op::If(Box::new(then_block), Box::new(self.end(else_block, known)?)), condition)
            }
            Op::Call(callee) if *callee == self.own => (last.op.clone(), self.carried(&last.operands, &known)?),
            _ => {
                instructions.extend(self.instructions(std::slice::from_ref(last), &mut known)?);
                return Ok(Block::new(instructions, self.yielded(&block.results, &known)?));
            }
        };
        let result = |(index, &old): (usize, &Register)| match self.results.contains(&index) {
            true => Register::add(&mut self.writer.registers, INTS),
            false => old,
        };
        let results: Vec<Register> = last.results.iter().enumerate().map(result).collect();
        let yielded = results.iter().map(|&result| result.into()).collect();
        instructions.push(Instruction::new(op, operands, results, last.place));
        Ok(Block::new(instructions, yielded))
    }

    /// The operands of a call that goes round.
    fn carried(&self, operands: &[Operand], known: &Known) -> Result<Vec<Operand>, Refusal> {
        let rows = known.rows_of(operands[self.position]).ok_or(Refusal::Descriptor)?;
        let mut carried = Vec::new();
        for (index, &operand) in operands.iter().enumerate() {
            let operand = known.named(operand);
            if let Some(column) = self.data.iter().position(|&position| position == index)
                && rows.data[column] != operand
            {
                return Err(Refusal::Descriptor);
            }
            match index == self.position {
                true => carried.extend([rows.lengths, rows.starts]),
                false => carried.extend(self.operands(&[operand], known)?),
            }
        }
        Ok(carried)
    }

    /// What a block yields that ends the loop.
    fn yielded(&self, results: &[Operand], known: &Known) -> Result<Vec<Operand>, Refusal> {
        let mut yielded = Vec::new();
        let named: Vec<Operand> = results.iter().map(|&result| known.named(result)).collect();
        for (index, &result) in results.iter().enumerate() {
            match (self.results.contains(&index), known.rows_of(result)) {
                (true, Some(rows)) if rows.data.iter().all(|column| named.contains(column)) => {
                    yielded.push(rows.lengths);
                }
                (true, _) => return Err(Refusal::Result(index)),
                (false, _) => yielded.extend(self.operands(&[result], known)?),
            }
        }
        Ok(yielded)
    }

    /// Operands by their names, none of which is a descriptor that is no more.
    fn operands(&self, operands: &[Operand], known: &Known) -> Result<Vec<Operand>, Refusal> {
        match operands.iter().all(|&operand| known.rows_of(operand).is_none()) {
            true => Ok(operands.iter().map(|&operand| known.named(operand)).collect()),
            false => Err(Refusal::Descriptor),
        }
    }

    fn instructions(&mut self, old: &[Instruction], known: &mut Known) -> Result<Vec<Instruction>, Refusal> {
        let mut new = Vec::new();
        for instruction in old {
            self.writer.place = instruction.place;
            self.instruction(instruction, known, &mut new)?;
        }
        Ok(new)
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        known: &mut Known,
        new: &mut Vec<Instruction>,
    ) -> Result<(), Refusal> {
        let operands: Vec<Operand> = instruction.operands.iter().map(|&operand| known.named(operand)).collect();
        let result = instruction.results.first().copied();
        match (&instruction.op, &operands[..], result) {
            (Op::Vector(VectorOp::Lengths | VectorOp::Starts | VectorOp::Segments), &[segments], Some(result))
                if let Some(rows) = known.rows_of(segments).cloned() =>
            {
                let name = match instruction.op {
                    Op::Vector(VectorOp::Lengths) => rows.lengths,
                    Op::Vector(VectorOp::Starts) => rows.starts,
                    _ => self.length(new, rows.lengths),
                };
                known.names.insert(result, name);
                return Ok(());
            }
            (Op::Vector(VectorOp::Compact), &[column, segments], Some(result))
                if let Some(rows) = known.rows_of(segments) =>
            {
                if !rows.data.contains(&column) {
                    return Err(Refusal::Descriptor);
                }
                known.names.insert(result, column);
                return Ok(());
            }
            (Op::Vector(VectorOp::Packed), &[Operand::Register(lengths)], Some(result)) => {
                if let Some(rows) = self.appended_rows(lengths, known, new) {
                    known.rows.insert(result, rows);
                    self.appends = true;
                    return Ok(());
                }
            }
            (Op::Vector(VectorOp::Concat), [first, _, ..], Some(result)) => {
                if known.rows.values().any(|rows| rows.data.contains(first)) {
                    // Behind it, what it was would have to be kept for that.
                    let length = self.length(new, *first);
                    known.lengths.insert(result, length);
                }
                known.concats.insert(result, operands.clone());
            }
            (Op::Vector(VectorOp::Build), _, Some(result)) => _ = known.builds.insert(result, operands.clone()),
            (Op::If(then_block, else_block), _, _) => {
                return self.branches(instruction, [then_block, else_block], known, new);
            }
            _ => {}
        }
        let op = match &instruction.op {
            Op::Fused(_) | Op::If(..) => return Err(Refusal::Descriptor),
            op => op.clone(),
        };
        let operands = self.operands(&operands, known)?;
        new.push(Instruction::new(op, operands, instruction.results.clone(), instruction.place));
        Ok(())
    }

    fn length(&mut self, new: &mut Vec<Instruction>, column: Operand) -> Operand {
        self.writer.vector(new, VectorOp::Length, vec![column], RegisterType::Scalar(ScalarType::Int)).into()
    }

    /// The rows that a column has the lengths of, if they are others with some behind them.
    fn appended_rows(&mut self, lengths: Register, known: &mut Known, new: &mut Vec<Instruction>) -> Option<Rows> {
        let (before, added) = known.concats.get(&lengths)?.split_first()?;
        let built = |part: &Operand| match part {
            Operand::Register(part) => known.builds.get(part),
            Operand::Constant(_) => None,
        };
        let added: Option<Vec<&Vec<Operand>>> = added.iter().map(built).collect();
        let added: Vec<Operand> = added?.into_iter().flatten().copied().collect();
        let is_of =
            |rows: &&Rows| rows.lengths == *before && rows.data.iter().all(|&column| known.appended(column).is_some());
        let mut all = known.rows.values().filter(is_of);
        let rows = all.next().filter(|_| all.next().is_none())?.clone();
        // Before the first of the new ones, all that there was.
        let mut end = *known.lengths.get(&known.appended(rows.data[0])?)?;
        let mut starts = Vec::new();
        for &length in &added {
            starts.push(end);
            let int = RegisterType::Scalar(ScalarType::Int);
            end = self.writer.instruction(new, Op::Scalar(ScalarOp::AddInt), vec![end, length], int).into();
        }
        let begin = self.writer.vector(new, VectorOp::Build, starts, INTS);
        let starts = self.writer.vector(new, VectorOp::Concat, vec![rows.starts, begin.into()], INTS).into();
        let mut data = Vec::new();
        for &column in &rows.data {
            let longer = known.appended(column)?;
            let ty = self.writer.registers[longer.0 as usize];
            let zero = Operand::Constant(ScalarValue::Int(0));
            let whole = self.writer.vector(new, VectorOp::Slice, vec![longer.into(), zero, end], ty);
            known.names.insert(longer, whole.into());
            data.push(whole.into());
        }
        Some(Rows { lengths: lengths.into(), starts, data })
    }

    /// An `if` in the middle: what its blocks yield as descriptors are lengths and starts.
    fn branches(
        &mut self,
        instruction: &Instruction,
        blocks: [&Block; 2],
        known: &mut Known,
        new: &mut Vec<Instruction>,
    ) -> Result<(), Refusal> {
        let condition = self.operands(&instruction.operands, known)?;
        let mut sides = Vec::new();
        for block in blocks {
            let mut inner = known.clone();
            let instructions = self.instructions(&block.instructions, &mut inner)?;
            let results: Vec<Operand> = block.results.iter().map(|&result| inner.named(result)).collect();
            sides.push((instructions, results, inner));
        }
        let (mut results, mut yields) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut found = Vec::new();
        for (index, &result) in instruction.results.iter().enumerate() {
            let of = |side: usize| {
                let (_, results, inner): &(_, Vec<Operand>, Known) = &sides[side];
                inner.rows_of(results[index]).cloned()
            };
            match [of(0), of(1)] {
                [None, None] => {
                    results.push(result);
                    yields.iter_mut().zip(&sides).for_each(|(yields, side)| yields.push(side.1[index]));
                }
                [Some(one), Some(other)] => {
                    let column = |k: usize| {
                        let at = |index: usize| sides[0].1[index] == one.data[k] && sides[1].1[index] == other.data[k];
                        (0..sides[0].1.len()).find(|&index| at(index)).map(|index| instruction.results[index].into())
                    };
                    let data: Option<Vec<Operand>> = (0..one.data.len()).map(column).collect();
                    let data = data.ok_or(Refusal::Descriptor)?;
                    let [lengths, starts] = [(); 2].map(|()| Register::add(&mut self.writer.registers, INTS));
                    results.extend([lengths, starts]);
                    yields[0].extend([one.lengths, one.starts]);
                    yields[1].extend([other.lengths, other.starts]);
                    found.push((result, Rows { lengths: lengths.into(), starts: starts.into(), data }));
                }
                _ => return Err(Refusal::Descriptor),
            }
        }
        let blocks = sides
            .into_iter()
            .zip(yields)
            .map(|((instructions, ..), yields)| Box::new(Block::new(instructions, yields)));
        let Ok([then_block, else_block]) = <[Box<Block>; 2]>::try_from(blocks.collect::<Vec<_>>()) else {
            return Err(Refusal::Descriptor);
        };
        new.push(Instruction::new(Op::If(then_block, else_block), condition, results, instruction.place));
        known.rows.extend(found);
        Ok(())
    }
}
