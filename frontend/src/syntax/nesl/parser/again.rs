//! Reading a text that has changed: forms in which nothing has changed are not read again, only moved.
//!
//! ```text
//!  … forms …   ; first   ; what has changed   ; last   ; … forms …
//!  as before   └──────────── read again ──────────┘     as before, moved
//! ```
//!
//! A form that was read without a fault, up to its `;`, is read so whatever stands around it, and leaves nothing open.
//! So what stands before and behind such a form is read independently of each other, but for recovery from a fault,
//! which looks ahead for the end of a form, at most to the next `function` or `datatype`. The forms read again
//! therefore begin and end with one that has not changed and is right, and, where there are faults, is a definition
//! with such a word. If the last one turns out to be another than before – a quote or a brace has been opened –
//! everything is read.

use super::{Parsed, parse};
use crate::ast::{TopLevel, TopLevelKind};
use crate::diagnostic::{Diagnostic, finish};
use crate::syntax::change::{Change, moved, moved_diagnostic, moved_form, touches};
use nesl_span::{FileId, Span};
use std::ops::Range;

/// A text as it has been read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadText {
    /// The text.
    pub text: String,
    /// What is in it.
    pub parsed: Parsed,
    /// How many of its forms had to be read; the others were known.
    pub fresh: usize,
}

impl ReadText {
    /// Reads all of a text.
    pub fn new(file: FileId, text: &str) -> ReadText {
        let parsed = parse(file, text);
        ReadText { text: text.to_owned(), fresh: parsed.forms.len(), parsed }
    }
}

/// Reads a text that was another before: the same as reading all of it.
pub fn parse_again(file: FileId, text: &str, before: &ReadText) -> ReadText {
    // With so many messages some are left out, and it is not known which.
    if before.parsed.diagnostics.iter().any(|diagnostic| diagnostic.labels.is_empty()) {
        return ReadText::new(file, text);
    }
    let change = Change::between(&before.text, text);
    let reading = Reading { file, text, before, by: change.by, first: change.first(before) };
    // Where nothing is wrong any form will do as the last one.
    let plain = || reading.to(change.last(before, |_| true)?, true);
    let definition = || reading.to(change.last(before, begins_with_word)?, false);
    plain().or_else(definition).or_else(|| reading.to_end()).unwrap_or_else(|| ReadText::new(file, text))
}

/// Whether a form begins with a word that ends whatever is open before it.
fn begins_with_word(form: &TopLevel) -> bool {
    matches!(form.kind, TopLevelKind::Function(_) | TopLevelKind::Datatype(_))
}

/// Where a form ends with its `;`, if that stands right behind it.
fn end_of(form: &TopLevel, text: &str) -> Option<usize> {
    let rest = text.get(form.span.end as usize..)?;
    let gap = rest.len() - rest.trim_start().len();
    rest[gap..].starts_with(';').then_some(form.span.end as usize + gap + 1)
}

/// Where a form stands that has been read without a fault.
fn sound(form: &TopLevel, before: &ReadText) -> Option<Range<usize>> {
    let range = form.span.start as usize..end_of(form, &before.text)?;
    let is_right = !before.parsed.diagnostics.iter().any(|diagnostic| touches(diagnostic, &range));
    (is_right && !matches!(form.kind, TopLevelKind::Error)).then_some(range)
}

impl Change {
    /// The form with which what is read begins, and where it stands: one that is right and ends before the change, or
    /// the first of all.
    fn first(&self, before: &ReadText) -> (usize, usize) {
        let forms = &before.parsed.forms;
        let candidates = forms.partition_point(|form| (form.span.end as usize) < self.old.start);
        let is_all_right = |start: usize| {
            let is_behind = |diagnostic: &Diagnostic| diagnostic.labels[0].span.start as usize >= start;
            before.parsed.diagnostics.iter().all(is_behind)
        };
        let fitting = (0..candidates).rev().find_map(|index| {
            let range = sound(&forms[index], before)?;
            let is_fitting = begins_with_word(&forms[index]) || is_all_right(range.start);
            (range.end <= self.old.start && is_fitting).then_some((index, range.start))
        });
        fitting.unwrap_or((0, 0))
    }

    /// The form with which what is read may end: the first that is right and begins behind the change.
    fn last(&self, before: &ReadText, fits: impl Fn(&TopLevel) -> bool) -> Option<Last> {
        let forms = &before.parsed.forms;
        let behind = forms.partition_point(|form| (form.span.start as usize) < self.old.end);
        let fitting = |index: usize| Some(Last { index, range: sound(&forms[index], before)? });
        (behind..forms.len()).filter(|&index| fits(&forms[index])).find_map(fitting)
    }
}

/// The form with which what is read ends.
struct Last {
    index: usize,
    /// Where it was before.
    range: Range<usize>,
}

/// Reading a part of a text again.
struct Reading<'t> {
    file: FileId,
    text: &'t str,
    before: &'t ReadText,
    /// How far what follows the part has moved.
    by: isize,
    /// The form with which it begins, and where that stands.
    first: (usize, usize),
}

impl Reading<'_> {
    /// Reads up to a form; none if that is then another than before, or if something is wrong where nothing may be.
    fn to(&self, last: Last, is_all_right: bool) -> Option<ReadText> {
        let (start, Last { index, range }) = (self.first.1, last);
        let part = self.part(range.end.checked_add_signed(self.by)?)?;
        let form = moved_form(self.before.parsed.forms[index].clone(), self.file, self.by);
        let new_range = form.span.start as usize..range.end.checked_add_signed(self.by)?;
        let is_as_before = part.forms.last() == Some(&form)
            && !part.diagnostics.iter().any(|found| found.labels.is_empty() || touches(found, &new_range));
        let is_behind = |found: &Diagnostic| found.labels[0].span.start as usize >= start;
        let is_right = || part.diagnostics.is_empty() && !self.before.parsed.diagnostics.iter().any(is_behind);
        (is_as_before && (!is_all_right || is_right())).then(|| self.with(part, index + 1, range.end)).flatten()
    }

    /// Reads up to the end.
    fn to_end(&self) -> Option<ReadText> {
        let part = self.part(self.text.len())?;
        let is_whole = part.diagnostics.iter().all(|found| !found.labels.is_empty());
        is_whole.then(|| self.with(part, self.before.parsed.forms.len(), usize::MAX)).flatten()
    }

    /// What stands from the first form up to a place.
    fn part(&self, end: usize) -> Option<Parsed> {
        let start = self.first.1;
        let Parsed { forms, mut comments, diagnostics } = parse(self.file, self.text.get(start..end)?);
        let by = start as isize;
        comments.iter_mut().for_each(|span| moved(span, self.file, by));
        Some(Parsed {
            forms: forms.into_iter().map(|form| moved_form(form, self.file, by)).collect(),
            comments,
            diagnostics: diagnostics.into_iter().map(|found| moved_diagnostic(found, self.file, by)).collect(),
        })
    }

    /// A part that has been read, with what is known before it and, from the form `next` on, which begins behind `end`,
    /// after it. None if something was wrong both in the part and around it.
    fn with(&self, part: Parsed, next: usize, end: usize) -> Option<ReadText> {
        let Parsed { forms, comments, diagnostics } = &self.before.parsed;
        let (first, start) = self.first;
        let is_before = |span: Span| (span.start as usize) < start;
        let is_known = |span: Span| is_before(span) || span.start as usize >= end;
        let by = |span: Span| if is_before(span) { 0 } else { self.by };
        let is_kept = |found: &&Diagnostic| is_known(found.labels[0].span);
        if diagnostics.iter().filter(is_kept).any(|kept| touches(kept, &(start..end))) {
            return None;
        }
        let fresh = part.forms.len();
        let form = |form: &TopLevel| moved_form(form.clone(), self.file, by(form.span));
        let forms = forms[..first].iter().map(form).chain(part.forms).chain(forms[next..].iter().map(form)).collect();
        let kept = diagnostics.iter().filter(is_kept);
        let kept = kept.map(|kept| moved_diagnostic(kept.clone(), self.file, by(kept.labels[0].span)));
        let diagnostics = finish(kept.chain(part.diagnostics).collect());
        let comment = |mut span: Span| {
            let by = by(span);
            moved(&mut span, self.file, by);
            span
        };
        let around = comments.iter().copied().filter(|span| is_known(*span)).map(comment);
        let mut comments: Vec<Span> = around.chain(part.comments).collect();
        comments.sort_unstable();
        Some(ReadText { text: self.text.to_owned(), parsed: Parsed { forms, comments, diagnostics }, fresh })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::change::random;

    /// Definitions, values and comments.
    const TEXT: &str = "% Begin. %\nfunction double(x) = {2 * x : x};\nn = 10; m = [0:n];\n% A point,\n in a plane. %\n\
        datatype point (float, float);\nfunction first(point(x, y), k := 3 : int) = x;\n\
        function sort(a) = if #a < 2 then a else let p = a[0]; b = {e in a | e < p}; c = {e in a | e > p}\n\
        in sort(b) ++ [p] ++ sort(c);\n\"a string; function\";\nfunction last(v) : [a] -> a :: (a in any) = v[#v - 1];\n\
        x = (v : int) => v + 1; sort([3, 1, 2]); % end %\nfunction id(x) = x;\nprint_line(\"bye\");\n";

    /// What is put into the text.
    const PIECES: [&str; 30] = [
        ";",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "%",
        "% c %",
        "=",
        "function",
        "function g(x) = x + 1;",
        "let",
        " in ",
        "a = 1;",
        "if",
        "then",
        "else",
        "1",
        " x ",
        "é",
        "`",
        "\n",
        "datatype",
        "$",
        " : ",
        "function h(",
        "x = ;",
        "#!",
    ];

    #[test]
    fn reading_again_is_reading() {
        let mut saved = 0;
        for seed in 0..60 {
            let mut state = seed;
            let mut before = ReadText::new(FileId(0), TEXT);
            for step in 0..12 {
                // Mistakes come and go, and the place of the file among others may change.
                let text =
                    if step % 6 == 5 { TEXT.to_owned() } else { random::changed(&before.text, &PIECES, &mut state) };
                let file = FileId(step % 2);
                let again = parse_again(file, &text, &before);
                assert_eq!(again.parsed, parse(file, &text), "seed {seed}, step {step}: {}\n→ {text}", before.text);
                saved += again.parsed.forms.len() - again.fresh.min(again.parsed.forms.len());
                before = again;
            }
        }
        assert!(saved > 2_000, "only {saved} forms were not read again");
    }

    #[test]
    fn only_what_is_around_a_change_is_read() {
        let mut text: String = (0..500).map(|number| format!("function f{number}(x) = x + {number};\n")).collect();
        let mut before = ReadText::new(FileId(0), &text);
        assert_eq!(before.fresh, 500);
        // Within a definition, at the end of one, a new one, half of one, and at both ends of the text.
        let changes = [("+ 250", "* 250"), ("x + 300;", "x + 300 + 1;"), ("function f40(", "y = 3;\nfunction f40(")];
        let changes = changes.into_iter().chain([("f7(x) =", "f7(x = ("), ("function f0(x)", "function first(x)")]);
        for (old, new) in changes.chain([("+ 499;\n", "+ 499;\nfunction g(x) = ")]) {
            text = text.replacen(old, new, 1);
            before = parse_again(FileId(0), &text, &before);
            assert_eq!(before.parsed, parse(FileId(0), &text));
            assert!(before.fresh <= 4, "{} forms were read for {new}", before.fresh);
        }
    }
}
