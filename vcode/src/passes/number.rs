//! Numbers registers from 0 in the order in which they are defined, and forgets those that no longer are; and forgets
//! calls that are gone and that no place has any more.

use crate::program::{Block, Function, Op, Operand, Place, Program, Register, RegisterType, SiteId};

/// Renumbers the registers of all functions, and the sites.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        number(function);
    }
    number_sites(program);
}

fn number_sites(program: &mut Program) {
    let mut used = vec![false; program.sites.len()];
    for function in &mut program.functions {
        each_place(&mut function.body, &mut |place| {
            if let Some(site) = place.within {
                used[site.0 as usize] = true;
            }
        });
    }
    // A site is behind those that it is within.
    for (index, site) in program.sites.iter().enumerate().rev() {
        if let (true, Some(outer)) = (used[index], site.within) {
            used[outer.0 as usize] = true;
        }
    }
    let (mut kept, mut numbers) = (Vec::new(), Vec::with_capacity(used.len()));
    for (site, used) in std::mem::take(&mut program.sites).into_iter().zip(used) {
        numbers.push(SiteId(u32::try_from(kept.len()).unwrap_or(u32::MAX)));
        if used {
            kept.push(site);
        }
    }
    let renumber = |place: &mut Place| place.within = place.within.map(|site| numbers[site.0 as usize]);
    kept.iter_mut().for_each(renumber);
    for function in &mut program.functions {
        each_place(&mut function.body, &mut |place| renumber(place));
    }
    program.sites = kept;
}

fn each_place(block: &mut Block, visit: &mut impl FnMut(&mut Place)) {
    for instruction in &mut block.instructions {
        visit(&mut instruction.place);
        match &mut instruction.op {
            Op::If(then_block, else_block) => {
                each_place(then_block, visit);
                each_place(else_block, visit);
            }
            Op::Fused(block) => each_place(block, visit),
            _ => {}
        }
    }
}

fn number(function: &mut Function) {
    let old = std::mem::take(&mut function.registers);
    let mut numbers = Numbers { new: vec![None; old.len()], old, registers: Vec::new() };
    for parameter in &mut function.parameters {
        numbers.define(parameter);
    }
    numbers.block(&mut function.body);
    function.registers = numbers.registers;
}

struct Numbers {
    old: Vec<RegisterType>,
    new: Vec<Option<Register>>,
    registers: Vec<RegisterType>,
}

impl Numbers {
    fn define(&mut self, register: &mut Register) {
        let number = Register::add(&mut self.registers, self.old[register.0 as usize]);
        self.new[register.0 as usize] = Some(number);
        *register = number;
    }

    fn read(&self, operands: &mut [Operand]) {
        for operand in operands {
            if let Operand::Register(register) = operand
                && let Some(number) = self.new[register.0 as usize]
            {
                *register = number;
            }
        }
    }

    fn block(&mut self, block: &mut Block) {
        for instruction in &mut block.instructions {
            self.read(&mut instruction.operands);
            match &mut instruction.op {
                Op::If(then_block, else_block) => {
                    self.block(then_block);
                    self.block(else_block);
                }
                Op::Fused(block) => self.block(block),
                _ => {}
            }
            instruction.results.iter_mut().for_each(|result| self.define(result));
        }
        self.read(&mut block.results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::becomes;

    #[test]
    fn numbers_follow_definitions_without_gaps() {
        becomes(
            run,
            "function f(%5: int, %1: bool) -> int unused %0: float, %2: descriptor {
               %4 = if %1 {
                 %3 = add.int %5 1
                 yield %3
               } else { yield %5 }
               return %4
             }",
            "function f(%0: int, %1: bool) -> int {
               %3 = if %1 {
                 %2 = add.int %0 1
                 yield %2
               } else { yield %0 }
               return %3
             }",
        );
    }
}
