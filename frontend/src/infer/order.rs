//! The order in which the forms of a text are checked, and the values that are used too early.

use super::components::components;
use super::references::References;
use super::text::{Definitions, Reference};
use crate::ast::{Symbol, TopLevel};
use nesl_span::Span;
use std::collections::HashSet;

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

/// What names mean outside of the text.
pub(super) struct Elsewhere<'e> {
    /// Whether a name is one of a value.
    pub is_value: &'e dyn Fn(&str) -> bool,
    /// Whether a name is one of a datatype.
    pub is_datatype: &'e dyn Fn(&str) -> bool,
}

/// Groups of forms in the order in which they can be checked; a group is one form, or functions that call each other.
/// Forms that use values too early are reported, and are independent of all others for the purpose of the order.
pub(super) fn order(
    text: &Definitions,
    forms: &[TopLevel],
    is_library: bool,
    elsewhere: &Elsewhere<'_>,
) -> (Vec<Vec<usize>>, Vec<EarlyUse>) {
    let references: Vec<References> =
        (forms.iter()).map(|form| References::of(text, form, is_library, elsewhere.is_datatype)).collect();
    let edges: Vec<Vec<usize>> = (references.iter().enumerate())
        .map(|(form, references)| {
            let mut edges: Vec<usize> = (references.names)
                .keys()
                .filter_map(|name| match text.resolve(form, name) {
                    Reference::Form(definition) => Some(definition),
                    Reference::Later(_) | Reference::Elsewhere => None,
                })
                .chain(references.datatypes.iter().filter_map(|name| text.resolve_datatype(form, name)))
                .collect();
            edges.sort_unstable();
            edges
        })
        .collect();
    let early = early_uses(text, &references, &edges, elsewhere.is_value);
    let is_early: HashSet<usize> = early.iter().map(|early| early.form).collect();
    let mut edges = edges;
    for &form in &is_early {
        edges[form].clear();
    }
    // A value that is assigned again is checked after its earlier assignments, which decide about its number.
    for definitions in text.definitions.values() {
        let values: Vec<usize> =
            definitions.iter().copied().filter(|&definition| !text.is_function[definition]).collect();
        for pair in values.windows(2) {
            edges[pair[1]].push(pair[0]);
        }
    }
    (components(&edges), early)
}

fn early_uses(
    text: &Definitions,
    references: &[References],
    edges: &[Vec<usize>],
    is_elsewhere: &dyn Fn(&str) -> bool,
) -> Vec<EarlyUse> {
    // The last value that each function uses, through other functions too.
    let calls: Vec<Vec<usize>> = (edges.iter().enumerate())
        .map(|(form, edges)| match text.is_function[form] {
            true => edges.iter().copied().filter(|&edge| text.is_function[edge]).collect(),
            false => Vec::new(),
        })
        .collect();
    let mut last_value: Vec<Option<usize>> = vec![None; edges.len()];
    for group in components(&calls) {
        let uses = |&form: &usize| {
            edges[form].iter().map(|&edge| if text.is_function[edge] { last_value[edge] } else { Some(edge) })
        };
        let last = match group.iter().any(|&form| text.is_function[form]) {
            true => group.iter().flat_map(uses).max().flatten(),
            false => None,
        };
        for form in group {
            last_value[form] = last;
        }
    }
    let mut early = Vec::new();
    for (form, references) in references.iter().enumerate().filter(|(form, _)| !text.is_function[*form]) {
        let first = (references.names.iter())
            .filter_map(|(name, &span)| {
                let definition = match text.resolve(form, name) {
                    Reference::Form(used) if text.is_function[used] => last_value[used].filter(|&last| last >= form),
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
