//! Local functions: `let g(x) = e in …` is `let g = (x => e) in …`, where there is no datatype `g`.

use super::problem::definition::DefinitionProblem;
use super::{DatatypeMeaning, Inference, Local, Meaning};
use crate::ast::{self, Binding, ExprKind, Name, PatternKind, Symbol};
use crate::core::VariableId;
use crate::typed::Expr;
use crate::typed::types::Types;
use nesl_span::Span;

/// A local function whose body is being checked.
#[derive(Debug)]
pub(super) struct OpenFunction {
    /// The variable that its name means there.
    id: VariableId,
    name: Name,
    is_reported: bool,
}

impl Inference<'_> {
    /// The name and the parameter of the function that a binding of a `let` defines, if it defines one. The later
    /// bindings and the body are what sees it.
    pub(super) fn local_function<'b>(
        &self,
        binding: &'b Binding,
        (later, body): (&'b [Binding], &'b ast::Expr),
    ) -> Option<(&'b Name, &'b ast::Pattern)> {
        let PatternKind::Record(name, parameter) = &binding.pattern.kind else { return None };
        let is_free = matches!(self.datatype(&name.symbol), DatatypeMeaning::Unknown);
        // Names with a point are those of imported files.
        if !is_free || name.symbol.contains('.') {
            return None;
        }
        // What is never called, but whose parameters are used, was to take a record apart.
        let is_mentioned = |name: &Symbol| mentions_after(name, later, body);
        let is_part = |part: &Symbol| matches!(self.meaning(part), Meaning::Unknown) && is_mentioned(part);
        let takes_apart = !is_mentioned(&name.symbol) && names_of(parameter).iter().any(is_part);
        (!takes_apart).then_some((name, parameter))
    }

    /// The lambda that a local function is. Within it, its name means itself, which is an error.
    pub(super) fn function_of(&mut self, name: &Name, parameter: &ast::Pattern, body: &ast::Expr) -> Expr {
        let id = self.new_variable();
        self.unfinished.push(OpenFunction { id, name: name.clone(), is_reported: false });
        let local = Local { id, ty: Types::ERROR, span: name.span };
        self.locals.entry(name.symbol.clone()).or_default().push(local);
        let value = self.lambda(name.span.to(body.span), parameter, body);
        if let Some(scopes) = self.locals.get_mut(&name.symbol) {
            scopes.pop();
        }
        self.unfinished.pop();
        value
    }

    /// Whether a variable is a local function within itself; once, that is reported.
    pub(super) fn reports_recursion(&mut self, id: VariableId, span: Span) -> bool {
        let Some(function) = self.unfinished.iter_mut().find(|function| function.id == id) else { return false };
        if !std::mem::replace(&mut function.is_reported, true) {
            let problem =
                DefinitionProblem::LocalRecursion { name: function.name.symbol.clone(), defined: function.name.span };
            self.report(span, problem);
        }
        true
    }
}

fn names_of(pattern: &ast::Pattern) -> Vec<Symbol> {
    let mut names = Vec::new();
    pattern.names(&mut names);
    names
}

/// Whether bindings, one after another, and what follows them mention a name of the outside.
fn mentions_after(name: &Symbol, bindings: &[Binding], body: &ast::Expr) -> bool {
    for Binding { pattern, value } in bindings {
        let is_bound = names_of(pattern).contains(name);
        match &pattern.kind {
            // Most likely a function, whose parameters its body sees, and nobody else.
            PatternKind::Record(function, _) => {
                if !is_bound && mentions(name, value) {
                    return true;
                }
                if function.symbol == *name {
                    return false;
                }
            }
            _ if mentions(name, value) => return true,
            _ if is_bound => return false,
            _ => {}
        }
    }
    mentions(name, body)
}

/// Whether an expression mentions a name of the outside.
fn mentions(name: &Symbol, expression: &ast::Expr) -> bool {
    match &expression.kind {
        ExprKind::Name(mentioned) => mentioned == name,
        ExprKind::Lambda { parameter, body } => !names_of(parameter).contains(name) && mentions(name, body),
        ExprKind::Let { bindings, body } => mentions_after(name, bindings, body),
        ExprKind::Each { body, sources, filter, .. } => {
            let in_source = |source: &ast::Source| match &source.sequence {
                Some(sequence) => mentions(name, sequence),
                None => names_of(&source.pattern).contains(name),
            };
            let is_bound = || sources.iter().any(|source| names_of(&source.pattern).contains(name));
            let mut inner = body.iter().chain(filter);
            sources.iter().any(in_source) || (!is_bound() && inner.any(|part| mentions(name, part)))
        }
        _ => expression.parts().into_iter().any(|part| mentions(name, part)),
    }
}
