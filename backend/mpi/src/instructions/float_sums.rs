//! Sums of float sequences that cross rank borders, to the last bit as `nesl_prim::sum::reduce` defines them.
//!
//! A block that a border cuts is finished where it ends: the lanes so far travel to the next rank. Every rank combines
//! the blocks that end with it into complete subtrees of the sequence's tree, and sends those, a few dozen at most, to
//! the rank where the sequence starts, which combines the rest. No rank ever sees all blocks.

use crate::distribution::descriptor::{LocalSegment, SegmentMap};
use crate::distribution::{Distribution, LocalEngine};
use nesl_backend::{Fault, Vector};
use nesl_prim::sum::{BLOCK, LANES};
use nesl_prim::{Element, ScalarOp, ScalarValue, sum};
use nesl_vcode::Constants;

/// How a block of packed order cuts one sequence into float blocks: elements of a float block begun before, whole float
/// blocks, and elements of one that goes on behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    piece: LocalSegment,
    /// Where this rank's elements start, counted from the start of the sequence.
    offset: usize,
    /// Elements that finish or continue the float block begun before.
    begun: usize,
    /// Elements in float blocks that lie here.
    whole: usize,
    /// Elements that start a float block which does not end here.
    open: usize,
}

impl Cut {
    fn new<D>(map: &SegmentMap<D>, piece: LocalSegment) -> Cut {
        let inside = map.inside(piece);
        let offset = inside.start - piece.start;
        let begun = match offset % BLOCK {
            0 => 0,
            position => inside.len().min(BLOCK - position),
        };
        let rest = inside.len() - begun;
        let open = if piece.end() > inside.end { rest % BLOCK } else { 0 };
        Cut { piece, offset, begun, whole: rest - open, open }
    }

    /// Whether the float block begun before ends here.
    fn finishes(&self) -> bool {
        let reached = self.offset + self.begun;
        self.begun > 0 && (reached.is_multiple_of(BLOCK) || reached == self.piece.length)
    }

    /// The float blocks that end here.
    fn ended(&self) -> std::ops::Range<usize> {
        let end = self.offset + self.begun + self.whole + self.open;
        blocks_ended(self.piece.length, self.offset)..blocks_ended(self.piece.length, end)
    }
}

/// How many float blocks of a sequence end at or before a position of it.
fn blocks_ended(length: usize, position: usize) -> usize {
    if position >= length { length.div_ceil(BLOCK) } else { position / BLOCK }
}

/// A complete subtree: the combined blocks `index << level .. (index + 1) << level`, or the end of the sequence if that
/// is earlier.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    level: u32,
    index: usize,
    value: f64,
}

/// Subtrees side by side, combined where they are brothers.
#[derive(Debug, Default)]
struct Forest(Vec<Node>);

impl Forest {
    /// Adds the subtree right of all others.
    fn push(&mut self, op: ScalarOp, mut node: Node) {
        while let Some(left) = self.0.last() {
            if left.level != node.level || !left.index.is_multiple_of(2) || left.index + 1 != node.index {
                break;
            }
            node = Node { level: node.level + 1, index: left.index / 2, value: add(op, left.value, node.value) };
            self.0.pop();
        }
        self.0.push(node);
    }

    /// The whole tree: an odd last subtree moves up unchanged until it meets its left brother.
    fn finish(self, op: ScalarOp) -> f64 {
        let mut nodes = self.0.into_iter().rev();
        let last = nodes.next().map_or_else(|| f64::from_value(op.identity()), |node| node.value);
        nodes.fold(last, |right, left| add(op, left.value, right))
    }
}

/// Level and index of the complete subtrees that a run of blocks makes: what [`Forest`] leaves of them.
fn subtrees(blocks: std::ops::Range<usize>) -> Vec<(u32, usize)> {
    let mut subtrees = Vec::new();
    let mut start = blocks.start;
    while start < blocks.end {
        let fits = (blocks.end - start).ilog2();
        let level = if start == 0 { fits } else { start.trailing_zeros().min(fits) };
        subtrees.push((level, start >> level));
        start += 1 << level;
    }
    subtrees
}

/// Two floats combined.
pub(crate) fn add(op: ScalarOp, left: f64, right: f64) -> f64 {
    f64::from_value(op.combine(ScalarValue::Float(left), ScalarValue::Float(right)))
}

/// Goes on with the lanes of a block from a position in it.
fn extend(op: ScalarOp, lanes: &mut [f64; LANES], position: usize, elements: &[f64]) {
    for (at, &element) in elements.iter().enumerate() {
        let lane = &mut lanes[(position + at) % LANES];
        *lane = add(op, *lane, element);
    }
}

/// The sum of the sequence that starts in this rank's block of packed order and goes on behind it, if there is one. All
/// ranks call it together: it is also how they contribute to the sums of others.
pub(crate) fn crossing_sum<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Option<f64>, Fault> {
    let head = map.head().map(|piece| Cut::new(map, piece));
    let started = map.tail().filter(|tail| tail.start >= map.share.start).map(|piece| Cut::new(map, piece));
    let whole = [head, started].map(|cut| cut.map_or(Ok(Vec::new()), |cut| whole_blocks(ranks, op, part, map, &cut)));
    let [of_head, of_started] = whole;
    let whole = of_head.and_then(|of_head| Ok((of_head, of_started?)));
    let (of_head, of_started) = ranks.collectives.settle(map.total, whole)?;
    ranks.collectives.communicator.line();

    let elements = part.elements::<f64>();
    if let Some(cut) = &started {
        send_open(ranks, op, elements, map, cut);
    }
    let finished = head.and_then(|cut| finish_begun(ranks, op, elements, map, &cut));

    let (rank, rank_count) = (ranks.layout.rank, ranks.layout.ranks);
    let (mut outgoing, mut incoming) = (vec![0; rank_count], vec![0; rank_count]);
    let mut sent = Vec::new();
    if let Some(cut) = &head {
        let forest = forest(op, cut.ended().start, finished.into_iter().chain(of_head));
        outgoing[ranks.layout.owner(map.total, cut.piece.start)] = forest.0.len();
        sent = forest.0.into_iter().map(|node| node.value).collect();
    }
    let mut expected = Vec::new();
    if let Some(cut) = &started {
        let last = ranks.layout.owner(map.total, cut.piece.end() - 1);
        for (source, count) in incoming.iter_mut().enumerate().take(last + 1).skip(rank + 1) {
            let block = ranks.layout.block(map.total, source);
            let ended = |bound: usize| blocks_ended(cut.piece.length, bound.saturating_sub(cut.piece.start));
            let subtrees = subtrees(ended(block.start)..ended(block.end));
            *count = subtrees.len();
            expected.extend(subtrees);
        }
    }
    let received = ranks.collectives.communicator.exchange_known(&sent, &outgoing, &incoming, Vec::new());
    Ok(started.map(|_| {
        let mut forest = forest(op, 0, of_started);
        for (&(level, index), &value) in expected.iter().zip(&received) {
            forest.push(op, Node { level, index, value });
        }
        forest.finish(op)
    }))
}

/// The sums of the float blocks that lie here entirely.
fn whole_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
    cut: &Cut,
) -> Result<Vec<f64>, Fault> {
    let start = map.inside(cut.piece).start - map.share.start + cut.begun;
    let (elements, descriptor) = float_blocks(ranks, part, start, cut.whole)?;
    let sums = ranks.local.seg_reduce(op, &elements, &descriptor)?;
    Ok(sums.elements().to_vec())
}

/// `length` elements from `start` on, and the descriptor that cuts them into float blocks.
pub(crate) fn float_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    part: &Vector,
    start: usize,
    length: usize,
) -> Result<(Vector, L::Descriptor), Fault> {
    let lengths = (0..length).step_by(BLOCK).map(|start| BLOCK.min(length - start) as i64).collect();
    let lengths = ranks.local_column(Constants::Int(lengths))?;
    Ok((part.slice(start, length), ranks.local.descriptor(None, lengths)?))
}

/// Sends the lanes of a float block that starts here to where it goes on.
fn send_open<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    elements: &[f64],
    map: &SegmentMap<L::Descriptor>,
    cut: &Cut,
) {
    if cut.open > 0 {
        let mut lanes = [f64::from_value(op.identity()); LANES];
        extend(op, &mut lanes, 0, &elements[elements.len() - cut.open..]);
        let next = ranks.layout.owner(map.total, map.share.end);
        ranks.collectives.communicator.send(next, &lanes);
    }
}

/// The sum of the float block begun before, if it ends here; otherwise its lanes travel on.
fn finish_begun<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    elements: &[f64],
    map: &SegmentMap<L::Descriptor>,
    cut: &Cut,
) -> Option<f64> {
    // A block that starts here waits for nothing from before.
    send_open(ranks, op, elements, map, cut);
    if cut.begun == 0 {
        return None;
    }
    let previous = ranks.layout.owner(map.total, map.share.start - 1);
    let mut lanes: [f64; LANES] = ranks.collectives.communicator.receive(previous);
    extend(op, &mut lanes, cut.offset % BLOCK, &elements[..cut.begun]);
    if cut.finishes() {
        return Some(sum::lanes(|left, right| add(op, left, right), lanes));
    }
    let next = ranks.layout.owner(map.total, map.share.end);
    ranks.collectives.communicator.send(next, &lanes);
    None
}

/// The subtrees of blocks from `first` on.
fn forest(op: ScalarOp, first: usize, values: impl IntoIterator<Item = f64>) -> Forest {
    let mut forest = Forest::default();
    for (at, value) in values.into_iter().enumerate() {
        forest.push(op, Node { level: 0, index: first + at, value });
    }
    forest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forests_of_consecutive_runs_make_the_tree_of_all_blocks() {
        let values: Vec<f64> = (0..40).map(|i| 1.0 / (i as f64 + 0.1) * if i % 3 == 0 { -1e9 } else { 1.0 }).collect();
        for count in 0..values.len() {
            let values = &values[..count];
            let expected = sum::tree(0.0, |a, b| a + b, values);
            for border in 0..=count {
                let op = ScalarOp::AddFloat;
                let mut left = forest(op, 0, values[..border].iter().copied());
                let right = forest(op, border, values[border..].iter().copied());
                let shapes: Vec<_> = right.0.iter().map(|node| (node.level, node.index)).collect();
                assert_eq!(shapes, subtrees(border..count));
                right.0.into_iter().for_each(|node| left.push(op, node));
                assert_eq!(left.finish(op).to_bits(), expected.to_bits(), "{count} blocks cut at {border}");
            }
        }
    }

    #[test]
    fn cuts_count_from_the_start_of_the_sequence() {
        let piece = LocalSegment { segment: 0, start: 10, length: 5000, source: 10 };
        let map = SegmentMap {
            segments: vec![piece],
            share: 2000..4200,
            total: 9000,
            local: (),
            identity: std::sync::Arc::default(),
        };
        let cut = Cut::new(&map, piece);
        assert_eq!((cut.offset, cut.begun, cut.whole, cut.open), (1990, 58, 2048, 94));
        assert_eq!((cut.finishes(), cut.ended()), (true, 1..4));
        let map = SegmentMap { share: 4500..6000, ..map };
        let cut = Cut::new(&map, piece);
        assert_eq!((cut.begun, cut.whole, cut.open, cut.ended()), (510, 0, 0, 4..5));
    }
}
