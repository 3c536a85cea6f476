//! From the lines of a decoded function to blocks.
//!
//! A block ends where control does not simply go on: at branches, jumps, calls and returns, and before lines that are
//! jumped to. Places are the slots that decoding has found, and one more for results that nothing reads.

use super::{Block, Call, Code, End, Operation, Source};
use crate::machine::decode::{self, Line};
use nesl_prim::ScalarType;

/// Translates a function of scalars alone with the types of its results.
pub(in crate::machine) fn translate(code: &decode::Code, results: Box<[ScalarType]>) -> Code {
    let starts = starts(&code.lines);
    // Which block begins with each line, or would if one began there.
    let block_of: Vec<usize> = starts
        .iter()
        .scan(0, |blocks, &is_start| {
            let block = *blocks;
            *blocks += usize::from(is_start);
            Some(block)
        })
        .collect();
    let translator = Translator { unread: code.slots, block_of };
    let mut blocks = Vec::new();
    let mut block = empty();
    for (index, line) in code.lines.iter().enumerate() {
        if index > 0 && starts[index] {
            blocks.push(std::mem::replace(&mut block, empty()));
        }
        translator.line(index, line, &mut block);
    }
    blocks.push(block);
    thread(&mut blocks);
    let parameters = translator.places(&code.parameters);
    Code { blocks, words: code.slots + 1, parameters, results, span: code.span }
}

/// A block without lines, which has no end yet.
fn empty() -> Block {
    Block { operations: Vec::new(), places: Vec::new(), moves: Vec::new(), instructions: 0, end: End::Jump(usize::MAX) }
}

/// Whether a block begins with each line.
fn starts(lines: &[Line]) -> Vec<bool> {
    let mut starts = vec![false; lines.len() + 1];
    starts[0] = true;
    for (index, line) in lines.iter().enumerate() {
        match line {
            Line::Branch { otherwise, .. } => starts[*otherwise] = true,
            Line::Jump(target) => starts[*target] = true,
            Line::Call { .. } | Line::Step { .. } | Line::Move(_) | Line::Return(_) => {}
            Line::Execute { .. }
            | Line::Drop(_)
            | Line::Trim(_)
            | Line::Host { .. }
            | Line::Each(_)
            | Line::Group(_) => {
                continue;
            }
        }
        starts[index + 1] = true;
    }
    starts
}

struct Translator {
    /// The place of results that nothing reads.
    unread: usize,
    block_of: Vec<usize>,
}

impl Translator {
    /// Adds a line to its block.
    fn line(&self, index: usize, line: &Line, block: &mut Block) {
        let next = self.block_of[index + 1];
        block.end = End::Jump(next);
        match line {
            Line::Execute { operation: decode::Operation::Scalar(op), operands, result, at, .. } => {
                block.operations.push(Operation::new(*op, &sources(operands), self.place(*result)));
                block.places.push(*at);
                block.instructions += 1;
            }
            Line::Branch { condition, otherwise, .. } => {
                let otherwise = self.block_of[*otherwise];
                block.instructions += 1;
                block.end = match source(*condition) {
                    Source::Place(condition) => End::Branch { condition, then: next, otherwise },
                    Source::Constant(0) => End::Jump(otherwise),
                    Source::Constant(_) => End::Jump(next),
                };
            }
            Line::Call { function, operands, results, at } => {
                let (arguments, results) = (sources(operands), self.places(results));
                block.instructions += 1;
                block.end = End::Call(Call { function: *function, arguments, results, next, at: *at });
            }
            Line::Step { function, operands, at } => {
                block.instructions += 1;
                block.end = End::Step { function: *function, arguments: sources(operands), at: *at };
            }
            Line::Jump(target) => block.end = End::Jump(self.block_of[*target]),
            Line::Move(moves) => {
                block.moves.extend(moves.iter().map(|&(from, place)| (source(from), place as usize)));
            }
            // A word that is not read any more does no harm.
            Line::Drop(_) => {}
            Line::Return(values) => block.end = End::Return(sources(values)),
            Line::Execute { .. } | Line::Trim(_) | Line::Host { .. } | Line::Each(_) | Line::Group(_) => {
                unreachable!("a function of scalars alone has {line:?}")
            }
        }
    }

    fn place(&self, slot: Option<decode::Slot>) -> usize {
        slot.map_or(self.unread, |slot| slot as usize)
    }

    fn places(&self, slots: &[Option<decode::Slot>]) -> Box<[usize]> {
        slots.iter().map(|&slot| self.place(slot)).collect()
    }
}

fn source(source: decode::Source) -> Source {
    match source {
        decode::Source::Constant(value) => Source::Constant(value.to_word()),
        decode::Source::Copy(slot) | decode::Source::Take(slot) => Source::Place(slot as usize),
    }
}

fn sources(sources: &[decode::Source]) -> Box<[Source]> {
    sources.iter().map(|&from| source(from)).collect()
}

/// Replaces jumps to blocks without operations by what those do. All jumps lead further down: from the last block
/// backwards, each target has been treated before.
fn thread(blocks: &mut [Block]) {
    for index in (0..blocks.len()).rev() {
        let (blocks, targets) = blocks.split_at_mut(index + 1);
        let block = &mut blocks[index];
        if let End::Jump(target) = block.end
            && let target = &targets[target - index - 1]
            && target.operations.is_empty()
        {
            block.moves.extend(&target.moves);
            block.instructions += target.instructions;
            block.end = target.end.clone();
        }
    }
}
