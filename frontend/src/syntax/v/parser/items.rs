//! What stands at the top of a text: functions, structs, globals, and expressions to be shown.

use super::declarations::{declaration, declarator, dimension, initial, starred};
use super::expressions::expression;
use super::statements::{block, skipped, statement};
use super::types::base;
use super::{Extra, Rule, Tokens, name, sign, span, word};
use crate::syntax::v::token::{IMPORT, Token};
use crate::syntax::v::tree::{
    Base, Declaration, Declarator, Dimension, Expression, Function, Item, ItemKind, Statement,
};
use chumsky::prelude::*;
use nesl_span::Span;

/// `(int v[*], double x)`; `(void)` is `()`.
fn parameters<'t>() -> impl Parser<'t, Tokens<'t>, Vec<(Base, Declarator)>, Extra<'t>> + Clone {
    let none = word("void").ignore_then(sign(")").rewind()).to(Vec::new());
    let some = base().then(declarator()).separated_by(sign(",")).collect();
    choice((none, some)).delimited_by(sign("("), sign(")"))
}

/// What follows the type and the first name at the top of a text.
enum AfterName {
    Function(Vec<(Base, Declarator)>, Vec<Dimension>, Option<Vec<Statement>>, Span),
    Global(Vec<Dimension>, Option<Expression>, Vec<Declarator>),
}

/// A function or a global.
fn definition<'t>() -> Rule<'t, ItemKind> {
    let dimensions = dimension().repeated().collect::<Vec<_>>();
    let body = choice((block().map(|(statements, end)| (Some(statements), end)), sign(";").map(|end| (None, end))));
    let function = parameters()
        .then(dimensions.clone())
        .then(body)
        .map(|((parameters, dimensions), (body, end))| AfterName::Function(parameters, dimensions, body, end));
    let more = sign(",").ignore_then(declarator()).repeated().collect();
    let global = dimensions.then(initial().or_not()).then(more).then_ignore(sign(";"));
    let global = global.map(|((dimensions, initial), more)| AfterName::Global(dimensions, initial, more));
    let pure = word("pure").or_not().map(|pure| pure.is_some());
    pure.then(base())
        .then(starred())
        .then(choice((function, global)))
        .map(|(((is_pure, base), (pointers, is_grouped, name)), rest)| {
            let span = name.span;
            match rest {
                AfterName::Function(parameters, dimensions, body, end) => {
                    let declarator = Declarator { pointers, is_grouped, name, dimensions, initial: None, span };
                    ItemKind::Function(Box::new(Function { is_pure, result: base, declarator, parameters, body, end }))
                }
                AfterName::Global(dimensions, initial, more) => {
                    let mut declarators = vec![Declarator { pointers, is_grouped, name, dimensions, initial, span }];
                    declarators.extend(more);
                    ItemKind::Global(Declaration { base, declarators })
                }
            }
        })
        .boxed()
}

/// A whole text: a file, or an input of a session, in which statements may stand, too.
pub(super) fn unit<'t>(is_input: bool) -> Rule<'t, Vec<Item>> {
    let fields = declaration().repeated().collect::<Vec<_>>().delimited_by(sign("{"), sign("}"));
    let union = word("union")
        .ignore_then(name())
        .then_ignore(fields.clone())
        .then_ignore(sign(";"))
        .map(|name| ItemKind::Union(name.span));
    let structure = word("struct")
        .ignore_then(name())
        .then(fields)
        .then_ignore(sign(";"))
        .map(|(name, fields)| ItemKind::Struct { name, fields });
    let is_import = select_ref! { Token::Name(name) if **name == *IMPORT => () };
    let path = select_ref! { Token::Text(_) => () }.labelled("the path of a file");
    let alias = select_ref! { Token::Name(name) if **name == *"as" => () }.labelled("`as`").then(name());
    let is_import = is_import.then(select_ref! { Token::Text(_) => () });
    let import = any().ignore_then(path).then(alias.or_not()).then_ignore(sign(";")).to(ItemKind::Import);
    let import = is_import.rewind().ignore_then(import);
    let is_structure = word("struct").then(name()).then(sign("{")).rewind();
    let is_union = word("union").then(name()).then(sign("{")).rewind();
    let value = expression().then_ignore(sign(";")).map(ItemKind::Expression);
    let definition = choice((is_structure.ignore_then(structure), is_union.ignore_then(union), definition()));
    let item = choice((import, definition, value)).labelled("a definition");
    let item = match is_input {
        true => item.or(statement().map(|statement| ItemKind::Statement(Box::new(statement)))).boxed(),
        false => item.boxed(),
    };
    let item = item.recover_with(via_parser(choice((skipped(), sign("}").ignored())).to(ItemKind::Error)));
    let item = item.map_with(|kind, extra| Item { kind, span: span(extra.span()) });
    sign(";")
        .repeated()
        .ignore_then(item)
        .repeated()
        .collect()
        .then_ignore(sign(";").repeated())
        .then_ignore(end())
        .boxed()
}
