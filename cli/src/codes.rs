//! The codes of all errors and warnings, with their pages: the files of `docs/errors`, in the executable. They are
//! Markdown; a terminal shows them without its signs.
//!
//! The tests of the workspace see to it that every code has a page, and that the programs on the pages do what they
//! say.

use std::sync::LazyLock;

/// The pages of these codes.
macro_rules! pages {
    ($($code:ident),+) => {
        [$((stringify!($code), include_str!(concat!("../../docs/errors/", stringify!($code), ".md")))),+]
    };
}

/// All codes, in order, with their pages.
const PAGES: &[(&str, &str)] = &pages![
    E0101, E0102, E0103, E0104, E0105, E0106, E0110, E0111, E0112, E0113, E0114, E0115, E0116, E0117, E0190, E0199,
    E0201, E0202, E0203, E0204, E0205, E0206, E0207, E0208, E0209, E0210, E0212, E0213, E0221, E0222, E0223, E0224,
    E0225, E0226, E0227, E0228, E0229, E0230, E0231, E0301, E0401, E0402, E0403, E0404, E0405, E0406, E0407, E0408,
    E0409, E0410, E0411, E0412, E0413, E0414, E0415, E0416, E0417, E0420, E0421, E0422, E0423, E0424, E0426, E0427,
    E0429, E0501, E0502, E0503, E0504, E0505, E0506, E0507, E0508, E0509, E0510, E0511, E0512, E0513, E0514, E0601,
    E0602, E0603, W0199, W0201, W0202, W0203, W0204, W0205, W0206, W0207
];

/// The pages as a terminal shows them, in the order of [`PAGES`].
static PLAIN: LazyLock<Vec<String>> = LazyLock::new(|| PAGES.iter().map(|(_, page)| plain(page)).collect());

/// The page of a code, which may be written in small letters, in brackets, and by its number alone, as a terminal
/// shows it.
///
/// # Errors
/// If there is no such code: says so, with codes that look like it.
pub fn page(code: &str) -> Result<&'static str, String> {
    position(code).map(|index| PLAIN[index].as_str())
}

/// The same in Markdown.
///
/// # Errors
/// As of [`page`].
pub fn markdown(code: &str) -> Result<&'static str, String> {
    position(code).map(|index| PAGES[index].1)
}

/// A page without the signs of Markdown: code is what is indented, with the name of its file above it if it has one.
fn plain(page: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => {
                is_code = !is_code;
                if let Some((_, name)) = kind.split_once(" file ") {
                    text += &format!("{name}:\n\n");
                }
            }
            None if is_code && !line.is_empty() => text += &format!("    {line}\n"),
            None => text += &format!("{}\n", line.trim_start_matches("# ")),
        }
    }
    text
}

/// Where a code is among the pages.
fn position(code: &str) -> Result<usize, String> {
    let wanted = code.trim().trim_start_matches('[').trim_end_matches(']').to_ascii_uppercase();
    if let Some(index) = PAGES.iter().position(|(code, _)| *code == wanted) {
        return Ok(index);
    }
    // The number alone: errors come before warnings.
    let number = Some(&wanted).filter(|text| (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()));
    if let Some(index) =
        number.and_then(|number| PAGES.iter().position(|(code, _)| code[1..] == format!("{number:0>4}")))
    {
        return Ok(index);
    }
    let distance = |code: &str| {
        let differing = code.chars().zip(wanted.chars()).filter(|(one, other)| one != other).count();
        differing + code.len().abs_diff(wanted.len())
    };
    let near: Vec<&str> = PAGES.iter().map(|(code, _)| *code).filter(|code| distance(code) == 1).take(6).collect();
    let suggestion = match near.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [rest @ .., last] => format!("; did you mean {} or {last}?", rest.join(", ")),
    };
    Err(format!("there is no code `{}`{suggestion}\n`nesl explain` lists all codes", code.trim()))
}

/// All codes in order.
pub fn all() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

/// All codes with their titles, one a line.
pub fn list() -> String {
    PAGES.iter().map(|(code, page)| format!("{code}  {}\n", title(page))).collect()
}

/// What follows the code in the first line of a page.
fn title(page: &str) -> &str {
    page.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, title)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors");
        let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
        let mut files: Vec<String> = names.map(|name| name.to_string_lossy().replace(".md", "")).collect();
        files.sort();
        let codes: Vec<&str> = PAGES.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, files);
        for (code, page) in PAGES {
            assert!(page.starts_with(&format!("# {code}: ")) && !title(page).is_empty(), "{code}");
        }
    }

    #[test]
    fn a_terminal_shows_pages_without_markdown() {
        for (code, _) in PAGES {
            let text = page(code).unwrap();
            assert!(text.starts_with(&format!("{code}: ")) && !text.contains("```"), "{text}");
            assert!(markdown(code).unwrap().starts_with(&format!("# {code}: ")));
        }
        let text = "# E1: a\n\nB `c`:\n\n```nesl bad\nx\n\n  # y\n```\n\n```nesl file d.nesl\nz\n```\n";
        assert_eq!(plain(text), "E1: a\n\nB `c`:\n\n    x\n\n      # y\n\nd.nesl:\n\n    z\n");
    }

    #[test]
    fn unknown_codes_suggest_known_ones() {
        assert!(page("e0202").unwrap().starts_with("E0202: "));
        assert!(page("[E0202]").is_ok());
        assert!(page("202").unwrap().starts_with("E0202: ") && page("0202").is_ok() && page("0000").is_err());
        let problem = page("E7777").unwrap_err();
        assert!(problem.contains("no code `E7777`") && !problem.contains("did you mean"), "{problem}");
        let problem = page("E0107").unwrap_err();
        assert!(problem.contains("did you mean") && problem.contains("E0101"), "{problem}");
        assert!(page("E202").is_err());
        assert!(list().lines().any(|line| line.starts_with("E0202  two types")), "{}", list());
    }
}
