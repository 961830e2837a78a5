//! `ib/rnr-retry-exceeded`.

use super::{VERBS, completions, peers};
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/rnr-retry-exceeded",
    title: "A peer posted no receive in time",
    what: "Completion status 13: the peer's NIC answers, but its process posted no receive for longer than all \
           retries take.",
    shows: &["`Got completion from peer … with status=13`, `RNR retry counter exceeded`"],
    why: "The process hangs, gets too little CPU, or is at another point of the program.",
    confirm: &["stacks of the peer's process (py-spy, gdb)", "CPU affinity and load of the peer's node"],
    refute: &["a collective mismatch in the log: then that is the cause"],
    remedy: Advice::Investigate("Look at what the peer's process does: hang, CPU starvation, or another collective"),
    sources: &[VERBS],
    severity: Severity::Critical,
    rules: &[],
    follows: &["job/collective-mismatch", "kernel/xid", "kernel/device-gone", "kernel/oom"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = completions(c, &[Status::RnrRetryExceeded])?;
    let words = format!("a peer was not ready to receive{}", peers(g));
    Some(Found::new(Likely, words, "the completion says so; the peer's process shows why it was not ready").shown(c, g))
}
