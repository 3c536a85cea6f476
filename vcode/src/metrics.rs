//! How many instructions of each kind a program has.
//!
//! Tests state the structure they expect of compiled programs in these counts, and `--stats` shows them: unlike times
//! they are the same on every machine.

use crate::print;
use crate::program::{Block, Function, Instruction, Op, Program};
use std::collections::BTreeMap;
use std::fmt;

/// Numbers of instructions by name: `add.int`, `map add.int`, `gather`, `reduce.add.int`, `constants`, `call`, `if`,
/// `fused`. Instructions in a group count, and so does the group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_name: BTreeMap<String, usize>,
    passes: usize,
}

impl Counts {
    /// The counts of all functions of a program.
    pub fn of_program(program: &Program) -> Counts {
        let mut counts = Counts::default();
        for function in &program.functions {
            counts.block(&function.body);
        }
        counts
    }

    /// The counts of a function.
    pub fn of_function(function: &Function) -> Counts {
        let mut counts = Counts::default();
        counts.block(&function.body);
        counts
    }

    /// How many instructions have this name.
    pub fn get(&self, name: &str) -> usize {
        self.by_name.get(name).copied().unwrap_or(0)
    }

    /// How many instructions there are.
    pub fn total(&self) -> usize {
        self.by_name.values().sum()
    }

    /// How many of them go over the elements of columns. A group is one pass, whatever is in it.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Names and counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_name.iter().map(|(name, &count)| (name.as_str(), count))
    }

    fn block(&mut self, block: &Block) {
        for Instruction { op, .. } in &block.instructions {
            *self.by_name.entry(print::mnemonic(op)).or_default() += 1;
            self.passes += usize::from(is_pass(op));
            match op {
                Op::If(then_block, else_block) => {
                    self.block(then_block);
                    self.block(else_block);
                }
                Op::Fused(block) => {
                    let passes = self.passes;
                    self.block(block);
                    self.passes = passes;
                }
                _ => {}
            }
        }
    }
}

/// Whether an instruction goes over the elements of columns.
fn is_pass(op: &Op) -> bool {
    match op {
        Op::Map(_) | Op::Fused(_) => true,
        Op::Vector(op) => op.is_pass(),
        Op::Scalar(_) | Op::Constants(_) | Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..) => false,
    }
}

/// One name and count a line.
impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in self.iter() {
            writeln!(formatter, "{count:6} {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn instructions_in_blocks_count_too() {
        let program = parse(
            "function f(%0: bool, %1: column int) -> column int {
               %4 = if %0 {
                 %2 = map add.int %1 1
                 %3 = map add.int %2 1
                 yield %3
               } else { yield %1 }
               return %4
             }",
        )
        .unwrap();
        let counts = Counts::of_program(&program);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [("if", 1), ("map add.int", 2)]);
        assert_eq!((counts.total(), counts.get("gather"), counts.passes()), (3, 0, 2));
        assert_eq!(counts, Counts::of_function(&program.functions[0]));
    }

    #[test]
    fn a_group_is_one_pass() {
        let program = parse(
            "function f(%0: column int) -> int {
               %3 = fused {
                 %1 = map add.int %0 1
                 %2 = reduce.add.int %1
                 yield %2
               }
               %4 = length %0
               %5 = reduce.add.int %0
               return %3
             }",
        )
        .unwrap();
        let counts = Counts::of_program(&program);
        assert_eq!((counts.total(), counts.passes()), (5, 2));
    }
}
