//! Calls: of functions of V, of constructors of structs, of functions of NESL.

use super::Lowering;
use super::expressions::broken;
use crate::ast::{Expr, Name, Symbol};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::build::call;
use crate::syntax::v::known::{OutsideFunction, Signature};
use crate::syntax::v::tree::Expression;
use crate::syntax::v::types::Type;
use crate::ty;
use nesl_span::Span;
use std::sync::Arc;

/// A call with what it assigns: its value's type, and the variables whose places are passed.
pub(super) struct Effective {
    pub value: Expr,
    pub ty: Type,
    /// The places that are passed, in the order of the parameters.
    pub changed: Vec<Expression>,
}

impl Lowering<'_> {
    /// Whether a name means a function.
    pub(super) fn is_function(&self, symbol: &str) -> bool {
        self.definitions.functions.contains_key(symbol) || self.around.function(symbol).is_some()
    }

    /// A call as a value.
    pub(super) fn called(&mut self, function: &Name, arguments: &[Expression], span: Span) -> (Expr, Type) {
        let call = self.effective(function, arguments, span);
        if let Some(first) = call.changed.first() {
            let report = Diagnostic::error("E0511", "a call that changes variables is no part of an expression", span)
                .also(first.span, "changed here")
                .hint("make it a statement of its own, `f(&x);`, or the whole value of an assignment, `y = f(&x);`");
            self.report(report);
            return broken(span);
        }
        (call.value, call.ty)
    }

    /// A call, wherever it stands.
    pub(super) fn effective(&mut self, function: &Name, arguments: &[Expression], span: Span) -> Effective {
        let plain = |(value, ty)| Effective { value, ty, changed: Vec::new() };
        if self.local(&function.symbol).is_some() {
            let message = format!("`{}` is a variable, and cannot be called", function.symbol);
            self.report(Diagnostic::error("E0204", message, function.span).hint("an element of a vector is `v[i]`"));
            return plain(broken(span));
        }
        if let Some(signature) = self.definitions.functions.get(&function.symbol).cloned() {
            return self.own_call(function, &signature, arguments, span);
        }
        if self.definitions.structures.contains_key(&function.symbol) {
            return plain(self.constructed(function, arguments, span));
        }
        if &*function.symbol == "printf" {
            return plain(self.printf(arguments, function.span, span));
        }
        match self.around.function(&function.symbol) {
            Some(foreign) => plain(self.foreign_call(function, &foreign, arguments, span)),
            None => {
                // What stands in the arguments is wrong or right in itself.
                for argument in arguments {
                    self.expression(argument, &Type::Unknown);
                }
                self.unknown_name(&function.symbol, function.span, true);
                plain(broken(span))
            }
        }
    }

    /// Reports a call of a function that is not pure where only pure ones may be called.
    pub(super) fn check_purity(&mut self, symbol: &str, at: Span, is_pure: bool, definition: Option<Span>) {
        if is_pure {
            return;
        }
        let (code, place, reason) = if self.eaches > 0 {
            ("E0509", "an apply-to-each", "all elements are done at once, so that effects would have no order")
        } else if self.is_pure() {
            ("E0501", "a pure function", "an apply-to-each may call it for all elements at once")
        } else {
            return;
        };
        let message = format!("{place} calls only pure functions, and `{symbol}` is not pure");
        let report = Diagnostic::error(code, message, at).saying(reason);
        let report = match definition {
            Some(definition) => report.also(definition, "defined here").hint(format!(
                "if `{symbol}` neither prints nor changes what is passed to it, begin its definition with `pure`"
            )),
            None => report.hint(
                "a function that prints or reads is called from functions that are not pure, one call after another",
            ),
        };
        self.report(report);
    }

    fn own_call(
        &mut self,
        function: &Name,
        signature: &Arc<Signature>,
        arguments: &[Expression],
        span: Span,
    ) -> Effective {
        let symbol = &function.symbol;
        self.check_purity(symbol, function.span, signature.is_pure, Some(signature.span));
        if &**symbol == "main" {
            let report = Diagnostic::error("E0204", "`main` is called by whoever runs the program", function.span);
            self.report(report.hint("make a function of what both need"));
        }
        self.check_count(function, signature.parameters.len(), arguments, Some(signature.span));
        let mut values = Vec::new();
        let mut changed = Vec::new();
        for (parameter, argument) in signature.parameters.iter().zip(arguments) {
            values.push(match parameter.is_shared {
                true => self.passed(symbol, parameter, argument, &mut changed),
                false => {
                    let what = format!("the argument `{}` of `{symbol}`", parameter.name);
                    self.value(argument, &parameter.ty, &what)
                }
            });
        }
        self.check_distinct(&changed);
        let value = call(symbol, values, function.span, span);
        Effective { value, ty: signature.result.clone(), changed }
    }

    fn check_count(&mut self, function: &Name, wanted: usize, arguments: &[Expression], definition: Option<Span>) {
        if arguments.len() == wanted {
            return;
        }
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("`{}` takes {wanted} argument{plural}, but gets {}", function.symbol, arguments.len());
        let report = Diagnostic::error("E0213", message, function.span);
        self.report(match definition {
            Some(definition) => report.also(definition, "defined here"),
            None => report,
        });
    }

    /// `point(1.0, 2.0)`.
    pub(super) fn constructed(&mut self, structure: &Name, values: &[Expression], span: Span) -> (Expr, Type) {
        let Some(found) = self.definitions.structures.get(&structure.symbol).cloned() else {
            let message = format!("there is no `struct {}`", structure.symbol);
            self.report(Diagnostic::error("E0207", message, structure.span));
            return broken(span);
        };
        if found.fields.len() != values.len() {
            let (wanted, got) = (found.fields.len(), values.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`struct {}` has {wanted} field{plural}, but gets {got} values", structure.symbol);
            self.report(Diagnostic::error("E0213", message, span).also(found.span, "defined here"));
            return broken(span);
        }
        let fields = found.fields.iter().zip(&found.lengths).zip(values);
        let values = fields
            .map(|(((field, ty), lengths), source)| {
                let value = self.value(source, ty, &format!("the field `{field}`"));
                self.filled(value, source, ty, lengths)
            })
            .collect();
        (call(&structure.symbol, values, structure.span, span), Type::Struct(structure.symbol.clone()))
    }

    fn foreign_call(
        &mut self,
        function: &Name,
        foreign: &OutsideFunction,
        arguments: &[Expression],
        span: Span,
    ) -> (Expr, Type) {
        let effect = foreign.effect;
        self.check_purity(&function.symbol, function.span, !(effect.prints || effect.acts), None);
        let Some(parameters) = parameters(&foreign.scheme.parameter, arguments.len()) else {
            let most = std::iter::successors(Some(&foreign.scheme.parameter), |ty| match ty {
                ty::Type::Pair(_, rest) => Some(&**rest),
                _ => None,
            });
            let count = if foreign.scheme.parameter == ty::Type::Unit { 0 } else { most.count() };
            self.check_count(function, count, arguments, None);
            return broken(span);
        };
        let mut bindings = vec![Type::Unknown; foreign.scheme.classes.len()];
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if let ty::Type::Function(wanted) = parameter {
                let value = self.function_argument(argument, wanted, &mut bindings);
                values.push((value, Type::Unknown));
                continue;
            }
            let wanted = self.imported(parameter, &bindings);
            let (value, ty) = self.expression(argument, &wanted);
            if ty == Type::Void {
                self.mismatch(&ty, &wanted, argument.span, "an argument");
            }
            self.unify(parameter, &ty, &mut bindings);
            values.push((value, ty));
        }
        let values = (values.into_iter().zip(&parameters).zip(1..))
            .map(|(((value, ty), parameter), number)| match parameter {
                ty::Type::Function(_) => value,
                _ => {
                    let wanted = self.imported(parameter, &bindings);
                    let what = format!("argument {number} of `{}`", function.symbol);
                    self.fitted(value, &ty, &wanted, &what)
                }
            })
            .collect();
        self.check_functions(&parameters, arguments, &bindings, function);
        self.check_classes(&foreign.scheme.classes, &bindings, function);
        let result = self.imported(&foreign.scheme.result, &bindings);
        (call(&function.symbol, values, function.span, span), result)
    }
}

/// The types of so many parameters of a function whose parameter has this type.
fn parameters(parameter: &ty::Type, count: usize) -> Option<Vec<ty::Type>> {
    if count == 0 {
        return (*parameter == ty::Type::Unit).then(Vec::new);
    }
    if *parameter == ty::Type::Unit {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = parameter;
    while found.len() + 1 < count {
        let ty::Type::Pair(first, after) = rest else { return None };
        found.push((**first).clone());
        rest = after;
    }
    // Fewer arguments than parameters are no tuple by accident.
    if count > 1 && matches!(rest, ty::Type::Pair(..)) {
        return None;
    }
    found.push(rest.clone());
    Some(found)
}

/// The name of a generated part of a function.
pub(super) fn part(function: &Symbol, what: &str, number: usize) -> Symbol {
    match number {
        1 => Symbol::from(format!("{function}~{what}")),
        _ => Symbol::from(format!("{function}~{what}{number}")),
    }
}
