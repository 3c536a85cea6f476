//! The optimisation of a program: which passes, in which order, and the loop that verifies after each of them.

use crate::pass::Pass;
use crate::passes::{copy, count, cse, dead, fold, number, simplify};
use crate::program::Program;
use crate::verify::{VerifyError, verify};
use std::fmt;

const FOLD: Pass = Pass {
    name: "fold",
    summary: "computes scalar operations on constants, drops neutral ones, and takes the branch of a known condition",
    reason: "first: branches that go away are work for no other pass",
    run: fold::run,
};

const SIMPLIFY: Pass = Pass {
    name: "simplify",
    summary: "reads lengths and descriptors off the instructions that made them, and broadcasts without copies",
    reason: "before cse: lengths of columns that were computed differently become the same register",
    run: simplify::run,
};

/// The passes in order.
pub const PASSES: &[Pass] = &[
    FOLD,
    SIMPLIFY,
    Pass {
        name: "copy",
        summary: "replaces results of an if that are the same in both blocks",
        reason: "before cse: instructions on such results can then equal those on the originals",
        run: copy::run,
    },
    Pass {
        name: "cse",
        summary: "computes equal instructions once",
        reason: "after simplify and copy, which make instructions equal",
        run: cse::run,
    },
    Pass {
        name: "count",
        summary: "takes the number of true flags from the length of what was packed by them",
        reason: "after cse, which makes equal flags one register",
        run: count::run,
    },
    Pass {
        reason: "again after simplify and cse: lengths that are now constants or one register need no check",
        ..FOLD
    },
    Pass { reason: "again after cse and fold: broadcasts of what is now known, slices that are the whole", ..SIMPLIFY },
    Pass {
        name: "dead",
        summary: "removes what cannot fail and is not used, and functions that nothing runs",
        reason: "after all that replaces uses",
        run: dead::run,
    },
    Pass {
        name: "number",
        summary: "numbers registers in the order of their definitions",
        reason: "last: listings are readable, and engines make no room for registers that are gone",
        run: number::run,
    },
];

/// Shows a program after the pass with that name.
pub type Dump<'a> = &'a dyn Fn(&str, &Program);

/// What to leave out and what to watch.
#[derive(Default)]
pub struct Options<'a> {
    /// Names of passes not to run.
    pub disable: Vec<String>,
    /// Names of passes after which to show the program.
    pub dump_after: Vec<String>,
    /// Called after each pass in `dump_after`, before verification.
    pub dump: Option<Dump<'a>>,
}

/// Why a program could not be optimised: always a bug, except for the name of a pass that the user gave.
#[derive(Clone, Debug, PartialEq)]
pub enum PassError {
    /// No pass has this name.
    UnknownPass(String),
    /// The program was wrong before the first pass.
    Input(Vec<VerifyError>),
    /// A pass made the program wrong.
    Broken {
        /// The pass.
        pass: &'static str,
        /// What is wrong.
        errors: Vec<VerifyError>,
        /// The program as it left it.
        listing: String,
    },
}

impl fmt::Display for PassError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = match self {
            PassError::UnknownPass(name) => return write!(formatter, "there is no pass `{name}`"),
            PassError::Input(errors) => {
                write!(formatter, "verification failed before the first pass")?;
                errors
            }
            PassError::Broken { pass, errors, .. } => {
                write!(formatter, "verification failed after pass `{pass}`")?;
                errors
            }
        };
        errors.iter().try_for_each(|error| write!(formatter, "\n  {error}"))
    }
}

impl std::error::Error for PassError {}

/// Runs the pipeline.
///
/// # Errors
/// If an option names no pass, or if the program or what a pass makes of it fails verification.
pub fn optimise(program: &mut Program, options: &Options<'_>) -> Result<(), PassError> {
    run(PASSES, program, options)
}

/// Runs passes in order and verifies after each.
///
/// # Errors
/// As [`optimise`].
pub fn run(passes: &[Pass], program: &mut Program, options: &Options<'_>) -> Result<(), PassError> {
    if let Some(unknown) =
        options.disable.iter().chain(&options.dump_after).find(|&name| passes.iter().all(|pass| pass.name != name))
    {
        return Err(PassError::UnknownPass(unknown.clone()));
    }
    verify(program).map_err(PassError::Input)?;
    let named = |names: &[String], pass: &Pass| names.iter().any(|name| name == pass.name);
    for pass in passes.iter().filter(|pass| !named(&options.disable, pass)) {
        (pass.run)(program);
        if let (Some(dump), true) = (options.dump, named(&options.dump_after, pass)) {
            dump(pass.name, program);
        }
        verify(program).map_err(|errors| PassError::Broken {
            pass: pass.name,
            errors,
            listing: program.to_string(),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use std::cell::RefCell;

    const TEXT: &str = "function f(%0: int) -> int {
        %1 = add.int %0 0
        return %1
    }";

    #[test]
    fn a_broken_pass_is_named() {
        let breaks = Pass {
            name: "breaks",
            summary: "forgets the body",
            reason: "to be caught",
            run: |program| program.functions[0].body.instructions.clear(),
        };
        let mut program = parse(TEXT).unwrap();
        let error = run(&[breaks], &mut program, &Options::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "verification failed after pass `breaks`\n  function f: %1 is used before it is defined"
        );
        assert!(matches!(error, PassError::Broken { listing, .. } if listing.contains("return %1")));
        let error = optimise(&mut program, &Options::default()).unwrap_err();
        assert!(error.to_string().starts_with("verification failed before the first pass"));
    }

    #[test]
    fn passes_can_be_disabled_and_watched_by_name() {
        let seen = RefCell::new(Vec::new());
        let dump = |name: &str, program: &Program| {
            seen.borrow_mut().push((name.to_owned(), program.functions[0].body.instructions.len()));
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let options = Options { disable: names(&["fold"]), dump_after: names(&["dead"]), dump: Some(&dump) };
        let mut program = parse(TEXT).unwrap();
        assert_eq!(optimise(&mut program, &options), Ok(()));
        assert_eq!(program, parse(TEXT).unwrap());
        assert_eq!(optimise(&mut program, &Options { disable: vec![], ..options }), Ok(()));
        assert_eq!(*seen.borrow(), [("dead".to_owned(), 1), ("dead".to_owned(), 0)]);
        let wrong = Options { disable: names(&["deaf"]), ..Options::default() };
        assert_eq!(optimise(&mut program, &wrong), Err(PassError::UnknownPass("deaf".to_owned())));
    }

    #[test]
    fn passes_help_each_other() {
        let mut program = parse(
            "function f(%0: int) -> column int {
               %1 = iota %0
               %2 = dist 7 %0
               %3 = length %1
               %4 = length %2
               %5 = check_lengths %3 %4
               %6 = equal.int %3 %5
               %8 = if %6 {
                 %7 = map add.int %1 %2
                 yield %7
               } else { yield %1 }
               return %8
             }",
        )
        .unwrap();
        assert_eq!(optimise(&mut program, &Options::default()), Ok(()));
        let expected =
            "function f(%0: int) -> column int {\n  %1 = iota %0\n  %2 = map add.int %1 7\n  return %2\n}\n\n";
        assert_eq!(program.to_string(), expected);
    }
}
