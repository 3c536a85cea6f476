//! Texts of the library as files, for editors that go to a definition in it.

use std::path::PathBuf;
use std::{env, fs, io};

/// The file with a text of the library: in the folder of what programs keep for later.
pub fn file(name: &str, text: &str) -> io::Result<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let cache = cache.unwrap_or_else(env::temp_dir);
    let path = cache.join("nesl").join(env!("CARGO_PKG_VERSION")).join(name);
    if fs::read_to_string(&path).is_ok_and(|found| found == text) {
        return Ok(path);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, text)?;
    Ok(path)
}
