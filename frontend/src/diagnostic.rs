//! A message to the user, as data.
//!
//! Each phase owns its own errors and turns them into [`Diagnostic`]s; [`crate::render`] alone turns those into text.

use nesl_span::Span;

/// More errors than this in one text help nobody; the same holds of warnings.
pub const MOST_DIAGNOSTICS: usize = 50;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program means something, perhaps not what was intended.
    Warning,
    /// The program means nothing, or failed.
    Error,
}

/// What a message is about, for programs that go by that: codes and words are for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A comment that nothing closes: it hides the rest of the text.
    OpenComment,
    /// A string that nothing closes: it hides the rest of its line.
    OpenString,
    /// A form that nothing ends.
    OpenForm,
    /// A name that cannot be bound: what it means elsewhere is not known for sure.
    NotBindable,
    /// Something that can be left out.
    Unnecessary,
    /// A name that had another meaning before.
    Redefinition,
    /// How many errors there are more than are shown.
    MoreErrors,
}

/// A place with what is to be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said there; may be empty.
    pub text: String,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code: `E0201`.
    pub code: &'static str,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// What it is about, where something depends on that.
    pub tag: Option<Tag>,
    /// The places, the primary one first; empty for errors without a place.
    pub labels: Vec<Label>,
    /// What the user can do.
    pub hint: Option<String>,
    /// Of what happened while a program ran: the calls that led there, the innermost first, and what each called.
    pub calls: Vec<Label>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            tag: None,
            labels: vec![Label { span, text: String::new() }],
            hint: None,
            calls: Vec::new(),
        }
    }

    /// What stands for the errors, or warnings, that are not shown, of which there are `count`.
    fn rest(severity: Severity, count: usize) -> Diagnostic {
        let (code, noun, tag) = match severity {
            Severity::Warning => ("W0199", "warning", None),
            Severity::Error => ("E0199", "error", Some(Tag::MoreErrors)),
        };
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{count} more {noun}{plural} not shown");
        Diagnostic { severity, code, message, tag, labels: Vec::new(), hint: None, calls: Vec::new() }
    }

    /// Whether it is about one of these things.
    pub fn is_about(&self, tags: &[Tag]) -> bool {
        self.tag.is_some_and(|tag| tags.contains(&tag))
    }

    /// The same with a text at the primary place.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(label) = self.labels.first_mut() {
            label.text = text.into();
        }
        self
    }

    /// The same with a further place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same, marked as being about something.
    #[must_use]
    pub fn tagged(mut self, tag: Tag) -> Diagnostic {
        self.tag = Some(tag);
        self
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// Whether one of some messages is about one of these things.
pub fn is_about(diagnostics: &[Diagnostic], tags: &[Tag]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.is_about(tags))
}

/// Whether there are errors, not only warnings.
pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Puts diagnostics into the order of the text and counts those that nobody would read, instead of keeping them.
pub(crate) fn finish(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |diagnostic: &Diagnostic| diagnostic.labels.first().map(|label| label.span);
    // What has no place is about the text as a whole, and comes last.
    diagnostics.sort_by_key(|diagnostic| (diagnostic.labels.is_empty(), place(diagnostic)));
    // What goes wrong at one place for every form behind it is one mistake.
    diagnostics.dedup();
    for severity in [Severity::Error, Severity::Warning] {
        let mut seen = 0;
        diagnostics.retain(|diagnostic| {
            seen += usize::from(diagnostic.severity == severity && !diagnostic.labels.is_empty());
            seen <= MOST_DIAGNOSTICS || diagnostic.severity != severity || diagnostic.labels.is_empty()
        });
        if seen > MOST_DIAGNOSTICS {
            diagnostics.push(Diagnostic::rest(severity, seen - MOST_DIAGNOSTICS));
        }
    }
    diagnostics
}
