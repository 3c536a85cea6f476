//! Assignments: a variable gets a new value, of which an element or a field may be all that is new.

use super::Lowering;
use crate::ast::{Binding, Expr, ExprKind, Name, Pattern, PatternKind, Symbol};
use crate::diagnostic::{Diagnostic, has_errors};
use crate::syntax::v::analysis::changed;
use crate::syntax::v::build::{bound, call, expr, library, name, variable};
use crate::syntax::v::known::Structure;
use crate::syntax::v::tree::{Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::sync::Arc;

/// A struct by its name.
pub(super) type Named = (Symbol, Arc<Structure>);

/// What of a variable an assignment changes.
pub(super) struct Target {
    /// The variable, as the tree calls it.
    symbol: Symbol,
    /// Its part: from the outside in.
    path: Vec<Step>,
    /// The type of the part.
    pub ty: Type,
    /// The length that the part has in any case.
    pub length: Option<i64>,
    span: Span,
}

enum Step {
    Index(Expr, Span),
    Field(Named, usize, Span),
}

/// The pattern of a struct's fields.
fn fields(structure: &Named, span: Span) -> (Pattern, Vec<Symbol>) {
    let symbols: Vec<Symbol> = structure.1.fields.iter().map(|(field, _)| Symbol::from(format!("~{field}"))).collect();
    let inner = crate::syntax::v::build::variables(&symbols, span);
    let name = Name { symbol: structure.0.clone(), span };
    (Pattern { kind: PatternKind::Record(name, Box::new(inner)), span }, symbols)
}

/// The field of a struct with this number.
pub(super) fn field(value: Expr, structure: &Named, index: usize, span: Span) -> Expr {
    let (pattern, symbols) = fields(structure, span);
    bound(vec![Binding { pattern, value }], name(&symbols[index], span))
}

impl Target {
    /// The value that the part has.
    pub fn value(&self) -> Expr {
        let whole = name(&self.symbol, self.span);
        self.path.iter().fold(whole, |value, step| match step {
            Step::Index(index, span) => {
                let (sequence, index) = (Box::new(value), Box::new(index.clone()));
                expr(ExprKind::Index { sequence, index }, *span)
            }
            Step::Field(structure, index, span) => field(value, structure, *index, *span),
        })
    }

    /// The variable with a new value of the part.
    pub fn changed(&self, new: Expr) -> Binding {
        let value = replaced(name(&self.symbol, self.span), &self.path, new);
        Binding { pattern: variable(&self.symbol, self.span), value }
    }
}

/// A value with a new part.
fn replaced(whole: Expr, path: &[Step], new: Expr) -> Expr {
    let Some((first, rest)) = path.split_first() else { return new };
    match first {
        Step::Index(index, span) => {
            let (sequence, at) = (Box::new(whole.clone()), Box::new(index.clone()));
            let element = expr(ExprKind::Index { sequence, index: at }, *span);
            let element = replaced(element, rest, new);
            library("rep", vec![whole, element, index.clone()], *span)
        }
        Step::Field(structure, index, span) => {
            let (pattern, symbols) = fields(structure, *span);
            let mut values: Vec<Expr> = symbols.iter().map(|symbol| name(symbol, *span)).collect();
            let old = values[*index].clone();
            values[*index] = replaced(old, rest, new);
            bound(vec![Binding { pattern, value: whole }], call(&structure.0, values, *span, *span))
        }
    }
}

impl<'a> Lowering<'a> {
    /// The struct of a type and the number of its field.
    pub(super) fn field_of(&mut self, ty: &Type, field: &Name, at: Span) -> Option<(Named, usize)> {
        let Type::Struct(symbol) = ty else {
            if *ty != Type::Unknown {
                let message = format!("only a struct has fields, and this is `{ty}`");
                let report = Diagnostic::error("E0203", message, at);
                self.report(match ty {
                    Type::Vector(_) if is_length(&field.symbol) => report.hint("the length of a vector is `$v`"),
                    Type::Vector(_) => report.hint("the field of an element is `v[i].x`"),
                    _ => report,
                });
            } else if !has_errors(&self.diagnostics) && self.unreadable.is_empty() {
                // An element of `[]`, of which nothing says what it is.
                let report = Diagnostic::error("E0203", "nothing says which struct this is", at);
                self.report(report.hint("declare the vector before, `struct name v[] = []`"));
            }
            return None;
        };
        let structure = self.definitions.structures.get(symbol).cloned()?;
        let index = structure.fields.iter().position(|(name, _)| *name == field.symbol);
        if index.is_none() {
            let names: Vec<&str> = structure.fields.iter().map(|(name, _)| &**name).collect();
            let message = format!("`struct {symbol}` has no field `{}`", field.symbol);
            let report = Diagnostic::error("E0201", message, field.span).also(structure.span, "defined here");
            self.report(report.hint(format!("its fields are {}", names.join(", "))));
        }
        Some(((symbol.clone(), structure), index?))
    }

    /// What an assignment changes. Indices that are not simple are computed once, before.
    pub(super) fn target(&mut self, source: &Expression, bindings: &mut Vec<Binding>) -> Option<Target> {
        let Some(root) = changed(source).cloned() else {
            let report = Diagnostic::error("E0511", "this cannot be assigned to", source.span);
            self.report(report.hint("assigned are variables, elements `v[i]` and fields `s.x`"));
            return None;
        };
        if self.local(&root).is_none() {
            let span = source.span;
            if self.global_type(&root).is_some() {
                let report = Diagnostic::error("E0503", format!("the global `{root}` cannot be assigned"), span);
                self.report(
                    report.hint(
                        "what every function sees never changes; pass it as an argument, and give back what is new",
                    ),
                );
            } else {
                self.unknown_name(&root, span, false);
            }
            return None;
        }
        self.part(source, bindings)
    }

    /// Reports an index behind a parameter `int *x`, or `int (*x)[*]`.
    pub(super) fn no_elements(&mut self, name: &Name) {
        let symbol = &name.symbol;
        let ty = self.local(symbol).map_or(Type::Unknown, |local| local.ty.clone());
        let report = match &ty {
            Type::Vector(_) => Diagnostic::error("E0508", format!("`{symbol}` is the place of a vector"), name.span)
                .hint(format!("an element of the vector is `(*{symbol})[i]`")),
            _ => {
                let message = format!("`{symbol}` is the place of one value, `{ty}`, and no vector");
                let hint = format!(
                    "the place of a vector is `{}`, an element of it `(*{symbol})[i]`; what is only read is `{}`",
                    Type::vector(ty.clone()).declared(&format!("(*{symbol})")),
                    Type::vector(ty).declared(symbol)
                );
                Diagnostic::error("E0508", message, name.span).hint(hint)
            }
        };
        self.report(report);
    }

    fn part(&mut self, source: &Expression, bindings: &mut Vec<Binding>) -> Option<Target> {
        match &source.kind {
            ExpressionKind::Name(name) => {
                let local = self.local(&name.symbol)?.clone();
                if local.is_shared {
                    let message = format!("`{}` is a place: assign the value there, `*{0} = …`", name.symbol);
                    let report = Diagnostic::error("E0508", message, source.span);
                    self.report(match local.ty {
                        Type::Struct(_) => report.hint(format!("a field of it is `{}->x`", name.symbol)),
                        _ => report,
                    });
                }
                let (symbol, ty, length) = (local.symbol, local.ty, local.length);
                Some(Target { symbol, path: Vec::new(), ty, length, span: source.span })
            }
            ExpressionKind::Unary("*", _, inner) => match &inner.kind {
                ExpressionKind::Name(name) if self.local(&name.symbol).is_some_and(|local| local.is_shared) => {
                    let local = self.local(&name.symbol)?.clone();
                    let (symbol, ty, length) = (local.symbol, local.ty, local.length);
                    Some(Target { symbol, path: Vec::new(), ty, length, span: source.span })
                }
                _ => {
                    let report = Diagnostic::error("E0508", "this is no pointer", inner.span);
                    self.report(report.hint("only a parameter `int *x` is one"));
                    None
                }
            },
            ExpressionKind::Index(inner, index) => {
                if let Some(name) = self.pointer(inner) {
                    self.no_elements(name);
                    return None;
                }
                let mut target = self.part(inner, bindings)?;
                let element = match &target.ty {
                    Type::Vector(element) => (**element).clone(),
                    Type::Unknown => Type::Unknown,
                    other => {
                        let message = format!("only a vector has elements, and this is `{other}`");
                        self.report(Diagnostic::error("E0203", message, inner.span));
                        return None;
                    }
                };
                let mut value = self.value(index, &Type::Int, "an index");
                if !is_simple(&value) {
                    let symbol = Symbol::from(format!("~index{}", target.path.len()));
                    bindings.push(Binding { pattern: variable(&symbol, index.span), value });
                    value = name(&symbol, index.span);
                }
                target.path.push(Step::Index(value, source.span));
                (target.ty, target.length, target.span) = (element, None, source.span);
                Some(target)
            }
            ExpressionKind::Field(inner, field) => {
                let mut target = self.part(inner, bindings)?;
                let (structure, index) = self.field_of(&target.ty.clone(), field, inner.span)?;
                let ty = structure.1.fields[index].1.clone();
                let length = structure.1.lengths[index].first().copied();
                target.path.push(Step::Field(structure, index, source.span));
                (target.ty, target.length, target.span) = (ty, length, source.span);
                Some(target)
            }
            _ => None,
        }
    }
}

/// Whether an expression costs nothing to write twice.
fn is_simple(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Name(_) | ExprKind::Literal(ScalarValue::Int(_)))
}

/// Whether other languages call the length of a vector so.
pub(super) fn is_length(word: &str) -> bool {
    matches!(word, "length" | "size" | "len" | "count" | "Length" | "Count")
}
