//! `main(int argc, char argv[*][*])` of V, as of C: the words of the command line as they are, and how many.
//!
//! By these names and types alone such a `main` is known: of any other each parameter takes a word, read by its type.
//! As in C the first of `argv` is what was run, and no word has a meaning of its own.

use nesl_backend::Literal;
use nesl_prim::{ScalarType, ScalarValue};
use nesl_vcode::{Constants, Main, Parameter, Shape};
use std::ffi::{OsStr, OsString};

/// Whether a program's `main` takes the words as they are.
pub fn takes_words(mains: &[Main]) -> bool {
    let [Main { parameters, .. }] = mains else { return false };
    let is = |parameter: &Parameter, name: &str, shape: &Shape| {
        parameter.name == name && parameter.shape == *shape && parameter.default.is_none()
    };
    let text = Shape::Sequence(Box::new(Shape::Scalar(ScalarType::Char)));
    let [count, words] = &parameters[..] else { return false };
    is(count, "argc", &Shape::Scalar(ScalarType::Int)) && is(words, "argv", &Shape::Sequence(Box::new(text)))
}

/// How many words there are with that which is run, and all of them.
pub fn values(words: &[OsString], command: &str) -> [Literal; 2] {
    let text = |word: &OsStr| Literal::Constants(Constants::Char(word.as_encoded_bytes().to_vec()));
    let own = OsStr::new(program(command));
    let all: Vec<Literal> = std::iter::once(own).chain(words.iter().map(OsString::as_os_str)).map(text).collect();
    [Literal::Scalar(ScalarValue::Int(all.len() as i64)), Literal::Sequence(all)]
}

/// What is run by a command: `a.v` of `nesl run a.v --`, the file that was built of its own name.
fn program(command: &str) -> &str {
    let mut words = command.split_whitespace().filter(|word| *word != "--" && *word != "[OPTIONS]");
    words.next_back().unwrap_or(command)
}
