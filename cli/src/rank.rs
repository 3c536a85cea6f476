//! What a process of a job has to compute with: its machine, threads, cores.

use serde::{Deserialize, Serialize};

/// What a rank has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rank {
    /// The name of its machine.
    pub machine: String,
    /// Its threads.
    pub threads: usize,
    /// The cores that it may use, as the kernel writes them; none where that is not known.
    pub cores: Option<String>,
    /// How many cores it may use.
    pub cores_usable: usize,
    /// The most bytes for data; none for no limit.
    pub memory_limit: Option<u64>,
}

impl Rank {
    /// This one, with so many threads (0: one for each core) and so much memory.
    pub fn here(threads: usize, memory_limit: Option<u64>) -> Rank {
        let cores_usable = std::thread::available_parallelism().map_or(1, usize::from);
        let line = |file: &str, name: &str| {
            let text = std::fs::read_to_string(file).ok()?;
            text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
        };
        let machine = line("/proc/sys/kernel/hostname", "").or_else(|| std::env::var("HOSTNAME").ok());
        Rank {
            machine: machine.unwrap_or_else(|| "this machine".to_owned()),
            threads: if threads == 0 { cores_usable } else { threads },
            cores: line("/proc/self/status", "Cpus_allowed_list:"),
            cores_usable,
            memory_limit,
        }
    }

    /// The cores that it is bound to.
    pub fn binding(&self) -> String {
        let many = if self.cores_usable == 1 { "" } else { "s" };
        match &self.cores {
            Some(cores) => format!("core{many} {cores}"),
            None => format!("{} core{many}", self.cores_usable),
        }
    }
}

/// A process that is a rank, as others see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankProcess {
    /// What it has.
    pub rank: Rank,
    /// Its number on its machine.
    pub process: u32,
    /// The bytes that it takes; 0 where the system does not say.
    pub resident: u64,
}

impl RankProcess {
    /// This one, with so many threads.
    pub fn here(threads: usize) -> RankProcess {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
        let resident = resident.map_or(0, |kibibytes: u64| kibibytes << 10);
        RankProcess { rank: Rank::here(threads, None), process: std::process::id(), resident }
    }
}
