//! `{* e : x in v | c}`: an apply-to-each that evaluates its elements one after another.
//!
//! It stands for the call of a library function on a lambda, so that effects happen element by element and only one
//! element's intermediate values are there at a time:
//!
//! ```text
//! serial_each((x => e), v)
//! flatten(serial_each((x => if c then [e] else []), v))
//! ```

use super::Inference;
use crate::ast::{self, ExprKind, Pattern, PatternKind, Source, Symbol};
use crate::typed::Expr;
use crate::typed::types::Node;
use nesl_span::Span;

/// The library functions that it stands for, with a filter or without.
pub(super) const FUNCTIONS: [&str; 2] = ["serial_each", "flatten"];

impl Inference<'_> {
    /// A serial apply-to-each.
    pub(super) fn serial_each(
        &mut self,
        span: Span,
        body: Option<&ast::Expr>,
        sources: &[Source],
        filter: Option<&ast::Expr>,
    ) -> Expr {
        let expr = |kind, span| ast::Expr { kind, span };
        let patterns: Vec<Pattern> = sources.iter().map(|source| source.pattern.clone()).collect();
        let body = match (body, patterns.first()) {
            (Some(body), _) => body.clone(),
            (None, Some(first)) => as_expression(first),
            (None, None) => expr(ExprKind::Error, span),
        };
        let body = match filter {
            None => body,
            Some(filter) => {
                let kept = expr(ExprKind::Sequence(vec![body]), span);
                expr(
                    ExprKind::If {
                        condition: Box::new(filter.clone()),
                        then_branch: Box::new(kept),
                        else_branch: Box::new(expr(ExprKind::Empty(None), span)),
                    },
                    span,
                )
            }
        };
        // The elements of all sources together, under names that no program can write.
        let names: Vec<Symbol> = (0..sources.len()).map(|index| format!("element {index}").into()).collect();
        let renamed: Vec<Source> = (sources.iter().zip(&names))
            .map(|(source, name)| {
                let span = source.pattern.span;
                let sequence = source.sequence.clone().unwrap_or_else(|| as_expression(&source.pattern));
                Source {
                    pattern: Pattern { kind: PatternKind::Variable(name.clone()), span },
                    sequence: Some(sequence),
                }
            })
            .collect();
        let mut elements: Vec<ast::Expr> = names.into_iter().map(|name| expr(ExprKind::Name(name), span)).collect();
        let (element, pattern) = match patterns.len() {
            1 => (elements.remove(0), patterns[0].clone()),
            _ => (expr(ExprKind::Tuple(elements), span), Pattern { kind: PatternKind::Tuple(patterns), span }),
        };
        let together = self.each(span, Some(&element), &renamed, None);
        // Before the body is looked at its elements are known, as in any apply-to-each.
        let element = match self.types.node(together.ty) {
            Node::Sequence(element) => Some(element),
            _ => None,
        };
        let function = self.lambda_on(span, &pattern, &body, element);
        let results = self.library_call(FUNCTIONS[0], vec![function, together], span);
        match filter {
            Some(_) => self.library_call(FUNCTIONS[1], vec![results], span),
            None => results,
        }
    }
}

/// The value that a pattern took apart.
fn as_expression(pattern: &Pattern) -> ast::Expr {
    let span = pattern.span;
    let kind = match &pattern.kind {
        PatternKind::Variable(name) => ExprKind::Name(name.clone()),
        PatternKind::Unit => ExprKind::Unit,
        PatternKind::Tuple(parts) => ExprKind::Tuple(parts.iter().map(as_expression).collect()),
        PatternKind::Record(name, payload) => ExprKind::Call {
            function: Box::new(ast::Expr { kind: ExprKind::Name(name.symbol.clone()), span: name.span }),
            argument: Box::new(as_expression(payload)),
        },
        PatternKind::Typed(inner, _) => return as_expression(inner),
        PatternKind::Error => ExprKind::Error,
    };
    ast::Expr { kind, span }
}
