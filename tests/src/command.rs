//! The built command `nesl`, for tests that run it as a process.

use std::path::{Path, PathBuf};

/// The binary: `$NESL_BIN`, or the one in the target folder that the running test is in.
pub fn nesl() -> Option<PathBuf> {
    if let Some(binary) = std::env::var_os("NESL_BIN") {
        return Some(PathBuf::from(binary));
    }
    // The test is target/profile/deps/name-hash.
    let test = std::env::current_exe().ok()?;
    let binary = test.parent().and_then(Path::parent)?.join(format!("nesl{}", std::env::consts::EXE_SUFFIX));
    binary.is_file().then_some(binary)
}
