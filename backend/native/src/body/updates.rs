//! Writing elements of a column where nobody else can see it: a scatter over its own target.
//!
//! A loop that carries a column and changes an element in each turn takes one step a turn, not one for each element.
//! That a target is the function's own is seen at run time: it lies in the scratch memory that the function has taken
//! since it began. That nothing else means the same memory, and is read afterwards, is seen here, for each register
//! that a scatter writes to.
//!
//! ```text
//! f(a, i) = if i == n then a else f(a <- [(i, x)], i + 1)
//!
//!     target = mark <= a < top ? a : copy of a            // a copy in the first turn alone
//!     target[i] = x
//!     move target down to mark                            // where it is already
//!     jump f(target, i + 1)
//! ```
//!
//! Registers may mean the same memory where an instruction gives what it was given, or a part of it: they are put into
//! one class. What a group computes may be put off until the instances of an `each` need it (`super::sink`), so what
//! instances read counts as what it is made from.

use nesl_vcode::tail;
use nesl_vcode::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType, VectorOp};
use std::collections::HashSet;

/// The registers of a function of which scatters may write over the columns, where these are its own.
#[derive(Default)]
pub(super) struct Updates {
    targets: HashSet<Register>,
}

impl Updates {
    /// Of a function whose parameters, where they are its own, are different columns.
    pub fn of(function: &Function) -> Updates {
        let reading = Reading::of(function);
        let mut targets: HashSet<Register> = reading.scatters.iter().map(|scatter| scatter.target).collect();
        targets.retain(|&target| {
            let mut of_target = reading.scatters.iter().filter(|scatter| scatter.target == target);
            of_target.all(|scatter| reading.is_last(scatter))
        });
        Updates { targets }
    }

    /// Whether a scatter may write over this register's column.
    pub fn may_overwrite(&self, register: Register) -> bool {
        self.targets.contains(&register)
    }
}

/// Whether the functions of a loop may pass each other one column twice, or parts of it.
pub(super) fn share_columns(program: &Program, functions: &HashSet<FunctionId>) -> bool {
    functions.iter().any(|id| {
        let function = &program.functions[id.0 as usize];
        let reading = Reading::of(function);
        let mut shares = false;
        visit(&function.body, &mut |instruction| {
            if matches!(&instruction.op, Op::Call(callee) if functions.contains(callee)) {
                let passed = instruction.operands.iter().filter_map(|&operand| reading.class_of(operand));
                let mut seen = HashSet::new();
                shares |= !passed.into_iter().all(|class| seen.insert(class));
            }
        });
        shares
    })
}

fn visit(block: &Block, look: &mut impl FnMut(&Instruction)) {
    for instruction in &block.instructions {
        look(instruction);
        if let Op::If(then_block, else_block) = &instruction.op {
            visit(then_block, look);
            visit(else_block, look);
        }
    }
}

/// A place in a function: the branches around it, each the number of its `if` and which of the two, and its number in
/// the order of the text.
#[derive(Clone, Debug)]
struct Place {
    branches: Vec<(usize, bool)>,
    number: usize,
}

impl Place {
    /// Whether what is here may run after what is there, in one call.
    fn may_follow(&self, other: &Place) -> bool {
        let exclusive = |&(number, branch): &(usize, bool)| other.branches.contains(&(number, !branch));
        self.number > other.number && !self.branches.iter().any(exclusive)
    }
}

/// An instruction, or a group with one, that writes elements of a column.
struct Scatter {
    target: Register,
    /// How often it reads the target, and what else it reads.
    reads: usize,
    others: Vec<Register>,
    place: Place,
}

/// Where registers of a function are defined and read, and which of them may mean the same memory.
struct Reading<'a> {
    function: &'a Function,
    /// The registers of which each is in one class with another; the first of a class is its own.
    same: Vec<usize>,
    defined: Vec<Option<Place>>,
    reads: Vec<(Register, Place)>,
    scatters: Vec<Scatter>,
    /// What instances of an `each` read.
    of_instances: HashSet<Register>,
    branches: Vec<(usize, bool)>,
    number: usize,
}

impl<'a> Reading<'a> {
    fn of(function: &'a Function) -> Reading<'a> {
        let count = function.registers.len();
        let mut reading = Reading {
            function,
            same: (0..count).collect(),
            defined: vec![None; count],
            reads: Vec::new(),
            scatters: Vec::new(),
            of_instances: HashSet::new(),
            branches: Vec::new(),
            number: 0,
        };
        visit(&function.body, &mut |instruction| {
            if matches!(instruction.op, Op::Each(_)) {
                reading.of_instances.extend(instruction.operands.iter().copied().filter_map(register));
            }
        });
        function.parameters.iter().for_each(|&parameter| reading.define(parameter));
        reading.block(&function.body, true);
        reading
    }

    fn place(&self) -> Place {
        Place { branches: self.branches.clone(), number: self.number }
    }

    fn define(&mut self, register: Register) {
        self.defined[register.0 as usize] = Some(self.place());
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
                                self.join(Operand::Register(result), yielded);
                            }
                        }
                    }
                }
                Op::Call(_) if is_last => {}
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
        for scatter in inner.iter().filter(|inner| matches!(inner.op, Op::Vector(VectorOp::Scatter))) {
            self.note(scatter, instruction);
        }
        for (&result, &yielded) in instruction.results.iter().zip(yields) {
            let maker = inner.iter().find(|inner| inner.results.iter().any(|&own| Operand::Register(own) == yielded));
            let is_put_off = self.of_instances.contains(&result);
            let from = match maker {
                Some(maker) if makes_anew(&maker.op) && !is_put_off => continue,
                Some(maker) if matches!(maker.op, Op::Vector(VectorOp::Scatter)) && !is_put_off => {
                    vec![maker.operands[0]]
                }
                _ => {
                    let mut all = Vec::new();
                    instruction.visit_reads(&mut |read| all.push(Operand::Register(read)));
                    all
                }
            };
            from.into_iter().for_each(|operand| self.join(Operand::Register(result), operand));
        }
    }

    fn note(&mut self, scatter: &Instruction, instruction: &Instruction) {
        let Some(target) = register(scatter.operands[0]) else { return };
        let (mut reads, mut others) = (0, Vec::new());
        instruction.visit_reads(&mut |read| match read == target {
            true => reads += 1,
            false => others.push(read),
        });
        let place = self.place();
        self.scatters.push(Scatter { target, reads, others, place });
    }

    /// Whether what a scatter writes to is read by nothing else from then on, by whatever name.
    fn is_last(&self, scatter: &Scatter) -> bool {
        let class = self.class(scatter.target);
        let is_other = |other: &Register| self.has_memory(*other) && self.class(*other) == class;
        let is_from_before = |register: Register| {
            self.defined[register.0 as usize].as_ref().is_some_and(|place| !place.may_follow(&scatter.place))
        };
        scatter.reads == 1
            && !scatter.others.iter().any(is_other)
            && !self
                .reads
                .iter()
                .any(|(read, place)| is_other(read) && is_from_before(*read) && place.may_follow(&scatter.place))
    }

    fn has_memory(&self, register: Register) -> bool {
        !matches!(self.function.register_type(register), RegisterType::Scalar(_))
    }

    fn class(&self, register: Register) -> usize {
        let mut index = register.0 as usize;
        while self.same[index] != index {
            index = self.same[index];
        }
        index
    }

    fn class_of(&self, operand: Operand) -> Option<usize> {
        register(operand).filter(|&register| self.has_memory(register)).map(|register| self.class(register))
    }

    fn join(&mut self, one: Operand, other: Operand) {
        if let (Some(one), Some(other)) = (self.class_of(one), self.class_of(other)) {
            self.same[one.max(other)] = one.min(other);
        }
    }
}

fn register(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    }
}

/// Whether the columns that an instruction gives are in memory of their own.
fn makes_anew(op: &Op) -> bool {
    match op {
        // The result of a check is its operand.
        Op::Map(op) => op.checked_operand().is_none(),
        Op::Vector(op) => matches!(
            op,
            VectorOp::Iota
                | VectorOp::Dist
                | VectorOp::Build
                | VectorOp::Concat
                | VectorOp::Gather
                | VectorOp::Pack
                | VectorOp::Scan(_)
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the function of a program may write over its parameter 1.
    fn may(body: &str) -> bool {
        let text = format!("function f(%0: int, %1: column int, %2: column int) -> column int {{ {body} }}");
        let program = nesl_vcode::parse(&text.replace(';', "\n")).unwrap_or_else(|error| panic!("{text}\n{error}"));
        Updates::of(&program.functions[0]).may_overwrite(Register(1))
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
            "%3 = build %0; %4 = call f %0 %1 %2; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
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
    fn loops_that_pass_one_column_twice_share_it() {
        let shares = |arguments: &str| {
            let text = format!(
                "function f(%0: int, %1: column int, %2: column int) -> column int {{
                   %3 = slice %1 0 1
                   %4 = call f %0 {arguments}
                   return %4
                 }}"
            );
            let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
            share_columns(&program, &HashSet::from([FunctionId(0)]))
        };
        assert!(!shares("%1 %2") && !shares("%2 %1"));
        assert!(shares("%1 %1") && shares("%1 %3") && shares("%3 %1"));
    }
}
