//! One text as a whole: which form defines which name, what a name in a form refers to, and the order of checking.
//!
//! Functions may refer to functions and values that come later in the text; values are computed in order, so a value may
//! only use, also through functions, the values before it. With several definitions of one name, a form sees the latest
//! before it, and a function whose name is only defined later sees the first one.

use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Symbol, TopLevel, TopLevelKind};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};

/// The definitions of a text.
#[derive(Debug, Default)]
pub struct Text {
    /// Per name the numbers of the forms that define it, ascending.
    definitions: HashMap<Symbol, Vec<usize>>,
    /// Per form whether it defines a function.
    is_function: Vec<bool>,
}

/// What a name refers to, looking at the text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The definition in this form.
    Form(usize),
    /// A value that is only computed later, by this form.
    Later(usize),
    /// Nothing in this text.
    Elsewhere,
}

/// A value form that uses a value too early: at `span`, the value computed by the form `definition`.
#[derive(Clone, Debug)]
pub struct EarlyUse {
    /// The form that uses it.
    pub form: usize,
    /// The name that leads to it.
    pub name: Symbol,
    /// Where that name stands.
    pub span: Span,
    /// The form that computes it.
    pub definition: usize,
}

/// Names that a form refers to, each with its first place.
type References = HashMap<Symbol, Span>;

impl Text {
    /// Reads the definitions of a text. With `binds_it` every expression form defines `it`.
    pub fn new(forms: &[TopLevel], binds_it: bool) -> Text {
        let with_body: HashSet<&Symbol> = (forms.iter())
            .filter_map(|form| match &form.kind {
                TopLevelKind::Function(function) if function.body.is_some() => Some(&function.name.symbol),
                _ => None,
            })
            .collect();
        let mut text = Text::default();
        for (number, form) in forms.iter().enumerate() {
            let mut names = Vec::new();
            match &form.kind {
                // A declaration is only a promise of the definition in the same text.
                TopLevelKind::Function(function)
                    if function.body.is_none() && with_body.contains(&function.name.symbol) => {}
                TopLevelKind::Function(function) => names.push(function.name.symbol.clone()),
                TopLevelKind::Assignment { pattern, .. } => pattern_names(pattern, &mut names),
                TopLevelKind::Expression(_) if binds_it => names.push(Symbol::from("it")),
                TopLevelKind::Expression(_) | TopLevelKind::Error => {}
            }
            for name in names {
                let forms = text.definitions.entry(name).or_default();
                if forms.last() != Some(&number) {
                    forms.push(number);
                }
            }
            text.is_function.push(matches!(form.kind, TopLevelKind::Function(_)));
        }
        text
    }

    /// All names defined in the text.
    pub fn names(&self) -> impl Iterator<Item = &Symbol> {
        self.definitions.keys()
    }

    /// The forms that define a name, ascending.
    pub fn definitions_of(&self, name: &str) -> &[usize] {
        self.definitions.get(name).map_or(&[], Vec::as_slice)
    }

    /// What a name in a form refers to.
    pub fn resolve(&self, form: usize, name: &str) -> Reference {
        let forms = self.definitions_of(name);
        let is_function = self.is_function.get(form).copied().unwrap_or(false);
        // A function sees itself, a value does not.
        let before = forms.partition_point(|&definition| definition < form || (is_function && definition == form));
        let later = match is_function {
            true => forms.get(before),
            false => forms[before..].iter().find(|&&definition| self.is_function[definition]),
        };
        match (before.checked_sub(1).map(|index| forms[index]), later) {
            (Some(definition), _) | (None, Some(&definition)) => Reference::Form(definition),
            (None, None) => forms.get(before).map_or(Reference::Elsewhere, |&definition| Reference::Later(definition)),
        }
    }

    /// Groups of forms in the order in which they can be checked; a group is one form, or functions that call each other.
    /// Forms that use values too early are reported, and are independent of all others for the purpose of the order.
    /// `is_elsewhere` tells which names mean something outside of the text.
    pub fn order(
        &self,
        forms: &[TopLevel],
        is_library: bool,
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> (Vec<Vec<usize>>, Vec<EarlyUse>) {
        let references: Vec<References> = forms.iter().map(|form| self.references(form, is_library)).collect();
        let edges: Vec<Vec<usize>> = (references.iter().enumerate())
            .map(|(form, names)| {
                let mut edges: Vec<usize> = names
                    .keys()
                    .filter_map(|name| match self.resolve(form, name) {
                        Reference::Form(definition) => Some(definition),
                        Reference::Later(_) | Reference::Elsewhere => None,
                    })
                    .collect();
                edges.sort_unstable();
                edges
            })
            .collect();
        let early = self.early_uses(&references, &edges, is_elsewhere);
        let is_early: HashSet<usize> = early.iter().map(|early| early.form).collect();
        let mut edges = edges;
        for &form in &is_early {
            edges[form].clear();
        }
        // A value that is assigned again is checked after its earlier assignments, which decide about its number.
        for definitions in self.definitions.values() {
            let values: Vec<usize> =
                definitions.iter().copied().filter(|&definition| !self.is_function[definition]).collect();
            for pair in values.windows(2) {
                edges[pair[1]].push(pair[0]);
            }
        }
        (components(&edges), early)
    }

    fn early_uses(
        &self,
        references: &[References],
        edges: &[Vec<usize>],
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> Vec<EarlyUse> {
        // The last value that each function uses, through other functions too.
        let calls: Vec<Vec<usize>> = (edges.iter().enumerate())
            .map(|(form, edges)| match self.is_function[form] {
                true => edges.iter().copied().filter(|&edge| self.is_function[edge]).collect(),
                false => Vec::new(),
            })
            .collect();
        let mut last_value: Vec<Option<usize>> = vec![None; edges.len()];
        for group in components(&calls) {
            let uses = |&form: &usize| {
                edges[form].iter().map(|&edge| if self.is_function[edge] { last_value[edge] } else { Some(edge) })
            };
            let last = match group.iter().any(|&form| self.is_function[form]) {
                true => group.iter().flat_map(uses).max().flatten(),
                false => None,
            };
            for form in group {
                last_value[form] = last;
            }
        }
        let mut early = Vec::new();
        for (form, names) in references.iter().enumerate().filter(|(form, _)| !self.is_function[*form]) {
            let first = (names.iter())
                .filter_map(|(name, &span)| {
                    let definition = match self.resolve(form, name) {
                        Reference::Form(used) if self.is_function[used] => {
                            last_value[used].filter(|&last| last >= form)
                        }
                        Reference::Later(definition) if !is_elsewhere(name) => Some(definition),
                        _ => None,
                    }?;
                    Some(EarlyUse { form, name: name.clone(), span, definition })
                })
                .min_by_key(|early| early.span);
            early.extend(first);
        }
        early
    }

    fn references(&self, form: &TopLevel, is_library: bool) -> References {
        let mut walk = Walk { text: self, is_library, bound: HashMap::new(), found: HashMap::new() };
        match &form.kind {
            TopLevelKind::Function(function) => {
                if let Some(body) = &function.body {
                    let mut names = Vec::new();
                    pattern_names(&function.parameter, &mut names);
                    walk.bind(&names);
                    walk.expression(body);
                }
            }
            TopLevelKind::Assignment { value, .. } => walk.expression(value),
            TopLevelKind::Expression(expression) => walk.expression(expression),
            TopLevelKind::Error => {}
        }
        walk.found
    }
}

/// Adds the names that a pattern binds.
pub fn pattern_names(pattern: &Pattern, names: &mut Vec<Symbol>) {
    match &pattern.kind {
        PatternKind::Variable(name) => names.push(name.clone()),
        PatternKind::Tuple(parts) => parts.iter().for_each(|part| pattern_names(part, names)),
        PatternKind::Error => {}
    }
}

/// Finds the names of the text that an expression refers to.
struct Walk<'a> {
    text: &'a Text,
    is_library: bool,
    bound: HashMap<Symbol, usize>,
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
            && !self.found.contains_key(name)
        {
            self.found.insert(name.clone(), span);
        }
    }

    /// A function that syntax stands for: always the library's.
    fn library(&mut self, name: &str, span: Span) {
        if self.is_library {
            self.name(name, span);
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Literal(_) | ExprKind::Text(_) | ExprKind::Empty(_) | ExprKind::Error => {}
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
                for binding in bindings {
                    self.expression(&binding.value);
                    let start = names.len();
                    pattern_names(&binding.pattern, &mut names);
                    self.bind(&names[start..]);
                }
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
            ExprKind::Each { body, sources, filter } => {
                let mut names = Vec::new();
                for source in sources {
                    match (&source.sequence, &source.pattern.kind) {
                        (Some(sequence), _) => self.expression(sequence),
                        (None, PatternKind::Variable(name)) => self.name(name, source.pattern.span),
                        (None, _) => {}
                    }
                    pattern_names(&source.pattern, &mut names);
                }
                self.bind(&names);
                for part in [filter, body].into_iter().flatten() {
                    self.expression(part);
                }
                self.unbind(&names);
            }
        }
    }
}

/// The strongly connected components of a graph, each after those it has edges to (Tarjan's algorithm).
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        edges: &'a [Vec<usize>],
        index: Vec<usize>,
        low: Vec<usize>,
        on_stack: Vec<bool>,
        stack: Vec<usize>,
        next: usize,
        found: Vec<Vec<usize>>,
    }

    impl Search<'_> {
        fn visit(&mut self, node: usize) {
            self.index[node] = self.next;
            self.low[node] = self.next;
            self.next += 1;
            self.stack.push(node);
            self.on_stack[node] = true;
            let edges = self.edges;
            for &other in &edges[node] {
                if self.index[other] == usize::MAX {
                    self.visit(other);
                    self.low[node] = self.low[node].min(self.low[other]);
                } else if self.on_stack[other] {
                    self.low[node] = self.low[node].min(self.index[other]);
                }
            }
            if self.low[node] == self.index[node] {
                let start = self.stack.iter().rposition(|&other| other == node).unwrap_or(0);
                let mut group = self.stack.split_off(start);
                group.iter().for_each(|&other| self.on_stack[other] = false);
                group.sort_unstable();
                self.found.push(group);
            }
        }
    }

    let count = edges.len();
    let mut search = Search {
        edges,
        index: vec![usize::MAX; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for node in 0..count {
        if search.index[node] == usize::MAX {
            search.visit(node);
        }
    }
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_use() {
        assert_eq!(components(&[vec![1], vec![2], vec![1], vec![0, 3]]), [vec![1, 2], vec![0], vec![3]]);
    }
}
