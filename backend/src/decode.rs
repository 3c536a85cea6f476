//! VCODE functions as the machine runs them: one list of lines, with jumps for control and slots for registers.
//!
//! Decoding knows the last use of every register (`liveness`). There the value leaves the frame, so that an engine sees an
//! operand that nobody else holds and may overwrite it, and the register's slot serves another register: frames are as small
//! as the values that are alive at once, which is what deep recursion costs.

mod liveness;

use liveness::{LiveBlock, LiveInstruction};
use nesl_prim::{HostOp, ScalarOp, ScalarValue};
use nesl_span::Span;
use nesl_vcode::{Block, Constants, Function, FunctionId, Instruction, Op, Operand, Program, Register, VectorOp};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// A verified program, decoded function by function when they are first called.
#[derive(Debug)]
pub struct Loaded {
    program: Arc<Program>,
    code: Vec<OnceLock<Code>>,
}

impl Loaded {
    /// Makes a program ready to run. The verifier must have accepted it: a machine panics on a program that breaks its rules.
    pub fn new(program: Arc<Program>) -> Loaded {
        let code = program.functions.iter().map(|_| OnceLock::new()).collect();
        Loaded { program, code }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A function of it, decoded now if it was not yet.
    pub(crate) fn code(&self, function: FunctionId) -> &Code {
        let index = function.0 as usize;
        self.code[index].get_or_init(|| decode(&self.program.functions[index]))
    }
}

/// A place in a frame.
pub(crate) type Slot = u32;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// The program.
    Constant(ScalarValue),
    /// A slot that is read again later.
    Copy(Slot),
    /// A slot that is not: its value moves.
    Take(Slot),
}

/// What an instruction does, control apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    Scalar(ScalarOp),
    Map(ScalarOp),
    Constants(Constants),
    Vector(VectorOp),
}

/// One line of a decoded function. A result that nothing reads has no slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// An instruction without control.
    Execute { operation: Operation, operands: Box<[Source]>, result: Option<Slot>, span: Span },
    /// An operation on the world outside.
    Host { op: HostOp, operands: Box<[Source]>, results: Box<[Option<Slot>]>, span: Span },
    /// A call.
    Call { function: FunctionId, operands: Box<[Source]>, results: Box<[Option<Slot>]>, span: Span },
    /// Goes on with the next line where the condition is true, else with line `otherwise`.
    Branch { condition: Source, otherwise: usize, span: Span },
    /// Goes on with a line further down.
    Jump(usize),
    /// The results of a branch become those of its `if`.
    Move(Box<[(Source, Slot)]>),
    /// Registers that only the other branch reads.
    Drop(Box<[Slot]>),
    /// The end of the function.
    Return(Box<[Source]>),
}

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Code {
    /// Where the parameters go.
    pub parameters: Box<[Option<Slot>]>,
    /// How many slots a frame has.
    pub slots: usize,
    /// The lines; the last returns.
    pub lines: Vec<Line>,
    /// The source of the function.
    pub span: Span,
}

/// Decodes a function.
fn decode(function: &Function) -> Code {
    let live = liveness::of(function);
    let mut decoder = Decoder {
        slot_of: vec![Slot::MAX; function.registers.len()],
        free: BTreeSet::new(),
        slots: 0,
        lines: Vec::new(),
    };
    let parameters = function
        .parameters
        .iter()
        .zip(&live.parameters)
        .map(|(&register, &read)| decoder.define(register, read))
        .collect();
    decoder.instructions(&function.body, &live.body);
    let results = decoder.sources(&function.body.results, &live.body.takes);
    decoder.lines.push(Line::Return(results));
    Code { parameters, slots: decoder.slots as usize, lines: decoder.lines, span: function.span }
}

struct Decoder {
    /// The slot of each register that is alive.
    slot_of: Vec<Slot>,
    /// Slots of no register, below `slots`; the least is used first.
    free: BTreeSet<Slot>,
    slots: Slot,
    lines: Vec<Line>,
}

impl Decoder {
    fn instructions(&mut self, block: &Block, live: &LiveBlock) {
        for (instruction, live) in block.instructions.iter().zip(&live.instructions) {
            self.instruction(instruction, live);
        }
    }

    fn instruction(&mut self, instruction: &Instruction, live: &LiveInstruction) {
        let span = instruction.span;
        // Operands leave their slots before results are stored: a result may get the slot of an operand.
        let operands = self.sources(&instruction.operands, &live.takes);
        let results: Box<[Option<Slot>]> =
            instruction.results.iter().zip(&live.read).map(|(&register, &read)| self.define(register, read)).collect();
        let operation = match &instruction.op {
            Op::If(then_block, else_block) => {
                let blocks = [then_block.as_ref(), else_block.as_ref()];
                return self.branches(operands[0], blocks, live, &results, span);
            }
            Op::Host(op) => return self.lines.push(Line::Host { op: *op, operands, results, span }),
            Op::Call(function) => {
                return self.lines.push(Line::Call { function: *function, operands, results, span });
            }
            Op::Scalar(op) => Operation::Scalar(*op),
            Op::Map(op) => Operation::Map(*op),
            Op::Constants(constants) => Operation::Constants(constants.clone()),
            Op::Vector(op) => Operation::Vector(*op),
        };
        self.lines.push(Line::Execute { operation, operands, result: results[0], span });
    }

    /// An `if`. Its results have their slots before its branches begin, so that nothing in them is in the way of the last
    /// moves. Both branches begin with the same free slots, and both end with those that are free after the `if`.
    fn branches(
        &mut self,
        condition: Source,
        blocks: [&Block; 2],
        live: &LiveInstruction,
        results: &[Option<Slot>],
        span: Span,
    ) {
        let branches = live.branches.as_deref().unwrap_or_else(|| unreachable!("liveness of an `if` has its branches"));
        let branch = self.lines.len();
        self.lines.push(Line::Branch { condition, otherwise: 0, span });
        let (free, slots) = (self.free.clone(), self.slots);
        self.branch(blocks[0], &branches[0], results);
        let jump = self.lines.len();
        self.lines.push(Line::Jump(0));
        self.lines[branch] = Line::Branch { condition, otherwise: self.lines.len(), span };
        self.free = free;
        self.free.extend(slots..self.slots);
        self.branch(blocks[1], &branches[1], results);
        self.lines[jump] = Line::Jump(self.lines.len());
    }

    fn branch(&mut self, block: &Block, live: &LiveBlock, results: &[Option<Slot>]) {
        let dropped: Box<[Slot]> = live.drops.iter().map(|&register| self.release(register)).collect();
        if !dropped.is_empty() {
            self.lines.push(Line::Drop(dropped));
        }
        self.instructions(block, live);
        let sources = self.sources(&block.results, &live.takes);
        let moves: Box<[_]> =
            sources.iter().zip(results).filter_map(|(&source, &slot)| slot.map(|slot| (source, slot))).collect();
        if !moves.is_empty() {
            self.lines.push(Line::Move(moves));
        }
    }

    fn sources(&mut self, operands: &[Operand], takes: &[bool]) -> Box<[Source]> {
        let source = |(&operand, &take)| match operand {
            Operand::Constant(value) => Source::Constant(value),
            Operand::Register(register) if take => Source::Take(self.release(register)),
            Operand::Register(register) => Source::Copy(self.slot_of[register.0 as usize]),
        };
        operands.iter().zip(takes).map(source).collect()
    }

    /// Gives a register a slot, if it is read at all.
    fn define(&mut self, register: Register, read: bool) -> Option<Slot> {
        read.then(|| {
            let slot = self.free.pop_first().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.slot_of[register.0 as usize] = slot;
            slot
        })
    }

    /// The slot of a register that is alive no longer.
    fn release(&mut self, register: Register) -> Slot {
        let slot = self.slot_of[register.0 as usize];
        self.free.insert(slot);
        slot
    }
}

#[cfg(test)]
mod tests;
