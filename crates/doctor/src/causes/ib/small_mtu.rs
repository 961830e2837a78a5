//! `ib/small-mtu`.

use crate::answer::Confidence::{Certain, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/small-mtu",
    title: "RoCE runs with a small MTU",
    what: "RoCE runs with an RDMA MTU of 1024 or less.",
    shows: &["`NET/IB: … mtu 3 … GID …`: NCCL prints the MTU of each connection (3 is 1024)"],
    why: "The RDMA MTU follows the interface's: with 1500 bytes it is 1024, with 4200 and more it is 4096. With 1024 \
          headers take more of the link (92.6 % remain for data, 98 % with 4096), and four times the packets have to \
          be processed.",
    confirm: &["`ibv_devinfo | grep active_mtu`, `ip link show` on both ends, and the switch's MTU"],
    refute: &[],
    remedy: Advice::Software("Set the interface's MTU to 9000 (4200 at least) on hosts and switches, end to end"),
    sources: &[nccl(
        "RoCE v2 header sizes: InfiniBand specification, annex A17",
        "https://www.infinibandta.org/ibta-specification/",
    )],
    severity: Severity::Medium,
    rules: &["rdma/roce-mtu"],
    follows: &[],
    check,
};

/// `IBV_MTU_1024` of `enum ibv_mtu`.
const MTU_1024: u32 = 3;

fn check(c: &Case<'_>) -> Option<Found> {
    let mut small: Option<&Group> = None;
    let mut large = false;
    for (pair, g) in c.of(&c.o.queue_pairs) {
        if pair.gid_index.is_some() && pair.mtu <= MTU_1024 {
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
}
