//! Tokens, and when the REPL should read on.

use nesl_frontend::ast::BinaryOp;
use nesl_frontend::lexer::{is_complete, lex};
use nesl_frontend::token::{Keyword, Token};
use nesl_span::FileId;

fn tokens(text: &str) -> Vec<Token> {
    let (tokens, diagnostics) = lex(FileId(0), text);
    assert_eq!(diagnostics, [], "{text}");
    tokens.into_iter().map(|(token, _)| token).collect()
}

#[test]
fn the_longest_operator_is_taken() {
    let name = |text: &str| Token::Name(text.into());
    assert_eq!(tokens("a->b"), [name("a"), Token::Operator(BinaryOp::Read), name("b")]);
    assert_eq!(tokens("a<-b"), [name("a"), Token::Operator(BinaryOp::Write), name("b")]);
    assert_eq!(tokens("a<=b"), [name("a"), Token::Operator(BinaryOp::AtMost), name("b")]);
    assert_eq!(tokens("a ||b"), [name("a"), Token::Operator(BinaryOp::Pad), name("b")]);
    assert_eq!(tokens("+++"), [Token::Operator(BinaryOp::Append), Token::Operator(BinaryOp::Add)]);
    assert_eq!(tokens(":::"), [Token::DoubleColon, Token::Colon]);
}

#[test]
fn words_that_begin_with_a_keyword_are_names() {
    assert_eq!(tokens("in_ index tt"), ["in_", "index", "tt"].map(|text| Token::Name(text.into())));
    assert_eq!(tokens("In"), [Token::Keyword(Keyword::In)]);
}

#[test]
fn spans_are_bytes() {
    let (tokens, _) = lex(FileId(7), "é + \"ü\"");
    let spans: Vec<_> = tokens.iter().map(|(_, span)| (span.file.0, span.start, span.end)).collect();
    assert_eq!(spans, [(7, 0, 2), (7, 3, 4), (7, 5, 9)]);
}

#[test]
fn complete_inputs_end_with_a_terminator_outside_of_everything() {
    for text in [
        "",
        "  \n",
        "% c %",
        "1;",
        "1$",
        "(1);",
        "let x = 1; in x;",
        "{x in v};",
        "\";\";",
        "% ; %1;",
        "(1];",
        "1);",
        "(;$",
        "2x;",
        "x = `(;",
        "function g(x) : a :: (a in any; b in any) = x;",
    ] {
        assert!(is_complete(text), "{text}");
    }
    for text in [
        "1",
        "(1;",
        "[1, 2;",
        "{x : x in v;",
        "let x = 1;",
        "let x = 1; y = 2;",
        "\"abc;",
        "% abc;",
        "1; 2",
        "{let x = 1 in x : x in v;",
        "if a then",
    ] {
        assert!(!is_complete(text), "{text}");
    }
}
