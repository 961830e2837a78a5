//! `kernel/pcie-limited`.

use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{KernelTrouble, NarrowPath};
use linerate_rules::Severity;
use std::collections::HashSet;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/pcie-limited",
    title: "A PCIe link gives a device less bandwidth than it can use",
    what: "A driver says at start that the PCIe link of its device, or one above it, is slower or narrower than the \
           device can use.",
    shows: &[
        "`… Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at … (capable of …)`",
        "`This is not sufficient for optimal performance of this card.`",
        "`PCI-Express bandwidth available for this device may be insufficient for optimal performance.`",
    ],
    why: "No transfer is faster than the slowest link between the device and memory or its peer.",
    confirm: &[
        "`lspci -vvs BDF` of the device and of the port that is named: LnkSta against LnkCap",
        "`linerate audit --rule 'pcie/*'` on the node",
    ],
    refute: &["the ports of the NIC together need less than the link carries (`ibstat`, `ethtool`)"],
    remedy: Advice::Hands(
        "Put the card into a slot with all its lanes, or reseat it; where the slot's port is narrow by design, plan with what it carries",
    ),
    sources: &[nccl(
        "Linux, drivers/pci/pci.c: __pcie_print_link_status",
        "https://github.com/torvalds/linux/blob/master/drivers/pci/pci.c",
    )],
    severity: Severity::High,
    rules: &["pcie/link-width", "pcie/link-speed", "pcie/nic-fits-port", "pcie/path-bottleneck"],
    follows: &["kernel/pcie-error"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let path = |k: &KernelTrouble| match k {
        KernelTrouble::NarrowPath(p) => Some(*p),
        _ => None,
    };
    let all: Vec<_> = c.kernel(|k| path(k).is_some()).into_iter().filter_map(|(k, g)| Some((path(&k)?, g))).collect();
    // The one that gives least of what it could.
    let (worst, g) = *all.iter().min_by_key(|(p, _)| p.share().unwrap_or(u32::MAX))?;
    let NarrowPath { device, port, megabits, capable } = worst;
    let others: HashSet<NarrowPath> = all.iter().map(|(p, _)| *p).filter(|p| *p != worst).collect();
    let name = device.map_or_else(|| "a device".to_owned(), |b| b.to_string());
    let gbps = |m: u32| format!("{:.1} Gb/s", f64::from(m) / 1e3);
    let (sure, words) = match (megabits, capable) {
        (Some(has), Some(can)) => {
            let at = port.map(|b| format!(" at {b}")).unwrap_or_default();
            (Likely, format!("{name} has {} of PCIe, and could use {}: a link{at} limits it", gbps(has), gbps(can)))
        }
        _ => (Possible, format!("the driver of {name} finds its PCIe link too slow for the card")),
    };
    let more = match others.len() {
        0 => String::new(),
        1 => "; and so for another device".to_owned(),
        n => format!("; and so for {n} more devices"),
    };
    let why = "its driver says so at start; whether the job needs more than that, the speed of its ports shows";
    Some(Found::new(sure, words + &more, why).shown(c, g))
}
