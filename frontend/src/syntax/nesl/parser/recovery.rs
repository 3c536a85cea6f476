//! How parsing goes on after a fault: skipping a bracketed group, or the rest of a top-level form.
//!
//! Both are rules of the grammar, called by chumsky's `recover_with(via_parser(…))`. Where groups and forms end is
//! found beforehand in one pass over the tokens, [`Structure`], so that a thousand faults do not search the text a
//! thousand times. It knows that `let … in` pairs like brackets and that `function` and `datatype` begin a form unless
//! somebody takes them for names.

use super::fault::{Expected, Fault};
use super::{Extra, Place, Tokens};
use crate::syntax::nesl::token::{Bracket, Keyword, Token, is_meant_as_name};
use chumsky::input::InputRef;
use chumsky::prelude::*;
use std::cell::RefCell;
use std::collections::HashSet;

/// What is open at a point of the scan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Bracket(Bracket),
    /// The parentheses of a context, `:: (a in any; b in number)`, in which `;` separates.
    Context,
    Let,
}

/// Where the bracketed groups and the forms of a text end, as far as brackets tell.
pub(super) struct Structure {
    /// For an opening bracket that is closed within its form: the index after its closing bracket. Else 0.
    group_ends: Vec<usize>,
    /// The indices of tokens at which a form ends: terminators, `function`, `datatype`, and the end of the text.
    /// Increasing.
    form_ends: Vec<usize>,
}

impl Structure {
    pub(super) fn of(tokens: &[(Token, Place)]) -> Structure {
        let mut structure = Structure { group_ends: vec![0; tokens.len()], form_ends: Vec::new() };
        let mut open: Vec<(Open, usize)> = Vec::new();
        let mut index = 0;
        // The first `;` in the outermost brace: the end of the form if that brace is never closed.
        let mut guess = None;
        loop {
            let token = tokens.get(index).map(|(token, _)| token);
            match token {
                Some(Token::Keyword(_)) if is_meant_as_name(tokens, index) => {}
                None | Some(Token::Dollar | Token::Keyword(Keyword::Function | Keyword::Datatype)) => {
                    open.clear();
                    if let Some(guess) = guess.take() {
                        index = guess;
                    }
                    structure.form_ends.push(index);
                    if index == tokens.len() {
                        return structure;
                    }
                }
                Some(Token::Semicolon) => {
                    let separates = |(open, _): &(Open, usize)| {
                        matches!(open, Open::Let | Open::Context | Open::Bracket(Bracket::Brace))
                    };
                    if !open.iter().any(separates) {
                        open.clear();
                        structure.form_ends.push(index);
                    } else if guess.is_none() && !open.iter().any(|(open, _)| *open == Open::Let) {
                        guess = Some(index);
                    }
                }
                Some(Token::Open(bracket)) => {
                    let after_double_colon = index > 0 && tokens[index - 1].0 == Token::DoubleColon;
                    let is_context = *bracket == Bracket::Parenthesis && after_double_colon;
                    open.push((if is_context { Open::Context } else { Open::Bracket(*bracket) }, index));
                }
                Some(Token::Keyword(Keyword::Let)) => open.push((Open::Let, index)),
                Some(Token::Keyword(Keyword::In)) => {
                    // An `in` inside of braces or a context belongs to no `let` outside of them.
                    let barrier = |(open, _): &(Open, usize)| {
                        matches!(open, Open::Let | Open::Context | Open::Bracket(Bracket::Brace))
                    };
                    if let Some(position) = open.iter().rposition(barrier)
                        && open[position].0 == Open::Let
                    {
                        open.truncate(position);
                    }
                }
                Some(Token::Close(bracket)) => {
                    let closes = |(open, _): &(Open, usize)| match open {
                        Open::Bracket(opened) => opened == bracket,
                        Open::Context => *bracket == Bracket::Parenthesis,
                        Open::Let => false,
                    };
                    // A bracket that closes nothing is passed over.
                    if let Some(position) = open.iter().rposition(closes) {
                        structure.group_ends[open[position].1] = index + 1;
                        open.truncate(position);
                        if open.is_empty() {
                            guess = None;
                        }
                    }
                }
                Some(_) => {}
            }
            index += 1;
        }
    }

    /// The end of the form around a token: a later index, unless a terminator stands right there.
    fn form_end(&self, tokens: &[(Token, Place)], index: usize) -> usize {
        let begins_form =
            |(token, _): &(Token, Place)| matches!(token, Token::Keyword(Keyword::Function | Keyword::Datatype));
        let from = if tokens.get(index).is_some_and(begins_form) { index + 1 } else { index };
        let position = self.form_ends.partition_point(|end| *end < from);
        self.form_ends.get(position).copied().unwrap_or(tokens.len())
    }
}

/// The tokens with their structure: what the rules of recovery look at.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) tokens: &'t [(Token, Place)],
    pub(super) structure: &'t Structure,
    pub(super) failures: &'t Failures,
    /// The end of the text.
    pub(super) end: Place,
}

/// Which rules have failed where. An operand or suffix that fails is tried again by every operator around it, and so
/// would be everything in it: without remembering, unclosed brackets within one another took exponential time.
#[derive(Default)]
pub(super) struct Failures(RefCell<HashSet<(Remembered, usize)>>);

/// A rule whose failures are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Remembered {
    Operand,
    Suffix,
}

/// A rule that fails at once where it has failed before, if it begins with a bracket or a keyword: others fail soon
/// anyway. What was found there at first stays the fault that got furthest.
pub(super) fn once<'t, O>(
    source: Source<'t>,
    rule: Remembered,
    parser: impl Parser<'t, Tokens<'t>, O, Extra<'t>> + Clone,
) -> impl Parser<'t, Tokens<'t>, O, Extra<'t>> + Clone {
    let is_long = move |start: usize| matches!(source.tokens.get(start), Some((Token::Open(_) | Token::Keyword(_), _)));
    let has_not_failed = custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        match is_long(start) && source.failures.0.borrow().contains(&(rule, start)) {
            true => fail(input),
            false => Ok(()),
        }
    });
    let remember = custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        if is_long(start) {
            source.failures.0.borrow_mut().insert((rule, start));
        }
        fail(input)
    });
    choice((has_not_failed.ignore_then(parser), remember))
}

/// Fails without saying anything.
fn fail<'t, O>(input: &mut Input<'t, '_>) -> Result<O, Fault<'t>> {
    let cursor = input.cursor();
    let place = input.span_from(&cursor..);
    Err(Fault::unexpected(Expected::default(), None, place))
}

/// The fault of a rule that does not apply to the token with this index, and leaves it to others to say what does.
pub(super) fn silent<'t>(source: Source<'t>, index: usize) -> Fault<'t> {
    let (found, place) = match source.tokens.get(index) {
        Some((token, place)) => (Some(token), *place),
        None => (None, source.end),
    };
    Fault::unexpected(Expected::default(), found, place)
}

type Input<'t, 'parse> = InputRef<'t, 'parse, Tokens<'t>, Extra<'t>>;

/// Moves on to the token with index `end`, or fails where that is not ahead.
fn skip_to<'t>(input: &mut Input<'t, '_>, start: usize, end: Option<usize>) -> Result<(), Fault<'t>> {
    match end {
        Some(end) if end >= start => {
            for _ in start..end {
                input.skip();
            }
            Ok(())
        }
        _ => fail(input),
    }
}

/// Skips a group from its opening bracket, which must be one of `brackets`, to its closing one; fails if there is none.
pub(super) fn skip_group<'t>(
    source: Source<'t>,
    brackets: &'static [Bracket],
) -> impl Parser<'t, Tokens<'t>, (), Extra<'t>> + Clone {
    custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        let end = match source.tokens.get(start) {
            Some((Token::Open(bracket), _)) if brackets.contains(bracket) => source.structure.group_ends.get(start),
            _ => None,
        };
        skip_to(input, start, end.copied().filter(|end| *end > start))
    })
}

/// Skips the rest of a form that could not be read, up to, not including, its terminator, the next `function` or the
/// end. Fails at the end of the text only.
pub(super) fn skip_form<'t>(source: Source<'t>) -> impl Parser<'t, Tokens<'t>, (), Extra<'t>> + Clone {
    custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        let end = (start < source.tokens.len()).then(|| source.structure.form_end(source.tokens, start));
        skip_to(input, start, end)
    })
}
