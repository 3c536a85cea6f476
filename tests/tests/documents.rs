//! The commands in README.md, examples/README.md and docs/*.md do what the text beside them shows.
//!
//! Checked are fenced blocks marked `console`: lines that begin with `$ ` are commands for a shell in the root of the
//! repository, the lines after a command are its output, standard error included. `nesl` means the command that was
//! built. A line `...` stands for any lines. In blocks marked `console form` only the form of the output counts:
//! numbers stand for any numbers, blanks for any blanks, and lines may come in any order. Commands of `nesl-bench` are
//! run where that was built, too, commands on ranks where there is MPI. Blocks marked `nesl` are programs that run
//! without an error; blocks marked `nesl session` are inputs of a session, each with its answer in a comment behind it
//! (the value, or `value : type`, or the code of an error) or without one where only an error would be wrong. Blocks
//! marked `v` are programs of V that print the lines that stand behind `//=` in them. Blocks
//! marked `vcode` are flat programs that the verifier accepts. A block marked `sh slurm` runs with
//! a stand-in for `srun`. Other blocks are not run. The last part of docs/vcode.md is made from the tables.

use nesl_frontend::syntax::nesl::lexer::is_complete;
use nesl_tests::launcher::{self, Mpi};
use nesl_tests::programs::root;
use nesl_vcode::manual;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command of a document with the output shown below it.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
    /// Only the form of the output counts.
    form: bool,
}

/// The commands of the `console` blocks of a document, block by block.
fn blocks(text: &str) -> Vec<Vec<Shown>> {
    let mut blocks = Vec::new();
    let mut current: Option<Vec<Shown>> = None;
    let mut form = false;
    for (index, line) in text.lines().enumerate() {
        match &mut current {
            None => {
                form = line.trim_end() == "```console form";
                current = (form || line.trim_end() == "```console").then(Vec::new);
            }
            Some(_) if line.starts_with("```") => blocks.extend(current.take()),
            Some(shown) => match (line.strip_prefix("$ "), shown.last_mut()) {
                (Some(command), _) => {
                    shown.push(Shown { line: index + 1, command: command.to_owned(), output: Vec::new(), form });
                }
                (None, Some(last)) if last.command.ends_with('\\') && last.output.is_empty() => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (None, Some(last)) => last.output.push(line.to_owned()),
                (None, None) => {}
            },
        }
    }
    blocks
}

/// The programs of the blocks of a document that are marked with a language.
fn programs(text: &str, language: &str) -> Vec<String> {
    let after = |block: &str| block.split_once("\n```").map(|(program, _)| program.to_owned());
    text.split(&format!("```{language}\n")).skip(1).filter_map(after).collect()
}

/// An input of a session with what it is to answer.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    input: String,
    /// Nothing where any answer is right that is no error.
    answer: Option<String>,
}

/// The inputs of a block: an answer is the comment that ends the last line of an input.
fn asked(block: &str) -> Vec<Asked> {
    let mut all = Vec::new();
    let mut input = String::new();
    for line in block.lines() {
        input.push_str(line);
        input.push('\n');
        if line.trim().is_empty() || !is_complete(&input) {
            continue;
        }
        let comment = line.trim_end().strip_suffix('%').and_then(|text| text.rsplit_once('%'));
        let comment = comment.filter(|(before, _)| before.trim_end().ends_with(';'));
        let answer = comment.map(|(_, answer)| answer.trim().to_owned());
        let input = std::mem::take(&mut input);
        // A line of comments alone asks nothing.
        if input.contains(';') {
            all.push(Asked { input, answer });
        }
    }
    all
}

/// What a session answers to each of some inputs, errors included.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn answers(binary: &Path, inputs: &[Asked]) -> Vec<String> {
    const MARK: &str = "it = \"the next answer\" : [char]\n";
    let text: String = inputs.iter().map(|asked| format!("{}\"the next answer\";\n", asked.input)).collect();
    // One pipe for both outputs keeps them in order.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" 2>&1"]).arg(binary);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8_lossy(&output.stdout).split(MARK).map(str::to_owned).collect()
}

/// Whether an answer is the one that is shown: the error of that code, or the value of the last line, with its type if
/// that is shown, too.
fn is_answer(answer: &str, shown: Option<&str>) -> bool {
    let Some(shown) = shown else { return !answer.contains("Error[") };
    if shown.len() == 5 && shown.starts_with('E') {
        return answer.contains(&format!("Error[{shown}]"));
    }
    let last = answer.lines().last().unwrap_or_default();
    let (_, value) = last.split_once(" = ").unwrap_or(("", last));
    !answer.contains("Error[") && (value == shown || value.rsplit_once(" : ").is_some_and(|(value, _)| value == shown))
}

/// README.md, examples/README.md and docs/*.md.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut documents = vec![root.join("README.md"), root.join("examples/README.md")];
    documents.extend(std::fs::read_dir(root.join("docs")).into_iter().flatten().flatten().map(|entry| entry.path()));
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md") && path.is_file());
    documents
}

/// Whether output is what is shown, where `...` stands for any lines.
fn matches(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| first.trim_end() == line.trim_end() && matches(rest, lines))
        }
    }
}

/// The lines of an output without what may be otherwise: each number is `0`, each blank one, and lines are in order.
fn form(lines: &[&str]) -> Vec<String> {
    let line = |line: &&str| {
        let mut form = String::new();
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            let is_number = |c: char| c.is_ascii_digit() || c == '.';
            rest = if first.is_ascii_digit() {
                form.push('0');
                rest.trim_start_matches(is_number)
            } else {
                form.push(first);
                &rest[first.len_utf8()..]
            };
            if first == ' ' {
                rest = rest.trim_start();
            }
        }
        form
    };
    let mut lines: Vec<String> = lines.iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn documents_show_what_happens() {
    let root = root();
    let Some(binary) = nesl_tests::command::nesl() else {
        assert!(!launcher::is_required(), "the binary nesl must be built first, or named by NESL_BIN");
        println!("skipped: the binary nesl is not built");
        return;
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = binary.parent().map(Path::to_path_buf);
    let path = std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut problems = Vec::new();
    for document in &documents() {
        for program in programs(&std::fs::read_to_string(document).unwrap(), "nesl") {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("program.nesl");
            std::fs::write(&file, &program).unwrap();
            let output = Command::new(&binary).arg("run").arg(&file).output().unwrap();
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                problems.push(format!("{}: {program}\ngot:\n{text}", document.display()));
            }
        }
        for block in programs(&std::fs::read_to_string(document).unwrap(), "nesl session") {
            let inputs = asked(&block);
            for (Asked { input, answer: shown }, answer) in inputs.iter().zip(answers(&binary, &inputs)) {
                if !is_answer(&answer, shown.as_deref()) {
                    problems.push(format!("{}: {input}got:\n{answer}", document.display()));
                }
            }
        }
        for shown in blocks(&std::fs::read_to_string(document).unwrap()).into_iter().flatten() {
            let is_benchmark = shown.command.starts_with("nesl-bench");
            if is_benchmark && !binary.with_file_name("nesl-bench").is_file() {
                println!("skipped: nesl-bench is not built");
                continue;
            }
            if is_on_ranks(&shown.command) && !has_ranks() {
                println!("skipped: no MPI for {}", shown.command);
                continue;
            }
            let script = format!("{{ {}\n}} 2>&1", shown.command);
            let mut command = Command::new("sh");
            command.args(["-c", &script]).current_dir(&root).env("PATH", &path).envs(launcher::OVERSUBSCRIBED);
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            let lines: Vec<&str> = text.lines().collect();
            let expected: Vec<&str> = shown.output.iter().map(String::as_str).collect();
            let is_shown = if shown.form { form(&expected) == form(&lines) } else { matches(&shown.output, &lines) };
            if !is_shown {
                let place = format!("{}:{}", document.display(), shown.line);
                problems.push(format!(
                    "{place}: $ {}\nshown:\n{}\ngot:\n{text}",
                    shown.command,
                    shown.output.join("\n")
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn programs_of_v_print_what_is_shown() {
    let Some(binary) = nesl_tests::command::nesl() else {
        assert!(!launcher::is_required(), "the binary nesl must be built first, or named by NESL_BIN");
        println!("skipped: the binary nesl is not built");
        return;
    };
    let mut problems = Vec::new();
    let mut count = 0;
    for document in &documents() {
        for program in programs(&std::fs::read_to_string(document).unwrap(), "v") {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("program.v");
            std::fs::write(&file, &program).unwrap();
            let mut command = Command::new("sh");
            let output = command.args(["-c", "exec \"$0\" run \"$1\" 2>&1"]).arg(&binary).arg(&file).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            let shown: Vec<&str> = program.lines().filter_map(|line| Some(line.split_once("//=")?.1.trim())).collect();
            if shown != printed.lines().map(str::trim).collect::<Vec<_>>() {
                problems.push(format!("{}: {program}\ngot:\n{printed}", document.display()));
            }
            count += 1;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 8, "only {count} blocks are marked v");
}

#[test]
fn answers_are_told_apart() {
    let block = "1 + 2;   % 3 %\nfunction f2(x) =\n  x;\n% nothing %\n\nf2(1); % 1 : int %\n1 / 0; % E0402 %\n";
    let all: Vec<(String, Option<String>)> = asked(block).into_iter().map(|one| (one.input, one.answer)).collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        all.iter().map(|(_, answer)| answer.clone()).collect::<Vec<_>>(),
        [text("3"), None, text("1 : int"), text("E0402")]
    );
    assert_eq!(all[1].0, "function f2(x) =\n  x;\n");
    for (answer, shown, is_right) in [
        ("it = 3 : int\n", Some("3"), true),
        ("it = 3 : int\n", Some("3 : int"), true),
        ("it = 3 : int\n", Some("3 : float"), false),
        ("it = 3 : int\n", Some("4"), false),
        ("it = 3 : int\n", None, true),
        ("Error[E0402]: division", Some("E0402"), true),
        ("Error[E0402]: division", Some("E0403"), false),
        ("Error[E0402]: division", None, false),
        ("a = 1 : int\nb = (2, 3) : (int, int)\n", Some("(2, 3)"), true),
    ] {
        assert_eq!(is_answer(answer, shown), is_right, "{answer} {shown:?}");
    }
}

/// Whether a command starts ranks.
fn is_on_ranks(command: &str) -> bool {
    ["--ranks", "mpirun "].iter().any(|word| command.contains(word))
}

/// Whether ranks can be started here.
fn has_ranks() -> bool {
    cfg!(feature = "mpi") && matches!(launcher::find(), Mpi::Available(_))
}

#[test]
fn the_script_for_slurm_works() {
    let page = std::fs::read_to_string(root().join("docs/cluster.md")).unwrap();
    let scripts = programs(&page, "sh slurm");
    let ([script], true, Some(nesl)) = (&scripts[..], has_ranks(), nesl_tests::command::nesl()) else {
        assert_eq!(scripts.len(), 1, "one script for Slurm");
        println!("skipped: no MPI");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // Slurm's launcher, as far as the script needs it.
    let stand_in = "#!/bin/sh\nwhile case $1 in -*) ;; *) false ;; esac; do shift; done\nexec mpirun -n \"$SLURM_NTASKS\" \"$@\"\n";
    let srun = folder.path().join("srun");
    std::fs::write(&srun, stand_in).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&srun).status().unwrap().success());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [Some(folder.path()), nesl.parent()].into_iter().flatten().map(PathBuf::from);
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(root()).env("PATH", path).envs(launcher::OVERSUBSCRIBED);
    let output = command.env("SLURM_NTASKS", "3").env("SLURM_CPUS_PER_TASK", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), said.as_ref()), ("78498\n", ""));
}

#[test]
fn flat_programs_in_documents_are_sound() {
    let mut problems = Vec::new();
    let mut count = 0;
    for document in documents() {
        for program in programs(&std::fs::read_to_string(&document).unwrap(), "vcode") {
            count += 1;
            let error = match nesl_vcode::parse(&program) {
                Ok(parsed) => nesl_vcode::verify(&parsed).err().map(|errors| errors[0].to_string()),
                Err(error) => Some(error.to_string()),
            };
            problems.extend(error.map(|error| format!("{}: {error}\n{program}", document.display())));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 5, "only {count} blocks are marked vcode");
}

#[test]
fn the_manual_of_vcode_is_up_to_date() {
    let page = std::fs::read_to_string(root().join("docs/vcode.md")).unwrap();
    let start = page.find(manual::FIRST_HEADING).unwrap_or(page.len());
    assert!(
        page[start..] == manual::tables(),
        "the tables of docs/vcode.md are old: take out the text from `{}` on, and nesl vcode --manual >> docs/vcode.md",
        manual::FIRST_HEADING
    );
}

#[test]
fn blocks_are_read_as_described() {
    let text = "text\n```console\n$ one \\\n  more\n1\n$ two\n```\n```sh\n$ not run\n```\n";
    let shown = |line, command: &str, output: &[&str]| Shown {
        form: false,
        line,
        command: command.to_owned(),
        output: output.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(blocks(text), [[shown(3, "one \\\n  more", &["1"]), shown(6, "two", &[])]]);
    let shown = ["a", "...", "d"].map(str::to_owned);
    assert!(
        matches(&shown, &["a", "b", "c", "d"]) && matches(&shown, &["a", "d"]) && !matches(&shown, &["a", "d", "e"])
    );
    let [block] = &blocks("```console form\n$ one\n  1.5  a:2\n```\n")[..] else { panic!("one block") };
    assert!(block[0].form && form(&["b", " 1.5  a:2 "]) == form(&["37 a:9", "b"]) && form(&["1 a"]) != form(&["a 1"]));
}
