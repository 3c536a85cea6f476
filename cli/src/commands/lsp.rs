//! `nesl lsp`: a server for editors, over the language server protocol on standard input and output.
//!
//! ```text
//! framing   messages from bytes                    conversion  places and lists as the protocol has them
//! server    documents, order of messages, phases   answers     what is answered to which request
//! documents what is open in the editor             incoming    what there is to do
//! started   what code lenses start                 library     texts of the library as files
//! ```
//!
//! One thread reads, this one does everything else in the order of the messages; a request that is cancelled while it
//! waits is never begun. What is wrong with a text is said when nothing else waits, so that somebody who types is not
//! kept waiting by what every letter changes.

mod answers;
mod conversion;
mod documents;
mod framing;
mod incoming;
mod library;
mod server;
mod started;

use crate::stop::Stop;
use clap::Args;
use incoming::Incoming;
use lsp_server::{Message, Notification};
use server::Server;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

#[derive(Args, Debug)]
#[command(after_help = "Editors start it: see docs/editors.md.\n\nExample: nesl lsp")]
pub struct Arguments {
    /// Speak over standard input and output: there is no other way, and some editors say so
    #[arg(long)]
    stdio: bool,
}

/// Serves until the editor says that it ends.
pub fn run(_: &Arguments) -> Result<(), Stop> {
    let (sender, receiver) = channel();
    let from_reader = sender.clone();
    std::thread::spawn(move || framing::read(&mut std::io::stdin().lock(), &from_reader));
    let mut server = Server::new(sender);
    let mut waiting = VecDeque::new();
    loop {
        let Some(incoming) = next(&mut server, &receiver, &mut waiting)? else { continue };
        if let Some(end) = server.take(incoming)? {
            return end;
        }
    }
}

/// What is to be done next; nothing if time was used for what is wrong with a text.
fn next(
    server: &mut Server,
    receiver: &Receiver<Incoming>,
    waiting: &mut VecDeque<Incoming>,
) -> Result<Option<Incoming>, Stop> {
    loop {
        match receiver.try_recv() {
            Ok(Incoming::Message(Message::Notification(cancel))) if cancel.method == "$/cancelRequest" => {
                cancelled(server, &cancel, waiting)?;
            }
            Ok(incoming) => waiting.push_back(incoming),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    if let Some(incoming) = waiting.pop_front() {
        return Ok(Some(incoming));
    }
    if server.publish_one()? {
        return Ok(None);
    }
    match receiver.recv() {
        Ok(Incoming::Message(Message::Notification(cancel))) if cancel.method == "$/cancelRequest" => {
            cancelled(server, &cancel, waiting)?;
            Ok(None)
        }
        Ok(incoming) => Ok(Some(incoming)),
        Err(_) => Ok(Some(Incoming::End)),
    }
}

/// Takes a request that waits off the list, or ends what it has started.
fn cancelled(server: &mut Server, cancel: &Notification, waiting: &mut VecDeque<Incoming>) -> Result<(), Stop> {
    let Ok(id) = serde_json::from_value(cancel.params["id"].clone()) else { return Ok(()) };
    let is_it =
        |incoming: &Incoming| matches!(incoming, Incoming::Message(Message::Request(request)) if request.id == id);
    match waiting.iter().position(is_it) {
        Some(index) => {
            waiting.remove(index);
            server.refuse_cancelled(id)
        }
        None => {
            server.end_started(&id);
            Ok(())
        }
    }
}
