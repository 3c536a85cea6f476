//! What is inlined: of the functions that do not come to call themselves, those that are small, or called once.
//!
//! A call costs about as much as a few instructions on scalars, and hides from the passes what a body has to do with
//! its surroundings; that is worth most in lifted code, where an instruction is a pass over elements.

use super::extent;
use crate::each::Each;
use crate::program::{Block, Function, FunctionId, Op, Program, RegisterType};
use crate::shape::Shape;
use nesl_prim::cycles::{components, postorder};

/// How many instructions a function may have to be inlined wherever it is called.
pub(super) const SMALL: usize = 40;

/// How many it may have in lifted code.
const SMALL_LIFTED: usize = 120;

/// How many times as many instructions a program may have as before. A function that is called from one place may be of
/// any size: its body moves, and nothing grows.
const GROWTH: usize = 4;

/// What is known of the functions of a program, the numbers of which are the places here.
pub(super) struct Choice {
    functions: Vec<Known>,
    /// How many instructions the program may still get.
    room: usize,
}

/// What is known of a function.
#[derive(Clone, Default)]
struct Known {
    /// From how many places it is called.
    calls: usize,
    /// Whether it may come to call itself.
    recurs: bool,
    /// Whether it is for all instances of an apply-to-each at once.
    is_lifted: bool,
    /// Its size, if it may be inlined: once its own calls have been.
    size: Option<usize>,
    /// Whether instances run other functions or act outside.
    calls_on: bool,
    /// Whether it branches.
    branches: bool,
    /// Whether its instances, all at once, need more room than they get and give.
    opens: bool,
}

impl Choice {
    pub fn new(program: &mut Program) -> Choice {
        let callees: Vec<Vec<usize>> = (program.functions.iter_mut())
            .map(|function| {
                let mut callees = Vec::new();
                function.body.visit_functions(&mut |callee| callees.push(callee.0 as usize));
                callees
            })
            .collect();
        let component = components(callees.len(), |function| callees[function].clone());
        let mut members = vec![0usize; callees.len()];
        component.iter().for_each(|&one| members[one] += 1);
        let mut functions = vec![Known::default(); callees.len()];
        for (index, own) in callees.iter().enumerate() {
            functions[index].recurs = members[component[index]] > 1 || own.contains(&index);
            own.iter().for_each(|&callee| functions[callee].calls += 1);
        }
        let mut lifted: Vec<usize> = Vec::new();
        program.functions.iter().for_each(|function| lifted_callees(&function.body, &mut lifted));
        while let Some(function) = lifted.pop() {
            if !std::mem::replace(&mut functions[function].is_lifted, true) {
                lifted.extend(&callees[function]);
            }
        }
        let size: usize = program.functions.iter().map(|function| function.body.size()).sum();
        Choice { functions, room: (GROWTH - 1) * size }
    }

    /// Notes what a function is now that its own calls have been inlined; `is_near`: whether no instruction of it comes
    /// from too far.
    pub fn know(&mut self, id: FunctionId, function: &Function, is_near: bool) {
        let body = &function.body;
        let calls_on = self.calls_on(body);
        let known = &mut self.functions[id.0 as usize];
        known.size = (is_near && !known.recurs).then(|| body.size());
        known.calls_on = calls_on;
        known.branches = body.instructions.iter().any(|instruction| matches!(instruction.op, Op::If(..)));
        known.opens = known.is_lifted && !calls_on && extent::opens(function);
    }

    /// Whether a block runs functions, but for instances of scalars, or acts outside.
    fn calls_on(&self, block: &Block) -> bool {
        block.instructions.iter().any(|instruction| match &instruction.op {
            Op::Call(_) | Op::Host(_) => true,
            Op::Each(each) => !is_scalar(each) || self.functions[each.lifted.0 as usize].calls_on,
            Op::If(then_block, else_block) => self.calls_on(then_block) || self.calls_on(else_block),
            _ => false,
        })
    }

    /// Whether the body of a function takes the place of a call of it; if so the program has grown.
    pub fn takes(&mut self, callee: FunctionId) -> bool {
        let known = &self.functions[callee.0 as usize];
        let Some(size) = known.size else { return false };
        if known.calls == 1 {
            return true;
        }
        let fits = size <= if known.is_lifted { SMALL_LIFTED } else { SMALL } && size <= self.room;
        if fits {
            self.room -= size;
        }
        fits
    }

    /// Whether the body of its lifted version takes the place of an `each`: not if its instances run functions, for
    /// which the machine chooses how; nor if all of them at once would take more room than one after another; and
    /// scalars that branch would only be split and merged.
    pub fn takes_lifted(&mut self, each: &Each) -> bool {
        let known = &self.functions[each.lifted.0 as usize];
        if known.calls_on || known.opens || (known.branches && is_scalar(each)) {
            return false;
        }
        self.takes(each.lifted)
    }
}

/// Whether instances get and give scalars alone.
fn is_scalar(each: &Each) -> bool {
    let arguments = each.arguments.iter().map(|argument| &argument.shape);
    let mut registers = arguments.chain(&each.results).flat_map(Shape::serial);
    registers.all(|ty| matches!(ty, RegisterType::Scalar(_)))
}

fn lifted_callees(block: &Block, lifted: &mut Vec<usize>) {
    for instruction in &block.instructions {
        match &instruction.op {
            Op::Each(each) => lifted.push(each.lifted.0 as usize),
            Op::If(then_block, else_block) => {
                lifted_callees(then_block, lifted);
                lifted_callees(else_block, lifted);
            }
            _ => {}
        }
    }
}

/// All functions, each after those that it calls, but for recursion.
pub(super) fn callees_first(program: &Program) -> Vec<FunctionId> {
    let callees = |at: usize| program.functions[at].body.functions().into_iter().map(|id| id.0 as usize).collect();
    let order = postorder(program.functions.len(), callees);
    order.into_iter().filter_map(|at| u32::try_from(at).ok()).map(FunctionId).collect()
}
