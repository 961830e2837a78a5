//! `job/peer-exited`.

use super::SOCKET_CC;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use linerate_formats::nccl_log::SocketTrouble;
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "job/peer-exited",
    title: "A rank ended, and the others lost their connections",
    what: "A rank ended, and the others lost their connections to it.",
    shows: &[
        "`Connection closed by remote peer …`",
        "`ncclRemoteError` alone, or a program that ended beside requests that were flushed",
    ],
    why: "The closed connection is what the survivors see. The rank that ended first is the one to read: its own \
          log, its exit code, its node's kernel log.",
    confirm: &["log and exit code of the rank that ended first", "its node's kernel log: out of memory, Xid"],
    refute: &["an error of that rank is in these logs: then that is the cause"],
    remedy: Advice::Investigate("Read the log of the rank that ended first; all else follows from it"),
    sources: &[SOCKET_CC],
    severity: Severity::Critical,
    rules: &[],
    follows: &[
        "kernel/oom",
        "kernel/xid",
        "shm/too-small",
        "job/open-files",
        "ib/memlock",
        "ib/gpu-registration",
        "ib/gid-index",
        "ib/retry-exceeded",
        "ib/local-protection",
        "ib/remote-access",
        "ib/rnr-retry-exceeded",
        "ib/port-went-down",
        "ib/nic-fault",
        "gpu/out-of-memory",
        "gpu/duplicate",
        "gpu/driver-too-old",
        "gpu/nvlink",
        "gpu/imex",
        "job/version-mismatch",
        "job/collective-mismatch",
        "job/process-unresponsive",
        "net/no-interface",
        "net/wrong-interface",
        "kernel/iommu-fault",
        "net/plugin-init-failed",
        "net/efa-without-plugin",
        "env/topo-file",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::Closed)));
    let flushed = c.failures(|t| matches!(t, Trouble::Completion(Status::Flushed)));
    let ended = c.frameworks(|t| matches!(t, FrameworkTrouble::Ended | FrameworkTrouble::Killed));
    let Some((_, g)) = found.first() else {
        // Connections in error, and a program that ended: the one follows from the other.
        if let Some(found) = remote(c) {
            return Some(found);
        }
        let ((_, g), (_, flushed)) = (ended.first()?, flushed.first()?);
        let why = "a program ended with an exception or a signal, and requests of other ranks were flushed";
        let words = "a rank's program ended, and the others lost their connections";
        return Some(Found::new(Likely, words, why).with(c.quotes(g)).with(c.quotes(flushed).into_iter().take(1)));
    };
    let peers: BTreeSet<&str> = g
        .quotes
        .iter()
        .filter_map(|q| q.text.split_once("remote peer "))
        .map(|(_, r)| r.split_whitespace().next().unwrap_or_default())
        .filter(|p| !p.is_empty())
        .collect();
    // Who complains is alive. A process whose lines simply end is the suspect.
    let complaining: BTreeSet<usize> = g.processes.iter().copied().collect();
    let silent: Vec<String> = c
        .ranks()
        .filter(|r| {
            !complaining.contains(&r.process)
                && r.phase.is_none_or(|p| p < linerate_formats::nccl_log::Phase::Destroyed)
        })
        .filter_map(|r| Some(format!("rank {} on {}", r.rank?, c.name(c.o.process(r.process)?.host))))
        .take(3)
        .collect();
    let what = match (peers.first(), silent.is_empty()) {
        (_, false) if silent.len() < 3 => {
            format!("{} ended; the others lost their connections to it", silent.join(", "))
        }
        (Some(p), _) => format!("the peer {p} ended or broke the connection"),
        _ => "a peer ended or broke the connection".to_owned(),
    };
    Some(Found::new(Possible, what, "that is what the survivors see; why it ended is not in these lines").shown(c, g))
}

/// NCCL's result says that a remote process ended or the network failed (`ncclRemoteError`), and nothing else is shown.
fn remote(c: &Case<'_>) -> Option<Found> {
    let g = c.framework(|t| matches!(t, FrameworkTrouble::Error("ncclRemoteError")))?;
    let others = c.failures(|t| !t.is_survivable() && !matches!(t, Trouble::Completion(Status::Flushed)));
    if !others.is_empty() || !c.kernel(|_| true).is_empty() {
        return None;
    }
    let words = "NCCL reports that a remote process ended, or that the network failed";
    let why = "that is what the survivors see (ncclRemoteError); these lines do not show which of the two, nor why";
    Some(Found::new(Possible, words, why).with(c.quotes(g)))
}
