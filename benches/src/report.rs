//! What was measured, as text and as data.

use crate::case::Row;
use crate::machine_limits::Bandwidth;
use crate::measure::Times;
use serde::Serialize;

/// Everything that a run measured.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// How fast the machine copied, for each number of threads.
    pub bandwidth: Vec<Bandwidth>,
    /// A row for each benchmark, size and number of threads.
    pub results: Vec<Measured>,
    /// Benchmarks that did not run to their end.
    pub failures: Vec<Failed>,
    /// The geometric mean of the ratios, for each number of threads.
    pub means: Vec<Mean>,
}

/// A benchmark at one size on so many threads. Times are in seconds, rates in bytes a second, memory is in bytes;
/// ratios, rates, speed-ups and growth are those of medians if nothing else is said.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    pub name: &'static str,
    pub size: usize,
    pub threads: usize,
    pub nesl: f64,
    pub twin: f64,
    /// The time of the program over that of its twin.
    pub ratio: f64,
    pub nesl_best: f64,
    pub twin_best: f64,
    /// The same ratio of the least times.
    pub ratio_best: f64,
    /// The first run of the program, in seconds.
    pub nesl_first: f64,
    pub nesl_rate: Option<f64>,
    pub twin_rate: Option<f64>,
    pub nesl_peak: Option<u64>,
    pub twin_peak: Option<u64>,
    /// How much faster than on the first number of threads.
    pub nesl_speedup: Option<f64>,
    pub twin_speedup: Option<f64>,
    /// For each unit of work, relative to that at the smallest size.
    pub nesl_growth: Option<f64>,
    pub twin_growth: Option<f64>,
}

impl Measured {
    /// A row of times; what else is known of it is added later.
    pub fn new(row: &Row, size: usize, threads: usize, times: Times) -> Measured {
        let bytes = row.bytes.map(|bytes| (bytes * size) as f64);
        Measured {
            name: row.name,
            size,
            threads,
            nesl: times.nesl,
            twin: times.twin,
            ratio: times.nesl / times.twin,
            nesl_best: times.nesl_best,
            twin_best: times.twin_best,
            ratio_best: times.nesl_best / times.twin_best,
            nesl_first: times.first,
            nesl_rate: bytes.map(|bytes| bytes / times.nesl),
            twin_rate: bytes.map(|bytes| bytes / times.twin),
            nesl_peak: None,
            twin_peak: None,
            nesl_speedup: None,
            twin_speedup: None,
            nesl_growth: None,
            twin_growth: None,
        }
    }

    /// Compares with the same on other threads.
    pub fn speed_up_from(&mut self, first: &Measured) {
        self.nesl_speedup = Some(first.nesl / self.nesl);
        self.twin_speedup = Some(first.twin / self.twin);
    }

    /// Compares with a smaller size, the work of one being so many times that of the other.
    pub fn grow_from(&mut self, smallest: &Measured, more_work: f64) {
        self.nesl_growth = Some(self.nesl / smallest.nesl / more_work);
        self.twin_growth = Some(self.twin / smallest.twin / more_work);
    }

    /// A line of the table.
    pub fn line(&self) -> String {
        let rates = optional(self.nesl_rate.zip(self.twin_rate), 13, |(nesl, twin)| {
            format!("{:.1} / {:.1}", nesl / 1e9, twin / 1e9)
        });
        let peaks =
            optional(self.nesl_peak.zip(self.twin_peak), 15, |(nesl, twin)| format!("{} / {}", nesl >> 20, twin >> 20));
        let speedups = optional(self.nesl_speedup.zip(self.twin_speedup), 13, times_each);
        let growths = optional(self.nesl_growth.zip(self.twin_growth), 13, times_each);
        format!(
            "{:<15} {:>10} {:>7} {:>11.2} {:>11.2} {:>8.2} {:>8.2} {:>11.2} {rates} {peaks} {speedups} {growths}",
            self.name,
            self.size,
            self.threads,
            self.nesl * 1e3,
            self.twin * 1e3,
            self.ratio,
            self.ratio_best,
            self.nesl_first * 1e3,
        )
        .trim_end()
        .to_owned()
    }
}

fn times_each((nesl, twin): (f64, f64)) -> String {
    format!("{nesl:.2} / {twin:.2}")
}

fn optional<T>(value: Option<T>, width: usize, text: impl Fn(T) -> String) -> String {
    format!("{:>width$}", value.map_or_else(String::new, text))
}

/// The line above the table.
pub fn heading() -> String {
    format!(
        "{:<15} {:>10} {:>7} {:>11} {:>11} {:>8} {:>8} {:>11} {:>13} {:>15} {:>13} {:>13}",
        "benchmark",
        "size",
        "threads",
        "nesl ms",
        "twin ms",
        "ratio",
        "of best",
        "first ms",
        "GB/s",
        "peak MiB",
        "speed-up",
        "growth"
    )
}

/// A benchmark that did not run to its end.
#[derive(Debug, Serialize)]
pub struct Failed {
    pub name: &'static str,
    pub size: usize,
    pub threads: usize,
    pub message: String,
}

/// A geometric mean of ratios.
#[derive(Debug, Serialize)]
pub struct Mean {
    pub threads: usize,
    pub benchmarks: usize,
    pub ratio: f64,
}

impl Report {
    /// Computes the geometric means of the ratios, of the largest size of each benchmark.
    pub fn summarise(&mut self, threads: &[usize]) {
        self.means = threads
            .iter()
            .filter_map(|&threads| {
                let mut largest: Vec<&Measured> = Vec::new();
                for result in self.results.iter().filter(|result| result.threads == threads) {
                    match largest.iter_mut().find(|other| other.name == result.name) {
                        Some(other) if other.size < result.size => *other = result,
                        Some(_) => {}
                        None => largest.push(result),
                    }
                }
                let benchmarks = largest.len();
                let ratio = geometric_mean(largest.into_iter().map(|result| result.ratio));
                ratio.map(|ratio| Mean { threads, benchmarks, ratio })
            })
            .collect();
    }
}

/// The geometric mean of ratios, if there are any.
pub fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    let count = logarithms.len();
    (count > 0).then(|| (logarithms.into_iter().sum::<f64>() / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ROWS;

    fn times(nesl: f64, twin: f64) -> Times {
        Times { first: nesl, nesl, twin, nesl_best: nesl, twin_best: twin }
    }

    #[test]
    fn means_are_geometric_and_of_the_largest_sizes() {
        let measured = |row: usize, size, ratio| Measured::new(&ROWS[row], size, 1, times(ratio, 1.0));
        let results = vec![measured(0, 1, 100.0), measured(0, 2, 2.0), measured(1, 1, 8.0)];
        let mut report = Report { results, ..Report::default() };
        report.summarise(&[1, 2]);
        assert_eq!((report.means.len(), report.means[0].benchmarks), (1, 2));
        assert!((report.means[0].ratio - 4.0).abs() < 1e-12);
    }

    #[test]
    fn growth_and_speed_up_are_relative() {
        let first = Measured::new(&ROWS[0], 100, 1, times(1.0, 2.0));
        let mut second = Measured::new(&ROWS[0], 400, 2, times(8.0, 4.0));
        second.grow_from(&first, 4.0);
        second.speed_up_from(&first);
        assert_eq!((second.nesl_growth, second.twin_growth), (Some(2.0), Some(0.5)));
        assert_eq!((second.nesl_speedup, second.twin_speedup), (Some(0.125), Some(0.5)));
        assert!(second.line().contains("2.00 / 0.50"));
    }
}
