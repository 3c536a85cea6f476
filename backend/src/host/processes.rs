//! Commands: a program and its arguments, split at white space. No shell is involved, so nothing in them is special.

use super::streams::{STDERR, STDIN, STDOUT, Streams};
use super::{message, os_string};
use crate::hold::Hold;
use nesl_prim::host::HostError;
use std::io::Write;
use std::process::{Command, Stdio};

/// The command that a text says.
fn command(text: &[u8]) -> Result<Command, HostError> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(os_string);
    let program = words.next().ok_or_else(|| HostError::Message("there is no command in this text".to_owned()))?;
    let mut command = Command::new(program);
    command.args(words);
    Ok(command)
}

fn failed<'a>(text: &'a [u8], what: &'a str) -> impl Fn(std::io::Error) -> HostError + 'a {
    move |error| message(&format!("cannot {what} `{}`", String::from_utf8_lossy(text)), &error)
}

/// Runs a command on an input; what it writes to its standard output.
pub(super) fn run(text: &[u8], input: &[u8], hold: &mut Hold) -> Result<Vec<u8>, HostError> {
    let mut command = command(text)?;
    end_with_this_thread(&mut command);
    let mut child = command
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed(text, "start"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // A command may write before it has read everything: feed it while listening.
    let output = std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            // A command need not read all of its input.
            scope.spawn(move || _ = stdin.write_all(input));
        }
        let read = |mut stdout| hold.read(&mut stdout, u64::MAX, || Ok::<_, HostError>(()), failed(text, "run"));
        let output = stdout.map_or(Ok(Vec::new()), read);
        if output.is_err() {
            // Nobody hears any more what it says. If it has ended already, all the better.
            _ = child.kill();
        }
        let status = child.wait().map_err(failed(text, "run"));
        output.and_then(|output| Ok((output, status?)))
    });
    let (mut output, status) = output?;
    if !status.success() {
        return Err(HostError::Message(format!("`{}` ended with {status}", String::from_utf8_lossy(text))));
    }
    output.shrink_to_fit();
    Ok(output)
}

/// Ends a command that this thread waits for when nobody waits any more, because this process was killed.
#[cfg(target_os = "linux")]
fn end_with_this_thread(command: &mut Command) {
    let ask = || {
        // SAFETY: prctl with PR_SET_PDEATHSIG takes a signal number and touches no memory of ours.
        #[allow(unsafe_code)]
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        Ok(())
    };
    // SAFETY: what runs between fork and exec calls a function of the system that is safe there, and allocates nothing.
    #[allow(unsafe_code)]
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, ask);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_this_thread(_: &mut Command) {}

/// Starts a command with these standard streams, pipes for those that are -1; the streams of its standard input, output and
/// error, -1 for those that were given.
pub(super) fn spawn(streams: &mut Streams, text: &[u8], own: [i64; 3]) -> Result<[i64; 3], HostError> {
    let mut command = command(text)?;
    for (position, stream) in own.into_iter().enumerate() {
        let stdio = match stream {
            -1 => Stdio::piped(),
            STDIN | STDOUT | STDERR if stream == position as i64 => Stdio::inherit(),
            other => streams.file(other)?.into(),
        };
        match position as i64 {
            STDIN => command.stdin(stdio),
            STDOUT => command.stdout(stdio),
            _ => command.stderr(stdio),
        };
    }
    let mut child = command.spawn().map_err(failed(text, "start"))?;
    let input = child.stdin.take().map_or(-1, |pipe| streams.add_writer(Box::new(pipe), None));
    let output = child.stdout.take().map_or(-1, |pipe| streams.add_reader(Box::new(pipe), None));
    let error = child.stderr.take().map_or(-1, |pipe| streams.add_reader(Box::new(pipe), None));
    // Nobody asks how it ended; a thread waits, so that it does not stay behind as a zombie.
    std::thread::spawn(move || child.wait());
    Ok([input, output, error])
}
