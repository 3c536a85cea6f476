//! Where a session runs: its threads, which can be changed, and its ranks.

use super::Next;
use super::ranks::{Request, set_threads};
use super::session::Repl;
use crate::rank::Rank;
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

    /// Shows what each rank has, and the most memory that its values have taken.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn ranks(&mut self, _: &str) -> Result<Next, Stop> {
        let counters = self.counters();
        self.together(&Request::Rank);
        let own = Rank::here(self.machine.engine.threads(), None);
        let ranks = self.link.at_first(&own);
        let machine = |rank: &Rank| visible::line(&rank.machine).into_owned();
        let width = ranks.iter().map(|rank| machine(rank).chars().count()).max().unwrap_or(0).max("machine".len());
        let mut text = format!("rank  {:<width$}  threads  {:<12}  most memory\n", "machine", "may use");
        for ((index, rank), counters) in ranks.iter().enumerate().zip(&counters) {
            let mebibytes = counters.peak_bytes as f64 / f64::from(1 << 20);
            let (machine, binding) = (machine(rank), rank.binding());
            text +=
                &format!("{index:>4}  {machine:<width$}  {:>7}  {binding:<12}  {mebibytes:>7.1} MiB\n", rank.threads);
        }
        self.answer(&text).map(|()| Next::Go)
    }
}
