//! VCODE: the flat program.
//!
//! Functions over named registers, in static single assignment, with structured control. A register holds a machine
//! scalar, a column of scalars, or a segment descriptor; there is nothing nested. Every instruction carries the
//! [`Place`] it came from. A [`Program`] also says how its functions are run: [`Step`]s in order, or [`Main`] with
//! arguments.

use crate::depth::nested;
use crate::each::Each;
use crate::op::VectorOp;
pub use crate::register::{FunctionId, GlobalId, Operand, Register, RegisterType, SiteId};
use crate::shape::Shape;
use nesl_prim::{Constants, HostOp, ScalarOp};
use nesl_span::{Origin, SourceMap, Span};
use serde::{Deserialize, Serialize};

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The functions.
    pub functions: Vec<Function>,
    /// What to run, in order, where no arguments are given.
    pub steps: Vec<Step>,
    /// What to run with arguments: the first whose parameters the arguments fit. There are several where `main` is
    /// polymorphic.
    pub mains: Vec<Main>,
    /// The calls that are gone, for the bodies that stand in their place.
    pub sites: Vec<Place>,
}

/// The place of an instruction: a chain, as its function's body may stand where that was called, and this caller's body
/// where it was called, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The source it came from.
    pub span: Span,
    /// Where the function that the source is in was called; none if the instruction is still in that function.
    pub within: Option<SiteId>,
}

impl From<Span> for Place {
    fn from(span: Span) -> Place {
        Place { span, within: None }
    }
}

impl Program {
    /// The chain of a place: where it is in the source, then the calls that led there and are gone, the innermost first.
    pub fn chain(&self, place: Place) -> impl Iterator<Item = Span> + '_ {
        std::iter::successors(Some(place), |place| self.outer(*place)).map(|place| place.span)
    }

    /// The call that led to a place and is gone.
    pub fn outer(&self, place: Place) -> Option<Place> {
        place.within.and_then(|site| self.sites.get(site.0 as usize)).copied()
    }

    /// The nearest place in user code; the place itself where no user code is involved.
    pub fn nearest(&self, place: Place, sources: &SourceMap) -> Span {
        let is_user = |span: &Span| sources.files().any(|(id, file)| id == span.file && file.origin == Origin::User);
        self.chain(place).find(is_user).unwrap_or(place.span)
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Name for listings, unique in the program: `qs@[int]`, `qs@[int]/lifted`.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Register>,
    /// The types of all its registers.
    pub registers: Vec<RegisterType>,
    /// Its body; the block's results are the function's.
    pub body: Block,
    /// The source it came from.
    pub span: Span,
}

impl Function {
    /// The type of a register.
    pub fn register_type(&self, register: Register) -> RegisterType {
        self.registers[register.0 as usize]
    }

    /// The type of an operand.
    pub fn operand_type(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Register(register) => self.register_type(register),
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        }
    }

    /// The types of its results.
    pub fn result_types(&self) -> impl Iterator<Item = RegisterType> {
        self.body.results.iter().map(|&result| self.operand_type(result))
    }
}

/// Instructions, then results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Registers that are alive before the block, and that after it only the other block of its `if` reads.
    pub drops: Vec<Register>,
    /// The instructions in order.
    pub instructions: Vec<Instruction>,
    /// What the block yields.
    pub results: Vec<Operand>,
    /// What becomes of each result's register; empty where nothing is marked.
    pub uses: Vec<Use>,
    /// In a group, which results, by their positions, an instruction behind it puts one after another: they may be
    /// written so. Made by the pass [`beside`](crate::passes::beside).
    pub beside: Vec<Vec<usize>>,
}

/// One instruction: `results = op operands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub operands: Vec<Operand>,
    /// What becomes of each operand's register; empty where nothing is marked.
    pub uses: Vec<Use>,
    /// What it defines.
    pub results: Vec<Register>,
    /// Where it came from.
    pub place: Place,
}

/// What becomes of a register where it is read: made by the pass [`last_use`](crate::passes::last_use). It is always
/// sound to mark less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Use {
    /// It may be read again.
    Kept,
    /// It is not read again, on any path.
    Last,
    /// It is not read again, and the result may be written over its column.
    InPlace,
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// A scalar operation on machine scalars.
    Scalar(ScalarOp),
    /// The same on every element of columns of one length. At least one operand is a column; scalar operands are
    /// broadcast.
    Map(ScalarOp),
    /// A constant column; no operands.
    Constants(Constants),
    /// A vector operation of the instruction table.
    Vector(VectorOp),
    /// An operation on the world outside.
    Host(HostOp),
    /// A call; operands and results are those of the function.
    Call(FunctionId),
    /// A function on each of n instances; in a group, at each index.
    Each(Box<Each>),
    /// The first block where the one operand, a bool, is true, else the second. Both yield the instruction's results
    /// and see the registers defined before it.
    If(#[serde(deserialize_with = "nested")] Box<Block>, #[serde(deserialize_with = "nested")] Box<Block>),
    /// Instructions over one index space, which an engine can run as one loop ([`crate::fusion`]); no operands. The
    /// block sees the registers defined before, and yields the instruction's results: different registers, all of which
    /// it defines.
    Fused(#[serde(deserialize_with = "nested")] Box<Block>),
}

impl Instruction {
    /// An instruction without marks.
    pub fn new(op: Op, operands: Vec<Operand>, results: Vec<Register>, place: impl Into<Place>) -> Instruction {
        Instruction { op, operands, uses: Vec::new(), results, place: place.into() }
    }

    /// Whether the result may be written over the column of an operand, if this is its last use.
    pub(crate) fn may_overwrite(&self, operand: usize, registers: &[RegisterType]) -> bool {
        let type_of = |operand: Operand| match operand {
            Operand::Register(register) => registers[register.0 as usize],
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        };
        let is_column = |operand: usize| matches!(type_of(self.operands[operand]), RegisterType::Column(_));
        let by_row = match &self.op {
            // A check that passes gives its operand.
            Op::Map(op) => match op.checked_operand() {
                Some(checked) if is_column(checked) => checked == operand,
                _ => true,
            },
            Op::Vector(op) => op.row().in_place == Some(operand),
            _ => false,
        };
        let value = self.operands[operand];
        by_row
            && is_column(operand)
            && type_of(value) == type_of(self.results[0].into())
            && self.operands.iter().filter(|&&other| other == value).count() == 1
    }
}

impl Instruction {
    /// Calls `visit` on each register that it reads, in its blocks too, as often as it reads it.
    pub fn visit_reads(&self, visit: &mut dyn FnMut(Register)) {
        visit_registers(&self.operands, visit);
        match &self.op {
            Op::If(then_block, else_block) => {
                then_block.visit_reads(visit);
                else_block.visit_reads(visit);
            }
            Op::Fused(block) => block.visit_reads(visit),
            Op::Scalar(_) | Op::Map(_) | Op::Constants(_) | Op::Vector(_) | Op::Host(_) | Op::Call(_) | Op::Each(_) => {
            }
        }
    }
}

fn visit_registers(operands: &[Operand], visit: &mut dyn FnMut(Register)) {
    for operand in operands {
        if let Operand::Register(register) = *operand {
            visit(register);
        }
    }
}

impl Block {
    /// Calls `visit` on each register that its instructions read or that it yields, as often as that.
    pub fn visit_reads(&self, visit: &mut dyn FnMut(Register)) {
        self.instructions.iter().for_each(|instruction| instruction.visit_reads(visit));
        visit_registers(&self.results, visit);
    }

    /// Calls `visit` on its instructions and those of the branches in it; of those of a group only on an `each`, which
    /// names functions.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Instruction)) {
        for instruction in &self.instructions {
            visit(instruction);
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    then_block.visit(visit);
                    else_block.visit(visit);
                }
                Op::Fused(group) => group.each().into_iter().for_each(&mut *visit),
                _ => {}
            }
        }
    }

    /// The `each` among the instructions of a group.
    pub fn each(&self) -> Option<&Instruction> {
        self.instructions.iter().find(|instruction| matches!(instruction.op, Op::Each(_)))
    }

    /// How many instructions it has, those of its blocks included.
    pub fn size(&self) -> usize {
        let inner = |instruction: &Instruction| match &instruction.op {
            Op::If(then_block, else_block) => then_block.size() + else_block.size(),
            Op::Fused(block) => block.size(),
            _ => 0,
        };
        self.instructions.iter().map(|instruction| 1 + inner(instruction)).sum()
    }

    /// The functions that its instructions name, each as often as they do.
    pub(crate) fn functions(&self) -> Vec<FunctionId> {
        let mut functions = Vec::new();
        self.visit(&mut |instruction| match &instruction.op {
            Op::Call(function) => functions.push(*function),
            Op::Each(each) => functions.extend([each.serial, each.lifted]),
            _ => {}
        });
        functions
    }

    /// A block without marks.
    pub fn new(instructions: Vec<Instruction>, results: Vec<Operand>) -> Block {
        Block { instructions, results, ..Block::default() }
    }

    /// Calls `visit` on all functions that its instructions name, those in blocks inside included.
    pub fn visit_functions(&mut self, visit: &mut impl FnMut(&mut FunctionId)) {
        for instruction in &mut self.instructions {
            match &mut instruction.op {
                Op::Call(function) => visit(function),
                Op::Each(each) => {
                    visit(&mut each.serial);
                    visit(&mut each.lifted);
                }
                Op::If(then_block, else_block) => {
                    then_block.visit_functions(visit);
                    else_block.visit_functions(visit);
                }
                Op::Fused(group) => group.visit_functions(visit),
                Op::Scalar(_) | Op::Map(_) | Op::Constants(_) | Op::Vector(_) | Op::Host(_) => {}
            }
        }
    }
}

/// One thing to run: a top-level form of the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The function; its parameters are the registers of the inputs one after another, its results those of the
    /// outputs.
    pub function: FunctionId,
    /// Where its parameters come from.
    pub inputs: Vec<Input>,
    /// What becomes of its results.
    pub outputs: Vec<Output>,
}

/// Where parameters of a step come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// The seed of the random numbers: one int.
    Seed,
    /// A global value.
    Global(GlobalId),
    /// An argument of the command line, by position: only in [`Main`].
    Argument(u32),
}

/// What becomes of results of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Output {
    /// They are a value to show.
    Show(Shape),
    /// They are a value to keep as this global.
    Keep(GlobalId, Shape),
    /// One is an entry of the stack of a program in the CMU format, a column or a descriptor, to show as its
    /// interpreter does.
    Stack(RegisterType),
}

impl Output {
    /// The results.
    pub fn registers(&self) -> Vec<RegisterType> {
        match self {
            Output::Show(shape) | Output::Keep(_, shape) => shape.serial(),
            Output::Stack(register) => vec![*register],
        }
    }

    /// The global that it becomes; none where it is shown.
    pub fn global(&self) -> Option<GlobalId> {
        match self {
            Output::Keep(global, _) => Some(*global),
            Output::Show(_) | Output::Stack(_) => None,
        }
    }
}

impl Step {
    /// What it shows.
    pub fn shown(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| output.global().is_none())
    }
}

/// The entry that takes arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Main {
    /// Steps that compute the globals it needs.
    pub prelude: Vec<Step>,
    /// What it expects on the command line.
    pub parameters: Vec<Parameter>,
    /// The call itself.
    pub step: Step,
}

/// A parameter of [`Main`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in the source.
    pub name: String,
    /// Its type as NESL writes it, for messages.
    pub type_text: String,
    /// The shape of its value.
    pub shape: Shape,
    /// What it is if the command line does not say: a parameter with a default is an option there.
    pub default: Option<DefaultValue>,
}

/// The default of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultValue {
    /// How the source writes it, for messages.
    pub text: String,
    /// Shows the value. It needs no arguments, and the globals of the prelude at most.
    pub step: Step,
}

impl Main {
    /// All its steps: those before it, those for defaults, and its own.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let defaults = self.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
        self.prelude.iter().chain(defaults.map(|default| &default.step)).chain([&self.step])
    }

    /// The same, to be changed.
    pub fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        let defaults = self.parameters.iter_mut().filter_map(|parameter| parameter.default.as_mut());
        self.prelude.iter_mut().chain(defaults.map(|default| &mut default.step)).chain([&mut self.step])
    }
}
