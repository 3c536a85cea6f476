//! Expressions, with their types.

use super::convert::{Manner, converted, met};
use super::{Lowering, targets};
use crate::ast::{Expr, ExprKind, Name, Pattern, PatternKind, Source, Symbol, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::edit_distance;
use crate::syntax::v::build::{boolean, conditional, double, expr, int, name, text, unary, variable};
use crate::syntax::v::tree::{Base, Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::sync::Arc;

/// What stands where something is wrong.
pub(super) fn broken(span: Span) -> (Expr, Type) {
    (expr(ExprKind::Error, span), Type::Unknown)
}

impl Lowering<'_> {
    /// A value of a type.
    pub(super) fn value(&mut self, source: &Expression, wanted: &Type, what: &str) -> Expr {
        let (value, ty) = self.expression(source, wanted);
        self.fitted(value, &ty, wanted, what)
    }

    /// A value of any type.
    pub(super) fn any(&mut self, source: &Expression) -> (Expr, Type) {
        let (value, ty) = self.expression(source, &Type::Unknown);
        if ty == Type::Void {
            let report = Diagnostic::error("E0202", "a value must stand here, but this is `void`", source.span);
            self.report(report.hint("a `void` function gives no value: call it in a statement of its own"));
            return broken(source.span);
        }
        (value, ty)
    }

    /// A condition.
    pub(super) fn condition(&mut self, source: &Expression) -> Expr {
        self.value(source, &Type::Bool, "a condition")
    }

    /// An expression with its type. Where its parts do not say what they are, the `wanted` type does.
    pub(super) fn expression(&mut self, source: &Expression, wanted: &Type) -> (Expr, Type) {
        let span = source.span;
        match &source.kind {
            ExpressionKind::Int(value) => (int(*value, span), Type::Int),
            ExpressionKind::Double(value) => (double(*value, span), Type::Double),
            ExpressionKind::Char(value) => (expr(ExprKind::Literal(ScalarValue::Char(*value)), span), Type::Char),
            ExpressionKind::Bool(value) => (boolean(*value, span), Type::Bool),
            ExpressionKind::Text(bytes) => (text(bytes.clone(), span), Type::vector(Type::Char)),
            ExpressionKind::Name(name) => self.name(name),
            ExpressionKind::Call { function, arguments } => self.called(function, arguments, span),
            ExpressionKind::Index(vector, index) => self.element(vector, index, span),
            ExpressionKind::Field(record, field) => self.field(record, field, span),
            ExpressionKind::Unary(operator, at, operand) => self.unary(operator, *at, operand, span),
            ExpressionKind::Binary(operator, at, left, right) => self.binary(operator, *at, (left, right), wanted),
            ExpressionKind::Conditional(condition, first, second) => {
                let condition = self.condition(condition);
                let (first, second) = (self.expression(first, wanted), self.expression(second, wanted));
                let Some(ty) = met(&first.1, &second.1) else {
                    let message =
                        format!("both values of `?:` must be of one type, not `{}` and `{}`", first.1, second.1);
                    self.report(Diagnostic::error("E0202", message, span));
                    return broken(span);
                };
                let first = self.fitted(first.0, &first.1, &ty, "the first value");
                let second = self.fitted(second.0, &second.1, &ty, "the second value");
                (conditional(condition, first, second, span), ty)
            }
            ExpressionKind::Vector(elements) => self.vector(elements, wanted, span),
            ExpressionKind::Braces(name, values) => self.braces(name.as_ref(), values, wanted, span),
            ExpressionKind::Each { body, sources, filter } => self.each(body, sources, filter.as_deref(), wanted, span),
            ExpressionKind::Cast(base, operand) => self.cast(base, operand, span),
            ExpressionKind::Error => broken(span),
        }
    }

    fn name(&mut self, source: &Name) -> (Expr, Type) {
        let span = source.span;
        if let Some(local) = self.local(&source.symbol) {
            let found = (name(&local.symbol, span), local.ty.clone());
            if local.is_shared {
                let message = format!("`{}` is a place, and `*{0}` the value there", source.symbol);
                self.report(Diagnostic::error("E0508", message, span).hint("there is no arithmetic of pointers"));
            }
            return found;
        }
        if let Some(ty) = self.global_type(&source.symbol) {
            return (name(&source.symbol, span), ty);
        }
        if self.is_function(&source.symbol) {
            let message = format!("`{}` is a function, and functions are no values here", source.symbol);
            self.report(Diagnostic::error("E0204", message, span).hint("call it: `f(x)`"));
            return broken(span);
        }
        self.unknown_name(&source.symbol, span, false);
        broken(span)
    }

    /// The type of a value outside of functions.
    pub(super) fn global_type(&self, symbol: &str) -> Option<Type> {
        if let Some(ty) = self.definitions.globals.get(symbol) {
            return Some(ty.clone());
        }
        let structures = &self.definitions.structures;
        let ty = self.around.value(symbol)?;
        Some(Type::of(&ty, &|name| structures.contains_key(name)))
    }

    /// Reports a name that means nothing.
    pub(super) fn unknown_name(&mut self, symbol: &Symbol, span: Span, is_called: bool) {
        // As in C, a name is reported once in a function.
        if !self.unknown.insert(symbol.clone()) || self.unreadable.contains(symbol) {
            return;
        }
        let report = Diagnostic::error("E0201", format!("`{symbol}` is not defined"), span);
        let hint = |text: &str| Some(text.to_owned());
        let advice = match &**symbol {
            method if method.contains('.') => self.method_hint(method),
            "pow" => hint("x to the power of y is `expt(x, y)`"),
            "fabs" | "labs" => hint("the absolute value of an int or a double is `abs(x)`"),
            "log" => hint("the natural logarithm is `ln(x)`"),
            "fmax" | "fmin" => hint("the larger and the smaller are `max(a, b)` and `min(a, b)`"),
            "strlen" => hint("the length of a text is `$s`"),
            "strcmp" => hint("texts are compared by `==` and `!=`"),
            "malloc" | "calloc" | "realloc" | "free" => hint(
                "vectors take the memory they need: `dist(0, n)` is one of n zeros, and `v >< [x]` one with an element more",
            ),
            "NULL" | "nullptr" => hint("there are no pointers; an empty vector is `[]`"),
            "puts" | "putchar" | "fprintf" | "sprintf" => {
                hint("what prints is `printf`; the text of a value is `string(x)`")
            }
            "scanf" | "getchar" | "gets" | "fgets" => {
                hint("arguments of the command line are the parameters of `main`")
            }
            "assert" => hint("a program ends with a message by `error(\"…\")`"),
            "rand" => hint("a random number below n is `rand(n)`"),
            _ => {
                let mut names = self.around.names();
                names.retain(|name| name.starts_with(|first: char| first.is_alphabetic()));
                names.extend(self.scope.iter().map(|local| local.name.clone()));
                names.extend(self.definitions.functions.keys().cloned());
                names.extend(self.definitions.globals.keys().cloned());
                let near = names.into_iter().map(|name| (edit_distance(symbol, &name, 2), name)).min();
                let limit = if symbol.len() < 5 { 1 } else { 2 };
                let near = near.filter(|(distance, _)| *distance <= limit && symbol.len() > 1);
                let declared = || hint("a variable is declared before it is used: `int x = 0;`").filter(|_| !is_called);
                near.map(|(_, name)| format!("did you mean `{name}`?")).or_else(declared)
            }
        };
        self.report(match advice {
            Some(hint) => report.hint(hint),
            None => report,
        });
    }

    /// The hint for `v.push(x)`: what other languages call by a value.
    fn method_hint(&self, symbol: &str) -> Option<String> {
        let (value, method) = symbol.split_once('.')?;
        if self.local(value).is_none() && self.global_type(value).is_none() {
            return None;
        }
        Some(match method {
            "push" | "push_back" | "append" | "add" => format!("an element is appended by `{value} = {value} >< [x];`"),
            "pop" | "pop_back" => format!("all elements but the last are `take({value}, ${value} - 1)`"),
            "extend" | "concat" => format!("vectors are joined by `{value} >< w`"),
            _ if targets::is_length(method) => format!("the length of a vector is `${value}`"),
            _ if self.is_function(method) => {
                format!("a function gets all that it needs in parentheses: `{method}({value}, …)`")
            }
            _ => "values have no functions of their own: `f(x)` calls a function".to_owned(),
        })
    }

    fn element(&mut self, vector: &Expression, index: &Expression, span: Span) -> (Expr, Type) {
        if let Some(name) = self.pointer(vector) {
            self.no_elements(&name.clone());
            return broken(span);
        }
        let (sequence, ty) = self.any(vector);
        let index = self.value(index, &Type::Int, "an index");
        let element = match ty {
            Type::Vector(element) => (*element).clone(),
            Type::Unknown => Type::Unknown,
            other => {
                let message = format!("only a vector has elements, and this is `{other}`");
                self.report(Diagnostic::error("E0203", message, vector.span));
                return broken(span);
            }
        };
        let (sequence, index) = (Box::new(sequence), Box::new(index));
        (expr(ExprKind::Index { sequence, index }, span), element)
    }

    fn field(&mut self, record: &Expression, field: &Name, span: Span) -> (Expr, Type) {
        // A value of a file that is imported as `g` is `g.x`.
        if let ExpressionKind::Name(file) = &record.kind
            && self.local(&file.symbol).is_none()
        {
            let symbol = Symbol::from(format!("{}.{}", file.symbol, field.symbol));
            if let Some(ty) = self.global_type(&symbol) {
                return (name(&symbol, span), ty);
            }
        }
        let (value, ty) = self.any(record);
        let Some((structure, index)) = self.field_of(&ty, field, record.span) else { return broken(span) };
        let ty = structure.1.fields[index].1.clone();
        (targets::field(value, &structure, index, span), ty)
    }

    fn vector(&mut self, elements: &[Expression], wanted: &Type, span: Span) -> (Expr, Type) {
        let inner = match wanted {
            Type::Vector(element) => (**element).clone(),
            _ => Type::Unknown,
        };
        if elements.is_empty() {
            let tree = inner.tree(span);
            return (expr(ExprKind::Empty(tree), span), Type::vector(inner));
        }
        let values: Vec<(Expr, Type)> = (elements.iter()).map(|element| self.element_value(element, &inner)).collect();
        let mut common = inner;
        for (value, ty) in &values {
            match met(&common, ty) {
                Some(ty) => common = ty,
                None => {
                    let (common, ty) = (common, ty.clone());
                    let span = value.span;
                    self.mismatch(&ty, &common, span, "an element of this vector");
                    return broken(span);
                }
            }
        }
        let values = (values.into_iter()).map(|(value, ty)| self.fitted(value, &ty, &common, "an element"));
        (expr(ExprKind::Sequence(values.collect()), span), Type::vector(common))
    }

    fn element_value(&mut self, source: &Expression, wanted: &Type) -> (Expr, Type) {
        let (value, ty) = self.expression(source, wanted);
        if ty == Type::Void {
            self.mismatch(&ty, wanted, source.span, "an element of this vector");
            return broken(source.span);
        }
        (value, ty)
    }

    fn braces(&mut self, name: Option<&Name>, values: &[Expression], wanted: &Type, span: Span) -> (Expr, Type) {
        let wanted = name.map_or_else(|| wanted.clone(), |name| Type::Struct(name.symbol.clone()));
        match &wanted {
            Type::Vector(_) => self.vector(values, &wanted, span),
            Type::Struct(symbol) => {
                let at = name.map_or(span, |name| name.span);
                self.constructed(&Name { symbol: symbol.clone(), span: at }, values, span)
            }
            Type::Unknown => broken(span),
            other => {
                let message = format!("braces hold the fields of a struct or the elements of a vector, not `{other}`");
                self.report(Diagnostic::error("E0202", message, span));
                broken(span)
            }
        }
    }

    fn each(
        &mut self,
        body: &Expression,
        sources: &[(Name, Expression)],
        filter: Option<&Expression>,
        wanted: &Type,
        span: Span,
    ) -> (Expr, Type) {
        let mut vectors = Vec::new();
        for (name, source) in sources {
            let (vector, ty) = self.any(source);
            let element = match ty {
                Type::Vector(element) => (*element).clone(),
                Type::Unknown => Type::Unknown,
                other => {
                    let message = format!("`{}` goes through a vector, and this is `{other}`", name.symbol);
                    let report = Diagnostic::error("E0203", message, source.span);
                    self.report(match other {
                        Type::Int => report.hint("the numbers from 0 up to n are `index(n)`"),
                        _ => report,
                    });
                    Type::Unknown
                }
            };
            vectors.push((name, vector, element));
        }
        let before = self.scope.len();
        let sources = vectors
            .into_iter()
            .map(|(name, vector, element)| {
                let symbol = self.declare(name, element, None, false);
                Source { pattern: variable(&symbol, name.span), sequence: Some(vector) }
            })
            .collect();
        self.eaches += 1;
        let filter = filter.map(|filter| Box::new(self.value(filter, &Type::Bool, "the filter")));
        let inner = match wanted {
            Type::Vector(element) => (**element).clone(),
            _ => Type::Unknown,
        };
        let (value, ty) = self.element_value(body, &inner);
        // A number may become what the vector is to hold, as it would in an assignment.
        let (value, ty) = match converted(value.clone(), &ty, &inner, Manner::Implicit) {
            Some(value) if inner.is_number() && inner != Type::Unknown => (value, inner),
            _ => (value, ty),
        };
        self.eaches -= 1;
        self.scope.truncate(before);
        let kind = ExprKind::Each { is_serial: false, body: Some(Box::new(value)), sources, filter };
        (expr(kind, span), Type::vector(ty))
    }

    fn cast(&mut self, base: &Base, operand: &Expression, span: Span) -> (Expr, Type) {
        let to = self.base_type(base);
        let (value, from) = self.any(operand);
        match converted(value, &from, &to, Manner::Explicit) {
            Some(value) => (Expr { span, ..value }, to),
            None => {
                let message = format!("a `{from}` cannot be made `{to}`");
                let report = Diagnostic::error("E0202", message, span);
                self.report(match &from {
                    Type::Vector(element) if element.is_number() && to.is_number() => {
                        report.hint(format!("a vector is converted element by element: `[({to}) x : x in v]`"))
                    }
                    _ => report,
                });
                broken(span)
            }
        }
    }

    /// `#v`.
    pub(super) fn length(&mut self, operand: &Expression, span: Span) -> (Expr, Type) {
        let (value, ty) = self.any(operand);
        if !matches!(ty, Type::Vector(_) | Type::Unknown) {
            let message = format!("only a vector has a length, and this is `{ty}`");
            self.report(Diagnostic::error("E0203", message, operand.span));
        }
        (unary(UnaryOp::Length, value, span), Type::Int)
    }
}

/// A pattern that takes nothing.
pub(super) fn ignored(span: Span) -> Pattern {
    Pattern { kind: PatternKind::Variable(Arc::from("_")), span }
}
