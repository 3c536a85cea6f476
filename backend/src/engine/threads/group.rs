//! Groups as kernels: machine code that goes over the indices once, on all threads.
//!
//! Indices are dealt out in pieces, as for other loops. What makes pieces depend on each other is settled before or
//! after: elements that filters keep are counted first, so that each piece knows where its own go, or where counting is
//! dear, each piece has room for all of its own, and they are moved together; reductions of pieces are combined; scans
//! store what they scan, which is scanned where it lies. Segments that are reduced or scanned are not cut. Where a
//! single filter, or a dear one, is all that makes pieces depend on each other, they are small, and put [in
//! turn](look_back) where they belong.
//!
//! A kernel has no errors. Where one gives up, what it has written is dropped, and the machine runs the instructions
//! one by one.

#![allow(unsafe_code, reason = "machine code; every block says why it is sound")]

mod chain;
pub(super) mod check;
mod length;
mod look_back;
mod output_buffer;
mod private_scatter;
mod scans;
mod texts;

use super::Threads;
use super::scan;
use super::tuning::{COMPILE, GRAIN, GRAIN_COSTLY, GRAIN_RANDOM, OVERHEAD};
use super::workers::split_aligned;
use crate::data::slot::Slot;
use crate::data::vector::Vector;
use crate::engine::Fault;
use crate::engine::group::{Facts, Group, LocalSlot};
use crate::on_vector;
use length::length;
use nesl_native::{DescriptorPlace, Ending, Kernel, Mode, NodeOp, Plan, State, Status, Sums, Words, is_ordered};
use nesl_prim::{Element, Extreme, ScalarValue, eval, sum};
use nesl_vcode::op::Class;
use output_buffer::{OutputBuffer, OutputBuffers};
use private_scatter::PrivateScatter;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Runs a group; none where it has no kernel, or something fails.
pub fn run(threads: &mut Threads, group: &Group, operands: &mut [LocalSlot]) -> Option<Vec<LocalSlot>> {
    let group = group.known(operands);
    let length = length(threads, group, operands).ok()?;
    let group = group.regular(operands, length);
    let plan = &group.plan;
    // Whether it runs whole or in pieces differs from time to time, but not whether it is worth it.
    let is_known =
        group.kernels.iter().any(|kernel| kernel.get().is_some_and(|known| known.0 == threads.kernels.owner()));
    if !is_known && group.facts.texts.is_none() {
        // Indices that no column holds may be so many that the work does not fit.
        let work = ((length + OVERHEAD) as u64).saturating_mul(plan.nodes.len() as u64).min(COMPILE);
        if group.spent.fetch_add(work, Relaxed) + work < COMPILE {
            return None;
        }
    }
    compute(threads, group, operands, length, true)?.ok()
}

/// The results of a group, none where it has no kernel.
fn compute(
    threads: &Threads,
    group: &Group,
    operands: &mut [LocalSlot],
    length: usize,
    in_place: bool,
) -> Option<Result<Vec<LocalSlot>, GaveUp>> {
    match group.facts.texts {
        Some(texts) => Some(texts::run(threads, texts, operands)),
        None => Some(Work::new(threads, group, operands, length)?.run(operands, in_place)),
    }
}

/// The kernel of a group in a mode, if there can be one.
fn kernel(threads: &Threads, group: &Group, mode: Mode) -> Option<Kernel> {
    let owner = threads.kernels.owner();
    let Some(number) = mode.number() else { return threads.kernels.kernel(&group.plan, mode) };
    match group.kernels[number].get() {
        Some(&(known, kernel)) if known == owner => kernel,
        _ => {
            let kernel = threads.kernels.kernel(&group.plan, mode);
            // Of several engines that run one program, the first has a fast way.
            let _ = group.kernels[number].set((owner, kernel));
            kernel
        }
    }
}

/// Why there are no results: the instructions one by one will show it.
#[derive(Debug)]
pub(super) struct GaveUp;

impl<E: Into<Fault>> From<E> for GaveUp {
    fn from(_: E) -> GaveUp {
        GaveUp
    }
}

/// Indices for one thread, and the segments that end there.
#[derive(Clone, Debug)]
struct Piece {
    indices: Range<usize>,
    segments: Range<usize>,
}

/// How the indices are gone over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    /// All by one thread.
    Whole,
    /// Block by block, which are put [in turn](look_back) where they belong.
    LookBack,
    /// In pieces, of which each has room for all of its own elements, which are moved together afterwards.
    Moved,
    /// In pieces whose elements are counted first, where filters keep some.
    Counted,
}

/// A group about to run.
pub(super) struct Work<'a> {
    threads: &'a Threads,
    group: &'a Group,
    length: usize,
    schedule: Schedule,
    /// One where one thread does it all.
    pieces: Vec<Piece>,
    endings: &'a [Ending],
    facts: &'a Facts,
}

/// What a piece writes to besides columns.
struct Aside {
    /// Of each yield that sums up floats, the sums.
    sums: Vec<Option<Box<Sums>>>,
    /// Of each yield that is written to at indices in an order that counts, a column of its own.
    apart: Vec<Option<PrivateScatter>>,
}

impl<'a> Work<'a> {
    /// Prepares a group of so many indices; none where it has no kernel.
    pub fn new(threads: &'a Threads, group: &'a Group, operands: &[LocalSlot], length: usize) -> Option<Work<'a>> {
        let facts = &group.facts;
        // One thread need not know before how much it will keep, if there may be room for as much as one filter could.
        // Several filters would take as much room each as if they kept all.
        let is_one = facts.is_moved || facts.is_counted && group.plan.spaces() == 2;
        let is_whole = is_one && threads.workers.threads() == 1 && threads.tuning.is_whole_alone;
        let schedule = match facts {
            _ if is_whole || facts.is_alone => Schedule::Whole,
            _ if facts.is_written_in_order && !private_scatter::is_worth_it(threads, group, operands, length) => {
                Schedule::Whole
            }
            _ if is_one && facts.is_in_turns => Schedule::LookBack,
            Facts { is_moved: true, .. } => Schedule::Moved,
            _ => Schedule::Counted,
        };
        let work = Work { threads, group, length, schedule, pieces: Vec::new(), endings: &facts.endings, facts };
        let work = work.cut(operands)?;
        // Whatever the kernel is, without it nothing is worth preparing.
        kernel(threads, group, work.mode())?;
        Some(work)
    }

    fn mode(&self) -> Mode {
        if self.schedule == Schedule::Whole { Mode::Whole } else { Mode::Piece }
    }

    /// Cuts the indices into pieces.
    fn cut(self, operands: &[LocalSlot]) -> Option<Work<'a>> {
        let segments = self.facts.segmented.map_or(0, |input| operands[input].as_descriptor().segments());
        let weight = self.length.saturating_add(segments);
        let grain = self.threads.tuning.grain.unwrap_or_else(|| grain(&self.group.plan));
        let mut pieces = self.threads.workers.pieces(weight, grain);
        if self.facts.is_written_in_order {
            pieces = pieces.min(self.threads.threads());
        }
        if pieces == 1 || self.schedule == Schedule::Whole {
            let pieces = vec![Piece { indices: 0..self.length, segments: 0..segments }];
            return Some(Work { schedule: Schedule::Whole, pieces, ..self });
        }
        let Some(input) = self.facts.segmented else {
            let ranges = split_aligned(self.length, pieces, sum::BLOCK);
            let pieces = ranges.into_iter().map(|indices| Piece { indices, segments: 0..0 }).collect();
            return Some(Work { pieces, ..self });
        };
        let offsets = operands[input].as_descriptor().offsets().ok()?;
        let first = |segment: usize| offsets.get(segment).map_or(self.length, |offset| offset as usize);
        // A segment belongs to the piece in which it begins, as if each had one more element.
        let bound = |piece: usize| {
            let least = (weight as u128 * piece as u128 / pieces as u128) as usize;
            let (mut from, mut to) = (0, segments);
            while from < to {
                let middle = from + (to - from) / 2;
                if first(middle) + middle >= least { to = middle } else { from = middle + 1 }
            }
            from
        };
        let bounds: Vec<usize> =
            (0..=pieces).map(|piece| if piece == pieces { segments } else { bound(piece) }).collect();
        let piece = |pair: &[usize]| Piece { indices: first(pair[0])..first(pair[1]), segments: pair[0]..pair[1] };
        Some(Work { pieces: bounds.windows(2).map(piece).collect(), ..self })
    }

    /// The same in pieces whose elements are counted first; none if they are, or if there is but one piece, or can be.
    fn counted_first(&self, operands: &[LocalSlot]) -> Option<Work<'a>> {
        if self.schedule == Schedule::Counted || self.facts.is_alone {
            return None;
        }
        let work = Work { schedule: Schedule::Counted, pieces: Vec::new(), ..*self }.cut(operands)?;
        (work.schedule == Schedule::Counted).then_some(work)
    }

    /// What kernels are given, but for where a piece begins and what it writes to.
    fn words(&self, operands: &[LocalSlot]) -> Words<'a> {
        let mut words = Words::new(&self.group.layout);
        for (input, operand) in operands.iter().enumerate() {
            match operand {
                Slot::Scalar(value) => words.scalar(input, *value),
                Slot::Column(column) => {
                    let pointer = on_vector!(column, slice => slice.elements().as_ptr().cast());
                    words.column(input, pointer, column.len());
                    if let (Some(_), Vector::Int(ints)) = (self.group.plan.stride_of(input), column) {
                        let [first, second] = [0, 1].map(|index| ints.elements()[index]);
                        words.progression(input, first, second.wrapping_sub(first));
                    }
                }
                Slot::Descriptor(_) => {}
            }
        }
        words
    }

    /// Runs the group. Operands are overwritten only where they are nobody else's, and it is allowed.
    pub fn run(&self, operands: &mut [LocalSlot], in_place: bool) -> Result<Vec<LocalSlot>, GaveUp> {
        let plan = &self.group.plan;
        let words = self.words(operands);
        if self.schedule == Schedule::LookBack {
            return match self.rooms(operands, &None, in_place) {
                Ok(mut rooms) => {
                    let outcomes = self.in_turns(&words, operands, &mut rooms.each)?;
                    self.collect(operands, rooms, outcomes)
                }
                Err(gave_up) => self.counted_first(operands).ok_or(gave_up)?.run(operands, in_place),
            };
        }
        if self.is_in_chain() {
            let mut rooms = self.rooms(operands, &None, in_place)?;
            let outcomes = self.in_chain(&words, operands, &mut rooms.each)?;
            return self.collect(operands, rooms, outcomes);
        }
        let mut cursors = vec![words; self.pieces.len()];
        for (words, piece) in cursors.iter_mut().zip(&self.pieces) {
            self.set_cursors(words, operands, piece)?;
        }
        self.begin_scans(&mut cursors)?;
        let counts = self.count(&mut cursors)?;
        let mut rooms = match self.rooms(operands, &counts, in_place) {
            Ok(rooms) => rooms,
            Err(gave_up) => return self.counted_first(operands).ok_or(gave_up)?.run(operands, in_place),
        };
        let mut items: Vec<(Words<'_>, Aside, Range<usize>)> = Vec::with_capacity(self.pieces.len());
        let mut before = vec![0; plan.spaces()];
        for (number, (mut words, piece)) in cursors.into_iter().zip(&self.pieces).enumerate() {
            let room = |space: usize| match &counts {
                Some(counts) => before[space]..before[space] + counts[number][space],
                None => piece.indices.clone(),
            };
            (0..plan.spaces()).for_each(|space| words.set_room(space, room(space)));
            let aside = self.aside(&mut words, &mut rooms.each, &before)?;
            items.push((words, aside, piece.indices.clone()));
            if let Some(counts) = &counts {
                before.iter_mut().zip(&counts[number]).for_each(|(before, count)| *before += count);
            }
        }
        let kernel = kernel(self.threads, self.group, self.mode()).ok_or(GaveUp)?;
        let is_done = |words: &mut Words<'_>, indices: Range<usize>| {
            // SAFETY: the inputs have the elements that `length` has checked; there is room for what is yielded, in
            // parts that no other piece writes to.
            unsafe { self.call(kernel, words, indices) == Status::Done }
        };
        let outcomes: Option<Vec<(Words<'_>, Aside)>> = if self.is_chained() {
            let mut done: Vec<(Words<'_>, Aside)> = Vec::with_capacity(items.len());
            for (mut words, aside, indices) in items {
                if let Some((before, _)) = done.last() {
                    words.go_on_after(before);
                }
                if !is_done(&mut words, indices) {
                    return Err(GaveUp);
                }
                done.push((words, aside));
            }
            Some(done)
        } else {
            let outcomes = self
                .threads
                .workers
                .each(items, &|_, (mut words, aside, indices)| is_done(&mut words, indices).then_some((words, aside)));
            outcomes.into_iter().collect()
        };
        self.collect(operands, rooms, outcomes.ok_or(GaveUp)?)
    }

    /// Runs a kernel on some of the indices, unless the user has interrupted the evaluation.
    ///
    /// # Safety
    /// As for [`nesl_native::Kernels::run`].
    unsafe fn call(&self, kernel: Kernel, words: &mut Words<'_>, indices: Range<usize>) -> Status {
        if self.threads.workers.interrupt().is_requested() {
            return Status::Interrupted;
        }
        let mut state = State::new(self.threads.workers.interrupt().flag(), 0, None);
        // SAFETY: the caller's.
        unsafe { self.threads.kernels.run(kernel, &mut state, words, indices.start, indices.end) }
    }

    /// Sets the places in all descriptors where a piece begins.
    fn set_cursors(&self, words: &mut Words<'_>, operands: &[LocalSlot], piece: &Piece) -> Result<(), GaveUp> {
        for (input, operand) in operands.iter().enumerate() {
            let Slot::Descriptor(descriptor) = operand else { continue };
            let lengths = descriptor.lengths();
            let start = piece.indices.start;
            let (segment, within, end) = if self.facts.segmented == Some(self.group.plan.first_alike(input)) {
                (piece.segments.start, 0, piece.segments.end)
            } else if start == 0 {
                (0, 0, lengths.len())
            } else {
                let (segment, within) = descriptor.locate(start)?;
                (segment, within, lengths.len())
            };
            let base = start - within;
            let indices = base..base + lengths.get(segment).map_or(0, |length| length as usize);
            let starts = if descriptor.is_packed() { None } else { Some(descriptor.starts()?) };
            words.descriptor(input, &DescriptorPlace { starts, lengths, segment, indices, end });
        }
        Ok(())
    }

    /// How many elements each piece keeps in each space, where that has to be known before.
    fn count(&self, words: &mut [Words<'_>]) -> Result<Option<Vec<Vec<usize>>>, GaveUp> {
        let plan = &self.group.plan;
        if self.schedule != Schedule::Counted || !self.facts.is_counted {
            return Ok(None);
        }
        let kernel = kernel(self.threads, self.group, Mode::Count).ok_or(GaveUp)?;
        let items = words.iter().cloned().zip(&self.pieces).collect();
        let counts = self.threads.workers.each(items, &|_, (mut words, piece): (Words<'_>, &Piece)| {
            // SAFETY: as where the group is run; nothing is written here but words.
            let status = unsafe { self.call(kernel, &mut words, piece.indices.clone()) };
            let count = || (0..plan.spaces()).map(|space| words.position(space)).collect();
            (status == Status::Done).then(count)
        });
        counts.into_iter().collect::<Option<Vec<Vec<usize>>>>().map(Some).ok_or(GaveUp)
    }

    /// Gives a piece its outlets.
    fn aside(
        &self,
        words: &mut Words<'_>,
        rooms: &mut [Option<OutputBuffer>],
        before: &[usize],
    ) -> Result<Aside, GaveUp> {
        let plan = &self.group.plan;
        let (mut all, mut apart) = (Vec::with_capacity(self.endings.len()), Vec::with_capacity(self.endings.len()));
        for (index, ending) in self.endings.iter().enumerate() {
            let (mut sums, mut column) = (None, None);
            let room = rooms[index].as_mut();
            let (pointer, length) = room.map_or((std::ptr::null_mut(), 0), |room| (room.pointer(), room.length()));
            match *ending {
                Ending::Store(_)
                | Ending::Scan(..)
                | Ending::SegReduce(..)
                | Ending::ReduceIndex(..)
                | Ending::SegReduceIndex(..) => words.outlet(index, pointer, 0),
                Ending::Reduce(op, _) => {
                    let identity = op.row().identity.map_or(0, ScalarValue::to_word);
                    words.outlet(index, pointer, identity);
                }
                Ending::Sum(op, source) => {
                    let begin = match plan.space_of(source) {
                        0 => 0,
                        space => before[space] % sum::BLOCK,
                    };
                    let sums = sums.insert(Sums::new(op, begin));
                    words.outlet(index, (&raw mut **sums).cast(), begin as u64);
                }
                Ending::SegSum(op, ..) => {
                    let sums = sums.insert(Sums::new(op, 0));
                    words.outlet(index, pointer, &raw mut **sums as u64);
                }
                Ending::Scatter { ordered: true, .. } if self.schedule != Schedule::Whole => {
                    let ty = plan.nodes[plan.yields[index]].ty;
                    let column = column.insert(PrivateScatter::new(&self.threads.meter, ty, length)?);
                    words.outlet(index, column.pointer(), length as u64);
                }
                Ending::Combine { op, .. } if self.schedule != Schedule::Whole => {
                    let column = column.insert(PrivateScatter::of_identity(&self.threads.meter, op, length)?);
                    words.outlet(index, column.pointer(), length as u64);
                }
                Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => {
                    words.outlet(index, pointer, length as u64)
                }
            }
            all.push(sums);
            apart.push(column);
        }
        Ok(Aside { sums: all, apart })
    }

    /// The results of all pieces as one.
    fn collect(
        &self,
        operands: &mut [LocalSlot],
        rooms: OutputBuffers,
        mut outcomes: Vec<(Words<'_>, Aside)>,
    ) -> Result<Vec<LocalSlot>, GaveUp> {
        let plan = &self.group.plan;
        let finish = |room: OutputBuffer, operands: &mut [LocalSlot], length| {
            // SAFETY: the kernel is done: it has written all of the column, or as many elements as it counted.
            unsafe { room.finish(self.threads, operands, length) }
        };
        let whole = |room: OutputBuffer| {
            let length = room.length();
            finish(room, operands, length)
        };
        let wholes: Vec<Vector> = rooms.whole.into_iter().map(whole).collect();
        let mut results = Vec::with_capacity(self.endings.len());
        for (index, (ending, room)) in self.endings.iter().zip(rooms.each).enumerate() {
            let node = &plan.nodes[plan.yields[index]];
            results.push(match (*ending, room) {
                (Ending::Reduce(op, _), _) => {
                    let parts = outcomes.iter().map(|(words, _)| ScalarValue::from_word(node.ty, words.value(index)));
                    let combine = |before: ScalarValue, part| eval(op, &[before, part]);
                    let mut parts = parts.into_iter();
                    let first = parts.next().ok_or(GaveUp)?;
                    Slot::Scalar(parts.try_fold(first, combine)?)
                }
                (Ending::ReduceIndex(op, _), _) => {
                    let parts = outcomes.iter().map(|(words, _)| words.extreme(index, op.row().result));
                    let found = parts.fold(Extreme::none(op.identity()), |before, later| before.then_by(op, later));
                    Slot::Scalar(ScalarValue::Int(found.index))
                }
                (Ending::Sum(..), _) => {
                    let parts = outcomes
                        .iter_mut()
                        .filter_map(|(words, aside)| Some((aside.sums[index].take()?, words.value(index) as usize)));
                    Slot::Scalar(Sums::join(parts.collect()).to_value())
                }
                (_, Some(OutputBuffer::Part { whole, elements, .. })) => {
                    Slot::Column(wholes[whole].slice(elements.start, elements.len()))
                }
                (ending, Some(mut room)) => {
                    let length = match ending {
                        Ending::Store(source) if self.schedule == Schedule::Moved && plan.space_of(source) > 0 => {
                            let end = |(words, _): &(Words<'_>, Aside)| words.position(plan.space_of(source));
                            let starts = self.pieces.iter().map(|piece| piece.indices.start);
                            let parts = starts.zip(&outcomes).map(|(start, outcome)| start..end(outcome));
                            room.move_together(parts)
                        }
                        Ending::Store(source) | Ending::Scan(_, source) if plan.space_of(source) > 0 => {
                            let space = plan.space_of(source);
                            outcomes.last().map_or(0, |(words, _)| words.position(space))
                        }
                        Ending::Scatter { .. } | Ending::Combine { .. } => {
                            let columns = outcomes.iter_mut().filter_map(|(_, aside)| aside.apart[index].take());
                            private_scatter::join(self.threads, columns.collect(), &mut room);
                            room.length()
                        }
                        _ => room.length(),
                    };
                    let column = finish(room, operands, length);
                    Slot::Column(match ending {
                        Ending::Scan(op, _) if self.pieces.len() > 1 => {
                            scan::over(self.threads, op, column).map_err(|_| GaveUp)?
                        }
                        _ => column,
                    })
                }
                (ending, None) => unreachable!("{ending:?} writes a column"),
            });
        }
        Ok(results)
    }
}

/// Elements of a group that are worth a task.
fn grain(plan: &Plan) -> usize {
    let is_costly = plan.nodes.iter().any(|node| match node.op {
        NodeOp::Map(op) => super::elementwise::grain(op) == GRAIN_COSTLY,
        NodeOp::Vector(_) => false,
    });
    let is_random = plan.nodes.iter().any(|node| matches!(node.op, NodeOp::Vector(op) if op.class() == Class::Permute));
    let has_scan = plan.nodes.iter().any(|node| node.scanned().is_some_and(is_ordered));
    match (is_costly, is_random || has_scan || plan.nodes.len() > 4) {
        (true, _) => GRAIN_COSTLY,
        (_, true) => GRAIN_RANDOM,
        _ => GRAIN,
    }
}
