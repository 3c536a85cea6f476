//! Tokens, and when the REPL should read on.

use nesl_frontend::ast::BinaryOp;
use nesl_frontend::syntax::nesl::lexer::{Lexed, is_complete, lex};
use nesl_frontend::syntax::nesl::token::{Keyword, Token};
use nesl_span::FileId;

fn tokens(text: &str) -> Vec<Token> {
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
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
    let Lexed { tokens, .. } = lex(FileId(7), "é + \"ü\"");
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

#[test]
fn changes_of_direction_are_found_wherever_they_stand() {
    for (text, codes) in [
        ("a \u{202e} b;", vec!["E0117"]),
        ("% \u{2066} %", vec!["E0117"]),
        ("\"\u{202a}\u{202c}\"", vec!["E0117", "E0117"]),
        ("`\u{2069};", vec!["E0106", "E0117"]),
        ("\u{202e}\u{0}", vec!["E0101", "E0117"]),
        // Marks of direction belong to the scripts that need them, and escapes are what is seen.
        ("\"\u{200f}\u{5d0}\"", vec![]),
        ("\"\\xe2\\x80\\xae\"", vec![]),
    ] {
        let Lexed { diagnostics, .. } = lex(FileId(0), text);
        let found: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(found, codes, "{text:?}");
    }
    let Lexed { diagnostics, .. } = lex(FileId(0), "é\u{202e}");
    assert_eq!((diagnostics[0].labels[0].span.start, diagnostics[0].labels[0].span.end), (2, 5));
    assert!(diagnostics[0].hint.as_ref().is_some_and(|hint| hint.contains(r"`\xe2\x80\xae`")));
}
