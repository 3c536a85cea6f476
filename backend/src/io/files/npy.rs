//! NumPy's `.npy` files: one array of any number of dimensions, in either order, of any type of which each value is one
//! of the type that is wanted.
//!
//! The elements are read from where this process's share begins, a window at a time. A type is taken where each of its
//! values fits (`int8` for `float`), or where each value that is there does (`uint64` for `int`), which is checked.

mod header;
mod records;

pub(super) use records::records;

use super::{Content, InputError, check};
use crate::io::import::Piece;
use header::ArrayHeader;
use nesl_prim::host::Share;
use nesl_prim::{Constants, ScalarType, visible};
use std::ops::Range;

/// How such files begin.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Elements that are read and taken over at a time.
const WINDOW: usize = 1 << 18;

/// No header is longer: it names one type and a few lengths.
const LONGEST_HEADER: u64 = 1 << 16;

/// How a file begins whose elements are of this type, in the least significant byte first, in a shape as Python writes
/// it. Data starts at a multiple of 64 bytes, as NumPy has it.
pub fn header(scalar: ScalarType, shape: &[u8]) -> Vec<u8> {
    let descr = match scalar {
        ScalarType::Int => "<i8",
        ScalarType::Float => "<f8",
        ScalarType::Bool => "|b1",
        ScalarType::Char => "|u1",
    };
    let shape = String::from_utf8_lossy(shape);
    let mut description = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    let fixed = MAGIC.len() + 4;
    let length = (fixed + description.len() + 1).next_multiple_of(64) - fixed;
    description.resize(length - 1, b' ');
    description.push(b'\n');
    [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), &description].concat()
}

/// The array in a file, before its elements are read.
pub(super) struct Array {
    /// The lengths.
    pub shape: Vec<usize>,
    count: usize,
    is_fortran: bool,
    element: Element,
    data: u64,
}

impl Array {
    /// Reads the header and checks it against what is there.
    pub fn open(content: &mut Content, scalar: ScalarType) -> Result<Array, InputError> {
        let start = content.read(0..content.length.min(LONGEST_HEADER))?;
        let header = ArrayHeader::read(&start).map_err(|problem| content.error(problem))?;
        let element = Element::of(header.element.as_deref(), scalar).map_err(|found| {
            let found = visible::line(&found);
            content.error(format!(
                "its elements are {found}, which do not become {scalar} without loss; convert them first"
            ))
        })?;
        let shape: Option<Vec<usize>> = header.shape.iter().map(|&length| usize::try_from(length).ok()).collect();
        // Also of a part of the dimensions: an array without elements can have any number of rows.
        let count = shape.as_ref().and_then(|shape| {
            let counts = (0..shape.len()).map(|end| product(&shape[..end])).collect::<Option<Vec<usize>>>();
            counts.and_then(|_| product(shape))
        });
        let bytes = count.and_then(|count| (count as u64).checked_mul(element.size));
        match (shape, count, bytes) {
            (Some(shape), Some(count), Some(bytes)) if content.length - header.data >= bytes => {
                let is_fortran = header.is_fortran && shape.iter().filter(|&&length| length > 1).count() > 1;
                Ok(Array { shape, count, is_fortran, element, data: header.data })
            }
            _ => Err(content.error("it is cut off: its header promises more elements than there are")),
        }
    }

    /// It has other dimensions than a type wants.
    fn error(&self, content: &Content, wanted: &str) -> InputError {
        let dimensions = self.shape.len();
        let plural = if dimensions == 1 { "" } else { "s" };
        content.error(format!("an array of {dimensions} dimension{plural} does not become {wanted}"))
    }

    /// This process's share of the elements, the last index changing fastest.
    pub fn elements(
        &self,
        content: &mut Content,
        scalar: ScalarType,
        share: Share<'_>,
    ) -> Result<Constants, InputError> {
        let own = share(self.count);
        match self.is_fortran {
            true => self.columns_first(content, scalar, own),
            false => {
                let mut elements = Constants::from_scalars(scalar, &[]);
                self.element.read(content, self.data, own, &mut elements)?;
                Ok(elements)
            }
        }
    }

    /// The elements of a range from an array whose first index changes fastest: from each column what lies in the rows
    /// of the range, and as many columns at a time as are in a window.
    fn columns_first(
        &self,
        content: &mut Content,
        scalar: ScalarType,
        own: Range<usize>,
    ) -> Result<Constants, InputError> {
        let (rows, columns) = (self.shape[0], self.count.checked_div(self.shape[0]).unwrap_or(0));
        let mut elements = zeros(content, scalar, own.len())?;
        if own.is_empty() {
            return Ok(elements);
        }
        let (first, last) = (own.start / columns, (own.end - 1) / columns);
        let at_once = (WINDOW / rows).max(1);
        let mut window = Constants::from_scalars(scalar, &[]);
        for column in (0..columns).step_by(at_once) {
            let until = columns.min(column + at_once);
            for start in (first..=last).step_by(WINDOW) {
                let end = if until - column > 1 { last + 1 } else { (last + 1).min(start + WINDOW) };
                clear(&mut window);
                let range = column * rows + start..(until - 1) * rows + end;
                self.element.read(content, self.data, range, &mut window)?;
                for each in column..until {
                    let offset = self.row_major(each);
                    for row in start..end {
                        let place = row * columns + offset;
                        if own.contains(&place) {
                            let index = (each - column) * rows + row - start;
                            copy(&window, index, &mut elements, place - own.start);
                        }
                    }
                }
            }
        }
        Ok(elements)
    }

    /// Where a column of an array whose first index changes fastest lies within a row in the usual order.
    fn row_major(&self, mut column: usize) -> usize {
        let (mut place, mut stride) = (0, product(&self.shape[1..]).unwrap_or(0));
        for &length in &self.shape[1..] {
            stride /= length.max(1);
            place += column % length.max(1) * stride;
            column /= length.max(1);
        }
        place
    }
}

fn product(lengths: &[usize]) -> Option<usize> {
    lengths.iter().try_fold(1usize, |product, &length| product.checked_mul(length))
}

/// The pieces of the array in a file as a value nested so deep: no level is a scalar.
pub(super) fn read(
    content: &mut Content,
    scalar: ScalarType,
    depth: usize,
    share: Share<'_>,
) -> Result<Vec<Piece>, InputError> {
    let array = Array::open(content, scalar)?;
    if array.shape.len() != depth {
        let ty = format!("{}{scalar}{}", "[".repeat(depth), "]".repeat(depth));
        return Err(array.error(content, &ty));
    }
    if depth == 0 {
        let elements = array.elements(content, scalar, &|length| 0..length)?;
        return Ok(vec![Piece::Scalar(elements.get(0))]);
    }
    let mut pieces = Vec::new();
    for level in 1..depth {
        let count = product(&array.shape[..level]).unwrap_or(0);
        let (mut lengths, own) = (Vec::new(), share(count).len());
        content.hold.fill(&mut lengths, own)?;
        lengths.resize(own, array.shape[level] as i64);
        pieces.push(Piece::Lengths(lengths));
    }
    pieces.push(Piece::Elements(array.elements(content, scalar, share)?));
    Ok(pieces)
}

/// So many zeros.
fn zeros(content: &mut Content, scalar: ScalarType, count: usize) -> Result<Constants, InputError> {
    macro_rules! zeros {
        ($variant:ident, $zero:expr) => {{
            let mut elements = Vec::new();
            content.hold.fill(&mut elements, count)?;
            elements.resize(count, $zero);
            Constants::$variant(elements)
        }};
    }
    Ok(match scalar {
        ScalarType::Int => zeros!(Int, 0),
        ScalarType::Float => zeros!(Float, 0.0),
        ScalarType::Bool => zeros!(Bool, false),
        ScalarType::Char => zeros!(Char, 0),
    })
}

fn clear(elements: &mut Constants) {
    match elements {
        Constants::Int(elements) => elements.clear(),
        Constants::Float(elements) => elements.clear(),
        Constants::Bool(elements) => elements.clear(),
        Constants::Char(elements) => elements.clear(),
    }
}

/// Copies one element between columns of one type.
fn copy(from: &Constants, index: usize, to: &mut Constants, place: usize) {
    match (from, to) {
        (Constants::Int(from), Constants::Int(to)) => to[place] = from[index],
        (Constants::Float(from), Constants::Float(to)) => to[place] = from[index],
        (Constants::Bool(from), Constants::Bool(to)) => to[place] = from[index],
        (Constants::Char(from), Constants::Char(to)) => to[place] = from[index],
        (from, to) => unreachable!("{} and {} are of one type", from.scalar_type(), to.scalar_type()),
    }
}

/// How an element lies in the file.
#[derive(Clone, Copy, Debug)]
struct Element {
    kind: Kind,
    size: u64,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
    Bool,
}

impl Element {
    /// The element of a file type, if its values can be those of the scalar type; otherwise the file type in words.
    fn of(descr: Option<&str>, scalar: ScalarType) -> Result<Element, String> {
        let Some(descr) = descr else { return Err("records".to_owned()) };
        let other = || Err(format!("`{descr}`"));
        let name = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
        let mut rest = name.chars();
        let (kind, word) = match rest.next() {
            Some('i') => (Kind::Signed, "int"),
            Some('u') => (Kind::Unsigned, "uint"),
            Some('f') => (Kind::Float, "float"),
            Some('b' | '?') => (Kind::Bool, "bool"),
            _ => return other(),
        };
        let size = match rest.as_str() {
            "1" => 1,
            "" if name == "?" => 1,
            "2" => 2,
            "4" => 4,
            "8" => 8,
            "16" => 16,
            _ => return other(),
        };
        let fits = match (kind, scalar) {
            (_, ScalarType::Char) => false,
            (Kind::Bool, _) => size == 1,
            (Kind::Signed | Kind::Unsigned, ScalarType::Int | ScalarType::Float) => size <= 8,
            (Kind::Float, ScalarType::Float) => matches!(size, 2 | 4 | 8),
            _ => false,
        };
        let full_name = if kind == Kind::Bool { word.to_owned() } else { format!("{word}{}", size * 8) };
        if fits { Ok(Element { kind, size, big_endian: descr.starts_with('>') }) } else { Err(full_name) }
    }

    /// Adds the elements of a range, of an array whose data begin at `data`, to a column.
    fn read(
        self,
        content: &mut Content,
        data: u64,
        own: Range<usize>,
        elements: &mut Constants,
    ) -> Result<(), InputError> {
        match elements {
            Constants::Int(elements) => self.read_ints(content, data, own, elements),
            Constants::Float(elements) => self.read_floats(content, data, own, elements),
            Constants::Bool(elements) => {
                self.convert(content, data, own, elements, |&[byte]: &[u8; 1]| Ok::<_, String>(byte != 0))
            }
            Constants::Char(_) => unreachable!("no element becomes a character"),
        }
    }

    fn read_ints(
        self,
        content: &mut Content,
        data: u64,
        own: Range<usize>,
        elements: &mut Vec<i64>,
    ) -> Result<(), InputError> {
        macro_rules! ints {
            ($from:ty) => {
                match self.big_endian {
                    false => self.convert(content, data, own, elements, |&chunk| int(<$from>::from_le_bytes(chunk))),
                    true => self.convert(content, data, own, elements, |&chunk| int(<$from>::from_be_bytes(chunk))),
                }
            };
        }
        fn int<T: TryInto<i64> + ToString + Copy>(value: T) -> Result<i64, String> {
            value.try_into().map_err(|_| value.to_string())
        }
        match (self.kind, self.size) {
            (Kind::Signed, 1) => ints!(i8),
            (Kind::Signed, 2) => ints!(i16),
            (Kind::Signed, 4) => ints!(i32),
            (Kind::Signed, _) => ints!(i64),
            (Kind::Unsigned, 2) => ints!(u16),
            (Kind::Unsigned, 4) => ints!(u32),
            (Kind::Unsigned, 8) => ints!(u64),
            (Kind::Bool, _) => {
                self.convert(content, data, own, elements, |&[byte]: &[u8; 1]| int(i64::from(byte != 0)))
            }
            _ => ints!(u8),
        }
    }

    fn read_floats(
        self,
        content: &mut Content,
        data: u64,
        own: Range<usize>,
        elements: &mut Vec<f64>,
    ) -> Result<(), InputError> {
        macro_rules! floats {
            ($from:ty, $value:expr) => {
                match self.big_endian {
                    false => self.convert(content, data, own, elements, |&chunk| $value(<$from>::from_le_bytes(chunk))),
                    true => self.convert(content, data, own, elements, |&chunk| $value(<$from>::from_be_bytes(chunk))),
                }
            };
        }
        fn exact<T: Into<f64>>(value: T) -> Result<f64, String> {
            Ok(value.into())
        }
        fn checked(value: i128) -> Result<f64, String> {
            let float = value as f64;
            if float as i128 == value { Ok(float) } else { Err(value.to_string()) }
        }
        match (self.kind, self.size) {
            (Kind::Signed, 1) => floats!(i8, exact),
            (Kind::Signed, 2) => floats!(i16, exact),
            (Kind::Signed, 4) => floats!(i32, exact),
            (Kind::Signed, _) => floats!(i64, |value| checked(i128::from(value))),
            (Kind::Unsigned, 1) => floats!(u8, exact),
            (Kind::Unsigned, 2) => floats!(u16, exact),
            (Kind::Unsigned, 4) => floats!(u32, exact),
            (Kind::Unsigned, _) => floats!(u64, |value| checked(i128::from(value))),
            (Kind::Float, 2) => floats!(u16, |value| exact(half(value))),
            (Kind::Float, 4) => floats!(f32, exact),
            (Kind::Float, _) => floats!(f64, exact),
            (Kind::Bool, _) => {
                self.convert(content, data, own, elements, |&[byte]: &[u8; 1]| exact(u8::from(byte != 0)))
            }
        }
    }

    /// One loop for each layout: that is what the compiler turns into a copy. A value that does not fit is an error
    /// with its text.
    fn convert<const SIZE: usize, T: Default + Named>(
        self,
        content: &mut Content,
        data: u64,
        own: Range<usize>,
        elements: &mut Vec<T>,
        value: impl Fn(&[u8; SIZE]) -> Result<T, String>,
    ) -> Result<(), InputError> {
        let place = |index: usize| data + index as u64 * SIZE as u64;
        let mut bytes = Vec::new();
        content.hold.fill(elements, own.len())?;
        for start in own.clone().step_by(WINDOW) {
            check(&content.interrupt)?;
            content.read_to(place(start)..place(own.end.min(start + WINDOW)), &mut bytes)?;
            let (chunks, _) = bytes.as_chunks::<SIZE>();
            if let Some(text) = chunks.iter().find_map(|chunk| value(chunk).err()) {
                return Err(content.error(format!("its element {text} does not become {} without loss", T::NAME)));
            }
            elements.extend(chunks.iter().map(|chunk| value(chunk).unwrap_or_default()));
        }
        Ok(())
    }
}

/// A type of elements that has a name in NESL.
trait Named {
    const NAME: &'static str;
}

impl Named for i64 {
    const NAME: &'static str = "int";
}

impl Named for f64 {
    const NAME: &'static str = "float";
}

impl Named for bool {
    const NAME: &'static str = "bool";
}

/// A float of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}
