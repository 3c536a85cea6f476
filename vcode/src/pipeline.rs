//! The optimisation of a program: the loop that runs passes and verifies after each of them. Which passes there are,
//! and in which order, say [`lists`].

mod lists;

use crate::pass::Pass;
use crate::passes::{fuse, last_use, regular};
use crate::program::Program;
use crate::verify::{VerifyError, verify};
#[cfg(test)]
pub(crate) use lists::NUMBER;
pub use lists::{PARTITIONED_PASSES, PASSES, SERIAL_PASSES};
use std::fmt;

/// Shows a program after the pass with that name.
pub type Dump<'a> = &'a dyn Fn(&str, &Program);

/// What to leave out and what to watch.
#[derive(Clone, Default)]
pub struct Options<'a> {
    /// Names of passes not to run.
    pub disable: Vec<String>,
    /// Names of passes after which to show the program.
    pub dump_after: Vec<String>,
    /// Called after each pass in `dump_after`, before verification.
    pub dump: Option<Dump<'a>>,
}

impl Options<'_> {
    /// A name that no pass of these lists has, if there is one.
    pub fn unknown(&self, lists: &[&[Pass]]) -> Option<&str> {
        self.disable
            .iter()
            .chain(&self.dump_after)
            .find(|&name| !lists.iter().any(|passes| has(passes, name)))
            .map(|it| &**it)
    }

    /// The same without names that no pass of a list has.
    pub fn of(&self, passes: &[Pass]) -> Self {
        let mut own = self.clone();
        own.disable.retain(|name| has(passes, name));
        own.dump_after.retain(|name| has(passes, name));
        own
    }
}

/// Whether a pass of a list has a name.
fn has(passes: &[Pass], name: &str) -> bool {
    passes.iter().any(|pass| pass.name == name)
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

/// The program whose functions do the same as those of a program, by the same numbers, for one instance after another:
/// [`SERIAL_PASSES`]. Names of other passes among the options mean nothing here.
///
/// # Errors
/// As [`optimise`].
pub fn serial(program: &Program, options: &Options<'_>) -> Result<Program, PassError> {
    derived(program, SERIAL_PASSES, options)
}

/// The program whose functions do the same as those of a program, by the same numbers, on columns in parts:
/// [`PARTITIONED_PASSES`]. Names of other passes among the options mean nothing here.
///
/// # Errors
/// As [`optimise`].
pub fn partitioned(program: &Program, options: &Options<'_>) -> Result<Program, PassError> {
    derived(program, PARTITIONED_PASSES, options)
}

/// The functions of a program, all of them, after some more passes.
fn derived(program: &Program, passes: &[Pass], options: &Options<'_>) -> Result<Program, PassError> {
    // Without anything to run all functions stay.
    let mut derived =
        Program { functions: program.functions.clone(), sites: program.sites.clone(), ..Program::default() };
    run(passes, &mut derived, &options.of(passes))?;
    Ok(derived)
}

/// Runs passes in order and verifies after each. Marks of last uses, groups, and descriptors without
/// columns that the program has are removed first.
///
/// # Errors
/// As [`optimise`].
pub fn run(passes: &[Pass], program: &mut Program, options: &Options<'_>) -> Result<(), PassError> {
    if let Some(unknown) = options.unknown(&[passes]) {
        return Err(PassError::UnknownPass(unknown.to_owned()));
    }
    verify(program).map_err(PassError::Input)?;
    // A pass that changes a marked program would make its marks wrong, and passes before groups are made know none.
    last_use::clear(program);
    fuse::split(program);
    regular::split(program);
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
    fn so_can_those_of_a_program_that_is_made_of_another() {
        let seen = RefCell::new(Vec::new());
        let dump = |name: &str, _: &Program| seen.borrow_mut().push(name.to_owned());
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let options =
            Options { disable: names(&["fold", "inline"]), dump_after: names(&["peel", "view"]), dump: Some(&dump) };
        let program = parse(TEXT).unwrap();
        assert_eq!(serial(&program, &options).unwrap().functions, program.functions);
        assert!(serial(&program, &Options::default()).unwrap().functions[0].body.instructions.is_empty());
        assert_eq!(*seen.borrow(), ["peel"]);
        assert_eq!((options.unknown(&[PASSES, SERIAL_PASSES]), options.unknown(&[PASSES])), (None, Some("peel")));
    }

    #[test]
    fn passes_can_be_disabled_and_watched_by_name() {
        let seen = RefCell::new(Vec::new());
        let dump = |name: &str, program: &Program| {
            seen.borrow_mut().push((name.to_owned(), program.functions[0].body.instructions.len()));
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let options =
            Options { disable: names(&["fold", "last_use"]), dump_after: names(&["number"]), dump: Some(&dump) };
        let mut program = parse(TEXT).unwrap();
        assert_eq!(optimise(&mut program, &options), Ok(()));
        assert_eq!(program, parse(TEXT).unwrap());
        assert_eq!(optimise(&mut program, &Options { disable: vec![], ..options }), Ok(()));
        assert_eq!(*seen.borrow(), [("number".to_owned(), 1), ("number".to_owned(), 0)]);
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
        let expected = "function f(%0: int) -> column int {\n  %3 = fused {\n    %1 = iota %0!\n    %2 = map add.int %1* 7\n    \
             yield %2!\n  }\n  return %3!\n}\n\n";
        assert_eq!(program.to_string(), expected);
    }

    #[test]
    fn groups_of_parts_read_nothing_by_data() {
        let program = parse(
            "function f(%0: int, %1: column int, %2: column int) -> int, column int {
               %3 = length %1
               %4 = iota %3
               %5 = map multiply.int %1 %4
               %6 = gather %2 %5
               %7 = map add.int %6 %1
               %8 = reduce.add.int %7
               %9 = map less.int %7 %0
               %10 = pack %7 %9
               return %8 %10
             }",
        )
        .unwrap();
        let found = partitioned(&program, &Options::default()).unwrap().to_string();
        let expected = "function f(%0: int, %1: column int, %2: column int) -> int, column int {\n  %3 = length %1\n  \
             %6 = fused {\n    %4 = iota %3!\n    %5 = map multiply.int %1 %4*\n    yield %5!\n  }\n  \
             %7 = gather %2! %6!\n  %12, %13 = fused {\n    %8 = map add.int %7* %1*\n    %9 = reduce.add.int %8\n    \
             %10 = map less.int %8 %0!\n    %11 = pack %8! %10!\n    yield %9! %11!\n  }\n  return %12! %13!\n}\n\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn groups_of_parts_read_segments() {
        let program = parse(
            "function f(%0: descriptor, %1: column char, %2: column int, %3: column int) -> column int, column int {
               %4 = compact %1 %0
               %5 = lengths %0
               %6 = packed %5
               %7 = map char_to_code %4
               %8 = seg_reduce.add.int %7 %6
               %9 = compact %2 %0
               %10 = gather %3 %9
               return %8 %10
             }",
        )
        .unwrap();
        // What other elements are asked for by is a column of its own: what is asked is kept with it.
        let found = partitioned(&program, &Options::default()).unwrap().to_string();
        let expected = "function f(%0: descriptor, %1: column char, %2: column int, %3: column int) -> column int, column int {\n  \
             %4 = lengths %0\n  %5 = packed %4!\n  %9 = fused {\n    %6 = compact %1! %0\n    \
             %7 = map char_to_code %6!\n    %8 = seg_reduce.add.int %7! %5!\n    yield %8!\n  }\n  \
             %10 = compact %2! %0!\n  %11 = gather %3! %10!\n  return %9! %11!\n}\n\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn groups_of_parts_write_over_segments_alone() {
        let written = |instruction: &str| {
            let text = format!(
                "function f(%0: descriptor, %1: column int, %2: column int, %3: column int) -> column int {{
                   %4 = map multiply.int %2 %2
                   %5 = {instruction}
                   return %5
                 }}"
            );
            partitioned(&parse(&text).unwrap(), &Options::default()).unwrap().to_string()
        };
        // Segments are written where they are; what goes anywhere is moved by an instruction of its own.
        let found = written("seg_scatter %1 %0 %4");
        assert!(found.contains("    %5 = seg_scatter %1* %0! %4!\n    yield %5!"), "{found}");
        let found = written("scatter %1 %3 %4");
        assert!(found.contains("\n  %6 = scatter %1* %3! %5!\n"), "{found}");
    }

    #[test]
    fn what_is_read_by_indices_from_data_is_in_no_group_of_parts() {
        let program = parse(
            "function f(%0: int, %1: column int, %2: column int) -> column int {
               %3 = map check_index %1 %0
               %4 = gather %2 %3
               %5 = map add.int %4 1
               return %5
             }",
        )
        .unwrap();
        let found = partitioned(&program, &Options::default()).unwrap().to_string();
        let is_alone = |line: &str| line.contains("= gather") && !line.starts_with("    ");
        assert!(found.lines().any(is_alone) && found.matches("fused").count() == 2, "{found}");
    }

    #[test]
    fn windows_are_read_where_they_lie() {
        // {sum({v[i + j] : j in [0:k]}) : i in starts}, as flattening makes it, but for the case of no starts.
        let mut program = parse(
            "function windows(%0: int, %1: column float, %2: int, %3: int, %4: column int) -> column float {
               %5 = iota %2
               %6 = dist 0 %3
               %7 = dist %2 %3
               %8 = view %6 %7
               %9 = compact %5 %8
               %10 = lengths %8
               %11 = packed %10
               %12 = seg_dist %4 %11
               %13 = map add.int %12 %9
               %14 = map check_index %13 %0
               %15 = gather %1 %14
               %16 = seg_reduce.add.float %15 %11
               return %16
             }",
        )
        .unwrap();
        let disable = vec!["fuse".to_owned(), "last_use".to_owned()];
        assert_eq!(optimise(&mut program, &Options { disable, ..Options::default() }), Ok(()));
        let expected = parse(
            "function windows(%0: int, %1: column float, %2: int, %3: int, %4: column int) -> column float {
               %5 = map check_range %4 %2 %0
               %6 = blocks %5 %2 %3
               %7 = seg_reduce.add.float %1 %6
               return %7
             }",
        )
        .unwrap();
        assert_eq!(program.to_string(), expected.to_string());
    }
}
