//! What code lenses start: another `nesl`, on the text of the document as it is now.

use super::incoming::{Finished, Incoming};
use lsp_server::RequestId;
use nesl_frontend::syntax::Syntax;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// No more of an output is sent: an editor is no pager.
const LONGEST: u64 = 1 << 20;

/// The most time that something takes.
const TIME: &str = "60s";

/// The commands of lenses, and the words that they start `nesl` with.
pub const COMMANDS: [(&str, &str); 4] =
    [("nesl.run", "run"), ("nesl.vcode", "vcode"), ("nesl.test", "test"), ("nesl.bench", "bench")];

/// Something that runs.
#[derive(Clone, Default)]
pub struct Started(Arc<AtomicBool>);

impl Started {
    /// Ends it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts `nesl WORD -` on a text, in a folder; how it ends is told later. A text of V goes by way of a file: its name
/// says what it is.
pub fn start(
    id: RequestId,
    word: &'static str,
    program: (Syntax, String),
    folder: Option<PathBuf>,
    to: Sender<Incoming>,
) -> Started {
    let started = Started::default();
    let own = started.clone();
    std::thread::spawn(move || {
        let outcome = outcome(word, program, folder, &own).map_err(|error| format!("cannot run nesl: {error}"));
        let was_cancelled = own.0.load(Ordering::Relaxed);
        // Without a server nobody waits for it.
        let _ = to.send(Incoming::Finished(Finished { id, outcome, was_cancelled }));
    });
    started
}

fn outcome(
    word: &str,
    (syntax, text): (Syntax, String),
    folder: Option<PathBuf>,
    started: &Started,
) -> io::Result<String> {
    let folder = folder.filter(|folder| folder.is_dir());
    let file = match syntax {
        Syntax::Nesl => None,
        Syntax::V => Some(file_of(&text, folder.as_deref())?),
    };
    let name = file.as_ref().map_or(Path::new("-"), |file| file.path());
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(word).arg(name).args(["--color", "never"]);
    if word == "run" {
        command.args(["--time-limit", TIME]);
    }
    if let Some(folder) = &folder {
        command.current_dir(folder);
    }
    let (mut output, both) = io::pipe()?;
    let child = command.stdin(Stdio::piped()).stdout(both.try_clone()?).stderr(both).spawn()?;
    // The command holds the end of the pipe that is written to.
    drop(command);
    let child = Mutex::new(child);
    let locked = || child.lock().unwrap_or_else(PoisonError::into_inner);
    let input = locked().stdin.take();
    let mut printed = Vec::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Some(mut input) = input {
                // What does not read its input has its reasons.
                let _ = input.write_all(text.as_bytes());
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if started.0.load(Ordering::Relaxed) {
                    let _ = locked().kill();
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let read = output.by_ref().take(LONGEST).read_to_end(&mut printed);
        let _ = io::copy(&mut output, &mut io::sink());
        is_over.store(true, Ordering::Relaxed);
        read
    })?;
    locked().wait()?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok(match &file {
        // The file is gone when the messages are read.
        Some(file) => printed.replace(&file.path().display().to_string(), "<standard input>"),
        None => printed,
    })
}

/// A file of V with a text, as long as it is held: in the folder, from where it imports what the document does, or
/// where there is room.
fn file_of(text: &str, folder: Option<&Path>) -> io::Result<NamedTempFile> {
    let in_folder = |folder: &Path| Builder::new().prefix(".run-").suffix(Syntax::V.suffix()).tempfile_in(folder);
    let mut file = match folder.map(in_folder) {
        Some(Ok(file)) => file,
        Some(Err(_)) | None => in_folder(&std::env::temp_dir())?,
    };
    file.write_all(text.as_bytes())?;
    Ok(file)
}
