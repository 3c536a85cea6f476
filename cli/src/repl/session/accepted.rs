//! What was right of the inputs so far, as `:save NAME.nesl` writes it: a program.
//!
//! In a program nothing is called `it` or `_3`. Where a later input says so the program gives the value that name:
//!
//! ```text
//! 1 + 2;             it = 1 + 2; it;
//! x = it * 2;        x = it * 2;
//! ```

use super::Repl;
use nesl_backend::Engine;
use nesl_frontend::ast::{TopLevel, TopLevelKind};
use nesl_frontend::syntax::nesl::lexer::lex;
use nesl_frontend::syntax::nesl::token::Token;
use nesl_span::{FileId, Origin, Span};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The name of the last value.
const LAST: &str = "it";

/// An input that was right, or what was right of it, in NESL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::repl) struct Accepted {
    /// Its number, by which its value can be named: none of files and of what commands evaluate.
    pub number: Option<usize>,
    /// Its text.
    pub text: String,
}

/// A form of an input.
struct Part {
    input: usize,
    span: Span,
    /// Whether `it` is its value afterwards.
    gives: bool,
    /// Whether it gives `it` a value in so many words, or leaves it as it is in so many.
    names: bool,
    /// Which values of earlier forms it mentions.
    mentions: HashSet<String>,
}

impl<E: Engine> Repl<E> {
    /// Remembers an input that was right, if there is something in it.
    pub(super) fn accept(&mut self, number: Option<usize>, text: String) {
        if !text.trim().is_empty() {
            self.accepted.push(Accepted { number, text });
        }
    }

    /// The program of all inputs that were right.
    pub(in crate::repl) fn program_of_inputs(&mut self) -> String {
        let parts: Vec<Part> = (0..self.accepted.len()).flat_map(|input| self.parts_of(input)).collect();
        let mut texts: Vec<String> = self.accepted.iter().map(|input| input.text.clone()).collect();
        // From the last to the first: what stands before a change keeps its place.
        for (index, part) in parts.iter().enumerate().rev() {
            let rest = &parts[index + 1..];
            let after = rest.iter().take_while(|part| !part.names && !part.gives).count();
            let is_mentioned = rest.iter().take(after + 1).any(|part| part.mentions.contains(LAST));
            let number = self.accepted[part.input].number.map(|number| format!("_{number}"));
            let is_last = !rest.iter().any(|other| other.input == part.input && (other.gives || other.names));
            let number = number.filter(|number| is_last && rest.iter().any(|part| part.mentions.contains(number)));
            let (start, end) = (part.span.start as usize, part.span.end as usize);
            let text = &mut texts[part.input];
            if let Some(number) = &number
                && (part.gives || part.names)
            {
                text.insert_str(end, &format!("; {number} = {LAST}"));
            }
            if part.gives && (is_mentioned || number.is_some()) {
                text.insert_str(end, &format!("; {LAST}"));
                text.insert_str(start, &format!("{LAST} = "));
            }
        }
        // Comments alone are no form that would have an end.
        let has_forms = |input: usize| parts.iter().any(|part| part.input == input);
        let end = |input: usize, text: &str| if text.ends_with(';') || !has_forms(input) { "" } else { ";" };
        texts.iter().enumerate().map(|(input, text)| format!("{text}{}\n", end(input, text))).collect()
    }

    fn parts_of(&mut self, input: usize) -> Vec<Part> {
        let text = self.accepted[input].text.clone();
        let file = self.sources.add("<saved>", text.as_str(), Origin::User);
        let tokens = lex(FileId(0), &text).tokens;
        let inside = |span: Span| {
            let is_in = move |place: &Span| span.start <= place.start && place.end <= span.end;
            let names = tokens.iter().filter(move |(_, place)| is_in(place));
            names.filter_map(|(token, _)| match token {
                Token::Name(name) => Some(name.to_string()),
                _ => None,
            })
        };
        let forms = self.session.forms(&self.sources, file);
        let part = |TopLevel { kind, span }: &TopLevel| {
            let (gives, names, mentioned) = match kind {
                TopLevelKind::Expression(_) => {
                    let is_it = text[span.start as usize..span.end as usize].trim().eq_ignore_ascii_case(LAST);
                    (!is_it, is_it, *span)
                }
                TopLevelKind::Assignment { value, .. } => {
                    let pattern = Span { end: value.span.start, ..*span };
                    (false, inside(pattern).any(|name| name == LAST), value.span)
                }
                _ => (false, false, *span),
            };
            let mentions = inside(mentioned).filter(|name| name == LAST || is_number(name)).collect();
            Part { input, span: *span, gives, names, mentions }
        };
        forms.iter().map(part).collect()
    }
}

/// Whether a name is that of the value of an input.
pub(in crate::repl) fn is_number(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| rest.parse::<usize>().is_ok())
}
