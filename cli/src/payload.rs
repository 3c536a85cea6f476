//! Built executables: a copy of this one with a compiled program in it ([`executable`]).
//!
//! At its start `nesl` looks into its own file ([`find`]); with a program there, it is that program. Loading it needs
//! neither sources nor library.

mod executable;

use crate::stop::Stop;
use executable::Contents;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The program in the running executable, if there is one.
///
/// # Errors
/// If there is one that cannot be used.
pub fn find() -> Result<Option<(Program, SourceMap)>, Stop> {
    // A process that cannot find or read its own file is `nesl`: better than not starting at all.
    let Ok(path) = std::env::current_exe() else { return Ok(None) };
    let Ok(mut file) = File::open(&path) else { return Ok(None) };
    let damaged = |reason: &str| Stop::failed(format!("error: {} cannot run: {reason}", path.display()));
    match executable::contents(&mut file) {
        Ok(Contents::Bare) | Err(_) => Ok(None),
        Ok(Contents::Damaged) => Err(damaged("the program in it is damaged; build it again")),
        Ok(Contents::Program(bytes)) => {
            nesl_vcode::from_bytes(&bytes).map(Some).map_err(|error| damaged(&error.to_string()))
        }
    }
}

/// Where an executable is to be written: at a path that leads nowhere yet, or in the place of one that was built
/// before. What a path leads to by links is replaced, not the links.
///
/// # Errors
/// If anything else is there, the source above all.
pub fn target(output: &Path, source: &Path) -> Result<PathBuf, Stop> {
    let refused = |reason: &str| Stop::failed(format!("error: cannot write {}: {reason}", output.display()));
    let describe = |error: io::Error| refused(&error.to_string());
    let metadata = match std::fs::metadata(output) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match output.is_symlink() {
                true => Err(refused("it is a link to nothing")),
                false => Ok(output.to_owned()),
            };
        }
        Err(error) => return Err(describe(error)),
    };
    if metadata.is_dir() {
        return Err(refused("it is a folder"));
    }
    if !metadata.is_file() {
        return Err(refused("it is no file but a device or a pipe"));
    }
    if is_same(&metadata, output, source) {
        return Err(refused("it is the source, which would be lost"));
    }
    let is_ours = File::open(output).and_then(|mut file| executable::has_program(&mut file));
    match is_ours.map_err(describe)? {
        true => std::fs::canonicalize(output).map_err(describe),
        false => Err(refused("there is a file that nesl build has not made; remove it first, or take another name")),
    }
}

/// Whether an existing file, whose metadata is given, is the one at another path.
#[cfg(unix)]
fn is_same(metadata: &std::fs::Metadata, _: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(other).is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &std::fs::Metadata, path: &Path, other: &Path) -> bool {
    matches!((std::fs::canonicalize(path), std::fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Writes the running executable with `program` in it to `target`, see [`target`]: all of it, or nothing.
///
/// # Errors
/// If a file cannot be read or written.
pub fn build(program: &Program, sources: &SourceMap, target: &Path) -> Result<(), Stop> {
    let describe = |error: io::Error| Stop::failed(format!("error: cannot write {}: {error}", target.display()));
    let own = |error: io::Error| Stop::failed(format!("error: cannot read the executable of nesl itself: {error}"));
    let bytes = nesl_vcode::to_bytes(program, sources);
    // What is too deep for the executable is an error now, not when it is started.
    nesl_vcode::from_bytes(&bytes)
        .map_err(|error| Stop::failed(format!("error: cannot build this program: {error}")))?;
    let nesl = std::env::current_exe().and_then(std::fs::read).map_err(own)?;
    let bytes = executable::with_program(&nesl, &bytes).map_err(|error| own(io::Error::other(error)))?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // A file beside the target, renamed at the end: nobody ever sees half an executable. Who may run it is for the mask
    // of the process to say, as for what compilers make.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nesl-build-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    // The message ends with the name of that file, of which nobody has heard.
    let unnamed = |error: io::Error| {
        let text = error.to_string();
        describe(io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or(&text)))
    };
    let mut output = builder.tempfile_in(folder).map_err(unnamed)?;
    output.write_all(&bytes).map_err(describe)?;
    output.flush().map_err(describe)?;
    output.persist(target).map_err(|error| describe(error.error))?;
    Ok(())
}
