//! Top-level forms, and recovery from one form to the next.

use super::expressions::{expression, quoted_name, single};
use super::fault::{Context, Expected, Fault, What};
use super::patterns::{annotation, binder, cannot_bind, from_expression, patterns};
use super::recovery::{self, skip_form};
use super::types::{signature, types};
use super::{Extra, Place, Rule, Tokens, place, span};
use crate::ast::{
    DatatypeDefinition, Expr, ExprKind, FunctionDefinition, Import, KeywordParameter, Name, Pattern, PatternKind,
    TopLevel, TopLevelKind, TypeExpr,
};
use crate::diagnostic::{Diagnostic, Tag};
use crate::syntax::nesl::lexer;
use crate::syntax::nesl::token::{Bracket, Foreign, Keyword, Token};
use chumsky::prelude::*;
use nesl_span::FileId;

/// The words that a form begins with that imports a file; the second is NESL 3.1's.
const IMPORT: &str = "import";
const LOAD: &str = "load";

/// A whole text.
pub(super) fn program<'t>(tokens: recovery::Source<'t>) -> Rule<'t, Vec<TopLevel>> {
    let expression = expression(tokens);
    let parameters = parameters(single(tokens, expression.clone()));
    let form =
        choice((function(parameters, expression.clone()), datatype(), import(), assignment_or_expression(expression)))
            .labelled(What::Form)
            .map_with(|kind, extra| TopLevel { kind, span: span(extra.span()) })
            .then(ended())
            .validate(|(form, is_ended), _, emitter| {
                if !is_ended {
                    emitter.emit(Fault::described(missing_terminator(&form), place(form.span)));
                }
                form
            });
    let skipped = skip_form(tokens)
        .map_with(|(), extra| TopLevel { kind: TopLevelKind::Error, span: span(extra.span()) })
        .then_ignore(one_of([Token::Semicolon, Token::Dollar]).or_not());
    form.recover_with(via_parser(skipped)).repeated().collect().then_ignore(end()).boxed()
}

fn missing_terminator(form: &TopLevel) -> Diagnostic {
    let end = nesl_span::Span { start: form.span.end.saturating_sub(1).max(form.span.start), ..form.span };
    let form = match form.kind {
        TopLevelKind::Function(_) => "function definition",
        TopLevelKind::Datatype(_) => "datatype definition",
        TopLevelKind::Assignment { .. } => "assignment",
        TopLevelKind::Import(_) => "import",
        TopLevelKind::Expression(_) | TopLevelKind::Error => "expression",
    };
    Diagnostic::error("E0111", format!("this {form} has no end"), end)
        .tagged(Tag::OpenForm)
        .saying("expected `;` after this")
        .hint("end it with `;`")
}

/// The terminator of a form. The end of the text and the next `function` or `datatype` also end a form, but are not the
/// proper way.
fn ended<'t>() -> impl Parser<'t, Tokens<'t>, bool, Extra<'t>> + Clone {
    custom::<_, Tokens<'t>, _, Extra<'t>>(|input| {
        let before = input.cursor();
        match input.peek_ref() {
            Some(Token::Semicolon | Token::Dollar) => {
                input.skip();
                Ok(true)
            }
            None | Some(Token::Keyword(Keyword::Function | Keyword::Datatype)) => Ok(false),
            Some(found) => {
                input.skip();
                let place = input.span_since(&before);
                Err(Fault::unexpected(Expected::only(What::Semicolon), Some(found), place))
            }
        }
    })
}

fn assignment_or_expression<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    // NESL 3.1 keeps what `x |= e` binds in a file, since its memory was small; values mean the same here and there.
    let sign = just(Token::Equal).or(just(Token::Foreign(Foreign::FileVariable)));
    expression.clone().then(sign.ignore_then(expression).or_not()).validate(|(first, value), _, emitter| match value {
        None => TopLevelKind::Expression(first),
        Some(value) => TopLevelKind::Assignment { pattern: from_expression(first, "=", emitter), value },
    })
}

fn function<'t>(
    parameter: Rule<'t, (Pattern, Vec<KeywordParameter>)>,
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    let (_, any_type) = types();
    let quoted = quoted_name().map_with(|symbol, extra| Name { symbol, span: span(extra.span()) });
    let truth_value = select_ref! { Token::Bool(value) => *value }.validate(|value, extra, emitter| {
        let at: Place = extra.span();
        emitter.emit(Fault::described(cannot_bind(value, span(at)), at));
        Name { symbol: if value { "t" } else { "f" }.into(), span: span(at) }
    });
    let doc = || {
        select_ref! { Token::Text(bytes) => String::from_utf8_lossy(bytes).into_owned() }.labelled(What::Text).or_not()
    };
    just(Token::Keyword(Keyword::Function))
        .ignore_then(choice((binder(), quoted, truth_value)).labelled(What::FunctionName))
        .then(parameter.labelled(What::Parameter))
        .then(doc())
        .then(just(Token::Colon).ignore_then(signature(any_type)).or_not())
        .then(doc())
        .then(just(Token::Equal).ignore_then(expression).or_not())
        .map(|(((((name, (parameter, keywords)), early_doc), signature), late_doc), body)| {
            let doc = early_doc.or(late_doc);
            TopLevelKind::Function(FunctionDefinition { name, parameter, keywords, signature, doc, body })
        })
        .labelled(Context::Function)
        .as_context()
}

/// What follows the first `:=` in a parameter list: its default, and what stands behind that between commas. A name
/// with a type has its type and its default beside it; `name := default` is an expression by itself.
type Defaults = (Expr, Vec<(Expr, Option<(TypeExpr, Expr)>)>);

/// `a`, `(a, (b, c))`, `(a : int, b := 3, c : [char] := "x")`, `()`.
fn parameters<'t>(value: Rule<'t, Expr>) -> Rule<'t, (Pattern, Vec<KeywordParameter>)> {
    let (pattern, _) = patterns();
    let typed = annotation().then_ignore(just(Token::ColonEqual)).then(value.clone());
    let more = just(Token::Comma).ignore_then(value.clone().then(typed.or_not())).repeated().collect();
    let default = just(Token::ColonEqual).ignore_then(value).then(more).boxed();
    let keyword = pattern.then(default.or_not());
    let list = keyword
        .separated_by(just(Token::Comma))
        .collect::<Vec<_>>()
        .delimited_by(just(Token::Open(Bracket::Parenthesis)), just(Token::Close(Bracket::Parenthesis)))
        .validate(|parts, extra, emitter| {
            let at: Place = extra.span();
            let mut positional = Vec::new();
            let mut keywords = Vec::new();
            let mut is_whole = true;
            for (pattern, default) in parts {
                match default {
                    Some(default) => is_whole &= keyword_parameters(pattern, default, &mut keywords, emitter),
                    None => positional.push(pattern),
                }
            }
            let kind = match (positional.pop(), positional.is_empty()) {
                (None, _) if is_whole => PatternKind::Unit,
                (None, _) => PatternKind::Error,
                // One tuple before keyword parameters stays one parameter.
                (Some(only), true)
                    if !keywords.is_empty() && matches!(only.kind, PatternKind::Tuple(_) | PatternKind::Unit) =>
                {
                    PatternKind::Tuple(vec![only])
                }
                (Some(only), true) => only.kind,
                (Some(last), false) => {
                    positional.push(last);
                    PatternKind::Tuple(positional)
                }
            };
            (Pattern { kind, span: span(at) }, keywords)
        });
    let plain = binder().map(|name| Pattern { kind: PatternKind::Variable(name.symbol), span: name.span });
    choice((list, plain.map(|pattern| (pattern, Vec::new())))).boxed()
}

/// Takes `pattern := default`, with more of its kind in the default, apart; whether nothing else is among them.
fn keyword_parameters<'t>(
    pattern: Pattern,
    (default, more): Defaults,
    keywords: &mut Vec<KeywordParameter>,
    emitter: &mut chumsky::input::Emitter<Fault<'t>>,
) -> bool {
    let (pattern, ty) = match pattern.kind {
        PatternKind::Typed(inner, ty) => (*inner, Some(ty)),
        _ => (pattern, None),
    };
    let PatternKind::Variable(symbol) = pattern.kind else {
        let diagnostic = Diagnostic::error("E0116", "only a name can have a default", pattern.span);
        emitter.emit(Fault::described(diagnostic, place(pattern.span)));
        return false;
    };
    let name = Name { symbol, span: pattern.span };
    keywords.push(KeywordParameter { name, ty, default });
    let mut is_whole = true;
    for (part, typed) in more {
        match (part.kind, typed) {
            (ExprKind::Keyword { name, value }, None) => {
                keywords.push(KeywordParameter { name, ty: None, default: *value });
            }
            (ExprKind::Name(symbol), Some((ty, default))) => {
                let name = Name { symbol, span: part.span };
                keywords.push(KeywordParameter { name, ty: Some(ty), default });
            }
            _ => {
                is_whole = false;
                let diagnostic = Diagnostic::error("E0116", "parameters with a default come last", part.span)
                    .saying("this needs a default too")
                    .hint("write a tuple as a default in parentheses");
                emitter.emit(Fault::described(diagnostic, place(part.span)));
            }
        }
    }
    is_whole
}

/// `datatype name type :: context`.
fn datatype<'t>() -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    let (single_type, _) = types();
    just(Token::Keyword(Keyword::Datatype))
        .ignore_then(binder().labelled(What::TypeName))
        .then(signature(single_type))
        .map(|(name, payload)| TopLevelKind::Datatype(DatatypeDefinition { name, payload }))
}

/// `import "path"`, `import "path" as name`, `load "path"`: names like any others, unless a string follows them at the
/// start of a form.
fn import<'t>() -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    let word = |word: &'static str| select_ref! { Token::Name(name) if **name == *word => () };
    let path = select_ref! {
        Token::Text(bytes) = extra => (String::from_utf8_lossy(bytes).into_owned(), span(extra.span()))
    };
    let renamed = word("as").ignore_then(binder()).or_not();
    let import = word(IMPORT).ignore_then(path).then(renamed);
    let load = word(LOAD).ignore_then(path).map(|path| (path, None));
    import.or(load).map(|((path, span), alias)| TopLevelKind::Import(Import { path, span, alias }))
}

/// The files that a text imports, which its tokens tell: an `import` at the start of a form.
pub fn imports(file: FileId, text: &str) -> Vec<Import> {
    let lower = text.to_ascii_lowercase();
    let tokens = match lower.contains(IMPORT) || lower.contains(LOAD) {
        true => lexer::lex(file, text).tokens,
        false => return Vec::new(),
    };
    let token = |index: usize| tokens.get(index).map(|(token, _)| token);
    let begins = |index: usize| index == 0 || matches!(token(index - 1), Some(Token::Semicolon | Token::Dollar));
    let is_word = |index, word: &str| matches!(token(index), Some(Token::Name(name)) if **name == *word);
    (0..tokens.len())
        .filter(|&index| begins(index) && (is_word(index, IMPORT) || is_word(index, LOAD)))
        .filter_map(|index| {
            let (Token::Text(bytes), span) = tokens.get(index + 1)? else { return None };
            let alias = match tokens.get(index + 3) {
                Some((Token::Name(symbol), span)) if is_word(index, IMPORT) && is_word(index + 2, "as") => {
                    Some(Name { symbol: symbol.clone(), span: *span })
                }
                _ => None,
            };
            Some(Import { path: String::from_utf8_lossy(bytes).into_owned(), span: *span, alias })
        })
        .collect()
}
