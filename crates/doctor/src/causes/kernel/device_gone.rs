//! `kernel/device-gone`.

use super::{identify, named, nameless, of_devices, xid};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::Requester;
use linerate_formats::pci::Bdf;
use linerate_formats::xid::Class;
use linerate_node::requester::{Device, Standing, same};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/device-gone",
    title: "A GPU or a NIC does not answer",
    what: "A GPU or a NIC answers no read over PCIe: it is there for the kernel and gone for its driver. The rank on it \
           fails, all others wait.",
    shows: &[
        "`NVRM: … fallen off the bus`, without an Xid",
        "`nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible`, of any driver",
        "`nvidia 0000:01:00.0: not ready 65535ms after resume; giving up`, after a reset, too",
        "nvidia-smi: `Unable to determine the device handle for GPU …: Unknown Error`, `GPU is lost`",
    ],
    why: "The card has lost its power or its link, its firmware ended, or it did not come back from a reset or from a \
          state without power (D3cold). Reads then give all ones. The GPU driver's number for it is Xid 79.",
    confirm: &[
        "`lspci -vvs BDF`: `Unknown header type 7f`, or `rev ff`",
        "`dmesg` before the first of these lines: AER, `Link Down`, a reset",
        "the BMC's log: power, temperature",
    ],
    refute: &[
        "`nvidia-smi -L` lists the GPU: it came back",
        "nvidia-smi alone says `Unknown Error`, and the GPU driver's lines name another reason (`RmInitAdapter failed`)",
    ],
    remedy: Advice::Investigate(
        "Drain the node and restart it, switched off in between where a restart does not help; if it comes back, check the card's seating, power cables, riser and temperature, and see whether it moves with the card",
    ),
    sources: &[
        PCI_CORE,
        nccl(
            "open-gpu-kernel-modules, src/nvidia/arch/nvalloc/unix/src/osapi.c: rm_is_supported_device",
            "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/arch/nvalloc/unix/src/osapi.c",
        ),
    ],
    severity: Severity::Critical,
    rules: &["pcie/device-gone", "gpumem/xid", "gpumem/driver-init"],
    follows: &[],
    check,
};

const PCI_CORE: Source = nccl(
    "Linux, drivers/pci/pci.c: pci_power_up, pci_dev_wait",
    "https://github.com/torvalds/linux/blob/master/drivers/pci/pci.c",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let known = Gone::of(c);
    let all: Vec<_> = gone(c).into_iter().filter(|(of, _, g)| !known.by_xid(of.bdf, g)).collect();
    let on_path = |(_, d, _): &&(Requester, Device, &Group)| d.standing == Standing::Path;
    let Some((of, d, g)) = all.iter().find(on_path) else {
        let (of, d, g) = all.iter().find(|(_, d, _)| d.standing == Standing::Unknown)?;
        let why = "the kernel says so; only a GPU, an RDMA NIC or a port above one concerns the job";
        let words = format!("no answer {}", nameless(*of, d));
        return Some(Found::new(Possible, words, why).shown(c, g).fix(Some(identify())));
    };
    let by_driver = g.quotes.iter().any(|q| q.text.contains("fallen off the bus") || q.text.contains("GPU is lost"));
    let (sure, why) = if by_driver {
        (Certain, "the driver says so")
    } else {
        (Likely, "the kernel says so; whether it answers later, these lines do not show")
    };
    Some(Found::new(sure, format!("{} does not answer", named(*of, d)), why).shown(c, g))
}

/// Devices that answer nothing.
pub(super) fn gone<'a>(c: &Case<'a>) -> Vec<(Requester, Device, &'a Group)> {
    of_devices(c, |k| match k {
        KernelTrouble::DeviceGone(of) => Some(*of),
        _ => None,
    })
}

/// Devices that answer nothing, each with where it is said; without an address where the line names none.
pub(crate) struct Gone<'a> {
    /// GPUs that left the bus, by their Xids: `kernel/xid` says it.
    xids: Vec<(Option<Bdf>, &'a Group)>,
    /// By other lines.
    lines: Vec<(Option<Bdf>, &'a Group)>,
}

impl<'a> Gone<'a> {
    pub(crate) fn of(c: &Case<'a>) -> Self {
        let left = xid::judged(c).into_iter().filter(|(_, j, _)| j.meaning.class == Class::Bus);
        let xids = left.map(|(seen, _, g)| (seen.gpu, g)).collect();
        let line = |(k, g): (KernelTrouble, &'a Group)| match k {
            KernelTrouble::DeviceGone(of) => Some((of.bdf, g)),
            _ => None,
        };
        Gone {
            xids,
            lines: c.kernel(|k| matches!(k, KernelTrouble::DeviceGone(_))).into_iter().filter_map(line).collect(),
        }
    }

    /// Whether a GPU left the bus of that host, by its Xid.
    fn by_xid(&self, gpu: Option<Bdf>, g: &Group) -> bool {
        self.xids.iter().any(|(other, x)| x.host == g.host && may_be(*other, gpu))
    }

    /// Whether that GPU does not answer, by any of these lines: that it does not start follows.
    pub(crate) fn has(&self, gpu: Option<Bdf>, g: &Group) -> bool {
        self.by_xid(gpu, g) || self.lines.iter().any(|(other, line)| line.host == g.host && may_be(*other, gpu))
    }
}

/// Whether two are one GPU, as far as their lines name them.
fn may_be(a: Option<Bdf>, b: Option<Bdf>) -> bool {
    a.zip(b).is_none_or(|(a, b)| same(a, b))
}
