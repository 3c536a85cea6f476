//! A line that says how an evaluation goes on, at a terminal, after a second of work.
//!
//! ```text
//!  12 s   4.1e8 elements   840 MiB   queens.nesl:9  let safe = {c in all | ok(c, board)}
//! ```
//! It stands on standard error, is drawn anew a few times a second, and is erased when the evaluation ends. Programs
//! that print, or read what somebody types, say themselves how they get on: from then on there is no line. Whoever
//! else writes to the terminal meanwhile [erases](erase) it first.

use crate::output::remark;
use crate::screen::Screen;
use nesl_backend::{Meter, Whereabouts};
use nesl_prim::host::{HostError, HostState, Share};
use nesl_prim::{Failure, Host, HostOp, HostValue, visible};
use nesl_span::{Origin, SourceMap, Span};
use nesl_vcode::Program;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(250);

/// What moves the cursor to the beginning of its line, and makes the line empty.
const EMPTY_LINE: &str = "\r\u{1b}[K";

/// The line of this process's terminal.
static LINE: Mutex<Line> = Mutex::new(Line { is_open: false, is_drawn: false });

struct Line {
    /// Whether it may be drawn.
    is_open: bool,
    /// Whether it stands there.
    is_drawn: bool,
}

impl Line {
    fn lock() -> MutexGuard<'static, Line> {
        LINE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&mut self, text: &str) {
        if self.is_open {
            self.is_drawn = true;
            // The cursor stands before the line: what the terminal shows of a key, such as `^C`, begins no other.
            remark(&format!("{EMPTY_LINE}{text}\r"));
        }
    }

    fn close(&mut self) {
        self.is_open = false;
        if std::mem::take(&mut self.is_drawn) {
            remark(EMPTY_LINE);
        }
    }
}

/// Makes room for what somebody else writes to the terminal: the line is gone until the next evaluation.
pub fn erase() {
    Line::lock().close();
}

/// What is evaluated.
pub struct Evaluation<'a> {
    /// The program.
    pub program: &'a Program,
    /// The texts that its places are in.
    pub sources: &'a SourceMap,
    /// Where it is.
    pub whereabouts: &'a Whereabouts,
    /// What it takes; none where that is not known in one place.
    pub meter: Option<Arc<Meter>>,
}

impl Evaluation<'_> {
    /// Runs it, with the line.
    pub fn shown<R>(&self, run: impl FnOnce() -> R) -> R {
        let begun = Instant::now();
        let elements = self.meter.as_ref().map_or(0, |meter| meter.elements());
        let is_over = Over::default();
        std::thread::scope(|scope| {
            Line::lock().is_open = true;
            let watch = || {
                let mut wait = PATIENCE;
                while !is_over.within(wait) {
                    if is_in_foreground() {
                        Line::lock().draw(&self.text(begun.elapsed(), elements));
                    }
                    wait = EVERY;
                }
            };
            // Without a thread for it there is no line.
            let _ = std::thread::Builder::new().spawn_scoped(scope, watch);
            let _ending = Ending(&is_over);
            run()
        })
    }

    fn text(&self, elapsed: Duration, elements_before: u64) -> String {
        let seconds = elapsed.as_secs();
        let time = match seconds {
            0..60 => format!("{seconds} s"),
            _ => format!("{}:{:02}", seconds / 60, seconds % 60),
        };
        let mut text = format!(" {time}");
        if let Some(meter) = &self.meter {
            text += &format!("   {} elements", count(meter.elements().saturating_sub(elements_before)));
            text += &format!("   {}", bytes(meter.resident()));
        }
        if let Some(place) = self.place() {
            let (file, (line, _)) = (self.sources.file(place.file), self.sources.line_column(place));
            let source = file.text.lines().nth(line - 1).unwrap_or_default();
            text += &format!("   {}:{line}  {}", visible::line(&file.name), visible::line(source.trim()));
        }
        // A line that is as wide as the terminal would be two.
        let width = Screen::now().size().0.saturating_sub(1);
        text.chars().take(width).collect()
    }

    /// The nearest place in user code.
    fn place(&self) -> Option<Span> {
        let is_user = |span: &Span| {
            let mut files = self.sources.files();
            files.any(|(id, file)| id == span.file && file.origin == Origin::User)
        };
        self.program.chain(self.whereabouts.place()?).find(is_user)
    }
}

/// Whether an evaluation is over, for who waits for that.
#[derive(Default)]
struct Over {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits so long, or until it is over; whether it is.
    fn within(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The end of an evaluation, however it ends.
struct Ending<'a>(&'a Over);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.0.lock() = true;
        self.0.changed.notify_all();
        erase();
    }
}

/// A number that nobody reads digit by digit.
fn count(number: u64) -> String {
    if number < 1_000_000 { number.to_string() } else { format!("{:.1e}", number as f64) }
}

fn bytes(number: u64) -> String {
    match number {
        0..=0xf_ffff => format!("{} KiB", number >> 10),
        0x10_0000..=0x3fff_ffff => format!("{} MiB", number >> 20),
        _ => format!("{:.1} GiB", number as f64 / f64::from(1 << 30)),
    }
}

/// Whether what this process writes to its terminal is seen as its own: not while it runs in the background. Systems
/// that do not say are believed.
fn is_in_foreground() -> bool {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything: state, parent, group, session, terminal, the terminal's group.
    let numbers = status.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = numbers.split(' ').take(6).collect();
    fields.len() < 6 || fields[2] == fields[5]
}

/// A world outside that shares the terminal with the line: what a program prints stands where the line was, and there
/// is none after it.
pub struct Considerate<H>(pub H);

impl<H: Host> Host for Considerate<H> {
    fn perform(&mut self, op: HostOp, operands: &[HostValue], share: Share<'_>) -> Result<Vec<HostValue>, HostError> {
        match op {
            HostOp::Print | HostOp::Write(_) | HostOp::Read | HostOp::Run | HostOp::Spawn => erase(),
            _ => {}
        }
        self.0.perform(op, operands, share)
    }

    fn interrupt_on(&mut self, flag: Arc<AtomicBool>) {
        self.0.interrupt_on(flag);
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.0.flush()
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        self.0.end_line()
    }

    fn state(&mut self) -> Result<HostState, String> {
        self.0.state()
    }

    fn restore(&mut self, state: &HostState) -> Result<(), String> {
        self.0.restore(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_vcode::{Place, SiteId};

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 999_999, 1_000_000, 412_345_678].map(count), ["0", "999999", "1.0e6", "4.1e8"]);
        assert_eq!([0, 5 << 10, 840 << 20, 3 << 29].map(bytes), ["0 KiB", "5 KiB", "840 MiB", "1.5 GiB"]);
    }

    #[test]
    fn a_line_says_how_long_how_much_and_where() {
        let mut sources = SourceMap::default();
        let library = sources.add("stdlib/a.nesl", "sum", Origin::Library);
        let user = sources.add("a.nesl", "v = [1];\n  sum(v);\n", Origin::User);
        let mut program = Program::default();
        program.sites.push(Place::from(Span::new(user, 11, 17)));
        let whereabouts = Whereabouts::default();
        let meter = Some(Meter::new(None));
        let evaluation = Evaluation { program: &program, sources: &sources, whereabouts: &whereabouts, meter };
        assert_eq!(evaluation.text(Duration::from_secs(7), 0), " 7 s   0 elements   0 KiB");
        assert_eq!(evaluation.text(Duration::from_secs(125), 0), " 2:05   0 elements   0 KiB");
        // In a library function whose body stands where it was called: the call counts.
        whereabouts.note(Place { span: Span::new(library, 0, 3), within: Some(SiteId(0)) });
        assert_eq!(evaluation.text(Duration::from_secs(7), 0), " 7 s   0 elements   0 KiB   a.nesl:2  sum(v);");
    }
}
