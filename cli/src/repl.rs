//! The interactive session: where its lines come from.
//!
//! [`session`] evaluates, [`commands`] is the table of what begins with a colon, and most of those is done by
//! [`inspect`], [`names`] and [`place`]. Values are shown by [`show`], matrices by [`matrix`], files form by form by
//! [`rows`]. Inputs are in NESL, or in V where somebody says so ([`syntax`]). At a terminal lines are edited and
//! remembered ([`terminal`]), coloured ([`highlight`]) and completed ([`complete`]); piped input is read as it is,
//! without prompts. In a job of several ranks rank 0 does all that, and [`ranks`] what the others do; how many they are
//! can change (`elastic`).

mod commands;
mod complete;
#[cfg(feature = "mpi")]
mod elastic;
mod highlight;
mod inspect;
mod matrix;
mod names;
mod place;
mod ranks;
mod rows;
pub mod session;
mod show;
mod syntax;
pub(crate) mod terminal;
mod turns;

#[cfg(feature = "mpi")]
pub(crate) use commands::is_quit;
#[cfg(feature = "mpi")]
pub(crate) use elastic::ranks_wanted;
#[cfg(feature = "mpi")]
pub use elastic::{ElasticSession, Elsewhere, follow};
pub use ranks::watch;
#[cfg(feature = "mpi")]
pub(crate) use ranks::{Started, Turn, UNIT, WRONG};
pub use rows::FormRow;

use crate::driver::{LONGEST_SOURCE, too_long};
use crate::options::RunOptions;
use crate::output::MARK;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_backend::io::host::input::with_standard;
use nesl_frontend::syntax::Syntax;
use nesl_service::KnownName;
use session::Repl;
use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;
use std::time::Instant;

/// Runs a session to the end of its input.
///
/// # Errors
/// If it could not go on; for piped input also if any input was wrong.
pub fn run(mut repl: impl Conversation, options: &RunOptions) -> Result<(), Stop> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let is_typed = is_terminal || (repl.is_marked() && !options.as_script);
    match &options.go_on {
        Some(folder) => repl.go_on(folder, is_typed)?,
        None if is_typed => repl.begin_at_terminal()?,
        None => {}
    }
    let is_colored = options.color.enabled_on(&std::io::stdout());
    let result = if is_terminal { terminal::run(&mut repl, is_colored) } else { piped(&mut repl) };
    // The exit code of a program that has ended a session elsewhere comes before that of inputs that were wrong.
    repl.finish().and(result)
}

/// Who evaluates what is typed at a terminal.
pub trait Partner {
    /// The number of the next input.
    fn number(&self) -> usize;

    /// The names that can be used now.
    fn names(&self) -> Vec<KnownName>;

    /// What the next input is in.
    fn syntax(&self) -> Syntax;

    /// A line has been read: interrupts from here on are of the input that it ends.
    fn ready(&self) {}

    /// Evaluates an input and answers it.
    ///
    /// # Errors
    /// If the session cannot go on.
    fn evaluate(&mut self, input: &str) -> Result<Next, Stop>;
}

/// A session from its beginning to its end.
pub trait Conversation: Partner {
    /// Reads the user's settings, and numbers inputs from here on.
    ///
    /// # Errors
    /// If an answer cannot be written.
    fn begin_at_terminal(&mut self) -> Result<(), Stop>;

    /// Goes on with a session that another process has left in a folder; whether somebody types its inputs.
    ///
    /// # Errors
    /// If that is impossible.
    fn go_on(&mut self, folder: &Path, is_typed: bool) -> Result<(), Stop>;

    /// Whether somebody is to be told of every answer.
    fn is_marked(&self) -> bool;

    /// Tells whoever passes this session on that an input has been answered and whether it was right, the number of the
    /// next, and which names can be used now.
    ///
    /// # Errors
    /// If it cannot be written.
    fn mark(&self, answered: Next) -> Result<(), Stop>;

    /// Whether a program has ended it, in another process: its exit code is that of the session then, whatever inputs
    /// were wrong.
    fn has_ended(&self) -> bool;

    /// The end.
    ///
    /// # Errors
    /// If a job that the session has ended in did not go well.
    fn finish(&mut self) -> Result<(), Stop>;
}

impl<E: Engine> Conversation for Repl<E> {
    fn begin_at_terminal(&mut self) -> Result<(), Stop> {
        Repl::begin_at_terminal(self)
    }

    fn is_marked(&self) -> bool {
        self.options.mark.is_some()
    }

    fn go_on(&mut self, folder: &Path, is_typed: bool) -> Result<(), Stop> {
        Repl::go_on(self, folder, is_typed)
    }

    fn mark(&self, answered: Next) -> Result<(), Stop> {
        self.say_mark(answered)
    }

    fn has_ended(&self) -> bool {
        false
    }

    fn finish(&mut self) -> Result<(), Stop> {
        Repl::finish(self);
        Ok(())
    }
}

impl<E: Engine> Partner for Repl<E> {
    fn number(&self) -> usize {
        Repl::number(self)
    }

    fn names(&self) -> Vec<KnownName> {
        Repl::names(self)
    }

    fn syntax(&self) -> Syntax {
        self.syntax
    }

    fn ready(&self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.ready();
        }
    }

    fn evaluate(&mut self, input: &str) -> Result<Next, Stop> {
        let _watching = self.limit.since(Instant::now());
        self.begin_turn();
        if let Some(folder) = input.strip_prefix(KEEP) {
            let next = self.keep_in(Path::new(folder));
            self.end_turn();
            return next;
        }
        let spelled = commands::traditional(self, input);
        let next =
            self.interruptibly(|repl| match spelled.as_deref().unwrap_or(input).trim_start().strip_prefix(':') {
                Some(command) => commands::run(repl, command),
                None => repl.input(input),
            });
        self.end_turn();
        next
    }
}

/// Whether a session goes on after an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With the next input; the last one was right.
    Go,
    /// With the next input; the last one was wrong.
    GoAfterError,
    /// Not.
    Quit,
}

/// The one word that ends sessions and is a name of the library, too, with its type.
const OF_LIBRARY: (&str, &str) = ("exit", "int -> a :: (a in any)");

/// Lines that become an input once it is complete.
#[derive(Debug, Default)]
struct Pending {
    text: String,
}

impl Pending {
    /// Adds a line of an input whose end is said; gives the whole input where it is.
    fn push_part(&mut self, line: &str) -> Option<String> {
        if line.strip_prefix(END_OF_INPUT).is_some_and(str::is_empty) {
            return Some(std::mem::take(&mut self.text));
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        None
    }

    /// Adds a line; gives the whole input if that completes it. Blank lines between inputs are none, and words such as
    /// `quit` that are no names of the session need no end.
    fn push(&mut self, line: &str, syntax: Syntax, is_name: impl Fn(&str) -> bool) -> Option<String> {
        if self.text.is_empty() && line.trim().is_empty() {
            return None;
        }
        let is_word = || commands::word(line).is_some_and(|word| !is_name(&word));
        let is_command = self.text.is_empty() && (line.trim_start().starts_with(':') || is_word());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        // Only these can complete an input: without looking for them, long inputs would be read once for each line.
        let may_complete = line.contains([';', '$', ')', ']', '}', '%']);
        (is_command || (may_complete && syntax.is_complete(&self.text))).then(|| std::mem::take(&mut self.text))
    }
}

/// What follows an input, on a line of its own, where another process passes inputs on: whatever is in it, it is one.
pub(crate) const END_OF_INPUT: char = MARK;

/// How an input begins by which another process asks for a save in the folder that follows; nobody types it.
pub(crate) const KEEP: &str = "\u{1e}keep ";

/// A session whose input is not a terminal: a script, a pipe.
fn piped(repl: &mut impl Conversation) -> Result<(), Stop> {
    let mut pending = Pending::default();
    let mut wrong = false;
    repl.mark(Next::Go)?;
    while let Some(line) = with_standard(|lines| next_line(lines))? {
        if pending.text.len().saturating_add(line.len()) > LONGEST_SOURCE {
            return Err(Stop::failed(format!("error: {}", too_long("an input"))));
        }
        let means = |known: &KnownName, word: &str| known.name == word && (word, &*known.ty) != OF_LIBRARY;
        let is_name = |word: &str| repl.names().iter().any(|known| means(known, word));
        let input = match repl.is_marked() {
            true => pending.push_part(&line),
            false => pending.push(&line, repl.syntax(), is_name),
        };
        let Some(input) = input else { continue };
        let next = repl.evaluate(&input)?;
        match next {
            Next::Go => {}
            // Who is told of every answer sees the errors, too.
            Next::GoAfterError => wrong |= !repl.is_marked(),
            Next::Quit => return ended(wrong && !repl.has_ended()),
        }
        repl.mark(next)?;
    }
    // What has no end is evaluated all the same: the error says what is missing.
    if !pending.text.trim().is_empty() {
        wrong |= repl.evaluate(&pending.text)? == Next::GoAfterError;
    }
    ended(wrong)
}

/// The next line, without its end; none after the last.
fn next_line(lines: &mut dyn BufRead) -> Result<Option<String>, Stop> {
    let failed = |problem: &str| Stop::failed(format!("error: cannot read the input: {problem}"));
    let mut line = Vec::new();
    let read = lines.take(LONGEST_SOURCE as u64 + 1).read_until(b'\n', &mut line);
    match read.map_err(|error| failed(&error.to_string()))? {
        0 => return Ok(None),
        length if length > LONGEST_SOURCE => return Err(failed(&too_long("a line"))),
        _ => {}
    }
    if line.pop_if(|&mut byte| byte == b'\n').is_some() {
        line.pop_if(|&mut byte| byte == b'\r');
    }
    String::from_utf8(line).map(Some).map_err(|_| failed("it is not valid UTF-8"))
}

fn ended(wrong: bool) -> Result<(), Stop> {
    if wrong { Err(Stop::failed("")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_end_where_they_are_complete() {
        let mut pending = Pending::default();
        let mut push = |line: &str| pending.push(line, Syntax::Nesl, |name| name == "quit");
        assert_eq!(push("  "), None);
        assert_eq!(push("function f(a) ="), None);
        assert_eq!(push(""), None);
        assert_eq!(push("a + 1;").as_deref(), Some("function f(a) =\n\na + 1;"));
        assert_eq!(push(" :type f").as_deref(), Some(" :type f"));
        assert_eq!(push("help").as_deref(), Some("help"));
        assert_eq!(push(" ?sum").as_deref(), Some(" ?sum"));
        assert_eq!(push("quit"), None);
        assert_eq!(push("help"), None);
        assert_eq!(push("+ 1;").as_deref(), Some("quit\nhelp\n+ 1;"));
        assert_eq!(push("{x"), None);
        assert_eq!(push(": x in [1]};").as_deref(), Some("{x\n: x in [1]};"));
    }

    #[test]
    fn what_is_passed_on_is_as_long_as_is_said() {
        let mut pending = Pending::default();
        let end = END_OF_INPUT.to_string();
        for (lines, input) in [(&["1;", "", "2"][..], "1;\n\n2"), (&["let x = 1;"], "let x = 1;"), (&[], "")] {
            assert!(lines.iter().all(|line| pending.push_part(line).is_none()));
            assert_eq!(pending.push_part(&end).as_deref(), Some(input));
        }
    }

    #[test]
    fn inputs_of_v_end_where_its_grammar_says() {
        let mut pending = Pending::default();
        assert_eq!(pending.push("pure int f(int x) {", Syntax::V, |_| false), None);
        assert_eq!(pending.push("return x;", Syntax::V, |_| false), None);
        assert_eq!(pending.push("}", Syntax::V, |_| false).as_deref(), Some("pure int f(int x) {\nreturn x;\n}"));
        assert_eq!(pending.push("f(3)", Syntax::V, |_| false), None);
        assert_eq!(pending.push("+ 1;", Syntax::V, |_| false).as_deref(), Some("f(3)\n+ 1;"));
    }
}
