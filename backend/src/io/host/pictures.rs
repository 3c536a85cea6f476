//! Pictures for programs: their names say in which format, and without a name they are what this terminal shows:
//! pixels, or text.

use crate::data::hold::Hold;
use nesl_picture::{Format, Kind, Picture, Protocol};
use nesl_prim::HostValue;
use nesl_prim::host::HostError;
use std::io::IsTerminal;

/// The picture that the operands of `host.picture` describe.
pub(super) fn draw(operands: &[HostValue], mut hold: Hold) -> Result<Vec<u8>, HostError> {
    let [name, kind, columns, words] = [0, 1, 2, 3].map(|operand| &operands[operand]);
    let [x, y] = [4, 5].map(|operand| operands[operand].as_column().elements());
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
        b"" => Ok(of_terminal()),
        name => Format::of_name(&String::from_utf8_lossy(name)),
    };
    format.and_then(|format| picture.draw(format)).map_err(HostError::Message)
}

/// The best that standard output can show.
fn of_terminal() -> Format {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let terminal = variable("TERM");
    if !std::io::stdout().is_terminal() || terminal == "dumb" {
        return Format::Text { has_colours: false };
    }
    match protocol(&terminal, &variable("TERM_PROGRAM"), &variable("NESL_PICTURES")) {
        Some(protocol) => Format::Graphics(protocol),
        None => Format::Text { has_colours: variable("NO_COLOR").is_empty() },
    }
}

/// How a terminal takes pixels, by what it says of itself, unless a person has said it. What stands between, such as
/// `tmux`, has a name of its own, and hands on no pixels.
fn protocol(terminal: &str, program: &str, said: &str) -> Option<Protocol> {
    let is_any = |names: &[&str]| names.iter().any(|name| terminal.contains(name));
    match said {
        "kitty" => Some(Protocol::Kitty),
        "sixel" => Some(Protocol::Sixel),
        "text" => None,
        _ if is_any(&["kitty", "ghostty"]) => Some(Protocol::Kitty),
        _ if is_any(&["sixel", "foot", "mlterm", "contour"]) => Some(Protocol::Sixel),
        _ if is_any(&["tmux", "screen"]) => None,
        _ => (program == "WezTerm").then_some(Protocol::Sixel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_say_how_they_take_pixels() {
        for (terminal, program, said, expected) in [
            ("xterm-kitty", "", "", Some(Protocol::Kitty)),
            ("xterm-ghostty", "ghostty", "", Some(Protocol::Kitty)),
            ("foot", "", "", Some(Protocol::Sixel)),
            ("xterm-256color", "WezTerm", "", Some(Protocol::Sixel)),
            ("tmux-256color", "WezTerm", "", None),
            ("xterm-256color", "", "", None),
            ("xterm-256color", "", "sixel", Some(Protocol::Sixel)),
            ("xterm-kitty", "", "text", None),
        ] {
            assert_eq!(protocol(terminal, program, said), expected, "{terminal} {program} {said}");
        }
    }
}
