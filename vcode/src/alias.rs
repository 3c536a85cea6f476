//! Which registers of a function may mean the same memory, and what may therefore be written over: alias analysis.
//!
//! Values do not change. Where nothing that means the memory of a column is read any more, a changed column may be
//! written over it, so that to change an element takes one step, and what is appended to it may be written behind it.
//! An engine that overwrites columns as it runs counts their users; machine code knows before, for each register that a
//! scatter writes to or that something is appended to, and for each column that is passed to a function.
//!
//! Registers may mean the same memory where an instruction gives what it was given, or a part of it: it means all that
//! these may mean. That the result of an instruction has memory of its own is a column of the table
//! ([`crate::op::Row::fresh`]); what a call gives means what the function gives of what it gets ([`Summaries`]). What a
//! group computes may be put off until the instances of an `each` need it, so what instances read counts as what it is
//! made from.

use crate::op::VectorOp;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use crate::tail;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the results of each function of a program may mean the memory of.
#[derive(Clone, Debug)]
pub struct Summaries(Vec<Vec<MayAlias>>);

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
        let mut callers = vec![BTreeSet::new(); count];
        for (caller, function) in program.functions.iter().enumerate() {
            function.body.visit(&mut |instruction| {
                if let Op::Call(callee) = instruction.op {
                    callers[callee.0 as usize].insert(caller);
                }
            });
        }
        let nothing = |function: &Function| vec![MayAlias::default(); function.body.results.len()];
        let mut summaries = Summaries(program.functions.iter().map(nothing).collect());
        let mut waiting: BTreeSet<usize> = (0..count).collect();
        while let Some(index) = waiting.pop_first() {
            let found = Reading::of(&program.functions[index], &summaries, false).summaries();
            if found != summaries.0[index] {
                summaries.0[index] = found;
                waiting.extend(&callers[index]);
            }
        }
        summaries
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
                let passed: Vec<Register> = instruction.operands.iter().copied().filter_map(register).collect();
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
    /// What instances of an `each` read.
    of_instances: HashSet<Register>,
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
            of_instances: HashSet::new(),
            is_summary: !is_end,
            branches: Vec::new(),
            number: 0,
        };
        function.body.visit(&mut |instruction| {
            if matches!(instruction.op, Op::Each(_)) {
                reading.of_instances.extend(instruction.operands.iter().copied().filter_map(register));
            }
        });
        function.parameters.iter().for_each(|&parameter| reading.define(parameter));
        reading.block(&function.body, is_end);
        reading
    }

    /// What each result of the function may mean the memory of.
    fn summaries(&self) -> Vec<MayAlias> {
        let Function { parameters, body, .. } = self.function;
        let summary = |index: usize| {
            let Some(result) = register(body.results[index]) else { return MayAlias::default() };
            let shares = |other: Register| self.may_share(result, other);
            let before = body.results[..index].iter().map(|&other| register(other).is_some_and(shares));
            MayAlias {
                parameters: positions(parameters.iter().map(|&parameter| shares(parameter))),
                results: positions(before),
            }
        };
        (0..body.results.len()).map(summary).collect()
    }

    /// Joins what the results of a call may share with its operands, and with each other.
    fn call(&mut self, function: FunctionId, call: &Instruction) {
        let summaries = self.summaries;
        for (summary, &result) in summaries.0[function.0 as usize].iter().zip(&call.results) {
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
                    for (position, &operand) in instruction.operands.iter().enumerate() {
                        self.note(operand, instruction, Writer::Call(address(instruction), position));
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
        self.reads.extend(block.results.iter().copied().filter_map(register).map(|read| (read, place.clone())));
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
        }
        if self.is_append(instruction) {
            self.note(instruction.operands[0], instruction, Writer::Append(address(instruction)));
            instruction.results.iter().for_each(|&result| self.join(result, instruction.operands[0]));
            return;
        }
        for (&result, &yielded) in instruction.results.iter().zip(yields) {
            let maker = inner.iter().find(|inner| inner.results.iter().any(|&own| Operand::Register(own) == yielded));
            let is_put_off = self.of_instances.contains(&result);
            let from = match maker {
                Some(maker) if is_fresh(&maker.op) && !is_put_off => continue,
                Some(maker) if is_update(&maker.op) && !is_put_off => {
                    vec![maker.operands[0]]
                }
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
        let Some((&first, others)) = instruction.operands.split_first() else { return false };
        let Some(first) = register(first).filter(|_| instruction.op == Op::Vector(VectorOp::Concat)) else {
            return false;
        };
        let is_part = |other: Register| other == first || !self.is_summary && self.may_share(other, first);
        !others.is_empty() && !others.iter().copied().filter_map(register).any(is_part)
    }

    /// Notes that an instruction may write to an operand.
    fn note(&mut self, operand: Operand, instruction: &Instruction, writer: Writer) {
        let is_column = |&target: &Register| matches!(self.function.register_type(target), RegisterType::Column(_));
        let Some(target) = register(operand).filter(is_column) else { return };
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
        let Some(operand) = register(operand) else { return };
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

fn register(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    }
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
mod tests {
    use super::*;

    /// Whether the function of a program may write over its parameter 1.
    fn may(body: &str) -> bool {
        let header = "(%0: int, %1: column int, %2: column int) -> column int";
        let text = format!("function f{header} {{ {body} }}; function g{header} {{ return %1 }}");
        let program = crate::parse::parse(&text.replace(';', "\n")).unwrap_or_else(|error| panic!("{text}\n{error}"));
        Updates::of(&program.functions[0], &Summaries::of(&program)).may_overwrite(Register(1))
    }

    #[test]
    fn a_column_that_nobody_reads_afterwards_is_written_over() {
        assert!(may("%3 = build %0; %4 = scatter %1 %3 %3; return %4"));
        assert!(may("%3 = build %0; %4 = length %1; %5 = extract %1 0; %6 = scatter %1 %3 %3; return %6"));
        // In one branch, where the other gives it as it is; and again.
        assert!(may("%3 = build %0; %4 = less.int %0 3;
             %5 = if %4 { %6 = scatter %1 %3 %3; yield %6 } else { yield %1 }; return %5"));
        // What is read of it before has memory of its own.
        assert!(may("%3 = build %0; %4 = gather %1 %3; %5 = scatter %1 %3 %4; return %5"));
        // What a call at the end gives is not read here.
        assert!(may("%3 = build %0; %4 = scatter %1 %3 %3; %5 = call f %0 %4 %2; return %5"));
        // What a call gives of something else is.
        assert!(may("%3 = build %0; %4 = call g %0 %2 %1; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6"));
    }

    #[test]
    fn what_is_read_afterwards_by_any_name_stays() {
        for body in [
            "%3 = build %0; %4 = scatter %1 %3 %3; %5 = extract %1 0; %6 = build %5; %7 = concat %4 %6; return %7",
            // Through a part of it, a check, a branch, a call.
            "%3 = build %0; %4 = slice %1 0 1; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
            "%3 = build %0; %4 = map check_index %1 %0; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
            "%3 = build %0; %4 = less.int %0 3; %5 = if %4 { yield %1 } else { yield %2 };
             %6 = scatter %1 %3 %3; %7 = concat %6 %5; return %7",
            "%3 = build %0; %4 = call g %0 %1 %2; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
            // It is where, or what, is written.
            "%3 = scatter %1 %1 %2; return %3",
            "%3 = scatter %1 %2 %1; return %3",
            "%3 = build %0; %4 = fused { %5 = gather %1 %3; %6 = scatter %1 %3 %5; yield %6 }; return %4",
            // One of two that read it.
            "%3 = build %0; %4 = scatter %1 %3 %3; %5 = scatter %1 %3 %3; %6 = concat %4 %5; return %6",
        ] {
            assert!(!may(body), "{body}");
        }
    }

    #[test]
    fn what_is_appended_is_written_behind_what_nobody_reads_afterwards() {
        let appends = |body: &str| {
            let text = format!("function f(%0: int, %1: column int, %2: column int) -> column int {{\n{body}\n}}");
            let program = crate::parse::parse(&text.replace(';', "\n"));
            let program = program.unwrap_or_else(|error| panic!("{text}\n{error}"));
            let function = &program.functions[0];
            let updates = Updates::of(function, &Summaries::of(&program));
            let mut found = Vec::new();
            function.body.visit(&mut |instruction| {
                if matches!(instruction.op, Op::Vector(VectorOp::Concat)) {
                    found.push(updates.may_append(instruction));
                }
            });
            found
        };
        assert_eq!(appends("%3 = concat %1 %2; return %3"), [true]);
        assert_eq!(appends("%3 = slice %1 0 %0; %4 = concat %3 %2; return %4"), [true]);
        assert_eq!(appends("%3 = concat %1 %2; %4 = concat %3 %2; return %4"), [true, true]);
        // Of two, neither; what is appended may not lie there; and nobody may read it later, by any name.
        assert_eq!(appends("%3 = concat %1 %2; %4 = concat %1 %3; return %4"), [false, false]);
        assert_eq!(appends("%3 = slice %1 0 %0; %4 = slice %1 %0 1; %5 = concat %3 %4; return %5"), [false]);
        assert_eq!(
            appends("%3 = slice %1 0 1; %4 = concat %1 %2; %5 = extract %3 0; %6 = build %5; return %6"),
            [false]
        );
        // The result is where the first operand was.
        assert!(!may("%3 = slice %1 0 1; %4 = concat %3 %2; %5 = extract %1 0; %6 = build %5; %7 = scatter %1 %6 %6;
             %8 = concat %7 %4; return %8"));
    }

    #[test]
    fn calls_are_given_what_nobody_reads_afterwards() {
        let granted = |body: &str| {
            let text = format!("function f(%0: int, %1: column int, %2: column int) -> column int {{\n{body}\n}}");
            let program = crate::parse::parse(&text.replace(';', "\n"));
            let program = program.unwrap_or_else(|error| panic!("{text}\n{error}"));
            let function = &program.functions[0];
            let updates = Updates::of(function, &Summaries::of(&program));
            let mut found = Vec::new();
            function.body.visit(&mut |instruction| {
                if matches!(instruction.op, Op::Call(_)) {
                    found.push(updates.granted(instruction).to_vec());
                }
            });
            found
        };
        assert_eq!(granted("%3 = call f %0 %1 %2; return %3"), [[1, 2]]);
        assert_eq!(granted("%3 = call f %0 %1 %2; %4 = concat %3 %1; return %4"), [[2]]);
        assert_eq!(granted("%3 = call f %0 %1 %2; %4 = scatter %3 %1 %1; return %4"), [[2]]);
        assert_eq!(granted("%3 = call f %0 %1 %2; %4 = call f %0 %3 %3; return %4"), [vec![1, 2], vec![]]);
        assert_eq!(granted("%3 = slice %1 0 1; %4 = call f %0 %1 %3; return %4"), [Vec::<usize>::new()]);
        assert_eq!(granted("%3 = slice %1 0 1; %4 = call f %0 %1 %2; %5 = concat %3 %4; return %5"), [[2]]);
    }

    #[test]
    fn loops_that_pass_one_column_twice_share_it() {
        let shares = |arguments: &str| {
            let text = format!(
                "function f(%0: int, %1: column int, %2: column int) -> column int {{
                   %3 = slice %1 0 1
                   %4 = call f %0 {arguments}
                   return %4
                 }}"
            );
            let program = crate::parse::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
            passes_one_twice(&program, &HashSet::from([FunctionId(0)]), &Summaries::of(&program))
        };
        assert!(!shares("%1 %2") && !shares("%2 %1"));
        assert!(shares("%1 %1") && shares("%1 %3") && shares("%3 %1"));
    }

    #[test]
    fn what_functions_give_of_what_they_get_follows_calls() {
        let text = "
            function f(%0: int, %1: descriptor, %2: column int, %3: column int) -> descriptor, column int, column int {
              %4 = equal.int %0 0
              %5, %6, %7 = if %4 { yield %1 %3 %2 } else {
                %8 = subtract.int %0 1
                %9, %10, %11 = call f %8 %1 %2 %3
                yield %9 %10 %11
              }
              return %5 %6 %7
            }
            function g(%0: int, %1: descriptor, %2: column int) -> descriptor, column int, column int, column int {
              %3 = map add.int %2 1
              %4, %5, %6 = call f %0 %1 %2 %3
              %7 = slice %6 0 1
              %8 = concat %7 %7
              return %4 %5 %7 %8
            }";
        let program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let summaries = Summaries::of(&program);
        let of = |function: usize| -> Vec<(Vec<usize>, Vec<usize>)> {
            let both = |summary: &MayAlias| {
                [&summary.parameters, &summary.results].map(|all| all.iter().copied().collect()).into()
            };
            summaries.0[function].iter().map(both).collect()
        };
        assert_eq!(of(0), [(vec![1], vec![]), (vec![3], vec![]), (vec![2], vec![])]);
        assert_eq!(of(1), [(vec![1], vec![]), (vec![], vec![]), (vec![2], vec![]), (vec![], vec![])]);
    }

    #[test]
    fn results_that_are_one_column_are_known_to_be() {
        let text = "
            function f(%0: int) -> column int, int, column int {
              %1 = iota %0
              %2 = slice %1 0 1
              return %1 %0 %2
            }
            function g(%0: int) -> column int, column int {
              %1, %2, %3 = call f %0
              %4 = build %2
              %5 = scatter %1 %4 %4
              return %5 %3
            }";
        let program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let summaries = Summaries::of(&program);
        assert_eq!(summaries.0[0][2].results, BTreeSet::from([0]));
        assert!(!Updates::of(&program.functions[1], &summaries).may_overwrite(Register(1)));
    }
}
