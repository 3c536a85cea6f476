//! The call around a place: which function it calls, with which parameters, and which of them the place is in.

use crate::document::Document;
use nesl_frontend::core::FunctionId;
use nesl_frontend::manual;
use nesl_frontend::syntax::nesl::token::{Bracket, Token};
use std::ops::Range;

/// A function that is being called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHelp {
    /// `take(v, n) : ([a], int) -> [a] :: (a in any)`.
    pub label: String,
    /// Where the parameters stand in the label, in bytes; those with a default come last.
    pub parameters: Vec<Range<usize>>,
    /// Which parameter the place is in, if there are so many.
    pub active: usize,
    /// What the function does.
    pub documentation: String,
}

impl Document {
    /// The function whose call a place is in the parentheses of, and how many commas of it are before the place.
    pub(crate) fn call_around(&self, offset: usize) -> Option<(FunctionId, usize)> {
        let tokens = self.tokens_before(offset);
        let (mut depth, mut commas) = (0_usize, 0);
        for (index, (token, _)) in tokens.iter().enumerate().rev() {
            match token {
                Token::Close(_) => depth += 1,
                Token::Open(_) if depth > 0 => depth -= 1,
                Token::Open(Bracket::Parenthesis) => {
                    let Some((Token::Name(name), _)) = index.checked_sub(1).map(|before| &tokens[before]) else {
                        commas = 0;
                        continue;
                    };
                    return self.analysis().known.function(name).map(|id| (id, commas));
                }
                Token::Open(_) => commas = 0,
                Token::Comma if depth == 0 => commas += 1,
                // A call does not go on across the end of a form; a `let` in it may have one.
                Token::Semicolon if depth == 0 => commas = 0,
                _ => {}
            }
        }
        None
    }

    /// The call around a place.
    pub fn signature_help(&self, offset: usize) -> Option<SignatureHelp> {
        let (id, active) = self.call_around(offset)?;
        let known = &self.analysis().known;
        let function = known.program().function(id);
        let documentation = manual::of(known, self.sources(), id).doc;
        if let Some(label) = self.declared(&function.name) {
            let mut end = label.find('(').unwrap_or(0);
            let place = |parameter: String| {
                let start = end + label[end..].find(&parameter)?;
                end = start + parameter.len();
                Some(start..end)
            };
            let parameters = known.declared_parameters(&function.name).into_iter().filter_map(place).collect();
            return Some(SignatureHelp { label, parameters, active, documentation });
        }
        let by_name = function.keywords.iter().map(|keyword| format!("{} := {}", keyword.name, keyword.text));
        let mut label = format!("{}(", function.name);
        let mut parameters = Vec::new();
        for parameter in function.parameters.iter().cloned().chain(by_name) {
            if !parameters.is_empty() {
                label += ", ";
            }
            parameters.push(label.len()..label.len() + parameter.len());
            label += &parameter;
        }
        label += &format!(") : {}", function.scheme);
        Some(SignatureHelp { label, parameters, active, documentation })
    }
}
