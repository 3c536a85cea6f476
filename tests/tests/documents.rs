//! The commands in README.md, examples/README.md and docs/*.md do what the text beside them shows.
//!
//! Checked are fenced blocks marked `console`: lines that begin with `$ ` are commands for a shell in the root of the
//! repository, the lines after a command are its output, standard error included. `nesl` means the command that was
//! built. A line `...` stands for any lines. In blocks marked `console form` only the form of the output counts:
//! numbers stand for any numbers, blanks for any blanks, and lines may come in any order. Commands of `nesl-bench` are
//! run where that was built, too, commands on ranks where there is MPI. Blocks marked `nesl` are programs that run
//! without an error, blocks marked `vcode` flat programs that the verifier accepts. A block marked `sh slurm` runs with
//! a stand-in for `srun`. Other blocks are not run. The last part of docs/vcode.md is made from the tables.

use nesl_tests::launcher::{self, Mpi};
use nesl_tests::programs::root;
use nesl_vcode::manual;
use std::path::PathBuf;
use std::process::Command;

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
    let folder = binary.parent().map(std::path::Path::to_path_buf);
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
