//! Completion with Tab: names of the session, commands, files.

use super::commands;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::{Context, Helper, Highlighter, Hinter, Validator};

/// Completes what stands before the cursor.
#[derive(Helper, Highlighter, Hinter, Validator)]
pub(super) struct Completion {
    /// In alphabetical order.
    names: Vec<String>,
    files: FilenameCompleter,
}

impl Completion {
    /// Completion of these names.
    pub(super) fn new(mut names: Vec<String>) -> Completion {
        // Operators are functions too, but nobody completes them.
        names.retain(|name| name.starts_with(char::is_alphabetic));
        names.sort();
        Completion { names, files: FilenameCompleter::new() }
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..position];
        if before.trim_start().starts_with(":load ") {
            return self.files.complete(line, position, context);
        }
        Ok(candidates(before, &self.names))
    }
}

/// Where the word before the cursor begins, and what it can become.
fn candidates(before: &str, names: &[String]) -> (usize, Vec<Pair>) {
    let pair = |text: &str| Pair { display: text.to_owned(), replacement: text.to_owned() };
    let blank = before.len() - before.trim_start().len();
    if before[blank..].starts_with(':') && !before[blank..].contains(' ') {
        let matching = commands::names().into_iter().filter(|name| name.starts_with(&before[blank + 1..]));
        return (blank + 1, matching.map(pair).collect());
    }
    let in_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '?' | '~');
    let start = before
        .rfind(|character: char| !in_name(character))
        .map_or(0, |last| last + before[last..].chars().next().map_or(0, char::len_utf8));
    // Names are the same in any case, and kept in lower case.
    let word = before[start..].to_lowercase();
    if word.is_empty() {
        return (start, Vec::new());
    }
    (start, names.iter().filter(|name| name.starts_with(&word)).map(|name| pair(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_commands_are_completed() {
        let names = ["plus_scan", "permute", "sum"].map(str::to_owned);
        let found = |before: &str| {
            let (start, pairs) = candidates(before, &names);
            (start, pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>())
        };
        assert_eq!(found("1 + su"), (4, vec!["sum".to_owned()]));
        assert_eq!(found("{P"), (1, vec!["plus_scan".to_owned(), "permute".to_owned()]));
        assert_eq!(found(":q"), (1, vec!["quit".to_owned()]));
        assert_eq!(found("é"), (0, vec![]));
        assert_eq!(found(""), (0, vec![]));
        assert_eq!(found(":type su"), (6, vec!["sum".to_owned()]));
    }
}
