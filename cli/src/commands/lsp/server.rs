//! The server: its documents, the phases of its life, and where each message goes.

use super::answers;
use super::conversion;
use super::documents::Documents;
use super::incoming::{Finished, Incoming};
use super::started::{self, COMMANDS, Started};
use crate::output::write_error;
use crate::stop::Stop;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::{
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ExecuteCommandParams, PublishDiagnosticsParams,
};
use nesl_backend::io::standard::StandardOutput;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::mpsc::Sender;

/// Where a server is in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Beginning,
    Serving,
    ShutDown,
}

/// The server.
pub struct Server {
    phase: Phase,
    documents: Documents,
    started: HashMap<RequestId, Started>,
    to_itself: Sender<Incoming>,
    output: StandardOutput,
}

impl Server {
    /// A server that hears of what it has started by `to_itself`.
    pub fn new(to_itself: Sender<Incoming>) -> Server {
        Server {
            phase: Phase::Beginning,
            documents: Documents::new(),
            started: HashMap::new(),
            to_itself,
            output: StandardOutput::default(),
        }
    }

    fn send(&mut self, message: impl Into<Message>) -> Result<(), Stop> {
        message.into().write(&mut self.output).map_err(|error| write_error(&error))
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, problem: impl Into<String>) -> Result<(), Stop> {
        self.send(Response::new_err(id, code as i32, problem.into()))
    }

    /// Answers a request that was cancelled before it was begun.
    pub fn refuse_cancelled(&mut self, id: RequestId) -> Result<(), Stop> {
        self.refuse(id, ErrorCode::RequestCanceled, "cancelled")
    }

    /// Ends what a request has started, if it has started something.
    pub fn end_started(&mut self, id: &RequestId) {
        if let Some(started) = self.started.get(id) {
            started.cancel();
        }
    }

    /// Does what a message asks for; says how the server ends, if it does.
    pub fn take(&mut self, incoming: Incoming) -> Result<Option<Result<(), Stop>>, Stop> {
        match incoming {
            Incoming::Message(Message::Request(request)) => self.request(request).map(|()| None),
            Incoming::Message(Message::Notification(notification)) if notification.method == "exit" => {
                let end = match self.phase {
                    Phase::ShutDown => Ok(()),
                    _ => Err(Stop::with_code(1, "")),
                };
                Ok(Some(end))
            }
            Incoming::Message(Message::Notification(notification)) => self.notification(notification).map(|()| None),
            // The server asks nothing.
            Incoming::Message(Message::Response(_)) => Ok(None),
            Incoming::Malformed(code, problem) => self.complain(code, &problem).map(|()| None),
            Incoming::Finished(finished) => self.finished(finished).map(|()| None),
            // An editor that has gone away has not said so.
            Incoming::End if self.phase == Phase::ShutDown => Ok(Some(Ok(()))),
            Incoming::End => Ok(Some(Err(Stop::with_code(1, "")))),
            Incoming::Broken(problem) => {
                self.complain(ErrorCode::ParseError, &problem)?;
                Ok(Some(Err(Stop::failed(format!(
                    "error: what arrives is not the language server protocol: {problem}"
                )))))
            }
        }
    }

    /// Says that something was no message: nobody knows which request it was.
    fn complain(&mut self, code: ErrorCode, problem: &str) -> Result<(), Stop> {
        use std::io::Write;
        let text =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": code as i32, "message": problem}}).to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.output.write_all(framed.as_bytes()).and_then(|()| self.output.flush()).map_err(|error| write_error(&error))
    }

    fn request(&mut self, request: Request) -> Result<(), Stop> {
        let Request { id, method, params } = request;
        match (self.phase, method.as_str()) {
            (Phase::Beginning, "initialize") => {
                self.phase = Phase::Serving;
                self.send(Response::new_ok(id, answers::capabilities()))
            }
            (Phase::Beginning, _) => self.refuse(id, ErrorCode::ServerNotInitialized, "initialize comes first"),
            (Phase::ShutDown, _) => self.refuse(id, ErrorCode::InvalidRequest, "the server has been shut down"),
            (Phase::Serving, "initialize") => {
                self.refuse(id, ErrorCode::InvalidRequest, "the server has been initialized")
            }
            (Phase::Serving, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.started.values().for_each(Started::cancel);
                self.send(Response::new_ok(id, Value::Null))
            }
            (Phase::Serving, "workspace/executeCommand") => self.execute(id, params),
            (Phase::Serving, method) => {
                let answer = answers::answer(method, params, |uri| self.documents.get(uri.as_str()));
                match answer {
                    Ok(result) => self.send(Response::new_ok(id, result)),
                    Err((code, problem)) => self.refuse(id, code, problem),
                }
            }
        }
    }

    fn notification(&mut self, notification: Notification) -> Result<(), Stop> {
        if self.phase != Phase::Serving {
            return Ok(());
        }
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document }) = parameters(notification) {
                    self.documents.open(text_document);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(changes) = parameters(notification) {
                    self.documents.change(changes);
                }
            }
            DidChangeWatchedFiles::METHOD => self.documents.read_again(None),
            DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = parameters(notification)
                    && self.documents.close(&text_document.uri)
                {
                    // What was said of it is said no more.
                    let nothing = PublishDiagnosticsParams::new(text_document.uri, Vec::new(), None);
                    return self.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), nothing));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Says what is wrong with one document that nobody has heard of yet; whether there was one.
    pub fn publish_one(&mut self) -> Result<bool, Stop> {
        let Some(open) = self.documents.next_unreported() else { return Ok(false) };
        let wrong = open.document.diagnostics().iter();
        let wrong = wrong.map(|message| conversion::diagnostic(&open.document, &open.uri, message)).collect();
        let report = PublishDiagnosticsParams::new(open.uri.clone(), wrong, Some(open.version));
        self.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), report))?;
        Ok(true)
    }

    /// Starts what a lens stands for.
    fn execute(&mut self, id: RequestId, params: Value) -> Result<(), Stop> {
        let Ok(params) = serde_json::from_value::<ExecuteCommandParams>(params) else {
            return self.refuse(id, ErrorCode::InvalidParams, "no command is named");
        };
        let Some((_, word)) = COMMANDS.iter().find(|(name, _)| *name == params.command) else {
            return self.refuse(id, ErrorCode::InvalidParams, format!("there is no command `{}`", params.command));
        };
        let uri = params.arguments.first().and_then(Value::as_str).unwrap_or("");
        let Some(open) = self.documents.get(uri) else {
            return self.refuse(id, ErrorCode::InvalidParams, format!("`{uri}` is not open"));
        };
        let folder = conversion::path(uri).and_then(|path| path.parent().map(std::path::Path::to_owned));
        let program = (open.document.syntax(), open.document.text().to_owned());
        let started = started::start(id.clone(), word, program, folder, self.to_itself.clone());
        self.started.insert(id, started);
        Ok(())
    }

    fn finished(&mut self, finished: Finished) -> Result<(), Stop> {
        let Finished { id, outcome, was_cancelled } = finished;
        self.started.remove(&id);
        match outcome {
            _ if was_cancelled => self.refuse_cancelled(id),
            Ok(printed) => self.send(Response::new_ok(id, printed)),
            Err(problem) => self.refuse(id, ErrorCode::RequestFailed, problem),
        }
    }
}

/// What a notification says; nothing if that cannot be read: there is nobody to tell.
fn parameters<P: DeserializeOwned>(notification: Notification) -> Option<P> {
    serde_json::from_value(notification.params).ok()
}
