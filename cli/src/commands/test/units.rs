//! The tests of a file.

use super::child::{self, Place};
use super::properties::{self, Claim};
use super::{Library, Setting, examples, worded};
use crate::driver::{self, Disk};
use nesl_frontend::ast::{TopLevel, TopLevelKind};
use nesl_frontend::diagnostic::Severity;
use nesl_frontend::manual::{self, Example};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::lexer::lex;
use nesl_frontend::syntax::nesl::parser;
use nesl_frontend::syntax::nesl::token::Token;
use nesl_frontend::{Imports, Options, Session};
use nesl_service::expectations::{self, Header};
use nesl_span::{Origin, SourceMap, Span};
use std::path::{Path, PathBuf};

/// A file with its tests.
pub struct Units {
    /// Its text.
    text: String,
    /// The language that it is in.
    syntax: Syntax,
    /// The definitions in it, every byte where it was, and nothing else.
    pub definitions: String,
    /// The folder that it is in.
    pub folder: Option<PathBuf>,
    /// What there is to test.
    pub tests: Vec<Unit>,
}

/// A test.
pub enum Unit {
    /// What the header says of running the file.
    Expectations(Header),
    /// Examples of the doc string of a function.
    Examples(String, Vec<Example>),
    /// A function that is to be true of all arguments.
    Property(Claim),
    /// What is wrong before there is anything to run.
    Broken(&'static str, String),
}

impl Unit {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Unit::Expectations(_) => "expectations".to_owned(),
            Unit::Examples(function, _) => format!("examples of {function}"),
            Unit::Property(claim) => claim.name.clone(),
            Unit::Broken(what, _) => (*what).to_owned(),
        }
    }

    /// Runs it in one place.
    ///
    /// # Errors
    /// How it went wrong.
    pub fn check(&self, units: &Units, place: Place, setting: &Setting<'_>) -> Result<(), String> {
        let folder = units.folder.as_deref();
        let run = |text: &str, arguments: &[String]| {
            child::run((units.syntax, text), arguments, folder, setting.options, place)
        };
        match self {
            Unit::Expectations(header) => {
                let arguments = header.arguments.as_deref().unwrap_or(&[]);
                run(&units.text, arguments).meets(header)
            }
            Unit::Examples(_, examples) => examples::check(&units.definitions, examples, &|text| run(text, &[])),
            Unit::Property(claim) => {
                let run = |text: &str| run(text, &[]);
                properties::check(&units.definitions, claim, (setting.options.seed, setting.cases), &run)
            }
            Unit::Broken(_, problem) => Err(problem.clone()),
        }
    }
}

/// The tests of a file.
pub fn of(library: &Library, name: &str, text: String) -> Units {
    let (mut sources, mut session) = (library.sources.clone(), library.session.clone());
    let file = sources.add(name, text.as_str(), Origin::User);
    let key = driver::key(Path::new(name));
    let imports = Imports::of(&mut sources, file, key.as_deref(), &mut Disk);
    let checked = session.check_with(&sources, file, &imports, Options::default());
    let folder = PathBuf::from(name).parent().map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    });
    // It is run from another folder.
    let text = imports.elsewhere(&sources, file);
    let syntax = Syntax::of(name);
    // Doc strings and properties are of NESL.
    let (definitions, forms) = match syntax {
        Syntax::Nesl => {
            let definitions = definitions(&text, &parser::parse(file, &text).forms);
            (definitions, parser::parse(file, &sources.file(file).text).forms)
        }
        Syntax::V => (String::new(), Vec::new()),
    };
    let mut units = Units { syntax, definitions, text, folder, tests: Vec::new() };
    let header = expectations::has_header(&units.text).then(|| expectations::parse(&units.text));
    let is_rejected = checked.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match header {
        Some(Ok(header)) if !header.rejected.is_empty() => {
            units.tests.push(Unit::Expectations(header));
            return units;
        }
        Some(Ok(header)) if !is_rejected => units.tests.push(Unit::Expectations(header)),
        Some(Err(problem)) => units.tests.push(Unit::Broken("expectations", problem)),
        _ if is_rejected => units.tests.push(Unit::Broken("check", worded(&checked.diagnostics, &sources))),
        _ => {}
    }
    if !is_rejected {
        units.tests.extend(said(&session, &sources, &forms));
    }
    units
}

/// What the functions of a file say of themselves.
fn said(session: &Session, sources: &SourceMap, forms: &[TopLevel]) -> Vec<Unit> {
    let mut tests = Vec::new();
    for form in forms {
        let TopLevelKind::Function(definition) = &form.kind else { continue };
        let name = &definition.name.symbol;
        let written = sources.text(definition.name.span).to_owned();
        let examples = definition.doc.as_deref().map(manual::examples).unwrap_or_default();
        if !examples.is_empty() {
            tests.push(Unit::Examples(written.clone(), examples));
        }
        let function = session.function(name).map(|id| session.program().function(id));
        if let (true, Some(function), true) = (name.starts_with("prop_"), function, definition.body.is_some()) {
            tests.push(match Claim::of(&written, function) {
                Ok(claim) => Unit::Property(claim),
                Err(problem) => Unit::Broken("properties", problem),
            });
        }
    }
    tests
}

/// A text without the expressions that it evaluates: blanks are in their place. A form can follow it.
pub fn definitions(text: &str, forms: &[TopLevel]) -> String {
    let file = forms.first().map_or(nesl_span::FileId(0), |form| form.span.file);
    let tokens = lex(file, text).tokens;
    let mut bytes = text.as_bytes().to_vec();
    let mut blank = |span: Span| {
        let part = &mut bytes[span.start as usize..span.end as usize];
        part.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    };
    for form in forms.iter().filter(|form| matches!(form.kind, TopLevelKind::Expression(_))) {
        blank(form.span);
        let next = tokens.partition_point(|(_, span)| span.start < form.span.end);
        if let Some((Token::Semicolon, span)) = tokens.get(next) {
            blank(*span);
        }
    }
    let is_open = !matches!(tokens.last(), None | Some((Token::Semicolon, _)));
    let is_open = is_open && !forms.last().is_some_and(|form| matches!(form.kind, TopLevelKind::Expression(_)));
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    text += if is_open { ";\n" } else { "\n" };
    text
}
