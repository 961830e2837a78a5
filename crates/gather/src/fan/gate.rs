//! Lets a few through at a time.

use linerate_transport::Cancel;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A gate with so many places behind it.
#[derive(Debug)]
pub(super) struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// A place behind a gate, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Inside<'a>(&'a Gate);

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Gate { free: Mutex::new(places), left: Condvar::new() }
    }

    /// Waits for a place; `None`: the run was cancelled meanwhile.
    pub(super) fn enter(&self, cancel: &Cancel) -> Option<Inside<'_>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if cancel.is_cancelled() {
                return None;
            }
            if *free > 0 {
                *free -= 1;
                return Some(Inside(self));
            }
            free = self.left.wait_timeout(free, Duration::from_millis(200)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}
