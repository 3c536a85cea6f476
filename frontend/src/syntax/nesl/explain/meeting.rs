//! Two types that should be one.

use super::Words;
use super::argument::with_function;
use super::conflict::{conflict_or_other, conflict_report};
use super::types::{describe, label};
use crate::ast::UnaryOp;
use crate::diagnostic::Diagnostic;
use crate::infer::pattern::pattern_text;
use crate::infer::problem::meeting::{Conflict, Matched, Meeting, Subject};
use crate::infer::problem::types::{Operand, Resolved};
use nesl_prim::ScalarType;
use nesl_span::Span;

/// Who wants something, in words.
fn wanting(subject: &Subject) -> String {
    let words = match subject {
        Subject::Condition => "the condition of an `if`",
        Subject::Filter => "the filter of an apply-to-each",
        Subject::Index => "an index",
        Subject::RangeStart => "the start of a range",
        Subject::RangeEnd => "the end of a range",
        Subject::RangeStride => "the stride of a range",
        Subject::Value => "the value",
        Subject::Operator(UnaryOp::Negate) => "`-`",
        Subject::Operator(UnaryOp::Length) => "`#`",
        Subject::Operator(UnaryOp::String) => "`@`",
        Subject::Default(name) => return format!("the default of `{name}`"),
        Subject::Keyword { function, keyword } => return format!("the argument `{keyword}` of `{function}`"),
    };
    words.to_owned()
}

/// What is taken apart, in words.
fn taken_apart(matched: &Matched) -> String {
    let words = match matched {
        Matched::Declared => "the declared parameter",
        Matched::Passed => "what other functions pass",
        Matched::Assigned => "the value",
        Matched::Bound => "its value",
        Matched::Element => "an element of its sequence",
        Matched::Payload(datatype) => return format!("`{datatype}`"),
    };
    words.to_owned()
}

/// The number of parts that a type has, or is taken apart into.
fn count_parts(ty: &Resolved) -> usize {
    match ty {
        Resolved::Unit => 0,
        Resolved::Pair(_, rest) => 1 + count_parts(rest).max(1),
        _ => 1,
    }
}

impl Words<'_> {
    /// What is wrong where two types meet.
    pub(super) fn meeting(&self, conflict: &Conflict, meeting: &Meeting, span: Span) -> Diagnostic {
        match meeting {
            Meeting::Wanted { subject, given, wanted } => self.wanted(conflict, subject, (given, wanted), span),
            Meeting::Branches { then_branch, else_branch, before_comma } => {
                self.branches(conflict, then_branch, else_branch, before_comma.as_ref(), span)
            }
            Meeting::Elements { first, other } => self.elements(conflict, first, other, span),
            Meeting::Source(sequence) => self.source(conflict, sequence, span),
            Meeting::Indexed { sequence, is_literal } => self.indexed(conflict, sequence, *is_literal, span),
            Meeting::Counted(counted) => {
                let described = describe(&counted.ty);
                let message = format!("`#` counts the elements of a sequence, got {described}");
                let mut report = Diagnostic::error("E0202", message, span).saying(format!("of type {described}"));
                report.hint = self.element_hint(counted);
                report
            }
            Meeting::Annotation { pattern, bound, written, value } => {
                let what = pattern_text(pattern);
                let report = conflict_report(conflict, &format!("`{what}`"), span).unwrap_or_else(|| {
                    let (written, bound) = (describe(written), describe(bound));
                    let message = format!("`{what}` is declared as {written}, but it is {bound}");
                    Diagnostic::error("E0202", message, span)
                });
                let report = report.saying("declared here");
                match value {
                    Some(value) => report.also(*value, label(bound)),
                    None => report,
                }
            }
            Meeting::Pattern { pattern, matched, given, value } => {
                pattern_report(conflict, pattern, &taken_apart(matched), given, span).also(*value, label(given))
            }
            Meeting::Result { function, name, body, wanted, declared } => {
                self.result(conflict, (function, *name), (body, wanted), *declared)
            }
            Meeting::Operands { operator, left, right, is_left, wanted, wants_same } => {
                let needs = if *wants_same { None } else { Some(wanted) };
                self.operands(conflict, operator, (left, right), *is_left, needs)
            }
            Meeting::Argument(argument) => self.argument(conflict, argument),
            Meeting::Arguments { function, given } => {
                let wanted = describe(&function.parameter);
                let message = format!("`{}` needs {wanted}, got {}", function.name, describe(given));
                let report = Diagnostic::error("E0202", message, span);
                with_function(report, function, &wanted)
            }
            Meeting::Applied { function, argument, wanted } => self.applied(conflict, function, argument, wanted),
            Meeting::Call => conflict_or_other(conflict, "this call", span),
            Meeting::TypeArgument(datatype) => conflict_or_other(conflict, &format!("`{datatype}`"), span),
        }
    }

    fn wanted(
        &self,
        conflict: &Conflict,
        subject: &Subject,
        (given, wanted): (&Operand, &Resolved),
        span: Span,
    ) -> Diagnostic {
        let who = wanting(subject);
        let mut report = conflict_report(conflict, &who, span).unwrap_or_else(|| {
            let message = format!("{who} must be {}, got {}", describe(wanted), describe(&given.ty));
            Diagnostic::error("E0202", message, span)
        });
        let own = || self.conversion_hint(given, wanted);
        let of_index = || index_hint(&given.ty).filter(|_| *subject == Subject::Index).map(str::to_owned);
        report.hint = report.hint.or_else(own).or_else(of_index);
        report.saying(label(&given.ty))
    }

    fn branches(
        &self,
        conflict: &Conflict,
        then_branch: &Operand,
        else_branch: &Operand,
        before_comma: Option<&Resolved>,
        span: Span,
    ) -> Diagnostic {
        let mut report = conflict_report(conflict, "the other branch of the `if`", span).unwrap_or_else(|| {
            let (left, right) = (describe(&then_branch.ty), describe(&else_branch.ty));
            let message = format!("the branches of this `if` have different types, {left} and {right}");
            Diagnostic::error("E0202", message, span)
        });
        report.hint = report.hint.or_else(|| self.mixing_hint(then_branch, else_branch));
        if before_comma.is_some_and(|first| describe(first) == describe(&then_branch.ty)) {
            report = report
                .hint("the part after `else` goes on across commas: put the whole `if … then … else …` in parentheses");
        }
        report.saying(label(&else_branch.ty)).also(then_branch.span, label(&then_branch.ty))
    }

    fn elements(&self, conflict: &Conflict, first: &Operand, other: &Operand, span: Span) -> Diagnostic {
        let mut report = conflict_report(conflict, "the sequence", span).unwrap_or_else(|| {
            let (one, two) = (describe(&first.ty), describe(&other.ty));
            let message = format!("the elements of this sequence have different types, {one} and {two}");
            Diagnostic::error("E0202", message, span)
        });
        report.hint = report.hint.or_else(|| self.mixing_hint(first, other));
        report.saying(label(&other.ty)).also(first.span, label(&first.ty))
    }

    fn source(&self, conflict: &Conflict, sequence: &Operand, span: Span) -> Diagnostic {
        let mut report = conflict_report(conflict, "an apply-to-each", span).unwrap_or_else(|| {
            let message = format!("an apply-to-each walks over sequences, got {}", describe(&sequence.ty));
            Diagnostic::error("E0202", message, span)
        });
        if sequence.ty.scalar() == Some(ScalarType::Int) && report.hint.is_none() {
            let end = self.quote(span).unwrap_or("n");
            report.hint = Some(format!("to count, walk over the range [0:{end}]"));
        }
        report.saying(label(&sequence.ty))
    }

    fn indexed(&self, conflict: &Conflict, sequence: &Operand, is_literal: bool, span: Span) -> Diagnostic {
        let mut report = conflict_report(conflict, "an element reference", span).unwrap_or_else(|| {
            let message = format!("only sequences have elements, this is {}", describe(&sequence.ty));
            Diagnostic::error("E0202", message, span)
        });
        let of_tuple = || {
            let parts = ["a", "b", "c", "d", "e"];
            let count = sequence.ty.split(parts.len()).len();
            let is_meant = is_literal && matches!(sequence.ty, Resolved::Pair(..));
            let parts = parts[..count].join(", ");
            is_meant.then(|| format!("a tuple is taken apart by a pattern: let ({parts}) = … in …"))
        };
        report.hint = report.hint.or_else(|| self.element_hint(sequence)).or_else(of_tuple);
        report.saying(label(&sequence.ty))
    }

    fn result(
        &self,
        conflict: &Conflict,
        (function, name): (&str, Span),
        (body, wanted): (&Operand, &Resolved),
        declared: Option<Span>,
    ) -> Diagnostic {
        let (given, wanted_text) = (describe(&body.ty), describe(wanted));
        let subject = match declared {
            Some(_) => format!("the signature of `{function}`"),
            None => format!("the result of `{function}`"),
        };
        let report = conflict_report(conflict, &subject, body.span).unwrap_or_else(|| {
            let message = match declared {
                Some(_) => format!("`{function}` is declared to return {wanted_text}, but its body is {given}"),
                None => format!("`{function}` returns {given}, but its callers take the result as {wanted_text}"),
            };
            Diagnostic::error("E0202", message, body.span)
        });
        let mut report = report.saying(label(&body.ty));
        report = match declared {
            Some(declared) => report.also(declared, format!("declared as {wanted_text}")),
            None => report.also(name, format!("used as {wanted_text}")),
        };
        report.hint = report.hint.or_else(|| self.conversion_hint(body, wanted));
        report
    }

    fn applied(&self, conflict: &Conflict, function: &Operand, argument: &Operand, wanted: &Resolved) -> Diagnostic {
        let subject = match self.quote(function.span) {
            Some(text) => format!("`{text}`"),
            None => "this function".to_owned(),
        };
        let report = conflict_report(conflict, &subject, argument.span).unwrap_or_else(|| {
            let (wanted, given) = (describe(wanted), describe(&argument.ty));
            let message = format!("the argument of {subject} must be {wanted}, got {given}");
            Diagnostic::error("E0202", message, argument.span)
        });
        let mut report = report.saying(label(&argument.ty)).also(function.span, label(&function.ty));
        report.hint = report.hint.or_else(|| self.conversion_hint(argument, wanted));
        report
    }

    /// The hint for an element that is used like the sequence of the same name.
    pub(super) fn element_hint(&self, value: &Operand) -> Option<String> {
        let name = value.is_element.then(|| self.quote(value.span))??;
        let name = name.trim_start_matches('(').trim_end_matches(')');
        Some(format!(
            "in `{{… : {name}}}` the name `{name}` is one element: write `{{… : x in {name}}}` to keep the sequence"
        ))
    }
}

/// The message for a pattern that does not fit what it is to take apart.
fn pattern_report(conflict: &Conflict, pattern: &Resolved, what: &str, given: &Resolved, span: Span) -> Diagnostic {
    if let Conflict::Functions(..) | Conflict::Infinite = conflict
        && let Some(report) = conflict_report(conflict, what, span)
    {
        return report.saying("this pattern");
    }
    let message = match (count_parts(pattern), count_parts(given)) {
        (1, _) if matches!(pattern, Resolved::Record(..)) => {
            format!("the pattern takes {} apart, but {what} is not one", describe(pattern))
        }
        (0, _) => format!("the pattern `()` has no parts, but {what} has some"),
        (wanted, 0) => format!("the pattern has {wanted} parts, but {what} is (), which has none"),
        (wanted, 1) => format!("the pattern has {wanted} parts, but {what} is not a tuple"),
        (wanted, given) if given < wanted => format!("the pattern has {wanted} parts, but {what} has {given}"),
        _ => format!("the pattern does not fit {what}"),
    };
    let report = Diagnostic::error("E0202", message, span).saying("this pattern");
    match (pattern, given) {
        (Resolved::Pair(..), Resolved::Sequence(_)) => {
            report.hint("the elements of a sequence v are v[0], v[1] and so on")
        }
        _ => report,
    }
}

/// The hint for what is no index.
fn index_hint(given: &Resolved) -> Option<&'static str> {
    match given {
        Resolved::Pair(..) => Some("in nested sequences indices follow one another: m[i][j]"),
        Resolved::Sequence(element) => match element.scalar()? {
            ScalarType::Int => Some("the elements at several indices are v -> indices"),
            ScalarType::Bool => Some("elements are chosen by a filter: {x in v | x > 0}"),
            _ => None,
        },
        _ => None,
    }
}
