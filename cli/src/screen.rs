//! The terminal that answers and messages are for: how large it is.

use std::fmt;
use std::str::FromStr;

/// A terminal: its characters in a line, and its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    columns: u16,
    lines: u16,
}

impl Screen {
    /// The terminal of this process, as large as it is now; 80 by 24 where nobody knows.
    pub fn now() -> Screen {
        let size = terminal_size::terminal_size().filter(|(columns, lines)| columns.0 > 0 && lines.0 > 0);
        size.map_or(Screen { columns: 80, lines: 24 }, |(columns, lines)| Screen { columns: columns.0, lines: lines.0 })
    }

    /// The terminal that messages go to, if they go to one.
    pub fn of_messages() -> Option<Screen> {
        let (columns, lines) = terminal_size::terminal_size_of(std::io::stderr())?;
        (columns.0 > 0 && lines.0 > 0).then_some(Screen { columns: columns.0, lines: lines.0 })
    }

    /// Its characters in a line, and its lines.
    pub fn size(self) -> (usize, usize) {
        (self.columns.into(), self.lines.into())
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}", self.columns, self.lines)
    }
}

impl FromStr for Screen {
    type Err = String;

    /// Reads what is written so: `80x24`.
    fn from_str(text: &str) -> Result<Screen, String> {
        let size = text.split_once('x').and_then(|(columns, lines)| Some((columns.parse().ok()?, lines.parse().ok()?)));
        size.map(|(columns, lines)| Screen { columns, lines }).ok_or_else(|| "expected a size, as in 80x24".to_owned())
    }
}
