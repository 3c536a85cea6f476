//! Memory for the columns that kernels write: new, or an operand that nobody else sees.

#![allow(unsafe_code, reason = "machine code; every block says why it is sound")]

use super::{GaveUp, Work};
use crate::data::buffer::Meter;
use crate::data::memory::{self, Filling};
use crate::data::slot::Slot;
use crate::data::vector::{Slice, Vector};
use crate::engine::group::LocalSlot;
use crate::engine::threads::Threads;
use crate::engine::threads::tuning::GRAIN;
use crate::on_vector;
use nesl_native::Ending;
use nesl_prim::{Element, Failure, ScalarType, ScalarValue};
use nesl_vcode::RegisterType;
use std::ops::Range;
use std::sync::Arc;

/// The output buffers of the columns that a group yields.
pub(super) struct OutputBuffers {
    /// For each yield, if it is a column.
    pub each: Vec<Option<OutputBuffer>>,
    /// What several of them are parts of.
    pub whole: Vec<OutputBuffer>,
}

/// Memory that a column is written to.
pub(super) enum OutputBuffer {
    /// New room for so many elements; none are in it.
    New(Elements, usize),
    /// That of an operand, by its number, with so many elements.
    Over { input: usize, pointer: *mut u8, length: usize },
    /// A copy of a column.
    Copy(Vector),
    /// Some elements of what several are parts of, by its number among these.
    Part { whole: usize, pointer: *mut u8, elements: Range<usize> },
}

/// Elements of any type.
pub(super) enum Elements {
    Int(memory::Room<i64>),
    Float(memory::Room<f64>),
    Bool(memory::Room<bool>),
    Char(memory::Room<u8>),
}

impl Elements {
    /// Memory for elements of a type, of which there may come to be fewer.
    pub fn reserve(meter: &Meter, ty: ScalarType, length: usize, filling: Filling) -> Result<Elements, Failure> {
        Ok(match ty {
            ScalarType::Int => Elements::Int(meter.room_for(length, filling)?),
            ScalarType::Float => Elements::Float(meter.room_for(length, filling)?),
            ScalarType::Bool => Elements::Bool(meter.room_for(length, filling)?),
            ScalarType::Char => Elements::Char(meter.room_for(length, filling)?),
        })
    }

    /// Where the first element goes.
    pub fn pointer(&mut self) -> *mut u8 {
        match self {
            Elements::Int(room) => room.spare().as_mut_ptr().cast(),
            Elements::Float(room) => room.spare().as_mut_ptr().cast(),
            Elements::Bool(room) => room.spare().as_mut_ptr().cast(),
            Elements::Char(room) => room.spare().as_mut_ptr().cast(),
        }
    }
}

impl OutputBuffer {
    /// New room for elements, of which there may come to be fewer.
    pub fn reserve(meter: &Meter, ty: ScalarType, length: usize, filling: Filling) -> Result<OutputBuffer, Failure> {
        Ok(OutputBuffer::New(Elements::reserve(meter, ty, length, filling)?, length))
    }

    /// The room of an operand, if that is a column which nobody else sees.
    pub fn over(input: usize, operand: &mut LocalSlot) -> Option<OutputBuffer> {
        let Slot::Column(column) = operand else { return None };
        let length = column.len();
        let pointer = on_vector!(column, slice => slice.unique().map(|elements| elements.as_mut_ptr().cast()))?;
        Some(OutputBuffer::Over { input, pointer, length })
    }

    /// A copy of a column.
    pub fn copy(threads: &Threads, column: &Vector) -> Result<OutputBuffer, Failure> {
        fn of<T: Element>(threads: &Threads, slice: &Slice<T>) -> Result<Slice<T>, Failure> {
            let elements = slice.elements();
            threads.workers.fill(&threads.meter, elements.len(), GRAIN, |range, writer| writer.copy(&elements[range]))
        }
        Ok(OutputBuffer::Copy(match column {
            Vector::Int(slice) => Vector::Int(of(threads, slice)?),
            Vector::Float(slice) => Vector::Float(of(threads, slice)?),
            Vector::Bool(slice) => Vector::Bool(of(threads, slice)?),
            Vector::Char(slice) => Vector::Char(of(threads, slice)?),
        }))
    }

    /// Where the first element goes.
    pub fn pointer(&mut self) -> *mut u8 {
        match self {
            OutputBuffer::New(elements, _) => elements.pointer(),
            OutputBuffer::Over { pointer, .. } | OutputBuffer::Part { pointer, .. } => *pointer,
            OutputBuffer::Copy(column) => {
                on_vector!(column, slice => slice.own().as_mut_ptr().cast())
            }
        }
    }

    /// For how many elements there is room.
    pub fn length(&self) -> usize {
        match self {
            OutputBuffer::New(_, length) | OutputBuffer::Over { length, .. } => *length,
            OutputBuffer::Copy(column) => column.len(),
            OutputBuffer::Part { elements, .. } => elements.len(),
        }
    }

    /// Moves parts, each of which is behind those before it, together to the front; how many elements they have.
    pub fn move_together(&mut self, parts: impl IntoIterator<Item = Range<usize>>) -> usize {
        fn of<T: Element>(room: &mut memory::Room<T>, parts: impl IntoIterator<Item = Range<usize>>) -> usize {
            let (elements, mut end) = (room.spare(), 0);
            for part in parts {
                let length = part.len();
                if part.start != end {
                    elements.copy_within(part, end);
                }
                end += length;
            }
            end
        }
        match self {
            OutputBuffer::New(Elements::Int(room), _) => of(room, parts),
            OutputBuffer::New(Elements::Float(room), _) => of(room, parts),
            OutputBuffer::New(Elements::Bool(room), _) => of(room, parts),
            OutputBuffer::New(Elements::Char(room), _) => of(room, parts),
            OutputBuffer::Over { .. } | OutputBuffer::Copy(_) | OutputBuffer::Part { .. } => {
                unreachable!("what a filter keeps goes to new room")
            }
        }
    }

    /// The column of the first `length` elements.
    ///
    /// # Safety
    /// They have been written.
    pub unsafe fn finish(self, threads: &Threads, operands: &mut [LocalSlot], length: usize) -> Vector {
        /// # Safety
        /// So many elements have been written.
        unsafe fn column<T: Element>(threads: &Threads, mut room: memory::Room<T>, length: usize) -> Slice<T> {
            assert!(length <= room.capacity(), "more elements than there is room for");
            // SAFETY: there is room, and the caller says that they have been written.
            unsafe { room.set_length(length) };
            Slice::new(&Arc::clone(&threads.meter), threads.meter.fitted(room))
        }
        match self {
            // SAFETY: the caller's.
            OutputBuffer::New(Elements::Int(room), _) => Vector::Int(unsafe { column(threads, room, length) }),
            // SAFETY: the caller's.
            OutputBuffer::New(Elements::Float(room), _) => Vector::Float(unsafe { column(threads, room, length) }),
            // SAFETY: the caller's; kernels write bools as 0 and 1.
            OutputBuffer::New(Elements::Bool(room), _) => Vector::Bool(unsafe { column(threads, room, length) }),
            // SAFETY: the caller's.
            OutputBuffer::New(Elements::Char(room), _) => Vector::Char(unsafe { column(threads, room, length) }),
            OutputBuffer::Over { input, .. } => {
                std::mem::replace(&mut operands[input], Slot::Scalar(ScalarValue::Bool(false))).into_column()
            }
            OutputBuffer::Copy(column) => column,
            OutputBuffer::Part { .. } => unreachable!("parts end with what they are parts of"),
        }
    }
}

impl Work<'_> {
    /// Output buffers for the columns that are yielded.
    pub(super) fn rooms(
        &self,
        operands: &mut [LocalSlot],
        counts: &Option<Vec<Vec<usize>>>,
        in_place: bool,
    ) -> Result<OutputBuffers, GaveUp> {
        let plan = &self.group.plan;
        let meter = &self.threads.meter;
        let total = |space: usize| match counts {
            // As many as there are indices, at most; what is not used of it is given back.
            None => self.length,
            Some(_) if space == 0 => self.length,
            Some(counts) => counts.iter().map(|piece| piece[space]).sum(),
        };
        let mut rooms = OutputBuffers { each: self.endings.iter().map(|_| None).collect(), whole: Vec::new() };
        if counts.is_some() {
            self.group.beside.iter().try_for_each(|parts| self.parts(parts, total, &mut rooms))?;
        }
        let mut taken = vec![false; operands.len()];
        for (index, ending) in self.endings.iter().enumerate() {
            if rooms.each[index].is_some() {
                continue;
            }
            let node = &plan.nodes[plan.yields[index]];
            let reserve = |length| OutputBuffer::reserve(meter, node.ty, length, Filling::Whole).map(Some);
            rooms.each[index] = match *ending {
                Ending::Reduce(..) | Ending::ReduceIndex(..) | Ending::Sum(..) => None,
                Ending::Store(source) if plan.space_of(source) == 0 => {
                    let may_be = in_place && !self.facts.is_fallible;
                    let over = (0..operands.len()).filter(|_| may_be).find_map(|input| {
                        let free = !taken[input] && self.is_overwritable(input, node.ty);
                        let over = free.then(|| OutputBuffer::over(input, &mut operands[input])).flatten();
                        taken[input] |= over.is_some();
                        over
                    });
                    match over {
                        Some(over) => Some(over),
                        None => reserve(self.length)?,
                    }
                }
                Ending::Store(source) | Ending::Scan(_, source) => {
                    let space = plan.space_of(source);
                    let filling = if space > 0 && counts.is_none() { Filling::Part } else { Filling::Whole };
                    Some(OutputBuffer::reserve(meter, node.ty, total(space), filling)?)
                }
                Ending::SegReduce(_, _, input) | Ending::SegReduceIndex(_, _, input) | Ending::SegSum(_, _, input) => {
                    reserve(operands[input].as_descriptor().segments())?
                }
                Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => {
                    let target = node.operands[0].outside();
                    // What gave up begins anew, which may write again what it has written, but not combine it again.
                    let may_begin_anew = self.facts.is_fallible && matches!(ending, Ending::Combine { .. });
                    let in_place = in_place && !taken[target] && !may_begin_anew;
                    Some(self.target(target, in_place, operands, &mut taken)?)
                }
            };
        }
        Ok(rooms)
    }

    /// Output buffers for yields one after another, whose spaces have so many elements, if they are what filters keep.
    fn parts(&self, parts: &[usize], total: impl Fn(usize) -> usize, rooms: &mut OutputBuffers) -> Result<(), GaveUp> {
        let plan = &self.group.plan;
        let length = |&index: &usize| match self.endings[index] {
            Ending::Store(source) if plan.space_of(source) > 0 => Some(total(plan.space_of(source))),
            _ => None,
        };
        let Some(lengths) = parts.iter().map(length).collect::<Option<Vec<usize>>>() else { return Ok(()) };
        let ty = plan.nodes[plan.yields[parts[0]]].ty;
        let mut room = OutputBuffer::reserve(&self.threads.meter, ty, lengths.iter().sum(), Filling::Whole)?;
        let (whole, first) = (rooms.whole.len(), room.pointer());
        let mut start = 0;
        for (&index, length) in parts.iter().zip(lengths) {
            let (pointer, elements) = (first.wrapping_add(start * ty.size()), start..start + length);
            rooms.each[index] = Some(OutputBuffer::Part { whole, pointer, elements });
            start += length;
        }
        rooms.whole.push(room);
        Ok(())
    }

    /// The column that is changed at indices: the operand's own, or a copy. It may be the operand's where something can
    /// fail: a kernel gives up where an instruction fails, which then fails again, and nothing but the scatter reads
    /// what has been written to. Except where memory may end after the kernel.
    fn target(
        &self,
        target: usize,
        in_place: bool,
        operands: &mut [LocalSlot],
        taken: &mut [bool],
    ) -> Result<OutputBuffer, GaveUp> {
        let may_end_later =
            self.pieces.len() > 1 && self.endings.iter().any(|ending| matches!(ending, Ending::Scan(..)));
        if in_place
            && !(self.facts.is_fallible && may_end_later)
            && self.facts.targets.contains(&target)
            && let Some(over) = OutputBuffer::over(target, &mut operands[target])
        {
            taken[target] = true;
            return Ok(over);
        }
        Ok(OutputBuffer::copy(self.threads, operands[target].as_column())?)
    }

    /// Whether what is yielded may be written over an input that nobody else sees: it has the type, and is read at the
    /// index alone.
    fn is_overwritable(&self, input: usize, ty: ScalarType) -> bool {
        self.group.plan.inputs[input] == RegisterType::Column(ty) && self.facts.is_aligned[input]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_move_together_in_their_order() {
        let threads = Threads::new(1, None).expect("the system starts threads");
        for parts in [vec![], vec![0..2, 3..7, 7..7, 8..10], vec![2..5, 6..6, 9..10], vec![4..4, 4..10]] {
            let mut room =
                OutputBuffer::reserve(&threads.meter, ScalarType::Int, 10, Filling::Whole).expect("there is memory");
            let OutputBuffer::New(Elements::Int(slots), _) = &mut room else { panic!("new room for ints") };
            for (index, slot) in slots.spare().iter_mut().enumerate() {
                slot.write(index as i64);
            }
            let expected: Vec<i64> = parts.iter().cloned().flatten().map(|index| index as i64).collect();
            let length = room.move_together(parts.iter().cloned());
            // SAFETY: all have been written.
            let Vector::Int(column) = (unsafe { room.finish(&threads, &mut [], length) }) else { panic!("ints") };
            assert_eq!(column.elements(), expected, "{parts:?}");
        }
    }
}
