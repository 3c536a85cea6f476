//! What is said about mistakes. Every snapshot holds the text and the report.

mod parse_printer;

use parse_printer::{codes, form, report};

/// One snapshot for each named text.
macro_rules! reports {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(report($text));
        }
    )*};
}

reports! {
    unexpected_character: "x = \\ + 1;";
    unclosed_comment: "x = 1;\n% to be continued\ny = 2;";
    unclosed_string: "x = 1; y = \"abc;\nz = 2;";
    letter_after_number: "x = 12ab;";
    second_point: "x = 1.5.2;";
    int_too_large: "x = 9223372036854775808;";
    float_too_large: "x = 1e999;";
    wide_character: "x = `é;";
    no_character: "x = `";
    missing_terminator: "x = 1;\ny = x + 1\n";
    missing_terminator_before_function: "function g(x) = x + 1\nfunction h(x) = g(x);";
    missing_else: "x = if a then 1;";
    missing_then: "if a 1 else 2;";
    equality: "if a = b then 1 else 2;";
    equality_or_missing_terminator: "x = 3\ny = 4;";
    inequality: "{x in v | x != 3};";
    conjunction: "a && b;";
    missing_in: "function g(x) =\n  let y = x; z = y;\n\nfunction h(x) = x;";
    value_in_bindings: "let a = 1; b = 2; a + b;";
    let_of_a_session: "% A text. %\nlet v = [1, 2];\n#v;";
    in_without_let: "a in b;";
    unclosed_parenthesis: "x = (1 + 2;";
    unclosed_sequence: "x = [1, 2;";
    unclosed_index: "x = a[1;";
    unclosed_each: "x = {y : y in v;\n";
    closing_bracket_of_another_kind: "x = (1, 2];";
    empty_index: "a[];";
    trailing_comma: "[1, 2,];";
    sign: "x = +3;";
    incomplete: "x = 1 + ;";
    not_a_pattern: "a + b = 3;";
    not_a_source: "{a + b in v};";
    tuple_alone: "{(a, b)};";
    truth_value_as_parameter: "function g(t) = t;";
    truth_value_as_name: "let f = 3 in f;";
    truth_value_as_function: "function f(x) = x;";
    lambda_of_an_expression: "g(a + b => a, 3);";
    keyword_of_an_expression: "g(1, h(n) := 2);";
    parameter_after_default: "function g(a, b := 1, c) = a;";
    default_of_a_pattern: "function g(a, (b, c) := (1, 2)) = a;";
    datatype_without_type: "datatype point;";
    datatype_without_name: "datatype (int, int);";
    datatype_without_end: "datatype point (int, int)\nfunction g(x) = x;";
    file_variable: "let x |= 1 in x;";
    background: "x &= 1;";
    reserved: "pair = 3;";
    reserved_in_let: "let if = 3 in 4;";
    reserved_as_function: "function datatype(x) = x;";
    body_without_equal: "function fact(n) if n == 0 then 1 else n * fact(n - 1);";
    bad_type: "function g(x) : int -> = 3;";
    bad_context: "function g(x) : a -> a :: (a number) = x;";
    nameless_function: "function (x) = x;";
    empty_form: "x = 1;;";
}

#[test]
fn five_independent_mistakes_are_five_errors() {
    let text = "function a(x) = x + ;
function b(x) = let y = 1; z = (2 in y;
c = [1, 2, 3;
function d(x) : [int -> int = x;
e = if c then 1;
function good(x) = x;
";
    insta::assert_snapshot!(report(text));
    assert_eq!(codes(text).len(), 5);
    let parsed = nesl_frontend::syntax::nesl::parser::parse(nesl_span::FileId(0), text);
    let shapes: Vec<String> = parsed.forms.iter().map(form).collect();
    assert_eq!(shapes, ["error", "error", "error", "error", "error", "function good x = x"]);
}

#[test]
fn brackets_recover_within_a_form() {
    let text = "x = g(1 +, 2) + [3 4 = 5] + {y : y z} + a[] + 6;";
    assert_eq!(codes(text), ["E0110"; 4]);
    let parsed = nesl_frontend::syntax::nesl::parser::parse(nesl_span::FileId(0), text);
    assert_eq!(form(&parsed.forms[0]), "x = ((((g<error> + error) + error) + a[error]) + 6)");
}

#[test]
fn an_unreadable_constant_is_one_error() {
    for text in ["x = 1 + 2x * 3;", "x = [1, `é, 2];", "\\;", "x = \"abc", "(x % ) ;"] {
        assert_eq!(codes(text).len(), 1, "{text}");
    }
}

#[test]
fn a_single_expression_ends_with_the_text() {
    let errors = |text: &str| nesl_frontend::syntax::nesl::parser::parse_expression(nesl_span::FileId(0), text).1;
    assert_eq!(errors("1 + 2"), []);
    assert_eq!(errors("")[0].message, "expected an expression, found the end of the text");
    assert_eq!(errors("1;")[0].message, "expected the end of the text, found `;`");
}
