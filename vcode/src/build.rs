//! Builds functions instruction by instruction.
//!
//! Flattening emits through a [`FunctionBuilder`]: it numbers registers, derives their types from the tables, attaches
//! the current span and folds scalar operations on constants, so that the rules of flattening read as the instructions
//! they make. Operands of wrong types are bugs of the caller; the verifier reports them, the builder only needs enough
//! to name a type.

use crate::each::Each;
use crate::op::{Kind, VectorOp};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Register, RegisterType};
use nesl_prim::{Constants, HostOp, ScalarOp, ScalarType, ScalarValue};
use nesl_span::Span;

/// A function under construction.
#[derive(Debug)]
pub struct FunctionBuilder {
    name: String,
    parameters: Vec<Register>,
    registers: Vec<RegisterType>,
    /// Instructions of the body and, above it, of the blocks that are begun and not ended.
    open: Vec<Vec<Instruction>>,
    span: Span,
    current: Span,
}

impl FunctionBuilder {
    /// An empty function.
    pub fn new(name: impl Into<String>, span: Span) -> FunctionBuilder {
        FunctionBuilder {
            name: name.into(),
            parameters: Vec::new(),
            registers: Vec::new(),
            open: vec![Vec::new()],
            span,
            current: span,
        }
    }

    /// Adds a parameter.
    pub fn parameter(&mut self, ty: RegisterType) -> Register {
        let register = self.register(ty);
        self.parameters.push(register);
        register
    }

    /// The type of an operand.
    ///
    /// # Panics
    /// If the register is of another function.
    pub fn register_type(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Register(register) => self.registers[register.0 as usize],
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        }
    }

    /// Sets the span of the instructions that follow; returns the one before.
    pub fn set_span(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.current, span)
    }

    /// The span of the instructions that follow.
    pub fn current_span(&self) -> Span {
        self.current
    }

    /// A scalar operation on scalars; a constant where the operands are constants and it does not fail on them.
    pub fn scalar(&mut self, op: ScalarOp, operands: &[Operand]) -> Operand {
        let constants: Option<Vec<ScalarValue>> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Constant(value) => Some(*value),
                Operand::Register(_) => None,
            })
            .collect();
        // A failing operation stays: it must fail when it is run, and only if it is.
        if let Some(Ok(value)) = constants.map(|constants| nesl_prim::eval(op, &constants)) {
            return Operand::Constant(value);
        }
        self.one(Op::Scalar(op), operands, RegisterType::Scalar(op.row().result))
    }

    /// A scalar operation on every element of columns; scalar operands are broadcast.
    pub fn map(&mut self, op: ScalarOp, operands: &[Operand]) -> Operand {
        self.one(Op::Map(op), operands, RegisterType::Column(op.row().result))
    }

    /// A vector operation.
    ///
    /// # Panics
    /// If the type of the result cannot be told from the operands.
    pub fn vector(&mut self, op: VectorOp, operands: &[Operand]) -> Operand {
        let types: Vec<RegisterType> = operands.iter().map(|&operand| self.register_type(operand)).collect();
        let result = result_type(op, &types).expect("operands of a vector operation determine the type of its result");
        self.one(Op::Vector(op), operands, result)
    }

    /// A constant column.
    pub fn constants(&mut self, constants: Constants) -> Operand {
        let ty = RegisterType::Column(constants.scalar_type());
        self.one(Op::Constants(constants), &[], ty)
    }

    /// An operation on the world outside; its results, and last its message if it reports.
    pub fn host(&mut self, op: HostOp, operands: &[Operand]) -> Vec<Operand> {
        let results: Vec<RegisterType> = op.results().map(RegisterType::from).collect();
        self.emit(Op::Host(op), operands, &results)
    }

    /// A call of a function with results of these types.
    pub fn call(&mut self, function: FunctionId, operands: &[Operand], results: &[RegisterType]) -> Vec<Operand> {
        self.emit(Op::Call(function), operands, results)
    }

    /// A function on each of some instances.
    pub fn each(&mut self, each: Each, operands: &[Operand]) -> Vec<Operand> {
        let results = each.result_types();
        self.emit(Op::Each(Box::new(each)), operands, &results)
    }

    /// The vector operation that made an operand, if that is one of this function so far, in a block that is still
    /// open.
    pub fn maker(&self, operand: Operand) -> Option<VectorOp> {
        let Operand::Register(register) = operand else { return None };
        let instruction = self.open.iter().flatten().rfind(|instruction| instruction.results.contains(&register))?;
        match instruction.op {
            Op::Vector(op) => Some(op),
            _ => None,
        }
    }

    /// Collects the instructions that follow into a new block.
    pub fn begin_block(&mut self) {
        self.open.push(Vec::new());
    }

    /// Ends the block begun last.
    ///
    /// # Panics
    /// If none is begun.
    pub fn end_block(&mut self, results: Vec<Operand>) -> Block {
        assert!(self.open.len() > 1, "end_block without begin_block");
        let instructions = self.open.pop().unwrap_or_default();
        Block::new(instructions, results)
    }

    /// Appends the instructions of an ended block to the current one; yields its results.
    pub fn splice(&mut self, block: Block) -> Vec<Operand> {
        self.current_block().extend(block.instructions);
        block.results
    }

    /// Runs one of two ended blocks.
    pub fn if_(
        &mut self,
        condition: Operand,
        then_block: Block,
        else_block: Block,
        results: &[RegisterType],
    ) -> Vec<Operand> {
        self.emit(Op::If(Box::new(then_block), Box::new(else_block)), &[condition], results)
    }

    /// The finished function.
    ///
    /// # Panics
    /// If a block is still open.
    pub fn finish(mut self, results: Vec<Operand>) -> Function {
        assert!(self.open.len() == 1, "finish within a block");
        let instructions = self.open.pop().unwrap_or_default();
        Function {
            name: self.name,
            parameters: self.parameters,
            registers: self.registers,
            body: Block::new(instructions, results),
            span: self.span,
        }
    }

    fn register(&mut self, ty: RegisterType) -> Register {
        Register::add(&mut self.registers, ty)
    }

    fn current_block(&mut self) -> &mut Vec<Instruction> {
        self.open.last_mut().expect("the body is open until finish")
    }

    fn one(&mut self, op: Op, operands: &[Operand], ty: RegisterType) -> Operand {
        let result = self.register(ty);
        let instruction = Instruction::new(op, operands.to_vec(), vec![result], self.current);
        self.current_block().push(instruction);
        Operand::Register(result)
    }

    fn emit(&mut self, op: Op, operands: &[Operand], types: &[RegisterType]) -> Vec<Operand> {
        let results: Vec<Register> = types.iter().map(|&ty| self.register(ty)).collect();
        let instruction = Instruction::new(op, operands.to_vec(), results.clone(), self.current);
        self.current_block().push(instruction);
        results.into_iter().map(Operand::Register).collect()
    }
}

/// What a vector operation gives for operands of these types, if they determine it.
pub(crate) fn result_type(op: VectorOp, operands: &[RegisterType]) -> Option<RegisterType> {
    let row = op.row();
    let element = || element_type(op, operands);
    Some(match row.result {
        Kind::Scalar(scalar) => RegisterType::Scalar(scalar),
        Kind::Column(scalar) => RegisterType::Column(scalar),
        Kind::ScalarT => RegisterType::Scalar(element()?),
        Kind::ColumnT => RegisterType::Column(element()?),
        Kind::Descriptor => RegisterType::Descriptor,
    })
}

/// What T stands for in the operation's row: its operator says, or else the first operand of such a kind.
pub fn element_type(op: VectorOp, operands: &[RegisterType]) -> Option<ScalarType> {
    if let Some(operator) = op.operator() {
        return Some(operator.row().result);
    }
    op.row().operands.iter().zip(operands).find_map(|pair| match pair {
        (Kind::ScalarT, RegisterType::Scalar(scalar)) | (Kind::ColumnT, RegisterType::Column(scalar)) => Some(*scalar),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::FileId;

    const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);

    fn int(value: i64) -> Operand {
        Operand::Constant(ScalarValue::Int(value))
    }

    #[test]
    fn scalars_fold_unless_they_fail() {
        let mut builder = FunctionBuilder::new("f", Span::new(FileId(0), 0, 0));
        assert_eq!(builder.scalar(ScalarOp::AddInt, &[int(1), int(2)]), int(3));
        let failing = builder.scalar(ScalarOp::DivideInt, &[int(1), int(0)]);
        assert_eq!(builder.register_type(failing), INT);
        assert_eq!(builder.finish(vec![failing]).body.instructions.len(), 1);
    }

    #[test]
    fn result_types_come_from_the_rows() {
        let mut builder = FunctionBuilder::new("f", Span::new(FileId(0), 0, 0));
        let flags = Operand::from(builder.parameter(RegisterType::Column(ScalarType::Bool)));
        let chars = Operand::from(builder.parameter(RegisterType::Column(ScalarType::Char)));
        let merged = builder.vector(VectorOp::Merge, &[flags, chars, chars]);
        assert_eq!(builder.register_type(merged), RegisterType::Column(ScalarType::Char));
        let sum = builder.vector(VectorOp::Reduce(ScalarOp::OrBool), &[flags]);
        assert_eq!(builder.register_type(sum), RegisterType::Scalar(ScalarType::Bool));
        let ones = builder.vector(VectorOp::Dist, &[int(1), int(3)]);
        let packed = builder.vector(VectorOp::Packed, &[ones]);
        assert_eq!(builder.register_type(packed), RegisterType::Descriptor);
    }

    #[test]
    fn blocks_nest_and_splice() {
        let mut builder = FunctionBuilder::new("f", Span::new(FileId(0), 0, 0));
        let x = Operand::from(builder.parameter(INT));
        let condition = builder.scalar(ScalarOp::LessInt, &[x, int(2)]);
        builder.begin_block();
        let one = builder.scalar(ScalarOp::AddInt, &[x, int(1)]);
        let then_block = builder.end_block(vec![one]);
        builder.begin_block();
        let else_block = builder.end_block(vec![x]);
        let spliced = builder.splice(then_block.clone());
        assert_eq!(spliced, then_block.results);
        let results = builder.if_(condition, Block::default(), else_block, &[INT]);
        let function = builder.finish(results);
        assert_eq!(function.body.instructions.len(), 3);
    }
}
