//! `kernel/pcie-limited`.

use super::device;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{KernelTrouble, Lack, NarrowPath};
use linerate_formats::dmesg::DriverClass;
use linerate_rules::{Remedy, Severity};
use std::collections::HashSet;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/pcie-limited",
    title: "A PCIe link gives a device less bandwidth than it can use",
    what: "The kernel or a driver says at start that the PCIe link of its device, or one above it, is slower or narrower than the \
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
    let NarrowPath { device: of, port, lacks, megabits, capable } = worst;
    let others: HashSet<NarrowPath> = all.iter().map(|(p, _)| *p).filter(|p| *p != worst).collect();
    let what = device(c, of, g).what;
    let name = match of.bdf {
        Some(b) if what != DriverClass::Unknown.words() => format!("{b} ({what})"),
        Some(b) => b.to_string(),
        None => "a device".to_owned(),
    };
    let gbps = |m: u32| format!("{:.1} Gb/s", f64::from(m) / 1e3);
    let (sure, words) = match (megabits, capable) {
        (Some(has), Some(can)) => {
            let at = port.map(|b| format!(" at {b}")).unwrap_or_default();
            let how = match lacks {
                Lack::Lanes => " by fewer lanes",
                Lack::Speed => " by its speed, with all lanes",
                Lack::Unknown => "",
            };
            let rates = format!("{name} has {} of PCIe, and could use {}", gbps(has), gbps(can));
            (Likely, format!("{rates}: a link{at} limits it{how}"))
        }
        _ => (Possible, format!("the driver of {name} finds its PCIe link too slow for the card")),
    };
    let more = match others.len() {
        0 => String::new(),
        1 => "; and so for another device".to_owned(),
        n => format!("; and so for {n} more devices"),
    };
    let need = match what {
        w if w == DriverClass::RdmaNic.words() => "the speed of its ports shows",
        w if w == DriverClass::Gpu.words() => "what it copies over PCIe shows",
        _ => "these lines do not show",
    };
    let why = format!("the kernel's log says so at start; whether the job needs more than that, {need}");
    let found = Found::new(sure, words + &more, why).shown(c, g);
    Some(if lacks == Lack::Speed { found.severity(Severity::Medium).fix(Some(faster())) } else { found })
}

/// All lanes are there: another slot may be no faster.
fn faster() -> Remedy {
    Advice::Investigate(
        "See whether the port above can be faster (`lspci -vvs PORT`: LnkCap). If it can, reseat the card, and look at risers, retimers and the BIOS's limit of the link; if it cannot, the machine is of an older PCIe generation than the card: plan with what it carries",
    )
    .remedy()
}
