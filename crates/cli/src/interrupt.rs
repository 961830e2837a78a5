//! What takes care of a signal itself, instead of ending at once.

use linerate_transport::Cancel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// What goes on on hosts: it ends itself where nothing is half made, and cleans up on all of them.
static RUNNING: OnceLock<Cancel> = OnceLock::new();
/// It has ended.
static DONE: AtomicBool = AtomicBool::new(false);
/// The signal that was taken care of; 0: none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// What shells add to the number of the signal that ended a program.
const EXIT_SIGNAL: i32 = 128;

/// Called by the signal's thread. Whether somebody takes care of it: they are asked once.
pub(crate) fn interrupted(signal: i32) -> bool {
    match RUNNING.get() {
        Some(cancel) if !cancel.is_cancelled() && !DONE.load(Ordering::SeqCst) => {
            SIGNAL.store(signal, Ordering::SeqCst);
            cancel.cancel();
            true
        }
        _ => false,
    }
}

/// From now on, this command takes care of signals.
pub(crate) fn cancel() -> Cancel {
    RUNNING.get_or_init(Cancel::new).clone()
}

/// Nothing goes on on hosts any more: a signal ends this command at once.
pub(crate) fn done() {
    DONE.store(true, Ordering::SeqCst);
}

/// The exit code of a program that a signal ended.
pub(crate) fn code_of(signal: i32) -> i32 {
    EXIT_SIGNAL + signal
}

/// The exit code of a command that took care of a signal and ended before its work was done; `None`: there was no signal.
pub(crate) fn code() -> Option<u8> {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => u8::try_from(code_of(signal)).ok(),
    }
}
