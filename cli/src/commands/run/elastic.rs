//! `nesl run --ranks-from FILE`: a run whose ranks become more or fewer while it goes on.
//!
//! Where the file wants other ranks the machine pauses, at a line that all ranks are at, inside loops and calls, too.
//! Then the run leaves its engine on all ranks; what it is goes to the ranks of afterwards, and goes on there as a run
//! that was saved would.

use super::{Found, begin};
use crate::arguments;
use crate::checkpoint::{RunPosition, SavingOptions};
use crate::driver::ProgramText;
use crate::execute::{Execution, LeftRun, Moving};
use crate::launch::{Place, RanksFile};
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::remark;
use crate::repl::Started;
use crate::stop::Stop;
use crate::style::Style;
use std::ffi::OsString;
use std::time::Instant;

/// A run whose number of ranks may change, on one of them.
pub(super) struct ElasticRun<'a> {
    pub text: Option<&'a ProgramText>,
    pub arguments: &'a [OsString],
    pub command: &'a str,
    pub options: &'a RunOptions,
    pub limit: &'a Limit,
    pub begun: Instant,
    pub file: RanksFile,
}

impl ElasticRun<'_> {
    /// Runs the program to its end, or sleeps while others do.
    pub fn run(&self, place: &mut Place) -> Result<(), Stop> {
        let mut threads = place.own_threads(self.options)?;
        let (mut is_awaited, mut found, mut before) = (place.is_new(), None, None);
        if !is_awaited {
            found = Some(self.begin(place)?);
        }
        loop {
            if place.is_parked() {
                // What it had would only take memory.
                before = None;
                is_awaited = place.park();
                if !is_awaited {
                    return Ok(());
                }
            }
            if is_awaited {
                is_awaited = false;
                if let Some((values, told)) = place.arrive::<(Found, RunPosition)>((&mut threads, self.options)) {
                    before = Some(LeftRun { machine: None, values, position: told.1 });
                    found = Some(told.0);
                }
                continue;
            }
            let Some(Found { program, sources, .. }) = &found else { return Ok(()) };
            let mut left = None;
            let moving = Moving { pause: self.file.pause(), before: before.take(), left: &mut left };
            let execution = Execution {
                program: program.clone(),
                sources,
                arguments: self.arguments,
                command: self.command,
                options: self.options,
                interrupt: None,
                limit: self.limit,
                begun: self.begun,
                saving: None,
                moving: Some(moving),
            };
            place.run_on(threads, execution)?;
            let Some(LeftRun { machine: Some((machine, Some(own))), mut values, position }) = left else {
                return Ok(());
            };
            threads = own;
            let wanted = self.wanted(place)?;
            if wanted != place.working() {
                let Some(found) = &found else { return Ok(()) };
                let more = (found, &position);
                if let Some((before, count)) = place.starting(wanted).filter(|_| place.rank() == 0) {
                    Started::say(self.options, before, count);
                }
                let (after, change) = place.regroup(wanted, values, (&mut threads, self.options), &more);
                values = after;
                self.tell(place, wanted, change.map(|change| change.text()));
            }
            before = Some(LeftRun { machine: Some((machine, None)), values, position });
        }
    }

    /// The program, on all ranks.
    fn begin(&self, place: &mut Place) -> Result<Found, Stop> {
        let saving = SavingOptions::default();
        let found = place.from_first(|| begin(self.text, self.arguments, (&saving, self.options)))?;
        arguments::refuse_unknown_option(&found.program.mains, self.arguments, self.command)?;
        if place.rank() == 0 {
            self.file.begin(place.working());
        }
        Ok(found)
    }

    /// How many ranks are to go on, as rank 0 says.
    fn wanted(&self, place: &mut Place) -> Result<usize, Stop> {
        let mut wanted = place.working();
        if place.rank() == 0 {
            match self.file.wanted().map(|wanted| (wanted, place.check_ranks(wanted))) {
                Some((possible, Ok(()))) => wanted = possible,
                Some((refused, Err(problem))) => self.file.refuse(refused, &problem),
                // Who changes their mind is as before.
                None => self.file.is_now(wanted),
            }
        }
        place.from_first(|| Ok(wanted))
    }

    /// Says on rank 0 what has become of the ranks.
    fn tell(&self, place: &Place, wanted: usize, change: Result<String, String>) {
        if place.rank() != 0 || place.is_parked() {
            return;
        }
        match change {
            Ok(text) => {
                self.file.is_now(wanted);
                if self.options.stats {
                    remark(&match self.options.style() {
                        Style::Text(_) => format!("{text}\n"),
                        style => style.note(&text),
                    });
                }
            }
            Err(problem) => self.file.refuse(wanted, &problem),
        }
    }
}
