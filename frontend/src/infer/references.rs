//! The names of a text that a form refers to.

use super::text::Definitions;
use crate::ast::{
    Binding, Expr, ExprKind, Pattern, PatternKind, Signature, Symbol, TopLevel, TopLevelKind, TypeExpr, TypeExprKind,
};
use nesl_span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The names of the text that a form refers to.
#[derive(Debug, Default)]
pub struct References {
    /// Functions and values, each with its first place.
    pub names: HashMap<Symbol, Span>,
    /// Datatypes, in types and patterns.
    pub datatypes: BTreeSet<Symbol>,
}

impl References {
    /// Those of one form. `is_datatype` tells the datatypes outside of the text.
    pub fn of(text: &Definitions, form: &TopLevel, is_library: bool, is_datatype: &dyn Fn(&str) -> bool) -> References {
        let (bound, variables) = (HashMap::new(), HashSet::new());
        let mut walk = Walk { text, is_library, is_datatype, bound, variables, found: References::default() };
        match &form.kind {
            TopLevelKind::Function(function) => {
                if let Some(signature) = &function.signature {
                    walk.signature(signature);
                }
                if let Some(body) = &function.body {
                    for keyword in &function.keywords {
                        keyword.ty.iter().for_each(|ty| walk.ty(ty));
                        walk.expression(&keyword.default);
                    }
                    let mut names = Vec::new();
                    walk.pattern(&function.parameter, &mut names);
                    let keywords: Vec<Symbol> =
                        function.keywords.iter().map(|keyword| keyword.name.symbol.clone()).collect();
                    walk.bind(&keywords);
                    walk.expression(body);
                }
            }
            TopLevelKind::Datatype(datatype) => walk.signature(&datatype.payload),
            TopLevelKind::Assignment { pattern, value } => {
                walk.pattern_types(pattern);
                walk.expression(value);
            }
            TopLevelKind::Expression(expression) => walk.expression(expression),
            TopLevelKind::Import(_) | TopLevelKind::Error => {}
        }
        walk.found
    }
}

/// Finds the names of the text that an expression refers to.
struct Walk<'a> {
    text: &'a Definitions,
    is_library: bool,
    is_datatype: &'a dyn Fn(&str) -> bool,
    bound: HashMap<Symbol, usize>,
    /// The type variables of the signature.
    variables: HashSet<Symbol>,
    found: References,
}

impl Walk<'_> {
    fn bind(&mut self, names: &[Symbol]) {
        for name in names {
            *self.bound.entry(name.clone()).or_default() += 1;
        }
    }

    fn unbind(&mut self, names: &[Symbol]) {
        for name in names {
            if let Some(count) = self.bound.get_mut(name) {
                *count -= 1;
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) {
        if self.bound.get(name).is_some_and(|&count| count > 0) {
            return;
        }
        if let Some((name, _)) = self.text.definitions.get_key_value(name)
            && !self.found.names.contains_key(name)
        {
            self.found.names.insert(name.clone(), span);
        }
    }

    fn datatype(&mut self, name: &str) {
        if !self.variables.contains(name)
            && let Some((name, _)) = self.text.datatypes.get_key_value(name)
        {
            self.found.datatypes.insert(name.clone());
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Scalar(_) | TypeExprKind::Unit | TypeExprKind::Error => {}
            TypeExprKind::Name(name) => self.datatype(&name.symbol),
            TypeExprKind::Record(name, arguments) => {
                self.datatype(&name.symbol);
                arguments.iter().for_each(|argument| self.ty(argument));
            }
            TypeExprKind::Sequence(element) => self.ty(element),
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.ty(part)),
            TypeExprKind::Function(parameter, result) => {
                self.ty(parameter);
                self.ty(result);
            }
        }
    }

    fn signature(&mut self, signature: &Signature) {
        self.variables.extend(signature.context.iter().map(|(variable, _)| variable.symbol.clone()));
        self.ty(&signature.type_expr);
    }

    /// Binds the names of a pattern, which are added to `names`.
    fn pattern(&mut self, pattern: &Pattern, names: &mut Vec<Symbol>) {
        self.pattern_types(pattern);
        let start = names.len();
        pattern.names(names);
        self.bind(&names[start..]);
    }

    fn pattern_types(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Variable(_) | PatternKind::Unit | PatternKind::Error => {}
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern_types(part)),
            PatternKind::Record(name, parts) => {
                if let Some((name, _)) = self.text.datatypes.get_key_value(&name.symbol) {
                    self.found.datatypes.insert(name.clone());
                }
                self.pattern_types(parts);
            }
            PatternKind::Typed(inner, ty) => {
                self.pattern_types(inner);
                self.ty(ty);
            }
        }
    }

    /// A function that syntax stands for: always the library's.
    fn library(&mut self, name: &str, span: Span) {
        if self.is_library {
            self.name(name, span);
        }
    }

    /// Binds the names that a binding of a `let` binds, which are added to `names`.
    fn binding(&mut self, binding: &Binding, names: &mut Vec<Symbol>) {
        match &binding.pattern.kind {
            PatternKind::Record(name, parameter) if self.is_local_function(&name.symbol) => {
                // Its name means itself in its body, too.
                names.push(name.symbol.clone());
                self.bind(std::slice::from_ref(&name.symbol));
                let mut own = Vec::new();
                self.pattern(parameter, &mut own);
                self.expression(&binding.value);
                self.unbind(&own);
            }
            _ => {
                self.expression(&binding.value);
                self.pattern(&binding.pattern, names);
            }
        }
    }

    fn is_local_function(&self, name: &str) -> bool {
        !name.contains('.') && !self.text.datatypes.contains_key(name) && !(self.is_datatype)(name)
    }

    fn expression(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Literal(_) | ExprKind::Text(_) | ExprKind::Unit | ExprKind::Empty(None) | ExprKind::Error => {}
            ExprKind::Empty(Some(element)) => self.ty(element),
            ExprKind::Lambda { parameter, body } => {
                let mut names = Vec::new();
                self.pattern(parameter, &mut names);
                self.expression(body);
                self.unbind(&names);
            }
            ExprKind::Keyword { value, .. } => self.expression(value),
            ExprKind::Typed { value, ty } => {
                self.expression(value);
                self.ty(ty);
            }
            ExprKind::Name(name) => self.name(name, expression.span),
            ExprKind::Tuple(parts) | ExprKind::Sequence(parts) => parts.iter().for_each(|part| self.expression(part)),
            ExprKind::Call { function, argument } => {
                self.expression(function);
                self.expression(argument);
            }
            ExprKind::Index { sequence, index } => {
                self.library("elt", expression.span);
                self.expression(sequence);
                self.expression(index);
            }
            ExprKind::Unary { op, op_span, operand } => {
                self.library(op.function(), *op_span);
                self.expression(operand);
            }
            ExprKind::Binary { op, op_span, left, right } => {
                self.name(op.function(), *op_span);
                self.expression(left);
                self.expression(right);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                self.expression(condition);
                self.expression(then_branch);
                self.expression(else_branch);
            }
            ExprKind::Let { bindings, body } => {
                let mut names = Vec::new();
                bindings.iter().for_each(|binding| self.binding(binding, &mut names));
                self.expression(body);
                self.unbind(&names);
            }
            ExprKind::Range { start, end, stride } => {
                self.library("iseq", expression.span);
                self.expression(start);
                self.expression(end);
                if let Some(stride) = stride {
                    self.expression(stride);
                }
            }
            ExprKind::Each { is_serial, body, sources, filter } => {
                if *is_serial {
                    super::serial::FUNCTIONS.into_iter().for_each(|name| self.library(name, expression.span));
                }
                let mut names = Vec::new();
                for source in sources {
                    match (&source.sequence, &source.pattern.kind) {
                        (Some(sequence), _) => self.expression(sequence),
                        (None, PatternKind::Variable(name)) => self.name(name, source.pattern.span),
                        (None, _) => {}
                    }
                }
                for source in sources {
                    self.pattern(&source.pattern, &mut names);
                }
                for part in [filter, body].into_iter().flatten() {
                    self.expression(part);
                }
                self.unbind(&names);
            }
        }
    }
}
