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
use nesl_backend::engine::group::{Bounds, Inputs, Partial, Role};
use nesl_backend::{Slot, SlotOf, Vector};
use nesl_prim::{Element, ScalarValue};
use std::ops::Range;

/// What is known of the inputs of a portion.
struct Known<'p, L: LocalEngine> {
    operands: &'p [SlotOf<Ranks<L>>],
    local: &'p Locals<L>,
    portion: &'p Portion,
    cuts: &'p Cuts<L>,
}

/// Completes the inputs of a portion by what it reads; none on all ranks where one has no inputs, or would read too
/// much. All ranks call it together.
pub(super) fn read<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    portion: &Portion,
    cuts: &Cuts<L>,
    local: Option<Locals<L>>,
) -> Option<Locals<L>> {
    let bounds = local.as_ref().map(|local| partial.bounds(&Known::<L> { operands, local, portion, cuts }));
    let mut words: Option<Vec<i64>> =
        bounds.map(|bounds| bounds.iter().flat_map(|range| [range.start as i64, range.end as i64]).collect());
    words.iter_mut().for_each(|words| words.push(portion.length as i64));
    let all = ranks.collectives.words_of_ranks(words, &vec![2 * partial.reads.len() + 1; ranks.layout.ranks])?;
    let indices: Vec<usize> = all.iter().filter_map(|words| words.last().map(|&count| count as usize)).collect();
    let mut wanted = Vec::with_capacity(partial.reads.len());
    for (number, &column) in partial.reads.iter().enumerate() {
        let range = |words: &Vec<i64>| words[2 * number] as usize..words[2 * number + 1] as usize;
        let ranges: Vec<Range<usize>> = all.iter().map(range).collect();
        let Slot::Column(operand) = &operands[column] else { panic!("a group reads elements of a column") };
        if operand.replicated().is_none() && !is_worth_it(ranks.layout, operand.length(), &ranges, &indices) {
            return None;
        }
        wanted.push((operand, ranges));
    }
    let came = ranks.excerpts(&wanted).ok()?;
    let offsets = wanted.iter().map(|(_, ranges)| ranges[ranks.layout.rank].start);
    let excerpts: Vec<(usize, Vector, usize)> =
        partial.reads.iter().zip(came).zip(offsets).map(|((&column, came), offset)| (column, came, offset)).collect();
    let mut local = local?;
    let of = |column: usize| excerpts.iter().find(|(of, ..)| *of == column);
    for (slot, role) in local.iter_mut().zip(&partial.roles) {
        match *role {
            Role::Read(column) => *slot = of(column).map(|(_, elements, _)| Slot::Column(elements.clone())),
            Role::Offset(column) => *slot = of(column).map(|&(.., offset)| Slot::Scalar((offset as i64).to_value())),
            Role::View { descriptor, column } => {
                let offset = of(column)?.2 as i64;
                let cut = cuts[descriptor].as_ref()?;
                let segments = cut.starts.as_ref()?.elements::<i64>().iter().zip(cut.lengths.elements::<i64>());
                // Where segments without elements start nobody reads.
                let starts = segments.map(|(start, &length)| if length == 0 { 0 } else { start - offset }).collect();
                let starts = ranks.local_column(nesl_vcode::Constants::Int(starts)).ok()?;
                let lengths = ranks.local.lengths(&cuts[descriptor].as_ref()?.local).ok()?;
                *slot = Some(Slot::Descriptor(ranks.local.descriptor(Some(starts), lengths).ok()?));
            }
            _ => {}
        }
    }
    Some(local)
}

/// Whether no rank gets more elements from others than it would send and get if it asked for the element of each index:
/// an index and an element for all that are not its own.
fn is_worth_it(layout: Layout, length: usize, ranges: &[Range<usize>], indices: &[usize]) -> bool {
    let remote = |rank: usize| ranges[rank].len() - overlap(&layout.block(length, rank), &ranges[rank]).len();
    (0..layout.ranks).all(|rank| remote(rank) <= 2 * indices[rank] * (layout.ranks - 1) / layout.ranks)
}

impl<L: LocalEngine> Inputs for Known<'_, L> {
    fn scalar(&self, input: usize) -> ScalarValue {
        match &self.operands[input] {
            Slot::Scalar(value) => *value,
            Slot::Column(_) | Slot::Descriptor(_) => panic!("input {input} is no scalar"),
        }
    }

    fn elements(&self, input: usize) -> Bounds {
        match self.local.get(input) {
            Some(Some(Slot::Column(Vector::Int(ints)))) => bounds_of(ints.elements()),
            _ => None,
        }
    }

    fn elements_in(&self, input: usize, range: Range<usize>) -> Bounds {
        match &self.operands[input] {
            Slot::Column(Distributed::Replicated(Vector::Int(ints))) => bounds_of(ints.elements().get(range)?),
            _ => None,
        }
    }

    fn length(&self, input: usize) -> usize {
        match &self.operands[input] {
            Slot::Column(column) => column.length(),
            Slot::Scalar(_) | Slot::Descriptor(_) => panic!("input {input} is no column"),
        }
    }

    fn indices(&self) -> Range<usize> {
        self.portion.first..self.portion.first + self.portion.length
    }

    fn longest(&self, input: usize) -> usize {
        self.cuts[input].as_ref().map_or(0, |cut| cut.longest)
    }

    fn view(&self, input: usize) -> Range<usize> {
        let Some((starts, lengths)) =
            self.cuts[input].as_ref().and_then(|cut| Some((cut.starts.as_ref()?, &cut.lengths)))
        else {
            return 0..usize::MAX;
        };
        let segments =
            starts.elements::<i64>().iter().zip(lengths.elements::<i64>()).filter(|(_, length)| **length > 0);
        let (mut first, mut end) = (i64::MAX, 0);
        for (&start, &length) in segments {
            (first, end) = (first.min(start), end.max(start.saturating_add(length)));
        }
        if first < end { first as usize..end as usize } else { 0..0 }
    }
}

/// Bounds of some ints; of none that they are nothing.
fn bounds_of(ints: &[i64]) -> Bounds {
    let least = ints.iter().copied().min().unwrap_or(0);
    Some((least, ints.iter().copied().max().unwrap_or(0)))
}
