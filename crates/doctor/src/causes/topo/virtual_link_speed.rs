//! `topo/virtual-link-speed`.

use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::ToolTrouble;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "topo/virtual-link-speed",
    title: "NCCL counts on a virtual port's link speed: 2.5 GT/s on one lane",
    what: "NCCL computes with a virtual port's link speed: 2.5 GT/s on one lane.",
    shows: &["`link_speed=\"2.5 GT/s\" link_width=\"1\"` of a bridge in a topology, or NCCL's line about it"],
    why: "Emulated PCIe ports of a virtual machine report 2.5 GT/s and one lane, whatever the hardware below does. \
          NCCL multiplies both, takes 0.2 GB/s for the link between CPU and switch, and chooses rings, NICs and \
          channels by it.",
    confirm: &[
        "`NCCL_TOPO_DUMP_FILE` in the guest: link_speed and link_width of the bridges above GPUs and NICs",
        "NCCL_TOPO_FILE with the host's real speeds, and the same benchmark",
    ],
    refute: &["the machine is bare metal, and lspci shows the same link: then the link itself is trained down"],
    remedy: Advice::Software(
        "Give NCCL the host's topology: NCCL_TOPO_FILE with real link_speed and link_width, made on the bare host or shipped by the cloud",
    ),
    sources: &[XML_CC, Source { title: "NCCL issue 749", at: "https://github.com/NVIDIA/nccl/issues/749" }],
    severity: Severity::High,
    rules: &["topo/virtual-hides-affinity", "topo/topology-file", "pcie/link-width"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.tool(|t| matches!(t, ToolTrouble::SlowLink))?;
    let emulated = g.quotes.iter().any(|q| {
        let text = q.text.replace("\" device=\"0x", "").replace("0x", "");
        EMULATED.iter().any(|v| text.contains(&format!("({v}")) || text.contains(&format!("vendor=\"{v}")))
    });
    let (sure, why) = if emulated {
        (Likely, "the port is one that hypervisors emulate, at the speed that such ports report")
    } else {
        (Possible, "virtual ports report this speed; a link of hardware that is trained down looks the same")
    };
    Some(
        Found::new(sure, "a PCIe link of the topology is 2.5 GT/s on one lane, 0.2 GB/s: as virtual ports report", why)
            .with(c.quotes(g).into_iter().take(3))
            .scope(c.scope(g.processes.iter().copied())),
    )
}

const XML_CC: Source = nccl(
    "NCCL, src/graph/xml.cc and topo.cc: link_speed times link_width",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/topo.cc",
);

/// Vendors of emulated PCIe ports, as topologies print them: TI's XIO3130 and Red Hat's root port of QEMU, VMware, Hyper-V, virtio.
const EMULATED: &[&str] = &["104c8232", "1b36", "15ad", "1414", "1af4"];
