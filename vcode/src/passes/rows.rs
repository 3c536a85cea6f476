//! Loops that append segments carry the lengths of all segments and where each begins, instead of their descriptor: for
//! code that runs one instance after another.
//!
//! A descriptor is made as a whole: after `m ++ [row]`, of the lengths of all rows. Columns of its lengths and of its
//! starts can be appended to, and so can the data, once they lie together: then a row costs what it adds. So the data
//! are put together before the loop, where they begin where the descriptor says, and a descriptor is made after it.
//! This is *scalar replacement of aggregates*, with a descriptor as the aggregate.
//!
//! ```text
//! function f(D, X, i) {              function f(D, X, i) { L = lengths D
//!   … = segments D                     M, Y = call f/rows L (starts (packed L)) (compact X D) i
//!   if … { yield D X }                 return (packed M) Y }
//!   else {                           function f/rows(L, S, X, i) {
//!     Y = concat (compact X D) row     … = length L
//!     E = packed (concat (lengths D)   if … { yield L X }
//!           (build n))                 else { … call f/rows (concat L (build n)) (concat S (build (length X)))
//!     call f E Y j                                          (slice (concat X row) 0 (length X + n)) j
//! } }                                } }
//! ```
//!
//! That is so for a descriptor of which the loop wants no more than its lengths, its starts, how many segments it has,
//! and its data, and to which it appends segments of single lengths, in some branch.

mod splitting;

use crate::op::VectorOp;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Place, Program, Register, RegisterType};
use crate::tail;
use nesl_prim::ScalarType;
use splitting::Splitting;
use std::collections::{HashMap, HashSet};

const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

/// Lets all loops that append segments carry them so.
pub fn run(program: &mut Program) {
    for index in 0..program.functions.len() {
        let (id, own) = (FunctionId(index as u32), FunctionId(program.functions.len() as u32));
        let function = &program.functions[index];
        if let Some((enters, turns)) = split(function, id, own) {
            program.functions[index] = enters;
            program.functions.push(turns);
        }
    }
}

/// A descriptor that a loop does not carry any more.
struct Split {
    /// The parameter.
    descriptor: Register,
    /// The parameters of its data.
    data: Vec<Register>,
    /// The results that are its lengths, where they were descriptors.
    results: HashSet<usize>,
}

/// The function that enters the loop, and the loop, if it has a descriptor to split.
fn split(function: &Function, id: FunctionId, own: FunctionId) -> Option<(Function, Function)> {
    let mut is_loop = false;
    tail::visit_ends(&function.body, &mut |_, callee| is_loop |= callee == id);
    if !is_loop {
        return None;
    }
    let mut turns = Function { name: format!("{}/rows", function.name), ..function.clone() };
    tail::rename_ends(&mut turns.body, id, own, &[]);
    let mut splits = Vec::new();
    for &parameter in &function.parameters {
        if function.register_type(parameter) == RegisterType::Descriptor
            && let Some((next, one)) = Splitting::done(&turns, own, parameter)
        {
            turns = next;
            splits.push(one);
        }
    }
    (!splits.is_empty()).then(|| (enters(function, &turns, own, &splits), turns))
}

/// The function that puts together what the loop carries, and makes descriptors of what it gives.
fn enters(function: &Function, turns: &Function, own: FunctionId, splits: &[Split]) -> Function {
    let mut writer = Writer { registers: function.registers.clone(), place: function.span.into() };
    let mut body = Vec::new();
    let mut given: HashMap<Register, Vec<Operand>> = HashMap::new();
    for Split { descriptor, data, .. } in splits {
        let mut make = |op, operands: &[Register], ty| {
            writer.vector(&mut body, op, operands.iter().map(|&operand| operand.into()).collect(), ty)
        };
        let lengths = make(VectorOp::Lengths, &[*descriptor], INTS);
        let packed = make(VectorOp::Packed, &[lengths], RegisterType::Descriptor);
        let starts = make(VectorOp::Starts, &[packed], INTS);
        given.insert(*descriptor, vec![lengths.into(), starts.into()]);
        for &column in data {
            let together = make(VectorOp::Compact, &[column, *descriptor], function.register_type(column));
            given.insert(column, vec![together.into()]);
        }
    }
    let of = |parameter: &Register| given.remove(parameter).unwrap_or_else(|| vec![(*parameter).into()]);
    let operands = function.parameters.iter().flat_map(of).collect();
    let results = Register::add_all(&mut writer.registers, turns.result_types());
    body.push(Instruction::new(Op::Call(own), operands, results.clone(), function.span));
    let is_split = |index: usize| splits.iter().any(|one| one.results.contains(&index));
    let mut packed = |(index, result): (usize, Register)| match is_split(index) {
        true => writer.vector(&mut body, VectorOp::Packed, vec![result.into()], RegisterType::Descriptor).into(),
        false => result.into(),
    };
    let results = results.into_iter().enumerate().map(&mut packed).collect();
    let body = Block::new(body, results);
    Function { registers: writer.registers, body, ..function.clone() }
}

struct Writer {
    registers: Vec<RegisterType>,
    place: Place,
}

impl Writer {
    fn vector(
        &mut self,
        body: &mut Vec<Instruction>,
        op: VectorOp,
        operands: Vec<Operand>,
        ty: RegisterType,
    ) -> Register {
        self.instruction(body, Op::Vector(op), operands, ty)
    }

    fn instruction(
        &mut self,
        body: &mut Vec<Instruction>,
        op: Op,
        operands: Vec<Operand>,
        ty: RegisterType,
    ) -> Register {
        let result = Register::add(&mut self.registers, ty);
        body.push(Instruction::new(op, operands, vec![result], self.place));
        result
    }
}

#[cfg(test)]
mod tests;
