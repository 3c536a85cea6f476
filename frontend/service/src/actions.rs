//! Corrections: what the hints of messages suggest, as changes of the text; and signatures that nobody wrote.

use crate::document::Document;
use crate::rename::{Edit, applied};
use nesl_frontend::Diagnostic;
use nesl_frontend::ast::{Expr, TopLevelKind};
use std::ops::Range;

/// What stands before names in hints.
const NAMING: [&str; 2] = ["did you mean ", "call it "];

/// What stands before an expression in hints.
const WRITING: [&str; 3] = ["the other way round: ", "is written ", "write "];

/// How many expressions around a mistake are looked at.
const TRIED: usize = 4;

/// A change that an editor can offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// What it does.
    pub title: String,
    /// The code of the message that it answers; none if it answers none.
    pub code: Option<&'static str>,
    /// The changes.
    pub edits: Vec<Edit>,
}

impl Document {
    /// What can be corrected in a part of the text.
    pub fn corrections(&self, from: usize, to: usize) -> Vec<Correction> {
        let touches = |start: u32, end: u32| start as usize <= to && from <= end as usize;
        let mut found: Vec<Correction> = Vec::new();
        for diagnostic in self.diagnostics() {
            let at = diagnostic.labels.first().map(|label| label.span);
            if at.is_some_and(|span| touches(span.start, span.end)) {
                found.extend(self.suggested(diagnostic));
            }
        }
        for form in self.analysis().forms() {
            let TopLevelKind::Function(function) = &form.kind else { continue };
            let name = function.name.span;
            // What is passed by name has no place in a signature of its own.
            if !touches(name.start, name.end) || !function.keywords.is_empty() {
                continue;
            }
            found.extend(self.unwritten_signature(function).map(|inlay| Correction {
                title: format!("Write the type of `{}`", function.name.symbol),
                code: None,
                edits: vec![Edit { range: inlay.offset..inlay.offset, text: format!(" {}", inlay.label) }],
            }));
        }
        found
    }

    /// What the hint of a message suggests: another name, the end that is missing, or the expression that was meant.
    fn suggested(&self, diagnostic: &Diagnostic) -> Vec<Correction> {
        let Some(range) = diagnostic.labels.first().and_then(|label| self.range(label.span)) else { return Vec::new() };
        let hint = diagnostic.hint.as_deref().unwrap_or("");
        let correction = |title: String, range: Range<usize>, text: &str| Correction {
            title,
            code: Some(diagnostic.code),
            edits: vec![Edit { range, text: text.to_owned() }],
        };
        if let Some(names) = NAMING.iter().find_map(|words| hint.split_once(words)).map(|(_, names)| names) {
            let names = names.split('`').skip(1).step_by(2);
            return names.map(|name| correction(format!("Change to `{name}`"), range.clone(), name)).collect();
        }
        if hint.starts_with("end it with `;`") {
            return vec![correction("End it with `;`".to_owned(), range.end..range.end, ";")];
        }
        let Some(text) = WRITING.iter().find_map(|words| hint.split_once(words)).map(|(_, text)| text) else {
            return Vec::new();
        };
        let text = text.strip_suffix(" for an element").unwrap_or(text);
        // The hint does not say what it is written for: the least expression around the place that is right with it.
        let replaced = self.expressions_around(&range).into_iter().rev().take(TRIED).find(|around| {
            let edit = Edit { range: around.clone(), text: text.to_owned() };
            self.with_text(applied(self.text(), &[edit])).errors() < self.errors()
        });
        replaced.map(|around| correction(format!("Write `{text}`"), around, text)).into_iter().collect()
    }

    /// The expressions that a place is in, from the outermost on.
    fn expressions_around(&self, place: &Range<usize>) -> Vec<Range<usize>> {
        let Some((_, form)) = self.form_at(place.start) else { return Vec::new() };
        let mut next = match &form.kind {
            TopLevelKind::Function(function) => function.body.as_ref(),
            TopLevelKind::Assignment { value, .. } | TopLevelKind::Expression(value) => Some(value),
            TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => None,
        };
        let mut found = Vec::new();
        while let Some(expression) = next {
            found.extend(self.range(expression.span));
            let holds = |part: &&Expr| part.span.start as usize <= place.start && place.end <= part.span.end as usize;
            next = expression.parts().into_iter().find(holds);
        }
        found
    }
}
