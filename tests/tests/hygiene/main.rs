//! Rules that the compiler does not check: headers and lengths of files, where unsafe code and some libraries may be,
//! and which crate may depend on which. Beside this file: the habits inside of crates.

mod habits;
mod links;
mod modules;

use nesl_tests::programs::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longer files are to be split.
const LONGEST: usize = 600;

/// All Rust files of the repository, with names relative to its root.
fn sources() -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("folders can be listed").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    collect(&path, found);
                }
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    let root = root();
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("files can be read"))
        })
        .collect()
}

/// The lines of a file that break a rule, as `file:line`, where comments do not count.
fn lines_with(files: &[(String, String)], breaks: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in files {
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if breaks(name, code) {
                found.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    found
}

fn none(found: Vec<String>, rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

/// Whether a word occurs in code, not as part of a longer one.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(start, _)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        !code[..start].ends_with(is_part) && !code[start + word.len()..].starts_with(is_part)
    })
}

#[test]
fn every_file_begins_by_saying_what_it_is_for() {
    let missing = sources().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name);
    none(missing.collect(), "these files have no `//!` header");
}

#[test]
fn files_are_short() {
    let long = sources().into_iter().filter(|(_, text)| text.lines().count() > LONGEST).map(|(name, _)| name);
    none(long.collect(), "these files are longer than 600 lines");
}

#[test]
fn unsafe_code_is_in_the_backend_only() {
    let found = lines_with(&sources(), |name, code| {
        // The parsers of tree-sitter grammars are C.
        let is_allowed = name.starts_with("backend/")
            || name.starts_with("benches/")
            || ["tests/tests/hygiene/main.rs", "tests/tests/syntax/trees.rs"].contains(&name);
        !is_allowed && has_word(code, "unsafe")
    });
    none(found, "unsafe code outside of backend/");
}

#[test]
fn parser_libraries_stay_where_they_belong() {
    let files = sources();
    let found = lines_with(&files, |name, code| {
        let is_renderer = name.starts_with("frontend/src/render") || name == "tests/tests/hygiene/main.rs";
        !is_renderer && has_word(code, "ariadne")
    });
    none(found, "only the renderer knows ariadne");
    let found = lines_with(&files, |name, code| {
        let places = ["frontend/src/syntax/", "tests/tests/hygiene/main.rs"];
        !places.iter().any(|place| name.starts_with(place)) && has_word(code, "chumsky")
    });
    none(found, "only lexers and parsers know chumsky");
}

#[test]
fn inference_has_no_words() {
    let found = lines_with(&sources(), |name, code| {
        let is_inference = name == "frontend/src/infer.rs" || name.starts_with("frontend/src/infer/");
        is_inference && ["Diagnostic", "Severity", "Label"].iter().any(|word| has_word(code, word))
    });
    none(found, "inference finds problems, which the syntax of the text words");
}

#[test]
fn nothing_is_left_to_do() {
    let words = ["todo!", "unimplemented!", "dbg!"];
    let found = lines_with(&sources(), |name, code| {
        name != "tests/tests/hygiene/main.rs" && words.iter().any(|word| code.contains(&format!("{word}(")))
    });
    none(found, "unfinished code");
}

/// The crates that each crate of the workspace may use, and does: what a new edge must be added to.
const EDGES: [(&str, &[&str]); 14] = [
    ("nesl-span", &[]),
    ("nesl-prim", &[]),
    ("nesl-stdlib", &[]),
    ("nesl-frontend", &["nesl-prim", "nesl-span", "nesl-stdlib"]),
    ("nesl-service", &["nesl-frontend", "nesl-prim", "nesl-span"]),
    ("nesl-vcode", &["nesl-prim", "nesl-span"]),
    ("nesl-cmu", &["nesl-prim", "nesl-span", "nesl-vcode"]),
    ("nesl-flatten", &["nesl-frontend", "nesl-prim", "nesl-span", "nesl-vcode"]),
    ("nesl-native", &["nesl-prim", "nesl-vcode"]),
    ("nesl-picture", &[]),
    ("nesl-backend", &["nesl-native", "nesl-picture", "nesl-prim", "nesl-span", "nesl-vcode"]),
    ("nesl-mpi", &["nesl-backend", "nesl-prim", "nesl-span", "nesl-vcode"]),
    (
        "nesl",
        &[
            "nesl-backend",
            "nesl-cmu",
            "nesl-flatten",
            "nesl-frontend",
            "nesl-mpi",
            "nesl-prim",
            "nesl-service",
            "nesl-span",
            "nesl-vcode",
        ],
    ),
    (
        "nesl-tests",
        &[
            "nesl-backend",
            "nesl-cmu",
            "nesl-flatten",
            "nesl-frontend",
            "nesl-mpi",
            "nesl-prim",
            "nesl-service",
            "nesl-span",
            "nesl-vcode",
        ],
    ),
];

#[test]
fn crates_depend_only_leftwards() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let used = package["dependencies"].as_array().unwrap().iter();
        // Tests may use what they like: the kind of an ordinary dependency is null.
        let used = used.filter(|dependency| dependency["kind"].is_null());
        let used = used.filter_map(|dependency| dependency["name"].as_str()).filter(|name| names.contains(name));
        edges.insert(package["name"].as_str().unwrap(), used.collect());
    }
    // Benchmarks, when there are any, may use everything.
    edges.remove("nesl-benches");
    let expected: BTreeMap<&str, BTreeSet<&str>> =
        EDGES.iter().map(|(name, used)| (*name, used.iter().copied().collect())).collect();
    assert_eq!(edges, expected);
}
