//! The session: the library and everything defined so far, checked one text at a time.
//!
//! A text is a file or one input of the REPL. It is checked as a whole: either all of its definitions become part of
//! the session, or, if there is any error, none.
//!
//! Redefinition. A text's last definition of a function that an earlier text defined with the same type replaces its
//! body in place: old callers see the new one. With another type (or if only one of them calls `rand_seed`) the new
//! function is a new one, old callers keep the old, and a warning says so. Within one text every definition is a
//! function of its own, seen by what stands below it. Values keep their place if the type is the same, within a text
//! too, because they are computed in order. A user's definition never changes what the library itself calls; operators
//! written as words or symbols follow a redefinition (`function '+ …`), while `#v`, `-v`, `v[i]` and ranges always mean
//! the library's functions.
//!
//! Other files. What a text imports is read before ([`files`]) and checked first, each file once and as it would be
//! alone ([`scopes`]). In a session a file that has not changed since is what it was; otherwise its definitions replace
//! those of before, as if it had been loaded again.
//!
//! A session knows the texts that have made it what it is, so that another process can make the same one ([`history`]).
//! Texts that are being written are looked at without becoming part of a session ([`analysis`]).

pub mod analysis;
mod files;
mod history;
mod library;
mod partly;
mod questions;
mod scopes;
mod translation;

use crate::ast::{ExprKind, Symbol, TopLevel};
use crate::core::effects::Effects;
use crate::core::pair::pair_calls;
use crate::core::verify::{Verified, verify};
use crate::core::{Expr, Form, FunctionId, GlobalId, Program};
use crate::diagnostic::{Diagnostic, Severity, Tag, finish, has_errors, is_about};
use crate::infer::Inference;
use crate::infer::environment::{Entity, Environment};
use crate::infer::text::Definitions;
use crate::stack::with_stack_if_possible;
use crate::syntax::nesl::parser;
use crate::syntax::nesl::writing::Written;
use crate::syntax::v::known::{Declared, Outside, OutsideFunction};
use crate::syntax::{Syntax, explain, v};
use crate::ty::Type;
pub use files::{Imports, Opened, Reader};
pub use history::PastText;
use nesl_span::{FileId, SourceMap};
use scopes::{Exports, Module};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Room for the recursion over trees: chains of ten thousand operators are as deep as they are long.
const STACK: usize = 256 << 20;

/// With so much stack a session needs no threads.
pub const AMPLE_STACK: usize = STACK + (32 << 20);

/// How a text is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether an expression form assigns its value to `it`, as in the REPL.
    pub bind_it: bool,
    /// The syntax of the text; that of its file's name if nothing is said.
    pub syntax: Option<Syntax>,
}

/// What checking a text gave.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the forms mean, in source order; none if there were errors.
    pub forms: Vec<Form>,
    /// How many of them, the first, are of files that the text imports.
    pub imported: usize,
    /// Errors and warnings, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    fn refused(diagnostics: Vec<Diagnostic>) -> Checked {
        Checked { forms: Vec::new(), imported: 0, diagnostics: finish(diagnostics) }
    }

    /// Whether there were errors, not only warnings.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

/// The library and everything defined so far.
#[derive(Clone, Debug)]
pub struct Session {
    environment: Environment,
    library: Vec<Form>,
    /// The files imported so far, by their keys.
    modules: HashMap<String, Module>,
    /// What the rules of V need to know of earlier texts.
    v: Declared,
    /// The texts that have become part of it ([`history`]).
    texts: Vec<Arc<PastText>>,
}

impl Session {
    /// A session that knows the library, whose texts it adds to `sources`.
    ///
    /// # Panics
    /// If the library has errors: a bug.
    pub fn new(sources: &mut SourceMap) -> Session {
        with_stack_if_possible(AMPLE_STACK, || library::session(sources))
    }

    /// Checks a text that imports nothing and adds its definitions to the session. With errors the session stays as it
    /// was.
    pub fn check(&mut self, sources: &SourceMap, file: FileId, options: Options) -> Checked {
        self.check_with(sources, file, &Imports::default(), options)
    }

    /// Checks a text with what it imports, and adds its definitions to the session. With errors, in whichever of the
    /// files, the session stays as it was.
    pub fn check_with(&mut self, sources: &SourceMap, file: FileId, imports: &Imports, options: Options) -> Checked {
        let checked = self.check_all(sources, file, imports, options);
        if !checked.has_errors() {
            self.remember(sources, file, imports, options);
        }
        checked
    }

    fn check_all(&mut self, sources: &SourceMap, file: FileId, imports: &Imports, options: Options) -> Checked {
        if !imports.problems.is_empty() {
            return Checked::refused(imports.problems.clone());
        }
        if imports.is_empty() {
            let unread = files::imports_of(sources, file);
            return match unread.first() {
                None => self.check_in(self.environment.clone(), sources, file, options),
                Some(import) => {
                    Checked::refused(vec![Diagnostic::error("E0228", "no files can be imported here", import.span)])
                }
            };
        }
        let before = self.clone();
        let (exports, imported) = self.check_modules(sources, imports);
        if imported.has_errors() {
            *self = before;
            return Checked::refused(imported.diagnostics);
        }
        self.bring(file, imports, &exports);
        let forms = self.forms(sources, file);
        let conflicts = scopes::conflicts(file, &forms, imports, &exports, &self.environment);
        let checked = match conflicts.is_empty() {
            true => self.check_in(self.environment.clone(), sources, file, options),
            false => Checked::refused(conflicts),
        };
        if checked.has_errors() {
            *self = before;
            return checked;
        }
        let count = imported.forms.len();
        let diagnostics = imported.diagnostics.into_iter().chain(checked.diagnostics).collect();
        let forms = imported.forms.into_iter().chain(checked.forms).collect();
        Checked { forms, imported: count, diagnostics }
    }

    /// The session as a text finds it that imports these files, as far as they are right, and what is wrong with them.
    fn importing(
        &self,
        sources: &SourceMap,
        file: FileId,
        imports: &Imports,
        forms: &[TopLevel],
    ) -> (Session, Vec<Diagnostic>) {
        let mut session = self.clone();
        let mut problems = imports.problems.clone();
        let (exports, imported) = session.check_modules(sources, imports);
        session.bring(file, imports, &exports);
        problems.extend(match imported.has_errors() {
            true => imported.diagnostics,
            false => scopes::conflicts(file, forms, imports, &exports, &session.environment),
        });
        (session, problems)
    }

    /// Checks the files that are imported, dependencies first: what those give that are right, and their forms; and
    /// what is wrong with the others, but for those that import one of these.
    fn check_modules(&mut self, sources: &SourceMap, imports: &Imports) -> (HashMap<FileId, Exports>, Checked) {
        let (mut exports, mut unchanged, mut wrong) = (HashMap::new(), HashSet::new(), HashSet::new());
        let mut all = Checked { forms: Vec::new(), imported: 0, diagnostics: Vec::new() };
        for &file in &imports.order {
            if imports.targets.get(&file).into_iter().flatten().any(|target| wrong.contains(&target.file)) {
                wrong.insert(file);
                continue;
            }
            let text = &sources.file(file).text;
            let known = self.modules.get(&imports.keys[&file]).cloned();
            let uses_unchanged =
                || imports.targets.get(&file).into_iter().flatten().all(|target| unchanged.contains(&target.file));
            if let Some(known) = known.as_ref().filter(|known| known.text == *text && uses_unchanged()) {
                unchanged.insert(file);
                exports.insert(file, known.exports.clone());
                continue;
            }
            let base = scopes::of_library(&self.environment);
            let outer = scopes::replace(&mut self.environment, base);
            let outer_definitions = std::mem::take(&mut self.v);
            self.bring(file, imports, &exports);
            let forms = self.forms(sources, file);
            let conflicts = scopes::conflicts(file, &forms, imports, &exports, &self.environment);
            if let Some(known) = known {
                known.exports.bring(None, &mut self.environment);
            }
            let mut checked = match conflicts.is_empty() {
                true => self.check_in(self.environment.clone(), sources, file, Options::default()),
                false => Checked::refused(conflicts),
            };
            let is_right = !checked.has_errors();
            all.diagnostics.append(&mut checked.diagnostics);
            // What a program prints when it is run alone is nothing to those that use its definitions.
            all.forms.extend(checked.forms.into_iter().filter(|form| !matches!(form, Form::Expression(_))));
            let given = Exports::of(&forms, &self.environment, &self.v);
            scopes::replace(&mut self.environment, outer);
            self.v = outer_definitions;
            if !is_right {
                wrong.insert(file);
                continue;
            }
            exports.insert(file, given.clone());
            self.modules.insert(imports.keys[&file].clone(), Module { text: text.clone(), exports: given });
        }
        (exports, all)
    }

    /// Makes known what a text imports.
    fn bring(&mut self, file: FileId, imports: &Imports, exports: &HashMap<FileId, Exports>) {
        for target in imports.targets.get(&file).into_iter().flatten() {
            if let Some(exports) = exports.get(&target.file) {
                let alias = target.import.alias.as_ref().map(|alias| &*alias.symbol);
                exports.bring(alias, &mut self.environment);
                match alias {
                    None => self.v.extend(&exports.declared),
                    Some(alias) => self.v.extend(&exports.declared.behind(alias)),
                }
            }
        }
    }

    /// Checks a text in an environment, which is then that of the session if there are no errors.
    fn check_in(&mut self, environment: Environment, sources: &SourceMap, file: FileId, options: Options) -> Checked {
        let definitions = &self.v;
        let (after, checked) = with_stack_if_possible(STACK, || {
            match options.syntax.unwrap_or_else(|| Syntax::of(&sources.file(file).name)) {
                Syntax::Nesl => {
                    let mut parsed = parser::parse(file, &sources.file(file).text);
                    if let Err(refused) = self.answered(&environment, sources, &mut parsed.forms) {
                        parsed.diagnostics.extend(refused);
                        return (None, Checked::refused(parsed.diagnostics));
                    }
                    let forms = &parsed.forms;
                    let (environment, checked) = check_forms(environment, sources, forms, parsed.diagnostics, options);
                    // What V knew by these names is something else now.
                    let text = Definitions::new(forms, options.bind_it);
                    let rest = definitions.of(|name| text.definitions_of(name).is_empty());
                    (environment.map(|environment| (environment, rest)), checked)
                }
                Syntax::V => check_v(environment, definitions.clone(), sources, file, options),
            }
        });
        if let Some((environment, definitions)) = after {
            self.environment = environment;
            self.v = definitions;
        }
        checked
    }

    /// A type as texts of a syntax write it.
    pub fn type_text(&self, ty: &Type, syntax: Syntax) -> String {
        match syntax {
            Syntax::Nesl => ty.to_string(),
            Syntax::V => self.v.type_text(ty),
        }
    }

    /// How V declares the function or value of a name, if it was defined in V.
    pub fn declaration(&self, name: &str) -> Option<String> {
        self.v.declaration(name)
    }

    /// The parameters in the declaration of a function that was defined in V.
    pub fn declared_parameters(&self, name: &str) -> Vec<String> {
        self.v.declared_parameters(name)
    }

    /// The forms of a text, as far as they can be read: what stands where.
    pub fn forms(&self, sources: &SourceMap, file: FileId) -> Vec<TopLevel> {
        let source = sources.file(file);
        with_stack_if_possible(STACK, || match Syntax::of(&source.name) {
            Syntax::Nesl => parser::parse(file, &source.text).forms,
            Syntax::V => {
                let around = Around::of(&self.environment);
                v::parse(file, &source.text, is_input(&source.name), self.v.clone(), &around).forms
            }
        })
    }

    /// The type of an expression, or of a function by its name, as text.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn type_of(&self, sources: &SourceMap, file: FileId) -> Result<String, Vec<Diagnostic>> {
        with_stack_if_possible(STACK, || {
            let (expression, diagnostics) = parser::parse_expression(file, &sources.file(file).text);
            if let Some(ExprKind::Name(name)) = expression.as_ref().map(|expression| &expression.kind)
                && let Some(id) = self.function(name)
            {
                return Ok(self.program().function(id).scheme.to_string());
            }
            let environment = self.environment.clone();
            let (_, expression) = check_expression(environment, sources, expression, diagnostics, None)?;
            Ok(expression.ty.to_string())
        })
    }

    /// Checks one expression, against a type if one is expected.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn expression(
        &mut self,
        sources: &SourceMap,
        file: FileId,
        expected: Option<&Type>,
    ) -> Result<Expr, Vec<Diagnostic>> {
        let environment = self.environment.clone();
        let (environment, expression) = with_stack_if_possible(STACK, || {
            let (expression, diagnostics) = parser::parse_expression(file, &sources.file(file).text);
            check_expression(environment, sources, expression, diagnostics, expected)
        })?;
        self.environment = environment;
        Ok(expression)
    }

    /// The forms of the library, which compute its values.
    pub fn library(&self) -> &[Form] {
        &self.library
    }

    /// Everything defined so far.
    pub fn program(&self) -> &Program {
        &self.environment.program
    }

    /// The names of all functions and values, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.environment.names.keys().map(|name| &**name)
    }

    /// The function that a name means now.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        match self.environment.names.get(name) {
            Some(Entity::Function(id)) => Some(*id),
            _ => None,
        }
    }

    /// The value that a name means now.
    pub fn global(&self, name: &str) -> Option<GlobalId> {
        match self.environment.names.get(name) {
            Some(Entity::Global(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether a function belongs to the library, its lambdas included.
    pub fn is_library_function(&self, id: FunctionId) -> bool {
        self.environment.program.is_of_library(id)
    }
}

/// What is known around a text of V.
struct Around<'a> {
    environment: &'a Environment,
    effects: Effects,
}

impl Around<'_> {
    fn of(environment: &Environment) -> Around<'_> {
        Around { environment, effects: Effects::of(&environment.program) }
    }
}

impl Outside for Around<'_> {
    fn function(&self, name: &str) -> Option<OutsideFunction> {
        let Some(Entity::Function(id)) = self.environment.names.get(name) else { return None };
        // Arguments have no names in V: what has a default keeps it.
        let called = self.environment.keywords.get(id).map_or(*id, |keywords| keywords.wrapper);
        let scheme = self.environment.program.function(called).scheme.clone();
        Some(OutsideFunction { scheme, effect: self.effects.function(*id) })
    }

    fn value(&self, name: &str) -> Option<Type> {
        let Some(Entity::Global(id)) = self.environment.names.get(name) else { return None };
        Some(self.environment.program.global(*id).ty.clone())
    }

    fn names(&self) -> Vec<Symbol> {
        self.environment.names.keys().cloned().collect()
    }
}

/// Whether somebody types a text in a session, by what it is called: files have other names.
fn is_input(name: &str) -> bool {
    name.starts_with('<')
}

/// The same as [`check_forms`] for a text of V, also with what V keeps of it. What is said of a text that V accepts is
/// said by V: inference knows it in another form.
fn check_v(
    environment: Environment,
    definitions: Declared,
    sources: &SourceMap,
    file: FileId,
    options: Options,
) -> (Option<(Environment, Declared)>, Checked) {
    let around = Around::of(&environment);
    let source = sources.file(file);
    let parsed = v::parse(file, &source.text, is_input(&source.name), definitions, &around);
    if has_errors(&parsed.diagnostics) {
        return (None, Checked { forms: Vec::new(), imported: 0, diagnostics: parsed.diagnostics });
    }
    let (environment, mut checked) = check_forms(environment, sources, &parsed.forms, parsed.diagnostics, options);
    checked.diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    (environment.map(|environment| (environment, parsed.definitions)), checked)
}

/// The environment after the text, if there were no errors, and what was found.
fn check_forms(
    environment: Environment,
    sources: &SourceMap,
    forms: &[TopLevel],
    syntax: Vec<Diagnostic>,
    options: Options,
) -> (Option<Environment>, Checked) {
    if is_about(&syntax, &[Tag::MoreErrors]) {
        // There is more to repair already than anybody would read.
        return (None, Checked { forms: Vec::new(), imported: 0, diagnostics: syntax });
    }
    let writing = Written(sources);
    let mut inference = Inference::new(environment, &writing, forms, options.bind_it);
    if has_errors(&syntax) {
        inference.after_syntax_errors(is_about(&syntax, &[Tag::NotBindable]));
    }
    let before = Verified::all(&inference.environment.program);
    let mut forms = inference.check();
    let mut diagnostics = syntax;
    diagnostics.extend(explain(&inference.findings, sources));
    let diagnostics = finish(diagnostics);
    match has_errors(&diagnostics) {
        true => (None, Checked { forms: Vec::new(), imported: 0, diagnostics }),
        false => {
            pair_calls(&mut inference.environment.program, before.functions, &mut forms);
            assert_verified(&inference.environment.program, &forms, before);
            (Some(inference.environment), Checked { forms, imported: 0, diagnostics })
        }
    }
}

fn check_expression(
    environment: Environment,
    sources: &SourceMap,
    expression: Option<crate::ast::Expr>,
    syntax: Vec<Diagnostic>,
    expected: Option<&Type>,
) -> Result<(Environment, Expr), Vec<Diagnostic>> {
    let mut diagnostics = syntax;
    let writing = Written(sources);
    let mut inference = Inference::new(environment, &writing, &[], false);
    if has_errors(&diagnostics) {
        inference.after_syntax_errors(is_about(&diagnostics, &[Tag::NotBindable]));
    }
    let before = Verified::all(&inference.environment.program);
    let checked = expression.and_then(|expression| inference.single(&expression, expected));
    diagnostics.extend(explain(&inference.findings, sources));
    match checked {
        Some(expression) if !has_errors(&diagnostics) => {
            assert_verified(&inference.environment.program, &[Form::Expression(Arc::new(expression.clone()))], before);
            Ok((inference.environment, expression))
        }
        _ => Err(finish(diagnostics)),
    }
}

/// Verifies the core that a text has added. Every test of the project that checks a text therefore tests this, too: it
/// takes a twentieth of the time of checking. Builds without debug assertions do not spend that on what tests find.
///
/// # Panics
/// If something is wrong with it: a bug of inference, elaboration, or a pass over core.
fn assert_verified(program: &Program, forms: &[Form], before: Verified) {
    if cfg!(debug_assertions)
        && let Err(violations) = verify(program, forms, before)
    {
        let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("the core of a text is wrong:\n{}", violations.join("\n"));
    }
}
