//! How messages are written: for people, or for programs.

use crate::stop::Stop;
use nesl_frontend::Diagnostic;
use nesl_frontend::render::{self, Medium};
use nesl_prim::visible;
use nesl_span::SourceMap;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For people.
    Text(Medium),
    /// For programs.
    Json,
}

impl Style {
    /// As text that may end up anywhere.
    pub fn plain() -> Style {
        Style::Text(Medium::default())
    }

    /// A diagnostic, with a newline at its end.
    pub fn diagnostic(self, diagnostic: &Diagnostic, sources: &SourceMap) -> String {
        match self {
            Style::Text(medium) => render::render_on(diagnostic, sources, medium),
            Style::Json => render::json::render(diagnostic, sources),
        }
    }

    /// The end of a command for a reason with a code, but without a place in a program.
    pub fn failed_with(self, code: &str, message: &str, hint: &str) -> Stop {
        match self {
            Style::Text(_) => Stop::failed(format!("error[{code}]: {message}\nhint: {hint}")),
            Style::Json => Stop::reported(render::json::coded_error(code, message, hint)),
        }
    }

    /// The end of a command in this style.
    pub fn ended(self, stop: Stop) -> Stop {
        match self {
            Style::Text(_) => stop,
            Style::Json => stop.in_objects(),
        }
    }

    /// A warning about the command itself, with a newline at its end.
    pub fn warning(self, message: &str) -> String {
        match self {
            Style::Text(_) => format!("warning: {}\n", visible::message(message)),
            Style::Json => render::json::bare_warning(message),
        }
    }

    /// A remark about how a run gets on, with a newline at its end; for programs a warning, which keeps nobody either.
    pub fn note(self, message: &str) -> String {
        match self {
            Style::Text(_) => format!("note: {}\n", visible::message(message)),
            Style::Json => render::json::bare_warning(message),
        }
    }

    /// The end of a command for a reason without a place in a program.
    pub fn failed(self, message: &str) -> Stop {
        match self {
            Style::Text(_) => Stop::failed(format!("error: {message}")),
            Style::Json => Stop::reported(render::json::bare_error(message)),
        }
    }
}
