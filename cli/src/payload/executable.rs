//! An executable with a program in it, as bytes: in a section of its own where it is an ELF file, which tools such as
//! `strip` keep, else behind it.
//!
//! ```text
//! ELF      what is loaded of `nesl` itself, with the section `.nesl`
//! others   what `nesl` itself is, the program, and a trailer of 32 bytes: offset and length of the program
//!          (little-endian), then the magic
//! ```

use object::build::elf::{Builder, SectionData};
use object::elf::{FileHeader64, SHF_ALLOC, SHT_PROGBITS};
use object::read::elf::{FileHeader, SectionHeader};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, build};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The section with the program.
const SECTION: &[u8] = b".nesl";

/// The section with the names of all of them.
const SECTION_NAMES: &[u8] = b".shstrtab";

/// How ELF files of 64 bits begin.
const ELF: [u8; 5] = *b"\x7fELF\x02";

/// The last bytes of an executable with a program behind it.
const MAGIC: [u8; 16] = *b"\x7fNESL program\r\n\0";

/// Offset, length, magic.
const TRAILER: u64 = 32;

/// How the bytes of a program begin, as `nesl_vcode::codec` writes them.
const PROGRAM_START: [u8; 8] = *b"NESLVC\r\n";

/// What is in an executable.
#[derive(Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing of ours: it is `nesl`, or anything else.
    Bare,
    /// What should be a program.
    Program(Vec<u8>),
    /// What was an executable once.
    Damaged,
}

/// An executable with a program in it.
///
/// # Errors
/// If it is an ELF file with which this cannot be done.
pub fn with_program(executable: &[u8], program: &[u8]) -> Result<Vec<u8>, build::Error> {
    if !executable.starts_with(&ELF) {
        let (offset, length) = (executable.len() as u64, program.len() as u64);
        return Ok([executable, program, &offset.to_le_bytes(), &length.to_le_bytes(), &MAGIC].concat());
    }
    let mut builder = Builder::read(executable)?;
    // Names of functions and places in sources are for whoever debugs nesl itself: most of its size.
    for section in builder.sections.iter_mut() {
        section.delete = section.sh_flags & u64::from(SHF_ALLOC) == 0 && section.name.as_slice() != SECTION_NAMES;
    }
    for symbol in builder.symbols.iter_mut() {
        symbol.delete = true;
    }
    builder.delete_orphans();
    let section = builder.sections.add();
    section.name = SECTION.into();
    section.sh_type = SHT_PROGBITS;
    section.sh_addralign = 1;
    section.data = SectionData::Data(program.into());
    let mut bytes = Vec::new();
    builder.write(&mut bytes)?;
    Ok(bytes)
}

/// What is in a file.
///
/// # Errors
/// If it cannot be read.
pub fn contents(file: &mut File) -> io::Result<Contents> {
    match read_at(file, 0, ELF.len() as u64)? == ELF {
        true => section(file),
        false => trailer(file),
    }
}

/// Whether a file is an executable that this wrote, damaged or not. One whose table of sections is lost has a program's
/// first bytes in it somewhere.
///
/// # Errors
/// If it cannot be read.
pub fn has_program(file: &mut File) -> io::Result<bool> {
    Ok(match contents(file)? {
        Contents::Bare => false,
        Contents::Program(bytes) => bytes.starts_with(&PROGRAM_START),
        Contents::Damaged => {
            let bytes = read_at(file, 0, u64::MAX)?;
            bytes.windows(PROGRAM_START.len()).any(|window| window == PROGRAM_START)
        }
    })
}

/// The section of that name, or, where the name is lost, the one that begins like a program.
fn section(file: &mut File) -> io::Result<Contents> {
    let size = file.metadata()?.len();
    let place = {
        let cache = ReadCache::new(&mut *file);
        let header = FileHeader64::<Endianness>::parse(&cache);
        let table = header.and_then(|header| Ok((header.endian()?, header.sections(header.endian()?, &cache)?)));
        let Ok((endian, sections)) = table else { return Ok(Contents::Damaged) };
        // What is read at the wrong place has not this name, which every executable has.
        if !sections.is_empty() && sections.section_by_name(endian, b".text").is_none() {
            return Ok(Contents::Damaged);
        }
        let begins_so = |section: &&_| {
            let start = SectionHeader::sh_offset(*section, endian);
            (&cache).read_bytes_at(start, PROGRAM_START.len() as u64).is_ok_and(|bytes| bytes == PROGRAM_START)
        };
        let named = sections.section_by_name(endian, SECTION).map(|(_, section)| section);
        let Some(section) = named.or_else(|| sections.iter().rev().take(2).find(begins_so)) else {
            return Ok(Contents::Bare);
        };
        (section.sh_offset(endian), section.sh_size(endian))
    };
    match place.0.checked_add(place.1) {
        Some(end) if end <= size => Ok(Contents::Program(read_at(file, place.0, place.1)?)),
        _ => Ok(Contents::Damaged),
    }
}

fn trailer(file: &mut File) -> io::Result<Contents> {
    let size = file.metadata()?.len();
    if size < TRAILER {
        return Ok(Contents::Bare);
    }
    let trailer = read_at(file, size - TRAILER, TRAILER)?;
    let (numbers, magic) = trailer.split_at(16);
    let ([offset, length], []) = numbers.as_chunks::<8>() else { return Ok(Contents::Bare) };
    if magic != MAGIC {
        return Ok(Contents::Bare);
    }
    let (offset, length) = (u64::from_le_bytes(*offset), u64::from_le_bytes(*length));
    match offset.checked_add(length).and_then(|end| end.checked_add(TRAILER)) == Some(size) {
        true => Ok(Contents::Program(read_at(file, offset, length)?)),
        false => Ok(Contents::Damaged),
    }
}

fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Contents {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), bytes).unwrap();
        contents(&mut File::open(path.path()).unwrap()).unwrap()
    }

    #[test]
    fn programs_are_found_where_they_were_put() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let programs = [&b"NESLVC\r\nand so on"[..], b""];
        for executable in [&own[..], b"#!/bin/sh\n", b""] {
            assert_eq!(read(executable), Contents::Bare);
            for program in programs {
                let both = with_program(executable, program).unwrap();
                assert_eq!(read(&both), Contents::Program(program.to_vec()));
            }
        }
        let both = with_program(b"#!/bin/sh\n", programs[0]).unwrap();
        assert_eq!(read(&[&both[..10], &[0], &both[10..]].concat()), Contents::Damaged);
        let both = with_program(&own, programs[0]).unwrap();
        assert_eq!(read(&both[..both.len() - 1]), Contents::Damaged);
    }
}
