//! The manual of the library: what the doc strings of its functions say, in the order and under the headings of its
//! files.
//!
//! A doc string is one paragraph: the meaning, then `Example: expression gives result.` any number of times, then the
//! costs, `Work …, depth ….` A heading in a library file is a comment line `% --- heading --- %`; above the first one,
//! and in a file without any, it is what the first line of the file begins with. What the language itself has stands
//! before: its words, signs and constants ([`words`]).

mod by_type;
mod words;

use crate::core::{Function, FunctionId, GlobalId, Program};
use crate::edit_distance;
use crate::syntax::nesl::explain::foreign_words::foreign_word;
use crate::ty::Type;
use by_type::Query;
use nesl_span::{Origin, SourceMap};
use std::fmt::Write;
use words::{CONSTANTS, Part, SOUGHT, SYNTAX};

/// Where what the language itself has is defined.
const LANGUAGE: &str = "the language";

/// What begins the name of a function that only the library itself calls.
const INTERNAL: [&str; 2] = ["check_", "host_"];

/// Who knows the names of a program: what the manual asks of a session.
pub trait KnownNames {
    /// The program.
    fn program(&self) -> &Program;
    /// The names of all functions and values, in no particular order.
    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_>;
    /// The function that a name means now.
    fn function(&self, name: &str) -> Option<FunctionId>;
    /// The value that a name means now.
    fn global(&self, name: &str) -> Option<GlobalId>;
    /// Whether a function is one of the library.
    fn is_library_function(&self, id: FunctionId) -> bool;
}

/// A function with what its doc string says, or a part of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; of an operator the symbol.
    pub name: String,
    /// Its type, with the names and defaults of its parameters that have some; of a part of the language how it is
    /// written.
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

    /// Whether it is a part of the language and no function.
    pub fn is_part(&self) -> bool {
        self.place == LANGUAGE
    }

    /// Whether only the library itself is to call the function: its parts, and what it stands on.
    pub fn is_internal(&self) -> bool {
        is_said_internal(&self.name, &self.doc)
    }
}

/// Whether a name is that of a function which only the library itself is to call.
pub fn is_internal(known: &dyn KnownNames, name: &str) -> bool {
    let Some(id) = known.function(name).filter(|id| known.is_library_function(*id)) else { return false };
    let function = known.program().function(id);
    is_said_internal(&function.name, function.doc.as_deref().unwrap_or(""))
}

fn is_said_internal(name: &str, doc: &str) -> bool {
    doc.starts_with("Internal: ") || INTERNAL.iter().any(|prefix| name.starts_with(prefix))
}

/// All functions of the library, in its order. The constructor of a record is none: it says what the record is made of,
/// and that is the library's own affair.
pub fn entries(known: &dyn KnownNames, sources: &SourceMap) -> Vec<Entry> {
    let functions = known.program().functions.iter().enumerate();
    functions
        .filter(|(id, function)| known.is_library_function(FunctionId(*id)) && !function.is_lambda())
        .filter(|(_, function)| !is_constructor(function) && !is_brought_along(known, function))
        .map(|(_, function)| entry(function, sources))
        .collect()
}

/// Whether a function is there for another one with keyword parameters: the default of one, which has a point in its
/// name, or the function without them, whose name means the one with all.
fn is_brought_along(known: &dyn KnownNames, function: &Function) -> bool {
    let meant = known.function(&function.name).map(|id| known.program().function(id));
    function.name.contains('.') || meant.is_some_and(|meant| meant.doc.is_some() && function.doc.is_none())
}

fn is_constructor(function: &Function) -> bool {
    matches!(&function.scheme.result, Type::Record(datatype, _) if datatype.name == function.name)
}

/// The words, signs and constants of the language.
pub fn parts() -> Vec<Entry> {
    let under = |heading: &'static str, parts: &'static [Part]| parts.iter().map(move |part| of_part(part, heading));
    under("The language", SYNTAX).chain(under("Constants", CONSTANTS)).collect()
}

fn of_part(part: &Part, heading: &str) -> Entry {
    let (name, ty, doc) = (part.names[0].to_owned(), part.form.to_owned(), part.doc.to_owned());
    Entry { name, ty, doc, place: LANGUAGE.to_owned(), heading: heading.to_owned() }
}

/// What a name means: a function, a part of the language, or a value.
pub fn lookup(known: &dyn KnownNames, sources: &SourceMap, name: &str) -> Option<Entry> {
    // The name of an operator may have its quote; names are kept in lower case.
    let name = name.strip_prefix('\'').filter(|rest| !rest.is_empty()).unwrap_or(name).to_lowercase();
    let function = known.function(&name).map(|id| entry(known.program().function(id), sources));
    let part = || SYNTAX.iter().chain(CONSTANTS).find(|part| part.names.contains(&name.as_str()));
    let value = || {
        let global = known.program().global(known.global(&name)?);
        let source = sources.file(global.span.file);
        let place = place(&source.name, &source.text[..global.span.start as usize]);
        let (name, ty) = (global.name.to_string(), global.ty.to_string());
        let own = Entry { name, ty, doc: String::new(), place, heading: String::new() };
        // A constant of the library, unless the session has another value of its name.
        let constant = CONSTANTS.iter().find(|part| part.names[0] == own.name && source.origin == Origin::Library);
        Some(constant.map_or(own, |part| of_part(part, "Constants")))
    };
    function.or_else(value).or_else(|| part().map(|part| of_part(part, "The language")))
}

/// What is to be said of a function.
pub fn of(known: &dyn KnownNames, sources: &SourceMap, id: FunctionId) -> Entry {
    entry(known.program().function(id), sources)
}

/// What has to do with some words, in any case: the functions of the session and the parts of the language whose names,
/// types or doc strings contain all of them, the one of that name first, and then those with the first word in their
/// names; and what people mean by such a word, here or in another language. A type, `[int] -> int`, finds the functions
/// that can be called so.
pub fn apropos(known: &dyn KnownNames, sources: &SourceMap, text: &str) -> Vec<Entry> {
    let mut names: Vec<&str> = known.names().filter(|name| known.function(name).is_some()).collect();
    names.sort_unstable();
    let entries = names.into_iter().filter_map(|name| lookup(known, sources, name));
    let entries = entries.filter(|entry| !entry.is_internal());
    let text = text.trim().trim_matches('"');
    if let Some(query) = Query::read(text) {
        let scheme = |entry: &Entry| known.function(&entry.name).map(|id| &known.program().function(id).scheme);
        return entries.filter(|entry| scheme(entry).is_some_and(|scheme| query.is_met_by(scheme))).collect();
    }
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(first) = words.first() else { return Vec::new() };
    let sought = SOUGHT.iter().filter(|(sought, _)| words.iter().all(|word| sought.contains(word)));
    let sought = sought.flat_map(|(_, meant)| *meant).map(|&name| name.to_owned());
    let foreign = foreign_word(&words.join("_")).or_else(|| foreign_word(&words.concat()));
    let foreign = foreign.into_iter().flat_map(names_in_code);
    let mut meant: Vec<Entry> = Vec::new();
    for entry in sought.chain(foreign).filter_map(|name| lookup(known, sources, &name)) {
        if !meant.contains(&entry) {
            meant.push(entry);
        }
    }
    let has_all = |entry: &Entry| {
        let all = format!("{} {} {}", entry.name, entry.ty, entry.doc).to_lowercase();
        words.iter().all(|word| all.contains(word)) && !meant.contains(entry)
    };
    let found = entries.chain(parts()).filter(has_all);
    let (named, described): (Vec<Entry>, Vec<Entry>) = found.partition(|entry| entry.name.contains(first));
    let mut all = [named, meant.clone(), described].concat();
    all.sort_by_key(|entry| entry.name != text);
    all
}

/// What the code in a hint, between backquotes, is made of: the functions that it calls, if none its signs.
fn names_in_code<'h>(hint: &'h str) -> Vec<String> {
    let code: Vec<&'h str> = hint.split('`').skip(1).step_by(2).collect();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let called = code.iter().flat_map(|code| code.match_indices('(').map(|(place, _)| &code[..place]));
    let called = called.map(|before| before[before.trim_end_matches(is_part).len()..].to_owned());
    let called: Vec<String> = called.filter(|name| !name.is_empty()).collect();
    if !called.is_empty() {
        return called;
    }
    let signs = |code: &&'h str| -> Vec<&'h str> {
        match code.starts_with('{') {
            true => vec!["{"],
            false => code.split(|c: char| is_part(c) || c.is_whitespace()).filter(|sign| !sign.is_empty()).collect(),
        }
    };
    code.iter().flat_map(signs).map(str::to_owned).collect()
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

/// What to say about a name that means nothing; `apropos` is what finds others.
pub fn unknown(known: &dyn KnownNames, name: &str, apropos: &str) -> String {
    let parts = SYNTAX.iter().chain(CONSTANTS).flat_map(|part| part.names.iter().copied());
    let near = || {
        let names = known.names().filter(|name| !is_internal(known, name));
        let near = nearest(&name.to_lowercase(), names.chain(parts));
        near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"))
    };
    let near = foreign_word(name).map_or_else(near, |hint| format!(": {hint}"));
    format!("error: there is no function or word `{name}`{near}\nTry `{apropos} {name}`.")
}

fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.chars().count() / 3).min(3);
    let near = known.map(|known| (edit_distance(name, known, limit), known)).filter(|(distance, _)| *distance <= limit);
    near.min().map(|(_, known)| known)
}

/// What to say where nothing has to do with a word.
pub fn nothing(word: &str) -> String {
    format!("error: nothing has to do with `{word}`")
}

/// An entry as a text of several lines.
pub fn describe(entry: &Entry) -> String {
    let Entry { name, ty, doc, .. } = entry;
    match entry.is_part() {
        true => format!("{ty}\n{doc}\n"),
        false => describe_declared(entry, &format!("{name} : {ty}")),
    }
}

/// The same of a function that another syntax declares in its own way.
pub fn describe_declared(entry: &Entry, declaration: &str) -> String {
    let Entry { doc, place, .. } = entry;
    let doc = if doc.is_empty() { String::new() } else { format!("{doc}\n") };
    format!("{declaration}\n{doc}defined in {place}\n")
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

/// The whole manual, in Markdown: the language, then these functions, under each heading all that have it.
pub fn page(entries: &[Entry]) -> String {
    let mut page = String::from(
        "# The library\n\nMade from the doc strings of the library by `nesl doc --all`. `nesl doc NAME` shows one function, word or \
         sign, `nesl apropos WORD` finds some, also by type: `nesl apropos \"[int] -> int\"`; `:doc` and `:apropos` do the same in a \
         session.\n\n",
    );
    let parts = parts();
    let all: Vec<&Entry> = parts.iter().chain(entries).filter(|entry| !entry.is_internal()).collect();
    let mut headings: Vec<&str> = Vec::new();
    for entry in &all {
        if !headings.contains(&entry.heading.as_str()) {
            headings.push(&entry.heading);
        }
    }
    // Writing to a string does not fail.
    for heading in &headings {
        let _ = writeln!(page, "* [{heading}](#{})", anchor(heading));
    }
    for heading in headings {
        let _ = write!(page, "\n## {heading}\n");
        for entry in all.iter().filter(|entry| entry.heading == heading) {
            let _ = match entry.is_part() {
                true => write!(page, "\n**{}**\n{}\n", code(&entry.ty), markdown(&entry.doc)),
                false => write!(page, "\n**`{}`** : `{}`\n{}\n", entry.name, entry.ty, markdown(&entry.doc)),
            };
        }
    }
    page
}

/// What a heading is called in links to it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
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
    let heading = match source.origin {
        Origin::Library => before.lines().rev().find_map(heading).or_else(|| subject(&source.text)).unwrap_or_default(),
        Origin::User => String::new(),
    };
    let doc = function.doc.clone().unwrap_or_default();
    let keywords = function.keywords.iter().map(|keyword| format!("{} := {}", keyword.name, keyword.text));
    let ty = match keywords.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => function.scheme.to_string(),
        keywords => format!("{}, where {keywords}", function.scheme),
    };
    Entry { name: function.name.to_string(), ty, doc, place: place(&source.name, before), heading }
}

/// File and line of what stands behind a text.
fn place(file: &str, before: &str) -> String {
    format!("{file}:{}", before.matches('\n').count() + 1)
}

/// What a file is about: what its first line, a comment, begins with.
fn subject(text: &str) -> Option<String> {
    let line = text.lines().next()?.strip_prefix("% ")?;
    let end = line.find([':', '.']).unwrap_or(line.len());
    Some(line[..end].trim().to_owned())
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
    use crate::Session;

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
        let found = |text: &str| -> Vec<String> {
            apropos(&session, &sources, text).into_iter().map(|entry| entry.name).collect()
        };
        for name in SOUGHT.iter().flat_map(|(_, meant)| *meant) {
            assert!(lookup(&session, &sources, name).is_some(), "{name}");
        }
        for (text, name) in [
            ("average", "mean"),
            ("cumulative", "cumsum"),
            ("argmax", "max_index"),
            ("sort descending", "sort_down"),
            ("\"while\"", "function"),
            ("groupby", "collect"),
            ("group by", "collect"),
            ("counter", "histogram"),
            ("rolling", "windows"),
            ("polyfit", "polynomial_fit"),
            ("einsum", "matmul"),
            ("chunks", "group_by"),
            ("clip", "clamp"),
            ("len", "#"),
            ("vectorize", "{"),
            ("stddev", "std"),
            ("[int] -> int", "sum"),
            ("[[a]] -> [a]", "flatten"),
            ("([char], [char]) -> [[char]]", "split_string"),
        ] {
            assert!(found(text).contains(&name.to_owned()), "{text}: {:?}", found(text));
        }
        for (text, name) in [("[int] -> int", "sqrt"), ("[char] -> char", "sum"), ("[a] -> a", "count")] {
            assert!(!found(text).contains(&name.to_owned()), "{text}: {:?}", found(text));
        }
        for name in ["if", "{", "#", "@", "pi", "nan", "time", "stdout", "f", "()", "Datatype"] {
            assert!(lookup(&session, &sources, name).is_some_and(|entry| entry.is_part()), "{name}");
        }
        assert_eq!(lookup(&session, &sources, "nothing"), None);
        assert!(unknown(&session, "summ", "apropos").contains("did you mean `sum`?"));
    }
}
