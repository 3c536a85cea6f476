//! `nesl doc` and `nesl apropos`: what the library offers.

use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;

#[derive(Args, Debug)]
#[command(after_help = "Prints type, meaning, examples and costs.\n\nExample: nesl doc plus_scan")]
pub struct DocArguments {
    /// A function of the library, or an operator in quotes
    #[arg(value_name = "NAME", required_unless_present = "all")]
    name: Option<String>,
    /// Print the manual of the whole library, in Markdown
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Looks in names and doc strings.\n\nExample: nesl apropos duplicate")]
pub struct AproposArguments {
    /// What to look for
    #[arg(value_name = "WORD")]
    word: String,
}

/// Prints what one function does, or the manual.
pub fn doc(arguments: &DocArguments) -> Result<(), Stop> {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    match &arguments.name {
        None => print(&manual::page(&manual::entries(&session, &sources))),
        Some(name) => match manual::lookup(&session, &sources, name) {
            Some(entry) => print(&manual::describe(&entry)),
            None => Err(Stop::failed(manual::unknown(name))),
        },
    }
}

/// Prints the functions that have to do with a word.
pub fn apropos(arguments: &AproposArguments) -> Result<(), Stop> {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let found = manual::apropos(&session, &sources, &arguments.word);
    match found.is_empty() {
        true => Err(Stop::failed(manual::nothing(&arguments.word))),
        false => print(&manual::list(&found)),
    }
}
