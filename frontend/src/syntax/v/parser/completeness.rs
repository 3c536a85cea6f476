//! Whether what has been typed so far is an input, or goes on in the next line.

use crate::diagnostic::{Diagnostic, Tag, is_about};
use crate::syntax::v::lexer::lex;
use crate::syntax::v::token::Token;
use nesl_span::FileId;

/// How a text stands to the inputs that begin with it.
enum State {
    /// It is an input, right or with a mistake that nothing could mend which follows.
    Whole,
    /// Something is still to come.
    Open,
}

/// The state of a text; where it ends may have been added to it, and a mistake from there on is one of what is missing.
fn state(text: &str, own_end: Option<usize>) -> State {
    let text = text.trim_end();
    let lexed = lex(FileId(0), text);
    if is_about(&lexed.diagnostics, &[Tag::OpenComment]) {
        return State::Open;
    }
    let is_opening = |token: &Token| matches!(token, Token::Sign("(" | "[" | "{"));
    let is_closing = |token: &Token| matches!(token, Token::Sign(")" | "]" | "}"));
    let open = lexed.tokens.iter().filter(|(token, _)| is_opening(token)).count();
    let closed = lexed.tokens.iter().filter(|(token, _)| is_closing(token)).count();
    if open > closed {
        return State::Open;
    }
    let end = own_end.unwrap_or_else(|| lexed.tokens.last().map_or(0, |(_, span)| span.end as usize));
    let diagnostics = super::parse(FileId(0), text, lexed, true).diagnostics;
    let is_at_end =
        |diagnostic: &Diagnostic| diagnostic.labels.first().is_some_and(|label| label.span.start as usize >= end);
    match diagnostics.first() {
        Some(first) if is_at_end(first) => State::Open,
        _ => State::Whole,
    }
}

/// Whether a text is all of an input: a mistake in it is no reason to wait for more.
pub fn is_complete(text: &str) -> bool {
    matches!(state(text, None), State::Whole)
}

/// Whether a text, which need not end with `;`, cannot be all of an input.
pub fn is_unfinished(text: &str) -> bool {
    let text = text.trim_end();
    // Behind a comment the line has to end.
    let ended = || state(&format!("{text}\n;"), Some(text.len()));
    (!is_complete(text) && matches!(ended(), State::Open)) || is_head(text)
}

/// Whether the body of a loop, of a branch or of a function is to follow: with `;` it would be an empty one, which
/// nobody types.
fn is_head(text: &str) -> bool {
    let text = text.trim_end();
    if !text.ends_with([')', ']']) {
        return false;
    }
    let with_body = format!("{text} {{ }}");
    let diagnostics = super::parse(FileId(0), &with_body, lex(FileId(0), &with_body), true).diagnostics;
    diagnostics.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_end_where_the_grammar_is_content() {
        for text in [
            "1 + 2;",
            "int x = 3;",
            "x += 1;",
            "pure int f(int x) { return x; }",
            "for (int i = 0; i < 3; i++) x += i;",
            "if (x > 0) { x = 0; }",
            "1 + ) 2;",
            "struct p { int a; };",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "1 +",
            "f(1,",
            "pure int f(int x) {",
            "pure int f(int x)",
            "if (x > 0)",
            "/* open",
            "while (true)",
            "for (;;)",
        ] {
            assert!(!is_complete(text), "{text}");
            assert!(is_unfinished(text), "{text}");
        }
        for text in
            ["1 + 2", "x = 3", "[x * x : x in v]", "f(x)", "v[0]", "x = (1)", "1 + 2 // three", "if (x > 0) f(x)"]
        {
            assert!(!is_complete(text) && !is_unfinished(text), "{text}");
        }
    }
}
