//! The elements of columns in files: every rank writes and reads its own part.

use super::generations::{ColumnFile, Generation};
use crc32fast::Hasher;
use nesl_backend::engine::share;
use nesl_backend::{Engine, Fault};
use nesl_prim::{Constants, ScalarType};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Columns of up to so many elements have no files: there may be many of them, and every rank has all of such a column.
const SHORT: usize = 4096;

/// Elements that are written or read at once.
const AT_ONCE: usize = 1 << 17;

/// What was written.
pub struct Written {
    /// The columns without files, by number.
    pub short: Vec<(u32, Constants)>,
    /// The files of the others.
    pub files: Vec<ColumnFile>,
}

/// Begins a save, and writes columns, unless somebody wants that to end; all ranks together.
///
/// # Errors
/// Why that was impossible; the same on all ranks.
pub fn write<E: Engine>(
    engine: &mut E,
    generation: &Generation,
    columns: &[E::Column],
    is_over: &dyn Fn() -> bool,
) -> Result<Written, String> {
    let mut written = Written { short: Vec::new(), files: Vec::new() };
    let mut long = Vec::new();
    for (number, column) in (0..).zip(columns) {
        let length = engine.length(column);
        if length <= SHORT {
            let window = engine.fetch(column, 0, length).map_err(|fault| fault.failure.to_string())?;
            written.short.push((number, window.elements));
        } else {
            let scalar = engine.scalar_type(column);
            written.files.push(ColumnFile { number, scalar, elements: length as u64, crc32: 0 });
            long.push(column);
        }
    }
    let begun = if engine.rank().0 == 0 { generation.begin(&written.files) } else { Ok(()) };
    engine.agree(begun)?;
    let mut sums = Vec::with_capacity(long.len());
    let mut outcome = Ok(());
    for (file, column) in written.files.iter().zip(long) {
        let own = engine.own(column).map_err(|fault| fault.failure.to_string())?;
        let path = generation.part().join(file.name());
        let sum = outcome.and_then(|()| {
            let open = OpenOptions::new().write(true).open(&path);
            open.and_then(|mut target| write_part(&mut target, own.start, &own.elements, is_over))
        });
        outcome = sum.map(|sum| sums.push(sum));
    }
    engine.agree(outcome.map_err(|error| error.to_string()))?;
    for (file, sum) in combined(engine, &sums, &written.files)?.into_iter().enumerate() {
        written.files[file].crc32 = sum;
    }
    Ok(written)
}

/// Reads the columns of a save; all ranks together.
///
/// # Errors
/// What is wrong with them; the same on all ranks.
pub fn read<E: Engine>(
    engine: &mut E,
    generation: &Generation,
    files: &[ColumnFile],
    short: Vec<(u32, Constants)>,
    count: u32,
) -> Result<Vec<E::Column>, String> {
    let mut columns: Vec<Option<E::Column>> = (0..count).map(|_| None).collect();
    let mut sums = Vec::with_capacity(files.len());
    let mut place = |number: u32, column: E::Column| {
        let place = columns.get_mut(number as usize).ok_or("there is a column too many")?;
        *place = Some(column);
        Ok::<_, String>(())
    };
    for (number, elements) in short {
        let column = engine.constants(&elements).map_err(|fault| fault.failure.to_string())?;
        place(number, column)?;
    }
    for file in files {
        let own = engine.share(file.elements as usize);
        let (sum, elements) = engine.agree(own_part(generation, file, own))?;
        sums.push(sum);
        let column = engine.import(elements).map_err(|fault| fault.failure.to_string())?;
        place(file.number, column)?;
    }
    for (file, sum) in files.iter().zip(combined(engine, &sums, files)?) {
        if sum != file.crc32 {
            return Err(format!("{} is damaged", file.name()));
        }
    }
    columns.into_iter().collect::<Option<_>>().ok_or_else(|| "a column is missing".to_owned())
}

/// This rank's part of a column, and its checksum.
fn own_part(generation: &Generation, file: &ColumnFile, own: Range<usize>) -> Result<(u32, Constants), String> {
    let failed = |error: io::Error| format!("{}: {error}", file.name());
    let mut source = File::open(generation.path().join(file.name())).map_err(failed)?;
    read_part(&mut source, file.scalar, own).map_err(failed)
}

/// The checksums of files, from those of the parts that ranks have.
fn combined<E: Engine>(engine: &mut E, own: &[u32], files: &[ColumnFile]) -> Result<Vec<u32>, String> {
    let own = own.iter().map(|&sum| i64::from(sum)).collect();
    let (ranks, count) = (engine.rank().1, files.len());
    let failed = |fault: Fault| fault.failure.to_string();
    let all = engine.import(Constants::Int(own)).map_err(failed)?;
    let Constants::Int(all) = engine.fetch(&all, 0, ranks * count).map_err(failed)?.elements else {
        return Err("checksums are ints".to_owned());
    };
    let sum = |(position, file): (usize, &ColumnFile)| {
        let mut sum = Hasher::new();
        for rank in 0..ranks {
            let elements = share((rank, ranks), file.elements as usize).len();
            let bytes = elements as u64 * file.scalar.size() as u64;
            sum.combine(&Hasher::new_with_initial_len(all[rank * count + position] as u32, bytes));
        }
        sum.finalize()
    };
    Ok(files.iter().enumerate().map(sum).collect())
}

/// Writes elements where they belong in a file; their checksum.
fn write_part(file: &mut File, start: usize, elements: &Constants, is_over: &dyn Fn() -> bool) -> io::Result<u32> {
    let size = elements.scalar_type().size();
    file.seek(SeekFrom::Start(start as u64 * size as u64))?;
    let mut sum = Hasher::new();
    for first in (0..elements.len()).step_by(AT_ONCE) {
        let bytes = bytes(elements, first..elements.len().min(first + AT_ONCE));
        sum.update(&bytes);
        file.write_all(&bytes)?;
        if is_over() {
            return Err(io::Error::other("interrupted"));
        }
    }
    file.sync_data()?;
    Ok(sum.finalize())
}

/// Reads elements of a file; their checksum, too.
fn read_part(file: &mut File, scalar: ScalarType, own: Range<usize>) -> io::Result<(u32, Constants)> {
    let size = scalar.size();
    file.seek(SeekFrom::Start(own.start as u64 * size as u64))?;
    let mut sum = Hasher::new();
    let mut elements = Constants::from_scalars(scalar, &[]);
    let mut buffer = vec![0; AT_ONCE.min(own.len()) * size];
    for first in own.clone().step_by(AT_ONCE) {
        let bytes = &mut buffer[..(own.end.min(first + AT_ONCE) - first) * size];
        file.read_exact(bytes)?;
        sum.update(bytes);
        append(&mut elements, bytes)?;
    }
    Ok((sum.finalize(), elements))
}

/// Elements as they are in files: numbers as eight bytes, the least significant first, others as one.
fn bytes(elements: &Constants, range: Range<usize>) -> Vec<u8> {
    match elements {
        Constants::Int(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Constants::Float(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Constants::Bool(values) => values[range].iter().map(|&value| u8::from(value)).collect(),
        Constants::Char(values) => values[range].to_vec(),
    }
}

fn append(elements: &mut Constants, bytes: &[u8]) -> io::Result<()> {
    let words = bytes.as_chunks::<8>().0.iter();
    match elements {
        Constants::Int(values) => values.extend(words.map(|&word| i64::from_le_bytes(word))),
        Constants::Float(values) => values.extend(words.map(|&word| f64::from_le_bytes(word))),
        Constants::Char(values) => values.extend_from_slice(bytes),
        Constants::Bool(values) => values.extend(bytes.iter().map(|&byte| byte != 0)),
    }
    Ok(())
}
