//! A file form by form, each with its value: what `nesl watch` shows.

use super::session::Repl;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_frontend::core::{Form, GlobalId};
use nesl_frontend::ty::Type;
use nesl_frontend::{Imports, Options, Reader};
use nesl_prim::visible;
use nesl_span::{Origin, Span};

/// A form and what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormRow {
    /// The line that its name, or its expression, stands in.
    pub line: usize,
    /// That line.
    pub source: String,
    /// `= value : type`, or `: type` of a function.
    pub value: String,
}

impl<E: Engine> Repl<E> {
    /// Checks a text that messages call so, and gives what each of its forms gives to `show`, as soon as that is known.
    ///
    /// # Errors
    /// What is wrong with the text, or went wrong, or with showing it.
    pub fn rows(
        &mut self,
        (name, key): (String, Option<&str>),
        text: &str,
        files: &mut dyn Reader,
        mut show: impl FnMut(FormRow) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let file = self.sources.add(name, text, Origin::User);
        let imports = Imports::of(&mut self.sources, file, key, files);
        let checked =
            self.session.check_with(&self.sources, file, &imports, Options { bind_it: true, ..Options::default() });
        self.report(&checked.diagnostics)?;
        for (index, form) in checked.forms.iter().enumerate() {
            self.run(form)??;
            if index >= checked.imported
                && let Some((span, value)) = self.row_of(form)?
            {
                let (line, _) = self.sources.line_column(span);
                let source = self.sources.file(span.file).text.lines().nth(line - 1).unwrap_or_default();
                show(FormRow { line, source: visible::line(source.trim_end()).into_owned(), value })?;
            }
        }
        Ok(())
    }

    /// Where a form stands, and what it gives; nothing of one that has nothing to show.
    fn row_of(&mut self, form: &Form) -> Result<Option<(Span, String)>, Stop> {
        match form {
            Form::Function(id) => {
                let function = self.session.program().function(*id);
                Ok(Some((function.span, format!(": {}", function.scheme))))
            }
            Form::Assignment { targets, value } => {
                let mut values = Vec::new();
                for (id, _) in targets {
                    values.push(if self.says_nothing(*id, value) { None } else { self.value_of(*id)? });
                }
                let Some((first, _)) = targets.first() else { return Ok(None) };
                let span = self.session.program().global(*first).span;
                let shown: Vec<String> = values.into_iter().flatten().collect();
                Ok((!shown.is_empty()).then(|| (span, format!("= {}", shown.join(", ")))))
            }
            Form::Expression(_) => Ok(None),
        }
    }

    fn value_of(&mut self, id: GlobalId) -> Result<Option<String>, Stop> {
        if self.session.program().global(id).ty == Type::Unit {
            return Ok(None);
        }
        let (text, size) = self.value_text(id)?;
        Ok(Some(format!("{text} : {}{size}", self.session.program().global(id).ty)))
    }
}
