//! Colours for what is typed: the kinds of its tokens, and the bracket that belongs to the one at the cursor.

use nesl_frontend::diagnostic::{Tag, is_about};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::lexer::{Lexed, lex};
use nesl_frontend::syntax::nesl::token::Token;
use nesl_frontend::syntax::v::highlight::{Part, parts as parts_of_v};
use nesl_span::{FileId, Span};
use std::fmt::Write;

const KEYWORD: &str = "35";
const CONSTANT: &str = "36";
const TEXT: &str = "32";
const COMMENT: &str = "2";
const COMMAND: &str = "1";
const PROMPT: &str = "32";
const MATCH: &str = "1;34";

/// A line with the colours of a terminal; the same characters in the same places.
pub(super) fn line(text: &str, syntax: Syntax, matching: Option<usize>) -> String {
    let blank = text.len() - text.trim_start().len();
    if text[blank..].starts_with([':', '?', ';']) {
        let end = text[blank..].find(char::is_whitespace).map_or(text.len(), |end| blank + end);
        return format!("{}{}{}", &text[..blank], painted(COMMAND, &text[blank..end]), &text[end..]);
    }
    let mut out = String::new();
    let mut before = 0;
    for (part, span) in parts(text, syntax).0 {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(own) = text.get(start..end).filter(|_| start >= before) else { continue };
        out += &between(&text[before..start]);
        out += &match style(part) {
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

fn style(part: Part) -> Option<&'static str> {
    match part {
        Part::Word => Some(KEYWORD),
        Part::Constant => Some(CONSTANT),
        Part::Text => Some(TEXT),
        Part::Open | Part::Close | Part::Other => None,
    }
}

/// The tokens of a text with their places, and whether a string or a comment is open at its end.
fn parts(text: &str, syntax: Syntax) -> (Vec<(Part, Span)>, bool) {
    if syntax == Syntax::V {
        return parts_of_v(text);
    }
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
    let part = |token: &Token| match token {
        Token::Keyword(_) => Part::Word,
        Token::Int(_) | Token::Float(_) | Token::Bool(_) => Part::Constant,
        Token::Char(_) | Token::Text(_) => Part::Text,
        Token::Open(_) => Part::Open,
        Token::Close(_) => Part::Close,
        _ => Part::Other,
    };
    let is_open = is_about(&diagnostics, &[Tag::OpenComment, Tag::OpenString]);
    (tokens.iter().map(|(token, span)| (part(token), *span)).collect(), is_open)
}

/// Where the bracket is that belongs to the one at a position, or just before it.
pub(super) fn matching(text: &str, syntax: Syntax, position: usize) -> Option<usize> {
    let parts = parts(text, syntax).0;
    let at = |place: usize| {
        parts.iter().position(|(part, span)| span.start as usize == place && matches!(part, Part::Open | Part::Close))
    };
    let index = at(position).or_else(|| at(position.checked_sub(1)?))?;
    let mut depth = 0;
    let step = |(part, span): &(Part, Span)| {
        match part {
            Part::Open => depth += 1,
            Part::Close => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(span.start as usize)
    };
    match parts[index].0 {
        Part::Open => parts[index..].iter().find_map(step),
        _ => parts[..=index].iter().rev().find_map(step),
    }
}

/// How far a line after these is indented: two columns for each bracket that is open, and for what is still to come.
pub(super) fn indentation(text: &str, syntax: Syntax) -> usize {
    let (parts, is_open) = parts(text, syntax);
    // In a string or a comment white space counts.
    if is_open {
        return 0;
    }
    let open = parts.iter().fold(0usize, |depth, (part, _)| match part {
        Part::Open => depth + 1,
        Part::Close => depth.saturating_sub(1),
        _ => depth,
    });
    let goes_on = match syntax {
        Syntax::Nesl => {
            matches!(lex(FileId(0), text).tokens.last(), Some((Token::Equal | Token::Keyword(_), _)))
        }
        // A condition, and the statement behind it.
        Syntax::V => matches!(parts.last(), Some((Part::Close, _))) && text.trim_end().ends_with(')'),
    };
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
            assert_eq!(plain(&line(text, Syntax::Nesl, None)), text);
        }
        assert_eq!(line("if 1", Syntax::Nesl, None), "\u{1b}[35mif\u{1b}[0m \u{1b}[36m1\u{1b}[0m");
        assert_eq!(line("x % y % + 1", Syntax::Nesl, None), "x\u{1b}[2m % y % \u{1b}[0m+ \u{1b}[36m1\u{1b}[0m");
        assert_eq!(line("(x)", Syntax::Nesl, Some(0)), "\u{1b}[1;34m(\u{1b}[0mx)");
    }

    #[test]
    fn brackets_find_each_other() {
        let matching = |text: &str, position| matching(text, Syntax::Nesl, position);
        assert_eq!(matching("f(a[1], \"(\")", 1), Some(11));
        assert_eq!(matching("f(a[1], \"(\")", 12), Some(1));
        assert_eq!(matching("f(a[1])", 3), Some(5));
        assert_eq!(matching("f(a[1]", 1), None);
        assert_eq!(matching("abc", 1), None);
        assert_eq!(matching("", 0), None);
    }

    #[test]
    fn lines_that_follow_are_indented_by_what_is_open() {
        let indentation = |text: &str| indentation(text, Syntax::Nesl);
        assert_eq!(indentation("sum({x"), 4);
        assert_eq!(indentation("function f(x) ="), 2);
        assert_eq!(indentation("if t then"), 2);
        assert_eq!(indentation("1 +"), 0);
        assert_eq!(indentation("(\"abc"), 0);
    }

    #[test]
    fn v_has_its_own_words_and_brackets() {
        let text = "if (x > 1.5) return \"a)\"; // x";
        assert_eq!(plain(&line(text, Syntax::V, None)), text);
        assert_eq!(line("int x", Syntax::V, None), "\u{1b}[35mint\u{1b}[0m x");
        assert_eq!(matching("f(\"(\")", Syntax::V, 1), Some(5));
        assert_eq!(indentation("while (x > 1) {", Syntax::V), 2);
        assert_eq!(indentation("while (x > 1)", Syntax::V), 2);
        assert_eq!(indentation("/* open", Syntax::V), 0);
    }
}
