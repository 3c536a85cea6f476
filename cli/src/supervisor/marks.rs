//! The marks by which rank 0 says that it has answered an input, or is being saved: on its way to the user a text loses
//! them.

use crate::output::MARK;
use std::io::{self, Write};

/// A writer that takes marks out of what it passes on, and hands what they say to a listener.
pub(super) struct Marks<W, L> {
    to: W,
    /// How a mark begins.
    mark: Vec<u8>,
    listener: L,
    /// What may be the start of a mark.
    held: Vec<u8>,
}

impl<W: Write, L: FnMut(&str)> Marks<W, L> {
    /// Takes the marks with this text out of what goes to `to`.
    pub(super) fn new(mark: &str, to: W, listener: L) -> Marks<W, L> {
        Marks { to, mark: format!("{MARK}{mark}").into_bytes(), listener, held: Vec::new() }
    }
}

impl<W: Write, L: FnMut(&str)> Write for Marks<W, L> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(text);
        let mut shown = Vec::new();
        while let Some(&first) = self.held.first() {
            let known = self.held.len().min(self.mark.len());
            if self.held[..known] != self.mark[..known] {
                // Up to what may be the next mark; the first character is none.
                let end =
                    1 + self.held[1..].iter().position(|byte| byte == &self.mark[0]).unwrap_or(self.held.len() - 1);
                shown.extend(self.held.drain(..end));
                continue;
            }
            debug_assert_eq!(first, self.mark[0]);
            let Some(end) = self.held.iter().position(|&byte| byte == b'\n') else { break };
            self.to.write_all(&shown).and_then(|()| self.to.flush())?;
            shown.clear();
            let line: Vec<u8> = self.held.drain(..=end).collect();
            (self.listener)(String::from_utf8_lossy(&line[known..]).trim());
        }
        self.to.write_all(&shown)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out_wherever_a_text_is_cut() {
        let text = "it = 1 : int\n\u{1e}m7 a b c\nno newline\u{1e}m7\n\u{1e}m8 x\n\u{1e}";
        for size in 1..20 {
            let (mut out, mut said) = (Vec::new(), Vec::new());
            let mut marks = Marks::new("m7", &mut out, |what: &str| said.push(what.to_owned()));
            for piece in text.as_bytes().chunks(size) {
                marks.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(out).unwrap(), "it = 1 : int\nno newline\u{1e}m8 x\n", "pieces of {size}");
            assert_eq!(said, ["a b c", ""]);
        }
    }
}
