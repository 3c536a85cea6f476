//! Every code of an error or warning has a page under docs/errors, and what the page shows is so.
//!
//! A page has two programs: one marked `nesl bad`, or `v bad`, which gives this code and no other, and the repaired one,
//! marked `nesl good`, in which nothing is found and nothing fails. Files that they import stand before them, `nesl file
//! NAME`.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_frontend::Diagnostic;
use nesl_frontend::diagnostic::Severity;
use nesl_tests::engines::{self, Local};
use nesl_tests::outcome::End;
use nesl_tests::programs::root;
use nesl_tests::session;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Codes that no small program gives; their pages begin the reason with [`MARKER`].
const NOT_SHOWN: [&str; 11] =
    ["E0105", "E0199", "E0422", "E0424", "E0426", "E0427", "E0514", "E0601", "E0602", "E0603", "W0199"];

/// What stands on a page without programs.
const MARKER: &str = "No small program shows it: ";

/// The pages by code.
fn pages() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root().join("docs/errors")).unwrap().flatten();
    let page = |path: &Path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path.to_path_buf());
    let pages = entries.map(|entry| page(&entry.path()));
    pages.map(|(code, path)| (code, std::fs::read_to_string(path).unwrap())).collect()
}

/// The fenced blocks of a page with this mark, each with the name of its file.
fn blocks<'a>(page: &'a str, mark: &str) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    for (syntax, name) in [("nesl", "page.nesl"), ("v", "page.v")] {
        let open = format!("```{syntax} {mark}\n");
        found.extend(page.match_indices(&open).map(|(start, _)| {
            let block = &page[start + open.len()..];
            (name, &block[..block.find("```").unwrap_or(block.len())])
        }));
    }
    found
}

/// The files of a page, with their names.
fn files(page: &str) -> Vec<(String, String)> {
    let parts = page.split("```nesl file ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(name, rest)| (name.to_owned(), rest.split("```").next().unwrap_or(rest).to_owned())).collect()
}

/// The codes of what is found in a program among others, or of what fails when it runs, which it does if it is alone.
fn codes((name, text): (&str, &str), files: &[(String, String)]) -> BTreeSet<String> {
    let (_, checked) = session::diagnose_among(name, text, files);
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let mut codes: BTreeSet<String> = checked.diagnostics.iter().map(|diagnostic| diagnostic.code.to_owned()).collect();
    if !checked.diagnostics.iter().any(is_error) && files.is_empty() {
        // What runs knows a program of V by its first comment.
        let text = if name.ends_with(".v") { format!("/**/{text}") } else { text.to_owned() };
        match engines::run(Local::Oracle, &text, None).end {
            End::Done => {}
            End::Failed { code, .. } => {
                codes.insert(code);
            }
            End::Rejected(errors) => codes.extend(errors.into_iter().map(|(code, _)| code)),
            other => panic!("{text}\n{other}"),
        }
    }
    codes
}

#[test]
fn programs_of_the_pages_give_their_codes() {
    let mut problems = Vec::new();
    for (code, page) in pages() {
        let (bad, good) = (blocks(&page, "bad"), blocks(&page, "good"));
        let files = files(&page);
        let is_explained = page.lines().any(|line| line.starts_with(MARKER) && line.len() > MARKER.len());
        let may_be_without = NOT_SHOWN.contains(&code.as_str());
        if is_explained != may_be_without || may_be_without != bad.is_empty() || bad.len() != good.len() {
            problems.push(format!("{code}: needs a bad and a good program, or a reason and an entry in NOT_SHOWN"));
        }
        for text in bad {
            let found = codes(text, &files);
            if found != BTreeSet::from([code.clone()]) {
                problems.push(format!("{code}: the bad program gives {found:?}\n{}", text.1));
            }
        }
        for text in good {
            let found = codes(text, &files);
            if !found.is_empty() {
                problems.push(format!("{code}: the good program gives {found:?}\n{}", text.1));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn pages_begin_with_code_and_title() {
    for (code, page) in pages() {
        let title = page.lines().next().and_then(|line| line.strip_prefix(&format!("# {code}: ")));
        assert!(title.is_some_and(|title| title.len() > 5), "{code}: the first line must be `# {code}: title`");
        assert!(page.lines().nth(2).is_some_and(|line| line.len() > 20), "{code}: a paragraph must follow the title");
    }
}

/// The codes that stand in quotes in the sources under a folder.
fn codes_in(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            codes_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let is_code = |word: &str| {
                word.len() == 5
                    && word.starts_with(['E', 'W'])
                    && word[1..].bytes().all(|byte| byte.is_ascii_digit())
                    // What unit tests make up.
                    && !["E0100", "E0900", "E0300"].contains(&word)
            };
            found.extend(text.split('"').filter(|word| is_code(word)).map(str::to_owned));
        }
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let mut used = BTreeSet::new();
    for folder in ["frontend/src", "flatten/src", "vcode/src", "vcode/prim/src", "backend/src", "cli/src/checkpoint"] {
        codes_in(&root().join(folder), &mut used);
    }
    let described: BTreeSet<String> = pages().into_keys().collect();
    let missing: Vec<&String> = used.difference(&described).collect();
    let unused: Vec<&String> = described.difference(&used).collect();
    assert!(
        missing.is_empty() && unused.is_empty(),
        "codes without a page: {missing:?}; pages without a code: {unused:?}"
    );
}
