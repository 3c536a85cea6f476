//! How a text is evaluated: its forms run one after another, each answered; where one fails at run time the session
//! goes back to what was before it. Of a text with errors what is right is evaluated all the same.

use super::Repl;
use crate::driver::Disk;
use crate::interrupt::Interrupt;
use crate::output::print_error;
use crate::repl::matrix::Page;
use crate::repl::ranks::{Request, Turn};
use crate::repl::show::{self, Extent, Manner, element_types};
use crate::screen::Screen;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_backend::data::slot::Slot;
use nesl_backend::io::print::PrintError;
use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::core::effects::Effects;
use nesl_frontend::core::{Expr, Form, GlobalId};
use nesl_frontend::diagnostic::Tag;
use nesl_frontend::session::Checked;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::ty::Type;
use nesl_frontend::{Diagnostic, Imports, Options, Session};
use nesl_prim::{Failure, ScalarValue};
use nesl_span::FileId;
use nesl_vcode::GlobalId as GlobalSlot;
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// How the texts of a session are checked.
const OF_INPUTS: Options = Options { bind_it: true, syntax: None };

/// What evaluating a text did.
pub(super) struct Evaluated {
    /// How long running it took.
    pub time: Duration,
    /// Whether an expression in it has a value.
    pub gives_result: bool,
    /// What was wrong with the rest.
    pub wrong: Option<Stop>,
}

impl Evaluated {
    /// Whether all was right.
    pub fn outcome(self) -> Result<(), Stop> {
        self.wrong.map_or(Ok(()), Err)
    }
}

/// Where a text that is evaluated comes from.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// Somebody has typed it: an input with a number, or what a command evaluates. There is nothing to say about names
    /// that get another meaning: that is what sessions are for.
    Typed(Option<usize>),
    /// A file, which may have been evaluated before.
    File { is_known: bool },
}

impl Given {
    /// The number of the input.
    fn number(self) -> Option<usize> {
        match self {
            Given::Typed(number) => number,
            Given::File { .. } => None,
        }
    }
}

/// A text that was checked.
struct Text {
    file: FileId,
    imports: Imports,
    checked: Checked,
}

/// What an answer shows of a value, until somebody does not want to see it any more.
struct Shown {
    text: Vec<u8>,
    /// None on ranks, which would not stop together.
    interrupt: Option<Interrupt>,
}

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interrupt.as_ref().is_some_and(Interrupt::is_requested) {
            return Err(io::Error::other("interrupted"));
        }
        self.text.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<E: Engine> Repl<E> {
    /// Checks an input, runs its forms one after another and answers each.
    pub(super) fn evaluate(&mut self, file: FileId, number: Option<usize>) -> Result<Result<Evaluated, Stop>, Stop> {
        let imports = Imports::of(&mut self.sources, file, None, &mut Disk);
        self.evaluate_with(file, &imports, Given::Typed(number))
    }

    /// Checks a text, runs its forms one after another and answers each, those of files that it imports without a word.
    /// The inner error ends the input, the outer one the session. Definitions that replace others of before do so
    /// without a word, but for those of a file that is new. What is wrong keeps nothing else of the text from being
    /// evaluated, and what is right is [accepted](Repl::accept).
    pub(super) fn evaluate_with(
        &mut self,
        file: FileId,
        imports: &Imports,
        given: Given,
    ) -> Result<Result<Evaluated, Stop>, Stop> {
        // V is written in NESL as it was before it was evaluated.
        let is_typed_v = matches!(given, Given::Typed(_)) && self.syntax == Syntax::V;
        let kept = is_typed_v.then(|| self.kept(file));
        let before = self.session.clone();
        let mut checked = self.session.check_with(&self.sources, file, imports, OF_INPUTS);
        let is_own = |diagnostic: &Diagnostic| diagnostic.labels.first().is_none_or(|label| label.span.file == file);
        let is_new = matches!(given, Given::File { is_known: false });
        checked
            .diagnostics
            .retain(|diagnostic| !diagnostic.is_about(&[Tag::Redefinition]) || (is_new && is_own(diagnostic)));
        let wrong = self.report(&checked.diagnostics).err();
        let text = Text { file, imports: imports.clone(), checked };
        let text = match wrong.clone() {
            None => text,
            Some(stop) => match self.right_part(text) {
                Some(text) => text,
                None => return Ok(Err(stop)),
            },
        };
        let Text { file, imports, checked } = text;
        let mut time = Duration::ZERO;
        let gives_result = checked.forms.iter().any(|form| self.is_result(form));
        for (index, form) in checked.forms.iter().enumerate() {
            let ran = match self.is_interrupted() {
                true => Err(Stop::interrupted()),
                false => self.run(form)?,
            };
            match ran {
                Ok(spent) => time += spent,
                Err(stop) => {
                    let start = self.back_to(before, file, &imports, index.checked_sub(checked.imported));
                    if let Some((file, imports)) = start.filter(|_| !is_typed_v) {
                        self.accept_text(file, &imports, given);
                    }
                    if let Some(wrong) = &wrong {
                        self.conclude(Err(wrong.clone()));
                    }
                    return Ok(Err(stop));
                }
            }
            if index >= checked.imported {
                match self.announce(form) {
                    // It has its value, which is only not shown.
                    Err(stop) if stop.is_interruption() && self.is_interrupted() => self.was_cut.set(true),
                    announced => announced?,
                }
            }
        }
        match kept {
            Some(text) => self.accept(given.number(), text),
            None => self.accept_text(file, &imports, given),
        }
        Ok(Ok(Evaluated { time, gives_result, wrong }))
    }

    /// Remembers a text that was right.
    fn accept_text(&mut self, file: FileId, imports: &Imports, given: Given) {
        let text = match given {
            Given::Typed(_) => self.kept(file),
            Given::File { .. } => self.kept_file(file, imports),
        };
        self.accept(given.number(), text);
    }

    /// What is right of a text with errors, checked and part of the session; none if there is nothing.
    fn right_part(&mut self, mut text: Text) -> Option<Text> {
        while text.checked.has_errors() {
            let source = self.sources.file(text.file).clone();
            let right = self.session.right_part(&self.sources, text.file, &text.checked.diagnostics)?;
            let file = self.sources.add(source.name, right, source.origin);
            let imports = text.imports.moved(text.file, file);
            let checked = self.session.check_with(&self.sources, file, &imports, OF_INPUTS);
            text = Text { file, imports, checked };
        }
        Some(text)
    }

    /// Whether a form is an expression with a value, which `it` names then.
    fn is_result(&self, form: &Form) -> bool {
        let program = self.session.program();
        let is_it = |id: GlobalId| &*program.global(id).name == "it" && program.global(id).ty != Type::Unit;
        matches!(form, Form::Assignment { targets, .. } if targets.iter().any(|(id, _)| is_it(*id)))
    }

    /// Makes the session what it was before the form with this index in a text that has been checked; without an index,
    /// what it was before the text. Gives the text before that form.
    fn back_to(
        &mut self,
        before: Session,
        file: FileId,
        imports: &Imports,
        index: Option<usize>,
    ) -> Option<(FileId, Imports)> {
        self.session = before;
        let index = index?;
        let source = self.sources.file(file).clone();
        let mut forms = self.session.forms(&self.sources, file);
        forms.retain(|form| !matches!(form.kind, TopLevelKind::Import(_)));
        // The same text up to there gives out the same numbers again, so that names find their values.
        let text = Self::before_form(&source.name, &source.text, &forms, index);
        let start = self.sources.add(source.name, text, source.origin);
        let imports = imports.moved(file, start);
        self.session.check_with(&self.sources, start, &imports, OF_INPUTS);
        Some((start, imports))
    }

    /// Answers a form that was run.
    fn announce(&mut self, form: &Form) -> Result<(), Stop> {
        match form {
            Form::Function(id) => self.answer(&self.function_text(*id)),
            Form::Assignment { targets, value } => targets.iter().try_for_each(|(id, _)| {
                if self.says_nothing(*id, value) {
                    return Ok(());
                }
                let (text, size) = self.value_text(*id)?;
                let program = self.session.program();
                let global = program.global(*id);
                // A function by its name alone is that function at some type; what it is in general says more.
                if let ("it", Some(identity)) = (&*global.name, global.ty.identity())
                    && let Some(function) = program.functions.get(identity.function)
                    && !function.is_lambda()
                {
                    return self.answer(&format!("{} = {text} : {}\n", function.name, function.scheme));
                }
                let ty = self.session.type_text(&global.ty, self.syntax);
                self.answer(&format!("{} = {text} : {ty}{size}\n", global.name))
            }),
            // With `bind_it` every expression is an assignment.
            Form::Expression(_) => Ok(()),
        }
    }

    /// Whether a global is the value of an expression that has none, or that was evaluated for what it does.
    pub(in crate::repl) fn says_nothing(&self, id: GlobalId, value: &Expr) -> bool {
        let program = self.session.program();
        let global = program.global(id);
        let is_for_effect = || global.ty == Type::BOOL && Effects::of(program).is_for_effect(program, value);
        &*global.name == "it" && (global.ty == Type::Unit || is_for_effect())
    }

    /// The screen that the answer of a global is for, where somebody looks at one.
    fn page(&self, id: GlobalId) -> Option<Page> {
        if !self.is_numbered {
            return None;
        }
        let (columns, lines) = self.options.screen.unwrap_or_else(Screen::now).size();
        let global = self.session.program().global(id);
        let length = |text: &str| text.chars().count();
        let after = length(&format!(" : {}, 1000 × 1000", global.ty));
        Some(Page { columns, lines, before: length(&global.name) + 3, after })
    }

    /// A value as an answer shows it, and what is said of its size where that is not all of it.
    pub(in crate::repl) fn value_text(&mut self, id: GlobalId) -> Result<(String, String), Stop> {
        let slot = GlobalSlot(u32::try_from(id.0).unwrap_or(u32::MAX));
        let said = |text: String| Ok((text, String::new()));
        self.say_turn(Turn::Shows);
        let Some(value) = self.machine.global(slot).cloned() else { return said("?".to_owned()) };
        let ty = &self.session.program().global(id).ty;
        let mut types = Vec::new();
        element_types(ty, &mut types);
        if self.syntax == Syntax::V {
            // Vectors without elements are `[]` there, whatever of.
            types.iter_mut().for_each(String::clear);
        }
        let length = match (ty, value.slots.first()) {
            (Type::Sequence(_), Some(Slot::Scalar(ScalarValue::Int(length)))) => Some(*length),
            _ => None,
        };
        let noun = if *ty == Type::sequence(Type::CHAR) { "characters" } else { "elements" };
        let mut manner = Manner { limit: self.settings.shown, types: Cow::Owned(types), page: self.page(id) };
        let (text, extent) = loop {
            self.together(&Request::Show { global: slot, manner: manner.clone() });
            let mut shown = Shown { text: Vec::new(), interrupt: self.interrupt.clone() };
            let extent = match show::write(&mut self.machine.engine, &value, &manner, &mut shown) {
                Ok(extent) => extent,
                Err(PrintError::Failure(failure @ Failure::OutOfMemory { .. })) => {
                    return said(format!("? ({failure})"));
                }
                Err(_) if self.is_interrupted() => return Err(Stop::interrupted()),
                Err(error) => return Err(print_error(&error)),
            };
            let text = String::from_utf8_lossy(&shown.text).into_owned();
            match manner.fewer(&text) {
                Some(limit) => manner.limit = Some(limit),
                None => break (text, extent),
            }
        };
        let size = match (extent, length) {
            (Extent::Matrix(rows, columns), _) => format!(", {rows} × {columns}"),
            (Extent::Part, Some(length)) => format!(", {length} {noun}"),
            _ => String::new(),
        };
        Ok((text, size))
    }
}
