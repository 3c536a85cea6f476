//! What a session prints reads back as an equal value of the same type: floats of all exponents, characters and strings
//! of all bytes, sequences without elements, tuples and records within one another.

mod common;

use common::Bench;
use std::time::{SystemTime, UNIX_EPOCH};

/// Random numbers from a seed that a failure prints.
struct Random(u64);

impl Random {
    fn new() -> Random {
        let seed = match std::env::var("NESL_RANDOM_SEED") {
            Ok(text) => text.parse().expect("NESL_RANDOM_SEED is a number"),
            Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs()),
        };
        println!("NESL_RANDOM_SEED={seed}");
        Random(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[derive(Clone, Debug)]
enum Type {
    Int,
    Float,
    Bool,
    Char,
    Sequence(Box<Type>),
    Pair(Box<Type>, Box<Type>),
    /// `box(a)`, which has an `a` in it and an `[a]`.
    Record(Box<Type>),
}

const DATATYPE: &str = "datatype box (a, [a]) :: a in any;";

impl Type {
    fn random(random: &mut Random, depth: u64) -> Type {
        let inner = |random: &mut Random| Box::new(Type::random(random, depth - 1));
        match random.below(if depth == 0 { 4 } else { 9 }) {
            0 => Type::Int,
            1 => Type::Float,
            2 => Type::Bool,
            3 => Type::Char,
            4..7 => Type::Sequence(inner(random)),
            7 => Type::Pair(inner(random), inner(random)),
            _ => Type::Record(inner(random)),
        }
    }

    /// As it is written.
    fn text(&self) -> String {
        match self {
            Type::Int => "int".to_owned(),
            Type::Float => "float".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Char => "char".to_owned(),
            Type::Sequence(element) => format!("[{}]", element.text()),
            Type::Pair(first, rest) => format!("({}, {})", first.text(), rest.inside()),
            Type::Record(argument) => format!("box({})", argument.text()),
        }
    }

    /// The rest of a tuple, which prints flat.
    fn inside(&self) -> String {
        match self {
            Type::Pair(first, rest) => format!("{}, {}", first.text(), rest.inside()),
            other => other.text(),
        }
    }

    /// A random value, as a program that does not lean on what the printer writes: characters by their codes, strings
    /// as sequences of them, every empty sequence with its type, every pair in parentheses.
    fn value(&self, random: &mut Random) -> String {
        match self {
            Type::Int => match random.below(6) {
                0 => "min_int".to_owned(),
                1 => "max_int".to_owned(),
                2 => format!("(0 - {})", random.next() >> 1),
                _ => format!("(0 - {})", random.below(10)),
            },
            Type::Float => {
                let value = match random.below(8) {
                    0 => return "(1.0 / 0.0)".to_owned(),
                    1 => return "(-1.0 / 0.0)".to_owned(),
                    2 => return "sqrt(-1.0)".to_owned(),
                    3 => -0.0,
                    4 => f64::from_bits(random.next() >> 12),
                    5 => random.below(100) as f64,
                    // All exponents alike, but the last, which is that of infinities.
                    _ => f64::from_bits(random.next() % 0x7ff0_0000_0000_0000),
                };
                let sign = if random.below(2) == 0 { "-" } else { "" };
                format!("({sign}{value:e})").replace("--", "")
            }
            Type::Bool => (if random.below(2) == 0 { "t" } else { "f" }).to_owned(),
            Type::Char => format!("code_char({})", random.below(256)),
            Type::Sequence(element) => match random.below(4) {
                0 => format!("[] {}", element.text()),
                length => {
                    let elements: Vec<String> = (0..length).map(|_| element.value(random)).collect();
                    format!("[{}]", elements.join(", "))
                }
            },
            Type::Pair(first, rest) => format!("({}, {})", first.value(random), rest.value(random)),
            Type::Record(argument) => {
                let first = argument.value(random);
                format!("box({first}, {})", Type::Sequence(argument.clone()).value(random))
            }
        }
    }
}

/// The answers of a session to these inputs, a line each.
fn answers(inputs: &[String]) -> Vec<String> {
    let ran = Bench::new().piped(&["--engine", "reference"], &format!("{DATATYPE}\n{}", inputs.concat()));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{inputs:?}");
    ran.out.lines().skip(1).map(str::to_owned).collect()
}

/// The value in an answer, of which `it = ` and the type are taken away.
fn value<'a>(answer: &'a str, ty: &str) -> &'a str {
    let value = answer.strip_prefix("it = ").and_then(|rest| rest.strip_suffix(ty)?.strip_suffix(" : "));
    value.unwrap_or_else(|| panic!("{answer} is not of type {ty}"))
}

#[test]
fn random_values_read_back() {
    let mut random = Random::new();
    let types: Vec<Type> = (0..150).map(|number| Type::random(&mut random, number % 4)).collect();
    let values: Vec<String> = types.iter().map(|ty| format!("{};\n", ty.value(&mut random))).collect();
    let first = answers(&values);
    assert_eq!(first.len(), types.len());
    let pasted: Vec<String> =
        first.iter().zip(&types).map(|(answer, ty)| format!("{};\n", value(answer, &ty.text()))).collect();
    let second = answers(&pasted);
    for ((first, second), source) in first.iter().zip(&second).zip(&values) {
        assert_eq!(first, second, "of {source}");
    }
    // Not only the same text, but the same value: nan is the one thing that is not equal to itself.
    let compared: Vec<String> = (values.iter().zip(&pasted))
        .filter(|(value, _)| !value.contains("sqrt"))
        .map(|(value, pasted)| format!("eql({}, {});\n", value.trim_end_matches(";\n"), pasted.trim_end_matches(";\n")))
        .collect();
    assert!(!compared.is_empty());
    assert!(answers(&compared).iter().all(|answer| answer == "it = t : bool"), "{compared:?}");
}

#[test]
fn floats_of_all_exponents_read_back() {
    let mut random = Random::new();
    let mut floats =
        vec![f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::EPSILON, 0.1, 1e15, 1e16, 1e17, 123_456_789.0];
    floats.extend((0..2047).map(|exponent| f64::from_bits(exponent << 52 | random.next() >> 12)));
    // A session shows a hundred elements of a sequence.
    let inputs: Vec<String> = (floats.chunks(100))
        .map(|chunk| {
            let texts: Vec<String> = chunk.iter().map(|value| format!("{value:e}")).collect();
            format!("[{}];\n", texts.join(", "))
        })
        .collect();
    for (answer, chunk) in answers(&inputs).iter().zip(floats.chunks(100)) {
        let texts = value(answer, "[float]").trim_matches(['[', ']']).split(", ");
        let printed: Vec<u64> = texts.map(|text| text.parse::<f64>().expect("a float").to_bits()).collect();
        let expected: Vec<u64> = chunk.iter().map(|value| value.to_bits()).collect();
        assert_eq!(printed, expected);
    }
}

#[test]
fn every_byte_reads_back_as_a_character_and_in_a_string() {
    let characters: Vec<String> = (0..256).map(|code| format!("(code_char({code}), 1);\n")).collect();
    let pasted: Vec<String> =
        answers(&characters).iter().map(|answer| format!("{};\n", value(answer, "(char, int)"))).collect();
    let codes: Vec<String> =
        pasted.iter().map(|text| format!("let (c, _i) = {} in char_code(c);\n", &text[..text.len() - 2])).collect();
    for (code, answer) in answers(&codes).iter().enumerate() {
        assert_eq!(answer, &format!("it = {code} : int"));
    }
    let strings: Vec<String> =
        (0..4).map(|part| format!("{{code_char(i) : i in [{}:{}]}};\n", 64 * part, 64 * part + 64)).collect();
    for (part, answer) in answers(&strings).iter().enumerate() {
        let codes = answers(&[format!("{{char_code(c) : c in {}}};\n", value(answer, "[char]"))]);
        let expected: Vec<String> = (64 * part..64 * part + 64).map(|code| code.to_string()).collect();
        assert_eq!(codes, [format!("it = [{}] : [int]", expected.join(", "))]);
    }
}
