//! Scans of float sequences that cross rank borders, to the last bit as `nesl_prim::sum::scan` defines them.
//!
//! The order is strictly from left to right, so what a rank needs from the one before is the state of the scan at the
//! border: the total of the whole float blocks so far, and the running value inside the current one. Ranks work out
//! everything that does not depend on that state first; then it travels from rank to rank, taking as many additions as
//! a rank has blocks.

use crate::distribution::descriptor::SegmentMap;
use crate::distribution::{Distribution, LocalEngine};
use crate::instructions::float_sums;
use crate::instructions::float_sums::add;
use nesl_backend::{Fault, MapOperand, Pack, Segment, Vector};
use nesl_prim::sum::BLOCK;
use nesl_prim::{Element, ScalarOp};
use nesl_vcode::Constants;

/// A scan at some position of its sequence.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The total of the float blocks that ended.
    before: f64,
    /// The running value in the current one.
    inside: f64,
}

impl State {
    /// Reaches the end of a float block.
    fn close(&mut self, op: ScalarOp) {
        self.before = add(op, self.before, self.inside);
        self.inside = f64::from_value(op.identity());
    }
}

/// What a rank works out of its part of a sequence begun before, while it waits for the state.
struct Prepared<D> {
    /// Elements that finish or continue the float block begun before.
    begun: usize,
    /// Running values inside the float blocks after that.
    inside: Vector,
    /// Their totals.
    totals: Vec<f64>,
    /// Cuts them.
    blocks: D,
    /// Whether the last of them ends with its last element here.
    full: bool,
}

/// The scan of this rank's block of packed order under float addition or multiplication.
pub(crate) fn ordered_scan<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Vector, Fault> {
    let head_length = map.head_length();
    let offset = map.head().map_or(0, |head| map.share.start - head.start);
    let local = scan_started(ranks, op, part, map).and_then(|started| {
        let head = map.head().map(|_| prepare(ranks, op, &part.slice(0, head_length), offset)).transpose()?;
        Ok((started, head))
    });
    let (started, head) = ranks.collectives.settle(map.total, local)?;
    ranks.collectives.communicator.line();

    let goes_on = map.tail();
    if let Some(tail) = goes_on.filter(|tail| tail.start >= map.share.start) {
        let state = last_state(op, &started, &part.slice(head_length, started.len()), map.inside(tail).len());
        send_state(ranks, map, state);
    }
    let Some(head) = head else { return ranks.collectives.settle(map.total, Ok(started)) };
    let previous = ranks.layout.owner(map.total, map.share.start - 1);
    let [before, inside] = ranks.collectives.communicator.receive(previous);
    let mut state = State { before, inside };
    let mut first = Vec::with_capacity(head.begun);
    for &element in &part.elements::<f64>()[..head.begun] {
        first.push(add(op, state.before, state.inside));
        state.inside = add(op, state.inside, element);
    }
    if head.begun > 0 && (offset + head.begun).is_multiple_of(BLOCK) {
        state.close(op);
    }
    let mut befores = Vec::with_capacity(head.totals.len());
    for (block, &total) in head.totals.iter().enumerate() {
        befores.push(state.before);
        state.inside = total;
        if head.full || block + 1 < head.totals.len() {
            state.close(op);
        }
    }
    if goes_on.is_some_and(|tail| tail.start < map.share.start) {
        send_state(ranks, map, state);
    }
    let scanned = joined(ranks, op, first, befores, head, started);
    ranks.collectives.settle(map.total, scanned)
}

/// The scans of the sequences that start in this block.
fn scan_started<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Vector, Fault> {
    let head_length = map.head_length();
    let rest = part.slice(head_length, part.len() - head_length);
    match map.started() {
        [] => Ok(rest),
        [_] => ranks.local.scan(op, &rest, None),
        _ if head_length == 0 => ranks.local.scan(op, &rest, Some(&map.local)),
        started => {
            let lengths = started.iter().map(|piece| map.inside(*piece).len() as i64).collect();
            let lengths = ranks.local_column(Constants::Int(lengths))?;
            let descriptor = ranks.local.descriptor(None, lengths)?;
            ranks.local.scan(op, &rest, Some(&descriptor))
        }
    }
}

/// Works out what does not depend on the state at the border, which is at `offset` of the sequence.
fn prepare<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    elements: &Vector,
    offset: usize,
) -> Result<Prepared<L::Descriptor>, Fault> {
    let begun = match offset % BLOCK {
        0 => 0,
        position => elements.len().min(BLOCK - position),
    };
    let length = elements.len() - begun;
    let (rest, blocks) = float_sums::float_blocks(ranks, elements, begun, length)?;
    // Scanned by itself, a float block gives the running values inside it.
    let inside = ranks.local.scan(op, &rest, Some(&blocks))?;
    let (running, rest) = (inside.elements::<f64>(), rest.elements::<f64>());
    let total = |start: usize| {
        let last = length.min(start + BLOCK) - 1;
        add(op, running[last], rest[last])
    };
    let totals = (0..length).step_by(BLOCK).map(total).collect();
    Ok(Prepared { begun, inside, totals, blocks, full: length.is_multiple_of(BLOCK) })
}

/// The scan of the block: the float block begun before, those after it in the same sequence, the other sequences.
fn joined<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    first: Vec<f64>,
    befores: Vec<f64>,
    head: Prepared<L::Descriptor>,
    started: Vector,
) -> Result<Vector, Fault> {
    let first = ranks.local_column(Constants::Float(first))?;
    let befores = ranks.local_column(Constants::Float(befores))?;
    let befores = ranks.local.segment(Segment::Dist(&befores, &head.blocks))?;
    let middle = ranks.local.map(op, vec![MapOperand::Column(befores), MapOperand::Column(head.inside)])?;
    ranks.local.pack(Pack::Concat(&[first, middle, started]))
}

/// Sends the state at the end of this block to the rank of the next element.
fn send_state<L: LocalEngine>(ranks: &mut Distribution<L>, map: &SegmentMap<L::Descriptor>, state: State) {
    let next = ranks.layout.owner(map.total, map.share.end);
    ranks.collectives.communicator.send(next, &[state.before, state.inside]);
}

/// The state at the end of a scanned block whose last sequence starts in it, with `length` elements here.
fn last_state(op: ScalarOp, scanned: &Vector, elements: &Vector, length: usize) -> State {
    let start = elements.len() - length;
    let block = start + (length - 1) / BLOCK * BLOCK;
    // At the start of a float block a scan is the total of those before combined with the identity: that total.
    let before = scanned.elements::<f64>()[block];
    let mut state = State { before, inside: f64::from_value(op.identity()) };
    for &element in &elements.elements::<f64>()[block..] {
        state.inside = add(op, state.inside, element);
    }
    if length.is_multiple_of(BLOCK) {
        state.close(op);
    }
    state
}
