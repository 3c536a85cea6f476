//! What is known of small groups.

use super::super::plan::Stride;
use super::checks::Length;
use super::*;
use nesl_prim::ScalarValue;
use nesl_vcode::Op;

/// The plan of the one group of a function with these parameters, and what it yields.
fn plan(parameters: &str, group: &str, yielded: &str) -> Plan {
    let first = parameters.matches('%').count() + group.lines().count();
    let results: Vec<String> = (first..).zip(yielded.split(' ')).map(|(number, _)| format!("%{number}")).collect();
    let text = format!(
        "function f({parameters}) -> int {{\n{} = fused {{\n{group}\nyield {yielded}\n}}\nreturn 0\n}}",
        results.join(", ")
    );
    let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let function = &program.functions[0];
    let Op::Fused(block) = &function.body.instructions[0].op else { panic!("{text}") };
    Plan::new(block, &function.registers).unwrap_or_else(|| panic!("no group: {text}")).0
}

const OF_COLUMN: &str = "%0: int, %1: column int";

/// The squares of indices that are less than 10.
fn filtered() -> Plan {
    let group = "%2 = iota %0\n%3 = map less.int %2 10\n%4 = pack %2 %3\n%5 = map multiply.int %4 %4";
    plan(OF_COLUMN, group, "%5")
}

#[test]
fn counting_computes_flags_alone_and_takes_two_at_once() {
    let plan = filtered();
    let counted = Analysis::of(&plan, Mode::Count);
    assert_eq!(counted.live, [true, true, false, false]);
    assert_eq!((counted.endings, counted.positioned), (vec![None], vec![false, true]));
    assert!(counted.is_wide);
}

#[test]
fn what_is_cheap_is_computed_under_a_mask() {
    let plan = filtered();
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!((whole.live, whole.branches), (vec![true; 4], vec![false; 2]));
    // Stores where filters put elements have no form for two indices.
    assert_eq!((whole.is_wide, whole.times), (false, UNROLL));
}

#[test]
fn what_may_fail_is_behind_a_branch() {
    let group = "%2 = iota %0\n%3 = map less.int 0 %2\n%4 = pack %2 %3\n%5 = map divide.int 100 %4";
    let plan = plan(OF_COLUMN, group, "%5");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!((whole.branches, whole.times), (vec![false, true], 1));
}

#[test]
fn what_fails_by_an_index_alone_is_computed_under_a_mask() {
    let group = "%4 = map less.int 0 %1\n%5 = pack %2 %4\n%6 = map check_index %5 %0\n%7 = gather %3 %6";
    let plan = plan("%0: int, %1: column int, %2: column int, %3: column int", group, "%7");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!((&whole.branches[..], whole.times), (&[false, false][..], UNROLL));
    // Indices that are not kept may be anywhere.
    assert!(!whole.is_read_anywhere(3));
}

#[test]
fn indices_that_go_up_with_the_loop_are_checked_at_its_ends() {
    let group = "%2 = iota 8\n%3 = map multiply.int %2 2\n%4 = map add.int %3 1\n%5 = map check_index %4 %0
        %6 = gather %1 %5";
    let plan = plan(OF_COLUMN, group, "%6");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!(whole.checked, [false, false, false, true, true]);
    assert!(whole.is_read_anywhere(4));
    let checks = [(2, Length::Any(PlanOperand::Input(0))), (3, Length::OfColumn(1))];
    let checks = checks.map(|(node, length)| EndCheck { index: PlanOperand::Node(node), length });
    assert_eq!(whole.end_checks, checks);
    assert_eq!((whole.factor(PlanOperand::Node(3)), whole.length_checks), (Some(2), Vec::new()));
    // Counting gathers nothing.
    assert!(Analysis::of(&plan, Mode::Count).end_checks.is_empty());
}

#[test]
fn indices_from_a_column_are_checked_one_by_one_and_lengths_once() {
    let group = "%3 = map check_index %1 %0\n%4 = gather %2 %3";
    let plan = plan("%0: int, %1: column int, %2: column int", group, "%4");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!((whole.has_length.as_slice(), whole.checked.as_slice()), (&[true, false][..], &[false, true][..]));
    assert!(whole.end_checks.is_empty());
    let (length, column) = (PlanOperand::Input(1), IndexedColumn::Input(2));
    assert_eq!(whole.length_checks, [LengthCheck { length, column }]);
    assert_eq!(whole.times, UNROLL);
}

const BY_SEGMENTS: &str = "%0: descriptor, %1: column int, %2: column int, %3: int";

/// Elements of a column at indices that go up by segments.
fn strided(step: &str) -> Plan {
    let group = format!(
        "%4 = seg_iota %0\n%5 = map multiply.int %4 {step}\n%6 = seg_dist %1 %0\n%7 = map add.int %5 %6
        %8 = map check_index %7 %3\n%9 = gather %2 %8"
    );
    plan(BY_SEGMENTS, &group, "%9")
}

#[test]
fn indices_that_go_up_by_segments_are_checked_when_strips_begin() {
    let plan = strided("2");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!(whole.inductions, [false, false, false, false, true, true]);
    // What is read at them goes up by itself; what they are computed from is not computed at each index, nor are they;
    // the start is read once for a strip.
    assert_eq!(whole.live, [false, false, true, false, false, true]);
    assert_eq!((whole.cursors[0], whole.first_cursors().collect::<Vec<_>>()), (Some(0), vec![0]));
    assert!(whole.checked[4] && whole.checked[5]);
}

#[test]
fn indices_that_do_not_go_up_evenly_are_computed() {
    let group = "%4 = seg_iota %0\n%5 = map multiply.int %4 %4\n%6 = map check_index %5 %3\n%7 = gather %2 %6";
    let plan = plan(BY_SEGMENTS, group, "%7");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!((whole.inductions, whole.live), (vec![false; 4], vec![true; 4]));
    assert_eq!(whole.has_length, [false, false, true, false]);
}

#[test]
fn float_sums_keep_lanes_where_two_indices_are_taken_at_once() {
    let parameters = "%0: column float, %1: descriptor, %2: descriptor, %3: column float";
    let all = plan(parameters, "%4 = map multiply.float %0 %0\n%5 = reduce.add.float %4", "%5");
    let all = Analysis::of(&all, Mode::Whole);
    assert_eq!((all.sum_in_lanes(), all.segment_sum_in_lanes()), (Some(ScalarOp::AddFloat), None));
    // The second descriptor alone has a place in the loop; sums of the first need it only if it is known to be like it.
    let group = "%4 = seg_dist %3 %2\n%5 = map multiply.float %0 %4\n%6 = seg_reduce.add.float %5 %1";
    let open = plan(parameters, group, "%6");
    assert_eq!(Analysis::of(&open, Mode::Whole).segment_sum_in_lanes(), None);
    let known = open.clone().with_known(open.find_known(|_| 0, |_| false));
    let place = open.inputs.iter().position(|&ty| ty == RegisterType::Descriptor);
    let found = Analysis::of(&known, Mode::Whole).segment_sum_in_lanes();
    assert_eq!(found, place.map(|place| (ScalarOp::AddFloat, place)));
}

#[test]
fn scans_are_stored_as_modes_need_them() {
    let plan = plan("%0: column int", "%1 = map add.int %0 1\n%2 = scan.add.int %1", "%2");
    let of = |mode| Analysis::of(&plan, mode).endings;
    assert_eq!(of(Mode::Whole), [Some(Ending::Store(PlanOperand::Node(1)))]);
    // Of a piece only what is to be scanned.
    assert_eq!(of(Mode::Piece), [Some(Ending::Store(PlanOperand::Node(0)))]);
    assert_eq!(Analysis::of(&plan, Mode::Piece).live, [true, false]);
}

#[test]
fn what_is_the_same_for_a_strip_is_computed_when_it_begins() {
    // {sum({rows[i][k] : k in [0:m]}) : i in v}, the starts and the places in one column.
    let group = "%5 = seg_dist %1 %0\n%6 = map check_index %5 %3\n%7 = gather %4 %6\n%8 = seg_iota %0
        %9 = map add.int %7 %8\n%10 = gather %2 %9\n%11 = seg_reduce.add.float %10 %0";
    let parameters = "%0: descriptor, %1: column int, %2: column float, %3: int, %4: column int";
    let plan = plan(parameters, group, "%11");
    let whole = Analysis::of(&plan, Mode::Whole);
    assert_eq!(whole.invariants, [false, true, true, false, false, false, false]);
    assert_eq!(whole.inductions, [false, false, false, false, false, true, false]);
    assert!(whole.is_consecutive(5) && whole.is_wide);
    // The index is not computed at each element.
    assert_eq!(whole.live[3..6], [false, false, true]);
}

#[test]
fn places_that_are_progressions_are_counted_up() {
    // {sum({columns[k][j] : k in [0:m]}) : j in v}, the starts of rows in %4, which all segments read.
    let group = "%5 = seg_dist %1 %0\n%6 = compact %4 %3\n%7 = map add.int %6 %5\n%8 = gather %2 %7
        %9 = seg_reduce.add.float %8 %0";
    let parameters = "%0: descriptor, %1: column int, %2: column float, %3: descriptor, %4: column int";
    let plan = plan(parameters, group, "%9");
    assert_eq!(Analysis::of(&plan, Mode::Whole).inductions, [false; 5]);
    let starts = plan.looked_up().next().unwrap_or_else(|| panic!("starts are looked up"));
    for (stride, is_consecutive) in [(Stride::Other, false), (Stride::One, true)] {
        let known = plan.clone().with_progressions(vec![(starts, stride)]);
        let whole = Analysis::of(&known, Mode::Whole);
        assert_eq!(whole.inductions, [false, false, false, true, false]);
        assert_eq!((whole.is_consecutive(3), whole.is_wide), (is_consecutive, true));
    }
    let known = plan.clone().with_progressions(vec![(starts, Stride::Zero)]);
    let whole = Analysis::of(&known, Mode::Whole);
    assert_eq!(whole.invariants, [false, true, true, true, false]);
}

#[test]
fn segments_are_taken_at_once_where_all_that_comes_of_them_are_reductions() {
    let outer = |group: &str, yielded: &str| {
        let parameters = "%0: descriptor, %1: column int, %2: column float, %3: descriptor, %4: column int";
        Analysis::of(&plan(parameters, group, yielded), Mode::Whole).outer.is_some()
    };
    let products = "%5 = seg_dist %2 %0\n%6 = map multiply.float %2 %5\n%7 = seg_reduce.add.float %6 %0";
    assert!(outer(products, "%7"));
    let ints = "%5 = seg_iota %0\n%6 = map add.int %1 %5\n%7 = seg_reduce.maximum.int %6 %0";
    assert!(outer(ints, "%7"));
    // Indices have no form for two positions of one segment.
    let places = "%5 = seg_dist %2 %0\n%6 = map multiply.float %2 %5\n%7 = seg_reduce_index.minimum.float %6 %0";
    assert!(outer(places, "%7"));
    // What has an element for each index, what filters, what may fail at some, and what is of all or of other segments.
    assert!(!outer(products, "%7 %6"));
    let few = "%5 = map less.int %1 3\n%6 = pack %1 %5\n%7 = reduce.add.int %6";
    assert!(!outer(few, "%7"));
    let quotients = "%5 = map divide.int 100 %1\n%6 = seg_reduce.add.int %5 %0";
    assert!(!outer(quotients, "%6"));
    let others = "%5 = seg_dist %2 %0\n%6 = map multiply.float %2 %5\n%7 = seg_reduce.add.float %6 %3";
    assert!(!outer(others, "%7"));
}

#[test]
fn loops_end_early_where_all_that_counts_is_decided() {
    let decided = |group: &str, yielded: &str| {
        let plan = plan("%0: descriptor, %1: column int, %2: column int, %3: int", group, yielded);
        Analysis::of(&plan, Mode::Whole).decided_early()
    };
    let any = "%4 = map less.int %1 %3\n%5 = reduce.or.bool %4";
    assert_eq!(decided(any, "%5"), Some(ScalarOp::OrBool));
    let all = "%4 = map less.int %1 %3\n%5 = seg_reduce.and.bool %4 %0";
    assert_eq!(decided(all, "%5"), Some(ScalarOp::AndBool));
    // What else leaves the loop, what may fail later on, and parities need all elements.
    assert_eq!(decided(all, "%5 %4"), None);
    assert_eq!(decided("%4 = map divide.int %3 %1\n%5 = map less.int %4 0\n%6 = reduce.or.bool %5", "%6"), None);
    assert_eq!(decided("%4 = map less.int %1 %3\n%5 = reduce.xor.bool %4", "%5"), None);
}

/// The lanes of a group over a column of characters, and one of ints.
fn lanes(group: &str, yielded: &str) -> Option<LaneType> {
    let plan = plan("%0: column char, %1: column int, %2: char, %3: int", group, yielded);
    Analysis::of(&plan, Mode::Whole).narrow
}

#[test]
fn characters_are_taken_as_many_at_once_as_a_vector_has_bytes() {
    let vowels = "%4 = map equal.char %0 `a\n%5 = map equal.char %2 %0\n%6 = map or.bool %4 %5
        %7 = map bool_to_int %6\n%8 = reduce.add.int %7";
    assert_eq!(lanes(vowels, "%8"), Some(LaneType::Byte));
    // What reads ints does not fit, nor does what is known of no number.
    assert_eq!(lanes("%4 = map char_to_code %0\n%5 = map less.int %4 %1\n%6 = reduce.or.bool %5", "%6"), None);
    assert_eq!(lanes("%4 = map char_to_code %0\n%5 = map add.int %4 %3", "%5"), None);
    // A code less another number is no byte.
    assert_eq!(lanes("%4 = map char_to_code %0\n%5 = map subtract.int %4 48", "%5"), Some(LaneType::Short));
    assert_eq!(lanes("%4 = map char_to_code %0\n%5 = map multiply.int %4 1000", "%5"), None);
}

/// Letters from `a` to the last one become what is computed of their codes; others stay.
fn of_letters(computed: &str, last: &str) -> Option<LaneType> {
    let group = format!(
        "%4 = map at_least.char %0 `a\n%5 = map at_most.char %0 {last}\n%6 = map and.bool %4 %5
        %7 = map not.bool %6\n%8 = pack %0 %6\n%9 = map char_to_code %8\n{computed}
        %12 = map code_to_char %11\n%13 = pack %0 %7\n%14 = merge %6 %12 %13"
    );
    lanes(&group, "%14")
}

#[test]
fn what_flags_say_of_numbers_is_known_where_they_are_true() {
    let capitals = "%10 = map subtract.int %9 32\n%11 = map add.int %10 0";
    assert_eq!(of_letters(capitals, "`z"), Some(LaneType::Byte));
    let moved = "%10 = map subtract.int %9 94\n%11 = map remainder %10 26";
    assert_eq!(of_letters(moved, "`z"), Some(LaneType::Short));
    // Codes that are none fail where they are.
    let beyond = "%10 = map add.int %9 140\n%11 = map add.int %10 0";
    assert_eq!(of_letters(beyond, "`r"), Some(LaneType::Byte));
    assert_eq!(of_letters(beyond, "`z"), None);
}

/// The neighbours of an element, but for the first and the last.
const NEIGHBOURS: &str = "%2 = iota %0\n%3 = map equal.int %2 0\n%4 = map equal.int 9 %2\n%5 = map or.bool %3 %4
    %6 = map not.bool %5\n%7 = dist 7 %0\n%8 = pack %7 %5\n%9 = pack %2 %6\n%10 = map subtract.int %9 1
    %11 = map check_index %10 %0\n%12 = gather %1 %11\n%13 = map add.int %9 1\n%14 = map check_index %13 %0
    %15 = gather %1 %14\n%16 = map add.int %12 %15\n%17 = merge %5 %8 %16";

#[test]
fn conditions_on_the_index_are_known_in_most_strips() {
    let plan = plan(OF_COLUMN, NEIGHBOURS, "%17");
    let [inner] = &inner(&plan, Mode::Whole)[..] else { panic!("conditions choose") };
    assert_eq!(inner.flags, [(PlanOperand::Node(3), false)]);
    let limits = [PlanOperand::Constant(ScalarValue::Int(0)), PlanOperand::Constant(ScalarValue::Int(9))];
    let change = |limit| {
        let moving = PlanOperand::Node(0);
        Change { moving, goes_up: true, may_wrap: false, limit, at: Changes::Both }
    };
    assert_eq!(inner.changes, limits.map(change));
    assert_eq!(inner.plan.yields, [14]);
    // What cannot be vectors of indices with a branch in it can be without.
    let whole = Analysis::of(&plan, Mode::Whole);
    let within = Analysis::of_inner(inner, &whole);
    assert!(whole.forks[15] && !whole.is_wide && within.is_wide);
    // Indices are checked at the ends of strips, not at the ends of all.
    assert!(within.end_checks.is_empty() && within.is_consecutive(10) && within.is_consecutive(13));
}

#[test]
fn selections_by_the_index_are_known_in_most_strips() {
    let selection = "%2 = iota %0\n%3 = map less.int %2 9\n%4 = map multiply.int %1 %2\n%5 = map add.int %4 1\n";
    let changes = |last: &str, yielded: &str| {
        let plan = plan(OF_COLUMN, &format!("{selection}{last}"), yielded);
        let inner = inner(&plan, Mode::Whole).into_iter().next()?;
        Some((inner.flags, inner.changes.len(), inner.plan.yields))
    };
    // There is more to do where it is false.
    let known = vec![(PlanOperand::Node(1), false)];
    assert_eq!(changes("%6 = map select.int %3 %1 %5", "%6"), Some((known.clone(), 1, vec![3])));
    let further = "%6 = map select.int %3 %1 %5\n%7 = map add.int %6 2";
    assert_eq!(changes(further, "%7"), Some((known, 1, vec![5])));
    // What is selected is no element of the group, or the condition is not of the index.
    assert_eq!(changes("%6 = map select.int %3 %1 %1", "%6"), None);
    assert_eq!(changes("%6 = map equal.int %1 3\n%7 = map select.int %6 %4 %5", "%7"), None);
    // Reductions go on from strip to strip.
    assert_eq!(changes("%6 = map select.int %3 %1 %5\n%7 = reduce.add.int %6", "%7"), None);
}

#[test]
fn strips_with_less_to_do_have_a_plan_too() {
    let flags = |group: &str, yielded: &str| -> Vec<Vec<(PlanOperand, bool)>> {
        let plan = plan(OF_COLUMN, group, yielded);
        inner(&plan, Mode::Whole).into_iter().map(|inner| inner.flags).collect()
    };
    let triangle = "%2 = iota %0\n%3 = map less.int %2 9\n%4 = map equal.int %2 9\n%5 = map multiply.int %1 %2
        %6 = map select.int %4 7 %5\n%7 = map add.int %1 1\n%8 = map select.int %3 %7 %6";
    let more = vec![(PlanOperand::Node(1), false), (PlanOperand::Node(2), false)];
    assert_eq!(flags(triangle, "%8"), [more, vec![(PlanOperand::Node(1), true)]]);
    // One index is no strip, and there is nothing to go on with where a reduction is.
    let at_one = triangle.replace("map less.int %2 9", "map equal.int %2 8");
    assert_eq!(flags(&at_one, "%8").len(), 1);
}

#[test]
fn what_is_written_back_is_nothing_to_do() {
    let group = "%3 = iota %0\n%4 = map less.int %3 9\n%5 = compact %1 %2\n%6 = map multiply.int %5 3
        %7 = map select.int %4 %5 %6\n%8 = seg_scatter %1 %2 %7";
    let plan = plan("%0: int, %1: column int, %2: descriptor", group, "%8");
    let whole = Analysis::of(&plan, Mode::Whole);
    let all = inner(&plan, Mode::Whole);
    let idle: Vec<bool> = all.iter().map(|inner| Analysis::of_inner(inner, &whole).has_nothing_to_do()).collect();
    assert_eq!(idle, [false, true]);
    assert!(!whole.has_nothing_to_do());
}

#[test]
fn what_moves_reaches_or_passes_what_it_is_compared_with() {
    let changes = |condition: &str| {
        let group = format!(
            "%2 = iota %0\n{condition}\n%5 = map not.bool %4\n%6 = pack %2 %4\n%7 = pack %2 %5
            %8 = map check_index %6 %0\n%9 = gather %1 %8\n%10 = merge %4 %9 %7"
        );
        let plan = plan(OF_COLUMN, &group, "%10");
        let inner = inner(&plan, Mode::Whole).into_iter().next()?;
        Some(inner.changes.iter().map(|change| (change.goes_up, change.may_wrap, change.at)).collect::<Vec<_>>())
    };
    let up = |operation: &str| changes(&format!("%3 = map add.int 5 %2\n%4 = map {operation} %3 %0"));
    assert_eq!(up("less.int"), Some(vec![(true, true, Changes::Reached)]));
    assert_eq!(up("at_most.int"), Some(vec![(true, true, Changes::Passed)]));
    assert_eq!(up("greater.int"), Some(vec![(true, true, Changes::Passed)]));
    assert_eq!(up("at_least.int"), Some(vec![(true, true, Changes::Reached)]));
    let down = |operation: &str| changes(&format!("%3 = map subtract.int 5 %2\n%4 = map {operation} %0 %3"));
    assert_eq!(down("less.int"), Some(vec![(false, true, Changes::Reached)]));
    assert_eq!(down("at_most.int"), Some(vec![(false, true, Changes::Passed)]));
    assert_eq!(down("equal.int"), Some(vec![(false, true, Changes::Both)]));
    // What goes up by two may jump over it; and what is read at the index does not move evenly.
    assert_eq!(changes("%3 = map multiply.int 2 %2\n%4 = map less.int %3 %0"), None);
    assert_eq!(changes("%3 = map add.int %1 %2\n%4 = map less.int %3 %0"), None);
}
