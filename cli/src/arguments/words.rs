//! Which word of the command line is for which parameter of `main`.
//!
//! A parameter with a default is an option, `--b 5` or `--b=5`, which may stand anywhere among the arguments; the
//! others take the remaining words in order. The word `--` ends the options. Of a `main` without such parameters every
//! word is an argument, whatever it begins with. In the name of an option `-` stands for `_`, and case does not matter,
//! as in NESL.
//!
//! `--help`, and `-h` as the first word, ask for help where they would be a mistake otherwise: they are no option of
//! this `main`, and no text that it takes.

use crate::options;
use nesl_frontend::edit_distance;
use nesl_vcode::{Parameter, Shape};
use std::ffi::{OsStr, OsString};

/// Whether a parameter can be given as an option. A function cannot be given at all.
pub fn is_option(parameter: &Parameter) -> bool {
    fn has_function(shape: &Shape) -> bool {
        match shape {
            Shape::Scalar(_) | Shape::Unit => false,
            Shape::Pair(first, rest) => has_function(first) || has_function(rest),
            Shape::Sequence(inner) | Shape::Record(_, inner) => has_function(inner),
            Shape::Function(_) => true,
        }
    }
    parameter.default.is_some() && !has_function(&parameter.shape)
}

/// Why words are not for parameters.
#[derive(Debug, PartialEq, Eq)]
pub enum Misfit {
    /// They ask what there is.
    Help,
    /// What does not go together.
    Wrong(String),
}

impl From<String> for Misfit {
    fn from(problem: String) -> Misfit {
        Misfit::Wrong(problem)
    }
}

/// The word for each parameter: nothing for one with a default that is not given. `is_text` says which parameters take
/// any word as it is.
///
/// # Errors
/// If there are other words than that.
pub fn assign<'w>(
    parameters: &[Parameter],
    words: &'w [OsString],
    is_text: impl Fn(usize) -> bool,
) -> Result<Vec<Option<&'w OsStr>>, Misfit> {
    let mut given = vec![None; parameters.len()];
    let mut positions = (0..parameters.len()).filter(|&position| parameters[position].default.is_none());
    let expected = positions.clone().count();
    let mut count = 0;
    let mut takes_options = parameters.iter().any(is_option);
    if let Some(first) = words.first().filter(|word| *word == "--help" || *word == "-h")
        && find(parameters, first.to_str().unwrap_or_default().trim_start_matches('-')).is_none()
        && !positions.clone().next().is_some_and(is_text)
    {
        return Err(Misfit::Help);
    }
    let mut rest = words.iter().map(OsString::as_os_str);
    while let Some(word) = rest.next() {
        if takes_options && word == "--" {
            takes_options = false;
            continue;
        }
        let Some(option) = Written::of(word).filter(|option| takes_options && option.is_meant(parameters)) else {
            count += 1;
            if let Some(position) = positions.next() {
                given[position] = Some(word);
            }
            continue;
        };
        let name = &option.name;
        let Some(position) = find(parameters, name) else {
            return Err(if word == "--help" { Misfit::Help } else { unknown(parameters, &option).into() });
        };
        if option.dashes == 1 {
            return Err(format!("options have two dashes: --{name}").into());
        }
        // The name of another option is no value; after `=` anything is.
        let next = option.value.or_else(|| {
            rest.next().filter(|next| Written::of(next).is_none_or(|next| find(parameters, &next.name).is_none()))
        });
        let Some(value) = next else {
            let wanted = &parameters[position].type_text;
            return Err(format!("the option --{name} needs a value, of type {wanted}").into());
        };
        if given[position].replace(value).is_some() {
            return Err(format!("the option --{name} is given twice").into());
        }
    }
    match (count, expected) {
        (count, expected) if count == expected => Ok(given),
        (0, _) => Err("main needs arguments".to_owned().into()),
        (count, expected) => {
            let problem = format!("main takes {}, not {count}", plural(expected, "argument"));
            Err(match own_option(words).filter(|_| count > expected) {
                Some(option) => {
                    format!("{problem}: {option} is an option of nesl itself: it stands before what is for main")
                }
                None => problem,
            }
            .into())
        }
    }
}

/// The first of nesl's own options among words for `main`, which has taken it for an argument.
fn own_option(words: &[OsString]) -> Option<String> {
    let own = options::names();
    let before = words.iter().take_while(|word| *word != "--");
    let written = before.filter_map(|word| Written::of(word)).filter(|option| option.dashes == 2);
    written.map(|option| option.name).find(|name| own.contains(name)).map(|name| format!("--{name}"))
}

/// Says that the first word after nesl's own options is no option of `main` either.
///
/// # Errors
/// If it looks like an option: what is meant as an argument stands after `--`.
pub fn refuse_unknown(parameters: &[Parameter], first: &OsStr) -> Result<(), String> {
    match Written::of(first) {
        Some(option) if find(parameters, &option.name).is_none() => {
            let problem = unknown(parameters, &option);
            let hint = "; an argument that begins with a dash stands after `--`";
            Err(if problem.contains(';') { problem } else { problem + hint })
        }
        _ => Ok(()),
    }
}

/// A word written like an option: one or two dashes, a name, perhaps `=` and a value.
struct Written<'w> {
    dashes: usize,
    name: String,
    value: Option<&'w OsStr>,
}

impl<'w> Written<'w> {
    fn of(word: &'w OsStr) -> Option<Written<'w>> {
        let bytes = word.as_encoded_bytes();
        let dashes = if bytes.starts_with(b"--") { 2 } else { usize::from(bytes.starts_with(b"-")) };
        let first = bytes.get(dashes).filter(|_| dashes > 0)?;
        if !(first.is_ascii_alphabetic() || *first == b'_' || !first.is_ascii()) {
            return None;
        }
        let equals = bytes.iter().position(|&byte| byte == b'=');
        let name = String::from_utf8_lossy(&bytes[dashes..equals.unwrap_or(bytes.len())]).into_owned();
        Some(Written { dashes, name, value: equals.and_then(|equals| after(word, equals + 1)) })
    }

    /// Whether it is one: with one dash only if there is an option of that name.
    fn is_meant(&self, parameters: &[Parameter]) -> bool {
        self.dashes == 2 || find(parameters, &self.name).is_some()
    }
}

/// The part of a word from a position on, which follows a character of ASCII.
pub(super) fn after(word: &OsStr, position: usize) -> Option<&OsStr> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        word.as_bytes().get(position..).map(OsStr::from_bytes)
    }
    #[cfg(not(unix))]
    {
        word.to_str().and_then(|text| text.get(position..)).map(OsStr::new)
    }
}

/// The parameter that an option means.
fn find(parameters: &[Parameter], name: &str) -> Option<usize> {
    let wanted = name.to_lowercase().replace('-', "_");
    parameters.iter().position(|parameter| is_option(parameter) && parameter.name == wanted)
}

/// Says that there is no such option, with one that is called nearly so.
fn unknown(parameters: &[Parameter], Written { dashes, name, .. }: &Written<'_>) -> String {
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    let shown = format!("{}{shown}", "-".repeat(*dashes));
    let own = options::names();
    let wanted = name.to_lowercase();
    if own.contains(&wanted) {
        return format!("--{wanted} is an option of nesl itself: it stands before what is for main");
    }
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let mains = parameters.iter().filter(|parameter| is_option(parameter)).map(|parameter| parameter.name.clone());
    let near = (mains.chain(own))
        .map(|known| (edit_distance(&wanted, &known, limit), known))
        .filter(|(distance, known)| *distance <= limit && *distance < known.chars().count())
        .min_by_key(|(distance, _)| *distance);
    let suggestion = near.map_or_else(String::new, |(_, known)| format!("; did you mean --{known}?"));
    format!("there is no option {shown}{suggestion}")
}

fn plural(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("one {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_prim::ScalarType;
    use nesl_vcode::{DefaultValue, FunctionId, Step};

    fn parameters() -> Vec<Parameter> {
        let parameter = |name: &str, has_default: bool| Parameter {
            name: name.to_owned(),
            type_text: "int".to_owned(),
            shape: Shape::Scalar(ScalarType::Int),
            default: has_default.then(|| DefaultValue {
                text: "3".to_owned(),
                step: Step { function: FunctionId(0), inputs: Vec::new(), outputs: Vec::new() },
            }),
        };
        vec![parameter("a", false), parameter("b", true), parameter("max_steps", true)]
    }

    fn assigned(line: &str) -> Result<String, Misfit> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let given = assign(&parameters(), &words, |_| false)?;
        let text = |word: Option<&OsStr>| word.map_or("_".to_owned(), |word| word.to_string_lossy().into_owned());
        Ok(given.into_iter().map(text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_stand_anywhere() {
        for (line, expected) in [
            ("10", "10 _ _"),
            ("10 --b 5", "10 5 _"),
            ("--b 5 10", "10 5 _"),
            ("--b=5 10 --max-steps=7", "10 5 7"),
            ("--MAX_STEPS 7 10", "10 _ 7"),
            ("-10 --b -5", "-10 -5 _"),
            ("--b=--b 10", "10 --b _"),
            ("--b= 10", "10  _"),
            ("--b 5 -- --b", "--b 5 _"),
            ("-- --", "-- _ _"),
            ("--b -- 10", "10 -- _"),
            ("-x", "-x _ _"),
            ("-", "- _ _"),
            ("--5", "--5 _ _"),
        ] {
            assert_eq!(assigned(line), Ok(expected.to_owned()), "{line}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (line, part) in [
            ("", "main needs arguments"),
            ("--b 5", "main needs arguments"),
            ("1 2", "main takes one argument, not 2"),
            ("1 --b", "the option --b needs a value, of type int"),
            ("1 --b --max_steps 3", "the option --b needs a value"),
            ("1 --b 2 --b=3", "the option --b is given twice"),
            ("1 -b 2", "options have two dashes: --b"),
            ("1 --max-step 2", "there is no option --max-step; did you mean --max_steps?"),
            ("1 --zebra 2", "there is no option --zebra"),
            ("1 --a 2", "there is no option --a"),
            ("1 --threads 2", "--threads is an option of nesl itself"),
        ] {
            let problem = assigned(line).unwrap_err();
            assert!(matches!(&problem, Misfit::Wrong(text) if text.starts_with(part)), "{line}: {problem:?}");
        }
    }

    #[test]
    fn help_is_what_would_be_a_mistake() {
        for line in ["--help", "-h", "1 --help", "--b 2 --help 1", "--help 1 2 3"] {
            assert_eq!(assigned(line), Err(Misfit::Help), "{line}");
        }
        for (line, expected) in [("--b --help 1", "1 --help _"), ("-- --help", "--help _ _"), ("1 --b=-h", "1 -h _")] {
            assert_eq!(assigned(line), Ok(expected.to_owned()), "{line}");
        }
        let words = [OsString::from("--help")];
        let texts = |parameters: &[Parameter]| assign(parameters, &words, |_| true).map(|given| given.len());
        assert_eq!(texts(&parameters()[..1]), Ok(1));
        assert_eq!(texts(&parameters()), Err(Misfit::Help));
        let own = Parameter { name: "help".to_owned(), ..parameters().remove(1) };
        assert_eq!(texts(&[own]), Err(Misfit::Wrong("the option --help needs a value, of type int".to_owned())));
        assert_eq!(texts(&[]), Err(Misfit::Help));
    }

    #[test]
    fn without_options_every_word_is_an_argument() {
        let parameters = &parameters()[..1];
        let words = [OsString::from("--b")];
        assert_eq!(assign(parameters, &words, |_| false), Ok(vec![Some(OsStr::new("--b"))]));
        assert!(refuse_unknown(parameters, OsStr::new("--thread")).unwrap_err().contains("did you mean --threads?"));
        assert_eq!(refuse_unknown(parameters, OsStr::new("-5")), Ok(()));
        let problem = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            format!("{:?}", assign(parameters, &words, |_| false))
        };
        assert!(problem("ops.txt --stats").contains("not 2: --stats is an option of nesl itself"));
        assert!(problem("--threads 2 ops.txt").contains("--threads is an option of nesl itself"));
        assert!(!problem("a b").contains("nesl itself") && !problem("-- a --stats").contains("nesl itself"));
    }
}
