//! A session at a terminal: prompts, line editing, history, Ctrl-C and Ctrl-D.

use super::complete::Completion;
use super::{Next, Partner, Pending};
use crate::stop::Stop;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use std::path::PathBuf;

const PROMPT: &str = "nesl> ";
const CONTINUATION: &str = "....> ";

/// Inputs remembered across sessions.
const REMEMBERED: usize = 10_000;

/// Runs a session to its end.
///
/// # Errors
/// If it cannot go on.
pub(crate) fn run(partner: &mut impl Partner) -> Result<(), Stop> {
    let failed = |error: ReadlineError| Stop::failed(format!("error: cannot use the terminal: {error}"));
    let config = Config::builder().max_history_size(REMEMBERED).map_err(failed)?.build();
    let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(failed)?;
    let history = history_file();
    if let Some(history) = &history {
        // There is none in the first session, and a session works without one.
        let _ = editor.load_history(history);
    }
    println!("nesl {}; :help lists the commands", env!("CARGO_PKG_VERSION"));
    let mut pending = Pending::default();
    loop {
        editor.set_helper(Some(Completion::new(partner.names())));
        let prompt = if pending.text.is_empty() { PROMPT } else { CONTINUATION };
        let input = match editor.readline(prompt) {
            Ok(line) => pending.push(&line),
            Err(ReadlineError::Interrupted) => {
                pending = Pending::default();
                None
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let Some(input) = input else { continue };
        let _ = editor.add_history_entry(input.as_str());
        if let Some(history) = &history {
            // At once, so that nothing is lost however the session ends.
            let _ = editor.append_history(history);
        }
        if partner.evaluate(&input)? == Next::Quit {
            return Ok(());
        }
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
