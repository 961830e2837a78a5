//! What goes wrong between ranks.

use super::{Found, Known, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use linerate_formats::nccl_log::SocketTrouble;
use linerate_formats::torch_log::Lag;
use linerate_rules::{Severity, Source};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static ALL: &[&Known] = &[&VERSIONS, &MISMATCH, &UNREACHABLE, &EXITED, &STRAGGLER];

const SOCKET_CC: Source =
    nccl("NCCL, src/misc/socket.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/socket.cc");
const TORCH: Source = nccl(
    "PyTorch, ProcessGroupNCCL.cpp",
    "https://github.com/pytorch/pytorch/blob/main/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
);

static VERSIONS: Known = Known {
    id: "job/version-mismatch",
    title: "Ranks run different releases of NCCL",
    severity: Severity::Critical,
    docs: "The bootstrap exchanges data whose layout differs between releases. Newer ones say `Mismatched NCCL version detected`; older ones fail with truncated messages, wrong magic, or hang.",
    confirm: &[
        "`python -c 'import torch; print(torch.cuda.nccl.version())'` on every node",
        "`ldd` or LD_PRELOAD: which libnccl is loaded",
    ],
    refute: &[],
    rules: &[],
    sources: &[nccl(
        "NCCL, src/init.cc: ncclCommInitRankFunc",
        "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc",
    )],
    remedy: || software("Run the same image, and one libnccl, on all nodes"),
    check: |c| {
        if let Some((_, g)) = c.failures(|t| matches!(t, Trouble::VersionMismatch)).first() {
            return Some(Found::new(Certain, "ranks run different releases of NCCL", "NCCL says so").with(c.quotes(g)));
        }
        let truncated = c
            .failures(|t| matches!(t, Trouble::CollectiveMismatch))
            .into_iter()
            .map(|(_, g)| g)
            .find(|g| is_bootstrap(g));
        let mut by_release: BTreeMap<(u16, u16, u16), Vec<usize>> = BTreeMap::new();
        for (i, p) in c.processes() {
            if let Some(told) = p.release.told {
                by_release.entry(told).or_default().push(i);
            }
        }
        if by_release.len() < 2 {
            let g = truncated?;
            let why = "the bootstrap's messages have the wrong size, as with different releases; a stranger on the port looks the same";
            return Some(Found::new(Possible, "ranks may run different releases of NCCL", why).with(c.quotes(g)));
        }
        // Processes of one job share communicators; otherwise these are simply several jobs in one file.
        if c.job.groups.is_empty() && !c.failed() {
            return None;
        }
        let names: Vec<String> = by_release.keys().map(|(a, b, p)| format!("{a}.{b}.{p}")).collect();
        let lines: Vec<Evidence> = by_release
            .iter()
            .filter_map(|((a, b, p), of)| {
                Some(c.at(c.o.process(*of.first()?)?.first, format!("NCCL version {a}.{b}.{p}")))
            })
            .collect();
        let (sure, why) = if c.failed() || !c.ran() {
            (Likely, "processes of one job print different releases, and the job did not run")
        } else {
            (Possible, "processes of one job print different releases; the job ran nevertheless")
        };
        Some(Found::new(sure, format!("releases {} in one job", names.join(" and ")), why).with(lines))
    },
    follows: &[],
};

static MISMATCH: Known = Known {
    id: "job/collective-mismatch",
    title: "Ranks called different collectives, or the same with different sizes",
    severity: Severity::Critical,
    docs: "All ranks of a communicator must call the same collectives in the same order with the same sizes. A branch that only some ranks take, uneven data, or an exception that one rank swallowed breaks that; the job hangs or messages are truncated.",
    confirm: &[
        "TORCH_DISTRIBUTED_DEBUG=DETAIL, or the flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE) of all ranks",
        "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=COLL: the calls of each rank",
    ],
    refute: &["all ranks' last calls are equal"],
    rules: &[],
    sources: &[TORCH],
    remedy: || investigate("Compare the calls of the ranks around the first difference; it is in the program"),
    check: |c| {
        let nccl = c.failures(|t| matches!(t, Trouble::CollectiveMismatch));
        let torch = c.frameworks(|t| matches!(t, FrameworkTrouble::Mismatch));
        if let Some(g) = torch.first().map(|(_, g)| *g) {
            return Some(
                Found::new(Certain, "ranks called different collectives", "the framework's report says so")
                    .with(c.quotes(g)),
            );
        }
        // Collectives of one number and different kinds.
        let timeouts = c.frameworks(|t| matches!(t, FrameworkTrouble::Timeout(_)));
        if let [(_, one), (_, other), ..] = timeouts.as_slice()
            && same_sequence(one, other)
        {
            let words = "ranks wait in different collectives with the same number";
            return Some(
                Found::new(Certain, words, "the watchdog prints kind and number of each")
                    .with(c.quotes(one).into_iter().take(1))
                    .with(c.quotes(other).into_iter().take(1)),
            );
        }
        let (_, g) = nccl.first()?;
        if is_bootstrap(g) {
            return None;
        }
        let says = |w: &str| g.quotes.iter().any(|q| q.text.contains(w));
        // 2.4 to 2.7 suspect it where a program hangs.
        let sure = match (says("may be caused by"), says("mismatch")) {
            (true, _) => Possible,
            (_, true) => Certain,
            _ => Likely,
        };
        Some(
            Found::new(
                sure,
                "sizes of messages differ between ranks",
                "NCCL got a message of another size than it expected",
            )
            .with(c.quotes(g)),
        )
    },
    follows: &["job/version-mismatch"],
};

/// Whether the bootstrap's own messages have the wrong size: nothing of the program was exchanged yet.
fn is_bootstrap(g: &Group) -> bool {
    g.quotes.iter().all(|q| q.text.starts_with("Message truncated"))
}

/// Whether two groups of timeouts tell the same number.
fn same_sequence(a: &Group, b: &Group) -> bool {
    let numbers = |g: &Group| -> BTreeSet<String> {
        let after = g.quotes.iter().filter_map(|q| q.text.split_once("SeqNum="));
        after.map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect()).collect()
    };
    !numbers(a).is_disjoint(&numbers(b))
}

static UNREACHABLE: Known = Known {
    id: "job/bootstrap-unreachable",
    title: "Ranks cannot connect to each other",
    severity: Severity::Critical,
    docs: "The bootstrap is TCP on free ports. Refused: nobody listens there (the process is gone, or another address). Timed out or no route: a firewall, a network policy, or the wrong network.",
    confirm: &[
        "from the host of the message: `nc -zv ADDRESS PORT`",
        "firewall, security groups, NetworkPolicy between the nodes",
    ],
    refute: &["the peer's process ended before: then it is the cause"],
    rules: &[],
    sources: &[SOCKET_CC],
    remedy: || investigate("Open all TCP ports between the nodes, on the interface that NCCL_SOCKET_IFNAME names"),
    check: |c| {
        let found = c.failures(|t| {
            matches!(t, Trouble::Socket(SocketTrouble::Refused | SocketTrouble::TimedOut | SocketTrouble::Unreachable))
        });
        let Some((t, g)) = found.first() else { return of_mpi(c).or_else(|| store(c)).or_else(|| not_yet(c)) };
        let what = match t {
            Trouble::Socket(SocketTrouble::Refused) => "was refused: nobody listens there",
            Trouble::Socket(SocketTrouble::TimedOut) => "timed out: no answer",
            _ => "found no way: no route to the address, or a firewall or security group drops it",
        };
        let early = !c.ran();
        let (sure, why) = if early {
            (Likely, "connections fail before any collective")
        } else {
            (Possible, "connections fail in a job that had run: a peer may have ended")
        };
        Some(
            Found::new(sure, format!("a connection between ranks {what}"), why)
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[
        "net/wrong-interface",
        "net/no-interface",
        "kernel/oom",
        "kernel/xid",
        "shm/too-small",
        "gpu/out-of-memory",
        "job/peer-exited",
        "ib/memlock",
        "gpu/duplicate",
        "gpu/driver-too-old",
        "gpu/nvlink",
    ],
};

/// Connections that are refused and tried again: every start has them where ranks do not come at once.
fn not_yet(c: &Case<'_>) -> Option<Found> {
    let all = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::RefusedYet)));
    let (_, g) = all.first()?;
    let made = c
        .ranks()
        .any(|r| r.phase.is_some_and(|p| p >= linerate_formats::nccl_log::Phase::Complete) || !r.cells.is_empty());
    if c.ran() || made {
        return None;
    }
    let words = "a connection between ranks is refused, and tried again";
    let why = "the other rank may simply not listen yet; the log does not show that it was reached";
    Some(Found::new(Possible, words, why).with(c.quotes(g)).scope(c.scope(g.processes.iter().copied())))
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
    let words = "a rank could not connect to the store on MASTER_ADDR";
    let why = "the connection was tried until its time was over: nobody listens there yet, or the address or port is not reached";
    Some(Found::new(Likely, words, why).with(c.quotes(g)))
}

static EXITED: Known = Known {
    id: "job/peer-exited",
    title: "A rank ended, and the others lost their connections",
    severity: Severity::Critical,
    docs: "`Connection closed by remote peer` is what the survivors see. The rank that ended first is the one to read: its own log, its exit code, its node's kernel log.",
    confirm: &["log and exit code of the rank that ended first", "its node's kernel log: out of memory, Xid"],
    refute: &["an error of that rank is in these logs: then that is the cause"],
    rules: &[],
    sources: &[SOCKET_CC],
    remedy: || investigate("Read the log of the rank that ended first; all else follows from it"),
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::Closed)));
        let flushed = c.failures(|t| matches!(t, Trouble::Completion(5)));
        let ended = c.frameworks(|t| matches!(t, FrameworkTrouble::Ended | FrameworkTrouble::Killed));
        let Some((_, g)) = found.first() else {
            // Connections in error, and a program that ended: the one follows from the other.
            if let Some(found) = remote(c) {
                return Some(found);
            }
            let ((_, g), (_, flushed)) = (ended.first()?, flushed.first()?);
            let why = "a program ended with an exception or a signal, and requests of others were flushed";
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
        Some(
            Found::new(Possible, what, "that is what the survivors see; why it ended is not in these lines")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[
        "kernel/oom",
        "kernel/xid",
        "shm/too-small",
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
        "net/no-interface",
        "net/wrong-interface",
        "kernel/iommu-fault",
        "net/plugin-init-failed",
        "net/efa-without-plugin",
        "env/topo-file",
    ],
};

/// NCCL's result says that a remote process ended or the network failed (`ncclRemoteError`), and nothing else is shown.
fn remote(c: &Case<'_>) -> Option<Found> {
    let all = c.frameworks(|t| matches!(t, FrameworkTrouble::Error("ncclRemoteError")));
    let (_, g) = all.first()?;
    let others = c.failures(|t| !t.is_survivable() && !matches!(t, Trouble::Completion(5)));
    if !others.is_empty() || !c.kernel(|_| true).is_empty() {
        return None;
    }
    let words = "NCCL reports that a remote process ended, or that the network failed";
    let why = "that is what the survivors see (ncclRemoteError); which of both, and why, is not in these lines";
    Some(Found::new(Possible, words, why).with(c.quotes(g)))
}

static STRAGGLER: Known = Known {
    id: "job/straggler",
    title: "Collectives time out: a rank did not come, or did not finish",
    severity: Severity::Critical,
    docs: "The watchdog's timeout says that a collective did not end, on the rank that prints it. The rank to look at is the one that is behind: the lowest number of the last enqueued collective. Where all have enqueued it, the collective itself \
           hangs: network, GPU, or different arguments.",
    confirm: &[
        "last enqueued and last completed of every rank (the watchdog prints them)",
        "stacks of the rank that is behind (py-spy dump)",
    ],
    refute: &["all ranks have enqueued the same collective: then it is not a straggler"],
    rules: &[],
    sources: &[TORCH],
    remedy: || investigate("Look at the rank that is behind: data loader, checkpoint, exception, a slow or dead node"),
    check: |c| {
        let found = c.frameworks(|t| matches!(t, FrameworkTrouble::Timeout(_) | FrameworkTrouble::Lagging));
        let (_, g) = found.first()?;
        let sequences = &c.o.sequences;
        let late: Vec<u32> =
            sequences.lagging.iter().filter(|(_, lag)| !matches!(lag, Lag::DidNotFinish)).map(|(r, _)| *r).collect();
        if !late.is_empty() {
            let words = format!("{} did not join the collective that all wait for", Case::rank_words(late));
            return Some(Found::new(Certain, words, "the framework's report names the ranks").with(c.quotes(g)));
        }
        let behind = sequences.of.values().map(|(enqueued, _)| *enqueued).min();
        let ahead = sequences.of.values().map(|(enqueued, _)| *enqueued).max();
        if let (Some(behind), Some(ahead)) = (behind, ahead)
            && behind < ahead
        {
            let ranks = sequences.of.iter().filter(|(_, (e, _))| *e == behind).map(|(r, _)| *r);
            let words = format!("{} called collective {behind} last, others {ahead}", Case::rank_words(ranks));
            return Some(Found::new(Likely, words, "the last collectives that the ranks called differ; numbers of different groups would look the same").with(c.quotes(g)));
        }
        let why = "a collective did not end in time; which rank is behind is not shown";
        Some(Found::new(Possible, "a collective timed out", why).with(c.quotes(g)))
    },
    follows: &[
        "kernel/oom",
        "kernel/xid",
        "kernel/iommu-fault",
        "ib/retry-exceeded",
        "ib/port-went-down",
        "ib/nic-fault",
        "ib/local-protection",
        "ib/remote-access",
        "ib/rnr-retry-exceeded",
        "job/collective-mismatch",
        "gpu/out-of-memory",
        "job/version-mismatch",
        "shm/too-small",
        "ib/memlock",
        "gpu/nvlink",
    ],
};
