//! What is told while it goes on.

use crate::protocol::{Phase, Trouble};
use linerate_remedy::verify::Verification;
use std::time::Duration;

/// Something that happened, or begins.
#[derive(Debug)]
pub enum Event<'a> {
    /// A node's turn.
    Node(&'a str),
    /// Its lifecycle says something: drained by whom.
    Lifecycle(&'a str),
    /// The node was taken from another session: from whom, and why.
    TakenOver(&'a str),
    /// It is being read.
    Reading,
    /// A phase begins, with so many acts.
    Phase(Phase, usize),
    /// An act is made.
    Made(&'a str),
    /// Something was put back from where the driver is.
    PutBack(&'a str),
    /// The node goes down.
    Reboot,
    /// It is waited for: for so long, at most so long.
    Waiting(Duration, Duration),
    /// It is there, in another boot.
    Back(&'a str),
    /// What it shows.
    Verified(&'a Verification),
    /// Something went wrong.
    Trouble(&'a Trouble),
    /// It is undone.
    Undoing,
}
