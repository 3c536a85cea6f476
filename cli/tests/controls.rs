//! Characters that a terminal obeys instead of showing them: whatever brings them along, messages show them.

mod common;

use common::{Bench, Ran};

/// Sets the clipboard, clears the screen by a control of one character, turns the line around.
const HOSTILE: &str = "\u{1b}]52;c;eA\u{7}\u{9b}2J\u{202e}";
const SHOWN: &str = "␛]52;c;eA␇�2J�";

/// Neither output holds any of them; standard error holds what stands for them.
#[track_caller]
fn is_safe(ran: &Ran) {
    let is_raw =
        |character: char| character.is_control() && !matches!(character, '\n' | '\t') || character == '\u{202e}';
    assert!(!ran.err.contains(is_raw) && !ran.out.contains(is_raw), "{ran:?}");
    // Some messages have escapes of their own.
    assert!(ran.err.contains(SHOWN) || ran.err.contains("\\u{1b}]52;c;eA\\u{7}"), "{ran:?}");
    assert_ne!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn sources_and_their_names() {
    let bench = Bench::with("a.nesl", format!("x = \"{HOSTILE}\" + ;\n"));
    is_safe(&bench.nesl(&["run", "a.nesl"]));
    is_safe(&bench.nesl(&["check", "a.nesl"]));
    is_safe(&bench.nesl(&["run", "--color", "never", "a.nesl"]));
    is_safe(&bench.piped(&[], &format!("{HOSTILE};\n")));
    is_safe(&bench.piped(&[], &format!(":{HOSTILE}\n:doc {HOSTILE}\n:load {HOSTILE}\n")));
    let name = format!("{HOSTILE}.nesl");
    for command in ["run", "check", "vcode", "fmt", "build"] {
        let output: &[&str] = if command == "build" { &["-o", "b"] } else { &[] };
        is_safe(&bench.nesl(&[&[command, &name], output].concat()));
        bench.write(&name, "x = ;");
        is_safe(&bench.nesl(&[&[command, &name], output].concat()));
        std::fs::remove_file(bench.path(&name)).unwrap();
    }
    let ran = bench.nesl(&["run", "--message-format", "json", "a.nesl"]);
    assert!(!ran.err.contains(|character: char| character.is_control() && character != '\n'), "{ran:?}");
    assert!(!ran.err.contains('\u{202e}') && ran.err.contains("E0117"), "{ran:?}");
}

#[test]
fn words_of_the_command_line() {
    let bench = Bench::with("main.nesl", "function main(v) : [int] -> int = sum(v);");
    bench.write("numbers", format!("1 {HOSTILE}"));
    bench.write(HOSTILE, "one");
    for words in [
        &["run", "main.nesl", "--", HOSTILE][..],
        &["run", "main.nesl", "--", &format!("[{HOSTILE}]")],
        &["run", "main.nesl", "--", &format!("@{HOSTILE}")],
        &[HOSTILE],
        &["--threads", HOSTILE],
        &["--engine", HOSTILE, "run", "main.nesl"],
        &["--max-memory", &format!("1{HOSTILE}")],
        &[&format!("--{HOSTILE}")],
        &["explain", HOSTILE],
        &["doc", HOSTILE],
        &["apropos", HOSTILE],
        &["vcode", "main.nesl", "--disable", HOSTILE],
    ] {
        is_safe(&bench.nesl(words));
    }
    let ran = bench.nesl(&["run", "main.nesl", "--", "numbers"]);
    assert!(ran.code == Some(2) && !ran.err.contains('\u{1b}') && !ran.err.contains('\u{202e}'), "{ran:?}");
    assert!(!bench.nesl(&["explain", "E0117"]).out.contains('\u{202e}'));
}

#[test]
fn what_programs_say_is_wrong() {
    let bench = Bench::new();
    let failing = |text: &str| {
        bench.write("fail.nesl", format!("function fail(text) : [char] -> int = error(text);\n{text}\n"));
        bench.nesl(&["run", "fail.nesl"])
    };
    let escaped: String = HOSTILE.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    is_safe(&failing(&format!("fail(\"{escaped}\");")));
    // A long text is shown in part.
    let ran = failing(&format!("fail(flatten({{\"{escaped}\" : i in [0:100000]}}));"));
    is_safe(&ran);
    assert!(ran.err.len() < 30_000, "{} bytes", ran.err.len());
}

#[test]
fn what_files_hold() {
    let bench = Bench::with("npy.nesl", "function main(v) : [float] -> int = #v;");
    let header = format!("{{'descr': '{HOSTILE}', 'fortran_order': False, 'shape': (1,), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    bench.write("a.npy", &file);
    let ran = bench.nesl(&["run", "npy.nesl", "--", "a.npy"]);
    assert!(ran.code == Some(2) && !ran.err.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{ran:?}");
    // What is shown as a value reads back, whatever it holds; what is printed is the program's own.
    bench.write("text", HOSTILE);
    bench.write("show.nesl", "x = read_string_from_file(\"text\"); x;\n");
    let ran = bench.nesl(&["run", "show.nesl"]);
    assert!(ran.code == Some(0) && !ran.out.contains(['\u{1b}', '\u{202e}']) && ran.out.contains("\\x1b"), "{ran:?}");
}
