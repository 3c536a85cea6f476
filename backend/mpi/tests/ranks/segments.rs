//! Segmented instructions, on packed descriptors and views of many shapes.

use crate::inputs::Random;
use crate::twin::{Local, Pair, SegmentsPair, Twin};
use nesl_backend::{Columns, Engine, Order, Segment, Text};
use nesl_prim::{Direction, ScalarOp, ScalarType};

/// Numbers of segments.
const SEGMENTS: [usize; 9] = [0, 1, 2, 3, 6, 20, 300, 5000, 9001];
/// Numbers of elements of packed data.
const TOTALS: [usize; 9] = [0, 1, 4, 30, 1500, 4096, 7000, 15 * 1024, 23_000];

/// All checks on all shapes.
pub fn run(twin: &mut Twin<impl Local>, random: &mut Random) {
    segments_up_to(twin, random, usize::MAX);
}

/// All checks on shapes up to a size.
pub fn segments_up_to(twin: &mut Twin<impl Local>, random: &mut Random, limit: usize) {
    for segments in SEGMENTS.into_iter().filter(|&segments| segments <= limit) {
        for total in TOTALS.into_iter().filter(|&total| total <= limit) {
            let total = if segments == 0 { 0 } else { total };
            let lengths = random.lengths(segments, total);
            let packed = twin.packed(&lengths);
            on_shape(twin, random, &packed, total, &format!("{segments} packed over {total}"));
            let longest = [0, 3, 40, 2000][random.below(4)].min(60_000 / segments.max(1));
            let (starts, lengths) = random.views(segments, total, longest);
            let view = twin.view(&starts, &lengths);
            on_shape(twin, random, &view, total, &format!("{segments} views up to {longest} into {total}"));
            appended(twin, random, segments, total, (&view, total), (&packed, total));
        }
    }
}

fn on_shape(twin: &mut Twin<impl Local>, random: &mut Random, shape: &SegmentsPair, data: usize, case: &str) {
    let (tested, expected) = (twin.ranks.segments(&shape.tested), twin.reference.segments(&shape.expected));
    twin.check(tested == expected, || format!("segments of {case}"));
    let (tested, expected) = (twin.ranks.total(&shape.tested), twin.reference.total(&shape.expected));
    twin.check(tested == expected, || format!("total of {case}: {tested:?}, not {expected:?}"));
    let (tested, expected) = (twin.ranks.starts(&shape.tested), twin.reference.starts(&shape.expected));
    twin.compare(&format!("starts of {case}"), tested, expected);
    let (tested, expected) = (twin.ranks.lengths(&shape.tested), twin.reference.lengths(&shape.expected));
    twin.compare(&format!("lengths of {case}"), tested, expected);
    let (tested, expected) =
        (twin.ranks.segment(Segment::Iota(&shape.tested)), twin.reference.segment(Segment::Iota(&shape.expected)));
    twin.compare(&format!("seg_iota of {case}"), tested, expected);

    let segments = twin.reference.segments(&shape.expected);
    let scalar_type = random.scalar_type();
    let values = twin.column(&random.elements(scalar_type, segments, false));
    let tested = twin.ranks.segment(Segment::Dist(&values.tested, &shape.tested));
    let expected = twin.reference.segment(Segment::Dist(&values.expected, &shape.expected));
    twin.compare(&format!("seg_dist of {case}"), tested, expected);
    let column = twin.column(&random.elements(scalar_type, data, false));
    let tested = twin.ranks.segment(Segment::Compact(&column.tested, &shape.tested));
    let expected = twin.reference.segment(Segment::Compact(&column.expected, &shape.expected));
    twin.compare(&format!("compact of {case}"), tested, expected);

    // Where none overlap.
    let mut parts: Vec<(usize, usize)> = shape.expected.iter().collect();
    parts.sort_unstable();
    if parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0) {
        let total = parts.iter().map(|part| part.1).sum();
        let (target, values) = (column.clone(), twin.column(&random.elements(scalar_type, total, false)));
        let tested = twin.ranks.segment(Segment::Scatter(target.tested, &shape.tested, &values.tested));
        let expected = twin.reference.segment(Segment::Scatter(target.expected, &shape.expected, &values.expected));
        twin.compare(&format!("seg_scatter of {case}"), tested, expected);
    }

    let direction = [Direction::Up, Direction::Down][random.below(2)];
    let tested = twin.ranks.order(Order::Rank, direction, &column.tested, Some(&shape.tested));
    let expected = twin.reference.order(Order::Rank, direction, &column.expected, Some(&shape.expected));
    twin.compare(&format!("seg_rank {direction:?} of {case}"), tested, expected);
    let tested = twin.ranks.order(Order::Sort, direction, &column.tested, Some(&shape.tested));
    let expected = twin.reference.order(Order::Sort, direction, &column.expected, Some(&shape.expected));
    twin.compare(&format!("seg_sort {direction:?} of {case}"), tested, expected);

    let digits = twin.column(&random.digits(data));
    let tested = twin.ranks.text(Text::ParseFloat(&digits.tested, &shape.tested));
    let expected = twin.reference.text(Text::ParseFloat(&digits.expected, &shape.expected));
    twin.compare(&format!("parse_float of {case}"), tested, expected);

    let other = match random.below(5) {
        0 => ScalarOp::MultiplyInt,
        1 => ScalarOp::MaximumFloat,
        2 => ScalarOp::XorBool,
        3 => ScalarOp::MinimumChar,
        _ => ScalarOp::AndInt,
    };
    for op in [ScalarOp::AddInt, ScalarOp::AddFloat, ScalarOp::MultiplyFloat, other] {
        let column = twin.column(&random.elements(op.row().result, data, op == ScalarOp::MultiplyFloat));
        let tested = twin.ranks.seg_reduce(op, &column.tested, &shape.tested);
        let expected = twin.reference.seg_reduce(op, &column.expected, &shape.expected);
        twin.compare(&format!("seg_reduce {op} of {case}"), tested, expected);
        let tested = twin.ranks.scan(op, &column.tested, Some(&shape.tested));
        let expected = twin.reference.scan(op, &column.expected, Some(&shape.expected));
        twin.compare(&format!("seg_scan {op} of {case}"), tested, expected);
    }
}

/// Appends two shapes over data of some lengths, both ways, and one to itself.
fn appended(
    twin: &mut Twin<impl Local>,
    random: &mut Random,
    segments: usize,
    total: usize,
    first: (&SegmentsPair, usize),
    second: (&SegmentsPair, usize),
) {
    let left: Pair = twin.column(&random.elements(ScalarType::Float, first.1, false));
    let right: Pair = twin.column(&random.elements(ScalarType::Float, second.1, false));
    for ((shape, column), (other_shape, other_column)) in [
        ((first.0, &left), (second.0, &right)),
        ((second.0, &right), (first.0, &left)),
        ((first.0, &left), (first.0, &left)),
    ] {
        let tested = twin
            .ranks
            .segment(Segment::Append((&shape.tested, &column.tested), (&other_shape.tested, &other_column.tested)));
        let expected = twin.reference.segment(Segment::Append(
            (&shape.expected, &column.expected),
            (&other_shape.expected, &other_column.expected),
        ));
        twin.compare(&format!("append {segments} over {total}"), tested, expected);
    }
}
