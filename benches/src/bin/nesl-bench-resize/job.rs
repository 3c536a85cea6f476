//! A job: ranks that become more or fewer in one of the ways, and columns that move then, again and again.

#![allow(unsafe_code, reason = "this is about MPI itself, which is C; every block says why it is sound")]

use crate::exchange::{Column, Meeting, Piece, block};
use crate::start::start;
use crate::ways::{Method, Way};
use mpi::ffi;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::time::Instant;

/// What a job measures, in seconds.
#[derive(Serialize, Deserialize)]
pub struct Measured {
    /// How long it took to have the ranks of afterwards.
    pub start: f64,
    /// Each time that the plain column moved.
    pub plain: Vec<f64>,
    /// Each time that the segmented column did: its lengths, and then its elements.
    pub segmented: Vec<f64>,
    /// Whether the right elements arrived.
    pub is_right: bool,
}

/// The element at an index.
fn element(index: usize) -> i64 {
    (index as i64).wrapping_mul(7919).wrapping_add(13)
}

/// The length of a segment: some have none, and one in a hundred most of the elements.
fn length_of(segment: usize) -> i64 {
    match segment % 100 {
        7 => 900,
        rest if rest % 5 == 0 => 0,
        rest => (rest % 3) as i64,
    }
}

/// Runs a rank; the first of those of before prints what was measured.
pub fn run((before, after): (usize, usize), way: Way, (elements, repetitions): (usize, usize)) -> ExitCode {
    let Some(universe) = mpi::initialize() else { return ExitCode::FAILURE };
    let begun = Instant::now();
    let (meeting, between) = meet(before, after, way);
    meeting.wait();
    let mut measured =
        Measured { start: begun.elapsed().as_secs_f64(), plain: Vec::new(), segmented: Vec::new(), is_right: true };
    let plain = Plain::new(elements, &meeting);
    let segmented = Segmented::new(elements, &meeting);
    for _ in 0..repetitions {
        for (moved, times) in [
            (&mut (|| plain.moved(&meeting)) as &mut dyn FnMut() -> bool, &mut measured.plain),
            (&mut || segmented.moved(&meeting), &mut measured.segmented),
        ] {
            meeting.wait();
            let begun = Instant::now();
            let is_right = moved();
            // Those of before measure until those of afterwards have what they need.
            meeting.wait();
            times.push(begun.elapsed().as_secs_f64());
            measured.is_right &= meeting.agree(is_right);
        }
    }
    if meeting.source == Some(0) {
        println!("{}", serde_json::to_string(&measured).unwrap_or_default());
    }
    part(meeting, between);
    drop(universe);
    ExitCode::SUCCESS
}

/// Brings the ranks of before and of afterwards together; what stays between two groups, too, if there are two.
fn meet(before: usize, after: usize, way: Way) -> (Meeting, ffi::MPI_Comm) {
    // SAFETY: handles that the calls below replace, and numbers that they fill in.
    let (mut parent, mut rank) = unsafe { (ffi::RSMPI_COMM_NULL, 0) };
    // SAFETY: the world lasts as long as MPI does.
    let world = unsafe { ffi::RSMPI_COMM_WORLD };
    // SAFETY: MPI has begun.
    let is_new = unsafe {
        ffi::MPI_Comm_get_parent(&raw mut parent);
        ffi::MPI_Comm_rank(world, &raw mut rank);
        parent != ffi::RSMPI_COMM_NULL
    };
    let rank = rank as usize;
    let started = match way.method {
        Method::Merge => after.saturating_sub(before),
        Method::Baseline | Method::BaselineIntra => after,
    };
    let between = match (is_new, started) {
        (true, _) => parent,
        (false, 0) => parent,
        (false, started) => start(world, started, std::env::args_os().skip(1)),
    };
    let all = match (way.method, started) {
        (Method::Baseline, _) => between,
        (_, 0) => world,
        _ => merged(between, is_new),
    };
    let source = (!is_new).then_some(rank);
    let target = match (way.method, is_new) {
        (Method::Merge, true) => Some(before + rank),
        (Method::Merge, false) => Some(rank).filter(|&rank| rank < after),
        (_, is_new) => is_new.then_some(rank),
    };
    (Meeting { all, before, after, way, source, target }, between)
}

/// One group of two.
fn merged(between: ffi::MPI_Comm, is_new: bool) -> ffi::MPI_Comm {
    // SAFETY: a handle that the call replaces; all ranks of both groups make it.
    unsafe {
        let mut all = ffi::RSMPI_COMM_NULL;
        ffi::MPI_Intercomm_merge(between, i32::from(is_new), &raw mut all);
        all
    }
}

/// Gives back what was made, before the end of MPI: jobs that leave it to that were seen to die.
fn part(meeting: Meeting, between: ffi::MPI_Comm) {
    // SAFETY: handles that are alive and used no more; all ranks make these calls.
    unsafe {
        let (mut all, mut between) = (meeting.all, between);
        if all != between && all != ffi::RSMPI_COMM_WORLD {
            ffi::MPI_Comm_free(&raw mut all);
        }
        if between != ffi::RSMPI_COMM_NULL {
            ffi::MPI_Comm_disconnect(&raw mut between);
        }
    }
}

impl Meeting {
    /// Waits until all are here.
    fn wait(&self) {
        // SAFETY: all of them make this call.
        unsafe {
            ffi::MPI_Barrier(self.all);
        }
    }

    /// Whether all of the other side, or of both where they are one, say yes.
    fn agree(&self, own: bool) -> bool {
        let (own, mut all) = (i32::from(own), 0);
        // SAFETY: one number each; all of them make this call.
        unsafe {
            let (from, to) = ((&raw const own).cast(), (&raw mut all).cast());
            ffi::MPI_Allreduce(from, to, 1, ffi::RSMPI_INT32_T, ffi::RSMPI_MIN, self.all);
        }
        all == 1
    }
}

/// A column as it lies before, and how it is to lie afterwards.
struct Plain {
    length: usize,
    own: Vec<i64>,
    away: Vec<Piece>,
    coming: Vec<Piece>,
}

impl Plain {
    fn new(length: usize, meeting: &Meeting) -> Plain {
        Plain::of(length, meeting, element)
    }

    fn of(length: usize, meeting: &Meeting, element: fn(usize) -> i64) -> Plain {
        let own = meeting.source.map(|rank| block(length, meeting.before, rank)).unwrap_or_default();
        let away = match meeting.source {
            Some(_) => Meeting::pieces(own.clone(), length, meeting.after),
            None => Vec::new(),
        };
        let to_come = meeting.target.map(|rank| block(length, meeting.after, rank));
        let coming = to_come.map(|own| Meeting::pieces(own, length, meeting.before)).unwrap_or_default();
        Plain { length, own: own.map(element).collect(), away, coming }
    }

    fn arrived(&self, meeting: &Meeting) -> Vec<i64> {
        let count = self.coming.iter().map(|piece| piece.count).sum();
        meeting.exchange(Column::First, (&self.own, &self.away), (&self.coming, count))
    }

    /// Moves it; whether what arrived is right.
    fn moved(&self, meeting: &Meeting) -> bool {
        let arrived = self.arrived(meeting);
        meeting
            .target
            .is_none_or(|rank| block(self.length, meeting.after, rank).map(element).eq(arrived.iter().copied()))
    }
}

/// A column of segments: their lengths are a column of its own, which has to arrive before anybody knows how many
/// elements will.
struct Segmented {
    lengths: Plain,
    own: Vec<i64>,
}

impl Segmented {
    fn new(elements: usize, meeting: &Meeting) -> Segmented {
        let mut segments = 0;
        let mut sum = 0;
        while sum < elements {
            sum += length_of(segments) as usize;
            segments += 1;
        }
        let lengths = Plain::of(segments, meeting, length_of);
        let first = meeting.source.map_or(0, |rank| first_of(block(segments, meeting.before, rank).start));
        let count: i64 = lengths.own.iter().sum();
        Segmented { own: (first..first + count as usize).map(element).collect(), lengths }
    }

    fn moved(&self, meeting: &Meeting) -> bool {
        let arrived = self.lengths.arrived(meeting);
        let away = in_elements(&self.lengths.away, &self.lengths.own);
        let coming = in_elements(&self.lengths.coming, &arrived);
        let count = arrived.iter().sum::<i64>() as usize;
        let elements = meeting.exchange(Column::Second, (&self.own, &away), (&coming, count));
        meeting.target.is_none_or(|rank| {
            let segments = block(self.lengths.length, meeting.after, rank);
            let first = first_of(segments.start);
            segments.map(length_of).eq(arrived.iter().copied())
                && (first..first + count).map(element).eq(elements.iter().copied())
        })
    }
}

/// Where a segment begins.
fn first_of(segment: usize) -> usize {
    (0..segment).map(|segment| length_of(segment) as usize).sum()
}

/// Pieces of segments as pieces of their elements, of which some are empty.
fn in_elements(pieces: &[Piece], lengths: &[i64]) -> Vec<Piece> {
    let sum = |lengths: &[i64]| lengths.iter().sum::<i64>() as usize;
    let pieces = pieces.iter().map(|&Piece { peer, start, count }| Piece {
        peer,
        start: sum(&lengths[..start]),
        count: sum(&lengths[start..start + count]),
    });
    pieces.filter(|piece| piece.count > 0).collect()
}
