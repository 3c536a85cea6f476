//! What the names of a tree are called in NESL: those that lowering made, and those that NESL cannot write, are others.

use crate::ast::{Expr, ExprKind, LIBRARY, Pattern, Symbol, TopLevel, TopLevelKind};
use crate::syntax::nesl::lexer;
use crate::syntax::nesl::token::Token;
use nesl_span::FileId;
use std::collections::{HashMap, HashSet};

/// The names of a tree.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What is bound, in the order of the tree.
    bound: Vec<Symbol>,
    /// What is mentioned, whatever it means.
    mentioned: HashSet<Symbol>,
    /// The functions of the library that are meant whatever the program calls by their names.
    library: HashSet<String>,
    /// What each bound name is called.
    called: HashMap<Symbol, String>,
    /// What other texts define or use, too.
    shared: Vec<Symbol>,
}

impl Names {
    /// The names of these forms.
    pub(super) fn of(forms: &[TopLevel]) -> Names {
        let mut names = Names::collected(forms);
        names.choose();
        names
    }

    /// The names of forms that others define or use, too: what they are called depends on nothing else.
    pub(super) fn among_others(forms: &[TopLevel]) -> Names {
        let mut names = Names::collected(forms);
        let mut shared: Vec<Symbol> =
            forms.iter().flat_map(super::defined).filter(|name| !name.contains('~')).collect();
        let own: HashSet<&Symbol> = names.bound.iter().collect();
        shared.extend(names.mentioned.iter().filter(|name| !own.contains(name)).cloned());
        for name in &shared {
            let called = if is_name(name) { name.to_string() } else { written(name) };
            names.called.insert(name.clone(), called);
        }
        names.shared = shared;
        names.choose();
        names
    }

    /// What other texts define or use, too; nothing where there are none.
    pub(super) fn shared(&self) -> &[Symbol] {
        &self.shared
    }

    fn collected(forms: &[TopLevel]) -> Names {
        let mut names = Names::default();
        for form in forms {
            match &form.kind {
                TopLevelKind::Function(function) => {
                    names.bound.push(function.name.symbol.clone());
                    names.pattern(&function.whole_parameter());
                    function.body.iter().for_each(|body| names.expression(body));
                }
                TopLevelKind::Datatype(datatype) => names.bound.push(datatype.name.symbol.clone()),
                TopLevelKind::Assignment { pattern, value } => {
                    names.pattern(pattern);
                    names.expression(value);
                }
                TopLevelKind::Expression(value) => names.expression(value),
                TopLevelKind::Import(_) | TopLevelKind::Error => {}
            }
        }
        names
    }

    /// What a bound name is called.
    pub(super) fn called<'a>(&'a self, symbol: &'a str) -> &'a str {
        self.called.get(symbol).map_or(symbol, String::as_str)
    }

    /// What a name is called that nothing reads: `_x`, or `_` where that is another name.
    pub(super) fn unread(&self, symbol: &str) -> String {
        let called = self.called(symbol);
        let marked = format!("_{called}");
        match called {
            _ if called.starts_with('_') => called.to_owned(),
            _ if self.mentioned.contains(&*marked) || !is_name(&marked) => "_".to_owned(),
            _ => marked,
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        pattern.names(&mut self.bound);
    }

    fn expression(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Name(symbol) => match symbol.strip_prefix(LIBRARY) {
                Some(name) => _ = self.library.insert(name.to_owned()),
                None => _ = self.mentioned.insert(symbol.clone()),
            },
            ExprKind::Let { bindings, .. } => bindings.iter().for_each(|binding| self.pattern(&binding.pattern)),
            ExprKind::Lambda { parameter, .. } => self.pattern(parameter),
            ExprKind::Each { sources, .. } => sources.iter().for_each(|source| self.pattern(&source.pattern)),
            _ => {}
        }
        expression.parts().into_iter().for_each(|part| self.expression(part));
    }

    /// Names that can stay as they are do; the others get one that nothing else has.
    fn choose(&mut self) {
        let mut taken: HashSet<String> = self.library.clone();
        taken.extend(self.mentioned.iter().map(|name| name.to_string()));
        taken.extend(self.called.values().cloned());
        let (kept, others): (Vec<Symbol>, Vec<Symbol>) = std::mem::take(&mut self.bound)
            .into_iter()
            .partition(|name| is_name(name) && !name.contains('~') && !self.library.contains(&**name));
        for name in kept {
            if self.called.contains_key(&name) {
                continue;
            }
            taken.insert(name.to_string());
            self.called.insert(name.clone(), name.to_string());
        }
        for name in others {
            if self.called.contains_key(&name) {
                continue;
            }
            let plain = name.trim_matches('~').replace('~', "_").to_lowercase();
            let plain = if is_name(&plain) { plain } else { format!("{plain}_") };
            let free = |candidate: &String| is_name(candidate) && !taken.contains(candidate);
            let numbered = (2..).map(|number| format!("{plain}_{number}"));
            let chosen = std::iter::once(plain.clone()).chain(numbered).find(free).unwrap_or_default();
            taken.insert(chosen.clone());
            self.called.insert(name, chosen);
        }
    }
}

/// A name that NESL cannot write, as one that it can: capitals are told apart by a number that says where they are, and
/// a word of the language gets a line behind it. `N` is `n_1`, `maxRow` is `maxrow_8`, and `let` is `let_`.
fn written(name: &str) -> String {
    let capitals = name.chars().enumerate().filter(|(_, character)| character.is_uppercase());
    let places = capitals.fold(0_u64, |places, (place, _)| places | 1_u64.rotate_left(place as u32));
    let plain = name.to_lowercase();
    if places == 0 { format!("{plain}_") } else { format!("{plain}_{places:x}") }
}

/// Whether NESL can write a name as it is.
fn is_name(text: &str) -> bool {
    let tokens = lexer::lex(FileId(0), text).tokens;
    matches!(tokens.as_slice(), [(Token::Name(name), _)] if **name == *text)
}
