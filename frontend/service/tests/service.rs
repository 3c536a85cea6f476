//! What the language service says of texts. A text marks places by `¦`, which is taken out.

use nesl_service::{Colour, Document, Fold, Library, NameKind, SymbolKind};
use std::ops::Range;

/// The text without its marks, as a document, and the places of the marks.
fn marked(text: &str) -> (Document, Vec<usize>) {
    marked_in("test.nesl", text)
}

fn marked_in(name: &str, text: &str) -> (Document, Vec<usize>) {
    let mut parts = text.split('¦');
    let mut plain = parts.next().unwrap_or("").to_owned();
    let mut marks = Vec::new();
    for part in parts {
        marks.push(plain.len());
        plain += part;
    }
    (Document::new(&Library::load(), name, plain), marks)
}

fn texts(document: &Document, ranges: Vec<Range<usize>>) -> Vec<(usize, &str)> {
    ranges.into_iter().map(|range| (document.lines().line(range.start) as usize, &document.text()[range])).collect()
}

fn hovered(text: &str) -> Vec<String> {
    let (document, marks) = marked(text);
    document.hover(marks[0]).map(|hover| hover.types).unwrap_or_default()
}

#[test]
fn hovers_show_types() {
    assert_eq!(hovered("¦x = [1, 2];"), ["x : [int]"]);
    assert_eq!(
        hovered("function h(v) = {e +¦ 1.0 : e in v};"),
        ["+ : (a, a) -> a :: (a in number)", "here : (float, float) -> float"]
    );
    assert_eq!(hovered("function h(v) = {¦e + 1.0 : e in v};"), ["e : float"]);
    assert_eq!(hovered("function h(v¦) = {e + e : e in v};"), ["v : [a] :: (a in number)"]);
    assert_eq!(hovered("function ¦h(v) = {e + e : e in v};"), ["h : [a] -> [a] :: (a in number)"]);
    assert_eq!(hovered("function h(v) = v; x = h¦(1);"), ["h : a -> a :: (a in any)", "here : int -> int"]);
    assert_eq!(hovered("datatype pt (int, int); function h(¦pt(a, b)) = a;"), ["pt : (int, int) -> pt"]);
    assert_eq!(hovered("function h(a, k := 2) = a + k; x = h(1, ¦k := 3);"), ["k : int"]);
    assert_eq!(hovered("v = [1]; w = {v + 1 : ¦v};"), ["v : int", "v : [int]"]);
    assert_eq!(hovered("x = ¦ 1;"), Vec::<String>::new());
    let (document, marks) = marked("x = plus¦_scan([1]);");
    let documentation = document.hover(marks[0]).map(|hover| hover.documentation).unwrap_or_default();
    assert!(documentation.contains("Work") && documentation.contains("depth"), "{documentation}");
    // What is right is known beside what is wrong.
    assert_eq!(hovered("y = nothing(1); ¦x = 2.0; z = (;"), ["x : float"]);
}

fn completed(text: &str) -> Vec<String> {
    let (document, marks) = marked(text);
    document.completion(marks[0]).names.into_iter().map(|name| name.name).collect()
}

#[test]
fn words_are_completed_by_what_is_known() {
    let found = completed("function twice(value) = va¦lue + value;");
    assert_eq!(found.first().map(String::as_str), Some("value"), "{found:?}");
    let found = completed("function plus_my(v) = v; x = plu¦");
    assert_eq!(&found[..2], ["plus_my", "plus_scan"], "those of the text first: {found:?}");
    assert!(completed("x = the¦").contains(&"then".to_owned()));
    assert_eq!(completed("% plu¦ %"), Vec::<String>::new());
    assert_eq!(completed("x = \"plu¦\";"), Vec::<String>::new());
    assert_eq!(completed("% plu¦"), Vec::<String>::new());
    assert_eq!(completed("function su¦"), Vec::<String>::new());
    assert_eq!(completed("x = 12¦"), Vec::<String>::new());
    let found = completed("function h(a, depth := 2) = a; x = h(1, de¦");
    assert_eq!(found.first().map(String::as_str), Some("depth"), "{found:?}");
    assert!(!completed("x = check¦").contains(&"check_index".to_owned()), "the library's own");
    // In the middle of a form that cannot be read.
    let found = completed("function h(argument) = let other = argument + in arg¦ ;");
    assert!(found.contains(&"argument".to_owned()), "{found:?}");
    let (document, marks) = marked("x = SU¦M([1]);");
    let completion = document.completion(marks[0]);
    let sum = completion.names.iter().find(|name| name.name == "sum").expect("sum");
    assert_eq!((sum.kind, completion.range), (NameKind::Function, 4..6));
    assert!(sum.ty.starts_with("[a] -> a") && sum.summary.ends_with('.'), "{sum:?}");
}

#[test]
fn texts_of_v_are_told_of_in_v() {
    let text = "pure int weighted(int v[*], int k, int m[*][*]) [*] { return [k * x + $m : x in v]; }
pure int all(int v[*]) { return sum(wei¦ghted(v, ¦2, [v])); }
double whi¦";
    let (document, marks) = marked_in("test.v", text);
    let found = document.completion(marks[0]).names;
    assert_eq!(found[0].name, "weighted");
    let declaration = "pure int weighted(int v[*], int k, int m[*][*]) [*]";
    assert_eq!(found[0].ty, declaration);
    let words: Vec<String> = document.completion(marks[2]).names.into_iter().map(|name| name.name).collect();
    assert!(words.contains(&"while".to_owned()) && !words.contains(&"where".to_owned()), "{words:?}");
    let help = document.signature_help(marks[1]).expect("a call");
    assert_eq!((help.label.as_str(), help.active), (declaration, 1));
    let parameters: Vec<&str> = help.parameters.into_iter().map(|range| &declaration[range]).collect();
    assert_eq!(parameters, ["int v[*]", "int k", "int m[*][*]"]);
}

#[test]
fn calls_show_their_parameters() {
    let (document, marks) = marked("function h(a, (b, c), k := 1) = a; x = h(¦1, ¦(2, 3¦), {y : y in [1¦,2]}, ¦");
    let shown = marks.iter().map(|mark| document.signature_help(*mark).map(|help| help.active)).collect::<Vec<_>>();
    assert_eq!(shown, [Some(0), Some(1), Some(1), Some(2), Some(3)]);
    let help = document.signature_help(marks[0]).expect("a call");
    assert!(help.label.starts_with("h(a, (b, c), k := 1) : "), "{}", help.label);
    let parameters: Vec<&str> = help.parameters.iter().map(|range| &help.label[range.clone()]).collect();
    assert_eq!(parameters, ["a", "(b, c)", "k := 1"]);
    let (document, marks) = marked("x = (¦1, 2);");
    assert_eq!(document.signature_help(marks[0]), None);
}

#[test]
fn definitions_and_references_are_found() {
    let text = "function ¦h(x) = x + ¦x;\ny = h(1);\nfunction g(h) = h(y);\nz = ¦h(¦y);\n";
    let (document, marks) = marked(text);
    let defined = |mark: usize| {
        let places = document.definitions(marks[mark]);
        texts(&document, places.into_iter().filter_map(|span| document.range(span)).collect())
    };
    assert_eq!(defined(1), [(0, "x")]);
    assert_eq!(defined(2), [(0, "h")]);
    assert_eq!(defined(3), [(1, "y")]);
    assert_eq!(texts(&document, document.references(marks[0], true)), [(0, "h"), (1, "h"), (3, "h")]);
    assert_eq!(texts(&document, document.references(marks[2], false)), [(1, "h"), (3, "h")]);
    assert_eq!(texts(&document, document.references(marks[3], true)), [(1, "y"), (2, "y"), (3, "y")]);
    let (document, marks) = marked("x = su¦m([1]);");
    let places = document.definitions(marks[0]);
    assert_eq!(document.sources().file(places[0].file).name, "stdlib/sequence.nesl");
}

fn renamed(text: &str, new: &str) -> Result<String, String> {
    let (document, marks) = marked(text);
    let mut text = document.text().to_owned();
    for edit in document.rename(marks[0], new)?.into_iter().rev() {
        text.replace_range(edit.range, &edit.text);
    }
    Ok(text)
}

#[test]
fn names_are_renamed_everywhere_they_mean_the_same() {
    let text = "function h(x) = let y = x; z = {x + y : x in [y]} in z; h¦(1);";
    assert_eq!(renamed(text, "g").as_deref(), Ok("function g(x) = let y = x; z = {x + y : x in [y]} in z; g(1);"));
    let text = "function h(x) = let y¦ = x; z = {x + y : x in [y]} in z;";
    assert_eq!(renamed(text, "w").as_deref(), Ok("function h(x) = let w = x; z = {x + w : x in [w]} in z;"));
    let text = "datatype pt¦ (int, int); p = pt(1, 2); function x(pt(a, b)) = a; function i(p) : pt -> pt = p;";
    let result = "datatype q (int, int); p = q(1, 2); function x(q(a, b)) = a; function i(p) : q -> q = p;";
    assert_eq!(renamed(text, "q").as_deref(), Ok(result));
    assert_eq!(renamed("v¦ = [1]; w = {v + 1 : v};", "u").as_deref(), Ok("u = [1]; w = {v + 1 : v in u};"));
    assert_eq!(renamed("v = [1]; w = {¦v + 1 : v};", "u").as_deref(), Ok("v = [1]; w = {u + 1 : u in v};"));
    let text = "function h(a, k¦ := 1) = a + k; h(2, k := 3);";
    assert_eq!(renamed(text, "m").as_deref(), Ok("function h(a, m := 1) = a + m; h(2, m := 3);"));
    assert_eq!(renamed("x¦ = 1; x = 2; x;", "y").as_deref(), Ok("y = 1; y = 2; y;"));
}

#[test]
fn names_that_would_capture_or_are_none_are_refused() {
    let refused = |text: &str, new: &str, part: &str| {
        let problem = renamed(text, new).expect_err(text);
        assert!(problem.contains(part), "{problem}");
    };
    refused("x¦ = 1; y = 2; z = x + y;", "y", "mean something else");
    refused("x¦ = 1; function h(y) = x + y;", "y", "mean something else in line 1");
    refused("function h(a) = let b¦ = a in a + b;", "a", "mean something else");
    refused("function h¦(a) = sum(a); h([1]);", "sum", "mean something else");
    refused("x = su¦m([1]);", "total", "name of the library");
    refused("x¦ = 1;", "then", "no name");
    refused("x¦ = 1;", "1x", "no name");
    refused("x¦ = 1;", "a b", "no name");
    refused("x¦ = 1;", "", "no name");
    refused("x = ¦ 1;", "y", "there is no name here");
    refused("function '+(a, b) = a - b; x = 1 +¦ 2;", "y", "operator");
}

#[test]
fn the_outline_has_what_is_defined() {
    let text =
        "% one\ntwo %\nfunction h(v) =\n  {e : e in v};\n(a, b) = (1,\n  2);\ndatatype pt (int, int);\nf([a]);\n";
    let (document, _) = marked(text);
    let symbols = document.symbols();
    let names: Vec<_> = symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.kind, symbol.ty.as_str())).collect();
    let value = SymbolKind::Value;
    let expected = [
        ("h", SymbolKind::Function, "[a] -> [a] :: (a in any)"),
        ("a", value, "int"),
        ("b", value, "int"),
        ("pt", SymbolKind::Datatype, "(int, int) -> pt"),
    ];
    assert_eq!(names, expected);
    let fold = |first, last, is_comment| Fold { first, last, is_comment };
    assert_eq!(document.folds(), [fold(0, 1, true), fold(2, 3, false), fold(4, 5, false)]);
    let runnables: Vec<_> = document.runnables().into_iter().map(|runnable| runnable.name).collect();
    assert_eq!(runnables, [""]);
    let (document, _) = marked("function main(n) = n; function prop_x(a) = t; function bench_y() = 1; 2;");
    let runnables: Vec<_> = document.runnables().into_iter().map(|runnable| runnable.name).collect();
    assert_eq!(runnables, ["main", "prop_x", "bench_y"]);
}

#[test]
fn types_that_nobody_wrote_are_shown() {
    let text = "function h(a) = let (b, _) = (a, 1); c = b + 1 in c;\nfunction g(a) : int -> int = a;\nd = h(2);\n";
    let (document, _) = marked(text);
    let mut shown = text.to_owned();
    for inlay in document.inlays(0, text.len()).into_iter().rev() {
        shown.insert_str(inlay.offset, &inlay.label);
    }
    let expected = "function h(a): int -> int = let (b: int, _) = (a, 1); c: int = b + 1 in c;\n\
                    function g(a) : int -> int = a;\nd: int = h(2);\n";
    assert_eq!(shown, expected);
    assert_eq!(document.inlays(text.len() - 5, text.len()), []);
}

#[test]
fn hints_become_corrections() {
    let (document, marks) = marked("function h(v) = plus_scn¦(v);");
    let corrections = document.corrections(marks[0], marks[0]);
    assert_eq!(corrections[0].title, "Change to `plus_scan`");
    assert_eq!((corrections[0].code, corrections[0].edits[0].text.as_str()), (Some("E0201"), "plus_scan"));
    for (text, title, corrected) in [
        ("x = take(¦3, [1, 2]);", "Write `take([1, 2], 3)`", "x = take([1, 2], 3);"),
        ("y = a¦bs -3;", "Write `abs(-3)`", "y = abs(-3);"),
        ("v = [1]; w = #v + v¦(0);", "Write `v[0]`", "v = [1]; w = #v + v[0];"),
        ("z = sum(¦1, 2, 3);", "Write `sum([1, 2, 3])`", "z = sum([1, 2, 3]);"),
        ("q = 1¦", "End it with `;`", "q = 1;"),
        ("x = let ¦b = 2 in 1;", "Change to `_b`", "x = let _b = 2 in 1;"),
    ] {
        let (document, marks) = marked(text);
        let correction = document.corrections(marks[0], marks[0]).into_iter().find(|found| found.code.is_some());
        let correction = correction.unwrap_or_else(|| panic!("no correction of {text}"));
        let mut changed = document.text().to_owned();
        correction.edits.iter().for_each(|edit| changed.replace_range(edit.range.clone(), &edit.text));
        assert_eq!((correction.title.as_str(), changed.as_str()), (title, corrected));
    }
    // A hint that means nothing here offers nothing.
    let (document, marks) = marked("x = ¦1 + 2.0;");
    assert_eq!(document.corrections(marks[0], marks[0]), []);
    let (document, marks) = marked("function h¦(v) = v + 1;");
    let corrections = document.corrections(marks[0], marks[0]);
    assert_eq!(
        (corrections[0].title.as_str(), corrections[0].edits[0].text.as_str()),
        ("Write the type of `h`", " : int -> int")
    );
}

#[test]
fn tokens_have_colours() {
    let (document, _) = marked("function h(v) =\n  sum(v) + 1; % a\nb %\nw |= \"s\";");
    let colours = document.colours();
    let shown: Vec<_> = colours.iter().map(|part| (&document.text()[part.range.clone()], part.colour)).collect();
    let expected = [
        ("function", Colour::Keyword),
        ("h", Colour::Function),
        ("v", Colour::Variable),
        ("=", Colour::Operator),
        ("sum", Colour::Function),
        ("v", Colour::Variable),
        ("+", Colour::Operator),
        ("1", Colour::Number),
        ("% a", Colour::Comment),
        ("b %", Colour::Comment),
        ("w", Colour::Variable),
        ("|=", Colour::Operator),
        ("\"s\"", Colour::Text),
    ];
    assert_eq!(shown, expected);
    assert!(colours[1].binds && !colours[1].is_of_library);
    assert!(colours[4].is_of_library && !colours[4].binds);
}

/// Whatever stands there, every question has an answer at every place.
#[test]
fn every_place_of_every_text_has_answers() {
    let texts =
        ["", "%", "h(", "x = é + 𝄞;", "function", "{x : ", "let a = 1; b = a in", "function h(x = 1;\ny = h(", "\"é"];
    let library = Library::load();
    for text in texts {
        let document = Document::new(&library, "test.nesl", text.to_owned());
        for offset in 0..=text.len() + 1 {
            document.hover(offset);
            document.completion(offset);
            document.signature_help(offset);
            document.definitions(offset);
            document.references(offset, true);
            document.corrections(offset, offset);
            document.inlays(0, offset);
            assert!(document.rename(offset, "other").is_ok() || document.rename(offset, "other").is_err());
        }
        document.colours();
        document.symbols();
        document.folds();
        document.formatted();
    }
}

/// What can be asked of a document as a whole.
fn answers(document: &Document) -> impl PartialEq + std::fmt::Debug {
    let length = document.text().len();
    let outline = (document.symbols(), document.folds(), document.runnables());
    (document.diagnostics().to_vec(), outline, document.colours(), document.inlays(0, length))
}

#[test]
fn a_changed_text_gives_what_a_new_one_gives() {
    let library = Library::load();
    let text = "function f0(x) = x;\ndatatype pt (int, int);\nfunction g(a) = {f0(e) + 1 : e in a};\n\
        v = [1, 2];\nfunction h(pt(x, y), k := 2) = x * k;\nw = g(v);\nfunction last(v) = v[#v - 1];\n";
    let changes = [
        ("x;", "x + 1.0;"),
        ("{f0", "{(f0"),
        ("{(f0", "{f0"),
        ("w = ", "% what is asked % w = "),
        ("pt(x", "pt x"),
        ("v = [1", "u = [1"),
        ("pt x", "pt(x"),
        ("u = [1", "v = [\"1"),
        ("\"1", "1"),
        ("#v - 1", "#v - 2"),
    ];
    let mut document = Document::new(&library, "a.nesl", text.to_owned());
    for (old, new) in changes {
        let text = document.text().replacen(old, new, 1);
        let fresh = Document::new(&library, "a.nesl", text.clone());
        document = Document::new(&library, "a.nesl", text).following(&document);
        assert_eq!(answers(&document), answers(&fresh), "{new}");
    }
}

#[test]
fn one_change_reads_the_forms_around_it() {
    let text: String = (0..300).map(|number| format!("function f{number}(x) = x + {number};\n")).collect();
    let document = Document::new(&Library::load(), "a.nesl", text.clone());
    assert_eq!(document.fresh_forms(), 300);
    let document = document.with_text(text.replace("x + 150", "(x + 150"));
    assert_eq!((document.diagnostics().len(), document.fresh_forms()), (1, 3));
    let document = document.with_text(text);
    assert_eq!((document.diagnostics().len(), document.fresh_forms()), (0, 3));
}

#[test]
fn one_change_in_v_reads_the_function_around_it() {
    let text: String = (0..300).map(|number| format!("int f{number}(int x) {{ return x + {number}; }}\n")).collect();
    let document = Document::new(&Library::load(), "a.v", text.clone());
    assert_eq!(document.fresh_forms(), 300);
    let document = document.with_text(text.replace("x + 150", "x + y"));
    assert_eq!((document.diagnostics().len(), document.fresh_forms()), (1, 1));
    let document = document.with_text(text);
    assert_eq!((document.diagnostics().len(), document.fresh_forms()), (0, 1));
}
