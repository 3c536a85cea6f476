//! The syntaxes in which a program may be written, a folder for each: text to tree, and tree to text.
//!
//! All of them end in the tree of [`crate::ast`], from where on a program has no syntax.

mod change;
mod comments;
pub mod failures;
pub mod nesl;
pub mod v;

use crate::diagnostic::Diagnostic;
use crate::infer::problem::Finding;
use nesl_span::{FileId, SourceMap};

/// Words what inference has found, each problem in the syntax of the file in which it is.
pub(crate) fn explain(findings: &[Finding], sources: &SourceMap) -> Vec<Diagnostic> {
    let syntax = |finding: &Finding| Syntax::of(&sources.file(finding.span.file).name);
    let of_one_syntax = findings.chunk_by(|one, other| syntax(one) == syntax(other));
    of_one_syntax
        .flat_map(|findings| match syntax(&findings[0]) {
            Syntax::Nesl => nesl::explain::explain(findings, sources),
            Syntax::V => v::explain::explain(findings, sources),
        })
        .collect()
}

/// A syntax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// NESL, in files that end in `.nesl`, and wherever nothing says otherwise.
    #[default]
    Nesl,
    /// V, in files that end in `.v`.
    V,
}

impl Syntax {
    /// How the names of its files end.
    pub fn suffix(self) -> &'static str {
        match self {
            Syntax::Nesl => ".nesl",
            Syntax::V => ".v",
        }
    }

    /// The syntax of a file by its name.
    pub fn of(name: &str) -> Syntax {
        // An input of a session in V is called `<input 3.v>`.
        let is_v = name.strip_suffix('>').unwrap_or(name).ends_with(Syntax::V.suffix());
        if is_v { Syntax::V } else { Syntax::Nesl }
    }

    /// What people call it: `nesl`, `v`.
    pub fn name(self) -> &'static str {
        match self {
            Syntax::Nesl => "nesl",
            Syntax::V => "v",
        }
    }

    /// Whether a text, which need not end with `;`, cannot be all of an input of a session.
    pub fn is_unfinished(self, text: &str) -> bool {
        match self {
            Syntax::Nesl => nesl::parser::is_unfinished(text),
            Syntax::V => v::is_unfinished(text),
        }
    }

    /// Whether a text is all of an input of a session.
    pub fn is_complete(self, text: &str) -> bool {
        match self {
            Syntax::Nesl => nesl::lexer::is_complete(text),
            Syntax::V => v::is_complete(text),
        }
    }

    /// Tokens and comments of a text; those of another syntax than NESL as what they are there.
    pub fn lexed(self, file: FileId, text: &str) -> nesl::lexer::Lexed {
        match self {
            Syntax::Nesl => nesl::lexer::lex(file, text),
            Syntax::V => v::lexed(file, text),
        }
    }

    /// Lays a text out as programs of its syntax usually are.
    ///
    /// # Errors
    /// If it is no program; then these are its mistakes.
    pub fn format(self, file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
        match self {
            Syntax::Nesl => nesl::format::format(file, text),
            Syntax::V => v::format::format(file, text),
        }
    }

    /// Whether two texts have the same tokens and comments, each written in the same way.
    pub fn is_same_program(self, one: &str, other: &str) -> bool {
        match self {
            Syntax::Nesl => nesl::format::is_same_program(one, other),
            Syntax::V => v::format::is_same_program(one, other),
        }
    }
}
