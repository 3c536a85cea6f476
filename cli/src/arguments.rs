//! The arguments of `main`: words of the command line to values of the parameters' types.
//!
//! [`words`] says which word is for which parameter. A polymorphic `main` has several entries, one for each instance of
//! its type; the first whose parameters the words fit is used. [`counted`] says which `main` takes words as they are,
//! [`texts`] which texts may be names of files.
//! What fits a parameter of any other:
//!
//! | parameter | word |
//! |---|---|
//! | scalar | a literal: `5`, `-2.5`, `t`, `` `a `` |
//! | `[char]` | the text itself; `"…"` is a literal |
//! | other sequences that a file can give | a literal, which begins with `[` or `"`; else the name of a file |
//! | anything | a literal, or `-` for the one on standard input |
//!
//! A file gives numbers and truth values, nested as deep as an array has dimensions, and tables: rows, or tuples. It
//! may hold a literal instead, for any parameter but text.
//!
//! `@name` is the file of that name, also for text, and `@@x` is the word `@x` without that meaning. A word that begins
//! like a literal and is none is an error at its place. Where the entries differ in the type of a parameter, a file
//! holds numbers, and text must be a literal: a misspelt name or number should be an error, not a text.

mod counted;
mod texts;
mod words;

pub use counted::takes_words;
pub use texts::warn_of_names;

use crate::literal;
use crate::stop::Stop;
use nesl_backend::io::files::{Files, InputError, is_readable};
use nesl_backend::io::import::{from_literal, import};
use nesl_backend::{Engine, Literal, Value};
use nesl_prim::{ScalarType, ScalarValue, visible};
use nesl_span::{Origin, SourceMap};
use nesl_vcode::{Constants, Main, Parameter, Shape, Step};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use words::Misfit;

/// The longest text of a default that a usage line shows.
const SHOWN_DEFAULT: usize = 60;

/// How words are read, for the help of commands.
pub const READING: &str = "\
An argument is a NESL literal: 5, -2.5, [1, 2], \"text\". For [char] it is the text itself.\n\
For other sequences it may be the name of a file: numbers between white space, lines, rows, .npy,\n\
.npz (FILE.npz:NAME for one array of several), or .csv, with or without a heading, for rows or tuples.\n\
A file may hold a literal instead.\n\
@NAME is the file of that name, for [char], too; @@x is the word @x. - is the standard input, @- for [char].\n\
A parameter with a default is an option: --name VALUE or --name=VALUE.\n\
Options of nesl itself stand before what is for main. The word -- ends either.\n\
Among what is for main, --help shows what it expects.";

/// What a parameter is to be.
pub enum Argument<'a, E: Engine> {
    /// A value from the command line.
    Given(Value<E>),
    /// The value that a step shows.
    Default(&'a Step),
}

/// The entry that the words fit, with the values of its parameters.
///
/// # Errors
/// A usage error if they fit none. It is the same on all ranks.
///
/// # Panics
/// If there are no entries.
pub fn read<'a, E: Engine>(
    engine: &mut E,
    mains: &'a [Main],
    words: &[OsString],
    command: &str,
) -> Result<(&'a Main, Vec<Argument<'a, E>>), Stop> {
    let wrong = |problem: String| Stop::usage(format!("error: {problem}\n{}", usage(mains, command)));
    if takes_words(mains) {
        return as_they_are(engine, &mains[0], words, command);
    }
    let words = assign(mains, words).map_err(|misfit| match misfit {
        Misfit::Help => wrong("it is asked what main expects".to_owned()),
        Misfit::Wrong(problem) => wrong(problem),
    })?;
    let mut files = Files::under(engine.interrupt(), engine.hold());
    let mut best: Option<InputError> = None;
    for main in mains {
        match entry(engine, main, mains, &words, &mut files) {
            Ok(values) => return Ok((main, values)),
            Err(_) if engine.interrupt().is_requested() => return Err(Stop::interrupted()),
            // No other type makes it fit.
            Err(InputError { message, failure: Some(_), .. }) => return Err(Stop::failed(format!("error: {message}"))),
            Err(error) if best.as_ref().is_none_or(|best| error.position > best.position) => best = Some(error),
            Err(_) => {}
        }
    }
    Err(wrong(best.map_or_else(String::new, |error| error.message)))
}

/// The entry of a `main` that takes the words as they are.
fn as_they_are<'a, E: Engine>(
    engine: &mut E,
    main: &'a Main,
    words: &[OsString],
    command: &str,
) -> Result<(&'a Main, Vec<Argument<'a, E>>), Stop> {
    let literals = main.parameters.iter().zip(counted::values(words, command));
    let values = literals.map(|(parameter, literal)| {
        let value = from_literal(engine, &parameter.shape, &literal);
        value.map(Argument::Given).map_err(|error| Stop::failed(format!("error: {}: {error}", parameter.name)))
    });
    Ok((main, values.collect::<Result<_, _>>()?))
}

/// The word for each parameter of the entries, which have parameters of the same names.
fn assign<'w>(mains: &[Main], words: &'w [OsString]) -> Result<Vec<Option<&'w OsStr>>, Misfit> {
    let parameters = mains.first().map_or(&[][..], |main| &main.parameters);
    let takes_any = |position: usize| {
        is_text(&parameters[position].shape) && !is_overloaded(mains, position, &parameters[position])
    };
    words::assign(parameters, words, takes_any)
}

/// Whether the words ask what `main` expects.
pub fn ask_for_help(mains: &[Main], words: &[OsString]) -> bool {
    !takes_words(mains) && assign(mains, words) == Err(Misfit::Help)
}

/// What there is to say to those who ask what a program expects.
pub fn help(mains: &[Main], sources: &SourceMap, command: &str) -> String {
    let about = introduction(sources).map(|text| text + "\n\n").unwrap_or_default();
    let text = match mains {
        [] => format!("{about}usage: {}\nThis program takes no arguments.\n", command.trim_end_matches(" --")),
        _ => format!("{about}{}\n\n{READING}\n", usage(mains, command)),
    };
    visible::text(&text).into_owned()
}

/// What a program says of itself, with what would control a terminal made visible.
pub fn introduction(sources: &SourceMap) -> Option<String> {
    let (file, source) = sources.files().find(|(_, source)| source.origin == Origin::User)?;
    nesl_service::introduction(file, source).map(|text| visible::text(&text).into_owned())
}

/// Refuses the first word after nesl's own options if it looks like one and is none, of nesl or of `main`.
///
/// # Errors
/// A usage error.
pub fn refuse_unknown_option(mains: &[Main], words: &[OsString], command: &str) -> Result<(), Stop> {
    let (Some(main), Some(first)) = (mains.first(), words.first()) else { return Ok(()) };
    if first == "--help" || first == "-h" || is_separated(words) || takes_words(mains) {
        return Ok(());
    }
    words::refuse_unknown(&main.parameters, first)
        .map_err(|problem| Stop::usage(format!("error: {problem}\n{}", usage(mains, command))))
}

/// Whether `--` stands before the last words of this process's command line: what follows it is none of nesl's options,
/// whatever it looks like.
fn is_separated(last: &[OsString]) -> bool {
    let words: Vec<OsString> = std::env::args_os().collect();
    words.len().checked_sub(last.len() + 1).is_some_and(|before| words[before] == "--")
}

/// The files that are read for words.
pub fn files(mains: &[Main], words: &[OsString]) -> Vec<PathBuf> {
    if takes_words(mains) {
        return Vec::new();
    }
    let Ok(words) = assign(mains, words) else { return Vec::new() };
    let mut files = Vec::new();
    for main in mains {
        for (position, (parameter, word)) in main.parameters.iter().zip(&words).enumerate() {
            let given = word.map(|word| classify(word, &parameter.shape, is_overloaded(mains, position, parameter)));
            if let Some(Ok(Given::File(path))) = given {
                files.push(path.to_owned());
            }
        }
    }
    files
}

/// Whether entries differ in the type of a parameter.
fn is_overloaded(mains: &[Main], position: usize, parameter: &Parameter) -> bool {
    mains.iter().filter_map(|main| main.parameters.get(position)).any(|other| other.shape != parameter.shape)
}

/// What `main` expects: `usage: nesl run a.nesl -- V [--n N]`, and what each of them is.
pub fn usage(mains: &[Main], command: &str) -> String {
    if takes_words(mains) {
        return format!("usage: {command} [WORDS]\n  argv : {}", types(mains, 1));
    }
    let parameters = mains.first().map_or(&[][..], |main| &main.parameters);
    let mut line = format!("usage: {command}");
    let mut described = String::new();
    for (position, parameter) in parameters.iter().enumerate() {
        let (name, types) = (&parameter.name, types(mains, position));
        match &parameter.default {
            None => {
                line += &format!(" {}", placeholder(name));
                described += &format!("\n  {name} : {types}");
            }
            Some(default) if words::is_option(parameter) => {
                line += &format!(" [--{name} {}]", placeholder(name));
                described += &format!("\n  --{name} : {types} [default: {}]", shortened(&default.text));
            }
            Some(_) => {}
        }
    }
    line + &described
}

/// The types of a parameter, in the order in which they are tried: `[int] or [float]`.
fn types(mains: &[Main], position: usize) -> String {
    let mut types: Vec<&str> = Vec::new();
    for parameter in mains.iter().filter_map(|main| main.parameters.get(position)) {
        if !types.contains(&parameter.type_text.as_str()) {
            types.push(&parameter.type_text);
        }
    }
    types.join(" or ")
}

/// The name of a parameter as usage lines write it; a pattern such as `(a, b)` in one word.
fn placeholder(name: &str) -> String {
    name.replace(' ', "").to_uppercase()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_DEFAULT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The values of one entry's parameters.
fn entry<'a, E: Engine>(
    engine: &mut E,
    main: &'a Main,
    mains: &[Main],
    words: &[Option<&OsStr>],
    files: &mut Files,
) -> Result<Vec<Argument<'a, E>>, InputError> {
    let mut values = Vec::new();
    for (position, (parameter, word)) in main.parameters.iter().zip(words).enumerate() {
        values.push(match (word, &parameter.default) {
            (Some(word), _) => Argument::Given(value(engine, mains, (position, parameter), word, files)?),
            (None, Some(default)) => Argument::Default(&default.step),
            (None, None) => unreachable!("a word is missing only where there is a default"),
        });
    }
    Ok(values)
}

/// The value of a word for a parameter.
fn value<E: Engine>(
    engine: &mut E,
    mains: &[Main],
    (position, parameter): (usize, &Parameter),
    word: &OsStr,
    files: &mut Files,
) -> Result<Value<E>, InputError> {
    let named = |message: String, types: &str, position_read: u64| {
        let Parameter { name, default, .. } = parameter;
        let what = match default {
            None => format!("argument {} ({name} : {types})", position + 1),
            Some(_) => format!("option --{name} ({types})"),
        };
        InputError { position: position_read, ..InputError::new(format!("{what}: {message}")) }
    };
    let in_place = |message: String| named(message, &parameter.type_text, 0);
    let others = mains.iter().filter_map(|main| main.parameters.get(position));
    match classify(word, &parameter.shape, is_overloaded(mains, position, parameter)) {
        Ok(Given::Literal(literal)) => {
            from_literal(engine, &parameter.shape, &literal).map_err(|error| in_place(error.to_string()))
        }
        Ok(Given::File(path)) => {
            let text = files.literal(path, &parameter.shape, &|length| engine.share(length));
            let text = match agree(engine, text) {
                // Reading it as what it holds otherwise says why.
                Err(_) if is_readable(&parameter.shape) => None,
                text => text.map_err(|error| InputError { message: in_place(error.message).message, ..error })?,
            };
            if let Some(text) = text {
                let literal = literal::parse(&text).map(|literal| literal::fit(literal, &parameter.shape));
                let literal = literal.map_err(|problem| {
                    let message = format!("{}: {problem}", visible::name(&path.display().to_string()));
                    named(message, &types(mains, position), u64::MAX)
                })?;
                return from_literal(engine, &parameter.shape, &literal).map_err(|error| in_place(error.to_string()));
            }
            let pieces = files.read(path, &parameter.shape, &|length| engine.share(length));
            let pieces = agree(engine, pieces).map_err(|error| {
                // After an `@` a file was meant in any case.
                let is_file = word.as_encoded_bytes().starts_with(b"@");
                let hint = match !is_file && others.clone().any(|other| is_text(&other.shape)) && !path.exists() {
                    true => "; a text must be in quotes here, as in '\"text\"'",
                    false => "",
                };
                InputError { message: in_place(error.message + hint).message, ..error }
            })?;
            let failed = |nesl_backend::Fault { failure, .. }| InputError {
                message: in_place(failure.to_string()).message,
                ..failure.into()
            };
            import(engine, &parameter.shape, pieces).map_err(failed)
        }
        Err(Problem::Unfit(message)) => Err(in_place(message)),
        // It is none for any entry: nothing that another attempt finds can be more to the point.
        Err(Problem::Malformed(message)) => Err(named(message, &types(mains, position), u64::MAX)),
    }
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

/// Why a word is no argument.
#[derive(Debug)]
enum Problem {
    /// It is none for a parameter of this type.
    Unfit(String),
    /// It is meant as a literal, and none.
    Malformed(String),
}

/// Decides how a word is meant, without reading files.
fn classify<'a>(word: &'a OsStr, shape: &Shape, is_overloaded: bool) -> Result<Given<'a>, Problem> {
    let unfit = |message: &str| Err(Problem::Unfit(message.to_owned()));
    let mut word = word;
    if let Some(name) = word.as_encoded_bytes().starts_with(b"@").then(|| words::after(word, 1)).flatten() {
        if name.is_empty() {
            let message = "the name of a file must follow the `@`; the text `@` is written `@@`";
            return Err(Problem::Malformed(message.to_owned()));
        }
        if !name.as_encoded_bytes().starts_with(b"@") {
            return match is_overloaded && innermost(shape) == Some(ScalarType::Char) {
                true => unfit("a file holds numbers here"),
                false => Ok(Given::File(file(name))),
            };
        }
        word = name;
    }
    let begins_with = |first: &[char]| word.to_str().is_some_and(|text| text.trim_start().starts_with(first));
    if is_overloaded && innermost(shape) == Some(ScalarType::Char) && !begins_with(&['"', '[', '`']) {
        return unfit("text must be a literal in quotes here");
    }
    if is_text(shape) && !is_overloaded && !word.as_encoded_bytes().starts_with(b"\"") {
        return Ok(Given::Literal(Literal::Constants(Constants::Char(word.as_encoded_bytes().to_vec()))));
    }
    if matches!(shape, Shape::Sequence(_)) && is_readable(shape) && !begins_with(&['[', '"']) {
        return Ok(Given::File(file(word)));
    }
    if word == "-" && *shape != Shape::Scalar(ScalarType::Char) {
        return Ok(Given::File(file(word)));
    }
    let Some(text) = word.to_str() else { return unfit("it is not valid text") };
    if *shape == Shape::Scalar(ScalarType::Char)
        && let [byte] = text.as_bytes()
    {
        return Ok(Given::Literal(Literal::Scalar(ScalarValue::Char(*byte))));
    }
    match literal::parse(text) {
        Ok(literal) => Ok(Given::Literal(literal::fit(literal, shape))),
        // A picture of where it is wrong says nothing about the name of a file.
        Err(_) if Path::new(text).is_file() => {
            let name = visible::name(text);
            Err(Problem::Malformed(format!("`{name}` is the name of a file, not a value; @{name} is what it holds")))
        }
        Err(problem) => Err(Problem::Malformed(problem.to_string())),
    }
}

/// The file that a word names.
fn file(name: &OsStr) -> &Path {
    if name == "-" { Path::new("/dev/stdin") } else { Path::new(name) }
}

fn is_text(shape: &Shape) -> bool {
    matches!(shape, Shape::Sequence(element) if **element == Shape::Scalar(ScalarType::Char))
}

/// The first scalar type in a shape; none in that of a function.
fn innermost(shape: &Shape) -> Option<ScalarType> {
    match shape {
        Shape::Scalar(scalar) => Some(*scalar),
        Shape::Sequence(inner) | Shape::Pair(inner, _) | Shape::Record(_, inner) => innermost(inner),
        Shape::Unit | Shape::Function(_) => None,
    }
}
