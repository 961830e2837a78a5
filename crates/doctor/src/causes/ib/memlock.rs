//! `ib/memlock`.

use super::{WRAP, no_memory, registers, verbs};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::ToolTrouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/memlock",
    title: "The limit of locked memory is too low for RDMA",
    what: "The limit of locked memory is too low: registering memory, or creating queues, fails with ENOMEM.",
    shows: &[
        "`Call to ibv_reg_mr failed with error Cannot allocate memory`, the same of ibv_create_cq, ibv_create_qp, \
         ibv_alloc_pd",
        "`max locked memory (kbytes, -l) 64`, `libibverbs: Warning: RLIMIT_MEMLOCK is … bytes`",
    ],
    why: "RDMA locks the memory that NICs use. 64 KiB to 8 MiB are usual defaults of `ulimit -l`. Services, batch \
          systems and container runtimes give the job their own limit, whatever limits.conf says.",
    confirm: &["in the job itself: `ulimit -l`, or `grep locked /proc/PID/limits`"],
    refute: &["`ulimit -l` says unlimited in the job: then the NIC or GPU driver refuses, see its log"],
    remedy: Advice::Software(
        "Raise the limit where the job gets it: LimitMEMLOCK=infinity of the service, PropagateResourceLimits of Slurm, the runtime's ulimits, IPC_LOCK in a pod",
    ),
    sources: &[TROUBLESHOOTING, WRAP],
    severity: Severity::Critical,
    rules: &["memory/memlock"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = verbs(c, |call, error| {
        no_memory(error) && (registers(call) || call.contains("create") || call.contains("alloc"))
    });
    let limit = c.tools(|t| matches!(t, ToolTrouble::LockedMemory { .. }));
    let small = limit.iter().filter_map(|(t, g)| match t {
        ToolTrouble::LockedMemory { kib, .. } => kib.filter(|k| *k < SMALL_LIMIT_KIB).map(|k| (k, *g)),
        _ => None,
    });
    let small = small.min_by_key(|(k, _)| *k);
    let Some((call, _, g)) = found.first() else {
        // The library or the MPI itself names the limit as its trouble; a shell's list of limits alone is not trouble.
        let (_, g) = limit.iter().find(|(t, _)| matches!(t, ToolTrouble::LockedMemory { complains: true, .. }))?;
        let why = "the program names the limit itself, where it ran";
        let found = Found::new(Likely, "too little memory may be locked", why).with(c.quotes(g));
        return Some(found.join(c, &["memory/memlock"]));
    };
    // UCX adds the limit to the error (`ib_log.c: uct_ib_memlock_limit_msg`), where there is one.
    if let Some(kib) = g.quotes.iter().find_map(|q| named_limit(&q.text)).filter(|k| *k < SMALL_LIMIT_KIB) {
        let words = format!("{call} failed with ENOMEM, and {kib} KiB may be locked");
        let found = Found::new(Certain, words, "the program prints the limit with the error").with(c.quotes(g));
        return Some(found.scope(c.scope(g.processes.iter().copied())).join(c, &["memory/memlock"]));
    }
    if let Some((kib, shown)) = small {
        let words = format!("{call} failed with ENOMEM, and {kib} KiB may be locked");
        let why = "the call fails with ENOMEM, and the limit is in the same text";
        let found = Found::new(Certain, words, why).with(c.quotes(g)).with(c.quotes(shown));
        return Some(found.scope(c.scope(g.processes.iter().copied())).join(c, &["memory/memlock"]));
    }
    let dmabuf = call.contains("dmabuf");
    let modify = dmabuf || g.quotes.iter().any(|q| q.text.to_ascii_lowercase().contains("dmabuf"));
    let sure = if modify { Possible } else { Likely };
    let words = format!("{call} failed with ENOMEM: too little memory may be locked");
    let why = "that is what a low limit looks like; the limit of the job itself is not shown, and a GPU driver that refuses looks the same";
    Some(Found::new(sure, words, why).shown(c, g).join(c, &["memory/memlock"]))
}

/// `Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)`, in KiB.
fn named_limit(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("max locked memory (ulimit -l) to 'unlimited' (current: ")?;
    rest.split_once(" kbytes").and_then(|(kib, _)| kib.parse().ok())
}

/// Under this limit RDMA fails sooner or later: a rank of NCCL locks some MiB for each connection.
const SMALL_LIMIT_KIB: u64 = 64 << 10;
