//! Colours for what is typed: the kinds of its tokens, and the bracket that belongs to the one at the cursor.

use nesl_frontend::syntax::nesl::lexer::{Lexed, lex};
use nesl_frontend::syntax::nesl::token::Token;
use nesl_span::FileId;
use std::fmt::Write;

const KEYWORD: &str = "35";
const CONSTANT: &str = "36";
const TEXT: &str = "32";
const COMMENT: &str = "2";
const COMMAND: &str = "1";
const PROMPT: &str = "32";
const MATCH: &str = "1;34";

/// A line with the colours of a terminal; the same characters in the same places.
pub(super) fn line(text: &str, matching: Option<usize>) -> String {
    let blank = text.len() - text.trim_start().len();
    if text[blank..].starts_with([':', '?', ';']) {
        let end = text[blank..].find(char::is_whitespace).map_or(text.len(), |end| blank + end);
        return format!("{}{}{}", &text[..blank], painted(COMMAND, &text[blank..end]), &text[end..]);
    }
    let tokens = lex(FileId(0), text).tokens;
    let mut out = String::new();
    let mut before = 0;
    for (token, span) in tokens {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(own) = text.get(start..end).filter(|_| start >= before) else { continue };
        out += &between(&text[before..start]);
        out += &match style(&token) {
            _ if matching == Some(start) => painted(MATCH, own),
            Some(style) => painted(style, own),
            None => own.to_owned(),
        };
        before = end;
    }
    out + &between(&text[before..])
}

/// A prompt.
pub(super) fn prompt(text: &str) -> String {
    painted(PROMPT, text)
}

/// What an earlier input suggests.
pub(super) fn hint(text: &str) -> String {
    painted(COMMENT, text)
}

/// What stands between tokens: white space, and comments.
fn between(text: &str) -> String {
    if text.trim().is_empty() { text.to_owned() } else { painted(COMMENT, text) }
}

fn painted(style: &str, text: &str) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write!(out, "\u{1b}[{style}m{text}\u{1b}[0m");
    out
}

fn style(token: &Token) -> Option<&'static str> {
    match token {
        Token::Keyword(_) => Some(KEYWORD),
        Token::Int(_) | Token::Float(_) | Token::Bool(_) => Some(CONSTANT),
        Token::Char(_) | Token::Text(_) => Some(TEXT),
        _ => None,
    }
}

/// Where the bracket is that belongs to the one at a position, or just before it.
pub(super) fn matching(text: &str, position: usize) -> Option<usize> {
    let tokens = lex(FileId(0), text).tokens;
    let at = |place: usize| {
        tokens
            .iter()
            .position(|(token, span)| span.start as usize == place && matches!(token, Token::Open(_) | Token::Close(_)))
    };
    let index = at(position).or_else(|| at(position.checked_sub(1)?))?;
    let mut depth = 0;
    let step = |(token, span): &(Token, nesl_span::Span)| {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(span.start as usize)
    };
    match tokens[index].0 {
        Token::Open(_) => tokens[index..].iter().find_map(step),
        _ => tokens[..=index].iter().rev().find_map(step),
    }
}

/// How far a line after these is indented: two columns for each bracket that is open, and for what is still to come.
pub(super) fn indentation(text: &str) -> usize {
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
    // In a string or a comment white space counts.
    if diagnostics.iter().any(|diagnostic| matches!(diagnostic.code, "E0102" | "E0103")) {
        return 0;
    }
    let open = tokens.iter().fold(0usize, |depth, (token, _)| match token {
        Token::Open(_) => depth + 1,
        Token::Close(_) => depth.saturating_sub(1),
        _ => depth,
    });
    let goes_on = matches!(tokens.last(), Some((Token::Equal | Token::Keyword(_), _)));
    2 * (open + usize::from(goes_on && open == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn colours_change_no_character() {
        for text in [
            "if x > 1.5 then \"a b\" else `c % note % ;",
            "\"open",
            "7 % open",
            "§ { é",
            "  :type x",
            "",
            "let (a, b) = f(x) in {a : b in [1]}",
        ] {
            assert_eq!(plain(&line(text, None)), text);
        }
        assert_eq!(line("if 1", None), "\u{1b}[35mif\u{1b}[0m \u{1b}[36m1\u{1b}[0m");
        assert_eq!(line("x % y % + 1", None), "x\u{1b}[2m % y % \u{1b}[0m+ \u{1b}[36m1\u{1b}[0m");
        assert_eq!(line("(x)", Some(0)), "\u{1b}[1;34m(\u{1b}[0mx)");
    }

    #[test]
    fn brackets_find_each_other() {
        assert_eq!(matching("f(a[1], \"(\")", 1), Some(11));
        assert_eq!(matching("f(a[1], \"(\")", 12), Some(1));
        assert_eq!(matching("f(a[1])", 3), Some(5));
        assert_eq!(matching("f(a[1]", 1), None);
        assert_eq!(matching("abc", 1), None);
        assert_eq!(matching("", 0), None);
    }

    #[test]
    fn lines_that_follow_are_indented_by_what_is_open() {
        assert_eq!(indentation("sum({x"), 4);
        assert_eq!(indentation("function f(x) ="), 2);
        assert_eq!(indentation("if t then"), 2);
        assert_eq!(indentation("1 +"), 0);
        assert_eq!(indentation("(\"abc"), 0);
    }
}
