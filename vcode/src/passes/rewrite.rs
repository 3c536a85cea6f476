//! One walk over a function in program order, on which a pass is a rule for single instructions.
//!
//! The walk renames operands as it goes: a rule that replaces an instruction by a value already known names that value,
//! and every later use sees it. What a rule may look at is the instructions before, by the registers they define. Since
//! a register's definition dominates its uses, so do the operands of that definition: a rule can use them without
//! further check.

use crate::op::VectorOp;
use crate::program::{Block, Function, Instruction, Op, Operand, Place, Register, RegisterType};
use nesl_prim::{Property, ScalarOp};

/// What becomes of an instruction.
pub enum Action {
    /// It stays.
    Keep,
    /// It goes; its one result is this value.
    Replace(Operand),
    /// It is another instruction with the same result; the rule sees that one too.
    Become(Op, Vec<Operand>),
    /// It goes; what its results are has been said by [`Context::rename`].
    Remove,
    /// It is an `if`, and only its first (true) or its second block runs; or a group, whose one block is the first.
    Take(bool),
}

/// The rule of a pass.
pub trait Rule {
    /// What becomes of an instruction whose operands are renamed. Blocks of an `if` have not been walked yet.
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action;

    /// A block of an `if` begins.
    fn enter(&mut self) {}

    /// A block of an `if` ends.
    fn leave(&mut self, _context: &mut Context) {}

    /// Both blocks of an `if` that stays have been walked, or it is a group that stays; may drop results and rename
    /// them.
    fn join(&mut self, _context: &mut Context, _instruction: &mut Instruction) {}
}

/// How a register was defined.
#[derive(Clone, Debug)]
pub struct Definition {
    /// By what.
    pub maker: Maker,
    /// On what.
    pub operands: Vec<Operand>,
}

/// An operation that defines one register without blocks or calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Maker {
    /// A scalar operation.
    Scalar(ScalarOp),
    /// An elementwise operation.
    Map(ScalarOp),
    /// A vector operation.
    Vector(VectorOp),
    /// A constant column of this length.
    Constants(usize),
}

impl Maker {
    /// Whether the ints that it gives are lengths or positions, or no larger than these.
    pub fn is_natural(self) -> bool {
        match self {
            Maker::Vector(op) => op.row().natural,
            Maker::Scalar(op) | Maker::Map(op) => op.is(Property::Natural),
            Maker::Constants(_) => false,
        }
    }
}

/// What the walk knows at an instruction.
pub struct Context {
    registers: Vec<RegisterType>,
    definitions: Vec<Option<Definition>>,
    names: Vec<Option<Operand>>,
    output: Vec<Instruction>,
    place: Place,
}

impl Context {
    /// The type of an operand.
    pub fn type_of(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Register(register) => self.registers[register.0 as usize],
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        }
    }

    /// Whether an operand is a scalar.
    pub fn is_scalar(&self, operand: Operand) -> bool {
        matches!(self.type_of(operand), RegisterType::Scalar(_))
    }

    /// How an operand was defined; none for constants, parameters, and results of calls and blocks.
    pub fn definition(&self, operand: Operand) -> Option<&Definition> {
        match operand {
            Operand::Register(register) => self.definitions[register.0 as usize].as_ref(),
            Operand::Constant(_) => None,
        }
    }

    /// The operands of the vector operation that made an operand, if it is that one.
    pub fn made_by(&self, operand: Operand, op: VectorOp) -> Option<&[Operand]> {
        self.definition(operand)
            .filter(|definition| definition.maker == Maker::Vector(op))
            .map(|definition| definition.operands.as_slice())
    }

    /// The scalar that is everywhere in a column, and how often, if it was made of these.
    pub fn broadcast(&self, column: Operand) -> Option<[Operand; 2]> {
        self.made_by(column, VectorOp::Dist)?.try_into().ok()
    }

    /// Lets all later uses of a register, and of what was renamed to it, be uses of another value, which must not be a
    /// name of the register.
    pub fn rename(&mut self, register: Register, value: Operand) {
        self.names[register.0 as usize] = Some(value);
    }

    /// Lets later uses of a register that was renamed be uses of itself again.
    pub fn keep_name(&mut self, register: Register) {
        self.names[register.0 as usize] = None;
    }

    /// Adds an instruction before the one at hand; yields its result.
    pub fn emit(&mut self, op: Op, operands: Vec<Operand>, ty: RegisterType) -> Operand {
        self.emit_all(op, operands, &[ty])[0]
    }

    /// The same for an instruction with any number of results.
    pub fn emit_all(&mut self, op: Op, operands: Vec<Operand>, types: &[RegisterType]) -> Vec<Operand> {
        let results = Register::add_all(&mut self.registers, types.iter().copied());
        self.definitions.resize(self.registers.len(), None);
        self.names.resize(self.registers.len(), None);
        let values = results.iter().map(|&result| Operand::Register(result)).collect();
        self.push(Instruction::new(op, operands, results, self.place));
        values
    }

    /// The value that an operand is a name of.
    pub fn resolved(&self, mut operand: Operand) -> Operand {
        // What a register was renamed to may have been renamed since.
        while let Operand::Register(register) = operand
            && let Some(value) = self.names[register.0 as usize]
        {
            operand = value;
        }
        operand
    }

    fn resolve(&self, operands: &mut [Operand]) {
        for operand in operands {
            *operand = self.resolved(*operand);
        }
    }

    fn push(&mut self, instruction: Instruction) {
        let maker = match &instruction.op {
            Op::Scalar(op) => Some(Maker::Scalar(*op)),
            Op::Map(op) => Some(Maker::Map(*op)),
            Op::Vector(op) => Some(Maker::Vector(*op)),
            Op::Constants(constants) => Some(Maker::Constants(constants.len())),
            Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..) | Op::Fused(_) => None,
        };
        if let (Some(maker), [result]) = (maker, instruction.results.as_slice()) {
            self.definitions[result.0 as usize] = Some(Definition { maker, operands: instruction.operands.clone() });
        }
        self.output.push(instruction);
    }
}

/// Walks a function.
pub fn rewrite(function: &mut Function, rule: &mut impl Rule) {
    let registers = std::mem::take(&mut function.registers);
    let count = registers.len();
    let mut context = Context {
        registers,
        definitions: vec![None; count],
        names: vec![None; count],
        output: Vec::new(),
        place: function.span.into(),
    };
    let body = std::mem::take(&mut function.body);
    function.body = nested(&mut context, rule, body);
    function.registers = context.registers;
}

/// Walks a block on its own.
fn nested(context: &mut Context, rule: &mut impl Rule, block: Block) -> Block {
    let outer = std::mem::take(&mut context.output);
    let results = inline(context, rule, block);
    Block::new(std::mem::replace(&mut context.output, outer), results)
}

/// Walks a block's instructions into the current output; yields its results.
fn inline(context: &mut Context, rule: &mut impl Rule, block: Block) -> Vec<Operand> {
    for instruction in block.instructions {
        step(context, rule, instruction);
    }
    let mut results = block.results;
    context.resolve(&mut results);
    results
}

fn step(context: &mut Context, rule: &mut impl Rule, mut instruction: Instruction) {
    context.place = instruction.place;
    context.resolve(&mut instruction.operands);
    loop {
        match rule.rewrite(context, &instruction) {
            Action::Keep => break,
            Action::Become(op, operands) => (instruction.op, instruction.operands) = (op, operands),
            Action::Replace(value) => {
                debug_assert_eq!(instruction.results.len(), 1, "only single results are replaced by a value");
                return instruction.results.iter().for_each(|&result| context.rename(result, value));
            }
            Action::Remove => return,
            Action::Take(first) => {
                let block = match instruction.op {
                    Op::If(then_block, _) if first => *then_block,
                    Op::If(_, block) | Op::Fused(block) => *block,
                    _ => unreachable!("only an if or a group has blocks to take"),
                };
                let values = inline(context, rule, block);
                return instruction
                    .results
                    .iter()
                    .zip(values)
                    .for_each(|(&result, value)| context.rename(result, value));
            }
        }
    }
    // What is in a group stays as it is: groups are made after all rules have run.
    if let Op::Fused(block) = &mut instruction.op {
        block.instructions.iter_mut().for_each(|inner| context.resolve(&mut inner.operands));
        rule.join(context, &mut instruction);
    }
    if let Op::If(then_block, else_block) = &mut instruction.op {
        for block in [then_block, else_block] {
            rule.enter();
            **block = nested(context, rule, std::mem::take(&mut **block));
            rule.leave(context);
        }
        rule.join(context, &mut instruction);
    }
    context.push(instruction);
}
