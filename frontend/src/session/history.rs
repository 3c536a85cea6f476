//! The texts that have made a session what it is, in their order.
//!
//! Checking the same texts again gives out the same numbers: so another process can make the same session of them, and
//! values that were written down by the numbers of their names find these again.

use super::{Imports, Opened, Options, Reader, Session};
use crate::syntax::Syntax;
use nesl_span::{FileId, Origin, SourceMap};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A text that was checked and accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastText {
    name: String,
    text: String,
    is_v: Option<bool>,
    bind_it: bool,
    opened: Vec<PastImport>,
}

/// What an import meant then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PastImport {
    importer: String,
    path: String,
    key: String,
    name: String,
    text: String,
}

impl PastText {
    fn of(sources: &SourceMap, file: FileId, imports: &Imports, options: Options) -> PastText {
        let source = sources.file(file);
        let mut opened = Vec::new();
        for importer in imports.order.iter().copied().chain([file]) {
            for target in imports.targets.get(&importer).into_iter().flatten() {
                let found = sources.file(target.file);
                opened.push(PastImport {
                    importer: sources.file(importer).name.clone(),
                    path: target.import.path.to_string(),
                    key: imports.keys.get(&target.file).cloned().unwrap_or_default(),
                    name: found.name.clone(),
                    text: found.text.clone(),
                });
            }
        }
        let is_v = options.syntax.map(|syntax| syntax == Syntax::V);
        PastText { name: source.name.clone(), text: source.text.clone(), is_v, bind_it: options.bind_it, opened }
    }
}

/// Files as they were.
struct Past<'a>(&'a [PastImport]);

impl Reader for Past<'_> {
    fn open(&mut self, importer: &str, path: &str) -> Result<Opened, String> {
        let found = self.0.iter().find(|import| import.importer == importer && import.path == path);
        let PastImport { key, name, text, .. } = found.ok_or("it was not imported then")?;
        Ok(Opened { key: key.clone(), name: name.clone(), text: text.clone() })
    }
}

impl Session {
    /// Notes a text that has become part of the session.
    pub(super) fn remember(&mut self, sources: &SourceMap, file: FileId, imports: &Imports, options: Options) {
        self.texts.push(Arc::new(PastText::of(sources, file, imports, options)));
    }

    /// The texts that have become part of the session, but for the library.
    pub fn history(&self) -> impl Iterator<Item = &PastText> {
        self.texts.iter().map(|text| &**text)
    }

    /// Checks a text of another session again, with what it imported then; whether it is right here, too.
    pub fn check_again(&mut self, sources: &mut SourceMap, past: &PastText) -> bool {
        let file = sources.add(past.name.as_str(), past.text.as_str(), Origin::User);
        let imports = Imports::of(sources, file, None, &mut Past(&past.opened));
        let syntax = past.is_v.map(|is_v| if is_v { Syntax::V } else { Syntax::Nesl });
        let options = Options { bind_it: past.bind_it, syntax };
        !self.check_with(sources, file, &imports, options).has_errors()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files;

    impl Reader for Files {
        fn open(&mut self, _: &str, path: &str) -> Result<Opened, String> {
            let text = match path {
                "one.nesl" => "import \"two.nesl\";\nfunction double(n) = twice * n;",
                "two.nesl" => "twice = 2;",
                _ => return Err("there is none".to_owned()),
            };
            Ok(Opened { key: format!("/{path}"), name: path.to_owned(), text: text.to_owned() })
        }
    }

    #[test]
    fn the_same_texts_make_the_same_session() {
        let mut sources = SourceMap::default();
        let base = Session::new(&mut sources);
        let mut session = base.clone();
        let texts =
            ["x = 1;", "import \"one.nesl\";\ny = double(x);", "x = 2; nonsense(", "function g(a) = a + x;", "g(1);"];
        for text in texts {
            let file = sources.add("<input>", text, Origin::User);
            let imports = Imports::of(&mut sources, file, None, &mut Files);
            session.check_with(&sources, file, &imports, Options { bind_it: true, syntax: None });
        }
        let texts: Vec<PastText> = session.history().cloned().collect();
        assert_eq!(texts.len(), 4, "what was wrong is not part of it");
        let mut again = base;
        assert!(texts.iter().all(|text| again.check_again(&mut sources, text)));
        assert_eq!(again.history().cloned().collect::<Vec<_>>(), texts);
        for name in ["x", "y", "it", "twice"] {
            assert_eq!(again.global(name), session.global(name), "{name}");
        }
        assert_eq!(
            (again.function("g"), again.function("double")),
            (session.function("g"), session.function("double"))
        );
    }
}
