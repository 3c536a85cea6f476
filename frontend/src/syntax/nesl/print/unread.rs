//! What a `let` binds and nothing reads. Other syntaxes bind such names, the counter of a loop that has ended, and NESL
//! warns of them unless they begin with `_`.

use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Symbol};
use std::collections::HashSet;

/// The patterns that are such names, by where they are in memory.
#[derive(Debug, Default)]
pub(super) struct Unread(HashSet<*const Pattern>);

impl Unread {
    /// Adds what is in an expression.
    pub(super) fn add(&mut self, expression: &Expr) {
        self.read(expression);
    }

    /// Whether this pattern is a name that nothing reads.
    pub(super) fn contains(&self, pattern: &Pattern) -> bool {
        self.0.contains(&std::ptr::from_ref(pattern))
    }

    /// The names from around an expression that it reads.
    fn read(&mut self, expression: &Expr) -> HashSet<Symbol> {
        match &expression.kind {
            ExprKind::Name(symbol) => HashSet::from([symbol.clone()]),
            ExprKind::Let { bindings, body } => {
                let mut names = self.read(body);
                for binding in bindings.iter().rev() {
                    self.bind(&binding.pattern, &names);
                    without(&mut names, &binding.pattern);
                    join(&mut names, self.read(&binding.value));
                }
                names
            }
            ExprKind::Lambda { parameter, body } => {
                let mut names = self.read(body);
                without(&mut names, parameter);
                names
            }
            ExprKind::Each { body, sources, filter, .. } => {
                let mut names = HashSet::new();
                for part in [body, filter].into_iter().flatten() {
                    join(&mut names, self.read(part));
                }
                sources.iter().for_each(|source| without(&mut names, &source.pattern));
                for source in sources {
                    match &source.sequence {
                        Some(sequence) => join(&mut names, self.read(sequence)),
                        // `x` alone is `x in x`.
                        None => names.extend(bound(&source.pattern)),
                    }
                }
                names
            }
            _ => {
                let mut names = HashSet::new();
                for part in expression.parts() {
                    join(&mut names, self.read(part));
                }
                names
            }
        }
    }

    /// Adds the names of a pattern that are not among those that are read behind it.
    fn bind(&mut self, pattern: &Pattern, read: &HashSet<Symbol>) {
        match &pattern.kind {
            PatternKind::Variable(symbol) if !read.contains(symbol) => {
                self.0.insert(std::ptr::from_ref(pattern));
            }
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.bind(part, read)),
            PatternKind::Record(_, inner) | PatternKind::Typed(inner, _) => self.bind(inner, read),
            PatternKind::Variable(_) | PatternKind::Unit | PatternKind::Error => {}
        }
    }
}

fn bound(pattern: &Pattern) -> Vec<Symbol> {
    let mut names = Vec::new();
    pattern.names(&mut names);
    names
}

fn without(names: &mut HashSet<Symbol>, pattern: &Pattern) {
    bound(pattern).iter().for_each(|name| _ = names.remove(name));
}

/// Adds the smaller set to the larger one.
fn join(names: &mut HashSet<Symbol>, mut others: HashSet<Symbol>) {
    if others.len() > names.len() {
        std::mem::swap(names, &mut others);
    }
    names.extend(others);
}
