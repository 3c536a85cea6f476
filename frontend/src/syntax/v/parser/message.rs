//! What does not fit the grammar, in words.

use super::{Place, span};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::token::Token;
use chumsky::error::{Rich, RichPattern};

/// The diagnostic of a fault.
pub(super) fn diagnostic(fault: &Rich<'_, Token, Place>) -> Diagnostic {
    let at = span(*fault.span());
    let found = fault.found().map_or_else(|| "the end of the text".to_owned(), ToString::to_string);
    if let Some((what, hint)) = fault.found().and_then(foreign) {
        return Diagnostic::error("E0508", what, at).hint(hint);
    }
    let wanted = expected(fault);
    let message = match wanted.is_empty() {
        true => format!("unexpected {found}"),
        false => format!("expected {wanted}, found {found}"),
    };
    let diagnostic = Diagnostic::error("E0110", message, at);
    let diagnostic = if wanted.is_empty() { diagnostic } else { diagnostic.saying(format!("expected {wanted}")) };
    match fault.found() {
        Some(Token::Sign("=")) => {
            diagnostic.hint("an assignment is a statement of its own, no expression; to compare two values, write `==`")
        }
        Some(Token::Sign("++" | "--")) => diagnostic.hint("`i++` is a statement of its own, no expression"),
        Some(Token::Sign("->")) => diagnostic.hint("there are no pointers to structs: a field is `s.x`"),
        _ => diagnostic,
    }
}

/// What C has and V has not.
fn foreign(token: &Token) -> Option<(&'static str, &'static str)> {
    let Token::Word(word) = token else { return None };
    Some(match *word {
        "goto" => ("there is no `goto`", "a loop is left by `break`, its step by `continue`, a function by `return`"),
        "switch" | "case" | "default" => ("there is no `switch`", "write `if (…) … else if (…) … else …`"),
        "typedef" => ("there is no `typedef`", "a struct is `struct name` wherever it is named"),
        "enum" => ("there is no `enum`", "write globals: `int red = 0, green = 1;`"),
        "sizeof" => ("there is no `sizeof`", "the length of a vector is `$v`"),
        "static" | "extern" | "register" | "auto" | "inline" | "volatile" => {
            ("there are no storage classes", "leave the word out")
        }
        "const" => {
            ("there is no `const`", "globals and the arguments of a function's caller never change; leave the word out")
        }
        "unsigned" | "signed" | "short" => ("there is one kind of `int`, of 64 bits with a sign", "write `int`"),
        _ => return None,
    })
}

/// What could have stood there: an operator is possible after every operand, and is named only where nothing else is.
fn expected(fault: &Rich<'_, Token, Place>) -> String {
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
    for common in ["an operator", "`=`", "the end of the text"] {
        if words.len() > 1 {
            words.retain(|word| word != common);
        }
    }
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
