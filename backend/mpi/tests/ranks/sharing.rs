//! What instructions that follow one another share, and what happens where all ranks want something of one.

use crate::inputs::Random;
use crate::twin::{Local, Pair, Twin};
use nesl_backend::{Collective, Counters, Engine, Fault, Fill, MapOperand, Pack, Permute, Reference, Segment};
use nesl_mpi::{Distributed, Ranks, World};
use nesl_prim::{Failure, ScalarOp, ScalarValue};
use nesl_vcode::Constants;

/// Elements of columns: more than are ever common, and enough to make a hotspot of one of four ranks.
const MANY: usize = 20_000;

pub fn run(twin: &mut Twin<impl Local>, random: &mut Random) {
    for _ in 0..2 {
        repeated(twin, random);
        crowded(twin, random);
    }
}

/// What this rank has sent in messages, bytes and collectives.
pub fn sent(ranks: &mut Ranks<impl Local>) -> [u64; 3] {
    let mut counters = Counters::default();
    ranks.communicator().report(&mut counters);
    [counters.messages, counters.bytes_sent, counters.collectives]
}

/// Columns of tuples by the same indices, flags and segments: only elements travel from the second column on.
fn repeated(twin: &mut Twin<impl Local>, random: &mut Random) {
    let (_, count) = twin.ranks.rank();
    let share = MANY.div_ceil(count) as u64;
    let floats = twin.column(&Constants::Float((0..MANY).map(|_| random.float()).collect()));
    let bools = twin.column(&Constants::Bool((0..MANY).map(|_| random.below(2) == 0).collect()));
    let indices: Vec<i64> = (0..MANY).map(|_| random.below(MANY) as i64).collect();
    let indices = twin.column(&Constants::Int(indices));
    let mut order: Vec<i64> = (0..MANY as i64).collect();
    for last in (1..MANY).rev() {
        order.swap(last, random.below(last + 1));
    }
    let order = twin.column(&Constants::Int(order));
    let flags = twin.column(&Constants::Bool((0..MANY).map(|_| random.below(3) > 0).collect()));
    let (starts, lengths) = random.views(5_000, MANY, 1);
    let view = twin.view(&starts, &lengths);
    type Both<'a, L> =
        &'a dyn Fn(&mut Twin<L>, &Pair) -> (Result<Distributed, Fault>, Result<nesl_backend::Vector, Fault>);
    fn checked<L: Local>(twin: &mut Twin<L>, name: &str, columns: [&Pair; 2], share: u64, run: Both<'_, L>) {
        let mut spent = [[0; 3]; 2];
        for (column, spent) in columns.into_iter().zip(&mut spent) {
            let before = sent(&mut twin.ranks);
            let (tested, expected) = run(twin, column);
            let after = sent(&mut twin.ranks);
            *spent = std::array::from_fn(|which| after[which] - before[which]);
            twin.compare(name, tested, expected);
        }
        let count = twin.ranks.rank().1 as u64;
        let [messages, bytes, collectives] = spent[1];
        // One message to each other rank, with elements of one byte, and nothing else.
        let good = messages < count && bytes <= 4 * share && collectives == 0;
        twin.check(good, || format!("{name}: {:?}, then {:?}", spent[0], spent[1]));
        // Where elements may stay where they are there is nothing to work out, for either.
        if spent[0][0] > 0 {
            twin.check(spent[0][2] > 0, || format!("{name}: nothing was worked out, {:?}", spent[0]));
        }
    }
    checked(twin, "gather again", [&floats, &bools], share, &|twin, column| {
        let tested = twin.ranks.permute(Permute::Gather(&column.tested, &indices.tested));
        (tested, twin.reference.permute(Permute::Gather(&column.expected, &indices.expected)))
    });
    checked(twin, "pack again", [&floats, &bools], share, &|twin, column| {
        let tested = twin.ranks.pack(Pack::Pack(&column.tested, &flags.tested));
        (tested, twin.reference.pack(Pack::Pack(&column.expected, &flags.expected)))
    });
    checked(twin, "compact again", [&floats, &bools], share, &|twin, column| {
        let tested = twin.ranks.segment(Segment::Compact(&column.tested, &view.tested));
        (tested, twin.reference.segment(Segment::Compact(&column.expected, &view.expected)))
    });
    checked(twin, "scatter again", [&floats, &bools], share, &|twin, column| {
        let target = column.clone();
        let tested = twin.ranks.permute(Permute::Scatter(target.tested, &order.tested, &column.tested));
        (tested, twin.reference.permute(Permute::Scatter(target.expected, &order.expected, &column.expected)))
    });
    // An index column that is overwritten in place is another one.
    let mut indices = indices;
    for step in 0..3 {
        let most = ScalarValue::Int(MANY as i64 - 1 - step);
        indices = Pair {
            tested: twin
                .ranks
                .map(ScalarOp::MinimumInt, vec![MapOperand::Column(indices.tested), MapOperand::Scalar(most)])
                .expect("map"),
            expected: twin
                .reference
                .map(ScalarOp::MinimumInt, vec![MapOperand::Column(indices.expected), MapOperand::Scalar(most)])
                .expect("map"),
        };
        let tested = twin.ranks.permute(Permute::Gather(&floats.tested, &indices.tested));
        let expected = twin.reference.permute(Permute::Gather(&floats.expected, &indices.expected));
        twin.compare("gather by changed indices", tested, expected);
    }
}

/// All indices in the block of one rank.
fn crowded(twin: &mut Twin<impl Local>, random: &mut Random) {
    let column = twin.column(&Constants::Float((0..MANY).map(|_| random.float()).collect()));
    let flags = twin.column(&Constants::Bool((0..MANY).map(|_| random.below(2) == 0).collect()));
    let few = MANY / 10;
    for first in [0, MANY - few] {
        let indices: Vec<i64> = (0..MANY).map(|_| (first + random.below(few)) as i64).collect();
        let indices = twin.column(&Constants::Int(indices));
        for values in [&column, &flags] {
            let tested = twin.ranks.permute(Permute::Gather(&values.tested, &indices.tested));
            let expected = twin.reference.permute(Permute::Gather(&values.expected, &indices.expected));
            twin.compare("crowded gather", tested, expected);
            let target = values.clone();
            let tested = twin.ranks.permute(Permute::Scatter(target.tested, &indices.tested, &values.tested));
            let expected =
                twin.reference.permute(Permute::Scatter(target.expected, &indices.expected, &values.expected));
            twin.compare("crowded scatter", tested, expected);
        }
        let tested = twin.ranks.permute(Permute::Permute(&column.tested, &indices.tested));
        let expected = twin.reference.permute(Permute::Permute(&column.expected, &indices.expected));
        twin.compare("crowded permute", tested, expected);
        let starts: Vec<i64> = (0..200).map(|_| (first + random.below(few - 100)) as i64).collect();
        let view = twin.view(&starts, &[100; 200]);
        for values in [&column, &flags] {
            let tested = twin.ranks.segment(Segment::Compact(&values.tested, &view.tested));
            let expected = twin.reference.segment(Segment::Compact(&values.expected, &view.expected));
            twin.compare("crowded compact", tested, expected);
        }
    }
}

/// Where all indices lie on one rank it has no more memory than the others: with room for a dozen fair shares, half of
/// which are columns, it could not hold what all ask and what it answers at once.
pub fn within_limit(world: &World) -> (usize, usize) {
    const LENGTH: usize = 400_000;
    let count = world.communicator().layout().ranks;
    let limit = (count > 3).then_some((LENGTH / count * 8 * 12) as u64);
    let mut twin = Twin::new(world.communicator(), Reference::new(limit), 4096, 0);
    let ranks = &mut twin.ranks;
    let outcome = ranks.fill(Fill::Iota(LENGTH)).and_then(|numbers| {
        let indices = ranks.fill(Fill::Dist(ScalarValue::Int(5), LENGTH))?;
        let gathered = ranks.permute(Permute::Gather(&numbers, &indices))?;
        drop(indices);
        ranks.reduce(ScalarOp::AddInt, &gathered)
    });
    let expected = Ok(ScalarValue::Int(5 * LENGTH as i64));
    twin.check(outcome == expected, || format!("{LENGTH} elements of one rank: {outcome:?}"));
    // A limit that is too low is the same error everywhere.
    if let Some(limit) = limit {
        let mut short = Twin::new(world.communicator(), Reference::new(Some(limit / 4)), 4096, 0);
        let ranks = &mut short.ranks;
        let outcome =
            ranks.fill(Fill::Iota(LENGTH)).and_then(|numbers| ranks.permute(Permute::Gather(&numbers, &numbers)));
        let failure = outcome.err().map(|fault| fault.failure);
        twin.check(matches!(failure, Some(Failure::OutOfMemory { .. })), || format!("with a quarter: {failure:?}"));
    }
    twin.counts()
}
