//! Where a text mentions names, what each means there and of what type it is: for editors, which ask for it
//! ([`crate::analysis`]). While nobody asks, nothing is noted.

use super::environment::Environment;
use super::{Entity, Inference, Outcome, Target};
use crate::ast::{Symbol, TopLevelKind};
use crate::core::{FunctionId, GlobalId, VariableId};
use crate::typed::Pattern;
use crate::typed::types::{TypeId, Types};
use nesl_span::Span;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// A function, or the constructor of a record.
    Function,
    /// A value of the top level.
    Global,
    /// A variable of a `let`, an apply-to-each, a lambda, or a parameter.
    Local,
    /// A datatype, in a type or a pattern.
    Datatype,
    /// A parameter where a call passes it by name.
    Keyword,
}

/// A name where a text mentions or binds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// Where it stands.
    pub span: Span,
    /// What it stands for.
    pub kind: MentionKind,
    /// Where that is bound. Mentions of one thing have one place here.
    pub definition: Span,
    /// Whether it is bound here.
    pub binds: bool,
    /// The form in which it stands.
    pub form: usize,
    pub(crate) ty: MentionType,
}

/// The type of what is mentioned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MentionType {
    /// That of a value.
    Value(TypeId),
    /// That of a function at one use: parameter and result.
    Use(TypeId, TypeId),
    /// That of a function as it is defined.
    Scheme(FunctionId),
    /// None, or none that is known.
    Unknown,
}

/// What a name means, by numbers.
#[derive(Clone, Debug)]
enum Thing {
    Local(VariableId),
    Global(GlobalId),
    Function(Target),
    Datatype(Symbol),
    Keyword(Target, Symbol),
}

/// A mention as inference meets it.
#[derive(Clone, Debug)]
pub(super) struct Note {
    span: Span,
    thing: Thing,
    binds: bool,
    form: usize,
    ty: MentionType,
}

/// What is noted while a text is checked.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The mentions so far.
    notes: Vec<Note>,
    /// The type parameters of the functions that forms define.
    parameters: HashMap<usize, Vec<TypeId>>,
}

impl Inference<'_> {
    /// From now on mentions are noted.
    pub(crate) fn note_mentions(&mut self) {
        self.notes = Some(Notes::default());
    }

    fn note(&mut self, span: Span, thing: Thing, binds: bool, ty: MentionType) {
        let form = self.form;
        if let Some(notes) = &mut self.notes {
            notes.notes.push(Note { span, thing, binds, form, ty });
        }
    }

    /// Notes that a local variable is mentioned.
    pub(super) fn note_local(&mut self, id: VariableId, ty: TypeId, span: Span) {
        self.note(span, Thing::Local(id), false, MentionType::Value(ty));
    }

    /// Notes the variables that a pattern binds.
    pub(super) fn note_pattern(&mut self, pattern: &Pattern) {
        if self.notes.is_some() {
            let mut bound = Vec::new();
            pattern.for_each_variable(&mut |id, _, part, _| bound.push((part.span, id, part.ty)));
            for (span, id, ty) in bound {
                self.note(span, Thing::Local(id), true, MentionType::Value(ty));
            }
        }
    }

    /// Notes that a value of the top level is mentioned, or bound.
    pub(super) fn note_global(&mut self, id: GlobalId, ty: TypeId, span: Span, binds: bool) {
        self.note(span, Thing::Global(id), binds, MentionType::Value(ty));
    }

    /// Notes that a function is used, with the types of its parameter and its result there.
    pub(super) fn note_function(&mut self, target: Target, (parameter, result): (TypeId, TypeId), span: Span) {
        self.note(span, Thing::Function(target), false, MentionType::Use(parameter, result));
    }

    /// Notes that a datatype is named in a type or a pattern.
    pub(super) fn note_datatype(&mut self, name: &crate::ast::Name) {
        if self.notes.is_some() {
            self.note(name.span, Thing::Datatype(name.symbol.clone()), false, MentionType::Unknown);
        }
    }

    /// Notes that a call passes a parameter by its name.
    pub(super) fn note_keyword(&mut self, target: Target, name: &crate::ast::Name, ty: Option<TypeId>) {
        if self.notes.is_some() {
            let ty = ty.map_or(MentionType::Unknown, MentionType::Value);
            self.note(name.span, Thing::Keyword(target, name.symbol.clone()), false, ty);
        }
    }

    /// Notes the type parameters of the function that a form defines.
    pub(super) fn note_parameters(&mut self, form: usize, parameters: &[TypeId]) {
        if let Some(notes) = &mut self.notes {
            notes.parameters.insert(form, parameters.to_vec());
        }
    }

    /// What is known after a text, with the types under inference.
    pub(crate) fn into_known(self) -> (Environment, Types) {
        (self.environment, self.types)
    }

    /// What has been noted, in the order of the text, and the type parameters of forms.
    pub(crate) fn mentions(&mut self) -> (Vec<Mention>, HashMap<usize, Vec<TypeId>>) {
        let Some(Notes { notes, parameters }) = self.notes.take() else { return Default::default() };
        let bound = |note: &Note| match note.thing {
            Thing::Local(id) if note.binds => Some((id, note.span)),
            _ => None,
        };
        let locals: HashMap<VariableId, Span> = notes.iter().filter_map(bound).collect();
        let mut mentions: Vec<Mention> = notes.iter().filter_map(|note| self.mention(note, &locals)).collect();
        mentions.extend(self.definitions());
        // What syntax stands for has no name in the text.
        mentions.retain_mut(|mention| {
            mention.definition = self.writing.name_at(mention.definition).unwrap_or(mention.definition);
            let name = self.writing.name_at(mention.span);
            mention.span = name.unwrap_or(mention.span);
            name.is_some()
        });
        mentions.sort_by_key(|mention| (mention.span, !mention.binds, mention.definition));
        mentions.dedup_by_key(|mention| (mention.span, mention.binds, mention.definition));
        (mentions, parameters)
    }

    fn mention(&self, note: &Note, locals: &HashMap<VariableId, Span>) -> Option<Mention> {
        let program = &self.environment.program;
        let (kind, definition) = match &note.thing {
            Thing::Local(id) => (MentionKind::Local, *locals.get(id)?),
            Thing::Global(id) => (MentionKind::Global, program.globals[id.0].span),
            Thing::Function(target) => (MentionKind::Function, self.named_at(*target)?),
            Thing::Datatype(name) => (MentionKind::Datatype, self.datatype_at(note.form, name)?),
            Thing::Keyword(target, name) => (MentionKind::Keyword, self.keyword_at(*target, name)?),
        };
        Some(Mention { span: note.span, kind, definition, binds: note.binds, form: note.form, ty: note.ty })
    }

    /// Where the name of a function stands in its definition.
    fn named_at(&self, target: Target) -> Option<Span> {
        match target {
            Target::Known(id) => Some(self.environment.program.functions[id.0].span),
            Target::Group(form) => match &self.forms[form].kind {
                TopLevelKind::Function(function) => Some(function.name.span),
                _ => None,
            },
        }
    }

    fn datatype_at(&self, form: usize, name: &str) -> Option<Span> {
        if let Some(form) = self.text.resolve_datatype(form, name) {
            return match &self.forms[form].kind {
                TopLevelKind::Datatype(datatype) => Some(datatype.name.span),
                _ => None,
            };
        }
        match self.environment.names.get(name) {
            Some(Entity::Function(id)) => Some(self.environment.program.functions[id.0].span),
            _ => None,
        }
    }

    fn keyword_at(&self, target: Target, name: &str) -> Option<Span> {
        let function = self.named_at(target)?;
        let definition = self.forms.iter().find_map(|form| match &form.kind {
            TopLevelKind::Function(definition) if definition.name.span == function => Some(definition),
            _ => None,
        });
        let keyword =
            definition.and_then(|definition| definition.keywords.iter().find(|own| *own.name.symbol == *name));
        Some(keyword.map_or(function, |keyword| keyword.name.span))
    }

    /// The names of functions and datatypes where forms define them.
    fn definitions(&self) -> Vec<Mention> {
        let defined = |(form, top): (usize, &crate::ast::TopLevel)| {
            let (name, kind) = match &top.kind {
                TopLevelKind::Function(function) => (&function.name, MentionKind::Function),
                TopLevelKind::Datatype(datatype) => (&datatype.name, MentionKind::Datatype),
                _ => return None,
            };
            let (definition, ty) = match &self.outcomes[form] {
                Outcome::Function(id) | Outcome::Datatype(id, _) => {
                    (self.environment.program.functions[id.0].span, MentionType::Scheme(*id))
                }
                // A declaration is the promise of a definition.
                _ => {
                    let own = self.text.definitions_of(&name.symbol);
                    let promised = own.iter().find(|definition| **definition >= form).or(own.last());
                    let at = promised.and_then(|form| self.named_at(Target::Group(*form)));
                    (at.unwrap_or(name.span), MentionType::Unknown)
                }
            };
            Some(Mention { span: name.span, kind, definition, binds: true, form, ty })
        };
        self.forms.iter().enumerate().filter_map(defined).collect()
    }
}
