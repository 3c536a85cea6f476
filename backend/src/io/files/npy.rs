//! NumPy's `.npy` files: one array, whose header `npyz` reads; the elements are read from where this process's share
//! begins.

use super::{Content, InputError, check};
use crate::io::import::Piece;
use nesl_prim::host::Share;
use nesl_prim::{Constants, ScalarType};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};
use std::io::Cursor;
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

/// The pieces of the array in a file, as rows if it has two dimensions.
pub(super) fn read(
    content: &mut Content,
    scalar: ScalarType,
    rows: bool,
    share: Share<'_>,
) -> Result<Vec<Piece>, InputError> {
    let start = content.read(0..content.length.min(LONGEST_HEADER))?;
    let mut cursor = Cursor::new(&start);
    let header = NpyHeader::from_reader(&mut cursor).map_err(|error| content.error(error))?;
    let data = cursor.position();
    let element = Element::of(&header.dtype(), scalar).map_err(|found| {
        content
            .error(format!("its elements are {found}, which do not become {scalar} without loss; convert them first"))
    })?;
    let shape = header.shape().to_vec();
    let expected_dimensions = if rows { 2 } else { 1 };
    if shape.len() != expected_dimensions {
        let sequence = if rows { format!("[[{scalar}]]") } else { format!("[{scalar}]") };
        return Err(content.error(format!(
            "an array of {} dimension{} does not become {sequence}",
            shape.len(),
            if shape.len() == 1 { "" } else { "s" },
        )));
    }
    if rows && header.order() == Order::Fortran && shape.iter().all(|&length| length > 1) {
        return Err(content.error("its columns come first (Fortran order); save numpy.ascontiguousarray of it"));
    }
    let count = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length));
    let bytes = count.and_then(|count| count.checked_mul(element.size));
    match (count, bytes) {
        (Some(count), Some(bytes)) if content.length - data >= bytes => {
            let mut pieces = Vec::new();
            if rows {
                let (mut lengths, own) = (Vec::new(), share(shape[0] as usize).len());
                content.hold.fill(&mut lengths, own)?;
                lengths.resize(own, shape[1] as i64);
                pieces.push(Piece::Lengths(lengths));
            }
            let own: Range<usize> = share(count as usize);
            pieces.push(Piece::Elements(element.read(content, scalar, data, own)?));
            Ok(pieces)
        }
        _ => Err(content.error("it is cut off: its header promises more elements than there are")),
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
    /// The element of a file type, if each of its values is one of the scalar type; otherwise the file type in words.
    fn of(dtype: &DType, scalar: ScalarType) -> Result<Element, String> {
        let DType::Plain(plain) = dtype else { return Err("records or arrays".to_owned()) };
        let size = plain.size_field();
        let (kind, name) = match plain.type_char() {
            TypeChar::Int => (Kind::Signed, "int"),
            TypeChar::Uint => (Kind::Unsigned, "uint"),
            TypeChar::Float => (Kind::Float, "float"),
            TypeChar::Bool => (Kind::Bool, "bool"),
            _ => return Err(format!("`{}`", dtype.descr())),
        };
        let fits = match (kind, scalar) {
            (Kind::Signed, ScalarType::Int) => matches!(size, 1 | 2 | 4 | 8),
            (Kind::Unsigned, ScalarType::Int) => matches!(size, 1 | 2 | 4),
            (Kind::Float, ScalarType::Float) => matches!(size, 4 | 8),
            (Kind::Bool, ScalarType::Bool) => size == 1,
            _ => false,
        };
        let big_endian = plain.endianness() == Endianness::Big;
        let full_name = if kind == Kind::Bool { name.to_owned() } else { format!("{name}{}", size * 8) };
        if fits { Ok(Element { kind, size, big_endian }) } else { Err(full_name) }
    }

    /// The elements of a range, of an array whose data begin at `data`.
    fn read(
        self,
        content: &mut Content,
        scalar: ScalarType,
        data: u64,
        own: Range<usize>,
    ) -> Result<Constants, InputError> {
        let place = |index: usize| data + index as u64 * self.size;
        // One loop for each layout: that is what the compiler turns into a copy.
        macro_rules! elements {
            ($size:expr, $variant:ident, $value:expr) => {{
                let (mut elements, mut bytes) = (Vec::new(), Vec::new());
                content.hold.fill(&mut elements, own.len())?;
                for start in own.clone().step_by(WINDOW) {
                    check(&content.interrupt)?;
                    content.read_to(place(start)..place(own.end.min(start + WINDOW)), &mut bytes)?;
                    let (chunks, _) = bytes.as_chunks::<{ $size }>();
                    elements.extend(chunks.iter().map($value));
                }
                Constants::$variant(elements)
            }};
        }
        macro_rules! numbers {
            ($from:ty, $to:ty, $variant:ident) => {
                match self.big_endian {
                    false => elements!(size_of::<$from>(), $variant, |&chunk| <$from>::from_le_bytes(chunk) as $to),
                    true => elements!(size_of::<$from>(), $variant, |&chunk| <$from>::from_be_bytes(chunk) as $to),
                }
            };
        }
        Ok(match (self.kind, self.size) {
            (Kind::Signed, 1) => numbers!(i8, i64, Int),
            (Kind::Signed, 2) => numbers!(i16, i64, Int),
            (Kind::Signed, 4) => numbers!(i32, i64, Int),
            (Kind::Signed, _) => numbers!(i64, i64, Int),
            (Kind::Unsigned, 1) => numbers!(u8, i64, Int),
            (Kind::Unsigned, 2) => numbers!(u16, i64, Int),
            (Kind::Unsigned, _) => numbers!(u32, i64, Int),
            (Kind::Float, 4) => numbers!(f32, f64, Float),
            (Kind::Float, _) => numbers!(f64, f64, Float),
            (Kind::Bool, _) => {
                debug_assert_eq!(scalar, ScalarType::Bool);
                elements!(1, Bool, |&[byte]| byte != 0)
            }
        })
    }
}
