//! `job/bootstrap-unreachable`.

use super::SOCKET_CC;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use crate::place::Quote;
use linerate_formats::nccl_log::SocketTrouble;
use linerate_rules::{Remedy, Severity};

pub(super) static CAUSE: Cause = Cause {
    id: "job/bootstrap-unreachable",
    title: "Ranks cannot connect to each other",
    what: "Ranks cannot connect to each other over TCP.",
    shows: &[
        "`Connect to … failed : Connection refused`, `Connection timed out`, `No route to host`",
        "`connect() to … failed` of MPI, PyTorch's store on MASTER_ADDR that does not answer",
    ],
    why: "The bootstrap is TCP on free ports. Refused: nobody listens there (the process is gone, or another \
          address). Timed out or no route: a firewall, a network policy, or the wrong network. `Software caused connection \
          abort` may be any of these. PyTorch's store is a connection of its own, to MASTER_ADDR and MASTER_PORT.",
    confirm: &[
        "from the host of the message: `nc -zv ADDRESS PORT`",
        "firewall, security groups, NetworkPolicy between the nodes",
    ],
    refute: &["the peer's process ended before: then it is the cause"],
    remedy: Advice::Investigate(
        "See that the other rank runs, then open all TCP ports between the nodes: NCCL's on the interface that NCCL_SOCKET_IFNAME names, PyTorch's store on MASTER_ADDR and MASTER_PORT (rdzv_endpoint)",
    ),
    sources: &[SOCKET_CC],
    severity: Severity::Critical,
    rules: &[],
    follows: &[
        "net/wrong-interface",
        "net/no-interface",
        "kernel/oom",
        "kernel/xid",
        "kernel/device-gone",
        "gpu/uncorrected-error",
        "gpu/hung",
        "gpu/page-fault",
        "shm/too-small",
        "job/open-files",
        "gpu/out-of-memory",
        "job/peer-exited",
        "ib/memlock",
        "gpu/duplicate",
        "gpu/driver-too-old",
        "gpu/driver-mismatch",
        "gpu/not-started",
        "gpu/nvlink",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::Socket(s) if s.is_unconnected()));
    let Some((t, g)) = found.first() else { return of_mpi(c).or_else(|| store(c)).or_else(|| not_yet(c)) };
    let what = match t {
        Trouble::Socket(SocketTrouble::Refused) => "was refused: nobody listens there",
        Trouble::Socket(SocketTrouble::TimedOut) => "timed out: no answer",
        Trouble::Socket(SocketTrouble::Aborted) => {
            "was given up: refused, timed out and without a route look alike here (ECONNABORTED comes from the second try on one socket)"
        }
        _ => "found no path: no route to the address, or a firewall or security group drops it",
    };
    let local = |q: &Quote| q.text.contains(" 169.254.") || q.text.contains(":169.254.");
    if g.quotes.iter().any(local) {
        let words = format!("a connection between ranks {what}; the address is link-local (169.254.0.0/16)");
        let why = "such an address is valid on one link only: NCCL took an interface that other hosts do not reach";
        return Some(Found::new(Likely, words, why).shown(c, g).fix(Some(interface())));
    }
    let early = !c.ran();
    let (sure, why) = if early {
        (Likely, "connections fail before any collective")
    } else {
        (Possible, "connections fail in a job that had run: a peer may have ended")
    };
    Some(Found::new(sure, format!("a connection between ranks {what}"), why).shown(c, g))
}

/// What to do where a rank shows an address that others do not reach. 169.254.20.10 is that of Kubernetes' NodeLocal DNSCache.
fn interface() -> Remedy {
    Advice::Environment("Set NCCL_SOCKET_IFNAME on all hosts to the interface of the cluster's network", &[], &[])
        .remedy()
}

/// Connections that are refused and tried again: every start has them where ranks do not come at once.
fn not_yet(c: &Case<'_>) -> Option<Found> {
    let g = c.failure(|t| matches!(t, Trouble::Socket(SocketTrouble::RefusedYet)))?;
    let made = c
        .ranks()
        .any(|r| r.phase.is_some_and(|p| p >= linerate_formats::nccl_log::Phase::Complete) || !r.cells.is_empty());
    if c.ran() || made {
        return None;
    }
    let words = "a connection between ranks is refused, and tried again";
    let why = "the other rank may simply not listen yet; the log does not show that it was reached";
    Some(Found::new(Possible, words, why).shown(c, g))
}

/// A connection of MPI's, where the error is in another line or is not printed.
fn of_mpi(c: &Case<'_>) -> Option<Found> {
    let words = ["connect() to ", "unable to complete a TCP connection"];
    let all = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::Other)));
    let (_, g) = all.iter().find(|(_, g)| g.quotes.iter().any(|q| words.iter().any(|w| q.text.contains(w))))?;
    let why = "Open MPI or its launcher says so; the error is not in the same line";
    (!c.ran()).then(|| Found::new(Likely, "a TCP connection between hosts could not be made", why).with(c.quotes(g)))
}

/// The store over which PyTorch's ranks find each other (`torch/csrc/distributed/c10d/socket.cpp`): a rank gave up connecting to it.
fn store(c: &Case<'_>) -> Option<Found> {
    let all = c.frameworks(|t| matches!(t, FrameworkTrouble::Unreachable));
    let (_, g) = all.first().filter(|_| !c.ran())?;
    let own = |q: &Quote| ["127.0.0.1", "localhost", "[::1]"].iter().any(|a| q.text.contains(a));
    let (words, why, advice) = if g.quotes.iter().all(own) {
        (
            "a process could not connect to PyTorch's store on its own host",
            "the connection was tried until its timeout: on one host nobody listens there, or no longer",
            "Read the log of the process that holds the store (torchrun, or rank 0) on this host: it did not start, ended, or took another port",
        )
    } else {
        (
            "a rank could not connect to PyTorch's store (MASTER_ADDR, rdzv_endpoint)",
            "the connection was tried until its timeout: nobody listens there yet, or the address or port cannot be reached",
            "See that rank 0, or torchrun on the host of rdzv_endpoint, runs and listens on MASTER_ADDR and MASTER_PORT, that all ranks have the same two, and that the port is open between the nodes; NCCL_SOCKET_IFNAME does not change this connection",
        )
    };
    Some(Found::new(Likely, words, why).with(c.quotes(g)).fix(Some(Advice::Investigate(advice).remedy())))
}
