//! Reports as text: every label is shown, whatever its span.

use nesl_frontend::diagnostic::{Diagnostic, Label, Severity};
use nesl_frontend::render::{Medium, render, render_on};
use nesl_span::{FileId, Origin, SourceMap, Span};

fn one_file(text: &str) -> (SourceMap, FileId) {
    let mut sources = SourceMap::default();
    let file = sources.add("a.nesl", text, Origin::User);
    (sources, file)
}

#[test]
fn several_files() {
    let (mut sources, a) = one_file("x = 1;\ny = x + `a;\n");
    let b = sources.add("stdlib/scalar.nesl", "function '+ (a, b);\n", Origin::Library);
    let diagnostic = Diagnostic::error("E0201", "`+` needs two numbers of one type", Span::new(a, 11, 17))
        .saying("this is int + char")
        .also(Span::new(b, 9, 11), "defined here")
        .also(Span::new(a, 4, 5), "x is an int")
        .hint("use `char_code`");
    insta::assert_snapshot!(render(&diagnostic, &sources, false));
}

#[test]
fn no_place() {
    let (sources, _) = one_file("");
    let mut diagnostic = Diagnostic::error("E0900", "no such file", Span::new(FileId(0), 0, 0)).hint("look again");
    diagnostic.labels.clear();
    assert_eq!(render(&diagnostic, &sources, false), "Error[E0900]: no such file\n  Help: look again\n");
}

#[test]
fn several_lines_and_wide_characters() {
    let (sources, file) = one_file("é = \"ü\";\n\tß = {x :\n  x in v};\n");
    let diagnostic = Diagnostic::error("E0300", "spread out", Span::new(file, 12, 30)).saying("all of this");
    insta::assert_snapshot!(render(&diagnostic, &sources, false));
}

#[test]
fn a_warning() {
    let (sources, file) = one_file("x = 1;");
    let mut diagnostic = Diagnostic::error("W0001", "nobody uses this", Span::new(file, 0, 1));
    diagnostic.severity = Severity::Warning;
    insta::assert_snapshot!(render(&diagnostic, &sources, false));
}

#[test]
fn any_span_in_any_text_is_shown() {
    for text in ["", "\n", " ", "x", "x\n", "x\n\n\n", "é", "aé\r\nß\r\n", "\u{feff}x", "a\tb", "☃\u{2028}☃"] {
        let (sources, file) = one_file(text);
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let span = Span { file, start: start as u32, end: end as u32 };
                let diagnostic = Diagnostic::error("E0100", "message", span).saying("label text").also(span, "another");
                let shown = render(&diagnostic, &sources, false);
                assert!(shown.contains("label text") && shown.contains("another"), "{text:?} {start}..{end}:\n{shown}");
                assert!(shown.starts_with("Error[E0100]: message\n"), "{shown}");
            }
        }
    }
}

#[test]
fn very_long_lines_are_not_shown() {
    let (sources, file) = one_file(&format!("x =\n[{}];", "1, ".repeat(10_000)));
    let diagnostic = Diagnostic::error("E0100", "message", Span::new(file, 7, 8)).saying("here it is");
    assert_eq!(render(&diagnostic, &sources, false), "Error[E0100]: message\n  at a.nesl:2:4: here it is\n");
}

#[test]
fn long_texts_are_shown_as_short_ones() {
    let report = |lines: usize| {
        let before = "é = 1;\n".repeat(lines);
        let (sources, file) = one_file(&format!("{before}a = b;\n\nc = d;\n{before}"));
        let at = |offset: usize| Span::new(file, before.len() + offset, before.len() + offset + 1);
        let diagnostic = Diagnostic::error("E0100", "message", at(12)).saying("here").also(at(4), "there");
        let shown = render(&diagnostic, &sources, false);
        // What depends on the number of the line: the number itself, and the margin.
        let lines = shown
            .lines()
            .map(|line| line.replace(&format!("{}", lines + 3), "N").replace(&format!("{}", lines + 1), "M"));
        lines.map(|line| line.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let (short, long) = (report(5), report(50_000));
    assert!(short.iter().any(|line| line.contains("a.nesl:N:5")), "{short:?}");
    assert!(short.iter().any(|line| line.starts_with("M │ a = b;")), "{short:?}");
    assert_eq!(short[1], long[1]);
    for line in short.iter().filter(|line| line.starts_with(['N', 'M'])) {
        assert!(long.contains(line), "{line} in {long:?}");
    }
}

#[test]
fn colour_is_optional() {
    let (sources, file) = one_file("x = 1;");
    let diagnostic = Diagnostic::error("E0100", "message", Span::new(file, 0, 1)).saying("label").hint("hint");
    assert!(render(&diagnostic, &sources, true).contains('\u{1b}'));
    assert!(!render(&diagnostic, &sources, false).contains('\u{1b}'));
}

#[test]
fn colours_do_not_begin_again_at_each_character() {
    let (sources, file) = one_file("a_long_name = another_name;");
    let diagnostic = Diagnostic::error("E0100", "message", Span::new(file, 14, 26)).saying("label");
    let shown = render(&diagnostic, &sources, true);
    assert!(shown.contains("another_name"), "{shown:?}");
    assert_eq!(shown.matches('\u{1b}').count() % 2, 0, "{shown:?}");
}

#[test]
fn a_narrow_terminal_shows_the_part_of_a_line_around_a_place() {
    let (sources, file) =
        one_file("function g(v) = {take(v, 2) + 1 : v in a_sequence_of_sequences | #v > 1};\ng([]);\n");
    let diagnostic =
        Diagnostic::error("E0410", "2 elements of a sequence of length 1 are wanted", Span::new(file, 17, 27))
            .saying("in `take`, called here in `g`")
            .also(Span::new(file, 39, 62), "of these")
            .hint("take_most(v, n) takes a sequence that is shorter, too");
    let narrow = |columns| render_on(&diagnostic, &sources, Medium { color: false, columns: Some(columns) });
    insta::assert_snapshot!(narrow(40));
    assert_eq!(narrow(200), render(&diagnostic, &sources, false));
    for columns in 1..120 {
        let shown = narrow(columns);
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(columns < 30 || widest <= columns, "{columns}:\n{shown}");
        assert!(shown.contains("^") || columns > 70, "{columns}:\n{shown}");
    }
}

#[test]
fn calls_come_last() {
    let (sources, file) = one_file("function g(v) = v[2];\ng([]);\n");
    let mut diagnostic = Diagnostic::error("E0412", "out of range", Span::new(file, 16, 20)).saying("in `g`").hint("h");
    diagnostic.calls = vec![Label { span: Span::new(file, 22, 27), text: "`g` called".to_owned() }];
    assert!(render(&diagnostic, &sources, false).ends_with("\n  `g` called at a.nesl:2:1\n"));
    let object = nesl_frontend::render::json::render(&diagnostic, &sources);
    let call =
        r#""calls":[{"file":"a.nesl","start":{"line":2,"column":1},"end":{"line":2,"column":6},"text":"`g` called"}]}"#;
    assert!(object.trim_end().ends_with(call), "{object}");
}

/// A report of a place in a text, without its title.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn report(name: &str, text: &str, place: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text, Origin::User);
    let start = text.find(place).unwrap();
    let diagnostic = Diagnostic::error("E0900", "wrong", Span::new(file, start, start + place.len()));
    render(&diagnostic, &sources, false).lines().skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_a_terminal_obeys_is_shown_and_columns_stay() {
    let name = "a\u{1b}]0;x\u{7}\n.nesl";
    let hostile = "x = 1;\ny = \"\u{1b}]52;c;eA==\u{7}\u{202e}\u{9b}\u{2028}\u{b}\r\" + place;\r\nz = 2;\r\n";
    let shown = report(name, hostile, "place");
    // The same with characters that are as wide.
    let tame = hostile.replace("\u{1b}", "␛").replace('\u{7}', "␇").replace('\u{b}', "␋").replace("\r\"", "␍\"");
    let tame = tame.replace(['\u{202e}', '\u{9b}', '\u{2028}'], "�");
    assert_eq!(shown, report("a␛]0;x␇␊.nesl", &tame, "place"));
    assert!(shown.contains(":2:27 ]") && shown.contains("␛]52;c;eA==␇���␋␍"), "{shown}");
    // Of a long text only some lines are laid out.
    let long = |text: &str| format!("{}{text}", "% before %\n".repeat(5000));
    let (long_hostile, long_tame) = (long(hostile), long(&tame));
    let shown = report(name, &long_hostile, "place");
    assert_eq!(shown, report("a␛]0;x␇␊.nesl", &long_tame, "place"));
    assert!(shown.contains(":5002:27 ]"), "{shown}");
}

#[test]
fn messages_labels_and_hints_are_shown_and_cut() {
    let (mut sources, _) = one_file("");
    let file = sources.add("b.nesl", "x".repeat(2000), Origin::User);
    for span in [Span::new(FileId(0), 0, 0), Span::new(file, 0, 1)] {
        let diagnostic = Diagnostic::error("E0422", format!("\u{1b}[2J{}", "y".repeat(200_000)), span)
            .saying("\u{9b}label")
            .also(span, "\u{7f}also")
            .hint("\u{202e}hint");
        let shown = render(&diagnostic, &sources, false);
        assert!(shown.starts_with("Error[E0422]: ␛[2Jyy") && shown.len() < 10_000, "{shown}");
        assert!(["�label", "␡also", "�hint"].iter().all(|part| shown.contains(part)), "{shown}");
        assert!(!shown.contains(|character: char| character.is_control() && character != '\n'), "{shown:?}");
        let machine = nesl_frontend::render::json::render(&diagnostic, &sources);
        assert!(machine.contains("\\u009blabel") && machine.contains("\\u202ehint") && machine.contains("\\u007falso"));
    }
}
