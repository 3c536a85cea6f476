//! The reference evaluator on core built by hand, so that it is tested without the parser and the checker. Expected
//! results are those of CMU NESL where it defines them, and are otherwise worked out from the meaning, not from the
//! evaluator.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

use nesl_frontend::core::{Expr, ExprKind, Form, Function, FunctionBody, FunctionId, Global, GlobalId};
use nesl_frontend::core::{Intrinsic, Program, Variable, VariableId};
use nesl_frontend::eval::{EvalError, Evaluator, Globals, Value};
use nesl_frontend::ty::{Class, Scheme, Type};
use nesl_prim::{Failure, ScalarValue, meaning};
use nesl_span::{FileId, Span};
use std::sync::Arc;

/// The intrinsics of the test program, which have these numbers; functions defined by a test follow.
const INTRINSICS: [&str; 32] = [
    "+",
    "-",
    "*",
    "/",
    "==",
    "<",
    "and",
    "or",
    "length",
    "dist",
    "elt",
    "iseq",
    "subseq",
    "->",
    "<-",
    "permute",
    "++",
    "flatten",
    "partition",
    "sum",
    "product",
    "max_val",
    "min_val",
    "any",
    "all",
    "parity",
    "plus_scan",
    "mult_scan",
    "max_scan",
    "and_scan",
    "rand",
    "rand_seed",
];
const FIRST: FunctionId = FunctionId(INTRINSICS.len());
const SECOND: FunctionId = FunctionId(INTRINSICS.len() + 1);

/// The span of hand-made core: byte `at`.
fn span(at: u32) -> Span {
    Span { file: FileId(0), start: at, end: at + 1 }
}

/// The evaluator reads no type of an expression, so all are alike here.
fn expr(kind: ExprKind) -> Expr {
    Expr { kind, ty: Type::INT, span: span(0) }
}

fn int(value: i64) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Int(value)))
}

fn float(value: f64) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Float(value)))
}

fn boolean(value: bool) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Bool(value)))
}

fn ints(values: &[i64]) -> Expr {
    expr(ExprKind::Constants(values.iter().copied().map(ScalarValue::Int).collect()))
}

fn floats(values: &[f64]) -> Expr {
    expr(ExprKind::Constants(values.iter().copied().map(ScalarValue::Float).collect()))
}

fn bools(values: &[bool]) -> Expr {
    expr(ExprKind::Constants(values.iter().copied().map(ScalarValue::Bool).collect()))
}

fn string(text: &str) -> Expr {
    expr(ExprKind::Constants(text.bytes().map(ScalarValue::Char).collect()))
}

fn sequence(elements: Vec<Expr>) -> Expr {
    expr(ExprKind::Sequence(elements))
}

fn tuple<const N: usize>(parts: [Expr; N]) -> Expr {
    let mut parts = Vec::from(parts);
    let last = parts.pop().unwrap();
    parts.into_iter().rfold(last, |rest, first| expr(ExprKind::Pair(Box::new(first), Box::new(rest))))
}

fn variable(id: usize) -> Expr {
    expr(ExprKind::Variable(VariableId(id)))
}

fn binding(id: usize) -> Variable {
    Variable { id: VariableId(id), name: "v".into(), ty: Type::INT }
}

fn with(id: usize, value: Expr, body: Expr) -> Expr {
    expr(ExprKind::Let { variable: binding(id), value: Box::new(value), body: Box::new(body) })
}

fn choose(condition: Expr, then_branch: Expr, else_branch: Expr) -> Expr {
    let [condition, then_branch, else_branch] = [condition, then_branch, else_branch].map(Box::new);
    expr(ExprKind::If { condition, then_branch, else_branch })
}

fn each<const N: usize>(sources: [(usize, Expr); N], filter: Option<Expr>, body: Expr) -> Expr {
    let sources = sources.into_iter().map(|(id, source)| (binding(id), source)).collect();
    expr(ExprKind::Each { sources, filter: filter.map(Box::new), body: Box::new(body) })
}

fn call(function: FunctionId, type_arguments: &[Type], argument: Expr) -> Expr {
    expr(ExprKind::Call { function, type_arguments: type_arguments.to_vec(), argument: Box::new(argument) })
}

fn at(place: u32, expr: Expr) -> Expr {
    Expr { span: span(place), ..expr }
}

/// The call of an intrinsic whose result does not depend on types.
fn op<const N: usize>(name: &str, operands: [Expr; N]) -> Expr {
    op_of(Type::INT, name, operands)
}

/// The call of an intrinsic at the type that stands for its one type parameter.
fn op_of<const N: usize>(element: Type, name: &str, operands: [Expr; N]) -> Expr {
    let number = INTRINSICS.iter().position(|intrinsic| *intrinsic == name).expect(name);
    call(FunctionId(number), &[element], tuple(operands))
}

fn function(parameter: Type, body: FunctionBody) -> Function {
    let scheme = Scheme { classes: vec![Class::Any], parameter, result: Type::Parameter(0) };
    Function { name: "f".into(), span: span(99), scheme, parameters: Vec::new(), keywords: Vec::new(), body, doc: None }
}

/// The intrinsics, and a function of variable 0 for each body.
fn program(bodies: impl IntoIterator<Item = Expr>) -> Program {
    let intrinsics = INTRINSICS.into_iter().map(|name| {
        let intrinsic = Intrinsic::by_name(name).expect(name);
        function(Type::sequence(Type::Parameter(0)), FunctionBody::Intrinsic(intrinsic))
    });
    let defined = bodies.into_iter().map(|body| {
        function(Type::Parameter(0), FunctionBody::Defined { parameter: binding(0), body: Arc::new(body) })
    });
    Program { functions: intrinsics.chain(defined).collect(), variables: 100, ..Program::default() }
}

fn evaluate_in(program: &Program, expr: &Expr, seed: i64) -> Result<Value, EvalError> {
    Evaluator::new(program).evaluate(expr, &Globals::new(), seed)
}

fn evaluate(expr: Expr) -> Result<Value, EvalError> {
    evaluate_in(&program([]), &expr, 1)
}

fn shows(expr: Expr, ty: Type, text: &str) {
    assert_eq!(evaluate(expr).unwrap().text(&ty), text);
}

fn fails(expr: Expr, failure: Failure) {
    assert_eq!(evaluate(expr).unwrap_err().failure, failure);
}

fn int_sequence() -> Type {
    Type::sequence(Type::INT)
}

fn char_sequence() -> Type {
    Type::sequence(Type::CHAR)
}

#[test]
fn sequences_are_made_and_taken_apart() {
    shows(op("length", [string("")]), Type::INT, "0");
    shows(op("dist", [string("ab"), int(2)]), Type::sequence(char_sequence()), "[\"ab\", \"ab\"]");
    shows(op("dist", [int(7), int(0)]), int_sequence(), "[]");
    fails(op("dist", [int(7), int(-1)]), Failure::NegativeLength { length: -1 });
    shows(op("elt", [string("wombat"), int(1)]), Type::CHAR, "`o");
    fails(op("elt", [ints(&[5]), int(1)]), Failure::IndexOutOfRange { index: 1, length: 1 });
    fails(op("elt", [ints(&[5]), int(-1)]), Failure::IndexOutOfRange { index: -1, length: 1 });
    shows(op("iseq", [int(7), int(2), int(15)]), int_sequence(), "[7, 9, 11, 13]");
    shows(op("iseq", [int(0), int(1), int(0)]), int_sequence(), "[]");
    fails(op("iseq", [int(5), int(1), int(1)]), Failure::BadRange { start: 5, end: 1, stride: 1 });
    let wide = op("iseq", [int(i64::MIN), int(1 << 62), int(i64::MAX)]);
    shows(wide, int_sequence(), "[-9223372036854775808, -4611686018427387904, 0, 4611686018427387904]");
    shows(op("subseq", [string("abcdefgh"), int(2), int(6)]), char_sequence(), "\"cdef\"");
    let outside = Failure::BadSubsequence { start: 2, end: 4, length: 3 };
    fails(op("subseq", [string("abc"), int(2), int(4)]), outside);
    shows(op("++", [ints(&[1]), ints(&[2, 3])]), int_sequence(), "[1, 2, 3]");
}

#[test]
fn absurd_lengths_fail_before_anything_is_allocated() {
    let huge = [op("dist", [int(0), int(i64::MAX)]), op("iseq", [int(0), int(1), int(i64::MAX)])];
    for expr in huge {
        assert!(matches!(evaluate(expr).unwrap_err().failure, Failure::OutOfMemory { .. }));
    }
}

#[test]
fn data_moves_by_index() {
    shows(op("->", [string("wombat"), ints(&[0, 5, 5])]), char_sequence(), "\"wtt\"");
    fails(op("->", [ints(&[1, 2]), ints(&[0, 2])]), Failure::IndexOutOfRange { index: 2, length: 2 });
    let pairs = |indices: [i64; 2]| sequence(vec![tuple([int(indices[0]), int(5)]), tuple([int(indices[1]), int(7)])]);
    shows(op("<-", [ints(&[0, 0, 0]), pairs([1, 1])]), int_sequence(), "[0, 7, 0]");
    fails(op("<-", [ints(&[0, 0]), pairs([0, -1])]), Failure::IndexOutOfRange { index: -1, length: 2 });
    shows(op("permute", [string("abc"), ints(&[2, 0, 1])]), char_sequence(), "\"bca\"");
    fails(op("permute", [ints(&[1]), ints(&[0, 1])]), Failure::LengthMismatch { left: 1, right: 2 });
    fails(op("permute", [ints(&[1, 2, 3]), ints(&[0, 0, 3])]), Failure::IndexOutOfRange { index: 3, length: 3 });
    fails(op("permute", [ints(&[1, 2, 3]), ints(&[1, 0, 1])]), Failure::NotAPermutation { index: 1 });
}

#[test]
fn nesting_is_added_and_removed() {
    let nested = Type::sequence(int_sequence());
    shows(op("partition", [ints(&[1, 2, 3, 4]), ints(&[1, 0, 3])]), nested, "[[1], [], [2, 3, 4]]");
    fails(op("partition", [ints(&[1, 2]), ints(&[1, -1, 2])]), Failure::NegativeLength { length: -1 });
    fails(op("partition", [ints(&[1, 2]), ints(&[1, 2])]), Failure::BadPartition { sum: 3, length: 2 });
    shows(op("flatten", [sequence(vec![ints(&[1]), ints(&[]), ints(&[2, 3])])]), int_sequence(), "[1, 2, 3]");
    shows(op("flatten", [sequence(vec![])]), char_sequence(), "\"\"");
}

#[test]
fn reductions_and_scans_start_from_the_identity() {
    shows(op("sum", [ints(&[1, 3, 5, 7])]), Type::INT, "16");
    shows(op("product", [ints(&[2, 3, 4])]), Type::INT, "24");
    shows(op("any", [ints(&[3, 6, 8])]), Type::INT, "15");
    shows(op("all", [ints(&[3, 6, 7])]), Type::INT, "2");
    shows(op("parity", [ints(&[2, 3, 4, 9])]), Type::INT, "12");
    shows(op_of(Type::CHAR, "max_val", [string("abc")]), Type::CHAR, "`c");
    shows(op_of(Type::BOOL, "all", [bools(&[true, false])]), Type::BOOL, "f");
    shows(op("plus_scan", [ints(&[1, 3, 5, 7])]), int_sequence(), "[0, 1, 4, 9]");
    shows(op("mult_scan", [ints(&[2, 3, 4])]), int_sequence(), "[1, 2, 6]");
    shows(op("max_scan", [ints(&[3, 2, 1, 6, 5])]), int_sequence(), "[-9223372036854775808, 3, 3, 3, 6]");
    let flags = op_of(Type::BOOL, "and_scan", [bools(&[true, false, true])]);
    shows(flags, Type::sequence(Type::BOOL), "[t, t, f]");
}

#[test]
fn the_type_decides_what_an_empty_reduction_gives() {
    shows(op("sum", [ints(&[])]), Type::INT, "0");
    shows(op_of(Type::FLOAT, "product", [floats(&[])]), Type::FLOAT, "1.0");
    shows(op("max_val", [ints(&[])]), Type::INT, "-9223372036854775808");
    shows(op_of(Type::FLOAT, "max_val", [floats(&[])]), Type::FLOAT, "-inf");
    shows(op_of(Type::FLOAT, "min_val", [floats(&[])]), Type::FLOAT, "inf");
    shows(op_of(Type::BOOL, "any", [bools(&[])]), Type::BOOL, "f");
    shows(op("all", [ints(&[])]), Type::INT, "-1");
    // A polymorphic function hands its own type argument on: f(v) = max_val(v) at [float].
    let program = program([op_of(Type::Parameter(0), "max_val", [variable(0)])]);
    let value = evaluate_in(&program, &call(FIRST, &[Type::FLOAT], floats(&[])), 1).unwrap();
    assert_eq!(value, Value::float(f64::NEG_INFINITY));
}

#[test]
fn float_sums_have_their_defined_order() {
    // Lanes 0 and 1 meet last: (1e16 + -1e16 in lane 0) + (1.0 in lane 1); from left to right the 1.0 would be lost.
    let mut elements = [0.0; 17];
    (elements[0], elements[1], elements[16]) = (1e16, 1.0, -1e16);
    shows(op_of(Type::FLOAT, "sum", [floats(&elements)]), Type::FLOAT, "1.0");
    let scan = op_of(Type::FLOAT, "plus_scan", [floats(&[1e16, 1.0, -1e16, 0.0])]);
    shows(scan, Type::sequence(Type::FLOAT), "[0.0, 1e16, 1e16, 0.0]");
}

#[test]
fn conditionals_and_connectives_evaluate_what_is_needed() {
    let broken = || op("==", [op("/", [int(1), int(0)]), int(1)]);
    shows(choose(boolean(true), int(1), broken()), Type::INT, "1");
    shows(op("and", [boolean(false), broken()]), Type::BOOL, "f");
    shows(op("or", [boolean(true), broken()]), Type::BOOL, "t");
    fails(op("and", [boolean(true), broken()]), Failure::DivideByZero { dividend: 1 });
    fails(op("or", [boolean(false), broken()]), Failure::DivideByZero { dividend: 1 });
    fails(op("and", [int(0), op("/", [int(1), int(0)])]), Failure::DivideByZero { dividend: 1 });
    shows(op("and", [int(6), int(3)]), Type::INT, "2");
    fails(with(1, broken(), int(1)), Failure::DivideByZero { dividend: 1 });
}

#[test]
fn apply_to_each_walks_its_sources_together() {
    let sources = || [(1, ints(&[1, 2, 3])), (2, ints(&[10, 20, 30]))];
    let sum = || op("+", [variable(1), variable(2)]);
    shows(each(sources(), None, sum()), int_sequence(), "[11, 22, 33]");
    shows(each(sources(), Some(op("<", [int(1), variable(1)])), sum()), int_sequence(), "[22, 33]");
    let uneven = each([(1, ints(&[1])), (2, ints(&[2])), (3, ints(&[]))], None, int(0));
    fails(uneven, Failure::LengthMismatch { left: 1, right: 0 });
    let reciprocals = |filter| each([(1, ints(&[2, 0]))], filter, op("/", [int(2), variable(1)]));
    shows(reciprocals(Some(op("<", [int(0), variable(1)]))), int_sequence(), "[1]");
    fails(reciprocals(None), Failure::DivideByZero { dividend: 2 });
    shows(each([(1, ints(&[]))], None, op("/", [int(1), int(0)])), int_sequence(), "[]");
    // Inner bodies see the outer element: {{x + y : y in [0, 1]} : x in [10, 20]}.
    let inner = each([(2, ints(&[0, 1]))], None, sum());
    shows(each([(1, ints(&[10, 20]))], None, inner), Type::sequence(int_sequence()), "[[10, 11], [20, 21]]");
}

/// Counts to n by recursion: `f(n) = if n == 0 then 0 else 1 + f(n - 1)`.
fn counting() -> Expr {
    let inner = call(FIRST, &[], op("-", [variable(0), int(1)]));
    choose(op("==", [variable(0), int(0)]), int(0), op("+", [int(1), inner]))
}

#[test]
fn recursion_is_deep_but_ends() {
    let program = program([counting()]);
    assert_eq!(evaluate_in(&program, &call(FIRST, &[], int(99_999)), 1).unwrap(), Value::int(99_999));
    let error = evaluate_in(&program, &call(FIRST, &[], int(100_000)), 1).unwrap_err();
    assert_eq!(error.failure, Failure::RecursionTooDeep { depth: 100_000 });
    assert_eq!(error.calls.len(), 100_000);
    let mut small = Evaluator::new(&program).with_call_limit(3);
    let error = small.evaluate(&call(FIRST, &[], int(3)), &Globals::new(), 1).unwrap_err();
    assert_eq!(error.failure, Failure::RecursionTooDeep { depth: 3 });
}

#[test]
fn calls_that_end_functions_and_come_back_take_no_depth() {
    // f(n) = if n == 0 then 0 else let m = n - 1 in g(m), and g(n) = if n == 0 then 1 else f(n - 1): is n odd?
    let less = || op("-", [variable(0), int(1)]);
    let is_zero = || op("==", [variable(0), int(0)]);
    let first = choose(is_zero(), int(0), with(1, less(), call(SECOND, &[], variable(1))));
    let second = choose(is_zero(), int(1), at(7, call(FIRST, &[], less())));
    let program = program([first, second]);
    let mut evaluator = Evaluator::new(&program).with_call_limit(2);
    for (n, odd) in [(0, 0), (1, 1), (300_000, 0), (300_001, 1)] {
        let value = evaluator.evaluate(&call(FIRST, &[], int(n)), &Globals::new(), 1);
        assert_eq!(value, Ok(Value::int(odd)), "of {n}");
    }
}

#[test]
fn recursion_inside_apply_to_each_sorts() {
    // quicksort: f(a) = if #a < 2 then a else let p = a[0] in f({e in a | e < p}) ++ … through an apply-to-each.
    let keep = |filter: Expr| each([(2, variable(0))], Some(filter), variable(2));
    let below = keep(op("<", [variable(2), variable(1)]));
    let above = keep(op("<", [variable(1), variable(2)]));
    let equal = keep(op("==", [variable(1), variable(2)]));
    let sorted = each([(3, sequence(vec![below, above]))], None, call(FIRST, &[], variable(3)));
    let pick = |index| op("elt", [variable(4), int(index)]);
    let joined = with(4, sorted, op("++", [op("++", [pick(0), equal]), pick(1)]));
    let split = with(1, op("elt", [variable(0), int(0)]), joined);
    let program = program([choose(op("<", [op("length", [variable(0)]), int(2)]), variable(0), split)]);
    let unsorted = ints(&[8, 14, -8, -9, 5, -9, -3, 0, 17, 19]);
    let value = evaluate_in(&program, &call(FIRST, &[Type::INT], unsorted), 1).unwrap();
    assert_eq!(value.text(&int_sequence()), "[-9, -9, -8, -3, 0, 5, 8, 14, 17, 19]");
}

#[test]
fn errors_name_the_place_and_the_calls() {
    let dividing = at(10, op("/", [int(1), variable(0)]));
    let calling = at(20, call(FIRST, &[], variable(0)));
    let program = program([dividing, calling]);
    let error = evaluate_in(&program, &at(30, call(SECOND, &[], int(0))), 1).unwrap_err();
    assert_eq!(error.failure, Failure::DivideByZero { dividend: 1 });
    assert_eq!((error.span, error.calls), (span(10), vec![span(20), span(30)]));
    let direct = Evaluator::new(&program).call(SECOND, &[], Value::int(0), &Globals::new(), 1).unwrap_err();
    assert_eq!((direct.span, direct.calls), (span(10), vec![span(20), span(99)]));
    let uneven = at(40, each([(1, ints(&[1])), (2, ints(&[]))], None, int(0)));
    assert_eq!(evaluate(uneven).unwrap_err().span, span(40));
}

fn draw() -> Expr {
    op("rand", [int(1_000_000)])
}

fn drawn(seed: i64) -> i64 {
    meaning::rand_int(seed, 1_000_000).unwrap()
}

#[test]
fn draws_follow_one_another() {
    let value = evaluate_in(&program([]), &sequence(vec![draw(), draw()]), 5).unwrap();
    let expected = [drawn(5), drawn(meaning::seed_next(5))];
    assert_eq!(value, Value::sequence(expected.map(Value::int)));
    let restarted = sequence(vec![draw(), with(1, op("rand_seed", [int(5)]), draw())]);
    assert_eq!(evaluate_in(&program([]), &restarted, 5).unwrap(), Value::sequence([drawn(5); 2].map(Value::int)));
    fails(op("rand", [int(0)]), Failure::NotPositive { value: ScalarValue::Int(0) });
    let real = evaluate_in(&program([]), &op("rand", [float(2.0)]), 5).unwrap();
    assert_eq!(real, Value::float(meaning::rand_float(5, 2.0).unwrap()));
}

#[test]
fn every_instance_has_a_seed_of_its_own() {
    // Through a call, with a filter that drops instance 0 and draws nothing: the position before filtering counts.
    let program = program([draw()]);
    let body = || call(FIRST, &[], variable(1));
    let source = || ints(&[0, 1, 1]);
    let filtered = each([(1, source())], Some(op("==", [variable(1), int(1)])), body());
    let value = evaluate_in(&program, &tuple([filtered, draw()]), 5).unwrap();
    let split = |index| Value::int(drawn(meaning::seed_split(5, index)));
    assert_eq!(value, Value::pair(Value::sequence([split(1), split(2)]), Value::int(drawn(meaning::seed_next(5)))));
    // A filter that draws: the body goes on where it stopped.
    let filter = op("<", [int(-1), draw()]);
    let value = evaluate_in(&program, &each([(1, source())], Some(filter), draw()), 5).unwrap();
    let second = |index| Value::int(drawn(meaning::seed_next(meaning::seed_split(5, index))));
    assert_eq!(value, Value::sequence([second(0), second(1), second(2)]));
    // Sources draw before the split, and an empty apply-to-each that could draw advances the seed all the same.
    let source = op("dist", [draw(), op("length", [ints(&[])])]);
    let value = evaluate_in(&program, &tuple([each([(1, source)], None, draw()), draw()]), 5).unwrap();
    let after = meaning::seed_next(meaning::seed_next(5));
    assert_eq!(value, Value::pair(Value::sequence([]), Value::int(drawn(after))));
}

#[test]
fn an_apply_to_each_that_cannot_draw_leaves_the_seed() {
    let idle = each([(1, ints(&[1, 2]))], None, variable(1));
    let value = evaluate_in(&program([]), &with(2, idle, draw()), 5).unwrap();
    assert_eq!(value, Value::int(drawn(5)));
}

#[test]
fn assignments_keep_the_parts_and_the_seed_can_go_on() {
    let mut program = program([]);
    for _ in 0..2 {
        program.globals.push(Global { name: "g".into(), span: span(0), ty: Type::INT });
    }
    let mut evaluator = Evaluator::new(&program);
    let mut globals = Globals::new();
    // g0 and g1 are the second and third part of a triple.
    let targets = vec![(GlobalId(0), vec![true, false]), (GlobalId(1), vec![true, true])];
    let value = Arc::new(tuple([int(1), int(2), draw()]));
    evaluator.form(&Form::Assignment { targets, value }, &mut globals, 5).unwrap();
    assert_eq!((&globals[&GlobalId(0)], &globals[&GlobalId(1)]), (&Value::int(2), &Value::int(drawn(5))));
    assert_eq!(evaluator.seed(), meaning::seed_next(5));
    let global = |number| expr(ExprKind::Global(GlobalId(number)));
    let form = Form::Expression(Arc::new(op("+", [global(0), int(40)])));
    assert_eq!(evaluator.form(&form, &mut globals, 5).unwrap(), Some(Value::int(42)));
    assert_eq!(evaluator.form(&Form::Function(FIRST), &mut globals, 5).unwrap(), None);
}

#[test]
fn pairs_come_apart() {
    let triple = || tuple([int(1), int(2), int(3)]);
    let rest = |pair: Expr| expr(ExprKind::Rest(Box::new(pair)));
    let first = |pair: Expr| expr(ExprKind::First(Box::new(pair)));
    shows(rest(triple()), Type::pair(Type::INT, Type::INT), "(2, 3)");
    shows(first(rest(triple())), Type::INT, "2");
}
