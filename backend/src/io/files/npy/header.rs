//! The header of a `.npy` file: a dictionary as Python writes it, with the type, the order and the shape of an array.
//!
//! Read here and not by a library for Python's literals, because it comes from anywhere: it is read in one pass without
//! recursion, whatever is nested in it.

use super::MAGIC;

/// NumPy has no arrays of more dimensions.
const MOST_DIMENSIONS: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayHeader {
    /// The type of the elements, as in `<f8`; none of records.
    pub element: Option<String>,
    /// Whether the first index changes fastest.
    pub is_fortran: bool,
    /// The lengths.
    pub shape: Vec<u64>,
    /// Where the elements begin.
    pub data: u64,
}

impl ArrayHeader {
    /// Reads the header that a file begins with.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(start: &[u8]) -> Result<ArrayHeader, &'static str> {
        const CUT: &str = "its header is cut off";
        let version = *start.get(MAGIC.len()).ok_or(CUT)?;
        let (first, length) = match version {
            1 => (10, start.get(8..10).ok_or(CUT)?),
            2 | 3 => (12, start.get(8..12).ok_or(CUT)?),
            _ => return Err("it is of a version of the format that is not known"),
        };
        let length = length.iter().rev().fold(0, |length, &byte| (length << 8) | usize::from(byte));
        let text = start.get(first..first + length).ok_or(CUT)?;
        let header = Reader { text, position: 0 }.dictionary().ok_or("its header is damaged")?;
        Ok(ArrayHeader { data: (first + length) as u64, ..header })
    }
}

struct Reader<'t> {
    text: &'t [u8],
    position: usize,
}

impl<'t> Reader<'t> {
    fn dictionary(mut self) -> Option<ArrayHeader> {
        self.expect(b'{')?;
        let (mut element, mut is_fortran, mut shape) = (None, None, None);
        while self.peek()? != b'}' {
            let key = self.string()?;
            self.expect(b':')?;
            match key {
                b"descr" => element = Some(self.element()?),
                b"fortran_order" => is_fortran = Some(self.truth()?),
                b"shape" => shape = Some(self.shape()?),
                _ => return None,
            }
            if self.peek()? != b'}' {
                self.expect(b',')?;
            }
        }
        self.position += 1;
        self.peek().is_none().then_some(())?;
        Some(ArrayHeader { element: element?, is_fortran: is_fortran?, shape: shape?, data: 0 })
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.position)?.is_ascii_whitespace() {
            self.position += 1;
        }
        self.text.get(self.position).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.position += 1)
    }

    /// A text in quotes, in which nothing is escaped.
    fn string(&mut self) -> Option<&'t [u8]> {
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
        let rest = &self.text[self.position + 1..];
        let length = rest.iter().position(|&byte| byte == quote)?;
        self.position += length + 2;
        Some(&rest[..length])
    }

    /// The type of the elements; nothing for a list of fields, which is passed over.
    fn element(&mut self) -> Option<Option<String>> {
        if self.peek()? != b'[' {
            return Some(Some(String::from_utf8_lossy(self.string()?).into_owned()));
        }
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'[' | b'(' => depth += 1,
                b']' | b')' => depth = depth.checked_sub(1)?,
                b'\'' | b'"' => {
                    self.string()?;
                    continue;
                }
                _ => {}
            }
            self.position += 1;
            if depth == 0 {
                return Some(None);
            }
        }
    }

    fn truth(&mut self) -> Option<bool> {
        self.peek()?;
        let rest = &self.text[self.position..];
        let (length, value) = if rest.starts_with(b"True") { (4, true) } else { (5, false) };
        (value || rest.starts_with(b"False")).then(|| self.position += length)?;
        Some(value)
    }

    fn shape(&mut self) -> Option<Vec<u64>> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while self.peek()? != b')' {
            let digits = self.text[self.position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let text = &self.text[self.position..self.position + digits];
            shape.push(std::str::from_utf8(text).ok()?.parse().ok()?);
            (shape.len() <= MOST_DIMENSIONS).then_some(())?;
            self.position += digits;
            // Python 2 wrote long ints with this mark.
            self.position += usize::from(self.peek()? == b'L');
            if self.peek()? != b')' {
                self.expect(b',')?;
            }
        }
        self.position += 1;
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: u8, text: &str) -> Result<ArrayHeader, &'static str> {
        let length = (text.len() as u32).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        ArrayHeader::read(&[MAGIC, &[version, 0], length, text.as_bytes()].concat())
    }

    #[test]
    fn headers_of_all_versions_are_read() {
        for (version, data) in [(1, 10), (2, 12), (3, 12)] {
            let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }    \n";
            let header = read(version, text).unwrap();
            assert_eq!(header.data, data + text.len() as u64);
            assert_eq!(
                (header.element.as_deref(), header.is_fortran, &header.shape[..]),
                (Some("<f8"), false, &[2, 3][..])
            );
        }
        let header = read(1, "{\"shape\":(),'fortran_order':True,'descr':\"|b1\"}").unwrap();
        assert_eq!((header.element.as_deref(), header.is_fortran, header.shape.len()), (Some("|b1"), true, 0));
        assert_eq!(read(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (7L,)}").unwrap().shape, [7]);
        let records = "{'descr': [('a]', '<i4'), ('b', '<f8', (2,))], 'fortran_order': False, 'shape': (1,)}";
        assert_eq!(read(1, records).unwrap().element, None);
    }

    #[test]
    fn what_is_none_is_refused_however_deep_or_long_it_is() {
        let nested = format!("{{'descr': {}", "[(".repeat(30_000));
        let long = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({})}}", "1,".repeat(65));
        for text in [
            "",
            "{",
            "{}",
            "{'descr'",
            "{'descr': '<f8'}",
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': ()}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': ]], 'fortran_order': False, 'shape': (1,)}",
            &nested,
            &long,
        ] {
            assert_eq!(read(2, text), Err("its header is damaged"), "{text:.80}");
        }
        assert_eq!(read(9, "{}"), Err("it is of a version of the format that is not known"));
        for length in 0..12 {
            let start = [MAGIC, &[2, 0, 200, 0, 0, 0]].concat();
            assert_eq!(ArrayHeader::read(&start[..length.max(MAGIC.len())]), Err("its header is cut off"));
        }
    }
}
