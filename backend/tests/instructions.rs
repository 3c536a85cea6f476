//! Every vector instruction on small operands, with results worked out by hand or taken from the facts of NESL 3.1.
//!
//! Generic over the engine: an engine joins by a line at the end.

#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

use nesl_backend::{Engine, Fault, Fill, MapOperand, Order, Pack, Permute, Reference, Segment, Text};
use nesl_prim::{Direction, Failure, ScalarOp, ScalarValue};
use nesl_vcode::Constants;

/// An engine with short names for making columns and looking at them.
struct Desk<E: Engine>(E);

impl<E: Engine> Desk<E> {
    fn ints(&mut self, elements: &[i64]) -> E::Column {
        self.0.constants(&Constants::Int(elements.to_vec())).unwrap()
    }

    fn floats(&mut self, elements: &[f64]) -> E::Column {
        self.0.constants(&Constants::Float(elements.to_vec())).unwrap()
    }

    /// Flags from a text of `t` and `f`.
    fn bools(&mut self, flags: &str) -> E::Column {
        self.0.constants(&Constants::Bool(flags.bytes().map(|flag| flag == b't').collect())).unwrap()
    }

    fn chars(&mut self, text: &str) -> E::Column {
        self.0.constants(&Constants::Char(text.as_bytes().to_vec())).unwrap()
    }

    fn packed(&mut self, lengths: &[i64]) -> E::Descriptor {
        let lengths = self.ints(lengths);
        self.0.descriptor(None, lengths).unwrap()
    }

    fn view(&mut self, segments: &[(i64, i64)]) -> E::Descriptor {
        let (starts, lengths): (Vec<i64>, Vec<i64>) = segments.iter().copied().unzip();
        let (starts, lengths) = (self.ints(&starts), self.ints(&lengths));
        self.0.descriptor(Some(starts), lengths).unwrap()
    }

    #[track_caller]
    fn expect(&mut self, result: Result<E::Column, Fault>, expected: impl Into<Expected>) {
        let column = result.unwrap();
        let length = self.0.length(&column);
        let window = self.0.fetch(&column, 0, length).unwrap();
        let expected = expected.into().0;
        assert_eq!(self.0.scalar_type(&column), expected.scalar_type());
        let scalars = |constants: &Constants| (0..constants.len()).map(|i| constants.get(i)).collect::<Vec<_>>();
        assert_eq!(scalars(&window.elements), scalars(&expected));
    }
}

struct Expected(Constants);

impl<const N: usize> From<[i64; N]> for Expected {
    fn from(elements: [i64; N]) -> Expected {
        Expected(Constants::Int(elements.to_vec()))
    }
}

impl<const N: usize> From<[f64; N]> for Expected {
    fn from(elements: [f64; N]) -> Expected {
        Expected(Constants::Float(elements.to_vec()))
    }
}

impl<const N: usize> From<[bool; N]> for Expected {
    fn from(elements: [bool; N]) -> Expected {
        Expected(Constants::Bool(elements.to_vec()))
    }
}

impl From<&str> for Expected {
    fn from(text: &str) -> Expected {
        Expected(Constants::Char(text.as_bytes().to_vec()))
    }
}

const NO_INTS: [i64; 0] = [];

fn columns_start<E: Engine>(desk: &mut Desk<E>) {
    let (engine, none) = (&mut desk.0, 0);
    let (iota, empty) = (engine.fill(Fill::Iota(4)), engine.fill(Fill::Iota(none)));
    desk.expect(iota, [0, 1, 2, 3]);
    desk.expect(empty, NO_INTS);
    let (x, half) =
        (desk.0.fill(Fill::Dist(ScalarValue::Char(b'x'), 3)), desk.0.fill(Fill::Dist(ScalarValue::Float(0.5), 2)));
    desk.expect(x, "xxx");
    desk.expect(half, [0.5, 0.5]);
    let none = desk.0.fill(Fill::Dist(ScalarValue::Bool(true), none));
    desk.expect(none, [false; 0]);
    assert!(matches!(desk.0.fill(Fill::Iota(usize::MAX / 4)), Err(Fault { failure: Failure::OutOfMemory { .. }, .. })));
}

fn elementwise<E: Engine>(desk: &mut Desk<E>) {
    use MapOperand::{Column, Scalar};
    let (a, b) = (desk.ints(&[7, -7, i64::MAX]), desk.ints(&[2, 2, 1]));
    let sums = desk.0.map(ScalarOp::AddInt, vec![Column(a.clone()), Column(b.clone())]);
    desk.expect(sums, [9, -5, i64::MIN]);
    let quotients = desk.0.map(ScalarOp::DivideInt, vec![Column(a.clone()), Column(b)]);
    desk.expect(quotients, [3, -3, i64::MAX]);
    let differences = desk.0.map(ScalarOp::SubtractInt, vec![Scalar(ScalarValue::Int(1)), Column(a.clone())]);
    desk.expect(differences, [-6, 8, 1 - i64::MAX]);
    let signs = desk.0.map(ScalarOp::LessInt, vec![Column(a.clone()), Scalar(ScalarValue::Int(0))]);
    desk.expect(signs, [false, true, false]);
    let flags = desk.bools("tft");
    let chosen = desk.0.map(ScalarOp::SelectInt, vec![Column(flags), Column(a), Scalar(ScalarValue::Int(5))]);
    desk.expect(chosen, [7, 5, i64::MAX]);
    let letters = desk.chars("az");
    let codes = desk.0.map(ScalarOp::CharToCode, vec![Column(letters)]);
    desk.expect(codes, [97, 122]);
    let none = desk.ints(&[]);
    let none = desk.0.map(ScalarOp::DivideInt, vec![Column(none), Scalar(ScalarValue::Int(0))]);
    desk.expect(none, NO_INTS);
}

fn the_first_failing_element_is_reported<E: Engine>(desk: &mut Desk<E>) {
    let (a, b) = (desk.ints(&[1, 2, 3, 4]), desk.ints(&[1, 1, 0, 0]));
    let fault = desk.0.map(ScalarOp::DivideInt, vec![MapOperand::Column(a), MapOperand::Column(b)]).err();
    assert_eq!(fault, Some(Fault { failure: Failure::DivideByZero { dividend: 3 }, element: 2 }));
    let (values, indices) = (desk.chars("abcd"), desk.ints(&[0, 3, 3, 0]));
    let fault = desk.0.permute(Permute::Permute(&values, &indices)).err();
    assert_eq!(fault, Some(Fault { failure: Failure::NotAPermutation { index: 3 }, element: 2 }));
}

fn elements_move<E: Engine>(desk: &mut Desk<E>) {
    let text = desk.chars("testing it");
    assert_eq!(desk.0.extract(&text, 8), Ok(ScalarValue::Char(b'i')));
    let (inner, nothing) = (desk.0.permute(Permute::Slice(&text, 2, 4)), desk.0.permute(Permute::Slice(&text, 10, 0)));
    desk.expect(inner, "stin");
    desk.expect(nothing, "");
    let (indices, none) = (desk.ints(&[3, 4, 1, 1]), desk.ints(&[]));
    let (gathered, ungathered) =
        (desk.0.permute(Permute::Gather(&text, &indices)), desk.0.permute(Permute::Gather(&text, &none)));
    desk.expect(gathered, "tiee");
    desk.expect(ungathered, "");
    let (values, places) = (desk.chars("mowtab"), desk.ints(&[2, 1, 0, 6, 5, 4]));
    let written = desk.0.permute(Permute::Scatter(text.clone(), &places, &values));
    desk.expect(written, "womtbat it");
    desk.expect(Ok(text), "testing it");
    let (base, places, values) = (desk.ints(&[0, 0, 0]), desk.ints(&[1, 0, 1, 1]), desk.ints(&[4, 5, 6, 7]));
    let last_wins = desk.0.permute(Permute::Scatter(base, &places, &values));
    desk.expect(last_wins, [5, 7, 0]);
    let (base, places, values) = (desk.ints(&[10, 20, 30]), desk.ints(&[1, 0, 1, 1]), desk.ints(&[4, 5, 6, -7]));
    let sums = desk.0.permute(Permute::Combine(ScalarOp::AddInt, base.clone(), &places, &values));
    desk.expect(sums, [15, 23, 30]);
    let greatest = desk.0.permute(Permute::Combine(ScalarOp::MaximumInt, base.clone(), &places, &values));
    desk.expect(greatest, [10, 20, 30]);
    desk.expect(Ok(base), [10, 20, 30]);
    let (base, one, least) = (desk.ints(&[i64::MAX]), desk.ints(&[0]), desk.ints(&[1]));
    let wrapped = desk.0.permute(Permute::Combine(ScalarOp::AddInt, base, &one, &least));
    desk.expect(wrapped, [i64::MIN]);
    let (base, none) = (desk.ints(&[]), desk.ints(&[]));
    let nothing = desk.0.permute(Permute::Combine(ScalarOp::AddInt, base, &none, &none));
    desk.expect(nothing, NO_INTS);
    // In the order of the values: 1e16 + 1.0 is 1e16, and so on.
    let (base, places) = (desk.floats(&[0.0, 1.0]), desk.ints(&[0, 0, 1, 0]));
    let values = desk.floats(&[1e16, 1.0, 0.5, -1e16]);
    let sums = desk.0.permute(Permute::Combine(ScalarOp::AddFloat, base, &places, &values));
    desk.expect(sums, [0.0, 1.5]);
    let (values, places) = (desk.chars("mowtab"), desk.ints(&[2, 1, 0, 5, 4, 3]));
    let permuted = desk.0.permute(Permute::Permute(&values, &places));
    desk.expect(permuted, "wombat");
    let (values, places) = (desk.chars(""), desk.ints(&[]));
    let empty = desk.0.permute(Permute::Permute(&values, &places));
    desk.expect(empty, "");
}

fn elements_are_chosen_and_joined<E: Engine>(desk: &mut Desk<E>) {
    let (text, flags) = (desk.chars("the horse"), desk.bools("tfttffttf"));
    let kept = desk.0.pack(Pack::Pack(&text, &flags));
    desk.expect(kept, "te rs");
    let (flags, trues, falses) = (desk.bools("ftfft"), desk.ints(&[1, 2]), desk.ints(&[7, 8, 9]));
    let merged = desk.0.pack(Pack::Merge(&flags, &trues, &falses));
    desk.expect(merged, [7, 1, 8, 9, 2]);
    let (flags, none) = (desk.bools(""), desk.ints(&[]));
    let (packed, merged) = (desk.0.pack(Pack::Pack(&none, &flags)), desk.0.pack(Pack::Merge(&flags, &none, &none)));
    desk.expect(packed, NO_INTS);
    desk.expect(merged, NO_INTS);
    let columns = [desk.floats(&[1.0]), desk.floats(&[]), desk.floats(&[2.0, 3.0])];
    let joined = desk.0.pack(Pack::Concat(&columns));
    desk.expect(joined, [1.0, 2.0, 3.0]);
    let columns = [desk.chars("ac"), desk.chars("bd"), desk.chars("xy")];
    let (three, one) = (desk.0.pack(Pack::Interleave(&columns)), desk.0.pack(Pack::Interleave(&columns[..1])));
    desk.expect(three, "abxcdy");
    desk.expect(one, "ac");
    let (first, second) = (desk.packed(&[2, 0, 1]), desk.view(&[(1, 1), (0, 2), (0, 0)]));
    let (letters, digits) = (desk.chars("abc"), desk.chars("01"));
    let appended = desk.0.segment(Segment::Append((&first, &letters), (&second, &digits)));
    desk.expect(appended, "ab101c");
}

fn columns_reduce_and_scan<E: Engine>(desk: &mut Desk<E>) {
    let odd = desk.ints(&[1, 3, 5, 7]);
    assert_eq!(desk.0.reduce(ScalarOp::AddInt, &odd), Ok(ScalarValue::Int(16)));
    let (sums, products, maxima) = (
        desk.0.scan(ScalarOp::AddInt, &odd, None),
        desk.0.scan(ScalarOp::MultiplyInt, &odd, None),
        desk.0.scan(ScalarOp::MaximumInt, &odd, None),
    );
    desk.expect(sums, [0, 1, 4, 9]);
    desk.expect(products, [1, 1, 3, 15]);
    desk.expect(maxima, [i64::MIN, 1, 3, 5]);
    let none = desk.floats(&[]);
    assert_eq!(desk.0.reduce(ScalarOp::AddFloat, &none), Ok(ScalarValue::Float(0.0)));
    assert_eq!(desk.0.reduce(ScalarOp::MaximumFloat, &none), Ok(ScalarValue::Float(f64::NEG_INFINITY)));
    let flags = desk.bools("fffttff");
    assert_eq!(desk.0.reduce(ScalarOp::AndBool, &flags), Ok(ScalarValue::Bool(false)));
    let (ors, xors) = (desk.0.scan(ScalarOp::OrBool, &flags, None), desk.0.scan(ScalarOp::XorBool, &flags, None));
    desk.expect(ors, [false, false, false, false, true, true, true]);
    desk.expect(xors, [false, false, false, false, true, false, false]);
    let letters = desk.chars("hello");
    assert_eq!(desk.0.reduce(ScalarOp::MinimumChar, &letters), Ok(ScalarValue::Char(b'e')));
    let maxima = desk.0.scan(ScalarOp::MaximumChar, &letters, None);
    desk.expect(maxima, "\0hhll");
}

fn elements_are_ranked<E: Engine>(desk: &mut Desk<E>) {
    use Direction::{Down, Up};
    // The examples of the language's reference.
    let numbers = desk.ints(&[5, 3, 4, 3]);
    let (up, down) = (desk.0.order(Order::Rank, Up, &numbers, None), desk.0.order(Order::Rank, Down, &numbers, None));
    desk.expect(up, [3, 0, 2, 1]);
    desk.expect(down, [0, 2, 1, 3]);
    let floats = desk.floats(&[-1.5, 2.0, -3.0, 0.0, 0.0]);
    let up = desk.0.order(Order::Rank, Up, &floats, None);
    desk.expect(up, [1, 4, 0, 2, 3]);
    let sorted = desk.0.order(Order::Sort, Down, &floats, None);
    desk.expect(sorted, [2.0, 0.0, 0.0, -1.5, -3.0]);
    let odd = desk.floats(&[f64::NAN, 0.0, -f64::NAN, -0.0, f64::INFINITY]);
    let (up, down) = (desk.0.order(Order::Rank, Up, &odd, None), desk.0.order(Order::Rank, Down, &odd, None));
    desk.expect(up, [3, 1, 4, 0, 2]);
    desk.expect(down, [0, 3, 1, 4, 2]);
    let extremes = desk.ints(&[i64::MAX, i64::MIN, 0, -1]);
    let (up, down) = (desk.0.order(Order::Rank, Up, &extremes, None), desk.0.order(Order::Rank, Down, &extremes, None));
    desk.expect(up, [3, 0, 2, 1]);
    desk.expect(down, [0, 3, 1, 2]);
    let (up, down) = (desk.0.order(Order::Sort, Up, &extremes, None), desk.0.order(Order::Sort, Down, &extremes, None));
    desk.expect(up, [i64::MIN, -1, 0, i64::MAX]);
    desk.expect(down, [i64::MAX, 0, -1, i64::MIN]);
    let (text, none) = (desk.chars("hello"), desk.ints(&[]));
    let (letters, nothing) = (desk.0.order(Order::Rank, Up, &text, None), desk.0.order(Order::Rank, Up, &none, None));
    desk.expect(letters, [1, 0, 2, 3, 4]);
    let (letters, none) = (desk.0.order(Order::Sort, Up, &text, None), desk.0.order(Order::Sort, Up, &none, None));
    desk.expect(letters, "ehllo");
    desk.expect(none, NO_INTS);
    desk.expect(nothing, NO_INTS);
    let (packed, view) = (desk.packed(&[3, 0, 2]), desk.view(&[(3, 2), (0, 4), (0, 0)]));
    let (of_packed, of_view) =
        (desk.0.order(Order::Rank, Up, &text, Some(&packed)), desk.0.order(Order::Rank, Down, &text, Some(&view)));
    desk.expect(of_packed, [1, 0, 2, 0, 1]);
    desk.expect(of_view, [1, 0, 2, 3, 0, 1]);
    let (of_packed, of_view) =
        (desk.0.order(Order::Sort, Up, &text, Some(&packed)), desk.0.order(Order::Sort, Down, &text, Some(&view)));
    desk.expect(of_packed, "ehllo");
    desk.expect(of_view, "olllhe");
}

fn elements_have_texts<E: Engine>(desk: &mut Desk<E>) {
    let (numbers, none) = (desk.ints(&[0, -15, 123]), desk.ints(&[]));
    let (lengths, text) = (desk.0.text(Text::Lengths(&numbers)), desk.0.text(Text::Text(&numbers)));
    desk.expect(lengths, [1, 3, 3]);
    desk.expect(text, "0-15123");
    let (lengths, text) = (desk.0.text(Text::Lengths(&none)), desk.0.text(Text::Text(&none)));
    desk.expect(lengths, NO_INTS);
    desk.expect(text, "");
    let (floats, flags, chars) = (desk.floats(&[-0.5, 1e300, 2.0]), desk.bools("tf"), desk.chars("a`"));
    let (floats, flags, chars) =
        (desk.0.text(Text::Text(&floats)), desk.0.text(Text::Text(&flags)), desk.0.text(Text::Text(&chars)));
    desk.expect(floats, "-0.51e3002.0");
    desk.expect(flags, "tf");
    desk.expect(chars, "`a``");
}

fn segments_are_read_as_floats<E: Engine>(desk: &mut Desk<E>) {
    let text = desk.chars("1.5e2-.25x");
    let (packed, view) = (desk.packed(&[5, 0, 4, 1]), desk.view(&[(5, 4), (0, 1), (0, 0), (0, 3), (6, 3), (5, 4)]));
    let (of_packed, of_view) =
        (desk.0.text(Text::ParseFloat(&text, &packed)), desk.0.text(Text::ParseFloat(&text, &view)));
    let of_packed = of_packed.unwrap();
    let last = desk.0.extract(&of_packed, 3).unwrap();
    assert!(matches!(last, ScalarValue::Float(value) if value.is_nan()), "{last:?}");
    let others = desk.0.permute(Permute::Slice(&of_packed, 0, 3));
    desk.expect(others, [150.0, 0.0, -0.25]);
    desk.expect(of_view, [-0.25, 1.0, 0.0, 1.5, 0.25, -0.25]);
    let (none, nothing) = (desk.packed(&[]), desk.chars(""));
    let none = desk.0.text(Text::ParseFloat(&nothing, &none));
    desk.expect(none, [0.0; 0]);
}

fn segments_reduce_and_scan<E: Engine>(desk: &mut Desk<E>) {
    let (data, halves) = (desk.ints(&[1, 2, 3, 4, 5]), desk.packed(&[2, 3]));
    let scanned = desk.0.scan(ScalarOp::AddInt, &data, Some(&halves));
    desk.expect(scanned, [0, 1, 0, 3, 7]);
    let holes = desk.packed(&[2, 0, 3]);
    let (sums, minima) =
        (desk.0.seg_reduce(ScalarOp::AddInt, &data, &holes), desk.0.seg_reduce(ScalarOp::MinimumInt, &data, &holes));
    desk.expect(sums, [3, 0, 12]);
    desk.expect(minima, [1, i64::MAX, 3]);
    // Views: out of order, overlapping, repeated, empty.
    let view = desk.view(&[(3, 2), (0, 4), (5, 0), (0, 4)]);
    let (sums, scanned) =
        (desk.0.seg_reduce(ScalarOp::AddInt, &data, &view), desk.0.scan(ScalarOp::AddInt, &data, Some(&view)));
    desk.expect(sums, [9, 10, 0, 10]);
    desk.expect(scanned, [0, 4, 0, 1, 3, 6, 0, 1, 3, 6]);
    let indices = desk.ints(&[3, 0, 3, 0, 1]);
    let maxima = desk.0.reduce_by_index(ScalarOp::MaximumInt, &data, &indices, 4);
    desk.expect(maxima, [4, 5, i64::MIN, 3]);
    let (none, nothing) = (desk.packed(&[]), desk.ints(&[]));
    let (sums, scanned) =
        (desk.0.seg_reduce(ScalarOp::AddInt, &nothing, &none), desk.0.scan(ScalarOp::AddInt, &nothing, Some(&none)));
    desk.expect(sums, NO_INTS);
    desk.expect(scanned, NO_INTS);
}

/// Sums of floats are those of [`nesl_prim::sum`], wherever the sequence lies.
fn float_sums_depend_on_contents_alone<E: Engine>(desk: &mut Desk<E>) {
    let elements: Vec<f64> = (0..5000).map(|i| 1.0 / f64::from(i + 3)).collect();
    let add = |a: f64, b: f64| a + b;
    let column = desk.floats(&elements);
    let whole = nesl_prim::sum::reduce(0.0, add, &elements);
    assert_eq!(desk.0.reduce(ScalarOp::AddFloat, &column), Ok(ScalarValue::Float(whole)));
    let parts = desk.packed(&[1023, 0, 3000, 977]);
    let sums = desk.0.seg_reduce(ScalarOp::AddFloat, &column, &parts);
    let cuts = [&elements[..1023], &[], &elements[1023..4023], &elements[4023..]];
    desk.expect(sums, cuts.map(|cut| nesl_prim::sum::reduce(0.0, add, cut)));
    let by_index = |index: usize| elements.iter().copied().skip(index).step_by(3).collect::<Vec<f64>>();
    let indices = desk.ints(&(0..5000).map(|i| i % 3).collect::<Vec<i64>>());
    let sums = desk.0.reduce_by_index(ScalarOp::AddFloat, &column, &indices, 4);
    let expected = [0, 1, 2].map(|index| nesl_prim::sum::reduce(0.0, add, &by_index(index)));
    desk.expect(sums, [expected[0], expected[1], expected[2], 0.0]);
    let tail = desk.view(&[(4023, 977), (1, 2)]);
    let scanned = desk.0.scan(ScalarOp::AddFloat, &column, Some(&tail));
    let expected = [nesl_prim::sum::scan(0.0, add, &elements[4023..]), vec![0.0, elements[1]]].concat();
    desk.expect(scanned, <[f64; 979]>::try_from(expected).unwrap());
}

fn descriptors<E: Engine>(desk: &mut Desk<E>) {
    let (packed, view) = (desk.packed(&[2, 0, 3]), desk.view(&[(3, 2), (0, 0), (3, 1)]));
    assert_eq!((desk.0.segments(&packed), desk.0.total(&packed)), (3, Ok(5)));
    assert_eq!((desk.0.segments(&view), desk.0.total(&view)), (3, Ok(3)));
    let (starts, lengths) = (desk.0.starts(&packed), desk.0.lengths(&packed));
    desk.expect(starts, [0, 2, 2]);
    desk.expect(lengths, [2, 0, 3]);
    let (starts, lengths) = (desk.0.starts(&view), desk.0.lengths(&view));
    desk.expect(starts, [3, 0, 3]);
    desk.expect(lengths, [2, 0, 1]);
    let (from_packed, from_view) = (desk.0.segment(Segment::Iota(&packed)), desk.0.segment(Segment::Iota(&view)));
    desk.expect(from_packed, [0, 1, 0, 1, 2]);
    desk.expect(from_view, [0, 1, 0]);
    let letters = desk.chars("abc");
    let (from_packed, from_view) =
        (desk.0.segment(Segment::Dist(&letters, &packed)), desk.0.segment(Segment::Dist(&letters, &view)));
    desk.expect(from_packed, "aaccc");
    desk.expect(from_view, "aac");
    let data = desk.chars("vwxyz");
    let (same, moved) =
        (desk.0.segment(Segment::Compact(&data, &packed)), desk.0.segment(Segment::Compact(&data, &view)));
    desk.expect(same, "vwxyz");
    desk.expect(moved, "yzy");
    let (parts, values) = (desk.view(&[(3, 2), (2, 0), (0, 1)]), desk.chars("abc"));
    let over = desk.0.segment(Segment::Scatter(data.clone(), &parts, &values));
    desk.expect(over, "cwxab");
    let dashes = desk.chars("-----");
    let over = desk.0.segment(Segment::Scatter(dashes, &packed, &data));
    desk.expect(over, "vwxyz");
    desk.expect(Ok(data), "vwxyz");
    let (none, nothing) = (desk.packed(&[]), desk.chars(""));
    assert_eq!((desk.0.segments(&none), desk.0.total(&none)), (0, Ok(0)));
    let (iota, dist) = (desk.0.segment(Segment::Iota(&none)), desk.0.segment(Segment::Dist(&nothing, &none)));
    desk.expect(iota, NO_INTS);
    desk.expect(dist, "");
}

fn windows_and_pieces<E: Engine>(desk: &mut Desk<E>) {
    let share = desk.0.share(5);
    let whole = [1, 2, 3, 4, 5];
    let column = desk.0.import(Constants::Int(whole[share].to_vec())).unwrap();
    let window = desk.0.fetch(&column, 1, 3).unwrap();
    assert_eq!((window.start, window.elements), (1, Constants::Int(vec![2, 3, 4])));
    desk.expect(Ok(column), whole);
    assert_eq!(desk.0.agree::<i64, String>(Ok(1)), Ok(1));
    assert_eq!(desk.0.agree::<i64, String>(Err("no".to_owned())), Err("no".to_owned()));
    assert!(
        desk.0.counters(nesl_backend::Counters::default()).iter().map(|counters| counters.elements).sum::<u64>() >= 5
    );
}

macro_rules! engine_tests {
    ($name:ident, $engine:expr, [$($test:ident),+ $(,)?]) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $test() {
                    super::$test(&mut Desk($engine));
                }
            )+
        }
    };
    ($name:ident, $engine:expr) => {
        engine_tests!($name, $engine, [
            columns_start,
            elementwise,
            the_first_failing_element_is_reported,
            elements_move,
            elements_are_chosen_and_joined,
            columns_reduce_and_scan,
            elements_are_ranked,
            elements_have_texts,
            segments_are_read_as_floats,
            segments_reduce_and_scan,
            float_sums_depend_on_contents_alone,
            descriptors,
            windows_and_pieces,
        ]);
    };
}

engine_tests!(reference, Reference::new(None));
