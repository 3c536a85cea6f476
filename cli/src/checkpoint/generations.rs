//! The folders of saves, and what is in each.
//!
//! Rank 0 begins and finishes a save; all ranks, which share the folder, write to its files. What goes wrong is said in
//! words that the message of the command quotes.

use nesl_prim::ScalarType;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The code of a run that cannot be saved.
pub const NOT_SAVED: &str = "E0601";
/// The code of what was saved and cannot be used.
pub const NOT_READ: &str = "E0602";
/// The code of what another program has saved.
pub const OTHER_PROGRAM: &str = "E0603";

/// The file of the program of a run.
pub const PROGRAM: &str = "program";
/// The file of what a session knows, in the place of a program.
pub const SESSION: &str = "session";

/// Counts changes of what is saved.
const FORMAT: u32 = 3;

/// Length and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    length: u64,
    crc32: u32,
}

impl Sum {
    /// Those of a file with these bytes.
    pub fn of(bytes: &[u8]) -> Sum {
        Sum { length: bytes.len() as u64, crc32: crc32fast::hash(bytes) }
    }
}

/// The file of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnFile {
    /// The number of the column.
    pub number: u32,
    /// The type of its elements.
    pub scalar: ScalarType,
    /// How many there are.
    pub elements: u64,
    /// The checksum of the file.
    pub crc32: u32,
}

impl ColumnFile {
    /// The name of the file.
    pub fn name(&self) -> String {
        format!("column-{}", self.number)
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.scalar.size() as u64)
    }
}

/// What a save consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    nesl: String,
    /// The number of the save.
    pub generation: u64,
    /// The program.
    pub program: Sum,
    /// The state.
    pub state: Sum,
    /// The columns that have files.
    pub columns: Vec<ColumnFile>,
}

impl Manifest {
    /// That of a save.
    pub fn new(generation: u64, program: Sum, state: Sum, columns: Vec<ColumnFile>) -> Manifest {
        Manifest { format: FORMAT, nesl: env!("CARGO_PKG_VERSION").to_owned(), generation, program, state, columns }
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.program.length + self.state.length + self.columns.iter().map(ColumnFile::bytes).sum::<u64>()
    }

    /// As text: a line, and its checksum.
    fn text(&self) -> Result<String, String> {
        let line = serde_json::to_string(self).map_err(|error| error.to_string())?;
        Ok(format!("{line}\n{:08x}\n", crc32fast::hash(line.as_bytes())))
    }

    fn parse(text: &str) -> Option<Manifest> {
        let (line, sum) = text.strip_suffix('\n')?.split_once('\n')?;
        let is_whole = sum == format!("{:08x}", crc32fast::hash(line.as_bytes()));
        if is_whole { serde_json::from_str(line).ok() } else { None }
    }
}

/// A save, there or still to be made.
#[derive(Debug)]
pub struct Generation {
    folder: PathBuf,
    number: u64,
    path: PathBuf,
}

impl Generation {
    /// The save of this number in a folder of saves.
    pub fn new(folder: &Path, number: u64) -> Generation {
        Generation { folder: folder.to_owned(), number, path: folder.join(number.to_string()) }
    }

    /// The last save in a folder, or the one that the folder itself is; none if there is none.
    ///
    /// # Errors
    /// If the folder is there and cannot be read.
    pub fn find(path: &Path) -> io::Result<Option<Generation>> {
        if path.join("manifest").exists() {
            let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return Ok(number.map(|number| Generation::new(folder, number)));
        }
        match numbers(path) {
            Ok(numbers) => Ok(numbers.into_iter().max().map(|number| Generation::new(path, number))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where all saves of the run are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the save before it is.
    pub fn before(&self) -> Option<PathBuf> {
        let before = numbers(&self.folder).ok()?.into_iter().filter(|&number| number < self.number).max()?;
        Some(self.folder.join(before.to_string()))
    }

    /// Where it is while it is made.
    pub fn part(&self) -> PathBuf {
        self.folder.join(format!(".{}.part", self.number))
    }

    /// Makes an empty folder for it, with an empty file for each column.
    ///
    /// # Errors
    /// Why that is impossible.
    pub fn begin(&self, columns: &[ColumnFile]) -> Result<(), String> {
        self.remove_part();
        let make = || {
            fs::create_dir_all(self.part())?;
            columns.iter().try_for_each(|column| File::create_new(self.part().join(column.name())).map(drop))
        };
        make().map_err(|error: io::Error| error.to_string())
    }

    /// Writes the other files, and gives the save its name when all is on the disk.
    ///
    /// # Errors
    /// Why that is impossible.
    pub fn finish(&self, files: &[(&str, &[u8])], manifest: &Manifest) -> Result<(), String> {
        let text = manifest.text()?;
        let write = |(name, bytes): (&str, &[u8])| {
            let mut file = File::create(self.part().join(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        let put = || {
            files.iter().chain(&[("manifest", text.as_bytes())]).copied().try_for_each(write)?;
            sync_folder(&self.part())?;
            fs::rename(self.part(), &self.path)?;
            sync_folder(&self.folder)
        };
        put().map_err(|error: io::Error| error.to_string())
    }

    /// Removes what was not finished. If that fails there is nobody to tell who could do more.
    pub fn remove_part(&self) {
        let _ = fs::remove_dir_all(self.part());
    }

    /// Removes all saves before the one before this, and what was not finished of others.
    pub fn remove_old(&self) {
        let before = self.before();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let number = number_of(&path);
            if is_part(&path) || number.is_some_and(|number| number < self.number) && Some(&path) != before.as_ref() {
                let _ = fs::remove_dir_all(path);
            }
        }
    }

    /// What it consists of.
    ///
    /// # Errors
    /// If that is damaged, or of another version.
    pub fn manifest(&self) -> Result<Manifest, String> {
        let text = fs::read(self.path.join("manifest")).map_err(|error| format!("manifest: {error}"))?;
        let text = String::from_utf8(text).map_err(|_| "manifest is damaged".to_owned())?;
        let manifest = Manifest::parse(&text).ok_or("manifest is damaged")?;
        if manifest.format != FORMAT || manifest.nesl != env!("CARGO_PKG_VERSION") {
            return Err(format!("nesl {} has saved it, and this is nesl {}", manifest.nesl, env!("CARGO_PKG_VERSION")));
        }
        match manifest.generation == self.number {
            true => Ok(manifest),
            false => Err(format!("it is save number {}", manifest.generation)),
        }
    }

    /// The bytes of a file, which are those that were written.
    ///
    /// # Errors
    /// If they are not.
    pub fn read(&self, name: &str, sum: Sum) -> Result<Vec<u8>, String> {
        let failed = |error: io::Error| format!("{name}: {error}");
        let file = File::open(self.path.join(name)).map_err(failed)?;
        has_length(name, file.metadata().map_err(failed)?.len(), sum.length)?;
        let mut bytes = Vec::new();
        file.take(sum.length).read_to_end(&mut bytes).map_err(failed)?;
        if Sum::of(&bytes) == sum { Ok(bytes) } else { Err(format!("{name} is damaged")) }
    }

    /// Checks that the file of a column is as long as it should be.
    ///
    /// # Errors
    /// If it is not.
    pub fn has(&self, column: &ColumnFile) -> Result<(), String> {
        let name = column.name();
        let metadata = fs::metadata(self.path.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        has_length(&name, metadata.len(), column.bytes())
    }
}

fn has_length(name: &str, found: u64, expected: u64) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{name} has {found} bytes instead of {expected}")),
    }
}

/// Removes all saves in a folder, and the folder if nothing else is in it. Each loses its name first: what is cut short
/// here leaves no half of a save.
pub fn remove_all(folder: &Path) {
    for number in numbers(folder).unwrap_or_default() {
        remove(&Generation::new(folder, number));
    }
    remove_parts(folder);
    super::told::forget_seen(folder);
    let _ = fs::remove_dir(folder);
}

/// The last save in a folder with one of these numbers. Those that came after it go, so that the numbers are free.
pub fn back_to(folder: &Path, known: impl Fn(u64) -> bool) -> Option<Generation> {
    let numbers = numbers(folder).unwrap_or_default();
    let last = numbers.iter().copied().filter(|&number| known(number)).max();
    for &number in numbers.iter().filter(|&&number| last.is_none_or(|last| number > last)) {
        remove(&Generation::new(folder, number));
    }
    remove_parts(folder);
    last.map(|number| Generation::new(folder, number))
}

fn remove(generation: &Generation) {
    generation.remove_part();
    // Where it cannot have another name it goes with the one that it has.
    let _ = fs::rename(generation.path(), generation.part());
    let _ = fs::remove_dir_all(generation.path());
    generation.remove_part();
}

/// Removes saves that were not finished, or are on their way out.
fn remove_parts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| is_part(&entry.path())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
        && path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The numbers of the saves in a folder.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.join("manifest").is_file()).filter_map(|path| number_of(&path)).collect())
}

fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.parse().ok()
}

/// Waits until the names in a folder have reached the disk. File systems that cannot say so need not.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let _ = File::open(folder)?.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_is_changed_anywhere_is_none() {
        let column = ColumnFile { number: 7, scalar: ScalarType::Float, elements: 5000, crc32: 1 };
        let manifest = Manifest::new(3, Sum::of(b"program"), Sum::of(b"state"), vec![column]);
        let text = manifest.text().expect("a manifest is text");
        assert_eq!(Manifest::parse(&text), Some(manifest));
        for (index, _) in text.char_indices() {
            assert_eq!(Manifest::parse(&text[..index]), None, "cut at {index}");
            let mut bytes = text.clone().into_bytes();
            bytes[index] ^= 1;
            assert_eq!(Manifest::parse(&String::from_utf8_lossy(&bytes)), None, "flipped at {index}");
        }
    }
}
