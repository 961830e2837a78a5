//! `ib/retry-exceeded`.

use super::{VERBS, completions, peers};
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/retry-exceeded",
    title: "A peer's NIC did not answer: transport retries exceeded",
    what: "Completion status 12: the NIC sent, repeated (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT: several seconds each) \
           and got no acknowledgement.",
    shows: &[
        "`Got completion from peer … with status=12`, `transport retry counter exceeded`, `Transport retry count \
         exceeded on …`",
    ],
    why: "The peer's process or node is gone, the path is cut (link, switch, routing, firewall), packets are lost because there is no flow control, MTUs differ, or on RoCE the GID does not lead there. ACS or an IOMMU that \
          misroutes GPU memory can look like this, too. The counters of both NICs and of the switch show which.",
    confirm: &[
        "`ib_write_bw` between exactly these two NICs, with and without --use_cuda",
        "counters on both sides: local_ack_timeout_err, out_of_sequence, link_downed; pause and discard counters of the switch port",
        "was the peer's process alive? Its own log, and its node's kernel log",
    ],
    refute: &["an earlier event on the peer (Xid, out of memory, port down): then this follows from it"],
    remedy: Advice::Investigate(
        "Test the path between the two NICs that are named, then their counters and the switch's",
    ),
    sources: &[VERBS, ENV_RST],
    severity: Severity::Critical,
    rules: &[
        "rdma/port-errors",
        "rdma/roce-errors",
        "rdma/roce-mtu",
        "rdma/gid-table",
        "acs/redirect-on-p2p-path",
        "iommu/translated-domain",
    ],
    follows: &[
        "ib/port-went-down",
        "kernel/xid",
        "kernel/device-gone",
        "gpu/uncorrected-error",
        "gpu/hung",
        "gpu/page-fault",
        "kernel/oom",
        "kernel/iommu-fault",
        "ib/gid-index",
        "job/peer-exited",
        "ib/nic-fault",
        "gpu/out-of-memory",
        "ib/local-protection",
        "ib/remote-access",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = completions(c, &[Status::RetryExceeded])?;
    let words = format!(
        "{} got no answer from {}{}",
        c.hosts(g.first_process).join(""),
        if g.count == 1 { "a peer" } else { "peers" },
        peers(g)
    );
    let late = if c.ran() { "in the middle of the job" } else { "at a time that the log does not place" };
    let why = format!("the completion says so, {late}; it does not show what cut the path");
    Some(
        Found::new(Likely, words.trim_start().to_owned(), why)
            .shown(c, g)
            .join(c, &["rdma/port-errors", "rdma/roce-errors"]),
    )
}
