//! `shm/disabled-by-env`.

use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::p2p::{carriers, has_p2p};
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::ranks::Carrier;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "shm/disabled-by-env",
    title: "NCCL_SHM_DISABLE sends traffic within a node to the NIC",
    what: "NCCL_SHM_DISABLE=1 sends traffic within a node to the NIC.",
    shows: &["`NCCL_SHM_DISABLE set by environment to 1`", "connections within a host `via NET/…`"],
    why: "Where GPUs cannot talk directly, ranks of a node use shared memory. The variable forbids that, too, and \
          leaves the network.",
    confirm: &["unset NCCL_SHM_DISABLE: `via SHM/…` appears in place of `via NET/…`"],
    refute: &["all ranks of a node are connected by P2P: then the variable changes nothing"],
    remedy: Advice::Environment("Unset NCCL_SHM_DISABLE", &[], &["NCCL_SHM_DISABLE"]),
    sources: &[ENV_RST],
    severity: Severity::Medium,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (_, g) = c.env_number("NCCL_SHM_DISABLE").filter(|(v, _)| *v != 0)?;
    let all = carriers(c);
    if all.contains(&Carrier::Shm) || has_p2p(&all) {
        return None;
    }
    let one_host = c.job.hosts(c.o).len() == 1 && c.job.nodes(c.o).is_none_or(|n| n <= 1);
    let net = all.contains(&Carrier::Net);
    let (sure, why) = match (net, one_host) {
        (true, true) => (Certain, "the variable is set, and ranks of one host are connected over the network"),
        (true, false) => {
            (Likely, "the variable is set, and no connection within a node goes another way than the network")
        }
        (false, _) => (Possible, "the variable is set; the connections are not shown"),
    };
    Some(
        Found::new(sure, "NCCL_SHM_DISABLE=1: ranks of a node talk through the network", why)
            .with(c.quotes(g))
            .with(c.cells(c.net_cells().take(1))),
    )
}
