//! Looks after a running guest: QEMU's own word for its state, and a reset that hangs.

use super::qemu::Monitor;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a guest is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// The last words of a Linux that has asked its machine for a reset: nothing but firmware can follow.
const RESETTING: [&str; 2] = ["reboot: machine restart", "reboot: Restarting system"];

/// Guests that were reset from outside since the lab was started.
static RESETS: AtomicU32 = AtomicU32::new(0);

/// How many guests were reset from outside so far, because they hung in a reset of their own.
pub(super) fn resets() -> u32 {
    RESETS.load(Ordering::Relaxed)
}

/// What the watch of one QEMU has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// The lab itself ends it: what is seen from now on means nothing.
    over: AtomicBool,
    /// Why the guest does not run any more, though nobody stopped it.
    stopped: Mutex<Option<String>>,
}

impl Seen {
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    pub(super) fn stopped(&self) -> Option<String> {
        self.stopped.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn stop(&self, why: String) {
        *self.stopped.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(why);
    }
}

/// A guest that is looked after.
pub(super) struct Subject {
    pub(super) name: String,
    /// A monitor socket of this QEMU that nobody else uses.
    pub(super) socket: PathBuf,
    pub(super) serial: PathBuf,
    /// Silence after [`RESETTING`] from which the guest is taken to hang.
    pub(super) silence: Duration,
    /// Called once where QEMU stopped the guest.
    pub(super) on_stop: fn(&str),
}

/// Starts a thread that looks after this guest; it ends with QEMU.
pub(super) fn start(subject: Subject) -> Arc<Seen> {
    let seen = Arc::new(Seen::default());
    let watch = Arc::clone(&seen);
    std::thread::spawn(move || follow(&subject, &watch));
    seen
}

fn follow(subject: &Subject, seen: &Seen) {
    let Ok(mut monitor) = Monitor::connect(&subject.socket, Duration::from_secs(60)) else { return };
    let mut reset = Reset::default();
    while !seen.over() {
        // A QEMU that ended is seen by its exit status: it may have been right.
        let Ok(answer) = monitor.ask("query-status") else { return };
        if let Some(state) = stopped(&answer) {
            let why = format!("QEMU stopped guest {}: {state}", subject.name);
            (subject.on_stop)(&why);
            seen.stop(why);
            // Whoever waits for an answer of the guest gets its connection closed.
            let _ = monitor.ask("quit");
            return;
        }
        if reset.hangs(&tail(&subject.serial), Instant::now(), subject.silence) {
            println!("lab: guest {} hangs in its reset; it is reset from outside", subject.name);
            RESETS.fetch_add(1, Ordering::Relaxed);
            let _ = monitor.ask("system_reset");
        }
        std::thread::sleep(PERIOD);
    }
}

/// The state of a guest that will not go on by itself, of QEMU's answer to `query-status`.
fn stopped(answer: &str) -> Option<&'static str> {
    ["internal-error", "io-error", "guest-panicked", "watchdog"]
        .into_iter()
        .find(|state| answer.contains(&format!("\"{state}\"")))
}

/// The end of a file and its length; empty where there is none yet.
fn tail(file: &Path) -> (u64, String) {
    let read = || -> std::io::Result<(u64, String)> {
        let mut file = File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(1024)))?;
        let mut bytes = Vec::new();
        file.take(1024).read_to_end(&mut bytes)?;
        Ok((length, String::from_utf8_lossy(&bytes).into_owned()))
    };
    read().unwrap_or_default()
}

/// Tells a reset that hangs from one that takes its time.
#[derive(Default)]
struct Reset {
    length: u64,
    since: Option<Instant>,
    done: bool,
}

impl Reset {
    /// The guest has asked for a reset, and its console has been silent since for longer than `silence`; `true` once for each reset.
    fn hangs(&mut self, (length, end): &(u64, String), now: Instant, silence: Duration) -> bool {
        if *length != self.length || self.since.is_none() {
            (self.length, self.since, self.done) = (*length, Some(now), false);
            return false;
        }
        let last = end.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let quiet = self.since.is_some_and(|since| now.duration_since(since) > silence);
        if self.done || !quiet || !RESETTING.iter().any(|words| last.contains(words)) {
            return false;
        }
        self.done = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_that_a_guest_does_not_leave_are_stops() {
        let answer = |s: &str| format!("{{\"return\": {{\"status\": \"{s}\", \"running\": false}}}}");
        assert_eq!(stopped(&answer("internal-error")), Some("internal-error"));
        assert_eq!(stopped(&answer("io-error")), Some("io-error"));
        for fine in ["running", "prelaunch", "paused", "shutdown", "inmigrate"] {
            assert_eq!(stopped(&answer(fine)), None, "{fine}");
        }
    }

    #[test]
    fn a_reset_hangs_after_silence_and_is_answered_once() {
        let began = Instant::now();
        let (minute, at) = (Duration::from_secs(60), |s| began + Duration::from_secs(s));
        let mut reset = Reset::default();
        let restarting = (80, "[  9.1] reboot: Restarting system\r\n[  9.2] reboot: machine restart\r\n".to_owned());
        assert!(!reset.hangs(&(40, "login:".to_owned()), at(0), minute));
        assert!(!reset.hangs(&(40, "login:".to_owned()), at(500), minute), "a console may be silent");
        assert!(!reset.hangs(&restarting, at(501), minute));
        assert!(!reset.hangs(&restarting, at(560), minute));
        assert!(reset.hangs(&restarting, at(562), minute));
        assert!(!reset.hangs(&restarting, at(900), minute), "once");
        assert!(!reset.hangs(&(120, "BdsDxe: loading".to_owned()), at(901), minute));
        assert!(!reset.hangs(&(200, restarting.1.clone()), at(950), minute));
        assert!(reset.hangs(&(200, restarting.1), at(1011), minute), "the next one is another");
    }
}
