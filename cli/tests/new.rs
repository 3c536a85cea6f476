//! `nesl new`: a folder that runs, passes its tests, is laid out and can be built.
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, finish};

#[test]
fn a_new_folder_runs_and_is_laid_out() {
    let bench = Bench::new();
    bench
        .nesl(&["new", "words"])
        .prints("made words, with a program to begin with; now:\n  cd words\n  nesl words.nesl\n");
    let in_folder = |arguments: &[&str]| {
        finish(bench.command(env!("CARGO_BIN_EXE_nesl").as_ref()).current_dir(bench.path("words")).args(arguments), "")
    };
    in_folder(&["words.nesl"]).prints("[\"three\", \"seven\"]\n");
    in_folder(&["words.nesl", "to be or not"]).prints("[\"not\"]\n");
    in_folder(&["words.nesl", "@.gitignore"]).prints("[\"/words\"]\n");
    in_folder(&["fmt", "--check"]).prints("");
    let tested = in_folder(&["test"]);
    assert_eq!((tested.code, tested.out.lines().last()), (Some(0), Some("3 passed, 0 failed")), "{tested:#?}");
    assert!(tested.out.starts_with("ok      words.nesl: "), "{tested:#?}");
    in_folder(&["build", "words.nesl"]).prints("");
    let built = finish(bench.command(&bench.path("words/words")).arg("a bc"), "");
    built.prints("[\"bc\"]\n");
    // Every program that is shown in the folder's own text is there.
    let readme = std::fs::read_to_string(bench.path("words/README.md")).unwrap_or_default();
    assert!(readme.contains("nesl words.nesl @README.md") && !readme.contains("NAME"), "{readme}");
}

#[test]
fn nothing_that_exists_is_touched_and_names_are_plain() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("taken")).unwrap();
    bench.write("taken/a.nesl", "1;");
    bench.nesl(&["new", "taken"]).fails(2, &["taken exists; `nesl new` takes the name of a new folder"]);
    bench.nesl(&["new", "taken/a.nesl"]).fails(2, &["cannot be the name of a program"]);
    for name in ["a b", "a%b", ".", "..", "/", "a;b", ".hidden"] {
        bench.nesl(&["new", name]).fails(2, &["cannot be the name of a program"]);
    }
    assert_eq!(std::fs::read_dir(bench.path("taken")).map(Iterator::count).ok(), Some(1));
    // Folders above it are made, and shown as a shell reads them.
    let ran = bench.nesl(&["new", "some where/deep"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    assert!(ran.out.contains("\n  cd 'some where/deep'\n  nesl deep.nesl\n"), "{ran:#?}");
    bench.nesl(&["some where/deep/deep.nesl"]).prints("[\"three\", \"seven\"]\n");
}
