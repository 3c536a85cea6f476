//! Reads a column, mostly in order, through windows that are fetched to every rank.

use super::{PrintError, Sink};
use crate::engine::{Engine, Window};
use nesl_prim::ScalarValue;
use nesl_vcode::Constants;

/// The most elements of a window: what makes the cost of a fetch small beside the cost of printing what it brings.
const LARGEST: usize = 65_536;
/// The fewest elements of a window that is not cut by the end of the column.
const SMALLEST: usize = 64;

/// A column and the window of it that was fetched last.
pub(super) struct Reader<C> {
    column: C,
    length: usize,
    window: Window,
    /// How many elements the next fetch asks for. Reading on where the window ends doubles it, so that an abbreviated
    /// value does not fetch far more than is shown; a jump, as between segments of a view, halves it.
    ask: usize,
}

impl<C> Reader<C> {
    pub fn new<E: Engine<Column = C>>(engine: &E, column: C) -> Reader<C> {
        let length = engine.length(&column);
        let window = Window { start: 0, elements: Constants::from_scalars(engine.scalar_type(&column), &[]) };
        Reader { column, length, window, ask: SMALLEST / 2 }
    }

    /// Element `index`.
    pub fn at<E: Engine<Column = C>>(
        &mut self,
        engine: &mut E,
        sink: &mut Sink<'_>,
        index: usize,
    ) -> Result<ScalarValue, PrintError> {
        let place = self.place(engine, sink, index)?;
        Ok(self.window.elements.get(place))
    }

    /// Some of the `length` characters from `index` on, at least one.
    pub fn characters<E: Engine<Column = C>>(
        &mut self,
        engine: &mut E,
        sink: &mut Sink<'_>,
        index: usize,
        length: usize,
    ) -> Result<&[u8], PrintError> {
        let place = self.place(engine, sink, index)?;
        let characters = self.window.elements.elements();
        Ok(&characters[place..characters.len().min(place.saturating_add(length))])
    }

    /// Where an element is in the window, which is fetched anew if it is not there.
    fn place<E: Engine<Column = C>>(
        &mut self,
        engine: &mut E,
        sink: &mut Sink<'_>,
        index: usize,
    ) -> Result<usize, PrintError> {
        let end = self.window.start + self.window.elements.len();
        if !(self.window.start..end).contains(&index) {
            self.ask = if index == end { (self.ask * 2).min(LARGEST) } else { (self.ask / 2).max(SMALLEST) };
            // Fetching is the moment at which ranks meet.
            sink.agree(engine)?;
            engine.interrupt().check().map_err(PrintError::Failure)?;
            self.window = engine.fetch(&self.column, index, self.ask.min(self.length - index))?;
        }
        Ok(index - self.window.start)
    }
}
