//! The verifier finds each kind of mistake, and says which.

use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::parse::numbered;
use nesl_vcode::{FunctionId, Op, Operand, Place, Program, Register, SiteId, VectorOp, parse, verify};

/// What the verifier says of a program that reads well.
fn complaints(text: &str) -> Vec<String> {
    complaints_of(&parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn complaints_of(program: &Program) -> Vec<String> {
    verify(program).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn sound() -> Program {
    parse(
        "function f(%0: bool, %1: int) -> int {
           %3 = if %0 {
             %2 = add.int %1 1
             yield %2
           } else { yield %1 }
           return %3
         }",
    )
    .expect("the sample reads well")
}

#[test]
fn a_sound_program_passes() {
    assert_eq!(complaints_of(&sound()), Vec::<String>::new());
}

#[test]
fn operands_must_be_of_the_kinds_in_the_tables() {
    let cases = [
        ("add.int %0 2.0", "operand 1 should be int, is float"),
        ("add.int %0", "needs 2 operands, has 1"),
        ("add.int %0 %1", "operand 1 should be int, is column int"),
        ("map add.int %1 t", "operand 1 should be int, is bool"),
        ("map add.int %0 1", "no operand is a column"),
        ("map add.int %1 %3", "operand 1 should be column int, is descriptor"),
        ("map add.int %1", "needs 2 operands, has 1"),
        ("constants int [1] %0", "needs 0 operands, has 1"),
        ("gather %1 %2", "operand 1 should be column int, is column float"),
        ("scatter %2 %1 %1", "operand 2 should be column float, is column int"),
        ("reduce.add.float %1", "operand 0 should be column float, is column int"),
        ("seg_reduce.add.int %1 %1", "operand 1 should be descriptor, is column int"),
        ("concat %1 %2", "operand 1 should be column int, is column float"),
        ("build 1 2 3 t", "operand 3 should be int, is bool"),
        ("length %0", "operand 0 should be column int, is int"),
        ("iota 1 2", "needs 1 operands, has 2"),
        ("call g %0", "operand 0 should be bool, is int"),
        ("call g", "needs 1 operands, has 0"),
        ("if %0 { yield 1 } else { yield 2 }", "operand 0 should be bool, is int"),
        ("if t { yield 1 } else { yield 2.0 }", "a block yields (float) for (int)"),
        ("if t { yield 1 } else { yield }", "a block yields () for (int)"),
        ("if t { yield 1 } else { yield %4 }", "%4 is used before it is defined"),
    ];
    for (instruction, expected) in cases {
        let found = complaints(&format!(
            "function f(%0: int, %1: column int, %2: column float, %3: descriptor) -> int {{
               %4 = {instruction}
               return %0
             }}
             function g(%0: bool) -> int {{
               return 1
             }}"
        ));
        assert_eq!(found.len(), 1, "{instruction}: {found:?}");
        assert!(found[0].starts_with(&format!("function f: {expected}: %4 = ")), "{instruction}: {found:?}");
    }
}

#[test]
fn registers_must_be_defined_once_before_use_and_in_scope() {
    let out_of_scope = complaints(
        "function f(%0: bool) -> int {
           %2 = if %0 {
             %1 = add.int 1 1
             yield %1
           } else { yield %1 }
           %3 = add.int %1 %2
           return %3
         }",
    );
    assert_eq!(
        out_of_scope,
        [
            "function f: %1 is used outside the block that defines it: %2 = if %0 {",
            "function f: %1 is used outside the block that defines it: %3 = add.int %1 %2",
        ]
    );
    let mut early = sound();
    early.functions[0].body.instructions.push(sound().functions[0].body.instructions[0].clone());
    let found = complaints_of(&early);
    assert!(found.iter().all(|complaint| complaint.contains("is defined twice")), "{found:?}");
    assert_eq!(found.len(), 2);

    let mut undefined = sound();
    undefined.functions[0].body.instructions.clear();
    assert_eq!(complaints_of(&undefined), ["function f: %3 is used before it is defined"]);

    let mut twice = sound();
    twice.functions[0].parameters.push(Register(1));
    assert_eq!(complaints_of(&twice), ["function f: %1 is defined twice"]);

    let mut unknown = sound();
    unknown.functions[0].parameters.push(Register(9));
    unknown.functions[0].body.results[0] = Operand::Register(Register(7));
    assert_eq!(complaints_of(&unknown), ["function f: %9 has no type", "function f: %7 has no type"]);
}

#[test]
fn results_must_be_what_the_operation_gives() {
    let mut wrong = parse("function f(%0: int) -> bool {\n %1 = less.int %0 1\n return %1 }").unwrap();
    let instruction = &mut wrong.functions[0].body.instructions[0];
    instruction.op = Op::Scalar(ScalarOp::AddInt);
    assert_eq!(complaints_of(&wrong), ["function f: gives (int), not (bool): %1 = add.int %0 1"]);
    let instruction = &mut wrong.functions[0].body.instructions[0];
    (instruction.op, instruction.results) = (Op::Scalar(ScalarOp::LessInt), vec![]);
    assert!(complaints_of(&wrong)[0].starts_with("function f: gives (bool), not ()"));
}

#[test]
fn only_operators_with_an_identity_reduce() {
    let mut wrong = parse("function f(%0: column int) -> int {\n %1 = reduce.add.int %0\n return %1 }").unwrap();
    wrong.functions[0].body.instructions[0].op = Op::Vector(VectorOp::Reduce(ScalarOp::SubtractInt));
    assert!(complaints_of(&wrong)[0].starts_with("function f: subtract.int has no identity"));
}

#[test]
fn only_what_an_operator_chooses_has_an_index() {
    let text = "function f(%0: column int) -> int {\n %1 = reduce_index.minimum.int %0\n return %1 }";
    let mut wrong = parse(text).unwrap();
    assert_eq!(complaints_of(&wrong), Vec::<String>::new());
    wrong.functions[0].body.instructions[0].op = Op::Vector(VectorOp::ReduceIndex(ScalarOp::AddInt));
    assert!(complaints_of(&wrong)[0].starts_with("function f: add.int chooses none of its operands"));
    assert!(parse(&text.replace("minimum", "add")).is_err());
}

#[test]
fn functions_must_exist_and_differ_in_name() {
    let mut wrong = sound();
    wrong.functions.push(wrong.functions[0].clone());
    assert_eq!(complaints_of(&wrong), ["function f: another function has the same name"]);
    let mut wrong = parse("function f() -> int {\n %0 = call f\n return %0 }\nstep f() -> show int").unwrap();
    wrong.functions[0].body.instructions[0].op = Op::Call(FunctionId(5));
    wrong.steps[0].function = FunctionId(6);
    assert_eq!(
        complaints_of(&wrong),
        ["function f: there is no function 5: %0 = call <function 5>", "step 0: there is no function 6"]
    );
    wrong.functions[0].body.results[0] = Operand::Constant(ScalarValue::Bool(true));
    assert_eq!(complaints_of(&wrong).len(), 2);
}

#[test]
fn entries_must_fit_their_functions() {
    let entry = |lines: &str| {
        complaints(&format!(
            "function f(%0: int, %1: int, %2: column int) -> int, column int {{
               return %1 %2
             }}
             {lines}"
        ))
    };
    let sound = "step f(seed, global 1) -> global 2 [int]
                 step f(seed, global 2) -> show int, global 3 int";
    assert_eq!(entry(sound), ["step 1: gives (int, column int), not (int, int)"]);
    let none: [&str; 0] = [];
    assert_eq!(entry("step f(seed, global 1) -> show [int]"), none);
    assert_eq!(entry("step f(global 7, global 8) -> show [int]"), none);
    // A global of an earlier program may be of no registers.
    assert_eq!(entry("step f(global 7, global 8, global 9, global 10) -> show [int]"), none);
    assert_eq!(entry("step f(global 8, seed) -> show [int]").len(), 1);
    assert_eq!(entry("step f(global 1, seed, seed, seed, seed, global 1) -> show [int]").len(), 1);
    assert_eq!(
        entry("step f(seed, seed) -> show [int]"),
        ["step 0: the function takes (int, int, column int), the inputs are (int), (int)"]
    );
    assert_eq!(entry("step f(seed, argument 0) -> show [int]"), ["step 0: there is no argument 0 here"]);
    let main = |parameters: &str, run: &str| {
        entry(&format!(
            "step f(seed, global 1) -> global 2 [int]
             main ({parameters}) {{
               step f(seed, argument 0) -> global 9 [int]
               run f(seed, {run}) -> show [int]
             }}"
        ))
    };
    assert_eq!(main("v \"[int]\" [int]", "global 9"), none);
    assert_eq!(main("v \"[int]\" [int]", "argument 1"), ["main: there is no argument 1 here"]);
    assert_eq!(main("v \"[int]\" [int]", "global 2"), ["main: no step of the prelude computes global 2"]);
    assert_eq!(main("v \"[float]\" [float]", "global 9").len(), 1);
}

#[test]
fn the_versions_of_an_each_must_be_as_its_shapes_say() {
    let each = |shapes: &str, operands: &str| {
        complaints(&format!(
            "function f(%0: int, %1: column int, %2: float) -> bool {{
               return t
             }}
             function f/L(%0: int, %1: descriptor, %2: column int, %3: float) -> column bool {{
               %4 = map less.int %2 0
               return %4
             }}
             function g(%0: int, %1: descriptor, %2: column int, %3: float) -> int {{
               %4 = each f f/L{shapes} {operands}
               return %0
             }}"
        ))
    };
    let none: [&str; 0] = [];
    assert_eq!(each("(of [int], float) -> bool", "%0 %1 %2 %3"), none);
    assert!(each("(of [int], float) -> bool", "%0 %1 %2")[0].starts_with("function g: needs 4 operands, has 3"));
    assert!(each("(of [int], of float) -> bool", "%0 %1 %2 %2")[0].starts_with("function g: function 1 has"));
    assert!(each("(of [int], int) -> bool", "%0 %1 %2 %0")[0].starts_with("function g: function 0 has"));
    assert!(each("([int], float) -> bool", "%0 %0 %2 %3")[0].starts_with("function g: function 1 has"));
    assert!(each("(of [int], float) -> int", "%0 %1 %2 %3")[0].starts_with("function g: function 0 has"));
}

#[test]
fn nothing_is_read_after_its_last_use() {
    let cases = [
        ("%3 = add.int %1! %1\n return %3", "%1 is used after its last use: %3 = "),
        ("%3 = add.int %1! 1\n return %1", "%1 is used after its last use"),
        ("%3 = add.int %1 %1!\n return %3!", ""),
        ("%3 = if %0 { yield %1! } else { yield %1! }\n return %3", ""),
        ("%3 = if %0 { yield %1! } else { yield %1 }\n return %1", "%1 is used after its last use"),
        ("%3 = if %0 {\n drop %1\n yield 1\n } else { yield %1! }\n return %3", ""),
        (
            "%3 = if %0 {\n drop %1\n yield %1\n } else { yield %1! }\n return %3",
            "%1 is used after its last use: %3 = ",
        ),
        ("%3 = if %0 { yield 1 } else {\n drop %1 %1\n yield 2\n }\n return 3", "%1 is used after its last use: %3 = "),
        ("%3 = map add.int %2* 1\n return 1", ""),
        ("%3 = map add.int %2 %2*\n return 1", "the result cannot be written over operand 1: %3 = "),
        ("%3 = map negate.int %2*\n return %1*", "the result cannot be written over operand 0"),
        ("%3 = reduce.add.int %2*\n return %3!", "the result cannot be written over operand 0: %3 = "),
    ];
    for (body, expected) in cases {
        let found = complaints(&format!("function f(%0: bool, %1: int, %2: column int) -> int {{\n{body}\n}}"));
        let expected = if expected.is_empty() { expected.to_owned() } else { format!("function f: {expected}") };
        assert!(found.first().map_or("", String::as_str).starts_with(&expected), "{body}: {found:?}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{body}: {found:?}");
    }
    let mut program = sound();
    program.functions[0].body.uses = vec![nesl_vcode::Use::Kept; 2];
    assert_eq!(complaints_of(&program), ["function f: 2 marks on 1 registers"]);
}

#[test]
fn groups_are_of_one_loop_and_yield_what_they_define() {
    let cases = [
        (
            "%9 = fused {\n %5 = pack %0 %1\n %6 = map negate.int %5\n %7 = pack %2 %1\n %8 = map add.int %6 %7\n yield %8\n }",
            "",
        ),
        ("%9 = fused {\n %5 = add.int %4 1\n yield %5\n }", "`%5 = add.int %4 1` cannot be in this group"),
        ("%9 = fused {\n %5 = slice %0 0 %4\n yield %5\n }", "`%5 = slice %0 0 %4` cannot be in this group"),
        (
            "%9 = fused {\n %5 = pack %0 %1\n %6 = map add.int %5 %2\n yield %6\n }",
            "`%6 = map add.int %5 %2` cannot be in this group",
        ),
        (
            "%9 = fused {\n %5 = reduce.add.int %0\n %6 = map add.int %0 %5\n yield %6\n }",
            "`%6 = map add.int %0 %5` cannot be in this group",
        ),
        (
            "%9 = fused {\n %5 = map int_to_float %0\n %6 = scan.add.float %5\n %7 = map negate.float %6\n yield %7\n }",
            "`%7 = map negate.float %6` cannot be in this group",
        ),
        (
            "%9 = fused {\n %5 = map negate.int %0\n %6 = gather %5 %2\n yield %6\n }",
            "`%6 = gather %5 %2` cannot be in this group",
        ),
        ("%9 = fused {\n %5 = map negate.int %0\n %6 = reduce_index.minimum.int %5\n yield %6\n }", ""),
        (
            "%9 = fused {\n %5 = pack %0 %1\n %6 = reduce_index.minimum.int %5\n yield %6\n }",
            "`%6 = reduce_index.minimum.int %5` cannot be in this group",
        ),
        ("%9 = fused {\n %5 = map negate.int %0\n yield %0\n }", "a group yields other than different"),
        ("%9, %8 = fused {\n %5 = map negate.int %0\n yield %5 %5\n }", "a group yields other than different"),
        ("%9 = fused {\n %5 = map negate.int %0\n yield 1\n }", "a group yields other than different"),
    ];
    for (group, expected) in cases {
        // All registers up to %9 are to have types.
        let is_defined = |number: &i32| [",", " ="].iter().any(|after| group.contains(&format!("%{number}{after}")));
        let unused: String =
            (5..=9).filter(|number| !is_defined(number)).map(|number| format!(", %{number}: int")).collect();
        let found = complaints(&format!(
            "function f(%0: column int, %1: column bool, %2: column int, %4: int) -> int unused %3: int{unused} {{
               {group}
               return %4
             }}"
        ));
        let expected = if expected.is_empty() { expected.to_owned() } else { format!("function f: {expected}") };
        assert!(found.first().map_or("", String::as_str).starts_with(&expected), "{group}: {found:?}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{group}: {found:?}");
    }
}

#[test]
fn a_group_has_one_each_on_scalars_of_one_space() {
    let none = Vec::<String>::new();
    let group = |members: &str, yields: &str| {
        let results: Vec<String> = (0..yields.split(' ').count()).map(|index| format!("%{}", 20 + index)).collect();
        let text = format!(
            "function h(%0: column int, %1: column bool, %2: descriptor, %3: int) -> int {{
               {} = fused {{
                 {members}
                 yield {yields}
               }}
               return %3
             }}
             function g(%0: int, %1: int, %2: column int) -> int, int, column int {{
               return %0 %1 %2
             }}
             function g/L(%0: int, %1: column int, %2: descriptor, %3: column int) \
                 -> column int, descriptor, column int {{
               return %1 %2 %3
             }}
             function f(%0: int, %1: int) -> int {{
               return %0
             }}
             function f/L(%0: int, %1: column int, %2: int) -> column int {{
               return %1
             }}",
            results.join(", ")
        );
        complaints(&numbered(&text)).into_iter().map(|found| found.replace("function h: ", "")).collect::<Vec<_>>()
    };
    let f = |results: &str, operands: &str| format!("{results} = each f f/L(of int, int) -> int {operands}\n");
    let g = |operands: &str| format!("%10, %11, %12 = each g g/L(of int, of [int]) -> int, [int] {operands}\n");
    // What varies is of all indices, or of a space within; what instances give is of it, or there at the end.
    assert_eq!(group(&f("%10", "%0 %3"), "%10"), none);
    assert_eq!(group(&format!("%5 = pack %0 %1\n{}%6 = reduce.add.int %10", f("%10", "%5 7")), "%6"), none);
    assert_eq!(group(&format!("%5 = pack %0 %1\n{}%6 = map add.int %10 %5", f("%10", "%5 7")), "%6"), none);
    assert_eq!(group(&format!("{}%6 = map add.int %10 %0", g("%0 %2 %0")), "%6 %12 %11"), none);
    let is_refused = |members: &str, yields: &str, refused: &str| {
        let found = group(members, yields);
        assert!(found.first().is_some_and(|found| found.contains(refused)), "{members}: {found:?}");
    };
    let refused = "cannot be in this group";
    is_refused(&format!("%5 = pack %0 %1\n{}%6 = map add.int %10 %0", f("%10", "%5 7")), "%6", refused);
    is_refused(&format!("{}%6 = map add.int %12 %0", g("%0 %2 %0")), "%6", refused);
    is_refused(&format!("%5 = pack %0 %1\n{}", g("%5 %2 %0")), "%10", refused);
    is_refused(&format!("%5 = map negate.int %0\n{}", g("%0 %2 %5")), "%10", refused);
    is_refused(&(f("%10", "%0 7") + &f("%11", "%0 7")), "%11", refused);
    // It says nowhere how many there are, and elsewhere it does.
    is_refused(&f("%10", "%3 %0 7"), "%10", "needs 2 operands, has 3");
    is_refused(&f("%10", "%3 7"), "%10", "operand 0 should be column int, is int");
}

#[test]
fn places_are_within_calls_that_are_noted_before() {
    let mut program = sound();
    let span = program.functions[0].span;
    program.functions[0].body.instructions[0].place = Place { span, within: Some(SiteId(0)) };
    let found = complaints_of(&program);
    assert!(found.len() == 1 && found[0].starts_with("function f: there is no site 0 before: %3 = if"), "{found:?}");
    program.sites = vec![Place { span, within: None }, Place { span, within: Some(SiteId(0)) }];
    assert_eq!(complaints_of(&program), Vec::<String>::new());
    // A chain that never ends would keep whoever walks it.
    program.sites[0].within = Some(SiteId(1));
    assert_eq!(complaints_of(&program), ["site 0: there is no site 1 before"]);
}
