//! How much memory this process may take, as the machine and the group it runs in have it, and how many addresses.
//!
//! Where a process takes more, Linux kills it without a word. An engine that knows the bound ends with an error
//! instead, which says where in the program the memory went.

use std::path::{Path, PathBuf};

/// The memory of the machine, or what the control groups of this process allow if that is less; none where neither can
/// be known.
pub fn machine_limit() -> Option<u64> {
    limit_in(Path::new("/"))
}

/// The same, with the files of the kernel below a folder.
fn limit_in(root: &Path) -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(root.join(path)).ok();
    let physical = read(Path::new("proc/meminfo")).and_then(|text| total(&text));
    let groups = read(Path::new("proc/self/cgroup")).unwrap_or_default();
    let allowed = groups.lines().flat_map(limit_files).filter_map(|path| bytes(&read(&path)?));
    allowed.chain(physical).min()
}

/// So many bytes, or, where the system limits the addresses of this process (`ulimit -v`), one of so many parts of
/// those that are left if that is less. Whoever takes a share asks when it needs it; what others take without asking
/// needs some, too.
pub fn share_of_addresses(most: usize, parts: usize) -> usize {
    share_in(Path::new("/"), most, parts)
}

/// The same, with the files of the kernel below a folder.
fn share_in(root: &Path, most: usize, parts: usize) -> usize {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(root.join(file)).ok()?;
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok()))?
    };
    // What is unlimited is no number.
    let Some(limit) = line("proc/self/limits", "Max address space") else { return most };
    let used = line("proc/self/status", "VmSize:").map_or(0, |kibibytes| kibibytes.saturating_mul(1024));
    let left = usize::try_from(limit.saturating_sub(used)).unwrap_or(usize::MAX);
    most.min(left / parts.max(1))
}

/// Where the system limits the addresses of this process, its threads get their small memory from one place: glibc
/// reserves 64 MiB of addresses for each thread that has a place of its own, and twice as many for a moment, in which
/// others get none. To be called before there are threads.
pub fn save_addresses() {
    // Unlimited addresses are as many as are asked for.
    if share_of_addresses(usize::MAX, 1) == usize::MAX {
        return;
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt takes two numbers, and sets how many arenas there may be.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The memory in `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A limit of a group: a number, or `max`.
fn bytes(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Where the limits are of the group in a line of `/proc/self/cgroup` and of the groups it is in: `0::/user/a` of
/// version 2, `4:memory:/user/a` of version 1. In a container the group may be named as it is outside, while its files
/// are at the root.
fn limit_files(line: &str) -> Vec<PathBuf> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { return Vec::new() };
    let (root, name) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|controller| controller == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    let groups = Path::new(group.trim_start_matches('/')).ancestors();
    groups.map(|group| Path::new(root).join(group).join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:        1000 kB\nMemFree:          12 kB\n");

    #[test]
    fn the_least_of_machine_and_groups_counts() {
        let limit = |files: &[(&str, &str)]| limit_in(root(files).path());
        assert_eq!(limit(&[]), None);
        assert_eq!(limit(&[MEMORY]), Some(1_024_000));
        let version_2 = [
            MEMORY,
            ("proc/self/cgroup", "0::/user/a\n"),
            ("sys/fs/cgroup/user/a/memory.max", "max\n"),
            ("sys/fs/cgroup/user/memory.max", "5000\n"),
        ];
        assert_eq!(limit(&version_2), Some(5000));
        let version_1 = [
            MEMORY,
            ("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/job\n0::/\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "7000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(limit(&version_1), Some(7000));
        let in_container = [MEMORY, ("proc/self/cgroup", "0::/outside/name\n"), ("sys/fs/cgroup/memory.max", "9000\n")];
        assert_eq!(limit(&in_container), Some(9000));
    }

    #[test]
    fn limited_addresses_are_shared() {
        let share = |files: &[(&str, &str)]| share_in(root(files).path(), 3000, 4);
        let limits = |soft: &str| {
            format!("Limit   Soft Limit  Hard Limit  Units\nMax address space   {soft}   unlimited   bytes\n")
        };
        let status = ("proc/self/status", "Name:\tnesl\nVmPeak:\t 7 kB\nVmSize:\t 2 kB\n");
        assert_eq!(share(&[]), 3000);
        assert_eq!(share(&[("proc/self/limits", &limits("unlimited")), status]), 3000);
        assert_eq!(share(&[("proc/self/limits", &limits("1000000")), status]), 3000);
        assert_eq!(share(&[("proc/self/limits", &limits("4048")), status]), 500);
        assert_eq!(share(&[("proc/self/limits", &limits("1000")), status]), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_memory() {
        assert!(machine_limit() > Some(1 << 20));
    }
}
