//! What flattening makes of small programs, told by the instructions in it: that nothing is replicated, nothing is
//! duplicated, and guards stand only where they must. What the programs compute is tested on every engine, in the
//! package `nesl-tests`.

use nesl_frontend::session::{Options, Session};
use nesl_span::{Origin, SourceMap};
use nesl_vcode::verify::verify;
use nesl_vcode::{Block, Op, Program, VectorOp};

/// The verified program of a text, as flattening makes it, before any pass.
fn compile(text: &str) -> Program {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let program = nesl_flatten::compile(session.program(), &[], &checked.forms, None)
        .expect("nothing in it is for serial code only");
    verify(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
    program
}

/// How many instructions of a program satisfy a predicate, nested blocks included.
fn count(program: &Program, predicate: impl Fn(&Op) -> bool) -> usize {
    fn within(block: &Block, predicate: &impl Fn(&Op) -> bool) -> usize {
        (block.instructions.iter())
            .map(|instruction| {
                let nested = match &instruction.op {
                    Op::If(then_block, else_block) => within(then_block, predicate) + within(else_block, predicate),
                    _ => 0,
                };
                nested + usize::from(predicate(&instruction.op))
            })
            .sum()
    }
    program.functions.iter().map(|function| within(&function.body, &predicate)).sum()
}

fn vector(program: &Program, op: VectorOp) -> usize {
    count(program, |found| *found == Op::Vector(op))
}

#[test]
fn an_invariant_sequence_is_read_where_it_is() {
    let program = compile("function h(a, v) = {a[i] : i in v}; h([1.5, 2.5], [0, 1, 1]);");
    assert_eq!(vector(&program, VectorOp::Gather), 1, "one read of a");
    assert_eq!(vector(&program, VectorOp::SegDist) + vector(&program, VectorOp::Dist), 0, "no copy of a");
}

#[test]
fn a_sequence_that_varies_with_the_outer_instance_is_spread_as_a_view() {
    let program = compile("function h(w) = {{a[i] : i in [0:#a]} : a in w}; h([[1.5], [2.5, 3.5]]);");
    // Starts and lengths of a are spread over the inner elements; its data is not.
    assert_eq!(vector(&program, VectorOp::SegDist), 2, "starts and lengths of a");
    assert_eq!(vector(&program, VectorOp::Gather), 1);
}

#[test]
fn parts_of_sequences_are_views() {
    let program = compile("function h(w) = {subseq(v, 1, #v) : v in w}; h([[1, 2], [3]]);");
    assert_eq!(vector(&program, VectorOp::View), 1);
    let moved = vector(&program, VectorOp::Gather) + vector(&program, VectorOp::Pack);
    assert_eq!(moved, 0, "no element moves");
}

#[test]
fn code_is_linear_in_a_chain_of_conditionals() {
    let chain = |links: usize| {
        let tests: String = (0..links).map(|i| format!("if x == {i} then g(x) else ")).collect();
        compile(&format!("function g(x) = [x]; function h(x) = {tests} g(x + 1); {{h(x) : x in [1, 2]}};"))
    };
    let size = |links| count(&chain(links), |_| true);
    assert_eq!(size(40) - size(30), size(30) - size(20), "each link costs the same");
}

#[test]
fn cheap_scalar_branches_are_selected_from() {
    let program = compile("{if x < 0 then -x else x : x in [1, -2]};");
    assert_eq!(count(&program, |op| matches!(op, Op::If(..))), 0);
}

#[test]
fn guards_stand_where_a_body_must_not_run_without_instances() {
    let guards = |text: &str| count(&compile(text), |op| matches!(op, Op::If(..)));
    assert_eq!(guards("function h(v) = {x * x + 1 : x in v}; h([1]);"), 0, "total");
    assert_eq!(guards("function h(v) = {1 / x : x in v}; h([1]);"), 0, "fails only on elements");
    assert_eq!(guards("function h(v, y) = {1 / y : x in v}; h([1], 0);"), 1, "fails without elements");
    assert_eq!(guards("function g(x) = [x]; function h(v) = {g(x) : x in v}; h([1]);"), 0, "an each guards itself");
    assert_eq!(
        guards("function g(x) = 1 / x; function h(v, y) = {g(y) : x in v}; h([1], 0);"),
        1,
        "a call that does not vary"
    );
}

#[test]
fn a_call_that_varies_is_an_each_unless_it_prints() {
    let eaches = |text: &str| count(&compile(text), |op| matches!(op, Op::Each(_)));
    assert_eq!(eaches("function g(x) = [x]; {g(x) : x in [1]};"), 1);
    assert_eq!(eaches("function g(x) = rand(x); {g(x) : x in [1]};"), 1);
    assert_eq!(eaches("function g(x, a) = #a; {g(1, [x]) + g(1, [2]) : x in [1]};"), 1, "one of them varies");
    assert_eq!(eaches("function g(x) = print_line(@x); {g(x) : x in [1]};"), 0);
}

#[test]
fn branching_scalar_code_becomes_a_function_of_its_own() {
    let eaches = |text: &str| count(&compile(text), |op| matches!(op, Op::Each(_)));
    assert_eq!(eaches("{if x == 0 then 0 else 12 / x : x in [1, 0]};"), 1);
    // Inside it stays together.
    assert_eq!(eaches("{if x == 0 then 0 else if x < 3 then 12 / x else 1 / (x - 1) : x in [1, 0]};"), 1);
    assert_eq!(
        eaches("function g(x) = if x == 0 then 0 else g(x - 1); {g(x) : x in [1]};"),
        2,
        "the call, and the recursion"
    );
    // A selection is elementwise; sequences have vector instructions; this one is the same for all.
    assert_eq!(eaches("{if x < 0 then -x else x : x in [1, 0]};"), 0);
    assert_eq!(eaches("{if x == 0 then [0] else [12 / x] : x in [1, 0]};"), 0);
    assert_eq!(eaches("function h(v, y) = {if y == 0 then x else x / y : x in v}; h([1], 0);"), 0);
}

#[test]
fn what_does_not_vary_is_computed_once() {
    let program = compile("function h(v, w) = {x + sum(w) : x in v}; h([1, 2], [3]);");
    assert_eq!(count(&program, |op| matches!(op, Op::Vector(VectorOp::Reduce(_)))), 1);
    assert_eq!(count(&program, |op| matches!(op, Op::Vector(VectorOp::SegReduce(_)))), 0);
}

#[test]
fn a_function_is_made_once_for_each_pattern_of_its_argument() {
    let text = "function h(a, b) = [a, b]; {h(x, 1) : x in [1]}; {h(x, y) : x in [1]; y in [2]}; {h(y, 1) : y in [2]}; h(1, 2);";
    let names: Vec<String> = compile(text).functions.into_iter().map(|function| function.name).collect();
    let mut instances: Vec<&str> = names.iter().filter(|name| name.starts_with("h@")).map(String::as_str).collect();
    instances.sort_unstable();
    assert_eq!(instances, ["h@(int,int)", "h@(int,int)/LI", "h@(int,int)/LL"]);
}

#[test]
fn what_is_computed_for_all_is_cheap_ends_and_cannot_fail() {
    let select = |op: &Op| matches!(op, Op::Map(op) if op.row().mnemonic.starts_with("select"));
    let selects = |body: &str, functions: &str| {
        let text = format!("{functions} function h(v, b) = {{{body} : x in v}}; h([1, 2], 3);");
        count(&compile(&text), select)
    };
    assert_eq!(selects("if x == 3 then 4 else if x == 5 then 6 else 7", ""), 2, "nested branches");
    assert_eq!(selects("if x > 3 then (let y = x * x in if y == 9 then y else x) else b", ""), 2, "a let");
    assert_eq!(selects("if x > 3 and (x == 4 or x == 6) then b else x", ""), 1, "tests of scalars");
    assert_eq!(selects("if x > 3 then x / 2 else rem(x, -3)", ""), 1, "division by what it does not fail by");
    assert_eq!(selects("if x > 3 then x / 0 else 1", ""), 0, "division that fails");
    assert_eq!(selects("if x > 3 then x / -1 else 1", ""), 0, "the least int by -1");
    assert_eq!(selects("if x > 3 then x / b else 1", ""), 0, "division that may fail");
    assert_eq!(selects("if x > 3 then rand(x) else 1", ""), 0, "a draw");
    let small = "function square(x) = x * x; function fourth(x) = square(square(x));";
    assert_eq!(selects("if x > 3 then fourth(x) else 1", small), 1, "small functions");
    let recursive = "function count(n) = if n > 0 then 1 + count(n - 1) else 0;";
    assert_eq!(selects("if x > 3 then count(x) else 1", recursive), 0, "recursion");
    let mutual = "function even(n) = if n > 0 then odd(n - 1) else 1; function odd(n) = even(n);";
    assert_eq!(selects("if x > 3 then even(x) else 1", mutual), 0, "recursion by way of another");
    let polynomial = |terms: usize| format!("if x > 3 then {} else 1", vec!["x"; terms].join(" + "));
    assert_eq!((selects(&polynomial(25), ""), selects(&polynomial(26), "")), (1, 0), "24 operations and 25");
    let record = "datatype both(int, float);";
    assert_eq!(selects("if x > 3 then both(x, 1.0) else both(b, 2.0)", record), 2, "records of scalars");
}
