//! The header of a program that is a test: its first comment, of NESL or of V, which says what running it must give.
//!
//! ```text
//! % What the program shows.
//!   expect: [1, 2, 3]
//! %
//! ```
//! Each line of the form `key: value` is an expectation or an input; other lines are prose.
//!
//! | key | meaning |
//! |---|---|
//! | `expect` | one printed line; in order |
//! | `error` | the code of the run-time error that ends the program |
//! | `message` | part of that error's message |
//! | `at` | its `line:column` in this file |
//! | `exit` | the exit code with which the program ends itself |
//! | `compile-error` | a code, and optionally part of the message; one line for every error, in source order |
//! | `args` | the arguments of `main`, separated by blanks; none for a `main` without parameters |
//!
//! Other keys are for tests that look at more than what a program does: they read them by [`parse_with`].

use nesl_prim::Failure;
use std::fmt;

/// The expected run-time error, or end by `exit`, which has no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedError {
    /// Its code.
    pub code: String,
    /// Part of its message.
    pub message: Option<String>,
    /// Its line and column.
    pub at: Option<(usize, usize)>,
}

/// What a header says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The printed lines.
    pub lines: Vec<String>,
    /// The error after them.
    pub error: Option<ExpectedError>,
    /// Codes and parts of messages of the errors of the front end.
    pub rejected: Vec<(String, String)>,
    /// The arguments of `main`.
    pub arguments: Option<Vec<String>>,
}

impl fmt::Display for ExpectedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExpectedError { code, message, at } = self;
        match (code.as_str(), message) {
            ("", message) => formatter.write_str(message.as_deref().unwrap_or("an exit"))?,
            (code, None) => formatter.write_str(code)?,
            (code, Some(part)) => write!(formatter, "{code} with `{part}` in its message")?,
        }
        at.map_or(Ok(()), |(line, column)| write!(formatter, " at {line}:{column}"))
    }
}

impl Header {
    /// The expected end, in words.
    pub(crate) fn end(&self) -> String {
        match &self.error {
            Some(error) => error.to_string(),
            None if self.rejected.is_empty() => "an end without an error".to_owned(),
            None => {
                let errors: Vec<String> = self.rejected.iter().map(|(code, part)| format!("{code} {part}")).collect();
                format!("errors of the checker: {}", errors.join("; "))
            }
        }
    }
}

/// Keys of which a header has one at least.
const KEYS: [&str; 4] = ["expect:", "error:", "exit:", "compile-error:"];

/// Whether a program without a header has a line further down that would belong into one.
pub fn is_elsewhere(text: &str) -> bool {
    let begins = |line: &str| line.trim_start_matches(['%', '/', '*', ' ', '\t']).starts_with("expect:");
    !has_header(text) && text.lines().any(begins)
}

/// Whether a program says what running it must give, right or wrong.
pub fn has_header(text: &str) -> bool {
    let text = text.trim_start();
    let nesl = || text.strip_prefix('%').and_then(|rest| rest.split('%').next());
    let v = || text.strip_prefix("/*").and_then(|rest| rest.split("*/").next());
    let comment = nesl().or_else(v).unwrap_or("");
    comment.lines().any(|line| KEYS.iter().any(|key| line.trim_start().starts_with(key)))
}

/// Reads the header of a program.
///
/// # Errors
/// What is wrong with it; a program without any expectation among it.
pub fn parse(text: &str) -> Result<Header, String> {
    parse_with(text, |_, _| Ok(false))
}

/// Reads the header of a program, which may have more keys: `own` gets the key and the value of each line that is none
/// of the table above, and says whether it knows the key.
///
/// # Errors
/// As [`parse`], and those of `own`.
pub fn parse_with(text: &str, mut own: impl FnMut(&str, &str) -> Result<bool, String>) -> Result<Header, String> {
    let blank_lines = text[..text.len() - text.trim_start().len()].matches('\n').count();
    let text = text.trim_start();
    let nesl = || text.strip_prefix('%').and_then(|rest| rest.split_once('%'));
    let v = || text.strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
    let comment = nesl().or_else(v).map(|(comment, _)| comment);
    let comment = comment.ok_or("the program does not begin with a comment")?;
    let mut header = Header::default();
    let mut message = None;
    let mut at = None;
    for (number, line) in (blank_lines + 1..).zip(comment.lines().map(str::trim)) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key {
            "expect" => header.lines.push(value.to_owned()),
            "error" if header.error.is_some() => return Err("two lines with `error`".to_owned()),
            "error" => header.error = Some(ExpectedError { code: code(value)?, message: None, at: None }),
            "exit" => {
                header.error = Some(ExpectedError { code: String::new(), message: None, at: None });
                message = Some(Failure::of_exit(value.parse().map_err(|_| "`exit` needs a number")?).to_string());
            }
            "message" => message = Some(value.to_owned()),
            "at" => at = Some(position(value)?),
            "compile-error" => {
                let (first, rest) = value.split_once(' ').unwrap_or((value, ""));
                header.rejected.push((code(first)?, rest.trim().to_owned()));
            }
            "args" => header.arguments = Some(value.split_whitespace().map(str::to_owned).collect()),
            word if own(word, value)? => {}
            // A misspelt key must not silently be prose.
            word if !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && word != "http" => {
                let prose = "where it is prose, begin it with a capital letter, or do without the colon";
                return Err(format!("line {number}: unknown key `{word}`; {prose}"));
            }
            _ => {}
        }
    }
    match &mut header.error {
        Some(error) => (error.message, error.at) = (message, at),
        None if message.is_some() || at.is_some() => return Err("`message` and `at` need `error`".to_owned()),
        None => {}
    }
    let runs = !header.lines.is_empty() || header.error.is_some();
    match (runs, header.rejected.is_empty()) {
        (false, true) => Err("no expectation: add `expect:`, `error:` or `compile-error:`".to_owned()),
        (true, false) => Err("a program that is rejected prints nothing".to_owned()),
        _ => Ok(header),
    }
}

fn code(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix('E').unwrap_or("");
    match digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(text.to_owned()),
        false => Err(format!("`{text}` is not an error code")),
    }
}

fn position(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once(':').and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}` is not `line:column`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_read_in_order() {
        let header =
            parse("% Title.\n expect: 1\n expect: [2, 3]\n error: E0401\n message: index\n at: 3:14\n%\n1;").unwrap();
        assert_eq!(header.lines, ["1", "[2, 3]"]);
        let error = ExpectedError { code: "E0401".to_owned(), message: Some("index".to_owned()), at: Some((3, 14)) };
        assert_eq!(header.error, Some(error));
    }

    #[test]
    fn headers_are_at_the_beginning() {
        for text in
            ["% Title. %\n\n% expect: 3 %\n1 + 2;", "1 + 2;\n%\n  expect: 3\n%", "/* Title. */\n/* expect: 3 */"]
        {
            assert!(is_elsewhere(text), "{text}");
        }
        for text in ["% expect: 3 %\n1 + 2;\n% expect: 4 %", "% Expected: 3 %\n1 + 2;", ""] {
            assert!(!is_elsewhere(text), "{text}");
        }
    }

    #[test]
    fn arguments_and_compile_errors() {
        let header = parse("% args: 1 [2,3]\n expect: 6 %").unwrap();
        assert_eq!(header.arguments, Some(vec!["1".to_owned(), "[2,3]".to_owned()]));
        let header = parse("% compile-error: E0202 must be int\n compile-error: E0201%").unwrap();
        let expected = [("E0202", "must be int"), ("E0201", "")];
        assert_eq!(header.rejected, expected.map(|(code, text)| (code.to_owned(), text.to_owned())));
    }

    #[test]
    fn keys_of_ones_own_are_handed_over() {
        let text = "% Prose: more.\n total: 5 all\n expect: 1 %";
        assert!(parse(text).is_err());
        let mut seen = Vec::new();
        let header = parse_with(text, |key, value| {
            seen.push((key.to_owned(), value.to_owned()));
            Ok(key == "total")
        });
        assert_eq!(header.unwrap().lines, ["1"]);
        assert_eq!(seen.last(), Some(&("total".to_owned(), "5 all".to_owned())));
        assert_eq!(parse_with(text, |_, _| Err("no".to_owned())), Err("no".to_owned()));
    }

    #[test]
    fn unknown_keys_are_said_with_their_lines() {
        let wrong = parse("\n\n% What it shows.\n  once: prose\n  expect: 1\n%\n1;").unwrap_err();
        assert!(wrong.starts_with("line 4: unknown key `once`; where it is prose, begin it with a capital"), "{wrong}");
        assert_eq!(parse("% Shows\n Once: prose\n expect: 1 %").unwrap().lines, ["1"]);
    }

    #[test]
    fn a_header_must_say_something_and_say_it_right() {
        for text in [
            "1;",
            "% prose only %",
            "% expct: 1 %",
            "% error: index %",
            "% expect: 1\n at: 1:2 %",
            "% error: E0401\n at: 5 %",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
