//! Examples that give what they say.

use nesl_frontend::manual::Example;
use nesl_service::outcome::{End, Outcome};
use std::fmt::Write;

/// What stands before the output of an example.
fn mark(number: usize) -> String {
    format!("\"example {number} of this test\"")
}

/// Evaluates examples where the definitions are known.
///
/// # Errors
/// Which are not true, and what they give.
pub fn check(definitions: &str, examples: &[Example], run: &dyn Fn(&str) -> Outcome) -> Result<(), String> {
    let mut problems = String::new();
    let mut next = 0;
    while next < examples.len() {
        let mut program = definitions.to_owned();
        for (number, example) in examples.iter().enumerate().skip(next) {
            // Writing to a string does not fail.
            let _ = write!(program, "{};\n{};\n", mark(number), example.expression);
        }
        let Outcome { lines, end } = run(&program);
        let end = end.placed_within(definitions);
        if let (End::Rejected(_), true) = (&end, examples.len() - next > 1) {
            // One of them is no expression: which, each says by itself.
            for example in &examples[next..] {
                if let Err(problem) = check(definitions, std::slice::from_ref(example), run) {
                    problems += &problem;
                }
            }
            break;
        }
        let reached = (next..examples.len()).rev().find(|number| lines.contains(&mark(*number))).unwrap_or(next);
        for (number, example) in examples.iter().enumerate().take(reached + 1).skip(next) {
            let printed = lines.iter().skip_while(|line| **line != mark(number)).skip(1);
            // What it prints itself stands before its value.
            let given = printed.take_while(|line| number == reached || **line != mark(number + 1)).last();
            let Example { expression, result } = example;
            let has_ended = number == reached && end != End::Done;
            match given {
                Some(line) if line == result && !has_ended => {}
                _ if has_ended => {
                    let _ = writeln!(problems, "{expression} gives {result}\n  but {end}");
                }
                Some(line) => {
                    let _ = writeln!(problems, "{expression} gives {result}\n  but gave {line}");
                }
                None => {
                    let _ = writeln!(problems, "{expression} gives {result}\n  but printed nothing");
                }
            }
        }
        next = if end == End::Done { examples.len() } else { reached + 1 };
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
