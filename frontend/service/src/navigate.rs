//! From names to their definitions, and back.

use crate::document::Document;
use nesl_frontend::analysis::Mention;
use nesl_span::Span;
use std::ops::Range;

impl Document {
    /// Where the name at a place is defined, in whichever text; two places where one word binds and mentions.
    pub fn definitions(&self, offset: usize) -> Vec<Span> {
        self.mentions_at(offset).map(|mention| mention.definition).collect()
    }

    /// Where the document mentions what the name at a place means; with its definition, if that is asked for.
    pub fn references(&self, offset: usize, with_definition: bool) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for meant in self.mentions_at(offset) {
            let same = self.same(meant).filter(|mention| with_definition || !mention.binds);
            found.extend(same.filter_map(|mention| self.range(mention.span)));
        }
        found.sort_by_key(|range| (range.start, range.end));
        found.dedup();
        found
    }

    /// The mentions that mean the same.
    pub(crate) fn same<'a>(&'a self, meant: &Mention) -> impl Iterator<Item = &'a Mention> + use<'a> {
        let definition = meant.definition;
        self.analysis().mentions.iter().filter(move |mention| mention.definition == definition)
    }
}
