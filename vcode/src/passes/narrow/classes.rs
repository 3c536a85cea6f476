//! Which columns can be bytes: those whose elements are known to be 0 to 255 together with all that they are moved
//! into and come from, where nothing asks for ints in memory.

use super::{moved, read_at_index};
use crate::op::VectorOp;
use crate::program::{Block, Function, Instruction, Op, Operand, Register, RegisterType};
use nesl_prim::{Constants, Interval, ScalarType};
use std::collections::{HashMap, HashSet};

/// The columns of a function that are to be bytes.
pub(super) fn chosen(function: &Function) -> HashSet<Register> {
    let count = function.registers.len();
    let mut columns = Columns {
        registers: &function.registers,
        intervals: HashMap::new(),
        can_be_bytes: vec![false; count],
        asked_for: vec![false; count],
        computed: vec![false; count],
        class: (0..count).collect(),
    };
    columns.block(&function.body);
    columns.chosen()
}

struct Columns<'a> {
    registers: &'a [RegisterType],
    /// Between which numbers the values of registers are, where that is known.
    intervals: HashMap<Register, Interval>,
    /// Registers with bytes that come from where they can be made bytes.
    can_be_bytes: Vec<bool>,
    /// Registers that something needs as ints.
    asked_for: Vec<bool>,
    /// Registers that a group computes: others are not worth it.
    computed: Vec<bool>,
    /// For each register another one that it is moved into or comes from, or itself.
    class: Vec<usize>,
}

impl Columns<'_> {
    fn chosen(mut self) -> HashSet<Register> {
        let count = self.registers.len();
        let (mut fails, mut is_worth_it) = (vec![false; count], vec![false; count]);
        for register in 0..count {
            let root = self.root(register);
            fails[root] |= !self.can_be_bytes[register] || self.asked_for[register];
            is_worth_it[root] |= self.computed[register];
        }
        let is_chosen = |&register: &usize| {
            let root = self.root(register);
            is_worth_it[root] && !fails[root]
        };
        (0..count).filter(is_chosen).map(|register| Register(register as u32)).collect()
    }

    /// The register that stands for all of a class.
    fn root(&mut self, mut register: usize) -> usize {
        while self.class[register] != register {
            // Paths become shorter as they are walked.
            self.class[register] = self.class[self.class[register]];
            register = self.class[register];
        }
        register
    }

    fn join(&mut self, one: Register, other: Register) {
        let [one, other] = [one, other].map(|register| self.root(register.0 as usize));
        self.class[one] = other;
    }

    fn is_ints(&self, register: Register) -> bool {
        self.registers[register.0 as usize] == RegisterType::Column(ScalarType::Int)
    }

    fn ask_for(&mut self, operands: &[Operand]) {
        operands.iter().filter_map(|operand| operand.register()).for_each(|register| {
            self.asked_for[register.0 as usize] = true;
        });
    }

    /// Between which numbers an operand is.
    fn interval(&self, operand: Operand) -> Option<Interval> {
        match operand {
            Operand::Constant(value) => Interval::of_value(value),
            Operand::Register(register) => {
                self.intervals.get(&register).copied().or(match self.registers[register.0 as usize] {
                    RegisterType::Column(ty) | RegisterType::Scalar(ty) => Interval::of_type(ty),
                    RegisterType::Descriptor => None,
                })
            }
        }
    }

    /// Notes what is known of the result of an instruction.
    fn learn(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands;
        let of = |position: usize| self.interval(operands[position]);
        let hull = |positions: &[usize]| {
            let mut all = positions.iter().map(|&position| of(position));
            all.try_fold(None, |hull: Option<Interval>, one| {
                one.map(|one| Some(hull.map_or(one, |hull| hull.hull(one))))
            })
        };
        let interval = match &instruction.op {
            Op::Map(op) | Op::Scalar(op) => Interval::of_operation(*op, of),
            Op::Constants(Constants::Int(values)) => Some(Interval::of_numbers(values).unwrap_or(Interval::new(0, 0))),
            Op::Vector(VectorOp::Dist) => of(0),
            Op::Vector(VectorOp::Build) => hull(&(0..operands.len()).collect::<Vec<_>>()).flatten(),
            _ => hull(&moved(instruction)).flatten(),
        };
        if let (Some(interval), &[result]) = (interval, &instruction.results[..]) {
            self.intervals.insert(result, interval);
        }
    }

    /// Notes that bytes can be made where a register is defined, if its values are such.
    fn note(&mut self, result: Register) {
        let is_byte = self.intervals.get(&result).is_some_and(|interval| interval.is_in(0, 255));
        self.can_be_bytes[result.0 as usize] = is_byte && self.is_ints(result);
    }

    fn block(&mut self, block: &Block) {
        for instruction in &block.instructions {
            self.learn(instruction);
            let operands = &instruction.operands;
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    self.block(then_block);
                    self.block(else_block);
                }
                Op::Fused(group) => self.group(group, &instruction.results),
                Op::Constants(_) => self.note(instruction.results[0]),
                Op::Vector(VectorOp::Dist | VectorOp::Build) => {
                    self.note(instruction.results[0]);
                    let are_constants = super::values(instruction).iter().all(|value| value.register().is_none());
                    self.can_be_bytes[instruction.results[0].0 as usize] &= are_constants;
                }
                Op::Vector(VectorOp::Length) => {}
                Op::Vector(VectorOp::Extract) => self.ask_for(&operands[1..]),
                _ => self.moves(instruction),
            }
        }
        self.ask_for(&block.results);
    }

    /// Notes that what an instruction moves becomes bytes with its result, and that it needs all else as it is.
    fn moves(&mut self, instruction: &Instruction) {
        let moved = moved(instruction);
        for (position, &operand) in instruction.operands.iter().enumerate() {
            match operand.register().filter(|_| moved.contains(&position)) {
                Some(register) => self.join(register, instruction.results[0]),
                None => self.ask_for(&[operand]),
            }
        }
        if !moved.is_empty() {
            self.note(instruction.results[0]);
        }
    }

    /// Notes what a group reads, and what it yields.
    fn group(&mut self, group: &Block, results: &[Register]) {
        for member in &group.instructions {
            self.learn(member);
            let at_index = read_at_index(member, self.registers);
            let is_each = matches!(member.op, Op::Each(_));
            let data = moved(member);
            for (position, &operand) in member.operands.iter().enumerate() {
                let is_element = at_index.contains(&position) && !is_each;
                if !is_element && !data.contains(&position) {
                    self.ask_for(&[operand]);
                }
            }
        }
        for (&value, &result) in group.results.iter().zip(results) {
            let inner = value.register().filter(|inner| group.instructions.iter().any(|it| it.results.contains(inner)));
            if let (Some(interval), Some(_)) = (self.interval(value), inner) {
                self.intervals.insert(result, interval);
                self.note(result);
                self.computed[result.0 as usize] = true;
            } else {
                self.ask_for(&[value]);
            }
        }
    }
}
