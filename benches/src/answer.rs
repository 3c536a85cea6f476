//! Answers of programs and twins, brought into one form and compared.
//!
//! An answer becomes the columns of its type in order: for a sequence within another the lengths of all segments, and
//! the elements of all of them one after another.

use crate::twins::outside::Grid;
use nesl_backend::{Engine, Slot, Value};
use nesl_vcode::Constants;

/// What a twin gives.
pub trait Answer: Send {
    /// Its columns.
    fn columns(&self) -> Vec<Constants>;
}

impl Answer for i64 {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Int(vec![*self])]
    }
}

impl Answer for f64 {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Float(vec![*self])]
    }
}

impl Answer for (f64, f64) {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Float(vec![self.0]), Constants::Float(vec![self.1])]
    }
}

impl Answer for Vec<i64> {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Int(self.clone())]
    }
}

impl Answer for Vec<usize> {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Int(self.iter().map(|&x| x as i64).collect())]
    }
}

impl Answer for Vec<f64> {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Float(self.clone())]
    }
}

impl Answer for Vec<u8> {
    fn columns(&self) -> Vec<Constants> {
        vec![Constants::Char(self.clone())]
    }
}

impl Answer for Vec<(i64, i64)> {
    fn columns(&self) -> Vec<Constants> {
        let (firsts, seconds) = self.iter().copied().unzip();
        vec![Constants::Int(firsts), Constants::Int(seconds)]
    }
}

impl Answer for Vec<(i64, f64)> {
    fn columns(&self) -> Vec<Constants> {
        let (firsts, seconds) = self.iter().copied().unzip();
        vec![Constants::Int(firsts), Constants::Float(seconds)]
    }
}

impl Answer for Vec<(f64, f64, f64)> {
    fn columns(&self) -> Vec<Constants> {
        let part = |part: fn(&(f64, f64, f64)) -> f64| Constants::Float(self.iter().map(part).collect());
        vec![part(|x| x.0), part(|x| x.1), part(|x| x.2)]
    }
}

impl Answer for Grid<i64> {
    fn columns(&self) -> Vec<Constants> {
        vec![self.lengths(), Constants::Int(self.cells.clone())]
    }
}

impl Answer for Grid<f64> {
    fn columns(&self) -> Vec<Constants> {
        vec![self.lengths(), Constants::Float(self.cells.clone())]
    }
}

impl<T> Grid<T> {
    fn lengths(&self) -> Constants {
        lengths((0..self.height()).map(|_| self.width))
    }
}

impl Answer for Vec<(f64, f64)> {
    fn columns(&self) -> Vec<Constants> {
        let (firsts, seconds) = self.iter().copied().unzip();
        vec![Constants::Float(firsts), Constants::Float(seconds)]
    }
}

impl Answer for Vec<Vec<i64>> {
    fn columns(&self) -> Vec<Constants> {
        vec![lengths(self.iter().map(Vec::len)), Constants::Int(self.concat())]
    }
}

impl Answer for Vec<Vec<f64>> {
    fn columns(&self) -> Vec<Constants> {
        vec![lengths(self.iter().map(Vec::len)), Constants::Float(self.concat())]
    }
}

impl Answer for Vec<(Vec<u8>, i64)> {
    fn columns(&self) -> Vec<Constants> {
        vec![
            lengths(self.iter().map(|(text, _)| text.len())),
            Constants::Char(self.iter().flat_map(|(text, _)| text.iter().copied()).collect()),
            Constants::Int(self.iter().map(|(_, number)| *number).collect()),
        ]
    }
}

fn lengths(lengths: impl Iterator<Item = usize>) -> Constants {
    Constants::Int(lengths.map(|length| length as i64).collect())
}

/// The columns of what a program gives; on ranks, on each of them.
///
/// # Errors
/// Lack of memory, as text.
pub fn columns<E: Engine>(engine: &mut E, value: &Value<E>) -> Result<Vec<Constants>, String> {
    // Of sequences which elements there are, by the positions of their registers.
    let mut elements: Vec<Option<Vec<usize>>> = Vec::new();
    let mut columns = Vec::new();
    for (field, slot) in value.shape.fields().iter().zip(&value.slots) {
        let chosen = field.parent.and_then(|parent| elements[parent].as_deref());
        let mut inner = None;
        match slot {
            Slot::Scalar(scalar) if field.is_scalar() => {
                columns.push(Constants::from_scalars(field.scalar_type(), &[*scalar]));
            }
            // The length of a sequence is that of its columns.
            Slot::Scalar(_) => {}
            Slot::Column(column) => {
                let column = whole(engine, column)?;
                columns.push(chosen.map_or_else(|| column.clone(), |chosen| at(&column, chosen)));
            }
            Slot::Descriptor(descriptor) => {
                let mut segments = segments(engine, descriptor)?;
                if let Some(chosen) = chosen {
                    segments = chosen.iter().map(|&index| segments[index]).collect();
                }
                columns.push(lengths(segments.iter().map(|(_, length)| *length)));
                inner = Some(segments.iter().flat_map(|&(start, length)| start..start + length).collect());
            }
        }
        elements.push(inner);
    }
    Ok(columns)
}

/// All of a column.
fn whole<E: Engine>(engine: &mut E, column: &E::Column) -> Result<Constants, String> {
    let length = engine.length(column);
    let window = engine.fetch(column, 0, length).map_err(|fault| fault.failure.to_string())?;
    Ok(window.elements)
}

/// Where all segments begin, and how long they are.
fn segments<E: Engine>(engine: &mut E, descriptor: &E::Descriptor) -> Result<Vec<(usize, usize)>, String> {
    let starts = engine.starts(descriptor).map_err(|fault| fault.failure.to_string())?;
    let lengths = engine.lengths(descriptor).map_err(|fault| fault.failure.to_string())?;
    let (Constants::Int(starts), Constants::Int(lengths)) = (whole(engine, &starts)?, whole(engine, &lengths)?) else {
        unreachable!("starts and lengths are ints");
    };
    Ok(starts.into_iter().zip(lengths).map(|(start, length)| (start as usize, length as usize)).collect())
}

fn at(column: &Constants, indices: &[usize]) -> Constants {
    match column {
        Constants::Int(elements) => Constants::Int(indices.iter().map(|&i| elements[i]).collect()),
        Constants::Float(elements) => Constants::Float(indices.iter().map(|&i| elements[i]).collect()),
        Constants::Bool(elements) => Constants::Bool(indices.iter().map(|&i| elements[i]).collect()),
        Constants::Char(elements) => Constants::Char(indices.iter().map(|&i| elements[i]).collect()),
    }
}

/// How well program and twin must agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// To the last bit.
    Exact,
    /// Floats may differ by this part of the largest in their column, since both add in different orders.
    Within(f64),
}

/// Compares the columns of a program and of its twin.
///
/// # Errors
/// Where they differ.
pub fn compare(program: &[Constants], twin: &[Constants], agreement: Agreement) -> Result<(), String> {
    if program.len() != twin.len() {
        return Err(format!("the program gives {} columns, its twin {}", program.len(), twin.len()));
    }
    for (number, (ours, theirs)) in program.iter().zip(twin).enumerate() {
        if ours.len() != theirs.len() {
            let (ours, theirs) = (ours.len(), theirs.len());
            return Err(format!("column {number} of the program has {ours} elements, that of its twin {theirs}"));
        }
        let differs = match (ours, theirs, agreement) {
            (Constants::Float(ours), Constants::Float(theirs), Agreement::Within(part)) => {
                let allowed = part * theirs.iter().fold(0.0, |largest, x| x.abs().max(largest));
                let agree = |x: f64, y: f64| (x - y).abs() <= allowed || (x.is_nan() && y.is_nan());
                ours.iter().zip(theirs).position(|(&x, &y)| !agree(x, y))
            }
            (Constants::Float(ours), Constants::Float(theirs), Agreement::Exact) => {
                ours.iter().zip(theirs).position(|(x, y)| x.to_bits() != y.to_bits())
            }
            (Constants::Int(ours), Constants::Int(theirs), _) => ours.iter().zip(theirs).position(|(x, y)| x != y),
            (Constants::Bool(ours), Constants::Bool(theirs), _) => ours.iter().zip(theirs).position(|(x, y)| x != y),
            (Constants::Char(ours), Constants::Char(theirs), _) => ours.iter().zip(theirs).position(|(x, y)| x != y),
            _ => return Err(format!("column {number} is of different types")),
        };
        if let Some(index) = differs {
            let (ours, theirs) = (at(ours, &[index]), at(theirs, &[index]));
            return Err(format!("element {index} of column {number} is {ours:?}, that of the twin {theirs:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_where_they_are() {
        let column = |elements: &[f64]| [Constants::Float(elements.to_vec())];
        let (ours, theirs) = (column(&[1.0, 1000.0]), column(&[1.0 + 1e-10, 1000.0]));
        assert_eq!(compare(&ours, &theirs, Agreement::Within(1e-12)), Ok(()));
        assert!(compare(&ours, &theirs, Agreement::Exact).unwrap_err().starts_with("element 0 of column 0"));
        assert!(compare(&ours, &theirs, Agreement::Within(1e-14)).is_err());
        let nan = column(&[f64::NAN, 1000.0]);
        assert!(compare(&nan, &theirs, Agreement::Within(1e-12)).is_err());
        assert!(compare(&ours, &column(&[1.0]), Agreement::Exact).is_err());
        assert!(compare(&ours, &[Constants::Int(vec![1, 1000])], Agreement::Exact).is_err());
        assert!(compare(&ours, &[], Agreement::Exact).is_err());
    }
}
