//! What chumsky collects where the grammar does not fit: an error type as small as a few words.
//!
//! Expected things are a set of bits, so that the many alternatives tried and dropped during a parse cost no
//! allocation. [`super::message`] words the one that survives.

use super::{Place, Tokens};
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::token::{Bracket, Keyword, Token};
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::util::MaybeRef;

/// Something the grammar may expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Form,
    Expression,
    Operator,
    Argument,
    Pattern,
    FunctionName,
    TypeName,
    Parameter,
    Type,
    TypeVariable,
    Class,
    Text,
    Comma,
    Semicolon,
    Dollar,
    Colon,
    DoubleColon,
    Equal,
    Bar,
    In,
    Then,
    Else,
    Arrow,
    CloseParenthesis,
    CloseSquare,
    CloseBrace,
    End,
}

impl What {
    /// All of them, in the order in which a message lists them.
    pub(super) const ALL: [What; 27] = [
        What::Form,
        What::Expression,
        What::Operator,
        What::Argument,
        What::Pattern,
        What::FunctionName,
        What::TypeName,
        What::Parameter,
        What::Type,
        What::TypeVariable,
        What::Class,
        What::Text,
        What::Comma,
        What::Semicolon,
        What::Dollar,
        What::Colon,
        What::DoubleColon,
        What::Equal,
        What::Bar,
        What::In,
        What::Then,
        What::Else,
        What::Arrow,
        What::CloseParenthesis,
        What::CloseSquare,
        What::CloseBrace,
        What::End,
    ];

    /// The closing bracket.
    pub(super) fn close(bracket: Bracket) -> What {
        match bracket {
            Bracket::Parenthesis => What::CloseParenthesis,
            Bracket::Square => What::CloseSquare,
            Bracket::Brace => What::CloseBrace,
        }
    }

    /// The tokens that the grammar asks for by name; everything else is labelled.
    fn token(token: &Token) -> Option<What> {
        Some(match token {
            Token::Comma => What::Comma,
            Token::Semicolon => What::Semicolon,
            Token::Dollar => What::Dollar,
            Token::Colon => What::Colon,
            Token::DoubleColon => What::DoubleColon,
            Token::Equal => What::Equal,
            Token::Bar => What::Bar,
            Token::Keyword(Keyword::In) => What::In,
            Token::Keyword(Keyword::Then) => What::Then,
            Token::Keyword(Keyword::Else) => What::Else,
            Token::Operator(crate::ast::BinaryOp::Read) => What::Arrow,
            Token::Close(bracket) => What::close(*bracket),
            _ => return None,
        })
    }
}

/// A set of [`What`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected(u32);

impl Expected {
    pub(super) fn only(what: What) -> Expected {
        Expected(1 << what as u32)
    }

    pub(super) fn union(self, other: Expected) -> Expected {
        Expected(self.0 | other.0)
    }

    pub(super) fn contains(self, what: What) -> bool {
        self.0 & Expected::only(what).0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A form that was open where a fault was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Let,
    If,
    Each,
    Sequence,
    SequenceType,
    TupleType,
    Index,
    Parenthesis,
    Function,
}

impl Context {
    /// Whether one of the expected things would go on with this form, rather than with something inside of it.
    fn continues(self, expected: Expected) -> bool {
        let own: &[What] = match self {
            Context::Let if expected.contains(What::Semicolon) => &[What::In],
            Context::Let => &[What::In, What::Equal, What::Pattern],
            Context::If => &[What::Then, What::Else],
            Context::Each => &[What::CloseBrace, What::Pattern],
            Context::Sequence | Context::SequenceType | Context::Index => &[What::CloseSquare],
            Context::Parenthesis | Context::TupleType => &[What::CloseParenthesis],
            Context::Function => &[What::Parameter],
        };
        own.iter().any(|what| expected.contains(*what))
    }
}

/// What is wrong.
#[derive(Clone, Debug)]
pub(super) enum Problem<'t> {
    /// The next token fits none of the expected things.
    Unexpected {
        expected: Expected,
        /// `None` at the end of the text.
        found: Option<&'t Token>,
    },
    /// A rule of the grammar said so in its own words.
    Described(Box<Diagnostic>),
}

/// One fault with its place.
#[derive(Clone, Debug)]
pub(super) struct Fault<'t> {
    pub(super) place: Place,
    pub(super) problem: Problem<'t>,
    /// The innermost open form that an expected token would continue.
    pub(super) context: Option<(Context, Place)>,
}

impl<'t> Fault<'t> {
    pub(super) fn unexpected(expected: Expected, found: Option<&'t Token>, place: Place) -> Fault<'t> {
        Fault { place, problem: Problem::Unexpected { expected, found }, context: None }
    }

    /// A fault in the words of a rule.
    pub(super) fn described(diagnostic: Diagnostic, place: Place) -> Fault<'t> {
        Fault { place, problem: Problem::Described(Box::new(diagnostic)), context: None }
    }

    fn expecting(expected: Expected, found: Option<MaybeRef<'t, Token>>, place: Place) -> Fault<'t> {
        let found = match found {
            Some(MaybeRef::Ref(token)) => Some(token),
            // The parser reads from a slice, so tokens are always borrowed.
            Some(MaybeRef::Val(_)) | None => None,
        };
        Fault::unexpected(expected, found, place)
    }
}

impl<'t> Error<'t, Tokens<'t>> for Fault<'t> {
    fn merge(self, other: Fault<'t>) -> Fault<'t> {
        let context = self.context.or(other.context);
        match (self.problem, other.problem) {
            (Problem::Unexpected { expected, found }, Problem::Unexpected { expected: more, .. }) => {
                let expected = expected.union(more);
                Fault { place: self.place, problem: Problem::Unexpected { expected, found }, context }
            }
            (problem @ Problem::Described(_), _) | (_, problem @ Problem::Described(_)) => {
                Fault { place: self.place, problem, context }
            }
        }
    }
}

impl<'t> LabelError<'t, Tokens<'t>, DefaultExpected<'t, Token>> for Fault<'t> {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token>>>(
        expected: E,
        found: Option<MaybeRef<'t, Token>>,
        place: Place,
    ) -> Fault<'t> {
        let mut set = Expected::default();
        for item in expected {
            let what = match &item {
                DefaultExpected::Token(token) => What::token(token),
                DefaultExpected::EndOfInput => Some(What::End),
                _ => None,
            };
            set = what.map_or(set, |what| set.union(Expected::only(what)));
        }
        Fault::expecting(set, found, place)
    }
}

impl<'t> LabelError<'t, Tokens<'t>, What> for Fault<'t> {
    fn expected_found<E: IntoIterator<Item = What>>(
        expected: E,
        found: Option<MaybeRef<'t, Token>>,
        place: Place,
    ) -> Fault<'t> {
        let set = expected.into_iter().map(Expected::only).fold(Expected::default(), Expected::union);
        Fault::expecting(set, found, place)
    }

    fn label_with(&mut self, label: What) {
        if let Problem::Unexpected { expected, .. } = &mut self.problem {
            *expected = Expected::only(label);
        }
    }
}

impl<'t> LabelError<'t, Tokens<'t>, Context> for Fault<'t> {
    fn expected_found<E: IntoIterator<Item = Context>>(
        _: E,
        found: Option<MaybeRef<'t, Token>>,
        place: Place,
    ) -> Fault<'t> {
        Fault::expecting(Expected::default(), found, place)
    }

    fn in_context(&mut self, context: Context, place: Place) {
        if let Problem::Unexpected { expected, .. } = self.problem
            && self.context.is_none()
            && context.continues(expected)
        {
            self.context = Some((context, place));
        }
    }
}
