//! One broken program for each problem, next to one that is right.

use super::*;
use crate::core::parse;

const BASE: &str = "
datatype point : (int, int)
datatype pack : (a, (a -> a by b)) :: (a in number; b in function)
global origin : point()
function + : (a, a) -> a :: (a in number) = built in
function later : int -> int = missing
function value inc : int -> int = λn#0. +[int](n#0, 1)
function value 'lambda at 1:1' : (a, a) -> a :: (a in number) = λp#1. +[a](p#1.first, p#1.rest)
function adder : a -> (a -> a by 'lambda at 1:1'[a]{a}) :: (a in number) =
    λx#2. closure 'lambda at 1:1'[a]{x#2}
function twice : ((a -> a by b), a) -> a :: (a in any; b in function) =
    λp#3. apply p#3.first(apply p#3.first(p#3.rest))
function all : [int] -> [int] = λv#4. {each x#5 in v#4; y#6 in v#4 | t : twice[int, inc{}](closure inc{}, x#5)}
function 'f.d' : int -> float = λany#7. 1.5
function f : (int, float) -> float with (_, d := 'f.d') =
    λp#8. let q#9 = construct[pack(float, 'lambda at 1:1'[float]{float})](p#8.rest, adder[float](p#8.rest)) in
        if f then q#9.payload.first else 2.0
function point : (int, int) -> point() = λpayload#10. construct[point()](payload#10)
function pack : (a, (a -> a by b)) -> pack(a, b) :: (a in number; b in function) =
    λpayload#11. construct[pack(a, b)](payload#11)
";

fn parsed(text: &str) -> Program {
    parse::program(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn parsed_form(text: &str, program: &mut Program) -> Form {
    parse::form(text, program).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The problems of the program above with more declarations.
fn problems(more: &str) -> Vec<String> {
    let program = parsed(&format!("{BASE}{more}\n"));
    messages(verify(&program, &[], Verified::default()))
}

/// The problems of a form of that program.
fn form_problems(form: &str) -> Vec<String> {
    let mut program = parsed(BASE);
    let form = parsed_form(form, &mut program);
    messages(verify(&program, &[form], Verified::all(&program)).map_err(|mut found| {
        // Its variables have been counted.
        found.retain(|violation| !matches!(violation.problem, CoreProblem::OldNumber(_)));
        found
    }))
}

fn messages(found: Result<(), Vec<Violation>>) -> Vec<String> {
    found.err().into_iter().flatten().map(|violation| violation.problem.to_string()).collect()
}

#[test]
fn what_is_right_has_no_problems() {
    assert_eq!(problems(""), [""; 0]);
    assert_eq!(form_problems("show (apply closure inc{}(1), (constants[] : [char]))"), [""; 0]);
    assert_eq!(form_problems("assign $origin = construct[point()](1, 2)"), [""; 0]);
    assert_eq!(form_problems("define later"), [""; 0]);
}

#[test]
fn variables_are_bound_once_and_mentioned_where_they_are_bound() {
    let g = |body: &str| problems(&format!("function g : int -> int = λn#20. {body}"));
    assert_eq!(g("let n#20 = 1 in n#20"), ["#20 is bound twice"]);
    assert_eq!(g("let m#5 = 1 in m#5"), ["#5 is bound twice"]);
    assert_eq!(g("(m#21 : int)"), ["#21 is not bound here"]);
    assert_eq!(g("+[int](let m#21 = 1 in m#21, m#21)"), ["#21 is not bound here"]);
    assert_eq!(g("let v#22 = {each x#21 in [1] : x#21} in x#21"), ["#21 is not bound here"]);
    assert_eq!(g("let v#22 = {each x#21 in [1]; y#23 in [(x#21 : int)] : 1} in 1"), ["#21 is not bound here"]);
}

#[test]
fn numbers_of_variables_are_new_and_counted() {
    let mut program = parsed(BASE);
    let form = [parsed_form("show let x#30 = 1 in x#30", &mut program)];
    let before = |variables| Verified { variables, ..Verified::all(&program) };
    assert_eq!(messages(verify(&program, &form, before(30))), [""; 0]);
    assert_eq!(messages(verify(&program, &form, before(31))), ["#30 may be bound in an earlier text"]);
    program.variables = 30;
    let before = Verified::all(&program);
    assert_eq!(messages(verify(&program, &form, before)), ["#30 is not below the number of variables"]);
}

#[test]
fn types_follow_from_parts() {
    let show = |text: &str| form_problems(&format!("show {text}"));
    for (text, expected) in [
        ("((1, 2) : int)", "the type should be (int, int), is int"),
        ("(() : int)", "the type should be (), is int"),
        ("(1 : float)", "the type should be int, is float"),
        ("(\"a\" : [int])", "the type should be [char], is [int]"),
        ("($origin : int)", "the type should be point@0(), is int"),
        ("(let x#20 = 1 in x#20 : [int])", "the type should be int, is [int]"),
        ("([1] : int)", "the type should be [int], is int"),
        ("($origin.payload.rest : bool)", "the type should be int, is bool"),
        ("({each x#20 in [1] : t} : [int])", "the type should be [bool], is [int]"),
        ("(+[int](1, 2) : float)", "the type should be int, is float"),
        ("(apply closure inc{}(1) : float)", "the type should be int, is float"),
        ("(closure inc{} : int)", "the type should be (int -> int by @2{}), is int"),
        ("([] : int)", "int is not the type of a sequence"),
        ("(constants[] : [[int]])", "[[int]] is not the type of a sequence"),
        ("construct[int](1)", "int is not the type of a record"),
    ] {
        assert_eq!(show(text), [expected], "{text}");
    }
    assert_eq!(show("((1).first : int)"), ["int is not the type of a pair"]);
    assert_eq!(show("((1, 2).payload : int)"), ["(int, int) is not the type of a record"]);
    assert_eq!(show("(apply (1)(2) : int)"), ["int is not the type of a function"]);
    assert_eq!(show("{each x#20 : int in (1, 2) : x#20}"), ["(int, int) is not the type of a sequence"]);
}

#[test]
fn parts_have_the_types_that_their_places_want() {
    let show = |text: &str| form_problems(&format!("show {text}"));
    for (text, expected) in [
        ("inc(t)", "the argument should be int, is bool"),
        ("+[int](1, 2.0)", "the argument should be (int, int), is (int, float)"),
        ("apply closure inc{}(t)", "the argument should be int, is bool"),
        ("if 1 then 2 else 3", "the condition should be bool, is int"),
        ("if t then 2 else 3.0", "the else branch should be int, is float"),
        ("let x#20 : float = 1 in x#20", "the variable should be int, is float"),
        ("{each x#20 : float in [1] : x#20}", "the variable should be int, is float"),
        ("{each x#20 in [1] | x#20 : 1}", "the filter should be bool, is int"),
        ("[1, t]", "the element should be int, is bool"),
        ("constants[1, t]", "the element should be int, is bool"),
        ("construct[point()](1, t)", "the payload should be (int, int), is (int, bool)"),
    ] {
        assert_eq!(show(text), [expected], "{text}");
    }
    assert_eq!(problems("function g : int -> int = λn#20 : float. 1"), ["the parameter should be int, is float"]);
    assert_eq!(problems("function g : int -> bool = λn#20. n#20"), ["the body should be bool, is int"]);
}

#[test]
fn types_mention_what_exists_at_arguments_of_the_right_classes() {
    let show = |text: &str| form_problems(&format!("show {text}"));
    assert_eq!(show("(@99(1) : int)"), ["there is no function @99"]);
    assert_eq!(show("($@9 : int)"), ["there is no global @9"]);
    assert_eq!(show("(+(1, 2) : int)"), ["0 type arguments for 1 parameters"]);
    assert_eq!(show("+[bool](t, t)"), ["the type argument bool is not in the class number"]);
    assert_eq!(show("+[(int, int)]((1, 2), (1, 2))"), ["the type argument (int, int) is not in the class number"]);
    assert_eq!(show("([] : [a])"), ["there is no type parameter a here"]);
    assert_eq!(show("([] : [point(int)])"), ["1 type arguments for 0 parameters"]);
    assert_eq!(show("([] : [pack(bool, nobody)])"), ["the type argument bool is not in the class number"]);
    assert_eq!(show("([] : [inc{}])"), ["@2{} is not the type of a value"]);
    assert_eq!(show("([] : [pack(int, int)])"), ["int is not the type of an identity"]);
    assert_eq!(show("([] : [(int -> int by @99{})])"), ["there is no function @99"]);
    assert_eq!(show("([] : [(int -> int by adder{})])"), ["0 type arguments for 1 parameters"]);
    assert_eq!(show("([] : [(float -> int by inc{})])"), ["the function value is int -> int, not float -> int"]);
    assert_eq!(show("([] : [(int -> int by inc{int})])"), ["no function value has this identity"]);
    let g = |head: &str| problems(&format!("function g : {head} = missing"));
    assert_eq!(g("a -> b :: (a in any)"), ["there is no type parameter b here"]);
    assert_eq!(g("b -> a :: (a in function; b in any)").len(), 2);
    assert_eq!(
        g("(int -> b by a) -> b :: (a in function; b in any)"),
        ["type parameters for functions do not come last"]
    );
    assert_eq!(g("(int -> int by a) -> int :: (a in any)"), ["a is not the type of an identity"]);
    // The class of a parameter has to be within the one that is wanted.
    let sum = |class: &str| problems(&format!("function g : a -> a :: (a in {class}) = λn#20. +[a](n#20, n#20)"));
    assert_eq!(sum("number"), [""; 0]);
    assert_eq!(sum("ordinal"), ["the type argument a is not in the class number"]);
}

#[test]
fn function_values_are_what_their_types_say() {
    let show = |text: &str| form_problems(&format!("show {text}"));
    assert_eq!(show("closure twice[int, inc{}]{}"), ["@5 is not among the functions used as values"]);
    assert_eq!(
        show("let x#20 = 1 in closure 'lambda at 1:1'[int]{x#20}"),
        ["the lambda @3 does not have the type parameters of the function around it"]
    );
    let g =
        |body: &str| problems(&format!("function g : a -> (a -> a by @3[a]{{a}}) :: (a in number) = λx#20. {body}"));
    assert_eq!(g("closure 'lambda at 1:1'[a]{x#20}"), [""; 0]);
    assert_eq!(g("closure 'lambda at 1:1'[a]{+[a](x#20, x#20)}"), ["a captured value is no variable"]);
    let with_two = g("(closure 'lambda at 1:1'[a]{x#20, x#20} : (a -> a by @3[a]{a}))");
    assert_eq!(with_two, ["no function value has this identity"]);
    let nobody = "function g : (int -> int by nobody) -> int = λg#20. apply g#20(1)";
    assert_eq!(problems(nobody), ["calls a function that nothing determines"]);
    assert_eq!(problems("function 'lambda at 2:2' : int -> int = missing"), ["a lambda without a body"]);
}

#[test]
fn eaches_defaults_and_forms_are_whole() {
    assert_eq!(form_problems("show {each : 1}"), ["an apply-to-each without sources"]);
    let g = |default: &str| problems(&format!("function g : (int, int) -> int with (_, d := {default}) = missing"));
    assert_eq!(g("inc"), [""; 0]);
    for default in ["'f.d'", "twice", "@99"] {
        assert_eq!(g(default), ["the default of d is not a function of any int for this parameter"], "{default}");
    }
    let missing = ["reaches the function @1, which is not defined"];
    assert_eq!(form_problems("show later(1)"), missing);
    assert_eq!(form_problems("define @99"), ["there is no function @99"]);
    let target = ["the value has no part for the global @0"];
    assert_eq!(form_problems("assign $origin = 1"), target);
    assert_eq!(form_problems("assign $origin.first = $origin"), target);
    assert_eq!(form_problems("assign $origin.rest.first = 1"), target);
    assert_eq!(form_problems("assign $@9 = 1"), ["there is no global @9"]);
    let mut program = parsed(&format!("{BASE}function g : int -> int = λn#20. later(n#20)\n"));
    let form = parsed_form("show g(1)", &mut program);
    assert_eq!(messages(verify(&program, &[form], Verified::all(&program))), missing);
}

#[test]
fn violations_say_where_they_are() {
    let program = parsed(&format!("{BASE}function g : int -> int = λn#20. inc(t)\n"));
    let found = verify(&program, &[], Verified::default()).expect_err("a wrong argument");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["function g@11: the argument should be int, is bool: inc(t)"]);
}

#[test]
fn built_in_functions_have_the_types_of_what_they_do() {
    let found = |function: &str, ty: &str| problems(&format!("function {function} : {ty} = built in"));
    for (function, right, wrong) in [
        ("-", "(a, a) -> a :: (a in number)", "(a, a) -> a :: (a in ordinal)"),
        ("sqrt", "float -> float", "float -> int"),
        ("sum", "[a] -> a :: (a in number)", "[a] -> a :: (a in logical)"),
        ("max_scan", "[a] -> [a] :: (a in ordinal)", "[a] -> a :: (a in ordinal)"),
        ("sum_by_index", "([a], [(int, a)]) -> [a] :: (a in number)", "([a], [(a, int)]) -> [a] :: (a in number)"),
        ("length", "[a] -> int :: (a in any)", "a -> int :: (a in any)"),
        ("subseq", "([a], int, int) -> [a] :: (a in any)", "([a], int, int) -> [a] :: (a in scalar)"),
        ("char_rank", "[char] -> [int]", "[int] -> [char]"),
        ("host_write", "(int, [a]) -> [char] :: (a in scalar)", "(int, [a]) -> int :: (a in scalar)"),
        ("host_print", "[char] -> bool", "[char] -> [char]"),
        ("host_exit", "int -> a :: (a in any)", "float -> a :: (a in any)"),
    ] {
        assert_eq!(found(function, right), [""; 0], "{function}");
        assert_eq!(found(function, wrong), [format!("no built-in function of this name is {wrong}")], "{function}");
    }
}
