//! Whether what is known of a host, its domain and the guest explains that GPUs and NICs of the guest are slow.

use crate::{Audit, Status, Verdict};
use std::cmp::Reverse;

/// Rules on the way between a GPU and a NIC of a guest: the layout, ATS, ACS, and what NCCL sees. What is not among them costs something else.
const WAY: &[&str] = &[
    "acs/direct-nic",
    "acs/translation-blocking",
    "acs/vmhost-direct-translated",
    "ats/not-enabled-with-vm",
    "ats/vmhost",
    "iommu/guest-viommu",
    "nicfw/ats-enabled",
    "pcie/relaxed-ordering",
    "topo/flat-guest",
    "topo/topology-file",
    "topo/virtual-hides-affinity",
    "vm/affinity",
    "vm/as-the-domain-says",
    "vm/bus-numbers",
    "vm/gpudirect-clique",
    "vm/legal",
    "vm/links-believed",
    "vm/machine",
    "vm/numa",
    "vm/nvswitches",
    "vm/one-switch",
    "vm/root-complex",
    "vm/virtual-iommu",
];

/// Whose answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The host's, or its domain's.
    Host,
    /// The guest's.
    Guest,
}

impl Side {
    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Host => "host",
            Side::Guest => "guest",
        }
    }
}

/// What explains a slow guest.
#[derive(Debug, Clone)]
pub enum Explained<'a> {
    /// These, the worst first.
    By(Vec<(Side, &'a Verdict)>),
    /// Nothing that was seen; these could not be.
    Open(Vec<(Side, &'a Verdict)>),
    /// All of it was seen, and is right: layout, ACS and ATS do not explain it.
    Nothing,
}

/// Areas and rules that are asked of a host with a domain, and of its guest.
#[must_use]
pub fn is_asked(rule: &str, side: Side) -> bool {
    let area = rule.split('/').next().unwrap_or(rule);
    match side {
        Side::Host => {
            matches!(area, "vm" | "acs" | "ats")
                || matches!(rule, "nicfw/ats-enabled" | "cmdline/noats" | "iommu/active" | "iommu/shared-group")
        }
        Side::Guest => {
            matches!(area, "vm" | "topo")
                || matches!(
                    rule,
                    "iommu/guest-viommu" | "acs/guest-ports" | "pcie/relaxed-ordering" | "gpumem/nvlink-fabric"
                )
        }
    }
}

/// What of these audits explains it. `is_whole`: every guest is among them; else their rules do not count as seen.
#[must_use]
pub fn explained<'a>(audits: impl IntoIterator<Item = (Side, &'a Audit)>, is_whole: bool) -> Explained<'a> {
    let of = |(side, audit): (Side, &'a Audit)| audit.verdicts.iter().map(move |v| (side, v));
    let all: Vec<(Side, &Verdict)> =
        audits.into_iter().flat_map(of).filter(|(_, v)| WAY.contains(&v.rule.id)).collect();
    let is_found = |v: &Verdict| v.finding.status == Status::Fail && v.severity() > crate::Severity::Info;
    let mut by: Vec<_> = all.iter().copied().filter(|(_, v)| is_found(v)).collect();
    by.sort_by_key(|(side, v)| (Reverse(v.severity()), *side));
    if !by.is_empty() {
        return Explained::By(by);
    }
    let open: Vec<_> = all.into_iter().filter(|(_, v)| v.finding.status == Status::Unknown).collect();
    if open.is_empty() && is_whole { Explained::Nothing } else { Explained::Open(open) }
}

/// What to measure where the layout, ACS and ATS are right: each splits what is left.
pub const MEASURE: [(&str, &str); 4] = [
    (
        "ib_write_bw between two guests, host memory",
        "slow here too: the NIC, its link, the fabric or the guest's CPUs, not GPUDirect",
    ),
    (
        "ib_write_bw --use_cuda=0, then with the other GPUs",
        "slow only with a GPU: the way between them; slow with one GPU: that one",
    ),
    ("nvidia-smi topo -p2p r; nvbandwidth", "between GPUs: no P2P without a clique or NVLink"),
    (
        "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET",
        "which NIC each GPU has, and whether it says GDRDMA: linerate doctor reads it",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_way_is_asked_of_a_side() {
        for id in WAY {
            assert!(crate::find(id).is_some(), "{id}");
            assert!(is_asked(id, Side::Host) || is_asked(id, Side::Guest), "{id}");
        }
    }
}
