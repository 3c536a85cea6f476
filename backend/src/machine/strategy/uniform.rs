//! Which loops all instances go round together: nothing that differs between them says when to stop.
//!
//! One turn for all of them is a few vector instructions, without the waiting of an instance for its own last turn.

use nesl_vcode::op::Class;
use nesl_vcode::{Block, FunctionId, Op, Program, VectorOp};

/// Whether the lifted version of a function is such a loop: it comes to call itself, and nothing in it counts, adds up
/// or picks instances. An `each` in it is for what is left of them where some have stopped.
pub(in crate::machine) fn is_uniform(program: &Program, lifted: FunctionId) -> bool {
    let mut walk = Walk { reached: vec![lifted], is_loop: false };
    let mut next = 0;
    while let Some(&function) = walk.reached.get(next) {
        next += 1;
        if !walk.block(&program.functions[function.0 as usize].body) {
            return false;
        }
    }
    walk.is_loop
}

struct Walk {
    reached: Vec<FunctionId>,
    is_loop: bool,
}

impl Walk {
    /// Whether nothing in a block asks instances; notes what it calls.
    fn block(&mut self, block: &Block) -> bool {
        block.instructions.iter().all(|instruction| match &instruction.op {
            Op::Call(function) => {
                match self.reached.contains(function) {
                    true => self.is_loop = true,
                    false => self.reached.push(*function),
                }
                true
            }
            Op::If(then_block, else_block) => self.block(then_block) && self.block(else_block),
            Op::Fused(block) => self.block(block),
            Op::Vector(op) => asks_nobody(*op),
            Op::Scalar(_) | Op::Map(_) | Op::Constants(_) | Op::Each(_) => true,
            Op::Host(_) => false,
        })
    }
}

/// Whether an instruction takes the same time whatever the instances have to say.
fn asks_nobody(op: VectorOp) -> bool {
    matches!(op.class(), Class::Elementwise | Class::Permute) || op.is_known()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_ends_by_what_is_the_same_for_all_is_uniform() {
        let program = |condition: &str| {
            let text = format!(
                "function f(%0: int, %1: int, %2: column float) -> column float {{
                   {condition}
                   %9 = if %5 {{ yield %2 }} else {{
                     %6 = add.int %1 1
                     %7 = map multiply.float %2 2.0
                     %8 = call f %0 %6 %7
                     yield %8
                   }}
                   return %9
                 }}"
            );
            nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{error}"))
        };
        let same = "%3 = add.int %1 1\n%4 = less.int %3 %0\n%5 = not.bool %4";
        assert!(is_uniform(&program(same), FunctionId(0)));
        let varies = "%3 = map less.float %2 1.0\n%4 = reduce.and.bool %3\n%5 = equal.bool %4 f";
        assert!(!is_uniform(&program(varies), FunctionId(0)));
        let straight = nesl_vcode::parse("function f(%0: int) -> int { return %0 }").unwrap();
        assert!(!is_uniform(&straight, FunctionId(0)));
    }
}
