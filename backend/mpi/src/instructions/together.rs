//! Instructions on the columns of one value: they follow one another and share what says where elements go, so the
//! machine gives them to the engine at once ([`nesl_vcode::op::Row::together`]), and their columns travel in one
//! message for each pair of ranks.
//!
//! What needs no message, or is a column of a kind of its own among them, goes the way of a single instruction.

use crate::distribution::column::{Column, Descriptor, from_bits, to_bits};
use crate::distribution::ragged::Placed;
use crate::distribution::redistribution::Route;
use crate::distribution::transfer::Move;
use crate::instructions::permute::{first_repeated, ranges_of};
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, Slot, SlotOf, Vector};
use nesl_prim::ScalarValue;
use nesl_vcode::VectorOp;

/// The operands of one instruction.
type Operands<L> = Vec<SlotOf<Ranks<L>>>;

/// A column among the operands.
fn column<D>(slot: &Slot<Placed, D>) -> &Placed {
    match slot {
        Slot::Column(column) => column,
        Slot::Scalar(_) | Slot::Descriptor(_) => panic!("expected a column: unverified program"),
    }
}

/// A segment descriptor among the operands.
fn descriptor<C, D>(slot: &Slot<C, D>) -> &D {
    match slot {
        Slot::Descriptor(descriptor) => descriptor,
        Slot::Scalar(_) | Slot::Column(_) => panic!("expected a descriptor: unverified program"),
    }
}

/// The columns that are partitioned, as the first of them is: their parts, and which they are. All others go their own
/// way.
fn alike(columns: &[Column]) -> (usize, Vec<usize>, Vec<Vector>) {
    let (mut of, mut which, mut parts) = (0, Vec::new(), Vec::new());
    for (index, column) in columns.iter().enumerate() {
        if let Column::Partitioned { length, part, .. } = column
            && (which.is_empty() || *length == of)
        {
            of = *length;
            which.push(index);
            parts.push(part.clone());
        }
    }
    (of, which, parts)
}

/// Results of which some are there: the others are made one by one.
fn completed<T>(results: Vec<Option<T>>, mut make: impl FnMut(usize) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let of = |(index, result): (usize, Option<T>)| result.map_or_else(|| make(index), Ok);
    results.into_iter().enumerate().map(of).collect()
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// The results of some instructions of one kind.
    pub(crate) fn run_together(&mut self, op: VectorOp, lines: Vec<Operands<L>>) -> Result<Vec<SlotOf<Self>>, Fault> {
        let columns = match op {
            VectorOp::Extract => {
                return Ok(self.extract_together(&lines)?.into_iter().map(Slot::Scalar).collect());
            }
            VectorOp::Gather => self.gather_together(&lines)?,
            VectorOp::Scatter => self.scatter_together(lines)?,
            VectorOp::Permute => self.permute_together(&lines)?,
            VectorOp::Merge => self.merge_together(&lines)?,
            VectorOp::Concat => self.concat_together(&lines)?,
            VectorOp::SegDist => self.distribute_together(&lines)?,
            VectorOp::Compact => self.compact_together(&lines)?,
            other => panic!("`{}` is not done for several columns at once", other.row().mnemonic),
        };
        Ok(columns.into_iter().map(Slot::Column).collect())
    }

    /// Operands of all lines in blocks, those of a line one after another.
    fn operands_in_blocks(&mut self, lines: &[Operands<L>], positions: &[usize]) -> Result<Vec<Column>, Fault> {
        let operands = lines.iter().flat_map(|line| positions.iter().map(|&position| column(&line[position])));
        let operands: Vec<&Placed> = operands.collect();
        self.all_in_blocks(&operands)
    }

    fn extract_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<ScalarValue>, Fault> {
        let index = match lines[0][1] {
            Slot::Scalar(ScalarValue::Int(index)) => index as usize,
            _ => panic!("expected an index: unverified program"),
        };
        let is_alike = |line: &Operands<L>| {
            let Placed::Settled(Column::Partitioned { length, .. }) = column(&line[0]) else { return None };
            Some(*length)
        };
        let length = is_alike(&lines[0]);
        if length.is_none() || lines.iter().any(|line| is_alike(line) != length) {
            return lines.iter().map(|line| self.extract(column(&line[0]), index)).collect();
        }
        let (_, _, parts) = alike(&self.operands_in_blocks(lines, &[0])?);
        let length = length.unwrap_or(0);
        let (owner, start) = (self.layout.owner(length, index), self.layout.share(length).start);
        let mut bits = vec![0; parts.len()];
        if owner == self.layout.rank {
            bits.iter_mut().zip(&parts).for_each(|(bits, part)| *bits = to_bits(part.get(index - start)));
        }
        self.communicator.broadcast_all(owner, &mut bits);
        Ok(bits.iter().zip(&parts).map(|(&bits, part)| from_bits(part.scalar_type(), bits)).collect())
    }

    fn gather_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let indices = column(&lines[0][1]).clone();
        let mut results = Vec::with_capacity(lines.len());
        for line in lines {
            results.push(self.gather_loosely(column(&line[0]), &indices).transpose()?);
        }
        let others: Vec<usize> = (0..lines.len()).filter(|&line| results[line].is_none()).collect();
        let mut moving: Vec<&Placed> = others.iter().map(|&line| column(&lines[line][0])).collect();
        moving.push(&indices);
        let mut settled = self.all_in_blocks(&moving)?;
        let Some(indices) = settled.pop() else { unreachable!("the indices are the last") };
        if let Column::Partitioned { length: total, .. } = indices {
            let (length, which, parts) = alike(&settled);
            if parts.len() > 1 {
                let requests = self.requests(&indices, length)?;
                let fetched = self.fetched_together(&requests, &parts, total)?;
                for (which, part) in which.into_iter().zip(fetched) {
                    results[others[which]] = Some(Placed::Settled(self.finish(total, part)?));
                }
            }
        }
        let mut settled = settled.into_iter();
        let rest: Vec<Option<Column>> =
            (0..lines.len()).map(|line| others.contains(&line).then(|| settled.next()).flatten()).collect();
        completed(results, |line| match &rest[line] {
            Some(column) => self.gather_elements(column, &indices).map(Placed::Settled),
            None => unreachable!("what is loose has been gathered"),
        })
    }

    fn permute_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let mut operands: Vec<&Placed> = lines.iter().map(|line| column(&line[0])).collect();
        operands.push(column(&lines[0][1]));
        let mut settled = self.all_in_blocks(&operands)?;
        let Some(indices) = settled.pop() else { unreachable!("the indices are the last") };
        let (length, which, parts) = alike(&settled);
        let mut results: Vec<Option<Placed>> = settled.iter().map(|_| None).collect();
        if parts.len() > 1 {
            let requests = self.requests(&indices, length)?;
            if let Some((targets, came)) = self.delivered_together(&requests, &parts, length) {
                let repeated = first_repeated(targets.elements(), self.layout.share(length).len());
                // Where some come twice the first instruction alone says which.
                if !self.communicator.all_gather(repeated.is_some()).contains(&true) {
                    for (which, values) in which.into_iter().zip(came) {
                        let permuted = self.local.permute(&values, &targets);
                        let part = self.settle(length, permuted)?;
                        results[which] = Some(Placed::Settled(self.finish(length, part)?));
                    }
                }
            }
        }
        completed(results, |line| self.permute_values(&settled[line], &indices).map(Placed::Settled))
    }

    fn scatter_together(&mut self, lines: Vec<Operands<L>>) -> Result<Vec<Placed>, Fault> {
        let values = self.operands_in_blocks(&lines, &[2])?;
        let indices = self.in_blocks(column(&lines[0][1]))?;
        let targets: Vec<&Placed> = lines.iter().map(|line| column(&line[0])).collect();
        let lengths: Vec<usize> = targets.iter().map(|target| target.length()).collect();
        self.all_in_blocks(&targets)?;
        // Nobody else needs the columns that die here: they are written over.
        let mut targets = Vec::with_capacity(lines.len());
        for line in lines {
            match line.into_iter().next() {
                Some(Slot::Column(target)) => targets.push(Some(self.taken_in_blocks(target)?)),
                _ => panic!("expected a column: unverified program"),
            }
        }
        let mut results: Vec<Option<Placed>> = values.iter().map(|_| None).collect();
        let is_alone = |which: usize| lengths[which] != lengths[0];
        let is_partitioned = matches!(indices, Column::Partitioned { .. });
        if is_partitioned && !self.is_common(lengths[0]) && !(0..lengths.len()).any(is_alone) {
            let (length, total) = (lengths[0], indices.length());
            let requests = self.requests(&indices, length)?;
            let parts: Vec<Vector> = values.iter().map(|values| self.part(values)).collect();
            if let Some((places, came)) = self.delivered_together(&requests, &parts, total) {
                for (which, values) in came.into_iter().enumerate() {
                    let Some(target) = targets[which].take() else { unreachable!("each is written once") };
                    let part = self.take_part(target);
                    let scattered = self.local.scatter(part, &places, &values);
                    let part = self.settle(length, scattered)?;
                    results[which] = Some(Placed::Settled(self.finish(length, part)?));
                }
            }
        }
        completed(results, |line| {
            let Some(target) = targets[line].take() else { unreachable!("each is written once") };
            self.scatter_values(target, &indices, &values[line]).map(Placed::Settled)
        })
    }

    fn merge_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let flags = self.in_blocks(column(&lines[0][0]))?;
        let operands = self.operands_in_blocks(lines, &[1, 2])?;
        if operands.iter().chain([&flags]).all(|column| column.common().is_some()) {
            let merge = |pair: &[Column]| self.merge_flagged(&flags, &pair[0], &pair[1]).map(Placed::Settled);
            return operands.chunks_exact(2).map(merge).collect();
        }
        let length = flags.length();
        let own_flags = self.part(&flags);
        let trues = self.true_counts(&flags, &own_flags);
        let falses: Vec<usize> =
            trues.iter().enumerate().map(|(rank, trues)| self.layout.block(length, rank).len() - trues).collect();
        let bounds = [offsets(&trues), offsets(&falses)];
        let wanted = operands.iter().enumerate().map(|(at, column)| (column, bounds[at % 2].clone())).collect();
        let aligned = self.realigned_together(wanted)?;
        let mut merged = Vec::with_capacity(lines.len());
        for pair in aligned.chunks_exact(2) {
            let part = self.local.merge(&own_flags, &pair[0], &pair[1]);
            let part = self.settle(length, part)?;
            merged.push(Placed::Settled(self.finish(length, part)?));
        }
        Ok(merged)
    }

    fn concat_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let mut results = Vec::with_capacity(lines.len());
        for line in lines {
            let columns: Vec<Placed> = line.iter().map(|slot| column(slot).clone()).collect();
            results.push(self.concat_loosely(&columns));
        }
        let length = |line: usize| lines[line].iter().map(|slot| column(slot).length()).sum::<usize>();
        let moves = |line: &usize| results[*line].is_none() && !self.is_common(length(*line));
        let moving: Vec<usize> = (0..lines.len()).filter(moves).collect();
        let operands: Vec<&Placed> = moving.iter().flat_map(|&line| lines[line].iter().map(column)).collect();
        let settled = self.all_in_blocks(&operands)?;
        let (mut wanted, mut rest) = (Vec::with_capacity(settled.len()), settled.iter());
        for &line in &moving {
            let bounds = self.layout.bounds(length(line));
            let mut start = 0;
            for column in rest.by_ref().take(lines[line].len()) {
                let here = start..start + column.length();
                // The bounds of the result's blocks as positions in this column.
                wanted.push((column, bounds.iter().map(|bound| bound.clamp(&here.start, &here.end) - start).collect()));
                start = here.end;
            }
        }
        let mut pieces = self.realigned_together(wanted)?.into_iter();
        for line in moving {
            let length = length(line);
            let pieces: Vec<Vector> = pieces.by_ref().take(lines[line].len()).collect();
            let joined = self.local.concat(&pieces);
            let part = self.settle(length, joined)?;
            results[line] = Some(Placed::Settled(self.finish(length, part)?));
        }
        completed(results, |line| {
            let columns: Vec<&Placed> = lines[line].iter().map(column).collect();
            let columns = self.all_in_blocks(&columns)?;
            self.concat_columns(&columns).map(Placed::Settled)
        })
    }

    /// This rank's elements of columns by other bounds than those of their blocks.
    pub(crate) fn realigned_together(&mut self, wanted: Vec<(&Column, Vec<usize>)>) -> Result<Vec<Vector>, Fault> {
        let rank = self.layout.rank;
        let (mut aligned, mut moves) = (Vec::with_capacity(wanted.len()), Vec::new());
        for (column, wanted) in wanted {
            aligned.push(match column {
                Column::Common(vector) => Some(vector.slice(wanted[rank], wanted[rank + 1] - wanted[rank])),
                Column::Partitioned { length, part, .. } => {
                    let held = self.layout.bounds(*length);
                    if held == wanted {
                        Some(part.clone())
                    } else {
                        let length = wanted[self.layout.ranks] - wanted[0];
                        let route = Route::between(&held, &wanted);
                        moves.push(Move { length, route, parts: vec![part.clone()] });
                        None
                    }
                }
            });
        }
        let mut moved = self.carried_together(&moves)?.into_iter();
        let of = |part: Option<Vector>| part.or_else(|| moved.next());
        Ok(aligned.into_iter().filter_map(of).collect())
    }

    fn distribute_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let segments: Descriptor<L::Descriptor> = descriptor(&lines[0][1]).clone();
        let columns = self.operands_in_blocks(lines, &[0])?;
        let (length, which, parts) = alike(&columns);
        let mut results: Vec<Option<Placed>> = columns.iter().map(|_| None).collect();
        if parts.len() > 1 {
            let map = self.map_of(&segments)?;
            let pieces: Vec<i64> = map.pieces.iter().map(|piece| piece.segment as i64).collect();
            let requests = self.requests_of(&map.identity, &pieces, map.total, length)?;
            for (which, values) in which.into_iter().zip(self.fetched_together(&requests, &parts, map.total)?) {
                let distributed = self.local.seg_dist(&values, &map.local);
                let part = self.settle(map.total, distributed)?;
                results[which] = Some(Placed::Settled(self.finish(map.total, part)?));
            }
        }
        completed(results, |line| self.distribute(&columns[line], &segments).map(Placed::Settled))
    }

    fn compact_together(&mut self, lines: &[Operands<L>]) -> Result<Vec<Placed>, Fault> {
        let segments: Descriptor<L::Descriptor> = descriptor(&lines[0][1]).clone();
        let mut results = Vec::with_capacity(lines.len());
        for line in lines {
            results.push(self.compact_loosely(column(&line[0]), &segments));
        }
        let others: Vec<usize> = (0..lines.len()).filter(|&line| results[line].is_none()).collect();
        let moving: Vec<&Placed> = others.iter().map(|&line| column(&lines[line][0])).collect();
        let settled = self.all_in_blocks(&moving)?;
        let (length, which, parts) = alike(&settled);
        if parts.len() > 1 {
            let map = self.map_of(&segments)?;
            let ranges = ranges_of(&map);
            let requests = self.range_requests(&map.identity, ranges.into_iter(), map.total, length);
            let fetched = self.fetched_ranges_together(&requests, &parts, map.share.len(), map.total)?;
            for (which, part) in which.into_iter().zip(fetched) {
                results[others[which]] = Some(Placed::Settled(self.finish(map.total, part)?));
            }
        }
        completed(results, |line| self.compact(column(&lines[line][0]), &segments))
    }
}
