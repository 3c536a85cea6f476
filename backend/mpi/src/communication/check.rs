//! A second of messages between all ranks: whether what is sent arrives, and how fast.
//!
//! For `nesl about --check`: before a long job, and where one is slow. What comes is compared with what must have been
//! sent.

use crate::communication::communicator::Communicator;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long each pattern is repeated.
const SHARE: Duration = Duration::from_millis(300);
/// Repetitions between two looks at the clock, which ranks have to agree on.
const ROUND: usize = 20;
/// Elements for each rank in an exchange of all with all.
const FEW: usize = 1024;
/// Elements of a long message: 8 MiB.
const MANY: usize = 1 << 20;

/// What was measured, as rank 0 saw it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Seconds for a word to the next rank, while all send one.
    pub ring_seconds: f64,
    /// Seconds for an exchange of 8 KiB between each pair of ranks.
    pub all_to_all_seconds: f64,
    /// Bytes a second that a rank sends to the next while all do, in messages of 8 MiB.
    pub bytes_per_second: f64,
}

/// Measures; all ranks call it together.
///
/// # Errors
/// On the rank where something else came than was sent; the others go on.
pub fn measure(ranks: &mut Communicator) -> Result<Speed, String> {
    let (mut ring_right, mut all_right, mut long_right) = (true, true, true);
    let ring_seconds = repeated(ranks, ROUND, |ranks, turn| ring_right &= ring(ranks, turn, 1));
    let all_to_all_seconds = repeated(ranks, ROUND, |ranks, turn| all_right &= all_to_all(ranks, turn));
    let long_seconds = repeated(ranks, 1, |ranks, turn| long_right &= ring(ranks, turn, MANY));
    let wrong = [(ring_right, "the ring"), (all_right, "the exchange of all with all"), (long_right, "long messages")];
    match wrong.iter().find(|(right, _)| !right) {
        Some((_, pattern)) => {
            Err(format!("rank {} got something else than was sent in {pattern}", ranks.layout().rank))
        }
        None => Ok(Speed { ring_seconds, all_to_all_seconds, bytes_per_second: (8 * MANY) as f64 / long_seconds }),
    }
}

/// Seconds that something takes, repeated for a while; on all ranks as often as rank 0 says.
fn repeated(ranks: &mut Communicator, round: usize, mut act: impl FnMut(&mut Communicator, usize)) -> f64 {
    let mut turns = 0;
    let begun = Instant::now();
    loop {
        for _ in 0..round {
            act(ranks, turns);
            turns += 1;
        }
        if !ranks.broadcast(0, begun.elapsed() < SHARE) {
            return begun.elapsed().as_secs_f64() / turns as f64;
        }
    }
}

/// What a rank sends in a turn, by its position.
fn word(rank: usize, turn: usize, position: usize) -> i64 {
    (rank as i64).wrapping_mul(1_000_003).wrapping_add((turn as i64) << 24).wrapping_add(position as i64)
}

/// Sends words to the next rank; whether those of the one before came.
fn ring(ranks: &mut Communicator, turn: usize, length: usize) -> bool {
    let layout = ranks.layout();
    let (next, previous) = ((layout.rank + 1) % layout.ranks, (layout.rank + layout.ranks - 1) % layout.ranks);
    let (mut outgoing, mut incoming) = (vec![0; layout.ranks], vec![0; layout.ranks]);
    outgoing[next] = length;
    incoming[previous] = length;
    let sent: Vec<i64> = (0..length).map(|position| word(layout.rank, turn, position)).collect();
    let came = ranks.exchange_known(&sent, &outgoing, &incoming, Vec::new());
    came.len() == length && came.iter().enumerate().all(|(position, &came)| came == word(previous, turn, position))
}

/// Sends words to every rank; whether the right ones came.
fn all_to_all(ranks: &mut Communicator, turn: usize) -> bool {
    let layout = ranks.layout();
    let sent: Vec<i64> = (0..FEW * layout.ranks).map(|position| word(layout.rank, turn, position)).collect();
    let counts = vec![FEW; layout.ranks];
    let came = ranks.exchange_known(&sent, &counts, &counts, Vec::new());
    let expected = (0..layout.ranks)
        .flat_map(|source| (0..FEW).map(move |position| word(source, turn, FEW * layout.rank + position)));
    came.len() == FEW * layout.ranks && came.iter().copied().eq(expected)
}
