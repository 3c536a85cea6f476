//! Instructions on whole columns.

use crate::inputs::Random;
use crate::twin::{Local, Pair, Twin};
use nesl_backend::{Collective, Engine, Fill, MapOperand, Order, Pack, Permute, Text};
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::Constants;

/// All checks at all lengths.
pub fn run(twin: &mut Twin<impl Local>, random: &mut Random) {
    lengths_up_to(twin, random, usize::MAX);
}

/// All checks at lengths up to a limit.
pub fn lengths_up_to(twin: &mut Twin<impl Local>, random: &mut Random, limit: usize) {
    let (_, ranks) = twin.ranks.rank();
    // Borders inside float blocks, between them, and many in one.
    let aligned = nesl_prim::sum::BLOCK * ranks;
    let lengths = [0, 1, 2, ranks.saturating_sub(1), ranks, ranks + 1, 7, 100, 613, 2048, 5000, 23_457];
    for length in lengths.into_iter().chain([aligned, 4 * aligned]) {
        if length <= limit {
            simple(twin, random, length);
            elementwise(twin, random, length);
            moves(twin, random, length);
            flags(twin, random, length);
            joins(twin, random, length);
            folds(twin, random, length);
            orders(twin, random, length);
            texts(twin, random, length);
        }
    }
}

fn ints(elements: Vec<i64>) -> Constants {
    Constants::Int(elements)
}

fn simple(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let (tested, expected) = (twin.ranks.fill(Fill::Iota(length)), twin.reference.fill(Fill::Iota(length)));
    twin.compare("iota", tested, expected);
    let value = ScalarValue::Float(2.5);
    let (tested, expected) =
        (twin.ranks.fill(Fill::Dist(value, length)), twin.reference.fill(Fill::Dist(value, length)));
    twin.compare("dist", tested, expected);

    let scalar_type = random.scalar_type();
    let constants = random.elements(scalar_type, length, false);
    let column = twin.column(&constants);
    twin.compare("constants", Ok(column.tested.clone()), Ok(column.expected.clone()));
    if length > 0 {
        let index = random.below(length);
        let tested = twin.ranks.extract(&column.tested, index);
        let expected = twin.reference.extract(&column.expected, index);
        twin.check(tested == expected, || format!("extract {index} of {length}: {tested:?}, not {expected:?}"));
    }
    for _ in 0..3 {
        let start = random.below(length + 1);
        let count = random.below(length - start + 1);
        let tested = twin.ranks.permute(Permute::Slice(&column.tested, start, count));
        let expected = twin.reference.permute(Permute::Slice(&column.expected, start, count));
        twin.compare(&format!("slice {start} {count} of {length}"), tested, expected);
        let tested = twin.ranks.fetch(&column.tested, start, count);
        let expected = twin.reference.fetch(&column.expected, start, count);
        twin.check(tested == expected, || format!("fetch {start} {count} of {length}"));
    }
    // Every rank has a piece of some size, some have none.
    let (rank, ranks) = twin.ranks.rank();
    let mut borders: Vec<usize> = (1..ranks).map(|_| random.below(length + 1)).collect();
    borders.extend([0, length]);
    borders.sort_unstable();
    let piece = part(&constants, borders[rank]..borders[rank + 1]);
    let tested = twin.ranks.import(piece);
    twin.compare(&format!("import of {length}"), tested, Ok(column.expected.clone()));
    let share = twin.ranks.share(length);
    let tested = twin.ranks.import(part(&constants, share));
    twin.compare(&format!("import of shares of {length}"), tested, Ok(column.expected));
}

fn part(constants: &Constants, range: std::ops::Range<usize>) -> Constants {
    let values: Vec<ScalarValue> = range.map(|index| constants.get(index)).collect();
    Constants::from_scalars(constants.scalar_type(), &values)
}

fn elementwise(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let pairs =
        [ScalarOp::AddFloat, ScalarOp::LessInt, ScalarOp::SelectChar, ScalarOp::DivideInt, ScalarOp::CodeToChar];
    for op in pairs {
        let operands: Vec<_> =
            op.row().operands.iter().map(|&operand| random.elements(operand, length, true)).collect();
        let broadcast = if operands.len() > 1 { random.below(operands.len() + 1) } else { operands.len() };
        let columns: Vec<Pair> = operands.iter().map(|operand| twin.column(operand)).collect();
        let scalar = |at: usize| random_scalar(op.row().operands[at]);
        let tested = columns.iter().enumerate().map(|(at, pair)| {
            if at == broadcast { MapOperand::Scalar(scalar(at)) } else { MapOperand::Column(pair.tested.clone()) }
        });
        let tested = twin.ranks.map(op, tested.collect());
        let expected = columns.iter().enumerate().map(|(at, pair)| {
            if at == broadcast { MapOperand::Scalar(scalar(at)) } else { MapOperand::Column(pair.expected.clone()) }
        });
        let expected = twin.reference.map(op, expected.collect());
        twin.compare(&format!("map {op} of {length}, scalar {broadcast}"), tested, expected);
    }
    // One failing element, and two.
    for failures in [1, 2] {
        let mut codes = vec![65; length];
        for _ in 0..failures.min(length) {
            codes[random.below(length)] = 300 + random.below(9) as i64;
        }
        let codes = twin.column(&ints(codes));
        let tested = twin.ranks.map(ScalarOp::CodeToChar, vec![MapOperand::Column(codes.tested)]);
        let expected = twin.reference.map(ScalarOp::CodeToChar, vec![MapOperand::Column(codes.expected)]);
        twin.compare(&format!("failing map of {length}"), tested, expected);
    }
}

fn random_scalar(scalar_type: ScalarType) -> ScalarValue {
    match scalar_type {
        ScalarType::Int => ScalarValue::Int(3),
        ScalarType::Float => ScalarValue::Float(0.1),
        ScalarType::Bool => ScalarValue::Bool(true),
        ScalarType::Char => ScalarValue::Char(b'x'),
    }
}

fn moves(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let scalar_type = random.scalar_type();
    let constants = random.elements(scalar_type, length, false);
    let column = twin.column(&constants);
    for count in [0, 1, length / 3, length, 2 * length + 5] {
        if length == 0 && count > 0 {
            continue;
        }
        let indices = twin.column(&ints(random.indices(count, length)));
        let tested = twin.ranks.permute(Permute::Gather(&column.tested, &indices.tested));
        let expected = twin.reference.permute(Permute::Gather(&column.expected, &indices.expected));
        twin.compare(&format!("gather {count} from {length}"), tested, expected);
        let values = twin.column(&random.elements(scalar_type, count, false));
        let fresh = twin.column(&constants);
        let tested = twin.ranks.permute(Permute::Scatter(fresh.tested, &indices.tested, &values.tested));
        let expected = twin.reference.permute(Permute::Scatter(fresh.expected, &indices.expected, &values.expected));
        twin.compare(&format!("scatter {count} into {length}"), tested, expected);
        let operators =
            [ScalarOp::AddInt, ScalarOp::AddFloat, ScalarOp::MaximumFloat, ScalarOp::OrBool, ScalarOp::MinimumChar];
        for op in operators.into_iter().filter(|op| op.row().result == scalar_type) {
            let fresh = twin.column(&constants);
            let (indices, values) = (&indices, &values);
            let tested = Permute::Combine(op, fresh.tested, &indices.tested, &values.tested);
            let tested = twin.ranks.permute(tested);
            let expected = Permute::Combine(op, fresh.expected, &indices.expected, &values.expected);
            let expected = twin.reference.permute(expected);
            twin.compare(&format!("combine_by_index.{op} {count} into {length}"), tested, expected);
            let tested = twin.ranks.reduce_by_index(op, &values.tested, &indices.tested, length);
            let expected = twin.reference.reduce_by_index(op, &values.expected, &indices.expected, length);
            twin.compare(&format!("reduce_by_index.{op} {count} into {length}"), tested, expected);
        }
    }
    let order = random.permutation(length);
    for repeated in [0, 1, 3] {
        let mut order = order.clone();
        for _ in 0..repeated.min(length) {
            let (to, from) = (random.below(length), random.below(length));
            order[to] = order[from];
        }
        let indices = twin.column(&ints(order));
        let tested = twin.ranks.permute(Permute::Permute(&column.tested, &indices.tested));
        let expected = twin.reference.permute(Permute::Permute(&column.expected, &indices.expected));
        twin.compare(&format!("permute {length} with {repeated} repeated"), tested, expected);
    }
}

fn flags(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let scalar_type = random.scalar_type();
    let column = twin.column(&random.elements(scalar_type, length, false));
    for kind in 0..5 {
        let flags: Vec<bool> = (0..length)
            .map(|index| match kind {
                0 => false,
                1 => true,
                2 => index < length / 3,
                3 => index > length / 2,
                _ => random.below(2) == 0,
            })
            .collect();
        let trues = flags.iter().filter(|&&flag| flag).count();
        let flags = twin.column(&Constants::Bool(flags));
        let tested = twin.ranks.pack(Pack::Pack(&column.tested, &flags.tested));
        let expected = twin.reference.pack(Pack::Pack(&column.expected, &flags.expected));
        twin.compare(&format!("pack {trues} of {length}"), tested, expected);
        let left = twin.column(&random.elements(scalar_type, trues, false));
        let right = twin.column(&random.elements(scalar_type, length - trues, false));
        let tested = twin.ranks.pack(Pack::Merge(&flags.tested, &left.tested, &right.tested));
        let expected = twin.reference.pack(Pack::Merge(&flags.expected, &left.expected, &right.expected));
        twin.compare(&format!("merge {trues} of {length}"), tested, expected);
    }
}

fn joins(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let scalar_type = random.scalar_type();
    for count in 1..4 {
        let even: Vec<Pair> = (0..count).map(|_| twin.column(&random.elements(scalar_type, length, false))).collect();
        let uneven: Vec<Pair> = (0..count)
            .map(|_| {
                let length = random.below(length + 1);
                twin.column(&random.elements(scalar_type, length, false))
            })
            .collect();
        for columns in [&even, &uneven] {
            let tested: Vec<_> = columns.iter().map(|pair| pair.tested.clone()).collect();
            let expected: Vec<_> = columns.iter().map(|pair| pair.expected.clone()).collect();
            let (tested, expected) =
                (twin.ranks.pack(Pack::Concat(&tested)), twin.reference.pack(Pack::Concat(&expected)));
            twin.compare(&format!("concat {count} of {length}"), tested, expected);
        }
        let tested: Vec<_> = even.iter().map(|pair| pair.tested.clone()).collect();
        let expected: Vec<_> = even.iter().map(|pair| pair.expected.clone()).collect();
        let (tested, expected) =
            (twin.ranks.pack(Pack::Interleave(&tested)), twin.reference.pack(Pack::Interleave(&expected)));
        twin.compare(&format!("interleave {count} of {length}"), tested, expected);
    }
}

fn orders(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let scalar_type = random.scalar_type();
    let equal = Constants::Int(vec![7; length]);
    for constants in [random.elements(scalar_type, length, false), equal] {
        let column = twin.column(&constants);
        for direction in [Direction::Up, Direction::Down] {
            let tested = twin.ranks.order(Order::Rank, direction, &column.tested, None);
            let expected = twin.reference.order(Order::Rank, direction, &column.expected, None);
            twin.compare(&format!("rank {direction:?} of {length}"), tested, expected);
            let tested = twin.ranks.order(Order::Sort, direction, &column.tested, None);
            let expected = twin.reference.order(Order::Sort, direction, &column.expected, None);
            twin.compare(&format!("sort {direction:?} of {length}"), tested, expected);
        }
    }
}

fn texts(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    let scalar_type = random.scalar_type();
    let column = twin.column(&random.elements(scalar_type, length, false));
    let (tested, expected) =
        (twin.ranks.text(Text::Lengths(&column.tested)), twin.reference.text(Text::Lengths(&column.expected)));
    twin.compare(&format!("text_lengths of {length}"), tested, expected);
    let (tested, expected) =
        (twin.ranks.text(Text::Text(&column.tested)), twin.reference.text(Text::Text(&column.expected)));
    twin.compare(&format!("text of {length}"), tested, expected);
}

fn folds(twin: &mut Twin<impl Local>, random: &mut Random, length: usize) {
    for &op in ScalarOp::ALL.iter().filter(|op| op.row().identity.is_some()) {
        let column = twin.column(&random.elements(op.row().result, length, op == ScalarOp::MultiplyFloat));
        let tested = twin.ranks.reduce(op, &column.tested);
        let expected = twin.reference.reduce(op, &column.expected);
        twin.check(tested == expected, || format!("reduce {op} of {length}: {tested:?}, not {expected:?}"));
        let tested = twin.ranks.scan(op, &column.tested, None);
        let expected = twin.reference.scan(op, &column.expected, None);
        twin.compare(&format!("scan {op} of {length}"), tested, expected);
    }
}
