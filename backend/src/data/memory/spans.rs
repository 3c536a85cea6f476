//! Free memory of the kernel's: spans of addresses, which are cut for blocks of any size and joined where blocks come
//! back.

use super::block::{Block, HUGE_PAGE};
use std::collections::{BTreeMap, BTreeSet};

/// Free blocks that do not touch each other.
#[derive(Debug, Default)]
pub struct Spans {
    /// By their address, each with the time when the last part of it came back.
    by_start: BTreeMap<usize, (u64, Block)>,
    /// Size and address of each.
    by_size: BTreeSet<(usize, usize)>,
}

impl Spans {
    /// A block of this size from the smallest span that holds one.
    pub fn take(&mut self, size: usize) -> Option<Block> {
        let &(_, start) = self.by_size.range((size, 0)..).next()?;
        self.cut(start, size)
    }

    /// Takes a block back.
    pub fn give(&mut self, block: Block, time: u64) {
        let start = block.start().addr().get();
        let (mut block, mut time) = (block, time);
        if let Some((&before, (_, span))) = self.by_start.range(..start).next_back()
            && before + span.size() == start
            && let Some((earlier, span)) = self.remove(before)
        {
            (block, time) = (span.join(block), time.max(earlier));
        }
        if let Some((earlier, span)) = self.remove(block.start().addr().get() + block.size()) {
            (block, time) = (block.join(span), time.max(earlier));
        }
        self.insert(time, block);
    }

    /// Memory of whole huge pages, from the largest spans, at most so many bytes.
    pub fn take_pages(&mut self, most: usize) -> Vec<Block> {
        let (mut taken, mut left) = (Vec::new(), most / HUGE_PAGE * HUGE_PAGE);
        // Those of the largest spans may lie so that there are fewer than in others: then they are left out, as are all
        // smaller ones.
        while left > 0
            && let Some(&(size, start)) = self.by_size.last()
        {
            let first = start.next_multiple_of(HUGE_PAGE) - start;
            let pages = size.saturating_sub(first).min(left) / HUGE_PAGE * HUGE_PAGE;
            if pages == 0 {
                break;
            }
            let Some((time, mut span)) = self.remove(start) else { break };
            if first > 0 {
                let (before, rest) = span.cut(first);
                self.insert(time, before);
                span = rest;
            }
            if span.size() > pages {
                let (whole, rest) = span.cut(pages);
                self.insert(time, rest);
                span = whole;
            }
            left -= pages;
            taken.push(span);
        }
        taken
    }

    /// The time of the span that was not used for longest.
    pub fn oldest(&self) -> Option<u64> {
        self.by_start.values().map(|(time, _)| *time).min()
    }

    /// Takes memory off the span of that time, at most so many bytes.
    pub fn take_oldest(&mut self, most: usize) -> Option<Block> {
        let (&start, (_, span)) = self.by_start.iter().min_by_key(|(_, (time, _))| *time)?;
        let size = most.min(span.size());
        self.cut(start, size)
    }

    /// The first bytes of a span.
    fn cut(&mut self, start: usize, size: usize) -> Option<Block> {
        let (time, span) = self.remove(start)?;
        if span.size() == size {
            return Some(span);
        }
        let (block, rest) = span.cut(size);
        self.insert(time, rest);
        Some(block)
    }

    fn insert(&mut self, time: u64, block: Block) {
        let start = block.start().addr().get();
        self.by_size.insert((block.size(), start));
        self.by_start.insert(start, (time, block));
    }

    fn remove(&mut self, start: usize) -> Option<(u64, Block)> {
        let (time, block) = self.by_start.remove(&start)?;
        self.by_size.remove(&(block.size(), start));
        Some((time, block))
    }
}
