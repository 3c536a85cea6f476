//! `nesl explain`: the page of an error code.

use crate::codes;
use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_prim::visible;

#[derive(Args, Debug)]
#[command(after_help = "Example: nesl explain E0202")]
pub struct Arguments {
    /// Code of an error or warning, as messages show it
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Print the page in Markdown, as it is in docs/errors
    #[arg(long, requires = "code")]
    markdown: bool,
}

/// Prints the page, or the list of all codes.
pub fn run(arguments: &Arguments) -> Result<(), Stop> {
    match &arguments.code {
        Some(code) => {
            let page = if arguments.markdown { codes::markdown(code) } else { codes::page(code) };
            let page = page.map_err(|problem| Stop::usage(format!("error: {problem}")))?;
            print(&visible::text(page))
        }
        None => print(&codes::list()),
    }
}
