//! `nesl test`: what somebody's own programs say of themselves, checked.
//!
//! ```text
//! units       the tests of a file: what its header expects, examples of its doc strings, functions `prop_…`
//! child       programs run as `nesl run` runs them, on any engine and number of ranks: what they gave
//! examples    examples that give what they say      properties  functions that are to be true of all arguments
//! values      random values by their types, and simpler ones
//! ```
//!
//! Every program is run by a process of its own: what crashes it, or never ends, is the failure of one test.

mod child;
mod examples;
mod properties;
mod units;
mod values;

use super::fmt::collect;
pub use units::definitions;

use crate::driver::{self, ProgramText};
use crate::options::RunOptions;
use crate::output::{print, remark};
use crate::stop::Stop;
use crate::style::Style;
use child::Place;
use clap::Args;
use nesl_frontend::{Diagnostic, Session};
use nesl_prim::visible;
use nesl_service::expectations;
use nesl_span::SourceMap;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "Of each file three things are tested: that it does what its first comment expects\n\
                  (`expect: 55` for a printed line), that the examples in its doc strings are true\n\
                  (`Example: half(3.0) gives 1.5.`), and that functions whose names begin with prop_\n\
                  are true of random arguments. See docs/testing.md.\n\n\
                  Example: nesl test examples/quicksort --on oracle,threads")]
pub struct Arguments {
    /// Source files; folders, for all files in them that end in .nesl; or - for the standard input
    #[arg(value_name = "FILE", default_value = ".")]
    files: Vec<PathBuf>,
    /// Where to run each test: engines, and numbers of ranks [default: as other options say]
    #[arg(long, value_name = "PLACE", value_delimiter = ',')]
    on: Vec<Place>,
    /// Only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Arguments that each property is tried with
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    cases: u32,
}

/// The library, checked once for all files.
struct Library {
    sources: SourceMap,
    session: Session,
}

/// What came of all tests.
#[derive(Default)]
struct Summary {
    passed: usize,
    failed: usize,
}

/// What a test runs with.
struct Setting<'a> {
    options: &'a RunOptions,
    places: Vec<Place>,
    cases: u32,
}

/// Runs the tests of all files, also after one that fails.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let library = Library { sources, session };
    let places = if arguments.on.is_empty() { vec![Place::AsOptionsSay] } else { arguments.on.clone() };
    let setting = Setting { options, places, cases: arguments.cases };
    let mut summary = Summary::default();
    let mut unreadable = Vec::new();
    for path in &arguments.files {
        let mut files = Vec::new();
        if let Err((path, error)) = collect(path, &mut files) {
            unreadable.push(options.style().failed(&format!("cannot read {}: {error}", path.display())));
        }
        for file in files {
            match ProgramText::of(&file).read(options.style()) {
                Ok(text) => one(&library, &file, text, arguments.only.as_deref(), &setting, &mut summary)?,
                Err(stop) => unreadable.push(stop),
            }
        }
    }
    let Summary { passed, failed } = summary;
    if passed + failed > 0 {
        print(&format!("{passed} passed, {failed} failed\n"))?;
    } else if unreadable.is_empty() {
        let none = match &arguments.only {
            Some(only) => format!("no test here has `{only}` in its name"),
            None => "there is nothing to test here: no `expect:`, no examples, no function prop_…".to_owned(),
        };
        return Err(options.style().failed(&none));
    }
    let mut problems: Vec<&str> = unreadable.iter().map(Stop::message).collect();
    let seed = format!("the seed of the arguments was {}", options.seed);
    if failed > 0 {
        problems.push(&seed);
    }
    if problems.is_empty() { Ok(()) } else { Err(Stop::reported(problems.join("\n"))) }
}

/// Runs the tests of one file, and says of each how it went.
fn one(
    library: &Library,
    path: &Path,
    text: String,
    only: Option<&str>,
    setting: &Setting<'_>,
    summary: &mut Summary,
) -> Result<(), Stop> {
    let name = ProgramText::of(path).name();
    if expectations::is_elsewhere(&text) && setting.options.style() != Style::Json {
        let name = visible::line(&name);
        remark(&format!(
            "{name}: an `expect:` counts in the comment that a file begins with; here it is further down\n"
        ));
    }
    let units = units::of(library, &name, text);
    for unit in &units.tests {
        let title = format!("{name}: {}", unit.name());
        if only.is_some_and(|only| !title.contains(only)) {
            continue;
        }
        for place in &setting.places {
            let outcome = unit.check(&units, *place, setting);
            let on = if *place == Place::AsOptionsSay { String::new() } else { format!(" on {place}") };
            match outcome {
                Ok(()) => {
                    summary.passed += 1;
                    print(&format!("ok      {}{on}\n", visible::line(&title)))?;
                }
                Err(problem) => {
                    summary.failed += 1;
                    let problem: String =
                        problem.lines().map(|line| format!("        {}\n", visible::line(line))).collect();
                    print(&format!("FAILED  {}{on}\n{problem}", visible::line(&title)))?;
                }
            }
        }
    }
    // What the file is warned of is for those who check it; what is wrong with it is said by the test that fails.
    Ok(())
}

/// Diagnostics as a message for people, without colours.
fn worded(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let plain = Style::plain();
    driver::report(diagnostics, sources, plain).err().map_or_else(String::new, |stop| stop.message().to_owned())
}
