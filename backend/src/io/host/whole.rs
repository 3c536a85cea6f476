//! Files that are written as a whole: beside the old one, in whose place the new one is put when all of it is there.
//!
//! So nobody ever finds half of a file, and what is not finished is removed. On ranks, which share the folder, rank 0
//! begins and ends a file, and each rank opens it and writes its part where that belongs.

use super::{message, streams};
use crate::engine::interrupt::Interrupt;
use crate::io::files::named;
use nesl_prim::Constants;
use nesl_prim::host::HostError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const AT_ONCE: usize = 1 << 20;

/// Files that were begun and not ended. What is left of them goes with the process.
#[derive(Default)]
pub(super) struct Unfinished(Vec<PathBuf>);

impl Unfinished {
    /// The name of a new file beside the one of this name; none if that is something that cannot be replaced, or should
    /// not: a device, say, or a file that has other names.
    pub fn begin(&mut self, name: &Path) -> Result<Option<PathBuf>, HostError> {
        let failed = |error: io::Error| message(&format!("cannot open {}", named(name)), &error);
        let old = match fs::canonicalize(name) {
            Ok(target) => Some(target),
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(name).is_err() => None,
            Err(_) => return Ok(None),
        };
        let permissions = match &old {
            Some(target) => {
                let metadata = fs::metadata(target).map_err(failed)?;
                if !metadata.is_file() || has_other_names(&metadata) {
                    return Ok(None);
                }
                // Who may not write the old file may not replace it.
                OpenOptions::new().write(true).open(target).map_err(failed)?;
                Some(metadata.permissions())
            }
            None => None,
        };
        let target = old.as_deref().unwrap_or(name);
        let part = match create_beside(target) {
            Ok(part) => part,
            // The old file may be written where no new one may be made.
            Err(error) if old.is_some() && error.kind() != ErrorKind::StorageFull => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        self.0.push(part.clone());
        if let Some(permissions) = permissions {
            fs::set_permissions(&part, permissions).map_err(failed)?;
        }
        Ok(Some(part))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a new file in the place of the one of this name, or removes it.
    pub fn end(&mut self, part: &Path, name: &Path, is_whole: bool) -> Result<(), HostError> {
        let known = self.0.iter().position(|begun| begun == part);
        let Some(known) = known else { return Err(HostError::Message(format!("{} was not begun", part.display()))) };
        if is_whole {
            let target = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
            fs::rename(part, target).map_err(|error| message("cannot write", &error))?;
        } else {
            remove(part);
        }
        self.0.swap_remove(known);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.iter().for_each(|part| remove(part));
    }
}

/// Removes a file that nobody needs. If that fails there is nobody to tell who could do more.
fn remove(part: &Path) {
    _ = fs::remove_file(part);
}

#[cfg(unix)]
fn has_other_names(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// Creates an empty file in the folder of another.
fn create_beside(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut attempt = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}.part", std::process::id()));
        let part = target.with_file_name(hidden);
        match File::create_new(&part) {
            Ok(_) => return Ok(part),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes elements to a file that was begun, `skip` bytes and `before` elements from its start.
pub(super) fn write_part(
    part: &Path,
    skip: i64,
    before: usize,
    elements: &Constants,
    interrupt: &Interrupt,
) -> Result<(), HostError> {
    if elements.is_empty() {
        return Ok(());
    }
    let failed = |error: io::Error| message("cannot write", &error);
    let mut file = OpenOptions::new().write(true).open(part).map_err(failed)?;
    let size = elements.scalar_type().size();
    let start = u64::try_from(skip).ok().and_then(|skip| skip.checked_add((before as u64).checked_mul(size as u64)?));
    let start = start.ok_or_else(|| HostError::Message(format!("cannot write: {skip} bytes cannot be skipped")))?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    for first in (0..elements.len()).step_by(AT_ONCE / size) {
        interrupt.check()?;
        let range = first..elements.len().min(first + AT_ONCE / size);
        file.write_all(&streams::bytes(elements, range)).map_err(failed)?;
    }
    Ok(())
}
