//! `kernel/pcie-corrected`.

use super::{AER_HOWTO, identify, named, nameless, of_devices};
use crate::answer::Confidence::Possible;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::Requester;
use linerate_node::requester::{Device, Standing};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/pcie-corrected",
    title: "A PCIe link of a GPU or a NIC corrects errors",
    what: "The kernel's log has corrected PCIe errors of a GPU, a NIC or a port above one: packets were damaged on the \
           link, and sent again.",
    shows: &["`PCIe Bus Error: severity=Corrected, type=Data Link Layer, …` with BadTLP, BadDLLP, Rollover or Timeout"],
    why: "Each correction costs a replay. Few of them cost nothing that is measured; a link that has many of them is \
          slow, and may fail.",
    confirm: &[
        "/sys/bus/pci/devices/BDF/aer_dev_correctable, twice under traffic: what grows happens now (`linerate watch counters`)",
        "`lspci -vvs BDF`: LnkSta against LnkCap",
    ],
    refute: &["the counters do not grow under traffic", "the errors are older than the job"],
    remedy: Advice::Hands(
        "Where the counters grow, drain the node and check the device's seating, riser and retimer; see whether the errors move with the card",
    ),
    sources: &[AER_HOWTO],
    severity: Severity::Medium,
    rules: &["pcie/aer-errors", "pcie/link-width", "pcie/link-speed"],
    follows: &["kernel/pcie-error", "kernel/xid", "kernel/device-gone"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let all = corrected(c);
    let of = |standing| all.iter().find(|(_, d, _)| d.standing == standing);
    let why = "the kernel's log says so; whether they still happen, and how many a second, it does not show";
    if let Some((of, d, g)) = of(Standing::Path) {
        let words = format!("corrected PCIe errors of {}: {}", named(*of, d), lines(g));
        return Some(Found::new(Possible, words, why).shown(c, g));
    }
    let (of, d, g) = of(Standing::Unknown)?;
    let words = format!("corrected PCIe errors {} ({})", nameless(*of, d), lines(g));
    Some(Found::new(Possible, words, why).shown(c, g).fix(Some(identify())))
}

fn lines(g: &Group) -> String {
    if g.count == 1 { "1 line".to_owned() } else { format!("{} lines", g.count) }
}

/// Corrected errors, and what their devices are.
pub(super) fn corrected<'a>(c: &Case<'a>) -> Vec<(Requester, Device, &'a Group)> {
    of_devices(c, |k| match k {
        KernelTrouble::PcieCorrected(of) => Some(*of),
        _ => None,
    })
}
