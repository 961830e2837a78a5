//! What fails between NICs.

use super::{ENV_RST, Found, Known, environment, hands, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, PeermemTrouble, ToolTrouble, Trouble};
use linerate_rules::{Severity, Source};

pub(super) static ALL: &[&Known] = &[
    &MEMLOCK,
    &REGISTRATION,
    &GID,
    &PORT_DOWN,
    &RETRY,
    &RNR,
    &PROTECTION,
    &REMOTE_ACCESS,
    &NIC_FAULT,
    &FLUSHED,
    &SMALL_MTU,
    &super::verbs::CALL,
];

const VERBS: Source = nccl(
    "rdma-core, libibverbs/verbs.h: enum ibv_wc_status",
    "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/verbs.h",
);
const WRAP: Source =
    nccl("NCCL, src/misc/ibvwrap.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/ibvwrap.cc");

/// Verbs calls that failed: name, error, lines.
fn verbs<'a>(c: &Case<'a>, is: impl Fn(&str, &str) -> bool) -> Vec<(&'a str, &'a str, &'a Group)> {
    let all = c.failures(|t| matches!(t, Trouble::Verbs { .. }));
    let words = all.into_iter().filter_map(|(t, g)| match t {
        Trouble::Verbs { call, error } => Some((c.name(call), c.name(error), g)),
        _ => None,
    });
    words.filter(|(call, error, _)| is(call, error)).collect()
}

fn no_memory(error: &str) -> bool {
    error.contains("Cannot allocate memory")
}

/// Calls that register memory.
fn registers(call: &str) -> bool {
    call.starts_with("ibv_reg_")
}

/// `Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)`, in KiB.
fn named_limit(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("max locked memory (ulimit -l) to 'unlimited' (current: ")?;
    rest.split_once(" kbytes").and_then(|(kib, _)| kib.parse().ok())
}

/// Under this limit RDMA fails sooner or later: a rank of NCCL locks some MiB for each connection.
const SMALL_LIMIT_KIB: u64 = 64 << 10;

pub(super) static MEMLOCK: Known = Known {
    id: "ib/memlock",
    title: "The limit of locked memory is too low for RDMA",
    severity: Severity::Critical,
    docs: "RDMA locks the memory that NICs use. Under a small `ulimit -l` (64 KiB to 8 MiB are usual defaults) registering memory, or making queues, fails with ENOMEM. Services, batch systems and container runtimes \
           hand their own limit to the job, whatever limits.conf says.",
    confirm: &["in the job itself: `ulimit -l`, or `grep locked /proc/PID/limits`"],
    refute: &["`ulimit -l` says unlimited in the job: then the NIC or GPU driver refuses, see its log"],
    rules: &["memory/memlock"],
    sources: &[super::TROUBLESHOOTING, WRAP],
    remedy: || {
        software(
            "Raise the limit where the job gets it: LimitMEMLOCK=infinity of the service, PropagateResourceLimits of Slurm, the runtime's ulimits, IPC_LOCK in a pod",
        )
    },
    check: |c| {
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
            // The library or the MPI itself names the limit as its trouble; a shell's list of limits alone is none.
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
            let why = "the call fails for want of memory, and the limit is in the same text";
            let found = Found::new(Certain, words, why).with(c.quotes(g)).with(c.quotes(shown));
            return Some(found.scope(c.scope(g.processes.iter().copied())).join(c, &["memory/memlock"]));
        }
        let dmabuf = call.contains("dmabuf");
        let modify = dmabuf || g.quotes.iter().any(|q| q.text.to_ascii_lowercase().contains("dmabuf"));
        let sure = if modify { Possible } else { Likely };
        let words = format!("{call} failed with ENOMEM: too little memory may be locked");
        let why = "that is what a low limit looks like; the limit of the job itself is not shown, and a GPU driver that refuses looks the same";
        Some(
            Found::new(sure, words, why)
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["memory/memlock"]),
        )
    },
    follows: &[],
};

pub(super) static REGISTRATION: Known = Known {
    id: "ib/gpu-registration",
    title: "The NIC cannot register memory, of a GPU as a rule",
    severity: Severity::Critical,
    docs: "NCCL only asks whether GPU memory can be registered; it tries first when a connection is made. Then it fails where nvidia-peermem is older than the driver or the RDMA stack, the GPU's BAR1 is too small or used up, the driver \
           refuses the dma-buf for this topology, or the NIC's driver cannot import one.",
    confirm: &[
        "the kernel's log at that time: `nvidia-peermem`, `NVRM`, `dma-buf attach`",
        "`ib_write_bw --use_cuda=0` (with and without --use_cuda_dmabuf) on the same NIC",
        "NCCL_DMABUF_ENABLE=0 or NCCL_NET_GDR_LEVEL=LOC: does the job run?",
    ],
    refute: &["it fails with GPUDirect RDMA off as well"],
    rules: REGISTRATION_RULES,
    sources: &[WRAP],
    remedy: || {
        investigate(
            "Read the kernel's log at the time of the failure; rebuild nvidia-peermem for this driver and RDMA stack, or use DMA-BUF",
        )
    },
    check: |c| {
        // Without a word of the error a limit is as likely, but for a dma-buf, which is the GPU's.
        // Nor with half a word of it.
        let cut = |error: &str| "Cannot allocate memory".starts_with(error);
        let of_gpu =
            |call: &str, error: &str| !no_memory(error) && (!cut(error) || error.is_empty() && call.contains("dmabuf"));
        // A benchmark that was told to use the GPU's memory registers that, and nothing else.
        let gpu_only = c.o.gpu_buffers;
        let found = verbs(c, |call, error| {
            registers(call) && (of_gpu(call, error) || gpu_only && (error.is_empty() || !no_memory(error)))
        });
        let kernel = c.kernel(|k| {
            matches!(k, KernelTrouble::Peermem(_) | KernelTrouble::DmabufRefused | KernelTrouble::PagesRefused)
        });
        let (call, error, g) = match found.first() {
            Some((call, error, g)) => (*call, *error, *g),
            None => {
                // A module that was not loaded is a cause of its own: gdr/peermem-not-loaded.
                let of_memory = |k: &KernelTrouble| {
                    matches!(
                        k,
                        KernelTrouble::Peermem(PeermemTrouble::Error)
                            | KernelTrouble::DmabufRefused
                            | KernelTrouble::PagesRefused
                    )
                };
                let (_, g) = kernel.iter().find(|(k, _)| of_memory(k))?;
                let words = "the kernel's log has errors of memory registration";
                return Some(
                    Found::new(Likely, words, "nvidia-peermem, the GPU driver or the RDMA core says so")
                        .with(c.quotes(g))
                        .join(c, REGISTRATION_RULES),
                );
            }
        };
        let lines = kernel.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect::<Vec<_>>();
        let sure = if lines.is_empty() { Likely } else { Certain };
        let words = format!("{call} failed: {error}");
        Some(
            Found::new(sure, words, "the call itself fails; why is in the kernel's log")
                .with(c.quotes(g))
                .with(lines)
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, REGISTRATION_RULES),
        )
    },
    follows: &[],
};
const REGISTRATION_RULES: &[&str] =
    &["gpumem/peermem-symbols", "gpumem/dmabuf-attach", "gpu/bar1-size", "gpumem/registration-path"];

/// Hints of NCCL that name the GID index.
fn gid_hint<'a>(c: &Case<'a>) -> Option<&'a Group> {
    c.of(&c.o.hints).find(|(n, _)| c.name(*n).contains("GID index") || c.name(*n).contains("GID_INDEX")).map(|(_, g)| g)
}

pub(super) static GID: Known = Known {
    id: "ib/gid-index",
    title: "RoCE connects with a GID that does not lead to the peer",
    severity: Severity::Critical,
    docs: "A RoCE connection uses one entry of the port's GID table: a RoCE version and an address. NCCL_IB_GID_INDEX forces the same number on all hosts, where it may be another entry, an empty one, or a link-local one. \
           Before 2.21 the default was 0, which is link-local RoCE v1. From 2.21 NCCL finds the right entry by itself.",
    confirm: &[
        "`show_gids`, or /sys/class/infiniband/*/ports/1/gids and gid_attrs/types, on both hosts",
        "unset NCCL_IB_GID_INDEX with NCCL 2.21 or later",
    ],
    refute: &[
        "the entry is RoCE v2 with the right address on all hosts, and `rping` or ib_write_bw -x INDEX works between them",
    ],
    rules: &["rdma/gid-table", "rdma/gid-ndev"],
    sources: &[
        ENV_RST,
        nccl(
            "NCCL, src/transport/net_ib/connect.cc: ncclIbGetGidIndex",
            "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/connect.cc",
        ),
    ],
    remedy: || {
        environment(
            "Unset NCCL_IB_GID_INDEX (NCCL 2.21 and later); before that, the index of the RoCE v2 entry with the port's address",
            &[],
            &["NCCL_IB_GID_INDEX"],
        )
    },
    check: |c| {
        let modify = verbs(c, |call, _| matches!(call, "ibv_modify_qp" | "ibv_create_ah"));
        let early = c.failures(|t| matches!(t, Trouble::Completion(12)));
        let forced = c.env("NCCL_IB_GID_INDEX").filter(|(v, _)| v.trim() != "-1");
        let named = modify
            .iter()
            .any(|(_, _, g)| g.quotes.iter().any(|q| q.text.contains("dev roce") || q.text.contains("ROCE")));
        let roce = c
            .is_roce()
            .or(named.then_some(true))
            .or_else(|| c.of(&c.o.queue_pairs).any(|((_, gid), _)| gid.is_some()).then_some(true));
        if roce == Some(false) {
            return None;
        }
        let set = forced.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).collect::<Vec<_>>();
        if let Some((call, error, g)) = modify.first() {
            let empty_gid = g
                .quotes
                .iter()
                .any(|q| q.text.contains("local GID ::,") || q.text.trim_end().ends_with("local GID ::"));
            let detail = g.quotes.iter().any(|q| q.text.contains("GID index"));
            let timed_out = error.contains("timed out");
            let no_device = error.contains("No such device");
            let (sure, why) = if empty_gid || gid_hint(c).is_some() && forced.is_some() {
                (Certain, "the entry is empty, or NCCL itself names the forced index")
            } else if forced.is_some() && (timed_out || detail || roce == Some(true)) {
                (Likely, "the index is forced, and the connection cannot be set up with it")
            } else if error.contains("No data available") || roce == Some(true) && timed_out {
                (Likely, "the address that the index stands for cannot be resolved")
            } else if no_device
                || roce == Some(true)
                || error.contains("Invalid argument")
                || timed_out
                || error.contains("nreachable")
            {
                (Possible, "the connection cannot be set up; an interface in another network namespace looks the same")
            } else {
                return None;
            };
            let index = forced.map(|(v, _)| format!(" with NCCL_IB_GID_INDEX={v}")).unwrap_or_default();
            let words = format!("{call} failed{index}: {error}");
            return Some(
                Found::new(sure, words, why)
                    .with(c.quotes(g))
                    .with(set)
                    .scope(c.scope(g.processes.iter().copied()))
                    .join(c, &["rdma/gid-table", "rdma/gid-ndev"]),
            );
        }
        let (_, g) = early.first()?;
        if c.ran() {
            return None;
        }
        let link_local = g.quotes.iter().any(|q| q.text.contains("fe80"));
        let (value, why) = match (forced, roce) {
            (Some((v, _)), Some(true)) => {
                (v, "the peer never answered, at the start, on RoCE, and the index is forced")
            }
            (None, Some(true)) if c.since(21) == Some(false) => (
                "0",
                "the peer never answered, at the start, on RoCE, and this release takes entry 0 (link-local) by default",
            ),
            (Some((v, _)), None) => {
                (v, "the peer never answered, at the start, and the index is forced; whether this is RoCE is not shown")
            }
            _ => return None,
        };
        let sure = if roce == Some(true) || link_local { Likely } else { Possible };
        Some(
            Found::new(sure, format!("the first message over RoCE got no answer, with GID index {value}"), why)
                .with(c.quotes(g))
                .with(set),
        )
    },
    follows: &[],
};

static PORT_DOWN: Known = Known {
    id: "ib/port-went-down",
    title: "A NIC's port went down",
    severity: Severity::Critical,
    docs: "The link of a port was lost during the job: cable, transceiver, switch, or a driver that was reset. Connections over it run into their retries and fail some seconds later.",
    confirm: &[
        "`dmesg | grep -i 'link down'` and the switch's log at that time",
        "`mlxlink -d DEVICE -m` (cable, errors), link_downed in /sys/class/infiniband/*/ports/1/counters",
    ],
    refute: &["the switch shows no event on that port"],
    rules: &["rdma/port-state", "rdma/port-errors"],
    sources: &[super::TROUBLESHOOTING],
    remedy: || hands("Reseat or replace cable and transceiver of the port; read the switch's log"),
    check: |c| {
        let events = c.failures(|t| matches!(t, Trouble::Async { event, .. } if is_down(c.name(*event))));
        let kernel = c.kernel(|k| matches!(k, KernelTrouble::LinkDown(_)));
        let g = events.first().map(|(_, g)| *g).or_else(|| kernel.first().map(|(_, g)| *g))?;
        let certain = !events.is_empty();
        let words = if certain {
            "a port reported that its link was lost"
        } else {
            "the kernel's log has a link that went down"
        };
        let sure = if certain || c.failed() { Certain } else { Likely };
        let lines =
            kernel.iter().flat_map(|(_, g)| c.quotes(g).into_iter().take(1)).filter(|_| certain).collect::<Vec<_>>();
        Some(
            Found::new(sure, words, "the event itself is in the log")
                .with(c.quotes(g))
                .with(lines)
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};

fn is_down(event: &str) -> bool {
    ["port error", "port down", "port is down", "link down"].iter().any(|w| event.contains(w))
}

/// Completions of a status.
fn completions<'a>(c: &Case<'a>, status: &[u32]) -> Option<&'a Group> {
    c.failures(|t| matches!(t, Trouble::Completion(s) if status.contains(s))).first().map(|(_, g)| *g)
}

fn peers(g: &Group) -> String {
    let peer = g.quotes.iter().find_map(|q| {
        q.text.split_once("from peer ").map(|(_, r)| r.split_whitespace().next().unwrap_or_default().to_owned())
    });
    peer.map(|p| format!(" (peer {p})")).unwrap_or_default()
}

static RETRY: Known = Known {
    id: "ib/retry-exceeded",
    title: "A peer's NIC did not answer: transport retries exceeded",
    severity: Severity::Critical,
    docs: "Completion status 12. The NIC sent, repeated (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT: several seconds each) and got no acknowledgement. The peer's process or node is gone, the path is cut (link, switch, routing, firewall), packets are \
           lost for want of flow control, MTUs differ, or on RoCE the GID does not lead there. ACS or an IOMMU that misroutes GPU memory can look like this, too. Which one, the counters of both NICs and the switch tell.",
    confirm: &[
        "`ib_write_bw` between exactly these two NICs, with and without --use_cuda",
        "counters on both sides: local_ack_timeout_err, out_of_sequence, link_downed; pause and discard counters of the switch port",
        "was the peer's process alive? Its own log, and its node's kernel log",
    ],
    refute: &["an earlier event on the peer (Xid, out of memory, port down): then this follows from it"],
    rules: &[
        "rdma/port-errors",
        "rdma/roce-errors",
        "rdma/roce-mtu",
        "rdma/gid-table",
        "acs/redirect-on-p2p-path",
        "iommu/translated-domain",
    ],
    sources: &[VERBS, ENV_RST],
    remedy: || investigate("Test the path between the two NICs that are named, then their counters and the switch's"),
    check: |c| {
        let g = completions(c, &[12])?;
        let words = format!(
            "{} got no answer from {}{}",
            c.hosts(g.first_process).join(""),
            if g.count == 1 { "a peer" } else { "peers" },
            peers(g)
        );
        let late = if c.ran() { "in the middle of the job" } else { "at a time that the log does not place" };
        let why = format!("the completion says so, {late}; what cut the path is not in it");
        Some(
            Found::new(Likely, words.trim_start().to_owned(), why)
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["rdma/port-errors", "rdma/roce-errors"]),
        )
    },
    follows: &[
        "ib/port-went-down",
        "kernel/xid",
        "kernel/oom",
        "kernel/iommu-fault",
        "ib/gid-index",
        "job/peer-exited",
        "ib/nic-fault",
        "gpu/out-of-memory",
        "ib/local-protection",
        "ib/remote-access",
    ],
};

static RNR: Known = Known {
    id: "ib/rnr-retry-exceeded",
    title: "A peer posted no receive in time",
    severity: Severity::Critical,
    docs: "Completion status 13: the peer's NIC answers, but its process had no receive posted for longer than all retries take. The process hangs, is starved of CPU, or is at another point of the program.",
    confirm: &["stacks of the peer's process (py-spy, gdb)", "CPU affinity and load of the peer's node"],
    refute: &["a collective mismatch in the log: then that is the cause"],
    rules: &[],
    sources: &[VERBS],
    remedy: || investigate("Look at what the peer's process does: hang, CPU starvation, or another collective"),
    check: |c| {
        let g = completions(c, &[13])?;
        let words = format!("a peer was not ready to receive{}", peers(g));
        Some(
            Found::new(Likely, words, "the completion says so; why the peer was not ready is for its process to tell")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &["job/collective-mismatch", "kernel/xid", "kernel/oom"],
};

static PROTECTION: Known = Known {
    id: "ib/local-protection",
    title: "A NIC may not use its own buffer",
    severity: Severity::Critical,
    docs: "Completion status 4: the NIC could not read or write the local memory of the request. With GPUDirect RDMA that is GPU memory which the NIC does not reach: ACS that redirects to a root complex that drops it, an IOMMU that has no mapping, \
           a stale nvidia-peermem, or memory that was freed.",
    confirm: &[
        "NCCL_NET_GDR_LEVEL=LOC: does it go away?",
        "the kernel's log: IO_PAGE_FAULT, DMAR",
        "`linerate audit`: acs/redirect-on-p2p-path, iommu/translated-domain",
    ],
    refute: &["it fails with GPUDirect RDMA off, too"],
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults", "gpumem/peermem-symbols"],
    sources: &[VERBS, super::TROUBLESHOOTING],
    remedy: || investigate("Judge the node's ACS and IOMMU: `linerate audit --rule 'acs/*' --rule 'iommu/*'`"),
    check: |c| {
        let g = completions(c, &[4])?;
        let words = format!("a NIC could not use the local buffer{}", peers(g));
        let found =
            Found::new(Likely, words, "the completion says so; ACS, IOMMU and peer memory are what the node must show")
                .with(c.quotes(g));
        Some(
            found
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"]),
        )
    },
    follows: &["kernel/iommu-fault", "kernel/xid"],
};

static REMOTE_ACCESS: Known = Known {
    id: "ib/remote-access",
    title: "The peer's NIC refused the address or the key",
    severity: Severity::Critical,
    docs: "Completion status 10 (or 11): the peer's NIC got the request and could not do it. Its memory is not registered for it any more, or is GPU memory that the NIC does not reach (ACS, IOMMU, stale nvidia-peermem).",
    confirm: &["the peer's own log and its kernel's log at that time", "NCCL_NET_GDR_LEVEL=LOC: does it go away?"],
    refute: &["the peer failed before"],
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"],
    sources: &[VERBS],
    remedy: || investigate("Read the peer's log; judge ACS and IOMMU on its node"),
    check: |c| {
        let g = completions(c, &[10, 11])?;
        let words = format!("the peer's NIC refused a request{}", peers(g));
        let found = Found::new(Likely, words, "the completion says so; the reason is on the peer").with(c.quotes(g));
        Some(
            found
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"]),
        )
    },
    follows: &["kernel/iommu-fault", "kernel/xid", "gpu/out-of-memory"],
};

static NIC_FAULT: Known = Known {
    id: "ib/nic-fault",
    title: "A NIC reports a fatal error of its own",
    severity: Severity::Critical,
    docs: "An asynchronous event that NCCL calls fatal, a completion of status 19, or a health report of the NIC's driver: firmware, hardware, or a queue in error.",
    confirm: &[
        "`dmesg | grep mlx5_core`: health, firmware commands",
        "`mstflint -d BDF q`: firmware against the release notes",
    ],
    refute: &["a port event at the same time: then the link is the cause"],
    rules: &["rdma/firmware-mixed"],
    sources: &[VERBS],
    remedy: || investigate("Read the driver's messages about the NIC; update firmware or replace the card"),
    check: |c| {
        let bad = |event: &str, fatal: bool| {
            !is_down(event) && (fatal || event.contains("fatal") || event.contains("catastrophic"))
        };
        let fatal = c.failures(|t| matches!(t, Trouble::Async { event, fatal } if bad(c.name(*event), *fatal)));
        let kernel = c.kernel(|k| matches!(k, KernelTrouble::NicFirmware(_)));
        let g = fatal
            .first()
            .map(|(_, g)| *g)
            .or_else(|| completions(c, &[19]))
            .or_else(|| kernel.first().map(|(_, g)| *g))?;
        // A queue pair in error is what every failed request leaves behind.
        let queue = g.quotes.iter().all(|q| q.text.contains(" on QP") || q.text.contains(" on CQ"));
        if queue && completions(c, &[1, 2, 4, 9, 10, 11, 12, 13]).is_some() {
            return None;
        }
        Some(
            Found::new(Likely, "a NIC reported a fatal error", "the event itself is in the log")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &["ib/port-went-down", "kernel/iommu-fault", "kernel/xid", "kernel/pcie-error"],
};

static FLUSHED: Known = Known {
    id: "ib/flushed",
    title: "Requests were flushed: a queue pair was in error before",
    severity: Severity::Info,
    docs: "Completion status 5 is what all outstanding requests of a queue pair get after its first error. The first error is the cause; it may be on the other side.",
    confirm: &["logs of all ranks: the first completion with another status"],
    refute: &[],
    rules: &[],
    sources: &[VERBS],
    remedy: || investigate("Read the logs of the other ranks: the first error is there"),
    // Never a cause by itself: told as a consequence, or as undecided.
    check: |_| None,
    follows: &[],
};

static SMALL_MTU: Known = Known {
    id: "ib/small-mtu",
    title: "RoCE runs with a small MTU",
    severity: Severity::Medium,
    docs: "The RDMA MTU follows the interface's: with 1500 bytes it is 1024, with 4200 and more it is 4096. With 1024 headers take more of the link (92.6 % remain for data, 98 % with 4096), and four times the packets have to be processed.",
    confirm: &["`ibv_devinfo | grep active_mtu`, `ip link show` on both ends, and the switch's MTU"],
    refute: &[],
    rules: &["rdma/roce-mtu"],
    sources: &[nccl(
        "RoCE v2 header sizes: InfiniBand specification, annex A17",
        "https://www.infinibandta.org/ibta-specification/",
    )],
    remedy: || software("Set the interface's MTU to 9000 (4200 at least) on hosts and switches, end to end"),
    check: |c| {
        let mut small: Option<&Group> = None;
        let mut large = false;
        for ((mtu, gid), g) in c.of(&c.o.queue_pairs) {
            if gid.is_some() && mtu <= 3 {
                small = Some(g);
            } else {
                large = true;
            }
        }
        let g = small?;
        let words = if large {
            "some RoCE connections run with an MTU of 1024 or less, others with more"
        } else {
            "RoCE connections run with an MTU of 1024 bytes or less"
        };
        let lines: Vec<Evidence> = c.quotes(g).into_iter().take(2).collect();
        // It costs bandwidth, and ends no job.
        let sure = if c.failed() { Possible } else { Certain };
        Some(
            Found::new(sure, words, "NCCL prints the MTU of each connection (3 is 1024)")
                .with(lines)
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};
