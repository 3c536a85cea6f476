//! The instances of an `each` that Rust runs, a batch of them at a time: a native function whose body is the loop
//! over them, as it is in the middle of other functions ([`crate::body`]).
//!
//! ```text
//! f(count, operands) = loop of the `each` over 0 .. count
//! a batch first .. end: f(end - first, the operands from the elements and segments number first on)
//! ```

use crate::abi::{Enter, words_of};
use crate::state::{State, Status};
use nesl_prim::ScalarType;
use nesl_vcode::{Block, EachPlan, Function, Register, RegisterType, Take};
use std::ops::Range;

/// The instances of an `each` in machine code. It must not outlive its [`Compiler`](crate::Compiler).
#[derive(Debug)]
pub struct Instances {
    plan: EachPlan,
    enter: Enter,
}

/// What has become of a batch of instances.
#[derive(Debug)]
pub struct Batch {
    /// How it ended.
    pub status: Status,
    /// If it is done, the words of the results: columns among them lie in the state's scratch memory or are parts of
    /// operands or constants.
    pub words: Vec<u64>,
    /// The scratch memory that these instances have left behind, in bytes.
    pub bytes: usize,
}

/// A function with the registers of an `each`: its operands, the number of instances first, are the parameters; the
/// registers after these are its results. Its body is empty.
pub(crate) fn function_of(plan: &EachPlan, serial: &Function) -> Function {
    let mut registers = vec![RegisterType::Scalar(ScalarType::Int)];
    registers.extend(plan.operands.iter().map(|operand| operand.register));
    let parameters = (0..registers.len() as u32).map(Register).collect();
    registers.extend(plan.results.iter().map(|field| field.lifted()));
    Function {
        name: format!("instances of {}", serial.name),
        parameters,
        registers,
        body: Block::new(Vec::new(), Vec::new()),
        span: serial.span,
    }
}

impl Instances {
    pub(crate) fn new(plan: EachPlan, enter: Enter) -> Instances {
        Instances { plan, enter }
    }

    /// Runs some instances, one after another. `operands` are the words of those of the instruction, the number of
    /// instances apart.
    ///
    /// # Safety
    /// As for [`Compiled::call`](crate::Compiled::call).
    ///
    /// # Panics
    /// If there are not as many words as operands have.
    pub unsafe fn run(&self, state: &mut State<'_>, operands: &[u64], range: Range<usize>) -> Batch {
        let results: usize = self.plan.results.iter().map(|field| words_of(field.lifted())).sum();
        let (arguments, mut words) = (self.arguments(operands, range), vec![0; results]);
        let before = state.top();
        // SAFETY: the code was compiled for this plan, and reads and writes the words of its registers; what they are
        // the addresses of is there by the caller.
        let status = unsafe { (self.enter)(std::ptr::from_mut(state).cast(), arguments.as_ptr(), words.as_mut_ptr()) };
        Batch { status: Status::from_word(status), words, bytes: state.top() - before }
    }

    /// The words of the number of instances, and of the operands without what comes before the first of them.
    fn arguments(&self, operands: &[u64], range: Range<usize>) -> Vec<u64> {
        let (first, count) = (range.start as u64, range.len() as u64);
        let mut arguments = Vec::with_capacity(1 + operands.len());
        arguments.push(count);
        let mut rest = operands;
        for operand in &self.plan.operands {
            let (words, others) = rest.split_at(words_of(operand.register));
            rest = others;
            match (operand.take, operand.register) {
                (Take::Element, RegisterType::Column(ty)) => {
                    arguments.extend([words[0] + first * ty.size() as u64, count]);
                }
                (Take::Element, RegisterType::Descriptor) => {
                    arguments.extend([words[0] + 8 * first, words[1] + 8 * first, count]);
                }
                _ => arguments.extend(words),
            }
        }
        assert!(rest.is_empty(), "words of an each");
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Compiler;
    use crate::state::tests::scratch;
    use nesl_vcode::Op;

    /// Runs batches of the instances of the first `each` of a program: how each ended, and its column of results.
    fn batches(text: &str, operands: &[u64], ranges: &[Range<usize>]) -> Vec<(Status, Vec<i64>)> {
        let program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let each = program.functions[0].body.instructions.iter().find_map(|instruction| match &instruction.op {
            Op::Each(each) => Some(each),
            _ => None,
        });
        let each = each.unwrap();
        let mut compiler = Compiler::new().unwrap();
        let instances = compiler.instances(&program, each.serial, each.plan()).unwrap();
        let run = |range: &Range<usize>| {
            let mut scratch = scratch(1 << 20);
            let mut state = State::new(None, 1 << 19, Some(&mut scratch));
            // SAFETY: the operands are scalars, and the addresses of columns and descriptors that are there.
            let batch = unsafe { instances.run(&mut state, operands, range.clone()) };
            let Batch { status: Status::Done, words, .. } = batch else { return (batch.status, Vec::new()) };
            let [.., address, length] = words[..] else { panic!("{words:?}") };
            // SAFETY: these are the words of a column that lies in the scratch memory.
            let elements = unsafe { crate::Elements::at(ScalarType::Int, address, length) };
            (Status::Done, elements.to_constants().to_words().into_iter().map(|word| word as i64).collect())
        };
        ranges.iter().map(run).collect()
    }

    #[test]
    fn stretches_of_instances_begin_in_the_middle_of_their_operands() {
        // {[y / x] ++ v : x in xs; v in vs}, with vs segments of a column.
        let text = "
            function f(%0: int, %1: int, %2: column int, %3: descriptor, %4: column int) -> descriptor, column int {
              %5, %6 = each g g/L(int, of int, of [int]) -> [int] %0 %1 %2 %3 %4
              return %5 %6
            }
            function g(%0: int, %1: int, %2: int, %3: column int) -> int, column int {
              %4 = divide.int %0 %1
              %5 = dist %4 1
              %6 = concat %5 %3
              %7 = length %6
              return %7 %6
            }
            function g/L(%0: int, %1: int, %2: column int, %3: descriptor, %4: column int) -> descriptor, column int {
              return %3 %4
            }";
        let (xs, data) = ([1i64, 2, 3, 0, 5], [10i64, 11, 12, 13]);
        let (starts, lengths) = ([2i64, 0, 1, 0, 3], [2i64, 4, 0, 1, 1]);
        let address = |column: &[i64]| column.as_ptr().expose_provenance() as u64;
        let operands = [
            60,
            address(&xs),
            xs.len() as u64,
            address(&starts),
            address(&lengths),
            5,
            address(&data),
            data.len() as u64,
        ];
        let found = batches(text, &operands, &[0..3, 1..2, 2..2, 2..3, 4..5, 2..5, 3..4]);
        let done = |elements: &[i64]| (Status::Done, elements.to_vec());
        let expected = [
            done(&[60, 12, 13, 30, 10, 11, 12, 13, 20]),
            done(&[30, 10, 11, 12, 13]),
            done(&[]),
            done(&[20]),
            done(&[12, 13]),
            (Status::GaveUp, Vec::new()),
            (Status::GaveUp, Vec::new()),
        ];
        assert_eq!(found, expected);
    }
}
