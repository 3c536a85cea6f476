//! Where open files are, for a process that goes on with the program.
//!
//! A file that is read is read on from where it was. One that is written loses what was written to it since then, so
//! that nothing is there twice; one that others may append to as well does not. Standard input is to be the same again,
//! from its beginning: what was read of it is skipped.

use super::input;
use super::streams::{Origin, Stream, Streams};
use nesl_prim::host::{HostState, OpenFile};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Seek, SeekFrom, Write};
use std::path::Path;

impl Streams {
    /// What another process must know of them. What was written has arrived then.
    ///
    /// # Errors
    /// If there is one that no other process can have.
    pub fn state(&mut self) -> Result<HostState, String> {
        let mut open = Vec::with_capacity(self.open.len());
        for (&stream, known) in &mut self.open {
            let (origin, position) = position(known)?;
            open.push(OpenFile { stream, path: origin.path.clone(), mode: origin.mode, position });
        }
        Ok(HostState { read: self.read, last_stream: self.last, open, ..HostState::default() })
    }

    /// Opens the files that another process had open.
    ///
    /// # Errors
    /// If one of them is not as it was.
    pub fn restore(&mut self, state: &HostState) -> Result<(), String> {
        for OpenFile { stream, path, mode, position } in &state.open {
            let failed = |error: io::Error| format!("{}: {error}", path.display());
            let file = reopened(path, *mode, *position).map_err(failed)?;
            let opened = self.stream_of(file, path, *mode).map_err(failed)?;
            self.open.insert(*stream, opened);
        }
        self.last = state.last_stream;
        self.read = state.read;
        skip(state.read).map_err(|error| format!("standard input: {error}"))
    }
}

/// The file of a stream, and how much of it was read or written.
fn position(stream: &mut Stream) -> Result<(&Origin, u64), String> {
    let pipe = || "a command that the program has started is connected to it by a pipe".to_owned();
    let (origin, file, ahead) = match stream {
        Stream::Reader { reader, file, origin } => (origin, file, reader.buffer().len() as u64),
        Stream::Writer { writer, file, origin } => {
            writer.flush().map_err(|error| format!("a file that it writes cannot be written: {error}"))?;
            (origin, file, 0)
        }
    };
    let (Some(origin), Some(file)) = (origin, file) else { return Err(pipe()) };
    let failed = |error: io::Error| format!("{}: {error}", origin.path.display());
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{} is open, and is no file", origin.path.display()));
    }
    let position = match origin.mode {
        // Nothing says where the end was before something was written there.
        3 => metadata.len(),
        _ => file.stream_position().map_err(failed)?,
    };
    Ok((origin, position.saturating_sub(ahead)))
}

fn reopened(path: &Path, mode: i64, position: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let mut file = match mode {
        1 => options.read(true),
        2 => options.write(true),
        _ => options.append(true),
    }
    .open(path)?;
    if file.metadata()?.len() < position {
        return Err(io::Error::other(format!("this file has lost some of its first {position} bytes")));
    }
    if mode == 2 {
        file.set_len(position)?;
    }
    file.seek(SeekFrom::Start(position))?;
    Ok(file)
}

/// Reads so many characters of standard input for nobody.
fn skip(mut count: u64) -> io::Result<()> {
    input::with_standard(|reader: &mut dyn BufRead| {
        while count > 0 {
            let ready = reader.fill_buf()?.len() as u64;
            if ready == 0 {
                return Err(io::Error::other(format!("it ends {count} characters before what was read")));
            }
            let skipped = ready.min(count);
            reader.consume(skipped as usize);
            count -= skipped;
        }
        Ok(())
    })
}
