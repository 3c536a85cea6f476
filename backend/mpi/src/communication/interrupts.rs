//! Stopping one evaluation on all ranks, so that they go on together with the next.
//!
//! Ranks run the same program, but not at the same time: one may be computing what another has done already. So a rank
//! that simply stopped would leave others waiting for it, or messages on their way that nobody receives. What is the
//! same on all ranks is the sequence of their *acts*: all that they do together is one, collectives and exchanges, and
//! each rank counts them. An interrupt is agreed upon by that number:
//!
//! ```text
//! signal ─▶ each rank gives the number of the last act it has begun, and begins no other
//!           the greatest of these numbers is where all stop: who has not got there goes on until it has
//!           who has, stops: at the next line of the program, in a long instruction, in native code, at the latest
//!           where the next act would begin
//! ```
//! The greatest number can always be reached, because a rank has reached it by the same program. Where a rank does
//! something by itself and then tells the others ([`alone`]: its instances, what rank 0 does outside), it stops at
//! once, which is a failure like any other there. At the end of an evaluation there is one more act, after which all
//! know whether it was interrupted.
//!
//! The signal may come while a rank computes for long, so the numbers are exchanged by a thread of their own, which
//! sleeps until then. It uses MPI only while nobody else of the rank does, in an act or between two; who does looks
//! after it. An evaluation ends by unwinding where the next act would begin: no rank has sent anything there that
//! others do not receive. A job that nobody can interrupt has none of this.

#![allow(
    unsafe_code,
    reason = "the exchange of numbers outlives the calls that begin it; every block says why it is sound"
)]

use crate::communication::members::Members;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Equivalence as _};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often the exchange of numbers is looked at.
const TICK: Duration = Duration::from_micros(200);

/// How long a signal may take to all ranks, and how often that is looked at.
const SIGNAL: Duration = Duration::from_millis(20);
const TRIES: usize = 50;

/// Whether this process was asked, and has not begun to answer.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Those of this process, where it can be interrupted.
static OWN: OnceLock<Interrupts> = OnceLock::new();

/// What unwinds an evaluation.
struct Stopped;

/// What this rank knows of interrupts.
struct Interrupts {
    state: Mutex<State>,
    /// An act has ended.
    ended: Condvar,
    /// What computations look at.
    stop: Arc<AtomicBool>,
    /// Numbers are being exchanged.
    pending: AtomicBool,
    /// What is done when all have given theirs.
    agreed: Box<dyn Fn() + Send + Sync>,
}

/// The numbers of one interrupt.
struct Exchange {
    own: u64,
    greatest: u64,
    request: ffi::MPI_Request,
}

struct State {
    communicator: ffi::MPI_Comm,
    /// Acts begun so far.
    begun: u64,
    /// In the last of them.
    acting: bool,
    /// Talking to some ranks only, between two of them.
    talking: bool,
    /// Doing something by itself.
    alone: bool,
    /// The act after which an interrupt ends the evaluation that is running; none where none is.
    evaluation: Option<u64>,
    exchange: Option<Box<Exchange>>,
    /// Where all stop, by the last interrupt.
    last: u64,
    /// The job ends: nobody answers any more.
    closed: bool,
    /// Ranks come and go, or this one is parked: nobody answers until that is over.
    held: bool,
}

// SAFETY: the handles of MPI are names of what MPI keeps; whoever has the lock is the only thread that uses MPI then.
unsafe impl Send for State {}

impl State {
    /// Answers an interrupt, and looks whether all have. Only where nobody else uses MPI.
    fn step(&mut self, own: &Interrupts) {
        if self.held && !self.closed {
            return;
        }
        if self.closed {
            ASKED.store(false, SeqCst);
        } else {
            if self.exchange.is_none() && ASKED.swap(false, SeqCst) {
                self.exchange = Some(Exchange::begin(self.begun, self.communicator));
            }
            if self.exchange.as_mut().is_some_and(|exchange| exchange.is_done())
                && let Some(exchange) = self.exchange.take()
            {
                self.last = exchange.greatest;
                (own.agreed)();
            }
        }
        own.pending.store(self.is_pending(), SeqCst);
        own.stop.store(self.stops(), SeqCst);
    }

    fn is_pending(&self) -> bool {
        self.exchange.is_some() || ASKED.load(SeqCst)
    }

    /// Whether the evaluation that is running is to be stopped.
    fn is_over(&self) -> bool {
        self.evaluation.is_some_and(|since| self.last >= since)
    }

    /// Whether this rank is to stop where it is.
    fn stops(&self) -> bool {
        let is_there = self.is_over() && self.begun >= self.last && !self.acting;
        let by_itself = self.alone && self.evaluation.is_some() && (self.is_pending() || self.is_over());
        is_there || by_itself
    }
}

impl Exchange {
    fn begin(own: u64, communicator: ffi::MPI_Comm) -> Box<Exchange> {
        // SAFETY: a handle of MPI, which is no pointer that anything here follows.
        let request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let mut exchange = Box::new(Exchange { own, greatest: 0, request });
        let datatype = u64::equivalent_datatype();
        // SAFETY: the numbers lie in a box that lives until the request is done, or forever; all ranks make this call
        // once for each interrupt, on a communicator that is used for nothing else.
        unsafe {
            ffi::MPI_Iallreduce(
                (&raw const exchange.own).cast(),
                (&raw mut exchange.greatest).cast(),
                1,
                datatype.as_raw(),
                ffi::RSMPI_MAX,
                communicator,
                &raw mut exchange.request,
            );
        }
        exchange
    }

    fn is_done(&mut self) -> bool {
        let mut done = 0;
        // SAFETY: the request is that of this exchange, which has not been done before.
        unsafe {
            ffi::MPI_Test(&raw mut self.request, &raw mut done, ffi::RSMPI_STATUS_IGNORE);
        }
        done != 0
    }
}

impl Interrupts {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic ends the job.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an act, as soon as no interrupt is pending; gives also whether the evaluation is over. None if this act
    /// must not be begun for that.
    fn begin(&'static self, is_last: bool) -> Option<(Act, bool)> {
        loop {
            let mut state = self.lock();
            state.step(self);
            if !state.is_pending() {
                let is_over = state.is_over();
                if is_over && !is_last && state.begun >= state.last {
                    return None;
                }
                state.begun += 1;
                state.acting = true;
                self.stop.store(state.stops(), SeqCst);
                return Some((Act(self), is_over));
            }
            drop(state);
            std::thread::sleep(TICK);
        }
    }

    /// Answers interrupts while this rank computes. Runs on a thread of its own.
    fn listen(&self) {
        while signals::wait() {
            loop {
                let mut state = self.lock();
                while (state.acting || state.talking || state.held) && state.is_pending() {
                    state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                state.step(self);
                if !state.is_pending() {
                    break;
                }
                drop(state);
                std::thread::sleep(TICK);
            }
        }
    }
}

/// An act that has begun; it ends when this is dropped.
#[must_use]
pub(crate) struct Act(&'static Interrupts);

impl Drop for Act {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.acting = false;
        self.0.stop.store(state.stops(), SeqCst);
        drop(state);
        self.0.ended.notify_one();
    }
}

/// Begins an act of all ranks; nothing where nobody interrupts. Where the evaluation is over it unwinds instead.
pub(crate) fn act() -> Option<Act> {
    let own = OWN.get()?;
    if own.lock().held {
        return None;
    }
    match own.begin(false) {
        Some((act, _)) => Some(act),
        None => stop(),
    }
}

/// Messages between some ranks only, until this is dropped.
#[must_use]
pub(crate) struct Words(&'static Interrupts);

impl Drop for Words {
    fn drop(&mut self) {
        self.0.lock().talking = false;
        self.0.ended.notify_one();
    }
}

/// Begins to talk to some ranks only, which is no act: it follows one that says so
/// ([`crate::communication::communicator::Communicator::line`]). Meanwhile the thread that talks looks after
/// interrupts.
pub(crate) fn words() -> Option<Words> {
    let own = OWN.get()?;
    own.lock().talking = true;
    Some(Words(own))
}

/// Looks after interrupts for one who waits in an act, or for words.
pub(crate) fn poll() {
    if let Some(own) = OWN.get()
        && (ASKED.load(SeqCst) || own.pending.load(SeqCst))
    {
        own.lock().step(own);
    }
}

/// Unwinds the evaluation, which is over.
pub(crate) fn stop() -> ! {
    resume_unwind(Box::new(Stopped))
}

/// Does what this rank does by itself, after which it tells the others whether it went well: it may be stopped at any
/// time.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    let set = |alone: bool| {
        if let Some(own) = OWN.get() {
            let mut state = own.lock();
            state.alone = alone;
            own.stop.store(state.stops(), SeqCst);
        }
    };
    set(true);
    let done = work();
    set(false);
    done
}

/// The number of acts begun so far.
pub(crate) fn moment() -> u64 {
    OWN.get().map_or(0, |own| own.lock().begun)
}

/// Runs an evaluation, which an interrupt after the act with this number ends, and an act of all ranks at its end:
/// `barrier`. None on all ranks if it was interrupted.
pub(crate) fn evaluation<R>(since: u64, run: impl FnOnce() -> R, barrier: impl FnOnce()) -> Option<R> {
    let Some(own) = OWN.get() else { return Some(run()) };
    let set = |evaluation: Option<u64>| {
        let mut state = own.lock();
        state.evaluation = evaluation;
        own.stop.store(state.stops(), SeqCst);
    };
    set(Some(since));
    let outcome: Result<R, Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(run));
    let (act, is_over) = own.begin(true)?;
    barrier();
    drop(act);
    set(None);
    match outcome {
        Ok(result) => (!is_over).then_some(result),
        Err(reason) if reason.is::<Stopped>() => None,
        Err(reason) => resume_unwind(reason),
    }
}

/// Makes this rank one that can be interrupted: all ranks call it together, after [`prepare`]; one that comes to others
/// [goes on](resume) with them, and has no `members` before. `agreed` is called when all have heard of an interrupt:
/// the next one may be sent then.
pub(crate) fn watch(members: Option<&Members>, agreed: impl Fn() + Send + Sync + 'static) {
    let state = State {
        communicator: exchanging(members),
        // Making the communicator was the first; no interrupt has come before it.
        begun: 1,
        acting: false,
        talking: false,
        alone: false,
        evaluation: None,
        exchange: None,
        last: 0,
        closed: false,
        held: members.is_none(),
    };
    let own = OWN.get_or_init(|| Interrupts {
        state: Mutex::new(state),
        ended: Condvar::new(),
        stop: Arc::default(),
        pending: AtomicBool::new(false),
        agreed: Box::new(agreed),
    });
    std::thread::spawn(|| own.listen());
}

/// A communicator for exchanges of numbers among ranks, which lasts as long as they do.
fn exchanging(members: Option<&Members>) -> ffi::MPI_Comm {
    match members {
        Some(members) => {
            let communicator = members.duplicate();
            let handle = communicator.as_raw();
            std::mem::forget(communicator);
            handle
        }
        // SAFETY: a handle of MPI, which is no pointer that anything here follows.
        None => unsafe { ffi::RSMPI_COMM_NULL },
    }
}

/// Answers no interrupt from here on until it is to [go on](resume), as soon as those that have come are answered:
/// which ranks there are changes. All ranks call it together.
pub(crate) fn hold() {
    let Some(own) = OWN.get() else { return };
    let Some((act, _)) = own.begin(true) else { return };
    let mut state = own.lock();
    state.held = true;
    // SAFETY: all ranks have answered what there was to answer, and use the communicator no more.
    unsafe {
        if state.communicator != ffi::RSMPI_COMM_NULL {
            ffi::MPI_Comm_free(&raw mut state.communicator);
        }
    }
    drop(state);
    drop(act);
}

/// Answers interrupts again, with these ranks, all of which call it together. Those that were there before may have got
/// a signal meanwhile, perhaps not all of them yet; it is one for the new ones, too.
pub(crate) fn resume(members: &Members, was_there: bool) {
    let Some(own) = OWN.get() else { return };
    let ranks = members.layout().ranks;
    let mut begun = 0;
    for _ in 0..TRIES {
        let mine = [own.lock().begun, u64::from(was_there), u64::from(ASKED.load(SeqCst))];
        let mut all = vec![0u64; 3 * ranks];
        members.all_gather_into(&mine[..], &mut all[..]);
        let rows = all.as_chunks::<3>().0;
        begun = rows.iter().map(|row| row[0]).max().unwrap_or(0);
        let asked = rows.iter().filter(|row| row[1] == 1).map(|row| row[2] == 1);
        let (some, others) = asked.partition::<Vec<bool>, _>(|&asked| asked);
        if some.is_empty() || others.is_empty() {
            ASKED.store(!some.is_empty(), SeqCst);
            break;
        }
        std::thread::sleep(SIGNAL);
    }
    let communicator = exchanging(Some(members));
    let mut state = own.lock();
    (state.communicator, state.begun, state.held) = (communicator, begun + 1, false);
    own.stop.store(state.stops(), SeqCst);
    drop(state);
    own.ended.notify_one();
}

/// The flag that computations on this rank look at, where it can be interrupted.
pub fn flag() -> Option<Arc<AtomicBool>> {
    OWN.get().map(|own| Arc::clone(&own.stop))
}

/// Answers no interrupt any more: before this rank leaves MPI.
pub(crate) fn close() {
    let Some(own) = OWN.get() else { return };
    let mut state = own.lock();
    state.closed = true;
    // The others may still write to what an exchange has begun with.
    state.exchange.take().map(Box::leak);
    state.step(own);
}

/// From here on the signal of an interrupt, SIGUSR1, does not end this process.
pub fn prepare() {
    signals::prepare();
}

#[cfg(unix)]
mod signals {
    use super::{ASKED, SeqCst};
    use std::sync::atomic::AtomicI32;

    /// Both ends of the pipe that wakes the thread: a handler may write to it, and do little else.
    static READ: AtomicI32 = AtomicI32::new(-1);
    static WRITE: AtomicI32 = AtomicI32::new(-1);

    extern "C" fn ask(_: libc::c_int) {
        ASKED.store(true, SeqCst);
        // SAFETY: write may be called in a handler; the byte lives during the call, and what it returns does not
        // matter: a pipe that is full wakes the thread as well.
        unsafe {
            libc::write(WRITE.load(SeqCst), [0u8].as_ptr().cast(), 1);
        }
    }

    pub(super) fn prepare() {
        let mut ends = [-1; 2];
        let handler: extern "C" fn(libc::c_int) = ask;
        // SAFETY: pipe fills in two numbers; the handler does what handlers may.
        unsafe {
            if libc::pipe(ends.as_mut_ptr()) == 0 {
                READ.store(ends[0], SeqCst);
                WRITE.store(ends[1], SeqCst);
                // Programs that this process starts have nothing to do with it.
                ends.iter().for_each(|&end| _ = libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC));
                libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK);
                libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
            }
        }
    }

    /// Waits for the signal; false where none can come.
    pub(super) fn wait() -> bool {
        let mut byte = [0u8];
        loop {
            // SAFETY: there is room for the one byte that is read.
            let count = unsafe { libc::read(READ.load(SeqCst), byte.as_mut_ptr().cast(), 1) };
            match count {
                1 => return true,
                -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                _ => return false,
            }
        }
    }
}

#[cfg(not(unix))]
mod signals {
    pub(super) fn prepare() {}

    pub(super) fn wait() -> bool {
        false
    }
}
