//! V: nested parallelism in the syntax of C.
//!
//! ```text
//! text ─ lexer ─▶ tokens ─ parser ─▶ tree ─ lower ─▶ the tree of all syntaxes
//! ```
//!
//! V is typed where NESL infers: [`lower`] gives every expression its type, makes C's conversions, and holds the rules
//! that let an apply-to-each call a function for all elements at once. So mistakes are reported in V's words, and what
//! comes out of here has a meaning; inference finds it again. [`known`] is what a session keeps of earlier texts.

mod again;
mod analysis;
mod build;
pub(crate) mod explain;
pub mod format;
pub mod highlight;
pub mod known;
mod lexer;
mod lower;
mod parser;
pub(crate) mod print;
#[cfg(test)]
mod tests;
mod token;
mod tree;
mod types;

use crate::ast::{Import, Name, TopLevel};
use crate::diagnostic::{Diagnostic, finish};
use again::Part;
pub use again::{TranslatedText, parse_again};
use known::{Declared, Outside};
pub use lexer::shared::lexed;
use lower::{Lowered, Surroundings};
use nesl_span::{FileId, Span};
pub use parser::completeness::{is_complete, is_unfinished};
use std::collections::HashSet;
use token::{IMPORT, Token};

/// What functions have in their names that loops have become, behind the name of the function that they stand in, if
/// they stand in one: nobody has named them.
pub const LOOP: &str = "~loop";

/// What a text of V turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated {
    /// Its forms, with a function for each loop.
    pub forms: Vec<TopLevel>,
    /// Where comments stand, in order.
    pub comments: Vec<Span>,
    /// What V texts have defined, this one included.
    pub definitions: Declared,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// What stands at its top, in order.
    parts: Vec<Part>,
    /// Whether nothing was skipped that could not be read: it might have declared what is used elsewhere.
    is_whole: bool,
}

/// What a text imports: `import "file";` or `import "file" as name;`.
pub fn imports(file: FileId, text: &str) -> Vec<Import> {
    let tokens = match text.contains(IMPORT) {
        true => lexer::lex(file, text).tokens,
        false => return Vec::new(),
    };
    let name = |index: usize| match tokens.get(index) {
        Some((Token::Name(symbol), span)) => Some(Name { symbol: symbol.clone(), span: *span }),
        _ => None,
    };
    let is_word = |index: usize, word: &str| name(index).is_some_and(|name| *name.symbol == *word);
    (0..tokens.len())
        .filter(|&index| is_word(index, IMPORT))
        .filter_map(|index| {
            let (Token::Text(bytes), span) = tokens.get(index + 1)? else { return None };
            let alias = name(index + 3).filter(|_| is_word(index + 2, "as"));
            Some(Import { path: String::from_utf8_lossy(bytes).into_owned(), span: *span, alias })
        })
        .collect()
}

/// Reads a text of V, which may use what earlier texts defined. In an input of a session statements change globals.
pub fn parse(file: FileId, text: &str, is_input: bool, definitions: Declared, around: &dyn Outside) -> Translated {
    let lexed = lexer::lex(file, text);
    let comments = lexed.comments.clone();
    let parser::Parsed { items, mut diagnostics, unreadable, is_partial } = parser::parse(file, text, lexed, is_input);
    let surroundings = Surroundings { definitions, around, unreadable, is_partial, named: HashSet::new() };
    let lowered = lower::lower(&items, surroundings);
    diagnostics.extend(lowered.diagnostics);
    let parts = items.iter().zip(&lowered.counts).map(|(item, forms)| Part::of(item, *forms)).collect();
    let Lowered { forms, definitions, .. } = lowered;
    Translated { forms, comments, definitions, diagnostics: finish(diagnostics), parts, is_whole: !is_partial }
}
