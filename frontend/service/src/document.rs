//! A text that somebody is writing, with what is known of it.

use crate::position::Lines;
use nesl_frontend::analysis::{Mention, Reading};
use nesl_frontend::ast::TopLevel;
use nesl_frontend::diagnostic::Severity;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::lexer::Lexed;
use nesl_frontend::{Analysis, Diagnostic, Imports, Opened, Reader, Session};
use nesl_span::{FileId, Origin, SourceMap, Span};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// The most stack that freeing a text needs that nests deep.
const STACK: usize = 64 << 20;

/// The library, which all documents share.
#[derive(Debug)]
pub struct Library {
    /// The session that knows it, and nothing else.
    pub session: Session,
    /// Its texts.
    pub sources: SourceMap,
}

impl Library {
    /// Checks the library.
    pub fn load() -> Rc<Library> {
        let mut sources = SourceMap::default();
        let session = Session::new(&mut sources);
        Rc::new(Library { session, sources })
    }
}

/// The files of a text that is in none.
struct NoFiles;

impl Reader for NoFiles {
    fn open(&mut self, _: &str, _: &str) -> Result<Opened, String> {
        Err("there are no files here".to_owned())
    }
}

/// A text, its lines, its tokens, and what checking says of it.
#[derive(Debug)]
pub struct Document {
    library: Rc<Library>,
    sources: SourceMap,
    file: FileId,
    imports: Imports,
    /// What this was before, as far as it has been read.
    before: Option<Arc<Reading>>,
    lines: OnceCell<Lines>,
    lexed: OnceCell<Lexed>,
    analysis: OnceCell<Analysis>,
}

impl Document {
    /// A text that messages call by a name, and that can import nothing.
    pub fn new(library: &Rc<Library>, name: &str, text: String) -> Document {
        Document::among(library, (name, None), text, &mut NoFiles)
    }

    /// A text that messages call by a name, among the files that it can import. If others can import it, it has a key
    /// as they have. Reads what it imports.
    pub fn among(
        library: &Rc<Library>,
        (name, key): (&str, Option<&str>),
        text: String,
        files: &mut dyn Reader,
    ) -> Document {
        let mut sources = library.sources.clone();
        let file = sources.add(name, text, Origin::User);
        let imports = Imports::of(&mut sources, file, key, files);
        Document::of(library, sources, file, imports)
    }

    fn of(library: &Rc<Library>, sources: SourceMap, file: FileId, imports: Imports) -> Document {
        let library = Rc::clone(library);
        let (lines, lexed, analysis) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Document { library, sources, file, imports, before: None, lines, lexed, analysis }
    }

    /// Lets it go without making anybody wait: what is known of a long text takes milliseconds to free.
    pub fn retire(self) {
        let Some(analysis) = self.analysis.into_inner() else { return };
        // Where there can be no thread it is freed here.
        let _ = thread::Builder::new().stack_size(STACK).spawn(move || drop(analysis));
    }

    /// The same, as what has become of another text: what of that has been read already is not read again.
    #[must_use]
    pub fn following(self, before: &Document) -> Document {
        let read = before.analysis.get().map(|analysis| Arc::clone(analysis.read())).or_else(|| before.before.clone());
        Document { before: read.filter(|_| before.syntax() == self.syntax()), ..self }
    }

    /// Another text in the place of this one, which imports the same.
    #[must_use]
    pub fn with_text(&self, text: String) -> Document {
        let mut sources = self.sources.clone();
        let file = sources.add(self.sources.file(self.file).name.as_str(), text, Origin::User);
        let imports = self.imports.moved(self.file, file);
        Document::of(&self.library, sources, file, imports).following(self)
    }

    /// Whether it imports other texts.
    pub fn has_imports(&self) -> bool {
        !self.imports.is_empty()
    }

    /// Its syntax, by its name.
    pub fn syntax(&self) -> Syntax {
        Syntax::of(&self.sources.file(self.file).name)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.sources.file(self.file).text
    }

    /// Where its lines begin.
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(self.text()))
    }

    /// The texts of the library, this one, and those that it imports.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// What is wrong with it, in its order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.analysis().diagnostics
    }

    /// How many errors there are in it.
    pub(crate) fn errors(&self) -> usize {
        self.diagnostics().iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Its tokens and comments.
    pub(crate) fn lexed(&self) -> &Lexed {
        self.lexed.get_or_init(|| self.syntax().lexed(self.file, self.text()))
    }

    /// What checking says of it.
    pub(crate) fn analysis(&self) -> &Analysis {
        let before = self.before.as_deref();
        let analyse = || Analysis::after(before, &self.library.session, &self.sources, self.file, &self.imports);
        self.analysis.get_or_init(analyse)
    }

    /// How many forms had to be read to look at it; the others were read when it was another text.
    pub fn fresh_forms(&self) -> usize {
        self.analysis().read().fresh()
    }

    /// The range of a place of this text; none of a place in another text.
    pub fn range(&self, span: Span) -> Option<Range<usize>> {
        (span.file == self.file).then_some(span.start as usize..span.end as usize)
    }

    /// The names that touch a place; two where one word binds and mentions.
    pub(crate) fn mentions_at(&self, offset: usize) -> impl Iterator<Item = &Mention> {
        let mentions = &self.analysis().mentions;
        let first = mentions.partition_point(|mention| (mention.span.end as usize) < offset);
        let touching = move |mention: &&Mention| (mention.span.start as usize) <= offset;
        let near = mentions[first..].iter().take_while(touching);
        // Of `a+b` at the plus, what begins there counts, not what ends there, but for words.
        let is_word = |mention: &&Mention| self.sources.text(mention.span).starts_with(|c: char| c.is_alphanumeric());
        let best = near.clone().find(is_word).or(near.clone().next()).map(|mention| mention.span);
        near.filter(move |mention| Some(mention.span) == best)
    }

    /// The form that a place is in, or after.
    pub(crate) fn form_at(&self, offset: usize) -> Option<(usize, &TopLevel)> {
        let forms = self.analysis().forms();
        let after = forms.partition_point(|form| form.span.start as usize <= offset);
        let index = after.checked_sub(1)?;
        Some((index, &forms[index]))
    }

    /// The text in the usual layout; none if it is no program, or a bug would change what it means.
    pub fn formatted(&self) -> Option<String> {
        let formatted = self.syntax().format(self.file, self.text()).ok()?;
        self.syntax().is_same_program(self.text(), &formatted).then_some(formatted)
    }
}
