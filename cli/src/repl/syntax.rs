//! The syntax of inputs: NESL, or V. Names and values are the same in both.
//!
//! What V inputs are called, how they are kept, and how what they define is answered is said here; `<input 3.v>` tells
//! the front end that it is V.

use super::Next;
use super::session::Repl;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_frontend::ast::TopLevel;
use nesl_frontend::core::FunctionId;
use nesl_frontend::manual::{self, Entry};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::v::LOOP;
use nesl_frontend::{Imports, Options};
use nesl_prim::visible;
use nesl_span::FileId;

impl<E: Engine> Repl<E> {
    /// Says what the next inputs are in, or shows it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn choose_syntax(&mut self, argument: &str) -> Result<Next, Stop> {
        let chosen = [Syntax::Nesl, Syntax::V].into_iter().find(|syntax| syntax.name() == argument.to_lowercase());
        match (argument, chosen) {
            ("", _) => self.answer(&format!("{}\n", self.syntax.name())).map(|()| Next::Go),
            (_, Some(syntax)) => {
                self.syntax = syntax;
                Ok(Next::Go)
            }
            (other, None) => {
                let other = visible::line(other).into_owned();
                Ok(self.refuse(&format!("there is no syntax `{other}`; `:syntax` takes nesl or v")))
            }
        }
    }

    /// What messages call the input with the present number.
    pub(super) fn input_name(&self) -> String {
        match self.syntax {
            Syntax::Nesl => format!("<input {}>", self.inputs),
            Syntax::V => format!("<input {}{}>", self.inputs, Syntax::V.suffix()),
        }
    }

    /// What messages call the text that a command is given.
    pub(super) fn command_name(&self) -> String {
        match self.syntax {
            Syntax::Nesl => "<command>".to_owned(),
            Syntax::V => format!("<command{}>", Syntax::V.suffix()),
        }
    }

    /// An input as `:save` writes it: in NESL, whatever it is in.
    pub(super) fn kept(&self, file: FileId) -> String {
        match self.syntax {
            Syntax::Nesl => self.sources.file(file).text.trim().to_owned(),
            Syntax::V => self.session.in_nesl(&self.sources, file).trim().to_owned(),
        }
    }

    /// The same for a file that has been loaded.
    pub(super) fn kept_file(&mut self, file: FileId, imports: &Imports) -> String {
        let in_nesl = match Syntax::of(&self.sources.file(file).name) {
            // As inputs, so that names are called the same in both.
            Syntax::V if imports.is_empty() => Some(self.session.in_nesl(&self.sources, file)),
            Syntax::V => self.session.translated(&mut self.sources, file, imports).ok(),
            Syntax::Nesl => None,
        };
        in_nesl.unwrap_or_else(|| imports.elsewhere(&self.sources, file)).trim().to_owned()
    }

    /// What stands in a text before one of its forms, as a text of its own.
    pub(super) fn before_form(name: &str, text: &str, forms: &[TopLevel], index: usize) -> String {
        let start = forms.get(index).map_or(0, |form| form.span.start);
        if Syntax::of(name) == Syntax::Nesl {
            return text[..start as usize].to_owned();
        }
        // Variables of V share their type: `int x = 1, y = 2;`.
        let ends = forms.iter().take(index).map(|form| form.span.end).filter(|&end| end <= start);
        let text = &text[..ends.max().unwrap_or(0) as usize];
        match text.is_empty() || Syntax::V.is_complete(text) {
            true => text.to_owned(),
            false => format!("{text};"),
        }
    }

    /// A function that has been defined, as an answer shows it.
    pub(super) fn function_text(&self, id: FunctionId) -> String {
        let function = self.session.program().function(id);
        if function.name.contains(LOOP) {
            return String::new();
        }
        let declaration = match self.syntax {
            Syntax::V => self.session.declaration(&function.name),
            Syntax::Nesl => None,
        };
        match declaration {
            Some(declaration) => format!("{declaration}\n"),
            None => format!("{} = fn : {}\n", function.name, function.scheme),
        }
    }

    /// What is to be said of a name, with a function of V as V declares it.
    pub(super) fn description(&self, entry: &Entry) -> String {
        match self.session.declaration(&entry.name).filter(|_| self.syntax == Syntax::V) {
            Some(declaration) => manual::describe_declared(entry, &declaration),
            None => manual::describe(entry),
        }
    }

    /// Shows the type of an expression of V, or how a function of V is declared.
    pub(super) fn show_type_in_v(&mut self, text: &str) -> Result<Next, Stop> {
        if let Some(declaration) = self.session.declaration(text) {
            return self.answer(&format!("{declaration}\n")).map(|()| Next::Go);
        }
        if let Some(id) = self.session.function(text) {
            let scheme = self.session.program().function(id).scheme.to_string();
            return self.answer(&format!("{text} : {scheme}\n")).map(|()| Next::Go);
        }
        let file = self.aside(&format!("{text};"));
        let mut session = self.session.clone();
        let checked = session.check(&self.sources, file, Options { bind_it: true, ..Options::default() });
        if let Err(stop) = self.report(&checked.diagnostics) {
            return Ok(self.conclude(Err(stop)));
        }
        let ty = session.global("it").map(|id| session.type_text(&session.program().global(id).ty, Syntax::V));
        let ty = ty.unwrap_or_else(|| "void".to_owned());
        self.answer(&visible::text(&format!("{text} : {ty}\n"))).map(|()| Next::Go)
    }

    /// Whether a name is one that a program could mean.
    pub(super) fn is_named(name: &str) -> bool {
        !name.contains(LOOP)
    }

    /// A name with its type, as a list of names has it.
    pub(super) fn name_text(&self, name: &str, ty: &str) -> String {
        if self.syntax == Syntax::Nesl {
            return format!("{name} : {ty}\n");
        }
        if let Some(declaration) = self.session.declaration(name) {
            return format!("{declaration}\n");
        }
        match self.session.global(name) {
            Some(id) => {
                let ty = self.session.type_text(&self.session.program().global(id).ty, Syntax::V);
                format!("{name} : {ty}\n")
            }
            None => format!("{name} : {ty}\n"),
        }
    }
}
