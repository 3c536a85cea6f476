//! The folder that a session is left in for the processes of a job.

use crate::rank::Rank;
use std::path::{Path, PathBuf};

/// A new folder: in this one, which ranks on other machines see as well as any, or where nothing can be written there,
/// among what is temporary. What sessions on this machine have left that were killed meanwhile goes away.
pub(super) fn folder() -> PathBuf {
    let before = format!(".nesl-session-{}-", Rank::here(1, None).machine.replace('/', "-"));
    let name = format!("{before}{}", std::process::id());
    let here = std::env::current_dir().unwrap_or_default();
    let elsewhere = std::env::temp_dir();
    [&here, &elsewhere].into_iter().for_each(|place| clear(place, &before));
    let place = here.join(&name);
    match std::fs::create_dir(&place) {
        Ok(()) => place,
        Err(_) => elsewhere.join(name),
    }
}

/// Removes the folders whose names are this and the number of a process that is no more.
fn clear(place: &Path, before: &str) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        // Nobody says which processes there are.
        return;
    }
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(before)?.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            // Somebody else's stays; it is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_left_by_the_dead_goes_away() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::create_dir(place.path().join(name)).unwrap();
        let own = format!("left-here-{}", std::process::id());
        // No process has a number that large.
        for name in ["left-here-4294967295", "left-there-4294967295", "left-here-", "left-here-x", &own] {
            make(name);
        }
        clear(place.path(), "left-here-");
        let mut names: Vec<_> =
            std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let mut expected = ["left-here-", &own, "left-here-x", "left-there-4294967295"];
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
