//! NumPy's `.npz` files: a zip archive of `.npy` files, stored or deflated, also of more than 4 GB.
//!
//! What lies in it as it is, is read from where it lies, each process its own share; what is deflated comes into
//! memory, as much as the limit allows.

use super::{Content, InputError, Storage, check, named};
use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use nesl_prim::visible;
use std::io::{self, Read};
use std::sync::Arc;

/// How the files in an archive begin, and how an archive without any does.
const STARTS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The longest end of an archive: its fixed part and a comment.
const LONGEST_END: u64 = 22 + (1 << 16);

/// No table of contents is longer: a million arrays.
const LONGEST_CONTENTS: u64 = 64 << 20;

/// Names of arrays that a message shows.
const SHOWN: usize = 8;

/// Whether a file is an archive.
pub(super) fn is_archive(content: &mut Content) -> Result<bool, InputError> {
    Ok(content.begins_with(STARTS[0])? || content.begins_with(STARTS[1])?)
}

/// The `.npy` file in an archive that has this name, or that is alone in it.
pub(super) fn member(mut content: Content, name: Option<&str>) -> Result<Content, InputError> {
    let entries = entries(&mut content)?;
    let bare = |entry: &Entry| entry.name.strip_suffix(".npy").unwrap_or(&entry.name).to_owned();
    let found = match (name, entries.as_slice()) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), all) => all.iter().find(|entry| entry.name == name || bare(entry) == name),
    };
    let Some(entry) = found else {
        let more = if entries.len() > SHOWN { ", …" } else { "" };
        let names: Vec<String> = entries.iter().take(SHOWN).map(|entry| format!("`{}`", shown(&bare(entry)))).collect();
        let problem = match (name, names.as_slice()) {
            (_, []) => "there are no arrays in it".to_owned(),
            (Some(name), names) => format!("there is no array `{}` in it, but {}{more}", shown(name), names.join(", ")),
            (None, names) => format!("of the arrays {}{more} one must be named, as in FILE.npz:NAME", names.join(", ")),
        };
        return Err(content.error(problem));
    };
    read(content, entry)
}

fn shown(name: &str) -> String {
    visible::line(name).chars().take(40).collect()
}

/// A file in an archive, as its table of contents has it.
struct Entry {
    name: String,
    is_encrypted: bool,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    /// Where its own header begins.
    start: u64,
}

fn damaged(content: &Content) -> InputError {
    content.error("this archive is damaged or cut off")
}

/// A number of some bytes at a position, the least significant first.
fn number(bytes: &[u8], position: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(position..position + size)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte)))
}

/// The table of contents.
fn entries(content: &mut Content) -> Result<Vec<Entry>, InputError> {
    let (start, length) = contents_place(content)?;
    let table = content.read(start..start + length)?;
    let mut entries = Vec::new();
    let mut rest = &table[..];
    while rest.starts_with(b"PK\x01\x02") {
        let (entry, length) = entry(rest).ok_or_else(|| damaged(content))?;
        content.hold.push(&mut entries, entry)?;
        rest = &rest[length..];
    }
    match rest.is_empty() {
        true => Ok(entries),
        false => Err(damaged(content)),
    }
}

/// Where the table of contents begins, and its length.
fn contents_place(content: &mut Content) -> Result<(u64, u64), InputError> {
    let start = content.length.saturating_sub(LONGEST_END);
    let end = content.read(start..content.length)?;
    let found = end.windows(4).rposition(|window| window == b"PK\x05\x06");
    let found = found.ok_or_else(|| damaged(content))?;
    let mut place = number(&end, found + 16, 4).zip(number(&end, found + 12, 4));
    // Larger numbers stand in a second end, which a third thing before this one points to.
    if let Some(locator) = found.checked_sub(20).filter(|&locator| end[locator..].starts_with(b"PK\x06\x07")) {
        let second = number(&end, locator + 8, 8).filter(|&second| second.saturating_add(56) <= content.length);
        let second = second.ok_or_else(|| damaged(content))?;
        let bytes = content.read(second..second + 56)?;
        place = number(&bytes, 48, 8).zip(number(&bytes, 40, 8)).filter(|_| bytes.starts_with(b"PK\x06\x06"));
    }
    let fits = |&(start, length): &(u64, u64)| {
        length <= LONGEST_CONTENTS && start.checked_add(length).is_some_and(|end| end <= content.length)
    };
    place.filter(fits).ok_or_else(|| damaged(content))
}

/// The entry that a part of the table begins with, and its length there.
fn entry(bytes: &[u8]) -> Option<(Entry, usize)> {
    let (name, extra, comment) =
        (number(bytes, 28, 2)? as usize, number(bytes, 30, 2)? as usize, number(bytes, 32, 2)? as usize);
    let length = 46 + name + extra + comment;
    let mut entry = Entry {
        name: String::from_utf8_lossy(bytes.get(46..46 + name)?).into_owned(),
        is_encrypted: number(bytes, 8, 2)? & 1 == 1,
        method: number(bytes, 10, 2)? as u16,
        checksum: number(bytes, 16, 4)? as u32,
        packed: number(bytes, 20, 4)?,
        size: number(bytes, 24, 4)?,
        start: number(bytes, 42, 4)?,
    };
    // What is too large for its field stands behind, in this order.
    let mut extra = bytes.get(46 + name..46 + name + extra)?;
    while let (Some(tag), Some(size)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let field = extra.get(4..4 + size as usize)?;
        if tag == 1 {
            let mut position = 0;
            for value in [&mut entry.size, &mut entry.packed, &mut entry.start] {
                if *value == u64::from(u32::MAX) {
                    *value = number(field, position, 8)?;
                    position += 8;
                }
            }
        }
        extra = &extra[4 + size as usize..];
    }
    bytes.get(..length).map(|_| (entry, length))
}

/// The bytes of a file in an archive.
fn read(mut content: Content, entry: &Entry) -> Result<Content, InputError> {
    let local = entry.start.checked_add(30).filter(|&end| end <= content.length).ok_or_else(|| damaged(&content))?;
    let header = content.read(entry.start..local)?;
    let beside = number(&header, 26, 2).zip(number(&header, 28, 2)).filter(|_| header.starts_with(STARTS[0]));
    let data = beside.map(|(name, extra)| local + name + extra);
    let inside = |&data: &u64| data.checked_add(entry.packed).is_some_and(|end| end <= content.length);
    let data = data.filter(inside).ok_or_else(|| damaged(&content))?;
    match (entry.is_encrypted, entry.method) {
        (false, 0) if entry.size == entry.packed => {
            Ok(Content { base: content.base + data, length: entry.size, ..content })
        }
        (false, 8) => inflate(content, entry, data),
        _ => Err(content.error(format!("`{}` is packed in a way that is not known", shown(&entry.name)))),
    }
}

fn inflate(mut content: Content, entry: &Entry, data: u64) -> Result<Content, InputError> {
    let mut hold = content.hold.another();
    let (path, interrupt) = (content.path.clone(), content.interrupt.clone());
    let mut source =
        Packed { content: &mut content, position: data, end: data + entry.packed, window: Vec::new(), failed: None };
    let mut inflated = CrcReader::new(DeflateDecoder::new(io::BufReader::with_capacity(1 << 16, &mut source)));
    let failed = |error: io::Error| InputError::new(format!("{}: this archive is damaged: {error}", named(&path)));
    let bytes = hold.read(&mut inflated, entry.size.saturating_add(1), || check(&interrupt), failed);
    let checksum = inflated.crc().sum();
    drop(inflated);
    if let Some(error) = source.failed {
        return Err(error);
    }
    let bytes = bytes?;
    if bytes.len() as u64 != entry.size || checksum != entry.checksum {
        return Err(damaged(&content));
    }
    Ok(Content { base: 0, length: entry.size, storage: Storage::Memory(Arc::new(bytes)), hold, ..content })
}

/// The deflated bytes of a file in an archive.
struct Packed<'c> {
    content: &'c mut Content,
    position: u64,
    end: u64,
    window: Vec<u8>,
    /// Why they could not be read.
    failed: Option<InputError>,
}

impl Read for Packed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.end.min(self.position + buffer.len() as u64);
        match self.content.read_to(self.position..end, &mut self.window) {
            Ok(()) => {
                buffer[..self.window.len()].copy_from_slice(&self.window);
                self.position = end;
                Ok(self.window.len())
            }
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::hold::Hold;
    use crate::engine::interrupt::Interrupt;
    use flate2::{Compression, Crc, write::DeflateEncoder};
    use std::io::Write;
    use std::path::PathBuf;

    fn content(bytes: &[u8]) -> Content {
        let (storage, length) = (Storage::Memory(Arc::new(bytes.to_vec())), bytes.len() as u64);
        let (interrupt, hold) = (Interrupt::default(), Hold::default());
        Content { path: PathBuf::from("a.npz"), storage, base: 0, length, lines_before: 0, interrupt, hold }
    }

    /// An archive of two files, the second deflated, with 64-bit numbers for its lengths as NumPy writes them.
    fn archive() -> Vec<u8> {
        let (mut bytes, mut table) = (Vec::new(), Vec::new());
        for (name, data, method) in [("one.npy", "first", 0u16), ("two.npy", "second second second", 8)] {
            let mut checksum = Crc::new();
            checksum.update(data.as_bytes());
            let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
            deflated.write_all(data.as_bytes()).unwrap();
            let packed = if method == 0 { data.as_bytes().to_vec() } else { deflated.finish().unwrap() };
            let start = bytes.len() as u32;
            let extra = [&[1, 0, 16, 0][..], &(data.len() as u64).to_le_bytes(), &(packed.len() as u64).to_le_bytes()];
            let extra = if method == 0 { Vec::new() } else { extra.concat() };
            let sizes = match method {
                0 => [packed.len() as u32, data.len() as u32],
                _ => [u32::MAX; 2],
            };
            let mut common = [&[45, 0, 0, 0], &method.to_le_bytes()[..], &[0; 4]].concat();
            common.extend(checksum.sum().to_le_bytes());
            common.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
            common.extend([name.len() as u16, extra.len() as u16].iter().flat_map(|length| length.to_le_bytes()));
            bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &extra, &packed].concat());
            let rest = [&[0; 10][..], &start.to_le_bytes()].concat();
            table.extend([b"PK\x01\x02\x2d\x00", &common[..], &rest, name.as_bytes(), &extra].concat());
        }
        let start = bytes.len() as u32;
        bytes.extend(&table);
        bytes.extend(b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
        bytes.extend([table.len() as u32, start].iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([0, 0]);
        bytes
    }

    fn text(bytes: &[u8], name: Option<&str>) -> Result<String, String> {
        let found = member(content(bytes), name).and_then(|mut found| found.read(0..found.length));
        found.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn files_are_found_by_name_stored_and_deflated() {
        let archive = archive();
        assert!(is_archive(&mut content(&archive)).unwrap());
        assert_eq!(text(&archive, Some("one")).unwrap(), "first");
        assert_eq!(text(&archive, Some("two.npy")).unwrap(), "second second second");
        let named = text(&archive, None).unwrap_err();
        assert_eq!(named, "a.npz: of the arrays `one`, `two` one must be named, as in FILE.npz:NAME");
        let missing = text(&archive, Some("thr\u{1b}ee")).unwrap_err();
        assert_eq!(missing, "a.npz: there is no array `thr␛ee` in it, but `one`, `two`");
    }

    #[test]
    fn whatever_byte_is_wrong_nothing_wrong_is_read() {
        let archive = archive();
        // The last two bytes say that there is no comment.
        for length in 0..archive.len() - 2 {
            text(&archive[..length], Some("two")).unwrap_err();
        }
        for (position, wrong) in (0..archive.len()).flat_map(|position| [1, 0x80, 0xff].map(|wrong| (position, wrong)))
        {
            let mut changed = archive.clone();
            changed[position] ^= wrong;
            if let Ok(read) = text(&changed, Some("two")) {
                assert_eq!(read, "second second second", "byte {position}");
            }
        }
    }
}
