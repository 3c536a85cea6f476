//! Flattening: typed core to VCODE.
//!
//! Nested parallelism becomes segmented vector code: the body of an apply-to-each runs once, for all its elements,
//! whatever the nesting (Blelloch and Sabot, *Compiling collection-oriented languages onto massively parallel
//! computers*, 1990; Keller and Simons, *A calculational approach to flattening nested data parallelism*, 1996). What
//! this implementation adds is that nothing is copied per element that the source does not copy:
//!
//! * *Invariant stays invariant*: a value shared by all instances is not replicated; lifted functions are made for each
//!   pattern of lifted and invariant arguments ([`value`]).
//! * *Views*: a free sequence, a part of a sequence, a selected branch are starts and lengths into shared data
//!   ([`lower::repr`]).
//!
//! [`compile`] is the way in. [`entry`] makes the steps of a program, [`instance`] knows which functions are needed,
//! [`function`] makes them, and [`lower`] their bodies, by the rules in [`lower::lift`]. Names that recur: *instance*
//! of an apply-to-each (one element with its body), *serial* and *lifted* code, *invariant*.

mod entry;
mod free;
mod function;
mod instance;
mod lower;
mod parallel;
mod replacing;
mod supply;
mod value;

use instance::Instances;
use nesl_frontend::core::{self, Form, FunctionId, GlobalId};
use nesl_frontend::stack::with_stack_if_possible;
use nesl_vcode::Program;
pub use parallel::NotParallel;
use std::collections::BTreeSet;

/// Stack for the recursion over core: chains of ten thousand operators are as deep as they are long.
const STACK: usize = 1 << 30;

/// The VCODE of `forms`, run in order, and of a call of `main` with arguments.
///
/// `earlier` are the forms of before whose globals may be needed (the library's, and none in a session that has run
/// them): those needed are computed first. A polymorphic `main` gets an entry for each choice of types that arguments
/// can make.
///
/// # Errors
/// Where operations for serial code, such as reading from a stream, stand in an apply-to-each.
///
/// # Panics
/// If core is ill-typed or has functions with errors: the front end gives out neither.
pub fn compile(
    program: &core::Program,
    earlier: &[Form],
    forms: &[Form],
    main: Option<FunctionId>,
) -> Result<Program, Vec<NotParallel>> {
    with_stack_if_possible(STACK, || flatten(program, earlier, forms, main))
}

fn flatten(
    program: &core::Program,
    earlier: &[Form],
    forms: &[Form],
    main: Option<FunctionId>,
) -> Result<Program, Vec<NotParallel>> {
    let all: Vec<&Form> = earlier.iter().chain(forms).collect();
    let mut instances = Instances::new(program);

    let own: BTreeSet<GlobalId> = forms
        .iter()
        .filter_map(entry::expression)
        .flat_map(|expr| instances.globals.expr(instances.program, &expr))
        .collect();
    let mut steps = entry::needed(&mut instances, earlier, own);
    steps.extend(forms.iter().filter_map(|form| entry::step(&mut instances, form)));

    let mains = main.map_or(Vec::new(), |main| {
        let choices = entry::type_choices(&program.function(main).scheme);
        let defaults = program.function(main).keywords.iter().map(|keyword| keyword.default);
        let called: Vec<FunctionId> = std::iter::once(main).chain(defaults).collect();
        let required = (choices.iter())
            .flat_map(|types| called.iter().map(move |&function| (function, types)))
            .flat_map(|(function, types)| instances.globals.function(program, function, types))
            .collect();
        let prelude = entry::needed(&mut instances, &all.into_iter().cloned().collect::<Vec<_>>(), required);
        choices.into_iter().map(|types| entry::main(&mut instances, main, types, prelude.clone())).collect()
    });
    Ok(Program { functions: function::all(instances)?, steps, mains, sites: Vec::new() })
}
