//! Links in documents lead somewhere: what they name has been there, and moved with its text.

use crate::none;
use nesl_tests::programs::root;
use std::path::{Path, PathBuf};

/// All documents below a folder.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("folders can be listed").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                documents(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The targets of `[text](target)` in a document, outside of blocks of code.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        in_block ^= line.trim_start().starts_with("```");
        let mut rest = if in_block { "" } else { line };
        while let Some((_, after)) = rest.split_once("](") {
            let (target, after) = after.split_once(')').unwrap_or((after, ""));
            found.push(target.to_owned());
            rest = after;
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut paths = Vec::new();
    documents(&root(), &mut paths);
    let mut count = 0;
    let mut missing = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("documents can be read");
        for target in targets(&text) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains("://") || target.contains(' ') {
                continue;
            }
            count += 1;
            if !path.parent().is_some_and(|folder| folder.join(file).exists()) {
                missing.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(count > 50, "only {count} links in {} documents", paths.len());
    none(missing, "links to what is not there");
}

#[test]
fn targets_are_found() {
    let text = "see [`a`](a.md#b) and [c](../c.rs)\n```sh\n[no](link)\n```\n[d](e)";
    assert_eq!(targets(text), ["a.md#b", "../c.rs", "e"]);
}
