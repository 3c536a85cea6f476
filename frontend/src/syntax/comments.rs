//! Comments of a text in the notation of another syntax: each stands above what was made of what it stood before, or
//! in.

use crate::syntax::Syntax;
use nesl_span::Span;

/// The comments of a text that have not been written yet.
pub(super) struct Comments<'a> {
    text: &'a str,
    rest: &'a [Span],
    to: Syntax,
}

impl<'a> Comments<'a> {
    /// Those of a text, in order, to be written in a syntax.
    pub fn new(text: &'a str, spans: &'a [Span], to: Syntax) -> Comments<'a> {
        Comments { text, rest: spans, to }
    }

    /// Those that begin before a place, each with the end of its line.
    pub fn before(&mut self, place: u32) -> String {
        let count = self.rest.iter().take_while(|span| span.start < place).count();
        let (now, rest) = self.rest.split_at(count);
        self.rest = rest;
        now.iter().map(|span| self.written(*span)).collect()
    }

    fn written(&self, span: Span) -> String {
        let own = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        match self.to {
            Syntax::Nesl => {
                let is_line = own.starts_with("//");
                let inner = own.strip_prefix("//").or_else(|| own.strip_prefix("/*")).unwrap_or(own);
                let inner = if is_line { inner } else { inner.strip_suffix("*/").unwrap_or(inner) };
                // One would end the comment.
                let inner = inner.replace('%', "(percent)");
                let end = if inner.ends_with([' ', '\n']) { "" } else { " " };
                format!("%{inner}{end}%\n")
            }
            Syntax::V => {
                let inner = own.trim_matches('%').replace("*/", "* /");
                let end = if inner.ends_with([' ', '\n']) { "" } else { " " };
                format!("/*{inner}{end}*/\n")
            }
        }
    }
}
