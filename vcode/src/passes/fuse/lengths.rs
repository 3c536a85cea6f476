//! What is known to have the same number of elements.
//!
//! Each instruction says something: an elementwise one that its columns have one length, a check that has passed that
//! two numbers are one. Classes of equal numbers are kept as trees, each link with the time since which it holds: what
//! a later check says does not hold before it. Links are never shortened, so that they can be undone at the end of a
//! block.

use crate::fusion::Extent;
use crate::op::{Elements, VectorOp};
use crate::program::{Instruction, Op, Operand, RegisterType};
use nesl_prim::{ScalarOp, ScalarValue};
use std::collections::HashMap;

/// Equal numbers of elements, in a function.
pub(in crate::passes) struct Lengths {
    /// For each number another one that equals it, or itself.
    parents: Vec<usize>,
    /// Since when it does.
    since: Vec<usize>,
    /// How many numbers are below each root.
    weights: Vec<usize>,
    constants: HashMap<i64, usize>,
    /// How many elements so many segments of a length have.
    products: HashMap<[Operand; 2], usize>,
    /// The descriptors that were made as packed.
    packed: Vec<bool>,
    /// The numbers that have been linked, in order.
    linked: Vec<usize>,
}

impl Lengths {
    /// Nothing is known yet of the registers of a function, of which there are `count`.
    pub fn new(count: usize) -> Lengths {
        let numbers = 2 * count;
        Lengths {
            parents: (0..numbers).collect(),
            since: vec![0; numbers],
            weights: vec![1; numbers],
            constants: HashMap::new(),
            products: HashMap::new(),
            packed: vec![false; count],
            linked: Vec::new(),
        }
    }

    /// The number that a scalar is, of the elements of a column, or of the segments of a descriptor.
    fn own(&mut self, operand: Operand) -> Option<usize> {
        match operand {
            Operand::Register(register) => Some(2 * register.0 as usize),
            Operand::Constant(ScalarValue::Int(value)) => {
                Some(self.constants.get(&value).copied().unwrap_or_else(|| {
                    let number = self.another();
                    self.constants.insert(value, number);
                    number
                }))
            }
            Operand::Constant(_) => None,
        }
    }

    /// A number of which nothing is known.
    fn another(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.since.push(0);
        self.weights.push(1);
        self.parents.len() - 1
    }

    /// The number of elements that so many segments of a length have.
    fn product(&mut self, length: Operand, count: Operand) -> usize {
        if let Some(&number) = self.products.get(&[length, count]) {
            return number;
        }
        let number = self.another();
        self.products.insert([length, count], number);
        number
    }

    /// The number of the elements in the segments of a descriptor, of true flags in a column, or the sum of its ints.
    fn inside(operand: Operand) -> Option<usize> {
        match operand {
            Operand::Register(register) => Some(2 * register.0 as usize + 1),
            Operand::Constant(_) => None,
        }
    }

    /// Learns what an instruction says once it has run.
    pub fn learn(&mut self, instruction: &Instruction, registers: &[RegisterType], now: usize) {
        let operands = instruction.operands.as_slice();
        let Some(result) = instruction.results.first().map(|&result| Operand::Register(result)) else { return };
        let made = self.own(result);
        match &instruction.op {
            Op::Scalar(op) => {
                if let Some(checked) = op.checked_operand() {
                    let checked = self.own(operands[checked]);
                    self.equal(made, checked, now);
                }
                if let ScalarOp::CheckLengths | ScalarOp::CheckPartition = op {
                    let (first, second) = (self.own(operands[0]), self.own(operands[1]));
                    self.equal(first, second, now);
                }
            }
            Op::Map(op) => {
                for (position, &operand) in operands.iter().enumerate() {
                    if let Operand::Register(register) = operand
                        && matches!(registers[register.0 as usize], RegisterType::Column(_))
                    {
                        let column = self.own(operand);
                        self.equal(made, column, now);
                        let is_equal = *op == ScalarOp::CheckLengths || op.checked_operand() == Some(position);
                        if is_equal {
                            self.equal(Self::inside(result), Self::inside(operand), now);
                        }
                    }
                }
            }
            Op::Constants(constants) => {
                let length = i64::try_from(constants.len()).ok();
                let length = length.and_then(|length| self.own(Operand::Constant(ScalarValue::Int(length))));
                self.equal(made, length, now);
            }
            Op::Vector(op) => self.learn_vector(*op, operands, result, now),
            Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..) | Op::Fused(_) => {}
        }
    }

    fn learn_vector(&mut self, op: VectorOp, operands: &[Operand], result: Operand, now: usize) {
        let row = op.row();
        let (made, number) = (self.own(result), self.number(row.elements, operands));
        self.equal(made, number, now);
        for &(one, other) in row.equal {
            let one = self.number(one, operands);
            for other in self.numbers(other, operands) {
                self.equal(one, other, now);
            }
        }
        if let Some(summed) = row.sum {
            self.equal(Self::inside(result), Self::inside(operands[summed]), now);
        }
        if let Some([length, count]) = op.regular_operands() {
            let elements = self.product(operands[length], operands[count]);
            self.equal(Self::inside(result), Some(elements), now);
        }
        for &(column, descriptor) in op.data() {
            if matches!(operands[descriptor], Operand::Register(register) if self.packed[register.0 as usize]) {
                let column = self.own(operands[column]);
                self.equal(column, Self::inside(operands[descriptor]), now);
            }
        }
        match op {
            VectorOp::Reduce(ScalarOp::AddLength) => self.equal(made, Self::inside(operands[0]), now),
            VectorOp::Packed | VectorOp::Regular => {
                if let Operand::Register(descriptor) = result {
                    self.packed[descriptor.0 as usize] = true;
                }
            }
            _ => {}
        }
    }

    /// The number that the table means, of these operands.
    fn number(&mut self, elements: Elements, operands: &[Operand]) -> Option<usize> {
        match elements {
            Elements::Value(operand) | Elements::Column(operand) | Elements::Segments(operand) => {
                self.own(operands[operand])
            }
            Elements::Trues(operand) | Elements::Total(operand) => Self::inside(operands[operand]),
            Elements::Operands => {
                let count = i64::try_from(operands.len()).ok();
                count.and_then(|count| self.own(Operand::Constant(ScalarValue::Int(count))))
            }
            Elements::Unknown | Elements::Texts(_) | Elements::Each | Elements::All | Elements::Sum(_) => None,
        }
    }

    /// The numbers that it means, where each of the operands has one.
    fn numbers(&mut self, elements: Elements, operands: &[Operand]) -> Vec<Option<usize>> {
        match elements {
            Elements::Each => operands.iter().map(|&operand| self.own(operand)).collect(),
            _ => vec![self.number(elements, operands)],
        }
    }

    fn equal(&mut self, one: Option<usize>, other: Option<usize>, now: usize) {
        let (Some(one), Some(other)) = (one, other) else { return };
        let (one, other) = (self.root(one, now), self.root(other, now));
        if one == other {
            return;
        }
        let (above, below) = if self.weights[one] < self.weights[other] { (other, one) } else { (one, other) };
        self.parents[below] = above;
        self.since[below] = now;
        self.weights[above] += self.weights[below];
        self.linked.push(below);
    }

    /// The number that stands for all that equal one at a time. Links further up are younger.
    fn root(&self, mut number: usize, time: usize) -> usize {
        while self.parents[number] != number && self.since[number] <= time {
            number = self.parents[number];
        }
        number
    }

    /// Whether two numbers of indices are known to be equal at a time.
    pub fn same(&self, one: Extent, other: Extent, time: usize) -> bool {
        let number = |extent| match extent {
            Extent::Value(Operand::Constant(ScalarValue::Int(value))) => self.constants.get(&value).copied(),
            Extent::Value(Operand::Constant(_)) => None,
            Extent::Value(Operand::Register(register)) | Extent::Column(register) => Some(2 * register.0 as usize),
            Extent::Total(register) => Self::inside(register.into()),
            Extent::Packed(register) => Self::inside(register.into()).filter(|_| self.packed[register.0 as usize]),
        };
        match (number(one), number(other)) {
            (Some(one), Some(other)) => self.root(one, time) == self.root(other, time),
            _ => false,
        }
    }

    /// How much is known.
    pub fn known(&self) -> usize {
        self.linked.len()
    }

    /// Forgets what has been learnt since so much was known.
    pub fn forget(&mut self, known: usize) {
        for below in self.linked.drain(known..).rev() {
            self.weights[self.parents[below]] -= self.weights[below];
            self.parents[below] = below;
        }
    }
}
