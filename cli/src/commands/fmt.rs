//! `nesl fmt`: files in the usual layout.

use crate::driver::{self, Disk, ProgramText};
use crate::output::print;
use crate::stop::Stop;
use crate::style::Style;
use clap::{Args, ValueEnum};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::{Imports, Session};
use nesl_prim::visible;
use nesl_span::{Origin, SourceMap};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A syntax, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SyntaxName {
    /// As files that end in .nesl are
    Nesl,
    /// As files that end in .v are
    V,
}

impl From<SyntaxName> for Syntax {
    fn from(name: SyntaxName) -> Syntax {
        match name {
            SyntaxName::Nesl => Syntax::Nesl,
            SyntaxName::V => Syntax::V,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Only blanks, indentation, and lines of more than 120 columns change. What stands on several\n\
                  lines stays there, and so do comments. A file with errors stays as it is.\n\n\
                  With --syntax files stay as they are, and the program is printed as the other syntax has it:\n\
                  what a program of V has become in NESL, or what V can say of one of NESL.\n\n\
                  Examples: nesl fmt --check examples\n          nesl fmt --syntax v examples/primes/primes.nesl")]
pub struct Arguments {
    /// Change nothing; say which files are laid out differently, and end with code 1 if any are
    #[arg(long)]
    check: bool,
    /// Change nothing; print the programs in this syntax
    #[arg(long, value_name = "SYNTAX", conflicts_with = "check")]
    syntax: Option<SyntaxName>,
    /// Source files; folders, for all files in them that end in .nesl or .v; or - from the standard input to the
    /// standard output
    #[arg(value_name = "FILE", default_value = ".")]
    files: Vec<PathBuf>,
}

/// Lays out all files, also after one with errors.
pub fn run(arguments: &Arguments, style: Style) -> Result<(), Stop> {
    let mut errors = Vec::new();
    let mut differing = 0_usize;
    for path in &arguments.files {
        let mut files = Vec::new();
        if let Err((path, error)) = collect(path, &mut files) {
            errors.push(style.failed(&format!("cannot read {}: {error}", path.display())));
        }
        for file in files {
            let done = match arguments.syntax {
                Some(syntax) => translated(&file, syntax.into(), style).map(|()| false),
                None => one(&file, arguments.check, style),
            };
            match done {
                Ok(differs) => differing += usize::from(differs),
                Err(stop) if stop.code == 0 => return Err(stop),
                Err(stop) => errors.push(stop),
            }
        }
    }
    if differing > 0 {
        let (files, them) = if differing == 1 { ("file is", "it") } else { ("files are", "them") };
        errors.push(style.failed(&format!("{differing} {files} laid out differently; `nesl fmt` changes {them}")));
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Stop::reported(errors.iter().map(Stop::message).collect::<Vec<_>>().join("\n"))),
    }
}

/// A file, or the files below a folder in the order of their names. What is hidden is no source.
pub(super) fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let failed = |error| (path.to_owned(), error);
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    let mut entries: Vec<_> =
        entries.into_iter().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Links to folders are not followed: they may lead back.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // Names of files in the working folder are shown as people write them.
        let path = if path == Path::new(".") { PathBuf::from(entry.file_name()) } else { entry.path() };
        if is_folder {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "nesl" || extension == "v") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Lays out one file; whether that was to be checked only, and it differs.
fn one(path: &Path, is_check: bool, style: Style) -> Result<bool, Stop> {
    let source = ProgramText::of(path);
    let (name, text) = (source.name(), source.read(style)?);
    let syntax = Syntax::of(&name);
    let mut sources = SourceMap::default();
    let file = sources.add(name.as_str(), text.as_str(), Origin::User);
    let formatted = match syntax.format(file, &text) {
        Ok(formatted) => formatted,
        Err(mistakes) => return driver::report(&mistakes, &sources, style).map(|()| false),
    };
    if !syntax.is_same_program(&text, &formatted) {
        return Err(style.failed(&format!("this is a bug in nesl: laid out, {name} would be another program")));
    }
    if is_check {
        if text != formatted {
            print(&difference(&name, &text, &formatted))?;
        }
        return Ok(text != formatted);
    }
    if source == ProgramText::StandardInput {
        print(&formatted)?;
    } else if text != formatted {
        replace(path, &formatted)
            .map_err(|error| style.failed(&format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(false)
}

/// Prints one file in a syntax.
fn translated(path: &Path, to: Syntax, style: Style) -> Result<(), Stop> {
    let source = ProgramText::of(path);
    let (name, text) = (source.name(), source.read(style)?);
    // What comes from the standard input is in the other syntax: it has no name that would say so.
    let name = match (&source, to) {
        (ProgramText::StandardInput, Syntax::Nesl) => format!("{name}{}", Syntax::V.suffix()),
        _ => name,
    };
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let file = sources.add(name.as_str(), text.as_str(), Origin::User);
    let written = match Syntax::of(&name) == to {
        true => to.format(file, &text),
        false => {
            let imports = Imports::of(&mut sources, file, driver::key(path).as_deref(), &mut Disk);
            session.translated(&mut sources, file, &imports)
        }
    };
    match written {
        Ok(written) => print(&written),
        Err(mistakes) => driver::report(&mistakes, &sources, style),
    }
}

/// The first line that differs, as it is and as it would be.
fn difference(name: &str, text: &str, formatted: &str) -> String {
    let (mut before, mut after) = (text.split_inclusive('\n'), formatted.split_inclusive('\n'));
    let mut line = 1;
    loop {
        match (before.next(), after.next()) {
            (Some(one), Some(other)) if one == other => line += 1,
            (one, other) => {
                // An end of a line that is not a newline alone, or is missing, is what differs there.
                let shown = |mark: char, line: Option<&str>| match line {
                    None => String::new(),
                    Some(line) => {
                        let (content, end) = match line.strip_suffix('\n') {
                            Some(content) => (content, ""),
                            None => (line, "  (no newline)"),
                        };
                        format!("{mark} {}{end}\n", visible::line(content))
                    }
                };
                return format!("{}:{line}\n{}{}", visible::line(name), shown('-', one), shown('+', other));
            }
        }
    }
}

/// Makes a text the contents of a file at once, with the file's permissions; a link stays one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path)?;
    let metadata = fs::metadata(&target)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // What may not be written is not replaced either.
    OpenOptions::new().append(true).open(&target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".nesl-fmt-").tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(metadata.permissions())?;
    new.persist(&target)?;
    Ok(())
}
