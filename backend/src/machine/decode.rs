//! VCODE functions as the machine runs them: one list of lines, with jumps for control and slots for registers.
//!
//! Where the last use of a register is marked ([`nesl_vcode::Use`]), the value leaves the frame, so that an engine sees
//! an operand that nobody else holds and may overwrite it, and the register's slot serves another register: frames are
//! as small as the values that are alive at once, which is what deep recursion costs. Without marks each register has a
//! slot of its own, and keeps its value until the function returns.

mod joins;
mod together;

use crate::engine::group::Group;
use joins::Joins;
use nesl_prim::{HostOp, ScalarOp, ScalarValue};
use nesl_span::Span;
use nesl_vcode::{
    Block, Constants, EachPlan, Function, FunctionId, Instruction, Op, Operand, Place, Register, RegisterType, Use,
    VectorOp, tail,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A place in a frame.
pub(crate) type Slot = u32;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// The program.
    Constant(ScalarValue),
    /// A slot that may be read again later.
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

/// What a line of the kind [`Line::Each`] does.
#[derive(Debug, PartialEq)]
pub(crate) struct EachLine {
    /// The versions of the function, for one instance and for all.
    pub serial: FunctionId,
    pub lifted: FunctionId,
    /// What it does with the operands, the first apart, and the results.
    pub plan: EachPlan,
    pub operands: Box<[Source]>,
    /// The positions among the operands of sequences that vary by instance.
    pub sequences: Vec<usize>,
    pub results: Box<[Option<Slot>]>,
    pub at: Place,
}

/// What a line of the kind [`Line::Group`] does.
#[derive(Debug, PartialEq)]
pub(crate) struct GroupLine {
    pub group: Group,
    /// What the group reads from outside.
    pub operands: Box<[Source]>,
    pub results: Box<[Option<Slot>]>,
    /// The line after the instructions of the group.
    pub after: usize,
    pub at: Place,
}

/// One line of a decoded function. A result that nothing reads has no slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// An instruction without control. From it on so many lines may be done at once.
    Execute { operation: Operation, operands: Box<[Source]>, result: Option<Slot>, at: Place, together: usize },
    /// An operation on the world outside.
    Host { op: HostOp, operands: Box<[Source]>, results: Box<[Option<Slot>]>, at: Place },
    /// A call.
    Call { function: FunctionId, operands: Box<[Source]>, results: Box<[Option<Slot>]>, at: Place },
    /// A call that is a step of a loop: the called function's frame takes the place of this one's.
    Step { function: FunctionId, operands: Box<[Source]>, at: Place },
    /// A function on each of some instances. The first operand is their number.
    Each(Arc<EachLine>),
    /// A group at once, if the engine can; otherwise its instructions follow.
    Group(Arc<GroupLine>),
    /// Goes on with the next line where the condition is true, else with line `otherwise`.
    Branch { condition: Source, otherwise: usize, at: Place },
    /// Goes on with a line further down.
    Jump(usize),
    /// The results of a branch become those of its `if`.
    Move(Box<[(Source, Slot)]>),
    /// Values that nothing reads.
    Drop(Box<[Slot]>),
    /// Columns that wait in the frame until the function of the next line has returned, and had better hold no more
    /// memory than they need.
    Trim(Box<[Slot]>),
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
    /// The lines; the last returns, or is a step.
    pub lines: Vec<Line>,
    /// The source of the function.
    pub span: Span,
    /// Of lines within conditionals that are merged again: the flags of each around them, from the innermost outwards,
    /// and whether it is those that are true of which they compute on the elements.
    pub joins: HashMap<usize, Box<[(Slot, bool)]>>,
}

/// A line that waits for a function.
pub(crate) enum CallLine<'a> {
    /// A call, and where its results go.
    Call { at: Place, results: &'a [Option<Slot>] },
    /// An `each`.
    Each(&'a EachLine),
}

impl Code {
    /// The call that stands before the line with which a caller goes on.
    ///
    /// # Panics
    /// If something else stands there.
    pub fn call_before(&self, line: usize) -> CallLine<'_> {
        match &self.lines[line - 1] {
            Line::Call { at, results, .. } => CallLine::Call { at: *at, results },
            Line::Each(line) => CallLine::Each(line),
            other => unreachable!("a caller goes on after its call, not after {other:?}"),
        }
    }

    /// Where its results go.
    pub fn results_before(&self, line: usize) -> &[Option<Slot>] {
        match self.call_before(line) {
            CallLine::Call { results, .. } => results,
            CallLine::Each(line) => &line.results,
        }
    }
}

/// Decodes a function, whose calls at the end are steps if they are of one of these.
pub(super) fn decode(function: &Function, steps: HashSet<FunctionId>) -> Code {
    let mut is_read = vec![false; function.registers.len()];
    function.body.visit_reads(&mut |register| is_read[register.0 as usize] = true);
    let mut decoder = Decoder {
        registers: &function.registers,
        is_read,
        slot_of: vec![Slot::MAX; function.registers.len()],
        free: BTreeSet::new(),
        slots: 0,
        columns: BTreeSet::new(),
        lines: Vec::new(),
        steps,
        joins: Joins::of(function),
        joined: HashMap::new(),
    };
    let parameters = decoder.define(&function.parameters);
    decoder.end(&function.body);
    together::mark(&mut decoder.lines);
    let (slots, lines, joins) = (decoder.slots as usize, decoder.lines, decoder.joined);
    Code { parameters, slots, lines, span: function.span, joins }
}

struct Decoder<'a> {
    registers: &'a [RegisterType],
    /// The registers that something reads.
    is_read: Vec<bool>,
    /// The slot of each register that is alive.
    slot_of: Vec<Slot>,
    /// Slots of no register, below `slots`; the least is used first.
    free: BTreeSet<Slot>,
    slots: Slot,
    /// The slots of columns that are alive.
    columns: BTreeSet<Slot>,
    lines: Vec<Line>,
    /// The functions whose calls at the end are steps.
    steps: HashSet<FunctionId>,
    joins: Joins,
    /// What [`Code::joins`] becomes.
    joined: HashMap<usize, Box<[(Slot, bool)]>>,
}

impl Decoder<'_> {
    fn instructions(&mut self, block: &Block) {
        self.begin(block, &block.instructions);
    }

    /// A block as far as these instructions, its first ones.
    fn begin(&mut self, block: &Block, instructions: &[Instruction]) {
        let dropped = block.drops.iter().map(|&register| self.release(register)).collect();
        self.drop_values(dropped);
        for instruction in instructions {
            match &instruction.op {
                Op::Fused(group) => self.group(group, instruction),
                _ => self.instruction(instruction),
            }
        }
    }

    /// A block that ends the function.
    fn end(&mut self, block: &Block) {
        if let Some(last) = tail::last(block) {
            let before = &block.instructions[..block.instructions.len() - 1];
            match &last.op {
                Op::Call(function) if self.steps.contains(function) => {
                    self.begin(block, before);
                    let operands = self.sources(&last.operands, &last.uses);
                    return self.lines.push(Line::Step { function: *function, operands, at: last.place });
                }
                Op::If(then_block, else_block) => {
                    self.begin(block, before);
                    let condition = self.sources(&last.operands, &last.uses)[0];
                    return self.ends(condition, [then_block, else_block], last.place);
                }
                _ => {}
            }
        }
        self.instructions(block);
        let results = self.sources(&block.results, &block.uses);
        self.lines.push(Line::Return(results));
    }

    /// An `if` that ends the function: each of its branches does.
    fn ends(&mut self, condition: Source, blocks: [&Block; 2], at: Place) {
        let branch = self.lines.len();
        self.lines.push(Line::Branch { condition, otherwise: 0, at });
        let (free, columns, slots) = (self.free.clone(), self.columns.clone(), self.slots);
        self.end(blocks[0]);
        self.lines[branch] = Line::Branch { condition, otherwise: self.lines.len(), at };
        (self.free, self.columns) = (free, columns);
        self.free.extend(slots..self.slots);
        self.end(blocks[1]);
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let at = instruction.place;
        // Operands leave their slots before results are stored: a result may get the slot of an operand.
        let count = self.count(instruction);
        let mut operands = self.sources(&instruction.operands, &instruction.uses);
        if let Some(slot) = count {
            operands = std::iter::once(Source::Take(slot)).chain(operands).collect();
            self.free.insert(slot);
        }
        if matches!(instruction.op, Op::Call(_) | Op::Each(_)) && !self.columns.is_empty() {
            self.lines.push(Line::Trim(self.columns.iter().copied().collect()));
        }
        let results = self.define(&instruction.results);
        let operation = match &instruction.op {
            Op::If(then_block, else_block) => {
                let blocks = [then_block.as_ref(), else_block.as_ref()];
                return self.branches(operands[0], blocks, &results, at);
            }
            Op::Host(op) => return self.lines.push(Line::Host { op: *op, operands, results, at }),
            Op::Call(function) => {
                return self.lines.push(Line::Call { function: *function, operands, results, at });
            }
            Op::Each(each) => {
                let (serial, lifted, plan) = (each.serial, each.lifted, each.plan());
                let operands_of_each = (1..).zip(&plan.operands);
                let sequences =
                    operands_of_each.filter(|(_, operand)| operand.is_sequence()).map(|(position, _)| position);
                let sequences = sequences.collect();
                return self.lines.push(Line::Each(Arc::new(EachLine {
                    serial,
                    lifted,
                    plan,
                    operands,
                    sequences,
                    results,
                    at,
                })));
            }
            Op::Scalar(op) => Operation::Scalar(*op),
            Op::Map(op) => Operation::Map(*op),
            Op::Constants(constants) => Operation::Constants(constants.clone()),
            Op::Vector(op) => Operation::Vector(*op),
            Op::Fused(_) => unreachable!("a group is more than a line"),
        };
        let sides = self.joins.around(instruction).into_iter();
        let sides: Box<[(Slot, bool)]> = sides.map(|(flags, side)| (self.slot_of[flags.0 as usize], side)).collect();
        if !sides.is_empty() {
            self.joined.insert(self.lines.len(), sides);
        }
        self.lines.push(Line::Execute { operation, operands, result: results[0], at, together: 1 });
    }

    /// The number of instances, in a slot of its own, for an `each` that was in a group.
    fn count(&mut self, instruction: &Instruction) -> Option<Slot> {
        let Op::Each(each) = &instruction.op else { return None };
        let plan = each.plan();
        let (op, position) = plan.counted_by().filter(|_| plan.operands.len() == instruction.operands.len())?;
        let operands = self.sources(&instruction.operands[position..=position], &[]);
        let (operation, result) = (Operation::Vector(op), Some(self.new_slot()));
        self.lines.push(Line::Execute { operation, operands, result, at: instruction.place, together: 1 });
        result
    }

    /// A group, and its instructions one after another. What it yields these have defined: each result is in the slot
    /// where it is.
    fn group(&mut self, block: &Block, instruction: &Instruction) {
        let (results, at) = (&instruction.results, instruction.place);
        let line = self.lines.len();
        let known = Group::new(block, self.registers).map(|(group, inputs)| {
            let mut is_last = HashSet::new();
            for instruction in &block.instructions {
                let marked = instruction.operands.iter().zip(&instruction.uses).filter(|(_, mark)| **mark != Use::Kept);
                is_last.extend(marked.map(|(&operand, _)| operand));
            }
            let operand = |&register: &Register| {
                let slot = self.slot_of[register.0 as usize];
                if is_last.contains(&register.into()) { Source::Take(slot) } else { Source::Copy(slot) }
            };
            (group.with_beside(block.beside.clone()), inputs.iter().map(operand).collect())
        });
        if known.is_some() {
            self.lines.push(Line::Jump(0));
        }
        self.instructions(block);
        let mut unread = Vec::new();
        let mut slots = Vec::new();
        for (&result, &value) in results.iter().zip(&block.results) {
            let Operand::Register(register) = value else { continue };
            let slot = self.slot_of[register.0 as usize];
            if self.is_read[result.0 as usize] {
                self.slot_of[result.0 as usize] = slot;
                slots.push(Some(slot));
            } else {
                unread.push(self.release(register));
                slots.push(None);
            }
        }
        self.drop_values(unread);
        if let Some((group, operands)) = known {
            let (results, after) = (slots.into(), self.lines.len());
            self.lines[line] = Line::Group(Arc::new(GroupLine { group, operands, results, after, at }));
        }
    }

    /// An `if`. Its results have their slots before its branches begin, so that nothing in them is in the way of the
    /// last moves. Both branches begin with the same free slots.
    fn branches(&mut self, condition: Source, blocks: [&Block; 2], results: &[Option<Slot>], at: Place) {
        let branch = self.lines.len();
        self.lines.push(Line::Branch { condition, otherwise: 0, at });
        let (free, columns, slots) = (self.free.clone(), self.columns.clone(), self.slots);
        self.branch(blocks[0], results);
        let jump = self.lines.len();
        self.lines.push(Line::Jump(0));
        self.lines[branch] = Line::Branch { condition, otherwise: self.lines.len(), at };
        (self.free, self.columns) = (free, columns);
        self.free.extend(slots..self.slots);
        self.branch(blocks[1], results);
        self.lines[jump] = Line::Jump(self.lines.len());
    }

    fn branch(&mut self, block: &Block, results: &[Option<Slot>]) {
        self.instructions(block);
        let sources = self.sources(&block.results, &block.uses);
        let (mut moves, mut dropped) = (Vec::new(), Vec::new());
        for (&source, &slot) in sources.iter().zip(results) {
            match (source, slot) {
                (source, Some(slot)) => moves.push((source, slot)),
                // The result that it would be has no slot.
                (Source::Take(slot), None) => dropped.push(slot),
                _ => {}
            }
        }
        if !moves.is_empty() {
            self.lines.push(Line::Move(moves.into()));
        }
        self.drop_values(dropped);
    }

    fn drop_values(&mut self, slots: Vec<Slot>) {
        if !slots.is_empty() {
            self.lines.push(Line::Drop(slots.into()));
        }
    }

    fn sources(&mut self, operands: &[Operand], uses: &[Use]) -> Box<[Source]> {
        let uses = uses.iter().chain(std::iter::repeat(&Use::Kept));
        let source = |(&operand, &mark)| match (operand, mark) {
            (Operand::Constant(value), _) => Source::Constant(value),
            (Operand::Register(register), Use::Kept) => Source::Copy(self.slot_of[register.0 as usize]),
            (Operand::Register(register), Use::Last | Use::InPlace) => Source::Take(self.release(register)),
        };
        operands.iter().zip(uses).map(source).collect()
    }

    /// Gives registers slots, if they are read at all.
    fn define(&mut self, registers: &[Register]) -> Box<[Option<Slot>]> {
        let mut define = |&register: &Register| {
            let slot = self.is_read[register.0 as usize].then(|| self.new_slot())?;
            self.slot_of[register.0 as usize] = slot;
            if matches!(self.registers[register.0 as usize], RegisterType::Column(_)) {
                self.columns.insert(slot);
            }
            Some(slot)
        };
        registers.iter().map(&mut define).collect()
    }

    /// The least slot that is no register's.
    fn new_slot(&mut self) -> Slot {
        self.free.pop_first().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// The slot of a register that is alive no longer.
    fn release(&mut self, register: Register) -> Slot {
        self.joins.end(register);
        let slot = self.slot_of[register.0 as usize];
        self.free.insert(slot);
        self.columns.remove(&slot);
        slot
    }
}

#[cfg(test)]
mod tests;
