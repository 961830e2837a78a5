//! `net/ucx-unreachable`.

use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::ToolTrouble;
use linerate_rules::{Remedy, Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "net/ucx-unreachable",
    title: "UCX finds no transport that reaches the peer",
    what: "UCX compared its transports with the peer's, and none of both ends can carry messages between them: the endpoint is not made.",
    shows: &[
        "`no active messages transport to …: rc_mlx5/mlx5_0:1 - Destination is unreachable, …` of UCX, with the reason of each transport",
    ],
    why: "The list in the line is all that UCX_TLS, UCX_NET_DEVICES and the devices of this process left. Where it has only transports within a host (self, \
          sysv, posix, cma), none of a network is left. A network's transport that is unreachable has an address that does not fit the peer's: another \
          subnet or GID version of RoCE, another InfiniBand subnet or partition, an address family that the peer has not.",
    confirm: &[
        "`ucx_info -d` on both ends, in the job's own environment: devices and transports that both have",
        "unset UCX_TLS and UCX_NET_DEVICES: does it connect, and over what (UCX_LOG_LEVEL=info)?",
        "RoCE: `show_gids` on both ends; `rping` or ib_write_bw -x INDEX between the two devices",
    ],
    refute: &[],
    remedy: Advice::Investigate(
        "Make the addresses fit: the same network for the devices of UCX_NET_DEVICES on both ends, the same kind of GID on RoCE (UCX_IB_GID_INDEX), a route between their subnets (newer releases: UCX_IB_ROCE_REACHABILITY_MODE), the same partition on InfiniBand",
    ),
    sources: &[SELECT],
    severity: Severity::Critical,
    rules: &["rdma/gid-table", "rdma/port-state"],
    follows: &["ib/port-not-active", "ib/port-went-down", "net/no-rdma-device"],
    check,
};

const SELECT: Source = nccl(
    "UCX, src/ucp/wireup/select.c: ucp_wireup_select_transport",
    "https://github.com/openucx/ucx/blob/master/src/ucp/wireup/select.c",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.tool(|t| matches!(t, ToolTrouble::NoUcxTransport))?;
    let sure = if g.quotes.iter().any(|q| q.text.contains("UCX  ERROR")) { Certain } else { Likely };
    let why = "UCX says so, with the reason of each transport";
    if within_host(g) {
        let words = "UCX has only transports within a host left, and the peer is not on this host";
        return Some(Found::new(sure, words, why).with(c.quotes(g)).fix(Some(allow())));
    }
    let words = "UCX finds no transport that reaches the peer";
    Some(Found::new(sure, words, why).with(c.quotes(g)))
}

/// Transports within a host, by the names that UCX prints before the slash.
const LOCAL: &[&str] = &[
    "self",
    "sysv",
    "posix",
    "cma",
    "knem",
    "xpmem",
    "mm",
    "cuda_copy",
    "cuda_ipc",
    "gdr_copy",
    "rocm_copy",
    "rocm_ipc",
];

/// Whether each transport of a line is one within a host, and one of them says that the peer is not reached.
fn within_host(g: &Group) -> bool {
    let list = g.quotes.iter().find_map(|q| q.text.split_once("no active messages transport to ")?.1.split_once(": "));
    let Some((_, list)) = list.filter(|(_, list)| !list.ends_with('…')) else { return false };
    let transports = || list.split(", ").filter_map(|t| t.split_once(" - "));
    list.contains("Destination is unreachable")
        && transports().next().is_some()
        && transports().all(|(name, _)| name.split_once('/').is_some_and(|(kind, _)| LOCAL.contains(&kind.trim())))
}

fn allow() -> Remedy {
    Advice::Investigate(
        "Let UCX use a network: UCX_TLS without a list, or one with rc or tcp in it; UCX_NET_DEVICES with a device of this host (`ucx_info -d`); in a container, /dev/infiniband and the interfaces",
    )
    .remedy()
}
