//! The grammars of editors: the TextMate grammars say of every token of every program what the lexers say, and the
//! words and operators of all grammars are those of the languages.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use fancy_regex::Regex;
use nesl_frontend::ast::BinaryOp;
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::lexer::{Lexed, lex};
use nesl_frontend::syntax::nesl::token::{Foreign, Keyword, Token};
use nesl_frontend::syntax::v::highlight;
use nesl_span::FileId;
use nesl_tests::programs::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A rule of the grammar: what it matches, where that ends if it is a region, and what it is called.
struct Rule {
    begin: Regex,
    end: Option<Regex>,
    inside: Vec<Regex>,
    name: String,
    captures: Vec<(usize, String)>,
}

fn rules() -> Vec<Rule> {
    rules_of("nesl")
}

fn rules_of(language: &str) -> Vec<Rule> {
    let path = format!("editors/vscode/syntaxes/{language}.tmLanguage.json");
    let grammar: Value = serde_json::from_str(&read(&path)).unwrap();
    let regex = |value: &Value| Regex::new(&format!("(?m){}", value.as_str().unwrap())).unwrap();
    let rule = |rule: &Value| {
        let captures = rule["captures"].as_object().into_iter().flatten();
        Rule {
            begin: regex(if rule["match"].is_null() { &rule["begin"] } else { &rule["match"] }),
            end: rule.get("end").map(regex),
            inside: rule["patterns"].as_array().into_iter().flatten().map(|inner| regex(&inner["match"])).collect(),
            name: rule["name"].as_str().unwrap_or("").to_owned(),
            captures: captures
                .map(|(number, it)| (number.parse().unwrap(), it["name"].as_str().unwrap().to_owned()))
                .collect(),
        }
    };
    grammar["patterns"].as_array().unwrap().iter().map(rule).collect()
}

/// The end of a region that has begun: what matches inside hides ends.
fn region_end(rule: &Rule, text: &str, mut at: usize) -> usize {
    let end = rule.end.as_ref().unwrap();
    loop {
        let Some(found) = end.find_from_pos(text, at).unwrap() else { return text.len() };
        let inner = rule.inside.iter().filter_map(|inner| inner.find_from_pos(text, at).unwrap());
        match inner.filter(|inner| inner.start() < found.start()).min_by_key(|inner| inner.start()) {
            Some(inner) => at = inner.end(),
            None => return found.end(),
        }
    }
}

/// What the grammar calls each part of a text, as an editor finds it: the first match, of several the first rule's.
fn parts(rules: &[Rule], text: &str) -> Vec<(usize, usize, String)> {
    let mut next: Vec<Option<(usize, usize)>> = vec![Some((0, 0)); rules.len()];
    let (mut at, mut found) = (0, Vec::new());
    while at < text.len() {
        for (rule, next) in rules.iter().zip(&mut next) {
            if next.is_some_and(|(start, _)| start <= at) {
                *next = rule.begin.find_from_pos(text, at).unwrap().map(|found| (found.start(), found.end()));
            }
        }
        let first = (0..rules.len())
            .filter_map(|index| Some((next[index]?, index)))
            .min_by_key(|((start, _), index)| (*start, *index));
        let Some(((start, end), index)) = first else { break };
        let rule = &rules[index];
        let end = if rule.end.is_some() { region_end(rule, text, end) } else { end };
        if rule.captures.is_empty() {
            found.push((start, end, rule.name.clone()));
        } else {
            let captures = rule.begin.captures_from_pos(text, start).unwrap().unwrap();
            for (number, name) in &rule.captures {
                let part = captures.get(*number).unwrap();
                found.push((part.start(), part.end(), name.clone()));
            }
        }
        assert!(end > at, "a rule that matches nothing: {}", rule.name);
        at = end;
    }
    found
}

/// What names of the grammar a token may have.
fn expected(token: &Token) -> &'static [&'static str] {
    match token {
        Token::Int(_) | Token::Float(_) => &["constant.numeric"],
        Token::Bool(_) => &["constant.language.boolean"],
        Token::Char(_) => &["constant.character"],
        Token::Text(_) => &["string"],
        Token::Name(_) => &["entity.name.function", "variable", "support.type", "keyword.control.import"],
        Token::Keyword(_) => &["keyword.control"],
        Token::Operator(op) if op.function().starts_with(char::is_alphabetic) => &["keyword.operator.word"],
        Token::Operator(_)
        | Token::Hash
        | Token::At
        | Token::Equal
        | Token::Foreign(Foreign::FileVariable)
        | Token::Lambda
        | Token::ColonEqual => &["keyword.operator.nesl"],
        Token::Open(_) | Token::Close(_) => &["punctuation.section"],
        Token::Quote
        | Token::Comma
        | Token::Semicolon
        | Token::Dollar
        | Token::Colon
        | Token::DoubleColon
        | Token::Bar => &["punctuation.separator"],
        Token::Foreign(_) | Token::Unreadable => &[""],
    }
}

#[test]
fn the_textmate_grammar_sees_what_the_lexer_sees() {
    let rules = rules();
    let mut tokens_seen = 0;
    for (name, text) in readable_texts() {
        let Lexed { tokens, comments, .. } = lex(FileId(0), &text);
        let found = parts(&rules, &text);
        let mut wanted: Vec<(usize, usize, &[&str])> =
            tokens.iter().map(|(token, span)| (span.start as usize, span.end as usize, expected(token))).collect();
        wanted.extend(comments.iter().map(|span| (span.start as usize, span.end as usize, &["comment"][..])));
        wanted.sort_unstable();
        let found: Vec<_> = found.into_iter().filter(|(.., name)| !name.contains("shebang")).collect();
        for ((start, end, names), (from, to, called)) in wanted.iter().zip(&found) {
            let is_right = start == from && end == to && names.iter().any(|name| called.contains(name));
            assert!(is_right, "{name}: `{}` is called {called} at {from}..{to}", &text[*start..*end]);
        }
        assert_eq!(wanted.len(), found.len(), "{name}");
        tokens_seen += wanted.len();
    }
    assert!(tokens_seen > 10_000, "{tokens_seen}");
}

#[test]
fn what_programs_seldom_write_is_seen_as_well() {
    // A character may be the newline itself; names of other files have a point, and are no words of the language.
    for text in ["`\n 1;", "import \"a.nesl\" as b; b.t(b.if, t.x);", "x = `\\x41 ++ `\\ ;", "1.e3 + .5;"] {
        let lexed = lex(FileId(0), text);
        assert!(lexed.diagnostics.is_empty(), "{text}");
        let found = parts(&rules(), text);
        assert_eq!(found.len(), lexed.tokens.len(), "{found:?}");
        for ((start, end, called), (token, span)) in found.iter().zip(&lexed.tokens) {
            assert_eq!((*start, *end), (span.start as usize, span.end as usize), "{text}");
            assert!(expected(token).iter().any(|name| called.contains(name)), "{text}: {token:?} is called {called}");
        }
    }
}

/// All programs of the repository with the library, but for what is no program: that has no colours that are right.
fn readable_texts() -> Vec<(String, String)> {
    let folders = ["stdlib/nesl", "stdlib/nesl/everyday"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let files = files.map(|entry| entry.path()).filter(|path| path.is_file());
    let library = files.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap()));
    let programs = nesl_tests::programs::all().into_iter().map(|program| (program.name, program.text));
    let programs = programs.filter(|(name, _)| Syntax::of(name) == Syntax::Nesl);
    let is_readable = |(_, text): &(String, String)| {
        let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
        let is_foreign = |token: &Token| matches!(token, Token::Foreign(found) if *found != Foreign::FileVariable);
        diagnostics.is_empty() && !tokens.iter().any(|(token, _)| is_foreign(token))
    };
    programs.chain(library).filter(is_readable).collect()
}

/// All operators, by trying every sign and every two: none is longer.
fn operators_of_one_or_two() -> BTreeSet<String> {
    let signs: Vec<char> = (0..128_u8).map(char::from).filter(char::is_ascii_punctuation).collect();
    let pairs = signs.iter().flat_map(|first| signs.iter().map(move |second| format!("{first}{second}")));
    let is_operator = |text: &String| {
        let lexed = lex(FileId(0), text);
        let is_one = |token: &Token| expected(token) == ["keyword.operator.nesl"];
        matches!(lexed.tokens.as_slice(), [(token, _)] if is_one(token)) && lexed.comments.is_empty()
    };
    signs.iter().map(char::to_string).chain(pairs).filter(is_operator).collect()
}

#[test]
fn the_words_of_the_vim_syntax_are_those_of_the_language() {
    let syntax = read("editors/vim/syntax/nesl.vim");
    let words = |group: &str| -> BTreeSet<String> {
        let line = syntax.lines().find_map(|line| line.strip_prefix(&format!("syntax keyword {group} "))).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let keywords: BTreeSet<String> = Keyword::ALL.iter().map(|word| word.text().to_owned()).collect();
    assert_eq!(words("neslKeyword"), keywords);
    let is_operator = |word: &String| matches!(lex(FileId(0), word).tokens.as_slice(), [(Token::Operator(_), _)]);
    let operators = words("neslWordOperator");
    assert!(operators.iter().all(is_operator), "{operators:?}");
    let known =
        [BinaryOp::And, BinaryOp::Nand, BinaryOp::Or, BinaryOp::Nor, BinaryOp::Xor].map(|op| op.function().to_owned());
    assert_eq!(operators, BTreeSet::from(known));
    let is_reserved = |word: &String| matches!(lex(FileId(0), word).tokens.as_slice(), [(Token::Foreign(_), _)]);
    assert!(words("neslReserved").iter().all(is_reserved));
    let pattern = syntax.lines().find_map(|line| line.strip_prefix("syntax match neslOperator \"")).unwrap();
    let symbols: Vec<String> =
        pattern.trim_end_matches('"').split("\\|").map(|symbol| symbol.replace('\\', "")).collect();
    assert_eq!(symbols.iter().cloned().collect::<BTreeSet<_>>(), operators_of_one_or_two());
    // Of two that begin alike, the longer stands first, as it does in the lexer.
    for (index, symbol) in symbols.iter().enumerate() {
        let shorter = symbols[..index].iter().find(|earlier| symbol.starts_with(earlier.as_str()));
        assert_eq!(shorter, None, "{symbol}");
    }
}

/// What groups of the Vim syntax a token may have; none where it has no colour.
fn groups(token: &Token) -> &'static [&'static str] {
    match expected(token) {
        ["constant.numeric"] => &["neslNumber"],
        ["constant.language.boolean"] => &["neslBoolean"],
        ["constant.character"] => &["neslCharacter"],
        ["string"] => &["neslString"],
        ["keyword.control"] => &["neslKeyword"],
        ["keyword.operator.word"] => &["neslWordOperator"],
        ["keyword.operator.nesl"] => &["neslOperator"],
        ["punctuation.section" | "punctuation.separator"] => &[""],
        _ => &["", "neslType", "neslImport"],
    }
}

/// Reads `file line column` lines, and writes what the syntax calls each of these places.
const NAMES_OF_PLACES: &str = r#"
set noswapfile
let s:named = []
for s:place in readfile('places')
  let s:parts = split(s:place, "\t")
  if expand('%') !=# s:parts[0]
    execute 'silent edit!' fnameescape(s:parts[0])
    setlocal filetype=nesl
  endif
  call add(s:named, synIDattr(synID(s:parts[1], s:parts[2], 1), 'name'))
endfor
call writefile(s:named, 'named')
quitall!
"#;

/// By Neovim, if this machine has it.
#[test]
fn the_vim_syntax_sees_what_the_lexer_sees() {
    if !Command::new("nvim").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no nvim. On Debian or Ubuntu: sudo apt-get install neovim");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let (mut places, mut wanted) = (String::new(), Vec::new());
    for (number, (name, text)) in readable_texts().into_iter().enumerate() {
        let Lexed { tokens, comments, .. } = lex(FileId(0), &text);
        let tokens = tokens.iter().map(|(token, span)| (span.start as usize, groups(token)));
        let comments = comments.iter().map(|span| (span.start as usize, &["neslComment"][..]));
        for (start, groups) in tokens.chain(comments) {
            let line = text[..start].matches('\n').count() + 1;
            let column = start - text[..start].rfind('\n').map_or(0, |end| end + 1) + 1;
            places += &format!("{number}.nesl\t{line}\t{column}\n");
            wanted.push((format!("{name}:{line}:{column}"), groups));
        }
        write(&format!("{number}.nesl"), &text);
    }
    write("places", &places);
    write("names.vim", NAMES_OF_PLACES);
    let ours = format!("set runtimepath^={}", root().join("editors/vim").display());
    let mut command = Command::new("nvim");
    command.args(["--headless", "-u", "NONE", "-i", "NONE", "--cmd", &ours, "-c", "syntax on", "-S", "names.vim"]);
    let ran = command.current_dir(folder.path()).stdin(std::process::Stdio::null()).output().unwrap();
    let named = std::fs::read_to_string(folder.path().join("named")).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(named.lines().count(), wanted.len());
    let wrong = named.lines().zip(&wanted).filter(|(found, (_, groups))| !groups.contains(found));
    let wrong: Vec<_> = wrong.take(10).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What names of the grammar of V a part of a text may have.
fn expected_of_v(part: highlight::Part) -> &'static [&'static str] {
    match part {
        highlight::Part::Word => &["keyword.control", "storage.modifier", "support.type", "invalid.illegal"],
        highlight::Part::Constant => &["constant.numeric", "constant.language"],
        highlight::Part::Text => &["string", "constant.character"],
        highlight::Part::Open | highlight::Part::Close => &["punctuation.section"],
        highlight::Part::Other => {
            &["entity.name", "variable", "keyword.control.import", "keyword.operator", "punctuation.separator"]
        }
    }
}

#[test]
fn the_textmate_grammar_of_v_sees_what_its_lexer_sees() {
    let rules = rules_of("v");
    let programs = nesl_tests::programs::all().into_iter().map(|program| (program.name, program.text));
    let programs = programs.filter(|(name, _)| Syntax::of(name) == Syntax::V);
    let random = (1..40).map(|seed| (format!("seed {seed}"), nesl_tests::generate_v::program(seed)));
    let seldom =
        "#!/usr/bin/env nesl\nimport \"a.v\" as b; // 'x'\nint x = 0xFFL + 1.5e-3f + .5 + 'a' + '\\'' + '\\x41';\n";
    let seldom = std::iter::once(("seldom".to_owned(), seldom.to_owned()));
    let mut seen = 0;
    for (name, text) in programs.chain(random).chain(seldom) {
        let (wanted, is_open) = highlight::parts(&text);
        assert!(!is_open, "{name}");
        let found = parts(&rules, &text);
        let found: Vec<_> = found.into_iter().filter(|(.., called)| !called.starts_with("comment")).collect();
        for ((part, span), (from, to, called)) in wanted.iter().zip(&found) {
            let is_right = (span.start as usize, span.end as usize) == (*from, *to)
                && expected_of_v(*part).iter().any(|name| called.starts_with(name));
            assert!(is_right, "{name}: `{}` is called {called}", &text[span.start as usize..span.end as usize]);
        }
        assert_eq!(wanted.len(), found.len(), "{name}");
        seen += wanted.len();
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn the_words_of_the_vim_syntax_of_v_are_those_of_v() {
    let syntax = read("editors/vim/syntax/nesl_v.vim");
    let words = |groups: &[&str]| -> BTreeSet<String> {
        let keywords = syntax.lines().filter_map(|line| line.strip_prefix("syntax keyword "));
        let keywords = keywords.map(|line| line.split_whitespace()).map(|mut words| (words.next().unwrap(), words));
        keywords.filter(|(group, _)| groups.contains(group)).flat_map(|(_, words)| words.map(str::to_owned)).collect()
    };
    let of_v: BTreeSet<String> = highlight::words().map(str::to_owned).collect();
    assert_eq!(words(&["neslVKeyword", "neslVModifier", "neslVBoolean", "neslVType"]), of_v);
    let is_word = |word: &String| {
        matches!(highlight::parts(word).0.as_slice(), [(highlight::Part::Word, _)]) && !of_v.contains(word)
    };
    let reserved = words(&["neslVReserved"]);
    assert!(reserved.len() > 10 && reserved.iter().all(is_word), "{reserved:?}");
}

#[test]
fn the_extension_is_whole() {
    let manifest: Value = serde_json::from_str(&read("editors/vscode/package.json")).unwrap();
    let contributes = &manifest["contributes"];
    let languages = contributes["languages"].as_array().unwrap().iter().map(|language| &language["configuration"]);
    let grammars = contributes["grammars"].as_array().unwrap().iter().map(|grammar| &grammar["path"]);
    for path in languages.chain(grammars).chain([&manifest["main"]]) {
        let path = path.as_str().unwrap().trim_start_matches("./");
        assert!(root().join("editors/vscode").join(path).is_file(), "{path}");
    }
    let configuration: Value = serde_json::from_str(&read("editors/vscode/language-configuration.json")).unwrap();
    assert_eq!(configuration["comments"]["blockComment"][0], "%");
}
