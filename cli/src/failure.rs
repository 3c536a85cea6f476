//! Run-time errors as diagnostics: the place in the user's program, what happened there, and what to do.

use crate::options::Style;
use crate::stop::Stop;
use nesl_backend::RuntimeError;
use nesl_frontend::Diagnostic;
use nesl_prim::Failure;
use nesl_span::{SourceMap, Span};

/// The end of a command whose program failed.
pub fn stop(error: &RuntimeError, sources: &SourceMap, style: Style) -> Stop {
    match &error.failure {
        Failure::Interrupted => Stop::interrupted(),
        // Whoever reads has seen enough.
        Failure::OutputLost { closed: true, .. } => Stop::quietly(),
        _ => Stop::failed(style.diagnostic(&diagnostic(error, sources), sources).trim_end()),
    }
}

/// The diagnostic of a run-time error, at the nearest place in user code.
fn diagnostic(error: &RuntimeError, sources: &SourceMap) -> Diagnostic {
    let place = error.user_span(sources);
    let mut label = Vec::new();
    if place != error.span
        && let Some(name) = library_function(error.span, sources)
    {
        label.push(format!("in `{name}`, called here"));
    }
    if let Some(element) = error.element {
        label.push(format!("first at element {element} of those it runs on"));
    }
    let mut diagnostic =
        Diagnostic::error(error.failure.code(), error.failure.to_string(), place).saying(label.join("; "));
    let hint = error.failure.hint();
    if !hint.is_empty() {
        diagnostic = diagnostic.hint(hint);
    }
    diagnostic
}

/// The name of the library function around a place, read off its source.
fn library_function(span: Span, sources: &SourceMap) -> Option<&str> {
    const KEYWORD: &str = "function ";
    let text = sources.file(span.file).text.get(..span.start as usize)?;
    let name = &text[text.rfind(KEYWORD)? + KEYWORD.len()..];
    let name = name.trim_start().trim_start_matches('\'');
    let end = name.find(|character: char| character.is_whitespace() || character == '(').unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::Origin;

    #[test]
    fn failures_in_the_library_name_its_function() {
        let mut sources = SourceMap::default();
        let text = "function f (a) = a;\nfunction take (v, n) = subseq(v, 0, n);";
        let library = sources.add("stdlib/a.nesl", text, Origin::Library);
        let user = sources.add("a.nesl", "take([1], 2);", Origin::User);
        let at = text.find("subseq").unwrap();
        let failure = Failure::BadSubsequence { start: 0, end: 2, length: 1 };
        let span = Span::new(library, at, at + 6);
        let error = RuntimeError { failure, span, calls: vec![Span::new(user, 0, 12)], element: None };
        let text = Style::Text { color: false }.diagnostic(&diagnostic(&error, &sources), &sources);
        assert!(text.contains("in `take`, called here") && text.contains("a.nesl:1:1"), "{text}");
    }
}
