//! `nesl check`: the types of what files define, or what is wrong with them.

use crate::driver::{self, Checked, ProgramText};
use crate::options::RunOptions;
use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_frontend::core::Form;
use nesl_frontend::syntax::v::LOOP;
use nesl_prim::visible;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Prints `name : type` for each function and value, in the order of the file.\n\n\
                         Example: nesl check examples/quicksort/quicksort.nesl")]
pub struct Arguments {
    /// Source files, each checked by itself; - for the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Checks all files, also after one with errors.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    let mut errors = Vec::new();
    for file in &arguments.files {
        let text = ProgramText::of(file);
        if text.is_stack_format() {
            // It has no types of NESL: what there is to check is whether it compiles.
            if let Err(stop) = driver::compile(&text, options.style()) {
                errors.push(stop.message().to_owned());
            }
            continue;
        }
        match driver::check(&text, options.style()) {
            Ok(checked) => {
                if let Err(stop) = driver::flatten(&checked, options.style()) {
                    errors.push(stop.message().to_owned());
                    continue;
                }
                let types = types(&checked);
                match arguments.files.len() {
                    1 => print(&types)?,
                    _ => print(&format!("{}\n{}", visible::line(&text.name()), indented(&types)))?,
                }
            }
            Err(stop) => errors.push(stop.message().to_owned()),
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Stop::reported(errors.join("\n"))),
    }
}

/// `name : type`, one a line.
fn types(checked: &Checked) -> String {
    let program = checked.session.program();
    let mut text = String::new();
    for form in &checked.forms[checked.imported..] {
        // What is written in V is shown in V; a loop is no function there.
        let name = match form {
            Form::Function(id) => Some(&program.function(*id).name),
            Form::Assignment { targets, .. } => targets.first().map(|(id, _)| &program.global(*id).name),
            Form::Expression(_) => None,
        };
        if name.is_some_and(|name| name.contains(LOOP)) {
            continue;
        }
        if let Some(declaration) = name.and_then(|name| checked.session.declaration(name)) {
            text += &format!("{declaration};\n");
            continue;
        }
        // Writing to a string does not fail.
        let _ = match form {
            Form::Function(id) => {
                let function = program.function(*id);
                writeln!(text, "{} : {}", function.name, function.scheme)
            }
            Form::Assignment { targets, .. } => targets.iter().try_for_each(|(id, _)| {
                let global = program.global(*id);
                writeln!(text, "{} : {}", global.name, global.ty)
            }),
            Form::Expression(_) => Ok(()),
        };
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
