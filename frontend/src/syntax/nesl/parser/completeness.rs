//! Whether what has been typed so far is an input, or goes on in the next line.

use super::parse;
use crate::ast::{FunctionDefinition, TopLevelKind};
use crate::syntax::nesl::lexer;
use nesl_span::FileId;

/// Whether a text, which need not end with `;`, cannot be all of an input: a bracket, a string, a comment or a `let` is
/// open, or the grammar wants more than there is, as it does for a function without a body. What is wrong before its
/// end is complete: nothing could mend it.
pub fn is_unfinished(text: &str) -> bool {
    let text = text.trim_end();
    if text.ends_with(';') {
        return !lexer::is_complete(text);
    }
    let ended = format!("{text}\n;");
    if !lexer::is_complete(&ended) {
        return true;
    }
    let wanted = |place: u32| place as usize >= text.len();
    let parsed = parse(FileId(0), &ended);
    // A declaration has no body; more often it is still to come.
    if let Some(TopLevelKind::Function(FunctionDefinition { body: None, .. })) =
        parsed.forms.last().map(|form| &form.kind)
    {
        return true;
    }
    parsed.diagnostics.first().is_some_and(|first| first.labels.iter().any(|label| wanted(label.span.start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_grammar_is_content_with_is_finished() {
        for text in [
            "1 + 2",
            "1 + 2;",
            "x = 3",
            "a = 1; b = 2",
            "f2(x)",
            "function twice(x) = 2 * x",
            "function id(x) : int -> int = x",
            "datatype point(float, float)",
            "let x = 1 in x",
            "if t then 1 else 2",
            "{x : x in v\n | x > 1}",
            "\"a\\\"b\"",
            "3 % of them %",
        ] {
            assert!(!is_unfinished(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_open_or_wants_more_goes_on() {
        for text in [
            "1 +",
            "x =",
            "function twice(x)",
            "function twice(x) =",
            "function id(x) : int ->",
            "let x = 1",
            "let x = 1;",
            "let x = 1 in",
            "if t then 1",
            "if t then 1 else",
            "if t",
            "{x : x in v",
            "{x in",
            "sum([1,",
            "\"abc",
            "7 % 2",
            "function id(x) : int -> int",
            "#",
            "1;\n2 +",
        ] {
            assert!(is_unfinished(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_finished() {
        for text in ["1 + )", "1 2", "x = = 3", "function (x) = 3", "]", "1 + ; 2"] {
            assert!(!is_unfinished(text), "{text:?}");
        }
    }
}
