//! How a text is written, where the tree does not say it: capitals, parentheses, what stands for a name.

use crate::infer::writing::Writing;
use nesl_span::{SourceMap, Span};

/// Texts as they are written.
pub(crate) struct Written<'s>(pub &'s SourceMap);

impl Writing for Written<'_> {
    fn sources(&self) -> &SourceMap {
        self.0
    }

    /// Where it is bound it may stand in parentheses and with a type behind it.
    fn spelling(&self, name: &str, place: Span) -> &str {
        let text = self.0.text(place);
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_?~".contains(c));
        words.find(|word| word.eq_ignore_ascii_case(name)).unwrap_or(text)
    }

    fn is_tuple_of_its_own(&self, argument: Span, first: Span) -> bool {
        self.0.text(Span { end: first.start, ..argument }).matches('(').count() != 1
    }

    fn on_one_line(&self, place: Span) -> String {
        self.0.text(place).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Names may stand in parentheses; an index and a range stand for names of the library.
    fn name_at(&self, place: Span) -> Option<Span> {
        let text = self.0.text(place);
        let is_outer = |character: char| character == '(' || character.is_whitespace();
        let inner = text.trim_start_matches(is_outer);
        let start = place.start + (text.len() - inner.len()) as u32;
        let inner = inner.trim_end_matches(|character: char| character == ')' || character.is_whitespace());
        let is_of_names = |character: char| character.is_alphanumeric() || matches!(character, '_' | '?' | '~' | '.');
        let name = inner.strip_prefix('\'').unwrap_or(inner);
        let is_name = name.chars().all(is_of_names) || name.chars().all(|character| character.is_ascii_punctuation());
        (!name.is_empty() && is_name).then(|| Span { start, end: start + inner.len() as u32, ..place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::Origin;

    /// The place of the part of a text between two `!`, with the text that has none.
    fn placed(text: &str) -> (SourceMap, Span) {
        let (start, end) = (text.find('!').expect("a place"), text.rfind('!').expect("its end"));
        let mut sources = SourceMap::default();
        let file = sources.add("a.nesl", text.replace('!', ""), Origin::User);
        (sources, Span::new(file, start, end - 1))
    }

    #[test]
    fn names_are_found_as_they_are_written() {
        let name = |text: &str| {
            let (sources, place) = placed(text);
            Written(&sources).name_at(place).map(|span| sources.text(span).to_owned())
        };
        assert_eq!(name("x = !( (Abc) )!;"), Some("Abc".to_owned()));
        assert_eq!(name("x = 1 !++! 2;"), Some("++".to_owned()));
        assert_eq!(name("x = !'+!;"), Some("'+".to_owned()));
        assert_eq!(name("x = !v[1]!;"), None);
        let (sources, place) = placed("function f(!(Abc : int)!) = abc;");
        assert_eq!(Written(&sources).spelling("abc", place), "Abc");
    }

    #[test]
    fn tuples_have_parentheses_of_their_own() {
        for (text, is_own) in [("f!(a, b)!", false), ("f!((a, b))!", true), ("f !( ( a , b))!", true)] {
            let (sources, argument) = placed(text);
            let first = sources.text(Span { start: 0, ..argument }).find('a').expect("an argument");
            let first = Span::new(argument.file, first, first + 1);
            assert_eq!(Written(&sources).is_tuple_of_its_own(argument, first), is_own, "{text}");
        }
    }
}
