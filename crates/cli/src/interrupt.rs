//! What takes care of a signal itself, instead of ending at once.

use linerate_transport::Cancel;
use std::sync::OnceLock;

/// What goes on on hosts: it ends itself where nothing is half made, and cleans up on all of them.
static RUNNING: OnceLock<Cancel> = OnceLock::new();

/// Called by the signal's thread. Whether somebody takes care of it: they are asked once.
pub(crate) fn interrupted() -> bool {
    match RUNNING.get() {
        Some(cancel) if !cancel.is_cancelled() => {
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
