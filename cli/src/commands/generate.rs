//! `nesl completions` and `nesl man`: files for shells and for `man`, made from the command line's own description.

use crate::output::print;
use crate::stop::Stop;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "Example: nesl completions bash > ~/.local/share/bash-completion/completions/nesl")]
pub struct CompletionArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: nesl man ~/.local/share/man/man1 && man nesl-run")]
pub struct ManArguments {
    /// Folder to write them to: it is made if it is missing
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints the script of a shell.
///
/// # Errors
/// If it cannot be written.
pub fn completions(arguments: &CompletionArguments, mut command: Command) -> Result<(), Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "nesl", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes a page for the command itself, `nesl.1`, and one for each of its commands, `nesl-run.1`.
///
/// # Errors
/// If one cannot be written.
pub fn manual_pages(arguments: &ManArguments, command: Command) -> Result<(), Stop> {
    let folder = &arguments.folder;
    let failed =
        |path: &Path, error: &std::io::Error| Stop::failed(format!("error: cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let pages = command.get_subcommands().filter(|page| page.get_name() != "help").map(|page| {
        // The name that the system's index of pages wants.
        let name = format!("nesl-{}", page.get_name());
        page.clone().name(name.clone()).bin_name(name.replacen('-', " ", 1)).version(env!("CARGO_PKG_VERSION"))
    });
    for page in std::iter::once(command.clone()).chain(pages) {
        let path = folder.join(format!("{}.1", page.get_name()));
        let mut text = Vec::new();
        let written = clap_mangen::Man::new(page).render(&mut text).and_then(|()| std::fs::write(&path, &text));
        written.map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}
