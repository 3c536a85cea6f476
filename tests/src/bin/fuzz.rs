//! Fuzzing of lexer, parser, checker, renderer and formatter:
//! `cargo run --release -p nesl-tests --bin fuzz -- --seconds N --seed S`.
//!
//! Programs of the repository, of NESL and of V, are changed by bytes and by tokens, and every phase must answer each
//! within a few seconds. An input is written to a file before it is tried, so that what kills the process (a stack that
//! overflows) is found there; panics and timeouts are kept as `finding-…` beside it, with what happened on standard output. Names
//! of files are hostile, too, and no report may hold a character that a terminal obeys instead of showing it.

use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::{lexer, parser};
use nesl_frontend::syntax::v::highlight;
use nesl_frontend::{Diagnostic, render};
use nesl_prim::visible;
use nesl_span::{FileId, SourceMap, Span};
use nesl_tests::generate_v;
use nesl_tests::programs::{self, root};
use nesl_tests::random::Random;
use nesl_tests::session::{diagnose, written_in_the_other};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// What one input may take: the longest are some hundred kilobytes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer inputs are cut.
const LONGEST: usize = 200_000;

/// The stack of the thread that is tested: that of a main thread.
const STACK: usize = 8 << 20;

/// So many random programs of V are changed, beside those of the repository.
const PROGRAMS_OF_V: u64 = 100;

/// How often progress is said.
const NEWS: Duration = Duration::from_secs(60);

/// Pieces that matter to the grammar, as random tokens.
const WORDS: [&str; 71] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    "$",
    ",",
    ":",
    "::",
    "|",
    "=",
    "==",
    "/=",
    "!=",
    "<",
    "<=",
    "->",
    "<-",
    "=>",
    ":=",
    "+",
    "++",
    "-",
    "*",
    "/",
    "^",
    "#",
    "@",
    "'",
    "'+",
    "`a",
    "`",
    "\"",
    "\"text\"",
    "\\",
    "%",
    "% comment %",
    "1",
    "2.5",
    "9223372036854775808",
    "1e999",
    "12ab",
    "t",
    "f",
    "x",
    "v",
    "in",
    "let",
    "if",
    "then",
    "else",
    "and",
    "not",
    "function",
    "datatype",
    "int",
    "[] int",
    "é",
    "☃",
    "\u{0}",
    "\u{1b}]52;c;eA==\u{7}",
    "\u{1b}[31m",
    "\u{9b}2J",
    "\u{7f}",
    "\r",
    "\u{b}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
];

/// The same for V, beside those.
const WORDS_OF_V: [&str; 36] = [
    "><",
    "++",
    "+=",
    "<<=",
    "&&",
    "||",
    "!",
    "&",
    "->",
    ".",
    "?",
    "/* comment */",
    "// comment\n",
    "/*",
    "'a'",
    "'\\n'",
    "0x1F",
    "017",
    "1e",
    "pure",
    "int",
    "double",
    "void",
    "struct",
    "struct p",
    "while",
    "do",
    "for",
    "break",
    "continue",
    "return",
    "[*]",
    "(int)",
    "import \"a.v\" as a;",
    "printf(\"%d\\n\", 1);",
    "union",
];

/// What inputs are called, but for the end.
const NAMES: [&str; 3] = ["fuzz", "fuzz\u{1b}[2J", "\u{202e}lsen\n"];

/// A program, or what has become of one.
#[derive(Clone)]
struct Input {
    syntax: Syntax,
    text: String,
}

struct Settings {
    seconds: u64,
    seed: u64,
    folder: PathBuf,
}

/// Reads `--seconds N --seed S --folder F`.
fn settings() -> Result<Settings, String> {
    let folder = std::env::temp_dir().join(format!("nesl-fuzz-{}", std::process::id()));
    let mut settings = Settings { seconds: 60, seed: 1, folder };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--seconds" => settings.seconds = number()?,
            "--seed" => settings.seed = number()?,
            "--folder" => settings.folder = PathBuf::from(&value),
            _ => return Err(format!("there is no option {name}; options: --seconds N --seed S --folder F")),
        }
    }
    Ok(settings)
}

/// All programs of the repository, the library's files among them.
fn corpus() -> Vec<Input> {
    let syntax = |name: &str| if name.ends_with(Syntax::V.suffix()) { Syntax::V } else { Syntax::Nesl };
    let mut inputs: Vec<Input> = (programs::all().into_iter())
        .map(|program| Input { syntax: syntax(&program.name), text: program.text })
        .collect();
    let folders = ["stdlib/nesl", "stdlib/nesl/everyday"].map(|folder| std::fs::read_dir(root().join(folder)));
    for entry in folders.into_iter().flatten().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "nesl") {
            let text = std::fs::read_to_string(entry.path());
            inputs.extend(text.map(|text| Input { syntax: Syntax::Nesl, text }));
        }
    }
    inputs.extend((1..=PROGRAMS_OF_V).map(|seed| Input { syntax: Syntax::V, text: generate_v::program(seed) }));
    inputs
}

/// The words of a text as the lexer sees them, white space left out.
fn words(Input { syntax, text }: &Input) -> Vec<String> {
    let spans: Vec<Span> = match syntax {
        Syntax::Nesl => lexer::lex(FileId(0), text).tokens.into_iter().map(|(_, span)| span).collect(),
        Syntax::V => highlight::parts(text).0.into_iter().map(|(_, span)| span).collect(),
    };
    spans.iter().map(|span| text[span.start as usize..span.end as usize].to_owned()).collect()
}

/// A random token.
fn word(random: &mut Random, syntax: Syntax) -> String {
    let is_of_v = syntax == Syntax::V && random.chance(60);
    (*random.pick(if is_of_v { &WORDS_OF_V[..] } else { &WORDS[..] })).to_owned()
}

/// A program with some of its bytes changed.
fn with_other_bytes(random: &mut Random, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(8) {
        let place = random.below(bytes.len().max(1));
        match random.below(6) {
            _ if bytes.is_empty() => bytes.push(b'x'),
            0 => bytes[place] = random.below(256) as u8,
            1 => bytes.insert(place, random.below(128) as u8),
            2 => {
                bytes.remove(place);
            }
            3 => bytes.truncate(place),
            4 => bytes[place] ^= 1 << random.below(8),
            _ => {
                let end = (place + random.below(40)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                let target = random.below(bytes.len());
                bytes.splice(target..target, piece);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A program with some of its tokens changed, or with parts of another one.
fn with_other_tokens(random: &mut Random, input: &Input, other: &Input) -> String {
    let (mut own, foreign, syntax) = (words(input), words(other), input.syntax);
    for _ in 0..1 + random.below(6) {
        let (place, second) = (random.below(own.len().max(1)), random.below(own.len().max(1)));
        match random.below(8) {
            _ if own.is_empty() => own.push(word(random, syntax)),
            0 => {
                own.remove(place);
            }
            1 => own.swap(place, second),
            2 => own[place] = own[second].clone(),
            3 => own.insert(place, word(random, syntax)),
            4 => own[place] = word(random, syntax),
            5 => {
                // A piece again and again: what is nested or repeated often.
                let end = (place + 1 + random.below(6)).min(own.len());
                let piece = own[place..end].to_vec();
                let times = 1 << random.below(10);
                let repeated = piece.iter().cycle().take(piece.len() * times).cloned();
                own.splice(place..place, repeated);
            }
            6 if !foreign.is_empty() => {
                let start = random.below(foreign.len());
                let end = (start + random.below(60)).min(foreign.len());
                own.splice(place..place, foreign[start..end].iter().cloned());
            }
            _ => own.truncate(place),
        }
    }
    own.join(if random.chance(90) { " " } else { "" })
}

/// An input made of programs.
fn input(random: &mut Random, corpus: &[Input]) -> Input {
    let own = random.pick(corpus).clone();
    let syntax = if random.chance(2) { Syntax::V } else { own.syntax };
    let mut text = match random.below(10) {
        0..=3 => with_other_bytes(random, &own.text),
        4..=8 => {
            let other = random.pick(corpus).clone();
            with_other_tokens(random, &own, &other)
        }
        _ => (0..random.below(400)).map(|_| format!("{} ", word(random, syntax))).collect(),
    };
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    Input { syntax, text }
}

/// Every phase on one input: the number of messages.
fn answer(Input { syntax, text }: &Input) -> usize {
    syntax.is_complete(text);
    syntax.is_unfinished(text);
    if *syntax == Syntax::Nesl {
        parser::parse_expression(FileId(0), text);
    }
    if let Ok(formatted) = syntax.format(FileId(0), text) {
        assert!(syntax.is_same_program(text, &formatted), "laid out it is another program");
        assert!(syntax.format(FileId(0), &formatted).as_ref() == Ok(&formatted), "laid out again it differs");
    }
    let name = format!("{}{}", NAMES[text.len() % NAMES.len()], syntax.suffix());
    let (sources, checked) = diagnose(&name, text);
    for diagnostic in &checked.diagnostics {
        shown(diagnostic, &sources);
        let places = diagnostic.labels.iter().map(|label| label.span);
        for span in places.filter(|&span| sources.is_user(span)) {
            assert!(span.start <= span.end && span.end as usize <= text.len(), "a span outside of the text: {span:?}");
        }
    }
    if !checked.has_errors() {
        drop(written_in_the_other(&name, text));
    }
    checked.diagnostics.len()
}

/// The reports of a diagnostic, which hold nothing but what is to be seen, lines and colours.
fn shown(diagnostic: &Diagnostic, sources: &SourceMap) {
    let plain = render::render(diagnostic, sources, false);
    assert!(!plain.is_empty(), "an empty report");
    let coloured = render::render(diagnostic, sources, true);
    let mut outside_colours = String::new();
    for (position, piece) in coloured.split("\u{1b}[").enumerate() {
        let of_colour = if position == 0 { Some(0) } else { piece.find('m').map(|end| end + 1) };
        let of_colour = of_colour.filter(|&end| piece[..end].bytes().all(|byte| b"0123456789;m".contains(&byte)));
        outside_colours
            .push_str(&piece[of_colour.unwrap_or_else(|| panic!("an escape that is no colour: {piece:?}"))..]);
    }
    let machine = render::json::render(diagnostic, sources);
    for text in [&plain, &outside_colours, &machine] {
        // Tabs are laid out as spaces, but for those in a message.
        let is_raw = |&character: &char| !matches!(character, '\n' | '\t') && visible::stand_in(character).is_some();
        if let Some(raw) = text.chars().find(is_raw) {
            panic!("{raw:?} reaches a terminal: {text:?}");
        }
    }
}

/// Where inputs go to, and where the outcomes come from.
type Channels = (Sender<Input>, Receiver<Result<usize, String>>);

/// The thread that is tested: answers inputs until nobody asks any more.
fn tested() -> std::io::Result<Channels> {
    let (inputs, received) = mpsc::channel::<Input>();
    let (answers, outcomes) = mpsc::channel();
    let work = move || {
        for input in received {
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| answer(&input)));
            let said = |panic: Box<dyn std::any::Any + Send>| {
                let text = panic.downcast_ref::<String>().cloned();
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
            };
            if answers.send(outcome.map_err(said)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("tested".to_owned()).stack_size(STACK).spawn(work)?;
    Ok((inputs, outcomes))
}

/// Keeps an input that was not answered.
fn keep(folder: &Path, number: u64, input: &Input, what: &str) -> std::io::Result<()> {
    let path = folder.join(format!("finding-{number}{}", input.syntax.suffix()));
    std::fs::write(&path, &input.text)?;
    println!("finding: {what}\n  input: {}", path.display());
    Ok(())
}

fn fuzz(settings: &Settings) -> std::io::Result<u64> {
    std::fs::create_dir_all(&settings.folder)?;
    let current = settings.folder.join("current.nesl");
    let (mut inputs, mut outcomes) = tested()?;
    let corpus = corpus();
    println!(
        "{} programs, seed {}, {} s, inputs in {}",
        corpus.len(),
        settings.seed,
        settings.seconds,
        settings.folder.display()
    );
    let mut random = Random::new(settings.seed);
    let (start, mut said) = (Instant::now(), Instant::now());
    let (mut tried, mut accepted, mut findings, mut slowest) = (0, 0_u64, 0, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(settings.seconds) {
        let input = input(&mut random, &corpus);
        std::fs::write(&current, &input.text)?;
        let before = Instant::now();
        // The thread only ends when this side does, and a send to it does not fail.
        let _ = inputs.send(input.clone());
        tried += 1;
        match outcomes.recv_timeout(PATIENCE) {
            Ok(Ok(messages)) => accepted += u64::from(messages == 0),
            Ok(Err(panic)) => {
                findings += 1;
                keep(&settings.folder, tried, &input, &format!("panic: {panic}"))?;
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                findings += 1;
                keep(&settings.folder, tried, &input, &format!("no answer within {} s", PATIENCE.as_secs()))?;
                // The old thread is left behind: it cannot be stopped.
                (inputs, outcomes) = tested()?;
            }
        }
        let took = before.elapsed();
        if took > slowest {
            slowest = took;
            std::fs::copy(&current, settings.folder.join("slowest.nesl"))?;
        }
        if said.elapsed() > NEWS {
            said = Instant::now();
            let seconds = start.elapsed().as_secs();
            println!(
                "{seconds} s: {tried} inputs, {accepted} without a message, {findings} findings, slowest {slowest:?}"
            );
        }
    }
    println!("done: {tried} inputs, {accepted} without a message, {findings} findings, slowest {slowest:?}");
    Ok(findings)
}

fn main() -> ExitCode {
    let settings = match settings() {
        Ok(settings) => settings,
        Err(problem) => {
            eprintln!("error: {problem}");
            return ExitCode::from(2);
        }
    };
    match fuzz(&settings) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
