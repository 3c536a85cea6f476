//! `nesl doc` and `nesl apropos`: what the library offers.

use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;

#[derive(Args, Debug)]
#[command(after_help = "Prints type, meaning, examples and costs.\n\nExample: nesl doc plus_scan")]
pub struct DocArguments {
    /// A function of the library, a word or a constant of the language, or an operator or a sign in quotes
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
pub fn doc(arguments: &DocArguments) -> Result<(), Stop> {
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
