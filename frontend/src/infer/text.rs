//! One text as a whole: which form defines which name, and what a name in a form refers to. [`super::order`] makes of
//! that the order of checking.
//!
//! Functions may refer to functions and values that come later in the text; values are computed in order, so a value
//! may only use, also through functions, the values before it. With several definitions of one name, a form sees the
//! latest before it, and a function whose name is only defined later sees the first one.

use crate::ast::{Symbol, TopLevel, TopLevelKind};
use std::collections::{HashMap, HashSet};

/// The definitions of a text.
#[derive(Debug, Default)]
pub struct Definitions {
    /// Per name the numbers of the forms that define it, ascending.
    pub(super) definitions: HashMap<Symbol, Vec<usize>>,
    /// Per name the numbers of the forms that define a datatype, ascending. Their constructors are among the
    /// definitions.
    pub(super) datatypes: HashMap<Symbol, Vec<usize>>,
    /// Per form whether it defines a function or a datatype, whose constructor is one.
    pub(super) is_function: Vec<bool>,
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

impl Definitions {
    /// Reads the definitions of a text. With `binds_it` every expression form defines `it`.
    pub fn new(forms: &[TopLevel], binds_it: bool) -> Definitions {
        let with_body: HashSet<&Symbol> = (forms.iter())
            .filter_map(|form| match &form.kind {
                TopLevelKind::Function(function) if function.body.is_some() => Some(&function.name.symbol),
                _ => None,
            })
            .collect();
        let mut text = Definitions::default();
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
                TopLevelKind::Assignment { pattern, .. } => pattern.names(&mut names),
                TopLevelKind::Expression(_) if binds_it => names.push(Symbol::from("it")),
                TopLevelKind::Expression(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
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

    /// The form of the datatype that a name means in the types and patterns of a form: the latest before it, or the
    /// first after it.
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
}
