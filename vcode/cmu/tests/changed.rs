//! Texts in the stack format with words changed: an error, or a program that every pass takes. What a person gets wrong
//! is never a bug of nesl.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
#![allow(clippy::disallowed_methods, reason = "the programs of the tests are files")]

use nesl_span::FileId;
use nesl_vcode::{Options, optimise};
use std::path::Path;

/// Words that matter to the format.
const WORDS: [&str; 24] = [
    "COPY 1 0",
    "POP 1 0",
    "CPOP 1 1",
    "CONST INT 1",
    "CONST BOOL T",
    "CONST FLOAT 2.5",
    "IF",
    "ELSE",
    "ENDIF",
    "RET",
    "FUNC NEW",
    "CALL MAIN",
    "PAIR",
    "UNPAIR",
    "+ INT",
    "COND",
    "MAKE_SEGDES",
    "LENGTHS",
    "PERMUTE INT",
    "PACK BOOL",
    "+_SCAN FLOAT",
    "READ INT",
    "WRITE",
    "9223372036854775807",
];

fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below.max(1)
    }
}

fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cmu");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_program = |path: &Path| path.extension().is_some_and(|extension| extension == "vcode");
    paths.iter().filter(|path| is_program(path)).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn changed_texts_are_errors_or_programs() {
    let texts = texts();
    assert!(!texts.is_empty());
    let mut random = random();
    let mut accepted = 0;
    for round in 0..1500 {
        let mut lines: Vec<&str> = texts[round % texts.len()].lines().collect();
        for _ in 0..=random(4) {
            let (place, other) = (random(lines.len()), random(lines.len()));
            match random(5) {
                _ if lines.is_empty() => {}
                0 => _ = lines.remove(place),
                1 => lines.swap(place, other),
                2 => lines.insert(place, WORDS[random(WORDS.len())]),
                3 => lines[place] = WORDS[random(WORDS.len())],
                _ => lines.insert(place, lines[other]),
            }
        }
        let text = lines.join("\n");
        if let Ok(mut program) = nesl_cmu::read(&text, FileId(0)) {
            accepted += 1;
            if let Err(error) = optimise(&mut program, &Options::default()) {
                panic!("{error}\n{text}");
            }
        }
    }
    assert!(accepted > 100, "{accepted} of the texts were programs");
}

#[test]
fn nesting_without_an_end_is_an_error() {
    for (open, close) in [("CONST BOOL T\nIF\n", "ELSE\nENDIF\n"), ("CONST INT 1\nPAIR\n", ""), ("FUNC F\n", "RET F\n")]
    {
        for closed in [false, true] {
            let (many, ends) = (open.repeat(200_000), if closed { close.repeat(200_000) } else { String::new() });
            let text = format!("FUNC MAIN_1\n{many}{ends}RET MAIN_1\n");
            assert!(nesl_cmu::read(&text, FileId(0)).is_err(), "{open}");
        }
    }
}
