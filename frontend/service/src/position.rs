//! Places of a text as editors count them: lines and, in a line, units of UTF-16.

/// A place: line and column from 0, the column in units of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The units of UTF-16 before it in its line.
    pub column: u32,
}

/// Where the lines of a text begin. A line ends with a newline, a carriage return, or both.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = (0..bytes.len()).filter(|&index| match bytes[index] {
            b'\n' => true,
            b'\r' => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        });
        Lines { starts: [0].into_iter().chain(ends.map(|end| end + 1)).collect() }
    }

    /// Where an offset is. One inside a character is where the character begins.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let column = text[self.starts[line]..offset].encode_utf16().count();
        Position { line: clamped(line), column: clamped(column) }
    }

    /// The offset of a place. What is beyond a line is its end, what is beyond the text its end; a place inside of a
    /// character is where the character begins.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(text.len());
        let line = text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (offset, character) in line.char_indices() {
            units += character.len_utf16();
            if units > position.column as usize {
                return start + offset;
            }
        }
        start + line.len()
    }

    /// The line of an offset.
    pub fn line(&self, offset: usize) -> u32 {
        clamped(self.starts.partition_point(|start| *start <= offset).saturating_sub(1))
    }
}

fn clamped(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units_of_utf_16() {
        // One unit for é (two bytes), two for the clef (four bytes).
        let text = "aé𝄞b\r\nx\ry\n";
        let lines = Lines::of(text);
        let places = [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (10, 1, 0), (12, 2, 0), (14, 3, 0)];
        for (offset, line, column) in places {
            let position = Position { line, column };
            assert_eq!(lines.position(text, offset), position, "{offset}");
            assert_eq!(lines.offset(text, position), offset, "{position:?}");
        }
        assert_eq!(lines.position(text, 5), Position { line: 0, column: 2 }, "inside the clef");
        assert_eq!(lines.offset(text, Position { line: 0, column: 3 }), 3, "between its halves");
        assert_eq!(lines.offset(text, Position { line: 0, column: 99 }), 8, "beyond the line");
        assert_eq!(lines.offset(text, Position { line: 9, column: 0 }), text.len(), "beyond the text");
        assert_eq!(lines.position(text, 99), Position { line: 3, column: 0 });
    }
}
