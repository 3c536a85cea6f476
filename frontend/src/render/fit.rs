//! Texts for a terminal of so many columns: lines broken between words, and how wide what is shown is.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What begins a colour, up to its `m`, and what ends each.
const ESCAPE: &str = "\u{1b}[";
const RESET: &str = "\u{1b}[0m";

/// A text in lines of at most so many columns where its words allow that, every line but the first behind `indent`.
pub(super) fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        let mut used = 0;
        for (order, word) in line.split(' ').enumerate() {
            let width = word.width();
            if order > 0 && width > 0 && used + 1 + width > columns {
                out.push('\n');
                out.push_str(indent);
                used = indent.width();
            } else if order > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += width;
        }
    }
    out
}

/// The columns of the widest line; escapes take none.
pub(super) fn widest(text: &str) -> usize {
    let width = |line: &str| {
        let mut parts = line.split(ESCAPE);
        let first = parts.next().map_or(0, UnicodeWidthStr::width);
        first + parts.map(|part| part.split_once('m').map_or(0, |(_, shown)| shown.width())).sum::<usize>()
    };
    text.lines().map(width).max().unwrap_or(0)
}

/// The same text where a colour that ends to begin at once again goes on instead.
pub(super) fn with_fewer_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut color, mut rest) = ("", text);
    while let Some(at) = rest.find(ESCAPE) {
        out.push_str(&rest[..at]);
        let length = rest[at..].find('m').map_or(rest.len() - at, |end| end + 1);
        let escape = &rest[at..at + length];
        rest = &rest[at + length..];
        match rest.strip_prefix(color) {
            Some(behind) if escape == RESET && !color.is_empty() => rest = behind,
            _ => {
                color = if escape == RESET { "" } else { escape };
                out.push_str(escape);
            }
        }
    }
    out + rest
}

/// A part of a line that holds a place, at most so many columns wide, with `…` where something is left out; and the
/// columns before the place and those of it that are shown.
pub(super) fn window(line: &str, place: std::ops::Range<usize>, columns: usize) -> (String, usize, usize) {
    let characters: Vec<(usize, char, usize)> = line
        .char_indices()
        .map(|(offset, character)| {
            let character = if character == '\t' { ' ' } else { character };
            (offset, character, character.width().unwrap_or(0))
        })
        .collect();
    let width = |part: &[(usize, char, usize)]| part.iter().map(|&(_, _, width)| width).sum::<usize>();
    let at = |offset: usize| characters.partition_point(|&(start, _, _)| start < offset);
    let (start, end) = (at(place.start), at(place.end));
    let mut first = 0;
    // A third of the room is for what stands before the place.
    if width(&characters) > columns {
        while first < start && width(&characters[first..start]) + 1 > columns / 3 {
            first += 1;
        }
    }
    let cut = usize::from(first > 0);
    let mut last = characters.len();
    while last > first + 1 && cut + width(&characters[first..last]) + usize::from(last < characters.len()) > columns {
        last -= 1;
    }
    let mut shown = "…".repeat(cut);
    shown.extend(characters[first..last].iter().map(|&(_, character, _)| character));
    if last < characters.len() {
        shown.push('…');
    }
    let before = cut + width(&characters[first..start.clamp(first, last)]);
    let inside = width(&characters[start.clamp(first, last)..end.clamp(first, last)]);
    (shown, before, inside.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7, "  "), "one two\n  three");
        assert_eq!(wrapped("one\ntwo", 7, "  "), "one\ntwo");
        assert_eq!(wrapped("unbreakable a", 5, ""), "unbreakable\na");
        assert_eq!(wrapped("", 5, ""), "");
        assert_eq!(wrapped("  a  b", 9, ""), "  a  b");
    }

    #[test]
    fn escapes_take_no_room_and_do_not_repeat() {
        let red = "\u{1b}[31ma\u{1b}[0m\u{1b}[31mb\u{1b}[0m \u{1b}[32mc\u{1b}[0m";
        let fewer = with_fewer_escapes(red);
        assert_eq!(fewer, "\u{1b}[31mab\u{1b}[0m \u{1b}[32mc\u{1b}[0m");
        assert_eq!((widest(red), widest(&fewer), widest("☃\n漢字\n")), (4, 4, 4));
        assert_eq!(with_fewer_escapes("\u{1b}[0mx\u{1b}["), "\u{1b}[0mx\u{1b}[");
    }

    #[test]
    fn of_a_long_line_the_part_around_a_place_is_shown() {
        assert_eq!(window("short", 1..3, 20), ("short".to_owned(), 1, 2));
        let line = "abcdefghijklmnopqrstuvwxyz";
        let (shown, before, inside) = window(line, 13..15, 12);
        assert_eq!((shown.width(), shown.chars().skip(before).take(inside).collect::<String>()), (12, "no".to_owned()));
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let (shown, before, inside) = window(line, 24..26, 12);
        assert_eq!(shown.chars().skip(before).take(inside).collect::<String>(), "yz");
        let (shown, before, inside) = window(line, 0..26, 12);
        assert_eq!((shown.width(), before, inside), (12, 0, 11));
        for columns in 1..30 {
            for start in 0..26 {
                let (shown, before, inside) = window(line, start..26, columns);
                assert!(
                    before + inside <= shown.width() && shown.width() <= columns.max(3),
                    "{columns} {start} {shown}"
                );
            }
        }
    }
}
