//! *Call-pattern specialisation* (Peyton Jones, *Call-pattern specialisation for Haskell programs*, ICFP 2007): a
//! function that is called with a range, or with one value everywhere, gets the numbers that make the column instead of
//! the column, and so does who calls a function, or chooses in an `if`, that yields one.
//!
//! ```text
//! %2 = iota %1                           %3 = call walk/numbers %1 0 7
//! %3 = call walk %2 7
//! …
//! function walk(%0: column int, …) {     function walk/numbers(%4: int, %5: int, …) {
//!                                          %6 = iota %4
//!                                          %0 = map add.int %6 %5
//!   %2 = extract %0 %1                     %2 = extract %0 %1
//!   …                                      …
//!   %4 = slice %0 1 %3                     %7 = add.int %5 1
//!   %5 = loop walk %4 %2                   %8 = loop walk/numbers %3 %7 %2
//! }                                      }
//! ```
//!
//! What is read of the column there, [`simplify`](super::simplify) computes, so that it is in memory only where
//! something needs it there. A parameter stays a column where its function hands it to something that does:
//! what was made once would be made at each call ([`kept`]). Functions that are not recursive are mostly inlined
//! before, and have these things for nothing.
//!
//! Which functions are called with what, and what they yield then, is found for all together ([`analysis`]), and then
//! written ([`specialise`]). What is called right behind a clock gets what it is called with: that is how an expression
//! is timed.

mod analysis;
mod form;
mod kept;
mod specialise;
#[cfg(test)]
mod tests;

use crate::program::{FunctionId, Program, Step};
use analysis::Analysis;
use std::collections::HashSet;

/// Specialises calls in all functions.
pub fn run(program: &mut Program) {
    let roots = roots(program);
    let mut stay = HashSet::new();
    // Each turn but the last adds to what stays, of which there is no more than there are parameters.
    loop {
        let analysis = Analysis::of(&program.functions, &roots, &stay);
        let more = kept::parameters(&analysis);
        if more.is_empty() {
            let functions = specialise::functions(&analysis);
            return functions.into_iter().for_each(|(id, function)| match program.functions.get_mut(id.0 as usize) {
                Some(own) => *own = function,
                None => program.functions.push(function),
            });
        }
        stay.extend(more);
    }
}

/// The functions that something else than functions runs; all of a fragment, which has nothing to run.
fn roots(program: &Program) -> Vec<FunctionId> {
    let steps = program.steps.iter().chain(program.mains.iter().flat_map(|main| main.steps()));
    let roots: Vec<FunctionId> = steps.map(|step: &Step| step.function).collect();
    if !roots.is_empty() {
        return roots;
    }
    (0..).map(FunctionId).take(program.functions.len()).collect()
}
