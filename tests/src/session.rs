//! Text to a checked program.

use crate::outcome::End;
use nesl_frontend::core::{Expr, Form, FunctionId, Program};
use nesl_frontend::diagnostic::Severity;
use nesl_frontend::{Checked, Imports, Opened, Options, Reader, Session};
use nesl_span::{Origin, SourceMap};
use std::sync::LazyLock;

/// The session that knows just the library: reading that takes longer than any test program.
static LIBRARY: LazyLock<(SourceMap, Session)> = LazyLock::new(|| {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    (sources, session)
});

/// A program that the front end accepted.
#[derive(Clone, Debug)]
pub struct CheckedProgram {
    /// The library and the program.
    pub session: Session,
    /// Their texts.
    pub sources: SourceMap,
    /// The forms of the program.
    pub forms: Vec<Form>,
    /// The call of `main`, and its arguments apart, if arguments were given.
    pub call: Option<MainCall>,
}

/// A call of `main` with arguments.
#[derive(Clone, Debug)]
pub struct MainCall {
    /// The function.
    pub main: FunctionId,
    /// The whole call.
    pub call: Expr,
    /// The arguments, one by one.
    pub arguments: Vec<Expr>,
}

impl CheckedProgram {
    /// The program as typed core.
    pub fn core(&self) -> &Program {
        self.session.program()
    }
}

/// What the front end makes of a text, in a session that knows just the library.
pub fn diagnose(name: &str, text: &str) -> (SourceMap, Checked) {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add(name, text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    (sources, checked)
}

/// The same for a text that can import others, by their names.
pub fn diagnose_among(name: &str, text: &str, others: &[(String, String)]) -> (SourceMap, Checked) {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add(name, text, Origin::User);
    let imports = Imports::of(&mut sources, file, Some(name), &mut Texts(others));
    let checked = session.check_with(&sources, file, &imports, Options::default());
    (sources, checked)
}

/// Texts by name.
struct Texts<'a>(&'a [(String, String)]);

impl Reader for Texts<'_> {
    fn open(&mut self, _: &str, path: &str) -> Result<Opened, String> {
        let (name, text) = self.0.iter().find(|(name, _)| name == path).ok_or("there is no such file")?;
        Ok(Opened { key: name.clone(), name: name.clone(), text: text.clone() })
    }
}

/// What a program is called: by its first comment it is one of V or of NESL.
pub fn name_of(text: &str) -> &'static str {
    if text.trim_start().starts_with("/*") { "test.v" } else { "test.nesl" }
}

/// A program in the other syntax.
///
/// # Errors
/// The codes of what is wrong, with the messages.
pub fn translated(text: &str) -> Result<String, Vec<(String, String)>> {
    written_in_the_other(name_of(text), text)
}

/// The tree of a program, printed as NESL.
pub fn printed(text: &str) -> String {
    let (mut sources, session) = LIBRARY.clone();
    let file = sources.add(name_of(text), text, Origin::User);
    session.in_nesl(&sources, file)
}

/// A program in the other syntax than that which its name says.
///
/// # Errors
/// As [`translated`].
pub fn written_in_the_other(name: &str, text: &str) -> Result<String, Vec<(String, String)>> {
    let (mut sources, session) = LIBRARY.clone();
    let file = sources.add(name, text, Origin::User);
    let written = session.translated(&mut sources, file, &Imports::default());
    written.map_err(|errors| errors.iter().map(|error| (error.code.to_owned(), error.message.clone())).collect())
}

/// Checks a program, and a call of its `main` if arguments are given.
///
/// # Errors
/// The errors of the front end.
pub fn check(text: &str, arguments: Option<&[String]>) -> Result<CheckedProgram, End> {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add(name_of(text), text, Origin::User);
    let Checked { forms, diagnostics, .. } = session.check(&sources, file, Options::default());
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<(String, String)> = errors.map(|error| (error.code.to_owned(), error.message.clone())).collect();
    if !errors.is_empty() {
        return Err(End::Rejected(errors));
    }
    let mut program = CheckedProgram { session, sources, forms, call: None };
    if let Some(arguments) = arguments {
        program.call = Some(main_call(&mut program, arguments)?);
    }
    Ok(program)
}

fn main_call(program: &mut CheckedProgram, arguments: &[String]) -> Result<MainCall, End> {
    let main = program.session.function("main").ok_or_else(|| End::Broken("there is no function main".to_owned()))?;
    let call = expression(program, &format!("main({})", arguments.join(", ")))?;
    // The types of the arguments are those of the call: `[]` alone would be a sequence of ints.
    let arguments = match &call.kind {
        nesl_frontend::core::ExprKind::Call { argument, .. } => {
            let main = program.core().function(main);
            components(argument, main.parameters.len().min(arguments.len()) + main.keywords.len())
        }
        other => return Err(End::Broken(format!("the call of main is {other:?}"))),
    };
    Ok(MainCall { main, call, arguments })
}

fn expression(program: &mut CheckedProgram, text: &str) -> Result<Expr, End> {
    let file = program.sources.add("arguments", text, Origin::User);
    program.session.expression(&program.sources, file, None).map_err(|errors| {
        End::Rejected(errors.iter().map(|error| (error.code.to_owned(), error.message.clone())).collect())
    })
}

/// The first `count` parts of a right-nested tuple.
fn components(argument: &Expr, count: usize) -> Vec<Expr> {
    let mut parts = Vec::new();
    if count == 0 {
        return parts;
    }
    let mut rest = argument;
    while parts.len() + 1 < count {
        let nesl_frontend::core::ExprKind::Pair(first, tail) = &rest.kind else { break };
        parts.push((**first).clone());
        rest = tail;
    }
    parts.push(rest.clone());
    parts
}
