//! Where runs spend their time, by places in user code: what `--profile` shows.
//!
//! A stopwatch that never stands still: whenever an instruction begins, all that has passed since the one before began
//! is charged to the place of that one. So the parts add up to the whole. A place is the one that an error there would
//! have: the instruction's own in user code, else that of the innermost call from user code into the library.

mod passages;
mod whereabouts;

pub use passages::Passage;
use passages::Passages;
pub use whereabouts::Whereabouts;

use crate::engine::busy::{BusyInterval, BusyIntervals};
use nesl_span::{FileId, Origin, SourceMap, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was spent at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Time on the clock.
    pub time: Duration,
    /// Instructions executed.
    pub instructions: u64,
    /// Bytes allocated for columns.
    pub bytes: u64,
    /// Some of it in native code, which does not say where it is.
    pub native: bool,
}

impl Spent {
    /// Adds more of it.
    pub fn add(&mut self, more: Spent) {
        self.time += more.time;
        self.instructions += more.instructions;
        self.bytes += more.bytes;
        self.native |= more.native;
    }
}

/// What the clock and the counters of a run say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub time: Instant,
    pub instructions: u64,
    pub bytes: u64,
}

/// What was spent where.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    library: Arc<HashSet<FileId>>,
    spent: HashMap<Span, Spent>,
    /// Where active calls are in user code, the innermost last; none for those without user code around them.
    calls: Vec<Option<Span>>,
    /// The place of what happens now.
    here: Option<Span>,
    /// When it began.
    since: Option<Reading>,
    /// When the run was where, if anybody wants to know.
    passages: Option<Passages>,
    /// When helpers of this thread worked since the last reading, where that is known.
    busy: Option<BusyIntervals>,
    /// The thread that this is about.
    thread: usize,
}

impl Profile {
    /// An empty one. All files of `sources` that are of the library are known to be; later ones are taken for the
    /// user's.
    pub fn new(sources: &SourceMap) -> Profile {
        let library = sources.files().filter(|(_, file)| file.origin == Origin::Library).map(|(id, _)| id).collect();
        Profile::at_beginning(Arc::new(library), Vec::new(), None, None)
    }

    fn at_beginning(
        library: Arc<HashSet<FileId>>,
        calls: Vec<Option<Span>>,
        here: Option<Span>,
        passages: Option<Passages>,
    ) -> Profile {
        Profile { library, spent: HashMap::new(), calls, here, since: None, passages, busy: None, thread: 0 }
    }

    /// From now on it is also kept when the run was where, and when helpers worked.
    pub fn keep_passages(&mut self, busy: Option<BusyIntervals>) {
        self.passages.get_or_insert_default();
        self.busy = busy;
    }

    /// When the run was where, and of how many passages that was not kept.
    pub fn passages(&self) -> (&[Passage], usize) {
        self.passages.as_ref().map_or((&[], 0), Passages::all)
    }

    /// Adds what was spent in another.
    pub fn add(&mut self, other: Profile) {
        for (place, spent) in other.spent {
            self.spent.entry(place).or_default().add(spent);
        }
    }

    /// All places, in no order.
    pub fn places(&self) -> Vec<(Span, Spent)> {
        self.spent.iter().map(|(&place, &spent)| (place, spent)).collect()
    }

    /// An empty one for a worker that does a part of what happens now.
    pub fn for_worker(&self) -> Profile {
        let (library, here) = (Arc::clone(&self.library), self.here);
        Profile::at_beginning(library, vec![here], here, self.passages.as_ref().map(|_| Passages::default()))
    }

    /// Begins: what was before is charged to nobody.
    pub fn begin(&mut self, reading: Reading) {
        self.thread = rayon::current_thread_index().map_or(0, |helper| helper + 1);
        self.since = Some(reading);
    }

    /// Something begins at this place, of which the nearest user code counts.
    pub fn at(&mut self, chain: impl Iterator<Item = Span>, reading: Reading) {
        self.charge(reading);
        self.here = self.place(chain);
    }

    /// Ends: what follows is charged to nobody.
    pub fn end(&mut self, reading: Reading) {
        self.charge(reading);
        (self.here, self.since) = (None, None);
    }

    /// What happens now was done by native code, in part at least.
    pub fn is_native(&mut self) {
        if let Some(here) = self.here {
            self.spent.entry(here).or_default().native = true;
        }
    }

    /// A call from this place begins; the number of those before.
    pub fn enter(&mut self, mut chain: impl Iterator<Item = Span>) -> usize {
        let place = chain.find(|&span| self.is_user(span)).or(self.calls.last().copied().flatten());
        self.calls.push(place);
        self.calls.len() - 1
    }

    /// The innermost call ends.
    pub fn leave(&mut self) {
        self.calls.pop();
    }

    /// The number of active calls.
    pub fn depth(&self) -> usize {
        self.calls.len()
    }

    /// All calls end but so many.
    pub fn leave_to(&mut self, depth: usize) {
        self.calls.truncate(depth);
    }

    /// What has happened since the last reading was one instruction at each of these places: each is charged the same.
    /// `reading` is without these instructions.
    pub fn share(&mut self, chains: impl Iterator<Item = impl Iterator<Item = Span>>, reading: Reading) {
        let one = Spent { time: Duration::from_nanos(1), instructions: 1, bytes: 1, native: false };
        let parts = chains.filter_map(|chain| Some((self.place(chain)?, one))).collect();
        self.share_out(parts, reading);
    }

    /// What has happened since the last reading was done by workers, at once: time and bytes are charged in the
    /// proportions in which they spent them. `reading` is without their instructions.
    pub fn merge(&mut self, workers: impl Iterator<Item = Profile>, reading: Reading) {
        let mut parts: Vec<(Span, Spent)> = Vec::new();
        for worker in workers {
            parts.extend(worker.spent);
            if let (Some(own), Some(theirs)) = (&mut self.passages, worker.passages) {
                own.join(theirs);
            }
        }
        // Helpers that run instances have said themselves where they were.
        self.take_busy();
        self.share_out(parts, reading);
    }

    /// Charges what has passed to several places: time and bytes in the proportions of theirs, instructions as they
    /// are.
    fn share_out(&mut self, parts: Vec<(Span, Spent)>, reading: Reading) {
        let theirs: u64 = parts.iter().map(|(_, spent)| spent.instructions).sum();
        let reading = Reading { instructions: reading.instructions + theirs, ..reading };
        let Some(since) = self.since.replace(reading) else { return };
        if let Some(here) = self.here {
            self.passed(here, since, reading);
            // Those of whoever had it done.
            let own = (reading.instructions - theirs).saturating_sub(since.instructions);
            self.spent.entry(here).or_default().instructions += own;
        }
        let time =
            Portions::new(nanoseconds(reading.time - since.time), parts.iter().map(|part| nanoseconds(part.1.time)));
        let bytes = Portions::new(reading.bytes - since.bytes, parts.iter().map(|part| part.1.bytes));
        for (((place, spent), time), bytes) in parts.iter().zip(time).zip(bytes) {
            let time = Duration::from_nanos(time);
            self.spent.entry(*place).or_default().add(Spent { time, bytes, ..*spent });
        }
    }

    fn charge(&mut self, reading: Reading) {
        if let (Some(since), Some(here)) = (self.since.replace(reading), self.here) {
            self.passed(here, since, reading);
            self.spent.entry(here).or_default().add(Spent {
                time: reading.time - since.time,
                // Where a worker failed, what the others did is not counted.
                instructions: reading.instructions.saturating_sub(since.instructions),
                bytes: reading.bytes - since.bytes,
                native: false,
            });
        }
    }

    fn passed(&mut self, here: Span, since: Reading, until: Reading) {
        let busy = self.take_busy();
        if let Some(passages) = &mut self.passages {
            passages.add(here, self.thread, since, until);
            for BusyInterval { helper, begin, end } in busy {
                // Their instructions are those of who they help.
                passages.help(Passage { place: here, thread: helper + 1, begin, end, instructions: 0 });
            }
        }
    }

    fn take_busy(&self) -> Vec<BusyInterval> {
        self.busy.as_ref().map(BusyIntervals::take).unwrap_or_default()
    }

    fn is_user(&self, span: Span) -> bool {
        !self.library.contains(&span.file)
    }

    fn place(&self, chain: impl Iterator<Item = Span>) -> Option<Span> {
        let mut chain = chain.peekable();
        let own = chain.peek().copied();
        chain.find(|&span| self.is_user(span)).or(self.calls.last().copied().flatten()).or(own)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The portions of a whole in the proportions of some weights; they add up to it. Equal ones where no weight is more
/// than 0.
struct Portions<I> {
    whole: u64,
    weights: I,
    all: u128,
    least: u128,
    before: u128,
}

impl<I: Iterator<Item = u64> + Clone> Portions<I> {
    fn new(whole: u64, weights: I) -> Portions<I> {
        let all: u128 = weights.clone().map(u128::from).sum();
        let least = u128::from(all == 0);
        Portions { whole, all: all + least * weights.clone().count() as u128, weights, least, before: 0 }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Portions<I> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let upto = |weight: u128| (u128::from(self.whole) * weight / self.all) as u64;
        let after = self.before + u128::from(self.weights.next()?) + self.least;
        let portion = upto(after) - upto(self.before);
        self.before = after;
        Some(portion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::once;

    fn map() -> (SourceMap, impl Fn(usize) -> Span, impl Fn(usize) -> Span) {
        let mut sources = SourceMap::default();
        let library = sources.add("stdlib/a.nesl", "", Origin::Library);
        let user = sources.add("a.nesl", "", Origin::User);
        (sources, move |at| Span::new(library, at, at), move |at| Span::new(user, at, at))
    }

    #[test]
    fn what_passes_is_charged_to_the_nearest_place_in_user_code() {
        let (sources, library, user) = map();
        let mut profile = Profile::new(&sources);
        let start = Instant::now();
        let reading =
            |count| Reading { time: start + Duration::from_nanos(10 * count), instructions: count, bytes: 8 * count };
        profile.begin(reading(1));
        profile.at(once(user(1)), reading(2));
        profile.enter(once(user(1)));
        profile.at(once(library(1)), reading(4));
        profile.enter(once(library(1)));
        profile.at(once(library(2)), reading(7));
        profile.leave();
        profile.leave();
        profile.at(once(user(2)), reading(11));
        profile.at(once(library(9)), reading(12));
        profile.end(reading(13));
        let spent = |count| Spent {
            time: Duration::from_nanos(10 * count),
            instructions: count,
            bytes: 8 * count,
            native: false,
        };
        let mut places = profile.places();
        places.sort_by_key(|(place, _)| *place);
        assert_eq!(places, [(library(9), spent(1)), (user(1), spent(9)), (user(2), spent(1))]);
    }

    #[test]
    fn what_several_places_did_at_once_is_shared_out_and_adds_up() {
        let (sources, library, user) = map();
        let mut profile = Profile::new(&sources);
        let start = Instant::now();
        let reading =
            |time, instructions, bytes| Reading { time: start + Duration::from_nanos(time), instructions, bytes };
        profile.begin(reading(0, 0, 0));
        profile.at(once(user(0)), reading(0, 0, 0));
        profile.share([user(1), user(2), user(1)].into_iter().map(once), reading(100, 0, 10));
        let mut workers = [profile.for_worker(), profile.for_worker()];
        for (index, worker) in (1..).zip(&mut workers) {
            worker.begin(reading(100, 0, 10));
            worker.at(once(library(1)), reading(100, 0, 10));
            worker.at(once(user(2)), reading(100 + 30 * index, index, 10));
            worker.end(reading(100 + 40 * index, 2 * index, 10));
        }
        profile.merge(workers.into_iter(), reading(200, 4, 13));
        profile.end(reading(205, 10, 13));
        let places: HashMap<Span, Spent> = profile.places().into_iter().collect();
        let spent = |place| (places[&place].time.as_nanos(), places[&place].instructions, places[&place].bytes);
        let all: Vec<_> = [user(0), user(1), user(2)].map(spent).into();
        assert_eq!(all.iter().map(|spent| spent.0).sum::<u128>(), 205);
        assert_eq!(all.iter().map(|spent| spent.2).sum::<u64>(), 13);
        assert_eq!((all[0].0, all[0].1), (75 + 5, 3 + 1));
        assert_eq!((all[1].0, all[1].1), (67, 2));
        assert_eq!((all[2].0, all[2].1), (33 + 25, 4));
        assert_eq!(places.len(), 3);
    }

    #[test]
    fn passages_are_of_one_thread_and_one_place() {
        let (sources, _, user) = map();
        let mut profile = Profile::new(&sources);
        profile.keep_passages(None);
        let start = Instant::now();
        let reading = |time: u64| Reading { time: start + Duration::from_nanos(time), instructions: time, bytes: 0 };
        profile.begin(reading(0));
        profile.at(once(user(1)), reading(0));
        profile.at(once(user(1)), reading(10));
        profile.at(once(user(2)), reading(30));
        let mut worker = profile.for_worker();
        worker.begin(reading(31));
        worker.at(once(user(3)), reading(31));
        worker.end(reading(39));
        profile.merge(once(worker), reading(40));
        profile.end(reading(50));
        let (kept, left_out) = profile.passages();
        let times = |passage: &Passage| {
            let after = |time: Instant| (time - start).as_nanos();
            (passage.place, passage.thread, after(passage.begin), after(passage.end), passage.instructions)
        };
        let expected = [(user(1), 0, 0, 30, 30), (user(3), 0, 31, 39, 8), (user(2), 0, 30, 50, 20)];
        let mut found: Vec<_> = kept.iter().map(times).collect();
        found.retain(|passage| passage.3 > passage.2);
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!((found, left_out), (expected, 0));
    }

    #[test]
    fn helpers_are_where_the_thread_is_that_they_help() {
        let (sources, _, user) = map();
        let mut profile = Profile::new(&sources);
        let busy = BusyIntervals::default();
        profile.keep_passages(Some(busy.clone()));
        let start = Instant::now();
        let at = |time: u64| start + Duration::from_nanos(time);
        let reading = |time: u64| Reading { time: at(time), instructions: time, bytes: 0 };
        profile.begin(reading(0));
        profile.at(once(user(1)), reading(0));
        busy.add(BusyInterval { helper: 1, begin: at(2), end: at(7) });
        profile.at(once(user(2)), reading(10));
        busy.add(BusyInterval { helper: 0, begin: at(12), end: at(15) });
        profile.merge([profile.for_worker()].into_iter(), reading(20));
        profile.end(reading(20));
        let helped: Vec<_> = profile.passages().0.iter().filter(|passage| passage.thread > 0).copied().collect();
        assert_eq!(helped, [Passage { place: user(1), thread: 2, begin: at(2), end: at(7), instructions: 0 }]);
    }

    #[test]
    fn portions_add_up() {
        let portions = |whole, weights: &[u64]| Portions::new(whole, weights.iter().copied()).collect::<Vec<_>>();
        assert_eq!(portions(10, &[1, 1, 1]), [3, 3, 4]);
        assert_eq!(portions(10, &[0, 0]), [5, 5]);
        assert_eq!(portions(u64::MAX, &[1 << 62, 0, 1 << 62]), [u64::MAX / 2, 0, u64::MAX / 2 + 1]);
        assert!(portions(10, &[]).is_empty());
    }
}
