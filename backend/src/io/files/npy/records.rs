//! Arrays of two dimensions as tuples or records: a row of numbers for each, as many as it has parts.
//!
//! Each part is a column of its own type, so each is read on its own, a window of rows at a time: what is in memory
//! beside the columns is one window. The array's header says whether rows or columns lie together in the file.

use super::{Array, WINDOW};
use crate::io::files::csv::Cell;
use crate::io::files::{Content, InputError, Storage};
use crate::io::import::Piece;
use nesl_prim::host::Share;
use nesl_prim::{Constants, ScalarType};
use std::ops::Range;
use std::sync::Arc;

/// The columns of the array in a file as the parts of tuples.
pub(in crate::io::files) fn records(
    content: &mut Content,
    cells: &[Cell],
    share: Share<'_>,
) -> Result<Vec<Piece>, InputError> {
    let mut pieces = Vec::with_capacity(cells.len());
    for (column, cell) in cells.iter().enumerate() {
        let &Cell::Scalar(scalar) = cell else {
            return Err(content.error("an array of numbers does not become tuples with texts"));
        };
        let array = Array::open(content, scalar)?;
        let &[rows, columns] = array.shape.as_slice() else {
            return Err(array.error(content, &format!("a sequence of tuples of {}", cells.len())));
        };
        if columns != cells.len() {
            let (found, wanted) = (plural(columns, "element"), plural(cells.len(), "part"));
            return Err(content.error(format!("its rows have {found}, and the tuples {wanted}")));
        }
        pieces.push(Piece::Elements(array.column(content, scalar, column, share(rows))?));
    }
    Ok(pieces)
}

fn plural(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

impl Array {
    /// The elements of a column of a matrix in some rows.
    fn column(
        &self,
        content: &mut Content,
        scalar: ScalarType,
        column: usize,
        own: Range<usize>,
    ) -> Result<Constants, InputError> {
        let (rows, columns) = (self.shape[0], self.shape[1]);
        if self.is_fortran || columns == 1 {
            let mut elements = Constants::from_scalars(scalar, &[]);
            let range = column * rows + own.start..column * rows + own.end;
            self.element.read(content, self.data, range, &mut elements)?;
            return Ok(elements);
        }
        let mut elements = Constants::from_scalars(scalar, &[]);
        match &mut elements {
            Constants::Int(elements) => content.hold.fill(elements, own.len())?,
            Constants::Float(elements) => content.hold.fill(elements, own.len())?,
            Constants::Bool(elements) => content.hold.fill(elements, own.len())?,
            Constants::Char(elements) => content.hold.fill(elements, own.len())?,
        }
        let size = self.element.size as usize;
        let (row, place) = (columns * size, column * size);
        let mut window = Vec::new();
        let at_once = (WINDOW / columns).max(1);
        for start in own.clone().step_by(at_once) {
            let end = own.end.min(start + at_once);
            let begin = self.data + (start * row) as u64;
            content.read_to(begin..begin + ((end - start) * row) as u64, &mut window)?;
            let (mut hold, mut gathered) = (content.hold.another(), Vec::new());
            hold.fill(&mut gathered, (end - start) * size)?;
            window.chunks_exact(row).for_each(|row| gathered.extend_from_slice(&row[place..place + size]));
            // The bytes of this column alone, as a file would have them: only they must fit its type.
            let mut alone = Content {
                path: content.path.clone(),
                storage: Storage::Memory(Arc::new(gathered)),
                base: 0,
                length: ((end - start) * size) as u64,
                lines_before: 0,
                interrupt: content.interrupt.clone(),
                hold,
            };
            self.element.read(&mut alone, 0, 0..end - start, &mut elements)?;
        }
        Ok(elements)
    }
}
