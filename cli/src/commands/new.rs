//! `nesl new`: a folder with a program to begin with, which runs, passes its tests and is laid out.

use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_prim::visible;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "Example: nesl new words && cd words && nesl words.nesl")]
pub struct Arguments {
    /// The folder to make, named as the program is to be
    #[arg(value_name = "NAME")]
    folder: PathBuf,
}

/// The program; `NAME` stands for its name.
const PROGRAM: &str = include_str!("new/program.nesl");

/// What is said of it to whoever finds the folder.
const README: &str = "\
# NAME

```sh
nesl NAME.nesl                   # evaluate the expressions of the file
nesl NAME.nesl @README.md        # run main, with the text of a file
nesl test                        # what the file expects, its examples and its properties
nesl fmt                         # lay it out in the usual way
nesl build NAME.nesl             # an executable: ./NAME --help
```
";

/// What of the folder is made from the rest.
const IGNORED: &str = "/NAME\n";

/// Makes the folder.
pub fn run(arguments: &Arguments) -> Result<(), Stop> {
    let folder = &arguments.folder;
    let name = name(folder)?;
    let failed =
        |path: &Path, error: &io::Error| Stop::failed(format!("error: cannot make {}: {error}", path.display()));
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
    }
    fs::create_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Stop::usage(format!("error: {} exists; `nesl new` takes the name of a new folder", folder.display()))
        }
        _ => failed(folder, &error),
    })?;
    let program = format!("{name}.nesl");
    for (file, text) in [(program.as_str(), PROGRAM), ("README.md", README), (".gitignore", IGNORED)] {
        let path = folder.join(file);
        let written =
            File::create_new(&path).and_then(|mut file| file.write_all(text.replace("NAME", name).as_bytes()));
        written.map_err(|error| failed(&path, &error))?;
    }
    let shown = visible::line(&word(&folder.display().to_string())).into_owned();
    print(&format!("made {shown}, with a program to begin with; now:\n  cd {shown}\n  nesl {program}\n"))
}

/// The name of the program: that of the folder, of characters that no shell and no comment takes for something else.
fn name(folder: &Path) -> Result<&str, Stop> {
    let fits = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    match folder.file_name().and_then(|name| name.to_str()) {
        Some(name) if name.chars().all(fits) && !name.starts_with('-') => Ok(name),
        _ => Err(Stop::usage(format!(
            "error: `{}` cannot be the name of a program: letters, digits, _ and - can",
            folder.display()
        ))),
    }
}

/// A path as a word of a shell's command.
fn word(path: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-~".contains(character);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
