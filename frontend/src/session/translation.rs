//! A program in another syntax: what a text of V has become in NESL, and the other way what V can say.
//!
//! What is written is checked again, as a text of its own: whoever gets it can run it.

use super::analysis::{Analysis, Mention, MentionKind};
use super::{Around, Imports, Options, STACK, Session};
use crate::core::effects::Effects;
use crate::diagnostic::{Diagnostic, has_errors};
use crate::infer::mentions::MentionType;
use crate::stack::with_stack_if_possible;
use crate::syntax::nesl::{self, parser};
use crate::syntax::v::print::{Meaning, Meanings, Sort};
use crate::syntax::{Syntax, v};
use nesl_span::{FileId, Origin, SourceMap, Span};

impl Session {
    /// The program of a text, which may import files, in another syntax than its own.
    ///
    /// # Errors
    /// What is wrong with it, or what the other syntax cannot say of it.
    pub fn translated(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        imports: &Imports,
    ) -> Result<String, Vec<Diagnostic>> {
        with_stack_if_possible(STACK, || match Syntax::of(&sources.file(file).name) {
            Syntax::V => self.v_in_nesl(sources, file, imports),
            Syntax::Nesl => self.nesl_in_v(sources, file, imports),
        })
    }

    /// The forms of a text, which may be an input of a session in V, printed as NESL.
    pub fn in_nesl(&self, sources: &SourceMap, file: FileId) -> String {
        with_stack_if_possible(STACK, || {
            let source = sources.file(file);
            let text = match Syntax::of(&source.name) {
                Syntax::V => {
                    let around = Around::of(&self.environment);
                    let parsed = v::parse(file, &source.text, true, self.v.clone(), &around);
                    let written = v::imports(file, &source.text);
                    nesl::print::input(&parsed.forms, &written, (&source.text, &parsed.comments))
                }
                Syntax::Nesl => {
                    let parsed = parser::parse(file, &source.text);
                    let written = parser::imports(file, &source.text);
                    nesl::print::input(&parsed.forms, &written, (&source.text, &parsed.comments))
                }
            };
            nesl::format::format(file, &text).unwrap_or(text)
        })
    }

    /// What is wrong with a text that stands where another did.
    fn problems(&self, sources: &SourceMap, from: FileId, to: FileId, imports: &Imports) -> Vec<Diagnostic> {
        let mut session = self.clone();
        let imports = if from == to { imports.clone() } else { imports.moved(from, to) };
        let checked = session.check_with(sources, to, &imports, Options::default());
        if has_errors(&checked.diagnostics) { checked.diagnostics } else { Vec::new() }
    }

    fn v_in_nesl(&self, sources: &mut SourceMap, file: FileId, imports: &Imports) -> Result<String, Vec<Diagnostic>> {
        let problems = self.problems(sources, file, file, imports);
        if !problems.is_empty() {
            return Err(problems);
        }
        let source = sources.file(file).clone();
        let (session, _) = self.importing(sources, file, imports, &[]);
        let around = Around::of(&session.environment);
        let parsed = v::parse(file, &source.text, false, session.v.clone(), &around);
        let written = v::imports(file, &source.text);
        let text = nesl::print::program(&parsed.forms, &written, (&source.text, &parsed.comments));
        let other = sources.add(renamed(&source.name, Syntax::Nesl), text.as_str(), Origin::User);
        let problems = self.problems(sources, file, other, imports);
        if !problems.is_empty() {
            return Err(problems);
        }
        nesl::format::format(other, &text)
    }

    fn nesl_in_v(&self, sources: &mut SourceMap, file: FileId, imports: &Imports) -> Result<String, Vec<Diagnostic>> {
        let problems = self.problems(sources, file, file, imports);
        if !problems.is_empty() {
            return Err(problems);
        }
        let source = sources.file(file).clone();
        let analysis = Analysis::of(self, sources, file, imports);
        let comments = parser::parse(file, &source.text).comments;
        let written = parser::imports(file, &source.text);
        let meanings = meanings(&analysis);
        let text = v::print::program(analysis.forms(), &written, (&source.text, &comments), &meanings)?;
        let other = sources.add(renamed(&source.name, Syntax::V), text.as_str(), Origin::User);
        if let Some(problem) = self.problems(sources, file, other, imports).first() {
            let at = analysis.forms().first().map_or(Span::new(file, 0, 0), |form| form.span);
            let what = format!("V cannot say this program: {}", problem.message);
            let report = Diagnostic::error("E0514", what, at);
            return Err(vec![match &problem.hint {
                Some(hint) => report.hint(hint.clone()),
                None => report,
            }]);
        }
        v::format::format(other, &text)
    }
}

/// What a file would be called in another syntax.
fn renamed(name: &str, to: Syntax) -> String {
    let plain = [Syntax::V, Syntax::Nesl].into_iter().find_map(|syntax| name.strip_suffix(syntax.suffix()));
    format!("{}{}", plain.unwrap_or(name), to.suffix())
}

/// What the names of a program mean, and what its functions do.
fn meanings(analysis: &Analysis) -> Meanings {
    let program = analysis.known.program();
    let effects = Effects::of(program);
    let mut meanings = Meanings::default();
    for mention in &analysis.mentions {
        let Some(sort) = sort(mention) else { continue };
        let (ty, result) = match mention.ty {
            MentionType::Value(ty) => (analysis.exported(mention.form, ty), None),
            MentionType::Use(parameter, result) => {
                (analysis.exported(mention.form, parameter), analysis.exported(mention.form, result))
            }
            MentionType::Scheme(id) => {
                meanings.schemes.insert(mention.definition, program.function(id).scheme.clone());
                (None, None)
            }
            MentionType::Unknown => (None, None),
        };
        if sort == Sort::Function
            && let Some(id) = analysis.function_of(mention)
        {
            let effect = effects.function(id);
            if effect.prints || effect.acts {
                meanings.acting.insert(mention.definition);
            }
            if !program.function(id).keywords.is_empty() {
                meanings.defaulted.insert(mention.definition);
            }
        }
        let meaning = Meaning { sort, definition: mention.definition, ty, result };
        meanings.names.insert((mention.span, mention.binds), meaning);
    }
    meanings
}

fn sort(mention: &Mention) -> Option<Sort> {
    Some(match mention.kind {
        MentionKind::Function => Sort::Function,
        MentionKind::Global => Sort::Global,
        MentionKind::Local => Sort::Local,
        MentionKind::Datatype => Sort::Datatype,
        MentionKind::Keyword => return None,
    })
}
