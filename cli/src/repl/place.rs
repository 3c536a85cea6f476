//! Where a session runs: its threads, which can be changed, and its ranks.

use super::Next;
use super::ranks::{Request, set_threads};
use super::session::Repl;
use crate::rank::RankProcess;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_prim::visible;

impl<E: Engine> Repl<E> {
    /// Changes the number of threads of each rank, or shows it. Values stay where they are.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn threads(&mut self, argument: &str) -> Result<Next, Stop> {
        let wanted = match argument {
            "" => None,
            "all" => Some(0),
            number => match number.parse::<u16>() {
                Ok(number) if number > 0 => Some(usize::from(number)),
                _ => return Ok(self.refuse("`:threads` takes a number from 1 on, or all, for one on each core")),
            },
        };
        if let Some(threads) = wanted {
            self.together(&Request::Threads(threads));
            if let Err(problem) = set_threads(&mut self.machine.engine, threads) {
                return Ok(self.refuse(&format!("the threads stay as they are: {problem}")));
            }
        }
        let (threads, (_, ranks)) = (self.machine.engine.threads(), self.machine.engine.rank());
        let many = if threads == 1 { "" } else { "s" };
        let each = if ranks > 1 { " on each rank" } else { "" };
        self.answer(&format!("{threads} thread{many}{each}\n")).map(|()| Next::Go)
    }

    /// Tells the other ranks which folder this one is in: of files that a program reads each reads its part.
    pub(super) fn share_folder(&mut self) {
        if let Ok(folder) = std::env::current_dir() {
            self.together(&Request::Folder(folder));
        }
    }

    /// Shows what each rank has, what its values take, and the most that they have taken.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn ranks(&mut self, argument: &str) -> Result<Next, Stop> {
        if !argument.is_empty() {
            return Ok(self.refuse("this nesl was built without MPI, which starts ranks"));
        }
        let counters = self.counters();
        self.together(&Request::Rank);
        let own = RankProcess::here(self.machine.engine.threads());
        let ranks = self.link.at_first(&own);
        let machine = |seen: &RankProcess| visible::line(&seen.rank.machine).into_owned();
        let all = ranks.iter().chain(&self.parked);
        let width = all.map(|seen| machine(seen).chars().count()).max().unwrap_or(0).max("machine".len());
        let mut text = format!(
            "rank  {:<width$}  {:>7}  threads  {:<12}  {:>11}  most memory  state\n",
            "machine", "process", "may use", "memory"
        );
        let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        for ((index, seen), counters) in ranks.iter().enumerate().zip(&counters) {
            let (machine, process, binding) = (machine(seen), seen.process, seen.rank.binding());
            let (now, most) = (mebibytes(seen.resident), mebibytes(counters.peak_bytes));
            let state = if index == 0 { "works, talks" } else { "works" };
            let threads = seen.rank.threads;
            text += &format!(
                "{index:>4}  {machine:<width$}  {process:>7}  {threads:>7}  {binding:<12}  {now:>11}  {most:>11}  {state}\n"
            );
        }
        for (index, seen) in (ranks.len()..).zip(&self.parked) {
            let (machine, process) = (machine(seen), seen.process);
            let nothing = "–";
            text += &format!(
                "{index:>4}  {machine:<width$}  {process:>7}  {nothing:>7}  {nothing:<12}  {nothing:>11}  {nothing:>11}  parked\n"
            );
        }
        self.answer(&text).map(|()| Next::Go)
    }
}
