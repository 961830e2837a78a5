//! `ib/port-went-down`.

use super::is_down;
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::{KernelTrouble, Trouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/port-went-down",
    title: "A NIC's port went down",
    what: "The link of a NIC's port was lost during the job. Connections over it use up their retries and fail some \
           seconds later.",
    shows: &["`NET/IB : … Got async event : port error`", "`mlx5_core …: Link down` in the kernel's log"],
    why: "A cable, a transceiver, a switch, or a driver that was reset.",
    confirm: &[
        "`dmesg | grep -i 'link down'` and the switch's log at that time",
        "`mlxlink -d DEVICE -m` (cable, errors), link_downed in /sys/class/infiniband/*/ports/1/counters",
    ],
    refute: &["the switch shows no event on that port"],
    remedy: Advice::Hands("Reseat or replace cable and transceiver of the port; read the switch's log"),
    sources: &[TROUBLESHOOTING],
    severity: Severity::Critical,
    rules: &["rdma/port-state", "rdma/port-errors"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let events = c.failures(|t| matches!(t, Trouble::Async { event, .. } if is_down(c.name(*event))));
    let kernel = c.kernel(|k| matches!(k, KernelTrouble::LinkDown(_)));
    let g = events.first().map(|(_, g)| *g).or_else(|| kernel.first().map(|(_, g)| *g))?;
    let certain = !events.is_empty();
    let words =
        if certain { "a port reported that its link was lost" } else { "the kernel's log has a link that went down" };
    let sure = if certain || c.failed() { Certain } else { Likely };
    let lines = kernel.iter().flat_map(|(_, g)| c.first_quote(g)).filter(|_| certain).take(4).collect::<Vec<_>>();
    Some(Found::new(sure, words, "the event itself is in the log").shown(c, g).with(lines))
}
