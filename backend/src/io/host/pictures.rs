//! Pictures for programs: their names say in which format, and without a name they are text for this terminal.

use crate::data::hold::Hold;
use nesl_picture::{Format, Kind, Picture};
use nesl_prim::host::HostError;
use nesl_prim::{Constants, HostValue};
use std::io::IsTerminal;

/// The picture that the operands of `host.picture` describe.
pub(super) fn draw(operands: &[HostValue], mut hold: Hold) -> Result<Vec<u8>, HostError> {
    let [name, kind, columns, words, HostValue::Column(Constants::Float(x)), HostValue::Column(Constants::Float(y))] =
        operands
    else {
        unreachable!("a row says what the operands are")
    };
    let words = String::from_utf8_lossy(words.as_text()).into_owned();
    let mut words = words.splitn(3, '\0');
    let mut word = || words.next().unwrap_or_default();
    let kind = usize::try_from(kind.as_int()).ok().and_then(|kind| Kind::ALL.get(kind).copied());
    let (title, x_label, y_label) = (word(), word(), word());
    let picture = Picture {
        kind: kind.ok_or_else(|| HostError::Message("there is no such kind of picture".to_owned()))?,
        title,
        x_label,
        y_label,
        columns: usize::try_from(columns.as_int()).unwrap_or(0),
        x,
        y,
    };
    // Pixels, and packed pixels: at most this while it is drawn.
    hold.fill(&mut Vec::<u8>::new(), y.len().saturating_mul(8))?;
    let format = match name.as_text() {
        b"" => Ok(Format::Text { has_colours: has_colours() }),
        name => Format::of_name(&String::from_utf8_lossy(name)),
    };
    format.and_then(|format| picture.draw(format)).map_err(HostError::Message)
}

/// Whether standard output is a terminal with colours, and nobody objects.
fn has_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
