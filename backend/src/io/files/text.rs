//! Text files: bytes, lines, words separated by white space, and lines of such words.
//!
//! A process reads what *begins* in its share of the bytes: it skips what began before, and reads on to the end of what
//! it has begun. So every word and line is read exactly once, wherever the shares are cut.

use super::words::{BYTE_ORDER_MARK, float, int, truth};
use super::{AT_ONCE, Content, InputError, check, named};
use crate::data::hold::Hold;
use crate::io::import::Piece;
use nesl_prim::host::Share;
use nesl_prim::{Constants, Failure, ScalarType};
use std::ops::Range;

/// How far to read on at a time for the end of the last word or line.
const MORE: u64 = 1 << 12;

/// The shortest part that a text is cut into to be read.
const PART: usize = 1 << 16;

/// A word longer than this is shown in part.
const LONGEST_SHOWN: usize = 40;

/// `[char]`: the share itself.
pub(super) fn bytes(content: &mut Content, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let own = content.share(share)?;
    Ok(vec![Piece::Elements(Constants::Char(content.read(own)?))])
}

/// `[[char]]`: the lines, without their ends (`\n` or `\r\n`). A process gives the characters in its share, and the
/// lengths of the lines that begin there: one that is longer than a share is on no process as a whole.
pub(super) fn lines(content: &mut Content, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let own = content.share(share)?;
    let mut text = content.read(own.clone())?;
    // With the byte before, which tells whether a line begins right at the start, and the one behind.
    let mut begun = own.start == 0 || content.read(own.start - 1..own.start)? == b"\n";
    let is_cut = own.end < content.length && content.read(own.end..own.end + 1)? != b"\n";
    let mut lengths = Vec::new();
    let (mut position, mut kept) = (0, 0);
    while position < text.len() {
        check(&content.interrupt)?;
        let newline = text[position..].iter().position(|&byte| byte == b'\n');
        let end = newline.map_or(text.len(), |newline| position + newline);
        let goes_on = newline.is_none() && is_cut;
        let line = &text[position..end];
        let line = if goes_on { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        let length = line.len();
        if begun {
            let rest = if goes_on { rest_of_line(content, own.end)? } else { 0 };
            content.hold.push(&mut lengths, (length + rest) as i64)?;
        }
        text.copy_within(position..position + length, kept);
        kept += length;
        begun = true;
        position = end + 1;
    }
    text.truncate(kept);
    text.shrink_to_fit();
    lengths.shrink_to_fit();
    Ok(vec![Piece::Lengths(lengths), Piece::Elements(Constants::Char(text))])
}

/// The characters from a position on that belong to the line there.
fn rest_of_line(content: &mut Content, start: u64) -> Result<usize, InputError> {
    let (mut length, mut last) = (0, 0);
    scan(content, start, |bytes| {
        let newline = bytes.iter().position(|&byte| byte == b'\n');
        let rest = &bytes[..newline.unwrap_or(bytes.len())];
        length += rest.len();
        last = rest.last().copied().unwrap_or(last);
        newline.is_none()
    })?;
    Ok(length - usize::from(last == b'\r'))
}

/// Reads on from a position, in pieces that are not kept, until `goes_on` says no or the file ends.
fn scan(content: &mut Content, start: u64, mut goes_on: impl FnMut(&[u8]) -> bool) -> Result<(), InputError> {
    let (mut position, mut length, mut bytes) = (start, MORE, Vec::new());
    while position < content.length {
        let end = content.length.min(position + length);
        content.read_to(position..end, &mut bytes)?;
        if !goes_on(&bytes) {
            break;
        }
        position = end;
        length = (2 * length).min(AT_ONCE);
    }
    Ok(())
}

/// Goes on behind the lines at the beginning that begin with `#`, with blank ones between them.
pub(super) fn leave_out_comments(content: &mut Content) -> Result<(), InputError> {
    let mark = if content.begins_with(BYTE_ORDER_MARK)? { BYTE_ORDER_MARK.len() as u64 } else { 0 };
    let (mut start, mut lines) = (mark, 0);
    while start < content.length {
        let (mut length, mut is_ended, mut first) = (0, false, None);
        scan(content, start, |bytes| {
            let newline = bytes.iter().position(|&byte| byte == b'\n');
            let line = &bytes[..newline.unwrap_or(bytes.len())];
            first = first.or_else(|| line.iter().copied().find(|byte| !byte.is_ascii_whitespace()));
            is_ended = newline.is_some();
            length += (line.len() + usize::from(is_ended)) as u64;
            !is_ended && first.is_none_or(|first| first == b'#')
        })?;
        (start, lines) = (start + length, lines + usize::from(is_ended));
        match first {
            Some(b'#') => {
                let behind = content.base + start;
                (content.base, content.length, start) = (behind, content.length - start, 0);
                content.lines_before += lines;
                lines = 0;
            }
            None => {}
            Some(_) => break,
        }
    }
    Ok(())
}

/// `[int]`, `[float]`, `[bool]`: one element for each word.
pub(super) fn words(content: &mut Content, scalar: ScalarType, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let mut begun = begun(content, share)?;
    let mut elements = Elements::new(scalar);
    while begun.advance(content)? {
        elements.read(content, &begun, 0..begun.text.len(), scalar)?;
    }
    Ok(vec![Piece::Elements(elements.finish())])
}

/// `[[int]]`, `[[float]]`, `[[bool]]`: one row for each line. A process gives the words that begin in its share, and
/// the lengths of the rows that begin there.
pub(super) fn rows(content: &mut Content, scalar: ScalarType, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let own = content.share(share)?;
    let mut begun = begun(content, share)?;
    let mut elements = Elements::new(scalar);
    let mut lengths = Vec::new();
    // The words so far of the line at hand, which may go on in the next window.
    let (mut is_row, mut is_open, mut count) = (begun.at_line, false, 0);
    while begun.advance(content)? {
        let mut position = 0;
        while position < begun.text.len() {
            let newline = begun.text[position..].iter().position(|&byte| byte == b'\n');
            let end = newline.map_or(begun.text.len(), |newline| position + newline);
            count += elements.read(content, &begun, position..end, scalar)?;
            is_open = newline.is_none();
            position = end + 1;
            if !is_open {
                if is_row {
                    content.hold.push(&mut lengths, count as i64)?;
                }
                count = 0;
                is_row = begun.start + (position as u64) < own.end;
            }
        }
    }
    if is_open && is_row {
        let rest = rest_of_row(content, begun.rest.end)?;
        content.hold.push(&mut lengths, (count + rest) as i64)?;
    }
    lengths.shrink_to_fit();
    Ok(vec![Piece::Lengths(lengths), Piece::Elements(elements.finish())])
}

/// The words from a position on that belong to the line there; no word lies across that position.
fn rest_of_row(content: &mut Content, start: u64) -> Result<usize, InputError> {
    let (mut count, mut is_between) = (0, true);
    scan(content, start, |bytes| {
        for &byte in bytes {
            let was_between = std::mem::replace(&mut is_between, byte.is_ascii_whitespace());
            count += usize::from(was_between && !is_between);
            if byte == b'\n' {
                return false;
            }
        }
        true
    })?;
    Ok(count)
}

/// The part of a file with the words that begin in a process's share: one window of it after another, cut between
/// words.
struct Begun {
    /// Whether a line starts where it does.
    at_line: bool,
    /// What is yet to be read.
    rest: Range<u64>,
    /// The window at hand.
    text: Vec<u8>,
    /// Where that starts in the file.
    start: u64,
}

impl Begun {
    /// Reads the next window, if there is one. It is longer only where a word is.
    fn advance(&mut self, content: &mut Content) -> Result<bool, InputError> {
        self.start = self.rest.start;
        let mut size = AT_ONCE;
        while !self.rest.is_empty() {
            let end = self.rest.end.min(self.start.saturating_add(size));
            content.read_to(self.start..end, &mut self.text)?;
            let space = self.text.iter().rposition(u8::is_ascii_whitespace);
            let cut = if end == self.rest.end { Some(self.text.len()) } else { space.map(|space| space + 1) };
            if let Some(cut) = cut {
                self.text.truncate(cut);
                self.rest.start += cut as u64;
                return Ok(true);
            }
            size = size.saturating_mul(2);
        }
        Ok(false)
    }
}

/// The part of the file with the words that begin in this process's share.
fn begun(content: &mut Content, share: Share<'_>) -> Result<Begun, InputError> {
    let own = content.share(share)?;
    let mut begun = Begun { at_line: own.start == 0, rest: own.clone(), text: Vec::new(), start: own.start };
    if own.is_empty() {
        return Ok(begun);
    }
    if own.start == 0 && content.begins_with(BYTE_ORDER_MARK)? {
        begun.rest.start = BYTE_ORDER_MARK.len() as u64;
        begun.rest.end = own.end.max((begun.rest.start + 1).min(content.length));
    }
    if own.start > 0 {
        // From the byte before, which tells whether something begins right at the start.
        let mut position = own.start - 1;
        scan(content, own.start - 1, |bytes| {
            let space = bytes.iter().position(u8::is_ascii_whitespace);
            position += space.map_or(bytes.len(), |space| space + 1) as u64;
            begun.at_line = space.is_some_and(|space| bytes[space] == b'\n');
            space.is_none() && position < own.end
        })?;
        begun.rest.start = position.min(own.end);
    }
    let end = begun.rest.end;
    if !begun.rest.is_empty() && !content.read(end - 1..end)?[0].is_ascii_whitespace() {
        scan(content, end, |more| {
            let space = more.iter().position(u8::is_ascii_whitespace);
            begun.rest.end += space.map_or(more.len(), |space| space + 1) as u64;
            space.is_none()
        })?;
    }
    Ok(begun)
}

/// A text in parts that are read in a few milliseconds and end between words.
fn parts_of(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let after = text.iter().skip(PART).position(u8::is_ascii_whitespace);
        let (part, rest) = text.split_at(after.map_or(text.len(), |after| PART + after));
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// The error about a word that is not of the type: with its line, which only now is worth counting.
fn unreadable(content: &mut Content, text: &[u8], start: u64, word: Range<usize>, scalar: ScalarType) -> InputError {
    let position = start + word.start as u64;
    let (mut before, mut seen) = (0, 0);
    let counted = scan(content, 0, |bytes| {
        let bytes = &bytes[..bytes.len().min((position - seen) as usize)];
        before += bytes.iter().filter(|&&byte| byte == b'\n').count();
        seen += bytes.len() as u64;
        seen < position
    });
    if let Err(error) = counted {
        return error;
    }
    let article = if scalar == ScalarType::Int { "an" } else { "a" };
    let shown = String::from_utf8_lossy(&text[word.start..word.end.min(word.start + LONGEST_SHOWN)]).into_owned();
    let ellipsis = if word.len() > LONGEST_SHOWN { "…" } else { "" };
    let is_too_large = scalar == ScalarType::Int
        && shown.strip_prefix(['-', '+']).unwrap_or(&shown).bytes().all(|byte| byte.is_ascii_digit())
        && !shown.ends_with(['-', '+']);
    let problem = match is_too_large {
        true => format!("`{shown}{ellipsis}` is too large for an int"),
        false => format!("`{}{ellipsis}` is not {article} {scalar}", shown.escape_debug()),
    };
    let line = content.lines_before + before + 1;
    let message = format!("{}, line {line}: {problem}", named(&content.path));
    InputError { position, ..InputError::new(message) }
}

/// Elements that are being read.
enum Elements {
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
}

impl Elements {
    fn new(scalar: ScalarType) -> Elements {
        match scalar {
            ScalarType::Int => Elements::Int(Vec::new()),
            ScalarType::Float => Elements::Float(Vec::new()),
            ScalarType::Bool | ScalarType::Char => Elements::Bool(Vec::new()),
        }
    }

    /// Makes room for the words of a part.
    fn make_room(&mut self, hold: &mut Hold, part: &[u8]) -> Result<(), Failure> {
        // Behind its shortest length a part has but the rest of one word.
        let most = part.len().min(PART).div_ceil(2) + 1;
        match self {
            Elements::Int(elements) => hold.grow(elements, most),
            Elements::Float(elements) => hold.grow(elements, most),
            Elements::Bool(elements) => hold.grow(elements, most),
        }
    }

    /// Adds the words of a text; their number, or where the first lies that cannot be read, counted from `offset`.
    fn extend(&mut self, text: &[u8], offset: usize) -> Result<usize, Range<usize>> {
        let at = |word: Range<usize>| offset + word.start..offset + word.end;
        match self {
            Elements::Int(elements) => push_words(text, int, elements).map_err(at),
            Elements::Float(elements) => push_words(text, float, elements).map_err(at),
            Elements::Bool(elements) => push_words(text, truth, elements).map_err(at),
        }
    }

    /// Adds the words of a range of the window at hand; their number.
    fn read(
        &mut self,
        content: &mut Content,
        begun: &Begun,
        range: Range<usize>,
        scalar: ScalarType,
    ) -> Result<usize, InputError> {
        let (mut offset, mut count) = (range.start, 0);
        check(&content.interrupt)?;
        for part in parts_of(&begun.text[range]) {
            check(&content.interrupt)?;
            self.make_room(&mut content.hold, part)?;
            let added = self.extend(part, offset);
            count += added.map_err(|word| unreadable(content, &begun.text, begun.start, word, scalar))?;
            offset += part.len();
        }
        Ok(count)
    }

    fn finish(self) -> Constants {
        // Without room behind them they become a column as they lie.
        fn fitted<T>(mut elements: Vec<T>) -> Vec<T> {
            elements.shrink_to_fit();
            elements
        }
        match self {
            Elements::Int(elements) => Constants::Int(fitted(elements)),
            Elements::Float(elements) => Constants::Float(fitted(elements)),
            Elements::Bool(elements) => Constants::Bool(fitted(elements)),
        }
    }
}

fn push_words<T>(text: &[u8], read: impl Fn(&[u8]) -> Option<T>, elements: &mut Vec<T>) -> Result<usize, Range<usize>> {
    let before = elements.len();
    let mut position = 0;
    while position < text.len() {
        if text[position].is_ascii_whitespace() {
            position += 1;
            continue;
        }
        let length = text[position..].iter().position(u8::is_ascii_whitespace).unwrap_or_else(|| text.len() - position);
        let word = position..position + length;
        match read(&text[word.clone()]) {
            Some(element) => elements.push(element),
            None => return Err(word),
        }
        position += length;
    }
    Ok(elements.len() - before)
}

#[cfg(test)]
mod tests {
    use super::super::Storage;
    use super::*;
    use crate::engine::interrupt::Interrupt;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn content(text: &str) -> Content {
        let bytes = Arc::new(text.as_bytes().to_vec());
        let length = bytes.len() as u64;
        let interrupt = Interrupt::default();
        let (path, hold) = (PathBuf::from("numbers.txt"), Hold::default());
        Content { path, storage: Storage::Memory(bytes), base: 0, length, lines_before: 0, interrupt, hold }
    }

    /// What each of some ranks reads, one after another.
    fn by_ranks(
        text: &str,
        ranks: usize,
        read: impl Fn(&mut Content, Share<'_>) -> Result<Vec<Piece>, InputError>,
    ) -> Result<(Vec<i64>, Vec<ScalarValues>), InputError> {
        let (mut lengths, mut elements) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let share = |length: usize| length * rank / ranks..length * (rank + 1) / ranks;
            for piece in read(&mut content(text), &share)? {
                match piece {
                    Piece::Lengths(more) => lengths.extend(more),
                    Piece::Elements(more) => elements.push(more),
                    Piece::Scalar(_) => unreachable!("files give sequences"),
                }
            }
        }
        Ok((lengths, elements))
    }

    type ScalarValues = Constants;

    fn flat(pieces: &[Constants]) -> Vec<String> {
        pieces
            .iter()
            .flat_map(|piece| (0..piece.len()).map(|index| nesl_prim::text::scalar(piece.get(index))))
            .collect()
    }

    #[test]
    fn every_division_reads_every_word_once() {
        let text = "1 22\n333\n\n  -4444\t5\r\n66";
        for ranks in 1..=text.len() + 3 {
            let (_, elements) = by_ranks(text, ranks, |content, share| words(content, ScalarType::Int, share)).unwrap();
            assert_eq!(flat(&elements), ["1", "22", "333", "-4444", "5", "66"], "{ranks} ranks");
        }
    }

    #[test]
    fn every_division_reads_every_line_once() {
        let text = "one\r\n\ntwo three\nfour";
        for ranks in 1..=text.len() + 3 {
            let (lengths, elements) = by_ranks(text, ranks, lines).unwrap();
            assert_eq!(lengths, [3, 0, 9, 4], "{ranks} ranks");
            assert_eq!(flat(&elements).len(), 16);
            let (lengths, _) =
                by_ranks("1 2\n\n3\n", ranks, |content, share| rows(content, ScalarType::Float, share)).unwrap();
            assert_eq!(lengths, [2, 0, 1], "{ranks} ranks");
        }
        assert!(by_ranks("", 2, lines).unwrap().0.is_empty());
        assert!(by_ranks("", 2, |content, share| rows(content, ScalarType::Int, share)).unwrap().0.is_empty());
        assert_eq!(by_ranks("\n", 2, lines).unwrap().0, [0]);
    }

    #[test]
    fn comments_come_first() {
        for (head, lines) in
            [("", 0), ("# a header\n", 1), ("#\r\n# two\n", 2), ("\u{feff}# marked\n", 1), ("# a\n\n  # b\n", 3)]
        {
            let text = format!("{head}1 2\n3 x\n");
            let mut content = content(&text);
            leave_out_comments(&mut content).unwrap();
            let error = rows(&mut content, ScalarType::Int, &|length| 0..length).unwrap_err();
            assert_eq!(error.message, format!("numbers.txt, line {}: `x` is not an int", lines + 2), "{text:?}");
            let text = format!("{head}1 2\n3 4\n");
            for ranks in 1..9 {
                let read = |content: &mut Content, share: Share<'_>| {
                    leave_out_comments(content)?;
                    rows(content, ScalarType::Int, share)
                };
                let (lengths, elements) = by_ranks(&text, ranks, read).unwrap();
                assert_eq!((lengths, flat(&elements).concat()), (vec![2, 2], "1234".to_owned()), "{text:?} {ranks}");
            }
        }
        let mut only = content("# nothing else");
        leave_out_comments(&mut only).unwrap();
        assert_eq!(only.length, 0);
    }

    #[test]
    fn a_line_longer_than_a_share_is_on_no_process_as_a_whole() {
        let words: Vec<String> = (0..4000).map(|word| word.to_string()).collect();
        let row = words.join(" ");
        for ranks in 1..9 {
            for text in [format!("{row}\r\n1 2"), format!("x\n{row}\r"), format!("\n{row}\n\n")] {
                let (lengths, parts) = by_ranks(&text, ranks, lines).unwrap();
                let whole: Vec<i64> = text.lines().map(|line| line.trim_end().len() as i64).collect();
                assert_eq!(lengths, whole, "{ranks} ranks");
                let characters: String = flat(&parts).concat();
                assert_eq!(characters.matches('`').count() as i64, whole.iter().sum::<i64>(), "{ranks} ranks");
                let longest = parts.iter().map(Constants::len).max().unwrap();
                assert!(longest <= text.len().div_ceil(ranks), "{longest} characters of {} on a rank", text.len());
            }
            let text = format!("1\n{row}\n\n2 3\n");
            let read = |content: &mut Content, share: Share<'_>| rows(content, ScalarType::Int, share);
            let (lengths, parts) = by_ranks(&text, ranks, read).unwrap();
            assert_eq!(lengths, [1, 4000, 0, 2], "{ranks} ranks");
            assert_eq!(flat(&parts).len(), 4003);
            // The words have one to four digits: bytes are shared evenly, words nearly.
            let longest = parts.iter().map(Constants::len).max().unwrap();
            assert!(longest <= 2 * 4003usize.div_ceil(ranks), "{longest} words on a rank of {ranks}");
        }
    }

    #[test]
    fn errors_name_the_line_in_the_whole_file() {
        let text = "1\n2\n3\n4\nfive\n6\n";
        for ranks in 1..8 {
            let error = by_ranks(text, ranks, |content, share| words(content, ScalarType::Int, share)).unwrap_err();
            assert_eq!(error.message, "numbers.txt, line 5: `five` is not an int", "{ranks} ranks");
            let error = by_ranks(text, ranks, |content, share| rows(content, ScalarType::Int, share)).unwrap_err();
            assert_eq!(error.message, "numbers.txt, line 5: `five` is not an int", "{ranks} ranks");
        }
    }

    #[test]
    fn long_texts_are_read_in_parts() {
        let numbers: Vec<String> = (0..50_000i64).map(|number| (number * number).to_string()).collect();
        let text = numbers.join(" ");
        assert!(parts_of(text.as_bytes()).count() > 3);
        let (_, elements) = by_ranks(&text, 1, |content, share| words(content, ScalarType::Int, share)).unwrap();
        assert_eq!(flat(&elements), numbers);
        let wrong = format!("{text}\nx");
        let error = by_ranks(&wrong, 1, |content, share| words(content, ScalarType::Int, share)).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.position),
            ("numbers.txt, line 2: `x` is not an int", text.len() as u64 + 1)
        );
    }

    #[test]
    fn an_interrupt_ends_reading() {
        let interrupt = Interrupt::on(Arc::new(true.into()));
        let share = |length: usize| 0..length;
        let interrupted = |text: &str| Content { interrupt: interrupt.clone(), ..content(text) };
        for error in [
            words(&mut interrupted("1"), ScalarType::Int, &share).unwrap_err(),
            rows(&mut interrupted("1"), ScalarType::Int, &share).unwrap_err(),
            lines(&mut interrupted("1"), &share).unwrap_err(),
        ] {
            assert_eq!(error.message, "interrupted");
        }
    }
}
