//! The terminal that is standard input: how it is set, and whether this process may read it.

/// How a terminal is set: for a process that must end while it edits a line.
#[cfg(unix)]
pub struct TerminalSettings(Option<nix::sys::termios::Termios>);

#[cfg(unix)]
impl TerminalSettings {
    /// Those of standard input, as they are now.
    pub fn remember() -> TerminalSettings {
        TerminalSettings(nix::sys::termios::tcgetattr(std::io::stdin()).ok())
    }

    /// Sets it as it was.
    pub fn restore(&self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(settings) = &self.0 {
            // A terminal that is gone needs no settings.
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, settings);
        }
    }
}

/// Whether this process may read the terminal that is its standard input: one in the background would be stopped.
#[cfg(unix)]
pub fn is_in_foreground() -> bool {
    nix::unistd::tcgetpgrp(std::io::stdin()) == Ok(nix::unistd::getpgrp())
}

/// How a terminal is set, where that is not known.
#[cfg(not(unix))]
pub struct TerminalSettings;

#[cfg(not(unix))]
impl TerminalSettings {
    /// Nothing.
    pub fn remember() -> TerminalSettings {
        TerminalSettings
    }

    /// Nothing.
    pub fn restore(&self) {}
}

/// Always, where nothing else is known.
#[cfg(not(unix))]
pub fn is_in_foreground() -> bool {
    true
}
