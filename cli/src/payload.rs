//! Built executables: a copy of this one with a compiled program at its end.
//!
//! ```text
//! executable   what `nesl` itself is
//! program      VCODE and its sources, as `nesl_vcode::codec` writes them
//! trailer      32 bytes: offset and length of the program (little-endian), then the magic
//! ```
//! At its start `nesl` looks at the end of its own file ([`find`]); with a program there, it is that program. Loading
//! it needs neither sources nor library.

use crate::stop::Stop;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The last bytes of an executable with a program.
const MAGIC: [u8; 16] = *b"\x7fNESL program\r\n\0";

/// Offset, length, magic.
const TRAILER: u64 = 32;

/// How the bytes of a program begin: enough to know one that has lost its trailer.
const PROGRAM_START: [u8; 6] = *b"NESLVC";

/// What is at the end of an executable.
#[derive(Debug)]
enum Tail {
    /// Nothing of ours: it is `nesl`.
    Bare,
    /// A program at this offset with this length.
    Program { offset: u64, length: u64 },
    /// What was a program once.
    Damaged,
}

/// The program at the end of the running executable, if there is one.
///
/// # Errors
/// If there is one that cannot be used.
pub fn find() -> Result<Option<(Program, SourceMap)>, Stop> {
    // A process that cannot find or read its own file is `nesl`: better than not starting at all.
    let Ok(path) = std::env::current_exe() else { return Ok(None) };
    let Ok(mut file) = File::open(&path) else { return Ok(None) };
    let damaged = |reason: &str| Stop::failed(format!("error: {} cannot run: {reason}", path.display()));
    match tail(&mut file) {
        Ok(Tail::Bare) | Err(_) => Ok(None),
        Ok(Tail::Damaged) => Err(damaged("the program in it is damaged; build it again")),
        Ok(Tail::Program { offset, length }) => {
            let bytes = read_at(&mut file, offset, length).map_err(|error| damaged(&error.to_string()))?;
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
    let is_ours = File::open(output).and_then(|mut file| is_built(&mut file));
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

/// Whether a file is an executable that [`build`] has made, damaged or not.
fn is_built(file: &mut File) -> io::Result<bool> {
    Ok(match tail(file)? {
        Tail::Bare => false,
        Tail::Damaged => true,
        Tail::Program { offset, .. } => read_at(file, offset, PROGRAM_START.len() as u64)? == PROGRAM_START,
    })
}

/// Writes the running executable with `program` at its end to `target`, see [`target`]: all of it, or nothing.
///
/// # Errors
/// If a file cannot be read or written.
pub fn build(program: &Program, sources: &SourceMap, target: &Path) -> Result<(), Stop> {
    let describe = |error: io::Error| Stop::failed(format!("error: cannot write {}: {error}", target.display()));
    let own = |error: io::Error| Stop::failed(format!("error: cannot read the executable of nesl itself: {error}"));
    let mut executable = File::open(std::env::current_exe().map_err(own)?).map_err(own)?;
    let length = match tail(&mut executable).map_err(own)? {
        Tail::Bare | Tail::Damaged => executable.metadata().map_err(own)?.len(),
        Tail::Program { offset, .. } => offset,
    };
    executable.rewind().map_err(own)?;
    let bytes = nesl_vcode::to_bytes(program, sources);
    // What is too deep for the executable is an error now, not when it is started.
    nesl_vcode::from_bytes(&bytes)
        .map_err(|error| Stop::failed(format!("error: cannot build this program: {error}")))?;
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
    let mut output = builder.tempfile_in(folder).map_err(describe)?;
    let copied = io::copy(&mut executable.take(length), &mut output).map_err(describe)?;
    output.write_all(&bytes).map_err(describe)?;
    output.write_all(&copied.to_le_bytes()).map_err(describe)?;
    output.write_all(&(bytes.len() as u64).to_le_bytes()).map_err(describe)?;
    output.write_all(&MAGIC).map_err(describe)?;
    output.flush().map_err(describe)?;
    output.persist(target).map_err(|error| describe(error.error))?;
    Ok(())
}

fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn tail(file: &mut File) -> io::Result<Tail> {
    let size = file.metadata()?.len();
    if size >= TRAILER {
        let trailer = read_at(file, size - TRAILER, TRAILER)?;
        if trailer[16..] == MAGIC {
            let number = |start: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&trailer[start..start + 8]);
                u64::from_le_bytes(bytes)
            };
            let (offset, length) = (number(0), number(8));
            let whole = offset.checked_add(length).and_then(|end| end.checked_add(TRAILER)) == Some(size);
            return Ok(if whole { Tail::Program { offset, length } } else { Tail::Damaged });
        }
    }
    // A copy that was cut off has lost the trailer, but its program still follows the executable proper.
    let cut_off = match end_of_executable(file)? {
        Some(end) if end < size => read_at(file, end, PROGRAM_START.len() as u64)? == PROGRAM_START,
        _ => false,
    };
    Ok(if cut_off { Tail::Damaged } else { Tail::Bare })
}

/// Where a 64-bit little-endian ELF executable ends by its own account: after its table of sections, which linkers
/// write last. Nothing for other formats.
fn end_of_executable(file: &mut File) -> io::Result<Option<u64>> {
    let header = read_at(file, 0, 64)?;
    if header.len() < 64 || header[..6] != *b"\x7fELF\x02\x01" {
        return Ok(None);
    }
    let mut table = [0; 8];
    table.copy_from_slice(&header[0x28..0x30]);
    let short = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
    Ok(u64::from_le_bytes(table).checked_add(short(0x3a) * short(0x3c)))
}
