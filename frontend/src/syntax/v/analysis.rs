//! What statements assign, mention, and where control goes from them: what lowering asks before it makes a tree.

use super::tree::{Expression, ExpressionKind, Loop, Statement, StatementKind};
use crate::ast::{Name, Symbol};
use std::collections::HashSet;

/// Where control may go from a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exits {
    /// To what follows.
    pub falls: bool,
    /// Out of the function.
    pub returns: bool,
    /// Out of the loop around it.
    pub breaks: bool,
    /// To the next step of the loop around it.
    pub continues: bool,
}

impl Exits {
    const FALLS: Exits = Exits { falls: true, returns: false, breaks: false, continues: false };
    const NONE: Exits = Exits { falls: false, ..Exits::FALLS };

    /// Whether control goes to what follows, in any case.
    pub fn only_falls(self) -> bool {
        !(self.returns || self.breaks || self.continues)
    }

    fn or(self, other: Exits) -> Exits {
        Exits {
            falls: self.falls || other.falls,
            returns: self.returns || other.returns,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
        }
    }
}

/// Where control may go from a list of statements.
pub(super) fn exits_of(statements: &[Statement]) -> Exits {
    let mut all = Exits::FALLS;
    for statement in statements {
        if !all.falls {
            break;
        }
        all = Exits { falls: false, ..all }.or(exits(statement));
    }
    all
}

/// Where control may go from a statement.
pub(super) fn exits(statement: &Statement) -> Exits {
    match &statement.kind {
        StatementKind::Block(statements) => exits_of(statements),
        StatementKind::If { then_branch, else_branch, .. } => {
            exits(then_branch).or(else_branch.as_ref().map_or(Exits::FALLS, |branch| exits(branch)))
        }
        StatementKind::Loop(repeated) => {
            let body = exits(&repeated.body);
            Exits { falls: !is_endless(repeated) || body.breaks, returns: body.returns, ..Exits::NONE }
        }
        StatementKind::Return(_) => Exits { returns: true, ..Exits::NONE },
        StatementKind::Break => Exits { breaks: true, ..Exits::NONE },
        StatementKind::Continue => Exits { continues: true, ..Exits::NONE },
        // Nothing comes after these.
        StatementKind::Expression(Expression { kind: ExpressionKind::Call { function, .. }, .. })
            if matches!(&*function.symbol, "error" | "exit") =>
        {
            Exits::NONE
        }
        _ => Exits::FALLS,
    }
}

/// Whether the condition of a loop always holds.
pub(super) fn is_endless(repeated: &Loop) -> bool {
    match &repeated.condition {
        None => true,
        Some(condition) => matches!(condition.kind, ExpressionKind::Bool(true) | ExpressionKind::Int(1)),
    }
}

/// The variable that an assignment changes: `v` of `v[i].x`, `x` of `*x`.
pub(super) fn changed(target: &Expression) -> Option<&Symbol> {
    match &target.kind {
        ExpressionKind::Name(name) => Some(&name.symbol),
        ExpressionKind::Index(inner, _) | ExpressionKind::Field(inner, _) | ExpressionKind::Unary("*", _, inner) => {
            changed(inner)
        }
        _ => None,
    }
}

/// The variables from around it that a statement may assign; those of `pointers` are parameters `int *x`.
pub(super) fn assigned(statements: &[&Statement], pointers: &HashSet<Symbol>) -> HashSet<Symbol> {
    let mut walk = Assigned { pointers, declared: Vec::new(), found: HashSet::new() };
    statements.iter().for_each(|statement| walk.statement(statement));
    walk.found
}

struct Assigned<'a> {
    pointers: &'a HashSet<Symbol>,
    declared: Vec<Symbol>,
    found: HashSet<Symbol>,
}

impl Assigned<'_> {
    fn assign(&mut self, target: &Expression) {
        if let Some(symbol) = changed(target)
            && !self.declared.contains(symbol)
        {
            self.found.insert(symbol.clone());
        }
    }

    /// `f(&x)` assigns x, as does `f(x)` of a parameter `int *x`.
    fn expression(&mut self, expression: &Expression) {
        each_part(expression, &mut |part| match &part.kind {
            ExpressionKind::Unary("&", _, target) => self.assign(target),
            ExpressionKind::Call { arguments, .. } => {
                for argument in arguments {
                    match &argument.kind {
                        ExpressionKind::Name(name) if self.pointers.contains(&name.symbol) => self.assign(argument),
                        _ => {}
                    }
                }
            }
            _ => {}
        });
    }

    fn statement(&mut self, statement: &Statement) {
        let before = self.declared.len();
        match &statement.kind {
            StatementKind::Block(statements) => {
                statements.iter().for_each(|statement| self.statement(statement));
                self.declared.truncate(before);
            }
            StatementKind::Declaration(declaration) => {
                for declarator in &declaration.declarators {
                    declarator.initial.iter().for_each(|initial| self.expression(initial));
                    self.declared.push(declarator.name.symbol.clone());
                }
            }
            StatementKind::Assignment { target, value, .. } => {
                self.expression(value);
                self.assign(target);
            }
            StatementKind::Expression(value) | StatementKind::Return(Some(value)) => self.expression(value),
            StatementKind::If { then_branch, else_branch, condition } => {
                self.expression(condition);
                for branch in [Some(then_branch), else_branch.as_ref()].into_iter().flatten() {
                    self.statement(branch);
                    self.declared.truncate(before);
                }
            }
            StatementKind::Loop(repeated) => {
                repeated.initial.iter().for_each(|statement| self.statement(statement));
                let inside = self.declared.len();
                self.statement(&repeated.body);
                self.declared.truncate(inside);
                repeated.step.iter().for_each(|statement| self.statement(statement));
                self.declared.truncate(before);
            }
            _ => {}
        }
    }
}

/// The names that a block, or one in it, declares a second time. Those `taken` are declared already.
pub(super) fn declared_twice(statements: &[Statement], mut taken: Vec<Symbol>) -> Vec<Name> {
    let mut found = Vec::new();
    for statement in statements {
        let inner: Vec<&Statement> = match &statement.kind {
            StatementKind::Declaration(declaration) => {
                for declarator in &declaration.declarators {
                    match taken.contains(&declarator.name.symbol) {
                        true => found.push(declarator.name.clone()),
                        false => taken.push(declarator.name.symbol.clone()),
                    }
                }
                Vec::new()
            }
            StatementKind::Block(inner) => {
                found.extend(declared_twice(inner, Vec::new()));
                Vec::new()
            }
            StatementKind::If { then_branch, else_branch, .. } => {
                [Some(then_branch), else_branch.as_ref()].into_iter().flatten().map(|branch| &**branch).collect()
            }
            StatementKind::Loop(repeated) => vec![&repeated.body],
            _ => Vec::new(),
        };
        for inner in inner {
            found.extend(declared_twice(std::slice::from_ref(inner), Vec::new()));
        }
    }
    found
}

/// All names that statements mention, whatever they mean.
pub(super) fn mentioned(statements: &[&Statement], expressions: &[&Expression]) -> HashSet<Symbol> {
    let mut found = HashSet::new();
    let mut add = |part: &Expression| {
        if let ExpressionKind::Name(name) = &part.kind {
            found.insert(name.symbol.clone());
        }
    };
    statements.iter().for_each(|statement| each_expression(statement, &mut |whole| each_part(whole, &mut add)));
    expressions.iter().for_each(|whole| each_part(whole, &mut add));
    found
}

/// Visits the expressions of a statement, from the first to the last.
pub(super) fn each_expression(statement: &Statement, visit: &mut dyn FnMut(&Expression)) {
    match &statement.kind {
        StatementKind::Block(statements) => statements.iter().for_each(|inner| each_expression(inner, visit)),
        StatementKind::Declaration(declaration) => {
            declaration.declarators.iter().filter_map(|declarator| declarator.initial.as_ref()).for_each(visit);
        }
        StatementKind::Assignment { target, value, .. } => {
            visit(target);
            visit(value);
        }
        StatementKind::Expression(value) | StatementKind::Return(Some(value)) => visit(value),
        StatementKind::If { condition, then_branch, else_branch } => {
            visit(condition);
            each_expression(then_branch, visit);
            else_branch.iter().for_each(|branch| each_expression(branch, visit));
        }
        StatementKind::Loop(repeated) => {
            repeated.initial.iter().for_each(|inner| each_expression(inner, visit));
            repeated.condition.iter().for_each(&mut *visit);
            repeated.step.iter().for_each(|inner| each_expression(inner, visit));
            each_expression(&repeated.body, visit);
        }
        StatementKind::Return(None)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Empty
        | StatementKind::Error => {}
    }
}

/// Visits an expression and all its parts.
pub(super) fn each_part(expression: &Expression, visit: &mut dyn FnMut(&Expression)) {
    visit(expression);
    match &expression.kind {
        ExpressionKind::Call { arguments: parts, .. }
        | ExpressionKind::Vector(parts)
        | ExpressionKind::Braces(_, parts) => parts.iter().for_each(|part| each_part(part, visit)),
        ExpressionKind::Index(one, other) | ExpressionKind::Binary(_, _, one, other) => {
            each_part(one, visit);
            each_part(other, visit);
        }
        ExpressionKind::Field(inner, _) | ExpressionKind::Unary(_, _, inner) | ExpressionKind::Cast(_, inner) => {
            each_part(inner, visit);
        }
        ExpressionKind::Conditional(condition, one, other) => {
            [condition, one, other].into_iter().for_each(|part| each_part(part, visit));
        }
        ExpressionKind::Each { body, sources, filter } => {
            sources.iter().for_each(|(_, source)| each_part(source, visit));
            filter.iter().for_each(|filter| each_part(filter, visit));
            each_part(body, visit);
        }
        _ => {}
    }
}
