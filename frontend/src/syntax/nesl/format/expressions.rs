//! The gaps of expressions.

use super::gaps::{Gaps, Indent, STEP};
use crate::ast::{Binding, Expr, ExprKind, Source};
use crate::syntax::nesl::parser::operators::power;
use crate::syntax::nesl::token::{Bracket, Keyword, Token};

/// The gaps of an expression, but for that before it.
pub(super) fn expression(gaps: &mut Gaps<'_>, expr: &Expr, depth: u32) {
    let (mut first, mut last) = gaps.range(expr.span);
    let mut depth = depth;
    while gaps.is_parenthesised(first, last) && first + 1 < last {
        gaps.brackets(first);
        (first, last, depth) = (first + 1, last - 1, depth + 1);
    }
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Text(_) | ExprKind::Unit | ExprKind::Error => {}
        ExprKind::Name(_) => {
            if gaps.is(first, &Token::Quote) {
                gaps.tighten(first + 1);
            }
        }
        ExprKind::Empty(_) => gaps.plain(first + 2, last, depth),
        ExprKind::Tuple(parts) => list(gaps, parts, depth),
        ExprKind::Sequence(parts) => {
            gaps.brackets(first);
            list(gaps, parts, depth);
        }
        ExprKind::Call { .. } | ExprKind::Index { .. } => suffixes(gaps, expr, first, depth),
        ExprKind::Unary { operand, .. } => {
            gaps.tighten(first + 1);
            expression(gaps, operand, depth);
        }
        ExprKind::Binary { .. } => operations(gaps, expr, first, depth),
        ExprKind::If { .. } => conditional(gaps, expr, first, depth),
        ExprKind::Let { .. } if gaps.is(first, &Token::Keyword(Keyword::Time)) => {
            gaps.tighten(first + 1);
            if let Some(timed) = written_in(gaps, expr, first) {
                expression(gaps, timed, depth);
            }
        }
        ExprKind::Let { bindings, body } => local(gaps, bindings, body, first, depth),
        ExprKind::Range { start, end, stride } => {
            gaps.brackets(first);
            expression(gaps, start, depth + 1);
            for part in [Some(end), stride.as_ref()].into_iter().flatten() {
                let at = first_token(gaps, part);
                gaps.tighten(at - 1);
                gaps.tighten(at);
                expression(gaps, part, depth + 1);
            }
        }
        ExprKind::Lambda { parameter, body } => {
            let (start, end) = gaps.range(parameter.span);
            gaps.plain(start, end, depth);
            gaps.keep(first_token(gaps, body), Indent::Column(first, STEP));
            expression(gaps, body, depth + 1);
        }
        ExprKind::Typed { value, ty } => {
            expression(gaps, value, depth);
            let (start, end) = gaps.range(ty.span);
            gaps.plain(start, end, depth);
        }
        ExprKind::Keyword { value, .. } => {
            gaps.keep(first_token(gaps, value), Indent::Column(first, STEP));
            expression(gaps, value, depth + 1);
        }
        ExprKind::Each { body, sources, filter, .. } => {
            each(gaps, body.as_deref(), sources, filter.as_deref(), (first, depth));
        }
    }
}

fn first_token(gaps: &Gaps<'_>, expr: &Expr) -> usize {
    gaps.range(expr.span).0
}

/// What a person wrote inside of an expression that stands for more than it says: all else has the place of its word.
fn written_in<'e>(gaps: &Gaps<'_>, expr: &'e Expr, word: usize) -> Option<&'e Expr> {
    let written = |part| if first_token(gaps, part) == word { written_in(gaps, part, word) } else { Some(part) };
    expr.parts().into_iter().find_map(written)
}

/// Parts between commas.
fn list(gaps: &mut Gaps<'_>, parts: &[Expr], depth: u32) {
    let mut first = None;
    for part in parts {
        let (start, _) = gaps.range(part.span);
        match first {
            None => first = Some(start),
            Some(first) => gaps.add(start, Indent::Column(first, 0), depth, first),
        }
        expression(gaps, part, depth + 1);
    }
}

/// `f(a)(b)`, `f x`, `v[i][j]`: what stands behind an operand. Chains may be long, so this is a loop.
fn suffixes(gaps: &mut Gaps<'_>, expr: &Expr, first: usize, depth: u32) {
    let mut current = expr;
    loop {
        let operand = match &current.kind {
            ExprKind::Call { function, argument } => {
                let (start, _) = gaps.range(argument.span);
                match gaps.is(start, &Token::Open(Bracket::Parenthesis)) {
                    true => gaps.tighten(start),
                    false => gaps.keep(start, Indent::Column(first, STEP)),
                }
                expression(gaps, argument, depth + 1);
                function
            }
            ExprKind::Index { sequence, index } => {
                let (start, _) = gaps.range(index.span);
                gaps.tighten(start - 1);
                gaps.brackets(start - 1);
                expression(gaps, index, depth + 1);
                sequence
            }
            _ => return expression(gaps, current, depth),
        };
        let (start, end) = gaps.range(operand.span);
        if gaps.is_parenthesised(start, end) {
            return expression(gaps, operand, depth + 1);
        }
        current = operand;
    }
}

/// Operands joined by infix operators. Chains are deep on their left side, so that is a loop.
fn operations(gaps: &mut Gaps<'_>, expr: &Expr, first: usize, depth: u32) {
    let mut current = expr;
    let (mut depth, mut joined) = (depth, None);
    let begins_form = gaps.gaps[first].indent == Indent::Margin;
    let column = Indent::Column(first, if begins_form { STEP } else { 0 });
    while let ExprKind::Binary { op, op_span, left, right } = &current.kind {
        let power = power(*op);
        depth += u32::from(joined.is_some_and(|joined| joined != power));
        joined = Some(power);
        let (at, _) = gaps.range(*op_span);
        gaps.add(at, column, depth, first);
        gaps.keep(at + 1, column);
        expression(gaps, right, depth + 1);
        current = left;
        let (start, end) = gaps.range(left.span);
        if gaps.is_parenthesised(start, end) {
            break;
        }
    }
    expression(gaps, current, depth + 1);
}

/// `if c then a else if d then b else c`: one construct.
fn conditional(gaps: &mut Gaps<'_>, expr: &Expr, first: usize, depth: u32) {
    let (mut current, mut word) = (expr, first);
    while let ExprKind::If { condition, then_branch, else_branch } = &current.kind {
        let ((then, _), (other, end)) = (gaps.range(then_branch.span), gaps.range(else_branch.span));
        gaps.add(then - 1, Indent::Branch(word, 0), depth + 1, word);
        gaps.keep(then, Indent::Branch(word, STEP));
        gaps.spread(other - 1, Indent::Branch(word, 0), depth, first);
        gaps.keep(other, Indent::Branch(word, STEP));
        expression(gaps, condition, depth + 2);
        expression(gaps, then_branch, depth + 2);
        if !matches!(else_branch.kind, ExprKind::If { .. }) || gaps.is_parenthesised(other, end) {
            return expression(gaps, else_branch, depth + 2);
        }
        gaps.chains.insert(other, word);
        (current, word) = (else_branch, other);
    }
}

/// `let p = e; … in e`.
fn local(gaps: &mut Gaps<'_>, bindings: &[Binding], body: &Expr, word: usize, depth: u32) {
    let mut column = None;
    let mut equals = Vec::new();
    for binding in bindings {
        let (start, end) = gaps.range(binding.pattern.span);
        let (value, _) = gaps.range(binding.value.span);
        match column {
            None => {
                gaps.keep(start, Indent::Column(word, STEP));
                column = Some(start);
            }
            Some(column) => gaps.spread(start, Indent::Column(column, 0), depth, word),
        }
        gaps.gaps[start].may_be_blank = column != Some(start);
        equals.push((start, value - 1));
        gaps.plain(start, end, depth + 1);
        gaps.keep(value, Indent::Column(start, STEP));
        expression(gaps, &binding.value, depth + 1);
    }
    gaps.bindings.push(equals);
    let (start, _) = gaps.range(body.span);
    gaps.spread(start - 1, Indent::Column(word, 0), depth, word);
    gaps.keep(start, Indent::Body { of: word, word: start - 1 });
    expression(gaps, body, depth + 1);
}

/// `{body : p in v; … | filter}`.
fn each(
    gaps: &mut Gaps<'_>,
    body: Option<&Expr>,
    sources: &[Source],
    filter: Option<&Expr>,
    (open, depth): (usize, u32),
) {
    gaps.brackets(open);
    let inside = Indent::Column(open + 1, 0);
    if let Some(body) = body {
        expression(gaps, body, depth + 2);
    }
    let mut column = None;
    for source in sources {
        let (start, end) = gaps.range(source.pattern.span);
        match column {
            None => {
                if body.is_some() {
                    gaps.add(start - 1, inside, depth, open);
                    gaps.keep(start, inside);
                }
                column = Some(start);
            }
            Some(column) => gaps.add(start, Indent::Column(column, 0), depth + 1, open),
        }
        gaps.plain(start, end, depth + 2);
        if let Some(sequence) = &source.sequence {
            gaps.keep(first_token(gaps, sequence), Indent::Column(start, STEP));
            expression(gaps, sequence, depth + 2);
        }
    }
    if let Some(filter) = filter {
        let (start, _) = gaps.range(filter.span);
        gaps.add(start - 1, inside, depth, open);
        gaps.keep(start, Indent::Column(open + 1, STEP));
        expression(gaps, filter, depth + 2);
    }
}
