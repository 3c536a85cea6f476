//! Messages of a length that only their sender knows: programs, errors, what is typed, counters.
//!
//! MPI wants to know at the receiver how long a message may be. Sending the length first costs a message each time;
//! instead every rank has one buffer, and all ranks know how long it is. What fits is sent at once, behind a header
//! that says how long it is. Only where something does not fit a *control message* goes before it, and all buffers
//! grow: by a factor, so that there are soon no control messages any more. Buffers never shrink, and all ranks compute
//! the same growth.
//!
//! * A *broadcast* is one message to each rank; if it does not fit, one more before it.
//! * In a *gather* every rank has an equal slot of the root's buffer. What does not fit its slot is replaced by a
//!   control message; so the root has to say whether all did, and if not, everything is sent again after the buffers
//!   have grown.
//! * *Centralised processing* is a gather, a computation at the root, and the broadcast of its result, which also says
//!   that the gather went well.
//!
//! Messages go along a binomial tree, point to point: a receive may have more room than there is message, which a
//! broadcast of MPI may not.

use crate::communication::communicator::Communicator;
use crate::communication::frame::{HEADER, Kind, Managed};

impl Managed {
    /// Bytes of `root`, on every rank.
    pub(crate) fn broadcast(&mut self, ranks: &mut Communicator, root: usize, payload: Vec<u8>) -> Vec<u8> {
        if ranks.layout().ranks == 1 {
            return payload;
        }
        self.begin(ranks);
        if ranks.layout().rank != root {
            return self.broadcasted(ranks, root);
        }
        self.send_all(ranks, &payload, Kind::Grow);
        payload
    }

    /// The bytes of every rank, at `root`; nothing elsewhere.
    pub(crate) fn gather(&mut self, ranks: &mut Communicator, root: usize, payload: &[u8]) -> Vec<Vec<u8>> {
        let (rank, count) = (ranks.layout().rank, ranks.layout().ranks);
        if count == 1 {
            return vec![payload.to_vec()];
        }
        self.begin(ranks);
        if rank != root {
            self.contribute(ranks, root, payload);
            match self.receive(ranks, root) {
                (Kind::Arrived, _) => {}
                (Kind::Grow, needed) => {
                    self.grow(ranks, needed);
                    self.contribute(ranks, root, payload);
                }
                (kind, _) => unexpected(ranks, kind),
            }
            return Vec::new();
        }
        let was_repeated = self.collect(ranks, payload);
        let contributions = self.slots(count).into_iter().map(<[u8]>::to_vec).collect();
        if !was_repeated {
            self.pass(ranks, Kind::Arrived, 0, &[]);
        }
        contributions
    }

    /// What `process` makes at `root` of the bytes of every rank, on every rank.
    pub(crate) fn centralise(
        &mut self,
        ranks: &mut Communicator,
        root: usize,
        payload: &[u8],
        process: impl FnOnce(&[&[u8]]) -> Vec<u8>,
    ) -> Vec<u8> {
        let (rank, count) = (ranks.layout().rank, ranks.layout().ranks);
        if count == 1 {
            return process(&[payload]);
        }
        self.begin(ranks);
        if rank == root {
            self.collect(ranks, payload);
            let result = process(&self.slots(count));
            self.send_all(ranks, &result, Kind::GrowForResult);
            return result;
        }
        self.contribute(ranks, root, payload);
        match self.receive(ranks, root) {
            (Kind::Data, length) => self.payload(length),
            (Kind::GrowForResult, needed) => {
                self.grow(ranks, needed);
                self.broadcasted(ranks, root)
            }
            (Kind::Grow, needed) => {
                self.grow(ranks, needed);
                self.contribute(ranks, root, payload);
                self.broadcasted(ranks, root)
            }
            (kind, _) => unexpected(ranks, kind),
        }
    }

    /// Makes the buffer when it is first needed: long enough for a control message in each slot.
    fn begin(&mut self, ranks: &Communicator) {
        if self.buffer.is_empty() {
            self.extend(ranks, self.growth.initial.max(HEADER * ranks.layout().ranks));
        }
    }

    /// Makes the buffer long enough for `needed` bytes, which do not fit.
    fn grow(&mut self, ranks: &Communicator, needed: usize) {
        self.extend(ranks, self.growth.grown(self.buffer.len(), needed));
    }

    fn extend(&mut self, ranks: &Communicator, length: usize) {
        if self.buffer.try_reserve_exact(length - self.buffer.len()).is_err() {
            ranks.abort(&format!("out of memory: a message needs a buffer of {length} bytes"));
        }
        self.buffer.resize(length, 0);
    }

    /// At the root: sends a payload to all, after a control message if they have no room for it.
    fn send_all(&mut self, ranks: &mut Communicator, payload: &[u8], control: Kind) {
        let needed = HEADER + payload.len();
        if needed > self.buffer.len() {
            self.pass(ranks, control, needed, &[]);
            self.grow(ranks, needed);
        }
        self.pass(ranks, Kind::Data, payload.len(), payload);
    }

    /// Elsewhere: the payload that the root sends to all, perhaps after a control message.
    fn broadcasted(&mut self, ranks: &mut Communicator, root: usize) -> Vec<u8> {
        loop {
            match self.receive(ranks, root) {
                (Kind::Data, length) => return self.payload(length),
                (Kind::Grow | Kind::GrowForResult, needed) => self.grow(ranks, needed),
                (kind, _) => unexpected(ranks, kind),
            }
        }
    }

    /// At the root: passes a message to the ranks below it in its tree.
    fn pass(&mut self, ranks: &mut Communicator, kind: Kind, number: usize, payload: &[u8]) {
        let length = HEADER + payload.len();
        self.buffer[..HEADER].copy_from_slice(&kind.header(number));
        self.buffer[HEADER..length].copy_from_slice(payload);
        ranks.send_framed(&below(0, ranks.layout().rank, ranks.layout().ranks), &self.buffer[..length]);
    }

    /// Elsewhere: receives what the root passes, and passes it on.
    fn receive(&mut self, ranks: &mut Communicator, root: usize) -> (Kind, usize) {
        let (rank, count) = (ranks.layout().rank, ranks.layout().ranks);
        let place = (rank + count - root) % count;
        // Without its last one bit: who has this place below it.
        let above = (place & (place - 1)) + root;
        let length = ranks.receive_framed(above % count, &mut self.buffer);
        ranks.send_framed(&below(place, root, count), &self.buffer[..length]);
        Kind::of(&self.buffer).unwrap_or_else(|| ranks.abort("a message came that is not of this engine"))
    }

    /// The payload of the message in the buffer.
    fn payload(&self, length: usize) -> Vec<u8> {
        self.buffer[HEADER..HEADER + length].to_vec()
    }

    /// Elsewhere: sends this rank's contribution, or that it is too long for its slot.
    fn contribute(&mut self, ranks: &mut Communicator, root: usize, payload: &[u8]) {
        let length = self.write_contribution(ranks.layout().ranks, payload, 0);
        ranks.send_framed(&[root], &self.buffer[..length]);
    }

    /// Writes a contribution to the buffer; its length with its header.
    fn write_contribution(&mut self, count: usize, payload: &[u8], start: usize) -> usize {
        let needed = HEADER + payload.len();
        let fits = needed <= self.buffer.len() / count;
        let header = if fits { Kind::Data.header(payload.len()) } else { Kind::TooLong.header(count * needed) };
        let length = if fits { needed } else { HEADER };
        let message = &mut self.buffer[start..start + length];
        message[..HEADER].copy_from_slice(&header);
        message[HEADER..].copy_from_slice(&payload[..length - HEADER]);
        length
    }

    /// At the root: receives all contributions into their slots; whether that took a second time.
    fn collect(&mut self, ranks: &mut Communicator, payload: &[u8]) -> bool {
        let Some(needed) = self.collect_once(ranks, payload) else { return false };
        self.pass(ranks, Kind::Grow, needed, &[]);
        self.grow(ranks, needed);
        if self.collect_once(ranks, payload).is_some() {
            ranks.abort("contributions do not fit buffers that have grown for them");
        }
        true
    }

    /// Receives contributions; the length that buffers need if some are missing.
    fn collect_once(&mut self, ranks: &mut Communicator, payload: &[u8]) -> Option<usize> {
        let (rank, count) = (ranks.layout().rank, ranks.layout().ranks);
        let slot = self.buffer.len() / count;
        self.write_contribution(count, payload, rank * slot);
        let mut needed = None;
        for source in 0..count {
            let room = &mut self.buffer[source * slot..(source + 1) * slot];
            if source != rank {
                ranks.receive_framed(source, room);
            }
            match Kind::of(room) {
                Some((Kind::Data, _)) => {}
                Some((Kind::TooLong, length)) => needed = needed.max(Some(length)),
                other => ranks.abort(&format!("a contribution to a gather came as {other:?}")),
            }
        }
        needed
    }

    /// The contributions that were received.
    fn slots(&self, count: usize) -> Vec<&[u8]> {
        let slots = self.buffer.chunks_exact(self.buffer.len() / count).take(count);
        slots.map(|slot| &slot[HEADER..Kind::of(slot).map_or(HEADER, |(_, length)| HEADER + length)]).collect()
    }
}

/// The ranks that a place of the tree of `root` passes messages to, those with most below them first.
fn below(place: usize, root: usize, count: usize) -> Vec<usize> {
    let end = if place == 0 { count.next_power_of_two() } else { place & place.wrapping_neg() };
    let steps = std::iter::successors(Some(end / 2), |step| Some(step / 2)).take_while(|&step| step > 0);
    steps.map(|step| place + step).filter(|&below| below < count).map(|below| (below + root) % count).collect()
}

/// The end of the job: ranks have not made the same calls.
fn unexpected(ranks: &Communicator, kind: Kind) -> ! {
    ranks.abort(&format!("a message came as {kind:?} where that has no meaning"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_below_exactly_one_other() {
        for count in 1..20 {
            for root in 0..count {
                let mut above = vec![None; count];
                for place in 0..count {
                    for rank in below(place, root, count) {
                        let before = above[rank].replace((place + root) % count);
                        assert_eq!(before, None, "rank {rank} of {count} from {root}");
                    }
                }
                for (rank, above) in above.into_iter().enumerate() {
                    let place = (rank + count - root) % count;
                    let expected = (place > 0).then(|| ((place & (place - 1)) + root) % count);
                    assert_eq!(above, expected, "rank {rank} of {count} from {root}");
                }
            }
        }
    }
}
