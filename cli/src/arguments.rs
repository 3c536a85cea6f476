//! The arguments of `main`: words of the command line to values of the parameters' types.
//!
//! A polymorphic `main` has several entries, one for each instance of its type; the first whose parameters the arguments fit
//! is used. What fits a parameter:
//!
//! | parameter | argument |
//! |---|---|
//! | scalar | a literal: `5`, `-2.5`, `t`, `` `a `` |
//! | `[char]` | the name of a file, for its text; or a literal `"…"`; or any other text, as it is |
//! | other sequences | a literal that begins with `[`, or the name of a file |
//! | anything | a literal |
//!
//! `@` before the name of a file says that it is one. Where the entries differ in the type of a parameter, files hold numbers
//! and text must be a literal: a misspelt name or number should be an error, not a text.

use crate::literal;
use crate::stop::Stop;
use nesl_backend::files::{Files, InputError, is_readable};
use nesl_backend::value::{from_literal, import};
use nesl_backend::{Engine, Literal, Value};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_vcode::{Constants, Main, Shape};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The entry that the arguments fit, with their values.
///
/// # Errors
/// A usage error if they fit none. It is the same on all ranks.
///
/// # Panics
/// If there are no entries.
pub fn read<'a, E: Engine>(
    engine: &mut E,
    mains: &'a [Main],
    arguments: &[OsString],
    command: &str,
) -> Result<(&'a Main, Vec<Value<E>>), Stop> {
    let wrong_count = mains.iter().all(|main| main.parameters.len() != arguments.len());
    if wrong_count {
        let expected = mains.first().map_or(0, |main| main.parameters.len());
        let problem = match arguments.len() {
            0 => "main needs arguments".to_owned(),
            given => format!("main takes {}, not {given}", plural(expected, "argument")),
        };
        return Err(Stop::usage(format!("error: {problem}\n{}", usage(mains, command))));
    }
    let mut files = Files::under(engine.interrupt());
    let mut best: Option<InputError> = None;
    for main in mains {
        match entry(engine, main, mains, arguments, &mut files) {
            Ok(values) => return Ok((main, values)),
            Err(_) if engine.interrupt().is_requested() => return Err(Stop::interrupted()),
            Err(error) if best.as_ref().is_none_or(|best| error.position > best.position) => best = Some(error),
            Err(_) => {}
        }
    }
    let message = best.map_or_else(String::new, |error| error.message);
    Err(Stop::usage(format!("error: {message}\n{}", usage(mains, command))))
}

/// What `main` expects: `usage: nesl run a.nesl -- numbers : [int] or [float]`.
pub fn usage(mains: &[Main], command: &str) -> String {
    let parameters = mains.first().map_or(0, |main| main.parameters.len());
    let described = (0..parameters).map(|position| {
        let name = mains.first().map_or("", |main| &main.parameters[position].name);
        let mut types: Vec<&str> = Vec::new();
        for main in mains {
            let text = main.parameters[position].type_text.as_str();
            if !types.contains(&text) {
                types.push(text);
            }
        }
        format!("  {name} : {}", types.join(" or "))
    });
    let names =
        mains.first().into_iter().flat_map(|main| main.parameters.iter().map(|parameter| placeholder(&parameter.name)));
    let line: Vec<String> = std::iter::once(format!("usage: {command}")).chain(names).collect();
    std::iter::once(line.join(" ")).chain(described).collect::<Vec<_>>().join("\n")
}

/// The name of a parameter as usage lines write it; a pattern such as `(a, b)` in one word.
fn placeholder(name: &str) -> String {
    name.replace(' ', "").to_uppercase()
}

fn plural(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("one {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// The values of one entry's parameters.
fn entry<E: Engine>(
    engine: &mut E,
    main: &Main,
    mains: &[Main],
    arguments: &[OsString],
    files: &mut Files,
) -> Result<Vec<Value<E>>, InputError> {
    if main.parameters.len() != arguments.len() {
        return Err(InputError { message: "main takes another number of arguments".to_owned(), position: 0 });
    }
    let mut values = Vec::new();
    for (position, (parameter, argument)) in main.parameters.iter().zip(arguments).enumerate() {
        let in_place = |message: String| {
            let what = format!("argument {} ({} : {})", position + 1, parameter.name, parameter.type_text);
            InputError { message: format!("{what}: {message}"), position: 0 }
        };
        let is_overloaded = mains.iter().any(|other| {
            other.parameters.get(position).is_some_and(|parameter_of_other| parameter_of_other.shape != parameter.shape)
        });
        let value = match classify(argument, &parameter.shape, is_overloaded).map_err(in_place)? {
            Given::Literal(literal) => {
                from_literal(engine, &parameter.shape, &literal).map_err(|error| in_place(error.to_string()))?
            }
            Given::File(path) => {
                let pieces = files.read(path, &parameter.shape, &|length| engine.share(length));
                let pieces = agree(engine, pieces)
                    .map_err(|error| InputError { message: in_place(error.message).message, ..error })?;
                let failed = |failure: nesl_backend::Fault| in_place(failure.failure.to_string());
                import(engine, &parameter.shape, pieces).map_err(failed)?
            }
        };
        values.push(value);
    }
    Ok(values)
}

/// The same error on all ranks if reading failed on any.
fn agree<E: Engine, T>(engine: &mut E, outcome: Result<T, InputError>) -> Result<T, InputError> {
    engine.agree(outcome)
}

/// How an argument is given.
#[derive(Debug)]
enum Given<'a> {
    Literal(Literal),
    File(&'a Path),
}

/// Decides how an argument is meant, without reading files.
fn classify<'a>(argument: &'a OsStr, shape: &Shape, is_overloaded: bool) -> Result<Given<'a>, String> {
    let text = argument.to_str();
    if is_overloaded
        && innermost(shape) == Some(ScalarType::Char)
        && !text.is_some_and(|text| text.starts_with(['"', '[', '`']))
    {
        return Err("text must be a literal in quotes here".to_owned());
    }
    if let Some(name) = forced_file(argument) {
        return match is_readable(shape) {
            true => Ok(Given::File(name)),
            false => Err("a file gives a sequence of scalars, or rows of them; this one must be a literal".to_owned()),
        };
    }
    let is_text = *shape == Shape::Sequence(Box::new(Shape::Scalar(ScalarType::Char)));
    if is_text && !text.is_some_and(|text| text.starts_with('"')) {
        // A folder counts too: it ends in an error about the folder, rather than in a search for its name.
        return Ok(match Path::new(argument).exists() {
            true => Given::File(Path::new(argument)),
            false => Given::Literal(Literal::Constants(Constants::Char(argument.as_encoded_bytes().to_vec()))),
        });
    }
    let starts_sequence = text.is_some_and(|text| text.trim_start().starts_with(['[', '"']));
    if is_readable(shape) && !starts_sequence {
        return Ok(Given::File(Path::new(argument)));
    }
    let Some(text) = text else { return Err("it is not valid text".to_owned()) };
    if *shape == Shape::Scalar(ScalarType::Char)
        && let [byte] = text.as_bytes()
    {
        return Ok(Given::Literal(Literal::Scalar(ScalarValue::Char(*byte))));
    }
    match literal::parse(text) {
        Ok(literal) => Ok(Given::Literal(literal::fit(literal, shape))),
        Err(problem) => Err(format!("`{}` is not a value: {problem}", text.escape_debug())),
    }
}

/// The first scalar type in a shape; none in that of a function.
fn innermost(shape: &Shape) -> Option<ScalarType> {
    match shape {
        Shape::Scalar(scalar) => Some(*scalar),
        Shape::Sequence(inner) | Shape::Pair(inner, _) | Shape::Record(_, inner) => innermost(inner),
        Shape::Function(_) | Shape::Entry(_) => None,
    }
}

/// The name after an `@`.
fn forced_file(argument: &OsStr) -> Option<&Path> {
    let name = argument.to_str()?.strip_prefix('@')?;
    (!name.is_empty()).then(|| Path::new(name))
}
