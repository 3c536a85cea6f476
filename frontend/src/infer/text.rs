//! One text as a whole: which form defines which name, what a name in a form refers to, and the order of checking.
//!
//! Functions may refer to functions and values that come later in the text; values are computed in order, so a value may
//! only use, also through functions, the values before it. With several definitions of one name, a form sees the latest
//! before it, and a function whose name is only defined later sees the first one.

use super::components::components;
use super::references::{References, pattern_names};
use crate::ast::{Symbol, TopLevel, TopLevelKind};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};

/// The definitions of a text.
#[derive(Debug, Default)]
pub struct Text {
    /// Per name the numbers of the forms that define it, ascending.
    pub(super) definitions: HashMap<Symbol, Vec<usize>>,
    /// Per name the numbers of the forms that define a datatype, ascending. Their constructors are among the definitions.
    pub(super) datatypes: HashMap<Symbol, Vec<usize>>,
    /// Per form whether it defines a function or a datatype, whose constructor is one.
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
                TopLevelKind::Datatype(datatype) => {
                    let name = datatype.name.symbol.clone();
                    text.datatypes.entry(name.clone()).or_default().push(number);
                    names.push(name);
                }
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
            text.is_function.push(matches!(form.kind, TopLevelKind::Function(_) | TopLevelKind::Datatype(_)));
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

    /// The form of the datatype that a name means in the types and patterns of a form: the latest before it, or the first
    /// after it.
    pub fn resolve_datatype(&self, form: usize, name: &str) -> Option<usize> {
        let forms = self.datatypes.get(name)?;
        let after = forms.partition_point(|&definition| definition <= form);
        forms.get(after.saturating_sub(1)).copied()
    }

    /// The names of all datatypes defined in the text.
    pub fn datatype_names(&self) -> impl Iterator<Item = &Symbol> {
        self.datatypes.keys()
    }

    /// The forms that define a datatype of this name, ascending.
    pub fn datatypes_of(&self, name: &str) -> &[usize] {
        self.datatypes.get(name).map_or(&[], Vec::as_slice)
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
        let references: Vec<References> = forms.iter().map(|form| References::of(self, form, is_library)).collect();
        let edges: Vec<Vec<usize>> = (references.iter().enumerate())
            .map(|(form, references)| {
                let mut edges: Vec<usize> = (references.names)
                    .keys()
                    .filter_map(|name| match self.resolve(form, name) {
                        Reference::Form(definition) => Some(definition),
                        Reference::Later(_) | Reference::Elsewhere => None,
                    })
                    .chain(references.datatypes.iter().filter_map(|name| self.resolve_datatype(form, name)))
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
        for (form, references) in references.iter().enumerate().filter(|(form, _)| !self.is_function[*form]) {
            let first = (references.names.iter())
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
}
