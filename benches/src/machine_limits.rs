//! What the machine gives: bandwidth, memory that is free, and the peak of memory that this process has had.

use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// How fast the machine copies.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bandwidth {
    /// On so many threads.
    pub threads: usize,
    /// Bytes read and written in a second by a copy between two arrays that are in use.
    pub copy: f64,
    /// The same for a copy into a vector that is new each time: what a large result costs.
    pub copy_to_new: f64,
}

/// Measures bandwidth on the threads of a pool.
pub fn bandwidth(pool: &rayon::ThreadPool) -> Bandwidth {
    const ELEMENTS: usize = 1 << 25;
    const BLOCK: usize = 1 << 16;
    const REPETITIONS: usize = 5;
    let source = vec![1u64; ELEMENTS];
    let mut target = vec![2u64; ELEMENTS];
    let bytes = (2 * size_of_val(source.as_slice())) as f64;
    let rate = |run: &mut (dyn FnMut() + Send)| {
        let times = (0..REPETITIONS).map(|_| {
            let start = Instant::now();
            pool.install(&mut *run);
            start.elapsed().as_secs_f64()
        });
        bytes / median(times.collect())
    };
    let copy = rate(&mut || {
        target.par_chunks_mut(BLOCK).zip(source.par_chunks(BLOCK)).for_each(|(to, from)| to.copy_from_slice(from));
    });
    let copy_to_new = rate(&mut || drop(source.par_iter().copied().collect::<Vec<u64>>()));
    Bandwidth { threads: pool.current_num_threads(), copy, copy_to_new }
}

/// The middle one of some times.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Three quarters of the memory that the machine has free, in bytes: what programs may take, so that one that takes too
/// much fails on its own. None where the system does not say.
pub fn memory_to_use() -> Option<u64> {
    Some(kilobytes("/proc/meminfo", "MemAvailable:")? * 1024 / 4 * 3)
}

/// Starts measuring the peak of this process's memory anew, if the system can.
pub fn reset_peak() {
    // Where this fails the peak includes what was before: it is too high, and no other answer is at hand.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest memory that this process has had in use since the last reset, in bytes, if the system says.
pub fn peak() -> Option<u64> {
    Some(kilobytes("/proc/self/status", "VmHWM:")? * 1024)
}

fn kilobytes(file: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(vec![]).is_nan());
    }

    #[test]
    fn the_peak_covers_what_was_in_use() {
        reset_peak();
        let used = std::hint::black_box(vec![1u8; 64 << 20]);
        if let Some(peak) = peak() {
            assert!(peak > used.len() as u64);
        }
    }
}
