//! Processes that a test has started, directly or not: a variable in their environment marks them.

use super::Ran;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What no job takes.
pub const GENEROUS: Duration = Duration::from_secs(120);

/// A mark, and the processes that have it.
#[derive(Clone, Debug)]
pub struct Mark(String);

impl Mark {
    /// One that nobody has.
    pub fn new() -> Mark {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        Mark(format!("NESL_FAULT_MARK={}.{since}", std::process::id()))
    }

    /// Gives it to a command.
    pub fn put(&self, command: &mut Command) {
        let (name, value) = self.0.split_once('=').unwrap();
        command.env(name, value);
    }

    /// The processes that have it, each with its rank if it is one.
    pub fn processes(&self) -> Vec<(u32, Option<usize>)> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let marked = all.filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let variables: Vec<&[u8]> = environment.split(|&byte| byte == 0).collect();
            let rank = variables.iter().find_map(|variable| {
                let text = std::str::from_utf8(variable).ok()?;
                ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="].iter().find_map(|name| text.strip_prefix(name)?.parse().ok())
            });
            variables.contains(&self.0.as_bytes()).then_some((id, rank))
        });
        marked.collect()
    }

    /// The process of a rank, if it is there: the one whose parent is not of that rank, as commands that it runs have
    /// its environment.
    pub fn rank(&self, rank: usize) -> Option<u32> {
        let processes = self.processes();
        let of_rank: Vec<u32> = processes.iter().filter(|(_, of)| *of == Some(rank)).map(|&(id, _)| id).collect();
        of_rank.iter().find(|&&id| !of_rank.contains(&parent(id))).copied()
    }

    /// Waits for the end of a process that has it; none with the mark is left then.
    pub fn last(&self, process: Child) -> Ran {
        let output = process.wait_with_output().unwrap();
        let begun = Instant::now();
        while !self.processes().is_empty() {
            assert!(begun.elapsed() < GENEROUS, "{:?} are left", self.processes());
            sleep(Duration::from_millis(20));
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Kills a process; whether it was there.
pub fn kill(process: u32) -> bool {
    Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success()
}

/// Random numbers that a seed gives.
pub struct Moments(u64);

impl Moments {
    pub fn of_environment() -> Moments {
        let seed = std::env::var("NESL_KILLS_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
        let seed = seed.unwrap_or_else(now);
        println!("NESL_KILLS_SEED={seed}");
        Moments(seed)
    }

    pub fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The parent of a process; none has the number 0, which stands for what has just ended.
pub fn parent(process: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok()).unwrap_or(0)
}
