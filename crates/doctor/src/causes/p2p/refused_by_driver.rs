//! `p2p/refused-by-driver`.

use super::P2P_CC;
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "p2p/refused-by-driver",
    title: "The driver refuses peer-to-peer between GPUs",
    what: "The GPU driver refuses peer-to-peer between GPUs of a node although the topology would allow it. NCCL \
           goes on through host memory.",
    shows: &["`P2P is disabled between …`, `peer access is not supported between these two devices` (CUDA error 217)"],
    why: "The driver does not offer it for this product (GeForce), the chipset or a virtual machine does not support \
          it, ACS or the IOMMU is in the way, or NVLink is in error.",
    confirm: &[
        "`nvidia-smi topo -p2p r` on the node: CNS (chipset), GNS (GPU), TNS (topology), DR (disabled)",
        "`linerate audit`: acs/redirect-on-p2p-path, iommu/translated-domain",
    ],
    refute: &["`nvidia-smi topo -p2p r` says OK for the pair"],
    remedy: Advice::Investigate("Read `nvidia-smi topo -p2p r` for the reason that the driver gives"),
    sources: &[P2P_CC, TROUBLESHOOTING],
    severity: Severity::High,
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::P2pRefused | Trouble::P2pDisabled));
    let (_, g) = found.first()?;
    if c.env_number("NCCL_P2P_DISABLE").is_some_and(|(v, _)| v != 0) {
        return None;
    }
    // Between GPUs with NVLink it is a fault of another kind: gpu/nvlink.
    if found.iter().all(|(_, g)| g.quotes.iter().all(|q| q.text.contains("NVLINK"))) {
        return None;
    }
    let words = "the driver refuses peer-to-peer between GPUs of a node";
    let why = "the log says so; the driver's reason is in `nvidia-smi topo -p2p r`";
    Some(Found::new(Certain, words, why).shown(c, g).join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain"]))
}
