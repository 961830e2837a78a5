//! `ib/flushed`.

use super::VERBS;
use crate::causes::{Advice, Cause};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/flushed",
    title: "Requests were flushed: their queue pair had an error before",
    what: "Completion status 5: all outstanding requests of a queue pair get it after the queue pair's first error.",
    shows: &["`Got completion from peer … with status=5`, `Work Request Flushed Error`"],
    why: "The first error is the cause; it may be on the other side. The doctor shows flushed requests as a \
          consequence, or as undecided, never as a cause.",
    confirm: &["logs of all ranks: the first completion with another status"],
    refute: &[],
    remedy: Advice::Investigate("Read the logs of the other ranks: the first error is there"),
    sources: &[VERBS],
    severity: Severity::Info,
    rules: &[],
    follows: &[],
    // Never a cause by itself: reported as a consequence, or as undecided.
    check: |_| None,
};
