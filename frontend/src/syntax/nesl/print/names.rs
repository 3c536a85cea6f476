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
}

impl Names {
    /// The names of these forms.
    pub(super) fn of(forms: &[TopLevel]) -> Names {
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
        names.choose();
        names
    }

    /// What a bound name is called.
    pub(super) fn called<'a>(&'a self, symbol: &'a str) -> &'a str {
        self.called.get(symbol).map_or(symbol, String::as_str)
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
        let (kept, others): (Vec<Symbol>, Vec<Symbol>) = std::mem::take(&mut self.bound)
            .into_iter()
            .partition(|name| is_name(name) && !name.contains('~') && !self.library.contains(&**name));
        for name in kept {
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

/// Whether NESL can write a name as it is.
fn is_name(text: &str) -> bool {
    let tokens = lexer::lex(FileId(0), text).tokens;
    matches!(tokens.as_slice(), [(Token::Name(name), _)] if **name == *text)
}
