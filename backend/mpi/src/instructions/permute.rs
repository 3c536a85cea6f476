//! Instructions that move elements by index: `extract`, `slice`, `gather`, `scatter`, `permute`.
//!
//! Each runs on the local engine where all operands and the result are common. Otherwise the parts move by the patterns
//! of [`crate::distribution::delivery`], and the local engine does what is left to do inside a block.

use crate::distribution::column::{Block, Distributed, Runs};
use crate::distribution::ragged::{ColumnRange, local_parts};
use crate::distribution::redistribution::{run_at, starts_of};
use crate::distribution::request_cache::Requests;
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::{Owners, offsets, overlap};
use nesl_backend::{Fault, Fill, MapOperand, Permute, Vector, Window, on_vector};
use nesl_prim::{Failure, ScalarOp, ScalarValue};
use nesl_vcode::Constants;

/// Elements moved by indices.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    permute: Permute<'_, Distributed>,
) -> Result<Distributed, Fault> {
    match permute {
        Permute::Slice(column, start, length) => slice(ranks, column, start, length),
        Permute::Gather(column, indices) => gather(ranks, column, indices),
        Permute::Scatter(column, indices, values) => scatter(ranks, column, indices, values),
        Permute::Combine(op, column, indices, values) => write(ranks, Some(op), column, indices, values),
        Permute::Permute(values, indices) => self::permute(ranks, values, indices),
    }
}

/// `extract`.
pub(crate) fn extract<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    index: usize,
) -> Result<ScalarValue, Fault> {
    if let Distributed::Ragged(_) = column {
        let index = ranks.local.constants(&Constants::Int(vec![index as i64]));
        let index = Distributed::Replicated(ranks.collectives.replicated(index)?);
        if let Some(gathered) = gather_ragged(ranks, column, &index) {
            return gathered.map(|element| element.whole().get(0));
        }
    }
    match column.replicated() {
        Some(vector) => ranks.local.extract(vector, index),
        None => {
            let Block { length, part, .. } = ranks.block(column)?;
            let owner = ranks.layout.owner(length, index);
            let start = ranks.layout.share(length).start;
            let value = (owner == ranks.layout.rank).then(|| part.get(index - start));
            Ok(ranks.collectives.broadcast_scalar(owner, part.scalar_type(), value))
        }
    }
}

/// `slice`.
pub(crate) fn slice<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    start: usize,
    length: usize,
) -> Result<Distributed, Fault> {
    if let Some(slice) = slice_ragged(ranks, column, start, length) {
        return Ok(slice);
    }
    if let Some(vector) = column.replicated() {
        return Ok(Distributed::Replicated(vector.slice(start, length)));
    }
    let block = ranks.block(column)?;
    if length == block.length {
        return Ok(Distributed::Block(block));
    }
    let Block { length: all, part, .. } = block;
    if ranks.is_common(length) {
        let (piece, counts) = window_piece(ranks, all, &part, start, length);
        return ranks.assemble_counted(piece, &counts);
    }
    let wanted: Vec<usize> = ranks.layout.bounds(length).iter().map(|bound| start + bound).collect();
    let part = ranks.realigned(&part, &ranks.layout.bounds(all), &wanted)?;
    ranks.finish(length, part)
}

/// `gather`.
pub(crate) fn gather<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    indices: &Distributed,
) -> Result<Distributed, Fault> {
    if let Some(gathered) = gather_ragged(ranks, column, indices) {
        return gathered;
    }
    let [column, indices] = &ranks.each_in_blocks([column, indices])?;
    let length = indices.length();
    match (column.replicated(), indices.replicated()) {
        (Some(vector), Some(indices)) => {
            let gathered = ranks.local.permute(Permute::Gather(vector, indices));
            ranks.collectives.replicated(gathered).map(Distributed::Replicated)
        }
        (Some(vector), None) => {
            let indices = ranks.part(indices)?;
            let gathered = ranks.local.permute(Permute::Gather(vector, &indices));
            let part = ranks.collectives.settle(length, gathered)?;
            ranks.finish(length, part)
        }
        (None, Some(indices)) => {
            let Block { length: all, part, .. } = ranks.block(column)?;
            gathered_everywhere(ranks, all, &part, indices.elements())
        }
        (None, None) => {
            let Block { length: all, part, .. } = ranks.block(column)?;
            let requests = ranks.requests(indices, all)?;
            let part = on_vector!(&part, slice => ranks.fetched(&requests, slice.elements(), length))?;
            ranks.finish(length, part)
        }
    }
}

/// `scatter`.
pub(crate) fn scatter<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: Distributed,
    indices: &Distributed,
    values: &Distributed,
) -> Result<Distributed, Fault> {
    write(ranks, None, column, indices, values)
}

/// `scatter`, or `combine_by_index` with an operator. The owner of an element gets what goes there in the order in
/// which it lies across the ranks.
fn write<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operator: Option<ScalarOp>,
    column: Distributed,
    indices: &Distributed,
    values: &Distributed,
) -> Result<Distributed, Fault> {
    let [_, indices, values] = ranks.each_in_blocks([&column, indices, values])?;
    let (indices, values) = (&indices, &values);
    // Nobody else needs the column, which is written over.
    let column = ranks.taken_in_blocks(column)?;
    let length = column.length();
    let column = match (column, indices, values) {
        (Distributed::Replicated(vector), Distributed::Replicated(indices), Distributed::Replicated(values)) => {
            let scattered = ranks.local.permute(written(operator, vector, indices, values));
            return ranks.collectives.replicated(scattered).map(Distributed::Replicated);
        }
        (column, ..) => column,
    };
    if let (Some(op), Distributed::Replicated(vector)) = (operator.filter(|op| op.row().associative), &column) {
        return combined_apart(ranks, op, vector.clone(), indices, values);
    }
    let write = |ranks: &mut Distribution<L>, part, targets: &Vector, values: &Vector| {
        let scattered = ranks.local.permute(written(operator, part, targets, values));
        ranks.collectives.settle(length, scattered)
    };
    if let (Distributed::Replicated(indices), Distributed::Replicated(values)) = (indices, values) {
        // Everybody knows all writes: take those that go to this rank.
        let (targets, values) = own_writes(ranks, length, indices, values)?;
        let part = ranks.take_part(column)?;
        let part = write(ranks, part, &targets, &values)?;
        return ranks.finish(length, part);
    }
    let requests = ranks.requests(indices, length)?;
    let values = ranks.part(values)?;
    let part = ranks.take_part(column)?;
    let part = on_vector!(&values, slice => {
        ranks.delivered(&requests, slice.elements(), indices.length(), part, write)
    })?;
    ranks.finish(length, part)
}

/// The instruction that writes values, or combines them with what is there.
fn written<'a>(
    operator: Option<ScalarOp>,
    column: Vector,
    indices: &'a Vector,
    values: &'a Vector,
) -> Permute<'a, Vector> {
    match operator {
        Some(op) => Permute::Combine(op, column, indices, values),
        None => Permute::Scatter(column, indices, values),
    }
}

/// `combine_by_index` into a replicated column, by an operation whose parts combine in any order: each rank combines
/// its values with the identity, and all put together what comes of it.
fn combined_apart<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: Vector,
    indices: &Distributed,
    values: &Distributed,
) -> Result<Distributed, Fault> {
    let (places, identity) = (column.len(), op.row().identity.unwrap_or_else(|| column.scalar_type().zero()));
    let (indices, values) = (ranks.part(indices)?, ranks.part(values)?);
    let copies = ranks.local.fill(Fill::Dist(identity, places));
    let own = copies.and_then(|copies| ranks.local.permute(Permute::Combine(op, copies, &indices, &values)));
    let own = ranks.collectives.settle(places, own)?;
    let counts = vec![places; ranks.layout.ranks];
    let all = on_vector!(&own, slice => {
        let all = ranks.collectives.communicator.all_gather_varied(slice.elements(), &counts, Vec::new());
        ranks.adopt(0, all)
    })?;
    let combined = (0..ranks.layout.ranks).try_fold(column, |combined, rank| {
        let own = all.slice(rank * places, places);
        ranks.local.map(op, vec![MapOperand::Column(combined), MapOperand::Column(own)])
    });
    ranks.collectives.replicated(combined).map(Distributed::Replicated)
}

/// `permute`.
pub(crate) fn permute<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    values: &Distributed,
    indices: &Distributed,
) -> Result<Distributed, Fault> {
    let [values, indices] = &ranks.each_in_blocks([values, indices])?;
    if let (Distributed::Replicated(values), Distributed::Replicated(indices)) = (values, indices) {
        let permuted = ranks.local.permute(Permute::Permute(values, indices));
        return ranks.collectives.replicated(permuted).map(Distributed::Replicated);
    }
    let length = values.length();
    let requests = ranks.requests(indices, length)?;
    // More than a block's worth of targets in one block: some come twice.
    if requests.has_hotspot() {
        return Err(not_a_permutation(ranks, length, indices, &requests)?);
    }
    let values = ranks.part(values)?;
    let permuted = on_vector!(&values, slice => {
        ranks.delivered(&requests, slice.elements(), length, None, |ranks, _, targets, values| {
            let repeated = first_repeated(targets.elements(), ranks.layout.share(length).len());
            if ranks.collectives.communicator.all_gather(repeated.is_some()).contains(&true) {
                return Ok(None);
            }
            // Without repetitions every target was met once.
            let part = ranks.local.permute(Permute::Permute(values, targets));
            ranks.collectives.settle(length, part).map(Some)
        })
    })?;
    match permuted {
        Some(part) => ranks.finish(length, part),
        None => Err(not_a_permutation(ranks, length, indices, &requests)?),
    }
}

/// `fetch`.
pub(crate) fn fetch<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    start: usize,
    length: usize,
) -> Result<Window, Fault> {
    let elements = match column.replicated() {
        Some(vector) => vector.slice(start, length).to_constants(),
        None => {
            let Block { length: all, part, .. } = ranks.block(column)?;
            let (piece, counts) = window_piece(ranks, all, &part, start, length);
            on_vector!(&piece, slice => {
                let storage = ranks.storage(length, length)?;
                let all = ranks.collectives.communicator.all_gather_varied(slice.elements(), &counts, storage);
                nesl_backend::data::vector::VectorElement::constants(all)
            })
        }
    };
    Ok(Window { start, elements })
}

/// What this rank's part has of a window of a column of `all` elements, and how much every rank has.
fn window_piece<L: LocalEngine>(
    ranks: &Distribution<L>,
    all: usize,
    part: &Vector,
    start: usize,
    length: usize,
) -> (Vector, Vec<usize>) {
    let window = start..start + length;
    let here = |rank| overlap(&ranks.layout.block(all, rank), &window);
    let counts = (0..ranks.layout.ranks).map(|rank| here(rank).len()).collect();
    let mine = here(ranks.layout.rank);
    let piece = if mine.is_empty() {
        part.slice(0, 0)
    } else {
        part.slice(mine.start - ranks.layout.share(all).start, mine.len())
    };
    (piece, counts)
}

/// The elements at indices that all ranks know, of a column of `length`: each rank knows whose they are.
fn gathered_everywhere<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    part: &Vector,
    indices: &[i64],
) -> Result<Distributed, Fault> {
    let (start, bounds) = (ranks.layout.share(length).start, ranks.layout.bounds(length));
    let owners = Owners::new(&bounds);
    let owners: Vec<usize> = indices.iter().map(|&index| owners.of(index as usize)).collect();
    let mut counts = vec![0; ranks.layout.ranks];
    for &owner in &owners {
        counts[owner] += 1;
    }
    let mut next = offsets(&counts);
    on_vector!(part, slice => {
        let elements = slice.elements();
        let own = indices.iter().zip(&owners).filter(|&(_, &owner)| owner == ranks.layout.rank);
        let own: Vec<_> = own.map(|(&index, _)| elements[index as usize - start]).collect();
        let all = ranks.collectives.communicator.all_gather_varied(&own, &counts, Vec::new());
        let in_order = owners.iter().map(|&owner| {
            next[owner] += 1;
            all[next[owner] - 1]
        });
        ranks.adopt(0, in_order.collect()).map(Distributed::Replicated)
    })
}

/// The writes into this rank's block of `length` elements, relative to it.
fn own_writes<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    indices: &Vector,
    values: &Vector,
) -> Result<(Vector, Vector), Fault> {
    let share = ranks.layout.share(length);
    let indices = indices.elements::<i64>();
    let mine: Vec<usize> = (0..indices.len()).filter(|&k| share.contains(&(indices[k] as usize))).collect();
    let targets: Vec<i64> = mine.iter().map(|&k| indices[k] - share.start as i64).collect();
    let targets = ranks.adopt(0, targets)?;
    let values = on_vector!(values, slice => {
        let elements = slice.elements();
        ranks.adopt(0, mine.iter().map(|&k| elements[k]).collect())
    })?;
    Ok((targets, values))
}

/// The fault of a `permute`: the first element whose index an earlier element has.
fn not_a_permutation<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    indices: &Distributed,
    requests: &Requests,
) -> Result<Fault, Fault> {
    let share = ranks.layout.share(length);
    let mut elements = ranks.storage(length, share.len())?;
    elements.extend(share.clone().map(|element| element as i64));
    // Elements arrive in order, so the first repetition here is the one with the least element.
    let mut seen = vec![false; share.len()];
    let mine = ranks.delivered(requests, &elements, length, i64::MAX, |_, mine, targets, elements| {
        let mut pairs = targets.elements::<i64>().iter().zip(elements.elements::<i64>());
        let repeated = pairs.find(|&(&target, _)| std::mem::replace(&mut seen[target as usize], true));
        Ok(repeated.map_or(mine, |(_, &element)| mine.min(element)))
    })?;
    let all = ranks.collectives.communicator.all_gather(mine);
    let element = all.into_iter().min().unwrap_or(0) as usize;
    let owner = ranks.layout.owner(length, element);
    let indices = ranks.part(indices)?;
    let index = (owner == ranks.layout.rank).then(|| indices.elements::<i64>()[element - share.start]);
    let index = ranks.collectives.communicator.broadcast(owner, index.unwrap_or(0));
    Ok(Fault { failure: Failure::NotAPermutation { index }, element })
}

/// The first position whose target, below `count`, occurred before.
pub(crate) fn first_repeated(targets: &[i64], count: usize) -> Option<usize> {
    let mut seen = vec![false; count];
    targets.iter().position(|&target| std::mem::replace(&mut seen[target as usize], true))
}

/// `slice`, without a message.
pub(crate) fn slice_ragged<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    start: usize,
    length: usize,
) -> Option<Distributed> {
    if column.replicated().is_some() || length == column.length() {
        return None;
    }
    ranks.select(&[column], &[ColumnRange { column: 0, start, length }])
}

/// `gather` at indices that every rank knows, from where the elements lie.
pub(crate) fn gather_ragged<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    indices: &Distributed,
) -> Option<Result<Distributed, Fault>> {
    let (Distributed::Ragged(ragged), Some(indices)) = (column, indices.replicated()) else { return None };
    if ragged.blocks.get().is_some() {
        return None;
    }
    let rank = ranks.layout.rank;
    let starts = starts_of(ranks.layout.ranks, &ragged.runs);
    let place = |&index: &i64| {
        let piece = run_at(&starts, index as usize);
        (ragged.runs[piece].0, starts[piece].1 + index as usize - starts[piece].0)
    };
    let places: Vec<(usize, usize)> = indices.elements::<i64>().iter().map(place).collect();
    let one_by_one: Runs = places.iter().map(|&(owner, _)| (owner, 1)).collect();
    Some(on_vector!(&ragged.parts[0], slice => {
        let elements = local_parts(slice.elements(), &ragged.parts);
        let own = places.iter().filter(|place| place.0 == rank).map(|place| elements.at(place.1)).collect::<Vec<_>>();
        let all = ranks.in_order(&own, &one_by_one);
        ranks.adopt(0, all).map(Distributed::Replicated)
    }))
}
