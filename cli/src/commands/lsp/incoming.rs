//! What the server has to do with, in the order in which it arrives.

use lsp_server::{ErrorCode, Message, RequestId};

/// Something that the server has to do with.
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none: how the protocol calls that, and why.
    Malformed(ErrorCode, String),
    /// What a lens has started has ended.
    Finished(Finished),
    /// There is no more to come.
    End,
    /// There is more, but nobody can say where a message begins.
    Broken(String),
}

/// The end of something that a request has started.
pub struct Finished {
    /// The request.
    pub id: RequestId,
    /// What was printed, errors included; or why nothing could be started.
    pub outcome: Result<String, String>,
    /// Whether it was ended from here.
    pub was_cancelled: bool,
}
