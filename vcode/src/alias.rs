//! Which registers of a function may mean the same memory, and what may therefore be written over: alias analysis.
//!
//! Values do not change. Where nothing that means the memory of a column is read any more, a changed column may be
//! written over it, so that to change an element takes one step, and what is appended to it may be written behind it.
//! An engine that overwrites columns as it runs counts their users; machine code knows before, for each register that a
//! scatter writes to or that something is appended to, and for each column that is passed to a function.
//!
//! Registers may mean the same memory where an instruction gives what it was given, or a part of it: it means all that
//! these may mean. That the result of an instruction has memory of its own is a column of the table
//! ([`crate::op::Row::fresh`]); what a call gives means what the function gives of what it gets ([`Summaries`]).

mod in_place;

pub use in_place::InPlace;

use crate::fusion;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use crate::tail;
use in_place::Origin;
use nesl_prim::cycles::postorder;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is known of each function of a program where it is called.
#[derive(Clone, Debug)]
pub struct Summaries(Vec<Summary>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Summary {
    /// What each result may mean the memory of.
    results: Vec<MayAlias>,
    /// The positions of the parameters that it, or what it calls, would write over, or behind.
    written: BTreeSet<usize>,
    /// Which parameters the results are, where these are written over where they may be.
    origins: Vec<Origin>,
}

/// What a result may mean the memory of: the positions of parameters, and of results before it.
#[derive(Clone, Debug, Default, PartialEq)]
struct MayAlias {
    parameters: BTreeSet<usize>,
    results: BTreeSet<usize>,
}

impl Summaries {
    /// Those of a program: the least that agree with each other, since a call that never comes back gives nothing.
    pub fn of(program: &Program) -> Summaries {
        let count = program.functions.len();
        let (mut callers, mut callees) = (vec![BTreeSet::new(); count], vec![Vec::new(); count]);
        for (caller, function) in program.functions.iter().enumerate() {
            function.body.visit(&mut |instruction| {
                if let Op::Call(callee) = instruction.op {
                    callers[callee.0 as usize].insert(caller);
                    callees[caller].push(callee.0 as usize);
                }
            });
        }
        let nothing = |function: &Function| Summary {
            results: vec![MayAlias::default(); function.body.results.len()],
            written: BTreeSet::new(),
            origins: vec![Origin::Never; function.body.results.len()],
        };
        let mut summaries = Summaries(program.functions.iter().map(nothing).collect());
        // Callees first: what is known of a long chain of calls goes up it once.
        let order = postorder(count, |caller| callees[caller].clone());
        let mut ranks = vec![0; count];
        order.iter().enumerate().for_each(|(rank, &function)| ranks[function] = rank);
        let mut waiting: BTreeSet<usize> = (0..count).collect();
        while let Some(rank) = waiting.pop_first() {
            let index = order[rank];
            let found = Reading::of(&program.functions[index], &summaries, false).summary();
            if found != summaries.0[index] {
                summaries.0[index] = found;
                waiting.extend(callers[index].iter().map(|&caller| ranks[caller]));
            }
        }
        summaries
    }

    /// The positions of those of its parameters that a function, or what it calls, would write over, or behind.
    pub fn written(&self, function: FunctionId) -> &BTreeSet<usize> {
        &self.0[function.0 as usize].written
    }
}

/// What of a function's own columns may be written over.
#[derive(Clone, Debug, Default)]
pub struct Updates {
    /// Those that scatters write to.
    targets: HashSet<Register>,
    /// The addresses of the instructions that may write behind their first operand.
    appends: HashSet<usize>,
    /// For calls, by the addresses of their instructions, the positions of operands.
    granted: HashMap<usize, Vec<usize>>,
}

impl Updates {
    /// Of a function whose parameters, where they are its own, are different columns ([`passes_one_twice`]).
    pub fn of(function: &Function, summaries: &Summaries) -> Updates {
        let reading = Reading::of(function, summaries, true);
        let scatters = || reading.changes.iter().filter(|change| change.writer == Writer::Scatter);
        let mut targets: HashSet<Register> = scatters().map(|scatter| scatter.target).collect();
        targets.retain(|&target| {
            scatters().filter(|scatter| scatter.target == target).all(|scatter| reading.is_last(scatter))
        });
        let (mut appends, mut granted) = (HashSet::new(), HashMap::<usize, Vec<usize>>::new());
        for change in reading.changes.iter().filter(|change| reading.is_last(change)) {
            match change.writer {
                Writer::Scatter => {}
                Writer::Append(instruction) => {
                    appends.insert(instruction);
                }
                Writer::Call(call, position) => granted.entry(call).or_default().push(position),
            }
        }
        Updates { targets, appends, granted }
    }

    /// The positions of the operands of a call, one of this very function, that the called function may write over.
    pub fn granted(&self, call: &Instruction) -> &[usize] {
        self.granted.get(&address(call)).map_or(&[], Vec::as_slice)
    }

    /// Whether a scatter may write over this register's column.
    pub fn may_overwrite(&self, register: Register) -> bool {
        self.targets.contains(&register)
    }

    /// Whether an instruction of this very function appends columns to one that it may write behind.
    pub fn may_append(&self, instruction: &Instruction) -> bool {
        self.appends.contains(&address(instruction))
    }

    /// Whether any does.
    pub fn grows(&self) -> bool {
        !self.appends.is_empty()
    }
}

/// Whether an instruction of a block writes elements.
pub fn writes(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| match &instruction.op {
        Op::Vector(op) => op.is_update(),
        Op::If(then_block, else_block) => writes(then_block) || writes(else_block),
        Op::Fused(block) => writes(block),
        _ => false,
    })
}

/// Whether functions that call one another may pass each other one column twice, or parts of it.
pub fn passes_one_twice(program: &Program, functions: &HashSet<FunctionId>, summaries: &Summaries) -> bool {
    functions.iter().any(|id| {
        let function = &program.functions[id.0 as usize];
        let reading = Reading::of(function, summaries, true);
        let mut shares = false;
        function.body.visit(&mut |instruction| {
            if matches!(&instruction.op, Op::Call(callee) if functions.contains(callee)) {
                let passed: Vec<Register> =
                    instruction.operands.iter().copied().filter_map(Operand::register).collect();
                let later = |index: usize| passed[index + 1..].iter();
                let mut pairs = (0..passed.len()).flat_map(|index| later(index).map(move |&other| (index, other)));
                shares |= pairs.any(|(index, other)| reading.may_share(passed[index], other));
            }
        });
        shares
    })
}

/// A place in a function: the branches around it, each the number of its `if` and which of the two, and its number in
/// the order of the text.
#[derive(Clone, Debug)]
struct Position {
    branches: Vec<(usize, bool)>,
    number: usize,
}

impl Position {
    /// Whether what is here may run after what is there, in one call.
    fn may_follow(&self, other: &Position) -> bool {
        let exclusive = |&(number, branch): &(usize, bool)| other.branches.contains(&(number, !branch));
        self.number > other.number && !self.branches.iter().any(exclusive)
    }
}

/// What writes to a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Scatter,
    /// An instruction, by its address, that writes behind it.
    Append(usize),
    /// A call, by its address, with the column as the operand at a position.
    Call(usize, usize),
}

/// An instruction, or a group with one, that writes elements of a column or behind it, or a call that may.
struct Change {
    target: Register,
    writer: Writer,
    /// How often it reads the target, and what else it reads.
    reads: usize,
    others: Vec<Register>,
    place: Position,
}

/// Where registers of a function are defined and read, and which of them may mean the same memory.
struct Reading<'a> {
    function: &'a Function,
    summaries: &'a Summaries,
    /// For each register the columns, numbered by where they come from, whose memory it may mean.
    roots: Vec<BTreeSet<usize>>,
    defined: Vec<Option<Position>>,
    reads: Vec<(Register, Position)>,
    changes: Vec<Change>,
    /// Whether it is for what functions give, which must not become less as more is known.
    is_summary: bool,
    branches: Vec<(usize, bool)>,
    number: usize,
}

impl<'a> Reading<'a> {
    /// `is_end` says whether what the last instructions of the function give is not read any more.
    fn of(function: &'a Function, summaries: &'a Summaries, is_end: bool) -> Reading<'a> {
        let count = function.registers.len();
        let mut reading = Reading {
            function,
            summaries,
            roots: vec![BTreeSet::new(); count],
            defined: vec![None; count],
            reads: Vec::new(),
            changes: Vec::new(),
            is_summary: !is_end,
            branches: Vec::new(),
            number: 0,
        };
        function.parameters.iter().for_each(|&parameter| reading.define(parameter));
        reading.block(&function.body, is_end);
        reading
    }

    fn summary(&self) -> Summary {
        let Function { parameters, body, .. } = self.function;
        let of_result = |index: usize| {
            let Some(result) = body.results[index].register() else { return MayAlias::default() };
            let shares = |other: Register| self.may_share(result, other);
            let before = body.results[..index].iter().map(|&other| other.register().is_some_and(shares));
            MayAlias {
                parameters: positions(parameters.iter().map(|&parameter| shares(parameter))),
                results: positions(before),
            }
        };
        let is_written =
            |&parameter: &Register| self.changes.iter().any(|change| self.may_share(parameter, change.target));
        Summary {
            results: (0..body.results.len()).map(of_result).collect(),
            written: positions(parameters.iter().map(is_written)),
            origins: in_place::origins_of_results(self.function, self.summaries),
        }
    }

    /// Joins what the results of a call may share with its operands, and with each other.
    fn call(&mut self, function: FunctionId, call: &Instruction) {
        let summaries = self.summaries;
        for (summary, &result) in summaries.0[function.0 as usize].results.iter().zip(&call.results) {
            self.roots[result.0 as usize].insert(result.0 as usize);
            summary.parameters.iter().for_each(|&position| self.join(result, call.operands[position]));
            summary.results.iter().for_each(|&before| self.join(result, Operand::Register(call.results[before])));
        }
    }

    fn place(&self) -> Position {
        Position { branches: self.branches.clone(), number: self.number }
    }

    fn define(&mut self, register: Register) {
        self.defined[register.0 as usize] = Some(self.place());
        let roots = &mut self.roots[register.0 as usize];
        if roots.is_empty() {
            // From nowhere else: it is a column of its own.
            roots.insert(register.0 as usize);
        }
    }

    /// Reads a block; `is_end` says whether the function is at its end behind it. Then what its last instruction gives
    /// is not read any more, by whatever name.
    fn block(&mut self, block: &Block, is_end: bool) {
        let last = tail::last(block).filter(|_| is_end);
        for instruction in &block.instructions {
            let is_last = last.is_some_and(|last| std::ptr::eq(last, instruction));
            self.number += 1;
            let place = self.place();
            instruction.visit_reads(&mut |register| {
                // What the blocks of an `if` read is read in them.
                if !matches!(instruction.op, Op::If(..)) {
                    self.reads.push((register, place.clone()));
                }
            });
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    let number = self.number;
                    for (block, branch) in [(then_block, true), (else_block, false)] {
                        self.branches.push((number, branch));
                        self.block(block, is_last);
                        self.branches.pop();
                        for (&result, &yielded) in instruction.results.iter().zip(&block.results) {
                            if !is_last {
                                self.join(result, yielded);
                            }
                        }
                    }
                }
                Op::Call(function) => {
                    for &position in &self.summaries.0[function.0 as usize].written {
                        let writer = Writer::Call(address(instruction), position);
                        self.note(instruction.operands[position], instruction, writer);
                    }
                    if !is_last {
                        self.call(*function, instruction);
                    }
                }
                op => self.aliases(op, instruction),
            }
            self.number += 1;
            instruction.results.iter().for_each(|&result| self.define(result));
        }
        self.number += 1;
        let place = self.place();
        self.reads
            .extend(block.results.iter().copied().filter_map(Operand::register).map(|read| (read, place.clone())));
    }

    /// Joins what the results of an instruction may share with its operands, and notes what it writes to.
    fn aliases(&mut self, op: &Op, instruction: &Instruction) {
        let single;
        let (inner, yields): (&[Instruction], &[Operand]) = match op {
            Op::Fused(block) => (&block.instructions, &block.results),
            _ => {
                single = instruction.results.iter().map(|&result| Operand::Register(result)).collect::<Vec<_>>();
                (std::slice::from_ref(instruction), &single)
            }
        };
        for update in inner.iter().filter(|inner| is_update(&inner.op)) {
            self.note(update.operands[0], instruction, Writer::Scatter);
            let in_time = inner.iter().filter(|reader| fusion::reads_where_written(reader, update)).count();
            self.changes.iter_mut().next_back().into_iter().for_each(|change| change.reads -= in_time);
        }
        if self.is_append(instruction) {
            self.note(instruction.operands[0], instruction, Writer::Append(address(instruction)));
            instruction.results.iter().for_each(|&result| self.join(result, instruction.operands[0]));
            return;
        }
        for (&result, &yielded) in instruction.results.iter().zip(yields) {
            let maker = inner.iter().find(|inner| inner.results.iter().any(|&own| Operand::Register(own) == yielded));
            let from = match maker {
                Some(maker) if is_fresh(&maker.op) => continue,
                Some(maker) if is_update(&maker.op) => vec![maker.operands[0]],
                _ => {
                    let mut all = Vec::new();
                    instruction.visit_reads(&mut |read| all.push(Operand::Register(read)));
                    all
                }
            };
            from.into_iter().for_each(|operand| self.join(result, operand));
        }
    }

    /// Whether an instruction appends columns to another one, of which they are no parts.
    fn is_append(&self, instruction: &Instruction) -> bool {
        let extends = matches!(instruction.op, Op::Vector(op) if op.row().extends);
        let Some((&Operand::Register(first), others)) = instruction.operands.split_first().filter(|_| extends) else {
            return false;
        };
        let is_part = |other: Register| other == first || !self.is_summary && self.may_share(other, first);
        !others.is_empty() && !others.iter().copied().filter_map(Operand::register).any(is_part)
    }

    /// Notes that an instruction may write to an operand.
    fn note(&mut self, operand: Operand, instruction: &Instruction, writer: Writer) {
        let is_column = |&target: &Register| matches!(self.function.register_type(target), RegisterType::Column(_));
        let Some(target) = operand.register().filter(is_column) else { return };
        let (mut reads, mut others) = (0, Vec::new());
        instruction.visit_reads(&mut |read| match read == target {
            true => reads += 1,
            false => others.push(read),
        });
        let place = self.place();
        self.changes.push(Change { target, writer, reads, others, place });
    }

    /// Whether what is written to is read by nothing else from then on, by whatever name.
    fn is_last(&self, change: &Change) -> bool {
        let is_other = |other: &Register| self.may_share(*other, change.target);
        let is_from_before = |register: Register| {
            self.defined[register.0 as usize].as_ref().is_some_and(|place| !place.may_follow(&change.place))
        };
        change.reads == 1
            && !change.others.iter().any(is_other)
            && !self
                .reads
                .iter()
                .any(|(read, place)| is_other(read) && is_from_before(*read) && place.may_follow(&change.place))
    }

    fn has_memory(&self, register: Register) -> bool {
        !matches!(self.function.register_type(register), RegisterType::Scalar(_))
    }

    /// Whether two registers may mean the same memory.
    fn may_share(&self, one: Register, other: Register) -> bool {
        let [one_roots, other_roots] = [one, other].map(|register| &self.roots[register.0 as usize]);
        self.has_memory(one) && self.has_memory(other) && !one_roots.is_disjoint(other_roots)
    }

    /// Lets a result mean what an operand does.
    fn join(&mut self, result: Register, operand: Operand) {
        let Some(operand) = operand.register() else { return };
        if self.has_memory(result) && self.has_memory(operand) {
            let roots = self.roots[operand.0 as usize].clone();
            self.roots[result.0 as usize].extend(roots);
        }
    }
}

/// Which instruction it is.
fn address(instruction: &Instruction) -> usize {
    std::ptr::from_ref(instruction).addr()
}

/// The positions of what is true.
fn positions(flags: impl Iterator<Item = bool>) -> BTreeSet<usize> {
    flags.enumerate().filter(|&(_, flag)| flag).map(|(position, _)| position).collect()
}

/// Whether an instruction changes elements of a column.
fn is_update(op: &Op) -> bool {
    matches!(op, Op::Vector(op) if op.is_update())
}

/// Whether the columns that an instruction gives are in memory of their own.
fn is_fresh(op: &Op) -> bool {
    match op {
        // The result of a check is its operand.
        Op::Map(op) => op.checked_operand().is_none(),
        Op::Vector(op) => op.row().fresh,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
