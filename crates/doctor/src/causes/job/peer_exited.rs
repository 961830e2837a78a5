//! `job/peer-exited`.

use super::SOCKET_CC;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::groups::Group;
use crate::observe::process::Process;
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use crate::place::Quote;
use linerate_formats::host_name;
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
        "kernel/device-gone",
        "gpu/uncorrected-error",
        "gpu/hung",
        "gpu/page-fault",
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
        "gpu/driver-mismatch",
        "gpu/not-started",
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
    let own = OwnProxy::of(c);
    let Some((_, g)) = found.iter().find(|(_, g)| !g.quotes.iter().all(|q| own.is(c, g, q))) else {
        // Connections in error, and a program that ended: the one follows from the other.
        if let Some(found) = remote(c) {
            return Some(found);
        }
        let ((_, g), (_, flushed)) = (ended.first()?, flushed.first()?);
        let why = "a program ended with an exception or a signal, and requests of other ranks were flushed";
        let words = "a rank's program ended, and the others lost their connections";
        return Some(Found::new(Likely, words, why).with(c.quotes(g)).with(c.first_quote(flushed)));
    };
    let peers: BTreeSet<&str> = g.quotes.iter().filter(|q| !own.is(c, g, q)).filter_map(|q| peer(&q.text)).collect();
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

/// The other side of a connection, as NCCL prints it.
fn peer(text: &str) -> Option<&str> {
    let rest = ["remote peer ", "recv from ", "send to "].iter().find_map(|key| text.split_once(key))?.1;
    rest.split_whitespace().next().filter(|p| !p.is_empty())
}

/// Connections that a rank has to its own proxy, a thread of the same process: where that failed, it is no other rank that ended.
struct OwnProxy<'a> {
    /// Processes whose proxy says that it failed, and where it does first (`proxy.cc`: `[Proxy Service 9] Failed to execute operation …`).
    failed: Vec<&'a Group>,
}

impl<'a> OwnProxy<'a> {
    fn of(c: &Case<'a>) -> Self {
        let is_proxy = |t: &Trouble| matches!(t, Trouble::Other(n) if c.name(*n).starts_with("[Proxy Service"));
        OwnProxy { failed: c.failures(is_proxy).into_iter().map(|(_, g)| g).collect() }
    }

    /// Whether the closed connection of this line is one to the own host or the own address, or follows from a proxy that failed before it.
    fn is(&self, c: &Case<'_>, g: &Group, q: &Quote) -> bool {
        let Some(host) = peer(&q.text).and_then(|p| p.split('<').next()).filter(|h| !h.is_empty()) else {
            return false;
        };
        if !q.text.contains("closed by remote peer") {
            return false;
        }
        let processes = || g.processes.iter().filter_map(|p| c.o.process(*p));
        let is_own = |p: &Process| {
            let same = host_name::short(c.name(p.host)).is_some_and(|own| host_name::short(host) == Some(own));
            let address = p.bootstrap.map(|b| c.name(b.name)).is_some_and(|list| has_address(list, host));
            same || address
        };
        let after = |f: &&Group| {
            f.first.file == q.place.file
                && f.first.line < q.place.line
                && f.processes.iter().any(|p| g.processes.binary_search(p).is_ok())
        };
        // One process alone: whose line it is, is known.
        let alone = g.processes.len() == 1;
        alone && processes().any(is_own) || self.failed.iter().any(after)
    }
}

/// `eth0:10.0.0.1<0>`, `[0]eth0:10.0.0.1<0> [1]…`: whether one of the interfaces has the address.
fn has_address(list: &str, address: &str) -> bool {
    list.split_whitespace()
        .any(|i| i.split('<').next().is_some_and(|i| i.split_once(':').is_some_and(|(_, a)| a == address)))
}
