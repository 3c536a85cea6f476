//! A session at a terminal: prompts, line editing, history, Ctrl-C and Ctrl-D.
//!
//! An input is evaluated as soon as it is complete, with or without `;`. What has to do with the terminal alone is done
//! here: `:history`, `:edit`, and commands of the shell after `;`.

use super::commands::{asked, without_end};
use super::complete::Completion;
use super::highlight;
use super::session::file;
use super::{Next, Partner};
use crate::output::remark;
use crate::stop::Stop;
use nesl_frontend::syntax::Syntax;
use nesl_prim::visible;
use nesl_service::KnownName;
use rustyline::completion::{Completer, Pair};
use rustyline::config::CompletionType;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::history::{FileHistory, History, SearchDirection};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, Helper, KeyEvent,
    RepeatCount, Validator,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// What inputs of several lines go on with.
const CONTINUATION: &str = "....> ";

/// Inputs remembered across sessions.
const REMEMBERED: usize = 10_000;

/// Inputs that `:history` shows if it is not told how many.
const SHOWN: usize = 20;

/// Runs a session to its end, in colours or without.
///
/// # Errors
/// If it cannot go on.
pub(crate) fn run(partner: &mut impl Partner, is_colored: bool) -> Result<(), Stop> {
    let failed = |error: ReadlineError| Stop::failed(format!("error: cannot use the terminal: {error}"));
    let config = Config::builder().max_history_size(REMEMBERED).map_err(failed)?;
    let config = config.completion_type(CompletionType::List).build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(failed)?;
    let end = EndOfInput::default();
    editor.bind_sequence(KeyEvent::ctrl('d'), EventHandler::Conditional(Box::new(end.clone())));
    let history = history_file();
    if let Some(history) = &history {
        // There is none in the first session, and a session works without one.
        let _ = editor.load_history(history);
    }
    println!("nesl {}; :help lists the commands", env!("CARGO_PKG_VERSION"));
    let mut typed = Typed::default();
    loop {
        let syntax = partner.syntax();
        let prompt = format!("[{}] {}> ", partner.number(), syntax.name());
        editor.set_helper(Some(Assistant::new(partner.names(), syntax, is_colored)));
        end.expect(!typed.text.is_empty());
        let line = match typed.text.is_empty() {
            true => editor.readline(&prompt),
            false => {
                let indentation = " ".repeat(highlight::indentation(&typed.text, syntax));
                let continuation = format!("{CONTINUATION:>width$}", width = prompt.len());
                editor.readline_with_initial(&continuation, (&indentation, ""))
            }
        };
        // One that comes while a line is edited is late, and of what was before it.
        partner.ready();
        let input = match line {
            Ok(_) if end.is_pressed.load(SeqCst) => typed.take(),
            Ok(line) => typed.push(&line, syntax),
            Err(ReadlineError::Interrupted) => {
                typed.take();
                None
            }
            Err(ReadlineError::Eof) if typed.text.is_empty() => return Ok(()),
            // It ends the input, as the end of a file would, not the session.
            Err(ReadlineError::Eof) => typed.take(),
            Err(error) => return Err(failed(error)),
        };
        let Some(input) = input else { continue };
        let _ = editor.add_history_entry(input.trim_end());
        if let Some(history) = &history {
            // At once, so that nothing is lost however the session ends.
            let _ = editor.append_history(history);
        }
        let next = match Own::of(&input) {
            Some(Own::History(count)) => show(editor.history(), count),
            Some(Own::Shell(command)) => shell(command),
            Some(Own::Edit(file)) => match edit(file.or(typed.edited.as_deref())) {
                Some(file) => {
                    partner.ready();
                    let next = partner.evaluate(&format!(":load {file}"))?;
                    typed.edited = Some(file);
                    next
                }
                None => Next::GoAfterError,
            },
            None => {
                let is_name = |name: &str| partner.names().iter().any(|known| known.name == name);
                let meant = meant(&input, syntax, is_name);
                if let Some(name) = loaded(&meant) {
                    // Also if it is wrong: then it is to be edited all the more.
                    typed.edited = Some(name.to_owned());
                }
                partner.evaluate(&meant)?
            }
        };
        if next == Next::Quit {
            return Ok(());
        }
    }
}

/// An input as the session reads it: with the `;` that a file would have, and `?name` as a command, if no name is
/// written so.
fn meant(input: &str, syntax: Syntax, is_name: impl Fn(&str) -> bool) -> String {
    let text = input.trim();
    match asked(text).filter(|_| !is_name(&text.to_lowercase())) {
        Some(name) => format!(":doc {name}"),
        None if text.starts_with(':') || text.ends_with(';') => input.to_owned(),
        None if syntax == Syntax::V && syntax.is_complete(text) => input.to_owned(),
        // A comment ends with its line.
        None if syntax == Syntax::V && text.contains("//") => format!("{}\n;", input.trim_end()),
        None => format!("{};", input.trim_end()),
    }
}

/// The file that an input loads, if it is there.
fn loaded(input: &str) -> Option<&str> {
    let (word, name) = input.trim().split_once(char::is_whitespace)?;
    let name = without_end(name);
    let is_load = word == ":load" || (word == "load" && name.starts_with('"'));
    Some(name.trim_matches('"')).filter(|name| is_load && file(name).exists())
}

/// Ctrl-D in a line that goes on with an input: it ends that as it is, also where the line has been indented.
#[derive(Clone, Default)]
struct EndOfInput {
    is_expected: Arc<AtomicBool>,
    is_pressed: Arc<AtomicBool>,
}

impl EndOfInput {
    /// A line is edited now, which may go on with an input.
    fn expect(&self, goes_on: bool) {
        self.is_expected.store(goes_on, SeqCst);
        self.is_pressed.store(false, SeqCst);
    }
}

impl ConditionalEventHandler for EndOfInput {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_end = self.is_expected.load(SeqCst) && context.line().trim().is_empty();
        self.is_pressed.store(is_end, SeqCst);
        is_end.then_some(Cmd::AcceptLine)
    }
}

/// What has been typed so far.
#[derive(Default)]
struct Typed {
    text: String,
    /// Blank lines at its end.
    blank: usize,
    /// The file that was edited last.
    edited: Option<String>,
}

impl Typed {
    /// Adds a line; gives the input if that completes it, or if two blank lines say that it is to end as it is.
    fn push(&mut self, line: &str, syntax: Syntax) -> Option<String> {
        let is_blank = line.trim().is_empty();
        if self.text.is_empty() && (is_blank || line.trim() == ";") {
            return None;
        }
        self.blank = if is_blank { self.blank + 1 } else { 0 };
        if self.blank == 1 {
            remark("(the input goes on until it is complete; another empty line ends it as it is, Ctrl-C drops it)\n");
        }
        let is_command = self.text.is_empty() && (line.trim_start().starts_with([':', ';']) || asked(line).is_some());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        (is_command || self.blank == 2 || (!is_blank && !syntax.is_unfinished(&self.text)))
            .then(|| self.take())
            .flatten()
    }

    /// The input as it is.
    fn take(&mut self) -> Option<String> {
        self.blank = 0;
        Some(std::mem::take(&mut self.text)).filter(|text| !text.trim().is_empty())
    }
}

/// What the terminal does by itself.
#[derive(Debug, PartialEq, Eq)]
enum Own<'a> {
    /// Show so many of the last inputs.
    History(usize),
    /// Run a command of the shell.
    Shell(&'a str),
    /// Edit a file, or the last one, and load it.
    Edit(Option<&'a str>),
}

impl<'a> Own<'a> {
    fn of(input: &'a str) -> Option<Own<'a>> {
        let input = input.trim();
        if let Some(command) = input.strip_prefix(';') {
            return Some(Own::Shell(command.trim()));
        }
        let (name, argument) = input.split_once(char::is_whitespace).unwrap_or((input, ""));
        let argument = without_end(argument);
        match name.trim_end_matches(';') {
            ":history" => Some(Own::History(argument.parse().unwrap_or(SHOWN))),
            ":edit" => Some(Own::Edit(Some(argument.trim_matches('"')).filter(|file| !file.is_empty()))),
            _ => None,
        }
    }
}

/// Shows the last inputs.
fn show(history: &FileHistory, count: usize) -> Next {
    let first = history.len().saturating_sub(count);
    for index in first..history.len() {
        if let Ok(Some(entry)) = history.get(index, SearchDirection::Forward) {
            println!("{}", visible::text(&entry.entry));
        }
    }
    Next::Go
}

/// Runs a command of the shell, with the terminal as its own.
fn shell(command: &str) -> Next {
    match Command::new("sh").args(["-c", command]).status() {
        Ok(status) if status.success() => Next::Go,
        Ok(status) => {
            if status.code().is_none() {
                // Ctrl-C has ended it, and is shown in the line where the prompt is to stand.
                println!();
            }
            Next::GoAfterError
        }
        Err(error) => wrong(&format!("cannot run a shell: {error}")),
    }
}

/// Lets the user's editor change a file; gives its name if it can be loaded then.
fn edit(name: Option<&str>) -> Option<String> {
    let Some(name) = name else {
        wrong("`:edit` needs the name of a file the first time");
        return None;
    };
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // The variable may hold options, too; the file is an argument of its own, whatever its name.
    let mut command = Command::new("sh");
    let status = command.args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file(name)).status();
    match status {
        Ok(status) if status.success() => Some(name.to_owned()),
        Ok(status) => {
            if status.code().is_none() {
                println!();
            }
            wrong(&format!("the editor `{editor}` ended with {status}"));
            None
        }
        Err(error) => {
            wrong(&format!("cannot start the editor `{editor}`: {error}"));
            None
        }
    }
}

fn wrong(message: &str) -> Next {
    remark(&format!("{}\n", visible::message(message)));
    Next::GoAfterError
}

/// What helps while a line is edited: completion, and colours and suggestions from the history where there are colours.
#[derive(Helper, Validator)]
struct Assistant {
    completion: Completion,
    hinter: HistoryHinter,
    syntax: Syntax,
    is_colored: bool,
}

impl Assistant {
    fn new(names: Vec<KnownName>, syntax: Syntax, is_colored: bool) -> Assistant {
        Assistant { completion: Completion::new(names, syntax), hinter: HistoryHinter::new(), syntax, is_colored }
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        self.completion.complete(line, position, context)
    }
}

impl Hinter for Assistant {
    type Hint = String;

    fn hint(&self, line: &str, position: usize, context: &Context<'_>) -> Option<String> {
        // Without colours a suggestion would look like what has been typed.
        if !self.is_colored {
            return None;
        }
        // Of an earlier input of several lines, what stands in the first.
        self.hinter.hint(line, position, context).map(|hint| hint.lines().next().unwrap_or_default().to_owned())
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        match self.is_colored {
            true => Cow::Owned(highlight::line(line, self.syntax, highlight::matching(line, self.syntax, position))),
            false => Cow::Borrowed(line),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.is_colored { Cow::Owned(highlight::prompt(prompt)) } else { Cow::Borrowed(prompt) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.is_colored { Cow::Owned(highlight::hint(hint)) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.is_colored
    }
}

/// Where inputs are remembered: `$NESL_HISTORY`, else in the user's state folder. Nowhere if there is no such place.
fn history_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let file = variable("NESL_HISTORY").or_else(|| {
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
        Some(state?.join("nesl/history"))
    })?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).ok()?;
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_end_where_they_are_complete_or_with_two_blank_lines() {
        let mut typed = Typed::default();
        let mut push = |line: &str| typed.push(line, Syntax::Nesl);
        assert_eq!(push("  "), None);
        assert_eq!(push(";"), None);
        assert_eq!(push("1 + 2").as_deref(), Some("1 + 2"));
        assert_eq!(push("function f(a) ="), None);
        assert_eq!(push(""), None);
        assert_eq!(push("a + 1").as_deref(), Some("function f(a) =\n\na + 1"));
        assert_eq!(push(":type f").as_deref(), Some(":type f"));
        assert_eq!(push("let x = 1;"), None);
        assert_eq!(push(""), None);
        assert_eq!(push("").as_deref(), Some("let x = 1;\n\n"));
        assert_eq!(push("2").as_deref(), Some("2"));
    }

    #[test]
    fn inputs_get_the_end_that_files_have() {
        let meant = |input: &str| meant(input, Syntax::Nesl, |name| name == "?mine");
        assert_eq!(meant("1 + 2"), "1 + 2;");
        assert_eq!(meant("1;\n"), "1;\n");
        assert_eq!(meant("1 % one %"), "1 % one %;");
        assert_eq!(meant(":type 1"), ":type 1");
        assert_eq!(meant("?sum"), ":doc sum");
        assert_eq!(meant("? ++"), ":doc ++");
        assert_eq!(meant("?Mine"), "?Mine;");
        assert_eq!(meant("?x = 3"), "?x = 3;");
    }

    #[test]
    fn inputs_of_v_need_no_end_either() {
        let meant = |input: &str| meant(input, Syntax::V, |_| false);
        assert_eq!(meant("1 + 2"), "1 + 2;");
        assert_eq!(meant("1 + 2 // three"), "1 + 2 // three\n;");
        assert_eq!(meant("pure int f(int x) { return x; }"), "pure int f(int x) { return x; }");
        let mut typed = Typed::default();
        assert_eq!(typed.push("while (x > 0)", Syntax::V), None);
        assert_eq!(typed.push("  x--", Syntax::V).as_deref(), Some("while (x > 0)\n  x--"));
    }

    #[test]
    fn some_things_are_for_the_terminal() {
        assert_eq!(Own::of(";ls -l"), Some(Own::Shell("ls -l")));
        assert_eq!(Own::of(":history"), Some(Own::History(SHOWN)));
        assert_eq!(Own::of(" :history 3;"), Some(Own::History(3)));
        assert_eq!(Own::of(":edit \"a b.nesl\""), Some(Own::Edit(Some("a b.nesl"))));
        assert_eq!(Own::of(":edit"), Some(Own::Edit(None)));
        assert_eq!(Own::of("1;"), None);
        assert_eq!(Own::of(":type 1"), None);
    }
}
