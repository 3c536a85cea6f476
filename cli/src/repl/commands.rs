//! The commands of a session: one table, from which `:help` is printed and names are completed.

use super::Next;
use super::session::{Repl, file};
use crate::codes;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_prim::visible;

/// A command of the session.
struct Command<E: Engine> {
    name: &'static str,
    argument: &'static str,
    summary: &'static str,
    run: fn(&mut Repl<E>, &str) -> Result<Next, Stop>,
}

fn table<E: Engine>() -> [Command<E>; 26] {
    let row = |name, argument, summary, run| Command { name, argument, summary, run };
    [
        row("type", "EXPRESSION", "show the type of an expression", Repl::show_type),
        row("doc", "NAME", "show what a function does (so does ?NAME)", Repl::doc),
        row("info", "NAME", "show what a name is, where it is defined, and how", Repl::info),
        row("apropos", "WORD", "list the functions that have to do with a word", Repl::apropos),
        row("names", "[PREFIX]", "list what this session has defined", Repl::list_names),
        row("load", "FILE", "define what a file defines", load),
        row("reload", "", "load the last file again", Repl::reload),
        row("edit", "[FILE]", "change a file in your editor ($VISUAL, $EDITOR), and load it", at_terminal),
        row("save", "NAME", "save all names with their values; NAME.nesl: write the inputs so far", Repl::save),
        row("restore", "NAME", "go on with the session that was saved by this name", Repl::restore),
        row("cd", "[FOLDER]", "change the folder, or show it", Repl::change_folder),
        row("show", "[EXPRESSION]", "show a value, or the last one, as long as it is", Repl::show),
        row("plot", "[EXPRESSION]", "draw a value, or the last one: numbers, points, rows of numbers", Repl::plot),
        row("syntax", "[NAME]", "write inputs in v or in nesl, or show in which", Repl::choose_syntax),
        row("set", "[NAME VALUE]", "change a setting, or list them", Repl::set),
        row("time", "EXPRESSION", "evaluate, and show how long it took", Repl::time),
        row("bench", "EXPRESSION", "evaluate again and again, and show how long that takes", Repl::bench),
        row("stats", "", "show what the session has done: instructions, elements, bytes", Repl::count),
        row("profile", "EXPRESSION", "evaluate, and show which lines took the time", Repl::profile),
        row("threads", "[NUMBER]", "compute on so many threads, or show on how many", Repl::threads),
        row("ranks", "[NUMBER]", "compute on so many ranks, or show where they are, and their memory", Repl::ranks),
        row("vcode", "EXPRESSION", "show the flat program of an expression", Repl::vcode),
        row("explain", "CODE", "explain the code of an error or warning", explain),
        row("history", "[NUMBER]", "show the last inputs", at_terminal),
        row("help", "", "show this list", |repl, _| help(repl)),
        row("quit", "", "end the session (so does Ctrl-D)", |_, _| Ok(Next::Quit)),
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
    let (name, argument) = (name.trim_end_matches(';'), without_end(argument));
    let table = table::<E>();
    let Some(command) = table.iter().find(|command| command.name == name) else {
        let begins = table.iter().find(|command| !name.is_empty() && command.name.starts_with(name));
        let distance = |command: &&Command<E>| nesl_frontend::edit_distance(name, command.name, 2);
        let similar = begins.or_else(|| {
            let near = table.iter().min_by_key(distance);
            // Of short names more would be others.
            near.filter(|command| distance(command) * 3 <= name.chars().count())
        });
        let hint = similar.map_or_else(String::new, |command| format!(" Did you mean :{}?", command.name));
        return Ok(repl.refuse(&format!("there is no command `:{name}`.{hint} :help lists the commands")));
    };
    let is_needed = !command.argument.is_empty() && !command.argument.starts_with('[');
    if is_needed && argument.is_empty() {
        return Ok(repl.refuse(&format!("`:{name}` needs something after it: :{name} {}", command.argument)));
    }
    (command.run)(repl, argument)
}

/// What is left without `;` at its end, which is a habit and no part of a command; the character `` `; `` is one.
pub(super) fn without_end(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = text.strip_suffix(';').filter(|rest| !rest.ends_with('`')) {
        text = rest.trim_end();
    }
    text
}

fn help<E: Engine>(repl: &mut Repl<E>) -> Result<Next, Stop> {
    let mut text = String::from(
        "An input is a definition, an assignment or an expression. In files and pipes it ends with `;`.\n\
         `it` is the last value; at a terminal _3 is that of input 3, and ;COMMAND is for the shell.\n",
    );
    for Command { name, argument, summary, .. } in table::<E>() {
        let usage = format!(":{name} {argument}");
        text.push_str(&format!("  {usage:<19}  {summary}\n"));
    }
    repl.answer(&text)?;
    Ok(Next::Go)
}

fn explain<E: Engine>(repl: &mut Repl<E>, argument: &str) -> Result<Next, Stop> {
    match codes::page(argument) {
        Ok(page) => repl.answer(&visible::text(page)).map(|()| Next::Go),
        Err(problem) => Ok(repl.refuse(&problem)),
    }
}

fn load<E: Engine>(repl: &mut Repl<E>, argument: &str) -> Result<Next, Stop> {
    repl.load(&file(argument))
}

/// What a terminal does by itself has come here from elsewhere.
fn at_terminal<E: Engine>(repl: &mut Repl<E>, _: &str) -> Result<Next, Stop> {
    Ok(repl.refuse("this is for sessions at a terminal"))
}

/// The command that an input means in the spelling of NESL 3.1, `describe f;` or `load "file";`, and in that of people
/// who want to leave; none where the session has a name of that spelling.
pub(super) fn traditional<E: Engine>(repl: &Repl<E>, input: &str) -> Option<String> {
    let text = without_end(input);
    if let Some(name) = asked(text) {
        return (!repl.is_own_name(&text.to_lowercase())).then(|| format!(":doc {name}"));
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    // Names are the same in capitals, and elsewhere a session is left by a call.
    let word = &*word.to_ascii_lowercase();
    let (word, rest) = (word.strip_suffix("()").unwrap_or(word), rest.trim_start());
    let takes_name = rest.starts_with(|first: char| first.is_alphabetic() || matches!(first, '"' | '\'' | '_'));
    let command = match (word, rest.is_empty()) {
        ("help" | "?", true) => ":help".to_owned(),
        ("exit" | "quit" | "bye", true) => ":quit".to_owned(),
        ("describe" | "help", false) if takes_name => format!(":doc {rest}"),
        ("apropos" | "load" | "set", false) if takes_name => format!(":{word} {rest}"),
        _ => return None,
    };
    (!repl.is_own_name(word)).then_some(command)
}

/// The name whose documentation is asked for by `?name`.
pub(super) fn asked(input: &str) -> Option<&str> {
    let name = input.trim().strip_prefix('?')?.trim_start();
    (!name.is_empty() && !name.contains([' ', ';', '='])).then_some(name)
}

/// Whether an input ends a session, if its word is no name there.
#[cfg(feature = "mpi")]
pub(crate) fn is_quit(input: &str) -> bool {
    let text = without_end(input).to_ascii_lowercase();
    let word = text.strip_prefix(':').map_or(text.strip_suffix("()").unwrap_or(&text), str::trim_start);
    matches!(word, "quit" | "exit" | "bye")
}

/// The word, in small letters, that a line consists of if it is one that needs no `;`, where it is no name: `quit`.
pub(super) fn word(line: &str) -> Option<String> {
    let word = line.trim().to_lowercase();
    (matches!(&*word, "help" | "?" | "exit" | "quit" | "bye") || asked(&word).is_some()).then_some(word)
}
