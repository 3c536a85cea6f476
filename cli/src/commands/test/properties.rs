//! Functions that are to be true of all arguments: tried with random ones, and with simpler ones where they are not.

use super::values::{Random, Value, draw};
use nesl_frontend::core::Function;
use nesl_frontend::ty::Type;
use nesl_prim::failure;
use nesl_service::outcome::{End, Outcome};
use std::fmt::Write;

/// The size of the largest arguments.
const LARGEST: usize = 20;

/// How often a simpler argument is looked for, and among how many at once.
const ROUNDS: usize = 60;
const CANDIDATES: usize = 40;

/// A function whose name begins with `prop_`.
pub struct Claim {
    /// Its name.
    pub name: String,
    /// The type of its argument.
    argument: Type,
}

impl Claim {
    /// The property that a function is.
    ///
    /// # Errors
    /// Why it is none.
    pub fn of(name: &str, function: &Function) -> Result<Claim, String> {
        if function.scheme.result != Type::BOOL {
            return Err(format!("{name} is to give a bool, and gives {}", function.scheme.result));
        }
        // Int is in every class that a program can name. What takes functions is refused below.
        let ints = vec![Type::INT; function.scheme.classes.len()];
        let mut argument = function.scheme.parameter.instantiate(&ints);
        if !function.keywords.is_empty() {
            // Those with a default are left to it.
            let mut parts = Vec::new();
            while parts.len() < function.parameters.len()
                && let Type::Pair(first, rest) = argument
            {
                parts.push((*first).clone());
                argument = (*rest).clone();
            }
            let parts = parts.into_iter().rev();
            argument = parts.reduce(|rest, first| Type::pair(first, rest)).unwrap_or(Type::Unit);
        }
        draw(&argument, LARGEST, &mut Random::new(0)).map_err(|problem| format!("{name}: {problem}"))?;
        Ok(Claim { name: name.to_owned(), argument })
    }
}

/// How a property is not true of an argument.
struct Counterexample {
    argument: Value,
    how: String,
    /// Whether it took longer than it may.
    is_out_of_time: bool,
}

/// Tries a property with random arguments.
///
/// # Errors
/// The simplest argument found of which it is not true.
pub fn check(
    definitions: &str,
    claim: &Claim,
    (seed, cases): (i64, u32),
    run: &dyn Fn(&str) -> Outcome,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    // A property without arguments is the same each time.
    let cases = if claim.argument == Type::Unit { 1 } else { cases as usize };
    let sizes = (0..cases).map(|case| 1 + case * LARGEST / cases);
    let arguments: Vec<Value> = sizes.map(|size| draw(&claim.argument, size, &mut random)).collect::<Result<_, _>>()?;
    let Some(mut found) = first_wrong(definitions, claim, arguments, run)? else { return Ok(()) };
    let first = found.argument.argument();
    let mut steps = 0;
    // To wait again and again for what never ends is no way to find something simpler.
    while steps < ROUNDS && !found.is_out_of_time {
        let simpler: Vec<Value> = found.argument.simpler().into_iter().take(CANDIDATES).collect();
        match first_wrong(definitions, claim, simpler, run)? {
            Some(simpler) => found = simpler,
            None => break,
        }
        steps += 1;
    }
    let Counterexample { argument, how, .. } = found;
    let mut problem = format!("{}{}\n  {how}", claim.name, argument.argument());
    if steps > 0 {
        // Writing to a string does not fail.
        let _ = write!(problem, "\n  first seen with {}{first}", claim.name);
    }
    Err(problem)
}

/// The first of some arguments of which a property is not true. All are tried in one run.
fn first_wrong(
    definitions: &str,
    claim: &Claim,
    arguments: Vec<Value>,
    run: &dyn Fn(&str) -> Outcome,
) -> Result<Option<Counterexample>, String> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let mark = |number: usize| format!("(\"case {number} of this test\", ");
    let mut program = definitions.to_owned();
    for (number, argument) in arguments.iter().enumerate() {
        let _ = writeln!(program, "{}{}{});", mark(number), claim.name, argument.argument());
    }
    let Outcome { lines, end } = run(&program);
    let end = end.placed_within(definitions);
    let is_out_of_time = matches!(&end, End::Failed { code, .. } if code == failure::OUT_OF_TIME);
    for (number, argument) in arguments.into_iter().enumerate() {
        let how = match lines.iter().find_map(|line| line.strip_prefix(&mark(number))) {
            Some("t)") => continue,
            Some(_) => "is false".to_owned(),
            None => match &end {
                End::Rejected(_) => return Err(format!("{}{}\n  {end}", claim.name, argument.argument())),
                End::Done => "gives nothing".to_owned(),
                end => end.to_string(),
            },
        };
        return Ok(Some(Counterexample { argument, how, is_out_of_time }));
    }
    Ok(None)
}
