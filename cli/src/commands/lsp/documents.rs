//! The documents that an editor has open, with those that they import: of these, what is in the editor counts, saved or
//! not.

use super::conversion;
use crate::driver::{self, Disk};
use lsp_types::{DidChangeTextDocumentParams, TextDocumentItem, Uri};
use nesl_frontend::{Opened, Reader};
use nesl_service::{Document, Library, Lines};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A document that an editor has open.
pub struct Open {
    /// Its address.
    pub uri: Uri,
    /// The number of its text, which counts changes.
    pub version: i32,
    /// Its text.
    pub document: Document,
    /// The same for all paths to its file.
    key: Option<String>,
}

/// All that are open, by their addresses.
pub struct Documents {
    library: Rc<Library>,
    open: BTreeMap<String, Open>,
    /// Those of which nobody has heard yet what is wrong with them.
    unreported: BTreeSet<String>,
}

/// Files as they are in the editor, or else on disk.
struct Files<'a>(&'a BTreeMap<String, Open>);

impl Reader for Files<'_> {
    fn open(&mut self, importer: &str, path: &str) -> Result<Opened, String> {
        let found = Disk.open(importer, path)?;
        let open = self.0.values().find(|open| open.key.as_ref() == Some(&found.key));
        Ok(match open {
            Some(open) => Opened { text: open.document.text().to_owned(), ..found },
            None => found,
        })
    }
}

impl Documents {
    /// None, with the library that they will share.
    pub fn new() -> Documents {
        Documents { library: Library::load(), open: BTreeMap::new(), unreported: BTreeSet::new() }
    }

    /// The one with an address.
    pub fn get(&self, uri: &str) -> Option<&Open> {
        self.open.get(uri)
    }

    /// Opens one, or gives one that is open another text.
    pub fn open(&mut self, item: TextDocumentItem) {
        self.put(item.uri, item.version, item.text);
    }

    /// Changes one, part by part, each in what the one before has made.
    pub fn change(&mut self, changes: DidChangeTextDocumentParams) {
        let Some(open) = self.open.get(changes.text_document.uri.as_str()) else { return };
        let mut text = open.document.text().to_owned();
        for change in changes.content_changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::of(&text);
                    let [start, end] = [range.start, range.end].map(|at| lines.offset(&text, conversion::place(at)));
                    text.replace_range(start.min(end)..start.max(end), &change.text);
                }
            }
        }
        self.put(changes.text_document.uri, changes.text_document.version, text);
    }

    /// Closes one; whether it was open.
    pub fn close(&mut self, uri: &Uri) -> bool {
        self.unreported.remove(uri.as_str());
        let was_open = self.open.remove(uri.as_str()).is_some();
        if was_open {
            self.read_again(None);
        }
        was_open
    }

    /// One of which nobody has heard yet what is wrong with it.
    pub fn next_unreported(&mut self) -> Option<&Open> {
        self.open.get(&self.unreported.pop_first()?)
    }

    /// Reads again what those that are open import: files have changed.
    pub fn read_again(&mut self, but: Option<&str>) {
        let importing = self.open.iter().filter(|(uri, open)| Some(uri.as_str()) != but && open.document.has_imports());
        let again: Vec<(Uri, i32, String)> =
            importing.map(|(_, open)| (open.uri.clone(), open.version, open.document.text().to_owned())).collect();
        for (uri, version, text) in again {
            self.add(uri, version, text);
        }
    }

    fn put(&mut self, uri: Uri, version: i32, text: String) {
        let address = uri.as_str().to_owned();
        self.add(uri, version, text);
        self.read_again(Some(&address));
    }

    fn add(&mut self, uri: Uri, version: i32, text: String) {
        let path = conversion::path(uri.as_str());
        let key = path.as_deref().and_then(driver::key);
        let name = path.map_or_else(|| uri.as_str().to_owned(), |path| path.display().to_string());
        let document = Document::among(&self.library, (&name, key.as_deref()), text, &mut Files(&self.open));
        let document = match self.open.get(uri.as_str()) {
            Some(open) => document.following(&open.document),
            None => document,
        };
        self.unreported.insert(uri.as_str().to_owned());
        let before = self.open.insert(uri.as_str().to_owned(), Open { uri, version, document, key });
        if let Some(open) = before {
            open.document.retire();
        }
    }
}
