//! What does not fit the grammar, in words.

use super::habits::{self, Spot};
use super::{Place, span};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::token::Token;
use chumsky::error::{Rich, RichPattern};
use nesl_span::Span;

/// Where a `;` is missing before a token, if that is what is wrong: at the end of a line, or of a block.
pub(super) fn missing_semicolon(
    fault: &Rich<'_, Token, Place>,
    tokens: &[(Token, Place)],
    text: &str,
) -> Option<usize> {
    let is_semicolon = |pattern: &RichPattern<'_, Token>| match pattern {
        RichPattern::Token(token) => **token == Token::Sign(";"),
        _ => false,
    };
    let found = fault.found().filter(|_| fault.expected().any(is_semicolon))?;
    let index = tokens.partition_point(|(_, place)| place.start < fault.span().start);
    let (last, before) = tokens.get(index.checked_sub(1)?)?;
    let is_text = |token: &Token| matches!(token, Token::Text(_));
    // What follows a function needs none.
    if fault.expected().any(|pattern| matches!(pattern, RichPattern::Label(label) if *label == "a definition")) {
        return None;
    }
    let is_surplus = *found == Token::Sign("}") && Spot::at(tokens, fault.span().start).is_outermost();
    if is_surplus || is_text(found) && is_text(last) {
        return None;
    }
    let between = text.get(before.end as usize..fault.span().start as usize)?;
    (between.contains('\n') || *found == Token::Sign("}")).then_some(index)
}

/// Says that a `;` is missing.
pub(super) fn semicolon(before: Span) -> Diagnostic {
    Diagnostic::error("E0110", "a `;` is missing", before).saying("expected `;` behind this")
}

/// The `{` that is not closed: the first whose `}` stands further to the left than the line of its `{`, or the last
/// without one.
fn unclosed(tokens: &[(Token, Place)], text: &str) -> Option<Span> {
    let column = |at: u32| {
        let before = text.get(..at as usize).unwrap_or("");
        let line = text.get(before.rfind('\n').map_or(0, |end| end + 1)..).unwrap_or("");
        line.chars().take_while(|blank| blank.is_whitespace()).count()
    };
    let mut open: Vec<Span> = Vec::new();
    for (token, place) in tokens {
        match token {
            Token::Sign("{") => open.push(span(*place)),
            Token::Sign("}") => match open.pop() {
                Some(opened) if column(place.start) < column(opened.start) => return Some(opened),
                _ => {}
            },
            _ => {}
        }
    }
    open.pop()
}

/// The diagnostic of a fault.
pub(super) fn diagnostic(fault: &Rich<'_, Token, Place>, tokens: &[(Token, Place)], text: &str) -> Diagnostic {
    let at = span(*fault.span());
    let found = fault.found().map_or_else(|| "the end of the text".to_owned(), ToString::to_string);
    let spot = Spot::at(tokens, at.start);
    // Where a statement begins; the name in `{x : x in v}` cannot be assigned to.
    let can_assign = |pattern: &RichPattern<'_, Token>| matches!(pattern, RichPattern::Label(label) if *label == "`=`");
    let is_label = spot.is_label() && fault.expected().any(can_assign);
    if let Some((what, hint)) = fault.found().and_then(|token| foreign(token, &spot, is_label)) {
        return Diagnostic::error("E0508", what, at).hint(hint);
    }
    if fault.found() == Some(&Token::Sign("}")) && spot.is_outermost() {
        let report = Diagnostic::error("E0110", "a `}` too many", at).saying("this closes nothing");
        return report.hint("either it has no `{`, or one before it closes more than it was to close");
    }
    let wanted = expected(fault);
    let message = match wanted.is_empty() {
        true => format!("unexpected {found}"),
        false => format!("expected {wanted}, found {found}"),
    };
    let diagnostic = Diagnostic::error("E0110", message, at);
    let diagnostic = if wanted.is_empty() { diagnostic } else { diagnostic.saying(format!("expected {wanted}")) };
    if let Some(hint) = habits::hint(&spot, &wanted) {
        return diagnostic.hint(hint);
    }
    match fault.found() {
        None => match unclosed(tokens, text) {
            Some(open) => diagnostic.also(open, "this `{` is not closed"),
            None => diagnostic,
        },
        Some(Token::Sign("=")) => {
            diagnostic.hint("an assignment is a statement of its own, no expression; to compare two values, write `==`")
        }
        Some(Token::Name(_)) if wanted.contains("a length") => diagnostic
            .hint("an array has a number of elements that is written; with a computed one: `int a[*] = dist(0, n);`"),
        Some(Token::Sign("++" | "--")) => diagnostic.hint("`i++` is a statement of its own, no expression"),
        _ => diagnostic,
    }
}

/// What C has and V has not.
fn foreign(token: &Token, spot: &Spot<'_>, is_label: bool) -> Option<(&'static str, &'static str)> {
    let word = match token {
        Token::Word(word) => word,
        Token::Sign(":") if is_label => "goto",
        _ => return None,
    };
    Some(match word {
        "goto" => ("there is no `goto`", "a loop is left by `break`, its step by `continue`, a function by `return`"),
        "switch" | "case" | "default" => ("there is no `switch`", "write `if (…) … else if (…) … else …`"),
        "typedef" => ("there is no `typedef`", "a struct is `struct name` wherever it is named"),
        "enum" => ("there is no `enum`", "write globals: `int red = 0, green = 1;`"),
        "sizeof" => ("there is no `sizeof`", "the length of a vector is `$v`"),
        "auto" => ("there is no `auto`", "write the type of the variable: `int x = …;`"),
        "static" if !spot.is_outermost() => (
            "there is no `static`: a function keeps nothing from one call to the next",
            "declare the variable where the function is called, and pass it to a parameter `int *n`",
        ),
        "static" | "extern" | "register" | "inline" | "volatile" => {
            ("there are no storage classes", "leave the word out")
        }
        "const" => {
            ("there is no `const`", "globals and the arguments of a function's caller never change; leave the word out")
        }
        "unsigned" | "signed" | "short" => ("there is one kind of `int`, of 64 bits with a sign", "write `int`"),
        _ => return None,
    })
}

/// What could have stood there: an operator is possible after every operand, as are the brackets and the point after a
/// name, and stars and parentheses before one; they are named only where nothing else is.
pub(super) fn expected(fault: &Rich<'_, Token, Place>) -> String {
    let mut words: Vec<String> = fault
        .expected()
        .filter_map(|pattern| match pattern {
            RichPattern::Token(token) => Some(token.to_string()),
            RichPattern::Label(label) => Some(label.to_string()),
            RichPattern::EndOfInput => Some("the end of the text".to_owned()),
            _ => None,
        })
        .collect();
    words.sort();
    words.dedup();
    for common in ["an operator", "`=`", "the end of the text", "`.`", "`[`"] {
        if words.len() > 1 {
            words.retain(|word| word != common);
        }
    }
    for (whole, beginnings) in [("a name", ["`(`", "`*`"]), ("an expression", ["`{`", "`[`"])] {
        if words.iter().any(|word| word == whole) {
            words.retain(|word| !beginnings.contains(&word.as_str()));
        }
    }
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
