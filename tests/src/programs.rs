//! The programs under `tests/programs` and `examples`.

use crate::header::{self, Header};
use std::path::{Path, PathBuf};

/// A program with the expectations of its header.
#[derive(Clone, Debug)]
pub struct Program {
    /// Folder and name: `lists/append`, for a program of V with its suffix, `v/append.v`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its header, or what is wrong with it.
    pub header: Result<Header, String>,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// All programs, by name.
///
/// # Panics
/// If a file cannot be read.
pub fn all() -> Vec<Program> {
    let mut found = Vec::new();
    collect(&root().join("tests/programs"), "", &mut found);
    collect(&root().join("examples"), "examples/", &mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<Program>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found);
        } else if let Some(stem) = name.strip_suffix(".nesl").or_else(|| name.ends_with(".v").then_some(&name)) {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let header = header::parse(&text);
            found.push(Program { name: format!("{prefix}{stem}"), text, header });
        }
    }
}
