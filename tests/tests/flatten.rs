//! The structure of compiled programs: those under `tests/flatten`, after the whole pipeline.
//!
//! A header states in numbers of instructions what flattening and the passes are to achieve, each number with a
//! sentence that says what it means; and what the program prints, on every engine of this process: a number is worth
//! nothing with a wrong value.
//!
//! | line | meaning |
//! |---|---|
//! | `count: NAME NUMBER sentence` | so many instructions have this name in a listing, or begin with it: `map add.int`, `map`, `seg_reduce` |
//! | `vector: NUMBER sentence` | so many instructions pass over the elements of columns: `map` and vector instructions but for those that take constant time or handle descriptors only |
//! | `passes: NUMBER sentence` | so many times elements are gone over: the same, but a group of instructions is one |
//! | `total: NUMBER sentence` | so many instructions in all |
//! | `function: NAME` | the lines above are about this function of the listing; without it, about all together |

use nesl_prim::{HostOp, ScalarOp};
use nesl_tests::engines::{self, Local};
use nesl_tests::header::{self, Header};
use nesl_tests::programs::root;
use nesl_tests::session;
use nesl_vcode::{Counts, Program, VectorOp};

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Counted {
    /// Instructions with this name, or beginning with it.
    Named(String),
    /// Instructions that pass over the elements of columns.
    Vector,
    /// The same, but a group is one pass.
    Passes,
    /// All instructions.
    Total,
}

/// A number that a header states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    counted: Counted,
    number: usize,
    sentence: String,
}

/// What a header states of the compiled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Structure {
    function: Option<String>,
    expectations: Vec<Expectation>,
}

impl Structure {
    /// Takes a line of the header; says whether the key is one of ours.
    fn line(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let counted: fn(&str) -> Result<Counted, String> = match key {
            "function" if self.function.is_some() => return Err("two lines with `function`".to_owned()),
            "function" => {
                self.function = Some(value.to_owned());
                return Ok(true);
            }
            "count" => |name| match is_name(name) {
                true => Ok(Counted::Named(name.to_owned())),
                false => Err(format!("no instruction is called `{name}`")),
            },
            "vector" => |_| Ok(Counted::Vector),
            "passes" => |_| Ok(Counted::Passes),
            "total" => |_| Ok(Counted::Total),
            _ => return Ok(false),
        };
        let words: Vec<&str> = value.split_whitespace().collect();
        let position = words.iter().position(|word| word.parse::<usize>().is_ok());
        let position = position.ok_or_else(|| format!("`{key}: {value}` has no number"))?;
        if (key == "count") == (position == 0) {
            return Err(format!(
                "`{key}: {value}`: before the number stands the name of what is counted, if one is needed"
            ));
        }
        let (name, sentence) = (words[..position].join(" "), words[position + 1..].join(" "));
        if sentence.is_empty() {
            return Err(format!("`{key}: {value}` does not say what the number means"));
        }
        let number = words[position].parse().unwrap_or(0);
        self.expectations.push(Expectation { counted: counted(&name)?, number, sentence });
        Ok(true)
    }

    /// Where the program is not as stated.
    fn differences(&self, program: &Program) -> Vec<String> {
        let counts = match &self.function {
            None => Counts::of_program(program),
            Some(name) => match program.functions.iter().find(|function| function.name == *name) {
                Some(function) => Counts::of_function(function),
                None => return vec![format!("there is no function {name}")],
            },
        };
        let difference = |Expectation { counted, number, sentence }: &Expectation| {
            let found = counted.among(&counts);
            (found != *number).then(|| format!("{counted:?} is {found} and not {number}: {sentence}"))
        };
        self.expectations.iter().filter_map(difference).collect()
    }
}

impl Counted {
    fn among(&self, counts: &Counts) -> usize {
        if *self == Counted::Passes {
            return counts.passes();
        }
        let is_counted = |name: &str| match self {
            Counted::Named(wanted) => is_or_begins_with(name, wanted),
            Counted::Vector => is_pass_over_elements(name),
            Counted::Total => true,
            Counted::Passes => false,
        };
        counts.iter().filter(|(name, _)| is_counted(name)).map(|(_, count)| count).sum()
    }
}

/// Whether a name is this one, or this one and more: `map` and `map add.int`, `reduce` and `reduce.add.int`.
fn is_or_begins_with(name: &str, beginning: &str) -> bool {
    name.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.']))
}

/// Whether some instruction has this name or begins with it: a count of 0 must not be that of a misspelt one.
fn is_name(wanted: &str) -> bool {
    let control = ["constants", "call", "each", "fused", "if"].map(str::to_owned);
    let scalar = ScalarOp::ALL.iter().flat_map(|op| [op.to_string(), format!("map {op}")]);
    let vector = VectorOp::all().into_iter().map(VectorOp::name);
    let host = HostOp::all().into_iter().map(|op| op.to_string());
    control.into_iter().chain(scalar).chain(vector).chain(host).any(|name| is_or_begins_with(&name, wanted))
}

/// Whether instructions with this name pass over the elements of columns.
fn is_pass_over_elements(name: &str) -> bool {
    is_or_begins_with(name, "map") || VectorOp::by_name(name).is_some_and(VectorOp::is_pass)
}

fn read(text: &str) -> Result<(Header, Structure), String> {
    let mut structure = Structure::default();
    let header = header::parse_with(text, |key, value| structure.line(key, value))?;
    let says_what_it_shows = text.lines().next().is_some_and(|line| line.starts_with("% ") && line.ends_with('.'));
    match (says_what_it_shows, structure.expectations.is_empty()) {
        (false, _) => Err("the first line is no sentence that says what the program shows".to_owned()),
        (_, true) => {
            Err("nothing is stated of the compiled program: add `count:`, `passes:`, `vector:` or `total:`".to_owned())
        }
        _ => Ok((header, structure)),
    }
}

/// What is wrong with a program of the folder.
fn problems(text: &str) -> Vec<String> {
    let (header, structure) = match read(text) {
        Ok(read) => read,
        Err(error) => return vec![error],
    };
    let arguments = header.arguments.as_deref();
    let compiled = session::check(text, arguments).and_then(|checked| engines::compile(&checked, engines::Passes::All));
    let program = match compiled {
        Ok(program) => program,
        Err(end) => return vec![end.to_string()],
    };
    let mut problems = structure.differences(&program);
    if !problems.is_empty() {
        problems.push(program.to_string());
    }
    for (local, outcome) in Local::ALL.iter().zip(engines::run_all(&Local::ALL, text, arguments)) {
        problems.extend(outcome.meets(&header).err().map(|error| format!("{}: {error}", local.name())));
    }
    problems
}

#[test]
fn programs_compile_to_what_their_headers_state() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("tests/flatten")).expect("the folder can be listed").flatten() {
        count += 1;
        let text = std::fs::read_to_string(entry.path()).expect("programs can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        wrong.extend(problems(&text).into_iter().map(|problem| format!("{name}: {problem}")));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 15, "only {count} programs");
}

#[test]
fn headers_say_what_numbers_mean() {
    let line = |key, value| Structure::default().line(key, value);
    assert_eq!(line("expected", "1"), Ok(false));
    assert_eq!(line("count", "map add.int 2 one for x and one for y"), Ok(true));
    assert_eq!(line("vector", "2 the product and the sum"), Ok(true));
    for (key, value) in [
        ("count", "gather 1"),
        ("count", "gather once for each"),
        ("count", "1 gather"),
        ("count", "gahter 0 nothing is moved"),
        ("vector", "gather 1 for the indices"),
        ("total", "12"),
    ] {
        assert!(line(key, value).is_err(), "{key}: {value}");
    }
    assert!(read("% One.\n expect: 1\n total: 0 it is a constant\n%\n1;").is_ok());
    for text in ["% One.\n expect: 1\n%\n1;", "%\n expect: 1\n total: 0 it is a constant\n%\n1;"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn instructions_are_counted_by_name_by_kind_and_in_all() {
    let program = nesl_vcode::parse(
        "function f(%0: column int, %1: descriptor, %2: bool) -> int, int {
           %3 = lengths %1
           %7 = if %2 {
             %4 = map add.int %0 1
             %5 = map multiply.int %4 %4
             %6 = seg_reduce.add.int %5 %1
             yield %6
           } else { yield %3 }
           %8 = reduce.maximum.int %7
           %9 = add.int %8 1
           return %8 %9
         }
         function g(%0: column int) -> column int {
           %1 = gather %0 %0
           return %1
         }",
    )
    .expect("it reads");
    let differences = |text: &str| {
        let (_, structure) = read(&format!("% It counts.\n expect: 1\n {text}\n%")).expect("the header is right");
        structure.differences(&program).len()
    };
    let right =
        "count: map 2 a\n count: map add.int 1 b\n count: add.int 1 c\n count: reduce 1 d\n vector: 5 e\n total: 8 f";
    assert_eq!(differences(right), 0);
    assert_eq!(differences("function: g\n vector: 1 a\n total: 1 b\n count: lengths 1 c"), 1);
    assert_eq!(differences("function: h\n total: 0 a"), 1);
}

#[test]
fn quicksort_in_v_is_that_in_nesl() {
    let compiled = |name: &str| {
        let text = std::fs::read_to_string(root().join("tests/programs/v").join(name)).expect(name);
        let program = session::check(&text, None).expect(name);
        let vcode = engines::compile(&program, engines::Passes::All).expect(name);
        nesl_vcode::Printer::default().program(&vcode)
    };
    let (v, nesl) = (compiled("quicksort.v"), compiled("quicksort.nesl"));
    assert!(v.contains("function qsort@"), "{v}");
    assert_eq!(v, nesl);
}
