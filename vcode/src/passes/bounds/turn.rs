//! What a turn of a loop says of the numbers that it counts with: which parameters only grow, or only shrink, from turn
//! to turn, which indices are such a number and what does not vary, and what they are compared with.

use crate::op::{Elements, VectorOp};
use crate::passes::linear::{self, Made, Sum};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Register};
use crate::register::RegisterType;
use crate::tail;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::{HashMap, HashSet};

/// A number that every turn hands on as it is, or more of it: or less, if it goes down.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Steps {
    pub goes_up: bool,
    pub goes_down: bool,
    /// The largest constant that is added, or subtracted.
    pub most: i64,
    /// A parameter that is added, or subtracted, and has to be positive.
    pub by: Option<Register>,
}

/// What a number that does not vary can be found from before the loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// It itself, a constant or a parameter.
    Value(Operand),
    /// It is the length of a parameter.
    Length(Register),
    /// It is the number of segments of a parameter.
    Segments(Register),
}

/// A sum: of a counter, which may be subtracted, of parameters that do not vary, and of a constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    pub counter: Register,
    /// Whether it is subtracted.
    pub is_negative: bool,
    /// The parameters, and whether each is subtracted.
    pub terms: Vec<(Register, bool)>,
    pub constant: i64,
}

impl Linear {
    /// Whether it is a counter, and nothing is added.
    pub fn is_counter(&self) -> bool {
        !self.is_negative && self.terms.is_empty() && self.constant == 0
    }
}

/// What a sum with a counter has to be for a turn to be one without checks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constraint {
    pub of: Linear,
    pub kind: Kind,
}

/// All of these numbers limit it: one that a loop begins with, for instance, and one that it goes on with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// An index into something with this many elements.
    Index(Vec<Source>),
    /// Less than this, and one more if so said.
    Less(Vec<Source>, bool),
    /// At least this, and one more if so said.
    AtLeast(Vec<Source>, bool),
}

/// A loop that is one function, and what is known of its registers.
pub(super) struct Turn<'a> {
    function: &'a Function,
    definitions: HashMap<Register, (&'a Instruction, usize)>,
    /// The calls of itself.
    calls: Vec<&'a Instruction>,
    same: HashSet<Register>,
    counters: HashMap<Register, Steps>,
}

impl<'a> Turn<'a> {
    /// None if the function is no loop, or calls others.
    pub fn of(function: &'a Function, id: FunctionId) -> Option<Turn<'a>> {
        let same = tail::handed_on(function, id)?;
        if function.body.functions().into_iter().any(|callee| callee != id) {
            return None;
        }
        let (mut definitions, mut calls) = (HashMap::new(), Vec::new());
        function.body.visit(&mut |instruction| {
            let results = instruction.results.iter().enumerate();
            definitions.extend(results.map(|(index, &result)| (result, (instruction, index))));
            if matches!(instruction.op, Op::Call(_)) {
                calls.push(instruction);
            }
        });
        let mut turn = Turn { function, definitions, calls, same, counters: HashMap::new() };
        for (position, &parameter) in function.parameters.iter().enumerate() {
            let is_number = function.register_type(parameter) == RegisterType::Scalar(ScalarType::Int);
            if is_number && let Some(steps) = turn.steps(position) {
                turn.counters.insert(parameter, steps);
            }
        }
        Some(turn)
    }

    /// How a counter goes on.
    pub fn steps_of(&self, counter: Register) -> &Steps {
        &self.counters[&counter]
    }

    /// The steps of the parameter at a position, if they go one way.
    fn steps(&self, position: usize) -> Option<Steps> {
        let mut all = Steps::default();
        for call in &self.calls {
            self.step(call.operands[position], self.function.parameters[position], &mut all)?;
        }
        (all.goes_up != all.goes_down).then_some(all)
    }

    /// Adds the step from a parameter to what is handed on for it.
    fn step(&self, next: Operand, parameter: Register, all: &mut Steps) -> Option<()> {
        let own = Operand::Register(parameter);
        if next == own {
            return Some(());
        }
        let (maker, index) = self.definition(next)?;
        let (by, is_less) = match (&maker.op, maker.operands.as_slice()) {
            (Op::If(then_block, else_block), _) => {
                let mut blocks = [then_block, else_block].into_iter();
                return blocks.try_for_each(|block| self.step(block.results[index], parameter, all));
            }
            (Op::Scalar(ScalarOp::SelectInt), &[_, a, b]) => {
                return [a, b].into_iter().try_for_each(|next| self.step(next, parameter, all));
            }
            (Op::Scalar(ScalarOp::AddInt), &[a, by] | &[by, a]) if a == own => (by, false),
            (Op::Scalar(ScalarOp::SubtractInt), &[a, by]) if a == own => (by, true),
            _ => return None,
        };
        let goes_down = match by {
            Operand::Constant(_) => {
                let by = linear::small(by)?;
                all.most = all.most.max(by.abs());
                is_less == (by > 0)
            }
            Operand::Register(by) if self.same.contains(&by) && all.by.is_none_or(|other| other == by) => {
                all.by = Some(by);
                is_less
            }
            _ => return None,
        };
        *(if goes_down { &mut all.goes_down } else { &mut all.goes_up }) = true;
        Some(())
    }

    fn definition(&self, operand: Operand) -> Option<(&'a Instruction, usize)> {
        match operand {
            Operand::Register(register) => self.definitions.get(&register).copied(),
            Operand::Constant(_) => None,
        }
    }

    /// What has to hold of an index that is checked.
    pub fn index(&self, check: &Instruction) -> Option<Constraint> {
        let [index, length] = check.operands[..] else { return None };
        Some(Constraint { of: self.counted(index)?, kind: Kind::Index(self.sources(length)?) })
    }

    /// What has to hold for a comparison to be true, or false.
    pub fn comparison(&self, comparison: &Instruction, is_true: bool) -> Option<Constraint> {
        let (Op::Scalar(op), &[a, b]) = (&comparison.op, comparison.operands.as_slice()) else { return None };
        // a < b, or a >= b, with one more.
        let (is_less, more) = match (op, is_true) {
            (ScalarOp::LessInt, true) | (ScalarOp::AtLeastInt, false) => (true, false),
            (ScalarOp::AtMostInt, true) | (ScalarOp::GreaterInt, false) => (true, true),
            (ScalarOp::AtLeastInt, true) | (ScalarOp::LessInt, false) => (false, false),
            (ScalarOp::GreaterInt, true) | (ScalarOp::AtMostInt, false) => (false, true),
            _ => return None,
        };
        let kind =
            |sources, is_less, more| if is_less { Kind::Less(sources, more) } else { Kind::AtLeast(sources, more) };
        if let Some(of) = self.counted(a) {
            return Some(Constraint { of, kind: kind(self.sources(b)?, is_less, more) });
        }
        // b > a, or b <= a.
        Some(Constraint { of: self.counted(b)?, kind: kind(self.sources(a)?, !is_less, !more) })
    }

    fn counted(&self, operand: Operand) -> Option<Linear> {
        let sum = Sum::of(operand, &|operand| self.made(operand))?;
        let (mut counter, mut terms) = (None, Vec::new());
        for (term, times) in sum.terms {
            let (Operand::Register(register), 1 | -1) = (term, times) else { return None };
            match self.same.contains(&register) {
                true => terms.push((register, times < 0)),
                false if self.counters.contains_key(&register) && counter.is_none() => {
                    counter = Some((register, times < 0));
                }
                false => return None,
            }
        }
        let (counter, is_negative) = counter?;
        Some(Linear { counter, is_negative, terms, constant: sum.constant })
    }

    /// How a number was made that a turn makes.
    fn made(&self, operand: Operand) -> Option<Made> {
        let (maker, _) = self.definition(operand)?;
        match maker.op {
            Op::Scalar(op) => Made::by(op, &maker.operands),
            _ => None,
        }
    }

    /// What a number is in all turns: in the first one, and in those after it.
    fn sources(&self, operand: Operand) -> Option<Vec<Source>> {
        if let Some(source) = self.source(operand) {
            return Some(vec![source]);
        }
        let position = self.function.parameters.iter().position(|&own| operand == Operand::Register(own))?;
        let mut sources = vec![Source::Value(operand)];
        for call in &self.calls {
            let next = self.source(call.operands[position])?;
            if !sources.contains(&next) {
                sources.push(next);
            }
        }
        Some(sources)
    }

    fn source(&self, operand: Operand) -> Option<Source> {
        match operand {
            Operand::Constant(ScalarValue::Int(_)) => return Some(Source::Value(operand)),
            Operand::Register(register) if self.same.contains(&register) => return Some(Source::Value(operand)),
            _ => {}
        }
        let (maker, _) = self.definition(operand)?;
        match (&maker.op, maker.operands.as_slice()) {
            (Op::Vector(VectorOp::Length), &[Operand::Register(column)]) => {
                self.keeps_length(column).then_some(Source::Length(column))
            }
            (Op::Vector(VectorOp::Segments), &[Operand::Register(descriptor)]) => {
                self.same.contains(&descriptor).then_some(Source::Segments(descriptor))
            }
            _ => None,
        }
    }

    /// Whether a parameter has as many elements in all turns.
    fn keeps_length(&self, parameter: Register) -> bool {
        let Some(position) = self.function.parameters.iter().position(|&own| own == parameter) else { return false };
        self.calls.iter().all(|call| self.is_as_long(call.operands[position], parameter))
    }

    fn is_as_long(&self, column: Operand, parameter: Register) -> bool {
        if column == Operand::Register(parameter) {
            return true;
        }
        let Some((maker, index)) = self.definition(column) else { return false };
        match &maker.op {
            Op::If(then_block, else_block) => {
                [then_block, else_block].iter().all(|block| self.is_as_long(block.results[index], parameter))
            }
            Op::Vector(op) => match op.row().elements {
                Elements::Column(operand) => self.is_as_long(maker.operands[operand], parameter),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Calls `visit` on the instructions that are part of every turn but the last, with the condition on which the loop
/// then goes on, and what that is.
pub(super) fn visit_turn<'a>(block: &'a Block, visit: &mut impl FnMut(&'a [Instruction], Option<(Operand, bool)>)) {
    if let Some(Instruction { op: Op::If(then_block, else_block), operands, .. }) = tail::last(block) {
        let [goes_on, leaves] = [then_block, else_block].map(|block| !block.functions().is_empty());
        if goes_on != leaves {
            visit(&block.instructions, Some((operands[0], goes_on)));
            return visit_turn(if goes_on { then_block } else { else_block }, visit);
        }
    }
    visit(&block.instructions, None);
}
