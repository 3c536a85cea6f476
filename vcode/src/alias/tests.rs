//! What may be written over, and behind.

use super::*;
use crate::op::VectorOp;

/// The program of a function with this body, and of four that it may call: g writes to both columns that it gets, h to
/// the second, k and l to none; l gives the first.
fn program_of(body: &str) -> Program {
    let header = "(%0: int, %1: column int, %2: column int) -> column int";
    let text = format!(
        "function f{header} {{ {body} }};
         function g{header} {{ %3 = build %0; %4 = scatter %1 %3 %3; %5 = call h %0 %4 %2; return %5 }};
         function h{header} {{ %3 = build %0; %4 = scatter %2 %3 %3; %5 = call k %0 %1 %4; return %5 }};
         function k{header} {{ %3 = extract %1 %0; %4 = less.int %3 %0;
           %6 = if %4 {{ yield %1 }} else {{ %5 = call k %3 %2 %1; yield %5 }}; return %6 }};
         function l{header} {{ return %1 }}"
    );
    crate::parse::parse(&text.replace(';', "\n")).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// What is known of each instruction of a kind in a function with this body.
fn of_each<T>(body: &str, is_it: impl Fn(&Op) -> bool, known: impl Fn(&Updates, &Instruction) -> T) -> Vec<T> {
    let program = program_of(body);
    let updates = Updates::of(&program.functions[0], &Summaries::of(&program));
    let mut found = Vec::new();
    program.functions[0].body.visit(&mut |instruction| {
        if is_it(&instruction.op) {
            found.push(known(&updates, instruction));
        }
    });
    found
}

/// Whether a function with this body may write over its parameter 1.
fn may(body: &str) -> bool {
    let program = program_of(body);
    Updates::of(&program.functions[0], &Summaries::of(&program)).may_overwrite(Register(1))
}

#[test]
fn a_column_that_nobody_reads_afterwards_is_written_over() {
    assert!(may("%3 = build %0; %4 = scatter %1 %3 %3; return %4"));
    assert!(may("%3 = build %0; %4 = length %1; %5 = extract %1 0; %6 = scatter %1 %3 %3; return %6"));
    // In one branch, where the other gives it as it is; and again.
    assert!(may("%3 = build %0; %4 = less.int %0 3;
         %5 = if %4 { %6 = scatter %1 %3 %3; yield %6 } else { yield %1 }; return %5"));
    // What is read of it before has memory of its own.
    assert!(may("%3 = build %0; %4 = gather %1 %3; %5 = scatter %1 %3 %4; return %5"));
    // What a call at the end gives is not read here.
    assert!(may("%3 = build %0; %4 = scatter %1 %3 %3; %5 = call f %0 %4 %2; return %5"));
    // What a call gives of something else is.
    assert!(may("%3 = build %0; %4 = call l %0 %2 %1; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6"));
}

#[test]
fn what_is_read_afterwards_by_any_name_stays() {
    for body in [
        "%3 = build %0; %4 = scatter %1 %3 %3; %5 = extract %1 0; %6 = build %5; %7 = concat %4 %6; return %7",
        // Through a part of it, a check, a branch, a call.
        "%3 = build %0; %4 = slice %1 0 1; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
        "%3 = build %0; %4 = map check_index %1 %0; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
        "%3 = build %0; %4 = less.int %0 3; %5 = if %4 { yield %1 } else { yield %2 };
         %6 = scatter %1 %3 %3; %7 = concat %6 %5; return %7",
        "%3 = build %0; %4 = call l %0 %1 %2; %5 = scatter %1 %3 %3; %6 = concat %5 %4; return %6",
        // It is where, or what, is written.
        "%3 = scatter %1 %1 %2; return %3",
        "%3 = scatter %1 %2 %1; return %3",
        "%3 = build %0; %4 = fused { %5 = gather %1 %3; %6 = scatter %1 %3 %5; yield %6 }; return %4",
        // One of two that read it.
        "%3 = build %0; %4 = scatter %1 %3 %3; %5 = scatter %1 %3 %3; %6 = concat %4 %5; return %6",
    ] {
        assert!(!may(body), "{body}");
    }
}

#[test]
fn what_is_appended_is_written_behind_what_nobody_reads_afterwards() {
    let is_concat = |op: &Op| matches!(op, Op::Vector(VectorOp::Concat));
    let appends = |body: &str| of_each(body, is_concat, Updates::may_append);
    assert_eq!(appends("%3 = concat %1 %2; return %3"), [true]);
    assert_eq!(appends("%3 = slice %1 0 %0; %4 = concat %3 %2; return %4"), [true]);
    assert_eq!(appends("%3 = concat %1 %2; %4 = concat %3 %2; return %4"), [true, true]);
    // Of two, neither; what is appended may not lie there; and nobody may read it later, by any name.
    assert_eq!(appends("%3 = concat %1 %2; %4 = concat %1 %3; return %4"), [false, false]);
    assert_eq!(appends("%3 = slice %1 0 %0; %4 = slice %1 %0 1; %5 = concat %3 %4; return %5"), [false]);
    assert_eq!(appends("%3 = slice %1 0 1; %4 = concat %1 %2; %5 = extract %3 0; %6 = build %5; return %6"), [false]);
    // The result is where the first operand was.
    assert!(!may("%3 = slice %1 0 1; %4 = concat %3 %2; %5 = extract %1 0; %6 = build %5; %7 = scatter %1 %6 %6;
         %8 = concat %7 %4; return %8"));
}

#[test]
fn calls_are_given_what_nobody_reads_afterwards() {
    let is_call = |op: &Op| matches!(op, Op::Call(_));
    let granted = |body: &str| of_each(body, is_call, |updates, call| updates.granted(call).to_vec());
    assert_eq!(granted("%3 = call g %0 %1 %2; return %3"), [[1, 2]]);
    assert_eq!(granted("%3 = call g %0 %1 %2; %4 = concat %3 %1; return %4"), [[2]]);
    assert_eq!(granted("%3 = call g %0 %1 %2; %4 = scatter %3 %1 %1; return %4"), [[2]]);
    assert_eq!(granted("%3 = call g %0 %1 %2; %4 = call g %0 %3 %3; return %4"), [vec![1, 2], vec![]]);
    assert_eq!(granted("%3 = slice %1 0 1; %4 = call g %0 %1 %3; return %4"), [Vec::<usize>::new()]);
    assert_eq!(granted("%3 = slice %1 0 1; %4 = call g %0 %1 %2; %5 = concat %3 %4; return %5"), [[2]]);
    // What a function only reads it needs not be given.
    assert_eq!(granted("%3 = call h %0 %1 %2; return %3"), [[2]]);
    assert_eq!(granted("%3 = call k %0 %1 %2; return %3"), [Vec::<usize>::new()]);
}

#[test]
fn loops_that_pass_one_column_twice_share_it() {
    let shares = |arguments: &str| {
        let text = format!(
            "function f(%0: int, %1: column int, %2: column int) -> column int {{
               %3 = slice %1 0 1
               %4 = call f %0 {arguments}
               return %4
             }}"
        );
        let program = crate::parse::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        passes_one_twice(&program, &HashSet::from([FunctionId(0)]), &Summaries::of(&program))
    };
    assert!(!shares("%1 %2") && !shares("%2 %1"));
    assert!(shares("%1 %1") && shares("%1 %3") && shares("%3 %1"));
}

#[test]
fn what_functions_give_of_what_they_get_follows_calls() {
    let text = "
        function f(%0: int, %1: descriptor, %2: column int, %3: column int) -> descriptor, column int, column int {
          %4 = equal.int %0 0
          %5, %6, %7 = if %4 { yield %1 %3 %2 } else {
            %8 = subtract.int %0 1
            %9, %10, %11 = call f %8 %1 %2 %3
            yield %9 %10 %11
          }
          return %5 %6 %7
        }
        function g(%0: int, %1: descriptor, %2: column int) -> descriptor, column int, column int, column int {
          %3 = map add.int %2 1
          %4, %5, %6 = call f %0 %1 %2 %3
          %7 = slice %6 0 1
          %8 = concat %7 %7
          return %4 %5 %7 %8
        }";
    let program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let summaries = Summaries::of(&program);
    let of = |function: usize| -> Vec<(Vec<usize>, Vec<usize>)> {
        let both = |summary: &MayAlias| {
            [&summary.parameters, &summary.results].map(|all| all.iter().copied().collect()).into()
        };
        summaries.0[function].results.iter().map(both).collect()
    };
    assert_eq!(of(0), [(vec![1], vec![]), (vec![3], vec![]), (vec![2], vec![])]);
    assert_eq!(of(1), [(vec![1], vec![]), (vec![], vec![]), (vec![2], vec![]), (vec![], vec![])]);
}

#[test]
fn results_that_are_one_column_are_known_to_be() {
    let text = "
        function f(%0: int) -> column int, int, column int {
          %1 = iota %0
          %2 = slice %1 0 1
          return %1 %0 %2
        }
        function g(%0: int) -> column int, column int {
          %1, %2, %3 = call f %0
          %4 = build %2
          %5 = scatter %1 %4 %4
          return %5 %3
        }";
    let program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let summaries = Summaries::of(&program);
    assert_eq!(summaries.0[0].results[2].results, BTreeSet::from([0]));
    assert!(!Updates::of(&program.functions[1], &summaries).may_overwrite(Register(1)));
}

/// What a loop whose functions are f, and h if it is called, carries in one place: of the parameters of f and of h.
fn in_place(turn: &str) -> [Vec<Option<usize>>; 2] {
    let text = format!(
        "function f(%0: int, %1: column int, %2: column int) -> column int, column int {{
           %3 = equal.int %0 0; %4 = subtract.int %0 1; %5 = build %4
           %6, %7 = if %3 {{ yield %1 %2 }} else {{ {turn}; yield %8 %9 }}; return %6 %7 }};
         function h(%0: column int, %1: column int, %2: int) -> column int, column int {{
           %3 = build 0; %4 = scatter %0 %3 %3; %5, %6 = call f %2 %1 %4; return %5 %6 }};
         function g(%0: int, %1: column int) -> int, column int {{
           %2 = build %0; %3 = scatter %1 %2 %2; return %0 %3 }};
         function k(%0: column int, %1: column int) -> column int {{
           %2 = extract %0 0; %3 = less.int %2 0; %4 = if %3 {{ yield %0 }} else {{ yield %1 }}; return %4 }}"
    );
    let program = crate::parse::parse(&text.replace(';', "\n")).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let functions = tail::Steps::of(&program).reached(&program, FunctionId(0));
    let found = InPlace::of(&program, &functions, FunctionId(0), &Summaries::of(&program));
    [0, 1].map(|function| (0..3).map(|parameter| found.column(FunctionId(function), parameter)).collect())
}

#[test]
fn loops_carry_columns_in_one_place() {
    let of_first = |turn: &str| in_place(turn)[0][1..].to_vec();
    assert_eq!(of_first("%10 = scatter %1 %5 %5; %8, %9 = call f %4 %10 %2"), [Some(1), None]);
    // In a group, in a branch, and twice in a turn.
    assert_eq!(
        of_first("%10 = fused { %11 = scatter %2 %5 %5; yield %11 }; %8, %9 = call f %4 %1 %10"),
        [None, Some(2)]
    );
    assert_eq!(
        of_first(
            "%10 = scatter %1 %5 %5; %12 = less.int %4 3
             %11 = if %12 { %13 = scatter %10 %5 %5; yield %13 } else { yield %10 }; %8, %9 = call f %4 %11 %2"
        ),
        [Some(1), None]
    );
    // By a function that writes to it, and gives it.
    assert_eq!(of_first("%10, %11 = call g %0 %1; %8, %9 = call f %10 %11 %2"), [Some(1), None]);
    // What others read is copied; what changes places, or may be either, is in none.
    assert_eq!(of_first("%10 = scatter %1 %5 %5; %11 = extract %1 0; %8, %9 = call f %11 %10 %2"), [None, None]);
    assert_eq!(of_first("%10 = scatter %1 %5 %5; %8, %9 = call f %4 %2 %10"), [None, None]);
    assert_eq!(of_first("%10 = scatter %1 %5 %5; %11 = call k %10 %5; %8, %9 = call f %4 %11 %2"), [None, None]);
    assert_eq!(of_first("%10 = map add.int %1 1; %8, %9 = call f %4 %10 %2"), [None, None]);
}

#[test]
fn columns_of_loops_change_places_from_function_to_function() {
    // h writes to its first column, which is the second of f.
    let [first, second] = in_place("%8, %9 = call h %2 %1 %4");
    assert_eq!((first[1..].to_vec(), second), (vec![None, Some(2)], vec![Some(2), None, None]));
    assert_eq!(in_place("%8, %9 = call h %1 %2 %4"), [vec![None; 3], vec![None; 3]]);
}

#[test]
fn descriptors_are_not_carried_as_columns() {
    // Its lengths are written to.
    let text = "
        function f(%0: int, %1: descriptor) -> descriptor {
          %2 = equal.int %0 0
          %3 = if %2 { yield %1 } else {
            %4 = subtract.int %0 1
            %5 = lengths %1
            %6 = build %4
            %7 = scatter %5 %6 %6
            %8 = packed %7
            %9 = call f %4 %8
            yield %9
          }
          return %3
        }";
    let program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let summaries = Summaries::of(&program);
    assert_eq!(summaries.written(FunctionId(0)), &BTreeSet::from([1]));
    let found = InPlace::of(&program, &HashSet::from([FunctionId(0)]), FunctionId(0), &summaries);
    assert!(found.is_empty());
}
