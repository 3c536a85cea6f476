//! What a group over a part of the indices reads at others: each rank works out which elements of a column these can
//! be, and gets them from those that hold them ([`crate::distribution::excerpts`]).
//!
//! A loop with neighbours, windows or rows of a matrix reads little more than the rank's own block; one whose indices
//! come from data may read all of a column. That is done where it costs less than to ask for each element.

use crate::distribution::column::Distributed;
use crate::distribution::{Distribution, LocalEngine};
use crate::groups::portion::{Cuts, Locals, Portion};
use crate::layout::{Layout, overlap};
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Inputs, Partial, Role};
use nesl_backend::{Slot, SlotOf, Vector};
use nesl_prim::{Element, Interval};
use nesl_vcode::Constants;
use std::ops::Range;

/// What is known of the inputs of a portion.
struct Known<'p, L: LocalEngine> {
    operands: &'p [SlotOf<Ranks<L>>],
    local: &'p Locals<L>,
    portion: &'p Portion,
    cuts: &'p Cuts<L>,
}

/// Completes the inputs of a portion by what it reads; none on all ranks where one has no inputs, or would read too
/// much. All ranks call it together, unless each has all that is read.
pub(super) fn read<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    portion: &Portion,
    cuts: &Cuts<L>,
    local: Option<Locals<L>>,
) -> Option<Locals<L>> {
    let at_hand = |&column: &usize| Some((operands[column].as_column().replicated()?.clone(), 0));
    if let Some(came) = partial.reads.iter().map(at_hand).collect::<Option<Vec<(Vector, usize)>>>() {
        return completed(ranks, partial, cuts, &came, local?);
    }
    let bounds = local.as_ref().map(|local| partial.bounds(&Known::<L> { operands, local, portion, cuts }));
    let mut words: Option<Vec<i64>> =
        bounds.map(|bounds| bounds.iter().flat_map(|range| [range.start as i64, range.end as i64]).collect());
    words.iter_mut().for_each(|words| words.push(portion.length as i64));
    let all = ranks.collectives.words_of_ranks(words, &vec![2 * partial.reads.len() + 1; ranks.layout.ranks])?;
    let indices: Vec<usize> = all.iter().filter_map(|words| words.last().map(|&count| count as usize)).collect();
    let mut wanted = Vec::with_capacity(partial.reads.len());
    for (number, &column) in partial.reads.iter().enumerate() {
        let range = |words: &Vec<i64>| words[2 * number] as usize..words[2 * number + 1] as usize;
        let (ranges, operand): (Vec<Range<usize>>, _) = (all.iter().map(range).collect(), operands[column].as_column());
        let bytes = operand.scalar_type().size();
        if operand.replicated().is_none() && !is_worth_it(ranks.layout, (operand.length(), bytes), &ranges, &indices) {
            return None;
        }
        wanted.push((operand, ranges));
    }
    let came = ranks.excerpts(&wanted).ok()?;
    let rank = ranks.layout.rank;
    let came: Vec<(Vector, usize)> =
        came.into_iter().zip(&wanted).map(|(came, (_, ranges))| (came, ranges[rank].start)).collect();
    completed(ranks, partial, cuts, &came, local?)
}

/// The inputs with what came of each column that is read, and from where on that is.
fn completed<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    cuts: &Cuts<L>,
    came: &[(Vector, usize)],
    mut local: Locals<L>,
) -> Option<Locals<L>> {
    let of = |column: usize| Some(&came[partial.reads.iter().position(|&read| read == column)?]);
    for (slot, role) in local.iter_mut().zip(&partial.roles) {
        match *role {
            Role::Read(column) => *slot = Some(Slot::Column(of(column)?.0.clone())),
            Role::Offset(column) => *slot = Some(Slot::Scalar((of(column)?.1 as i64).to_value())),
            Role::View { descriptor, column } => {
                let (offset, cut) = (of(column)?.1 as i64, cuts[descriptor].as_ref()?);
                let segments = cut.starts.as_ref()?.elements::<i64>().iter().zip(cut.lengths.elements::<i64>());
                // Where segments without elements start nobody reads.
                let starts = segments.map(|(start, &length)| if length == 0 { 0 } else { start - offset }).collect();
                let starts = ranks.local_column(Constants::Int(starts)).ok()?;
                let view = ranks.local.descriptor(Some(starts), cut.lengths.clone()).ok()?;
                *slot = Some(Slot::Descriptor(view));
            }
            _ => {}
        }
    }
    Some(local)
}

/// Whether no rank gets more bytes from others than it would send and get if it asked for the element of each index: an
/// index and an element for all that are not its own.
fn is_worth_it(layout: Layout, (length, bytes): (usize, usize), ranges: &[Range<usize>], indices: &[usize]) -> bool {
    let remote = |rank: usize| ranges[rank].len() - overlap(&layout.block(length, rank), &ranges[rank]).len();
    let asked = |rank: usize| indices[rank] * (layout.ranks - 1) / layout.ranks * (size_of::<i64>() + bytes);
    (0..layout.ranks).all(|rank| remote(rank) * bytes <= asked(rank))
}

impl<L: LocalEngine> Inputs for Known<'_, L> {
    fn input(&self, input: usize) -> Option<Interval> {
        match self.local.get(input)?.as_ref()? {
            Slot::Scalar(value) => Interval::of_value(*value),
            Slot::Column(Vector::Int(ints)) => Interval::of_numbers(ints.elements()),
            Slot::Column(_) | Slot::Descriptor(_) => None,
        }
    }

    fn elements_in(&self, column: usize, range: Range<usize>) -> Option<Interval> {
        match &self.operands[column] {
            Slot::Column(Distributed::Replicated(Vector::Int(ints))) => {
                Interval::of_numbers(ints.elements().get(range)?)
            }
            _ => None,
        }
    }

    fn length(&self, column: usize) -> usize {
        self.operands[column].as_column().length()
    }

    fn indices(&self) -> Range<usize> {
        self.portion.first..self.portion.first + self.portion.length
    }

    fn longest(&self, descriptor: usize) -> usize {
        let Some(cut) = &self.cuts[descriptor] else { return 0 };
        let lengths = cut.lengths.elements::<i64>().iter().enumerate();
        // What lies before the portion counts, too.
        let positions = lengths.map(|(segment, &length)| length as usize + if segment == 0 { cut.before } else { 0 });
        positions.max().unwrap_or(0)
    }

    fn view(&self, descriptor: usize) -> Range<usize> {
        let Some((starts, lengths)) =
            self.cuts[descriptor].as_ref().and_then(|cut| Some((cut.starts.as_ref()?, &cut.lengths)))
        else {
            return 0..usize::MAX;
        };
        let segments = starts.elements::<i64>().iter().zip(lengths.elements::<i64>());
        let ranges =
            segments.filter(|(_, length)| **length > 0).map(|(&start, &length)| start..start.saturating_add(length));
        let all = ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end));
        all.map_or(0..0, |all| all.start as usize..all.end as usize)
    }
}
