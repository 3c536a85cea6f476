//! The tree of V to the tree that all syntaxes share, with V's types, conversions and rules.
//!
//! ```text
//! declarations   heads of functions, structs, globals; what a variable begins with
//! statements     a list of statements is `let … in …`; assignment is rebinding
//! branches       `if`, and what follows statements from which control may leave
//! loops          a loop is a function that calls itself at its end
//! targets        what an assignment changes: `v[i].x = e` replaces an element, a field
//! passing        what calls change: places that are passed
//! expressions, operators, calls, convert, printing    expressions with their types
//! inputs         statements that somebody types in a session, which change globals
//! ```
//!
//! A variable of V is a name that is bound again wherever it is assigned. Where statements are an expression of their
//! own, the branch of an `if` or the body of a loop, they give the variables that they assign; where control may leave
//! them by `return`, `break` or `continue` they also give by which of these, and with what. See [`Frame`].

mod branches;
mod calls;
mod convert;
mod declarations;
mod expressions;
mod foreign;
mod inputs;
mod loops;
mod operators;
mod passing;
mod printing;
mod statements;
mod targets;

use super::analysis::Exits;
use super::known::{Declared, Outside, Signature};
use super::tree::{Expression, Item, ItemKind, Statement};
use super::types::Type;
use crate::ast::{Name, Symbol, TopLevel};
use crate::diagnostic::Diagnostic;
use nesl_span::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// A variable.
#[derive(Clone, Debug)]
struct Local {
    /// What V calls it.
    name: Symbol,
    /// What the tree calls it: the same, unless another one of this name is around it, or a struct has it.
    symbol: Symbol,
    ty: Type,
    /// The length that `int a[10]` has.
    length: Option<i64>,
    /// Whether it is what a parameter `int *x` points to, which is written `*x`.
    is_shared: bool,
}

/// How control leaves statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Return,
    Break,
    Continue,
}

/// Statements that become one expression, and what that gives: by which of the `exits` control leaves, where there is
/// more than one way; what is returned, where one of them is `return`; and the `variables`.
struct Frame<'a> {
    kind: FrameKind<'a>,
    exits: Vec<Exit>,
    /// Whether control may also go to what follows.
    falls: bool,
    variables: Vec<Symbol>,
    /// How many variables are around it.
    scope: usize,
}

enum FrameKind<'a> {
    Function,
    Branch,
    Loop {
        /// The function that the loop is.
        function: Symbol,
        parameters: Vec<Symbol>,
        step: &'a [Statement],
        /// The condition, if it comes after the body.
        condition: Option<&'a Expression>,
        span: Span,
    },
}

/// What comes after a list of statements.
enum After<'a, 'b> {
    /// The end of the innermost frame.
    End,
    /// The rest of the list around them, in which so many variables are known.
    Rest { statements: &'a [Statement], scope: usize, next: &'b After<'a, 'b> },
}

/// The function being lowered.
struct Context {
    name: Symbol,
    signature: Arc<Signature>,
    /// How many loops it has had.
    loops: usize,
    /// Where it ends.
    end: Span,
}

/// A text on its way.
struct Lowering<'a> {
    around: &'a dyn Outside,
    definitions: Declared,
    diagnostics: Vec<Diagnostic>,
    forms: Vec<TopLevel>,
    scope: Vec<Local>,
    frames: Vec<Frame<'a>>,
    context: Option<Context>,
    /// How many apply-to-eaches are around the place.
    eaches: usize,
    /// The names that mean nothing in the function being lowered.
    unknown: HashSet<Symbol>,
    /// The names in what could not be read, which may have declared them.
    unreadable: HashSet<Symbol>,
    /// Whether some statement could not be read: what it would have done is not known.
    is_partial: bool,
    /// The names that the text defines, to see which are defined twice.
    named: HashSet<Symbol>,
}

/// What a text becomes.
pub(super) struct Lowered {
    pub forms: Vec<TopLevel>,
    /// How many of the forms each item gives. Those of structs come before all.
    pub counts: Vec<usize>,
    pub definitions: Declared,
    pub diagnostics: Vec<Diagnostic>,
}

/// What is known around items.
pub(super) struct Surroundings<'a> {
    /// What the texts around define.
    pub definitions: Declared,
    pub around: &'a dyn Outside,
    /// The names in what could not be read, which may have declared them.
    pub unreadable: HashSet<Symbol>,
    /// Whether some statement could not be read.
    pub is_partial: bool,
    /// The names that the rest of the text defines.
    pub named: HashSet<Symbol>,
}

/// Lowers the items of a text.
pub(super) fn lower(items: &[Item], surroundings: Surroundings<'_>) -> Lowered {
    let Surroundings { definitions, around, unreadable, is_partial, named } = surroundings;
    let mut lowering = Lowering {
        around,
        definitions,
        diagnostics: Vec::new(),
        forms: Vec::new(),
        scope: Vec::new(),
        frames: Vec::new(),
        context: None,
        eaches: 0,
        unknown: HashSet::new(),
        unreadable,
        is_partial,
        named,
    };
    lowering.heads(items);
    let mut counts = Vec::with_capacity(items.len());
    for item in items {
        let before = lowering.forms.len();
        lowering.unknown.clear();
        lowering.item(item);
        counts.push(lowering.forms.len() - before);
    }
    let Lowering { forms, definitions, mut diagnostics, .. } = lowering;
    // The step of a loop is lowered wherever the loop goes on.
    let mut seen = Vec::new();
    diagnostics.retain(|diagnostic| {
        let key = (diagnostic.code, diagnostic.labels.first().map(|label| label.span));
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    Lowered { forms, counts, definitions, diagnostics }
}

impl<'a> Lowering<'a> {
    /// Lowers what stands at the top of a text, whose heads are known.
    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Function(function) => self.function(function, item.span),
            ItemKind::Global(declaration) => self.global(declaration),
            ItemKind::Expression(value) => match inputs::changes(value) {
                true => self.called_for_change(value, item.span),
                false => self.shown(value, item.span),
            },
            ItemKind::Statement(statement) => self.typed(statement),
            ItemKind::Union(name) => self.no_unions(*name),
            ItemKind::Struct { .. } | ItemKind::Import | ItemKind::Error => {}
        }
    }
}

impl Lowering<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The variable that a name means.
    fn local(&self, name: &str) -> Option<&Local> {
        self.scope.iter().rev().find(|local| &*local.name == name)
    }

    /// Adds a variable.
    fn declare(&mut self, name: &Name, ty: Type, length: Option<i64>, is_shared: bool) -> Symbol {
        let around = self.scope.iter().filter(|local| local.name == name.symbol).count();
        // A struct is made by a function of its name, which no variable may hide.
        let hidden = around + usize::from(self.definitions.structures.contains_key(&name.symbol));
        let symbol = match hidden {
            0 => name.symbol.clone(),
            _ => Symbol::from(format!("{}~{}", name.symbol, hidden + 1)),
        };
        let local = Local { name: name.symbol.clone(), symbol: symbol.clone(), ty, length, is_shared };
        self.scope.push(local);
        symbol
    }

    /// The variables of these names, as they were declared.
    fn locals(&self, names: &HashSet<Symbol>) -> Vec<Symbol> {
        let mut found: Vec<(usize, Symbol)> = (names.iter())
            .filter_map(|name| {
                let index = self.scope.iter().rposition(|local| local.name == *name)?;
                Some((index, self.scope[index].symbol.clone()))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, symbol)| symbol).collect()
    }

    /// The type of a variable by what the tree calls it.
    fn type_of(&self, symbol: &Symbol) -> Type {
        let local = self.scope.iter().rev().find(|local| local.symbol == *symbol);
        local.map_or(Type::Unknown, |local| local.ty.clone())
    }

    fn is_pure(&self) -> bool {
        self.context.as_ref().is_some_and(|context| context.signature.is_pure)
    }

    /// What the function being lowered gives.
    fn result(&self) -> Type {
        self.context.as_ref().map_or(Type::Unknown, |context| context.signature.result.clone())
    }
}

/// The ways out of statements by which control leaves.
fn exits_in(exits: Exits) -> Vec<Exit> {
    let ways = [(exits.returns, Exit::Return), (exits.breaks, Exit::Break), (exits.continues, Exit::Continue)];
    ways.into_iter().filter(|(is_taken, _)| *is_taken).map(|(_, exit)| exit).collect()
}
