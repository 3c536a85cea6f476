//! Programs as bytes: what `nesl build` writes and what rank 0 sends to the other ranks.
//!
//! ```text
//! magic            8 bytes   "NESLVC\r\n"; text-mode damage shows
//! version          8 bytes   of this layout and of the instruction tables, see [`version`]
//! checksum         8 bytes   FNV-1a of what follows
//! program, sources           postcard
//! ```
//! Numbers are little-endian. What is read is verified, and as deep as it may be: whatever the bytes, the answer is a
//! program that the verifier takes, or an error. That is less than that a program does no harm: `docs/vcode.md` says
//! what is promised.

use crate::depth::{self, DEEPEST};
use crate::op::VectorOp;
use crate::program::{Block, Op, Program};
use crate::verify::{VerifyError, verify};
use nesl_prim::{HostOp, ScalarOp};
use nesl_span::{SourceMap, Span};
use std::fmt;

const MAGIC: [u8; 8] = *b"NESLVC\r\n";

/// Counts changes of the layout. Changes of the tables count by themselves.
const LAYOUT: u64 = 7;

const HEADER: usize = 24;

/// So many things that are wrong with a program are said.
const SHOWN: usize = 10;

/// Why bytes are not a program.
#[derive(Clone, Debug, PartialEq)]
pub enum CodecError {
    /// They do not start like one.
    NotAProgram,
    /// Another version of nesl made them.
    OtherVersion,
    /// They are cut off or changed.
    Damaged,
    /// What they say is nested more deeply than [`DEEPEST`].
    TooDeep,
    /// They point to sources that they do not have.
    NoSuchSource,
    /// They are whole, and the program is wrong.
    Invalid(Vec<VerifyError>),
}

impl fmt::Display for CodecError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecError::NotAProgram => write!(formatter, "this is not a compiled nesl program"),
            CodecError::OtherVersion => {
                write!(formatter, "this program was compiled by another version of nesl; compile it again")
            }
            CodecError::Damaged => write!(formatter, "this compiled program is damaged; compile it again"),
            CodecError::TooDeep => {
                write!(
                    formatter,
                    "this program is nested too deeply: more than {DEEPEST} blocks or types inside one another"
                )
            }
            CodecError::NoSuchSource => write!(formatter, "this compiled program names sources that it does not have"),
            CodecError::Invalid(errors) => {
                write!(formatter, "this compiled program is invalid")?;
                errors.iter().take(SHOWN).try_for_each(|error| write!(formatter, "\n  {error}"))?;
                match errors.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(formatter, "\n  and {more} more"),
                }
            }
        }
    }
}

impl std::error::Error for CodecError {}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): enough against accidents, no defence against intent.
fn checksum(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The version of the format. Operations are written by their position in the tables, so it covers their names in
/// order.
fn version() -> u64 {
    let scalars = ScalarOp::ALL.iter().map(ScalarOp::to_string);
    let vectors = VectorOp::all().into_iter().map(VectorOp::name);
    let outside = HostOp::all().into_iter().map(|op| op.to_string());
    let names: Vec<String> = scalars.chain(vectors).chain(outside).collect();
    checksum(LAYOUT.to_le_bytes().into_iter().chain(names.join(" ").into_bytes()))
}

/// The bytes of a program and of the sources that its spans point to.
pub fn to_bytes(program: &Program, sources: &SourceMap) -> Vec<u8> {
    // Postcard fails only for lack of room, which a Vec does not, and for types that a Program does not have.
    let body = postcard::to_stdvec(&(program, sources)).expect("a program can be serialised");
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(MAGIC);
    bytes.extend(version().to_le_bytes());
    bytes.extend(checksum(body.iter().copied()).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// The program and sources in bytes.
///
/// # Errors
/// If the bytes are not those of a program that this version of nesl made.
pub fn from_bytes(bytes: &[u8]) -> Result<(Program, SourceMap), CodecError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(CodecError::NotAProgram)?;
    let (made_by, rest) = rest.split_first_chunk::<8>().ok_or(CodecError::Damaged)?;
    if u64::from_le_bytes(*made_by) != version() {
        return Err(CodecError::OtherVersion);
    }
    let (expected, body) = rest.split_first_chunk::<8>().ok_or(CodecError::Damaged)?;
    if u64::from_le_bytes(*expected) != checksum(body.iter().copied()) {
        return Err(CodecError::Damaged);
    }
    type Decoded<'a> = Result<((Program, SourceMap), &'a [u8]), postcard::Error>;
    let (decoded, is_too_deep): (Decoded, bool) = depth::decode(|| postcard::take_from_bytes(body));
    match decoded {
        Ok(((program, sources), [])) => {
            let files = sources.files().count();
            if !spans(&program).all(|span| (span.file.0 as usize) < files) {
                return Err(CodecError::NoSuchSource);
            }
            match verify(&program) {
                Ok(()) => Ok((program, sources)),
                Err(errors) => Err(CodecError::Invalid(errors)),
            }
        }
        _ if is_too_deep => Err(CodecError::TooDeep),
        _ => Err(CodecError::Damaged),
    }
}

/// All places that a program names.
fn spans(program: &Program) -> impl Iterator<Item = Span> {
    fn of_block(block: &Block, found: &mut Vec<Span>) {
        for instruction in &block.instructions {
            found.push(instruction.place.span);
            match &instruction.op {
                Op::If(first, second) => {
                    of_block(first, found);
                    of_block(second, found);
                }
                Op::Fused(block) => of_block(block, found),
                _ => {}
            }
        }
    }
    let mut found: Vec<Span> = program.sites.iter().map(|site| site.span).collect();
    for function in &program.functions {
        found.push(function.span);
        of_block(&function.body, &mut found);
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use nesl_span::Origin;

    fn sample() -> (Program, SourceMap) {
        let program = parse(
            "function f(%0: int) -> int {
               %1 = add.int %0 2
               return %1
             }
             step f(seed) -> show int",
        );
        let mut sources = SourceMap::default();
        sources.add("a.nesl", "1 + 2", Origin::User);
        (program.unwrap(), sources)
    }

    #[test]
    fn bytes_read_back() {
        let (program, sources) = sample();
        assert_eq!(from_bytes(&to_bytes(&program, &sources)), Ok((program, sources)));
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let (program, sources) = sample();
        let bytes = to_bytes(&program, &sources);
        for length in 0..bytes.len() {
            let expected = if length < MAGIC.len() { CodecError::NotAProgram } else { CodecError::Damaged };
            assert_eq!(from_bytes(&bytes[..length]), Err(expected), "cut to {length}");
        }
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 0x10;
            let expected = match position {
                0..8 => CodecError::NotAProgram,
                8..16 => CodecError::OtherVersion,
                _ => CodecError::Damaged,
            };
            assert_eq!(from_bytes(&changed), Err(expected), "changed at {position}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(from_bytes(&longer), Err(CodecError::Damaged));
    }

    #[test]
    fn what_is_read_is_verified() {
        let (mut program, sources) = sample();
        program.steps[0].outputs.clear();
        let error = from_bytes(&to_bytes(&program, &sources)).unwrap_err();
        assert!(matches!(&error, CodecError::Invalid(errors) if errors.len() == 1), "{error}");
    }
}
