//! What a program says of itself to those who run it: the documentation of its `main`, or else the comment that its
//! text begins with, without what that says to tests.

use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::parser;
use nesl_span::{FileId, SourceFile};

/// The introduction to the program in a file, without marks of comments; nothing where there is none.
pub fn introduction(file: FileId, source: &SourceFile) -> Option<String> {
    let syntax = Syntax::of(&source.name);
    let text = (syntax == Syntax::Nesl).then(|| documentation(file, &source.text)).flatten();
    text.or_else(|| first_comment(syntax, file, &source.text)).filter(|text| !text.is_empty())
}

fn documentation(file: FileId, text: &str) -> Option<String> {
    let forms = parser::parse(file, text).forms.into_iter();
    let documentation = forms.filter_map(|form| match form.kind {
        TopLevelKind::Function(function) if &*function.name.symbol == "main" => function.doc,
        _ => None,
    });
    documentation.last().map(|text| text.trim().to_owned())
}

/// The comments before the first token.
fn first_comment(syntax: Syntax, file: FileId, text: &str) -> Option<String> {
    let lexed = syntax.lexed(file, text);
    let code = lexed.tokens.first().map_or(u32::MAX, |(_, span)| span.start);
    let comments = lexed.comments.iter().filter(|span| span.start < code);
    let lines: Vec<&str> = comments
        .filter_map(|span| text.get(span.start as usize..span.end as usize))
        .flat_map(|comment| without_indent(unmarked(syntax, comment)))
        .filter(|line| !is_for_tests(line))
        .collect();
    Some(lines.join("\n").trim().to_owned())
}

/// The lines of a comment without the indent that all of them have, but for the first, which stands behind the mark.
fn without_indent(comment: &str) -> Vec<&str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = comment.lines();
    let first = lines.next().map(str::trim);
    let least = lines.clone().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    first.into_iter().chain(lines.map(|line| line.get(least..).unwrap_or("").trim_end())).collect()
}

fn unmarked(syntax: Syntax, comment: &str) -> &str {
    match syntax {
        Syntax::Nesl => comment.trim_matches('%'),
        Syntax::V => match comment.strip_prefix("//") {
            Some(line) => line,
            None => comment.trim_start_matches("/*").trim_end_matches("*/"),
        },
    }
}

/// Whether a line is one of a test's: `expect: 3`.
fn is_for_tests(line: &str) -> bool {
    let key = line.trim().split_once(':').map_or("", |(key, _)| key);
    !key.is_empty() && key.chars().all(|character| character.is_ascii_lowercase() || character == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::{Origin, SourceMap};

    fn of(name: &str, text: &str) -> Option<String> {
        let mut sources = SourceMap::default();
        let file = sources.add(name, text, Origin::User);
        introduction(file, sources.file(file))
    }

    #[test]
    fn programs_introduce_themselves() {
        for (name, text, expected) in [
            ("a.nesl", "% One.\n\n  Two,\n    three. %\n% Four. %\nf = 1; % five %", "One.\n\nTwo,\n  three.\nFour."),
            ("a.nesl", "#!/usr/bin/env nesl\n% One.\n  args: 3\n  expect: 4 %\nfunction main(n) = n;", "One."),
            ("a.nesl", "% One. %\nfunction main(n) : int -> int \"Two. \" = n;", "Two."),
            ("a.v", "// One\n// two.\n/* Three. */\nint main() { return 1; } // four", "One\ntwo.\nThree."),
        ] {
            assert_eq!(of(name, text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "1;", "%%1;", "% expect: 1 % 1;", "function (\n% One. %"] {
            assert_eq!(of("a.nesl", text), None, "{text}");
        }
    }
}
