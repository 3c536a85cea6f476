//! The only file that talks to MPI (but for how [`crate::communication::slices`] and [`crate::communication::wire`]
//! lie): typed collectives and exchanges, counted and safe at any size.
//!
//! rsmpi panics on counts beyond `i32` and checks no sizes, so every transfer goes through here: it is cut into pieces
//! of at most [`Communicator`]'s chunk limit, in a way that both sides can compute. Element types are those of columns.
//! The counters are logical: an exchange counts the messages it sends, a collective counts what it contributes once for
//! each other rank that receives it. What all ranks do together is an act of [`crate::communication::interrupts`]:
//! calls by which ranks wait for each other come from all of them in the same order, but for messages between some
//! ranks only, which follow [`Communicator::line`].

use crate::communication::ending;
use crate::communication::frame::{HEADER, Managed, length_of};
use crate::communication::interrupts::{self, Act};
use crate::communication::members::Members;
use crate::communication::slices::{Apart, Slices, cut};
use crate::communication::wire::{ReceiveBuffer, Wire, uninitialised};
use crate::layout::{Layout, offsets, overlap};
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::point_to_point::{Destination, Source, Status};
use mpi::request::{Request, Scope};
use mpi::traits::{Communicator as _, CommunicatorCollectives, Equivalence, Root};
use nesl_backend::Counters;
use nesl_backend::engine::clock::{self, Talk};
use nesl_prim::visible;
use std::mem::{MaybeUninit, size_of, size_of_val};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// All messages of the engine: MPI keeps those of one pair of ranks in order.
const TAG: mpi::Tag = 7;
/// Messages of lengths that their receivers do not know.
const FRAMED: mpi::Tag = 8;
/// Requests for instances that are dealt out while they run, and the answers to them.
const ASKED: mpi::Tag = 9;
const DEALT: mpi::Tag = 10;
/// The most elements in one MPI call: 2^28 elements of 8 bytes are 2 GiB, well inside what MPI implementations handle.
pub const CHUNK_LIMIT: usize = 1 << 28;
/// Tests of a request before the processor is offered to others: a message from a running rank arrives within that.
const SPINS: usize = 64;

/// How long a rank that waits for others to meet stays awake, by how much its naps then grow, and up to which length.
const AWAKE: Duration = Duration::from_millis(2);
const NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(5);

/// How long the thread that deals out instances stays awake after a request, and its naps then: rank 0 computes beside
/// it.
const ATTENTIVE: Duration = Duration::from_micros(50);
const SHORT_NAP: Duration = Duration::from_micros(50);

/// The ranks of the job, seen from this one.
#[derive(Debug)]
pub struct Communicator {
    members: Arc<Members>,
    layout: Layout,
    chunk_limit: usize,
    /// That of the process: what it has grown to is known to all communicators of the job.
    managed: Arc<Mutex<Managed>>,
    messages: u64,
    bytes_sent: u64,
    collectives: u64,
    talk: Talk,
}

/// When a rank began to talk.
struct Begun {
    at: Instant,
    spent: Duration,
}

impl Begun {
    fn now() -> Begun {
        Begun { at: Instant::now(), spent: clock::of_thread() }
    }
}

impl Communicator {
    /// Ranks that work together. MPI must be initialised and stay so; only [`crate::communication::world::World`] makes
    /// one.
    pub(crate) fn of(members: Arc<Members>, chunk_limit: usize, managed: Arc<Mutex<Managed>>) -> Communicator {
        let layout = members.layout();
        let (chunk_limit, talk) = (chunk_limit.clamp(1, CHUNK_LIMIT), Talk::default());
        Communicator { members, layout, chunk_limit, managed, messages: 0, bytes_sent: 0, collectives: 0, talk }
    }

    /// Which rank this is, and the blocks of columns.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The ranks themselves, for a thread that talks to them beside this one.
    pub(crate) fn members(&self) -> Arc<Members> {
        Arc::clone(&self.members)
    }

    /// Adds what was sent to `counters`.
    pub fn report(&self, counters: &mut Counters) {
        counters.messages += self.messages;
        counters.bytes_sent += self.bytes_sent;
        counters.collectives += self.collectives;
    }

    /// What has gone by in messages.
    pub fn talk(&self) -> Talk {
        self.talk
    }

    /// A rank has talked since then.
    fn has_talked(&mut self, begun: &Begun) {
        self.talk.waiting += begun.at.elapsed();
        self.talk.spent += clock::of_thread().saturating_sub(begun.spent);
    }

    /// A rank has waited since then for a thread that talked, for which processors have spent so much.
    pub(crate) fn has_waited(&mut self, since: Instant, spent: Duration) {
        self.talk.waiting += since.elapsed();
        self.talk.spent += spent;
    }

    /// Ends the whole job with a message: for what one rank alone has met, with others perhaps already waiting for it.
    pub fn abort(&self, message: &str) -> ! {
        ending::end_all(&format!("rank {}: {}", self.layout.rank, visible::message(message)))
    }

    /// Counts a collective that gives `count` elements of this rank to `receivers` others.
    fn count_collective<T>(&mut self, count: usize, receivers: usize) {
        self.collectives += 1;
        self.bytes_sent += (count * size_of::<T>() * receivers) as u64;
    }

    /// Begins an act in which ranks wait for each other without looking after interrupts: not before all are here,
    /// because one that must not come here would not be waited for otherwise.
    fn together(&self) -> Option<Act> {
        let act = interrupts::act();
        if act.is_some() {
            barrier(&self.members);
        }
        act
    }

    /// A place in the program that all ranks pass, each at its time. Nothing that may be interrupted comes between it
    /// and the messages of some ranks only, so that either all of these are sent and received or none.
    pub fn line(&mut self) {
        drop(interrupts::act());
    }

    /// The number of what all ranks have done together so far, for [`Communicator::evaluation`].
    pub fn moment(&self) -> u64 {
        interrupts::moment()
    }

    /// Runs an evaluation, which an interrupt since a moment ends: none on all ranks then, and what they have worked
    /// out in it must be forgotten. All ranks call it together.
    pub fn evaluation<R>(&mut self, since: u64, run: impl FnOnce() -> R) -> Option<R> {
        let members = Arc::clone(&self.members);
        interrupts::evaluation(since, run, || barrier(&members))
    }

    /// Waits until all ranks are here. Sleeps more and more meanwhile: rank 0 may wait for a person.
    pub fn meet(&mut self) {
        let _act = interrupts::act();
        self.collectives += 1;
        let mut pause = Duration::ZERO;
        let begun = Begun::now();
        let members = Arc::clone(&self.members);
        let mut request = members.immediate_barrier();
        while let Err(pending) = request.test() {
            request = pending;
            interrupts::poll();
            match begun.at.elapsed() < AWAKE {
                true => std::thread::yield_now(),
                false => {
                    pause = (pause + NAP).min(LONGEST_NAP);
                    std::thread::sleep(pause);
                }
            }
        }
        self.has_talked(&begun);
    }

    /// One element of every rank, on every rank.
    pub fn all_gather<T: Wire>(&mut self, mine: T) -> Vec<T> {
        let _act = self.together();
        self.count_collective::<T>(1, self.layout.ranks - 1);
        let mut all = vec![T::default(); self.layout.ranks];
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        mpi::request::scope(|scope| finished(world.immediate_all_gather_into(scope, &mine, &mut all[..])));
        self.has_talked(&begun);
        all
    }

    /// One count of every rank, on every rank.
    pub fn all_gather_counts(&mut self, mine: usize) -> Vec<usize> {
        self.all_gather(mine as i64).into_iter().map(|count| count as usize).collect()
    }

    /// The elements of all ranks one after another, on every rank; `counts` says how many each rank has. `storage`
    /// becomes the result.
    pub fn all_gather_varied<T: Wire>(&mut self, mine: &[T], counts: &[usize], mut storage: Vec<T>) -> Vec<T> {
        let _act = self.together();
        let rank = self.layout.rank;
        assert_eq!(mine.len(), counts[rank], "elements of rank {rank}");
        self.count_collective::<T>(mine.len(), self.layout.ranks - 1);
        let starts = offsets(counts);
        let total = starts[self.layout.ranks];
        storage.clear();
        storage.resize(total, T::default());
        // Rounds over the positions of the result: in each every rank sends what it has of them.
        for start in (0..total).step_by(self.chunk_limit) {
            let round = start..total.min(start + self.chunk_limit);
            let here = |rank: usize| overlap(&round, &(starts[rank]..starts[rank + 1]));
            let sizes: Vec<Count> = (0..counts.len()).map(|rank| here(rank).len() as Count).collect();
            let places: Vec<Count> = offsets(&(0..counts.len()).map(|rank| here(rank).len()).collect::<Vec<_>>())
                [..counts.len()]
                .iter()
                .map(|&place| place as Count)
                .collect();
            let own = here(rank);
            let own = if own.is_empty() { &mine[..0] } else { &mine[own.start - starts[rank]..own.end - starts[rank]] };
            let mut target = PartitionMut::new(&mut storage[round.clone()], &sizes[..], &places[..]);
            let begun = Begun::now();
            let world = Arc::clone(&self.members);
            mpi::request::scope(|scope| finished(world.immediate_all_gather_varcount_into(scope, own, &mut target)));
            self.has_talked(&begun);
        }
        storage
    }

    /// One element of `root`, on every rank.
    pub fn broadcast<T: Wire>(&mut self, root: usize, value: T) -> T {
        let _act = self.together();
        let receivers = if self.layout.rank == root { self.layout.ranks - 1 } else { 0 };
        self.count_collective::<T>(1, receivers);
        let mut value = value;
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        let root = world.process_at_rank(root as mpi::Rank);
        mpi::request::scope(|scope| finished(root.immediate_broadcast_into(scope, &mut value)));
        self.has_talked(&begun);
        value
    }

    /// Elements of `root`, as many on every rank.
    pub fn broadcast_all<T: Wire>(&mut self, root: usize, values: &mut [T]) {
        let _act = self.together();
        assert!(values.len() <= CHUNK_LIMIT, "a message of {} elements", values.len());
        let receivers = if self.layout.rank == root { self.layout.ranks - 1 } else { 0 };
        self.count_collective::<T>(values.len(), receivers);
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        let root = world.process_at_rank(root as mpi::Rank);
        mpi::request::scope(|scope| finished(root.immediate_broadcast_into(scope, values)));
        self.has_talked(&begun);
    }

    /// Bytes of `root`, on every rank; what the others give is ignored.
    pub fn broadcast_bytes(&mut self, root: usize, bytes: Vec<u8>) -> Vec<u8> {
        self.managed(|managed, ranks| managed.broadcast(ranks, root, bytes))
    }

    /// The bytes of every rank, at `root`; nothing elsewhere.
    pub fn gather_bytes(&mut self, root: usize, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.managed(|managed, ranks| managed.gather(ranks, root, bytes))
    }

    /// What `process` makes at `root` of the bytes of every rank, on every rank.
    pub fn centralise(&mut self, root: usize, bytes: &[u8], process: impl FnOnce(&[&[u8]]) -> Vec<u8>) -> Vec<u8> {
        self.managed(|managed, ranks| managed.centralise(ranks, root, bytes, process))
    }

    /// Bytes that messages of unknown length may have at present, with their headers, before buffers have to grow.
    pub fn managed_room(&mut self) -> usize {
        self.managed(|managed, _| managed.room())
    }

    fn managed<R>(&mut self, task: impl FnOnce(&mut Managed, &mut Communicator) -> R) -> R {
        let _act = interrupts::act();
        let managed = Arc::clone(&self.managed);
        // A panic ends the job, so no rank goes on with a buffer that it left behind.
        let mut managed = managed.lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut managed, self)
    }

    /// Sends a message, which says in its header how long it is, to other ranks. Its first piece holds the header, so
    /// that their receivers know what is to follow.
    pub(crate) fn send_framed(&mut self, targets: &[usize], message: &[u8]) {
        let world = Arc::clone(&self.members);
        let (first, rest) = message.split_at(message.len().min(self.chunk_limit.max(HEADER)));
        let (mut messages, begun) = (0, Begun::now());
        mpi::request::scope(|scope| {
            let mut sends = Vec::new();
            for &target in targets {
                let process = world.process_at_rank(target as mpi::Rank);
                for piece in std::iter::once(first).chain(rest.chunks(self.chunk_limit)) {
                    sends.push(process.immediate_send_with_tag(scope, piece, FRAMED));
                    messages += 1;
                }
            }
            wait(sends);
        });
        self.has_talked(&begun);
        self.messages += messages;
        self.bytes_sent += (message.len() * targets.len()) as u64;
    }

    /// Receives a message that says how long it is; that is at most `room`. Returns its length.
    pub(crate) fn receive_framed(&mut self, source: usize, room: &mut [u8]) -> usize {
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        let process = world.process_at_rank(source as mpi::Rank);
        let first = room.len().min(self.chunk_limit.max(HEADER));
        let received = mpi::request::scope(|scope| {
            let status = finished(process.immediate_receive_into_with_tag(scope, &mut room[..first], FRAMED));
            status.count(u8::equivalent_datatype()) as usize
        });
        let length = length_of(&room[..received]).unwrap_or(0);
        if length < received || length > room.len() {
            self.abort(&format!("a message of {received} bytes from rank {source} says that it has {length}"));
        }
        for piece in room[received..length].chunks_mut(self.chunk_limit) {
            mpi::request::scope(|scope| wait(vec![process.immediate_receive_into_with_tag(scope, piece, FRAMED)]));
        }
        self.has_talked(&begun);
        length
    }

    /// Sends each rank its run of `elements`, which lie in the order of the ranks; `counts` gives their lengths.
    /// Returns what came, in the order of the senders, with the counts.
    pub fn exchange<T: Wire>(&mut self, elements: &[T], counts: &[usize]) -> (Vec<T>, Vec<usize>) {
        let incoming = self.exchange_counts(counts);
        let received = self.exchange_known(elements, counts, &incoming, Vec::new());
        (received, incoming)
    }

    /// Sends each rank its counts, as many for each; returns those that came, in the order of the senders.
    pub fn exchange_counts(&mut self, counts: &[usize]) -> Vec<usize> {
        let _act = self.together();
        let outgoing: Vec<i64> = counts.iter().map(|&count| count as i64).collect();
        let mut incoming = vec![0i64; counts.len()];
        self.count_collective::<i64>(counts.len() / self.layout.ranks, self.layout.ranks - 1);
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        mpi::request::scope(|scope| finished(world.immediate_all_to_all_into(scope, &outgoing[..], &mut incoming[..])));
        self.has_talked(&begun);
        incoming.into_iter().map(|count| count as usize).collect()
    }

    /// The same where every rank already knows how many elements come from where. Pairs that have nothing to say to
    /// each other do not. `storage` becomes the result.
    pub fn exchange_known<T: Wire>(
        &mut self,
        elements: &[T],
        outgoing: &[usize],
        incoming: &[usize],
        mut storage: Vec<T>,
    ) -> Vec<T> {
        let length = incoming.iter().sum();
        if storage.capacity() < length {
            // Zeroed by the system where pages are fresh, instead of once more here.
            storage = vec![T::default(); length];
        } else {
            storage.clear();
            storage.resize(length, T::default());
        }
        self.exchange_into(elements, outgoing, incoming, &mut storage);
        storage
    }

    /// The same to memory of the right length.
    pub fn exchange_into<T: Wire>(
        &mut self,
        elements: &[T],
        outgoing: &[usize],
        incoming: &[usize],
        storage: &mut [T],
    ) {
        let rank = self.layout.rank;
        let (sent, came) = (offsets(outgoing), offsets(incoming));
        assert_eq!(elements.len(), sent[outgoing.len()], "elements to send");
        assert_eq!(outgoing[rank], incoming[rank], "elements that stay");
        assert_eq!(storage.len(), came[incoming.len()], "elements that come");
        storage[came[rank]..came[rank + 1]].copy_from_slice(&elements[sent[rank]..sent[rank + 1]]);
        self.exchange_others(|target| &elements[sent[target]..sent[target + 1]], incoming, storage);
    }

    /// The same where what stays is there already: each other rank's part is sent to it.
    pub fn exchange_others<'e, T: Wire>(
        &mut self,
        part: impl Fn(usize) -> &'e [T],
        incoming: &[usize],
        storage: &mut [T],
    ) {
        let rank = self.layout.rank;
        let mut rest = uninitialised(storage);
        let slices = incoming.iter().enumerate().map(|(source, &count)| {
            let (mine, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            if source == rank { &mut [] } else { mine }
        });
        let slices = slices.collect();
        let part = |target| if target == rank { &[][..] } else { part(target) };
        self.exchange_slices(&(0..incoming.len()).map(part).collect::<Vec<_>>(), slices);
    }

    /// Sends each rank a slice and receives one from each, which are as long as all of them know: after this what is
    /// received is initialised. Pairs that have nothing to say to each other do not, and no rank says anything to
    /// itself.
    pub fn exchange_slices<T: Wire>(&mut self, outgoing: &[&[T]], incoming: Vec<&mut [MaybeUninit<T>]>) {
        let _act = interrupts::act();
        let rank = self.layout.rank;
        assert!(outgoing[rank].is_empty() && incoming[rank].is_empty(), "elements that stay");
        let world = Arc::clone(&self.members);
        let limit = self.chunk_limit;
        let (mut messages, mut bytes, begun) = (0, 0, Begun::now());
        let mut places: Vec<Vec<ReceiveBuffer<'_, T>>> =
            incoming.into_iter().map(|slice| slice.chunks_mut(limit).map(ReceiveBuffer).collect()).collect();
        mpi::request::scope(|scope| {
            let mut receives = Vec::new();
            let mut sends = Vec::new();
            for (source, chunks) in places.iter_mut().enumerate() {
                for chunk in chunks {
                    let process = world.process_at_rank(source as mpi::Rank);
                    let room = chunk.0.len();
                    receives.push((process.immediate_receive_into_with_tag(scope, chunk, TAG), room));
                }
            }
            // Start with the next rank, so that not all send to rank 0 at once.
            for step in 1..outgoing.len() {
                let target = (rank + step) % outgoing.len();
                bytes += size_of_val(outgoing[target]);
                for chunk in outgoing[target].chunks(limit) {
                    let process = world.process_at_rank(target as mpi::Rank);
                    sends.push(process.immediate_send_with_tag(scope, chunk, TAG));
                    messages += 1;
                }
            }
            for (request, room) in receives {
                let count = finished(request).count(T::equivalent_datatype()) as usize;
                // What was not received would be taken for initialised.
                assert_eq!(count, room, "elements that came");
            }
            wait(sends);
        });
        self.has_talked(&begun);
        self.messages += messages;
        self.bytes_sent += bytes as u64;
    }

    /// Sends each rank what all of some columns have for it, in one message, and receives what it has for them. What is
    /// received is initialised then. As [`Communicator::exchange_slices`], whose counters it shares, but for bytes in
    /// slices.
    pub fn exchange_together(&mut self, columns: Vec<Slices<'_>>) {
        let _act = interrupts::act();
        let (rank, ranks, limit) = (self.layout.rank, self.layout.ranks, self.chunk_limit);
        let (outgoing, incoming) = Slices::by_rank(ranks, columns);
        assert!(cut(outgoing[rank].clone(), limit).is_empty(), "elements that stay");
        let world = Arc::clone(&self.members);
        let (mut messages, mut bytes, begun) = (0, 0, Begun::now());
        let sent: Vec<Vec<Apart<&[u8]>>> = outgoing.into_iter().map(|slices| cut(slices, limit)).collect();
        let mut places: Vec<Vec<Apart<&mut [MaybeUninit<u8>]>>> =
            incoming.into_iter().map(|slices| cut(slices, limit)).collect();
        mpi::request::scope(|scope| {
            let (mut receives, mut sends) = (Vec::new(), Vec::new());
            for (source, chunks) in places.iter_mut().enumerate() {
                for chunk in chunks {
                    let process = world.process_at_rank(source as mpi::Rank);
                    let room = chunk.length();
                    receives.push((process.immediate_receive_into_with_tag(scope, chunk, TAG), room));
                }
            }
            for step in 1..ranks {
                let target = (rank + step) % ranks;
                for chunk in &sent[target] {
                    let process = world.process_at_rank(target as mpi::Rank);
                    bytes += chunk.length();
                    sends.push(process.immediate_send_with_tag(scope, chunk, TAG));
                    messages += 1;
                }
            }
            for (request, room) in receives {
                let count = finished(request).count(u8::equivalent_datatype()) as usize;
                // What was not received would be taken for initialised.
                assert_eq!(count, room, "bytes that came");
            }
            wait(sends);
        });
        self.has_talked(&begun);
        self.messages += messages;
        self.bytes_sent += bytes as u64;
    }

    /// A message of a few elements to another rank, which must [`receive`](Communicator::receive) it.
    pub fn send<T: Wire>(&mut self, target: usize, elements: &[T]) {
        let _words = interrupts::words();
        assert!(elements.len() <= CHUNK_LIMIT, "a message of {} elements", elements.len());
        self.messages += 1;
        self.bytes_sent += size_of_val(elements) as u64;
        let begun = Begun::now();
        self.members.process_at_rank(target as mpi::Rank).send_with_tag(elements, TAG);
        self.has_talked(&begun);
    }

    /// The message of another rank, which must be of `N` elements.
    pub fn receive<T: Wire, const N: usize>(&mut self, source: usize) -> [T; N] {
        let _words = interrupts::words();
        let mut elements = [T::default(); N];
        let begun = Begun::now();
        let world = Arc::clone(&self.members);
        mpi::request::scope(|scope| {
            let process = world.process_at_rank(source as mpi::Rank);
            wait(vec![process.immediate_receive_into_with_tag(scope, &mut elements[..], TAG)]);
        });
        self.has_talked(&begun);
        elements
    }

    /// Asks rank 0 for a range, which [`answer_others`](Communicator::answer_others) gives; an empty one is the last.
    /// These messages are not counted: how many there are depends on how fast ranks are.
    pub(crate) fn ask(&mut self) -> Range<usize> {
        let _words = interrupts::words();
        let world = Arc::clone(&self.members);
        let process = world.process_at_rank(0);
        let (mut answer, begun) = ([0i64; 2], Begun::now());
        process.send_with_tag(&0i64, ASKED);
        mpi::request::scope(|scope| {
            wait(vec![process.immediate_receive_into_with_tag(scope, &mut answer[..], DEALT)]);
        });
        self.has_talked(&begun);
        answer[0] as usize..answer[1] as usize
    }

    /// Answers other ranks until so many have got their last range. This is for a thread of rank 0 that runs while no
    /// other one of it talks to MPI. Returns what processors have spent on it.
    pub(crate) fn answer_others(world: &Members, mut others: usize, take: impl Fn() -> Range<usize>) -> Duration {
        let _words = interrupts::words();
        let spent = clock::of_thread();
        while others > 0 {
            let mut request = 0i64;
            let asking = mpi::request::scope(|scope| {
                let mut receiving = world.any_process().immediate_receive_into_with_tag(scope, &mut request, ASKED);
                let begun = Instant::now();
                loop {
                    match receiving.test() {
                        Ok(status) => break status.source_rank(),
                        Err(pending) => receiving = pending,
                    }
                    interrupts::poll();
                    match begun.elapsed() < ATTENTIVE {
                        true => std::thread::yield_now(),
                        false => std::thread::sleep(SHORT_NAP),
                    }
                }
            });
            let range = take();
            others -= usize::from(range.is_empty());
            world.process_at_rank(asking).send_with_tag(&[range.start as i64, range.end as i64], DEALT);
        }
        clock::of_thread() - spent
    }
}

/// Waits until all ranks are here.
fn barrier(members: &Members) {
    finished(members.immediate_barrier());
}

/// Waits for requests.
fn wait<'a, D: ?Sized, S: Scope<'a>>(requests: Vec<Request<'a, D, S>>) {
    for request in requests {
        finished(request);
    }
}

/// Waits for a request. Offers the processor to others between tests: an MPI that spins instead is a thousand times
/// slower where ranks share processors.
fn finished<'a, D: ?Sized, S: Scope<'a>>(mut request: Request<'a, D, S>) -> Status {
    let mut tests = 0;
    loop {
        match request.test() {
            Ok(status) => return status,
            Err(pending) => request = pending,
        }
        interrupts::poll();
        tests += 1;
        if tests > SPINS {
            std::thread::yield_now();
        }
    }
}
