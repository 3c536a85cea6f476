//! Programs of V in the usual layout: what `nesl fmt` writes.
//!
//! As for NESL tokens and comments stay as they are, in their order; only what is between them changes. V has its lines
//! by its statements: each begins one. Inside of a statement lines end where the author ended them, and where they
//! would be too long.
//!
//! ```text
//! text ─ tokens ─ spacing: which tokens stand close ─┐
//!               └ structure: lines and indentation ──┴─ layout ─▶ text
//! ```

mod layout;
mod spacing;
mod structure;
#[cfg(test)]
mod tests;

use super::lexer::{Lexed, lex};
use super::parser;
use crate::diagnostic::{Diagnostic, has_errors};
use crate::stack::with_stack_if_possible;
use nesl_span::{FileId, Span};

/// The columns of a line. Comments at the ends of lines, and words that are longer than that go beyond them.
const WIDTH: usize = 120;

/// How often what was laid out is looked at again: lines that break let their neighbours break once.
const MOST_ROUNDS: usize = 8;

/// Room for the recursion over trees.
const STACK: usize = 128 << 20;

/// Lays a text out.
///
/// # Errors
/// If it is no program; then these are its mistakes.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    with_stack_if_possible(STACK, || {
        let diagnostics = parser::parse(file, text, lex(file, text), false).diagnostics;
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        // A line that was too long may have been a block, which then has lines of its own.
        let mut laid_out = once(file, text);
        for _ in 0..MOST_ROUNDS {
            let again = once(file, &laid_out);
            if again == laid_out {
                break;
            }
            laid_out = again;
        }
        Ok(laid_out)
    })
}

/// Lays out once what may not fit yet.
fn once(file: FileId, text: &str) -> String {
    let lexed = lex(file, text);
    let tokens: Vec<_> = lexed.tokens.iter().map(|(token, _)| token.clone()).collect();
    let tight = spacing::tight(&tokens);
    let atoms = layout::Atoms::of(text, &lexed);
    let places = structure::places(&tokens, &tight, &|token| atoms.is_broken(token));
    let laid_out = layout::lay_out(atoms, &tokens, &tight, &places);
    match script_line(text) {
        Some(line) => format!("{}\n{laid_out}", line.trim_end()),
        None => laid_out,
    }
}

/// The first line `#!…`, which makes a script of a text.
fn script_line(text: &str) -> Option<&str> {
    text.lines().next().filter(|line| line.starts_with("#!"))
}

/// Whether two texts have the same tokens and comments, each written in the same way: then they are one program, and
/// nothing that the author wrote is lost.
pub fn is_same_program(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let Lexed { tokens, comments, .. } = lex(FileId(0), text);
        let mut spans: Vec<Span> = tokens.into_iter().map(|(_, span)| span).chain(comments).collect();
        spans.sort_by_key(|span| span.start);
        let word = |span: Span| layout::written(text.get(span.start as usize..span.end as usize).unwrap_or(""));
        spans.into_iter().map(word).collect()
    };
    script_line(one).map(str::trim_end) == script_line(other).map(str::trim_end) && words(one) == words(other)
}
