//! `nesl fmt`: every program of the repository is laid out by it, and random programs with random blanks and comments
//! stay the programs that they are.

use nesl_frontend::ast::TopLevel;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::format::format;
use nesl_frontend::syntax::nesl::{lexer, parser};
use nesl_span::{FileId, Span};
use nesl_tests::generate;
use nesl_tests::programs::root;
use nesl_tests::random::Random;
use std::path::{Path, PathBuf};

/// What these programs show is blanks, lines and comments, or a program as it was printed.
const ABOUT_LAYOUT: [&str; 6] = [
    "tests/programs/reference/1_01_lexical.nesl",
    "tests/programs/reference/1_01_operators_of_two_characters.nesl",
    "tests/programs/reference/1_01_write_not_less.nesl",
    "tests/programs/reference/1_02_rejected.nesl",
    "tests/programs/syntax/comments.nesl",
    "tests/programs/v/quicksort.v",
];

/// Random programs that are laid out, and the seed of the first.
const COUNT: u64 = 400;
const FIRST: u64 = 1;

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_source = !matches!(entry.file_name().to_string_lossy().as_bytes(), [b'.', ..] | b"target");
        if path.is_dir() && is_source {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "nesl" || extension == "v") {
            found.push(path);
        }
    }
}

#[test]
fn every_program_is_laid_out() {
    let root = root();
    let mut found = Vec::new();
    collect(&root, &mut found);
    assert!(found.len() > 700, "only {} programs", found.len());
    let mut differing = Vec::new();
    for path in found {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        // What has errors of syntax shows that.
        let syntax = Syntax::of(&name);
        let Ok(formatted) = syntax.format(FileId(0), &text) else { continue };
        let is_same = syntax.is_same_program(&text, &formatted) && (syntax == Syntax::V || same(&text, &formatted));
        assert!(is_same, "{name}");
        assert_eq!(syntax.format(FileId(0), &formatted).as_ref(), Ok(&formatted), "{name} a second time");
        if formatted != text {
            differing.push(name);
        }
    }
    differing.sort();
    assert_eq!(differing, ABOUT_LAYOUT, "run `nesl fmt` on these, or take them from the list if they are no exception");
}

#[test]
fn random_programs_stay_the_same_whatever_is_between_their_tokens() {
    println!("seeds {FIRST} to {}", FIRST + COUNT - 1);
    for seed in FIRST..FIRST + COUNT {
        let plain = generate::program(seed).text();
        let mut random = Random::new(seed);
        for text in [plain.clone(), disordered(&mut random, &plain), disordered(&mut random, &plain)] {
            let failed = |what: &str, result: &str| -> ! { panic!("seed {seed}: {what}\n{text}\nbecame\n{result}") };
            let Ok(once) = format(FileId(0), &text) else { failed("no program", "") };
            if !same(&text, &once) {
                failed("another program", &once);
            }
            match format(FileId(0), &once) {
                Ok(twice) if twice == once => {}
                Ok(twice) => failed("laid out twice it differs", &format!("{once}\nand then\n{twice}")),
                Err(_) => failed("no program", &once),
            }
            let is_loose = |line: &str| line.ends_with([' ', '\t', '\r']) && !line.ends_with("` ");
            if once.lines().any(|line| is_loose(line) && !line.contains('%')) {
                failed("blanks at the end of a line", &once);
            }
        }
    }
}

/// Whether trees, but for places, and comments are the same.
fn same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| {
        let parsed = parser::parse(FileId(0), text);
        let comment = |span: &Span| text[span.start as usize..span.end as usize].to_owned();
        (shape(&parsed.forms), parsed.comments.iter().map(comment).collect::<Vec<_>>())
    });
    one == other
}

/// Trees as text without places.
fn shape(forms: &[TopLevel]) -> String {
    const PLACE: &str = "Span { file: FileId(0), ";
    let text = format!("{forms:?}");
    let mut pieces = text.split(PLACE);
    let first = pieces.next().unwrap_or("").to_owned();
    let rest = pieces.map(|piece| piece.split_once('}').unwrap_or_else(|| panic!("no end of a place: {piece}")).1);
    first + &rest.collect::<String>()
}

/// The same tokens with other blanks, lines and comments between them; in some programs many, in some few.
fn disordered(random: &mut Random, text: &str) -> String {
    const BLANKS: [&str; 4] = [" ", "  ", "\t", " "];
    const LINES: [&str; 5] = ["\n", "\n\n", "\n        ", "\r\n", " \n \n\n"];
    const COMMENTS: [&str; 6] =
        ["% a %", "%b%", "\n% on a line of its own %\n", "% of two\n   lines %", "% ü → %\n", "%%"];
    let (lines, comments) = (random.below(35), random.below(20));
    let mut made = String::new();
    for (_, span) in lexer::lex(FileId(0), text).tokens {
        loop {
            match random.below(100) {
                chance if chance < lines => made += *random.pick(&LINES),
                chance if chance < lines + comments => made += *random.pick(&COMMENTS),
                _ => break,
            }
        }
        made += *random.pick(&BLANKS);
        made.push_str(&text[span.start as usize..span.end as usize]);
    }
    made
}

#[test]
fn shapes_tell_programs_apart() {
    assert!(same("a + b;", "a\n +b ;") && !same("a + b;", "a - b;") && !same("a + (b + c);", "a + b + c;"));
    assert!(same("% c % 1;", "1 % c %;") && !same("% c % 1;", "1;") && !same("% c % 1;", "% c%1;"));
}
