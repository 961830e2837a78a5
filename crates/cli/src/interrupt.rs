//! What takes care of a signal itself, instead of ending at once.

use linerate_transport::Cancel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What goes on on hosts: it ends itself where nothing is half made, and cleans up on all of them.
static RUNNING: OnceLock<Cancel> = OnceLock::new();
/// It has ended.
static DONE: AtomicBool = AtomicBool::new(false);

/// Called by the signal's thread. Whether somebody takes care of it: they are asked once.
pub(crate) fn interrupted() -> bool {
    match RUNNING.get() {
        Some(cancel) if !cancel.is_cancelled() && !DONE.load(Ordering::SeqCst) => {
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
