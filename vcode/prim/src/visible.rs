//! Text from outside as people read it: in messages, and beside the lines of a program.
//!
//! Names of files, cells of tables, words of the command line and the source itself may hold characters that a terminal
//! obeys instead of showing them: escape sequences set its title, its colours and the clipboard, and characters of
//! writing direction make a line read as something else. Whoever makes a message for people shows such characters by
//! stand-ins, one character for one, so that columns stay what they are: controls by their pictures (`␛`), others by
//! `�`. What programs print is their own affair.

use std::borrow::Cow;

/// Messages longer than this, in characters, are shown by their beginning and their end.
const LONGEST: usize = 4_000;

/// The characters at the end of a long message that are shown: what is wrong often stands there.
const END: usize = 800;

/// Whether a character changes the direction of the text after it, or the order of what stands around it.
pub fn is_bidirectional(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is shown in the place of a character that does something else than to be seen; nothing where it is itself. Line
/// ends and tabs are such characters, too.
pub fn stand_in(character: char) -> Option<char> {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        // Controls, marks of direction, line ends of Unicode, and what has neither shape nor width. Joiners are left:
        // scripts need them.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => Some('\u{fffd}'),
        _ => None,
    }
}

/// A text that stands in lines of its own: its line ends and tabs are kept.
pub fn text(text: &str) -> Cow<'_, str> {
    shown(text, |character| !matches!(character, '\n' | '\t'))
}

/// A text that stands within a line, such as the name of a file.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, |_| true)
}

/// A message: a text of which only the beginning and the end are shown if it is long.
pub fn message(message: &str) -> Cow<'_, str> {
    let Some((cut, _)) = message.char_indices().nth(LONGEST) else { return text(message) };
    let head = message[..cut].char_indices().nth(LONGEST - END).map_or(cut, |(end, _)| end);
    let tail = message.char_indices().rev().nth(END - 1).map_or(cut, |(start, _)| start);
    let left_out = message[head..tail].chars().count();
    let (start, end) = (text(&message[..head]), text(&message[tail..]));
    Cow::Owned(format!("{start} … ({left_out} characters) … {end}"))
}

/// The name of something in a message, as it is, of which only the beginning and the end are left if it is long.
pub fn name(name: &str) -> Cow<'_, str> {
    const LONGEST_NAME: usize = 300;
    const END_OF_NAME: usize = 60;
    if name.chars().nth(LONGEST_NAME).is_none() {
        return Cow::Borrowed(name);
    }
    let head: String = name.chars().take(LONGEST_NAME - END_OF_NAME).collect();
    let tail = name.char_indices().rev().nth(END_OF_NAME - 1).map_or("", |(start, _)| &name[start..]);
    Cow::Owned(format!("{head}…{tail}"))
}

fn shown(text: &str, counts: impl Fn(char) -> bool) -> Cow<'_, str> {
    let replacement = |character: char| stand_in(character).filter(|_| counts(character));
    match text.chars().any(|character| replacement(character).is_some()) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.chars().map(|character| replacement(character).unwrap_or(character)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        assert!(matches!(name("a/b.txt"), Cow::Borrowed("a/b.txt")));
        let long = "é".repeat(4000) + ".txt";
        let shown = name(&long);
        assert!(shown.chars().count() == 301 && shown.ends_with("é.txt") && shown.contains('…'), "{shown}");
    }

    #[test]
    fn no_control_reaches_the_reader() {
        assert_eq!(text("a\u{1b}]52;c;eA==\u{7}\tb\n"), "a␛]52;c;eA==␇\tb\n");
        assert_eq!(line("a\tb\r\n"), "a␉b␍␊");
        assert_eq!(text("\u{7f}\u{9b}1m\u{202e}x\u{2066}\u{200f}\u{2028}\u{feff}"), "␡�1m�x����");
        assert!(matches!(text("é ☃ 漢 👩\u{200d}🚀"), Cow::Borrowed(_)));
        // Every control of Unicode, and every one of those that change the direction.
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let is_dangerous = character.is_control() || is_bidirectional(character);
            assert!(!is_dangerous || stand_in(character).is_some(), "{character:?}");
            assert!(stand_in(character).is_none_or(|other| stand_in(other).is_none()), "{character:?}");
        }
    }

    #[test]
    fn long_messages_keep_both_ends() {
        let whole = "é".repeat(LONGEST);
        assert_eq!(message(&whole), whole);
        let long = format!("cannot read {}: too long", "\u{1b}".repeat(1_000_000));
        let shown = message(&long);
        assert!(shown.starts_with("cannot read ␛␛") && shown.ends_with("␛: too long"), "{shown}");
        assert!(shown.chars().count() < LONGEST + 100 && shown.contains("(996022 characters)"), "{shown}");
    }
}
