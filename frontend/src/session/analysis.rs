//! What an editor wants to know of a text: its forms, what is wrong with it, and what its names mean, also where some
//! of it is wrong. The session in which it is looked at stays as it is.

pub use crate::infer::mentions::{Mention, MentionKind};

use super::{Around, Imports, STACK, Session};
use crate::ast::TopLevel;
use crate::core::FunctionId;
use crate::diagnostic::{Diagnostic, Label, Severity, Tag, finish, has_errors, is_about};
use crate::elaborate::{Export, Group};
use crate::infer::Inference;
use crate::infer::mentions::MentionType;
use crate::stack::with_stack_if_possible;
use crate::syntax::nesl::parser;
use crate::syntax::nesl::writing::Written;
use crate::syntax::{Syntax, explain, v};
use crate::ty::{Class, Scheme, Type, parameter_name};
use crate::typed::types::{TypeId, Types};
use nesl_span::{FileId, SourceMap};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A text as it has been read, in its syntax.
#[derive(Debug)]
pub enum Reading {
    /// In NESL.
    Nesl(parser::ReadText),
    /// In V.
    V(v::TranslatedText),
}

impl Reading {
    /// Its forms in order, those that could not be read included.
    pub fn forms(&self) -> &[TopLevel] {
        match self {
            Reading::Nesl(read) => &read.parsed.forms,
            Reading::V(read) => &read.translated.forms,
        }
    }

    /// How many of them had to be read; the others were known.
    pub fn fresh(&self) -> usize {
        match self {
            Reading::Nesl(read) => read.fresh,
            Reading::V(read) => read.fresh,
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Reading::Nesl(read) => &read.parsed.diagnostics,
            Reading::V(read) => &read.translated.diagnostics,
        }
    }
}

/// A text that has been looked at.
#[derive(Debug)]
pub struct Analysis {
    /// The text as it was read.
    read: Arc<Reading>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The names in it, in the order of the text. In `{… : v}` one place has two: `v` is mentioned, and bound.
    pub mentions: Vec<Mention>,
    /// What is known after the text, as far as it is right. It cannot be run if there were errors.
    pub known: Session,
    /// The syntax of the text.
    pub syntax: Syntax,
    types: Types,
    parameters: HashMap<usize, Vec<TypeId>>,
}

impl Analysis {
    /// Looks at a text with what it imports. As long as checking it takes.
    pub fn of(session: &Session, sources: &SourceMap, file: FileId, imports: &Imports) -> Analysis {
        Analysis::after(None, session, sources, file, imports)
    }

    /// Looks at a text that was another before. Reads what has changed, and checks all: of the time that a text takes,
    /// reading is three quarters.
    pub fn after(
        before: Option<&Reading>,
        session: &Session,
        sources: &SourceMap,
        file: FileId,
        imports: &Imports,
    ) -> Analysis {
        with_stack_if_possible(STACK, || Analysis::here(before, session, sources, file, imports))
    }

    fn here(
        before: Option<&Reading>,
        session: &Session,
        sources: &SourceMap,
        file: FileId,
        imports: &Imports,
    ) -> Analysis {
        let source = sources.file(file);
        let syntax_of_text = Syntax::of(&source.name);
        let (read, (mut session, imported)) = match syntax_of_text {
            Syntax::Nesl => {
                let read = match before {
                    Some(Reading::Nesl(before)) => parser::parse_again(file, &source.text, before),
                    _ => parser::ReadText::new(file, &source.text),
                };
                let known = session.importing(sources, file, imports, &read.parsed.forms);
                (Reading::Nesl(read), known)
            }
            Syntax::V => {
                // What V lowers needs the types of what is imported.
                let (mut known, problems) = session.importing(sources, file, imports, &[]);
                let around = Around::of(&known.environment);
                let read = match before {
                    // What is imported may be another than before.
                    Some(Reading::V(before)) if imports.is_empty() => {
                        v::parse_again(file, &source.text, before, &known.v, &around)
                    }
                    _ => v::TranslatedText::new(file, &source.text, known.v.clone(), &around),
                };
                known.v = read.translated.definitions.clone();
                (Reading::V(read), (known, problems))
            }
        };
        let (forms, syntax) = (read.forms(), read.diagnostics());
        let writing = Written(sources);
        let mut inference = Inference::new(std::mem::take(&mut session.environment), &writing, forms, false);
        inference.note_mentions();
        if has_errors(syntax) {
            inference.after_syntax_errors(is_about(syntax, &[Tag::NotBindable]));
        }
        // With so many errors there is more to repair than anybody would read.
        if !is_about(syntax, &[Tag::MoreErrors]) {
            inference.check();
        }
        let (mentions, parameters) = inference.mentions();
        let is_incomplete = !imported.is_empty();
        let mut diagnostics: Vec<Diagnostic> =
            imported.into_iter().map(|problem| at_import(problem, sources, file, imports)).collect();
        diagnostics.extend(syntax.iter().cloned());
        // Of a name that an import should have brought nobody can say anything. V has said what is wrong in its words.
        let is_said = syntax_of_text == Syntax::V && has_errors(&diagnostics);
        if !is_incomplete && !is_said {
            let is_shown = |found: &Diagnostic| syntax_of_text == Syntax::Nesl || found.severity == Severity::Error;
            diagnostics.extend(explain(&inference.findings, sources).into_iter().filter(is_shown));
        }
        let (environment, types) = inference.into_known();
        let known = Session { environment, ..session };
        let syntax = syntax_of_text;
        let read = Arc::new(read);
        Analysis { read, diagnostics: finish(diagnostics), mentions, known, syntax, types, parameters }
    }

    /// The text as it was read, for what comes after it.
    pub fn read(&self) -> &Arc<Reading> {
        &self.read
    }

    /// The forms of the text in order, those that could not be read included.
    pub fn forms(&self) -> &[TopLevel] {
        self.read.forms()
    }

    /// The type of what is mentioned: of a function, at that use. None where nothing is known.
    pub fn type_of(&self, mention: &Mention) -> Option<String> {
        match mention.ty {
            MentionType::Unknown => None,
            MentionType::Scheme(id) => Some(self.known.program().function(id).scheme.to_string()),
            MentionType::Value(ty) if self.syntax == Syntax::V => {
                self.exported(mention.form, ty).map(|ty| self.known.type_text(&ty, Syntax::V))
            }
            MentionType::Value(ty) => self.exported(mention.form, ty).map(|ty| self.in_context(mention.form, &ty)),
            MentionType::Use(parameter, result) => {
                let (parameter, result) =
                    (self.exported(mention.form, parameter)?, self.exported(mention.form, result)?);
                let plain = Scheme { classes: Vec::new(), parameter, result };
                Some(plain.to_string())
            }
        }
    }

    /// The function that is mentioned, as it is defined.
    pub fn function_of(&self, mention: &Mention) -> Option<FunctionId> {
        let named = self
            .known
            .program()
            .functions
            .iter()
            .rposition(|function| function.span == mention.definition && !function.is_lambda());
        named.map(FunctionId)
    }

    pub(super) fn exported(&self, form: usize, ty: TypeId) -> Option<Type> {
        if self.types.has_error(ty) {
            return None;
        }
        let none = Group::new();
        let parameters = self.parameters.get(&form).map_or(&[][..], Vec::as_slice);
        Some(Export::new(&self.types, parameters, &none).ty(ty))
    }

    /// A type with what is known of the type parameters in it.
    fn in_context(&self, form: usize, ty: &Type) -> String {
        let text = ty.to_string();
        let parameters = self.parameters.get(&form).map_or(&[][..], Vec::as_slice);
        let classes = Export::new(&self.types, parameters, &Group::new()).classes();
        let mut used = BTreeSet::new();
        collect_parameters(ty, &mut used);
        let known = used.into_iter().filter_map(|index| {
            let class = classes.get(index).filter(|class| !matches!(class, Class::Any | Class::Function))?;
            Some(format!("{} in {}", parameter_name(index), class.name()))
        });
        let known: Vec<String> = known.collect();
        if known.is_empty() { text } else { format!("{text} :: ({})", known.join("; ")) }
    }
}

/// What is wrong with another file, said where the text imports it.
fn at_import(problem: Diagnostic, sources: &SourceMap, file: FileId, imports: &Imports) -> Diagnostic {
    let Some(other) = problem.labels.first().map(|label| label.span.file).filter(|other| *other != file) else {
        return problem;
    };
    let mut labels = problem.labels;
    if let Some(span) = imports.leading(file, other) {
        labels.insert(0, Label { span, text: String::new() });
    }
    let message = format!("in {}: {}", sources.file(other).name, problem.message);
    Diagnostic { message, labels, ..problem }
}

fn collect_parameters(ty: &Type, used: &mut BTreeSet<usize>) {
    match ty {
        Type::Parameter(index) => {
            used.insert(*index);
        }
        Type::Pair(first, rest) => {
            collect_parameters(first, used);
            collect_parameters(rest, used);
        }
        Type::Sequence(element) => collect_parameters(element, used),
        Type::Record(_, arguments) => arguments.iter().for_each(|argument| collect_parameters(argument, used)),
        Type::Function(function) => {
            collect_parameters(&function.parameter, used);
            collect_parameters(&function.result, used);
        }
        Type::Scalar(_) | Type::Unit | Type::Identity(_) => {}
    }
}
