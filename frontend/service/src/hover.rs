//! What the name at a place is.

use crate::document::Document;
use nesl_frontend::analysis::MentionKind;
use nesl_frontend::manual;
use std::ops::Range;

/// What is said of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The name in the text.
    pub range: Range<usize>,
    /// `name : type`; of a function that is used at more special types, also those: `here : type`.
    pub types: Vec<String>,
    /// What the name is for: the text of its documentation, costs included.
    pub documentation: String,
}

impl Document {
    /// What the name at a place is; none where there is no name that means something.
    pub fn hover(&self, offset: usize) -> Option<Hover> {
        let analysis = self.analysis();
        let mut hover: Option<Hover> = None;
        for mention in self.mentions_at(offset) {
            let name = self.sources().text(mention.span);
            let here = analysis.type_of(mention);
            let (mut types, mut documentation) = (Vec::new(), String::new());
            let declared = self.declared(name).filter(|_| mention.kind != MentionKind::Local);
            match mention.kind {
                _ if declared.is_some() => types.extend(declared),
                MentionKind::Function | MentionKind::Datatype => {
                    let entry =
                        (analysis.function_of(mention)).map(|id| manual::of(&analysis.known, self.sources(), id));
                    match entry {
                        Some(entry) => {
                            types.push(format!("{name} : {}", entry.ty));
                            let is_special = here.as_ref().is_some_and(|here| !entry.ty.starts_with(here.as_str()));
                            if let (true, Some(here)) = (is_special, here) {
                                types.push(format!("here : {here}"));
                            }
                            documentation = entry.doc;
                        }
                        None => types.extend(here.map(|here| format!("{name} : {here}"))),
                    }
                }
                MentionKind::Global | MentionKind::Local | MentionKind::Keyword => {
                    types.push(here.map_or_else(|| name.to_owned(), |here| format!("{name} : {here}")));
                }
            }
            let Some(range) = self.range(mention.span) else { continue };
            match &mut hover {
                // A word that is bound and mentioned: both are said.
                Some(hover) => hover.types.extend(types),
                None => hover = Some(Hover { range, types, documentation }),
            }
        }
        hover.filter(|hover| !hover.types.is_empty())
    }
}
