//! What rank 0 says while a session goes on: to the other ranks what it does, and to whoever passes the session on to a
//! terminal when an input begins, ends and is answered.

use super::Next;
use super::ranks::{Request, Turn, UNIT, WRONG, end_turn};
use super::session::Repl;
use crate::output::MARK;
use crate::stop::Stop;
use nesl_backend::Engine;
use nesl_service::KnownName;

impl<E: Engine> Repl<E> {
    /// Tells the other ranks what this one does now.
    pub(super) fn together(&mut self, request: &Request<'_>) {
        self.link.tell(request);
    }

    /// An input is evaluated from here on.
    pub(super) fn begin_turn(&mut self) {
        self.since = self.link.moment();
        self.say_turn(Turn::Begins);
    }

    /// What comes now is this part of an input.
    pub(super) fn say_turn(&self, turn: Turn) {
        if let Some(mark) = &self.options.turns {
            turn.say(mark);
        }
    }

    /// It has been.
    pub(super) fn end_turn(&self) {
        end_turn(&self.options);
    }

    /// Tells whoever passes this session on that an input has been answered, the number of the next and what it is in,
    /// whether the last was wrong, and which names can be used now.
    pub(super) fn say_mark(&self, answered: Next) -> Result<(), Stop> {
        let Some(mark) = &self.options.mark else { return Ok(()) };
        eprintln!("{MARK}{mark}");
        let names = self.names().into_iter().map(|KnownName { name, ty, .. }| format!("{UNIT}{name}{UNIT}{ty}"));
        let (number, syntax) = (self.number(), self.syntax.name());
        let wrong = if answered == Next::GoAfterError { WRONG } else { "" };
        self.answer(&format!("{MARK}{mark} {number} {syntax} {wrong}{}\n", names.collect::<String>()))
    }
}
