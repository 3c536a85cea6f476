//! The second half of reading: names of functions become numbers, and registers get their types.

use super::{Draft, Error, NO_SPAN, Parse, Problem};
use crate::build;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use crate::tail::Steps;
use std::collections::{HashMap, HashSet};

/// Turns names into function numbers and gives registers their types.
pub(super) struct Linker<'a> {
    ids: HashMap<String, FunctionId>,
    results: Vec<Vec<RegisterType>>,
    names: &'a [(String, usize)],
}

impl<'a> Linker<'a> {
    pub(super) fn new(drafts: &[Draft], names: &'a [(String, usize)]) -> Parse<Linker<'a>> {
        let mut ids = HashMap::new();
        for (id, draft) in (0u32..).zip(drafts) {
            if ids.insert(draft.function.name.clone(), FunctionId(id)).is_some() {
                let problem = Problem::FunctionTwice(draft.function.name.clone());
                return Err(Error { offset: draft.offset, problem });
            }
        }
        Ok(Linker { ids, results: drafts.iter().map(|draft| draft.results.clone()).collect(), names })
    }

    pub(super) fn resolve(&self, used: FunctionId) -> Parse<FunctionId> {
        let (name, offset) = &self.names[used.0 as usize];
        let problem = || Problem::UnknownFunction(name.clone());
        self.ids.get(name).copied().ok_or_else(|| Error { offset: *offset, problem: problem() })
    }

    pub(super) fn finish(&self, draft: Draft) -> Parse<Function> {
        let Draft { mut function, mut types, results, offset, .. } = draft;
        self.block(&mut function.body, &mut types)?;
        // Calls of the function have been typed by what its first line says.
        if operand_types(&function.body.results, &types, offset)? != results {
            return Err(Error { offset, problem: Problem::ReturnTypes });
        }
        let count = u32::try_from(types.len()).unwrap_or(u32::MAX);
        function.registers = (0..count)
            .map(|register| {
                let problem = Problem::UndefinedRegister(register);
                types.get(&register).copied().ok_or(Error { offset, problem })
            })
            .collect::<Parse<_>>()?;
        Ok(function)
    }

    fn block(&self, block: &mut Block, types: &mut HashMap<u32, RegisterType>) -> Parse<()> {
        for instruction in &mut block.instructions {
            let offset = instruction.place.span.start as usize;
            instruction.place = NO_SPAN.into();
            let results = self.results(instruction, offset, types)?;
            if results.len() != instruction.results.len() {
                let problem = Problem::ResultCount { expected: results.len(), found: instruction.results.len() };
                return Err(Error { offset, problem });
            }
            for (register, ty) in instruction.results.iter().zip(results) {
                if types.insert(register.0, ty).is_some() {
                    return Err(Error { offset, problem: Problem::RegisterTwice(register.0) });
                }
            }
        }
        Ok(())
    }

    fn results(
        &self,
        instruction: &mut Instruction,
        offset: usize,
        types: &mut HashMap<u32, RegisterType>,
    ) -> Parse<Vec<RegisterType>> {
        let operands = operand_types(&instruction.operands, types, offset)?;
        Ok(match &mut instruction.op {
            Op::Scalar(op) => vec![RegisterType::Scalar(op.row().result)],
            Op::Map(op) => vec![RegisterType::Column(op.row().result)],
            Op::Constants(constants) => vec![RegisterType::Column(constants.scalar_type())],
            Op::Host(op) => op.results().map(RegisterType::from).collect(),
            Op::Vector(op) => match build::result_type(*op, &operands) {
                Some(ty) => vec![ty],
                None => return Err(Error { offset, problem: Problem::UntypedResult }),
            },
            Op::Call(function) => {
                *function = self.resolve(*function)?;
                self.results[function.0 as usize].clone()
            }
            Op::Each(each) => {
                each.serial = self.resolve(each.serial)?;
                each.lifted = self.resolve(each.lifted)?;
                each.result_types()
            }
            Op::If(then_block, else_block) => {
                self.block(then_block, types)?;
                self.block(else_block, types)?;
                operand_types(&then_block.results, types, offset)?
            }
            Op::Fused(block) => {
                self.block(block, types)?;
                operand_types(&block.results, types, offset)?
            }
        })
    }
}

/// Checks that calls that are said to be steps of loops, by function, are such.
pub(super) fn check_loops(program: &Program, loops: &[Vec<(Vec<Register>, usize)>]) -> Parse<()> {
    let steps = Steps::of(program);
    for (id, loops) in (0..).map(FunctionId).zip(loops) {
        let mut found = HashSet::new();
        steps.visit(program, id, &mut |call, _| {
            found.insert(call.results.clone());
        });
        if let Some((_, offset)) = loops.iter().find(|(results, _)| !found.contains(results)) {
            return Err(Error { offset: *offset, problem: Problem::NoStep });
        }
    }
    Ok(())
}

fn operand_types(operands: &[Operand], types: &HashMap<u32, RegisterType>, offset: usize) -> Parse<Vec<RegisterType>> {
    let ty = |operand: &Operand| match operand {
        Operand::Constant(value) => Ok(RegisterType::Scalar(value.scalar_type())),
        Operand::Register(register) => {
            let problem = Problem::UndefinedRegister(register.0);
            types.get(&register.0).copied().ok_or(Error { offset, problem })
        }
    };
    operands.iter().map(ty).collect()
}
