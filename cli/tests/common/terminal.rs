//! Sessions at a pseudo-terminal, in one process and on ranks.

use super::Bench;
use super::marked::Mark;
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;

/// Starts a session.
pub fn start(bench: &Bench) -> PtySession {
    start_with(bench, &[], None)
}

/// The same with arguments, and a mark for its processes.
pub fn start_with(bench: &Bench, arguments: &[&str], mark: Option<&Mark>) -> PtySession {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(arguments).env("TERM", "xterm").env("NO_COLOR", "1").env("VISUAL", "sh editor.sh");
    if let Some(mark) = mark {
        mark.put(&mut command);
    }
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string(":help lists the commands").unwrap();
    session.exp_string("nesl> ").unwrap();
    session
}

/// Starts a session on two ranks.
pub fn start_on_ranks(bench: &Bench) -> PtySession {
    start_with(bench, &["repl", "--ranks", "2"], None)
}

/// What a test does in sessions on ranks, where there is a launcher; one such test at a time.
pub fn on_ranks(test: impl FnOnce(fn(&Bench) -> PtySession)) {
    if super::launcher().is_some() {
        let _turn = super::turn();
        test(start_on_ranks);
    }
}
