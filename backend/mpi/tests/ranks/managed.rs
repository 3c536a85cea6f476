//! Messages of unknown length: what arrives, and how many messages that takes, for every control case.

use crate::inputs::Random;
use nesl_backend::Counters;
use nesl_mpi::{Communicator, Growth, World};

/// Bytes of a header of a message.
const HEADER: usize = 16;
/// Room of a buffer at first, in the checks of control cases: an equal slot for each rank.
const SLOT: usize = 64;

/// Checks that passed and failed.
#[derive(Default)]
pub struct Checks {
    pub passed: usize,
    pub failed: usize,
}

impl Checks {
    fn check(&mut self, good: bool, case: impl FnOnce() -> String) {
        if good {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("FAILED: {}", case());
        }
    }
}

/// All checks, with pieces of several sizes.
pub fn run(world: &mut World) -> (usize, usize) {
    let mut checks = Checks::default();
    for chunk_limit in [1 << 20, 40, 3] {
        broadcasts(&mut checks, world, chunk_limit);
        gathers(&mut checks, world, chunk_limit);
        centralised(&mut checks, world, chunk_limit);
    }
    growth(&mut checks, world);
    steady(&mut checks, world);
    (checks.passed, checks.failed)
}

/// A communicator with short buffers.
fn short(world: &mut World, chunk_limit: usize) -> Communicator {
    let ranks = world.communicator().layout().ranks;
    world.set_growth(Growth { initial: SLOT * ranks, factor: 2.0 });
    world.communicator_with_chunks(chunk_limit)
}

/// Bytes of a rank, of a length.
fn bytes(rank: usize, length: usize) -> Vec<u8> {
    (0..length).map(|index| (rank * 31 + index * 7) as u8).collect()
}

/// The messages that all ranks sent for something, if each went in one piece.
fn messages<R>(communicator: &mut Communicator, task: impl FnOnce(&mut Communicator) -> R) -> (u64, R) {
    let sent = |communicator: &Communicator| {
        let mut counters = Counters::default();
        communicator.report(&mut counters);
        counters.messages as i64
    };
    let before = sent(communicator);
    let result = task(communicator);
    let mine = sent(communicator) - before;
    (communicator.all_gather(mine).into_iter().sum::<i64>() as u64, result)
}

/// Checks the number of messages to each rank but the root, or from it, where no message is cut.
fn count(checks: &mut Checks, chunk_limit: usize, ranks: usize, sent: u64, each: u64, case: &str) {
    let expected = each * (ranks as u64 - 1);
    if chunk_limit > 1000 {
        checks.check(sent == expected, || format!("{case}: {sent} messages, not {expected}, on {ranks} ranks"));
    } else {
        checks.check(sent >= expected, || format!("{case} in pieces: {sent} messages on {ranks} ranks"));
    }
}

fn broadcasts(checks: &mut Checks, world: &mut World, chunk_limit: usize) {
    let ranks = world.communicator().layout().ranks;
    for root in [0, ranks - 1] {
        let mut communicator = short(world, chunk_limit);
        let rank = communicator.layout().rank;
        let full = SLOT * ranks;
        for (length, each) in [
            (0, 1),
            (full - HEADER, 1),
            // A byte too many, once.
            (full - HEADER + 1, 2),
            (full - HEADER + 1, 1),
            (2 * full - HEADER, 1),
            (5 * full, 2),
            (5 * full, 1),
            (1, 1),
        ] {
            let mine = if rank == root { bytes(7, length) } else { vec![1; 3] };
            let (sent, came) = messages(&mut communicator, |ranks| ranks.broadcast_bytes(root, mine));
            let case = format!("broadcast of {length} bytes from {root}, pieces of {chunk_limit}");
            checks.check(came == bytes(7, length), || case.clone());
            count(checks, chunk_limit, ranks, sent, each, &case);
        }
    }
}

fn gathers(checks: &mut Checks, world: &mut World, chunk_limit: usize) {
    let ranks = world.communicator().layout().ranks;
    for root in [0, ranks / 2] {
        for long in 0..ranks {
            let mut communicator = short(world, chunk_limit);
            let rank = communicator.layout().rank;
            // All fit; one does not; now it does; it does not again.
            for (length, each) in [(SLOT - HEADER, 2), (SLOT, 3), (SLOT, 2), (4 * SLOT, 3), (4 * SLOT, 2), (0, 2)] {
                let length_of = |of: usize| if of == long { length } else { of % 3 };
                let mine = bytes(rank, length_of(rank));
                let (sent, came) = messages(&mut communicator, |ranks| ranks.gather_bytes(root, &mine));
                let expected: Vec<Vec<u8>> = (0..ranks).map(|of| bytes(of, length_of(of))).collect();
                let expected = if rank == root { expected } else { Vec::new() };
                let case = format!("gather at {root}, {length} bytes of rank {long}, pieces of {chunk_limit}");
                checks.check(came == expected, || case.clone());
                count(checks, chunk_limit, ranks, sent, each, &case);
            }
        }
    }
}

/// Neither contributions nor result too long, contributions, the result, both.
fn centralised(checks: &mut Checks, world: &mut World, chunk_limit: usize) {
    let ranks = world.communicator().layout().ranks;
    for root in [0, ranks - 1] {
        let mut communicator = short(world, chunk_limit);
        let rank = communicator.layout().rank;
        for (length, result, each) in [
            (0, 0, 2),
            (SLOT - HEADER, SLOT * ranks - HEADER, 2),
            // Contributions of the last rank: control message, growth, again, result.
            (SLOT, 1, 4),
            (2 * SLOT - HEADER, 1, 2),
            // The result: a control message before it.
            (1, 2 * SLOT * ranks, 3),
            (1, 2 * SLOT * ranks, 2),
            // Both.
            (5 * SLOT, 20 * SLOT * ranks, 5),
            (5 * SLOT, 20 * SLOT * ranks, 2),
        ] {
            let mine = if rank + 1 == ranks { bytes(rank, length) } else { bytes(rank, 2) };
            let mut asked = false;
            let (sent, came) = messages(&mut communicator, |communicator| {
                communicator.centralise(root, &mine, |all| {
                    asked = all.len() == ranks && all[ranks - 1] == bytes(ranks - 1, length);
                    asked &= (0..ranks - 1).all(|of| all[of] == bytes(of, 2));
                    bytes(9, result)
                })
            });
            let case = format!("{result} bytes made at {root} of {length}, pieces of {chunk_limit}");
            checks.check(came == bytes(9, result) && asked == (rank == root), || case.clone());
            count(checks, chunk_limit, ranks, sent, each, &case);
        }
    }
}

/// Buffers grow alike on all ranks, by the factor that was chosen, and soon not any more.
fn growth(checks: &mut Checks, world: &mut World) {
    let ranks = world.communicator().layout().ranks;
    for factor in [1.5, 2.0, 4.0] {
        let initial = SLOT * ranks;
        world.set_growth(Growth { initial, factor });
        let mut communicator = world.communicator();
        let rank = communicator.layout().rank;
        let mut random = Random::new(5);
        let longest = 40 * initial;
        let mut grown = 0;
        for round in 0..100 {
            let length = random.below(longest);
            let before = communicator.managed_room();
            let mine = if rank == round % ranks { bytes(round, length) } else { Vec::new() };
            let came = communicator.broadcast_bytes(round % ranks, mine);
            checks.check(came == bytes(round, length), || format!("broadcast {round} of {length} bytes"));
            let room = communicator.managed_room();
            grown += usize::from(before > 0 && room > before);
            let rooms = communicator.all_gather_counts(room);
            checks.check(rooms.iter().all(|&other| other == room), || format!("rooms of {rooms:?}"));
        }
        let allowed = ((longest + HEADER) as f64 / initial as f64).log(factor).ceil() as usize;
        checks.check(grown <= allowed, || format!("{grown} growths by {factor}, more than {allowed}"));
    }
}

/// What a session does again and again: no message but those with the payloads, through communicators of their own.
fn steady(checks: &mut Checks, world: &mut World) {
    world.set_growth(Growth::default());
    let ranks = world.communicator().layout().ranks;
    for round in 0..10 {
        let mut communicator = world.communicator();
        let rank = communicator.layout().rank;
        let mine = if rank == 0 { bytes(3, 100_000) } else { Vec::new() };
        let (sent, came) = messages(&mut communicator, |ranks| ranks.broadcast_bytes(0, mine));
        let each = if round == 0 { 2 } else { 1 };
        checks.check(came == bytes(3, 100_000), || format!("statement {round}"));
        count(checks, 1 << 20, ranks, sent, each, &format!("statement {round}"));
    }
}
