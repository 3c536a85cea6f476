//! Which files a text imports, directly or through others: read before anything is checked.
//!
//! ```text
//! text ─ its imports, by the tokens ─▶ files, each read once ─▶ their imports … ─▶ [`Imports`], which a session checks
//! ```
//!
//! The front end reads no files itself: whoever has a text says by [`Reader`] what a path in it means.

use crate::ast::Import;
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::parser;
use crate::syntax::{Syntax, v};
use nesl_span::{FileId, Origin, SourceMap, Span};
use std::collections::HashMap;

/// A file that an import means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The same for every path that leads to this file, and for no other file.
    pub key: String,
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Where imported files come from.
pub trait Reader {
    /// The file that a path means in the text that messages call `importer`.
    ///
    /// # Errors
    /// Why there is none, as the end of a sentence.
    fn open(&mut self, importer: &str, path: &str) -> Result<Opened, String>;
}

/// An import, and the file that it means.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub import: Import,
    pub file: FileId,
}

/// What a text imports.
#[derive(Clone, Debug, Default)]
pub struct Imports {
    /// The imports of each text.
    pub(super) targets: HashMap<FileId, Vec<Target>>,
    /// The files that are imported, each after those that it imports itself.
    pub(super) order: Vec<FileId>,
    /// The key of each imported file.
    pub(super) keys: HashMap<FileId, String>,
    /// What is wrong with imports.
    pub(super) problems: Vec<Diagnostic>,
}

impl Imports {
    /// Reads what a text imports and adds the texts to `sources`. A file that is imported more than once is read once.
    /// `key` is the text's own, if others could import it.
    pub fn of(sources: &mut SourceMap, file: FileId, key: Option<&str>, files: &mut dyn Reader) -> Imports {
        let mut reader =
            Gathering { sources, files, found: HashMap::new(), open: Vec::new(), imports: Imports::default() };
        if let Some(key) = key {
            reader.found.insert(key.to_owned(), file);
        }
        reader.read(file);
        reader.imports
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The same of another text, `to`, in the place of `from`: it can say less, but it sees the same.
    #[must_use]
    pub fn moved(&self, from: FileId, to: FileId) -> Imports {
        let mut moved = self.clone();
        if let Some(targets) = moved.targets.remove(&from) {
            moved.targets.insert(to, targets);
        }
        moved
    }

    /// The import in one text by which another is reached.
    pub(super) fn leading(&self, from: FileId, to: FileId) -> Option<Span> {
        let targets = self.targets.get(&from).into_iter().flatten();
        let mut leading = targets.filter(|target| target.file == to || self.leading(target.file, to).is_some());
        leading.next().map(|target| target.import.span)
    }

    /// The text of a file with the keys of the files that it imports for their paths: what it can be in another folder.
    pub fn elsewhere(&self, sources: &SourceMap, file: FileId) -> String {
        let mut text = sources.file(file).text.clone();
        for target in self.targets.get(&file).into_iter().flatten().rev() {
            let Span { start, end, .. } = target.import.span;
            if let Some(key) = self.keys.get(&target.file) {
                text.replace_range(start as usize..end as usize, &quoted(key));
            }
        }
        text
    }
}

/// What a text imports itself.
pub(super) fn imports_of(sources: &SourceMap, file: FileId) -> Vec<Import> {
    let source = sources.file(file);
    match Syntax::of(&source.name) {
        Syntax::Nesl => parser::imports(file, &source.text),
        Syntax::V => v::imports(file, &source.text),
    }
}

/// A string as a program writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

struct Gathering<'a> {
    sources: &'a mut SourceMap,
    files: &'a mut dyn Reader,
    /// The files read so far by their keys.
    found: HashMap<String, FileId>,
    /// The texts whose imports are being read, from the first on.
    open: Vec<FileId>,
    imports: Imports,
}

impl Gathering<'_> {
    fn read(&mut self, file: FileId) {
        let imports = imports_of(self.sources, file);
        if imports.is_empty() {
            return;
        }
        self.open.push(file);
        let mut targets = Vec::new();
        for import in imports {
            match self.target(file, &import) {
                Ok(target) => targets.push(Target { import, file: target }),
                Err(problem) => self.imports.problems.push(*problem),
            }
        }
        self.open.pop();
        self.imports.targets.insert(file, targets);
    }

    fn target(&mut self, importer: FileId, import: &Import) -> Result<FileId, Box<Diagnostic>> {
        let opened = self.files.open(&self.sources.file(importer).name, &import.path).map_err(|problem| {
            let message = format!("cannot import {}: {problem}", quoted(&import.path));
            Diagnostic::error("E0228", message, import.span).hint("paths are seen from the folder of the file itself")
        })?;
        if let Some(&file) = self.found.get(&opened.key) {
            return match self.open.iter().position(|&open| open == file) {
                Some(first) => Err(Box::new(self.circle(first, import))),
                None => Ok(file),
            };
        }
        let file = self.sources.add(opened.name, opened.text, Origin::User);
        self.found.insert(opened.key.clone(), file);
        self.imports.keys.insert(file, opened.key);
        self.read(file);
        self.imports.order.push(file);
        Ok(file)
    }

    /// Says that an import leads back to the text that is open at this place.
    fn circle(&self, first: usize, import: &Import) -> Diagnostic {
        let names: Vec<String> = self.open[first..]
            .iter()
            .chain([&self.open[first]])
            .map(|&file| self.sources.file(file).name.clone())
            .collect();
        Diagnostic::error("E0229", format!("these files import each other: {}", names.join(", then ")), import.span)
            .saying("this leads back")
            .hint("move what both need into a file that both import")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::session::{Options, Session};
    use nesl_span::Origin;

    /// Two files that are wrong, one that imports one of them, and one that is right.
    struct Mixed;

    impl Reader for Mixed {
        fn open(&mut self, _: &str, path: &str) -> Result<Opened, String> {
            let text = match path {
                "a.nesl" => "a = 1 + \"x\";",
                "b.nesl" => "import \"a.nesl\";\nb = a;",
                "c.nesl" => "function c(n) = n + true_;",
                "d.nesl" => "function d(n) : int -> int = n + 1;",
                _ => return Err("there is none".to_owned()),
            };
            Ok(Opened { key: format!("/{path}"), name: path.to_owned(), text: text.to_owned() })
        }
    }

    #[test]
    fn what_is_wrong_in_one_import_hides_no_other() {
        let mut sources = SourceMap::default();
        let mut session = Session::new(&mut sources);
        let text = "import \"b.nesl\";\nimport \"c.nesl\";\nimport \"d.nesl\";\nd(a + b);";
        let file = sources.add("main.nesl", text, Origin::User);
        let imports = Imports::of(&mut sources, file, None, &mut Mixed);
        let checked = session.check_with(&sources, file, &imports, Options::default());
        let name = |diagnostic: &Diagnostic| sources.file(diagnostic.labels[0].span.file).name.clone();
        let found: Vec<(String, &str)> =
            checked.diagnostics.iter().map(|diagnostic| (name(diagnostic), diagnostic.code)).collect();
        assert_eq!(
            found,
            [("a.nesl".to_owned(), "E0202"), ("c.nesl".to_owned(), "E0201")],
            "{:?}",
            checked.diagnostics
        );
        assert_eq!(session.function("d"), None, "the session stays as it was");
        let analysis = Analysis::of(&session, &sources, file, &imports);
        assert!(analysis.known.function("d").is_some(), "what is right is known to an editor");
    }
}
