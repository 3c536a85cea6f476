//! Random programs of V, as text: structs, functions with all statements, vectors that change, calls for effect.
//!
//! What NESL's programs ([`crate::generate`]) are made of is in these only as far as V has it; what they have besides
//! are statements: loops that are left in the middle, branches that return, elements and fields that change, variables
//! of a caller that change. What could fail is guarded, except in some programs. Every loop ends, as none makes more
//! than a few turns, and no vector grows in one.
//!
//! ```text
//! types.rs        types, structs               expressions.rs   expressions of a type
//! statements.rs   statements, functions, main
//! ```
//!
//! Statements stand on lines of their own, so that [`shrink`] can leave lines out.

mod expressions;
mod statements;
mod types;

use crate::random::Random;
use types::{Struct, Type};

/// A variable that is known.
#[derive(Clone)]
struct Variable {
    name: String,
    ty: Type,
    /// Whether all of it can be assigned, not only its elements.
    is_assigned: bool,
    /// Whether anything of it changes.
    is_changed: bool,
}

/// A function that is known.
#[derive(Clone)]
struct Function {
    name: String,
    parameters: Vec<Type>,
    result: Type,
    /// Whether its first parameter says how often it may call itself.
    is_recursive: bool,
}

/// A program on its way.
struct Generator {
    random: Random,
    text: String,
    structure: Struct,
    scope: Vec<Variable>,
    functions: Vec<Function>,
    /// How many names have been given.
    names: usize,
    /// How many loops are around the place.
    loops: usize,
    /// How many blocks are.
    blocks: usize,
    /// Whether statements may print and change variables of a caller.
    acts: bool,
    /// How many places may still fail.
    failures: usize,
    /// What `return` gives where it may stand.
    returns: Option<Type>,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let failures = usize::from(random.chance(20));
    let structure = Struct::random(&mut random);
    let mut generator = Generator {
        random,
        text: String::from("/* A random program. */\n"),
        structure,
        scope: Vec::new(),
        functions: Vec::new(),
        names: 0,
        loops: 0,
        blocks: 0,
        acts: false,
        failures,
        returns: None,
    };
    generator.program();
    generator.text
}

/// A smaller text that fails in the same way: lines, and what stands between braces, are left out as long as `fails`
/// says that it does; at most `attempts` texts are tried.
pub fn shrink(text: &str, mut attempts: usize, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut is_smaller = true;
    while is_smaller && attempts > 0 {
        is_smaller = false;
        let mut first = 1;
        while first < lines.len() && attempts > 0 {
            let last = end(&lines, first);
            if lines[first..=last].iter().map(|line| depth(line)).sum::<i64>() != 0 {
                first += 1;
                continue;
            }
            let mut fewer = lines.clone();
            fewer.drain(first..=last);
            attempts -= 1;
            if fails(&(fewer.join("\n") + "\n")) {
                lines = fewer;
                is_smaller = true;
            } else {
                first += 1;
            }
        }
    }
    lines.join("\n") + "\n"
}

/// By how much a line goes into braces.
fn depth(line: &str) -> i64 {
    line.matches('{').count() as i64 - line.matches('}').count() as i64
}

/// The last line of what begins in a line: what is in braces with them, but of `} else {` only what comes before the
/// next brace.
fn end(lines: &[&str], first: usize) -> usize {
    let mut inside = 0;
    for (index, line) in lines.iter().enumerate().skip(first) {
        inside += depth(line);
        if inside < 0 {
            return index.saturating_sub(1).max(first);
        }
        if inside == 0 && !(index == first && line.trim_start().starts_with('}')) {
            return index;
        }
    }
    lines.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_seed_means_the_same_program_always() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }

    #[test]
    fn programs_are_well_typed_and_have_all_statements() {
        let words = [
            "while (",
            "do {",
            "for (",
            "break;",
            "continue;",
            "return",
            "else",
            "+=",
            "++;",
            "printf(",
            "(&",
            "struct",
            "][",
            ">< ",
            " in ",
            " : ",
            "? ",
            "(int)",
            "[*][*]",
            "true",
            "\"",
            "->",
        ];
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for seed in 0..200 {
            let text = program(seed);
            if let Err(end) = crate::session::check(&text, Some(&[])) {
                panic!("seed {seed}: {end}\n{text}");
            }
            for word in words.into_iter().filter(|word| text.contains(word)) {
                *seen.entry(word).or_default() += 1;
            }
        }
        for word in words {
            let count = seen.get(word).copied().unwrap_or(0);
            assert!(count > 0, "`{word}` is in none of 200 programs");
        }
    }

    #[test]
    fn lines_that_do_not_matter_go_away() {
        let text = "/**/\nint f() {\n  if (1) {\n    bad;\n  }\n  while (2) {\n    good;\n  }\n}\n";
        assert_eq!(
            shrink(text, 100, &mut |text| text.contains("bad")),
            "/**/\nint f() {\n  if (1) {\n    bad;\n  }\n}\n"
        );
    }
}
