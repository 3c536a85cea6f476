//! The gaps of top-level forms.

use super::expressions::expression;
use super::gaps::{Gaps, Indent, STEP};
use crate::ast::{FunctionDefinition, TopLevel, TopLevelKind};
use crate::syntax::nesl::token::Token;

/// The gaps of a whole text.
pub(super) fn program(gaps: &mut Gaps<'_>, forms: &[TopLevel]) {
    let mut assignments = Vec::new();
    let mut after_definition = false;
    for form in forms {
        let (first, last) = gaps.range(form.span);
        // The terminator, too, where a comment puts it on a line of its own.
        for gap in gaps.gaps.iter_mut().take(last + 2).skip(first + 1) {
            gap.indent = Indent::Column(first, STEP);
        }
        gaps.add(first, Indent::Margin, 0, 0);
        gaps.gaps[first].may_be_blank = true;
        gaps.gaps[first].begins_line = after_definition;
        after_definition = matches!(form.kind, TopLevelKind::Function(_) | TopLevelKind::Datatype(_));
        match &form.kind {
            TopLevelKind::Assignment { value, .. } => {
                let (start, _) = gaps.range(value.span);
                assignments.push((first, start - 1));
            }
            _ => gaps.bindings.push(std::mem::take(&mut assignments)),
        }
        match &form.kind {
            TopLevelKind::Function(definition) => function(gaps, definition, first, last),
            TopLevelKind::Datatype(_) | TopLevelKind::Import(_) => gaps.plain(first, last, 1),
            TopLevelKind::Assignment { value, .. } => {
                let (start, _) = gaps.range(value.span);
                gaps.plain(first, start - 2, 1);
                gaps.keep(start, Indent::Column(first, STEP));
                expression(gaps, value, 1);
            }
            TopLevelKind::Expression(value) => expression(gaps, value, 1),
            TopLevelKind::Error => {}
        }
    }
    gaps.bindings.push(assignments);
}

/// `function name(parameters) : type "documentation" = body`.
fn function(gaps: &mut Gaps<'_>, definition: &FunctionDefinition, first: usize, last: usize) {
    if gaps.is(first + 1, &Token::Quote) {
        gaps.tighten(first + 2);
    }
    let (open, close) = gaps.range(definition.parameter.span);
    gaps.plain(open, close, 2);
    if gaps.is_parenthesised(open, close) {
        gaps.tighten(open);
    }
    for keyword in &definition.keywords {
        let ((name, _), (start, _)) = (gaps.range(keyword.name.span), gaps.range(keyword.default.span));
        gaps.keep(start, Indent::Column(name, STEP));
        expression(gaps, &keyword.default, 3);
    }
    let body = definition.body.as_ref().map(|body| gaps.range(body.span));
    let header_end = body.map_or(last, |(start, _)| start - 1);
    if let Some(signature) = &definition.signature {
        let (start, end) = gaps.range(signature.span);
        gaps.plain(start, end, 2);
    }
    for index in close + 1..=header_end {
        match gaps.tokens[index].0 {
            Token::Text(_) => {
                gaps.gaps[index].is_documentation = true;
                gaps.keep(index, Indent::Column(first, STEP));
            }
            Token::Colon | Token::Equal => gaps.keep(index, Indent::Column(first, STEP)),
            Token::DoubleColon => gaps.add(index, Indent::Column(first, STEP), 1, first),
            _ => {}
        }
    }
    if let (Some(body), Some((start, end))) = (&definition.body, body) {
        gaps.add(start, Indent::Column(first, STEP), 0, first);
        gaps.bodies.push((start, end));
        expression(gaps, body, 1);
    }
}
