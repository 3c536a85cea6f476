//! The commands of a session: one table, from which `:help` is printed and names are completed.

use super::Next;
use super::session::Repl;
use crate::codes;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_prim::visible;
use std::path::PathBuf;

/// A command of the session.
struct Command<E: Engine> {
    name: &'static str,
    argument: &'static str,
    summary: &'static str,
    run: fn(&mut Repl<E>, &str) -> Result<Next, Stop>,
}

fn table<E: Engine>() -> [Command<E>; 8] {
    [
        Command {
            name: "type",
            argument: "EXPRESSION",
            summary: "show the type of an expression",
            run: Repl::show_type,
        },
        Command { name: "doc", argument: "NAME", summary: "show what a function does", run: Repl::doc },
        Command {
            name: "apropos",
            argument: "WORD",
            summary: "list the functions that have to do with a word",
            run: Repl::apropos,
        },
        Command { name: "load", argument: "FILE", summary: "define what a file defines", run: load },
        Command {
            name: "time",
            argument: "EXPRESSION",
            summary: "evaluate, and show how long it took",
            run: Repl::time,
        },
        Command { name: "explain", argument: "CODE", summary: "explain the code of an error or warning", run: explain },
        Command { name: "help", argument: "", summary: "show this list", run: |repl, _| help(repl) },
        Command { name: "quit", argument: "", summary: "end the session (so does Ctrl-D)", run: |_, _| Ok(Next::Quit) },
    ]
}

/// The names of all commands.
pub(super) fn names() -> Vec<&'static str> {
    table::<nesl_backend::Reference>().iter().map(|command| command.name).collect()
}

/// Runs a command: its name and what follows, without the colon.
pub(super) fn run<E: Engine>(repl: &mut Repl<E>, text: &str) -> Result<Next, Stop> {
    let text = text.trim();
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    // A semicolon after a command is a habit, not a part of it.
    let (name, argument) = (name.trim_end_matches(';'), argument.trim());
    let table = table::<E>();
    let Some(command) = table.iter().find(|command| command.name == name) else {
        let similar = table.iter().find(|command| !name.is_empty() && command.name.starts_with(name));
        let hint = similar.map_or_else(String::new, |command| format!(" Did you mean :{}?", command.name));
        return Ok(repl.refuse(&format!("there is no command `:{name}`.{hint} :help lists the commands")));
    };
    if !command.argument.is_empty() && argument.is_empty() {
        return Ok(repl.refuse(&format!("`:{name}` needs something after it: :{name} {}", command.argument)));
    }
    (command.run)(repl, argument)
}

fn help<E: Engine>(repl: &mut Repl<E>) -> Result<Next, Stop> {
    let mut text = String::from("An input is a definition, an assignment or an expression, and ends with `;`.\n");
    for Command { name, argument, summary, .. } in table::<E>() {
        let usage = format!(":{name} {argument}");
        text.push_str(&format!("  {usage:<18}  {summary}\n"));
    }
    repl.answer(&text)?;
    Ok(Next::Go)
}

fn explain<E: Engine>(repl: &mut Repl<E>, argument: &str) -> Result<Next, Stop> {
    match codes::page(argument.trim_end_matches(';')) {
        Ok(page) => repl.answer(&visible::text(page)).map(|()| Next::Go),
        Err(problem) => Ok(repl.refuse(&problem)),
    }
}

fn load<E: Engine>(repl: &mut Repl<E>, argument: &str) -> Result<Next, Stop> {
    let name = argument.trim_end_matches(';').trim().trim_matches('"');
    let path = match (name.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(name),
    };
    repl.load(&path)
}
