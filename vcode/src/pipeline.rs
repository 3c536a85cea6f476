//! The optimisation of a program: which passes, in which order, and the loop that verifies after each of them.

use crate::pass::Pass;
use crate::passes::{
    accumulate, bounds, checked, copy, count, cse, dead, descriptor, fold, fuse, grouped_reduce, hoist, hoist_common,
    if_conversion, inline, keep_rows, last_use, number, parts, peel, read_early, regular, rows, short_segments,
    simplify, sink_common, slice, sort, speculate, unroll, view, windows, zero_trip,
};
use crate::program::Program;
use crate::verify::{VerifyError, verify};
use std::fmt;

const COPY: Pass = Pass {
    name: "copy",
    summary: "replaces results of an if that are the same in both blocks",
    reason: "before cse: instructions on such results can then equal those on the originals",
    run: copy::run,
};

const SINK_COMMON: Pass = Pass {
    name: "sink_common",
    summary: "takes what both blocks of an if do alike out of it, and lets ifs that choose scalars be selections",
    reason: "after copy and cse, which make equal operands one register; before the passes that read lengths and descriptors \
             off the instructions that made them",
    run: sink_common::run,
};

const FOLD: Pass = Pass {
    name: "fold",
    summary: "computes scalar operations on constants, drops neutral ones, and takes the branch of a known condition",
    reason: "before all others but inline: branches that go away are work for no other pass",
    run: fold::run,
};

const SIMPLIFY: Pass = Pass {
    name: "simplify",
    summary: "reads lengths and descriptors off the instructions that made them, and broadcasts without copies",
    reason: "before cse: lengths of columns that were computed differently become the same register",
    run: simplify::run,
};

const CSE: Pass = Pass {
    name: "cse",
    summary: "computes equal instructions once",
    reason: "after simplify and copy, which make instructions equal",
    run: cse::run,
};

const DEAD: Pass = Pass {
    name: "dead",
    summary: "removes what cannot fail and is not used, and functions that nothing runs",
    reason: "after all that replaces uses",
    run: dead::run,
};

/// The passes in order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "inline",
        summary: "puts functions that are not recursive where they are called, if they are small, or called once",
        reason: "first: what is known of arguments and of results meets in one body, for all other passes",
        run: inline::run,
    },
    FOLD,
    SIMPLIFY,
    COPY,
    CSE,
    SINK_COMMON,
    Pass {
        name: "count",
        summary: "takes the number of true flags from the length of what was packed by them",
        reason: "after cse, which makes equal flags one register",
        run: count::run,
    },
    Pass {
        name: "windows",
        summary: "knows how long subsequences are that are cut one after another, all alike",
        reason: "after simplify and cse, which make equal lengths one register; before slice and simplify, which know what to do \
                 with segments that are as long as one another",
        run: windows::run,
    },
    Pass {
        name: "slice",
        summary: "makes slices, and views of segments, of gathers by ranges of indices, and checks a range at once",
        reason: "after simplify and cse, which make of indices and lengths what ranges are known by; before simplify runs again, \
                 for slices that are the whole",
        run: slice::run,
    },
    Pass {
        name: "descriptor",
        summary: "lets lengths and descriptors that a check makes equal be one, and takes sums of lengths from descriptors",
        reason: "after cse, which makes lengths registers that can be compared; before fold runs again, which drops the checks \
                 that now compare a length with itself",
        run: descriptor::run,
    },
    Pass {
        name: "parts",
        summary: "writes one value at indices that are concatenated by one part after another",
        reason: "after simplify, which says that all values are the same; before it runs again, which knows the lengths of parts",
        run: parts::run,
    },
    Pass {
        reason: "again after simplify and cse: lengths that are now constants or one register need no check",
        ..FOLD
    },
    Pass { reason: "again after cse and fold: broadcasts of what is now known, slices that are the whole", ..SIMPLIFY },
    Pass {
        name: "short_segments",
        summary: "reduces sequences of a few known elements by one operation after another on whole columns",
        reason: "after simplify, by which all segments are known to be equally long; before cse, for what several reductions compute",
        run: short_segments::run,
    },
    Pass { reason: "again after short_segments: operations on elements that are known", ..FOLD },
    Pass { reason: "again after slice: columns that are selected alike need one view", ..CSE },
    DEAD,
    Pass {
        name: "keep_rows",
        summary: "writes segments that change over the others, where these stay as they are, rather than to copy all",
        reason: "after simplify and cse, by which it is known how long segments are, and dead; after slice, which would make \
                 slices again of the copies of parts of the data; before view and fuse, which read and write in one loop then",
        run: keep_rows::run,
    },
    Pass { reason: "again after keep_rows: descriptors and lengths of segments that change", ..SIMPLIFY },
    Pass { reason: "again after keep_rows: conditions and selections that are alike", ..CSE },
    Pass { reason: "again after keep_rows: selections of what stays", ..DEAD },
    Pass {
        name: "sort",
        summary: "sorts by one instruction what is permuted by its ranks alone, and writes other data where ranks say",
        reason: "after dead: what nobody reads would count as a reader; before view, which takes ranks from elsewhere than what is permuted",
        run: sort::run,
    },
    Pass {
        name: "grouped_reduce",
        summary: "combines into the results of their groups what is brought together only to be reduced",
        reason: "after sort, which knows that ranks write all places; before view, which looks for readers",
        run: grouped_reduce::run,
    },
    Pass {
        name: "view",
        summary: "reads by segments through views, without a copy for one reader",
        reason: "after dead: what nobody reads would count as a reader",
        run: view::run,
    },
    Pass { reason: "again after sort and view: ranks and copies that nobody reads any more", ..DEAD },
    Pass {
        name: "read_early",
        summary: "reads single elements of a column before others of it are changed",
        reason: "after dead, and after all that lets reads be of other columns: the last use of what is changed is then the change; \
                 before fuse, which takes the change into a group",
        run: read_early::run,
    },
    Pass {
        name: "zero_trip",
        summary: "lets what is computed elementwise leave the branch around it that asks whether there are any elements",
        reason: "after slice, which makes slices in such branches, and dead; before fuse: what stands around the \
                 branch can be one loop with it",
        run: zero_trip::run,
    },
    Pass {
        name: "speculate",
        summary: "reduces in front of an if what its blocks reduce, where a column is made for nothing else",
        reason: "after dead: what nobody reads would count as a reader; before fuse, which makes one loop of what then stands together",
        run: speculate::run,
    },
    Pass { reason: "again after zero_trip: empty columns that no branch yields any more", ..DEAD },
    Pass {
        name: "regular",
        summary: "makes descriptors of segments that are equally long of scalars, without columns of lengths and starts",
        reason: "after all that knows descriptors by the columns that they are made of; before fuse, which leaves to groups \
                 what they alone read of these",
        run: regular::run,
    },
    Pass { reason: "again after regular: lengths and starts that nobody reads any more", ..DEAD },
    FUSE,
    CHECKED,
    NUMBER,
    LAST_USE,
];

const FUSE: Pass = Pass {
    name: "fuse",
    summary: "gathers instructions over one index space into groups that can be one loop",
    reason: "after all that looks at single instructions; groups have no parts that nobody reads",
    run: fuse::run,
};

const CHECKED: Pass = Pass {
    name: "checked",
    summary: "lets columns that leave a group only checked be read as they were before",
    reason: "after fuse, which keeps what relies on a check behind it",
    run: checked::run,
};

const LAST_USE: Pass = Pass {
    name: "last_use",
    summary: "marks the last use of each register, and whether the result may be written over it",
    reason: "last: any other change makes marks wrong",
    run: last_use::run,
};

pub(crate) const NUMBER: Pass = Pass {
    name: "number",
    summary: "numbers registers in the order of their definitions",
    reason: "after all that makes or removes registers: listings are readable, and nobody makes room for what is gone",
    run: number::run,
};

/// The passes for code that runs one instance after another and leaves errors to others, in order. What they get has
/// been through [`PASSES`].
pub const SERIAL_PASSES: &[Pass] = &[
    FOLD,
    SIMPLIFY,
    CSE,
    Pass {
        name: "unroll",
        summary: "calls the function of an each directly for the elements of a sequence that is written out",
        reason: "after simplify and cse, by which lengths are known",
        run: unroll::run,
    },
    Pass {
        name: "accumulate",
        summary: "combines before a call what a function would combine with what the call gives, so that it is a step of a loop",
        reason: "after unroll, which makes calls; before peel, which puts branches around them",
        run: accumulate::run,
    },
    Pass {
        name: "rows",
        summary: "lets loops that append segments carry their lengths and starts, which can grow, instead of a descriptor",
        reason: "after cse, by which lengths of one descriptor are one register; before peel, which puts branches around calls",
        run: rows::run,
    },
    Pass {
        name: "peel",
        summary: "asks before a call whether the function would end at once, and takes what it would give",
        reason: "after unroll, which makes calls; before simplify, which knows the lengths of arguments",
        run: peel::run,
    },
    Pass {
        name: "hoist_common",
        summary: "does what both blocks of an if do alike once, in front of it",
        reason: "after cse, which makes equal operands one register; before hoist, which takes what is then part of every turn",
        run: hoist_common::run,
    },
    Pass { reason: "again after hoist_common: writes to elements at indices that are scalars now", ..SINK_COMMON },
    Pass {
        name: "if_conversion",
        summary: "lets the ways on with a loop that an if chooses among be one, with operands that are selected",
        reason: "after hoist_common and sink_common, which leave in the blocks what differs; before hoist and bounds, to which a loop \
                 with one way on is a simpler one",
        run: if_conversion::run,
    },
    Pass {
        name: "hoist",
        summary: "computes before a loop what is the same in all of its turns",
        reason: "after cse, which makes equal operands one register, and rows, which says what is carried; before simplify and \
                 cse, which know where the loop is entered what it begins with",
        run: hoist::run,
    },
    Pass {
        name: "bounds",
        summary: "lets turns of a loop in which all indices are within bounds be turns without checks",
        reason: "after hoist, which makes lengths and offsets that do not vary parameters; before fold and simplify, which \
                 drop what such turns need not ask",
        run: bounds::run,
    },
    Pass { reason: "again after bounds: conditions that are known in turns without checks", ..FOLD },
    Pass { reason: "again after unroll, peel and hoist: lengths of what is now known", ..SIMPLIFY },
    Pass { reason: "again after simplify: lengths that are now one register", ..CSE },
    Pass { reason: "after all that replaces uses: sequences that are not put together any more", ..DEAD },
    FUSE,
    CHECKED,
    NUMBER,
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

/// The program whose functions do the same as those of a program, by the same numbers, for one instance after another:
/// [`SERIAL_PASSES`].
///
/// # Errors
/// As [`optimise`].
pub fn serial(program: &Program) -> Result<Program, PassError> {
    derived(program, SERIAL_PASSES)
}

/// The passes for code whose columns lie in parts on several processes, in order. What they get has been through
/// [`PASSES`].
pub const PARTITIONED_PASSES: &[Pass] = &[
    Pass { reason: "first: lengths of several descriptors are one column again", ..CSE },
    Pass {
        name: "fuse",
        summary: "gathers instructions that need no elements but those at their own indices into groups",
        reason: "after cse, which tells what has one length: of other groups a process would need parts that others have",
        run: fuse::run_on_parts,
    },
    CHECKED,
    NUMBER,
    LAST_USE,
];

/// The program whose functions do the same as those of a program, by the same numbers, on columns in parts:
/// [`PARTITIONED_PASSES`].
///
/// # Errors
/// As [`optimise`].
pub fn partitioned(program: &Program) -> Result<Program, PassError> {
    derived(program, PARTITIONED_PASSES)
}

/// The functions of a program, all of them, after some more passes.
fn derived(program: &Program, passes: &[Pass]) -> Result<Program, PassError> {
    // Without anything to run all functions stay.
    let mut derived =
        Program { functions: program.functions.clone(), sites: program.sites.clone(), ..Program::default() };
    run(passes, &mut derived, &Options::default())?;
    Ok(derived)
}

/// Runs passes in order and verifies after each. Marks of last uses, groups, and descriptors without
/// columns that the program has are removed first.
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
    fn groups_of_parts_need_no_elements_at_other_indices() {
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
        let found = partitioned(&program).unwrap().to_string();
        let expected = "function f(%0: int, %1: column int, %2: column int) -> int, column int {\n  %3 = length %1\n  \
             %6 = fused {\n    %4 = iota %3!\n    %5 = map multiply.int %1 %4*\n    yield %5!\n  }\n  \
             %7 = gather %2! %6!\n  %12, %13 = fused {\n    %8 = map add.int %7* %1*\n    %9 = reduce.add.int %8\n    \
             %10 = map less.int %8 %0!\n    %11 = pack %8! %10!\n    yield %9! %11!\n  }\n  return %12! %13!\n}\n\n";
        assert_eq!(found, expected);
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
