//! Reading a text of V that has changed: functions in which nothing has changed are not read again, only moved.
//!
//! ```text
//!  … parts …  │ what has changed │  … parts …
//!   as before │    read again    │  as before, moved
//! ```
//!
//! What stands at the top of a text ends with a `}` or a `;`, so that nothing behind it changes how it is read, and of
//! the others it uses heads alone. What has changed is read by itself, therefore, as long as it holds functions with
//! the heads of before, nothing in it is left open for what follows, and nothing is wrong but in it. Where something
//! in it cannot be read that is one function, from whose braces no recovery leads. Else all is read.

use super::known::{Declared, Outside};
use super::lexer::{self, Lexed};
use super::lower::{self, Lowered, Surroundings};
use super::token::Token;
use super::tree::{Item, ItemKind};
use super::{Translated, parse, parser};
use crate::ast::Symbol;
use crate::diagnostic::{Tag, finish, is_about};
use crate::syntax::change::{Change, moved, moved_diagnostic, moved_form, touches};
use nesl_span::{FileId, Span};
use std::ops::Range;

/// Something at the top of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    place: Range<usize>,
    /// The name, if it is a function with a body.
    function: Option<Symbol>,
    /// How many forms it became.
    forms: usize,
}

impl Part {
    pub fn of(item: &Item, forms: usize) -> Part {
        let function = match &item.kind {
            ItemKind::Function(function) if function.body.is_some() => Some(function.declarator.name.symbol.clone()),
            _ => None,
        };
        Part { place: item.span.start as usize..item.span.end as usize, function, forms }
    }

    fn moved(&self, by: isize) -> Part {
        let along = |offset: usize| offset.saturating_add_signed(by);
        Part { place: along(self.place.start)..along(self.place.end), ..self.clone() }
    }
}

/// A text as it has been read.
#[derive(Clone, Debug)]
pub struct TranslatedText {
    file: FileId,
    /// The text.
    pub text: String,
    /// What is in it.
    pub translated: Translated,
    /// Whether all that is right in it is so whatever could not be read.
    is_certain: bool,
    /// How many forms had to be made; the others were known.
    pub fresh: usize,
}

impl TranslatedText {
    /// Reads all of a text.
    pub fn new(file: FileId, text: &str, definitions: Declared, around: &dyn Outside) -> TranslatedText {
        let translated = parse(file, text, false, definitions, around);
        let (is_certain, fresh) = (translated.is_whole, translated.forms.len());
        TranslatedText { file, text: text.to_owned(), translated, is_certain, fresh }
    }
}

/// Reads a text that was another before, with the same around it: the same as reading all of it.
pub fn parse_again(
    file: FileId,
    text: &str,
    before: &TranslatedText,
    definitions: &Declared,
    around: &dyn Outside,
) -> TranslatedText {
    let part = || Reading::of(file, text, before)?.read(around);
    part().unwrap_or_else(|| TranslatedText::new(file, text, definitions.clone(), around))
}

/// Reading a part of a text again.
struct Reading<'t> {
    file: FileId,
    text: &'t str,
    before: &'t TranslatedText,
    /// The parts in which something has changed.
    parts: Range<usize>,
    /// Where they and what is around them stood.
    old: Range<usize>,
    /// How far what follows has moved.
    by: isize,
}

impl<'t> Reading<'t> {
    /// What is to be read; none if that is all.
    fn of(file: FileId, text: &'t str, before: &'t TranslatedText) -> Option<Reading<'t>> {
        let change = Change::between(&before.text, text);
        let Translated { parts, diagnostics, .. } = &before.translated;
        let first = parts.partition_point(|part| part.place.end <= change.old.start);
        let next = parts.partition_point(|part| part.place.start < change.old.end).max(first);
        let start = parts[..first].last().map_or(0, |part| part.place.end);
        let old = start..parts.get(next).map_or(before.text.len(), |part| part.place.start);
        let is_inside = |span: Span| span.start as usize >= old.start && span.end as usize <= old.end;
        // What nothing closes hides what else is wrong.
        let is_right = !is_about(diagnostics, &[Tag::OpenComment, Tag::OpenString])
            && diagnostics.iter().all(|found| found.labels.first().is_some_and(|label| is_inside(label.span)));
        let are_functions = parts[first..next].iter().all(|part| part.function.is_some());
        let is_possible = before.is_certain && is_right && are_functions;
        is_possible.then_some(Reading { file, text, before, parts: first..next, old, by: change.by })
    }

    /// The tokens of what has changed, if it leaves nothing open.
    fn tokens(&self, place: &Range<usize>) -> Option<Lexed> {
        let text = self.text.get(place.clone())?;
        // Only the first line of all can be for the system.
        if place.start > 0 && text.starts_with("#!") {
            return None;
        }
        let mut lexed = lexer::lex(self.file, text);
        let by = place.start as isize;
        lexed.tokens.iter_mut().for_each(|(_, span)| moved(span, self.file, by));
        lexed.comments.iter_mut().for_each(|span| moved(span, self.file, by));
        lexed.diagnostics = lexed.diagnostics.into_iter().map(|found| moved_diagnostic(found, self.file, by)).collect();
        if place.end == self.text.len() {
            return Some(lexed);
        }
        let reaches_end = |span: Span| span.end as usize == place.end;
        let is_open = is_about(&lexed.diagnostics, &[Tag::OpenComment, Tag::OpenString])
            || lexed.diagnostics.iter().any(|found| touches(found, &(place.end..place.end)))
            || lexed.comments.last().is_some_and(|comment| reaches_end(*comment))
            || matches!(lexed.tokens.last(), Some((token, span)) if reaches_end(*span) && !ends_part(token));
        (!is_open).then_some(lexed)
    }

    /// Reads what has changed; none if all must be read.
    fn read(&self, around: &dyn Outside) -> Option<TranslatedText> {
        let place = self.old.start..self.old.end.checked_add_signed(self.by)?;
        let lexed = self.tokens(&place)?;
        let (comments, mistakes) = (lexed.comments.clone(), lexed.diagnostics.len());
        let last = lexed.tokens.last().cloned();
        let is_function = is_in_braces(&lexed);
        let parsed = parser::parse(self.file, self.text.get(..place.end)?, lexed, false);
        let is_wrong = parsed.is_partial || parsed.diagnostics.len() > mistakes;
        if is_wrong && !(is_function && parsed.items.len() == 1 && self.parts.len() == 1) {
            return None;
        }
        let is_whole = parsed.items.last().map(|item| item.span.end) == last.map(|(_, span)| span.end);
        let new: Vec<Part> = parsed.items.iter().map(|item| Part::of(item, 0)).collect();
        if !is_whole || self.names_of(&new) != self.names_of(&self.before.translated.parts[self.parts.clone()]) {
            return None;
        }
        let known = self.before.translated.definitions.moved(|span| self.along(span));
        let (before, after) = self.around();
        let named = before.iter().chain(after).filter_map(|part| part.function.clone()).collect();
        let (unreadable, is_partial) = (parsed.unreadable, parsed.is_partial);
        let surroundings = Surroundings { definitions: known.clone(), around, unreadable, is_partial, named };
        let lowered = lower::lower(&parsed.items, surroundings);
        let is_head_as_before = |part: &Part| {
            let head = |all: &Declared| all.functions.get(part.function.as_ref()?).cloned();
            head(&known).zip(head(&lowered.definitions)).is_some_and(|(one, other)| one.is_as(&other))
        };
        if !new.iter().all(is_head_as_before) {
            return None;
        }
        let mut diagnostics = parsed.diagnostics;
        diagnostics.extend(lowered.diagnostics.iter().cloned());
        let parts = parsed.items.iter().zip(&lowered.counts).map(|(item, forms)| Part::of(item, *forms)).collect();
        let is_whole = !is_partial;
        let fresh = lowered.forms.len();
        let Lowered { forms, definitions, .. } = lowered;
        let part = Translated { forms, comments, definitions, diagnostics: finish(diagnostics), parts, is_whole };
        let translated = self.with(part);
        Some(TranslatedText { file: self.file, text: self.text.to_owned(), translated, is_certain: true, fresh })
    }

    /// The parts before and after what has changed.
    fn around(&self) -> (&[Part], &[Part]) {
        let parts = &self.before.translated.parts;
        (&parts[..self.parts.start], &parts[self.parts.end..])
    }

    /// The names of functions in order of the alphabet; none if something else is among them.
    fn names_of(&self, parts: &[Part]) -> Option<Vec<Symbol>> {
        let mut names: Vec<Symbol> = parts.iter().map(|part| part.function.clone()).collect::<Option<_>>()?;
        names.sort_unstable();
        Some(names)
    }

    /// Moves a place of before, if it is in this text.
    fn along(&self, span: &mut Span) {
        if span.file == self.before.file {
            let by = if (span.start as usize) < self.old.end { 0 } else { self.by };
            moved(span, self.file, by);
        }
    }

    /// A part that has been read, with what is known around it.
    fn with(&self, part: Translated) -> Translated {
        let Translated { forms, comments, parts, .. } = &self.before.translated;
        let structures = forms.len() - parts.iter().map(|part| part.forms).sum::<usize>();
        let (before, after) = self.around();
        let first = structures + before.iter().map(|part| part.forms).sum::<usize>();
        let next = forms.len() - after.iter().map(|part| part.forms).sum::<usize>();
        let by = |span: Span| if (span.start as usize) < self.old.end { 0 } else { self.by };
        let form = |form: &crate::ast::TopLevel| moved_form(form.clone(), self.file, by(form.span));
        let comment = |mut span: Span| {
            self.along(&mut span);
            span
        };
        let is_before = |span: &Span| (span.start as usize) < self.old.start;
        let is_after = |span: &Span| span.start as usize >= self.old.end;
        let known = comments.iter().copied();
        Translated {
            forms: forms[..first].iter().map(form).chain(part.forms).chain(forms[next..].iter().map(form)).collect(),
            comments: (known.clone().filter(is_before).map(comment))
                .chain(part.comments)
                .chain(known.filter(is_after).map(comment))
                .collect(),
            parts: (before.iter().map(|part| part.moved(0)))
                .chain(part.parts)
                .chain(after.iter().map(|part| part.moved(self.by)))
                .collect(),
            ..part
        }
    }
}

/// Whether a token ends what stands at the top of a text, so that nothing can go on with it.
fn ends_part(token: &Token) -> bool {
    matches!(token, Token::Sign("}" | ";"))
}

/// Whether the braces of a text close, the outermost at its end and nowhere before.
fn is_in_braces(lexed: &Lexed) -> bool {
    let mut depth = 0_usize;
    for (index, (token, _)) in lexed.tokens.iter().enumerate() {
        match token {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") if depth == 1 => return index + 1 == lexed.tokens.len(),
            Token::Sign("}") if depth == 0 => return false,
            Token::Sign("}") => depth -= 1,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::change::random;
    use crate::syntax::v::known::OutsideFunction;
    use crate::ty;

    /// Nothing is known around these texts.
    struct Nothing;

    impl Outside for Nothing {
        fn function(&self, _: &str) -> Option<OutsideFunction> {
            None
        }

        fn value(&self, _: &str) -> Option<ty::Type> {
            None
        }

        fn names(&self) -> Vec<Symbol> {
            Vec::new()
        }
    }

    /// Functions, globals, structs and comments.
    const TEXT: &str = "// Begin.\nstruct point { double x, y; };\nint limit = 100;\npure int twice(int x) { return 2 * x; }\n\
        /* Adds up. */ int total(int v[*]) {\n  int s = 0;\n  for (int i = 0; i < $v; i++) { if (v[i] < 0) break; s += v[i]; }\n\
        \n  return s; // all\n}\npure double far(struct point p) { return p.x * p.x + p.y * p.y; }\n\
        pure int quick(int v[*]) [*] { if ($v < 2) return v; int p = v[0];\n  return quick([x : x in v : x < p]) >< [p]; }\n\
        total([1, 2, 3]);\nint main(void) { int k = twice(3); while (k < limit) { k *= 2; } return k; }\n";

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
        "//",
        "/*",
        "*/",
        "=",
        "int f(int x) { return x; }",
        "pure",
        " int ",
        "x = 1;",
        "if",
        "else",
        "return",
        "1",
        " x ",
        "é",
        "'",
        "\n",
        "struct",
        "$",
        " : ",
        "int f(",
        "twice",
        "#!",
    ];

    fn read(file: FileId, text: &str) -> TranslatedText {
        TranslatedText::new(file, text, Declared::default(), &Nothing)
    }

    fn again(file: FileId, text: &str, before: &TranslatedText) -> TranslatedText {
        parse_again(file, text, before, &Declared::default(), &Nothing)
    }

    #[test]
    fn reading_again_is_reading() {
        let mut saved = 0;
        for seed in 0..120 {
            let mut state = seed;
            let mut before = read(FileId(0), TEXT);
            assert_eq!(before.translated.diagnostics, []);
            for step in 0..12 {
                // Mistakes come and go, and the place of the file among others may change.
                let text =
                    if step % 4 == 3 { TEXT.to_owned() } else { random::changed(&before.text, &PIECES, &mut state) };
                let file = FileId(step % 2);
                let again = again(file, &text, &before);
                let whole = read(file, &text).translated;
                assert_eq!(again.translated, whole, "seed {seed}, step {step}: {}\n→ {text}", before.text);
                saved += again.translated.forms.len() - again.fresh.min(again.translated.forms.len());
                before = again;
            }
        }
        assert!(saved > 2_000, "only {saved} forms were not read again");
    }

    #[test]
    fn only_the_function_around_a_change_is_read() {
        let mut text: String =
            (0..200).map(|number| format!("int f{number}(int x) {{ return x + {number}; }}\n")).collect();
        let mut before = read(FileId(0), &text);
        assert_eq!(before.fresh, 200);
        // A mistake, another in its place, none; what stands between two functions; both ends of the text.
        let changes =
            [("x + 150", "x + (150"), ("x + (150", "x + y"), ("x + y", "x - 150"), ("int f7(", "// Seven.\nint f7(")];
        for (old, new) in changes.into_iter().chain([("x + 0;", "x;"), ("x + 199; }", "x + 1; } ")]) {
            text = text.replacen(old, new, 1);
            before = again(FileId(0), &text, &before);
            assert_eq!(before.translated, read(FileId(0), &text).translated);
            assert!(before.fresh <= 1, "{} forms were read for {new}", before.fresh);
        }
        // Another head is seen by all.
        let text = text.replacen("int f9(int x)", "int f9(double x)", 1);
        assert_eq!(again(FileId(0), &text, &before).fresh, 200);
    }
}
