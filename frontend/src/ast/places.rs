//! Where the parts of a form stand, to move them: a form that has been read stays what it is when the text before it
//! changes ([`crate::syntax::nesl::parser::parse_again`]).

use super::{
    Binding, DatatypeDefinition, Expr, ExprKind, FunctionDefinition, Import, KeywordParameter, Name, Pattern,
    PatternKind, Signature, Source, TopLevel, TopLevelKind, TypeExpr, TypeExprKind,
};
use nesl_span::Span;

/// What is done with each place.
type Visit<'v> = &'v mut dyn FnMut(&mut Span);

impl TopLevel {
    /// Visits all places in the form.
    pub fn for_each_place(&mut self, visit: Visit<'_>) {
        visit(&mut self.span);
        match &mut self.kind {
            TopLevelKind::Function(function) => in_function(function, visit),
            TopLevelKind::Datatype(DatatypeDefinition { name, payload }) => {
                in_name(name, visit);
                in_signature(payload, visit);
            }
            TopLevelKind::Assignment { pattern, value } => {
                in_pattern(pattern, visit);
                in_expression(value, visit);
            }
            TopLevelKind::Expression(value) => in_expression(value, visit),
            TopLevelKind::Import(Import { span, alias, .. }) => {
                visit(span);
                alias.iter_mut().for_each(|alias| in_name(alias, visit));
            }
            TopLevelKind::Error => {}
        }
    }
}

fn in_name(name: &mut Name, visit: Visit<'_>) {
    visit(&mut name.span);
}

fn in_function(function: &mut FunctionDefinition, visit: Visit<'_>) {
    let FunctionDefinition { name, parameter, keywords, signature, doc: _, body } = function;
    in_name(name, visit);
    in_pattern(parameter, visit);
    for KeywordParameter { name, ty, default } in keywords {
        in_name(name, visit);
        ty.iter_mut().for_each(|ty| in_type(ty, visit));
        in_expression(default, visit);
    }
    signature.iter_mut().for_each(|signature| in_signature(signature, visit));
    body.iter_mut().for_each(|body| in_expression(body, visit));
}

fn in_signature(signature: &mut Signature, visit: Visit<'_>) {
    let Signature { type_expr, context, span } = signature;
    visit(span);
    in_type(type_expr, visit);
    for (variable, class) in context {
        in_name(variable, visit);
        in_name(class, visit);
    }
}

fn in_type(ty: &mut TypeExpr, visit: Visit<'_>) {
    visit(&mut ty.span);
    match &mut ty.kind {
        TypeExprKind::Scalar(_) | TypeExprKind::Unit | TypeExprKind::Error => {}
        TypeExprKind::Name(name) => in_name(name, visit),
        TypeExprKind::Record(name, arguments) => {
            in_name(name, visit);
            arguments.iter_mut().for_each(|argument| in_type(argument, visit));
        }
        TypeExprKind::Sequence(element) => in_type(element, visit),
        TypeExprKind::Tuple(parts) => parts.iter_mut().for_each(|part| in_type(part, visit)),
        TypeExprKind::Function(parameter, result) => {
            in_type(parameter, visit);
            in_type(result, visit);
        }
    }
}

fn in_pattern(pattern: &mut Pattern, visit: Visit<'_>) {
    visit(&mut pattern.span);
    match &mut pattern.kind {
        PatternKind::Variable(_) | PatternKind::Unit | PatternKind::Error => {}
        PatternKind::Tuple(parts) => parts.iter_mut().for_each(|part| in_pattern(part, visit)),
        PatternKind::Record(name, inner) => {
            in_name(name, visit);
            in_pattern(inner, visit);
        }
        PatternKind::Typed(inner, ty) => {
            in_pattern(inner, visit);
            in_type(ty, visit);
        }
    }
}

fn in_expression(expression: &mut Expr, visit: Visit<'_>) {
    visit(&mut expression.span);
    match &mut expression.kind {
        ExprKind::Literal(_) | ExprKind::Text(_) | ExprKind::Name(_) | ExprKind::Unit | ExprKind::Error => {}
        ExprKind::Tuple(parts) | ExprKind::Sequence(parts) => {
            parts.iter_mut().for_each(|part| in_expression(part, visit));
        }
        ExprKind::Call { function: one, argument: other } | ExprKind::Index { sequence: one, index: other } => {
            in_expression(one, visit);
            in_expression(other, visit);
        }
        ExprKind::Unary { op: _, op_span, operand } => {
            visit(op_span);
            in_expression(operand, visit);
        }
        ExprKind::Binary { op: _, op_span, left, right } => {
            visit(op_span);
            in_expression(left, visit);
            in_expression(right, visit);
        }
        ExprKind::If { condition, then_branch, else_branch } => {
            in_expression(condition, visit);
            in_expression(then_branch, visit);
            in_expression(else_branch, visit);
        }
        ExprKind::Let { bindings, body } => {
            for Binding { pattern, value } in bindings {
                in_pattern(pattern, visit);
                in_expression(value, visit);
            }
            in_expression(body, visit);
        }
        ExprKind::Empty(element) => element.iter_mut().for_each(|element| in_type(element, visit)),
        ExprKind::Range { start, end, stride } => {
            in_expression(start, visit);
            in_expression(end, visit);
            stride.iter_mut().for_each(|stride| in_expression(stride, visit));
        }
        ExprKind::Lambda { parameter, body } => {
            in_pattern(parameter, visit);
            in_expression(body, visit);
        }
        ExprKind::Keyword { name, value } => {
            in_name(name, visit);
            in_expression(value, visit);
        }
        ExprKind::Typed { value, ty } => {
            in_expression(value, visit);
            in_type(ty, visit);
        }
        ExprKind::Each { is_serial: _, body, sources, filter } => {
            for Source { pattern, sequence } in sources {
                in_pattern(pattern, visit);
                sequence.iter_mut().for_each(|sequence| in_expression(sequence, visit));
            }
            for part in [filter, body].into_iter().flatten() {
                in_expression(part, visit);
            }
        }
    }
}
