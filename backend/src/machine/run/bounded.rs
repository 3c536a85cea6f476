//! Loops outside of an apply-to-each whose turns are a few vector instructions on short columns: a queue, a frontier, a
//! stack, and what is done with it. Some turns at a time run in native code.
//!
//! The machine needs a quarter of a microsecond for an instruction, however short its columns are; native code needs a
//! fiftieth of that for a few elements, and has one thread. Which of them suits a loop may change while it runs, as its
//! columns grow and shrink. So it is counted what turns make, and how long they take. Where that is little, the loop's
//! [bounded version](nesl_vcode::tail::bounded) does as many turns as pay for what it has to copy, and gives back what
//! the loop carries; the lines do a few, which are looked at again, and so on with more turns each time. Where native
//! code has not come back in the time that the lines would have taken, the lines do the same turns instead. What is
//! lost so stays a part of what it took, or has saved, before. Of loops in one another the outer one goes there, too,
//! once its turns are little but those of the inner one: then what they carry is copied once for all of them.

use super::alarm::set_after;
use super::{Run, Stop};
use crate::data::slot::Slot;
use crate::engine::Engine;
use crate::engine::native::Native;
use crate::engine::value::SlotOf;
use crate::machine::decode::Source;
use crate::machine::frames::Frames;
use crate::machine::native::Operands;
use crate::machine::profile::Reading;
use crate::machine::strategy::Pace;
use nesl_native::{Compiled, Status};
use nesl_prim::{Element, ScalarType, ScalarValue};
use nesl_vcode::{FunctionId, Place, RegisterType};
use std::collections::HashMap;
use std::time::Duration;

/// So many turns go by before a loop is looked at, and it takes so long before native code is tried: it takes as long
/// to compile it.
const FIRST: u64 = 8;
const COMPILING: Duration = Duration::from_millis(3);

/// So many go by where native code is not for it.
const AGAIN: u64 = 64;

/// So many between one time in native code and the next.
const BETWEEN: u64 = 2;

/// The most turns between two looks at a loop that is not for native code.
const APART: u64 = 1 << 14;

/// The turns that are tried first, and by how many times as many it is each time.
const TRIED: u64 = 16;
const GROWTH: u64 = 4;

/// Instructions that make fewer bytes each, and take less time, do little.
const LITTLE: u64 = 512;
const SHORT: Duration = Duration::from_micros(3);

/// Of the time that the lines took, this part may be lost in vain.
const RISKED: u32 = 8;

/// So many bytes are to be copied for a nanosecond that the lines have taken: about a fifth of that.
const COPIED: u64 = 1;

/// By this part of what it was a turn may become longer from one look to the next.
const SLOWER: u64 = 64;

/// The time that native code has at least, and at most: nobody can interrupt it.
const TIME: [Duration; 2] = [Duration::from_micros(250), Duration::from_millis(500)];

/// What is known of the loops of a run.
#[derive(Default)]
pub(in crate::machine) struct Loops {
    gauges: HashMap<FunctionId, Gauge>,
    inside: Inside,
}

/// What native code has done in the place of lines.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    time: Duration,
    bytes: u64,
}

impl Loops {
    /// Native code has taken the time, and made the bytes, between two readings.
    pub fn add(&mut self, since: Reading, until: Reading) {
        self.inside.time += until.time - since.time;
        self.inside.bytes += until.bytes - since.bytes;
    }
}

/// What is known of a loop.
struct Gauge {
    /// When it was last looked at, and what native code had done then.
    since: (Reading, Inside),
    /// Turns by the machine's lines since then.
    turns: u64,
    /// When there are so many, it is looked at.
    wait: u64,
    /// All turns so far.
    all: u64,
    /// The time that the lines took for turns so far.
    spent: Duration,
    /// What native code took less than that for the same turns, and what it took where it was of no use.
    saved: Duration,
    lost: Duration,
    /// What a turn took by the lines, in nanoseconds.
    turn: u64,
    /// How many native code does next.
    bound: u64,
}

impl Gauge {
    fn new(since: (Reading, Inside)) -> Gauge {
        Gauge {
            since,
            turns: 0,
            wait: FIRST,
            all: 0,
            spent: Duration::ZERO,
            saved: Duration::ZERO,
            lost: Duration::ZERO,
            turn: u64::MAX,
            bound: TRIED,
        }
    }

    /// How many turns native code is to do now, if any, and in what time, where so many bytes have to be copied.
    fn plan(&mut self, now: (Reading, Inside), copied: usize) -> Option<(u64, Duration)> {
        let (since, inside) = std::mem::replace(&mut self.since, now);
        let (now, now_inside) = now;
        let turns = std::mem::take(&mut self.turns);
        let instructions = now.instructions - since.instructions;
        let time = now.time - since.time;
        let by_lines = time.saturating_sub(now_inside.time - inside.time);
        let bytes = (now.bytes - since.bytes).saturating_sub(now_inside.bytes - inside.bytes);
        let most = SHORT * u32::try_from(instructions).unwrap_or(u32::MAX);
        if bytes > LITTLE.saturating_mul(instructions) || by_lines > most {
            self.wait = (2 * self.wait).clamp(AGAIN, APART);
            return None;
        }
        self.spent = self.spent.saturating_add(time);
        // A turn after a time in native code may have more to do: its columns have no room behind them, for one.
        let turn = (time.as_nanos() / u128::from(turns.max(1))).max(1) as u64;
        self.turn = turn.min(self.turn.saturating_add(self.turn / SLOWER));
        let paying = (copied as u64 / COPIED) / self.turn;
        self.wait = BETWEEN;
        if self.lost > self.saved.saturating_add(self.spent / RISKED) {
            self.wait = AGAIN;
            return None;
        }
        if self.spent < COMPILING || self.all < paying {
            return None;
        }
        let bound = self.bound.max(paying).min(TIME[1].as_nanos() as u64 / self.turn).max(1);
        let time = Duration::from_nanos(self.turn.saturating_mul(bound)).clamp(TIME[0], TIME[1]);
        Some((bound, time))
    }

    /// So many turns were done in native code, in that time.
    fn did(&mut self, bound: u64, time: Duration, now: (Reading, Inside)) {
        self.all = self.all.saturating_add(bound);
        let by_lines = Duration::from_nanos(self.turn.saturating_mul(bound));
        let Some(saved) = by_lines.checked_sub(time) else { return self.failed(time - by_lines, now) };
        self.saved = self.saved.saturating_add(saved);
        (self.since, self.bound) = (now, self.bound.max(bound.saturating_mul(GROWTH)));
    }

    /// Native code was of no use for so long.
    fn failed(&mut self, lost: Duration, now: (Reading, Inside)) {
        self.lost = self.lost.saturating_add(lost);
        (self.since, self.wait, self.bound) = (now, AGAIN, TRIED);
    }
}

/// What has become of turns of a loop.
pub(in crate::machine) enum Turns<E: Engine> {
    /// None were done.
    None,
    /// Some were; the loop goes on with these values of its parameters.
    Some(Vec<SlotOf<E>>),
    /// The last one was done, after so many, and these are the results.
    All(Vec<SlotOf<E>>, u64),
}

impl<E: Engine> Run<'_, E> {
    /// Does some turns of a loop in native code, if that suits it, beginning with one that is about to begin with these
    /// operands. If it does none, they are in the frame as they were.
    pub(super) fn bounded_turns(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<Turns<E>, Stop> {
        if self.settings.native == Native::Off {
            return Ok(Turns::None);
        }
        if !self.engine.has_addresses() {
            return self.everywhere_turns(function, operands, at, frames);
        }
        let Some((bound, time)) = self.plan(function, operands, frames) else { return Ok(Turns::None) };
        let most = self.bound_of(function, frames).map(|most| most.left);
        let bound = most.map_or(bound, |most| bound.min(most));
        // To compile it, the first time, is not a part of what it takes.
        let Some(native) = self.program.native.bounded(self.program.program(), function) else {
            self.loops.gauges.entry(function).and_modify(|gauge| gauge.wait = u64::MAX);
            return Ok(Turns::None);
        };
        let outside = frames.active().map_err(Stop::at(at))?;
        let values: Vec<SlotOf<E>> = operands.iter().map(|&operand| frames.read(operand)).collect();
        let then = self.reading();
        let limits = (bound, time, outside.calls);
        let turns = |run: &mut Self| run.native_turns((function, native), &values, at, limits);
        let turns = self.checked_turns((function, &values), at, turns)?;
        let reading = self.reading();
        self.loops.add(then, reading);
        let (taken, now) = (reading.time - then.time, (reading, self.loops.inside));
        if let Some(gauge) = self.loops.gauges.get_mut(&function) {
            match turns {
                Turns::None => gauge.failed(taken, now),
                Turns::Some(_) => gauge.did(bound, taken, now),
                Turns::All(_, turns) => gauge.did(turns, taken, now),
            }
        }
        match turns {
            Turns::None => frames.put_back(operands, values),
            Turns::Some(_) => {
                if let Some(most) = self.bound_of(function, frames) {
                    most.left -= bound;
                }
            }
            Turns::All(..) => {}
        }
        Ok(turns)
    }

    /// How many turns native code is to do now, if any, and in what time.
    fn plan(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        frames: &mut Frames<E>,
    ) -> Option<(u64, Option<Duration>)> {
        let pace = self.settings.tuning().pace;
        let now = match self.loops.gauges.get_mut(&function) {
            Some(gauge) => {
                (gauge.turns, gauge.all) = (gauge.turns + 1, gauge.all + 1);
                if gauge.turns < gauge.wait {
                    return None;
                }
                (self.reading(), self.loops.inside)
            }
            None => {
                let now = (self.reading(), self.loops.inside);
                self.loops.gauges.insert(function, Gauge::new(now));
                if pace == Pace::Measured {
                    return None;
                }
                now
            }
        };
        match pace {
            Pace::Measured => {
                let copied = self.copied(function, operands, frames);
                let (bound, time) = self.loops.gauges.get_mut(&function)?.plan(now, copied)?;
                Some((bound, Some(time)))
            }
            Pace::Few => {
                let gauge = self.loops.gauges.get_mut(&function)?;
                gauge.wait = 0;
                Some((1 + gauge.all % 5, None))
            }
            Pace::All => Some((i64::MAX as u64, None)),
        }
    }

    /// Does at most so many turns in native code, in so much time and inside of so many calls.
    fn native_turns(
        &mut self,
        (function, native): (FunctionId, Compiled),
        values: &[SlotOf<E>],
        at: Place,
        (bound, time, calls): (u64, Option<Duration>, usize),
    ) -> Result<Turns<E>, Stop> {
        let fault = Stop::of(at);
        let program = self.program;
        let bounded = [&[Slot::Scalar(ScalarValue::Int(bound as i64))], values].concat();
        let Some(operands) = Operands::new(self.engine, &bounded).map_err(&fault)? else { return Ok(Turns::None) };
        let code = &program.program().functions[function.0 as usize];
        let carried = code.parameters.iter().map(|&parameter| code.register_type(parameter));
        let given = code.result_types();
        let types: Vec<RegisterType> =
            [RegisterType::Scalar(ScalarType::Int)].into_iter().chain(carried).chain(given).collect();
        let alarm = time.map(set_after);
        if matches!(alarm, Some(None)) {
            return Ok(Turns::None);
        }
        let alarm = alarm.flatten();
        let interrupt = alarm.as_deref().or(self.settings.cut);
        let limits = (interrupt, self.settings.limits.depth.saturating_sub(calls));
        self.is_native();
        let called = program.native.call(self.engine, (native, &types), (&operands, &bounded), limits);
        self.account.overlook(self.engine.allocated());
        let Some(called) = called.map_err(&fault)?.filter(|called| called.status == Status::Done) else {
            return Ok(Turns::None);
        };
        self.instructions += 1;
        self.steps += called.steps;
        let mut carried = called.results;
        let results = carried.split_off(1 + values.len());
        let Ok(left) = u64::try_from(i64::from_value(carried.remove(0).as_scalar())) else {
            return Ok(Turns::Some(carried));
        };
        Ok(Turns::All(results, bound - left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A loop of ten instructions a turn that make so many bytes each, in so many nanoseconds.
    struct Clock {
        now: (Reading, Inside),
        gauge: Gauge,
    }

    impl Clock {
        fn new() -> Clock {
            let now = (Reading { time: Instant::now(), instructions: 0, bytes: 0 }, Inside::default());
            Clock { now, gauge: Gauge::new(now) }
        }

        /// Does turns until it is looked at; what is planned then.
        fn turns(&mut self, bytes: u64, nanoseconds: u64, copied: usize) -> Option<(u64, Duration)> {
            let turns = self.gauge.wait;
            self.now.0.instructions += 10 * turns;
            self.now.0.bytes += 10 * turns * bytes;
            self.now.0.time += Duration::from_nanos(10 * turns * nanoseconds);
            (self.gauge.turns, self.gauge.all) = (turns, self.gauge.all + turns);
            self.gauge.plan(self.now, copied)
        }
    }

    #[test]
    fn turns_that_do_little_are_for_native_code_more_of_them_each_time() {
        let mut clock = Clock::new();
        // It pays to compile something after 3 ms, which are 1200 turns.
        while clock.gauge.all < 1150 {
            assert_eq!(clock.turns(8, 250, 0), None);
        }
        let mut bounds = Vec::new();
        while bounds.len() < 10 {
            let Some((bound, time)) = clock.turns(8, 250, 0) else { continue };
            assert!(time <= TIME[1]);
            bounds.push(bound);
            clock.gauge.did(bound, Duration::ZERO, clock.now);
        }
        // 200,000 turns of 2.5 µs are half a second.
        assert_eq!(bounds, [16, 64, 256, 1024, 4096, 16384, 65536, 200_000, 200_000, 200_000]);
    }

    #[test]
    fn what_is_lost_is_a_part_of_what_the_lines_took() {
        let mut clock = Clock::new();
        let (mut lost, mut tried) = (Duration::ZERO, 0);
        while clock.gauge.all < 1_000_000 {
            if let Some((_, time)) = clock.turns(8, 250, 0) {
                lost += time;
                tried += 1;
                clock.gauge.failed(time, clock.now);
            }
        }
        assert!(tried > 10 && lost <= clock.gauge.spent / RISKED + TIME[0], "{lost:?} in {tried}");
        // Turns that take longer than by the lines are lost, too.
        let mut clock = Clock::new();
        clock.gauge.turn = 2500;
        clock.gauge.did(TRIED, Duration::from_micros(50), clock.now);
        assert_eq!((clock.gauge.lost, clock.gauge.wait), (Duration::from_micros(10), AGAIN));
    }

    #[test]
    fn turns_that_do_much_are_for_the_lines() {
        let mut clock = Clock::new();
        assert_eq!(clock.turns(100_000, 20_000, 0), None);
        assert_eq!((clock.turns(8, 20_000, 0), clock.turns(8000, 250, 0)), (None, None));
        assert_eq!((0..20).filter(|_| clock.turns(8000, 250, 0).is_some()).count(), 0);
        assert_eq!(clock.gauge.wait, APART);
        assert_eq!(clock.turns(8, 250, 0), Some((TRIED, TIME[0])));
    }

    #[test]
    fn what_loops_inside_do_in_native_code_is_not_much_for_lines() {
        let mut clock = Clock::new();
        clock.gauge.spent = COMPILING;
        // A turn of two milliseconds, of which all but two microseconds are native code.
        let inside = Duration::from_millis(2);
        clock.now.1 = Inside { time: inside * FIRST as u32, bytes: 1_000_000 };
        clock.now.0.time += inside * FIRST as u32;
        clock.now.0.bytes += 1_000_000;
        assert_eq!(clock.turns(8, 250, 1_000_000), Some((TRIED, (inside + Duration::from_nanos(2500)) * TRIED as u32)));
    }

    #[test]
    fn copies_cost_no_more_than_the_turns() {
        let mut clock = Clock::new();
        let turns = 10_000u64;
        while clock.gauge.all + clock.gauge.wait < turns {
            assert_eq!(clock.turns(8, 250, turns as usize * 2500), None);
        }
        assert_eq!(clock.turns(8, 250, turns as usize * 2500), Some((turns, Duration::from_millis(25))));
    }
}
