//! Functions: bindings are declarations, conditions at the end `if`, and what a function gives is returned.

use super::{Inside, Printer, Sort, patterns, types};
use crate::ast::{Binding, Expr, ExprKind, Pattern, PatternKind};
use crate::syntax::v::types::Type;
use crate::ty;
use nesl_span::Span;

/// What becomes of the value at the end of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// `return e;`
    Returned,
    /// It is printed: `main` does so.
    Printed,
    /// There is none.
    Nothing,
}

/// Whether `%v` writes a value otherwise than NESL shows a result: texts in quotes, records by their names.
fn is_shown_otherwise(ty: &ty::Type) -> bool {
    match ty {
        ty::Type::Sequence(element) => **element == ty::Type::CHAR || is_shown_otherwise(element),
        ty::Type::Pair(first, rest) => is_shown_otherwise(first) || is_shown_otherwise(rest),
        ty::Type::Record(..) => true,
        _ => false,
    }
}

impl Printer<'_> {
    /// The statements that end with the value of an expression.
    pub(super) fn tail(&mut self, expression: &Expr, ending: Ending) {
        match &expression.kind {
            ExprKind::Let { bindings, body } => {
                bindings.iter().for_each(|binding| self.binding(binding));
                self.tail(body, ending);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                let condition = self.expression(condition).0;
                let first = self.block(then_branch, ending);
                let second = self.block(else_branch, ending);
                let statements = &mut self.inside.statements;
                if first.is_empty() {
                    statements.push(format!("if (!({condition})) {}", braced(&second)));
                    return;
                }
                statements.push(format!("if ({condition}) {}", braced(&first)));
                match ending {
                    // What follows is reached only where the condition does not hold.
                    Ending::Returned => statements.extend(second),
                    _ if second.is_empty() => {}
                    _ => {
                        let last = statements.pop().unwrap_or_default();
                        let second = match second.as_slice() {
                            [one] if one.starts_with("if ") => one.clone(),
                            _ => braced(&second),
                        };
                        statements.push(format!("{last} else {second}"));
                    }
                }
            }
            ExprKind::Unit if ending == Ending::Nothing => {}
            _ if ending == Ending::Printed && self.type_of(expression).is_some_and(|ty| is_shown_otherwise(&ty)) => {
                let hint = "print it in `main`, for example by `print_line`, and give back nothing";
                self.cannot("`printf` of V shows texts and records otherwise", expression.span, hint);
            }
            _ => {
                let (text, _) = self.expression(expression);
                let statement = match ending {
                    Ending::Returned => format!("return {text};"),
                    Ending::Printed => format!("printf(\"%v\\n\", {text});"),
                    Ending::Nothing => format!("{text};"),
                };
                let is_call = matches!(expression.kind, ExprKind::Call { .. });
                if ending != Ending::Nothing || is_call {
                    self.inside.statements.push(statement);
                }
            }
        }
    }

    /// The statements of a branch.
    fn block(&mut self, expression: &Expr, ending: Ending) -> Vec<String> {
        let before = std::mem::take(&mut self.inside.statements);
        self.tail(expression, ending);
        std::mem::replace(&mut self.inside.statements, before)
    }

    /// The declarations that a binding is.
    pub(super) fn binding(&mut self, Binding { pattern, value }: &Binding) {
        let Some(parts) = patterns::pairs(pattern, value) else {
            self.no_tuples(pattern.span);
            return;
        };
        for (pattern, value) in parts {
            match &pattern.kind {
                PatternKind::Variable(symbol) => self.variable(symbol, pattern.span, value),
                // What is no datatype is a local function.
                PatternKind::Record(function, parameter)
                    if self.meaning(function.span).is_none_or(|meaning| meaning.sort != Sort::Datatype) =>
                {
                    let kind = ExprKind::Lambda { parameter: parameter.clone(), body: Box::new(value.clone()) };
                    let lambda = Expr { kind, span: function.span.to(value.span) };
                    self.variable(&function.symbol, function.span, &lambda);
                }
                PatternKind::Record(record, inner) => {
                    let (text, power) = self.expression(value);
                    let is_name = power == super::operators::ATOM && matches!(value.kind, ExprKind::Name(_));
                    let whole = match is_name {
                        true => text,
                        false => {
                            let name = self.fresh(record.symbol.get(..1).unwrap_or("r"));
                            let declared = self.structure_type(record).declared(&name);
                            self.inside.statements.push(format!("{declared} = {text};"));
                            name
                        }
                    };
                    self.fields_of(record, inner, &whole);
                }
                PatternKind::Unit => {
                    let text = self.expression(value).0;
                    if matches!(value.kind, ExprKind::Call { .. }) {
                        self.inside.statements.push(format!("{text};"));
                    }
                }
                PatternKind::Tuple(_) | PatternKind::Typed(..) | PatternKind::Error => self.no_tuples(pattern.span),
            }
        }
    }

    fn variable(&mut self, symbol: &str, span: Span, value: &Expr) {
        let Some(ty) = self.bound_type(span) else { return };
        let ty = self.sayable(&ty, span);
        let (text, _) = self.expression(value);
        let is_effect = self.acts(value);
        if ty == Type::Void || (symbol == "_" && is_effect) {
            self.inside.locals.insert(span, "0".to_owned());
            if matches!(value.kind, ExprKind::Call { .. }) {
                self.inside.statements.push(format!("{text};"));
            }
            return;
        }
        let name = self.fresh(symbol);
        self.bind(span, name.clone());
        self.inside.statements.push(format!("{} = {text};", ty.declared(&name)));
    }

    /// Whether an expression calls what prints or acts on the world outside.
    fn acts(&self, expression: &Expr) -> bool {
        let is_acting = matches!(expression.kind, ExprKind::Name(_))
            && self.meaning(expression.span).is_some_and(|meaning| self.meanings.acting.contains(&meaning.definition));
        is_acting || expression.parts().into_iter().any(|part| self.acts(part))
    }

    /// The call of a function of its own that an expression becomes, because it needs statements where none can stand.
    pub(super) fn part(&mut self, expression: &Expr) -> super::Piece {
        let Some(ty) = self.type_of(expression) else {
            let hint = "make it a function, and say of what type it is";
            return self.cannot("V needs a function for this, and its type is not known", expression.span, hint);
        };
        let result = self.sayable(&ty, expression.span);
        let mut free: Vec<Span> = Vec::new();
        self.free(expression, expression.span, &mut free);
        let arguments: Vec<String> =
            free.iter().map(|span| self.inside.locals.get(span).cloned().unwrap_or_default()).collect();
        let is_pure = !self.acts(expression);
        self.parts += 1;
        let name = format!("{}_part", self.inside.name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !self.reserved.contains(name))
            .unwrap_or_default();
        self.reserved.insert(name.clone());
        let inside = Inside {
            name: self.inside.name.clone(),
            arguments: self.inside.arguments.clone(),
            hoists: true,
            ..Inside::default()
        };
        let outside = std::mem::replace(&mut self.inside, inside);
        let mut parameters = Vec::new();
        for (definition, argument) in free.iter().zip(&arguments) {
            let own = self.fresh(argument.rsplit('.').next().unwrap_or(argument));
            if let Some(ty) = self.bound_type(*definition) {
                let ty = self.sayable(&ty, *definition);
                parameters.push(ty.declared(&own));
            }
            self.inside.locals.insert(*definition, own);
        }
        let ending = if result == Type::Void { Ending::Nothing } else { Ending::Returned };
        self.tail(expression, ending);
        let statements = std::mem::replace(&mut self.inside, outside).statements;
        let head = types::head(&result, &name, &parameters, is_pure);
        self.texts[self.form].push(format!("{head} {{\n{}\n}}\n", statements.join("\n")));
        (format!("{name}({})", arguments.join(", ")), super::operators::ATOM)
    }

    /// The variables that an expression mentions and does not bind, by where they are bound.
    fn free(&self, expression: &Expr, whole: Span, found: &mut Vec<Span>) {
        let mut note = |span: Span| {
            if let Some(meaning) = self.meaning(span)
                && meaning.sort == Sort::Local
                && !(whole.start <= meaning.definition.start && meaning.definition.end <= whole.end)
                && !found.contains(&meaning.definition)
            {
                found.push(meaning.definition);
            }
        };
        match &expression.kind {
            ExprKind::Name(_) => note(expression.span),
            ExprKind::Each { sources, .. } => {
                for source in sources.iter().filter(|source| source.sequence.is_none()) {
                    note(source.pattern.span);
                }
            }
            _ => {}
        }
        expression.parts().into_iter().for_each(|part| self.free(part, whole, found));
    }

    /// The name of a function that a lambda becomes which captures nothing.
    pub(super) fn lambda(&mut self, parameter: &Pattern, body: &Expr, span: Span) -> super::Piece {
        let mut free = Vec::new();
        self.free(body, span, &mut free);
        let ty = self.type_of(body);
        let (true, Some(ty)) = (free.is_empty(), ty) else {
            let hint = "functions of V have names and see no variables of others: use an apply-to-each";
            return self.cannot("V has no functions without a name", span, hint);
        };
        let result = self.sayable(&ty, span);
        let name = self.unused(&format!("{}_function", self.inside.name));
        let inside = Inside {
            name: self.inside.name.clone(),
            arguments: self.inside.arguments.clone(),
            hoists: true,
            ..Inside::default()
        };
        let is_pure = !self.acts(body);
        let outside = std::mem::replace(&mut self.inside, inside);
        let (parameters, _) = self.parameters(parameter);
        self.tail(body, Ending::Returned);
        let statements = std::mem::replace(&mut self.inside, outside).statements;
        let head = types::head(&result, &name, &parameters, is_pure);
        self.texts[self.form].push(format!("{head} {{\n{}\n}}\n", statements.join("\n")));
        (name, super::operators::ATOM)
    }

    /// A name for a function that nothing else has.
    fn unused(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let all = std::iter::once(name.to_owned()).chain(numbered);
        let name = all.into_iter().find(|name| !self.reserved.contains(name)).unwrap_or_default();
        self.reserved.insert(name.clone());
        name
    }
}

/// Statements after a condition.
fn braced(statements: &[String]) -> String {
    match statements {
        [one] if !one.contains('\n') && !one.starts_with("if ") && is_plain(one) => one.clone(),
        _ => format!("{{\n{}\n}}", statements.join("\n")),
    }
}

/// Whether a statement declares nothing, which alone would be to no use.
fn is_plain(statement: &str) -> bool {
    statement.starts_with("return ") || statement.split_once('(').is_some_and(|(name, _)| !name.contains(' '))
}
