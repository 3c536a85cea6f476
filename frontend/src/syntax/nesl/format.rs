//! Programs in the usual layout: what `nesl fmt` writes.
//!
//! Tokens and comments stay as they are, in their order; only what is between them changes. The lines that the author
//! broke stay broken where a line may break, and what the author wrote on one line stays on one line if it fits. So the
//! formatter decides on blanks, on indentation, and on where lines that are too long break.
//!
//! ```text
//! tree ─ forms, expressions ─▶ gaps: what may be between two tokens ─┐
//! text ─ atoms: tokens and comments, with their lines ───────────────┴─ layout ─▶ text
//! ```
//!
//! `alignment` finds columns of `=` that the author lined up. Which lines break decides the whole layout, and `layout`
//! only ever breaks more lines until none can be broken to any use: what it has laid out stays as it is.

mod alignment;
mod atoms;
mod expressions;
mod forms;
mod gaps;
mod layout;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostic, has_errors};
use crate::stack::with_stack_if_possible;
use crate::syntax::nesl::lexer::{Lexed, lex, script_line};
use crate::syntax::nesl::parser::{self, Parsed};
use atoms::Atoms;
use gaps::Gaps;
use nesl_span::{FileId, Span};

/// The columns of a line. Documentation strings, comments at the ends of lines, and words that are longer than that go
/// beyond them.
pub const WIDTH: usize = 120;

/// Room for the recursion over trees.
const STACK: usize = 128 << 20;

/// Lays a text out.
///
/// # Errors
/// If it is no program; then these are its mistakes.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    with_stack_if_possible(STACK, || {
        let Parsed { forms, comments, diagnostics } = parser::parse(file, text);
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        let Lexed { tokens, .. } = lex(file, text);
        let atoms = Atoms::of(text, &tokens, &comments);
        let mut gaps = Gaps::new(&tokens);
        forms::program(&mut gaps, &forms);
        let paddings = alignment::paddings(text, &gaps, &atoms);
        let laid_out = layout::lay_out(text, &gaps, atoms, &paddings);
        Ok(match script_line(text) {
            Some(line) => format!("{}\n{laid_out}", line.trim_end()),
            None => laid_out,
        })
    })
}

/// Whether two texts have the same tokens and comments, each written in the same way: then they are one program, and
/// nothing that the author wrote is lost.
pub fn is_same_program(one: &str, other: &str) -> bool {
    fn words(text: &str, spans: impl Iterator<Item = Span>) -> Vec<&str> {
        spans.map(|span| text.get(span.start as usize..span.end as usize).unwrap_or("")).collect()
    }
    let [(one_text, one), (other_text, other)] = [one, other].map(|text| (text, lex(FileId(0), text)));
    let tokens = |lexed: &Lexed| lexed.tokens.iter().map(|(token, _)| token.clone()).collect::<Vec<_>>();
    let written = |text, lexed: &Lexed| words(text, lexed.tokens.iter().map(|(_, span)| *span));
    let comments = |text, lexed: &Lexed| -> Vec<String> {
        words(text, lexed.comments.iter().copied()).into_iter().map(atoms::comment).collect()
    };
    script_line(one_text).map(str::trim_end) == script_line(other_text).map(str::trim_end)
        && one.diagnostics.len() == other.diagnostics.len()
        && tokens(&one) == tokens(&other)
        && written(one_text, &one) == written(other_text, &other)
        && comments(one_text, &one) == comments(other_text, &other)
}
