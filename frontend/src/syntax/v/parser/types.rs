//! The type that a declaration, or a cast, begins with.

use super::{Extra, Tokens, behind, name, sign, span, word};
use crate::ast::Name;
use crate::syntax::v::token::Token;
use crate::syntax::v::tree::{Base, BaseKind};
use chumsky::prelude::*;

/// The name of a struct: `point`, or `g.point` of a file that is imported as `g`.
pub(super) fn struct_name<'t>() -> impl Parser<'t, Tokens<'t>, Name, Extra<'t>> + Clone {
    name().then(sign(".").ignore_then(name()).or_not()).map(|(first, own)| match own {
        None => first,
        Some(own) => behind(first, own),
    })
}

/// The type that a declaration begins with.
pub(super) fn base<'t>() -> impl Parser<'t, Tokens<'t>, Base, Extra<'t>> + Clone {
    let long = word("long").repeated().at_least(1).then(word("int").or_not()).to(BaseKind::Int);
    let scalar = select_ref! {
        Token::Word("int") => BaseKind::Int,
        Token::Word("double" | "float") => BaseKind::Double,
        Token::Word("char") => BaseKind::Char,
        Token::Word("bool") => BaseKind::Bool,
        Token::Word("void") => BaseKind::Void,
    };
    let structure = word("struct").ignore_then(struct_name()).map(BaseKind::Struct);
    let union = word("union").ignore_then(name()).map(BaseKind::Union);
    choice((long, scalar, structure, union))
        .labelled("a type")
        .map_with(|kind, extra| Base { kind, span: span(extra.span()) })
}
