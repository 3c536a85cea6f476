//! Patterns: V binds names one by one, and takes structs apart by their fields.

use super::Printer;
use super::operators::CONDITIONAL;
use super::types::empty_of;
use crate::ast::{Expr, ExprKind, Name, Pattern, PatternKind, Symbol};
use crate::syntax::v::types::Type;
use nesl_span::Span;

/// Calls `visit` with each variable.
pub(super) fn each_variable(pattern: &Pattern, visit: &mut dyn FnMut(&Symbol, Span)) {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => each_variable(inner, visit),
        PatternKind::Variable(symbol) => visit(symbol, pattern.span),
        PatternKind::Tuple(parts) => parts.iter().for_each(|part| each_variable(part, visit)),
        PatternKind::Record(_, inner) => each_variable(inner, visit),
        PatternKind::Unit | PatternKind::Error => {}
    }
}

/// Calls `visit` with each record that a pattern takes apart, and the pattern of its payload.
pub(super) fn each_record(pattern: &Pattern, visit: &mut dyn FnMut(&Symbol, &Pattern)) {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => each_record(inner, visit),
        PatternKind::Tuple(parts) => parts.iter().for_each(|part| each_record(part, visit)),
        PatternKind::Record(name, inner) => {
            visit(&name.symbol, inner);
            each_record(inner, visit);
        }
        PatternKind::Variable(_) | PatternKind::Unit | PatternKind::Error => {}
    }
}

/// Calls `visit` with each pattern of an expression.
pub(super) fn each_pattern(expression: &Expr, visit: &mut dyn FnMut(&Pattern)) {
    match &expression.kind {
        ExprKind::Let { bindings, .. } => bindings.iter().for_each(|binding| visit(&binding.pattern)),
        ExprKind::Lambda { parameter, .. } => visit(parameter),
        ExprKind::Each { sources, .. } => sources.iter().for_each(|source| visit(&source.pattern)),
        _ => {}
    }
    expression.parts().into_iter().for_each(|part| each_pattern(part, visit));
}

/// Patterns with their values, where a tuple is taken apart that is written out; nothing for another tuple.
pub(super) fn pairs<'e>(pattern: &'e Pattern, value: &'e Expr) -> Option<Vec<(&'e Pattern, &'e Expr)>> {
    let pattern = pattern.bare();
    match (&pattern.kind, &value.kind) {
        (PatternKind::Tuple(patterns), ExprKind::Tuple(values)) if patterns.len() == values.len() => {
            let parts = patterns.iter().zip(values).map(|(pattern, value)| pairs(pattern, value));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        (PatternKind::Tuple(_), _) => None,
        _ => Some(vec![(pattern, value)]),
    }
}

impl Printer<'_> {
    /// The parameters of a function, and the statements that it begins with.
    pub(super) fn parameters(&mut self, pattern: &Pattern) -> (Vec<String>, Vec<String>) {
        let pattern = pattern.bare();
        let parts = match &pattern.kind {
            PatternKind::Tuple(parts) => parts.as_slice(),
            PatternKind::Unit => &[],
            _ => std::slice::from_ref(pattern),
        };
        let mut parameters = Vec::new();
        for part in parts.iter().map(Pattern::bare) {
            match &part.kind {
                PatternKind::Variable(symbol) => {
                    let name = self.fresh(symbol);
                    self.bind(part.span, name.clone());
                    if let Some(ty) = self.bound_type(part.span) {
                        let ty = self.sayable(&ty, part.span);
                        parameters.push(ty.declared(&name));
                    }
                }
                PatternKind::Record(record, inner) => {
                    let name = self.fresh(record.symbol.get(..1).unwrap_or("r"));
                    parameters.push(self.structure_type(record).declared(&name));
                    self.fields_of(record, inner, &name);
                }
                PatternKind::Unit => {
                    self.cannot("a parameter of V has a value", part.span, "leave it out");
                }
                PatternKind::Tuple(_) => self.no_tuples(part.span),
                PatternKind::Typed(..) | PatternKind::Error => {}
            }
        }
        (parameters, Vec::new())
    }

    /// The type of a struct by the name of its datatype.
    pub(super) fn structure_type(&self, record: &Name) -> Type {
        let definition = self.meaning(record.span).map(|meaning| meaning.definition);
        let name = definition.and_then(|definition| self.tops.get(&definition));
        Type::Struct(name.map_or(&*record.symbol, String::as_str).into())
    }

    /// Lets the variables of a payload stand for the fields of a struct.
    pub(super) fn fields_of(&mut self, record: &Name, payload: &Pattern, whole: &str) {
        let definition = self.meaning(record.span).map(|meaning| meaning.definition);
        let Some(fields) = definition.and_then(|definition| self.fields.get(&definition)).cloned() else {
            let hint = "in V write what uses its fields";
            self.cannot("the fields of this datatype have no names here", record.span, hint);
            return;
        };
        let payload = payload.bare();
        let parts = match &payload.kind {
            PatternKind::Tuple(parts) => parts.as_slice(),
            _ => std::slice::from_ref(payload),
        };
        if parts.len() != fields.len() {
            self.no_tuples(payload.span);
            return;
        }
        for (field, part) in fields.iter().zip(parts.iter().map(Pattern::bare)) {
            let path = format!("{whole}.{field}");
            match &part.kind {
                PatternKind::Variable(_) => self.bind(part.span, path),
                PatternKind::Record(record, inner) => self.fields_of(record, inner, &path),
                PatternKind::Tuple(_) => self.no_tuples(part.span),
                PatternKind::Unit | PatternKind::Typed(..) | PatternKind::Error => {}
            }
        }
    }

    /// The generators of an apply-to-each for one source: names with what they go through.
    pub(super) fn generators(&mut self, pattern: &Pattern, sequence: Option<&Expr>) -> Vec<(Pattern, String)> {
        let pattern = pattern.bare();
        let Some(sequence) = sequence else {
            // A name alone goes through what it means outside.
            let outside = self.meaning(pattern.span).map(|meaning| meaning.definition);
            let text =
                outside.and_then(|definition| self.inside.locals.get(&definition).or(self.tops.get(&definition)));
            let text = text.cloned().unwrap_or_else(|| match &pattern.kind {
                PatternKind::Variable(symbol) => symbol.to_string(),
                _ => String::new(),
            });
            return vec![(pattern.clone(), text)];
        };
        let PatternKind::Tuple(patterns) = &pattern.kind else {
            // Nothing where it stands says what an empty vector is of.
            let text = match &sequence.kind {
                ExprKind::Empty(Some(element)) => empty_of(element),
                _ => self.at(sequence, CONDITIONAL + 1),
            };
            return vec![(pattern.clone(), text)];
        };
        let columns: Option<Vec<String>> = match &sequence.kind {
            ExprKind::Call { function, argument } => match (&function.kind, &argument.kind) {
                (ExprKind::Name(name), ExprKind::Tuple(parts))
                    if matches!(&**name, "zip" | "zip3") && parts.len() == patterns.len() =>
                {
                    Some(parts.iter().map(|part| self.at(part, CONDITIONAL + 1)).collect())
                }
                _ => None,
            },
            ExprKind::Sequence(rows) => self.columns(rows, patterns.len()),
            _ => None,
        };
        match columns {
            Some(columns) => patterns.iter().map(|part| part.bare().clone()).zip(columns).collect(),
            None => {
                self.no_tuples(pattern.span);
                Vec::new()
            }
        }
    }

    /// The columns of tuples that are written out.
    pub(super) fn columns(&mut self, rows: &[Expr], count: usize) -> Option<Vec<String>> {
        let rows: Vec<&[Expr]> = rows
            .iter()
            .map(|row| match &row.kind {
                ExprKind::Tuple(parts) if parts.len() == count => Some(parts.as_slice()),
                _ => None,
            })
            .collect::<Option<_>>()?;
        let column = |printer: &mut Self, index: usize| {
            let parts: Vec<String> = rows.iter().map(|row| printer.expression(&row[index]).0).collect();
            format!("[{}]", parts.join(", "))
        };
        Some((0..count).map(|index| column(self, index)).collect())
    }
}
