//! A run can be told to end from another thread, or from a signal's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a run to end. Copies tell the same run.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nothing was told yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run: what runs is killed on both sides, nothing further begins. It takes a few seconds at most.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was told.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag itself, for `signal_hook::flag::register`.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
