//! How many instructions of each kind a program has.
//!
//! Tests state the structure they expect of compiled programs in these counts, and `--stats` shows them: unlike times they
//! are the same on every machine.

use crate::print;
use crate::program::{Block, Function, Instruction, Op, Program};
use std::collections::BTreeMap;
use std::fmt;

/// Numbers of instructions by name: `add.int`, `map add.int`, `gather`, `reduce.add.int`, `constants`, `call`, `if`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, usize>);

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
        self.0.get(name).copied().unwrap_or(0)
    }

    /// How many instructions there are.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Names and counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(name, &count)| (name.as_str(), count))
    }

    fn block(&mut self, block: &Block) {
        for Instruction { op, .. } in &block.instructions {
            *self.0.entry(print::mnemonic(op)).or_default() += 1;
            if let Op::If(then_block, else_block) = op {
                self.block(then_block);
                self.block(else_block);
            }
        }
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
        assert_eq!((counts.total(), counts.get("gather")), (3, 0));
        assert_eq!(counts, Counts::of_function(&program.functions[0]));
    }
}
