//! What a program may reach for: everything that its user may, or in a sandbox only files that the user named.
//!
//! The table of operations says what each reaches for ([`HostOp::reach`]); this is asked before each, on every rank and
//! by every engine, the reference evaluator included. In the sandbox a file is known by its place after all symbolic
//! links, and it is opened at that place: a program can neither write nor run anything, so nothing that it does can put
//! another file there.

use nesl_prim::Need;
use nesl_prim::{Failure, HostOp, HostValue};
use std::fs;
use std::path::{Path, PathBuf};

/// What a program may reach for.
#[derive(Clone, Debug, Default)]
pub enum Permissions {
    /// Whatever this process may.
    #[default]
    All,
    /// Files to read, by their places after all symbolic links, and nothing else.
    Reading(Vec<PathBuf>),
}

impl Permissions {
    /// Those of a sandbox: these files can be read. Names behind which there is none give no permission.
    pub fn sandbox(files: impl IntoIterator<Item = PathBuf>) -> Permissions {
        Permissions::Reading(files.into_iter().filter_map(|name| fs::canonicalize(name).ok()).collect())
    }

    /// Whether an operation may be performed.
    ///
    /// # Errors
    /// [`Failure::Refused`] if not.
    pub(super) fn check(&self, op: HostOp, operands: &[HostValue]) -> Result<(), Failure> {
        let Permissions::Reading(files) = self else { return Ok(()) };
        match op.reach(operands) {
            None => Ok(()),
            Some((Need::ReadFile, name))
                if real_place(&super::path(name)).is_some_and(|place| files.contains(&place)) =>
            {
                Ok(())
            }
            Some((need, name)) => Err(Failure::Refused { need, name: String::from_utf8_lossy(name).into_owned() }),
        }
    }

    /// Where a file that may be read is opened.
    pub(super) fn place(&self, name: &[u8]) -> PathBuf {
        let name = super::path(name);
        match self {
            Permissions::All => name,
            Permissions::Reading(_) => real_place(&name).unwrap_or(name),
        }
    }
}

fn real_place(name: &Path) -> Option<PathBuf> {
    fs::canonicalize(name).ok()
}
