//! Bytes that are no program that nesl wrote, though their checksum is right: an error, or a program that the verifier
//! takes.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_span::{Origin, SourceMap};
use nesl_vcode::{CodecError, FunctionId, Output, Program, Shape, Step, from_bytes, parse, to_bytes, verify};

/// Magic, version and checksum.
const HEADER: usize = 24;

/// Bytes with the checksum that they should have.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes[HEADER..].iter();
    let checksum =
        body.fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    bytes[16..HEADER].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn sample() -> Vec<u8> {
    let program = parse(
        "function sum(%0: int) -> int {
           %1 = iota %0
           %2 = reduce.add.int %1
           %3 = less.int %0 %2
           %4 = if %3 {
             %5 = add.int %2 1
             yield %5
           } else { yield %0 }
           return %4
         }
         step sum(seed) -> show int",
    );
    let mut sources = SourceMap::default();
    sources.add("a.nesl", "sum(v)", Origin::User);
    to_bytes(&program.unwrap(), &sources)
}

/// Numbers that are the same in each run.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    }
}

#[test]
fn changed_bytes_are_errors_or_programs() {
    let whole = sample();
    let mut random = random();
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random(3) {
            let place = HEADER + random(bytes.len() - HEADER);
            match random(4) {
                0 => bytes[place] ^= 1 << random(8),
                1 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff][random(5)],
                2 => bytes.insert(place, random(256) as u8),
                _ => bytes.truncate(place.max(HEADER + 1)),
            }
        }
        if let Ok((program, sources)) = from_bytes(&signed(bytes)) {
            accepted += 1;
            assert_eq!(verify(&program), Ok(()));
            // Whatever is said about it finds its sources.
            for function in &program.functions {
                sources.line_column(function.span);
                program.to_string();
            }
        }
    }
    assert!(accepted > 0, "some changes are of names");
}

/// A shape of so many sequences inside one another.
fn deep(levels: usize) -> Vec<u8> {
    let shape =
        (0..levels).fold(Shape::Scalar(nesl_prim::ScalarType::Int), |shape, _| Shape::Sequence(Box::new(shape)));
    let step = Step { function: FunctionId(0), inputs: Vec::new(), outputs: vec![Output::Show(shape)] };
    let program = Program { steps: vec![step], ..Program::default() };
    to_bytes(&program, &SourceMap::default())
}

#[test]
fn depth_has_a_limit() {
    let run = || {
        assert!(matches!(from_bytes(&deep(9_999)), Err(CodecError::Invalid(_))));
        assert_eq!(from_bytes(&deep(10_001)), Err(CodecError::TooDeep));
        // One error does not make the next.
        assert!(from_bytes(&sample()).is_ok() && matches!(from_bytes(&deep(3)), Err(CodecError::Invalid(_))));
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
    // As many as bytes can say.
    let start = deep(100);
    let levels = |window: &[u8]| window.iter().all(|&byte| byte == window[0]);
    let place = start.windows(50).position(levels).unwrap();
    let mut bytes = start[..place].to_vec();
    bytes.extend(std::iter::repeat_n(start[place], 5_000_000));
    bytes.extend(&start[place..]);
    let run = move || assert_eq!(from_bytes(&signed(bytes)), Err(CodecError::TooDeep));
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn sources_that_are_not_there_are_an_error() {
    let (program, _) = from_bytes(&sample()).unwrap();
    let mut program: Program = program;
    program.functions[0].span.file = nesl_span::FileId(7);
    assert_eq!(from_bytes(&to_bytes(&program, &SourceMap::default())), Err(CodecError::NoSuchSource));
    let (mut program, sources) = from_bytes(&sample()).unwrap();
    let span = nesl_span::Span::new(nesl_span::FileId(7), 0, 0);
    program.sites.push(nesl_vcode::Place { span, within: None });
    assert_eq!(from_bytes(&to_bytes(&program, &sources)), Err(CodecError::NoSuchSource));
}
