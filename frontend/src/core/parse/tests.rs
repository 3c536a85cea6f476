//! What the parser takes, and what it says of what it does not take.

use super::*;
use crate::core::print;

fn same(text: &str) {
    let read = program(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(print::program(&read), text);
}

fn failure(text: &str) -> String {
    program(text).expect_err(text).to_string()
}

#[test]
fn what_is_printed_reads_back() {
    same(
        "\
datatype point@0 : (int, int)
datatype pack : ((a, [a]), (a -> (b, ()) by c)) :: (a in number; b in any; c in function)
datatype point@2 : float
global origin : point@0()
global 'x.y' : int
function point@0 : (int, int) -> point@0() = λpayload#0. construct[point@0()](payload#0)
function pack : ((a, [a]), (a -> (b, ()) by c)) -> pack(a, b, c) :: (a in number; b in any; c in function) = missing
function point@2 : float -> point@2() = missing
",
    );
    same("function value g : int -> (int -> int by g{}) = missing\n");
    same("function g : (a1, [z]) -> (a -> a by nobody) = missing\n");
    same("function g@0 : int -> int = missing\nfunction g@1 : int -> int = λg#3. g@0(g@1(g#3))\n");
    same("function 'apply' : (int, int, int) -> int with (_, 'let' := 'apply', d := @7) = missing\n");
    same("function 'it\\'s\\u{a}' : [a] -> a :: (a in scalar) = missing\n");
    same(
        "\
function -> : ([a], [int]) -> [a] :: (a in any) = built in
function <- : [int] -> [int] = λx#0. ->[int](x#0, constants[0])
",
    );
}

#[test]
fn expressions_read_back_whatever_their_types() {
    let head = "global origin : int\nfunction f : int -> int = missing\nfunction t : a -> a :: (a in any) = missing\n";
    for body in [
        "()",
        "(x#0, (1, -2))",
        "((), -inf)",
        "[t, f]",
        "[nan, inf]",
        "([] : [(int, [a])])",
        "(constants[] : [char])",
        "\"a\\x00\\\"b\"",
        "constants[1.5, -0.0, 1e300]",
        "[`a, `\\x20, `\\x0a, `']",
        "t[int](f(1))",
        "t[bool](f)",
        "$origin",
        "(let x#1 = 2 in (x#1, x#1)).first",
        "let x#1 : float = let y#2 = 1 in y#2 in (x#1, 2).rest",
        "(if t then (1, 2) else (3, 4)).rest",
        "if t then let x#1 = 1 in x#1 else let x#1 = t in 3",
        "{each x#1 in [1]; 'in'#2 in [2] | t : (x#1, 'in'#2).first}",
        "{each  : 1}",
        "apply closure f{}(1)",
        "(apply apply closure f{}(1)(2) : int)",
        "apply (closure f{} : (int -> (int, int) by f{}))(1).first",
        "(closure t[(int -> int by t[int]{[int], float})]{x#0, 1} : int)",
        "((1, 2) : int)",
        "f((1, 2), 3)",
        "f(((1, 2) : int))",
        "(apply (1)(2) : int)",
        "((1).first : int)",
        "((f(1) : float), (@99[int](2) : int))",
        "construct[int](1)",
        "((1).payload : float)",
        "(unbound#77 : int)",
    ] {
        let text = format!("{head}function g : int -> int = λx#0. {body}\n");
        let read = program(&text).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(print::program(&read).lines().last(), text.lines().last());
        let mut outer = program(head).unwrap_or_else(|error| panic!("{error}"));
        outer.variables = 100;
        let form =
            form(&format!("show {}", body.replace("x#0", "1")), &mut outer).map(|form| print::form(&form, &outer));
        assert_eq!(form, Ok(format!("show {}", body.replace("x#0", "1"))));
        assert_eq!(outer.variables, 100);
    }
}

#[test]
fn forms_read_back() {
    let mut outer = program("global a : int\nglobal b : int\nfunction g : int -> int = missing\n").expect("a program");
    for text in ["define g", "show let x#8 = 1 in x#8", "assign $a.first.rest, $b = (1, 2)", "assign $a = 1"] {
        let form = form(text, &mut outer).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(print::form(&form, &outer), text);
    }
    assert_eq!(outer.variables, 9);
}

#[test]
fn declarations_go_on_over_indented_lines_and_numbers_may_be_left_out() {
    let text = "
function g : int -> int =
    λn#0.
        g@0(n#0)

function h : int -> int = missing
";
    let read = program(text).expect("a program");
    let lines = ["function g : int -> int = λn#0. g(n#0)\n", "function h : int -> int = missing\n"];
    assert_eq!(print::program(&read), lines.concat());
}

#[test]
fn mistakes_say_where_and_what() {
    let g = |body: &str| failure(&format!("function g : int -> int = {body}"));
    assert_eq!(failure("fun g"), "1:1: expected a declaration");
    assert_eq!(failure("\n\nfunction let : int"), "3:10: expected a name");
    assert_eq!(failure("function g@1 : int -> int = missing"), "1:13: the next number is 0");
    assert_eq!(failure("function g : integer -> int = missing"), "1:14: expected a type");
    assert_eq!(failure("function g : point() -> int = missing"), "1:14: nothing is called `point`");
    assert_eq!(failure("function g : @3() -> int = missing"), "1:14: nothing is called `@3`");
    assert_eq!(failure("function g : int -> int :: (b in any) = missing"), "1:29: expected the next type parameter");
    assert_eq!(failure("function g : int -> int = built in"), "1:35: no built-in operation is called `g`");
    assert_eq!(
        failure("global a : int\nglobal a : int\nfunction g : int -> int = λx#0. $a"),
        "3:34: several are called `a`"
    );
    assert_eq!(g("λx#0. h(1)"), "1:33: nothing is called `h`");
    assert_eq!(g("λx#0. "), "1:33: expected an expression");
    assert_eq!(g("λx#0. []"), "1:33: nothing tells the type of the expression");
    assert_eq!(g("λx#0. (1).first"), "1:33: nothing tells the type of the expression");
    assert_eq!(g("λx#0. {each y#1 in 1 : 2}"), "1:39: nothing tells the type of the expression");
    assert_eq!(g("λx#0. 99999999999999999999"), "1:33: the number is out of range");
    assert_eq!(g("λx#0. x#0 x#0"), "1:37: expected the end of the line");
    assert!(g(&format!("λx#0. {}", "(".repeat(100_000))).ends_with("nested too deeply"));
    assert!(failure(&format!("global g : {}", "[".repeat(100_000))).ends_with("nested too deeply"));
}
