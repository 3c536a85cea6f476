//! Flags that end native code when its time is over. One thread sets all of them, in the order in which they were asked
//! for: one whose time is over before that of another who was first may be late by as much.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// A flag that will be set after a while; none where this process can have no more threads.
pub(in crate::machine) fn set_after(time: Duration) -> Option<Arc<AtomicBool>> {
    type Alarm = (Instant, Arc<AtomicBool>);
    static CLOCK: OnceLock<Option<Sender<Alarm>>> = OnceLock::new();
    let clock = CLOCK.get_or_init(|| {
        let (sender, alarms) = channel::<Alarm>();
        let run = move || {
            for (time, flag) in alarms {
                thread::sleep(time.saturating_duration_since(Instant::now()));
                flag.store(true, Relaxed);
            }
        };
        thread::Builder::new().name("alarms".to_owned()).stack_size(64 << 10).spawn(run).ok().map(|_| sender)
    });
    let flag = Arc::new(AtomicBool::new(false));
    clock.as_ref()?.send((Instant::now() + time, Arc::clone(&flag))).ok()?;
    Some(flag)
}
