//! The commands of NESL 3.1 that stand in files as they do in sessions: `describe f;` and `apropos w;` print where they
//! stand what they would answer. `set …;` is of sessions alone, and says so.

use super::{Environment, Session, check_forms};
use crate::ast::{Expr, ExprKind, LIBRARY, Symbol, TopLevel, TopLevelKind};
use crate::core::{FunctionId, GlobalId, Program};
use crate::diagnostic::Diagnostic;
use crate::infer::text::Definitions;
use crate::manual::{self, KnownNames};
use crate::session::Options;
use nesl_span::{SourceMap, Span};

/// What a form asks.
enum Question {
    /// What a name means.
    Describe(Expr),
    /// What has to do with some words.
    Apropos(String),
}

/// What to write instead of `set …;`.
const NO_SETTING: &str = "`:set` of a session has settings; what a run can be told are options before the file, such \
                          as `--seed 7`, `--profile` and `--no-progress`";

impl Session {
    /// Puts what prints the answers in the place of the questions among forms.
    ///
    /// # Errors
    /// What is said of settings.
    pub(super) fn answered(
        &self,
        environment: &Environment,
        sources: &SourceMap,
        forms: &mut [TopLevel],
    ) -> Result<(), Vec<Diagnostic>> {
        if !forms.iter().any(|form| matches!(first_word(form), Some("describe" | "apropos" | "set"))) {
            return Ok(());
        }
        let text = Definitions::new(forms, false);
        let is_free = |word: &str| !environment.names.contains_key(word) && text.definitions_of(word).is_empty();
        let settings: Vec<Diagnostic> = forms.iter().filter_map(|form| setting(form, sources, is_free)).collect();
        if !settings.is_empty() {
            return Err(settings);
        }
        let questions: Vec<Option<Question>> = forms.iter().map(|form| question(form, is_free)).collect();
        if questions.iter().all(Option::is_none) {
            return Ok(());
        }
        // Functions of this text are described with their types, wherever they stand.
        let rest: Vec<TopLevel> =
            forms.iter().zip(&questions).filter(|(_, asks)| asks.is_none()).map(|(form, _)| form.clone()).collect();
        let (after, _) = check_forms(environment.clone(), sources, &rest, Vec::new(), Options::default());
        let known = Session { environment: after.unwrap_or_else(|| environment.clone()), ..self.clone() };
        for (form, question) in forms.iter_mut().zip(questions) {
            let answer = match question {
                None => continue,
                Some(Question::Describe(asked)) => {
                    let ExprKind::Name(name) = &asked.kind else { continue };
                    match manual::lookup(&known, sources, name) {
                        Some(entry) => manual::describe(&entry),
                        None => {
                            // Says that there is no such name, and which are like it.
                            form.kind = TopLevelKind::Expression(asked);
                            continue;
                        }
                    }
                }
                Some(Question::Apropos(words)) => {
                    let found = manual::apropos(&known, sources, &words);
                    if found.is_empty() { format!("nothing has to do with `{words}`\n") } else { manual::list(&found) }
                }
            };
            form.kind = TopLevelKind::Expression(printed(answer, form.span));
        }
        Ok(())
    }
}

impl KnownNames for Session {
    fn program(&self) -> &Program {
        Session::program(self)
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(Session::names(self))
    }

    fn function(&self, name: &str) -> Option<FunctionId> {
        Session::function(self, name)
    }

    fn global(&self, name: &str) -> Option<GlobalId> {
        Session::global(self, name)
    }

    fn is_library_function(&self, id: FunctionId) -> bool {
        Session::is_library_function(self, id)
    }
}

/// The word that a form begins with, if that is a call.
fn first_word(form: &TopLevel) -> Option<&str> {
    let TopLevelKind::Expression(expression) = &form.kind else { return None };
    let mut first = expression;
    while let ExprKind::Call { function, .. } = &first.kind {
        first = function;
    }
    match &first.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

/// What a form asks, where the words that ask are no names.
fn question(form: &TopLevel, is_free: impl Fn(&str) -> bool) -> Option<Question> {
    let TopLevelKind::Expression(Expr { kind: ExprKind::Call { function, argument }, .. }) = &form.kind else {
        return None;
    };
    let ExprKind::Name(word) = &function.kind else { return None };
    match (&**word, &argument.kind) {
        ("describe", ExprKind::Name(_)) if is_free(word) => Some(Question::Describe((**argument).clone())),
        ("apropos", ExprKind::Name(name)) if is_free(word) => Some(Question::Apropos(name.to_string())),
        ("apropos", ExprKind::Text(bytes)) if is_free(word) => {
            Some(Question::Apropos(String::from_utf8_lossy(bytes).into_owned()))
        }
        _ => None,
    }
}

/// What is said of `set name value;`, where `set` is no name.
fn setting(form: &TopLevel, sources: &SourceMap, is_free: impl Fn(&str) -> bool) -> Option<Diagnostic> {
    let word = first_word(form).filter(|word| *word == "set" && is_free(word))?;
    // `set(v)` of other languages is a call.
    let text = sources.file(form.span.file).text.get(form.span.start as usize..form.span.end as usize)?;
    let is_command = text.get(word.len()..)?.trim_start().starts_with(|first: char| first.is_ascii_alphabetic());
    is_command.then(|| {
        let message = "`set` changes settings of sessions, and this is a program";
        Diagnostic::error("E0201", message, form.span).hint(NO_SETTING)
    })
}

/// Prints a text.
fn printed(text: String, span: Span) -> Expr {
    let name = Symbol::from(format!("{LIBRARY}print_string"));
    let function = Box::new(Expr { kind: ExprKind::Name(name), span });
    let argument = Box::new(Expr { kind: ExprKind::Text(text.into_bytes()), span });
    Expr { kind: ExprKind::Call { function, argument }, span }
}
