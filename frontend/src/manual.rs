//! The manual of the library: what the doc strings of its functions say, in the order and under the headings of its
//! files.
//!
//! A doc string is one paragraph: the meaning, then `Example: expression gives result.` any number of times, then the
//! costs, `Work …, depth ….` A heading in a library file is a comment line `% --- heading --- %`.

use crate::Session;
use crate::core::{Function, FunctionId};
use crate::ty::Type;
use nesl_span::{Origin, SourceMap};
use std::fmt::Write;

/// What begins the name of a function that only the library itself calls.
const INTERNAL: [&str; 2] = ["check_", "host_"];

/// A function with what its doc string says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; of an operator the symbol.
    pub name: String,
    /// Its type.
    pub ty: String,
    /// Its doc string, empty if it has none.
    pub doc: String,
    /// Where it is defined: file and line.
    pub place: String,
    /// The heading above it, empty outside the library.
    pub heading: String,
}

/// An example of a doc string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What to evaluate.
    pub expression: String,
    /// What that prints.
    pub result: String,
}

impl Entry {
    /// The first sentence of its doc string.
    pub fn summary(&self) -> &str {
        let end = self.doc.find(". ").map_or(self.doc.len(), |end| end + 1);
        &self.doc[..end]
    }

    /// Whether only the library itself is to call the function: its parts, and what it stands on.
    pub fn is_internal(&self) -> bool {
        is_internal(&self.name, &self.doc)
    }
}

/// Whether only the library itself is to call a function of it with this name and this doc string.
pub fn is_internal(name: &str, doc: &str) -> bool {
    doc.starts_with("Internal: ") || INTERNAL.iter().any(|prefix| name.starts_with(prefix))
}

/// All functions of the library, in its order. The constructor of a record is none: it says what the record is made of,
/// and that is the library's own affair.
pub fn entries(session: &Session, sources: &SourceMap) -> Vec<Entry> {
    let functions = session.program().functions.iter().enumerate();
    functions
        .filter(|(id, function)| session.is_library_function(FunctionId(*id)) && !function.is_lambda())
        .filter(|(_, function)| !is_constructor(function) && !is_brought_along(session, function))
        .map(|(_, function)| entry(function, sources))
        .collect()
}

/// Whether a function is there for another one with keyword parameters: the default of one, which has a point in its
/// name, or the function without them, whose name means the one with all.
fn is_brought_along(session: &Session, function: &Function) -> bool {
    let meant = session.function(&function.name).map(|id| session.program().function(id));
    function.name.contains('.') || meant.is_some_and(|meant| meant.doc.is_some() && function.doc.is_none())
}

fn is_constructor(function: &Function) -> bool {
    matches!(&function.scheme.result, Type::Record(datatype, _) if datatype.name == function.name)
}

/// What a name means, if it is a function.
pub fn lookup(session: &Session, sources: &SourceMap, name: &str) -> Option<Entry> {
    // The name of an operator may have its quote; names are kept in lower case.
    let name = name.strip_prefix('\'').filter(|rest| !rest.is_empty()).unwrap_or(name).to_lowercase();
    session.function(&name).map(|id| entry(session.program().function(id), sources))
}

/// What is to be said of a function.
pub fn of(session: &Session, sources: &SourceMap, id: FunctionId) -> Entry {
    entry(session.program().function(id), sources)
}

/// The functions of the session whose names or doc strings contain a word in any case, those with the name first.
pub fn apropos(session: &Session, sources: &SourceMap, word: &str) -> Vec<Entry> {
    let word = word.to_lowercase();
    let mut names: Vec<&str> = session.names().collect();
    names.sort_unstable();
    let known = names.into_iter().filter_map(|name| lookup(session, sources, name));
    let known = known.filter(|entry| !entry.is_internal());
    let (named, others): (Vec<Entry>, Vec<Entry>) = known.partition(|entry| entry.name.contains(&word));
    let described = others.into_iter().filter(|entry| entry.doc.to_lowercase().contains(&word));
    named.into_iter().chain(described).collect()
}

/// The examples of a doc string.
pub fn examples(doc: &str) -> Vec<Example> {
    let example = |text: &str| {
        let (expression, rest) = text.split_once(" gives ")?;
        let end = rest.find(". ").unwrap_or(rest.trim_end_matches('.').len());
        Some(Example { expression: expression.to_owned(), result: rest[..end].to_owned() })
    };
    doc.split("Example: ").skip(1).filter_map(example).collect()
}

/// What to say about a name that no function has.
pub fn unknown(name: &str) -> String {
    format!("error: there is no function `{name}`\nTry `apropos {name}`.")
}

/// What to say where nothing has to do with a word.
pub fn nothing(word: &str) -> String {
    format!("error: nothing has to do with `{word}`")
}

/// An entry as a text of several lines.
pub fn describe(entry: &Entry) -> String {
    let Entry { name, ty, doc, place, .. } = entry;
    let doc = if doc.is_empty() { String::new() } else { format!("{doc}\n") };
    format!("{name} : {ty}\n{doc}defined in {place}\n")
}

/// Entries as a list, a line each: name and first sentence.
pub fn list(entries: &[Entry]) -> String {
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let line = |entry: &Entry| {
        let line = format!("{:width$}  {}", entry.name, entry.summary());
        format!("{}\n", line.trim_end())
    };
    entries.iter().map(line).collect()
}

/// The whole manual, in Markdown.
pub fn page(entries: &[Entry]) -> String {
    let mut page = String::from(
        "# The library\n\nMade from the doc strings of the library by `nesl doc --all`. `nesl doc NAME` shows one function, \
         `nesl apropos WORD` finds some; `:doc` and `:apropos` do the same in a session.\n",
    );
    let mut heading = "";
    for entry in entries.iter().filter(|entry| !entry.is_internal()) {
        // Writing to a string does not fail.
        let _ = if entry.heading == heading { Ok(()) } else { write!(page, "\n## {}\n", entry.heading) };
        heading = &entry.heading;
        let _ = write!(page, "\n**`{}`** : `{}`\n{}\n", entry.name, entry.ty, markdown(&entry.doc));
    }
    page
}

/// A doc string with its examples as code.
pub fn markdown(doc: &str) -> String {
    let mut text = doc.replace('*', "\\*");
    for Example { expression, result } in examples(doc) {
        let plain = format!("Example: {expression} gives {result}");
        text = text
            .replace(&plain.replace('*', "\\*"), &format!("Example: {} gives {}", code(&expression), code(&result)));
    }
    text
}

/// Code in Markdown: a backquote in it needs two around it.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn entry(function: &Function, sources: &SourceMap) -> Entry {
    let source = sources.file(function.span.file);
    let before = &source.text[..function.span.start as usize];
    let place = format!("{}:{}", source.name, before.matches('\n').count() + 1);
    let heading = match source.origin {
        Origin::Library => before.lines().rev().find_map(heading).unwrap_or_default(),
        Origin::User => String::new(),
    };
    let doc = function.doc.clone().unwrap_or_default();
    Entry { name: function.name.to_string(), ty: function.scheme.to_string(), doc, place, heading }
}

/// The heading that a line is, with a capital letter.
fn heading(line: &str) -> Option<String> {
    let text = line.strip_prefix("% --- ")?.strip_suffix(" --- %")?;
    let first = text.chars().next()?;
    Some(first.to_uppercase().chain(text.chars().skip(1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(expression: &str, result: &str) -> Example {
        Example { expression: expression.to_owned(), result: result.to_owned() }
    }

    #[test]
    fn examples_end_with_their_sentence() {
        let doc = "Half. Example: half(3.0) gives 1.5. Example: half(1) gives 0.5. Work 1, depth 1.";
        assert_eq!(examples(doc), [example("half(3.0)", "1.5"), example("half(1)", "0.5")]);
        assert_eq!(examples("Example: a gives b."), [example("a", "b")]);
        assert_eq!(examples("Nothing. Work 1, depth 1."), []);
    }

    #[test]
    fn words_are_found_in_names_first() {
        let mut sources = SourceMap::default();
        let session = Session::new(&mut sources);
        let found = apropos(&session, &sources, "Scan");
        assert!(found.iter().take(7).all(|entry| entry.name.contains("scan")), "{found:?}");
        assert_eq!(lookup(&session, &sources, "'+").map(|entry| entry.name), Some("+".to_owned()));
        assert_eq!(lookup(&session, &sources, "SUM").map(|entry| entry.name), Some("sum".to_owned()));
        assert_eq!(lookup(&session, &sources, "pi"), None);
    }
}
