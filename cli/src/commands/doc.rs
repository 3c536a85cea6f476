//! `nesl doc` and `nesl apropos`: what the library offers.

use crate::driver::{self, Checked, ProgramText};
use crate::output::print;
use crate::stop::Stop;
use crate::style::Style;
use clap::Args;
use nesl_frontend::core::Form;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::v::LOOP;
use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;
use std::path::Path;

#[derive(Args, Debug)]
#[command(after_help = "Prints type, meaning, examples and costs; of a file, of each function that it defines.\n\n\
                         Examples:\n  nesl doc plus_scan\n  nesl doc examples/primes/primes.nesl")]
pub struct DocArguments {
    /// A function of the library, a word or a constant of the language, an operator or a sign in quotes, or a file
    #[arg(value_name = "NAME", required_unless_present = "all", allow_hyphen_values = true)]
    name: Option<String>,
    /// Print the manual of the whole library, in Markdown
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Looks in names, types and doc strings; a type finds what can be called so.\n\nExamples:\n  nesl apropos duplicate\n  nesl apropos '[int] -> int'"
)]
pub struct AproposArguments {
    /// What to look for: words, or a type
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
}

/// Prints what one function does, or the manual.
pub fn doc(arguments: &DocArguments, style: Style) -> Result<(), Stop> {
    if let Some(file) = arguments.name.as_ref().map(Path::new).filter(|name| is_file(name)) {
        return print(&of_file(&driver::check(&ProgramText::of(file), style)?));
    }
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    match &arguments.name {
        None => print(&manual::page(&manual::entries(&session, &sources))),
        Some(name) => match manual::lookup(&session, &sources, name) {
            Some(entry) => print(&manual::describe(&entry)),
            None => Err(Stop::failed(manual::unknown(&session, name, "nesl apropos"))),
        },
    }
}

/// Whether a name is that of a file, there or not.
fn is_file(name: &Path) -> bool {
    let has_suffix = |syntax: Syntax| name.to_string_lossy().ends_with(syntax.suffix());
    has_suffix(Syntax::Nesl) || has_suffix(Syntax::V)
}

/// What the functions do that a file defines.
fn of_file(checked: &Checked) -> String {
    let own = checked.forms[checked.imported..].iter().filter_map(|form| match form {
        Form::Function(id) => Some(manual::of(&checked.session, &checked.sources, *id)),
        Form::Assignment { .. } | Form::Expression(_) => None,
    });
    // A loop of V is a function that nobody has written; the others are shown as V declares them.
    let written = own.filter(|entry| !entry.name.contains(LOOP));
    let described = written.map(|entry| match checked.session.declaration(&entry.name) {
        Some(declaration) => manual::describe_declared(&entry, &format!("{declaration};")),
        None => manual::describe(&entry),
    });
    described.collect::<Vec<_>>().join("\n")
}

/// Prints what has to do with some words.
pub fn apropos(arguments: &AproposArguments) -> Result<(), Stop> {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let words = arguments.words.join(" ");
    let found = manual::apropos(&session, &sources, &words);
    match found.is_empty() {
        true => Err(Stop::failed(manual::nothing(&words))),
        false => print(&manual::list(&found)),
    }
}
