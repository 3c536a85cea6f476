//! Sorting, and ranks by sorting positions: short columns are what comes here. Of longer ones it gives up, since the
//! machine sorts those on all threads, and can be interrupted.
//!
//! ```text
//! sort         stable, by key
//! rank         sort pairs (key, i); for r, (_, i) in sorted: out[i] = r
//! by segments  the same for elements start .. start + length of each
//! ```

use super::Frame;
use nesl_prim::{Direction, Element};

/// The most elements that are sorted here, in some 100 ms.
const LONGEST: usize = 1 << 20;

/// Room for as many elements, which are to be sorted or grouped; none where they are too many.
pub(super) fn room<T>(length: usize) -> Option<Vec<T>> {
    let mut room = Vec::new();
    (length <= LONGEST).then(|| room.try_reserve_exact(length).ok())??;
    Some(room)
}

/// The position of each element in the order of all, written behind those before.
fn ranks<T: Element>(direction: Direction, elements: &[T], result: &mut Vec<i64>) {
    let mut order: Vec<(i64, usize)> =
        elements.iter().enumerate().map(|(position, &element)| (direction.key(element), position)).collect();
    order.sort_unstable();
    let start = result.len();
    result.resize(start + elements.len(), 0);
    for (rank, (_, position)) in order.into_iter().enumerate() {
        result[start + position] = rank as i64;
    }
}

pub(super) fn sort<T: Element>(frame: &mut Frame<'_>, direction: Direction) -> Option<()> {
    let column = frame.column::<T>();
    let mut elements = room(column.len())?;
    elements.extend_from_slice(column);
    elements.sort_by_key(|&element| direction.key(element));
    frame.give_items(elements.len(), elements.iter().copied())
}

pub(super) fn seg_sort<T: Element>(frame: &mut Frame<'_>, direction: Direction) -> Option<()> {
    let (column, segments) = (frame.column::<T>(), frame.segments());
    let mut result: Vec<T> = room(segments.total()?)?;
    for (start, length) in segments.iter() {
        let from = result.len();
        result.extend_from_slice(&column[start..start + length]);
        result[from..].sort_by_key(|&element| direction.key(element));
    }
    frame.give_items(result.len(), result.iter().copied())
}

pub(super) fn rank<T: Element>(frame: &mut Frame<'_>, direction: Direction) -> Option<()> {
    let column = frame.column::<T>();
    let mut result = room(column.len())?;
    ranks(direction, column, &mut result);
    frame.give_items(result.len(), result.iter().copied())
}

pub(super) fn seg_rank<T: Element>(frame: &mut Frame<'_>, direction: Direction) -> Option<()> {
    let (column, segments) = (frame.column::<T>(), frame.segments());
    let mut result = room(segments.total()?)?;
    segments.iter().for_each(|(start, length)| ranks(direction, &column[start..start + length], &mut result));
    frame.give_items(result.len(), result.iter().copied())
}
