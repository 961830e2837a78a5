//! `kernel/pcie-error`.

use super::{AER_HOWTO, identify, named, nameless, of_devices, xid};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::{DriverClass, Requester};
use linerate_formats::pci::Bdf;
use linerate_formats::xid::Class;
use linerate_node::requester;
use linerate_node::requester::{Device, Standing};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/pcie-error",
    title: "A GPU, a NIC or a port above one had a PCIe error that was not corrected",
    what: "A GPU, a NIC or a port above one had a PCIe error that was not corrected, or the link of its slot went \
           down.",
    shows: &[
        "`PCIe Bus Error: severity=Uncorrected (Fatal), …` and other AER lines",
        "`pcieport …: pciehp: Slot(…): Link Down`",
    ],
    why: "Requests in flight are lost; with a fatal error the link itself is. What talks to the device hangs or \
          fails.",
    confirm: &[
        "`lspci -vvs BDF`: UESta, LnkSta against LnkCap",
        "/sys/bus/pci/devices/BDF/aer_dev_fatal and aer_dev_nonfatal, twice under traffic",
    ],
    refute: &["the error is an Unsupported Request at boot, when buses are scanned"],
    remedy: Advice::Hands(
        "Drain the node, and check the device's seating, riser and cables; see whether the error moves with the card",
    ),
    sources: &[AER_HOWTO],
    severity: Severity::Critical,
    rules: &["pcie/aer-errors", "pcie/device-gone", "pcie/link-width", "pcie/link-speed"],
    follows: &["kernel/xid"],
    check,
};

fn errors_or_links(n: u64) -> String {
    linerate_formats::counted(n, "uncorrected PCIe error or lost link", "uncorrected PCIe errors or lost links")
}

fn check(c: &Case<'_>) -> Option<Found> {
    let (found, other): (Vec<_>, Vec<_>) = errors(c).into_iter().partition(|(_, d, _)| d.standing == Standing::Path);
    if found.is_empty() {
        let (of, d, g) = other.iter().find(|(_, d, _)| d.standing == Standing::Unknown)?;
        let words = format!("{} {}", errors_or_links(g.count), nameless(*of, d));
        let why = "only errors of a GPU, an RDMA NIC or a port above one concern the job";
        let open = Found::new(Possible, words, why).shown(c, g).fix(Some(identify()));
        return Some(after_xid(c, *of, g, open));
    }
    let (of, d, g) = found.first()?;
    let words = format!("{} of {}", errors_or_links(g.count), named(*of, d));
    let likely =
        Found::new(Likely, words, "the kernel's log says so, and the device is on the way between GPU and NIC")
            .shown(c, g)
            .join(c, &["pcie/device-gone", "pcie/aer-errors"]);
    Some(after_xid(c, *of, g, likely))
}

/// It follows from an Xid only where a GPU left the bus before: errors of programs and of memory leave the link alone.
fn after_xid(c: &Case<'_>, of: Requester, g: &Group, found: Found) -> Found {
    let lost = xid::judged(c).into_iter().filter(|(_, j, x)| j.meaning.class == Class::Bus && x.is_before(g));
    let is_its = |gpu: Option<Bdf>, x: &Group| {
        let unknown = of.bdf.is_none() || gpu.is_none() || of.class == DriverClass::Port;
        x.host == g.host && (unknown || gpu.zip(of.bdf).is_some_and(|(a, b)| same_slot(a, b)))
    };
    let follows = lost.into_iter().any(|(seen, _, x)| is_its(seen.gpu, x));
    if follows { found } else { found.apart_from("kernel/xid") }
}

/// Whether an error of a GPU's own slot came before what its driver reports.
pub(super) fn came_before(errors: &[(Requester, Device, &Group)], gpu: Option<Bdf>, g: &Group) -> bool {
    let of_gpu = |of: Requester| of.bdf.zip(gpu).is_some_and(|(a, b)| same_slot(a, b));
    errors.iter().any(|(of, _, e)| of_gpu(*of) && e.host == g.host && e.is_before(g))
}

/// Functions of one card: a GPU and its sound.
fn same_slot(a: Bdf, b: Bdf) -> bool {
    requester::same(Bdf { function: 0, ..a }, Bdf { function: 0, ..b })
}

/// Uncorrected errors and lost slots, and what their devices are.
pub(super) fn errors<'a>(c: &Case<'a>) -> Vec<(Requester, Device, &'a Group)> {
    of_devices(c, |k| match k {
        KernelTrouble::PcieError(of) | KernelTrouble::SlotDown(of) => Some(*of),
        _ => None,
    })
}
