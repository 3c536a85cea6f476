//! Calls: of what is no function, and with names of parameters that are none.

use super::Words;
use super::argument::arguments;
use super::types::describe;
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::infer::problem::calls::CallProblem;
use crate::infer::problem::types::{Operand, Resolved, Writing};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::Span;

impl Words<'_> {
    /// What is wrong with a call.
    pub(super) fn call(&self, problem: &CallProblem, span: Span) -> Diagnostic {
        match problem {
            CallProblem::NotAFunction { name, called, is_hiding, argument, is_before_function } => {
                let advice = match called.ty {
                    Resolved::Sequence(_) if argument.ty.scalar() == Some(ScalarType::Int) => {
                        Some(self.index_instead(called, argument))
                    }
                    _ => self
                        .called_value_hint(name.as_ref().filter(|_| *is_hiding), called, argument)
                        .or_else(|| self.order_of_call(argument).filter(|_| *is_before_function)),
                };
                self.not_a_function(name.as_ref(), called, argument, advice)
            }
            CallProblem::ElementOfFunction { name, index } => {
                Diagnostic::error("E0204", format!("`{name}` is a function and has no elements"), span)
                    .saying("read as the element of a sequence")
                    .hint(format!("write {name}([{}])", self.quoted(*index)))
            }
            CallProblem::SubtractedFrom { name, operand } => {
                Diagnostic::error("E0204", format!("`{name}` is a function, and this subtracts from it"), span)
                    .saying("read as a subtraction")
                    .hint(format!("write {name}(-{})", self.quoted(*operand)))
            }
            CallProblem::NotTwoOperands { operator, wanted } => {
                let message = format!("`{operator}` takes {}, not two operands", describe(wanted));
                Diagnostic::error("E0202", message, span)
            }
            CallProblem::Count { function, parameters, count, argument, keyword } => {
                self.count(function, parameters, *count, argument, keyword.as_ref())
            }
            CallProblem::ByPosition { name, wanted, given, by_name, defined, called } => {
                let message = format!("`{name}` takes {} by position, got {given}", arguments(*wanted));
                let (place, text) = match defined {
                    Some(defined) => (*defined, "defined here"),
                    None => (*called, "called here"),
                };
                Diagnostic::error("E0213", message, span).hint(self.by_name_hint(by_name)).also(place, text)
            }
            CallProblem::OnlyByName(name) => {
                let message = format!("this call of `{name}` has no arguments but those by name");
                Diagnostic::error("E0213", message, span)
            }
            CallProblem::NoneByName(name) => {
                let message = format!("`{name}` has no parameters that are passed by name");
                Diagnostic::error("E0225", message, span)
                    .saying("passed by name")
                    .hint("pass the arguments by position")
            }
            CallProblem::UnknownParameter { function, name, known } => {
                let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
                let message = format!("`{function}` has no parameter `{name}` with a default");
                Diagnostic::error("E0225", message, span).hint(format!("those with a default are {}", known.join(", ")))
            }
            CallProblem::PassedTwice(name) => Diagnostic::error("E0225", format!("`{name}` is passed twice"), span),
            CallProblem::ByNameOutside(name) => {
                let message = format!("`{name} := …` is an argument by name, and this is no call");
                Diagnostic::error("E0225", message, span)
                    .hint("values are bound by `name = value` at the top level and in `let`")
            }
            CallProblem::ByNameToValue => {
                Diagnostic::error("E0225", "only a function called by its name takes arguments by name", span)
            }
        }
    }

    fn by_name_hint(&self, by_name: &[(Symbol, Span)]) -> String {
        let passed = |(keyword, value): &(Symbol, Span)| Some(format!("{keyword} := {}", self.quote(*value)?));
        let all: Option<Vec<String>> = by_name.iter().map(passed).collect();
        let first = || by_name.first().map_or_else(|| "…".to_owned(), |(keyword, _)| format!("{keyword} := …"));
        let form = all.map_or_else(first, |all| all.join(", "));
        format!("parameters with a default are passed by name: {form}")
    }

    fn not_a_function(
        &self,
        name: Option<&Symbol>,
        called: &Operand,
        argument: &Operand,
        advice: Option<String>,
    ) -> Diagnostic {
        let subject = name.map_or("this".to_owned(), |name| format!("`{name}`"));
        let message = format!("{subject} is not a function: it is of type {}", describe(&called.ty));
        let mut report = Diagnostic::error("E0204", message, called.span);
        if matches!(called.ty, Resolved::Sequence(_)) && argument.ty.scalar() == Some(ScalarType::Int) {
            report = report.saying("a sequence");
        }
        let between = Span { start: called.span.end, end: argument.span.start, ..called.span };
        let is_next_line = between.start < between.end && self.text(between).contains('\n');
        let next_form = || "if a new form begins on the next line, end the one before with `;`".to_owned();
        report.hint = is_next_line.then(next_form).or(advice);
        report
    }

    /// The hint for `v(i)`.
    fn index_instead(&self, sequence: &Operand, index: &Operand) -> String {
        match (self.quote(sequence.span), self.quote(index.span)) {
            (Some(sequence), Some(index)) => {
                let index = index.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(index);
                format!("write {sequence}[{index}] for an element")
            }
            _ => "write v[i] for an element".to_owned(),
        }
    }

    /// The hint for a value that is called. `hides` is its name, if the library has a function of that name.
    fn called_value_hint(&self, hides: Option<&Symbol>, called: &Operand, argument: &Operand) -> Option<String> {
        match (hides, &called.writing, &argument.writing) {
            (Some(name), ..) => Some(format!("this value hides the library's `{name}`: give it another name")),
            (None, Writing::Literal(ScalarValue::Bool(value)), _) => {
                let (letter, meaning) = if *value { ("t", "true") } else { ("f", "false") };
                Some(format!("`{letter}` is the truth value {meaning}, and cannot name a function"))
            }
            // `p.0` is read as `p` before the number `.0`.
            (None, _, Writing::Literal(ScalarValue::Float(_))) if self.text(argument.span).starts_with('.') => {
                Some("there are no fields: a tuple is taken apart by a pattern, let (a, b) = … in …".to_owned())
            }
            _ => None,
        }
    }

    /// The hint for `x f`.
    fn order_of_call(&self, function: &Operand) -> Option<String> {
        match &function.writing {
            Writing::Name(function) => Some(format!("a function stands before its arguments: {function}(…)")),
            _ => None,
        }
    }
}
