//! Completion with Tab: names of the session with their types, words of the language, commands, codes, files.

use super::commands;
use crate::codes;
use nesl_frontend::diagnostic::{Tag, is_about};
use nesl_frontend::syntax::nesl::lexer;
use nesl_frontend::syntax::{Syntax, v};
use nesl_service::{KnownName, word_start};
use rustyline::Context;
use rustyline::completion::{Completer, FilenameCompleter, Pair};

/// The longest type that is shown beside a name.
const LONGEST: usize = 60;

/// Completes what stands before the cursor.
pub(super) struct Completion {
    /// In alphabetical order.
    names: Vec<KnownName>,
    syntax: Syntax,
    files: FilenameCompleter,
}

impl Completion {
    /// Completion of these names.
    pub(super) fn new(mut names: Vec<KnownName>, syntax: Syntax) -> Completion {
        // Operators are functions too, but nobody completes them; old results have a number that nobody looks for.
        names.retain(|name| name.name.starts_with(char::is_alphabetic));
        names.extend(KnownName::words(syntax));
        names.sort_by(|one, other| one.name.cmp(&other.name));
        Completion { names, syntax, files: FilenameCompleter::new() }
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..position];
        if before.trim_start().starts_with(":cd ") {
            let (start, mut found) = self.files.complete(line, position, context)?;
            found.retain(|pair| pair.replacement.ends_with(std::path::MAIN_SEPARATOR));
            return Ok((start, found));
        }
        let takes_file =
            [":load ", ":edit ", ":save ", ":restore "].iter().any(|with| before.trim_start().starts_with(with));
        if takes_file || is_in_string(before, self.syntax) {
            return self.files.complete(line, position, context);
        }
        Ok(candidates(before, &self.names))
    }
}

/// Whether a string is open where a text ends.
fn is_in_string(before: &str, syntax: Syntax) -> bool {
    if syntax == Syntax::V {
        return v::highlight::parts(before).1;
    }
    is_about(&lexer::lex(nesl_span::FileId(0), before).diagnostics, &[Tag::OpenString])
}

/// Where the word before the cursor begins, and what it can become.
fn candidates(before: &str, names: &[KnownName]) -> (usize, Vec<Pair>) {
    let pair = |text: &str| Pair { display: text.to_owned(), replacement: text.to_owned() };
    let blank = before.len() - before.trim_start().len();
    if before[blank..].starts_with(':') && !before[blank..].contains(' ') {
        let matching = commands::names().into_iter().filter(|name| name.starts_with(&before[blank + 1..]));
        return (blank + 1, matching.map(pair).collect());
    }
    if let Some(code) = before[blank..].strip_prefix(":explain ") {
        let matching = codes::all().filter(|known| known.starts_with(&code.to_uppercase()));
        return (before.len() - code.len(), matching.map(pair).collect());
    }
    if let Some(name) = before[blank..].strip_prefix(":syntax ") {
        let matching = [Syntax::Nesl, Syntax::V].map(Syntax::name).into_iter().filter(|known| known.starts_with(name));
        return (before.len() - name.len(), matching.map(pair).collect());
    }
    if let Some(setting) = before[blank..].strip_prefix(":set ") {
        let (word, known) = match setting.split_once(' ') {
            // What it is set to follows.
            None => (setting, &["progress ", "shown ", "timing "][..]),
            Some(("shown", value)) => (value, &["all"][..]),
            Some((_, value)) => (value, &["off", "on"][..]),
        };
        let matching = known.iter().filter(|known| known.starts_with(word));
        let pair = |known: &&str| Pair { display: known.trim_end().to_owned(), replacement: (*known).to_owned() };
        return (before.len() - word.len(), matching.map(pair).collect());
    }
    let start = word_start(before);
    // What asks for documentation is no part of a name.
    let start = if start == 0 && before.starts_with('?') { 1 } else { start };
    // Names are the same in any case, and kept in lower case.
    let word = before[start..].to_lowercase();
    if word.is_empty() {
        return (start, Vec::new());
    }
    let shown = |KnownName { name, ty, .. }: &KnownName| Pair {
        display: match ty.is_empty() {
            true => name.clone(),
            false => format!("{name} : {}", shortened(ty)),
        },
        replacement: name.clone(),
    };
    (start, names.iter().filter(|name| name.name.starts_with(&word)).map(shown).collect())
}

fn shortened(ty: &str) -> String {
    match ty.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &ty[..end]),
        None => ty.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_service::NameKind;

    #[test]
    fn words_and_commands_are_completed() {
        let names = ["plus_scan", "permute", "sum"];
        let names = names.map(|name| KnownName {
            name: name.to_owned(),
            kind: NameKind::Function,
            ty: "[a] -> a".to_owned(),
            summary: String::new(),
        });
        let found = |before: &str| {
            let (start, pairs) = candidates(before, &names);
            (start, pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>())
        };
        assert_eq!(found("1 + su"), (4, vec!["sum".to_owned()]));
        assert_eq!(found("{P"), (1, vec!["plus_scan".to_owned(), "permute".to_owned()]));
        assert_eq!(found(":qu"), (1, vec!["quit".to_owned()]));
        assert_eq!(found("é"), (0, vec![]));
        assert_eq!(found(""), (0, vec![]));
        assert_eq!(found(":type su"), (6, vec!["sum".to_owned()]));
        assert_eq!(found("?su"), (1, vec!["sum".to_owned()]));
        assert_eq!(found(":explain E0402"), (9, vec!["E0402".to_owned()]));
        assert_eq!(found(":syntax "), (8, vec!["nesl".to_owned(), "v".to_owned()]));
        assert_eq!(found(":set "), (5, ["progress ", "shown ", "timing "].map(str::to_owned).to_vec()));
        assert_eq!(found(":set ti"), (5, vec!["timing ".to_owned()]));
        assert_eq!(found(":set timing o"), (12, vec!["off".to_owned(), "on".to_owned()]));
        assert_eq!(candidates("su", &names).1[0].display, "sum : [a] -> a");
    }

    #[test]
    fn files_are_completed_where_a_string_is_open() {
        assert!(is_in_string("read_string_from_file(\"da", Syntax::Nesl));
        assert!(is_in_string("f(\"da", Syntax::V));
        assert!(!is_in_string("f(\"da\", x", Syntax::Nesl));
    }
}
