//! What the kernel and its drivers reported.

pub(crate) mod device_gone;
mod iommu_fault;
mod oom;
mod pcie_corrected;
mod pcie_error;
mod pcie_limited;
pub(crate) mod xid;

use crate::answer::Note;
use crate::case::Case;
use crate::causes::{Advice, Cause, nccl};
use crate::observe::groups::Group;
use crate::observe::names::Name;
use crate::observe::trouble::KernelTrouble;
use iommu_fault::faults;
use linerate_formats::dmesg::{DriverClass, Requester};
use linerate_node::pci::PciTree;
use linerate_node::requester;
use linerate_node::requester::{Device, Standing};
use linerate_rules::{Remedy, Source};

pub(super) static CAUSES: &[&Cause] = &[
    &iommu_fault::CAUSE,
    &oom::CAUSE,
    &xid::CAUSE,
    &device_gone::CAUSE,
    &pcie_error::CAUSE,
    &pcie_limited::CAUSE,
    &pcie_corrected::CAUSE,
];

const AER_HOWTO: Source = nccl(
    "Linux Documentation/PCI/pcieaer-howto.rst",
    "https://github.com/torvalds/linux/blob/master/Documentation/PCI/pcieaer-howto.rst",
);

/// Reports of a kind that name a device, and what that is.
fn of_devices<'a>(c: &Case<'a>, of: fn(&KernelTrouble) -> Option<Requester>) -> Vec<(Requester, Device, &'a Group)> {
    let all = c.kernel(|k| of(k).is_some()).into_iter();
    all.filter_map(|(k, g)| of(&k).map(|of| (of, device(c, of, g), g))).collect()
}

/// What the device of a message is: by a node that was given, else by what the log says of that host's devices.
fn device(c: &Case<'_>, of: Requester, g: &Group) -> Device {
    let ours = |host: Option<Name>| g.host.is_none() || host.is_none() || host == g.host;
    let bound = || c.o.bound.iter().filter(|b| ours(b.host)).map(|b| b.of).chain(gpus(c, g));
    let nodes = c.nodes.iter().filter(|n| n.may_be(g.host.map(|h| c.name(h))));
    let on_nodes = nodes.map(|n| requester::device_in_log(&n.node.pci, false, of, bound()));
    let known = on_nodes.into_iter().find(|d| d.standing != Standing::Unknown);
    known.unwrap_or_else(|| requester::device_in_log(&PciTree::default(), false, of, bound()))
}

/// The devices that the GPU driver names in that host's log: GPUs.
fn gpus(c: &Case<'_>, g: &Group) -> impl Iterator<Item = Requester> {
    let host = g.host;
    c.of(&c.o.kernel).filter(move |(_, other)| host.is_none() || other.host.is_none() || other.host == host).filter_map(
        |(k, _)| {
            let (KernelTrouble::Xid { gpu, .. } | KernelTrouble::GpuNotStarted(gpu)) = k.trouble else { return None };
            Some(Requester { bdf: Some(gpu?), class: DriverClass::Gpu })
        },
    )
}

/// Errors of devices that have no part in the job's path.
pub(crate) fn elsewhere(c: &Case<'_>) -> Vec<Note> {
    let why = "it is neither a GPU nor an RDMA NIC nor a port above one: the error does not concern the job";
    let faults = faults(c).into_iter().map(|f| ("IOMMU faults", f.of, f.device, f.group));
    let errors = pcie_error::errors(c).into_iter().map(|(of, d, g)| ("PCIe errors", of, d, g));
    let corrected = pcie_corrected::corrected(c).into_iter().map(|(of, d, g)| ("corrected PCIe errors", of, d, g));
    let gone = device_gone::gone(c).into_iter().map(|(of, d, g)| ("no answer", of, d, g));
    let of_others =
        faults.chain(errors).chain(corrected).chain(gone).filter(|(_, _, d, _)| d.standing == Standing::Elsewhere);
    of_others
        .map(|(what, of, d, g)| {
            let address = of.bdf.map(|b| format!(" {b}")).unwrap_or_default();
            Note {
                what: format!("{what} of {}{address}", d.what),
                why: why.to_owned(),
                evidence: c.first_quote(g).into_iter().collect(),
            }
        })
        .collect()
}

/// Words for a device that is known.
fn named(of: Requester, device: &Device) -> String {
    of.bdf.map_or_else(|| device.what.to_owned(), |b| format!("{b} ({})", device.what))
}

/// Words for a device that nothing identifies.
fn nameless(of: Requester, device: &Device) -> String {
    match of.bdf {
        Some(b) if device.what == DriverClass::Port.words() => {
            format!("of the PCIe port {b}: what is below it, these lines do not show")
        }
        Some(b) => format!("of {b}: what that device is, these lines do not show"),
        None => "of a device that the line does not name".to_owned(),
    }
}

/// What to do about an error of a device that nothing identifies.
fn identify() -> Remedy {
    Advice::Investigate(
        "Find out what the device is, and of a port what is below it (`lspci -D -nn` and `lspci -tv` on that host, or `linerate doctor LOG --node SNAPSHOT`)",
    )
    .remedy()
}
