//! Staying alive when a connection is lost.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Signals of a lost connection do nothing while this is held.
pub(super) struct Ignored(Vec<signal_hook::SigId>);

/// From now on a lost connection ends nothing here: the act that is being made is ended, and its journal.
pub(super) fn ignore() -> Ignored {
    let flag = Arc::new(AtomicBool::new(false));
    let signals = [
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGPIPE,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
    ];
    Ignored(signals.iter().filter_map(|signal| signal_hook::flag::register(*signal, Arc::clone(&flag)).ok()).collect())
}

impl Drop for Ignored {
    fn drop(&mut self) {
        for id in self.0.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
